//! Findings about a phase that are consequences of another one.
//!
//! A sender that is short of CPU sends late. Told as two findings, the second sends its reader
//! after a rate that is not at fault.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Evidence, Finding, Text};

use crate::quantities::ends::End;
use crate::view::machine;
use crate::view::{KEPT_WAITING, PhaseView, word};

/// Rules that say that a host was short of CPU.
const SHORT_OF_CPU: [&str; 2] = ["neighbour_interference", "host_busy"];

/// Folds consequences into their causes: one finding with the evidence of both.
pub fn fold(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    neighbours_make_it_busy(view, findings);
    own_queue_is_told_once(findings);
    let at = |rule: &str| findings.iter().position(|f| f.rule == rule);
    let cause = SHORT_OF_CPU.into_iter().find_map(at);
    let (Some(cause), Some(consequence)) = (cause, at("generator_limited")) else {
        return;
    };
    let so = match findings[consequence].says.key.as_str() {
        "rule-generator-limited-short-says" => "rule-host-busy-so-short",
        "rule-generator-limited-late-says" => "rule-host-busy-so-late",
        "rule-generator-limited-asks-late-says" => "rule-host-busy-so-asks-late",
        _ => return,
    };
    if !explains(view, &findings[cause], &findings[consequence]) {
        return;
    }
    let consequence = findings.remove(consequence);
    let mut causes = findings.iter_mut();
    let Some(cause) = causes.find(|f| SHORT_OF_CPU.contains(&f.rule.as_str())) else {
        return;
    };
    let so = Text {
        key: so.into(),
        args: consequence.says.args,
    };
    cause.says = Text::new("rule-host-busy-and-says")
        .text("busy", cause.says.clone())
        .text("so", so);
    cause.severity = cause.severity.max(consequence.severity);
    cause.weight = cause.weight.max(consequence.weight);
    add_evidence(cause, consequence.evidence);
}

/// A machine that is busy because of other programs is told once, with who used it.
fn neighbours_make_it_busy(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    let at = |rule: &str| findings.iter().position(|f| f.rule == rule);
    let (Some(cause), Some(busy)) = (at(SHORT_OF_CPU[0]), at(SHORT_OF_CPU[1])) else {
        return;
    };
    let host = |at: usize| word(&findings[at].says, "host");
    let (Some(there), Some(here)) = (host(cause), host(busy)) else {
        return;
    };
    if !machine::with(view.record, there).contains(&here) {
        return;
    }
    let busy = findings.remove(busy);
    if let Some(cause) = findings.iter_mut().find(|f| f.rule == SHORT_OF_CPU[0]) {
        add_evidence(cause, busy.evidence);
    }
}

/// A sender that a queue on its own host holds back looks limited by the path, by loss or by its socket, as one
/// whose kernel refuses what it sends, or as one that cannot keep its rate: told once, with where the queue is.
fn own_queue_is_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 4] = [
        "loss_limited",
        "path_limited",
        "send_buffer_limited",
        "sender_refusal",
    ];
    const HELD_BACK: [&str; 2] = [
        "rule-generator-limited-short-says",
        "rule-generator-limited-late-says",
    ];
    let is_queue = |finding: &Finding| finding.rule == "device_queue";
    let Some(queue) = findings.iter().find(|finding| is_queue(finding)) else {
        return;
    };
    let Some(own) = word(&queue.says, "host").map(str::to_owned) else {
        return;
    };
    let dropped = value_of(queue, host::QDISC_DROPS).unwrap_or(0.0);
    let follows = |finding: &mut Finding| {
        let sender = word(&finding.says, "from").or_else(|| word(&finding.says, "host"));
        let follows = CONSEQUENCES.contains(&finding.rule.as_str())
            || HELD_BACK.contains(&finding.says.key.as_str())
            || vanished_in(dropped, finding);
        follows && sender == Some(own.as_str())
    };
    let consequences: Vec<Finding> = findings.extract_if(.., follows).collect();
    if let Some(queue) = findings.iter_mut().find(|finding| is_queue(finding)) {
        for consequence in consequences {
            queue.severity = queue.severity.max(consequence.severity);
            add_evidence(queue, consequence.evidence);
        }
    }
}

/// True for loss on the path of which a queue that dropped so much explains the greater part.
fn vanished_in(dropped: f64, finding: &Finding) -> bool {
    let lost = value_of(finding, datagram::LOST_ON_PATH_PACKETS);
    finding.rule == "path_loss" && lost.is_some_and(|lost| dropped >= lost / 2.0)
}

fn value_of(finding: &Finding, metric: Metric) -> Option<f64> {
    let mut rows = finding.evidence.iter();
    rows.find(|row| row.metric.as_deref() == Some(metric.name))?
        .value
}

fn add_evidence(finding: &mut Finding, more: Vec<Evidence>) {
    for evidence in more {
        if !finding.evidence.contains(&evidence) {
            finding.evidence.push(evidence);
        }
    }
}

/// True when the sender that falls behind is short of CPU itself, or stands on the machine that is.
fn explains(view: &PhaseView<'_>, cause: &Finding, consequence: &Finding) -> bool {
    let (Some(sender), Some(busy)) = (word(&consequence.says, "host"), word(&cause.says, "host"))
    else {
        return false;
    };
    let waiting = view.kind().and_then(|kind| End::Sender.wait(kind));
    let waited = waiting.and_then(|waiting| view.highest_at_sender(sender, waiting));
    waited.is_some_and(|share| share >= KEPT_WAITING)
        || sender == busy
        || machine::neighbours(view.record, sender).contains(&busy)
}
