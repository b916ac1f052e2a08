//! A rule of diagnosis: what each file of [`rules`](crate::rules) holds.

pub mod thread_limit;

use sokudo_model::settings::SETTING;
use sokudo_model::{Finding, FlowResult, Text, Unit};

use crate::quantities::ends::Load;
use crate::view::PhaseView;

/// Findings of less weight are worth a word, but they limit nothing.
pub const LIMITING: f64 = 0.25;

/// A rule of diagnosis.
///
/// What it means, by which signs it is recognised, and what to try are the messages
/// `finding-<name>-means`, `-signs` and `-try`; the reference of findings is made of them.
pub struct Rule {
    /// Its name: that of its file, of its findings, and part of the keys of its messages.
    pub name: &'static str,
    /// Purpose of its conclusion.
    pub purpose: Purpose,
    /// Options whose change tells whether its conclusion is right, the best one first; a kind of load has
    /// some of them.
    pub suspects: &'static [Suspect],
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
    Limit(Standing),
    /// It says where datagrams were lost, which limits the rate.
    Loss,
}

/// Precedence of a limit where several are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It holds beside any other cause: the load asked for was carried, or a host was short of CPU. A
    /// specific cause precedes it, whatever their weights.
    Residual,
    /// It is concluded from shares of the time.
    General,
    /// Counters of one place name that place.
    Specific,
}

impl Purpose {
    /// Precedence of the conclusion among limits; `None` for one that describes.
    pub fn standing(self) -> Option<Standing> {
        match self {
            Purpose::Describes => None,
            Purpose::Limit(standing) => Some(standing),
            Purpose::Loss => Some(Standing::Specific),
        }
    }
}

/// An option of the load by which a conclusion can be put to the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspect {
    /// Long name of the option, without the dashes.
    pub option: &'static str,
    /// Change of the option.
    pub change: Change,
    /// Parts of a sentence's key, of which one must be there: the test holds for these cases of the rule; empty: for
    /// all.
    pub only: &'static [&'static str],
    /// Whether a crash during the test could lose what was acknowledged: it is made only where that is allowed.
    pub is_at_risk: bool,
    /// Server whose own metrics the conclusion must rest on: `mariadb`; `None` for any.
    pub server: Option<&'static str>,
    /// By how much the change alone could raise what is carried, because each request is less work: percent.
    pub saves_percent: u32,
}

/// Change of an option, and what it does to the suspected limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A larger value relieves: more is carried when the conclusion is right.
    Raise,
    /// Leaving it out relieves.
    LeaveOut,
    /// This value relieves.
    Set(&'static str),
    /// This setting of the loaded database server relieves.
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: &'static str,
    },
    /// The limit cannot be relieved from here. A value below what was carried takes the load off it: its signs
    /// vanish, and what is carried follows the option.
    Tighten,
}

impl Suspect {
    /// An option and its change, for all cases of a rule.
    const fn of(option: &'static str, change: Change) -> Self {
        Self {
            option,
            change,
            only: &[],
            is_at_risk: false,
            server: None,
            saves_percent: 0,
        }
    }

    /// An option whose larger value relieves.
    pub const fn raise(option: &'static str) -> Self {
        Self::of(option, Change::Raise)
    }

    /// An option that relieves with this value.
    pub const fn set(option: &'static str, value: &'static str) -> Self {
        Self::of(option, Change::Set(value))
    }

    /// A setting of the loaded database server that relieves with this value.
    pub const fn setting(name: &'static str, value: &'static str) -> Self {
        Self::of("versus", Change::Setting { name, value })
    }

    /// The same test, of conclusions from what this kind of server says of itself.
    pub const fn on_server(self, server: &'static str) -> Self {
        Self {
            server: Some(server),
            ..self
        }
    }

    /// The same test, in which each request is less work, by so much at most.
    pub const fn saving(self, saves_percent: u32) -> Self {
        Self {
            saves_percent,
            ..self
        }
    }

    /// The same test, made only where a crash may lose what was acknowledged.
    pub const fn at_risk(self) -> Self {
        Self {
            is_at_risk: true,
            ..self
        }
    }

    /// The same test, for these cases of its rule.
    pub const fn only(self, cases: &'static [&'static str]) -> Self {
        Self {
            only: cases,
            ..self
        }
    }

    /// True where the test holds for a conclusion.
    pub fn tests(&self, cause: &Finding) -> bool {
        let is_case = |case: &&str| cause.says.key.contains(case);
        let of_server = |server: &str| {
            let metrics = cause
                .evidence
                .iter()
                .filter_map(|row| row.metric.as_deref());
            let mut sources = metrics.filter_map(|metric| metric.split('.').next());
            sources.any(|source| source == server)
        };
        (self.only.is_empty() || self.only.iter().any(is_case)) && self.server.is_none_or(of_server)
    }

    /// What changes, as `--versus` takes it: an option without its dashes, or `setting.NAME`.
    pub fn versus(&self) -> String {
        match self.change {
            Change::Setting { name, .. } => format!("{SETTING}{name}"),
            _ => self.option.to_owned(),
        }
    }

    /// An option that relieves when it is left out.
    pub const fn leave_out(option: &'static str) -> Self {
        Self::of(option, Change::LeaveOut)
    }

    /// An option that can only be tightened.
    pub const fn tighten(option: &'static str) -> Self {
        Self::of(option, Change::Tighten)
    }

    /// The option and its change, for people.
    pub fn says(&self) -> Text {
        let key = match self.change {
            Change::Raise => "suspect-raise",
            Change::LeaveOut => "suspect-leave-out",
            Change::Set(_) | Change::Setting { .. } if self.is_at_risk => "suspect-set-at-risk",
            Change::Set(_) | Change::Setting { .. } => "suspect-set",
            Change::Tighten => "suspect-tighten",
        };
        let option = match self.change {
            Change::Set(value) => format!("--{} {value}", self.option),
            Change::Setting { value, .. } => format!("--versus {}={value}", self.versus()),
            Change::Raise | Change::LeaveOut | Change::Tighten => format!("--{}", self.option),
        };
        Text::new(key).word("option", option)
    }
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
