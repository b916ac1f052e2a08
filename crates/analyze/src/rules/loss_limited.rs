//! Packet loss kept the congestion window, and with it the rate, small.
//!
//! Every loss makes TCP send less for a while. Where a queue had filled before, loss is how the
//! link says that it is full, and [`path_limited`](super::path_limited) tells that; where round
//! trips stay short, segments vanish for another reason and the link could carry more. Requests
//! that wait for a retransmission show a tail of a fifth of a second and more.

use sokudo_model::kinds::Family;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, tcp};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use super::path_limited::queue_stands;
use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the time from which the congestion window shapes the rate.
const SHAPES: f64 = 0.4;
/// Share of retransmitted segments from which loss shapes the window.
const SOME: f64 = 0.0005;
/// Share from which it does so in full, and from which a full send buffer is one that keeps what was lost.
const MANY: f64 = 0.005;
/// Segments sent again per request from which they shape the slowest hundredth.
const LATE: f64 = 0.005;
/// Shortest wait for a retransmission by the clock (`TCP_RTO_MIN` of Linux), seconds.
const SHORTEST_TIMEOUT_S: f64 = 0.2;

/// The finding `loss_limited`.
pub const RULE: Rule = Rule {
    name: "loss_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::tighten("pacing"), Suspect::tighten("rate")],
    bounds: &[
        ("shapes", SHAPES, Unit::Ratio),
        ("some", SOME, Unit::Ratio),
        ("many", MANY, Unit::Ratio),
        ("timeout", SHORTEST_TIMEOUT_S, Unit::Seconds),
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    match load.is_exchange() {
        true => delays(load, flow).or_else(|| counted(load, flow)),
        false => slows(load, flow),
    }
}

/// A transfer that loss slows down.
fn slows<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let (_, lost) = connection
        .retransmitted()
        .filter(|(_, lost)| *lost >= SOME)?;
    if connection.lost_at_its_begin() {
        return None;
    }
    let limits = connection.limits()?;
    let kept = if lost >= MANY {
        limits.send_buffer
    } else {
        0.0
    };
    let shaped = limits.congestion_window() + kept;
    let shaped = shaped.min(load.between(flow)?);
    if shaped < SHAPES {
        return None;
    }
    let full_queue = connection.round_trips().is_some_and(queue_stands);
    let doubt = if full_queue { 0.4 } else { 1.0 };
    let weight = 0.3 + 0.6 * shaped * (lost / MANY).clamp(0.5, 1.0) * doubt;
    let says = Text::new("rule-loss-limited-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("share", lost, Unit::Ratio);
    let severity = if full_queue {
        Severity::Info
    } else {
        Severity::Caution
    };
    let mut finding = load.view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.retransmission_evidence());
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    let window = tcp::CONGESTION_WINDOW_SEGMENTS;
    let mean = connection.mean(window);
    evidence.extend(mean.map(|n| connection.evidence("evidence-tcp-cwnd", window, n)));
    evidence.extend(connection.round_trip_evidence());
    evidence.extend(host_retransmits(load, flow));
    let next = Text::new("rule-loss-limited-next");
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

/// Requests whose slowest answers waited for a retransmission.
fn delays<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let back = Connection::of(load.view, flow, End::Receiver);
    let worst = [connection, back]
        .into_iter()
        .filter(|c| c.retransmitted().is_some_and(|(again, _)| again > 0.0))
        .max_by(|a, b| {
            a.retransmitted()
                .partial_cmp(&b.retransmitted())
                .unwrap_or(std::cmp::Ordering::Equal)
        })?;
    let Family::Exchange(numbers) = load.kind.family else {
        return None;
    };
    let latency = numbers.latency;
    let known = flow.histograms.get(latency.name);
    let known = known.filter(|h| h.max >= SHORTEST_TIMEOUT_S)?;
    let weight = match known.p99 >= SHORTEST_TIMEOUT_S {
        true => 0.7,
        false => 0.4,
    };
    let says = Text::new("rule-loss-limited-tail-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("max", known.max, Unit::Seconds);
    let view = load.view;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(worst.retransmission_evidence());
    evidence.push(view.evidence("evidence-latency-max", latency, &flow.to, known.max));
    evidence.extend(worst.round_trip_evidence());
    evidence.extend(host_retransmits(load, flow));
    let next = Text::new("rule-loss-limited-next");
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

/// The same of connections that end too soon to be watched: what their hosts sent again, without the calls for
/// connections, which a full queue drops.
fn counted(load: &Load<'_>, flow: &FlowResult) -> Option<Finding> {
    let view = load.view;
    let Family::Exchange(numbers) = load.kind.family else {
        return None;
    };
    let watched = Connection::of(view, flow, End::Sender)
        .retransmitted()
        .is_some();
    let known = flow.histograms.get(numbers.latency.name);
    let known = known.filter(|_| !watched && makes_answers_late(&view, flow))?;
    let says = Text::new("rule-loss-limited-tail-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("max", known.max, Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.6, says);
    let evidence = &mut finding.evidence;
    for host in [&flow.from, &flow.to] {
        let key = "evidence-host-retransmits";
        evidence.extend(view.grown(key, host::TCP_RETRANSMITS, host));
    }
    let latency = numbers.latency;
    evidence.push(view.evidence("evidence-latency-max", latency, &flow.to, known.max));
    let next = Text::new("rule-loss-limited-next");
    finding.next = Some(next.word("from", &flow.from).word("to", &flow.to));
    Some(finding)
}

/// True where the slowest hundredth of a flow's requests waited for segments that its hosts sent again.
pub fn makes_answers_late(view: &PhaseView<'_>, flow: &FlowResult) -> bool {
    let known = view.kind().and_then(|kind| match kind.family {
        Family::Exchange(numbers) => {
            let of = |metric: Metric| flow.histograms.get(metric.name);
            of(numbers.service).or_else(|| of(numbers.latency))
        }
        _ => None,
    });
    known.is_some_and(|h| h.p99 >= SHORTEST_TIMEOUT_S) && is_counted(view, flow)
}

/// True where the hosts of a flow sent so many segments again, beside calls for connections, that the slowest
/// hundredth of its requests waited for them.
pub fn is_counted(view: &PhaseView<'_>, flow: &FlowResult) -> bool {
    let again = |host: &str| {
        let of = |metric| view.increase(host, metric).unwrap_or(0.0);
        (of(host::TCP_RETRANSMITS) - of(host::TCP_SYN_RETRANSMITS)).max(0.0)
    };
    let done = view.kind().and_then(|kind| view.total(kind.done));
    done.is_some_and(|done| again(&flow.from) + again(&flow.to) >= done * LATE)
}

fn host_retransmits(load: &Load<'_>, flow: &FlowResult) -> Option<sokudo_model::Evidence> {
    let (key, metric) = ("evidence-host-retransmits", host::TCP_RETRANSMITS);
    load.view.grown(key, metric, &flow.from)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn losses_until_tcp_has_found_its_rate_limit_nothing_afterwards() {
        let tcp = |lost: fn(f64) -> f64| {
            let mut scene = between().tcp(SENDING);
            let resent = "tcp.retransmitted_segments";
            scene
                .record
                .series
                .retain(|series| series.key.metric != resent);
            scene.series("hosta", resent, lost);
            scene
        };
        // 42 in the first 2 of 10 s; the same, and one more later on.
        tcp(|s| if s < 12.0 { 0.0 } else { 1_000.0 }).without("loss_limited");
        let goes_on = |s: f64| if s < 12.0 { 0.0 } else { 1_000.0 + (s - 12.0) };
        tcp(goes_on).limited_by("loss_limited");
    }

    #[test]
    fn loss_on_an_empty_way_is_loss() {
        let tcp = Tcp {
            lost: 0.01,
            ..SENDING
        };
        let scene = between().tcp(tcp);
        let finding = scene.limited_by("loss_limited");
        has_metric(&finding, "tcp.retransmitted_segments");
        scene.without("path_limited");
    }

    #[test]
    fn a_send_buffer_that_keeps_what_was_lost_is_losss_doing() {
        let of = |lost| {
            let tcp = Tcp {
                lost,
                send_buffer: 0.7,
                ..SENDING
            };
            between().tcp(tcp)
        };
        of(0.02).limited_by("loss_limited");
        of(0.002).without("loss_limited");
        of(0.002).limited_by("send_buffer_limited");
    }

    #[test]
    fn calls_that_were_made_again_are_no_lost_segments() {
        let of = |calls: f64| {
            let mut scene = Scene::of("crr")
                .total("connections", 1_000.0)
                .total("connections_per_second", 100.0)
                .answers("crr.latency_seconds", &[(970, 0.001), (30, 1.03)]);
            let again = move |s: f64, all: f64| (s - 10.0).clamp(0.0, 10.0) / 10.0 * all;
            scene.series("hosta", "host.tcp_retransmits", |s| again(s, 30.0));
            scene.series("hosta", "host.tcp_syn_retransmits", |s| again(s, calls));
            scene
        };
        of(30.0).without("loss_limited");
        let finding = of(0.0).limited_by("loss_limited");
        assert_eq!(finding.says.key, "rule-loss-limited-tail-says");
    }

    #[test]
    fn the_tail_of_answers_shows_retransmissions() {
        let tcp = Tcp {
            lost: 0.01,
            ..SENDING
        };
        let answers = [(990, 0.0201), (10, 0.23)];
        let scene = Scene::of("rr")
            .tcp(tcp)
            .answers("rr.latency_seconds", &answers);
        let finding = scene.limited_by("loss_limited");
        assert_eq!(finding.says.key, "rule-loss-limited-tail-says");
    }
}
