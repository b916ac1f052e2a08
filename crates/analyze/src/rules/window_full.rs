//! Requests or messages waited because as many as allowed were unanswered.
//!
//! Of requests, only an open loop can tell: its requests have their times. When many of them find as many
//! unanswered as `--window` allows, the far end or the way to it is slower than the rate asked for,
//! or it stood still for a while. The latency counts that waiting, the service time does not.
//! Messages of a bus wait for receipts instead: their window limits what is under way. It holds beside whatever makes
//! the answers late, so a specific cause precedes it.

use sokudo_model::metric::Stat;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use super::{loss_limited, path_limited};
use crate::quantities::audit;
use crate::quantities::ends::{End, Load};
use crate::quantities::exchange::Exchange;
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of requests from which the waiting shapes the result.
const MANY: f64 = 0.05;

/// Part of its weight that is left where another finding says why answers are late.
const CAUSED: f64 = 0.5;

/// Share of the time from which the window shapes the rate of messages.
const SHAPES: f64 = 0.2;

/// The finding `window_full`.
pub const RULE: Rule = Rule {
    name: "window_full",
    purpose: Purpose::Limit(Standing::Residual),
    suspects: &[
        Suspect::raise("window"),
        Suspect::raise("inflight"),
        Suspect::raise("connections"),
    ],
    bounds: &[("many", MANY, Unit::Ratio), ("shapes", SHAPES, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    if let Some(exchange) = Exchange::of(*view) {
        return requests(view, &exchange);
    }
    let load = Load::of(*view).filter(|load| !load.is_exchange())?;
    load.strongest(|flow| receipts(&load, flow))
}

/// Messages that waited for receipts of those before them, although the receiver read at once.
fn receipts<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let waited = load.window(flow)?;
    let idle = load.times(flow, End::Receiver).held?;
    let shaped = waited.min(idle);
    if shaped < SHAPES {
        return None;
    }
    let says = Text::new("rule-window-full-receipts-says")
        .word("host", &flow.to)
        .number("share", waited, Unit::Ratio);
    let view = load.view;
    // A queue on the way holds what the window allows, and more of it would only be longer.
    let trips = Connection::of(view, flow, End::Sender).round_trips();
    let is_caused = trips.is_some_and(path_limited::queue_stands);
    let weight = (0.3 + 0.6 * shaped) * if is_caused { CAUSED } else { 1.0 };
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    let key = "evidence-window-waited";
    let metric = load.window_metric()?;
    evidence.push(view.evidence(key, metric, &flow.from, waited));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    let connection = Connection::of(view, flow, End::Sender);
    evidence.extend(connection.round_trip_evidence());
    evidence.extend(load.thread_evidence(flow, End::Receiver));
    finding.next = Some(Text::new("rule-window-full-receipts-next"));
    Some(finding)
}

/// Requests that waited because as many as may be unanswered were.
fn requests(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    let numbers = exchange.numbers;
    let metric = numbers.window_full_ratio;
    let many =
        |(flow, share): &(&FlowResult, f64)| *share > MANY && !exchange.is_hiccup(flow, *share);
    let (flow, share) = view.highest(metric).filter(many)?;
    // Requests that queue up behind a stall of the asking end are its own doing.
    if exchange.far_end_made_them_wait() == Some(false) {
        return None;
    }
    // Nor is it the far end that has no port for the next connection.
    if audit::ports(view, exchange).is_some() {
        return None;
    }
    let says = Text::new("rule-window-full-says")
        .word("what", numbers.noun.name())
        .word("host", &flow.to)
        .number("share", share, Unit::Ratio);
    // Answers that waited for lost segments are late because of the loss, which is told by itself.
    let is_caused = loss_limited::makes_answers_late(view, flow);
    let weight = (0.4 + 0.5 * share) * if is_caused { CAUSED } else { 1.0 };
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-window-full", metric, &flow.to, share));
    for (key, metric) in [
        ("evidence-latency-p99", numbers.latency),
        ("evidence-service-p99", numbers.service),
    ] {
        evidence.extend(view.stat_evidence(key, metric, Stat::P99, &flow.to));
    }
    evidence.extend(exchange.kind.ends.far.and_then(|far| {
        let cpu = view.highest_at_receiver(&flow.to, far.cpu)?;
        Some(view.evidence("evidence-server-cpu", far.cpu, &flow.to, cpu))
    }));
    finding.next = Some(Text::new("rule-window-full-next").word("host", &flow.to));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_far_end_that_is_too_slow_or_stands_still_fills_the_window() {
        for scene in [open_loop(0.04, 0.04, 2.0), open_loop(0.001, 0.5, 0.5)] {
            let finding = scene.limited_by("window_full");
            has_metric(&finding, "rr.window_full_ratio");
            has_metric(&finding, "rr.service_seconds.p99");
            scene.without("generator_limited");
        }
    }

    #[test]
    fn requests_that_wait_for_a_local_port_wait_for_no_answer() {
        let without_ports = |failed| {
            let mut scene = open_loop(0.04, 0.04, 2.0).total("transactions", 5_000.0);
            let metrics = &mut scene.flow().metrics;
            metrics.insert("rr.ports_exhausted".into(), failed);
            scene.series("hosta", "host.tcp_time_wait_connections", |_| 900.0);
            scene
        };
        without_ports(1.0).limited_by("window_full");
        without_ports(900.0).without("window_full");
    }

    #[test]
    fn messages_that_wait_for_receipts_are_limited_by_the_window() {
        let over = |tcp, receiver| {
            Scene::of("bus")
                .sender([0.3, 0.01, 0.02])
                .receiver(receiver)
                .metric("backlog_ratio", 0.6)
                .tcp(tcp)
        };
        let bus = |receiver| over(SENDING, receiver);
        let finding = bus([0.2, 0.01, 0.7]).limited_by("window_full");
        assert_eq!(finding.says.key, "rule-window-full-receipts-says");
        has_metric(&finding, "bus.backlog_ratio");
        has_metric(&finding, "bus.read_idle_ratio");
        // They are late because a queue stands on the way, which is told first.
        let queued = Tcp {
            round_trip: 0.075,
            ..SENDING
        };
        let behind_a_queue = over(queued, [0.2, 0.01, 0.7]);
        let weight = one(&behind_a_queue.record, "window_full").weight;
        assert!(weight < finding.weight * 0.6, "{weight}");
        // Receipts are late because the receiver has no time left.
        let slow = bus([0.97, 0.01, 0.01]);
        slow.limited_by("receiver_cpu_limited");
        slow.without("window_full");
    }
}
