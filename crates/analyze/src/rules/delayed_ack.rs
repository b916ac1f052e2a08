//! Small writes waited for delayed acknowledgements of the other end.
//!
//! ```text
//!   sender (Nagle): a small segment waits until the one before it is acknowledged
//!   receiver:       holds the acknowledgement back, some 40 ms, for data to send it along with
//! ```
//!
//! Each end waits for the other until the timer runs out: a step of 40 ms in the distribution of the
//! latency, or a connection that carries next to nothing although every window is open. Minshall,
//! Saito, Mogul and Verghese, "Application performance pitfalls and TCP's Nagle algorithm" (2000).

use sokudo_model::kinds::Family;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::tcp;
use sokudo_model::{Evidence, Finding, FlowResult, Labels, Severity, Text, Unit};
use sokudo_stats::Histogram;

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Range in which Linux's shortest delayed acknowledgement shows, the tick of its timer and a round
/// trip included, nanoseconds.
const STEP_NS: std::ops::Range<u64> = 36_000_000..54_000_000;
/// As wide on both sides of it together.
const BESIDE_NS: [std::ops::Range<u64>; 2] = [27_000_000..36_000_000, 54_000_000..63_000_000];
/// Share of the answers from which the step matters.
const SOME: f64 = 0.01;
/// Times that the step is higher than what lies beside it.
const STANDS_OUT: u64 = 3;
/// Round trips from which 40 ms do not say anything, seconds.
const LONG_WAY_S: f64 = 0.015;
/// Shortest delayed acknowledgement, seconds.
const DELAYED_S: f64 = 0.036;
/// Segments under way up to which a connection stands still for want of an acknowledgement.
const FEW_SEGMENTS: f64 = 2.5;
/// Share of the time for which it must have had something to send.
const BUSY: f64 = 0.3;
/// Histograms of one phase that are looked at.
const MAX_HISTOGRAMS: usize = 10_000;

/// The finding `delayed_ack`.
pub const RULE: Rule = Rule {
    name: "delayed_ack",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::leave_out("nagle")],
    bounds: &[
        ("rtt", LONG_WAY_S, Unit::Seconds),
        ("some", SOME, Unit::Ratio),
        ("busy", BUSY, Unit::Ratio),
        ("delayed", DELAYED_S, Unit::Seconds),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let load = Load::of(*view)?;
    // Without Nagle nothing waits; a workload that has no such option never lets it.
    if view.option("nagle") != Some(true) {
        return None;
    }
    load.strongest(|flow| match load.kind.family {
        Family::Bytes(_) => stands_still(&load, flow),
        // A connection of its own for every request ends with it: nothing waits behind another segment.
        Family::Exchange(numbers) if numbers.connects_each_time => None,
        Family::Exchange(numbers) => {
            let latencies = [numbers.service, numbers.latency];
            let behind = |end| waits_behind(&load, flow, end);
            // A few answers may be late by the timer while most wait for a round trip, which piggybacks the
            // acknowledgement: what explains more of the time is told.
            let found = [
                steps(&load, flow, &latencies),
                behind(End::Sender),
                behind(End::Receiver),
            ];
            let found = found.into_iter().flatten();
            found.max_by(|a, b| a.weight.total_cmp(&b.weight))
        }
        Family::Messages(numbers) => steps(&load, flow, numbers.latency.as_slice()),
        Family::Datagram | Family::Probe | Family::Files(_) => None,
    })
}

/// Answers that came a delayed acknowledgement late.
fn steps<'a>(load: &Load<'a>, flow: &'a FlowResult, latency: &[Metric]) -> Option<Finding> {
    let view = load.view;
    let (metric, share) = latency.iter().copied().find_map(|metric| {
        let share = step(&view, metric)?;
        Some((metric, share))
    })?;
    let ends = [End::Sender, End::Receiver].map(|end| Connection::of(view, flow, end));
    let lowest = ends.iter().find_map(Connection::round_trips)?.lowest;
    if lowest >= LONG_WAY_S {
        return None;
    }
    let says = Text::new("rule-delayed-ack-step-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("share", share, Unit::Ratio);
    let weight = 0.5 + 0.45 * (share * 4.0).min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    let mut row = view.evidence("evidence-latency-step", metric, &flow.to, share);
    row = crate::quantities::ends::as_share(row, share);
    evidence.push(row);
    evidence.extend(held_back(&ends));
    evidence.push(nagle());
    evidence.extend(ends[0].round_trip_evidence());
    evidence.extend(ends[0].retransmission_evidence());
    finding.next = Some(Text::new("rule-delayed-ack-next"));
    Some(finding)
}

