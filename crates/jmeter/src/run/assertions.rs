//! Assertions on the result of a sampler or transaction.

use std::borrow::Cow;
use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::context::View;
use super::extract::{field_text, json_text};
use super::extract_tree::{TreePath, find_in_tree, jmes_value};
use super::row::Asserted;
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::sub_results::InnerVerdict;
use super::test::Test;
use crate::digits::grouped;
use crate::json::{self, Value as Json};
use crate::jtl::SavedDetails;
use crate::plan::{Applies, AssertionKind, Comparison, Field, Id, SizeField, TextTest};
use crate::script::ScriptSample;

/// The outcome of all assertions on a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The result is successful.
    pub success: bool,
    /// Message of the first failed assertion.
    pub says: String,
    /// The outcome of each assertion, if a result file contains them.
    pub asserted: Vec<Asserted>,
    /// The same of the direct sub-results, where an assertion examines them.
    pub inner: Vec<InnerVerdict>,
    /// The result as a script changed it.
    pub revised: Option<ScriptSample>,
}

/// Applies assertions to a result, in order.
pub(super) fn assert_all(
    view: &mut View<'_>,
    assertions: &[Id],
    holds: SavedDetails,
    before: &SampleResult<'_>,
) -> Verdict {
    let mut verdict = Verdict {
        success: before.success,
        ..Verdict::default()
    };
    let mut revised: Option<ScriptSample> = None;
    for id in assertions {
        let mut changed = None;
        let result = &before.revised(revised.as_ref());
        let assertion = &view.test().plan.assertions[*id as usize];
        let kind = &assertion.kind;
        let applies = kind.applies();
        let is_inner_too = matches!(applies, Some(Applies::All));
        if matches!(applies, Some(Applies::Inner)) {
            assert_inner(view, *id, holds, result, &mut verdict);
            continue;
        }
        if let AssertionKind::Response { assume_success, .. } = kind
            && view.flag(assume_success)
        {
            verdict.success = true;
        }
        let mut is_error = false;
        let says = match kind {
            AssertionKind::JmesPath { .. } => jmes_fails(view, kind, result).map(|fault| {
                is_error = matches!(fault, JmesFault::Error(_));
                match fault {
                    JmesFault::Error(says) | JmesFault::Other(says) => says,
                }
            }),
            AssertionKind::Script(script) => {
                let mut seen = result.seen(view.thread.label());
                seen.success = verdict.success;
                let owner = (ScriptOwner::Assertion, &assertion.name);
                let done = run_script(view, owner, script, Some(seen));
                if let Some(seen) = &done.seen {
                    verdict.success = seen.success;
                    view.thread.set_label(&seen.label);
                }
                changed = done.seen;
                let judged = done.judgement.failed.then_some(done.judgement.message);
                done.fault.or(judged)
            }
            kind => failure(view, kind, result),
        };
        if holds.assertions {
            // These write an empty message where they hold.
            let writes = matches!(
                kind,
                AssertionKind::Json { .. } | AssertionKind::JmesPath { .. }
            );
            verdict.asserted.push(Asserted {
                name: view.text(&assertion.name),
                failed: says.is_some() && !is_error,
                is_error,
                says: says.clone().or_else(|| writes.then(String::new)),
            });
        }
        if let Some(says) = says {
            verdict.fail(says);
        }
        if is_inner_too {
            assert_inner(view, *id, holds, result, &mut verdict);
        }
        revised = changed.or(revised);
    }
    verdict.revised = revised;
    verdict
}

impl Verdict {
    /// Notes a failure; the message of the first one stays.
    fn fail(&mut self, says: String) {
        self.success = false;
        if self.says.is_empty() {
            self.says = says;
        }
    }
}

