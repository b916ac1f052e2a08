//! Datagrams or segments arrived out of order.
//!
//! Counted as RFC 4737 does for datagrams. TCP takes segments that are overtaken for lost and sends them again; the
//! peer tells that it had them already (D-SACK). Typical causes: several paths or bond members, or several receive
//! queues that work on one flow.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{host, tcp};
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::{PhaseView, name_what_lacks};

/// Shares of received datagrams: from here it is worth a word, from here it changes the reading.
const SOME: f64 = 0.0001;
const MANY: f64 = 0.01;

/// Share of the segments sent again needlessly from which that shapes the window in full: as loss does.
const SHAPES: f64 = 0.005;
/// Part of the overtaken segments that may be sent again where the kernel waits for them.
const WAITED: f64 = 0.1;
/// Weight of reordering that the kernel waits out.
const HARMLESS: f64 = 0.2;

/// Share of the repeated segments that arrived twice, from which they were overtaken and not lost.
const NEEDLESS: f64 = 0.5;
/// Needless segments from which they were overtaken: a connection that pauses sends its last one again to learn
/// whether it was lost (tail loss probe, RFC 8985).
const FEW: f64 = 10.0;

const OUT_OF_ORDER: Metric = datagram::OUT_OF_ORDER_PACKETS;
const EXTENT: Metric = datagram::REORDERING_EXTENT_MEAN_PACKETS;

