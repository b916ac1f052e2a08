//! Tests of rates and shares when a far end dies part-way: they count over the load, not over the time in which
//! something was answered.

use std::net::SocketAddr;
use std::time::Duration;

use super::far_end::{self, Act, FarEnd};
use super::play::{Plan, Played, crr, rr};

/// Requests that are answered before the far end dies.
const ANSWERED: u64 = 50;
/// Length of the load, seconds.
const LOAD_S: f64 = 1.0;

fn until_it(dies: Act) -> impl Fn(u64) -> Act + Send + Sync {
    move |n| match n < ANSWERED {
        true => Act::Answer(Duration::from_millis(1)),
        false => dies,
    }
}

/// The rate is the count over the load; in a closed loop most of what was due could not be tried.
#[track_caller]
fn check(source: &str, plan: &Plan, far_end: SocketAddr, is_closed: bool) -> Played {
    let played = plan.play_against(far_end);
    let flow = &played.result.flows[0];
    let of = |name: &str| flow.metrics.get(name).copied();
    let (count, rate) = match source {
        "rr" => ("rr.transactions", "rr.transactions_per_second"),
        _ => ("crr.connections", "crr.connections_per_second"),
    };
    let answered = played.get(count);
    assert!(answered > 0.0 && answered <= ANSWERED as f64, "{answered}");
    assert_eq!(played.get(rate), answered / LOAD_S, "of the phase");
    assert_eq!(of(rate), Some(answered / LOAD_S), "of the flow");
    assert_eq!(of("group.load_seconds"), Some(LOAD_S));
    let last = of("group.last_through_seconds").expect("something was answered");
    assert!(last < LOAD_S, "{last}");
    let errors = played.get(&format!("{source}.error_ratio"));
    if is_closed {
        // As much as was answered in as much time; quick failures may be more.
        let due = answered * LOAD_S / last;
        let lost = 1.0 - answered / due;
        assert!(errors >= lost - 1.0 / due, "{errors} of {last} s");
    } else {
        // 200 were due.
        assert!((errors - (1.0 - answered / 200.0)).abs() < 0.01, "{errors}");
    }
    played
}

#[test]
fn a_far_end_that_dies_is_not_faster_than_it_was_over_the_load() {
    for act in [Act::Close, Act::Reset, Act::Silence] {
        for more in ["", r#","window":4"#] {
            let far_end = far_end::start(until_it(act));
            let fields = format!(r#""duration":"1s","timeout":"100ms"{more}"#);
            let played = check("rr", &rr(&fields), far_end.address, true);
            assert!(!played.result.flows[0].complete);
            let open = format!(r#"{fields},"rate":"200/s""#);
            let far_end = far_end::start(until_it(act));
            check("rr", &rr(&open), far_end.address, false);
        }
    }
}

#[test]
fn datagrams_without_an_answer_cost_a_closed_loop_its_time() {
    let far_end: FarEnd = far_end::start_datagrams(until_it(Act::Silence));
    let plan = rr(r#""transport":"udp","duration":"1s","timeout":"100ms""#);
    check("rr", &plan, far_end.address, true);
}

#[test]
fn connections_that_fail_one_after_the_other_are_not_faster_than_over_the_load() {
    for act in [Act::Close, Act::Silence] {
        let far_end = far_end::start_per_request(until_it(act));
        let plan = crr(r#""duration":"1s","timeout":"100ms""#);
        check("crr", &plan, far_end.address, true);
        let far_end = far_end::start_per_request(until_it(act));
        let plan = crr(r#""duration":"1s","timeout":"100ms","rate":"200/s""#);
        check("crr", &plan, far_end.address, false);
    }
}

#[test]
fn an_amount_that_was_reached_ends_the_load() {
    let far_end = far_end::start(|_| Act::Answer(Duration::from_millis(1)));
    let played = rr(r#""count":"50""#).play_against(far_end.address);
    let of = |name: &str| played.result.flows[0].metrics[name];
    let load_s = of("group.load_seconds");
    let rate = 50.0 / load_s;
    assert!((played.get("rr.transactions_per_second") - rate).abs() < rate * 1e-9);
    assert!((0.05..5.0).contains(&load_s), "{load_s}");
    // A schedule lasts until its next request would have been due.
    let far_end = far_end::start(|_| Act::Answer(Duration::ZERO));
    let played = rr(r#""count":"50","rate":"500/s""#).play_against(far_end.address);
    let load_s = played.result.flows[0].metrics["group.load_seconds"];
    assert!(load_s >= 0.1, "{load_s}");
}

#[test]
fn an_amount_that_was_not_reached_could_not_be_tried() {
    let far_end = far_end::start(until_it(Act::Close));
    let played = rr(r#""count":"500""#).play_against(far_end.address);
    assert_eq!(played.get("rr.transactions"), ANSWERED as f64);
    let lost = played.get("rr.errors") + played.get("rr.unstarted_requests");
    assert_eq!(lost, 500.0 - ANSWERED as f64);
    assert_eq!(played.get("rr.error_ratio"), 0.9);
}
