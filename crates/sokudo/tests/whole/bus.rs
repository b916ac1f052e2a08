//! Tests of `bus` as a command, also when the far end goes away.

use rustix::process::{Signal, kill_process};
use sokudo_model::RunStatus;

use crate::vocabulary::{measured, no_panic, pid, place, refused, serve, summary};

const PROMISED: [&str; 14] = [
    "bus.messages_per_second",
    "bus.bytes_per_second",
    "bus.response_latency_seconds.p50",
    "bus.response_latency_seconds.p99",
    "bus.response_latency_seconds.max",
    "bus.receipt_latency_seconds.p50",
    "bus.receipt_latency_seconds.p99",
    "bus.backlog_peak_bytes",
    "bus.backlog_ratio",
    "bus.connections",
    "bus.errors",
    "bus.missing_messages",
    "bus.write_blocked_ratio",
    "bus.read_idle_ratio",
];

#[test]
fn messages_arrive_and_are_told_in_one_object() {
    let place = place();
    let said = measured(
        &place,
        "bus HOST --rate 1k/s --duration 1s --sample all --tsv bus.tsv --json",
    );
    said.promises("bus", &PROMISED);
    assert_eq!(said.number("bus.messages"), 1000.0);
    assert_eq!(said.number("bus.errors"), 0.0);
    let record = place.load();
    for metric in [
        "bus.messages_per_second",
        "bus.sent_per_second",
        "bus.backlog_bytes",
    ] {
        assert!(record.series_of(metric).next().is_some(), "{metric}");
    }
    let table = std::fs::read_to_string(place.path().join("bus.tsv")).expect("a table");
    let widths: Vec<usize> = table.lines().map(|row| row.split('\t').count()).collect();
    assert!(
        widths.len() > 2 && widths.iter().all(|width| *width == 19),
        "{table}"
    );
}

#[test]
fn a_chain_of_hosts_hands_on() {
    let place = place();
    let (first, second) = (serve(&place), serve(&place));
    let ended = place.run(&format!(
        "bus {} {} --relay --mode rr --count 100 --json",
        first.address, second.address
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("bus.messages"), 100.0);
    assert!(said.number("bus.relay_delay_seconds.p50") > 0.0);
    assert_eq!(said.flows().len(), 2);
}

#[test]
fn people_read_it_in_both_languages() {
    let place = place();
    let server = serve(&place);
    for lang in ["en", "ja"] {
        let ended = place.run(&format!(
            "bus {} --count 500 --lang {lang} -v",
            server.address
        ));
        ended.expect_code(0);
        assert!(
            !ended.stdout.contains('{'),
            "a message lacks a value: {ended}"
        );
        assert!(
            ended.stdout.contains("100.000 %"),
            "the distribution: {ended}"
        );
    }
}

#[test]
fn each_line_sends_a_message() {
    let place = place();
    let server = serve(&place);
    let command = format!("bus {} --step --mode rr --json", server.address);
    refused(&place.run(&command), "--step", "terminal");
    let ended = place.sokudo(&command).stdin("a\nb\nc\n").run();
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("bus.messages"), 3.0);
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let place = place();
    refused(&place.run("bus 127.0.0.1:1 --size 8"), "header", "--size");
    refused(
        &place.run("bus 127.0.0.1:1 --consume-rate 5/s"),
        "--consume-rate",
        "--rx queue",
    );
    refused(&place.run("bus 127.0.0.1:1 --transport udp"), "udp", "");
    refused(&place.run("bus 127.0.0.1:1 --transport rdma"), "RDMA", "");
    assert!(place.records().is_empty());
}

#[test]
fn a_far_end_that_is_killed_leaves_a_partial_run() {
    let place = place();
    let server = serve(&place);
    let client = place
        .sokudo(&format!(
            "bus {} --rate 500/s --duration 10min --timeout 2s --json",
            server.address
        ))
        .start();
    place.wait_until_recorded("bus");
    kill_process(pid(&server.running), Signal::KILL).expect("the server runs");
    let ended = client.finish();
    ended.expect_code(3);
    no_panic(&ended);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let flow = &record.manifest.phases[0].result.flows[0];
    assert!(!flow.complete && flow.metrics["bus.sent_messages"] > 0.0);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let place = place();
    let server = serve(&place);
    let client = place
        .sokudo(&format!(
            "bus {} --rate 500/s --duration 10min --json",
            server.address
        ))
        .start();
    place.wait_until_recorded("bus");
    kill_process(pid(&client), Signal::INT).expect("the client runs");
    let ended = client.finish();
    no_panic(&ended);
    let said = summary(&ended);
    assert!(said.number("bus.messages") > 0.0);
    assert_eq!(said.number("bus.missing_messages"), 0.0);
}
