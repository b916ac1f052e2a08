//! What does a sampler do?

use serde::Serialize;

use super::{HttpRequest, Value};
use crate::expression::Template;

/// What a sampler does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "sampler", rename_all = "snake_case")]
pub enum SamplerKind {
    /// An HTTP request.
    Http(Box<HttpRequest>),
    /// A result that shows variables and properties.
    Debug {
        /// Shows properties.
        properties: Value<bool>,
        /// Shows variables.
        variables: Value<bool>,
        /// Shows system properties.
        system: Value<bool>,
    },
    /// A result that is made up.
    Dummy(Box<Dummy>),
    /// Something that happens to the flow; no result.
    Action(Action),
    /// A script whose value is the body of its result.
    Script(Script),
}

/// A script in JavaScript.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Script {
    /// The script; empty: nothing happens.
    pub text: Template,
    /// What it finds in `Parameters` and `args`.
    pub parameters: Template,
}

/// A result that is made up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dummy {
    /// It takes its response time.
    pub waits: Value<bool>,
    /// It succeeded.
    pub success: Value<bool>,
    /// Its response code.
    pub code: Template,
    /// Its response message.
    pub message: Template,
    /// What was asked.
    pub request: Template,
    /// What was answered.
    pub response: Template,
    /// Response time in milliseconds.
    pub response_time_ms: Value<i64>,
    /// Time to the first byte in milliseconds.
    pub latency_ms: Value<i64>,
    /// Time to connect in milliseconds.
    pub connect_ms: Value<i64>,
    /// Its address.
    pub url: Template,
}

/// What a flow control action does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The user waits.
    Pause {
        /// Milliseconds.
        duration_ms: Value<i64>,
    },
    /// The user ends.
    StopUser,
    /// The test ends; samples in flight finish.
    StopTest,
    /// The test ends; samples in flight are broken off.
    StopTestNow,
    /// The next iteration of the group begins.
    NextGroupLoop,
    /// The next iteration of the nearest loop begins.
    NextLoop,
    /// The nearest loop ends.
    BreakLoop,
}
