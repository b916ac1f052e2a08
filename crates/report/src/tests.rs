//! Compares output for programs and terminals with golden files, because scripts depend on it.
//! `UPDATE_GOLDEN=1 cargo test -p sokudo-report` writes the files again.

use std::path::PathBuf;

use sokudo_analyze::placement::Placed;
use sokudo_analyze::protect::{Checked, Places};
use sokudo_analyze::ranges::{Basis, Range};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::advice::Advice;
use sokudo_model::manifest::profile;
use sokudo_model::pairs::Pair;
use sokudo_model::{Problem, Record, RunStatus, Text, kinds};
use sokudo_stats::capacity::Level;
use sokudo_stats::capacity::protect::{Arm, Limits, Protected};
use sokudo_stats::{Curve, CurveStep, Interval, Knee};

use crate::synthetic::{self, sentence};
use crate::view::View;
use crate::{markdown, summary, terminal};

/// A view whose verdict does not depend on the diagnosis rules.
fn view(record: &Record) -> View<'_> {
    let verdict: Vec<Text> = vec![
        sentence(
            "Receiver-limited at 6.41 M datagrams/s (75.3 Gb/s), 1.1 % lost, all in hostb's socket buffer.",
        ),
        sentence(
            "Give the receiver a 2 MiB buffer (granted 416 KiB), or search the rate that holds.",
        ),
    ];
    View::with_verdict(record, verdict)
}

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (i, (a, b)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(a, b, "{name}, line {}", i + 1);
    }
    assert_eq!(expected.len(), text.len(), "{name} has another length");
}

#[test]
fn terminal_at_80_columns() {
    for (name, record) in [
        ("datagram", synthetic::datagram()),
        ("check", synthetic::check(1, 2)),
    ] {
        for lang in Lang::ALL {
            let text = terminal::write(&view(&record), lang, false, 80);
            golden(&format!("{name}.{lang}.txt"), &text);
        }
    }
}

