//! Kinds of samplers.

use serde::Serialize;

use super::sockets::TcpRequest;
use super::{DatabaseQuery, FlowAction, HttpRequest, Value};
use crate::expression::Template;
use crate::script::ScriptLanguage;

/// The kind of a sampler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "sampler", rename_all = "snake_case")]
pub enum SamplerKind {
    /// An HTTP request.
    Http(Box<HttpRequest>),
    /// A result with variables and properties.
    Debug {
        /// Shows properties.
        properties: Value<bool>,
        /// Shows variables.
        variables: Value<bool>,
        /// Shows system properties.
        system: Value<bool>,
    },
    /// A dummy result.
    Dummy(Box<Dummy>),
    /// One of the two classes of Java requests that come with JMeter.
    Java(Box<JavaRequest>),
    /// A statement on a database.
    Database(Box<DatabaseQuery>),
    /// A request over plain TCP.
    Tcp(Box<TcpRequest>),
    /// A flow control action, without result.
    Action(Action),
    /// A script whose value is the body of its result.
    Script(Script),
}

/// A script.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Script {
    /// Its language.
    #[serde(skip_serializing_if = "ScriptLanguage::is_java_script")]
    pub language: ScriptLanguage,
    /// The script; empty: nothing is executed.
    pub text: Template,
    /// The values of `Parameters` and `args`.
    pub parameters: Template,
}

/// A dummy result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dummy {
    /// True if it takes its response time.
    pub waits: Value<bool>,
    /// True if it succeeds.
    pub success: Value<bool>,
    /// Its response code.
    pub code: Template,
    /// Its response message.
    pub message: Template,
    /// Request data.
    pub request: Template,
    /// Response body.
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

/// A Java request that sleeps and states its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JavaRequest {
    /// True for `SleepTest`, which has its parameters from its first sample; false for `JavaTest`.
    pub is_sleep_test: bool,
    /// Milliseconds that it sleeps; `None`: the class's own.
    pub sleep_time: Option<Template>,
    /// Bound of the milliseconds that the clock adds; `None`: the class's own.
    pub sleep_mask: Option<Template>,
    /// Label; empty: the name of the element.
    pub label: Template,
    /// Response code.
    pub code: Template,
    /// Response message.
    pub message: Template,
    /// `OK` where it succeeds.
    pub status: Template,
    /// The request as JMeter shows it.
    pub request: Template,
    /// Response body.
    pub response: Template,
}

/// A flow control action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Pauses the user.
    Pause {
        /// Milliseconds.
        duration_ms: Value<i64>,
    },
    /// Changes the flow.
    #[serde(untagged)]
    Flow(FlowAction),
}