/// Requests, or responses, that wait behind the one before them: bytes lie unsent at this end, next to nothing is
/// under way, and the windows have room.
fn waits_behind<'a>(load: &Load<'a>, flow: &'a FlowResult, end: End) -> Option<Finding> {
    let view = load.view;
    let connection = Connection::of(view, flow, end);
    let waiting = connection.not_sent().filter(|share| *share >= BUSY)?;
    let under_way = connection.mean(tcp::UNACKNOWLEDGED_SEGMENTS)?;
    let window = connection.mean(tcp::CONGESTION_WINDOW_SEGMENTS)?;
    if under_way > FEW_SEGMENTS || under_way * 2.0 > window {
        return None;
    }
    let (from, to) = match end {
        End::Sender => (&flow.from, &flow.to),
        End::Receiver => (&flow.to, &flow.from),
    };
    let says = Text::new("rule-delayed-ack-behind-says")
        .word("from", from)
        .word("to", to)
        .number("share", waiting, Unit::Ratio);
    let weight = 0.5 + 0.45 * waiting;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.not_sent_evidence());
    let key = "evidence-tcp-under-way";
    let row = connection.evidence(key, tcp::UNACKNOWLEDGED_SEGMENTS, under_way);
    let says = row.says.clone().number("window", window, Unit::One);
    evidence.push(Evidence { says, ..row });
    evidence.push(nagle());
    evidence.extend(load.thread_evidence(flow, end).into_iter().take(1));
    evidence.extend(connection.round_trip_evidence());
    finding.next = Some(Text::new("rule-delayed-ack-next"));
    Some(finding)
}

/// A stream that has bytes to send, every window open, and next to nothing under way.
fn stands_still<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    const UNACKNOWLEDGED: Metric = tcp::UNACKNOWLEDGED_SEGMENTS;
    let view = load.view;
    let ends = [End::Sender, End::Receiver].map(|end| Connection::of(view, flow, end));
    let limits = ends[0].limits()?;
    let under_way = ends[0].mean(UNACKNOWLEDGED)?;
    let window = ends[0].mean(tcp::CONGESTION_WINDOW_SEGMENTS)?;
    let free = limits.congestion_window();
    let few = under_way <= FEW_SEGMENTS && under_way * 2.0 <= window;
    let delayed = held_back(&ends)?;
    if free < BUSY || !few {
        return None;
    }
    let says = Text::new("rule-delayed-ack-still-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("share", free, Unit::Ratio);
    let weight = 0.5 + 0.45 * free;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    let row = ends[0].evidence("evidence-tcp-under-way", UNACKNOWLEDGED, under_way);
    let says = row.says.clone().number("window", window, Unit::One);
    evidence.push(Evidence { says, ..row });
    evidence.push(delayed);
    evidence.push(nagle());
    evidence.extend(load.thread_evidence(flow, End::Sender).into_iter().take(1));
    finding.next = Some(Text::new("rule-delayed-ack-next"));
    Some(finding)
}

/// Share of the values of a distribution that lie on the step of a delayed acknowledgement, when
/// that step stands out.
fn step(view: &PhaseView<'_>, metric: Metric) -> Option<f64> {
    let (t0, t1) = (view.phase.t0_ns, view.phase.t1_ns);
    let stored = view.record.histograms.iter();
    let inside = stored.filter(|h| h.key.metric == metric.name && h.t0_ns >= t0 && h.t0_ns < t1);
    let (mut all, mut on, mut beside) = (0, 0, 0);
    for interval in inside.take(MAX_HISTOGRAMS) {
        // Bytes that are not a histogram say nothing.
        let Ok(histogram) = Histogram::from_v2(&interval.hdr_v2) else {
            continue;
        };
        for bucket in histogram.buckets() {
            all += bucket.count;
            if STEP_NS.contains(&bucket.low) {
                on += bucket.count;
            } else if BESIDE_NS.iter().any(|range| range.contains(&bucket.low)) {
                beside += bucket.count;
            }
        }
    }
    let share = on as f64 / all.max(1) as f64;
    (share >= SOME && on >= beside * STANDS_OUT).then_some(share)
}

