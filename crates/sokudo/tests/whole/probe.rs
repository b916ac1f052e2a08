//! Tests of `probe` as a command.

use crate::vocabulary::{measured, place, refused, serve};

const PROMISED: [&str; 16] = [
    "probe.rtt_seconds.p50",
    "probe.rtt_seconds.p99",
    "probe.owd_seconds.p50",
    "probe.owd_up_seconds.p50",
    "probe.owd_down_seconds.p99",
    "probe.ipdv_seconds.p50",
    "probe.ipdv_up_seconds.p99",
    "probe.jitter_seconds",
    "probe.jitter_up_seconds",
    "probe.loss_ratio",
    "probe.loss_up_ratio",
    "probe.loss_down_ratio",
    "probe.turnaround_seconds.p50",
    "probe.timer_error_seconds.p99",
    "probe.send_call_seconds.p50",
    "probe.clock_error_seconds",
];

#[test]
fn probes_are_answered_and_told_in_one_object() {
    let place = place();
    let said = measured(
        &place,
        "probe HOST --every 5ms --count 200 --keep 50 --dscp 46 --json",
    );
    said.promises("probe", &PROMISED);
    let sent = said.number("probe.sent_packets") + said.number("probe.unsent_packets");
    assert_eq!(sent, 200.0);
    assert_eq!(said.number("probe.lost_packets"), 0.0);
    // The server is on this machine; stamps of the kernel are of another clock of it, and their conversion
    // can prove itself wrong by less than a microsecond.
    let error_s = said.number("probe.clock_error_seconds");
    assert!(error_s < 1e-5, "{error_s}");
    let record = place.load();
    let points = |metric: &str| -> usize {
        let series = record.series_of(metric);
        series.map(|series| series.points.len()).sum()
    };
    assert_eq!(points("probe.each_rtt_seconds"), 50);
    assert_eq!(points("probe.each_owd_up_seconds"), 50);
    assert!(points("probe.rtt_p99_seconds") > 0 && points("probe.loss_ratio") > 0);
    let notes = &record.manifest.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.key == "engine-probe-one-clock")
    );
    let clocks = std::fs::read_dir(place.record().join("clock")).expect("a folder of clocks");
    for clock in clocks {
        let text = std::fs::read_to_string(clock.expect("a file").path()).expect("a table");
        assert_eq!(
            text.lines().count(),
            4,
            "header, first, before and after: {text}"
        );
    }
}

#[test]
fn people_read_it_in_both_languages() {
    let place = place();
    let server = serve(&place);
    for (lang, words) in [
        ("en", ["round trip median", "one clock"]),
        ("ja", ["往復時間は中央値", "同じ時計"]),
    ] {
        let ended = place.run(&format!(
            "probe {} --count 50 --lang {lang}",
            server.address
        ));
        ended.expect_code(0);
        // Lines are wrapped, in Japanese anywhere.
        let text: String = ended.stdout.split_whitespace().collect();
        for word in words {
            let word: String = word.split_whitespace().collect();
            assert!(text.contains(&word), "{ended}");
        }
        assert!(!text.contains('{'), "a message lacks a value: {ended}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let place = place();
    refused(&place.run("probe 127.0.0.1:1 --size 8"), "--size", "48");
    refused(
        &place.run("probe 127.0.0.1:1 --every 1us"),
        "--every",
        "datagram",
    );
    refused(
        &place.run("probe 127.0.0.1:1 --every 100us --duration 1h"),
        "one run can remember",
        "--every",
    );
    refused(&place.run("probe 127.0.0.1:1 --dscp 64"), "--dscp", "");
    assert!(place.records().is_empty());
}
