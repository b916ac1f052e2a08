//! Consequences that become evidence of their cause.

use sokudo_model::{Evidence, Finding};

/// Removes findings of these rules, and gives their evidence to the first one of `cause`.
pub fn absorb(findings: &mut Vec<Finding>, cause: &str, follows: impl Fn(&Finding) -> bool) {
    if !findings.iter().any(|finding| finding.rule == cause) {
        return;
    }
    let consequences: Vec<Finding> = findings
        .extract_if(.., |finding| finding.rule != cause && follows(finding))
        .collect();
    if let Some(cause) = findings.iter_mut().find(|finding| finding.rule == cause) {
        for consequence in consequences {
            cause.severity = cause.severity.max(consequence.severity);
            add_evidence(cause, consequence.evidence);
        }
    }
}

/// Adds evidence that a finding does not have yet.
pub fn add_evidence(finding: &mut Finding, more: Vec<Evidence>) {
    for evidence in more {
        if !finding.evidence.contains(&evidence) {
            finding.evidence.push(evidence);
        }
    }
}
