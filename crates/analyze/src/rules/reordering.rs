//! Datagrams arrived out of order.
//!
//! Counted as RFC 4737 does. Typical causes: several paths or bond members, or several receive
//! queues that work on one flow.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Shares of received datagrams: from here it is worth a word, from here it changes the reading.
const SOME: f64 = 0.0001;
const MANY: f64 = 0.01;

const OUT_OF_ORDER: Metric = datagram::OUT_OF_ORDER_PACKETS;
const EXTENT: Metric = datagram::REORDERING_EXTENT_MEAN_PACKETS;

/// The finding `reordering`.
pub const RULE: Rule = Rule {
    name: "reordering",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("some", SOME, Unit::Ratio), ("many", MANY, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
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
}
