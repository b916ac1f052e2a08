//! A host's own packet filter dropped what arrived there, or what it was to send.
//!
//! ```text
//!  device ─► IpInReceives ─► filter, routing ─► IpInDelivers ─► TCP/UDP
//!  device ◄─ IpOutTransmits ◄─ filter ◄──────── IpOutRequests ◄─ TCP/UDP
//! ```
//!
//! The kernel counts packets before and after the hooks of its filter (nftables, iptables). What is missing
//! between the two counters, and was neither forwarded nor put together of fragments, the host itself dropped.

use sokudo_model::kinds::Family;
use sokudo_model::metric::Stat;
use sokudo_model::metrics::host;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::events;
use crate::quantities::exchange::Exchange;
use crate::quantities::harm::Harm;
use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Packets from which they are not an accident.
const OFTEN: f64 = 10.0;
/// Share of what did not arrive the first time, from which this is an explanation.
const SHARE: f64 = 0.2;

/// Share of the packets that reach a host, from which answers over TCP are late by those that it drops.
const LATE: f64 = 0.005;
/// Message about these: the far end sends them again, which only its own counters show.
const LATE_SAYS: &str = "rule-filter-drops-late-says";

/// A side of the filter: message, counters before it, counters of what passed or went elsewhere.
struct Side {
    says: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    /// Fragments: one packet before them is several after them, or several are one.
    fragments: &'static [&'static str],
}

const SIDES: [Side; 2] = [
    Side {
        says: "rule-filter-drops-in-says",
        before: &["IpInReceives", "Ip6InReceives"],
        after: &[
            "IpInDelivers",
            "Ip6InDelivers",
            "IpForwDatagrams",
            "Ip6OutForwDatagrams",
            "IpInHdrErrors",
            "Ip6InHdrErrors",
            "IpInAddrErrors",
            "Ip6InAddrErrors",
            "IpExtInTruncatedPkts",
            "IpExtInCsumErrors",
        ],
        fragments: &["IpReasmReqds", "Ip6ReasmReqds"],
    },
    Side {
        says: "rule-filter-drops-out-says",
        before: &["IpOutRequests", "Ip6OutRequests"],
        after: &[
            "IpOutTransmits",
            "Ip6OutTransmits",
            "IpOutDiscards",
            "IpOutNoRoutes",
        ],
        fragments: &["IpFragCreates", "Ip6FragCreates"],
    },
];

/// The kernel's reasons for what filters drop (`enum skb_drop_reason`).
const REASONS_OF_FILTERS: &[&str] = &[
    "NETFILTER_DROP",
    "IP_RPFILTER",
    "SOCKET_FILTER",
    "BPF_CGROUP_EGRESS",
    "TC_INGRESS",
    "TC_EGRESS",
    "XDP",
];

/// The finding `filter_drops`.
pub const RULE: Rule = Rule {
    name: "filter_drops",
    purpose: Purpose::Loss,
    suspects: &[],
    bounds: &[
        ("often", OFTEN, Unit::One),
        ("share", SHARE, Unit::Ratio),
        ("late", LATE, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    refused(view).or_else(|| dropped(view))
}

/// A load whose first send was refused: the filter answers the program itself.
fn refused(view: &PhaseView<'_>) -> Option<Finding> {
    const REASONS: [&str; 2] = ["error", "sender_error"];
    let is_refused = |flow: &&FlowResult| {
        let mut errors = REASONS.iter().filter_map(|label| flow.labels.get(*label));
        errors.any(|error| error.contains("Operation not permitted"))
    };
    let flow = view.flows().iter().find(is_refused)?;
    let says = Text::new("rule-filter-drops-refused-says").word("host", &flow.from);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.95, says);
    let requests = ["IpOutRequests", "Ip6OutRequests"];
    let sent = events::counted(view, &flow.from, &requests);
    finding.evidence.push(Evidence {
        says: Text::new("evidence-send-refused").word("host", &flow.from),
        source: "sendmsg".into(),
        host: Some(flow.from.clone()),
        metric: None,
        labels: Default::default(),
        value: None,
        unit: None,
    });
    let row = |grown| events::evidence(&flow.from, "IpOutRequests", grown);
    finding.evidence.extend(sent.map(row));
    name_what_lacks(&mut finding.evidence, &[host::PROTOCOL_EVENTS]);
    finding.next = Some(Text::new("rule-filter-drops-next").word("host", &flow.from));
    Some(finding)
}

fn dropped(view: &PhaseView<'_>) -> Option<Finding> {
    let each = view
        .hosts()
        .into_iter()
        .flat_map(|host| SIDES.iter().map(move |side| (host, side)));
    let lost = each.filter_map(|(host, side)| Some((host, side, side.dropped(view, host)?)));
    let worst = lost.filter(|(_, _, lost)| *lost >= OFTEN);
    let (host, side, lost) = worst.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let harm = Harm::between(view, host);
    let explained = harm.as_ref().map(|harm| harm.share(lost));
    let explained = explained.or_else(|| Some((lost / Harm::failed(view)?).min(1.0)));
    let (says, share, weight) = match explained {
        Some(share) => (side.says, share, 0.35 + 0.6 * share),
        None => (LATE_SAYS, side.of_answers(view, host, lost)?, 0.95),
    };
    if explained.is_some_and(|share| share < SHARE) {
        return None;
    }
    let says = Text::new(says)
        .word("host", host)
        .number("count", lost, Unit::Packets)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Bad, weight, says);
    finding.evidence = harm.map_or_else(|| slowest(view), |harm| harm.evidence);
    for counter in side.before.iter().chain(side.after) {
        let grown = events::counted(view, host, &[counter]).filter(|grown| *grown > 0.0);
        finding
            .evidence
            .extend(grown.map(|grown| events::evidence(host, counter, grown)));
    }
    finding
        .evidence
        .extend(view.kernel_drops(host, REASONS_OF_FILTERS));
    finding.next = Some(Text::new("rule-filter-drops-next").word("host", host));
    Some(finding)
}

