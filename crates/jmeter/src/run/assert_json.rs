//! Assertions on JSON: by JSON path and by JMESPath.

use super::assertions::{NO_RESPONSE, Outcome, holds};
use super::context::View;
use super::extract::json_text;
use super::extract_tree::jmes_value;
use super::sample_result::SampleResult;
use super::test::Test;
use crate::json::{self, Value as Json};
use crate::plan::{AssertionKind, TextTest};

/// Applies an assertion on a JSON path. One that holds has an empty message.
pub(super) fn assert_json(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Outcome {
    let Some(wanted) = InJson::of(view, kind) else {
        return Outcome::default();
    };
    if result.text.is_empty() {
        return Outcome::failed(NO_RESPONSE);
    }
    let found = wanted.must_be_at_path(view.test(), result.text);
    match (found, wanted.negated) {
        (Ok(()), true) => Outcome::failed(wanted.must_not_be()),
        (Err(says), false) => Outcome::failed(says),
        _ => Outcome::holds_saying(""),
    }
}

/// Applies an assertion on a JMESPath. One that holds has an empty message.
pub(super) fn assert_jmes_path(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Outcome {
    let Some(wanted) = InJson::of(view, kind) else {
        return Outcome::default();
    };
    if result.text.is_empty() {
        return Outcome::failed(NO_RESPONSE);
    }
    let found = jmes_value(result.text, wanted.path.trim());
    match found.and_then(|found| wanted.is_found(view.test(), &found)) {
        Ok(holds) if holds != wanted.negated => Outcome::holds_saying(""),
        Ok(_) => Outcome::failed(wanted.jmes_says()),
        Err(_) if wanted.negated => Outcome::holds_saying(""),
        Err(says) => Outcome::error(says),
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
    /// Expectation of an assertion on JSON; `None`: it is of another kind.
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
            // No text is an empty one.
            false if expected.is_empty() => Json::Text(String::new()).is_same(value),
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
