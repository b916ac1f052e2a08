//! Did bytes change on the way?
//!
//! The receiver checks each header and the bytes that it was told to verify. The UDP checksum
//! should catch a change before that, so a damaged arrival is rare and grave.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// See the module.
pub struct Corruption;

const CORRUPTED: &str = "datagram.corrupted_packets";

impl Rule for Corruption {
    fn name(&self) -> &'static str {
        "corruption"
    }

    fn question(&self) -> &'static str {
        "did bytes change on the way?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let Some(corrupted) = view.total(CORRUPTED).filter(|n| *n > 0.0) else {
            return;
        };
        let Some((host, there)) = view.worst_receiver(CORRUPTED) else {
            return;
        };
        let says = Text::new("rule-corruption-says")
            .number("count", corrupted, Unit::Packets)
            .word("host", host);
        let mut finding = view.finding(self.name(), Severity::Bad, 0.9, says);
        // A trial of a search is meant to lose, not to damage.
        (finding.severity, finding.weight) = (Severity::Bad, 0.9);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-corrupted", CORRUPTED, host, there));
        evidence.extend(view.grown("evidence-checksum-errors", "host.udp_checksum_errors", host));
        evidence.extend(view.grown("evidence-nic-errors", "host.nic_errors", host));
        name_what_lacks(evidence, "host.udp_checksum_errors, host.nic_errors");
        finding.next = Some(Text::new("rule-corruption-next").word("host", host));
        out.push(finding);
    }
}
