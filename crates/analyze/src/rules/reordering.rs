//! Did datagrams overtake each other?
//!
//! Counted as RFC 4737 does. Typical causes: several paths or bond members, or several receive
//! queues that work on one flow.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Shares of received datagrams: from here it is worth a word, from here it changes the reading.
const SOME: f64 = 0.0001;
const MANY: f64 = 0.01;

/// See the module.
pub struct Reordering;

const OUT_OF_ORDER: &str = "datagram.out_of_order_packets";
const EXTENT: &str = "datagram.reordering_extent_mean_packets";

impl Rule for Reordering {
    fn name(&self) -> &'static str {
        "reordering"
    }

    fn question(&self) -> &'static str {
        "did datagrams overtake each other?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let (Some(count), Some(received)) = (
            view.total(OUT_OF_ORDER),
            view.total("datagram.received_packets").filter(|n| *n > 0.0),
        ) else {
            return;
        };
        let share = count / received;
        let Some((host, there)) = view.worst_receiver(OUT_OF_ORDER).filter(|_| share > SOME) else {
            return;
        };
        let severity = if share > MANY {
            Severity::Caution
        } else {
            Severity::Info
        };
        let says = Text::new("rule-reordering-says")
            .number("share", share, Unit::Ratio)
            .number("count", count, Unit::Packets)
            .word("host", host);
        let mut finding = view.finding(self.name(), severity, 0.2 + share, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-out-of-order", OUT_OF_ORDER, host, there));
        if let Some(extent) = view.highest_at_receiver(host, EXTENT) {
            evidence.push(view.evidence("evidence-reordering-extent", EXTENT, host, extent));
        }
        name_what_lacks(evidence, EXTENT);
        finding.next = Some(Text::new("rule-reordering-next").word("host", host));
        out.push(finding);
    }
}