/// Applies an assertion to the direct sub-results. As in JMeter, one that failed fails the result.
fn assert_inner(
    view: &mut View<'_>,
    id: Id,
    holds: SavedDetails,
    result: &SampleResult<'_>,
    verdict: &mut Verdict,
) {
    let test = view.test();
    let assertion = &test.plan.assertions[id as usize];
    let name = view.text(&assertion.name);
    let asserted = |says: Option<String>| Asserted {
        name: name.clone(),
        failed: says.is_some(),
        is_error: false,
        says,
    };
    verdict
        .inner
        .resize(result.inner.len(), InnerVerdict::default());
    let mut has_failed = false;
    for (number, inner) in result.inner.iter().enumerate() {
        let says = failure(view, &assertion.kind, &SampleResult::of_inner(test, inner));
        let of = &mut verdict.inner[number];
        of.failed |= says.is_some();
        has_failed |= of.failed || !inner.success;
        if holds.assertions {
            of.asserted.push(asserted(says));
        }
    }
    if has_failed && verdict.success {
        const SAYS: &str = "One or more sub-samples failed";
        verdict.fail(SAYS.into());
        if holds.assertions {
            verdict.asserted.push(asserted(Some(SAYS.into())));
        }
    }
}

/// JMeter's message of a failed assertion; `None`: it holds.
fn failure(view: &mut View<'_>, kind: &AssertionKind, result: &SampleResult<'_>) -> Option<String> {
    match kind {
        AssertionKind::Response { field, applies, .. } => {
            let Some(text) = field_text(view, *field, applies, result) else {
                return Some("Response was null".into());
            };
            texts_fail(view, kind, (text, result.code))
        }
        AssertionKind::Duration { most_ms, .. } => {
            let most_ms = view.integer(most_ms);
            let over = most_ms > 0 && result.elapsed_ms > most_ms as u64;
            over.then(|| {
                format!(
                    "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {most_ms} milliseconds.",
                    result.elapsed_ms
                )
            })
        }
        AssertionKind::Size {
            field, is, bytes, ..
        } => {
            let wanted = view.integer(bytes);
            let found = match field {
                SizeField::Response => result.bytes,
                SizeField::Headers => result.head_bytes,
                SizeField::Body => result.bytes.saturating_sub(result.head_bytes),
                SizeField::Code => result.code.len() as u64,
                SizeField::Message => result.message.len() as u64,
            };
            size_fails(found, *is, wanted)
        }
        AssertionKind::Json { .. } => json_fails(view, kind, result),
        AssertionKind::WellFormedXml => xml_fails(result.body),
        AssertionKind::XPath {
            path,
            negated,
            tolerant,
            applies,
        } => {
            let path = view.text(path);
            let (negated, tolerant) = (view.flag(negated), view.flag(tolerant));
            let path = TreePath {
                path: path.trim(),
                namespaces: "",
                tolerant,
            };
            let text = field_text(view, Field::Body, applies, result)?;
            xpath_fails(view.test(), &text, &path, negated)
        }
        AssertionKind::Md5 { sum } => {
            let wanted = view.text(sum);
            md5_fails(result.body, wanted.trim())
        }
        // Handled by the caller.
        AssertionKind::JmesPath { .. } | AssertionKind::Script(_) => None,
    }
}

fn xpath_fails(test: &Test, text: &str, path: &TreePath<'_>, negated: bool) -> Option<String> {
    match find_in_tree(test, text, path) {
        Err(why) => Some(why),
        Ok((found, _)) => match (found.holds(), negated) {
            (true, true) => Some(format!("Nodes Matched for {}", path.path)),
            (false, false) => Some(format!("No Nodes Matched {}", path.path)),
            _ => None,
        },
    }
}

