//! Observations that speak against a conclusion.
//!
//! A rule looks for the signs of one cause. Whatever else the record holds may contradict it: a thread that used
//! six hundredths of a core was no limit, whatever the rate was. Each contradiction stands once and holds for all
//! rules that it concerns; one that refutes withdraws the conclusion, one that acquits leaves it as what happened.

mod carried;
mod idle_thread;
mod needless_repeats;
mod no_full_buffer;
mod proof;
mod seldom_ready;

use sokudo_model::Finding;

use crate::contradiction::{Contradiction, Force, Objection};
use crate::rule::LIMITING;
use crate::view::PhaseView;

/// Every contradiction, by name.
pub const CONTRADICTIONS: &[&Contradiction] = &[
    &carried::CONTRADICTION,
    &idle_thread::CONTRADICTION,
    &needless_repeats::CONTRADICTION,
    &no_full_buffer::CONTRADICTION,
    &proof::CONTRADICTION,
    &seldom_ready::CONTRADICTION,
];

/// Weight of a conclusion about something that happened and limited nothing.
const ACQUITTED: f64 = LIMITING / 2.0;

/// Adds to a conclusion what speaks against it; false when it is refuted.
pub fn withstands(view: &PhaseView<'_>, finding: &mut Finding) -> bool {
    let about = |known: &&&Contradiction| {
        known.about.is_empty() || known.about.contains(&finding.rule.as_str())
    };
    let objections: Vec<Objection> = CONTRADICTIONS
        .iter()
        .filter(about)
        .filter_map(|known| (known.look)(view, finding))
        .collect();
    let mut holds = true;
    for objection in objections {
        match objection.force {
            Force::Refutes => holds = false,
            Force::Acquits => finding.weight = finding.weight.min(ACQUITTED),
        }
        finding.against.push(objection.evidence);
    }
    holds
}
