//! What must hold of a result, and who hears of it?

use serde::Serialize;

use super::Backend;
use super::{Applies, Field, Script, Value};
use crate::expression::Template;

/// What must hold of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "assertion", rename_all = "snake_case")]
pub enum AssertionKind {
    /// Texts in the response.
    Response {
        /// Where.
        field: Field,
        /// How the texts are compared.
        test: TextTest,
        /// It must not hold.
        negated: bool,
        /// One of the texts is enough.
        any: bool,
        /// The result counts as good before it is looked at, whatever the code.
        assume_success: Value<bool>,
        /// The texts.
        texts: Vec<Template>,
        /// What is said when it does not hold; empty: what was compared.
        message: Template,
        /// Which results.
        applies: Applies,
    },
    /// Longest time.
    Duration {
        /// Milliseconds.
        most_ms: Value<i64>,
        /// Which results.
        applies: Applies,
    },
    /// Number of bytes.
    Size {
        /// What is counted.
        field: SizeField,
        /// How it is compared.
        is: Comparison,
        /// Bytes.
        bytes: Value<i64>,
        /// Which results.
        applies: Applies,
    },
    /// A JSON path.
    Json {
        /// The path.
        path: Template,
        /// What must be found; `None`: anything.
        expected: Option<Template>,
        /// The expected text is a regular expression.
        is_pattern: Value<bool>,
        /// Nothing or null is expected.
        expects_null: Value<bool>,
        /// It must not hold.
        negated: Value<bool>,
    },
    /// An XPath.
    XPath {
        /// The path.
        path: Template,
        /// It must not hold.
        negated: Value<bool>,
        /// The document may be HTML.
        tolerant: Value<bool>,
        /// Which results.
        applies: Applies,
    },
    /// A JMESPath.
    JmesPath {
        /// The path.
        path: Template,
        /// What must be found; `None`: anything.
        expected: Option<Template>,
        /// The expected text is a regular expression.
        is_pattern: Value<bool>,
        /// Nothing or null is expected.
        expects_null: Value<bool>,
        /// It must not hold.
        negated: Value<bool>,
    },
    /// A script that says whether the result holds.
    Script(Script),
    /// The body is well-formed XML.
    WellFormedXml,
    /// MD5 sum of the body.
    Md5 {
        /// The sum in hexadecimal.
        sum: Template,
    },
}

/// How texts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// The whole matches a regular expression.
    Matches,
    /// A part matches a regular expression.
    ContainsPattern,
    /// The whole is the same.
    Equals,
    /// A part is the same.
    Contains,
}

/// Whose bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeField {
    /// Everything that was received.
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

/// How numbers are compared.
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

/// Who hears of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "listener", rename_all = "snake_case")]
pub enum ListenerKind {
    /// Writes results to a file, or shows them, which has no meaning here.
    Results {
        /// The file; empty: none.
        file: String,
        /// Only results that failed.
        errors_only: bool,
        /// Only results that succeeded.
        successes_only: bool,
        /// What its rows hold: ends of the names of `jmeter.save.saveservice.` properties with their
        /// values. None: as the properties of the run say.
        format: Vec<(&'static str, bool)>,
    },
    /// Sends sums to a database.
    Backend(Box<Backend>),
    /// A script that sees every result.
    Script(Script),
}
