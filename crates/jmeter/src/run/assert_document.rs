//! Assertions on whole documents: well-formed XML, XPath, checksums.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::assertions::{NO_RESPONSE, Outcome};
use super::context::View;
use super::extract::field_text;
use super::extract_tree::{TreePath, declarations, find_in_tree, names_of};
use super::sample_result::SampleResult;
use crate::document::well_formed;
use crate::document::xpath::{Names, XPathValue};
use crate::plan::{AssertionKind, Field};

/// Applies an assertion that a text is well-formed XML.
pub(super) fn assert_xml(text: &str) -> Outcome {
    if text.is_empty() {
        return Outcome::failed(NO_RESPONSE);
    }
    let says = match well_formed::check(text) {
        Ok(false) => return Outcome::default(),
        Err(fault) if !fault.has_type => fault.says,
        _ => "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true.".into(),
    };
    Outcome {
        is_error: true,
        ..Outcome::failed(says)
    }
}

/// Applies an assertion on an XPath. As in JMeter, other values than nodes and conditions never hold.
pub(super) fn assert_xpath(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Outcome {
    let AssertionKind::XPath {
        path,
        negated,
        aware,
        tolerant,
        applies,
    } = kind
    else {
        return Outcome::default();
    };
    let path = view.text(path);
    let (negated, tolerant) = (view.flag(negated), view.flag(tolerant));
    let names = names_of(view.flag(aware), tolerant);
    let Some(text) = field_text(view, Field::Body, applies, result) else {
        return Outcome::default();
    };
    if text.is_empty() {
        return Outcome::failed(NO_RESPONSE);
    }
    if !tolerant && let Err(fault) = well_formed::check(&text) {
        return Outcome::error(format!("SAXException: {}", fault.says));
    }
    let tree = TreePath {
        path: path.trim(),
        names,
        tolerant,
    };
    let found = match find_in_tree(view.test(), &text, &tree) {
        Ok((found, _)) => found,
        Err(why) => return Outcome::error(format!("TransformerException: {why} for: {path}")),
    };
    let outcome = |failed: bool, says: String| Outcome {
        failed,
        ..Outcome::holds_saying(&says)
    };
    match found {
        XPathValue::Nodes(nodes) if nodes.is_empty() => {
            outcome(!negated, format!("No Nodes Matched {path}"))
        }
        XPathValue::Nodes(_) if negated => {
            Outcome::failed("Specified XPath was found... Turn off negate if this is not desired")
        }
        XPathValue::Nodes(_) => Outcome::holds_saying(""),
        XPathValue::Flag(holds) => {
            let what = if negated {
                "Nodes Matched"
            } else {
                "No Nodes Matched"
            };
            outcome(holds == negated, format!("{what} for {path}"))
        }
        _ => Outcome::failed(format!("Cannot understand: {path}")),
    }
}

/// Applies an assertion on an XPath with prefixes of its own. Any value but false and no node holds.
pub(super) fn assert_xpath2(
    view: &mut View<'_>,
    kind: &AssertionKind,
    result: &SampleResult<'_>,
) -> Outcome {
    let AssertionKind::XPath2 {
        path,
        namespaces,
        negated,
        applies,
    } = kind
    else {
        return Outcome::default();
    };
    let (path, namespaces) = (view.text(path), view.text(namespaces));
    let negated = view.flag(negated);
    let Some(text) = field_text(view, Field::Body, applies, result) else {
        return Outcome::failed(NO_RESPONSE);
    };
    if path.is_empty() {
        return Outcome::holds_saying("");
    }
    let spaces = declarations(&namespaces);
    let tree = TreePath {
        path: path.trim(),
        names: Names::Declared(&spaces),
        tolerant: false,
    };
    let holds = match find_in_tree(view.test(), &text, &tree) {
        Ok((XPathValue::Nodes(nodes), _)) => !nodes.is_empty(),
        Ok((XPathValue::Flag(holds), _)) => holds,
        Ok(_) => true,
        Err(why) => {
            return Outcome::error(format!(
                "Exception occurred computing assertion with XPath:{path}, error:{why}"
            ));
        }
    };
    let what = if negated {
        "Nodes Matched"
    } else {
        "No Nodes Matched"
    };
    Outcome {
        failed: holds == negated,
        ..Outcome::holds_saying(&format!("{what} for {path}"))
    }
}

/// JMeter's message for a body with another MD5 sum.
pub(super) fn md5_fails(body: &[u8], wanted: &str) -> Option<String> {
    if body.is_empty() {
        return Some(NO_RESPONSE.into());
    }
    if wanted.is_empty() {
        return Some("MD5Hex to test against is empty".into());
    }
    let mut sum = String::with_capacity(32);
    for byte in Md5::digest(body) {
        let _ = write!(sum, "{byte:02x}");
    }
    (!sum.eq_ignore_ascii_case(wanted))
        .then(|| format!("Error asserting MD5 sum : got {sum} but should have been {wanted}"))
}