/// The end that holds acknowledgements back longest, when one does.
fn held_back(ends: &[Connection<'_>]) -> Option<Evidence> {
    const DELAY: Metric = tcp::DELAYED_ACK_SECONDS;
    let each = ends
        .iter()
        .filter_map(|end| Some((end, end.highest(DELAY)?)));
    let (end, delay) = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let held = delay >= DELAYED_S;
    held.then(|| end.evidence("evidence-tcp-delayed-ack", DELAY, delay))
}

fn nagle() -> Evidence {
    Evidence {
        says: Text::new("evidence-nagle"),
        source: "TCP_NODELAY".into(),
        host: None,
        metric: None,
        labels: Labels::new(),
        value: None,
        unit: None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// Round trips of 50 µs, and what the receiving kernel says about acknowledgements.
    fn near(source: &'static str) -> Scene {
        let tcp = Tcp {
            round_trip: 0.000_06,
            lowest: 0.000_05,
            under_way: 1.0,
            ..SENDING
        };
        let mut scene = Scene::of(source)
            .sender([0.02, 0.001, 0.9])
            .receiver([0.02, 0.001, 0.95])
            .tcp(tcp)
            .option(r#"{"size":"100","nagle":true}"#);
        scene.series("hostb", "tcp.delayed_ack_seconds", |_| 0.04);
        scene
    }

    #[test]
    fn a_step_of_40_ms_is_a_delayed_acknowledgement() {
        let metric = "bus.response_latency_seconds";
        let step = [(900, 0.0001), (100, 0.0405)];
        let finding = near("bus").answers(metric, &step).limited_by("delayed_ack");
        has_metric(&finding, metric);
        has_metric(&finding, "tcp.delayed_ack_seconds");
        // Without Nagle's algorithm nothing waits for an acknowledgement.
        let open = near("bus")
            .answers(metric, &step)
            .option(r#"{"nagle":false}"#);
        open.without("delayed_ack");
        // A broad distribution has no step.
        let broad = [(300, 0.02), (300, 0.030), (300, 0.040), (300, 0.058)];
        near("bus").answers(metric, &broad).without("delayed_ack");
    }

    #[test]
    fn requests_that_lie_unsent_with_room_in_the_window_wait_behind_others() {
        let unsent = |bytes: f64| {
            let mut scene = near("rr").option(r#"{"nagle":true,"window":2}"#);
            scene.series("hosta", "tcp.not_sent_bytes", move |_| bytes);
            scene
        };
        let finding = unsent(64.0).limited_by("delayed_ack");
        assert_eq!(finding.says.key, "rule-delayed-ack-behind-says");
        unsent(0.0).without("delayed_ack");
    }

    #[test]
    fn a_few_answers_late_by_the_timer_do_not_hide_that_most_wait_for_a_round_trip() {
        let answers = [(975, 0.008), (25, 0.0405)];
        let scene = |share_unsent: f64| {
            let mut scene = near("rr").option(r#"{"nagle":true,"window":2}"#);
            scene.series("hosta", "tcp.not_sent_bytes", move |at| {
                if (at * 100.0).rem_euclid(100.0) < share_unsent * 100.0 {
                    64.0
                } else {
                    0.0
                }
            });
            scene.answers("rr.latency_seconds", &answers)
        };
        let said = |scene: Scene| scene.limited_by("delayed_ack").says.key;
        assert_eq!(said(scene(0.6)), "rule-delayed-ack-behind-says");
        assert_eq!(said(scene(0.0)), "rule-delayed-ack-step-says");
    }

    #[test]
    fn responses_wait_behind_others_as_requests_do() {
        let mut scene = near("rr").option(r#"{"nagle":true,"window":2}"#);
        for (metric, value) in [
            ("tcp.not_sent_bytes", 64.0),
            ("tcp.unacknowledged_segments", 1.0),
            ("tcp.congestion_window_segments", 22.0),
        ] {
            scene.series("hostb", metric, move |_| value);
        }
        let finding = scene.limited_by("delayed_ack");
        assert_eq!(finding.says.key, "rule-delayed-ack-behind-says");
        assert_eq!(finding.says.args["from"], Arg::Word("hostb".into()));
    }

    #[test]
    fn a_stream_that_stands_still_with_every_window_open_waits_for_acknowledgements() {
        let finding = near("stream").limited_by("delayed_ack");
        assert_eq!(finding.says.key, "rule-delayed-ack-still-says");
        has_metric(&finding, "tcp.unacknowledged_segments");
    }
}
