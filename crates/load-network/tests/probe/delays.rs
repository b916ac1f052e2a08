//! Tests of delays, and of their direction.

use std::time::Duration;

use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::Script;
use sokudo_testkit::way::Way;

use super::play::{Played, probe};

const UP: Duration = Duration::from_millis(4);
const DOWN: Duration = Duration::from_millis(60);

/// A scripted delay up and a longer one down are found where they are.
fn check(played: &Played) {
    let (up, down) = (UP.as_secs_f64(), DOWN.as_secs_f64());
    // Nothing can pass sooner than the script allows; a distribution is right to three digits …
    let at_least = |name: &str, seconds: f64| assert!(played.get(name) >= seconds * 0.999);
    at_least("owd_up_seconds.min", up);
    at_least("owd_down_seconds.min", down);
    at_least("rtt_seconds.min", up + down);
    // … and what half of the probes met on the way up is not the delay of the way down.
    assert!(played.get("owd_up_seconds.p50") < down);
    assert!(played.get("owd_seconds.min") < down);
    at_least("owd_seconds.max", down);
    assert_eq!(played.get("clock_error_seconds"), 0.0);
    assert!(played.find("clock_drift_ratio").is_none());
    // Both ways together are the round trip, probe by probe.
    let points = |name: &str| played.points(name);
    let (ups, downs) = (
        points("each_owd_up_seconds"),
        points("each_owd_down_seconds"),
    );
    let trips = points("each_rtt_seconds");
    assert_eq!(trips.len() as f64, played.get("answered_packets"));
    assert_eq!((ups.len(), downs.len()), (trips.len(), trips.len()));
    for ((up, down), trip) in ups.iter().zip(&downs).zip(&trips) {
        assert_eq!(
            (up.0, down.0),
            (trip.0, trip.0),
            "one moment for each probe"
        );
        assert!(
            (up.1 + down.1 - trip.1).abs() < 1e-9,
            "{up:?} {down:?} {trip:?}"
        );
    }
}

#[test]
fn an_asymmetric_delay_shows_in_its_direction() {
    let played = probe(r#""every":"5ms","count":"100""#)
        .play_through(Script::new().delay(UP), Script::new().delay(DOWN));
    assert_eq!(played.get("lost_packets"), 0.0);
    check(&played);
}

#[test]
fn between_namespaces_there_is_one_clock() {
    let Some(hosts) = Hosts::new(2) else { return };
    let (up, down) = (Script::new().delay(UP), Script::new().delay(DOWN));
    let Some(way) = Way::open(&hosts, up, down) else {
        return;
    };
    let addresses = [Way::address(0), Way::address(1)];
    let played = probe(r#""every":"5ms","count":"60""#)
        .between(addresses)
        .play_on(&hosts);
    assert!(way.counts().forwarded > 0);
    check(&played);
}

#[test]
fn the_histogram_is_right_to_three_digits() {
    let played = probe(r#""every":"2ms","count":"200""#)
        .play_through(Script::new().delay(UP), Script::new());
    let mut trips: Vec<f64> = played
        .points("each_rtt_seconds")
        .into_iter()
        .map(|(_, seconds)| seconds)
        .collect();
    trips.sort_by(f64::total_cmp);
    for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)] {
        let rank = ((q * trips.len() as f64).ceil() as usize).max(1);
        let (exact, seen) = (trips[rank - 1], played.get(&format!("rtt_seconds.{name}")));
        assert!(
            (seen - exact).abs() <= exact / 1000.0,
            "{name}: {seen} for {exact}"
        );
    }
}

#[test]
fn probes_leave_by_the_clock_whatever_comes_back() {
    let played = probe(r#""every":"2ms","count":"100""#)
        .play_through(Script::new(), Script::new().delay(DOWN));
    let sent = played.get("sent_packets") + played.get("unsent_packets");
    assert_eq!(sent, 100.0);
    let points = played.points("each_rtt_seconds");
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    // Had each waited for the answer before it, 60 ms would lie between two.
    let closed_loop_ns = (points.len() as i64 - 1) * DOWN.as_nanos() as i64;
    assert!(last - first < closed_loop_ns, "{} ns", last - first);
    assert!(
        played.get("timer_error_seconds.max") < 0.0021,
        "later ones are left out"
    );
}

#[test]
fn an_answer_after_the_timeout_is_late_and_not_lost() {
    let played = probe(r#""every":"2ms","count":"100","timeout":"30ms""#)
        .play_through(Script::new(), Script::new().delay(DOWN));
    let (late, lost) = (played.get("late_packets"), played.get("lost_packets"));
    assert_eq!(played.get("answered_packets"), 0.0);
    assert!(late > 0.0, "the first come back while others leave");
    assert_eq!(late + lost, played.get("sent_packets"));
    assert_eq!(played.find("rtt_seconds.p50"), None, "no delay of nothing");
    assert!(!played.result.flows[0].complete);
}
