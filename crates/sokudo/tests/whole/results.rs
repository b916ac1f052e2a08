//! Tests of results: complete, consistent, and stored in the stated place.

use std::fs;

use crate::vocabulary::{GENTLE, measured, place, serve, summary};

const PROMISED: [&str; 8] = [
    "datagram.sent_packets",
    "datagram.received_packets",
    "datagram.missing_packets",
    "datagram.duplicate_packets",
    "datagram.out_of_order_packets",
    "datagram.success_ratio",
    "datagram.delivered_packets_per_second",
    "datagram.delivered_bytes_per_second",
];

#[test]
fn one_object_with_every_promised_number() {
    let place = place();
    let summary = measured(
        &place,
        &format!("datagram HOST --rate {GENTLE} --duration 1s --json"),
    );
    assert_eq!(summary.text("schema"), "sokudo.summary/1");
    assert_eq!(summary.text("status"), "ok");
    summary.promises("datagram", &PROMISED);
    summary.adds_up();
    for (metric, value) in summary.0["summary"].as_object().unwrap() {
        assert!(
            sokudo_model::metric::catalogue().any(|m| m.name == metric),
            "{metric} is not in the catalogue"
        );
        assert!(value.as_f64().is_some_and(f64::is_finite), "{metric}");
    }
    let failed = summary.0["checks"].as_array().unwrap();
    assert!(failed.iter().all(|check| check["passed"] == true));
}

#[test]
fn the_record_is_complete_and_can_be_trusted() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s --json --seed 7",
        server.address
    ));
    let said = summary(&ended);
    let record = place.record();
    assert_eq!(place.path().join(said.text("record")), record);
    assert!(record.ends_with(said.text("run")));
    for file in [
        "run.json",
        "plan/plan.json",
        "series.parquet",
        "histograms.parquet",
        "events.parquet",
        "findings.json",
        "report.html",
    ] {
        let length = fs::metadata(record.join(file)).map_or(0, |file| file.len());
        assert!(length > 0, "{file} is missing or empty");
    }
    assert!(!record.join("spool").exists(), "the spool is left over");
    let verified = sokudo_store::verify(&record).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    let loaded = place.load();
    assert_eq!(loaded.manifest.seed, 7);
    assert_eq!(loaded.environments.len(), 2);
    assert!(!loaded.series.is_empty() && !loaded.histograms.is_empty());
}

#[test]
fn showing_again_tells_the_same_numbers() {
    let place = place();
    let server = serve(&place);
    let first = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s --json",
        server.address
    ));
    let again = place.run("show latest --json");
    again.expect_code(0);
    assert_eq!(summary(&first).0, summary(&again).0);
}

#[test]
fn text_is_for_people_and_goes_to_stdout() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s",
        server.address
    ));
    ended
        .expect_code(0)
        .expect_stdout("delivered")
        .expect_stdout("lost")
        .expect_stdout("record  runs/")
        .expect_stderr("measure");
    assert!(!ended.stdout.contains('\x1b'), "colours without a terminal");
}

#[test]
fn japanese_is_spoken_when_asked_for() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s --lang ja",
        server.address
    ));
    ended.expect_code(0);
    let japanese = |c: char| ('\u{3040}'..='\u{9fff}').contains(&c);
    assert!(ended.stdout.contains(japanese), "{ended}");
    assert!(ended.stderr.contains(japanese), "{ended}");
    let json = place.run("show --json --lang ja");
    assert_eq!(summary(&json).text("status"), "ok");
}

#[test]
fn a_search_adds_the_best_rate() {
    let place = place();
    let server = serve(&place);
    // A bound that the first probe keeps: what is tested is the result, not the search.
    let ended = place
        .words([
            "datagram",
            &server.address.to_string(),
            "--find",
            "loss<95%",
            "--duration",
            "1s",
            "--json",
        ])
        .run();
    ended.expect_code(0);
    let said = summary(&ended);
    assert!(said.number("datagram.best_rate_bytes_per_second") > 0.0);
    said.promises("datagram", &PROMISED);
    let phases = place.load().manifest.phases;
    assert!(phases.len() >= 2, "a probe and its confirmation");
    let confirmed = |role: &str| phases.iter().any(|p| p.labels["role"] == role);
    assert!(confirmed("probe") && confirmed("confirm"));
}
