//! Tests of a link with a known rate.

use std::sync::Arc;

use sokudo_testkit::hosts::{Hosts, Tbf};
use sokudo_testkit::skip;

use crate::play::{Played, stream};

/// Bits per second of the bucket, link-layer headers included.
const LIMIT: u64 = 100_000_000;
/// Payload of a full segment with time stamps, and its frame on the link.
const SHARE: f64 = 1448.0 / (1448.0 + 52.0 + 14.0);

/// Goodput of whole runs lies within 5 % of what the link carries of payload.
///
/// A bucket that stood full for a while lets less through: on a machine that gives the threads too
/// little CPU the interval means nothing, so that a few attempts are made.
fn play_limited(fields: &str) -> Option<Played> {
    let hosts = Hosts::new(2).map(Arc::new)?;
    let bucket = Tbf {
        rate_bits_per_s: LIMIT,
        burst_bytes: 64_000,
        limit_bytes: 400_000,
    };
    for host in [0, 1] {
        if let Err(error) = hosts.limit_sending(host, bucket) {
            skip(error);
            return None;
        }
    }
    let carries = LIMIT as f64 * SHARE;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let played = stream(fields).on(Arc::clone(&hosts)).play();
        played.expect_whole();
        let flows = played.result.flows.iter();
        let shares: Vec<f64> = flows
            .map(|flow| flow.metrics["stream.goodput_bits_per_second"] / carries)
            .collect();
        assert!(shares.iter().all(|share| *share < 1.05), "{shares:?}");
        if shares.iter().all(|share| *share > 0.95) {
            return Some(played);
        }
        seen.push((shares, played.get("sender_wait_ratio")));
    }
    let starved = seen.iter().all(|(_, waited)| *waited > 0.05);
    assert!(starved, "{seen:?}");
    skip("the threads get too little CPU to keep the link busy");
    None
}

#[test]
fn a_limited_link_gives_its_payload_rate() {
    let fields = r#""duration":"2s","warmup":"500ms","cc":"cubic""#;
    let Some(played) = play_limited(fields) else {
        return;
    };
    // The link decides, not the programs: both wait.
    assert!(played.get("write_blocked_ratio") > 0.5);
    assert!(played.get("read_idle_ratio") > 0.5);
}

#[test]
fn both_directions_at_once_get_the_whole_link_each() {
    let fields = r#""duration":"2s","warmup":"500ms","cc":"cubic","direction":"both""#;
    let Some(played) = play_limited(fields) else {
        return;
    };
    let fairness = played.get("fairness_index");
    assert!(fairness > 0.99, "{fairness}");
}
