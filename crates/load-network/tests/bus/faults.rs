//! Tests of a far end that dies, stands still, resets or sends garbage.

use std::io::Write as _;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::bus::protocol::{FrameKind, HEADER_BYTES, Header};

use super::far_end::{self, Act};
use super::play::{BOUND, bus};

/// A far end that behaves for ten messages, then acts; how that is told, and under which name.
#[track_caller]
fn check(act: Act, says: &[&str], names: &[&str]) {
    for more in [
        r#""mode":"rr""#,
        r#""mode":"rr","wait":"spin:20us""#,
        r#""inflight":"4""#,
        r#""inflight":"64KiB","rate":"1000/s""#,
        r#""no_acks":true,"sample":"all""#,
    ] {
        let far_end = far_end::start(move |n| match n {
            0..10 => Act::Answer(Duration::ZERO),
            _ => act,
        });
        let plan = bus(&format!(r#"{more},"duration":"20s","timeout":"300ms""#));
        let played = plan.play_against(far_end.address);
        assert!(played.elapsed < BOUND / 2, "{more}: {:?}", played.elapsed);
        let error = played.error();
        assert!(
            says.iter().any(|says| error.contains(says)),
            "{more}: {error}"
        );
        let found = names.iter().any(|name| {
            let name = format!("bus.{name}");
            played.result.summary.get(&name) == Some(&1.0)
        });
        assert!(found, "{more}: {:?}", played.result.summary);
        assert!(played.get("bus.errors") >= 1.0, "{more}");
        assert!(!played.result.flows[0].complete);
    }
}

const CLOSED: (&str, &str) = ("closed the connection", "closed_connections");
const RESET: (&str, &str) = ("reset the connection", "reset_connections");

#[test]
fn a_far_end_that_closes_is_named() {
    // It closes on messages that it has not read: its kernel may reset.
    check(Act::Close, &[CLOSED.0, RESET.0], &[CLOSED.1, RESET.1]);
}

#[test]
fn a_far_end_that_resets_is_named() {
    check(Act::Reset, &[RESET.0, CLOSED.0], &[RESET.1, CLOSED.1]);
}

#[test]
fn a_far_end_that_half_closes_is_named() {
    check(Act::HalfClose, &[CLOSED.0], &[CLOSED.1]);
}

#[test]
fn garbage_is_named() {
    let mut lengths = [0, 1, 23, 1 << 31, u32::MAX].map(|length| {
        let mut bytes = [0; HEADER_BYTES];
        let response = Header {
            length,
            kind: FrameKind::Response,
            flags: 0,
            number: 0,
            stamp: 0,
        };
        response.write(&mut bytes);
        bytes
    });
    lengths[0] = [0xff; HEADER_BYTES];
    for bytes in lengths {
        let says = ["not a message of this test", "was not agreed on"];
        check(Act::Garbage(bytes), &says, &["foreign_connections"]);
    }
}

#[test]
fn receipts_for_what_was_never_sent_are_named() {
    let far_end = far_end::start(|_| Act::Overstate);
    let played = bus(r#""duration":"20s""#).play_against(far_end.address);
    assert!(
        played.error().contains("belongs to no request"),
        "{}",
        played.error()
    );
    assert_eq!(played.get("bus.foreign_connections"), 1.0);
}

#[test]
fn a_far_end_that_stands_still_is_named() {
    for more in [
        r#""inflight":"4""#,
        r#""no_flow_control":true"#,
        r#""no_acks":true"#,
        r#""mode":"rr""#,
    ] {
        let far_end = far_end::start(|n| match n {
            0 => Act::Answer(Duration::ZERO),
            _ => Act::StandStill,
        });
        let plan = bus(&format!(r#"{more},"duration":"20s","timeout":"300ms""#));
        let played = plan.play_against(far_end.address);
        assert!(
            played.error().contains("silent for too long"),
            "{more}: {}",
            played.error()
        );
        assert_eq!(played.get("bus.silent_connections"), 1.0, "{more}");
    }
}

#[test]
fn a_backlog_that_never_drains_is_named() {
    let far_end = far_end::start(|n| match n {
        9 => Act::StandStill,
        _ => Act::Swallow,
    });
    let plan = bus(r#""count":"10","timeout":"300ms""#);
    let played = plan.play_against(far_end.address);
    assert!(played.error().contains("10 messages"), "{}", played.error());
    assert_eq!(played.get("bus.undrained_connections"), 1.0);
    assert_eq!(played.get("bus.unacknowledged_messages"), 10.0);
    assert_eq!(played.get("bus.errors"), 10.0);
}

#[test]
fn a_receiver_that_is_slower_for_the_whole_run_loses_nothing() {
    let fields = r#""rx":"queue","consume_rate":"300/s","inflight":"64KiB","duration":"500ms""#;
    let played = bus(fields).play();
    assert!(played.is_whole(), "{}", played.error());
    assert_eq!(played.get("bus.messages"), played.get("bus.sent_messages"));
    assert!(played.get("bus.backlog_ratio") > 0.0);
}

#[test]
fn losses_have_a_name_and_the_sum_is_exact() {
    // The consumer is so slow that the sender gives up on its backlog.
    let fields = r#""rx":"queue","consume_rate":"2/s","count":"20","timeout":"200ms""#;
    let played = bus(fields).play();
    let (sent, received) = (played.get("bus.sent_messages"), played.get("bus.messages"));
    assert_eq!(sent, 20.0);
    assert_eq!(played.get("bus.missing_messages"), sent - received);
    assert!(received < 20.0 && !played.is_whole());
    assert_eq!(played.get("bus.undrained_connections"), 1.0);
}

#[test]
fn a_stranger_is_let_in_nowhere() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    // Somebody who knows nothing of the test answers at once with nonsense.
    let stranger = std::thread::spawn(move || {
        let (mut caller, _) = listener.accept().expect("a caller");
        let _ = caller.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let refused = bus(r#""duration":"20s","timeout":"2s""#).refused_by(address);
    stranger.join().expect("it ends");
    let says = english(&refused.says);
    assert!(says.contains("did not prove that it takes part"), "{says}");
}
