//! Do all transports, ways of waiting and shapes of load answer every request?

use super::play::{crr, rr};

/// Transports that this system has.
fn transports() -> Vec<&'static str> {
    let mut all = vec!["tcp", "tls", "udp"];
    if cfg!(unix) {
        all.push("unix");
    }
    if cfg!(target_os = "linux") {
        all.push("shm");
    }
    all
}

fn waits() -> &'static [&'static str] {
    match cfg!(target_os = "linux") {
        true => &["block", "epoll", "spin", "spin:20us"],
        false => &["block", "spin", "spin:20us"],
    }
}

#[test]
fn every_transport_answers_in_every_way_of_waiting() {
    for transport in transports() {
        for wait in waits() {
            if transport == "shm" && *wait == "epoll" {
                continue;
            }
            let fields = format!(r#""count":"200","transport":"{transport}","wait":"{wait}""#);
            let played = rr(&fields).play();
            let answered = played.get("rr.transactions");
            assert_eq!(answered, 200.0, "{transport} {wait}: {}", played.error());
            assert_eq!(
                played.get("rr.answered_requests"),
                200.0,
                "{transport} {wait}"
            );
            assert!(played.result.flows[0].complete);
        }
    }
}

#[test]
fn many_connections_and_windows_answer_all() {
    for transport in ["tcp", "tls", "udp"] {
        for more in [
            r#""connections":20,"threads":2"#,
            r#""window":16"#,
            r#""window":4,"connections":5,"rate":"2k/s""#,
        ] {
            let plan = rr(&format!(
                r#""count":"500","transport":"{transport}",{more}"#
            ));
            let played = plan.play();
            let threads = played.result.flows.len() as f64;
            let answered = played.get("rr.transactions");
            assert_eq!(answered, 500.0 * threads, "{transport} {more}");
            assert_eq!(played.get("rr.errors"), 0.0, "{transport} {more}");
        }
    }
}

#[test]
fn large_messages_and_a_window_do_not_lock_each_other_up() {
    let played = rr(r#""count":"60","size":"4MiB:2MiB","window":8"#).play();
    assert_eq!(played.get("rr.transactions"), 60.0, "{}", played.error());
    let played = rr(r#""count":"30","size":"100:1MiB","transport":"tls""#).play();
    assert_eq!(played.get("rr.transactions"), 30.0, "{}", played.error());
}

#[test]
fn a_thousand_connections_to_one_host() {
    let played = rr(r#""duration":"500ms","connections":1000"#).play();
    assert_eq!(played.get("rr.open_connections"), 1000.0);
    assert_eq!(played.get("rr.errors"), 0.0);
    assert_eq!(played.get("rr.lost_connections"), 0.0);
    assert!(played.get("rr.transactions") >= 1000.0);
}

#[test]
fn a_connection_per_request_tells_its_parts_apart() {
    let played = crr(r#""count":"50","transport":"tls""#).play();
    assert_eq!(played.get("crr.connections"), 50.0, "{}", played.error());
    let all = played.get("crr.latency_seconds.min");
    let (connect, handshake) = (
        played.get("crr.connect_seconds.min"),
        played.get("crr.handshake_seconds.min"),
    );
    assert!(connect > 0.0 && handshake > connect && all > handshake);
    let played = crr(r#""count":"100","threads":2"#).play();
    assert_eq!(played.get("crr.connections"), 200.0, "{}", played.error());
    assert!(
        !played
            .result
            .summary
            .contains_key("crr.handshake_seconds.p50")
    );
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    for fields in [
        r#""transport":"shm","window":2"#,
        r#""transport":"shm","wait":"epoll""#,
        r#""transport":"quic","connections":2"#,
    ] {
        let refusal = rr(fields).try_play().err().expect("a refusal");
        assert!(refusal.operator_error && refusal.hint.is_some());
    }
}

#[test]
fn the_state_of_tcp_is_a_series_on_both_ends() {
    if cfg!(not(target_os = "linux")) {
        sokudo_testkit::skip("this system has no TCP_INFO");
        return;
    }
    let played = rr(r#""duration":"500ms""#).play();
    let windows = played.points("tcp.congestion_window_segments");
    assert!(windows.len() >= 2 && windows.iter().all(|(_, n)| *n >= 1.0));
    assert!(!played.points("tcp.smoothed_rtt_seconds").is_empty());
}
