//! The path carries no more than this.
//!
//! A link that is full has a queue in front of it: round trips grow well above the lowest one, and
//! bytes arrive at an even rate. Both ends wait for it most of the time. Loss that comes with a full
//! queue is how the link says that it is full. Of requests and answers, those fill a link whose bytes wait
//! in the sender's kernel most of the time although its socket takes them all.

use sokudo_model::kinds::{self, Carried};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::{Connection, QUEUE_S, QUEUED, RoundTrips};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::carries;

/// Share of the time from which the congestion window shapes the rate.
const SHAPES: f64 = 0.4;
/// Share of the readings in which a queue stood, or bytes of an exchange were not sent yet, from which it is so.
const STANDS: f64 = 0.5;
/// Spread of the delivery rate up to which it is even.
const EVEN: f64 = 0.15;

/// Times the lowest round trip, and time above it in seconds, from which a queue stands on a long way over which bytes
/// arrive evenly.
const LONG_WAY: (f64, f64) = (1.2, 0.010);

/// True when round trips are so much longer than the lowest one that a queue must stand on the way.
pub fn queue_stands(trips: RoundTrips) -> bool {
    let grown = trips.mean >= trips.lowest * QUEUED && trips.queueing() >= QUEUE_S;
    grown && trips.queued >= STANDS
}

/// The finding `path_limited`.
pub const RULE: Rule = Rule {
    name: "path_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::tighten("rate"), Suspect::tighten("pacing")],
    bounds: &[
        ("shapes", SHAPES, Unit::Ratio),
        ("grown", QUEUED, Unit::One),
        ("stands", STANDS, Unit::Ratio),
        ("queue", QUEUE_S, Unit::Seconds),
        ("even", EVEN, Unit::Ratio),
        ("far", LONG_WAY.0, Unit::One),
        ("long", LONG_WAY.1, Unit::Seconds),
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    match load.is_exchange() {
        true => {
            let mut ends = [End::Sender, End::Receiver].into_iter();
            ends.find_map(|end| exchanges(load, flow, end))
        }
        false => transfers(load, flow),
    }
}

/// Requests, or their answers, that a full link holds up.
fn exchanges<'a>(load: &Load<'a>, flow: &'a FlowResult, end: End) -> Option<Finding> {
    let view = load.view;
    // What Nagle's algorithm holds back is not sent either, and delayed acknowledgements make round trips long.
    if view.option("nagle") == Some(true) {
        return None;
    }
    let connection = Connection::of(view, flow, end);
    let waiting = connection.not_sent().filter(|share| *share >= STANDS)?;
    let shaped = connection.limits()?.congestion_window().min(waiting);
    let trips = connection
        .round_trips()
        .filter(|trips| queue_stands(*trips) && shaped >= SHAPES)?;
    let carried = kinds::carried(&flow.metrics).map(Carried::bits_per_second)?;
    let (from, to) = (end.host(flow), end.other().host(flow));
    let says = Text::new("rule-path-limited-says")
        .word("from", from)
        .word("to", to)
        .number("bits", carried, Unit::BitsPerSecond)
        .number("queue", trips.queueing(), Unit::Seconds);
    let weight = 0.3 + 0.6 * shaped;
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.round_trip_evidence());
    evidence.extend(connection.not_sent_evidence());
    evidence.push(carries(flow, carried));
    evidence.extend(load.thread_evidence(flow, End::Sender).into_iter().take(1));
    evidence.extend(connection.retransmission_evidence());
    let next = Text::new("rule-path-limited-next");
    finding.next = Some(next.word("from", from).word("to", to));
    Some(finding)
}

