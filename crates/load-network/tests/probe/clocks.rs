//! Tests of one-way delays, which are left out when the clock error is too large.

use std::time::Duration;

use sokudo_load_network::probe::notes::notes;
use sokudo_model::{ClockReading, HostClock};
use sokudo_testkit::relay::Script;

use super::play::{Played, probe};

/// A far clock that is said to be ahead by `offset_ns`, right within `error_ns`.
fn far(offset_ns: i64, error_ns: u64) -> Option<[HostClock; 2]> {
    let reading = |at_ns| ClockReading {
        at_ns,
        offset_ns,
        error_ns,
    };
    let far = HostClock {
        before: reading(0),
        after: reading(1),
    };
    Some([HostClock::default(), far])
}

fn play(clocks: Option<[HostClock; 2]>) -> Played {
    let way = || Script::new().delay(Duration::from_millis(5));
    probe(r#""every":"4ms","count":"60""#)
        .clocks(clocks)
        .play_through(way(), way())
}

fn note(played: &Played) -> String {
    notes(&played.result).remove(0).key
}

#[test]
fn within_the_bar_delays_are_told_with_it() {
    let played = play(far(0, 100_000));
    assert_eq!(played.get("clock_error_seconds"), 1e-4);
    assert!(played.get("owd_up_seconds.min") >= 0.005);
    assert!(!played.points("each_owd_down_seconds").is_empty());
    assert_eq!(note(&played), "engine-probe-clock");
}

#[test]
fn below_the_bar_nothing_is_told_but_why() {
    let played = play(far(0, 3_600_000_000_000));
    let told = played.result.summary.keys();
    assert_eq!(told.filter(|key| key.contains("owd")).count(), 0);
    let kept = played.result.flows[0].histograms.keys();
    assert_eq!(kept.filter(|key| key.contains("owd")).count(), 0);
    assert!(played.points("each_owd_up_seconds").is_empty());
    assert_eq!(played.get("clock_error_seconds"), 3600.0);
    assert_eq!(note(&played), "engine-probe-clock-none");
    // What needs one clock only is there.
    assert!(played.get("rtt_seconds.min") >= 0.010);
    assert!(played.find("ipdv_up_seconds.p50").is_some());
    assert!(played.find("jitter_down_seconds").is_some());
}

#[test]
fn an_offset_that_cannot_be_is_found_out() {
    // The far clock is not ahead by a second: probes would arrive before they left.
    let played = play(far(1_000_000_000, 1_000));
    assert!(played.get("clock_error_seconds") > 0.9);
    assert_eq!(played.find("owd_up_seconds.p50"), None);
}

#[test]
fn clocks_that_nobody_compared_part_nothing() {
    let played = play(None);
    assert_eq!(played.find("clock_error_seconds"), None);
    assert_eq!(played.find("owd_seconds.p50"), None);
    assert_eq!(note(&played), "engine-probe-no-clock");
}
