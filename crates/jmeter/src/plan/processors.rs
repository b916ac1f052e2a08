//! Preprocessors and postprocessors.

use serde::Serialize;

use super::{DatabaseQuery, FlowAction, Script, Value};
use crate::expression::Template;

/// A preprocessor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "pre", rename_all = "snake_case")]
pub enum PreKind {
    /// User parameters: variables with separate values for each user.
    UserParameters {
        /// Names.
        names: Vec<Template>,
        /// Values: one list per user, assigned in turn.
        values: Vec<Vec<Template>>,
        /// True if they are set once per iteration, not before each sampler.
        per_iteration: bool,
    },
    /// A script.
    Script(Script),
    /// Adds the session of the previous response to an HTTP request.
    UrlRewriting(UrlRewriting),
    /// Makes an HTTP request that of a link or form of the previous response.
    FollowLink,
    /// Sets the arguments of an HTTP request whose names a regular expression extracted.
    RegexParameters {
        /// Variable of the extractor.
        reference: Template,
        /// Number of the group with the names.
        names: Template,
        /// Number of the group with the values.
        values: Template,
    },
    /// A statement on a database.
    Database(Box<DatabaseQuery>),
    /// A sample timeout.
    Timeout {
        /// Milliseconds; 0: never.
        timeout_ms: Value<i64>,
    },
}

/// Place of the session in the previous response, and in the request that takes it over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UrlRewriting {
    /// Name of the argument that holds the session.
    pub name: Template,
    /// True if it is written into the path, behind `;`.
    pub in_path: Value<bool>,
    /// True if there is no `=` behind its name in the path.
    pub without_equals: Value<bool>,
    /// True if a question mark ends it in the path.
    pub ends_at_query: Value<bool>,
    /// True if the last one stays where a response has none.
    pub is_kept: Value<bool>,
    /// True if it is encoded; otherwise it was already.
    pub encode: Value<bool>,
}

/// The part of a result that an element examines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The body.
    Body,
    /// The body with HTML entities resolved.
    BodyUnescaped,
    /// Response headers.
    ResponseHeaders,
    /// Request headers.
    RequestHeaders,
    /// The request body.
    RequestBody,
    /// The URL.
    Url,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

/// The results that an element examines.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Applies {
    /// The main sample.
    Main,
    /// Its sub-samples.
    Inner,
    /// All.
    All,
    /// A variable instead of a result.
    Variable(Template),
}

/// A postprocessor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "post", rename_all = "snake_case")]
pub enum PostKind {
    /// Extracts by regular expression.
    Regex {
        /// The expression.
        pattern: Template,
        /// The part that is examined.
        field: Field,
        /// Template of the variable's value: `$1$`.
        template: Template,
        /// Variable, match and default.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Extracts the text between two boundaries.
    Boundary {
        /// Left boundary.
        left: Template,
        /// Right boundary.
        right: Template,
        /// The part that is examined.
        field: Field,
        /// Variable, match and default.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Extracts by JSON paths, separated by `;`.
    Json {
        /// The paths.
        paths: Vec<Template>,
        /// The variables.
        variables: Vec<Template>,
        /// Default value of each.
        defaults: Vec<Template>,
        /// Match of each: 0: random, −1: all.
        matches: Vec<Template>,
        /// False if there are more or fewer paths or default values than variables: its samples are lost.
        fits: bool,
        /// True if all matches are joined in `name_ALL`.
        joins: Value<bool>,
        /// The results that are examined.
        applies: Applies,
    },
    /// Extracts by CSS selector.
    Css {
        /// The selector.
        selector: Template,
        /// Attribute; empty: the text.
        attribute: Template,
        /// Variable, match and default.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Extracts by XPath.
    XPath {
        /// The path.
        path: Template,
        /// Prefixes and namespaces, one `prefix=uri` per line.
        namespaces: Template,
        /// True if names of XPath 1.0 match by their namespaces.
        aware: Value<bool>,
        /// True if the document may be HTML.
        tolerant: Value<bool>,
        /// True if the value is the element with its tags, not its text.
        fragment: Value<bool>,
        /// True if the text is that of all in the element, not that of its first child.
        whole: bool,
        /// Variable, match and default.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Extracts by JMESPath.
    JmesPath {
        /// The path.
        path: Template,
        /// Variable, match and default.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// A script, which may change the result.
    Script(Script),
    /// A statement on a database.
    Database(Box<DatabaseQuery>),
    /// Changes the flow after a failed sample.
    OnError(FlowAction),
    /// Adds variables and properties as a sub-result.
    Debug {
        /// Shows the sampler's properties.
        sampler: Value<bool>,
        /// Shows properties.
        properties: Value<bool>,
        /// Shows variables.
        variables: Value<bool>,
        /// Shows system properties.
        system: Value<bool>,
    },
}

impl PostKind {
    /// The results that it examines; `None`: it does not ask.
    pub fn applies(&self) -> Option<&Applies> {
        match self {
            Self::Regex { extraction, .. }
            | Self::Boundary { extraction, .. }
            | Self::Css { extraction, .. }
            | Self::XPath { extraction, .. }
            | Self::JmesPath { extraction, .. } => Some(&extraction.applies),
            Self::Json { applies, .. } => Some(applies),
            Self::Script(_) | Self::Database(_) | Self::OnError(_) | Self::Debug { .. } => None,
        }
    }
}

/// Settings that all extractors have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extraction {
    /// Variable that is set.
    pub variable: Template,
    /// Number of the match; 0: random, −1: all.
    pub match_number: Value<i64>,
    /// Default value; `None`: the variable keeps its value.
    pub default: Option<Template>,
    /// The results that are examined.
    pub applies: Applies,
}
