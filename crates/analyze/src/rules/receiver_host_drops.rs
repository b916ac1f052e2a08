//! The receiving host dropped datagrams before they reached the socket.
//!
//! Between the device and the socket stands a backlog queue per core; when it is full, the kernel
//! drops and counts (`/proc/net/softnet_stat`, second column).

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Text, Unit};

use crate::quantities::datagrams::{LostAt, lost};
use crate::rule::{Look, Purpose, Rule, Suspect};
use crate::view::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;

const LOST: Metric = datagram::LOST_AT_RECEIVER_HOST_PACKETS;

/// The finding `receiver_host_drops`.
pub const RULE: Rule = Rule {
    name: "receiver_host_drops",
    purpose: Purpose::Loss,
    suspects: &[Suspect::tighten("rate")],
    bounds: &[("share", SHARE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let LostAt { host, there, share } = view.lost_at_receiver(LOST, SHARE)?;
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
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-lost-at-receiver-host", LOST, host, there));
    evidence.extend(view.missing_evidence(host));
    evidence.extend(view.grown("evidence-softnet-drops", host::SOFTNET_DROPS, host));
    evidence.extend(view.grown("evidence-time-squeezes", host::SOFTNET_TIME_SQUEEZES, host));
    evidence.extend(view.grown("evidence-checksum-errors", host::UDP_CHECKSUM_ERRORS, host));
    evidence.extend(view.kernel_drops(host, &["CPU_BACKLOG", "FULL_RING", "NOMEM"]));
    name_what_lacks(
        evidence,
        &[host::SOFTNET_DROPS, host::SOFTNET_TIME_SQUEEZES],
    );
    let remedy = Text::new("remedy-receiver-host").word("host", host);
    finding.next = Some(view.loss_next(remedy));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::*;

    #[test]
    fn backlog_drops_are_the_receiving_hosts() {
        let mut record = with_flow(&losing(1e4, &[("lost_at_receiver_host_packets", 1e4)]));
        add_series(
            &mut record,
            "hostb",
            "host.softnet_drops",
            &[("core", "0")],
            0.0,
            1e4,
        );
        let reasons = [("CPU_BACKLOG", 9e3), ("NO_SOCKET", 5e3)];
        for (reason, packets) in reasons {
            let labels = [("reason", reason), ("function", "enqueue_to_backlog")];
            add_series(
                &mut record,
                "hostb",
                "host.dropped_packets",
                &labels,
                0.0,
                packets,
            );
        }
        let finding = one(&record, "receiver_host_drops");
        has_metric(&finding, "host.softnet_drops");
        // Only for the reason that this rule is about.
        let of_kernel = finding
            .evidence
            .iter()
            .filter(|row| row.source == "kfree_skb");
        let told: Vec<_> = of_kernel.map(|row| row.labels["reason"].as_str()).collect();
        assert_eq!(told, ["CPU_BACKLOG"]);
        none(
            &with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)])),
            "receiver_host_drops",
        );
    }
}
