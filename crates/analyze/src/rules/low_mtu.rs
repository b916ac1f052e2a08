//! The path MTU is below that of Ethernet, or datagrams are sent in fragments.
//!
//! One lost fragment loses the whole datagram (RFC 8900), and each fragment costs the per-packet
//! price again.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Smallest MTU that IPv4 allows: a smaller figure is not a valid reading.
const SMALLEST_MTU: f64 = 68.0;
/// MTU of plain Ethernet.
const ETHERNET_MTU: f64 = 1500.0;
/// IPv4 and UDP headers. IPv6 needs 20 more, so a finding errs on the quiet side there.
const HEADER_BYTES: f64 = 28.0;

const MTU: Metric = datagram::PATH_MTU_BYTES;
const SIZE: Metric = datagram::SIZE_BYTES;
const REASSEMBLY: Metric = host::IP_REASSEMBLY_FAILURES;

/// The finding `low_mtu`.
pub const RULE: Rule = Rule {
    name: "low_mtu",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    // A search repeats one set-up many times: its other phases say it already.
    if view.is_trial() {
        return None;
    }
    let narrowest = view
        .values(MTU)
        .filter(|(_, mtu)| *mtu >= SMALLEST_MTU)
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let (flow, mtu) = narrowest?;
    let size = SIZE.of(&flow.metrics);
    let cut = size.filter(|size| *size > mtu - HEADER_BYTES);
    let carried_by_datagrams = flow.labels.get("transport").is_none_or(|t| t == "udp");
    let mut finding = match cut.filter(|_| carried_by_datagrams) {
        Some(size) => {
            let pieces = fragments(size, mtu);
            let says = said("rule-low-mtu-fragments-says", &flow.from, &flow.to, mtu)
                .number("size", size, Unit::Bytes)
                .number("pieces", pieces, Unit::One);
            let mut finding = view.finding(RULE.name, Severity::Caution, 0.5, says);
            let next = Text::new("rule-low-mtu-fragments-next");
            finding.next = Some(next.word("size", format!("{:.0}", mtu - HEADER_BYTES)));
            finding
        }
        None if mtu < ETHERNET_MTU => {
            let says = said("rule-low-mtu-says", &flow.from, &flow.to, mtu);
            let mut finding = view.finding(RULE.name, Severity::Info, 0.2, says);
            finding.next = Some(Text::new("rule-low-mtu-next"));
            finding
        }
        None => return None,
    };
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-path-mtu", MTU, &flow.from, mtu));
    if let Some(size) = size {
        evidence.push(view.evidence("evidence-datagram-size", SIZE, &flow.from, size));
    }
    evidence.extend(view.grown("evidence-reassembly-failures", REASSEMBLY, &flow.to));
    name_what_lacks(evidence, &[SIZE]);
    Some(finding)
}

fn said(key: &str, from: &str, to: &str, mtu: f64) -> Text {
    Text::new(key)
        .word("from", from)
        .word("to", to)
        .word("mtu", format!("{mtu:.0}"))
}

/// Fragments that one datagram becomes.
fn fragments(size: f64, mtu: f64) -> f64 {
    let (packets, _) = datagram::on_the_wire(size as u64, mtu as u64, HEADER_BYTES as u64);
    packets as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn a_narrow_path_is_named() {
        let finding = one(
            &with_flow(&[("path_mtu_bytes", 1280.0), ("size_bytes", 1252.0)]),
            "low_mtu",
        );
        assert_eq!(
            (finding.severity, finding.says.key.as_str()),
            (Severity::Info, "rule-low-mtu-says")
        );
        none(&with_flow(&[("path_mtu_bytes", 65_536.0)]), "low_mtu");
        none(&with_flow(&[("path_mtu_bytes", 0.0)]), "low_mtu");
    }

    #[test]
    fn fragments_are_counted() {
        let finding = one(&with_flow(&[("size_bytes", 8000.0)]), "low_mtu");
        assert_eq!(finding.severity, Severity::Caution);
        assert_eq!(
            finding.says.args["pieces"],
            Arg::Number(6.0, sokudo_model::Unit::One)
        );
        assert_eq!(finding.next.unwrap().args["size"], Arg::Word("1472".into()));
    }
}
