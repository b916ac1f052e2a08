//! Tests of `rr` and `crr` as commands, also when the far end goes away.

use rustix::process::{Signal, kill_process};
use sokudo_model::RunStatus;
use sokudo_testkit::program::Running;

use crate::vocabulary::{Place, Server, measured, no_panic, pid, place, refused, serve, summary};

const PROMISED: [&str; 8] = [
    "rr.transactions_per_second",
    "rr.latency_seconds.p50",
    "rr.latency_seconds.p99",
    "rr.latency_seconds.p999",
    "rr.latency_seconds.max",
    "rr.service_seconds.p99",
    "rr.errors",
    "rr.late_ratio",
];

#[test]
fn requests_are_answered_and_told_in_one_object() {
    let place = place();
    let said = measured(
        &place,
        "rr HOST --rate 500/s --duration 1s --keep 100 --json",
    );
    said.promises("rr", &PROMISED);
    assert_eq!(said.number("rr.transactions"), 500.0);
    assert_eq!(said.number("rr.errors"), 0.0);
    let record = place.load();
    let points = |metric: &str| -> usize {
        let series = record.series_of(metric);
        series.map(|series| series.points.len()).sum()
    };
    assert_eq!(points("rr.round_trip_seconds"), 100);
    assert!(points("rr.latency_p99_seconds") > 0 && points("rr.transactions_per_second") > 0);
    let kept = record.histograms.iter();
    assert!(
        kept.filter(|h| h.key.metric == "rr.latency_seconds")
            .count()
            > 0
    );
}

#[test]
fn each_round_trip_is_a_line_of_a_table() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "rr {} --duplex --size 300KiB --count 20 --keep --json",
        server.address
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("rr.transactions"), 20.0);
    place
        .run("export --to csv --output out")
        .expect_code(0)
        .expect_stdout("round_trips.csv");
    let table = std::fs::read_to_string(place.path().join("out/round_trips.csv"));
    let table = table.expect("the table was written");
    let speeds: Vec<f64> = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(9)?.parse().ok())
        .collect();
    assert_eq!(speeds.len(), 20, "{table}");
    assert!(table.contains(",307200,307200,"), "{table}");
}

#[test]
fn a_connection_per_request_over_tls() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "crr {} --transport tls --count 20 --json",
        server.address
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("crr.connections"), 20.0);
    assert!(said.number("crr.connections_per_second") > 0.0);
    assert!(said.number("crr.handshake_seconds.p50") > 0.0);
}

#[test]
fn people_read_it_in_both_languages() {
    let place = place();
    let server = serve(&place);
    for (lang, word) in [
        ("en", "requests/s in a closed loop"),
        ("ja", "件のリクエストに応答"),
    ] {
        let ended = place.run(&format!("rr {} --count 200 --lang {lang}", server.address));
        ended.expect_code(0);
        // Lines are wrapped, in Japanese anywhere.
        let text: String = ended.stdout.split_whitespace().collect();
        let word: String = word.split_whitespace().collect();
        assert!(text.contains(&word), "{ended}");
        assert!(!text.contains("{"), "a message lacks a value: {ended}");
    }
}

#[test]
fn without_latencies_a_run_speaks_of_what_it_counted() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "rr {} --count 500 --sample none --size 1",
        server.address
    ));
    ended.expect_code(0).expect_stdout("responses/s;");
    assert!(!ended.stdout.contains('–'), "a number is missing: {ended}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let place = place();
    refused(
        &place.run("rr 127.0.0.1:1 --size 8 --transport udp"),
        "header",
        "--size",
    );
    refused(
        &place.run("rr 127.0.0.1:1 --duplex --transport quic"),
        "while a message is written",
        "--duplex",
    );
    refused(&place.run("crr 127.0.0.1:1 --size 8"), "ticket", "24:1");
    refused(
        &place.run("crr 127.0.0.1:1 --transport udp"),
        "UDP has none",
        "rr",
    );
    refused(
        &place.run("rr 127.0.0.1:1 --find p98<1ms"),
        "not a valid bound",
        "",
    );
    assert!(place.records().is_empty());
}

/// A long run that has already recorded something.
/// `command` is the workload and its options.
pub fn under_way(place: &Place, server: &Server, command: &str) -> Running {
    let (workload, options) = command.split_once(' ').unwrap_or((command, ""));
    let client = place
        .sokudo(&format!(
            "{workload} {} --rate 500/s --timeout 2s --json {options}",
            server.address
        ))
        .start();
    place.wait_until_recorded(workload);
    client
}

#[test]
fn a_far_end_that_is_killed_leaves_a_partial_run() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "rr --duration 10min");
    kill_process(pid(&server.running), Signal::KILL).expect("the server runs");
    let ended = client.finish();
    ended.expect_code(3);
    no_panic(&ended);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let flow = &record.manifest.phases[0].result.flows[0];
    assert!(!flow.complete && flow.metrics["rr.transactions"] > 0.0);
}

#[test]
fn a_far_end_that_stands_still_is_given_up() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "crr --duration 10min");
    kill_process(pid(&server.running), Signal::STOP).expect("the server runs");
    let ended = client.finish();
    ended.expect_code(3).expect_stderr("no sign of life");
    no_panic(&ended);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let flow = &record.manifest.phases[0].result.flows[0];
    assert!(flow.metrics["crr.connections"] > 0.0, "{flow:?}");
    assert!(flow.labels["error"].contains("did not answer"), "{flow:?}");
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "rr --duration 10min");
    kill_process(pid(&client), Signal::INT).expect("the client runs");
    let ended = client.finish();
    no_panic(&ended);
    assert!(summary(&ended).number("rr.transactions") > 0.0);
    assert!(place.load().manifest.phases[0].result.summary["rr.transactions"] > 0.0);
}
