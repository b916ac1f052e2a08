use sokudo_stats::requests::goals::Goals;
use sokudo_stats::requests::{Request, Settings, Tally};

use super::*;

/// Ten seconds of two labels, of which the second fails now and then, and a transaction.
fn sample(slower_ms: u64) -> Requests {
    let mut tally = Tally::new(Settings::default());
    for i in 0..1000u64 {
        let bad = i % 20 == 0;
        tally.add(&Request {
            start_ms: 1_700_000_000_000 + i as i64 * 10,
            elapsed_ms: if bad { 1 } else { 100 + i % 50 + slower_ms },
            label: if i % 2 == 0 {
                b"<search>"
            } else {
                "ログイン".as_bytes()
            },
            code: if bad { b"500" } else { b"200" },
            message: if bad { b"Internal \"Error\"" } else { b"OK" },
            success: !bad,
            bytes: 2048,
            sent_bytes: 100,
            threads: Some(1 + i as u32 / 100),
            latency_ms: Some(50),
            connect_ms: Some(i % 3),
            ..Request::default()
        });
    }
    tally.add(&Request {
        start_ms: 1_700_000_000_000,
        elapsed_ms: 500,
        label: b"buy",
        message: b"Number of samples in transaction : 2, number of failing samples : 0",
        success: true,
        ..Request::default()
    });
    tally.finish()
}

fn dashboard<'a>(requests: &'a Requests, demands: &'a [Check]) -> Dashboard<'a> {
    Dashboard {
        name: "</script>.jtl",
        requests,
        started: "2023-11-14T22:13:20.000Z",
        earlier: None,
        demands,
        record: None,
        remarks: &[],
    }
}

#[test]
fn the_page_holds_every_section_in_both_languages_and_no_foreign_markup() {
    let (now, before) = (sample(0), sample(100));
    let goals: Goals = "p95<1s,err<1%".parse().unwrap();
    let demands = judged(&goals, &now);
    let page = Dashboard {
        earlier: Some(("before.jtl", &before)),
        ..dashboard(&now, &demands)
    }
    .html(Lang::En);
    for name in [
        "verdict",
        "numbers",
        "over-time",
        "statistics",
        "failures",
        "shape",
        "comparison",
        "conditions",
    ] {
        assert!(page.contains(&format!("<section id=\"{name}\">")), "{name}");
    }
    assert!(!page.contains("<search>") && page.contains("&lt;search&gt;"));
    assert!(page.contains("ログイン") && page.contains("失敗の種類"));
    assert!(!page.contains("jtl-"), "a message is missing");
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn goals_decide() {
    let all = sample(0);
    let check = |text: &str, passed: bool, says: &str| {
        let goals: Goals = text.parse().unwrap();
        let demands = judged(&goals, &all);
        let first = dashboard(&all, &demands).says(Lang::En).remove(0);
        assert!(first.starts_with(says), "{first}");
        let markup = dashboard(&all, &demands).html(Lang::En);
        for demand in &demands {
            let (class, sign) = if demand.passed {
                ("kept", "✓")
            } else {
                ("missed", "✗")
            };
            let line = format!("<li class=\"{class}\"><b aria-hidden=\"true\">{sign}</b>");
            assert!(markup.contains(&line), "{text}: {line}");
        }
        assert_eq!(demands.iter().all(|demand| demand.passed), passed, "{text}");
    };
    check("p95<1s", true, "5 % of 1 000 requests failed.");
    check("p95<1s,err<1%", false, "Not kept: err<1% (5 %).");
}

#[test]
fn statistics_have_the_keys_of_jmeter() {
    let json: serde_json::Value = serde_json::from_str(&statistics_json(&sample(0))).unwrap();
    let mut names: Vec<&String> = json.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["<search>", "Total", "buy", "ログイン"]);
    let mut keys: Vec<&String> = json["Total"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "errorCount",
            "errorPct",
            "maxResTime",
            "meanResTime",
            "medianResTime",
            "minResTime",
            "pct1ResTime",
            "pct2ResTime",
            "pct3ResTime",
            "receivedKBytesPerSec",
            "sampleCount",
            "sentKBytesPerSec",
            "throughput",
            "transaction",
        ]
    );
    assert_eq!(json["Total"]["sampleCount"], 1000);
    assert_eq!(json["Total"]["errorPct"], 5.0);
    assert_eq!(json["Total"]["maxResTime"], 149.0);
    assert_eq!(json["buy"]["transaction"], "buy");
}

#[test]
fn nothing_measured_is_said_and_not_drawn() {
    let nothing = Tally::new(Settings::default()).finish();
    let dashboard = dashboard(&nothing, &[]);
    assert_eq!(
        dashboard.says(Lang::En),
        ["The file holds no finished request."]
    );
    let page = dashboard.html(Lang::Ja);
    assert!(page.contains("完了したリクエストがありません") && !page.contains("<figure"));
}

#[test]
fn one_request_alone_is_a_page() {
    let mut tally = Tally::new(Settings::default());
    tally.add(&Request {
        success: true,
        ..Request::default()
    });
    let one = tally.finish();
    let page = dashboard(&one, &[]).html(Lang::En);
    let (body, _) = page.split_once("<script>").unwrap();
    assert!(body.contains("id=\"statistics\"") && !body.contains("NaN"));
}

#[test]
fn the_figures_are_as_they_are_described() {
    let all: serde_json::Value = serde_json::from_str(&statistics_json(&sample(0))).unwrap();
    let each: Vec<_> = all.as_object().unwrap().values().cloned().collect();
    let differences = sokudo_testkit::document::differences(&STATISTICS, &each);
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Requests of which so many of a hundred failed.
fn failing(share: u64) -> Requests {
    let mut tally = Tally::new(Settings::default());
    for i in 0..200u64 {
        tally.add(&Request {
            start_ms: 1_700_000_000_000 + i as i64 * 10,
            elapsed_ms: 5,
            label: b"home",
            message: b"Connection refused",
            success: i % 100 >= share,
            ..Request::default()
        });
    }
    tally.finish()
}

/// A plan whose server is away, answers errors or dies half-way: what failed is told before any rate, and
/// nothing that failed is called answered.
#[test]
fn failures_come_first_wherever_they_are_the_news() {
    for (share, begin) in [
        (100, "All 200 requests failed"),
        (40, "40 % of 200 requests failed."),
    ] {
        let requests = failing(share);
        let says = dashboard(&requests, &[]).says(Lang::En);
        assert!(says[0].starts_with(begin), "{says:?}");
        let page = dashboard(&requests, &[]).html(Lang::En);
        assert!(
            page.replace(crate::unbroken::GAP, " ").contains(begin),
            "{share}"
        );
        for lang in Lang::ALL {
            let says = dashboard(&requests, &[]).says(lang);
            for claim in ["answered", "応答しました"] {
                assert!(!says[0].contains(claim), "{says:?}");
            }
        }
    }
    let few = failing(1);
    let says = dashboard(&few, &[]).says(Lang::En);
    assert!(says[0].contains("1 % of 200 requests failed"), "{says:?}");
    assert!(!says[0].contains("answered"), "{says:?}");
}
