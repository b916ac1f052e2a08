//! Tests of `--sweep` and `--find`: the true knee, a rate that holds, no point lost.

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use sokudo_model::RunStatus;

use crate::vocabulary::{no_panic, pid, place, serve, summary};

/// A receiver that reads no faster than this is a system with a known capacity, bits per second.
const CAPACITY: f64 = 40e6;
const SLOW_READER: &str = "--read-rate 40Mb/s --rcvbuf 64KiB --sndbuf 64KiB --size 16KiB";

fn steps(said: &Value) -> &Vec<Value> {
    said["sweep"]["steps"].as_array().expect("steps are a list")
}

#[test]
fn the_knee_is_where_the_receiver_can_do_no_more() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "stream {} {SLOW_READER} --duration 1s --json --sweep rate=10Mb/s..120Mb/s:6",
        server.address
    ));
    let said = summary(&ended);
    assert_eq!(steps(&said.0).len(), 6, "{:#}", said.0);
    // Busy cores may carry less than the reader would take, never more.
    let knee = said.number("sweep.knee_value");
    assert!((10e6..=CAPACITY).contains(&knee), "{knee}: {:#}", said.0);
    assert_eq!(said.number("sweep.failed_steps"), 0.0);
    assert!(
        ended.stderr.contains("sweep of 6 steps"),
        "what is planned is told first: {ended}"
    );
    let carried = said.number("stream.goodput_bits_per_second");
    assert!(
        carried <= CAPACITY * 1.1,
        "the summary is that of the knee: {carried}"
    );
    for (lang, word) in [("en", "Curve of the sweep"), ("ja", "スイープの曲線")] {
        let report = place.run(&format!("report latest --form markdown --lang {lang}"));
        let text = format!("{}{}", report.stdout, markdown(&place.record()));
        assert!(text.contains(word), "{lang}: {report}");
    }
}

/// Reports that were written into a record, as far as they are Markdown.
fn markdown(record: &std::path::Path) -> String {
    let files = std::fs::read_dir(record).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let texts = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    texts
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect()
}

#[test]
fn the_rate_that_is_found_is_held_by_a_fresh_run() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "stream {} {SLOW_READER} --duration 1s --json --find loss<5%",
        server.address
    ));
    let said = summary(&ended);
    let writes = said.number("stream.best_rate_per_second");
    let bits = writes * 16.0 * 1024.0 * 8.0;
    assert!(bits > 0.0 && bits <= CAPACITY * 1.1, "{bits}: {ended}");
    let record = place.load();
    let phases = &record.manifest.phases;
    let with = |role: &'static str| phases.iter().filter(move |it| it.labels["role"] == role);
    let confirmed = with("confirm").next_back().expect("a confirmation");
    assert_eq!(confirmed.labels["held"], "yes");
    assert_eq!(said.0["search"]["trials"], 6, "{:#}", said.0);
    assert!(with("again").count() >= 5, "the answer was tried again");
    let end = |key: &str| said.0["search"][key].as_f64();
    assert!(
        end("low") <= end("high") && end("low") > Some(0.0),
        "{:#}",
        said.0
    );
    assert!(end("above").is_none_or(|above| above > bits * 0.9));
    assert_eq!(confirmed.labels["bounds"], "loss<5%");
    let asked = confirmed.result.summary["stream.asked_bits_per_second"];
    let carried = confirmed.result.summary["stream.goodput_bits_per_second"];
    assert!(carried >= asked * 0.9, "{carried} of {asked}");
}

#[test]
fn requests_are_swept_and_searched_too() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "rr {} --duration 300ms --json --sweep rate=100,200,300,400/s",
        server.address
    ));
    let said = summary(&ended);
    let values: Vec<&str> = steps(&said.0)
        .iter()
        .filter_map(|s| s["value"].as_str())
        .collect();
    assert_eq!(values, ["100/s", "200/s", "300/s", "400/s"]);
    assert!(said.maybe("rr.transactions").is_some_and(|n| n > 0.0));
    let phases = place.load().manifest.phases;
    assert!(phases.iter().all(|phase| phase.labels["sweep"] == "rate"));

    let other = crate::vocabulary::place();
    let ended = other.run(&format!(
        "rr {} --duration 1s --json --find errors<50%,p99<10s",
        server.address
    ));
    let best = summary(&ended).number("rr.best_rate_per_second");
    let fresh = place.run(&format!(
        "rr {} --duration 1s --json --rate {}/s",
        server.address,
        (best / 2.0).round()
    ));
    fresh.expect_code(0);
    let fresh = summary(&fresh);
    assert!(fresh.number("rr.latency_seconds.p99") < 10.0);
}

