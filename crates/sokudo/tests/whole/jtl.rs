//! Tests of `sokudo jtl report`: the dashboard, goals, and files that cannot be read.

use std::fmt::Write as _;

use serde_json::Value;

use crate::vocabulary::{place, refused};

/// A thousand rows, every tenth failed, and a last one that is cut.
fn rows(elapsed_ms: u64) -> String {
    let mut text = String::from("timeStamp,elapsed,label,responseCode,responseMessage,success\n");
    for i in 0..1000u64 {
        let (code, message, good) = match i % 10 {
            0 => (503, "Busy", false),
            _ => (200, "OK", true),
        };
        let start = 1_700_000_000_000 + i * 10;
        let _ = writeln!(
            text,
            "{start},{elapsed_ms},page {},{code},{message},{good}",
            i % 3
        );
    }
    text + "17000000"
}

#[test]
fn a_dashboard_is_written_and_goals_decide_the_exit_code() {
    let place = place();
    place.write("now.jtl", &rows(100));
    place.write("before.jtl", &rows(200));
    place
        .run("jtl report now.jtl -o out --compare before.jtl --slo p95<1s")
        .expect_code(0)
        .expect_stdout("✓ p95<1s  100 ms")
        .expect_stdout("ends in the middle of a row")
        .expect_stdout("p95 −50 %");
    let page = std::fs::read_to_string(place.path().join("out/index.html")).unwrap();
    assert!(page.contains("503/Busy") && page.contains("section id=\"comparison\""));
    let json = std::fs::read_to_string(place.path().join("out/statistics.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["Total"]["errorCount"], 100);
    place
        .run("jtl report now.jtl -o out -f --slo err<1%")
        .expect_code(1)
        .expect_stdout("Not kept: err<1% (10 %).");
    let full = place.run("jtl report now.jtl -o out");
    refused(&full, "`out` is not empty", "-f");
    let ended = place.run("jtl report now.jtl --json --percentiles 50");
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["summary"]["http.error_ratio"], 0.1);
}

#[test]
fn what_is_no_result_file_is_named() {
    let place = place();
    place.write("plan.txt", "hello\n");
    place.write("bad.jtl", "timeStamp,elapsed\nx,1\n");
    let hint = "result file";
    refused(&place.run("jtl report plan.txt"), "line 1", hint);
    refused(
        &place.run("jtl report bad.jtl"),
        "line 2: `timeStamp` is `x`",
        hint,
    );
    refused(&place.run("jtl report absent.jtl"), "absent.jtl", hint);
    refused(
        &place.run("jtl report bad.jtl --slo p95>1s"),
        "is not a valid goal",
        "--help",
    );
}
