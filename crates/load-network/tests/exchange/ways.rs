//! Tests of all transports, ways of waiting and shapes of load: every request is answered.

use super::play::{crr, rr};
use sokudo_i18n::english;

/// Transports that this system has.
fn transports() -> Vec<&'static str> {
    let mut all = vec!["tcp", "tls", "udp", "quic"];
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
            if ["shm", "quic"].contains(&transport) && *wait == "epoll" {
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
fn messages_shorter_than_a_header_are_answered_and_checked() {
    for fields in [
        r#""size":"1""#,
        r#""size":"23","window":16"#,
        r#""size":"1:4KiB","connections":5"#,
        r#""size":"100:1","transport":"tls","rate":"5k/s""#,
        r#""size":"2","transport":"quic""#,
        r#""size":"8","duplex":true"#,
    ] {
        let played = rr(&format!(r#""count":"300",{fields}"#)).play();
        let error = played.error();
        assert_eq!(played.get("rr.transactions"), 300.0, "{fields}: {error}");
        assert_eq!(played.get("rr.answered_requests"), 300.0, "{fields}");
    }
    let played = crr(r#""count":"50","size":"24:1""#).play();
    assert_eq!(played.get("crr.connections"), 50.0, "{}", played.error());
}

#[test]
fn both_ways_at_once_large_messages_do_not_wait_for_each_other() {
    // Larger than all buffers on the way: only an end that reads while it writes gets through.
    for fields in [
        r#""size":"64MiB","count":"2""#,
        r#""size":"1MiB","count":"20","window":3,"connections":2"#,
        r#""size":"64","count":"500","wait":"spin:20us""#,
        r#""size":"300KiB","count":"20","transport":"unix","rate":"500/s""#,
    ] {
        if cfg!(not(unix)) && fields.contains("unix") {
            continue;
        }
        let played = rr(&format!(r#""duplex":true,{fields}"#)).play();
        let error = played.error();
        assert_eq!(played.get("rr.errors"), 0.0, "{fields}: {error}");
        let answered = played.get("rr.transactions");
        assert_eq!(answered, played.get("rr.answered_requests"), "{fields}");
        assert!(played.get("rr.one_way_bytes_per_second") > 0.0);
    }
}

#[test]
fn what_is_not_sampled_is_counted_all_the_same() {
    for more in ["", r#","window":4"#, r#","rate":"2k/s""#] {
        let played = |sample: &str| {
            let fields = format!(r#""count":"400","keep":"1000","sample":"{sample}"{more}"#);
            rr(&fields).play()
        };
        let all = played("1/1");
        assert_eq!(all.points("rr.round_trip_seconds").len(), 400, "{more}");
        let some = played("1/8");
        assert_eq!(some.get("rr.transactions"), 400.0, "{more}");
        assert_eq!(some.points("rr.round_trip_seconds").len(), 50, "{more}");
        assert!(some.get("rr.latency_seconds.p50") > 0.0);
        assert!(some.get("rr.transactions_per_second") > 0.0);
    }
    let none = rr(r#""count":"400","sample":"none""#).play();
    assert_eq!(none.get("rr.transactions"), 400.0);
    assert!(none.get("rr.transactions_per_second") > 0.0);
    let summary = &none.result.summary;
    assert!(!summary.keys().any(|name| name.contains("latency")));
}

#[test]
fn several_paths_at_once_where_the_kernel_has_them() {
    let fields = r#""count":"200","transport":"mptcp""#;
    for (answered, played) in [
        ("rr.transactions", rr(fields).try_play()),
        ("crr.connections", crr(fields).try_play()),
    ] {
        match played {
            Ok(played) => assert_eq!(played.get(answered), 200.0, "{}", played.error()),
            Err(refusal) if english(&refusal.says).contains("no multipath TCP") => {
                assert!(refusal.hint.is_some());
                sokudo_testkit::skip(english(&refusal.says));
                return;
            }
            Err(refusal) => panic!("{}", english(&refusal.says)),
        }
    }
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
    let played = crr(r#""count":"20","transport":"quic""#).play();
    assert_eq!(played.get("crr.connections"), 20.0, "{}", played.error());
    assert!(played.get("crr.handshake_seconds.min") > 0.0);
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
