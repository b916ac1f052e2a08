//! The kernel of the sender refused datagrams.
//!
//! `ENOBUFS` says that the device's queue is full, `EAGAIN` that the socket's send buffer is
//! (send(2)). Refused datagrams never left the host; they are not counted as sent.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::{PhaseView, name_what_lacks};

/// Share of refused datagrams from which the rate must be read with care.
const MANY: f64 = 0.001;

const LOST: Metric = datagram::LOST_AT_SENDER_PACKETS;
const REFUSED: Metric = datagram::REFUSED_SENDS;
const GRANTED: Metric = datagram::SEND_BUFFER_GRANTED_BYTES;

/// The finding `sender_refusal`.
pub const RULE: Rule = Rule {
    name: "sender_refusal",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::raise("sndbuf"), Suspect::tighten("rate")],
    bounds: &[("many", MANY, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let lost = view.total(LOST).unwrap_or(0.0);
    let refused = view.total(REFUSED).unwrap_or(0.0);
    let worst = view
        .worst_sender(LOST)
        .filter(|(_, n)| *n > 0.0)
        .or_else(|| view.worst_sender(REFUSED).filter(|(_, n)| *n > 0.0));
    let (host, _) = worst?;
    let share = lost / (lost + view.sent().unwrap_or(0.0)).max(1.0);
    let mut finding = if lost > 0.0 {
        let severity = if share > MANY {
            Severity::Caution
        } else {
            Severity::Info
        };
        let says = Text::new("rule-sender-refusal-says")
            .number("count", lost, Unit::Packets)
            .number("share", share, Unit::Ratio)
            .word("host", host);
        view.finding(RULE.name, severity, 0.2 + share, says)
    } else {
        let says = Text::new("rule-sender-refusal-waited-says")
            .number("count", refused, Unit::One)
            .word("host", host);
        view.finding(RULE.name, Severity::Info, 0.1, says)
    };
    let evidence = &mut finding.evidence;
    for (key, metric) in [
        ("evidence-lost-at-sender", LOST),
        ("evidence-refused-sends", REFUSED),
    ] {
        let at_host = view
            .worst_sender(metric)
            .filter(|(h, n)| *h == host && *n > 0.0);
        evidence.extend(at_host.map(|(_, n)| view.evidence(key, metric, host, n)));
    }
    evidence.extend(view.grown(
        "evidence-udp-send-errors",
        host::UDP_SEND_BUFFER_ERRORS,
        host,
    ));
    evidence.extend(view.grown("evidence-nic-send-drops", host::NIC_SEND_DROPS, host));
    if let Some(granted) = view.highest_at_sender(host, GRANTED) {
        evidence.push(view.evidence("evidence-buffer-granted", GRANTED, host, granted));
    }
    name_what_lacks(
        evidence,
        &[host::UDP_SEND_BUFFER_ERRORS, host::NIC_SEND_DROPS],
    );
    finding.next = Some(Text::new("rule-sender-refusal-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn a_refusing_kernel_limits_the_sender() {
        let changes = [("lost_at_sender_packets", 1e5), ("refused_sends", 1e5)];
        let mut record = with_flow(&changes);
        add_series(
            &mut record,
            "hosta",
            "host.udp_send_buffer_errors",
            &[],
            0.0,
            1e5,
        );
        let finding = one(&record, "sender_refusal");
        assert_eq!(finding.severity, Severity::Caution);
        has_metric(&finding, "host.udp_send_buffer_errors");
        none(
            &with_flow(&[("lost_at_sender_packets", 0.0), ("refused_sends", 0.0)]),
            "sender_refusal",
        );
    }

    #[test]
    fn waiting_for_room_is_no_loss() {
        let finding = one(&with_flow(&[("refused_sends", 12.0)]), "sender_refusal");
        assert_eq!(finding.severity, Severity::Info);
        assert_eq!(finding.says.key, "rule-sender-refusal-waited-says");
    }
}
