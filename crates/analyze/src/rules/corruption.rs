//! Datagrams arrived with changed bytes.
//!
//! The receiver checks each header and the bytes that it was told to verify. The UDP checksum
//! should catch a change before that, so a damaged arrival is rare and grave.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

const CORRUPTED: Metric = datagram::CORRUPTED_PACKETS;

/// The finding `corruption`.
pub const RULE: Rule = Rule {
    name: "corruption",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let corrupted = view.total(CORRUPTED).filter(|n| *n > 0.0)?;
    let (host, there) = view.worst_receiver(CORRUPTED)?;
    let says = Text::new("rule-corruption-says")
        .number("count", corrupted, Unit::Packets)
        .word("host", host);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.9, says);
    // A trial of a search is meant to lose, not to damage.
    (finding.severity, finding.weight) = (Severity::Bad, 0.9);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-corrupted", CORRUPTED, host, there));
    evidence.extend(view.grown("evidence-checksum-errors", host::UDP_CHECKSUM_ERRORS, host));
    evidence.extend(view.grown("evidence-nic-errors", host::NIC_ERRORS, host));
    name_what_lacks(evidence, &[host::UDP_CHECKSUM_ERRORS, host::NIC_ERRORS]);
    finding.next = Some(Text::new("rule-corruption-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn damage_is_bad_and_comes_first() {
        let mut record = with_flow(&losing(
            2.0,
            &[("corrupted_packets", 2.0), ("lost_on_path_packets", 2.0)],
        ));
        add_series(
            &mut record,
            "hostb",
            "host.udp_checksum_errors",
            &[],
            0.0,
            3.0,
        );
        let finding = one(&record, "corruption");
        assert_eq!(finding.severity, Severity::Bad);
        assert_eq!(findings(&record)[0].rule, "corruption");
        assert_eq!(keys(&verdict(&record))[0], "rule-corruption-says");
        none(&with_flow(&[("corrupted_packets", 0.0)]), "corruption");
    }
}
