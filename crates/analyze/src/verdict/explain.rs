//! Everything that decides what limited a run.

use sokudo_model::{Finding, PhaseRecord, Record};

use crate::findings::causes::Causes;
use crate::quantities::lacking::lacking;
use crate::rule::Suspect;
use crate::rules;
use crate::view::PhaseView;

/// The limit of the phase that the verdict is about, and how it was reached.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The phase.
    pub phase: &'a PhaseRecord,
    /// Its causes: named, suspected, refuted.
    pub causes: Causes,
    /// Names of the metrics that rules would have read and the record does not hold.
    pub missing: Vec<String>,
}

impl<'a> Explanation<'a> {
    /// Explains the limit of one phase.
    pub fn of(record: &'a Record, phase: &'a PhaseRecord) -> Self {
        let view = PhaseView::new(record, phase);
        Self {
            phase,
            causes: Causes::of(&view),
            missing: lacking(&view),
        }
    }

    /// The strongest cause; `None` when the limit is not known.
    pub fn limit(&self) -> Option<&Finding> {
        self.causes.named.first()
    }

    /// Options of the phase's load by which a cause can be put to the test, the best one first.
    pub fn suspects(&self, cause: &Finding) -> Vec<Suspect> {
        let options = self.phase.kind().map_or(&[][..], |kind| kind.options);
        let suspects = rules::known(&cause.rule).map_or(&[][..], |rule| rule.suspects);
        let has = |suspect: &&Suspect| options.contains(&suspect.option) && suspect.tests(cause);
        suspects.iter().filter(has).copied().collect()
    }
}
