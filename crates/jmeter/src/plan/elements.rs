//! Samplers, timers, configuration elements, processors, assertions and listeners.

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

/// How long a user waits before each sampler in scope. All pauses in scope are added.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "timer", rename_all = "snake_case")]
pub enum TimerKind {
    /// Always the same.
    Constant {
        /// Milliseconds.
        delay_ms: Value<f64>,
    },
    /// Evenly distributed.
    Uniform {
        /// Least, in milliseconds.
        offset_ms: Value<f64>,
        /// Width of the range, in milliseconds.
        range_ms: Value<f64>,
    },
    /// |N(0, 1) · deviation + offset|.
    Gaussian {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Deviation in milliseconds.
        deviation_ms: Value<f64>,
    },
    /// Offset and a Poisson-distributed number.
    Poisson {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Mean of what is added, in milliseconds.
        lambda_ms: Value<f64>,
    },
    /// Keeps a rate by waiting, without catching up.
    ConstantThroughput {
        /// Samples per minute.
        per_minute: Value<f64>,
        /// Over whom.
        over: Over,
    },
    /// Keeps a rate exactly, at random moments.
    PreciseThroughput {
        /// Samples per period.
        throughput: Value<f64>,
        /// Length of a period.
        period_s: Value<i64>,
        /// Length of the test.
        duration_s: Value<i64>,
        /// Samples that start together.
        batch: Value<i64>,
        /// Milliseconds between those.
        batch_gap_ms: Value<i64>,
        /// Seed; 0: the run's.
        seed: Value<i64>,
    },
    /// A rate that changes over time, over all users.
    ThroughputShaping {
        /// Rows of the table.
        rows: Vec<ShapeRow>,
    },
    /// The value of a script, in milliseconds.
    Script(Script),
    /// Waits until several users have come.
    Synchronizing {
        /// Number of users; 0: all of the group.
        users: Value<i64>,
        /// Longest wait; 0: no limit.
        timeout_ms: Value<i64>,
    },
}

/// Over whom a rate is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Each user alone.
    ThisUser,
    /// All active users, each with its part.
    AllUsers,
    /// All active users of the group, each with its part.
    Group,
    /// All active users, one schedule for all.
    AllUsersShared,
    /// All active users of the group, one schedule for all.
    GroupShared,
}

/// A piece of a rate that changes over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeRow {
    /// Rate at its start.
    pub start_per_s: Value<f64>,
    /// Rate at its end.
    pub end_per_s: Value<f64>,
    /// How long it lasts.
    pub duration_s: Value<f64>,
}

/// Configuration elements that do something while the test runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "config", rename_all = "snake_case")]
pub enum ConfigKind {
    /// Variables from the rows of a file.
    CsvData(CsvData),
    /// A counter.
    Counter {
        /// First value.
        start: Value<i64>,
        /// Value after which it begins again; `None`: no end.
        end: Option<Value<i64>>,
        /// Step.
        step: Value<i64>,
        /// Variable that is set.
        variable: Template,
        /// Number format such as `000`; empty: as it is.
        format: Template,
        /// Counted per user.
        per_user: Value<bool>,
        /// Begins again with each iteration of the group.
        resets: Value<bool>,
    },
    /// A random number.
    RandomVariable {
        /// Variable that is set.
        variable: Template,
        /// Least value.
        least: Value<i64>,
        /// Largest value.
        most: Value<i64>,
        /// Number format; empty: as it is.
        format: Template,
        /// Each user has its own stream.
        per_user: Value<bool>,
        /// Seed; empty: the run's.
        seed: Template,
    },
    /// Cookies of a user.
    Cookies {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether they are forgotten.
        group_decides: bool,
        /// Which rules are followed: `standard`, `ignorecookies` …
        policy: String,
        /// Cookies that are there from the start.
        cookies: Vec<Cookie>,
    },
    /// A user's cache.
    Cache {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether it is forgotten.
        group_decides: bool,
        /// `Expires` and `Cache-Control` are followed.
        follows_expires: bool,
        /// Most entries.
        most_entries: u64,
    },
    /// Users and passwords by address.
    Authorization {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether they are forgotten.
        group_decides: bool,
        /// The entries.
        entries: Vec<Authorization>,
    },
    /// How names are resolved.
    Dns {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// Servers that are asked; none: the system.
        servers: Vec<Template>,
        /// Names and addresses that are known.
        hosts: Vec<DnsHost>,
        /// Servers and known names are used at all.
        is_custom: bool,
    },
    /// Client certificates.
    Keystore {
        /// Loaded before the test.
        preload: bool,
        /// First certificate.
        start: Value<i64>,
        /// Last certificate; `None`: all.
        end: Option<Value<i64>>,
        /// Variable that holds the name of the certificate to be used.
        alias: Template,
    },
}

/// Variables from the rows of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CsvData {
    /// The file.
    pub file: Template,
    /// Its encoding; empty: UTF-8.
    pub encoding: Template,
    /// Variables; empty: the first row names them.
    pub variables: Vec<String>,
    /// What separates columns.
    pub delimiter: Template,
    /// The first row is no data.
    pub skips_first_row: bool,
    /// Columns may stand in quotes.
    pub quoted: bool,
    /// Begins again after the last row.
    pub recycles: bool,
    /// A user ends after the last row.
    pub stops_user: bool,
    /// Who shares the rows.
    pub shared: Shared,
}

/// Who shares the rows of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// All users.
    All,
    /// The users of a group.
    Group,
    /// Each user has the file for itself.
    User,
    /// Those that use the same word.
    Named(String),
}

/// A cookie that is there from the start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cookie {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// Where it belongs.
    pub domain: Template,
    /// Path below which it is sent.
    pub path: Template,
    /// Sent over TLS only.
    pub secure: Value<bool>,
    /// End of its life in seconds since 1970; 0: with the session.
    pub expires_s: Value<i64>,
}

/// A user and password for an address.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Authorization {
    /// Address below which it is used.
    pub url: Template,
    /// User.
    pub user: Template,
    /// Password; never shown.
    #[serde(skip)]
    pub password: Template,
    /// Domain, for NTLM.
    pub domain: Template,
    /// Realm.
    pub realm: Template,
    /// `BASIC`, `DIGEST`, `BASIC_DIGEST` or `KERBEROS`.
    pub mechanism: Template,
}

/// A name and its addresses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DnsHost {
    /// The name.
    pub name: Template,
    /// Addresses or another name, separated by commas.
    pub address: Template,
}

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
    /// A script that sees every result.
    Script(Script),
}