/// A transfer that a full link holds up.
fn transfers<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let shaped = connection.limits()?.congestion_window();
    let shaped = shaped.min(load.between(flow)?);
    let (rate, spread) = connection.delivery()?;
    let even = spread <= EVEN;
    // On a long way the queue of a link is a small part of a round trip; the link's rate gives it away.
    let waits_unsent = connection.not_sent().is_some_and(|share| share >= STANDS);
    let long_way = |trips: RoundTrips| {
        let grown = trips.mean >= trips.lowest * LONG_WAY.0 && trips.queueing() >= LONG_WAY.1;
        grown && even && waits_unsent
    };
    let trips = connection
        .round_trips()
        .filter(|trips| queue_stands(*trips) || long_way(*trips));
    // What the flow carried over its load: the kernel's estimate is that of its latest bursts.
    let carried = kinds::carried(&flow.metrics).map(Carried::bits_per_second);
    // Round trips do not tell on which of the two ways the queue stands.
    // An even rate alone may have any cause; a queue proves that something was full.
    let trips = trips.filter(|_| shaped >= SHAPES)?;
    let weight = 0.3 + 0.6 * shaped * if even { 1.0 } else { 0.8 };
    let says = Text::new("rule-path-limited-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("bits", carried.unwrap_or(rate * 8.0), Unit::BitsPerSecond)
        .number("queue", trips.queueing(), Unit::Seconds);
    let view = load.view;
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.round_trip_evidence());
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    evidence.extend(connection.evenness_evidence());
    evidence.extend(connection.retransmission_evidence());
    let next = Text::new("rule-path-limited-next");
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_standing_queue_is_the_paths_limit_with_loss_and_without() {
        for lost in [0.0, 0.01] {
            let tcp = Tcp {
                round_trip: 0.075,
                lost,
                ..SENDING
            };
            // The kernel estimates 100 Mb/s.
            let scene = between()
                .metric("received_bytes", 2.5e7)
                .metric("goodput_bits_per_second", 2e7)
                .tcp(tcp);
            let finding = scene.limited_by("path_limited");
            has_metric(&finding, "tcp.smoothed_rtt_seconds");
            has_metric(&finding, "tcp.delivery_rate_bytes_per_second");
            let carried = Arg::Number(2e7, sokudo_model::Unit::BitsPerSecond);
            assert_eq!(finding.says.args["bits"], carried, "the goodput beside it");
        }
    }

    #[test]
    fn a_queue_on_a_long_way_shows_where_bytes_arrive_evenly() {
        let long = Tcp {
            round_trip: 0.080,
            lowest: 0.061,
            ..SENDING
        };
        let with = |rate: fn(f64) -> f64, not_sent: f64| {
            let mut scene = between().tcp(long);
            let delivery = "tcp.delivery_rate_bytes_per_second";
            scene
                .record
                .series
                .retain(|series| series.key.metric != delivery);
            scene.series("hosta", delivery, rate);
            scene.series("hosta", "tcp.not_sent_bytes", |_| not_sent);
            scene
        };
        with(|_| 9e5, 4e4).limited_by("path_limited");
        // As jitter makes round trips long; nothing waits for the way.
        with(|s| 9e5 * (1.0 + (s * 7.0).sin() * 0.5), 4e4).without("path_limited");
        with(|_| 9e5, 0.0).without("path_limited");
    }

    /// Requests of 32 KiB that take 26 ms each, of which so many bytes are not sent yet.
    fn large_requests(tcp: Tcp, not_sent: impl Fn(f64) -> f64) -> Scene {
        let mut scene = Scene::of("rr")
            .sender([0.03, 0.001, 0.0])
            .receiver([0.03, 0.001, 0.0])
            .metric("transactions", 380.0)
            .metric("transactions_per_second", 38.0)
            .metric("request_bytes", 32_768.0)
            .metric("response_bytes", 64.0)
            .total("transactions_per_second", 38.0)
            .tcp(tcp);
        scene.series("hosta", "tcp.not_sent_bytes", not_sent);
        scene
    }

    #[test]
    fn large_requests_fill_a_link_as_a_stream_does() {
        let queue = Tcp {
            round_trip: 0.05,
            ..SENDING
        };
        let finding = large_requests(queue, |_| 2e4).limited_by("path_limited");
        has_metric(&finding, "tcp.not_sent_bytes");
        has_metric(&finding, "tcp.smoothed_rtt_seconds");
        let bits = Arg::Number(38.0 * 32_832.0 * 8.0, sokudo_model::Unit::BitsPerSecond);
        assert_eq!(finding.says.args["bits"], bits);
        // Sent at once; without a queue; with either at a few readings only; held back by Nagle.
        large_requests(queue, |_| 0.0).without("path_limited");
        large_requests(SENDING, |_| 2e4).without("path_limited");
        let seldom = |s: f64| if s.fract() < 0.3 { 2e4 } else { 0.0 };
        large_requests(queue, seldom).without("path_limited");
        let held = large_requests(queue, |_| 2e4).option(r#"{"nagle":true}"#);
        held.without("path_limited");
    }
}
