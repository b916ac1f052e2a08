//! Findings of the rules about one phase of a record.

use sokudo_model::{Finding, PhaseRecord, Record};

use super::fold;
use crate::advice::fit_finding;
use crate::contradictions;
use crate::rules::REGISTRY;
use crate::view::PhaseView;

/// Conclusions of the rules about one phase.
pub struct Weighed {
    /// Those that hold, in the order of the rules.
    pub held: Vec<Finding>,
    /// Those that an observation refutes.
    pub refuted: Vec<Finding>,
}

/// Findings of all rules about one phase of `record` that nothing refutes, in the order of the rules.
///
/// [`findings`](super::findings) tells a conclusion for the phase where it is strongest; a question about one
/// phase asks here.
pub fn diagnose(record: &Record, phase: &PhaseRecord) -> Vec<Finding> {
    weigh(record, phase).held
}

/// The same, and those that were refuted.
pub fn weigh(record: &Record, phase: &PhaseRecord) -> Weighed {
    let view = PhaseView::new(record, phase);
    let drawn = REGISTRY.iter().flat_map(|rule| rule.diagnose(&view));
    let (mut held, mut refuted) = (Vec::new(), Vec::new());
    for mut finding in drawn {
        match contradictions::withstands(&view, &mut finding) {
            true => held.push(finding),
            false => refuted.push(finding),
        }
    }
    fold::fold(&view, &mut held);
    let fit = |all: Vec<Finding>| -> Vec<Finding> {
        let fit = |finding| fit_finding(&view, finding);
        all.into_iter().map(fit).collect()
    };
    Weighed {
        held: fit(held),
        refuted: fit(refuted),
    }
}
