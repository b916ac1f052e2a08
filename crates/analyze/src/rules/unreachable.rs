//! Did the receiving end answer that nobody listens there?
//!
//! A host without a program on the port, and a firewall that rejects, send an ICMP error back for
//! a datagram; the sending socket reports it on a later call (RFC 1122 section 4.1.3.3). Hosts send
//! such errors at a limited rate, so their number is a lower bound.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Loss up to which the errors are worth a word only: the last datagrams of a run may find the
/// receiver's socket closed.
const LITTLE_LOSS: f64 = 0.0001;

/// See the module.
pub struct Unreachable;

const ERRORS: &str = "datagram.unreachable_errors";
const RECEIVED: &str = "datagram.received_packets";
const NO_PORT: &str = "host.udp_no_port";

impl Rule for Unreachable {
    fn name(&self) -> &'static str {
        "unreachable"
    }

    fn question(&self) -> &'static str {
        "did the receiving end answer that nobody listens there?"
    }

    fn kind(&self) -> Kind {
        Kind::Loss
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let Some((flow, errors)) = worst(view) else {
            return;
        };
        let received = flow.metrics.get(RECEIVED).copied();
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
        let mut finding = view.finding(self.name(), severity, weight, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-unreachable", ERRORS, &flow.from, errors));
        evidence.extend(
            received.map(|count| view.evidence("evidence-received", RECEIVED, &flow.to, count)),
        );
        evidence.extend(view.grown("evidence-no-port", NO_PORT, &flow.to));
        name_what_lacks(evidence, NO_PORT);
        finding.next = Some(Text::new("rule-unreachable-next").word("to", &flow.to));
        out.push(finding);
    }
}

/// The flow to tell of: one of which nothing arrived before all others, else the one with the most
/// errors.
fn worst<'a>(view: &PhaseView<'a>) -> Option<(&'a FlowResult, f64)> {
    let hit = view.values(ERRORS).filter(|(_, errors)| *errors > 0.0);
    hit.max_by(|a, b| {
        let silent = |flow: &FlowResult| flow.metrics.get(RECEIVED) == Some(&0.0);
        silent(a.0).cmp(&silent(b.0)).then(a.1.total_cmp(&b.1))
    })
}

/// True when nothing arrived at all and the receiving end said why.
pub fn nobody_there(view: &PhaseView<'_>) -> bool {
    view.received() == Some(0.0) && worst(view).is_some()
}
