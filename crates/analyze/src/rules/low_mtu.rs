//! Is the path narrower than Ethernet, or are datagrams cut into fragments?
//!
//! One lost fragment loses the whole datagram (RFC 8900), and each fragment costs the per-packet
//! price again.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Smallest MTU that IPv4 allows: a smaller figure is no reading.
const SMALLEST_MTU: f64 = 68.0;
/// MTU of plain Ethernet.
const ETHERNET_MTU: f64 = 1500.0;
/// IPv4 and UDP headers. IPv6 needs 20 more, so a finding errs on the quiet side there.
const HEADER_BYTES: f64 = 28.0;

/// See the module.
pub struct LowMtu;

const MTU: &str = "datagram.path_mtu_bytes";
const SIZE: &str = "datagram.size_bytes";
const REASSEMBLY: &str = "host.ip_reassembly_failures";

impl Rule for LowMtu {
    fn name(&self) -> &'static str {
        "low_mtu"
    }

    fn question(&self) -> &'static str {
        "is the path narrower than Ethernet, or are datagrams cut into fragments?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        // A search repeats one set-up many times: its other phases say it already.
        if view.is_trial() {
            return;
        }
        let narrowest = view
            .values(MTU)
            .filter(|(_, mtu)| *mtu >= SMALLEST_MTU)
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((flow, mtu)) = narrowest else { return };
        let size = flow.metrics.get(SIZE).copied();
        let cut = size.filter(|size| *size > mtu - HEADER_BYTES);
        let carried_by_datagrams = flow.labels.get("transport").is_none_or(|t| t == "udp");
        let mut finding = match cut.filter(|_| carried_by_datagrams) {
            Some(size) => {
                let pieces = fragments(size, mtu);
                let says = said("rule-low-mtu-fragments-says", &flow.from, &flow.to, mtu)
                    .number("size", size, Unit::Bytes)
                    .number("pieces", pieces, Unit::One);
                let mut finding = view.finding(self.name(), Severity::Caution, 0.5, says);
                let next = Text::new("rule-low-mtu-fragments-next");
                finding.next = Some(next.word("size", format!("{:.0}", mtu - HEADER_BYTES)));
                finding
            }
            None if mtu < ETHERNET_MTU => {
                let says = said("rule-low-mtu-says", &flow.from, &flow.to, mtu);
                let mut finding = view.finding(self.name(), Severity::Info, 0.2, says);
                finding.next = Some(Text::new("rule-low-mtu-next"));
                finding
            }
            None => return,
        };
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-path-mtu", MTU, &flow.from, mtu));
        if let Some(size) = size {
            evidence.push(view.evidence("evidence-datagram-size", SIZE, &flow.from, size));
        }
        evidence.extend(view.grown("evidence-reassembly-failures", REASSEMBLY, &flow.to));
        name_what_lacks(evidence, SIZE);
        out.push(finding);
    }
}

fn said(key: &str, from: &str, to: &str, mtu: f64) -> Text {
    Text::new(key)
        .word("from", from)
        .word("to", to)
        .word("mtu", format!("{mtu:.0}"))
}

/// Fragments that one datagram becomes: their data is cut at multiples of eight (RFC 791).
fn fragments(size: f64, mtu: f64) -> f64 {
    let data_each = ((mtu - 20.0) / 8.0).floor() * 8.0;
    ((size + 8.0) / data_each).ceil()
}
