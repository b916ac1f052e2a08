//! The transfer was over before TCP had found out what the way carries.
//!
//! A connection begins with ten segments and doubles them with every round trip until something is lost or full.
//! A transfer of a few round trips is limited by that beginning, not by the way.

use sokudo_model::metrics::{group, tcp};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// Round trips up to which the beginning shapes a transfer.
const TRIPS: f64 = 20.0;
/// Share of the time for which both ends waited.
const SHAPES: f64 = 0.3;

/// The finding `slow_start`.
pub const RULE: Rule = Rule {
    name: "slow_start",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("duration"), Suspect::raise("bytes")],
    bounds: &[("trips", TRIPS, Unit::One), ("shapes", SHAPES, Unit::Ratio)],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    if load.is_exchange() {
        return None;
    }
    let connection = Connection::of(load.view, flow, End::Sender);
    let lowest = connection.round_trips()?.lowest;
    let load_s = group::LOAD_SECONDS.of(&flow.metrics)?;
    let trips = load_s / lowest.max(1e-9);
    let still_begins = connection
        .highest(tcp::SLOW_START_THRESHOLD_SEGMENTS)
        .is_none();
    let waited = load.between(flow)?;
    if trips > TRIPS || !still_begins || waited < SHAPES {
        return None;
    }
    let says = Text::new("rule-slow-start-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("trips", trips, Unit::One)
        .number("seconds", load_s, Unit::Seconds);
    let view = load.view;
    let weight = 0.9 - 0.3 * trips / TRIPS;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence(
        "evidence-load-seconds",
        group::LOAD_SECONDS,
        &flow.from,
        load_s,
    ));
    evidence.extend(connection.round_trip_evidence());
    let window = tcp::CONGESTION_WINDOW_SEGMENTS;
    let highest = connection.highest(window);
    evidence.extend(highest.map(|n| connection.evidence("evidence-tcp-cwnd-highest", window, n)));
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    finding.next = Some(Text::new("rule-slow-start-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A transfer of so many seconds over a way of 100 ms.
    fn lasting(seconds: f64) -> Scene {
        let tcp = Tcp {
            round_trip: 0.101,
            lowest: 0.1,
            ..SENDING
        };
        let mut scene = between().tcp(tcp);
        let metrics = &mut scene.flow().metrics;
        metrics.insert("group.load_seconds".into(), seconds);
        scene
    }

    #[test]
    fn a_transfer_of_few_round_trips_is_limited_by_its_beginning() {
        let finding = lasting(0.7).limited_by("slow_start");
        check_texts(&finding);
        lasting(7.0).without("slow_start");
        // Something was lost: the way was found to be full.
        let mut scene = lasting(0.7);
        scene.series("hosta", "tcp.slow_start_threshold_segments", |_| 20.0);
        scene.without("slow_start");
    }
}
