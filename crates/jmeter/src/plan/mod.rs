//! What is there to execute?
//!
//! A plan with everything decided that can be decided before it starts: elements are plain data,
//! every sampler knows what acts on it and in which order, properties are filled in. What is left
//! open are [`Template`]s, which the engine renders per request.
//!
//! ```text
//! Plan ─ groups ─ body: steps ─┬─ controller ─ steps …
//!                              └─ sampler ─ scope: timers, processors, assertions, listeners
//! ```
//!
//! Elements that act on several samplers exist once, in lists of the plan; a scope holds their
//! numbers, so that an engine can keep one state per element.

use serde::Serialize;

use crate::expression::Template;
use crate::problem::Place;

mod assertions;
mod backend;
mod configs;
mod http;
mod load;
mod processors;
mod samplers;
pub mod schedule;
mod timers;

pub use assertions::*;
pub use backend::*;
pub use configs::*;
pub use http::*;
pub use load::*;
pub use processors::*;
pub use samplers::*;
pub use timers::*;

/// A value that is known, or an expression that gives it per use.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<T> {
    /// Known.
    Fixed(T),
    /// Rendered per use.
    Live(Template),
}

impl<T> Value<T> {
    /// The value when it is known.
    pub fn fixed(&self) -> Option<&T> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Live(_) => None,
        }
    }
}

/// Number of an element in one of the plan's lists.
pub type Id = u32;

/// A checked, resolved test plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Version of the program that wrote it; empty in old files.
    pub written_by: String,
    /// Groups run one after another instead of together.
    pub serialize_groups: bool,
    /// tearDown groups also run when the test was stopped.
    pub teardown_on_shutdown: bool,
    /// Functional testing mode: listeners save everything.
    pub functional_mode: bool,
    /// User defined variables with their values at the start, in order; a later one of the same
    /// name wins.
    pub variables: Vec<Variable>,
    /// Thread groups in order, all stages.
    pub groups: Vec<Group>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// Timers.
    pub timers: Vec<Timer>,
    /// Configuration elements that do something while the test runs.
    pub configs: Vec<Config>,
    /// Preprocessors.
    pub pre_processors: Vec<PreProcessor>,
    /// Postprocessors.
    pub post_processors: Vec<PostProcessor>,
    /// Assertions.
    pub assertions: Vec<Assertion>,
    /// Listeners.
    pub listeners: Vec<Listener>,
}

/// A variable and its value at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// An element's name, place and what it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named<K> {
    /// Its name, which may hold expressions.
    pub name: Template,
    /// Where it stands.
    pub place: Place,
    /// What it does.
    #[serde(flatten)]
    pub kind: K,
}

/// A timer of the plan.
pub type Timer = Named<TimerKind>;
/// A configuration element of the plan.
pub type Config = Named<ConfigKind>;
/// A preprocessor of the plan.
pub type PreProcessor = Named<PreKind>;
/// A postprocessor of the plan.
pub type PostProcessor = Named<PostKind>;
/// An assertion of the plan.
pub type Assertion = Named<AssertionKind>;
/// A listener of the plan.
pub type Listener = Named<ListenerKind>;

/// One request, pause or other step of a user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sampler {
    /// Its name: the label of its results.
    pub name: Template,
    /// Where it stands.
    pub place: Place,
    /// What it does.
    #[serde(flatten)]
    pub kind: SamplerKind,
    /// What acts on it.
    pub scope: Scope,
}

/// What acts on a sampler, in the order in which it acts.
///
/// Preprocessors, then the sum of all timers, then the request, then postprocessors, then
/// assertions, then listeners. Outer preprocessors, postprocessors and assertions come before
/// inner ones; of timers and listeners the inner ones come first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// Preprocessors.
    pub pre_processors: Vec<Id>,
    /// Timers.
    pub timers: Vec<Id>,
    /// Postprocessors.
    pub post_processors: Vec<Id>,
    /// Assertions.
    pub assertions: Vec<Id>,
    /// Listeners.
    pub listeners: Vec<Id>,
}

impl Scope {
    /// True when nothing looks at results: neither postprocessors nor assertions.
    pub fn is_quiet(&self) -> bool {
        self.post_processors.is_empty() && self.assertions.is_empty()
    }
}
