//! Executable test plans.
//!
//! Everything that is known before the start is resolved: elements are plain data, every sampler
//! lists the elements that act on it in their order, and properties are inlined. The rest are
//! [`Template`]s, which the engine renders per request.
//!
//! ```text
//! Plan ─ groups ─ body: steps ─┬─ controller ─ steps …
//!                              └─ sampler ─ scope: timers, processors, assertions, listeners
//! ```
//!
//! Elements that act on several samplers exist once, in lists of the plan; a scope holds their
//! indexes, so that an engine can keep one state per element.

use serde::Serialize;

use crate::expression::Template;
use crate::problem::FilePosition;

mod assertions;
mod backend;
mod configs;
mod databases;
mod http;
mod load;
mod processors;
mod samplers;
pub mod schedule;
mod sockets;
mod stepped;
mod timers;

pub use assertions::*;
pub use backend::*;
pub use configs::*;
pub use databases::*;
pub use http::*;
pub use load::*;
pub use processors::*;
pub use samplers::*;
pub use sockets::*;
pub use stepped::*;
pub use timers::*;

/// A value that is fixed, or rendered from an expression at each use.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<T> {
    /// Fixed.
    Fixed(T),
    /// Rendered at each use.
    Live(Template),
}

impl<T> Value<T> {
    /// The value if it is fixed.
    pub fn fixed(&self) -> Option<&T> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Live(_) => None,
        }
    }
}

/// Index of an element in one of the plan's lists.
pub type Id = u32;

/// A checked, resolved test plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Version of JMeter that wrote it; empty in old files.
    pub written_by: String,
    /// True if groups run one after another instead of concurrently.
    pub serialize_groups: bool,
    /// True if tearDown groups also run after the test was stopped.
    pub teardown_on_shutdown: bool,
    /// Functional testing mode: listeners save everything.
    pub functional_mode: bool,
    /// User defined variables with their values at the start, in order; of several with one name
    /// the last wins.
    pub variables: Vec<Variable>,
    /// Thread groups of all stages, in order.
    pub groups: Vec<Group>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// Timers.
    pub timers: Vec<Timer>,
    /// Configuration elements that act during the test.
    pub configs: Vec<Config>,
    /// Preprocessors.
    pub pre_processors: Vec<PreProcessor>,
    /// Postprocessors.
    pub post_processors: Vec<PostProcessor>,
    /// Assertions.
    pub assertions: Vec<Assertion>,
    /// Listeners.
    pub listeners: Vec<Listener>,
    /// Headers of all header managers; requests have them merged in.
    #[serde(skip)]
    pub header_managers: Vec<Vec<HttpHeader>>,
    /// An element reads the previous result before or in a sample.
    #[serde(skip)]
    pub reads_previous: bool,
    /// A script reads sub-results.
    #[serde(skip)]
    pub reads_inner: bool,
    /// True if an expression reads the body of the last result.
    #[serde(skip)]
    pub reads_last_text: bool,
    /// True if an expression reads the number of a loop's pass.
    #[serde(skip)]
    pub reads_index: bool,
    /// Milliseconds since 1970 at the start of the test, for `START.MS` and the like.
    #[serde(skip)]
    pub started_ms: i64,
}

/// A variable and its value at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// An element: name, place and kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named<K> {
    /// Name, which may contain expressions.
    pub name: Template,
    /// Place in the plan file.
    pub place: FilePosition,
    /// Kind, with its settings.
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

/// A sampler: a request, pause or other step of a user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sampler {
    /// Name, the label of its results.
    pub name: Template,
    /// Place in the plan file.
    pub place: FilePosition,
    /// Kind, with its settings.
    #[serde(flatten)]
    pub kind: SamplerKind,
    /// The elements that act on it.
    pub scope: Scope,
}

/// The elements that act on a sampler, in the order in which they act.
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
    /// True if it has neither postprocessors nor assertions.
    pub fn is_quiet(&self) -> bool {
        self.post_processors.is_empty() && self.assertions.is_empty()
    }
}
