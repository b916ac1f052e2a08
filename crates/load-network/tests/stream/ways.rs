//! Tests of every transport, direction and way of writing: all bytes arrive.

use sokudo_i18n::english;
use sokudo_testkit::skip;

use crate::play::{Played, stream};

/// Transports that this system has.
fn transports() -> Vec<&'static str> {
    let mut all = vec!["tcp", "tls"];
    if cfg!(unix) {
        all.push("unix");
    }
    if cfg!(target_os = "linux") {
        all.push("shm");
    }
    all
}

#[test]
fn exactly_so_many_bytes_cross_every_transport() {
    for transport in transports() {
        for bytes in [1u64, 1000, 128 << 10, 3_000_001] {
            let fields = format!(r#""bytes":"{bytes}","transport":"{transport}""#);
            let played = stream(&fields).play();
            assert_eq!(played.expect_whole(), bytes as f64, "{transport}");
        }
    }
}

#[test]
fn exactly_so_many_bytes_in_every_direction_and_stream() {
    for (direction, flows) in [("up", 3.0), ("down", 3.0), ("both", 6.0), ("mesh", 6.0)] {
        let fields = format!(r#""bytes":"1000003","streams":3,"direction":"{direction}""#);
        let played = stream(&fields).play();
        assert_eq!(played.expect_whole(), 1_000_003.0 * flows, "{direction}");
        assert!(played.get("fairness_index") > 0.0);
    }
}

#[test]
fn threads_that_share_connections_lose_nothing() {
    for transport in ["tcp", "unix"] {
        if transport == "unix" && !cfg!(unix) {
            continue;
        }
        let fields = format!(
            r#""bytes":"2000003","streams":7,"threads":2,"direction":"both","transport":"{transport}""#
        );
        let played = stream(&fields).play();
        assert_eq!(played.expect_whole(), 2_000_003.0 * 14.0, "{transport}");
    }
    let played = stream(r#""duration":"400ms","rate":"80Mb/s","streams":4,"threads":1"#).play();
    played.expect_whole();
}

#[test]
fn every_way_of_writing_sends_what_it_says() {
    if cfg!(not(target_os = "linux")) {
        return skip("this system has one way of writing");
    }
    for io in ["plain", "sendfile", "zerocopy", "auto"] {
        for more in ["", r#","streams":4,"threads":1"#, r#","discard":true"#] {
            let fields = format!(r#""bytes":"5000007","io":"{io}"{more}"#);
            let played = stream(&fields).play();
            played.expect_whole();
            assert!(played.flow().labels["io"].contains(match io {
                "auto" => "(auto)",
                io => io,
            }));
            let told = played
                .result
                .summary
                .contains_key("stream.zerocopy_copied_ratio");
            assert_eq!(told, played.flow().labels["io"].contains("zerocopy"));
        }
    }
}

#[test]
fn bins_hold_every_byte() {
    let played = stream(r#""duration":"600ms","bins":"5ms""#).play();
    let bytes = played.expect_whole();
    for metric in [
        "stream.goodput_bits_per_second",
        "stream.sent_bits_per_second",
    ] {
        let points = played.points(metric);
        let sum: f64 = points.iter().map(|(_, rate)| rate * 0.005 / 8.0).sum();
        assert!((sum - bytes).abs() < 1.0, "{metric}: {sum} of {bytes}");
        let steps = points.windows(2).map(|two| two[1].0 - two[0].0);
        assert!(steps.into_iter().all(|step| step == 5_000_000));
    }
}

#[test]
fn a_warm_up_is_sent_but_not_counted() {
    let played = stream(r#""duration":"300ms","warmup":"300ms","rate":"40Mb/s""#).play();
    let bytes = played.expect_whole();
    let counted = played.flow().metrics["stream.goodput_bits_per_second"];
    // 600 ms of 5 MB/s, of which the second half counts.
    assert!((2_000_000.0..=3_010_000.0).contains(&bytes), "{bytes}");
    assert!((30e6..=55e6).contains(&counted), "{counted}");
}

#[test]
fn options_of_the_connection_are_granted_and_told() {
    let fields = r#""bytes":"1000000","sndbuf":"100000","rcvbuf":"120000","nagle":true"#;
    let played = stream(fields).play();
    played.expect_whole();
    assert_eq!(played.get("send_buffer_asked_bytes"), 100_000.0);
    assert_eq!(played.get("receive_buffer_asked_bytes"), 120_000.0);
    assert!(played.get("send_buffer_granted_bytes") > 0.0);
    assert!(played.get("receive_buffer_granted_bytes") > 0.0);
}

#[test]
fn an_unknown_congestion_control_is_refused() {
    if cfg!(not(target_os = "linux")) {
        return skip("this system has no choice of congestion control");
    }
    let refused = stream(r#""bytes":"1","cc":"no-such""#).try_play(&|port| port);
    let refusal = refused.err().expect("a refusal");
    assert!(english(&refusal.says).contains("TCP_CONGESTION") && refusal.hint.is_some());
}

#[test]
fn a_slow_reader_is_told_from_a_slow_sender() {
    let slow =
        stream(r#""duration":"600ms","read_rate":"1MB/s","rcvbuf":"64KiB","sndbuf":"64KiB""#);
    let played = slow.play();
    played.expect_whole();
    let goodput = played.get("goodput_bits_per_second");
    assert!(goodput < 12e6, "{goodput}");
    if has_thread_clocks(&played) {
        assert!(
            played.get("write_blocked_ratio") > 0.5,
            "{:?}",
            played.flow()
        );
        let slow = stream(r#""duration":"600ms","rate":"8Mb/s""#).play();
        assert!(slow.get("read_idle_ratio") > 0.5, "{:?}", slow.flow());
        assert!(slow.get("write_blocked_ratio") < 0.3, "{:?}", slow.flow());
    }
}

fn has_thread_clocks(played: &Played) -> bool {
    let known = played
        .result
        .summary
        .contains_key("stream.write_blocked_ratio");
    if !known {
        skip("this system does not say how long threads waited for a CPU");
    }
    known
}

#[test]
fn the_state_of_tcp_is_a_series_on_both_ends() {
    if cfg!(not(target_os = "linux")) {
        return skip("this system has no TCP_INFO");
    }
    let played = stream(r#""duration":"400ms""#).play();
    for metric in [
        "tcp.congestion_window_segments",
        "tcp.send_queue_bytes",
        "tcp.receive_queue_bytes",
        "tcp.busy_seconds",
    ] {
        assert!(played.points(metric).len() >= 2, "{metric}");
    }
    assert!(played.get("sent_segments") > 0.0);
}
