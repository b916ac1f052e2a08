//! Which conclusion about a phase is only the consequence of another?
//!
//! A sender that is short of CPU sends late. Told as two findings, the second sends its reader
//! after a rate that is not at fault.

use sokudo_model::{Finding, Text};

use crate::machine;
use crate::phase::{KEPT_WAITING, PhaseView, word};

/// Folds consequences into their causes: one finding with the evidence of both.
pub fn fold(view: &PhaseView<'_>, findings: &mut Vec<Finding>) {
    let at = |rule: &str| findings.iter().position(|f| f.rule == rule);
    let (Some(cause), Some(consequence)) = (at("host_busy"), at("generator_limited")) else {
        return;
    };
    let so = match findings[consequence].says.key.as_str() {
        "rule-generator-limited-short-says" => "rule-host-busy-so-short",
        "rule-generator-limited-late-says" => "rule-host-busy-so-late",
        _ => return,
    };
    if !explains(view, &findings[cause], &findings[consequence]) {
        return;
    }
    let consequence = findings.remove(consequence);
    let Some(cause) = findings.iter_mut().find(|f| f.rule == "host_busy") else {
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
    for evidence in consequence.evidence {
        if !cause.evidence.contains(&evidence) {
            cause.evidence.push(evidence);
        }
    }
}

/// True when the sender that falls behind is short of CPU itself, or stands on the machine that is.
fn explains(view: &PhaseView<'_>, cause: &Finding, consequence: &Finding) -> bool {
    let (Some(sender), Some(busy)) = (word(&consequence.says, "host"), word(&cause.says, "host"))
    else {
        return false;
    };
    let waited = view.highest_at_sender(sender, "datagram.sender_wait_ratio");
    waited.is_some_and(|share| share >= KEPT_WAITING)
        || sender == busy
        || machine::neighbours(view.record, sender).contains(&busy)
}
