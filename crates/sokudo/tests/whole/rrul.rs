//! `sokudo rrul`: latency idle and under load, over test links with deep and with short queues.

use serde_json::Value;
use sokudo_testkit::program::{Ended, Sokudo, temp_runs};

/// The ended program, or `None` after saying why no link can be here.
fn possible(ended: Ended) -> Option<Ended> {
    let refusals = [
        "namespaces were refused",
        "need Linux",
        "cannot make a TUN device",
        "cannot run",
    ];
    let is_refused = refusals.iter().any(|it| ended.stderr.contains(it));
    if ended.code == Some(2) && is_refused {
        sokudo_testkit::skip(ended.stderr.trim());
        return None;
    }
    Some(ended)
}

fn number(summary: &Value, name: &str) -> f64 {
    let value = summary["summary"][name].as_f64();
    value.unwrap_or_else(|| panic!("no {name} in {summary:#}"))
}

/// The verdict in English.
fn verdict(summary: &Value) -> String {
    let sentences = summary["verdict"].as_array().into_iter().flatten();
    let sentences = sentences.filter_map(|it| it["en"].as_str().or(it.as_str()));
    sentences.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_deep_queue_is_graded_badly() {
    let runs = temp_runs();
    // Both ends of the queue hold 400 ms at this rate.
    let words = "link run --rate 20Mb/s --queue 1MB -- sokudo rrul b --duration 4s --json";
    let ended = Sokudo::new(words.split(' ')).dir(runs.path()).run();
    let Some(ended) = possible(ended) else { return };
    ended.expect_code(0);
    let summary: Value = serde_json::from_str(&ended.stdout).expect("one object");
    assert!(number(&summary, "rrul.idle_rtt_seconds") < 0.05);
    assert!(
        number(&summary, "rrul.added_seconds") >= 0.06,
        "{summary:#}"
    );
    let says = verdict(&summary);
    let is_bad = ["C", "D", "F"]
        .iter()
        .any(|grade| says.contains(&format!("grade {grade}:")));
    assert!(is_bad, "{says}");
    assert!(says.contains("fq_codel"), "what to try: {says}");

    let shown = Sokudo::new(["show", "latest"]).dir(runs.path()).run();
    shown
        .expect_code(0)
        .expect_stdout("thresholds of the DSLReports");
    shown.expect_stdout("both ways");
    let japanese = Sokudo::new(["show", "latest", "--lang", "ja"]);
    let japanese = japanese.dir(runs.path()).run();
    japanese
        .expect_code(0)
        .expect_stdout("バッファーブロートの評価は");
    let record = runs.records().remove(0);
    let report = std::fs::read_to_string(record.join("report.html")).expect("a report");
    assert!(report.contains("How much longer does a datagram take under load?"));
}

/// A measurement over a queue that is kept short, which it must grade well.
fn is_graded_well(ended: &Ended) {
    ended.expect_code(0);
    let summary: Value = serde_json::from_str(&ended.stdout).expect("one object");
    assert!(number(&summary, "rrul.added_seconds") < 0.03, "{summary:#}");
    let says = verdict(&summary);
    assert!(says.contains("grade A"), "{says}");
    assert!(!says.contains("cake"), "nothing to mend: {says}");
}

#[test]
fn a_short_queue_is_graded_well() {
    let runs = temp_runs();
    // The queue holds 8 ms at this rate.
    let words = "link run --rate 100Mb/s --queue 100KB -- sokudo rrul b --duration 2s --json";
    let ended = Sokudo::new(words.split(' ')).dir(runs.path()).run();
    let Some(ended) = possible(ended) else { return };
    is_graded_well(&ended);
}

/// Gives the only device of a host 20 Mb/s, and a deep queue that fq_codel keeps short.
const SHAPE: &str = "dev=$(ip -o -4 addr show scope global | awk '{print $2; exit}') && \
     tc qdisc replace dev $dev root handle 1: tbf rate 20mbit burst 15k limit 1000000 && \
     tc qdisc replace dev $dev parent 1:1 fq_codel";

#[test]
fn a_deep_queue_under_fq_codel_is_graded_well() {
    let runs = temp_runs();
    let far = format!("{SHAPE} && exec sokudo serve");
    let near = format!("{SHAPE} && exec sokudo rrul b --duration 2s --json");
    let words = ["link", "run", "--far", &far, "--", "sh", "-c", &near];
    let ended = Sokudo::new(words).dir(runs.path()).run();
    if ended.stderr.contains("qdisc kind is unknown") {
        sokudo_testkit::skip("this kernel has no fq_codel");
        return;
    }
    let Some(ended) = possible(ended) else { return };
    is_graded_well(&ended);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for (words, says) in [
        ("rrul", "HOST"),
        ("rrul b --streams 0", "0"),
        ("rrul b --duration 0s", "duration"),
    ] {
        let ended = Sokudo::new(words.split(' ')).run();
        ended.expect_code(2).expect_stderr(says);
    }
}
