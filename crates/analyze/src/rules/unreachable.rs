//! The receiving host answered that no program listens on the port.
//!
//! A host without a program on the port, and a firewall that rejects, send an ICMP error back for
//! a datagram; the sending socket reports it on a later call (RFC 1122 section 4.1.3.3). Hosts send
//! such errors at a limited rate, so their number is a lower bound.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Loss up to which the errors are worth a word only: the last datagrams of a run may find the
/// receiver's socket closed.
const LITTLE_LOSS: f64 = 0.0001;

const ERRORS: Metric = datagram::UNREACHABLE_ERRORS;
const RECEIVED: Metric = datagram::RECEIVED_PACKETS;
const NO_PORT: Metric = host::UDP_NO_PORT;

/// The finding `unreachable`.
pub const RULE: Rule = Rule {
    name: "unreachable",
    purpose: Purpose::Loss,
    suspects: &[],
    bounds: &[("little", LITTLE_LOSS, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (flow, errors) = worst(view)?;
    let received = RECEIVED.of(&flow.metrics);
    let (key, severity, weight) = match received {
        Some(0.0) => ("rule-unreachable-says", Severity::Bad, 0.95),
        _ if view.loss().is_some_and(|loss| loss < LITTLE_LOSS) => {
            ("rule-unreachable-partly-says", Severity::Info, 0.1)
        }
        _ => ("rule-unreachable-partly-says", Severity::Caution, 0.6),
    };
    let says = Text::new(key)
        .word("from", &flow.from)
        .word("to", &flow.to)
        .number("count", errors, Unit::One);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-unreachable", ERRORS, &flow.from, errors));
    evidence.extend(
        received.map(|count| view.evidence("evidence-received", RECEIVED, &flow.to, count)),
    );
    evidence.extend(view.grown("evidence-no-port", NO_PORT, &flow.to));
    name_what_lacks(evidence, &[NO_PORT]);
    finding.next = Some(Text::new("rule-unreachable-next").word("to", &flow.to));
    Some(finding)
}

/// The flow to tell of: one of which nothing arrived before all others, else the one with the most
/// errors.
fn worst<'a>(view: &PhaseView<'a>) -> Option<(&'a FlowResult, f64)> {
    let hit = view.values(ERRORS).filter(|(_, errors)| *errors > 0.0);
    hit.max_by(|a, b| {
        let silent = |flow: &FlowResult| RECEIVED.of(&flow.metrics) == Some(0.0);
        silent(a.0).cmp(&silent(b.0)).then(a.1.total_cmp(&b.1))
    })
}

/// True when nothing arrived at all and the receiving end said why.
pub fn nobody_there(view: &PhaseView<'_>) -> bool {
    view.received() == Some(0.0) && worst(view).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn nobody_there_is_told_instead_of_a_lossy_path() {
        let changes = losing(
            1e6,
            &[("unreachable_errors", 50.0), ("lost_on_path_packets", 1e6)],
        );
        let mut record = with_flow(&changes);
        add_series(&mut record, "hostb", "host.udp_no_port", &[], 0.0, 1e6);
        let finding = one(&record, "unreachable");
        assert_eq!(finding.says.key, "rule-unreachable-says");
        assert_eq!(finding.severity, Severity::Bad);
        has_metric(&finding, "host.udp_no_port");
        none(&record, "path_loss");
        assert_eq!(keys(&verdict(&record))[1], "rule-unreachable-says");
    }

    #[test]
    fn a_receiver_that_left_early_is_unreachable_in_part() {
        let changes = losing(
            1e5,
            &[("unreachable_errors", 50.0), ("lost_on_path_packets", 1e5)],
        );
        let finding = one(&with_flow(&changes), "unreachable");
        assert_eq!(finding.says.key, "rule-unreachable-partly-says");
        assert_eq!(finding.severity, Severity::Caution);
        let last_ones = one(&with_flow(&[("unreachable_errors", 2.0)]), "unreachable");
        assert_eq!(last_ones.severity, Severity::Info);
        none(&with_flow(&[("unreachable_errors", 0.0)]), "unreachable");
    }
}
