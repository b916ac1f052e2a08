//! Assertions and listeners.

use serde::Serialize;

use super::Backend;
use super::{Applies, Field, Script, Value};
use crate::expression::Template;

/// A condition on a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "assertion", rename_all = "snake_case")]
pub enum AssertionKind {
    /// A condition on texts in the response.
    Response {
        /// The part that is examined.
        field: Field,
        /// Comparison of the texts.
        test: TextTest,
        /// True if it must not hold.
        negated: bool,
        /// True if one of the texts is enough.
        any: bool,
        /// True if the result counts as successful before the assertion, whatever its code.
        assume_success: Value<bool>,
        /// The texts.
        texts: Vec<Template>,
        /// Message of a failure; empty: JMeter's own.
        message: Template,
        /// The results that are examined.
        applies: Applies,
    },
    /// A limit on the duration.
    Duration {
        /// Milliseconds.
        most_ms: Value<i64>,
        /// The results that are examined.
        applies: Applies,
    },
    /// A condition on the number of bytes.
    Size {
        /// The part whose bytes are counted.
        field: SizeField,
        /// Comparison of the numbers.
        is: Comparison,
        /// Bytes.
        bytes: Value<i64>,
        /// The results that are examined.
        applies: Applies,
    },
    /// A condition on a JSON path.
    Json {
        /// The path.
        path: Template,
        /// Expected value; `None`: any.
        expected: Option<Template>,
        /// True if the expected value is a regular expression.
        is_pattern: Value<bool>,
        /// True if nothing or null is expected.
        expects_null: Value<bool>,
        /// True if it must not hold.
        negated: Value<bool>,
    },
    /// A condition on an XPath.
    XPath {
        /// The path.
        path: Template,
        /// True if it must not hold.
        negated: Value<bool>,
        /// True if names match by their namespaces.
        aware: Value<bool>,
        /// True if the document may be HTML.
        tolerant: Value<bool>,
        /// The results that are examined.
        applies: Applies,
    },
    /// A condition on an XPath with prefixes of its own.
    XPath2 {
        /// The path.
        path: Template,
        /// Prefixes and namespaces, one `prefix=uri` per line.
        namespaces: Template,
        /// True if it must not hold.
        negated: Value<bool>,
        /// The results that are examined.
        applies: Applies,
    },
    /// A condition on a JMESPath.
    JmesPath {
        /// The path.
        path: Template,
        /// Expected value; `None`: any.
        expected: Option<Template>,
        /// True if the expected value is a regular expression.
        is_pattern: Value<bool>,
        /// True if nothing or null is expected.
        expects_null: Value<bool>,
        /// True if it must not hold.
        negated: Value<bool>,
    },
    /// A script that judges the result.
    Script(Script),
    /// The body must be well-formed XML.
    WellFormedXml,
    /// The MD5 sum of the body.
    Md5 {
        /// The sum in hexadecimal.
        sum: Template,
    },
}

impl AssertionKind {
    /// The results that it examines; `None`: it does not ask.
    pub fn applies(&self) -> Option<&Applies> {
        match self {
            Self::Response { applies, .. }
            | Self::Duration { applies, .. }
            | Self::Size { applies, .. }
            | Self::XPath { applies, .. }
            | Self::XPath2 { applies, .. } => Some(applies),
            _ => None,
        }
    }
}

/// Comparison of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// The whole text matches a regular expression.
    Matches,
    /// A part of the text matches a regular expression.
    ContainsPattern,
    /// The whole text equals.
    Equals,
    /// The text contains.
    Contains,
}

/// The part of a result whose bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeField {
    /// The whole response.
    Response,
    /// Headers.
    Headers,
    /// Body.
    Body,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

/// Comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// =
    Equal,
    /// ≠
    NotEqual,
    /// >
    Greater,
    /// <
    Less,
    /// ≥
    GreaterOrEqual,
    /// ≤
    LessOrEqual,
}

/// A receiver of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "listener", rename_all = "snake_case")]
pub enum ListenerKind {
    /// Writes results to a file; one that only displays them has no effect.
    Results {
        /// The file; empty: none.
        file: String,
        /// True if it writes failed results only.
        errors_only: bool,
        /// True if it writes successful results only.
        successes_only: bool,
        /// Contents of its rows: suffixes of `jmeter.save.saveservice.` properties with their
        /// values. Empty: as the properties of the run state.
        format: Vec<(&'static str, bool)>,
    },
    /// Sends aggregates to a time series database.
    Backend(Box<Backend>),
    /// A script that receives every result.
    Script(Script),
    /// Sums results up in lines that bear its name.
    Summary,
    /// Writes the body of each response to a file of its own.
    Responses(ResponseFiles),
}

/// Names of the files to which a listener writes responses, and the responses it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResponseFiles {
    /// Begin of their names; empty: none is written.
    pub prefix: String,
    /// True if it writes failed results only.
    pub errors_only: bool,
    /// True if it writes successful results only.
    pub successes_only: bool,
    /// True if it leaves out the results of transactions.
    pub skips_transactions: bool,
    /// True if their names have no number, so that a file replaces the one before.
    pub skips_number: bool,
    /// True if their names do not end with the kind of their content.
    pub skips_suffix: bool,
    /// True if the time at which the test began stands in their names.
    pub has_time: bool,
    /// Fewest digits of their numbers.
    pub digits: u32,
}
