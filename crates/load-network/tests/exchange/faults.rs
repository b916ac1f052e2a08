//! Tests of a far end that dies, stands still, resets or sends garbage.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::rr::protocol::{Header, MessageKind};
use sokudo_testkit::strangers::Strangers;

use super::far_end::{self, Act};
use super::play::{crr, rr};

fn after_ten(act: Act) -> impl Fn(u64) -> Act + Send + Sync {
    move |n| {
        if n < 10 {
            Act::Answer(Duration::ZERO)
        } else {
            act
        }
    }
}

#[track_caller]
fn check(act: Act, says: &str) {
    for more in [
        "",
        r#","window":4"#,
        r#","wait":"epoll""#,
        r#","wait":"spin:20us""#,
    ] {
        if cfg!(not(target_os = "linux")) && more.contains("epoll") {
            continue;
        }
        let far_end = far_end::start(after_ten(act));
        let plan = rr(&format!(r#""duration":"20s","timeout":"300ms"{more}"#));
        let played = plan.play_against(far_end.address);
        // With more requests under way the far end closes on unread ones: its kernel then resets,
        // which may overtake answers.
        let answered = played.get("rr.transactions");
        let windowed = more.contains("window");
        assert!(answered == 10.0 || (windowed && answered < 10.0), "{more}");
        assert!(played.get("rr.errors") >= 1.0);
        assert_eq!(played.get("rr.lost_connections"), 1.0, "{more}");
        let error = played.error();
        let reset = windowed && error.contains("reset the connection");
        assert!(reset || error.contains(says), "{more}: {error}");
        assert!(!played.result.flows[0].complete);
    }
}

#[test]
fn a_far_end_that_closes_is_named() {
    check(Act::Close, "closed the connection");
}

#[test]
fn a_far_end_that_closes_its_half_is_named() {
    check(Act::HalfClose, "closed the connection");
}

#[test]
fn a_connection_per_request_that_fails_is_counted_and_the_next_one_is_made() {
    for (act, says) in [
        (Act::Close, "closed the connection"),
        (Act::HalfClose, "closed the connection"),
        (Act::Reset, "reset the connection"),
        (Act::Silence, "did not answer in time"),
        (Act::Garbage([0xa5; 64]), "not a message of this test"),
    ] {
        let far_end = far_end::start_per_request(move |n| match n {
            // Of nineteen the 4th, 8th, 12th and 16th fail.
            n if n % 4 == 3 => act,
            _ => Act::Answer(Duration::ZERO),
        });
        let played = crr(r#""count":"15","timeout":"1s""#).play_against(far_end.address);
        assert_eq!(played.get("crr.connections"), 15.0, "{says}");
        assert_eq!(played.get("crr.errors"), 4.0, "{says}");
        assert!(played.error().contains(says), "{}", played.error());
        assert_eq!(played.get("crr.lost_connections"), 0.0, "{says}");
    }
}

#[test]
fn a_far_end_that_resets_is_named() {
    check(Act::Reset, "reset the connection");
}

#[test]
fn a_frozen_far_end_is_named_in_time() {
    check(Act::Silence, "did not answer in time");
}

#[test]
fn garbage_is_named() {
    check(Act::Garbage([0xa5; 64]), "not a message of this test");
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    for length in [0, 23, 1 << 31, u32::MAX] {
        let mut bytes = [0u8; 64];
        let header = Header {
            ticket: 1,
            sequence: 10,
            length,
        };
        header.write(MessageKind::Response, &mut bytes);
        check(Act::Garbage(bytes), "not agreed on");
    }
}

#[test]
fn an_answer_that_nobody_asked_for_is_refused() {
    let mut bytes = [0u8; 64];
    let header = Header {
        ticket: 1,
        sequence: 77,
        length: 64,
    };
    header.write(MessageKind::Response, &mut bytes);
    check(Act::Garbage(bytes), "belongs to no request");
}

#[test]
fn a_peer_that_is_not_there_is_refused_before_the_load() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for plan in [rr(r#""count":"1""#), crr(r#""count":"1""#)] {
        let refused = plan
            .try_against(gone, None)
            .err()
            .expect("nobody listens there");
        assert!(english(&refused.says).contains("refuses"), "{refused:?}");
    }
}

#[test]
fn strangers_at_the_door_do_not_count() {
    // Connections without a ticket come first; the flow's own one still gets in.
    let far_end = far_end::start(|_| Act::Answer(Duration::ZERO));
    let mut stranger = TcpStream::connect(far_end.address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let played = rr(r#""count":"10""#).play_against(far_end.address);
    assert_eq!(played.get("rr.transactions"), 10.0);
}

/// Strangers that keep coming before and during a load, some hundred a second, keep none of its callers waiting for
/// long: each one is answered.
#[test]
fn strangers_that_keep_coming_hold_no_caller() {
    for (plan, count) in [
        (rr(r#""count":"100""#), 100.0),
        (
            crr(r#""count":"300","rate":"300/s","timeout":"20s""#),
            300.0,
        ),
        (
            crr(r#""count":"100","rate":"200/s","timeout":"20s","threads":2,"wait":"spin:20us""#),
            200.0,
        ),
        (
            crr(r#""count":"100","rate":"100/s","timeout":"20s","transport":"tls""#),
            100.0,
        ),
    ] {
        let begin = |offer: &str| {
            let strangers = Strangers::at_offer(offer);
            // As many as are looked at at a time.
            strangers.wait_for(80);
            strangers
        };
        let played = plan
            .try_play_beside(begin)
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)));
        let name = plan.name();
        let get = |metric: &str| played.get(&format!("{name}.{metric}"));
        assert_eq!(get("errors"), 0.0, "{}", played.error());
        assert_eq!(get("answered_requests"), count, "{}", played.error());
        assert_eq!(get("lost_connections"), 0.0);
        assert!(played.result.flows.iter().all(|flow| flow.complete));
        if name == "crr" {
            assert!(get("foreign_messages") > 0.0);
        }
    }
}

/// Leaves the calling thread's namespace so few local ports that they run out at once.
fn few_ports() -> std::io::Result<()> {
    let set = |name: &str, value: &str| std::fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
    set("ip_local_port_range", "40000 40019")?;
    // Ports of connections that are over would be taken again at once on the loopback device.
    set("tcp_tw_reuse", "0")
}

#[test]
fn ports_that_run_out_are_named_counted_and_waited_for() {
    let Some(hosts) = sokudo_testkit::hosts::Hosts::new(1) else {
        return;
    };
    let played = hosts.run_in(0, || {
        if let Err(error) = few_ports() {
            sokudo_testkit::skip(format!("the range of local ports cannot be set: {error}"));
            return None;
        }
        Some(crr(r#""duration":"1s""#).play())
    });
    let Some(played) = played else {
        return;
    };
    let (made, exhausted) = (
        played.get("crr.connections"),
        played.get("crr.ports_exhausted"),
    );
    assert!((1.0..=20.0).contains(&made), "{made} connections");
    // One try each 10 ms at most: a thread that finds no port does not turn in circles.
    assert!((1.0..=101.0).contains(&exhausted), "{exhausted} times");
    assert_eq!(played.get("crr.errors"), exhausted);
    let error = played.error();
    assert!(error.contains("no local port is left"), "{error}");
}