fn texts_fail(
    view: &mut View<'_>,
    kind: &AssertionKind,
    (text, code): (Cow<'_, str>, &str),
) -> Option<String> {
    let AssertionKind::Response {
        field,
        test: how,
        negated,
        any,
        texts,
        message,
        applies,
        ..
    } = kind
    else {
        return None;
    };
    let custom = view.text(message);
    // If nothing was received, JMeter examines the stack trace of its exception, so that the
    // assertion fails.
    let is_null = text.is_empty() && !code.starts_with("Non HTTP");
    if is_null && matches!(field, Field::Body) {
        return (!negated).then(|| first_of(custom, || "Response was null".into()));
    }
    let mut failed = String::new();
    for wanted in texts {
        let wanted = view.text(wanted);
        let holds = match holds(view.test(), &text, *how, &wanted) {
            Ok(holds) => holds != *negated,
            Err(why) => return Some(why),
        };
        match (holds, any) {
            (true, true) => return None,
            (true, false) => {}
            (false, true) => {
                let verb = "something using".to_owned();
                let says = fail_text(view, *field, applies, &verb, *how, (&text, &wanted));
                failed.extend([&says, "\t"]);
            }
            (false, false) => {
                let verb = verb(*how, *negated);
                let says = fail_text(view, *field, applies, &verb, *how, (&text, &wanted));
                return Some(first_of(custom, || says));
            }
        }
    }
    (!failed.is_empty()).then(|| first_of(custom, || failed))
}

fn first_of(custom: String, otherwise: impl FnOnce() -> String) -> String {
    if custom.is_empty() {
        otherwise()
    } else {
        custom
    }
}

fn holds(test: &Test, text: &str, how: TextTest, wanted: &str) -> Result<bool, String> {
    Ok(match how {
        TextTest::Equals => text == wanted,
        TextTest::Contains => text.contains(wanted),
        TextTest::ContainsPattern => test.pattern(wanted)?.is_match(text).unwrap_or(false),
        TextTest::Matches => {
            let whole = test.pattern(&format!("\\A(?:{wanted})\\z"))?;
            whole.is_match(text).unwrap_or(false)
        }
    })
}

/// JMeter's message for a text that does not match, or must not match.
fn fail_text(
    view: &mut View<'_>,
    field: Field,
    applies: &Applies,
    verb: &str,
    how: TextTest,
    (found, wanted): (&str, &str),
) -> String {
    let what: Cow<'_, str> = match (applies, field) {
        (Applies::Variable(name), _) => format!("variable({})", view.text(name)).into(),
        (_, Field::Body | Field::BodyUnescaped) => "text".into(),
        (_, Field::BodyAsDocument) => "document".into(),
        (_, Field::ResponseHeaders) => "headers".into(),
        (_, Field::RequestHeaders) => "request headers".into(),
        (_, Field::RequestBody) => "request data".into(),
        (_, Field::Url) => "URL".into(),
        (_, Field::Code) => "code".into(),
        (_, Field::Message) => "message".into(),
    };
    let against = match how {
        TextTest::Equals => difference(found, wanted),
        _ => wanted.to_owned(),
    };
    format!("Test failed: {what} expected {verb} /{against}/")
}

fn verb(how: TextTest, negated: bool) -> String {
    let verb = match how {
        TextTest::Matches => "match",
        TextTest::Equals => "equal",
        TextTest::Contains | TextTest::ContainsPattern => "contain",
    };
    let not = if negated { "not " } else { "" };
    format!("{not}to {verb}")
}

/// Most characters that are shown of each part of a comparison.
const MOST_COMPARED: usize = 100;

/// Two texts below each other with the difference in brackets, as JMeter writes them.
fn difference(found: &str, wanted: &str) -> String {
    let (found, wanted): (Vec<char>, Vec<char>) =
        (found.chars().collect(), wanted.chars().collect());
    let both = found.iter().zip(&wanted);
    let same_before = both.take_while(|(a, b)| a == b).count();
    // The first difference itself does not belong to the common end.
    let most_behind = (found.len().min(wanted.len())).saturating_sub(same_before + 1);
    let both = found.iter().rev().zip(wanted.iter().rev());
    let same_behind = both.take(most_behind).take_while(|(a, b)| a == b).count();
    let beginning = cut(&found[..same_before], true);
    let end = cut(&found[found.len() - same_behind..], false);
    let middle = |text: &[char]| cut(&text[same_before..text.len() - same_behind], false);
    let (found, wanted) = (middle(&found), middle(&wanted));
    let width = found.chars().count().max(wanted.chars().count());
    format!(
        "\n\n****** received  : {beginning}[[[{found:width$}]]]{end}\n\n****** comparison: {beginning}[[[{wanted:width$}]]]{end}\n\n"
    )
}

/// A text shortened to its end or beginning if it is too long.
fn cut(part: &[char], keeps_end: bool) -> String {
    if part.len() <= MOST_COMPARED {
        return part.iter().collect();
    }
    match keeps_end {
        true => {
            let kept: String = part[part.len() - MOST_COMPARED..].iter().collect();
            format!("...{kept}")
        }
        false => {
            let kept: String = part[..MOST_COMPARED].iter().collect();
            format!("{kept}...")
        }
    }
}

