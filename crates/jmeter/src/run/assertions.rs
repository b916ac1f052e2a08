//! Assertions on the result of a sampler or transaction.

use std::borrow::Cow;

use super::assert_document::{assert_xml, assert_xpath, assert_xpath2, md5_fails};
use super::assert_json::{assert_jmes_path, assert_json};
use super::context::View;
use super::extract::field_text;
use super::row::Asserted;
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::sub_results::InnerVerdict;
use super::test::Test;
use crate::digits::grouped;
use crate::jtl::SavedDetails;
use crate::plan::{Applies, AssertionKind, Comparison, Field, Id, SizeField, TextTest};
use crate::script::{ScriptLanguage, ScriptSample};

/// JMeter's message where there is nothing to examine.
pub(super) const NO_RESPONSE: &str = "Response was null";

/// JMeter's name for an assertion that threw an `Error` of Java.
const DIED: &str = "Assertion failed! See log file (debug level, only).";

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

/// The outcome of one assertion.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// It does not hold.
    pub failed: bool,
    /// It could not be applied.
    pub is_error: bool,
    /// Its message, which some have that hold.
    pub says: Option<String>,
}

impl Outcome {
    /// It holds, with a message.
    pub fn holds_saying(says: &str) -> Self {
        Self {
            says: Some(says.into()),
            ..Self::default()
        }
    }

    /// It does not hold.
    pub fn failed(says: impl Into<String>) -> Self {
        Self {
            failed: true,
            says: Some(says.into()),
            ..Self::default()
        }
    }

    /// It could not be applied.
    pub fn error(says: impl Into<String>) -> Self {
        Self {
            is_error: true,
            says: Some(says.into()),
            ..Self::default()
        }
    }

    /// It fails the result.
    fn fails(&self) -> bool {
        self.failed || self.is_error
    }

    fn asserted(&self, name: String) -> Asserted {
        Asserted {
            name,
            failed: self.failed,
            is_error: self.is_error,
            says: self.says.clone(),
        }
    }
}

/// It fails with a message, or holds.
impl From<Option<String>> for Outcome {
    fn from(says: Option<String>) -> Self {
        says.map_or_else(Self::default, Self::failed)
    }
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
        let (mut changed, mut died) = (None, false);
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
        let outcome = match kind {
            AssertionKind::Script(script) => {
                let mut seen = result.seen(view);
                seen.success = verdict.success;
                seen.asserted.clone_from(&verdict.asserted);
                let owner = (ScriptOwner::Assertion, &assertion.name);
                let done = run_script(view, owner, script, Some(seen));
                if let Some(seen) = &done.seen {
                    verdict.success = seen.success;
                    view.thread.set_label(&seen.label);
                }
                changed = done.seen;
                died = done.fault.as_ref().is_some_and(|fault| fault.is_error);
                let judged = Outcome {
                    failed: done.judgement.failed,
                    // BeanShell's variable for it is an empty text at first.
                    says: (done.judgement.failed || script.language == ScriptLanguage::BeanShell)
                        .then_some(done.judgement.message),
                    ..Outcome::default()
                };
                done.fault.map_or(judged, |fault| match fault.is_error {
                    true => Outcome::failed(fault.exception.unwrap_or_default()),
                    false => Outcome::error(fault.in_jmeter()),
                })
            }
            kind => outcome_of(view, kind, result),
        };
        if holds.assertions {
            let name = match died {
                true => DIED.to_owned(),
                false => view.text(&assertion.name),
            };
            verdict.asserted.push(outcome.asserted(name));
        }
        if outcome.fails() {
            verdict.fail(outcome.says.unwrap_or_default());
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
    verdict
        .inner
        .resize(result.inner.len(), InnerVerdict::default());
    let mut has_failed = false;
    for (number, inner) in result.inner.iter().enumerate() {
        let outcome = outcome_of(view, &assertion.kind, &SampleResult::of_inner(test, inner));
        let of = &mut verdict.inner[number];
        of.failed |= outcome.fails();
        has_failed |= of.failed || !inner.success;
        if holds.assertions {
            of.asserted.push(outcome.asserted(name.clone()));
        }
    }
    if has_failed && verdict.success {
        const SAYS: &str = "One or more sub-samples failed";
        verdict.fail(SAYS.into());
        if holds.assertions {
            verdict.asserted.push(Outcome::failed(SAYS).asserted(name));
        }
    }
}

/// Applies an assertion other than a script's to a result.
fn outcome_of(view: &mut View<'_>, kind: &AssertionKind, result: &SampleResult<'_>) -> Outcome {
    let failed = match kind {
        AssertionKind::Response { field, applies, .. } => {
            let Some(text) = field_text(view, *field, applies, result) else {
                return Outcome::failed(NO_RESPONSE);
            };
            return texts_fail(view, kind, (text, result.code));
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
        AssertionKind::Json { .. } => return assert_json(view, kind, result),
        AssertionKind::JmesPath { .. } => return assert_jmes_path(view, kind, result),
        AssertionKind::WellFormedXml => return assert_xml(result.text),
        AssertionKind::XPath { .. } => return assert_xpath(view, kind, result),
        AssertionKind::XPath2 { .. } => return assert_xpath2(view, kind, result),
        AssertionKind::Md5 { sum } => {
            let wanted = view.text(sum);
            md5_fails(result.body, wanted.trim())
        }
        // Handled by the caller.
        AssertionKind::Script(_) => None,
    };
    failed.into()
}

fn texts_fail(
    view: &mut View<'_>,
    kind: &AssertionKind,
    (text, code): (Cow<'_, str>, &str),
) -> Outcome {
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
        return Outcome::default();
    };
    let custom = view.text(message);
    // If nothing was received, JMeter examines the stack trace of its exception, so that the
    // assertion fails.
    let has_trace = matches!(field, Field::Body) && code.starts_with("Non HTTP");
    if text.is_empty() && !has_trace {
        // Of this JMeter tells in its own words alone.
        return (!negated).then(|| NO_RESPONSE.to_owned()).into();
    }
    let mut failed = String::new();
    for wanted in texts {
        let wanted = view.text(wanted);
        let holds = match holds(view.test(), &text, *how, &wanted) {
            Ok(holds) => holds != *negated,
            Err(why) => {
                const CLASS: &str = "org.apache.oro.text.MalformedCachePatternException";
                return Outcome::error(format!("Bad test configuration {CLASS}: {why}"));
            }
        };
        match (holds, any) {
            (true, true) => return Outcome::default(),
            (true, false) => {}
            (false, true) => {
                let verb = "something using".to_owned();
                let says = fail_text(view, *field, applies, &verb, *how, (&text, &wanted));
                failed.extend([&says, "\t"]);
            }
            (false, false) => {
                let verb = verb(*how, *negated);
                let says = fail_text(view, *field, applies, &verb, *how, (&text, &wanted));
                return Outcome::failed(first_of(custom, || says));
            }
        }
    }
    (!failed.is_empty())
        .then(|| first_of(custom, || failed))
        .into()
}

fn first_of(custom: String, otherwise: impl FnOnce() -> String) -> String {
    if custom.is_empty() {
        otherwise()
    } else {
        custom
    }
}

pub(super) fn holds(test: &Test, text: &str, how: TextTest, wanted: &str) -> Result<bool, String> {
    Ok(match how {
        TextTest::Equals => text == wanted,
        TextTest::Contains => text.contains(wanted),
        TextTest::ContainsPattern => test.pattern(wanted)?.is_match(text).unwrap_or(false),
        TextTest::Matches => test.matches_whole(wanted, text)?,
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