/// The range of the rate stands beside it, with what it assumes, in every form.
#[test]
fn ranges_stand_beside_their_numbers() {
    let record = synthetic::datagram();
    let mut view = view(&record);
    let range = Range {
        interval: Interval {
            low: 70e9,
            high: 80e9,
            confidence: 0.95,
        },
        basis: Basis::Batches,
    };
    let name = kinds::datagram::DELIVERED_BITS_PER_SECOND.name;
    view.ranges.insert(name.into(), range);
    let shown = |view: &View| {
        let text = terminal::write(view, Lang::En, false, 160);
        (text, markdown::write(view, Lang::En))
    };
    let (text, page) = shown(&view);
    for said in ["between 70 Gb/s and 80 Gb/s", "with 95 % confidence"] {
        assert!(text.contains(said) && page.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("depend on each other"));
    assert_eq!(summary::write(&view, "x")["ranges"][name]["high"], 80e9);
    view.ranges
        .values_mut()
        .for_each(|it| it.basis = Basis::Independent);
    let (text, page) = shown(&view);
    assert!(text.contains("depend on each other") && page.contains("depend on each other"));
}

#[test]
fn repeated_runs_are_told_in_every_form() {
    let record = synthetic::repeated(&[3e9, 1e9, 2e9, 5e9, 4e9, 6e9, 7e9]);
    let view = view(&record);
    assert_eq!(view.subject().expect("a run").name, "measure-5");
    let text = terminal::write(&view, Lang::En, false, 120);
    let page = markdown::write(&view, Lang::Ja);
    for name in (1..=7).map(|run| format!("measure-{run}")) {
        assert!(
            text.contains(&name) && page.contains(&name),
            "{name}: {text}"
        );
    }
    assert!(page.contains("中央値") && text.contains("98.4 %"), "{text}");
    let json = &summary::write(&view, "x")["repeats"];
    assert_eq!(
        (&json["runs"], &json["failed_runs"]),
        (&7.into(), &0.into())
    );
    let rate = &json["figures"]["datagram.delivered_bits_per_second"];
    let ends = [&rate["low"], &rate["median"], &rate["high"]];
    assert_eq!(
        ends.map(|end| end.as_f64()),
        [Some(1e9), Some(4e9), Some(7e9)]
    );
    let verdict = sokudo_analyze::verdict(&record);
    let keys: Vec<&str> = verdict.iter().map(|says| says.key.as_str()).collect();
    assert_eq!(keys[..2], ["verdict-repeat", "verdict-repeat-apart"]);
}

/// A check whose layer was measured three times.
fn turns_of_a_check() -> Record {
    let mut record = synthetic::repeated(&[1e9, 3e9, 2e9]);
    record.manifest.workload = "check".into();
    for (phase, (role, turn)) in
        record
            .manifest
            .phases
            .iter_mut()
            .zip([("turn", "1"), ("turn", "2"), ("", "3")])
    {
        let labels = [("role", role), ("turn", turn)];
        let given = labels.into_iter().filter(|(_, value)| !value.is_empty());
        phase.labels = given
            .map(|(label, value)| (label.into(), value.into()))
            .collect();
    }
    record
}

#[test]
fn the_turns_of_a_check_are_told_in_every_form() {
    let record = turns_of_a_check();
    let view = view(&record);
    assert_eq!(view.subject().expect("a turn").name, "measure-3");
    assert_eq!(view.measured().count(), 1, "the turn in the middle");
    let text = terminal::write(&view, Lang::En, false, 120);
    let page = markdown::write(&view, Lang::En);
    for written in [&text, &page] {
        assert!(
            written.contains("layer") && written.contains("confidence"),
            "{written}"
        );
    }
    let json = &summary::write(&view, "x")["layers"]["datagram"];
    let rate = &json["figures"]["datagram.delivered_bits_per_second"];
    assert_eq!(rate["median"].as_f64(), Some(2e9));
    assert_eq!(json["phase"], "measure-3");
}

#[test]
fn terminal_colours_are_only_there_when_allowed() {
    let record = synthetic::datagram();
    let plain = terminal::write(&view(&record), Lang::En, false, 80);
    let coloured = terminal::write(&view(&record), Lang::En, true, 80);
    assert!(!plain.contains('\u{1b}'));
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_eq!(bare, plain);
}

#[test]
fn markdown_in_both_languages() {
    let record = synthetic::datagram();
    for lang in Lang::ALL {
        golden(
            &format!("datagram.{lang}.md"),
            &markdown::write(&view(&record), lang),
        );
    }
    let record = synthetic::check(1, 2);
    golden("check.en.md", &markdown::write(&view(&record), Lang::En));
}

#[test]
fn summary_is_a_promise() {
    let record = synthetic::datagram();
    let value = summary::write(&view(&record), "runs/2026-11-20T13-57-28-datagram-7f3a");
    golden("datagram.summary.json", &format!("{value:#}\n"));
}

/// Settings of a server that were measured in turns, in six rounds: the first ones twice, and others that carry twice as
/// much.
fn profiles() -> Record {
    let rates = [1.0, 1.01, 2.0].repeat(6);
    let rates: Vec<f64> = rates.into_iter().map(|rate| rate * 1e9).collect();
    let mut record = synthetic::repeated(&rates);
    for (at, phase) in record.manifest.phases.iter_mut().enumerate() {
        let (round, side) = (at / 3 + 1, at % 3);
        let labels = [
            (
                profile::NAME,
                if side < 2 { "default" } else { "lazy" }.to_owned(),
            ),
            (profile::SIDE, side.to_string()),
            (profile::ROUND, round.to_string()),
            (profile::LEAST, "0.05".to_owned()),
        ];
        phase.labels = labels.map(|(name, value)| (name.to_owned(), value)).into();
        phase.name = format!("load{}", profile::suffix(&phase.labels));
    }
    record
}

#[test]
fn the_summary_has_each_pair_of_profiles_with_its_verdict() {
    let record = profiles();
    let told = &summary::write(&view(&record), "x")["profiles"];
    assert_eq!(told["before"], "default");
    let [same, lazy] = told["pairs"].as_array().expect("pairs").as_slice() else {
        panic!("not two pairs: {told}");
    };
    assert_eq!(
        (&same["after"], &same["is_same"]),
        (&"default".into(), &true.into())
    );
    assert_eq!(
        (&lazy["after"], &lazy["is_same"]),
        (&"lazy".into(), &false.into())
    );
    let rate = |pair: &serde_json::Value| {
        pair["loads"][0]["figures"]["datagram.delivered_bits_per_second"].clone()
    };
    assert_eq!(rate(same)["verdict"], "no difference shown", "{told}");
    let rate = rate(lazy);
    assert_eq!(rate["verdict"], "better", "{told}");
    let number = |name: &str| rate[name].as_f64().expect(name);
    assert_eq!((number("before"), number("after")), (1e9, 2e9));
    let [low, change, high] = ["low", "change", "high"].map(number);
    assert!(
        low <= change && change <= high && number("confidence") > 0.9,
        "{rate}"
    );
    let says = lazy["says"][0].as_str().expect("a sentence");
    assert!(says.contains("lazy"), "{says}");
    let plain = summary::write(&view(&synthetic::datagram()), "x");
    assert!(plain.get("profiles").is_none());
}

/// A choice among the settings of a replication.
fn advice() -> Advice {
    let text = r#"{
        "basis": {"files": 1, "bytes": 1, "dense_ratio": 0, "levels": [], "way_bytes_per_s": 1,
            "connection_bytes_per_s": null, "rtt_s": 0, "sender_cores": 1, "receiver_cores": 1,
            "create_s": 0, "disk_is_guess": false},
        "candidates": [{"level": "1", "connections": 1, "batch_bytes": 1, "durability": "none",
            "predicted": {"seconds": 2, "low_s": 1, "high_s": 3, "stage": "link", "wire_bytes": 1,
                "cpu_s": 1, "bytes_per_s": 1},
            "trials": [{"bytes": 1, "predicted_s": 1, "measured_s": 1}], "is_default": false}],
        "chosen": 0,
        "rules": [{"name": "levels", "holds": true, "seconds": [1, 2]}],
        "counts": [1, 1]
    }"#;
    serde_json::from_str(text).expect("advice")
}

