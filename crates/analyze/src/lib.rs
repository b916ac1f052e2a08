//! What do the numbers of a record mean, can they be trusted, and what should be tried next?
//!
//! A record in; findings, checks and the verdict out. Nothing here opens a file, reads a clock or
//! speaks a language: sentences are [`Text`](sokudo_model::Text)s whose words stand in
//! `locales/<language>/analyze.ftl`.
//!
//! ```text
//! record ─► each phase ─► each rule of rules::REGISTRY ─► findings, strongest first ─┐
//!    └────► checks: do the numbers add up? ──────────────────────────────────────────┴─► verdict
//! ```

mod checks;
mod phase;
pub mod rules;
mod verdict;

#[cfg(test)]
mod tests;

use sokudo_model::{Finding, Record};

pub use checks::checks;
pub use phase::PhaseView;
pub use rules::{REGISTRY, Rule};
pub use verdict::verdict;

/// Findings that one record may hold: a run of very many phases does not drown its reader.
const MAX_FINDINGS: usize = 200;

/// Every conclusion that the rules draw from `record`, strongest first: by severity, then weight.
///
/// A conclusion about the set-up that many phases share (a buffer smaller than asked for, say)
/// appears once, for the phase where it weighs most.
pub fn findings(record: &Record) -> Vec<Finding> {
    let mut all = Vec::new();
    for phase in &record.manifest.phases {
        let view = PhaseView::new(record, phase);
        for rule in REGISTRY {
            rule.diagnose(&view, &mut all);
        }
    }
    all.sort_by(|a, b| {
        let weight = b.weight.total_cmp(&a.weight);
        b.severity.cmp(&a.severity).then(weight)
    });
    let mut kept: Vec<Finding> = Vec::new();
    for finding in all {
        if kept.len() < MAX_FINDINGS && !said_already(&finding, &kept) {
            kept.push(finding);
        }
    }
    kept
}

fn said_already(finding: &Finding, kept: &[Finding]) -> bool {
    let mut rules = REGISTRY.iter().filter(|rule| rule.name() == finding.rule);
    let same = |k: &Finding| k.rule == finding.rule && k.says == finding.says;
    rules.any(|rule| rule.is_about_setup()) && kept.iter().any(same)
}
