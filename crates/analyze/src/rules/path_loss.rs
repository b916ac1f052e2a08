//! Datagrams were lost between the hosts.
//!
//! What the sender's kernel accepted and neither the receiving socket nor the receiving host
//! counted as dropped was lost between them: in a device, a switch, a link, a virtual bridge. Or
//! in a counter that could not be read; then the finding says which.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use std::collections::BTreeSet;

use sokudo_model::{Evidence, Finding, FlowResult, Text, Unit};

use super::unreachable;
use crate::quantities::datagrams::lost;
use crate::rule::{Look, Purpose, Rule, Suspect};
use crate::view::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;

const LOST: Metric = datagram::LOST_ON_PATH_PACKETS;

/// Metrics with which the workload itself tells other places of loss apart. Where one is missing,
/// the path is blamed for what may have happened there.
const OTHER_PLACES: [Metric; 2] = [
    datagram::LOST_AT_RECEIVER_SOCKET_PACKETS,
    datagram::LOST_AT_RECEIVER_HOST_PACKETS,
];

/// Device counters: message, name, and whether the sending host's is meant.
const DEVICES: [(&str, Metric, bool); 3] = [
    ("evidence-nic-send-drops", host::NIC_SEND_DROPS, true),
    ("evidence-nic-receive-drops", host::NIC_RECEIVE_DROPS, false),
    ("evidence-nic-errors", host::NIC_ERRORS, false),
];

/// The finding `path_loss`.
pub const RULE: Rule = Rule {
    name: "path_loss",
    purpose: Purpose::Loss,
    suspects: &[Suspect::tighten("rate")],
    bounds: &[("share", SHARE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (gone, missing) = (view.total(LOST)?, view.missing()?);
    let (flow, there) = view.highest(LOST)?;
    let share = gone / missing.max(1.0);
    // Where no process listens, the path did its work.
    if gone <= 0.0 || share < SHARE || unreachable::nobody_there(view) {
        return None;
    }
    let (severity, weight) = view.weigh_loss(share);
    let (counters, unread) = counters(view, &flow.from, &flow.to);
    let grew = counters.iter().any(|e| e.value.is_some_and(|n| n > 0.0));
    let key = match (grew, unread.is_empty()) {
        (true, _) => "rule-path-loss-device-says",
        (false, true) => "rule-path-loss-says",
        (false, false) => "rule-path-loss-undetermined-says",
    };
    let mut says = Text::new(key)
        .text("lost", lost(share))
        .number("share", share, Unit::Ratio)
        .text("path", path(view, flow));
    if key == "rule-path-loss-undetermined-says" {
        says = says.word("names", unread.join(", "));
    }
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-lost-on-path", LOST, &flow.to, there));
    evidence.extend(counters);
    evidence.extend(loss_runs(view));
    name_what_lacks(evidence, &unread);
    let remedy = Text::new("remedy-path")
        .word("from", &flow.from)
        .word("to", &flow.to);
    finding.next = Some(view.loss_next(remedy));
    Some(finding)
}

/// Between whom: one pair of hosts, or several and the worst of them.
fn path(view: &PhaseView<'_>, worst: &FlowResult) -> Text {
    let lossy = view.values(LOST).filter(|(_, lost)| *lost > 0.0);
    let pairs: BTreeSet<(&str, &str)> = lossy
        .map(|(flow, _)| (flow.from.as_str(), flow.to.as_str()))
        .collect();
    let text = match pairs.len() {
        2.. => Text::new("path-many").number("count", pairs.len() as f64, Unit::One),
        _ => Text::new("path-one"),
    };
    text.word("from", &worst.from).word("to", &worst.to)
}

/// Counters of the devices of both ends, and the names of those that could not be read.
fn counters(view: &PhaseView<'_>, from: &str, to: &str) -> (Vec<Evidence>, Vec<String>) {
    let mut evidence = Vec::new();
    let mut unread: Vec<String> = OTHER_PLACES
        .into_iter()
        .filter(|metric| view.total(*metric).is_none())
        .map(String::from)
        .collect();
    for (key, metric, at_sender) in DEVICES {
        match view.grown(key, metric, if at_sender { from } else { to }) {
            Some(grown) => evidence.push(grown),
            None => unread.push(metric.into()),
        }
    }
    (evidence, unread)
}

/// Whether losses come singly or in runs, which tells noise from full queues.
fn loss_runs(view: &PhaseView<'_>) -> Option<Evidence> {
    const RUNS: Metric = datagram::LOSS_RUN_PACKETS;
    let runs = view
        .phase
        .result
        .histograms
        .get(RUNS.name)
        .filter(|h| h.n > 0)?;
    let mut evidence = view.evidence("evidence-loss-runs", RUNS, "", runs.mean);
    evidence.says = Text::new("evidence-loss-runs")
        .number("value", runs.mean, Unit::Packets)
        .number("max", runs.max, Unit::Packets);
    evidence.host = None;
    Some(evidence)
}

#[cfg(test)]
mod tests {
    use crate::tests::*;

    #[test]
    fn unexplained_loss_says_what_could_not_be_read() {
        let record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
        let finding = one(&record, "path_loss");
        assert_eq!(finding.says.key, "rule-path-loss-undetermined-says");
        assert_eq!(finding.severity, Severity::Info, "no rate was asked for");
        let Arg::Word(names) = &finding.says.args["names"] else {
            panic!()
        };
        assert!(names.contains("host.nic_send_drops"), "{names}");
        none(
            &with_flow(&losing(1e4, &[("lost_at_receiver_socket_packets", 1e4)])),
            "path_loss",
        );
    }

    #[test]
    fn path_loss_with_silent_counters_is_the_paths() {
        let mut record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
        add_series(
            &mut record,
            "hosta",
            "host.nic_send_drops",
            &[("device", "eth0")],
            7.0,
            7.0,
        );
        for metric in ["host.nic_receive_drops", "host.nic_errors"] {
            add_series(&mut record, "hostb", metric, &[], 7.0, 7.0);
        }
        let runs = HistogramSummary {
            n: 100,
            mean: 3.0,
            max: 9.0,
            ..HistogramSummary::default()
        };
        let result = &mut record.manifest.phases[0].result;
        result
            .histograms
            .insert("datagram.loss_run_packets".into(), runs);
        let finding = one(&record, "path_loss");
        assert_eq!(finding.says.key, "rule-path-loss-says");
        has_metric(&finding, "datagram.loss_run_packets");
    }

    #[test]
    fn a_socket_that_counts_no_drops_leaves_the_place_of_loss_open() {
        let changes = [
            ("missing_packets", 1e4),
            ("received_packets", 9.9e5),
            ("lost_at_receiver_host_packets", 0.0),
            ("lost_on_path_packets", 1e4),
        ];
        let mut record = with_flow(&changes);
        add_series(&mut record, "hosta", "host.nic_send_drops", &[], 0.0, 0.0);
        for metric in ["host.nic_receive_drops", "host.nic_errors"] {
            add_series(&mut record, "hostb", metric, &[], 0.0, 0.0);
        }
        let says = one(&record, "path_loss").says;
        let names = Arg::Word("datagram.lost_at_receiver_socket_packets".into());
        assert_eq!(says.args["names"], names);
    }

    #[test]
    fn path_loss_with_growing_counters_points_at_the_device() {
        let mut record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
        add_series(
            &mut record,
            "hosta",
            "host.nic_send_drops",
            &[("device", "eth0")],
            0.0,
            9e3,
        );
        assert_eq!(
            one(&record, "path_loss").says.key,
            "rule-path-loss-device-says"
        );
    }
}
