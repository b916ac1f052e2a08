//! Were datagrams lost where no counter of either host explains it?
//!
//! What the sender's kernel accepted and neither the receiving socket nor the receiving host
//! counted as dropped was lost between them: in a device, a switch, a link, a virtual bridge. Or
//! in a counter that could not be read; then the finding says which.

use std::collections::BTreeSet;

use sokudo_model::{Evidence, Finding, FlowResult, Text, Unit};

use super::unreachable;
use crate::quantities::datagrams::lost;
use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of the missing datagrams from which this is an explanation.
const SHARE: f64 = 0.05;

/// See the module.
pub struct PathLoss;

const LOST: &str = "datagram.lost_on_path_packets";

/// What the workload itself reads to tell other places of loss apart. Where one is missing, the
/// path is blamed for what may have happened there.
const OTHER_PLACES: [&str; 2] = [
    "datagram.lost_at_receiver_socket_packets",
    "datagram.lost_at_receiver_host_packets",
];

/// Device counters: message, name, and whether the sending host's is meant.
const DEVICES: [(&str, &str, bool); 3] = [
    ("evidence-nic-send-drops", "host.nic_send_drops", true),
    (
        "evidence-nic-receive-drops",
        "host.nic_receive_drops",
        false,
    ),
    ("evidence-nic-errors", "host.nic_errors", false),
];

impl Rule for PathLoss {
    fn name(&self) -> &'static str {
        "path_loss"
    }

    fn question(&self) -> &'static str {
        "were datagrams lost where no counter of either host explains it?"
    }

    fn kind(&self) -> Kind {
        Kind::Loss
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let (Some(gone), Some(missing), Some((flow, there))) =
            (view.total(LOST), view.missing(), view.highest(LOST))
        else {
            return;
        };
        let share = gone / missing.max(1.0);
        // Where nobody listens, the path did its work.
        if gone <= 0.0 || share < SHARE || unreachable::nobody_there(view) {
            return;
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
        let mut finding = view.finding(self.name(), severity, weight, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-lost-on-path", LOST, &flow.to, there));
        evidence.extend(counters);
        evidence.extend(loss_runs(view));
        name_what_lacks(evidence, &unread.join(", "));
        let remedy = Text::new("remedy-path")
            .word("from", &flow.from)
            .word("to", &flow.to);
        finding.next = Some(view.loss_next(remedy));
        out.push(finding);
    }
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

/// What the devices of both ends counted, and the names of what could not be read.
fn counters(view: &PhaseView<'_>, from: &str, to: &str) -> (Vec<Evidence>, Vec<&'static str>) {
    let mut evidence = Vec::new();
    let mut unread: Vec<&str> = OTHER_PLACES
        .into_iter()
        .filter(|metric| view.total(metric).is_none())
        .collect();
    for (key, metric, at_sender) in DEVICES {
        match view.grown(key, metric, if at_sender { from } else { to }) {
            Some(grown) => evidence.push(grown),
            None => unread.push(metric),
        }
    }
    (evidence, unread)
}

/// Whether losses come singly or in runs, which tells noise from full queues.
fn loss_runs(view: &PhaseView<'_>) -> Option<Evidence> {
    const RUNS: &str = "datagram.loss_run_packets";
    let runs = view.phase.result.histograms.get(RUNS).filter(|h| h.n > 0)?;
    let mut evidence = view.evidence("evidence-loss-runs", RUNS, "", runs.mean);
    evidence.says = Text::new("evidence-loss-runs")
        .number("value", runs.mean, Unit::Packets)
        .number("max", runs.max, Unit::Packets);
    evidence.host = None;
    Some(evidence)
}
