//! Assertions on the result of a sampler or transaction.

use std::borrow::Cow;
use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::context::View;
use super::extract::{field_text, json_matches, json_text};
use super::extract_tree::{TreePath, find_in_tree, jmes};
use super::row::Asserted;
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::test::Test;
use crate::jtl::SavedDetails;
use crate::plan::{Applies, AssertionKind, Comparison, Field, Id, SizeField, TextTest};

/// The outcome of all assertions on a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The result is successful.
    pub success: bool,
    /// Message of the first failed assertion.
    pub says: String,
    /// The outcome of each assertion, if a result file contains them.
    pub asserted: Vec<Asserted>,
}

/// Applies assertions to a result, in order.
pub(super) fn assert_all(
    view: &mut View<'_>,
    assertions: &[Id],
    holds: SavedDetails,
    result: &SampleResult<'_>,
) -> Verdict {
    let mut verdict = Verdict {
        success: result.success,
        ..Verdict::default()
    };
    for id in assertions {
        let assertion = &view.test().plan.assertions[*id as usize];
        let kind = &assertion.kind;
        if let AssertionKind::Response { assume_success, .. } = kind
            && view.flag(assume_success)
        {
            verdict.success = true;
        }
        let says = match kind {
            AssertionKind::Script(script) => {
                let seen = Some(result.seen(view.thread.label()));
                let owner = (ScriptOwner::Assertion, &assertion.name);
                let done = run_script(view, owner, script, seen);
                let judged = done.judgement.failed.then_some(done.judgement.message);
                done.fault.or(judged)
            }
            kind => failure(view, kind, result),
        };
        if holds.assertions {
            verdict.asserted.push(Asserted {
                name: view.text(&assertion.name),
                fails: says.clone(),
            });
        }
        if let Some(says) = says {
            verdict.success = false;
            if verdict.says.is_empty() {
                verdict.says = says;
            }
        }
    }
    verdict
}

/// JMeter's message of a failed assertion; `None`: it holds.
fn failure(view: &mut View<'_>, kind: &AssertionKind, result: &SampleResult<'_>) -> Option<String> {
    match kind {
        AssertionKind::Response { field, applies, .. } => {
            let text = field_text(view, *field, applies, result)?;
            texts_fail(view, kind, (text, result.code))
        }
        AssertionKind::Duration { most_ms, applies } => {
            let most_ms = view.integer(most_ms);
            let over = most_ms > 0
                && result.elapsed_ms > most_ms as u64
                && !matches!(applies, Applies::Inner);
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
        AssertionKind::Json { .. } | AssertionKind::JmesPath { .. } => {
            json_fails(view, kind, result)
        }
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
        AssertionKind::Script(_) => None,
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
        format!("The result was the wrong size: It was {found} bytes, but should have {words} {wanted} bytes.")
    })
}

/// JMeter's message of a failed assertion on a JSON body; `None`: it holds.
fn json_fails(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Option<String> {
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
    let path = view.text(path);
    let (negated, expects_null) = (view.flag(negated), view.flag(expects_null));
    let wanted = InJson {
        path,
        is_jmes_path: matches!(kind, AssertionKind::JmesPath { .. }),
        expected: expected.as_ref().map(|expected| view.text(expected)),
        is_pattern: view.flag(is_pattern),
        expects_null,
    };
    match (wanted.must_be_in(view.test(), result.text), negated) {
        (Ok(()), true) => Some(wanted.must_not_be()),
        (Err(says), false) => Some(says),
        _ => None,
    }
}

/// Value that an assertion expects at a path in JSON.
struct InJson {
    path: String,
    /// The path is JMESPath, not JSONPath.
    is_jmes_path: bool,
    /// Expected value; `None`: any value.
    expected: Option<String>,
    is_pattern: bool,
    expects_null: bool,
}

impl InJson {
    /// Fails with JMeter's message if the expected value is not there.
    fn must_be_in(&self, test: &Test, body: &str) -> Result<(), String> {
        let document: serde_json::Value =
            serde_json::from_str(body).map_err(|e| format!("the body is not valid JSON: {e}"))?;
        let path = &self.path;
        let compiled = match self.is_jmes_path {
            true => None,
            false => Some(test.path(path)?),
        };
        let found = match &compiled {
            None => jmes(body, path.trim())?,
            Some(compiled) => json_matches(compiled, path, &document),
        };
        match (found.is_empty(), &self.expected) {
            (true, _) if self.expects_null => Ok(()),
            (true, _) => Err(format!("No results for path: {}", bracketed(path))),
            (false, Some(expected)) if !found.iter().any(|text| self.fits(test, text)) => {
                let nodes = compiled
                    .as_ref()
                    .map(|compiled| compiled.query(&document).all());
                let found = match nodes.as_deref() {
                    None => found.join(","),
                    Some([one]) => json_text(one),
                    Some(several) => serde_json::json!(several).to_string(),
                };
                Err(match self.is_pattern {
                    true => format!(
                        "Value in json path '{path}' expected to match regexp '{expected}', but it did not match: '{found}'"
                    ),
                    false => format!(
                        "Value in json path '{path}' expected to be '{expected}', but found '{found}'"
                    ),
                })
            }
            (false, _) => Ok(()),
        }
    }

    fn fits(&self, test: &Test, text: &str) -> bool {
        match &self.expected {
            None => true,
            Some(_) if self.expects_null => text == "null",
            Some(pattern) if self.is_pattern => {
                holds(test, text, TextTest::Matches, pattern) == Ok(true)
            }
            Some(expected) => text == expected,
        }
    }

    /// JMeter's text for a value that is there and must not be.
    fn must_not_be(&self) -> String {
        let path = &self.path;
        match &self.expected {
            Some(expected) => format!("Failed that JSONPath {path} not matches {expected}"),
            None => format!("Failed that JSONPath not exists: {path}"),
        }
    }
}

/// A path of plain names as JMeter's library writes it: `$['a']['b']`; any other path as it is.
fn bracketed(path: &str) -> String {
    let plain = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match path.strip_prefix("$.") {
        Some(names) if names.split('.').all(plain) => {
            let names = names.split('.').map(|name| format!("['{name}']"));
            format!("${}", names.collect::<String>())
        }
        _ => path.to_owned(),
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
