//! Tests of the place of each loss, and of rate limits.

use std::sync::Arc;

use sokudo_model::PhaseResult;
use sokudo_testkit::hosts::{Hosts, Tbf};
use sokudo_testkit::skip;

use crate::modes::{gso_works, waited_ratio};
use crate::play::{Play, alone, options, play, value};

fn place(result: &PhaseResult, name: &str) -> f64 {
    let name = format!("datagram.lost_{name}_packets");
    result.summary.get(&name).copied().unwrap_or(0.0)
}

/// Every missing datagram is in exactly one place.
#[track_caller]
fn check_sum(result: &PhaseResult) {
    let places = ["at_receiver_socket", "at_receiver_host", "on_path"];
    let sum: f64 = places.iter().map(|name| place(result, name)).sum();
    let missing = value(&result.summary, "missing_packets");
    assert!(
        (sum - missing).abs() < 1e-6 * missing.max(1.0),
        "{:#?}",
        result.summary
    );
}

/// Loss at a receive buffer that is far too small, and nowhere else.
fn overflow(fields: &str) -> Option<PhaseResult> {
    let _turn = alone();
    let result = play(&options(fields), 2);
    check_sum(&result);
    if value(&result.summary, "missing_packets") == 0.0 {
        skip("the receiver kept up with a tiny buffer");
        return None;
    }
    Some(result)
}

#[test]
fn an_overflowing_socket_explains_every_loss() {
    for (io, gro) in [
        ("plain", "off"),
        ("plain", "on"),
        ("mmsg", "off"),
        ("gso", "off"),
    ] {
        if io == "gso" && !gso_works() {
            continue;
        }
        let fields =
            format!(r#""count":"50000","size":"1000","rcvbuf":"4KiB","io":"{io}","gro":"{gro}""#);
        let Some(result) = overflow(&fields) else {
            continue;
        };
        let missing = value(&result.summary, "missing_packets");
        assert_eq!(
            place(&result, "at_receiver_socket"),
            missing,
            "{io} {gro}: {:#?}",
            result.summary
        );
    }
}

#[test]
fn dropped_super_packets_explain_all_their_datagrams() {
    if !gso_works() {
        return;
    }
    // Whole batches only, so that all buffers are equally full: 65507 / 1400 = 46.
    let fields = r#""count":"46000","size":"1400","rcvbuf":"100KiB","io":"gso","gro":"on""#;
    let Some(result) = overflow(fields) else {
        return;
    };
    let missing = value(&result.summary, "missing_packets");
    assert_eq!(
        place(&result, "at_receiver_socket"),
        missing,
        "{:#?}",
        result.summary
    );
}

/// Bits per second of a bucket, link-layer headers included.
const LIMIT: u64 = 40_000_000;
/// Datagram, IP, UDP and Ethernet headers.
const FRAME_BITS: f64 = (1400.0 + 28.0 + 14.0) * 8.0;

fn bucket(limit_bytes: u32) -> Tbf {
    Tbf {
        rate_bits_per_s: LIMIT,
        burst_bytes: 20_000,
        limit_bytes,
    }
}

/// Plays until delivered datagrams per second lie within 5 % of what the bucket lets through.
///
/// A bucket that was empty for a while lets less through: on a machine that gives the sender too
/// little CPU the interval means nothing.
fn play_limited(fields: &str, hosts: &Arc<Hosts>) -> Option<PhaseResult> {
    let passes = LIMIT as f64 / FRAME_BITS;
    for attempt in 1.. {
        let mut play = Play::on_hosts(&options(fields), Arc::clone(hosts)).expect("prepare");
        let offers = play.offers();
        let result = play.finish(&offers);
        check_sum(&result);
        let delivered = value(&result.summary, "delivered_packets_per_second");
        let share = delivered / passes;
        assert!(
            share <= 1.05,
            "{delivered} of {passes}: {:#?}",
            result.summary
        );
        if share >= 0.95 {
            return Some(result);
        }
        if attempt == 3 {
            let waited = waited_ratio(&result);
            assert!(
                waited > 0.05,
                "{delivered} of {passes}: {:#?}",
                result.summary
            );
            break;
        }
    }
    skip("the sending thread gets too little CPU to keep the limit busy");
    None
}

#[test]
fn a_limit_on_the_path_is_measured_and_blamed_on_the_path() {
    let _turn = alone();
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    if let Err(error) = hosts.limit_path_to(1, bucket(1_000_000)) {
        return skip(error);
    }
    // The queue holds 0.2 s of the limit: a sender that stands still for less leaves no hole.
    let fields = r#""rate":"8k/s","duration":"1500ms","size":"1400","io":"plain""#;
    let Some(result) = play_limited(fields, &hosts) else {
        return;
    };
    assert_eq!(place(&result, "at_sender"), 0.0);
    assert_eq!(place(&result, "at_receiver_socket"), 0.0);
    let missing = value(&result.summary, "missing_packets");
    assert!(missing > 0.0);
    // Drops of a core's backlog are a counter of the whole machine; others may add to it.
    let on_path = place(&result, "on_path");
    assert!(on_path >= missing * 0.95, "{on_path} of {missing}");
}

#[test]
fn a_limit_on_the_own_device_is_blamed_on_the_sender() {
    let _turn = alone();
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    // The queue holds less than the socket's send buffer: the kernel refuses, nothing waits.
    if let Err(error) = hosts.limit_sending(0, bucket(90_000)) {
        return skip(error);
    }
    let fields = r#""duration":"1500ms","size":"1400","io":"plain""#;
    let Some(result) = play_limited(fields, &hosts) else {
        return;
    };
    assert!(place(&result, "at_sender") > 0.0);
    assert_eq!(value(&result.summary, "missing_packets"), 0.0);
    let sent = value(&result.summary, "sent_packets");
    assert_eq!(value(&result.summary, "received_packets"), sent);
}

#[test]
fn a_slow_device_with_a_long_queue_makes_the_sender_wait() {
    let _turn = alone();
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    if let Err(error) = hosts.limit_sending(0, bucket(4_000_000)) {
        return skip(error);
    }
    let fields = r#""duration":"1500ms","size":"1400","io":"mmsg","sndbuf":"64KiB""#;
    let Some(result) = play_limited(fields, &hosts) else {
        return;
    };
    assert_eq!(place(&result, "at_sender"), 0.0);
    assert_eq!(value(&result.summary, "missing_packets"), 0.0);
}
