//! Extraction from a result by CSS selector, XPath or JMESPath.

use super::context::View;
use super::css::css;
use super::extract::{
    MOST_MATCHES, MatchGroups, PathWanted, field_texts, in_all, json_text, set_found, set_matches,
    set_texts,
};
use super::jmes;
use super::sample_result::SampleResult;
use super::test::Test;
use crate::document::Document;
use crate::document::well_formed;
use crate::document::xpath::{Names, XPathValue};
use crate::expression::Template;
use crate::json::PathFault;
use crate::plan::{Extraction, Field, PostKind};

/// An XPath and how the document is parsed.
pub(super) struct TreePath<'a> {
    pub path: &'a str,
    /// Matching of its names.
    pub names: Names<'a>,
    /// The document may be HTML.
    pub tolerant: bool,
}

/// Executes a postprocessor that extracts from a tree; ignores others.
pub(super) fn extract_tree(view: &mut View<'_>, kind: &PostKind, result: &SampleResult<'_>) {
    if let PostKind::JmesPath { path, extraction } = kind {
        return extract_jmes(view, (path, extraction), result);
    }
    let (PostKind::Css { extraction, .. } | PostKind::XPath { extraction, .. }) = kind else {
        return;
    };
    let Some(found) = matches_of(view, kind, result) else {
        return;
    };
    let mut found = found.unwrap_or_else(|why| {
        view.test().sink.trouble(&why);
        Vec::new()
    });
    found.truncate(MOST_MATCHES);
    if let PostKind::XPath { .. } = kind {
        return set_texts(view, extraction, &found);
    }
    let groups: Vec<MatchGroups> = found
        .into_iter()
        .flatten()
        .map(|text| vec![Some(text.clone()), Some(text)])
        .collect();
    set_matches(view, extraction, &groups, None);
}

fn extract_jmes(
    view: &mut View<'_>,
    (path, extraction): (&Template, &Extraction),
    result: &SampleResult<'_>,
) {
    let path = view.text(path);
    let name = view.text(&extraction.variable);
    let default = extraction.default.as_ref();
    let default = default
        .map(|default| view.text(default))
        .unwrap_or_default();
    let wanted = view.integer(&extraction.match_number);
    let texts = field_texts(view, Field::Body, &extraction.applies, result);
    let mut texts = texts.unwrap_or_default();
    texts.retain(|text| !text.trim().is_empty());
    let found = (!texts.is_empty()).then(|| {
        let found = in_all(&texts, |text| jmes_texts(text, path.trim()));
        found.map_err(PathFault::Invalid)
    });
    let how = PathWanted {
        joins: false,
        wanted,
        default: &default,
    };
    set_found(view, &name, found, &how);
}

/// The matches of a postprocessor, some without a value; `None`: there is no text to examine.
fn matches_of(
    view: &mut View<'_>,
    kind: &PostKind,
    result: &SampleResult<'_>,
) -> Option<Result<Vec<Option<String>>, String>> {
    match kind {
        PostKind::Css {
            selector,
            attribute,
            extraction,
        } => {
            let (selector, attribute) = (view.text(selector), view.text(attribute));
            let texts = field_texts(view, Field::Body, &extraction.applies, result)?;
            Some(in_all(&texts, |text| {
                let found = css(text, &selector, attribute.trim())?;
                Ok(found.into_iter().map(Some).collect())
            }))
        }
        PostKind::XPath {
            path,
            namespaces,
            aware,
            tolerant,
            fragment,
            whole,
            extraction,
        } => {
            let (path, namespaces) = (view.text(path), view.text(namespaces));
            let (tolerant, fragment) = (view.flag(tolerant), view.flag(fragment));
            let is_aware = view.flag(aware);
            let spaces = declarations(&namespaces);
            let texts = field_texts(view, Field::Body, &extraction.applies, result)?;
            let path = TreePath {
                path: path.trim(),
                names: match whole {
                    true => Names::Declared(&spaces),
                    false => names_of(is_aware, tolerant),
                },
                tolerant,
            };
            let test = view.test();
            Some(in_all(&texts, |text| {
                let (found, document) = find_in_tree(test, text, &path)?;
                if !whole && !fragment {
                    return found.first_texts(&document);
                }
                let texts = found.texts(&document, fragment)?;
                Ok(texts.into_iter().map(Some).collect())
            }))
        }
        _ => None,
    }
}

/// The prefixes and namespaces of lines of the form `prefix=namespace`.
pub(super) fn declarations(lines: &str) -> Vec<(String, String)> {
    let pairs = lines.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(prefix, space)| (prefix.trim().to_owned(), space.trim().to_owned()))
        .collect()
}

/// Matching of names in XPath 1.0. The tolerant parser knows no namespaces.
pub(super) fn names_of(is_aware: bool, tolerant: bool) -> Names<'static> {
    match is_aware && !tolerant {
        true => Names::Aware,
        false => Names::Unaware,
    }
}

/// The matches of an XPath in a text. Fails if the text or the path is not valid.
pub(super) fn find_in_tree(
    test: &Test,
    text: &str,
    tree: &TreePath<'_>,
) -> Result<(XPathValue, Document), String> {
    let path = test.xpath(tree.path)?;
    let document = match tree.tolerant {
        true => Document::html(text)?,
        false => {
            let fault = |why: String| format!("the body is not valid XML: {why}");
            well_formed::check(text).map_err(|why| fault(why.says))?;
            Document::xml(text).map_err(fault)?
        }
    };
    let found = path.find(&document, tree.names)?;
    Ok((found, document))
}

/// The matches of a JMESPath: the items of a list, or one value. Fails if the path is not valid or
/// cannot be evaluated.
fn jmes_texts(text: &str, path: &str) -> Result<Vec<String>, String> {
    Ok(match jmes_value(text, path)? {
        serde_json::Value::Null => Vec::new(),
        serde_json::Value::Array(items) => items.iter().map(json_text).collect(),
        one => vec![json_text(&one)],
    })
}

/// The value of a JMESPath. Fails if the text or the path is not valid, or it cannot be evaluated.
pub(super) fn jmes_value(text: &str, path: &str) -> Result<serde_json::Value, String> {
    let document = serde_json::from_str::<serde_json::Value>(text)
        .map_err(|why| format!("the body is not valid JSON: {why}"))?;
    jmes::search(path, &document, text.len())
}
