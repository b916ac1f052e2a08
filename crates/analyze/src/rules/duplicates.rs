//! Datagrams arrived more than once.
//!
//! Sockets do not repeat datagrams; a bridge loop, a mirrored port or a bond does.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of duplicates above which the delivered rate deserves a second look.
const MANY: f64 = 0.001;

const DUPLICATES: Metric = datagram::DUPLICATE_PACKETS;

/// The finding `duplicates`.
pub const RULE: Rule = Rule {
    name: "duplicates",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("many", MANY, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let count = view.total(DUPLICATES).filter(|n| *n > 0.0)?;
    let (host, there) = view.worst_receiver(DUPLICATES)?;
    let share = count / view.sent()?;
    let severity = if share > MANY {
        Severity::Caution
    } else {
        Severity::Info
    };
    let says = Text::new("rule-duplicates-says")
        .number("count", count, Unit::Packets)
        .number("share", share, Unit::Ratio)
        .word("host", host);
    let mut finding = view.finding(RULE.name, severity, 0.1 + share, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-duplicates", DUPLICATES, host, there));
    let arrived = view.highest_mean(Some(host), host::UDP_IN_PER_SECOND, &[]);
    if let Some((_, rate)) = arrived {
        let row = view.evidence("evidence-udp-in", host::UDP_IN_PER_SECOND, host, rate);
        evidence.push(row);
    }
    name_what_lacks(evidence, &[host::UDP_IN_PER_SECOND]);
    finding.next = Some(Text::new("rule-duplicates-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn repeated_datagrams_are_duplicates() {
        let finding = one(&with_flow(&[("duplicate_packets", 5e3)]), "duplicates");
        assert_eq!(finding.severity, Severity::Caution);
        none(&with_flow(&[("duplicate_packets", 0.0)]), "duplicates");
    }
}
