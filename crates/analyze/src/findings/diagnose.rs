//! Findings of the rules about one phase of a record.

use sokudo_model::{Finding, PhaseRecord, Record};

use super::fold;
use crate::advice::fit_finding;
use crate::rules::REGISTRY;
use crate::view::PhaseView;

/// Findings of all rules about one phase of `record`, in the order of the rules.
///
/// [`findings`](super::findings) tells a conclusion for the phase where it is strongest; whoever asks about one
/// phase asks here.
pub fn diagnose(record: &Record, phase: &PhaseRecord) -> Vec<Finding> {
    let view = PhaseView::new(record, phase);
    let mut out: Vec<Finding> = REGISTRY
        .iter()
        .flat_map(|rule| rule.diagnose(&view))
        .collect();
    fold::fold(&view, &mut out);
    let fit = |finding| fit_finding(view.kind(), finding);
    out.into_iter().map(fit).collect()
}
