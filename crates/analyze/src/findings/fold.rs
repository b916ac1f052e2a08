//! Findings about a phase that are consequences of another one.
//!
//! A sender that is short of CPU sends late. Told as two findings, the second sends its reader
//! after a rate that is not at fault.

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

/// What a connection makes of a queue on its own host looks like a limit of the path, of loss, or of the
/// socket: told once, with where the queue is.
fn own_queue_is_told_once(findings: &mut Vec<Finding>) {
    const CONSEQUENCES: [&str; 3] = ["path_limited", "loss_limited", "send_buffer_limited"];
    let is_queue = |finding: &Finding| finding.rule == "device_queue";
    let Some(host) = findings.iter().find(|finding| is_queue(finding)) else {
        return;
    };
    let Some(host) = word(&host.says, "host").map(str::to_owned) else {
        return;
    };
    let follows = |finding: &mut Finding| {
        let sender = word(&finding.says, "from").or_else(|| word(&finding.says, "host"));
        CONSEQUENCES.contains(&finding.rule.as_str()) && sender == Some(host.as_str())
    };
    let consequences: Vec<Finding> = findings.extract_if(.., follows).collect();
    if let Some(queue) = findings.iter_mut().find(|finding| is_queue(finding)) {
        for consequence in consequences {
            add_evidence(queue, consequence.evidence);
        }
    }
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
