//! Did the receiving host lose datagrams before they reached the socket?
//!
//! Between the device and the socket stands a backlog queue per core; when it is full, the kernel
//! drops and counts (`/proc/net/softnet_stat`, second column).

use sokudo_model::{Finding, Severity, Text, Unit};

use super::Rule;
use crate::phase::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;
/// Loss below this is worth a word only.
const LITTLE_LOSS: f64 = 0.0001;

/// See the module.
pub struct ReceiverHostDrops;

const LOST: &str = "datagram.lost_at_receiver_host_packets";

impl Rule for ReceiverHostDrops {
    fn name(&self) -> &'static str {
        "receiver_host_drops"
    }

    fn question(&self) -> &'static str {
        "did the receiving host lose datagrams before they reached the socket?"
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let (Some(lost), Some(missing), Some((host, there))) =
            (view.total(LOST), view.missing(), view.worst_receiver(LOST))
        else {
            return;
        };
        let share = lost / missing.max(1.0);
        if lost <= 0.0 || share < SHARE {
            return;
        }
        let little = view.loss().is_some_and(|loss| loss < LITTLE_LOSS);
        let severity = if little {
            Severity::Info
        } else {
            Severity::Caution
        };
        let weight = if little { 0.2 } else { 0.3 + 0.6 * share };
        let says = Text::new("rule-receiver-host-drops-says")
            .number("share", share, Unit::Ratio)
            .word("host", host);
        let mut finding = view.finding(self.name(), severity, weight, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-lost-at-receiver-host", LOST, host, there));
        evidence.extend(view.grown("evidence-softnet-drops", "host.softnet_drops", host));
        evidence.extend(view.grown("evidence-time-squeezes", "host.softnet_time_squeezes", host));
        evidence.extend(view.grown("evidence-checksum-errors", "host.udp_checksum_errors", host));
        name_what_lacks(evidence, "host.softnet_drops, host.softnet_time_squeezes");
        finding.next = Some(Text::new("rule-receiver-host-drops-next").word("host", host));
        out.push(finding);
    }
}
