//! A contradiction: what each file of [`contradictions`](crate::contradictions) holds.

use sokudo_model::{Evidence, Finding, Text, Unit};

use crate::view::PhaseView;

/// A kind of observation that speaks against conclusions.
///
/// Its signs are the message `against-<name>-signs`.
pub struct Contradiction {
    /// Name: that of its file, with hyphens part of the keys of its messages.
    pub name: &'static str,
    /// The rules whose conclusions it may contradict; empty: all.
    pub about: &'static [&'static str],
    /// The bounds that its description names: variable, value, unit.
    pub bounds: &'static [(&'static str, f64, Unit)],
    /// The observation, where it speaks against the conclusion.
    pub look: fn(&PhaseView<'_>, &Finding) -> Option<Objection>,
}

/// An observation that speaks against one conclusion.
pub struct Objection {
    /// The observation.
    pub evidence: Evidence,
    /// Its strength.
    pub force: Force,
}

/// Strength of an objection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// The event is true, and it is not the limit of the load.
    Acquits,
    /// The conclusion does not hold.
    Refutes,
}

impl Contradiction {
    /// The signs by which it is recognised.
    pub fn signs(&self) -> Text {
        let text = Text::new(format!("against-{}-signs", self.name));
        let bounds = self.bounds.iter();
        bounds.fold(text, |text, (name, value, unit)| {
            text.number(name, *value, *unit)
        })
    }
}