/// The finding `reordering`.
pub const RULE: Rule = Rule {
    name: "reordering",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[],
    bounds: &[
        ("some", SOME, Unit::Ratio),
        ("many", MANY, Unit::Ratio),
        ("needless", NEEDLESS, Unit::Ratio),
        ("few", FEW, Unit::One),
        ("waited", WAITED, Unit::Ratio),
        ("shapes", SHAPES, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    datagrams(view).or_else(|| {
        let load = Load::of(*view)?;
        load.strongest(|flow| segments(&load, flow).or_else(|| waited_for(&load, flow)))
    })
}

/// A connection that sent segments again which the peer had already.
fn segments<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let (again, share) = connection
        .retransmitted()
        .filter(|(_, share)| *share > SOME)?;
    let needless = connection.grown(tcp::NEEDLESS_SEGMENTS)?;
    if needless < (again * NEEDLESS).max(FEW) {
        return None;
    }
    let shaped = connection.limits().map(|limits| limits.congestion_window());
    let shaped = shaped.unwrap_or(0.0).min(load.between(flow).unwrap_or(0.0));
    let says = Text::new("rule-reordering-segments-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("share", share, Unit::Ratio)
        .number("count", needless, Unit::One);
    // A handful makes the sender slower for a few round trips.
    let weight = 0.2 + 0.7 * shaped * (share / SHAPES).min(1.0);
    let mut finding = load
        .view
        .finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(connection.retransmission_evidence());
    let rows = [
        (
            "evidence-tcp-needless",
            tcp::NEEDLESS_SEGMENTS,
            Some(needless),
        ),
        (
            "evidence-tcp-reorderings",
            tcp::REORDERINGS,
            connection.grown(tcp::REORDERINGS),
        ),
    ];
    for (key, metric, value) in rows {
        evidence.extend(value.map(|value| connection.evidence(key, metric, value)));
    }
    evidence.extend(load.held_evidence(flow, End::Sender));
    evidence.extend(load.held_evidence(flow, End::Receiver));
    finding.next = Some(Text::new("rule-reordering-next").word("host", &flow.to));
    Some(finding)
}

/// A connection whose kernel waited for overtaken segments and sent next to none again (RFC 8985).
fn waited_for<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    let connection = Connection::of(load.view, flow, End::Sender);
    let (_, again) = connection.retransmitted()?;
    let count = connection.grown(tcp::REORDERINGS)?;
    let share = (count / connection.grown(tcp::SENT_SEGMENTS)?.max(1.0)).min(1.0);
    if share <= SOME || again > share * WAITED {
        return None;
    }
    let severity = match share > MANY {
        true => Severity::Caution,
        false => Severity::Info,
    };
    let says = Text::new("rule-reordering-waited-says")
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("count", count, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = load.view.finding(RULE.name, severity, HARMLESS, says);
    let evidence = &mut finding.evidence;
    let key = "evidence-tcp-reorderings";
    evidence.push(connection.evidence(key, tcp::REORDERINGS, count));
    evidence.extend(connection.retransmission_evidence());
    let (key, metric) = ("evidence-host-retransmits", host::TCP_RETRANSMITS);
    evidence.extend(load.view.grown(key, metric, &flow.from));
    evidence.extend(load.held_evidence(flow, End::Sender));
    finding.next = Some(Text::new("rule-reordering-next").word("host", &flow.to));
    Some(finding)
}

fn datagrams(view: &PhaseView<'_>) -> Option<Finding> {
    let count = view.total(OUT_OF_ORDER)?;
    let share = count / view.received().filter(|n| *n > 0.0)?;
    let (host, there) = view.worst_receiver(OUT_OF_ORDER).filter(|_| share > SOME)?;
    let severity = if share > MANY {
        Severity::Caution
    } else {
        Severity::Info
    };
    let says = Text::new("rule-reordering-says")
        .number("share", share, Unit::Ratio)
        .number("count", count, Unit::Packets)
        .word("host", host);
    let mut finding = view.finding(RULE.name, severity, 0.2 + share, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-out-of-order", OUT_OF_ORDER, host, there));
    if let Some(extent) = view.highest_at_receiver(host, EXTENT) {
        evidence.push(view.evidence("evidence-reordering-extent", EXTENT, host, extent));
    }
    name_what_lacks(evidence, &[EXTENT]);
    finding.next = Some(Text::new("rule-reordering-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::LIMITING;
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn overtaking_is_reordering() {
        let changes = [
            ("out_of_order_packets", 3e4),
            ("reordering_extent_mean_packets", 4.0),
        ];
        let finding = one(&with_flow(&changes), "reordering");
        assert_eq!(finding.severity, Severity::Caution);
        has_metric(&finding, "datagram.reordering_extent_mean_packets");
        none(&with_flow(&[("out_of_order_packets", 10.0)]), "reordering");
    }

    #[test]
    fn probes_of_a_connection_that_pauses_are_no_reordering() {
        // So many of 200 segments were sent again although they had arrived.
        let paused = |needless: f64| {
            let mut scene = between();
            scene.series("hosta", "tcp.sent_segments", |s| s * 20.0);
            for metric in ["tcp.retransmitted_segments", "tcp.needless_segments"] {
                scene.series("hosta", metric, |s| if s > 12.0 { needless } else { 0.0 });
            }
            scene
        };
        paused(2.0).without("reordering");
        one(&paused(20.0).record, "reordering");
    }

    #[test]
    fn a_handful_of_needless_segments_limits_nothing() {
        let resent = |share: f64| {
            let mut scene = between().tcp(Tcp {
                lost: share,
                ..SENDING
            });
            scene.series("hosta", "tcp.needless_segments", |s| s * 1e4 * share);
            scene
        };
        resent(0.01).limited_by("reordering");
        let few = resent(0.000_2);
        assert!(one(&few.record, "reordering").weight < LIMITING);
        assert_eq!(few.top().map(|top| top.weight < LIMITING), Some(true));
    }

    #[test]
    fn segments_that_the_kernel_waits_for_are_overtaken_too() {
        // Of 10 000 segments a second.
        let overtaken = |per_s: f64, lost: f64| {
            let mut scene = between().tcp(Tcp { lost, ..SENDING });
            scene.series("hosta", "tcp.reorderings", |s| s * per_s);
            scene
        };
        let many = one(&overtaken(300.0, 0.000_1).record, "reordering");
        assert_eq!(many.says.key, "rule-reordering-waited-says");
        assert_eq!(many.severity, Severity::Caution);
        has_metric(&many, "tcp.reorderings");
        let some = one(&overtaken(50.0, 0.0).record, "reordering");
        assert_eq!(some.severity, Severity::Info);
        overtaken(0.5, 0.0).without("reordering");
        // As many were lost.
        overtaken(300.0, 0.02).without("reordering");
    }
}
