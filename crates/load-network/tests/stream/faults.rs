//! Tests of connections that end badly: the result holds the reason.

use crate::play::stream;
use crate::relay::{After, relay};

/// Bytes of the payload after which the relay misbehaves.
const PASSED: usize = 2_000_000;

#[test]
fn a_reset_on_the_way_leaves_a_partial_result() {
    let played =
        stream(r#""duration":"20s""#).play_through(&|port| relay(port, PASSED, After::Reset));
    assert!(!played.flow().complete);
    assert!(played.error().contains("reset"), "{}", played.error());
    let received = played.get("received_bytes");
    assert!(received > 0.0 && received <= PASSED as f64, "{received}");
    assert!(played.get("missing_bytes") > 0.0);
    assert!(played.get("elapsed_seconds") < 20.0);
}

#[test]
fn a_stream_that_dies_carried_what_arrived_over_the_whole_load() {
    for after in [After::Reset, After::Stall] {
        let played = stream(r#""duration":"1s","timeout":"300ms","sndbuf":"64KiB""#)
            .play_through(&|port| relay(port, PASSED, after));
        assert!(!played.flow().complete, "{after:?}");
        let of = |name: &str| played.flow().metrics[name];
        let load_s = of("group.load_seconds");
        assert_eq!(load_s, 1.0, "{after:?}");
        assert!(of("group.last_through_seconds") < load_s, "{after:?}");
        let received = played.get("received_bytes");
        let goodput = played.get("goodput_bits_per_second");
        assert_eq!(goodput, received * 8.0 / load_s, "{after:?}");
        let sent = played.get("sent_bits_per_second");
        assert_eq!(sent, played.get("sent_bytes") * 8.0 / load_s, "{after:?}");
    }
}

#[test]
fn a_stream_that_is_ended_on_the_way_is_not_taken_for_whole() {
    let played = stream(r#""duration":"500ms","rate":"400Mb/s""#)
        .play_through(&|port| relay(port, PASSED, After::Cut));
    assert!(!played.flow().complete);
    assert_eq!(played.get("received_bytes"), PASSED as f64);
    assert!(!played.error().is_empty());
}

#[test]
fn a_far_end_that_takes_nothing_is_given_up() {
    let played = stream(r#""duration":"30s","timeout":"300ms","sndbuf":"64KiB""#)
        .play_through(&|port| relay(port, PASSED, After::Stall));
    assert!(!played.flow().complete);
    assert!(
        played.error().contains("took nothing"),
        "{}",
        played.error()
    );
    assert!(played.get("missing_bytes") > 0.0);
}

#[test]
fn several_connections_of_one_thread_do_not_die_together() {
    let plan = stream(r#""duration":"600ms","streams":3,"threads":1,"rate":"100Mb/s""#);
    let first = std::sync::atomic::AtomicBool::new(true);
    let played = plan.play_through(&|port| match first
        .swap(false, std::sync::atomic::Ordering::Relaxed)
    {
        true => relay(port, 100_000, After::Reset),
        false => port,
    });
    let whole = played.result.flows.iter().filter(|flow| flow.complete);
    assert_eq!(whole.count(), 2, "{:?}", played.result.flows);
    assert!(played.error().contains("reset"), "{}", played.error());
}

#[test]
fn nobody_else_is_let_in() {
    // A stranger calls before the caller does: it proves nothing and is closed.
    let played = stream(r#""bytes":"100000""#).play_through(&|port| {
        let stranger = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        drop(stranger);
        port
    });
    assert_eq!(played.expect_whole(), 100_000.0);
}
