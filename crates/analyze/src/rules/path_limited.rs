//! The path carries no more than this.
//!
//! A link that is full has a queue in front of it: round trips grow well above the lowest one, and
//! bytes arrive at an even rate. Both ends wait for it most of the time. Loss that comes with a full
//! queue is how the link says that it is full.

use sokudo_model::kinds::{self, Carried};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::{Connection, QUEUE_S, QUEUED, RoundTrips};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// Share of the time from which the congestion window shapes the rate.
const SHAPES: f64 = 0.4;
/// Share of the readings in which a queue stood, from which it stands.
const STANDS: f64 = 0.5;
/// Spread of the delivery rate up to which it is even.
const EVEN: f64 = 0.15;

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
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    if load.is_exchange() {
        return None;
    }
    let connection = Connection::of(load.view, flow, End::Sender);
    let shaped = connection.limits()?.congestion_window();
    let shaped = shaped.min(load.between(flow)?);
    let trips = connection
        .round_trips()
        .filter(|trips| queue_stands(*trips));
    let (rate, spread) = connection.delivery()?;
    // What the flow carried over its load: the kernel's estimate is that of its latest bursts.
    let carried = kinds::carried(&flow.metrics).map(Carried::bits_per_second);
    // Round trips do not tell on which of the two ways the queue stands.
    // An even rate alone may have any cause; a queue proves that something was full.
    let trips = trips.filter(|_| shaped >= SHAPES)?;
    let even = spread <= EVEN;
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
}
