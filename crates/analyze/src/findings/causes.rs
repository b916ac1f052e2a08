//! The causes of one phase's limit, in the order of what removing them would bring.
//!
//! ```text
//! held findings that say what limited the rate
//!    ├─ at least two kinds of observation ─► named, strongest first; a specific cause precedes one that
//!    │                                       holds beside any other
//!    └─ one kind of observation ───────────► suspected
//! refuted by a contradiction ──────────────► refuted
//! ```

use std::collections::BTreeSet;

use sokudo_model::Finding;

use super::diagnose::weigh;
use crate::rule::{LIMITING, Standing};
use crate::rules::{is_as_asked, is_limit, standing_of};
use crate::view::PhaseView;

/// Part of the strongest cause's weight from which another one is a cause beside it.
const BESIDE: f64 = 0.6;

/// Limit of a phase.
#[derive(Debug, Default)]
pub struct Causes {
    /// Supported by at least two kinds of observation: the strongest first, then those of about its weight.
    pub named: Vec<Finding>,
    /// Supported by one kind of observation.
    pub suspected: Vec<Finding>,
    /// Withdrawn, or no limit although it happened: what speaks against them is their `against`.
    pub refuted: Vec<Finding>,
}

impl Causes {
    /// Causes of the limit of a phase.
    pub fn of(view: &PhaseView<'_>) -> Self {
        let weighed = weigh(view.record, view.phase);
        let limits = |finding: &Finding| is_limit(&finding.rule);
        let (held, rest): (Vec<_>, Vec<_>) = weighed
            .held
            .into_iter()
            .filter(limits)
            .partition(|finding| finding.weight > LIMITING || view.is_trial());
        let acquitted = rest
            .into_iter()
            .filter(|finding| !finding.against.is_empty());
        let refuted = weighed.refuted.into_iter().filter(limits);
        let (mut named, mut suspected): (Vec<_>, Vec<_>) = held
            .into_iter()
            .partition(|finding| is_proven(finding) || view.is_trial());
        order(&mut named);
        order(&mut suspected);
        let strongest = named.first().map_or(0.0, |first| first.weight);
        named.retain(|finding| finding.weight >= strongest * BESIDE);
        Self {
            named,
            suspected,
            refuted: refuted.chain(acquitted).collect(),
        }
    }

    /// The strongest cause.
    pub fn first(self) -> Option<Finding> {
        self.named.into_iter().next()
    }
}

/// True when observations of at least two kinds support a conclusion: one number alone proves nothing.
fn is_proven(finding: &Finding) -> bool {
    let sources = finding.evidence.iter().map(|row| row.source.as_str());
    let sources = sources.filter(|source| !source.is_empty());
    sources.collect::<BTreeSet<&str>>().len() >= 2
}

/// Strongest first; beside a specific cause, those that hold beside any other come last.
fn order(findings: &mut [Finding]) {
    let has_specific = findings
        .iter()
        .any(|finding| standing(finding) == Standing::Specific);
    findings.sort_by(|a, b| {
        let last = |finding| has_specific && standing(finding) == Standing::Residual;
        last(a).cmp(&last(b)).then(b.weight.total_cmp(&a.weight))
    });
}

fn standing(finding: &Finding) -> Standing {
    match is_as_asked(finding) {
        true => Standing::Residual,
        false => standing_of(&finding.rule).unwrap_or(Standing::Residual),
    }
}
