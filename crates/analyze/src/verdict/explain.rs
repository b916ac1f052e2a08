//! Everything that decides what limited a run.

use sokudo_model::proof::{Outcome, Proof};
use sokudo_model::{Finding, PhaseRecord, Record, Text, Unit};

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
    /// Tests of its causes, in their order.
    pub proofs: Vec<&'a Proof>,
    /// Names of the metrics that rules would have read and the record does not hold.
    pub missing: Vec<String>,
}

/// Tests of the causes of a phase, in their order.
fn proofs<'a>(record: &'a Record, phase: &PhaseRecord) -> Vec<&'a Proof> {
    let proofs = record.manifest.proofs.iter();
    proofs.filter(|proof| proof.phase == phase.name).collect()
}

/// Change, effect and outcome of a test of a cause.
pub fn tested(proof: &Proof) -> Text {
    let outcome = match proof.outcome {
        Outcome::Confirmed => "proof-confirmed",
        Outcome::Refuted => "proof-refuted",
        Outcome::Undetermined => "proof-undetermined",
    };
    Text::new("proof-says")
        .word("rule", &proof.rule)
        .word("option", &proof.option)
        .word("value", &proof.value)
        .number("effect", proof.effect, Unit::One)
        .number("low", proof.low, Unit::One)
        .number("high", proof.high, Unit::One)
        .word("run", &proof.run)
        .text("outcome", Text::new(outcome))
}

impl<'a> Explanation<'a> {
    /// Explains the limit of one phase.
    pub fn of(record: &'a Record, phase: &'a PhaseRecord) -> Self {
        let view = PhaseView::new(record, phase);
        Self {
            phase,
            causes: Causes::of(&view),
            proofs: proofs(record, phase),
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
