//! Was a host too busy with other things for its numbers to be its best?
//!
//! Three independent signs: threads of the test were ready to run and had no CPU (schedstat), the
//! hypervisor gave the host's time to others (steal), tasks stalled for CPU (pressure).

use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use super::Rule;
use crate::phase::{PhaseView, name_what_lacks};

/// Shares of the time from which each sign counts.
const WAITING: f64 = 0.05;
const STOLEN: f64 = 0.02;
const PRESSED: f64 = 0.25;
/// Share of time from which the sign weighs in full.
const HEAVY: f64 = 0.5;

/// See the module.
pub struct HostBusy;

/// A sign of a busy host.
struct Sign {
    evidence: Evidence,
    share: f64,
    host: String,
    /// Message about the host when this is the strongest sign.
    says: &'static str,
    counts: bool,
}

impl Rule for HostBusy {
    fn name(&self) -> &'static str {
        "host_busy"
    }

    fn question(&self) -> &'static str {
        "was a host too busy with other things for its numbers to be its best?"
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let signs = signs(view);
        let strongest = signs
            .iter()
            .filter(|sign| sign.counts)
            .max_by(|a, b| a.share.total_cmp(&b.share));
        let Some(strongest) = strongest else { return };
        let (host, says, share) = (strongest.host.clone(), strongest.says, strongest.share);
        let text = Text::new(says)
            .word("host", &host)
            .number("share", share, Unit::Ratio);
        let weight = 0.2 + 0.4 * (share / HEAVY).min(1.0);
        let mut finding = view.finding(self.name(), Severity::Caution, weight, text);
        // The sign that the sentence is about comes first; the others follow, loud or quiet.
        let (first, rest): (Vec<Sign>, Vec<Sign>) = signs
            .into_iter()
            .partition(|sign| sign.says == says && sign.host == host);
        let others = rest
            .into_iter()
            .filter(|sign| sign.host == host || sign.counts);
        finding.evidence = first
            .into_iter()
            .chain(others)
            .map(|s| s.evidence)
            .collect();
        name_what_lacks(
            &mut finding.evidence,
            "host.cpu_ratio, host.pressure_ratio, self.wait_ratio",
        );
        let next = match says {
            "rule-host-busy-steal-says" => "rule-host-busy-steal-next",
            _ => "rule-host-busy-next",
        };
        finding.next = Some(Text::new(next).word("host", host));
        out.push(finding);
    }
}

/// Every sign that the record holds.
fn signs(view: &PhaseView<'_>) -> Vec<Sign> {
    const WAITS: &str = "rule-host-busy-wait-says";
    let mut signs = Vec::new();
    let sender = view.highest("datagram.sender_wait_ratio");
    signs.extend(sender.map(|(flow, share)| {
        let metric = "datagram.sender_wait_ratio";
        sign(
            view.evidence("evidence-sender-wait", metric, &flow.from, share),
            WAITS,
            WAITING,
        )
    }));
    let receiver = view.highest("datagram.receiver_wait_ratio");
    signs.extend(receiver.map(|(flow, share)| {
        let metric = "datagram.receiver_wait_ratio";
        sign(
            view.evidence("evidence-receiver-wait", metric, &flow.to, share),
            WAITS,
            WAITING,
        )
    }));
    let gauges = [
        (
            "evidence-self-wait",
            "self.wait_ratio",
            vec![],
            WAITS,
            WAITING,
        ),
        (
            "evidence-steal",
            "host.cpu_ratio",
            vec![("core", "all"), ("state", "steal")],
            "rule-host-busy-steal-says",
            STOLEN,
        ),
        (
            "evidence-pressure",
            "host.pressure_ratio",
            vec![("resource", "cpu"), ("kind", "some")],
            "rule-host-busy-pressure-says",
            PRESSED,
        ),
    ];
    for (key, metric, labels, says, bound) in gauges {
        if let Some((series, share)) = view.highest_mean(None, metric, &labels) {
            let mut evidence = view.evidence(key, metric, &series.key.host, share);
            evidence.labels = series.key.labels.clone();
            signs.push(sign(evidence, says, bound));
        }
    }
    signs
}

fn sign(evidence: Evidence, says: &'static str, bound: f64) -> Sign {
    let share = evidence.value.unwrap_or(0.0);
    let host = evidence.host.clone().unwrap_or_default();
    Sign {
        evidence,
        share,
        host,
        says,
        counts: share >= bound,
    }
}
