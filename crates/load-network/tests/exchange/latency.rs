//! Tests of latency: to three digits, and from the intended start.

use std::time::Duration;

use super::far_end::{self, Act, FarEnd};
use super::play::rr;

const STALL: Duration = Duration::from_millis(500);

/// Value that the share `q` of sorted values does not exceed.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
    sorted[rank - 1]
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

const DELAY: Duration = Duration::from_millis(10);

fn delayed(_: u64) -> Act {
    Act::Answer(DELAY)
}

#[test]
fn the_histogram_of_a_stream_is_right_to_three_digits() {
    check_digits(&far_end::start(delayed), "");
    // The loop for many requests at a time as well.
    check_digits(&far_end::start(delayed), r#","duplex":true"#);
}

#[test]
fn the_histogram_of_datagrams_is_right_to_three_digits() {
    let far_end = far_end::start_datagrams(delayed);
    check_digits(&far_end, r#","transport":"udp""#);
}

fn check_digits(far_end: &FarEnd, more: &str) {
    let plan = rr(&format!(r#""count":"100","keep":"100"{more}"#));
    let played = plan.play_against(far_end.address);
    assert_eq!(played.get("rr.transactions"), 100.0);
    let kept = sorted(
        played
            .points("rr.round_trip_seconds")
            .into_iter()
            .map(|(_, seconds)| seconds)
            .collect(),
    );
    assert_eq!(kept.len(), 100, "each round trip is kept");
    for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)] {
        let seen = played.get(&format!("rr.latency_seconds.{name}"));
        let exact = quantile(&kept, q);
        assert!(
            (seen - exact).abs() <= exact / 1000.0,
            "{name}: {seen} for {exact}"
        );
    }
    // No answer can come before the far end gave it; sorted, the two lists compare one by one.
    let held = sorted(far_end.held().iter().map(Duration::as_secs_f64).collect());
    for (held, seen) in held.iter().zip(&kept) {
        assert!(
            seen >= held,
            "an answer after {seen} s that was held for {held} s"
        );
    }
    assert!(kept[0] >= DELAY.as_secs_f64());
    let mean = kept.iter().sum::<f64>() / 100.0;
    let seen = played.get("rr.latency_seconds.mean");
    assert!(
        (seen - mean).abs() <= mean / 1000.0,
        "mean: {seen} for {mean}"
    );
    let squares: f64 = kept.iter().map(|k| (k - mean) * (k - mean)).sum();
    let sd = (squares / 100.0).sqrt();
    let seen = played.get("rr.latency_sd_seconds");
    assert!(
        (seen - sd).abs() <= mean * 1e-6,
        "standard deviation: {seen} for {sd}"
    );
}

/// Script of a far end that stands still once, for its 101st request.
fn stalling(n: u64) -> Act {
    Act::Answer(if n == 100 { STALL } else { Duration::ZERO })
}

#[test]
fn over_a_stream_an_open_loop_shows_a_stall_in_full_and_a_closed_loop_does_not() {
    check_stall(|| far_end::start(stalling), "");
}

#[test]
fn over_datagrams_an_open_loop_shows_a_stall_in_full_and_a_closed_loop_does_not() {
    let far_end = || far_end::start_datagrams(stalling);
    check_stall(far_end, r#","transport":"udp""#);
}

fn check_stall(stalled: impl Fn() -> FarEnd, more: &str) {
    let slow = |points: Vec<(i64, f64)>, limit: f64| {
        points
            .iter()
            .filter(|(_, seconds)| *seconds > limit)
            .count()
    };
    let open = rr(&format!(
        r#""rate":"500/s","duration":"2s","keep":"10000"{more}"#
    ));
    let open = open.play_against(stalled().address);
    // 250 requests fall into half a second; those of its first half wait for more than its half.
    let waited = slow(open.points("rr.round_trip_seconds"), 0.25);
    assert!(
        waited >= 120,
        "{waited} requests saw at least half of the stall"
    );
    assert!(open.get("rr.latency_seconds.max") >= 0.499);
    assert!(
        open.get("rr.latency_seconds.p90") >= 0.1,
        "one in ten waited"
    );
    assert!(open.get("rr.window_full_ratio") > 0.1);
    assert_eq!(open.get("rr.transactions"), 1000.0, "none is left out");
    // Their own time was short: all but the one that met the stall were served at once.
    assert!(open.get("rr.service_seconds.max") >= 0.499);
    let service = open.get("rr.service_seconds.p90");
    assert!(
        service < open.get("rr.latency_seconds.p90"),
        "service p90 {service}"
    );

    let closed = rr(&format!(r#""count":"1000","keep":"10000"{more}"#));
    let closed = closed.play_against(stalled().address);
    assert!(closed.get("rr.latency_seconds.max") >= 0.499);
    let waited = slow(closed.points("rr.round_trip_seconds"), 0.45);
    assert!(
        waited < 10,
        "{waited} requests of a closed loop met the stall"
    );
}

#[test]
fn a_stall_at_the_end_is_not_left_out() {
    let far_end = far_end::start(|n| match n {
        200.. => Act::Silence,
        _ => Act::Answer(Duration::ZERO),
    });
    let plan = rr(r#""rate":"500/s","duration":"1s","timeout":"300ms""#);
    let played = plan.play_against(far_end.address);
    let answered = played.get("rr.transactions");
    let failed = played.get("rr.errors") + played.get("rr.unstarted_requests");
    assert_eq!(answered, 200.0);
    assert!(
        failed >= 299.0,
        "{failed} of 500 requests are accounted for as failed"
    );
    assert!(
        played.error().contains("did not answer"),
        "{}",
        played.error()
    );
}

#[test]
fn a_warm_up_does_not_count() {
    let far_end = far_end::start(|n| {
        Act::Answer(if n == 0 {
            Duration::from_millis(100)
        } else {
            Duration::ZERO
        })
    });
    let plan = rr(r#""rate":"200/s","warmup":"300ms","duration":"500ms","keep":"1000""#);
    let played = plan.play_against(far_end.address);
    assert_eq!(played.get("rr.transactions"), 100.0);
    assert_eq!(played.points("rr.round_trip_seconds").len(), 100);
}
