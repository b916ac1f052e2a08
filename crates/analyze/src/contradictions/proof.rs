//! The cause was put to the test, and the change did not do what it must when the cause is right.

use sokudo_model::proof::Outcome;
use sokudo_model::{Evidence, Finding, Labels, Text, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::view::PhaseView;

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "proof",
    about: &[],
    bounds: &[],
    look,
};

fn look(view: &PhaseView<'_>, finding: &Finding) -> Option<Objection> {
    let mut proofs = view.record.manifest.proofs.iter();
    let proof =
        proofs.rfind(|proof| proof.rule == finding.rule && proof.phase == view.phase.name)?;
    if proof.outcome != Outcome::Refuted {
        return None;
    }
    let says = Text::new("evidence-refuted")
        .word("option", &proof.option)
        .word("setting", &proof.value)
        .number("effect", proof.effect, Unit::One);
    Some(Objection {
        evidence: Evidence {
            says,
            source: proof.run.clone(),
            host: None,
            metric: None,
            labels: Labels::new(),
            value: Some(proof.effect),
            unit: Some(Unit::One),
        },
        force: Force::Refutes,
    })
}