fn size_fails(found: u64, is: Comparison, wanted: i64) -> Option<String> {
    let found = i64::try_from(found).unwrap_or(i64::MAX);
    let (holds, words) = match is {
        Comparison::Equal => (found == wanted, "been equal to"),
        Comparison::NotEqual => (found != wanted, "not been equal to"),
        Comparison::Greater => (found > wanted, "been greater than"),
        Comparison::Less => (found < wanted, "been less than"),
        Comparison::GreaterOrEqual => (found >= wanted, "been greater than or equal to"),
        Comparison::LessOrEqual => (found <= wanted, "been less than or equal to"),
    };
    (!holds).then(|| {
        let (found, wanted) = (grouped(found), grouped(wanted));
        format!("The result was the wrong size: It was {found} bytes, but should have {words} {wanted} bytes.")
    })
}

/// JMeter's message of a failed assertion on a JSON path; `None`: it holds.
fn json_fails(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Option<String> {
    let wanted = InJson::of(view, kind)?;
    if result.text.is_empty() {
        return Some("Response was null".into());
    }
    match (
        wanted.must_be_at_path(view.test(), result.text),
        wanted.negated,
    ) {
        (Ok(()), true) => Some(wanted.must_not_be()),
        (Err(says), false) => Some(says),
        _ => None,
    }
}

/// How an assertion on a JMESPath fails.
enum JmesFault {
    /// Something else is there.
    Other(String),
    /// It could not be applied.
    Error(String),
}

/// How an assertion on a JMESPath fails; `None`: it holds.
fn jmes_fails(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Option<JmesFault> {
    let wanted = InJson::of(view, kind)?;
    if result.text.is_empty() {
        return Some(JmesFault::Other("Response was null".into()));
    }
    let found = jmes_value(result.text, wanted.path.trim());
    match found.and_then(|found| wanted.is_found(view.test(), &found)) {
        Ok(holds) if holds != wanted.negated => None,
        Ok(_) => Some(JmesFault::Other(wanted.jmes_says())),
        Err(_) if wanted.negated => None,
        Err(says) => Some(JmesFault::Error(says)),
    }
}

/// Value that an assertion expects at a path in JSON.
struct InJson {
    path: String,
    /// Expected value; `None`: any value.
    expected: Option<String>,
    is_pattern: bool,
    expects_null: bool,
    negated: bool,
}

impl InJson {
    /// What an assertion on JSON expects; `None`: it is of another kind.
    fn of(view: &mut View<'_>, kind: &AssertionKind) -> Option<Self> {
        let (AssertionKind::Json {
            path,
            expected,
            is_pattern,
            expects_null,
            negated,
        }
        | AssertionKind::JmesPath {
            path,
            expected,
            is_pattern,
            expects_null,
            negated,
        }) = kind
        else {
            return None;
        };
        Some(Self {
            path: view.text(path),
            expected: expected.as_ref().map(|expected| view.text(expected)),
            is_pattern: view.flag(is_pattern),
            expects_null: view.flag(expects_null),
            negated: view.flag(negated),
        })
    }

    /// Fails with JMeter's message if the expected value is not at this JSON path.
    fn must_be_at_path(&self, test: &Test, body: &str) -> Result<(), String> {
        let document = json::read(body).ok_or("the body is not valid JSON")?;
        if document == Json::Null {
            return Err("json can not be null".into());
        }
        let compiled = test.json_path(&self.path);
        let value = compiled.and_then(|path| Ok((path.value(&document)?, path.is_definite())));
        let (value, is_definite) = value.map_err(|fault| fault.says().to_owned())?;
        let path = &self.path;
        let Some(expected) = &self.expected else {
            return match value {
                Json::List(items) if items.is_empty() && !is_definite => Err(format!(
                    "JSONPath '{path}' is indefinite and the extracted Value is an empty Array. Please use an assertion value, to be sure to get a correct result. Expected value was ''"
                )),
                _ => Ok(()),
            };
        };
        let is_wanted = |value: &Json| {
            *value == Json::Null && self.expects_null || self.is_value(test, value, expected)
        };
        let holds = match &value {
            Json::List(items) => {
                items.is_empty() && expected == "[]"
                    || items.iter().any(is_wanted)
                    || self.is_value(test, &value, expected)
            }
            value => is_wanted(value),
        };
        if holds {
            return Ok(());
        }
        let found = value.asserted();
        Err(if self.expects_null {
            format!("Value in json path '{path}' expected to be null, but found '{found}'")
        } else {
            self.otherwise(&found, expected)
        })
    }

    fn is_value(&self, test: &Test, value: &Json, expected: &str) -> bool {
        match self.is_pattern {
            true => holds(test, &value.asserted(), TextTest::Matches, expected) == Ok(true),
            false => json::read(expected).unwrap_or(Json::Null).is_same(value),
        }
    }

    /// True if this value of a JMESPath is the expected one. Fails if the expected one is not JSON.
    fn is_found(&self, test: &Test, found: &serde_json::Value) -> Result<bool, String> {
        let Some(expected) = &self.expected else {
            return Ok(!found.is_null());
        };
        let text = json_text(found);
        if self.expects_null {
            return Ok(found.is_null());
        }
        if self.is_pattern {
            return holds(test, &text, TextTest::Matches, expected);
        }
        if text == *expected {
            return Ok(true);
        }
        let wanted: serde_json::Value =
            serde_json::from_str(expected).map_err(|why| match expected.as_str() {
                word if word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => format!(
                    "Unrecognized token '{word}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n at [Source: (String)\"{word}\"; line: 1, column: {}]",
                    word.len() + 1
                ),
                _ => why.to_string(),
            })?;
        Ok(wanted == *found)
    }

    /// JMeter's text where a JMESPath finds something else.
    fn jmes_says(&self) -> String {
        let not = if self.negated { " not" } else { "" };
        match &self.expected {
            None => format!("JMESPATH {} expected{not} to exist", self.path),
            Some(_) if self.expects_null => format!("Value expected{not} to be null"),
            Some(expected) if self.is_pattern => {
                format!("Value expected{not} to match {expected}")
            }
            Some(expected) => format!("Value expected{not} to be equal to {expected}"),
        }
    }

    /// JMeter's text for another value than the expected one.
    fn otherwise(&self, found: &str, expected: &str) -> String {
        let path = &self.path;
        match self.is_pattern {
            true => format!(
                "Value in json path '{path}' expected to match regexp '{expected}', but it did not match: '{found}'"
            ),
            false => format!(
                "Value in json path '{path}' expected to be '{expected}', but found '{found}'"
            ),
        }
    }

    /// JMeter's text for a value that is there and must not be.
    fn must_not_be(&self) -> String {
        let path = &self.path;
        match &self.expected {
            Some(_) if self.expects_null => format!("Failed that JSONPath {path} not matches null"),
            Some(expected) => format!("Failed that JSONPath {path} not matches {expected}"),
            None => format!("Failed that JSONPath not exists: {path}"),
        }
    }
}

/// JMeter's message for a body with another MD5 sum.
fn md5_fails(body: &[u8], wanted: &str) -> Option<String> {
    let mut sum = String::with_capacity(32);
    for byte in Md5::digest(body) {
        let _ = write!(sum, "{byte:02x}");
    }
    (!sum.eq_ignore_ascii_case(wanted))
        .then(|| format!("Error asserting MD5 sum : got {sum} but should have been {wanted}"))
}

fn xml_fails(body: &[u8]) -> Option<String> {
    // The words of Java's parser.
    if !body.is_empty() && body.trim_ascii_start().first() != Some(&b'<') {
        return Some("Content is not allowed in prolog.".into());
    }
    let mut reader = quick_xml::Reader::from_reader(body);
    let mut scratch = Vec::new();
    loop {
        match reader.read_event_into(&mut scratch) {
            Ok(quick_xml::events::Event::Eof) => {
                return body.is_empty().then(|| "Response was null".into());
            }
            Ok(_) => scratch.clear(),
            Err(error) => return Some(error.to_string()),
        }
    }
}
