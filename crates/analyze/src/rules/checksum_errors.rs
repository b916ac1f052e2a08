//! Packets arrived with a wrong checksum and were dropped.
//!
//! The kernel counts them per protocol and, for UDP, also as drops of the socket, where they look like a full
//! buffer. TCP sends such segments again: it looks like loss on the way.

use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::events::{self, CHECKSUM_ERRORS};
use crate::quantities::harm::Harm;
use crate::rule::{Look, Purpose, Rule, Suspect};
use crate::view::PhaseView;

/// Errors from which they are not an accident.
const OFTEN: f64 = 10.0;
/// Share of what did not arrive the first time, from which this is an explanation.
const SHARE: f64 = 0.2;

/// The finding `checksum_errors`.
pub const RULE: Rule = Rule {
    name: "checksum_errors",
    purpose: Purpose::Loss,
    suspects: &[Suspect::leave_out("transport")],
    bounds: &[("often", OFTEN, Unit::One), ("share", SHARE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let worst = view.hosts().into_iter().filter_map(|host| {
        let grown = events::counted(view, host, CHECKSUM_ERRORS)
            .or_else(|| view.increase(host, host::UDP_CHECKSUM_ERRORS))?;
        (grown >= OFTEN).then_some((host, grown))
    });
    let (host, grown) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let harm = Harm::between(view, host)?;
    let share = harm.share(grown);
    if share < SHARE {
        return None;
    }
    let says = Text::new("rule-checksum-errors-says")
        .word("host", host)
        .number("count", grown, Unit::Packets)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.35 + 0.6 * share, says);
    finding.evidence = harm.evidence;
    let counters = CHECKSUM_ERRORS.iter().filter_map(|counter| {
        let grown = events::counted(view, host, &[counter]).filter(|grown| *grown > 0.0)?;
        Some(events::evidence(host, counter, grown))
    });
    finding.evidence.extend(counters);
    finding.evidence.extend(view.grown(
        "evidence-checksum-errors",
        host::UDP_CHECKSUM_ERRORS,
        host,
    ));
    let reasons = ["UDP_CSUM", "TCP_CSUM", "IP_CSUM", "ICMP_CSUM", "SKB_CSUM"];
    finding.evidence.extend(view.kernel_drops(host, &reasons));
    finding.next = Some(Text::new("rule-checksum-errors-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn datagrams_with_wrong_checksums_did_not_find_a_full_buffer() {
        let mut record = with_flow(&losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]));
        let events = [("counter", "UdpInCsumErrors")];
        let metric = "host.protocol_events";
        add_series(&mut record, "hostb", metric, &events, 0.0, 5e4);
        for (metric, value) in [
            ("host.udp_checksum_errors", 5e4),
            ("host.udp_receive_buffer_errors", 0.0),
        ] {
            add_series(&mut record, "hostb", metric, &[], 0.0, value);
        }
        let limit = limit(&record).expect("it is known");
        assert_eq!(limit.rule, "checksum_errors");
        none(&record, "receiver_buffer_overflow");
    }

    #[test]
    fn segments_with_wrong_checksums_were_not_lost_on_the_way() {
        let tcp = Tcp {
            lost: 0.01,
            ..SENDING
        };
        let mut scene = between().tcp(tcp);
        let events = [("counter", "TcpInCsumErrors")];
        let metric = "host.protocol_events";
        add_series(&mut scene.record, "hostb", metric, &events, 0.0, 950.0);
        scene.limited_by("checksum_errors");
        scene.without("loss_limited");
    }
}
