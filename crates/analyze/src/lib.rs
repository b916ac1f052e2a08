//! What do the numbers of a record mean, can they be trusted, and what should be tried next?
//!
//! A record in; findings, checks and the verdict out. Nothing here opens a file, reads a clock or
//! speaks a language: sentences are [`Text`](sokudo_model::Text)s whose words stand in
//! `locales/<language>/analyze.ftl`.
//!
//! ```text
//! record ─► each phase ─► each rule of rules::REGISTRY ─► consequences folded into their causes
//!    │                                                            │
//!    │                       findings, strongest first ◄── one conclusion = one finding
//!    └────► checks: do the numbers add up, was the bound kept? ───┴─► verdict
//! ```

mod audit;
mod checks;
mod exchange;
pub mod experiment;
mod fold;
pub mod layers;
mod load;
mod machine;
mod merge;
pub mod pairs;
mod phase;
mod probe;
pub mod rules;
mod search;
pub mod sweep;
mod tcp;
mod thread_limit;
mod transfer;
mod verdict;

#[cfg(test)]
mod tests;

use sokudo_model::{Finding, PhaseRecord, Record};

pub use checks::checks;
pub use phase::PhaseView;
pub use rules::{REGISTRY, Rule};
pub use verdict::{limit, verdict};

/// Findings that one record may hold: a run of very many phases does not drown its reader.
const MAX_FINDINGS: usize = 200;

/// Every conclusion that the rules draw from `record`, strongest first: by severity, then weight.
///
/// One conclusion is one finding: what a rule concludes about the same host or path in several
/// phases is told for the phase where it is strongest, and the last row of its evidence names the
/// others.
pub fn findings(record: &Record) -> Vec<Finding> {
    let phases = record.manifest.phases.iter();
    let drawn = phases.flat_map(|phase| diagnose(record, phase)).collect();
    let mut all = merge::merge(record, drawn);
    all.extend(pairs::findings(record));
    all.sort_by(|a, b| {
        let weight = b.weight.total_cmp(&a.weight);
        b.severity.cmp(&a.severity).then(weight)
    });
    all.truncate(MAX_FINDINGS);
    all
}

/// What the rules conclude from one phase of `record`, in the order of the rules.
///
/// [`findings`] tells a conclusion for the phase where it is strongest; whoever asks about one
/// phase asks here.
pub fn diagnose(record: &Record, phase: &PhaseRecord) -> Vec<Finding> {
    let view = PhaseView::new(record, phase);
    let mut out = Vec::new();
    for rule in REGISTRY {
        rule.diagnose(&view, &mut out);
    }
    fold::fold(&view, &mut out);
    out
}
