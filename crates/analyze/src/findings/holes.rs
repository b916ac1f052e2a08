//! A time in which nothing got through, and what it is told beside.
//!
//! ```text
//!   losses go on beside the hole      the hole is one of their timeouts: lossy way
//!   losses only in and right after it the hole made them: interruption
//! ```

use std::str::FromStr as _;

use sokudo_model::metrics::host;
use sokudo_model::units::Nanos;
use sokudo_model::{Arg, Finding, Series};

use super::absorb::absorb;
use crate::view::PhaseView;

/// Findings about lost segments of connections.
const LOSSES: [&str; 2] = ["loss_limited", "request_path"];
/// Share of the segments sent again beside a hole, from which the way loses segments with and without it.
const GOES_ON: f64 = 0.5;
/// Segments sent again beside a hole, from which their share says something.
const FEW: f64 = 5.0;
/// The longest wait for a first retransmission on a short way, and of a reading for its turn, nanoseconds.
const LATE_NS: i64 = 300_000_000;

/// Tells a hole once, with its consequences, or as a consequence itself.
pub fn tell_once(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    lost_requests_leave_holes(view, findings);
    lossy_ways_leave_holes(view, findings);
    a_hole_is_told_once(view, findings);
}

/// Requests that were lost hold their places until they time out: where all places wait, nothing arrives for as
/// long.
fn lost_requests_leave_holes(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    const CAUSES: [&str; 5] = [
        "checksum_errors",
        "conntrack_full",
        "filter_drops",
        "receiver_buffer_overflow",
        "receiver_host_drops",
    ];
    /// Times the timeout up to which a hole is made of waits for it.
    const ABOUT: f64 = 1.3;
    let timeout: Option<String> = view.option("timeout");
    let timeout = timeout.and_then(|text| Nanos::from_str(&text).ok());
    let hole = findings.iter().find(|f| f.rule == "interrupted");
    let seconds = hole.and_then(|hole| hole.evidence.first()?.value);
    let (Some(timeout), Some(seconds)) = (timeout, seconds) else {
        return;
    };
    if seconds > timeout.seconds() * ABOUT {
        return;
    }
    for cause in CAUSES {
        absorb(findings, cause, |finding| finding.rule == "interrupted");
    }
}

/// A way that loses segments all the time leaves holes where the timers of all connections run: the way is
/// the cause, and not an interruption of which nothing but the hole is known.
fn lossy_ways_leave_holes(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    const UNKNOWN: [&str; 2] = ["rule-interrupted-says", "rule-interrupted-unobserved-says"];
    let hole = findings.iter().find(|f| f.rule == "interrupted");
    let unknown = hole.filter(|hole| UNKNOWN.contains(&hole.says.key.as_str()));
    let Some((begin_s, end_s)) = unknown.and_then(span) else {
        return;
    };
    let at = |seconds: f64| view.phase.t0_ns + (seconds * 1e9) as i64;
    let (begin_ns, end_ns) = (at(begin_s), at(end_s));
    // A timer that doubled through the hole fires for the last time about as long after it.
    let until_ns = end_ns + (end_ns - begin_ns) + LATE_NS;
    let hosts = view.hosts().into_iter();
    let counts = hosts.flat_map(|host| view.series(Some(host), host::TCP_RETRANSMITS, &[]));
    let (all, within) = counts.fold((0.0, 0.0), |(all, within), series| {
        let grown = |from, to| (at_time(series, to) - at_time(series, from)).max(0.0);
        let total = grown(view.phase.t0_ns, view.phase.t1_ns);
        (all + total, within + grown(begin_ns, until_ns))
    });
    let beside = all - within;
    if beside < FEW || beside < all * GOES_ON {
        return;
    }
    for cause in LOSSES {
        absorb(findings, cause, |finding| finding.rule == "interrupted");
    }
}

/// Begin and end of a hole, seconds of the phase.
fn span(hole: &Finding) -> Option<(f64, f64)> {
    let number = |name: &str| match hole.says.args.get(name)? {
        Arg::Number(value, _) => Some(*value),
        _ => None,
    };
    Some((number("begin")?, number("end")?))
}

/// The last reading of a counter up to a moment of the run, or its first one.
fn at_time(series: &Series, t_ns: i64) -> f64 {
    let before = series.points.iter().rev().find(|point| point.0 <= t_ns);
    let known = before.or_else(|| series.points.first());
    known.map_or(0.0, |point| point.1)
}

