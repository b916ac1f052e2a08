//! Tests of `stream` as a command, also when the far end goes away, and of conversion from and to
//! results of iperf3.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use sokudo_model::RunStatus;
use sokudo_testkit::skip;

use crate::vocabulary::{BOUND, Place, measured, no_panic, pid, place, refused, serve, summary};

const PROMISED: [&str; 8] = [
    "stream.goodput_bits_per_second",
    "stream.sent_bytes",
    "stream.received_bytes",
    "stream.missing_bytes",
    "stream.elapsed_seconds",
    "stream.sender_cpu_ratio",
    "stream.receiver_cpu_ratio",
    "stream.write_size_bytes",
];

#[test]
fn bytes_are_sent_and_told_in_one_object() {
    let place = place();
    let said = measured(
        &place,
        "stream HOST --bytes 20000003 --streams 2 --direction both --json",
    );
    said.promises("stream", &PROMISED);
    assert_eq!(said.number("stream.received_bytes"), 4.0 * 20_000_003.0);
    assert_eq!(said.number("stream.missing_bytes"), 0.0);
    let record = place.load();
    let points = |metric: &str| -> usize {
        let series = record.series_of(metric);
        series.map(|series| series.points.len()).sum()
    };
    assert!(points("stream.goodput_bits_per_second") > 0);
    assert!(points("stream.sent_bits_per_second") > 0);
}

