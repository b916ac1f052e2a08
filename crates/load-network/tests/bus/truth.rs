//! Tests of the numbers of `bus`: counts, bounds, rates, latencies.

use std::time::Duration;

use super::far_end::{self, Act};
use super::play::{among, bus};

const STALL: Duration = Duration::from_millis(500);

#[test]
fn the_histogram_is_right_to_three_digits() {
    let delay = Duration::from_millis(10);
    let far_end = far_end::start(move |_| Act::Answer(delay));
    let played = bus(r#""mode":"rr","count":"100""#).play_against(far_end.address);
    assert_eq!(played.get("bus.answers"), 100.0);
    let mut held: Vec<f64> = far_end
        .seen()
        .held
        .iter()
        .map(Duration::as_secs_f64)
        .collect();
    held.sort_by(f64::total_cmp);
    assert_eq!(held.len(), 100);
    // No answer comes before the far end gave it; sorted, the quantiles compare one by one.
    for (name, rank) in [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)] {
        let seen = played.get(&format!("bus.response_latency_seconds.{name}"));
        let held = held[rank - 1];
        assert!(seen >= held * 0.999, "{name}: {seen} for {held} held");
    }
    // One message after the other: all latencies together are no longer than the test was.
    let mean = played.get("bus.response_latency_seconds.mean");
    let least = held.iter().sum::<f64>() / 100.0;
    let most = played.elapsed.as_secs_f64() / 100.0;
    assert!(
        mean >= least * 0.999 && mean <= most * 1.001,
        "{least} {mean} {most}"
    );
}

#[test]
fn every_message_is_counted_once() {
    for fields in [
        r#""count":"5000""#,
        r#""count":"5000","size":"24..9000","touch":"8""#,
        r#""count":"5000","no_acks":true"#,
        r#""count":"5000","no_flow_control":true"#,
        r#""count":"5000","sample":"none""#,
        r#""count":"5000","batch":"7""#,
        r#""count":"5000","inflight":"3""#,
        r#""count":"5000","size":"64","sample":"all","buffers":"heap""#,
    ] {
        let played = bus(fields).play();
        assert!(played.is_whole(), "{fields}: {}", played.error());
        for name in ["bus.messages", "bus.sent_messages"] {
            assert_eq!(played.get(name), 5000.0, "{fields}: {name}");
        }
        for name in [
            "bus.missing_messages",
            "bus.errors",
            "bus.unanswered_messages",
        ] {
            assert_eq!(played.get(name), 0.0, "{fields}: {name}");
        }
    }
}

#[test]
fn answers_are_as_many_as_asked_for() {
    for (fields, answers) in [
        (r#""count":"1000""#, 10.0),
        (r#""count":"1000","sample":"all""#, 1000.0),
        (r#""count":"1000","sample":"none""#, 0.0),
        (r#""count":"300","mode":"rr","sample":"1/10""#, 300.0),
        (
            r#""count":"300","mode":"rr","window":16,"batch":"16""#,
            300.0,
        ),
    ] {
        let played = bus(fields).play();
        assert_eq!(played.get("bus.answers"), answers, "{fields}");
    }
}

#[test]
fn no_more_is_under_way_than_the_window_allows() {
    // Nobody says that anything arrived: exactly one window leaves.
    for (fields, messages) in [
        (r#""inflight":"40KiB""#, 10),
        (r#""inflight":"7""#, 7),
        (r#""inflight":"10KB","size":"1000""#, 10),
        (r#""mode":"rr","window":5"#, 5),
    ] {
        let far_end = far_end::start(|_| Act::Swallow);
        let plan = bus(&format!(r#"{fields},"duration":"20s","timeout":"300ms""#));
        let played = plan.play_against(far_end.address);
        assert_eq!(far_end.seen().messages, messages, "{fields}");
        assert_eq!(played.get("bus.backlog_peak_messages"), messages as f64);
        let bytes = far_end.seen().bytes as f64;
        assert_eq!(played.get("bus.backlog_peak_bytes"), bytes, "{fields}");
        assert_eq!(played.get("bus.unacknowledged_messages"), messages as f64);
    }
    let played = bus(r#""inflight":"64KiB","size":"100..5000","duration":"300ms""#).play();
    assert!(played.get("bus.backlog_peak_bytes") <= 65_536.0);
}

#[test]
fn a_slow_consumer_slows_the_sender() {
    let fields = r#""rx":"queue","consume_rate":"500/s","inflight":"8","count":"150""#;
    let played = bus(fields).play();
    assert!(played.is_whole(), "{}", played.error());
    assert_eq!(played.get("bus.messages"), 150.0);
    // 149 periods of 2 ms lie between the first and the last, but for lateness that is made up.
    let rate = played.get("bus.messages_per_second");
    assert!(rate <= 150.0 / 0.297, "{rate} messages/s");
    assert!(played.get("bus.backlog_events") > 0.0);
    assert!(played.get("bus.backlog_peak_messages") <= 8.0);
}

#[test]
fn a_stall_shows_in_full_with_a_rate() {
    let far_end = far_end::start(|n| Act::Answer(if n == 100 { STALL } else { Duration::ZERO }));
    let fields = r#""rate":"500/s","duration":"2s","sample":"all","inflight":"50""#;
    let played = bus(fields).play_against(far_end.address);
    assert_eq!(played.get("bus.sent_messages"), 1000.0);
    assert_eq!(played.get("bus.answers"), 1000.0);
    assert!(played.get("bus.response_latency_seconds.max") >= 0.499);
    // 250 messages fall into half a second: one in ten of all waited for a fifth of it.
    assert!(played.get("bus.response_latency_seconds.p90") >= 0.1);
    assert!(played.get("bus.window_full_ratio") > 0.1);
}

#[test]
fn a_warm_up_does_not_count() {
    for fields in [r#""warmup":"40""#, r#""warmup":"200ms","rate":"1000/s""#] {
        let played = bus(&format!(r#"{fields},"count":"100""#)).play();
        assert_eq!(played.get("bus.messages"), 100.0, "{fields}");
        assert_eq!(played.get("bus.sent_messages"), 100.0);
        assert_eq!(played.get("bus.missing_messages"), 0.0);
    }
}

#[test]
fn a_chain_delivers_everything_and_tells_each_hosts_delay() {
    for fields in [
        r#""count":"2000""#,
        r#""count":"200","mode":"rr""#,
        r#""count":"500","transport":"tls""#,
    ] {
        let played = among(4, &format!(r#"{fields},"relay":true"#)).play();
        assert!(played.is_whole(), "{fields}: {}", played.error());
        let sent = played.get("bus.sent_messages");
        assert_eq!(played.get("bus.messages"), sent, "{fields}");
        assert_eq!(played.get("bus.missing_messages"), 0.0);
        assert!(played.get("bus.answers") > 0.0);
        let flows = &played.result.flows;
        assert_eq!(flows.len(), 3);
        for flow in &flows[1..] {
            let delays = &flow.histograms["bus.relay_delay_seconds"];
            assert_eq!(
                delays.n as f64, sent,
                "{fields}: each message has its delay"
            );
        }
    }
}

#[test]
fn a_polite_host_waits_for_the_others() {
    let fields = r#""polite":true,"direction":"both","count":"50","rate":"500/s""#;
    let played = bus(fields).play();
    assert_eq!(played.get("bus.messages"), 100.0);
    assert!(played.is_whole());
}