#[test]
fn the_summary_is_as_it_is_described() {
    let mut value = summary::write(&view(&synthetic::datagram()), "runs/x");
    value["problems"] = serde_json::json!([summary::problem(
        &Problem {
            t_ns: 0,
            host: "hostb".into(),
            phase: String::new(),
            says: sentence("lost"),
            missing: None,
        },
        &I18n::new(Lang::En)
    )]);
    value["sweep"] = summary::sweep(&Curve {
        names: kinds::curve_metrics("datagram").unwrap(),
        option: "rate".into(),
        steps: vec![CurveStep {
            phase: "rate-1".into(),
            value: "1G".into(),
            number: None,
            offered: Some(1.0),
            delivered: Some(1.0),
            p50_s: None,
            p99_s: Some(0.5),
            lost: None,
            status: RunStatus::Ok,
        }],
        knee: Knee::Unknown,
    });
    let mut found = synthetic::repeated(&[1e9]);
    let trial = &mut found.manifest.phases[0].labels;
    trial.insert("role".into(), "confirm".into());
    value["placement"] = serde_json::json!([summary::placement(&Placed {
        host: "hosta".into(),
        thread: "ask".into(),
        cores: vec![(0, 1.0)],
    })]);
    value["search"] = summary::write(&view(&found), "x")["search"].clone();
    let runs = synthetic::repeated(&[1e9, 2e9, 3e9]);
    value["repeats"] = summary::write(&view(&runs), "x")["repeats"].clone();
    value["layers"] = summary::write(&view(&turns_of_a_check()), "x")["layers"].clone();
    value["ranges"] = serde_json::json!({"x": summary::range(&Range {
        interval: Interval {
            low: 1.0,
            high: 2.0,
            confidence: 0.95,
        },
        basis: Basis::Batches,
    })});
    value["profiles"] = summary::write(&view(&profiles()), "x")["profiles"].clone();
    value["protect"] = summary::limits(&checked_limits());
    let pair = summary::pair(&Pair::default(), &I18n::new(Lang::En));
    value["pairs"] = serde_json::json!([pair]);
    let mut advised = synthetic::repeated(&[1e9]);
    advised.manifest.advice = Some(advice());
    value["advice"] = summary::write(&view(&advised), "x")["advice"].clone();
    // What contradicts a limit has the members of what supports it.
    value["limit"]["against"] = value["limit"]["for"].clone();
    let differences = sokudo_testkit::document::differences(&crate::SUMMARY, &[value]);
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Limits that were checked without and with them.
fn checked_limits() -> Checked {
    let arm = Arm {
        level: Level {
            users: 6.0,
            visits: Vec::new(),
        },
        phases: Vec::new(),
        errors: 0.0,
    };
    Checked {
        protected: Protected {
            limits: Limits::of(4.0),
            users: 6.0,
            before: Some(arm.clone()),
            after: arm,
            most_per_second: 1.0,
            expected_s: 1.0,
        },
        before: Places::default(),
        after: Places::default(),
    }
}

#[test]
fn every_message_that_the_code_names_exists() {
    let i18n = sokudo_i18n::I18n::new(Lang::En);
    let src = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![src];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                for key in keys(&source) {
                    assert!(i18n.has(&key), "{}: no message `{key}`", path.display());
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} keys found");
}

/// String literals that are whole message keys.
fn keys(source: &str) -> Vec<String> {
    let literals = source.split('"').skip(1).step_by(1);
    literals
        .filter(|l| l.starts_with("report-") && !l.ends_with('-'))
        .filter(|l| {
            l.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        })
        .map(String::from)
        .collect()
}
