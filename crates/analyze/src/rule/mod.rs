//! A rule of diagnosis: what each file of [`rules`](crate::rules) holds.

pub mod thread_limit;

use sokudo_model::{Finding, FlowResult, Text, Unit};

use crate::quantities::ends::Load;
use crate::view::PhaseView;

/// A rule of diagnosis.
///
/// What it means, by which signs it is recognised, and what to try are the messages
/// `finding-<name>-means`, `-signs` and `-try`; the reference of findings is made of them.
pub struct Rule {
    /// Its name: that of its file, of its findings, and part of the keys of its messages.
    pub name: &'static str,
    /// Purpose of its conclusion.
    pub purpose: Purpose,
    /// The bounds that its description names: variable, value, unit.
    pub bounds: &'static [(&'static str, f64, Unit)],
    /// Kind of phases that it looks at, and the function for them.
    pub look: Look,
}

/// Purpose of a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It describes what happened or how things were set up.
    Describes,
    /// It says what limited the rate.
    Limit,
    /// It says where datagrams were lost, which limits the rate.
    Loss,
}

/// View of a phase that a rule needs; nothing is concluded when the phase does not hold it.
pub enum Look {
    /// At the whole phase, for one conclusion.
    Phase(fn(&PhaseView<'_>) -> Option<Finding>),
    /// At the whole phase, for any number of conclusions.
    Each(fn(&PhaseView<'_>) -> Vec<Finding>),
    /// At each flow over a connection, for the strongest conclusion that two sources support.
    Flows(for<'a> fn(&Load<'a>, &'a FlowResult) -> Option<Finding>),
}

impl Rule {
    /// Findings of the rule about one phase.
    pub fn diagnose(&self, view: &PhaseView<'_>) -> Vec<Finding> {
        match self.look {
            Look::Phase(look) => look(view).into_iter().collect(),
            Look::Each(look) => look(view),
            Look::Flows(look) => {
                let load = Load::of(*view);
                let found = load.and_then(|load| load.strongest(|flow| look(&load, flow)));
                found.into_iter().collect()
            }
        }
    }

    /// Meaning of a finding of this rule.
    pub fn means(&self) -> Text {
        self.text("means")
    }

    /// The signs by which the rule recognises it.
    pub fn signs(&self) -> Text {
        self.text("signs")
    }

    /// Next step.
    pub fn remedy(&self) -> Text {
        self.text("try")
    }

    fn text(&self, part: &str) -> Text {
        let text = Text::new(format!("finding-{}-{part}", self.name));
        let bounds = self.bounds.iter();
        bounds.fold(text, |text, (name, value, unit)| {
            text.number(name, *value, *unit)
        })
    }
}