/// How late the slowest answers of a load are.
fn slowest(view: &PhaseView<'_>) -> Vec<Evidence> {
    let row = || {
        let exchange = Exchange::of(*view)?;
        let (flow, service) = (view.flows().first()?, exchange.numbers.service);
        view.stat_evidence("evidence-service-p99", service, Stat::P99, &flow.to)
    };
    row().into_iter().collect()
}

impl Side {
    /// Packets that a host dropped on this side; `None` where the counters do not tell.
    fn dropped(&self, view: &PhaseView<'_>, host: &str) -> Option<f64> {
        let before = events::counted(view, host, self.before)?;
        let after = events::counted(view, host, &self.after[..2])?;
        let elsewhere = events::counted(view, host, &self.after[2..])?;
        let has_fragments = events::counted(view, host, self.fragments)? > 0.0;
        // Kernels before 6.7 do not count what leaves.
        let is_counted = before > 0.0 && after > 0.0;
        (is_counted && !has_fragments).then_some(before - after - elsewhere)
    }

    /// Share of the arriving packets that was dropped, where a load waits for answers and nothing failed by it.
    fn of_answers(&self, view: &PhaseView<'_>, host: &str, lost: f64) -> Option<f64> {
        let waits = matches!(view.kind()?.family, Family::Exchange(_));
        let arrived = events::counted(view, host, self.before)?;
        let share = lost / arrived.max(1.0);
        (waits && self.says == SIDES[0].says && share >= LATE).then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::Scene;
    use crate::tests::*;

    #[test]
    fn what_the_hosts_own_filter_dropped_was_not_lost_on_the_path() {
        let lost = losing(2e5, &[("lost_on_path_packets", 2e5)]);
        let counted = |received: f64, delivered: f64| {
            let mut record = with_flow(&lost);
            for (counter, value) in [("IpInReceives", received), ("IpInDelivers", delivered)] {
                let labels = [("counter", counter)];
                let metric = "host.protocol_events";
                add_series(&mut record, "hostb", metric, &labels, 0.0, value);
            }
            record
        };
        let record = counted(1e6, 8e5);
        let finding = one(&record, "filter_drops");
        check_texts(&finding);
        assert_eq!(
            limit(&record).map(|f| f.rule).as_deref(),
            Some("filter_drops")
        );
        none(&record, "path_loss");
        // The same loss before the host.
        none(&counted(8e5, 8e5), "filter_drops");
    }

    /// The far end sends again what the filter drops, and nothing fails.
    #[test]
    fn answers_that_the_filter_drops_are_late() {
        let dropping = |dropped: f64| {
            let mut scene = Scene::of("http").total("requests", 9_000.0);
            for (counter, grown) in [
                ("IpInReceives", 4e4),
                ("IpInDelivers", 4e4 - dropped),
                ("IpOutRequests", 4e4),
                ("IpOutTransmits", 4e4),
            ] {
                let labels = [("counter", counter)];
                let record = &mut scene.record;
                add_series(record, "hosta", "host.protocol_events", &labels, 0.0, grown);
            }
            scene.record
        };
        let finding = one(&dropping(800.0), "filter_drops");
        check_texts(&finding);
        assert_eq!(finding.says.key, super::LATE_SAYS);
        // What a host drops of the noise of a network.
        none(&dropping(100.0), "filter_drops");
    }

    #[test]
    fn a_send_that_the_filter_refuses_names_it() {
        let mut record = with_flow(&[]);
        let flow = &mut record.manifest.phases[0].result.flows[0];
        flow.complete = false;
        let error = "sending failed: Operation not permitted (os error 1)";
        flow.labels.insert("sender_error".into(), error.into());
        let finding = one(&record, "filter_drops");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-filter-drops-refused-says");
    }
}