#[test]
fn people_read_it_in_both_languages() {
    let place = place();
    let server = serve(&place);
    for (lang, word) in [
        ("en", "of payload received"),
        ("ja", "のデータが届きました"),
    ] {
        let ended = place.run(&format!(
            "stream {} --bytes 1000000 --lang {lang}",
            server.address
        ));
        ended.expect_code(0);
        // Lines are wrapped, in Japanese anywhere.
        let text: String = ended.stdout.split_whitespace().collect();
        let word: String = word.split_whitespace().collect();
        assert!(text.contains(&word), "{ended}");
        assert!(!text.contains('{'), "a message lacks a value: {ended}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let place = place();
    let refuse = |options: &str, says: &str, hint: &str| {
        refused(
            &place.run(&format!("stream 127.0.0.1:1 {options}")),
            says,
            hint,
        );
    };
    refuse("--transport udp", "over UDP", "datagram");
    refuse(
        "--transport quic --sndbuf 64KiB",
        "no TCP connection",
        "tcp",
    );
    refuse("--bytes 0", "sends nothing", "1 or more");
    assert!(place.records().is_empty());
}

#[test]
fn a_far_end_that_is_killed_leaves_a_partial_run() {
    ends_badly(|server| {
        kill_process(server, Signal::KILL).expect("the server runs");
    });
}

#[test]
fn a_far_end_that_stands_still_leaves_a_partial_run() {
    ends_badly(|server| {
        kill_process(server, Signal::STOP).expect("the server runs");
    });
}

/// A long run whose far end is treated badly once it has recorded something.
fn ends_badly(treat: impl FnOnce(rustix::process::Pid)) {
    let place = place();
    let server = serve(&place);
    let command = format!(
        "stream {} --rate 100Mb/s --duration 10min --timeout 2s --json",
        server.address
    );
    let client = place.sokudo(&command).start();
    place.wait_until_recorded("stream");
    let process = pid(&server.running);
    treat(process);
    let ended = client.finish();
    // A process that stands still hears no polite request to end.
    let _ = kill_process(process, Signal::CONT);
    ended.expect_code(3);
    no_panic(&ended);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let flow = &record.manifest.phases[0].result.flows[0];
    assert!(!flow.complete && flow.metrics["stream.sent_bytes"] > 0.0);
    assert!(flow.labels.contains_key("error"));
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let place = place();
    let server = serve(&place);
    let command = format!(
        "stream {} --rate 100Mb/s --duration 10min --json",
        server.address
    );
    let client = place.sokudo(&command).start();
    place.wait_until_recorded("stream");
    client.interrupt();
    let ended = client.finish();
    no_panic(&ended);
    assert!(summary(&ended).number("stream.received_bytes") > 0.0);
}

#[test]
fn a_stream_is_told_as_iperf3_would_and_read_back() {
    let place = place();
    let server = serve(&place);
    let made = place.run(&format!(
        "stream {} --duration 1200ms --rate 80Mb/s --json",
        server.address
    ));
    made.expect_code(0);
    let said = summary(&made);
    let ended = place.run("export latest --to iperf3 --output .");
    ended.expect_code(0);
    let text = std::fs::read_to_string(place.path().join("iperf3.json")).expect("it was written");
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    let received = &json["end"]["sum_received"];
    let bytes = said.number("stream.received_bytes");
    assert_eq!(received["bytes"].as_f64(), Some(bytes));
    let in_intervals = json["intervals"].as_array().expect("intervals").iter();
    let sum: f64 = in_intervals
        .map(|row| row["sum"]["bytes"].as_f64().expect("bytes"))
        .sum();
    assert!((sum - bytes).abs() < 16.0, "{sum} of {bytes}");
    let back = place.run("import iperf3.json --json");
    back.expect_code(0);
    let back = summary(&back);
    for metric in [
        "stream.goodput_bits_per_second",
        "stream.received_bytes",
        "stream.sent_bytes",
    ] {
        assert_eq!(back.number(metric), said.number(metric), "{metric}");
    }
}

/// A real `iperf3 -s` for one test; ended with it.
struct Iperf3(std::process::Child, u16);

impl Drop for Iperf3 {
    fn drop(&mut self) {
        // It has ended by itself after its test.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The result of a real iperf3 over loopback; `None` where there is none.
fn real_iperf3(options: &str) -> Option<Vec<u8>> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let port = free.expect("a free port").port();
    let server = Command::new("iperf3")
        .args(["-s", "-1", "-B", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(server) = server else {
        skip("there is no iperf3 on this machine");
        return None;
    };
    let server = Iperf3(server, port);
    let deadline = Instant::now() + BOUND;
    loop {
        // The server answers one client: until it listens, clients fail at once.
        let done = Command::new("iperf3")
            .args(["-c", "127.0.0.1", "-J", "-p", &server.1.to_string()])
            .args(options.split_whitespace())
            .output()
            .expect("iperf3 runs");
        // It ends with 0 also when it could not connect, and says so in the object.
        let said: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        if said["error"].is_null() && said["end"]["sum_received"].is_object() {
            return Some(done.stdout);
        }
        assert!(Instant::now() < deadline, "iperf3 never answers");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn imported(place: &Place, json: &[u8]) -> crate::vocabulary::Summary {
    std::fs::write(place.path().join("in.json"), json).expect("a place to write to");
    let ended = place.run("import in.json --json");
    ended.expect_code(0);
    summary(&ended)
}

#[test]
fn a_real_result_of_iperf3_becomes_a_record_with_the_same_numbers() {
    let place = place();
    let Some(json) = real_iperf3("-t 1 -P 2 -i 0.5 -b 50M") else {
        return;
    };
    let said = imported(&place, &json);
    let json: Value = serde_json::from_slice(&json).expect("iperf3 writes JSON");
    let received = &json["end"]["sum_received"];
    for (metric, value) in [
        (
            "stream.goodput_bits_per_second",
            &received["bits_per_second"],
        ),
        ("stream.received_bytes", &received["bytes"]),
        ("stream.sent_bytes", &json["end"]["sum_sent"]["bytes"]),
    ] {
        assert_eq!(Some(said.number(metric)), value.as_f64(), "{metric}");
    }
    assert_eq!(said.flows().len(), 2);
    let record = place.load();
    assert!(record.series_of("stream.sent_bits_per_second").count() > 0);
    // What works on any record works on this one.
    for command in [
        "show latest",
        "report latest --form markdown",
        "export latest --to csv",
    ] {
        place.run(command).expect_code(0);
    }
    let again = place.run("export latest --to iperf3 --output -");
    again.expect_code(0);
    let again: Value = serde_json::from_str(&again.stdout).expect("it is JSON");
    assert_eq!(again["end"]["sum_received"]["bytes"], received["bytes"]);
}

#[test]
fn what_is_no_result_is_not_imported() {
    let place = place();
    std::fs::write(place.path().join("other.json"), "{\"a\":1}").expect("a place to write to");
    refused(&place.run("import other.json"), "no `start`", "iperf3 -J");
    refused(
        &place.run("import nowhere.json"),
        "cannot be read",
        "iperf3 -J",
    );
    refused(
        &place.run("export latest --to iperf3 --output -"),
        "no run",
        "",
    );
    assert!(place.records().is_empty());
}