#[test]
fn a_step_that_fails_is_kept_and_named() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "stream {} --duration 200ms --rate 10Mb/s --json --sweep cc=reno,nosuch",
        server.address
    ));
    if ended.code == Some(2) && ended.stderr.contains("reno") {
        eprintln!("skipped: this system has no `reno`");
        return;
    }
    ended.expect_code(3);
    no_panic(&ended);
    let said = summary(&ended);
    assert_eq!(said.text("status"), "partial");
    assert_eq!(said.number("sweep.failed_steps"), 1.0);
    let failed = &steps(&said.0)[1];
    assert_eq!(
        (failed["value"].as_str(), failed["status"].as_str()),
        (Some("nosuch"), Some("failed"))
    );
    let problems = said.0["problems"].to_string();
    assert!(problems.contains("nosuch"), "{problems}");
    assert!(said.number("stream.goodput_bits_per_second") > 0.0);
}

#[test]
fn an_interrupted_sweep_keeps_the_steps_so_far() {
    let place = place();
    let server = serve(&place);
    let client = place
        .sokudo(&format!(
            "rr {} --rate 500/s --duration 10min --json --sweep window=1,2,4",
            server.address
        ))
        .start();
    place.wait_until_recorded("rr");
    kill_process(pid(&client), Signal::INT).expect("the client runs");
    let ended = client.finish();
    no_panic(&ended);
    ended.expect_code(3);
    let said = summary(&ended);
    assert!(said.number("rr.transactions") > 0.0);
    assert_eq!(steps(&said.0).len(), 1, "{:#}", said.0);
    assert_eq!(place.load().manifest.status, RunStatus::Partial);
}

#[test]
fn a_rate_that_nothing_holds_is_a_failed_check() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "rr {} --duration 200ms --json --find p50<1ns",
        server.address
    ));
    ended.expect_code(1);
    let said = summary(&ended);
    assert!(said.maybe("rr.best_rate_per_second").is_none());
    let checks = said.0["checks"].to_string();
    assert!(checks.contains("No rate"), "{checks}");
}

#[test]
fn distributions_leave_for_their_own_tools() {
    let place = place();
    let server = serve(&place);
    let run = format!("rr {} --count 200 --json", server.address);
    place.run(&run).expect_code(0);
    let ended = place.run("export latest --to hdr --output -");
    ended.expect_code(0);
    assert!(
        ended
            .stdout
            .starts_with("#[Histogram log format version 1.3]"),
        "{ended}"
    );
    assert!(ended.stdout.contains("#[StartTime: "), "{ended}");
    let lines = ended.stdout.lines().filter(|line| !line.starts_with('#'));
    let tagged = |line: &str| line.starts_with("Tag=rr.latency_seconds;host=");
    assert!(
        lines.clone().count() > 0 && lines.clone().all(tagged),
        "{ended}"
    );
    place
        .run("export latest --to hdr --output .")
        .expect_code(0);
    let file =
        std::fs::read_to_string(place.path().join("distributions.hlog")).expect("it was written");
    assert_eq!(file, ended.stdout);
}

#[test]
fn probes_are_swept_and_searched() {
    let place = place();
    let server = serve(&place);
    let address = &server.address;
    let swept = place.run(&format!(
        "probe {address} --duration 200ms --sweep every=20ms,2ms --json"
    ));
    swept.expect_code(0);
    assert_eq!(place.load().manifest.phases.len(), 2);
    // Wide bounds: what is shown is that there is an answer, not how high it is.
    let found = place.run(&format!(
        "probe {address} --duration 200ms --find p99<5s,loss<90% --json"
    ));
    found.expect_code(0);
    assert!(summary(&found).number("probe.best_rate_packets_per_second") > 0.0);
}
