//! Did the receiving host lose datagrams before they reached the socket?
//!
//! Between the device and the socket stands a backlog queue per core; when it is full, the kernel
//! drops and counts (`/proc/net/softnet_stat`, second column).

use sokudo_model::{Finding, Text, Unit};

use crate::quantities::datagrams::{LostAt, lost};
use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;

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

    fn kind(&self) -> Kind {
        Kind::Loss
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let Some(LostAt { host, there, share }) = view.lost_at_receiver(LOST, SHARE) else {
            return;
        };
        let (severity, weight) = view.weigh_loss(share);
        let hosts = view.receivers_with(LOST);
        let key = match hosts {
            2.. => "rule-receiver-host-drops-many-says",
            _ => "rule-receiver-host-drops-says",
        };
        let says = Text::new(key)
            .text("lost", lost(share))
            .number("share", share, Unit::Ratio)
            .number("hosts", hosts as f64, Unit::One)
            .word("host", host);
        let mut finding = view.finding(self.name(), severity, weight, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-lost-at-receiver-host", LOST, host, there));
        evidence.extend(view.grown("evidence-softnet-drops", "host.softnet_drops", host));
        evidence.extend(view.grown("evidence-time-squeezes", "host.softnet_time_squeezes", host));
        evidence.extend(view.grown("evidence-checksum-errors", "host.udp_checksum_errors", host));
        name_what_lacks(evidence, "host.softnet_drops, host.softnet_time_squeezes");
        let remedy = Text::new("remedy-receiver-host").word("host", host);
        finding.next = Some(view.loss_next(remedy));
        out.push(finding);
    }
}
