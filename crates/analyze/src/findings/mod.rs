//! Findings of a record: what the rules conclude from its phases, joined into conclusions.
//!
//! ```text
//! each phase ─► diagnose: each rule, what contradicts it, consequences folded into their causes
//!                  └─► merge: one conclusion of several phases is one finding
//! ```

mod absorb;
pub(crate) mod causes;
mod diagnose;
mod fold;
mod holes;
mod merge;
pub(crate) mod pairs;
pub(crate) mod search;

use sokudo_model::{Finding, Record};

pub use diagnose::diagnose;

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
