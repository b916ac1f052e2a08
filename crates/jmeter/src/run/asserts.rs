//! Does a result hold what it must?

use std::borrow::Cow;
use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::answer::Answer;
use super::extract::{json_matches, json_text};
use super::person::View;
use super::row::Asserted;
use super::scripted::Has;
use super::test::Test;
use super::tree::{Looked, jmes};
use super::user::Body;
use crate::jtl::Holds;
use crate::plan::{Applies, AssertionKind, Comparison, Field, Id, SizeField, TextTest};

/// What came of all assertions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The result is good.
    pub success: bool,
    /// What the first failed assertion said.
    pub says: String,
    /// What each of them said, where a file of results holds it.
    pub asserted: Vec<Asserted>,
}

impl Body {
    /// Looks at a result with all assertions in scope, in order.
    pub(super) fn assert(
        &mut self,
        test: &Test,
        now_ns: i64,
        (assertions, holds): (&[Id], Holds),
        answer: &Answer<'_>,
    ) -> Verdict {
        let mut verdict = Verdict {
            success: answer.success,
            ..Verdict::default()
        };
        for id in assertions {
            let assertion = &test.plan.assertions[*id as usize];
            let kind = &assertion.kind;
            if let AssertionKind::Response { assume_success, .. } = kind
                && self.person.view(test, now_ns).flag(assume_success)
            {
                verdict.success = true;
            }
            let says = match kind {
                AssertionKind::Script(script) => {
                    let seen = Some(self.seen(answer));
                    let done = self.run_script(
                        test,
                        now_ns,
                        (Has::Assertion, script),
                        &assertion.name,
                        seen,
                    );
                    let judged = done.judgement.failed.then_some(done.judgement.message);
                    done.fault.or(judged)
                }
                kind => self.fails(test, now_ns, kind, answer),
            };
            if holds.assertions {
                verdict.asserted.push(Asserted {
                    name: self.person.view(test, now_ns).text(&assertion.name),
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

    /// Why an assertion does not hold; `None`: it does.
    fn fails(
        &mut self,
        test: &Test,
        now_ns: i64,
        kind: &AssertionKind,
        answer: &Answer<'_>,
    ) -> Option<String> {
        match kind {
            AssertionKind::Response { field, applies, .. } => {
                let text = self.looked_at(test, now_ns, *field, applies, answer)?;
                self.texts_fail(test, now_ns, kind, (text, answer.code))
            }
            AssertionKind::Duration { most_ms, applies } => {
                let most_ms = self.person.view(test, now_ns).integer(most_ms);
                let over = most_ms > 0
                    && answer.elapsed_ms > most_ms as u64
                    && !matches!(applies, Applies::Inner);
                over.then(|| {
                    format!(
                        "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {most_ms} milliseconds.",
                        answer.elapsed_ms
                    )
                })
            }
            AssertionKind::Size {
                field, is, bytes, ..
            } => {
                let wanted = self.person.view(test, now_ns).integer(bytes);
                let found = match field {
                    SizeField::Response => answer.bytes,
                    SizeField::Headers => answer.head_bytes,
                    SizeField::Body => answer.bytes.saturating_sub(answer.head_bytes),
                    SizeField::Code => answer.code.len() as u64,
                    SizeField::Message => answer.message.len() as u64,
                };
                size_fails(found, *is, wanted)
            }
            AssertionKind::Json { .. } => {
                json_fails(&mut self.person.view(test, now_ns), kind, answer)
            }
            AssertionKind::WellFormedXml => xml_fails(answer.body),
            AssertionKind::JmesPath { .. } => {
                json_fails(&mut self.person.view(test, now_ns), kind, answer)
            }
            AssertionKind::XPath {
                path,
                negated,
                tolerant,
                applies,
            } => {
                let mut view = self.person.view(test, now_ns);
                let path = view.text(path);
                let (negated, tolerant) = (view.flag(negated), view.flag(tolerant));
                let looked = Looked {
                    path: path.trim(),
                    namespaces: "",
                    tolerant,
                };
                self.xpath_fails(test, now_ns, (&looked, negated), applies, answer)
            }
            AssertionKind::Md5 { sum } => {
                let wanted = self.person.view(test, now_ns).text(sum);
                md5_fails(answer.body, wanted.trim())
            }
            // Told by whoever asks.
            AssertionKind::Script(_) => None,
        }
    }

    fn texts_fail(
        &mut self,
        test: &Test,
        now_ns: i64,
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
        let mut view = self.person.view(test, now_ns);
        let custom = view.text(message);
        // Where nothing came back JMeter looks at the trace of its exception: a text that fails.
        let is_null = text.is_empty() && !code.starts_with("Non HTTP");
        if is_null && matches!(field, Field::Body) {
            return (!negated).then(|| first_of(custom, || "Response was null".into()));
        }
        let mut failed = String::new();
        for wanted in texts {
            let wanted = view.text(wanted);
            let holds = match holds(test, &text, *how, &wanted) {
                Ok(holds) => holds != *negated,
                Err(why) => return Some(why),
            };
            match (holds, any) {
                (true, true) => return None,
                (true, false) => {}
                (false, true) => {
                    let verb = "something using".to_owned();
                    let says = fail_text(&mut view, *field, applies, &verb, *how, (&text, &wanted));
                    failed.extend([&says, "\t"]);
                }
                (false, false) => {
                    let verb = verb(*how, *negated);
                    let says = fail_text(&mut view, *field, applies, &verb, *how, (&text, &wanted));
                    return Some(first_of(custom, || says));
                }
            }
        }
        (!failed.is_empty()).then(|| first_of(custom, || failed))
    }
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

/// JMeter's words for a text that is not, or is, as it should be.
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

/// Most characters of a part of two texts that are compared.
const MOST_COMPARED: usize = 100;

/// Two texts below each other, what differs in brackets, as JMeter writes them.
fn difference(found: &str, wanted: &str) -> String {
    let (found, wanted): (Vec<char>, Vec<char>) =
        (found.chars().collect(), wanted.chars().collect());
    let both = found.iter().zip(&wanted);
    let same_before = both.take_while(|(a, b)| a == b).count();
    // The first difference itself is never part of the end.
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

/// A part that is not too long; of a longer one the end or the beginning.
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

/// Assertions about what a path finds in JSON.
fn json_fails(view: &mut View<'_>, kind: &AssertionKind, answer: &Answer<'_>) -> Option<String> {
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
    match (wanted.must_be_in(view.test(), answer.text), negated) {
        (Ok(()), true) => Some(wanted.must_not_be()),
        (Err(says), false) => Some(says),
        _ => None,
    }
}

/// What is wanted of a place in JSON.
struct InJson {
    path: String,
    /// The path is one of JMESPath, not of JSONPath.
    is_jmes_path: bool,
    /// `None`: that there is anything.
    expected: Option<String>,
    is_pattern: bool,
    expects_null: bool,
}

impl InJson {
    /// The error is what JMeter says when it is not there.
    fn must_be_in(&self, test: &Test, body: &str) -> Result<(), String> {
        let document: serde_json::Value =
            serde_json::from_str(body).map_err(|e| format!("the body is no JSON: {e}"))?;
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

    /// What JMeter says when it is there and must not be.
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

/// JMeter's words for a body whose MD5 sum is another.
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