/// A load through which nothing got for a while loses, waits and is late because of it. A connection that
/// stalled says the same with what its kernel counted.
fn a_hole_is_told_once(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 9] = [
        "application_limited",
        "generator_limited",
        "loss_limited",
        "path_limited",
        "receive_window_limited",
        "request_path",
        "send_buffer_limited",
        "sender_refusal",
        "window_full",
    ];
    /// Loss beside the hole, up to which it is the hole's.
    const BESIDE: f64 = 0.02;
    let hole = findings
        .iter()
        .find(|finding| finding.rule == "interrupted");
    let Some(hole) = hole.cloned() else { return };
    // The kernel's counters of a connection say more than that nothing arrived, but not which interface or
    // program was away: then the stall is only what the connection saw of it.
    let stalled = findings.iter_mut().find(|f| f.rule == "stalled_flow");
    let cause = match stalled {
        Some(stalled) if hole.says.key == "rule-interrupted-says" => {
            stalled.weight = stalled.weight.max(hole.weight);
            "stalled_flow"
        }
        Some(stalled) => {
            stalled.weight = stalled.weight.min(hole.weight / 2.0);
            "interrupted"
        }
        None => "interrupted",
    };
    absorb(findings, cause, |finding| finding.rule == "interrupted");
    let Some(seconds) = hole.evidence.first().and_then(|row| row.value) else {
        return;
    };
    let length_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
    let explained = 1.5 * seconds / length_s.max(1e-9) + BESIDE;
    let loss_is_the_holes = view.loss().is_some_and(|loss| loss <= explained);
    absorb(findings, cause, |finding| {
        CONSEQUENCES.contains(&finding.rule.as_str())
            || (finding.rule == "path_loss" && loss_is_the_holes)
    });
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A lossy way through which nothing gets from 12 s to 13 s, whose losses are so many by a moment.
    fn lossy(resent: impl Fn(f64) -> f64) -> Scene {
        let tcp = Tcp {
            lost: 0.02,
            ..SENDING
        };
        let mut scene = between()
            .metric("received_bytes", 1e8)
            .metric("goodput_bits_per_second", 8.5e7)
            .tcp(tcp);
        scene.series("hostb", "stream.goodput_bits_per_second", |s| {
            if s > 12.0 && s <= 13.0 { 0.0 } else { 1e8 }
        });
        scene.series("hosta", "host.tcp_retransmits", resent);
        scene
    }

    #[test]
    fn a_way_that_loses_all_the_time_is_the_cause_of_its_hole() {
        let scene = lossy(|s| s * 40.0);
        scene.limited_by("loss_limited");
        scene.without("interrupted");
    }

    #[test]
    fn losses_in_and_after_a_hole_are_the_holes() {
        let scene = lossy(|s| 200.0 * (s - 12.0).clamp(0.0, 2.0));
        scene.limited_by("interrupted");
        scene.without("loss_limited");
    }

    #[test]
    fn requests_that_a_hole_delayed_are_told_with_it() {
        let with = |resent: fn(f64) -> f64| {
            let totals = [
                ("requests", 5_000.0),
                ("path_sent_segments", 5_000.0),
                ("path_resent_ratio", 0.02),
            ];
            let mut record = requests::of_stages([0.0, 0.0, 0.0, 0.0, 0.01, 0.0], &totals);
            let mut add = |metric: &str, value: &dyn Fn(f64) -> f64| {
                let points = (0..=44).map(|n| {
                    let seconds = 9.5 + f64::from(n) * 0.25;
                    ((seconds * 1e9) as i64, value(seconds))
                });
                let key = SeriesKey {
                    host: "hosta".into(),
                    source: "host".into(),
                    metric: metric.into(),
                    labels: Labels::new(),
                };
                let points = points.collect();
                record.series.push(Series { key, points });
            };
            add("http.requests_per_second", &|s| {
                if s > 12.0 && s <= 13.0 { 0.0 } else { 500.0 }
            });
            add("host.tcp_retransmits", &resent);
            findings(&record)
        };
        let names = |found: Vec<Finding>| -> Vec<String> {
            let limits = found.into_iter().map(|finding| finding.rule);
            limits
                .filter(|rule| ["interrupted", "request_path"].contains(&rule.as_str()))
                .collect()
        };
        let all_the_time = with(|s| s * 20.0);
        assert_eq!(names(all_the_time), ["request_path"]);
        let in_the_hole = with(|s| 100.0 * (s - 12.0).clamp(0.0, 1.5));
        assert_eq!(names(in_the_hole), ["interrupted"]);
    }
}
