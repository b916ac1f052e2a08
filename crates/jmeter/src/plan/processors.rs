//! What happens before and after a sampler?

use serde::Serialize;

use super::{Script, Value};
use crate::expression::Template;

/// What happens before a sampler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "pre", rename_all = "snake_case")]
pub enum PreKind {
    /// Variables, each user with its own values.
    UserParameters {
        /// Names.
        names: Vec<Template>,
        /// Values: one list per user, taken in turn.
        values: Vec<Vec<Template>>,
        /// Set once per iteration, not before each sampler.
        per_iteration: bool,
    },
    /// A script.
    Script(Script),
    /// The sampler is broken off after a time.
    Timeout {
        /// Milliseconds; 0: never.
        timeout_ms: Value<i64>,
    },
}

/// Where something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The body.
    Body,
    /// The body with entities resolved.
    BodyUnescaped,
    /// The text in the body, whatever document it is.
    BodyAsDocument,
    /// Response headers.
    ResponseHeaders,
    /// Request headers.
    RequestHeaders,
    /// What was sent.
    RequestBody,
    /// The address.
    Url,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

/// Which results are looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Applies {
    /// The main one.
    Main,
    /// Those inside.
    Inner,
    /// All.
    All,
    /// Not a result but a variable.
    Variable(Template),
}

/// What happens after a sampler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "post", rename_all = "snake_case")]
pub enum PostKind {
    /// Finds by regular expression.
    Regex {
        /// The expression.
        pattern: Template,
        /// Where.
        field: Field,
        /// What the variable is made of: `$1$`.
        template: Template,
        /// The rest.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Finds what stands between two texts.
    Boundary {
        /// Text before it.
        left: Template,
        /// Text after it.
        right: Template,
        /// Where.
        field: Field,
        /// The rest.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Finds by JSON path; several at once, separated by `;`.
    Json {
        /// The paths.
        paths: Vec<Template>,
        /// The variables.
        variables: Vec<Template>,
        /// What each is when nothing is found.
        defaults: Vec<Template>,
        /// Which match of each: 0 at random, −1 all.
        matches: Vec<Template>,
        /// All matches together in `name_ALL`.
        joins: Value<bool>,
        /// Which results.
        applies: Applies,
    },
    /// Finds by CSS selector.
    Css {
        /// The selector.
        selector: Template,
        /// Attribute; empty: the text.
        attribute: Template,
        /// The rest.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Finds by XPath.
    XPath {
        /// The path.
        path: Template,
        /// Prefixes and namespaces, one `prefix=uri` per line.
        namespaces: Template,
        /// The document may be HTML.
        tolerant: Value<bool>,
        /// The found element with its tags, not its text.
        fragment: Value<bool>,
        /// The rest.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// Finds by JMESPath.
    JmesPath {
        /// The path.
        path: Template,
        /// The rest.
        #[serde(flatten)]
        extraction: Extraction,
    },
    /// A script, which may change the result.
    Script(Script),
    /// Acts on the flow when the sample failed.
    OnError(OnErrorAction),
    /// Shows variables and properties as an inner result.
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

/// What happens to the flow after a sample that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnErrorAction {
    /// Nothing.
    Continue,
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

/// What extractors have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extraction {
    /// Variable that is set.
    pub variable: Template,
    /// Which match: 0 at random, −1 all.
    pub match_number: Value<i64>,
    /// What the variable is when nothing is found; `None`: it stays as it was.
    pub default: Option<Template>,
    /// Which results.
    pub applies: Applies,
}
