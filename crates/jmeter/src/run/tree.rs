//! What do CSS selectors, XPaths and JMESPaths find in a result?

use scraper::{Html, Selector};

use super::answer::Answer;
use super::extract::{Groups, json_text};
use super::test::Test;
use super::user::Body;
use crate::document::Document;
use crate::document::xpath::{Found, XPath};
use crate::expression::Template;
use crate::plan::{Applies, Extraction, Field, Id, PostKind, Value};

/// Most matches of one extraction.
const MOST_MATCHES: usize = 100_000;

/// How an XPath is looked for.
pub(super) struct Looked<'a> {
    pub path: &'a str,
    pub namespaces: &'a str,
    /// The document may be HTML.
    pub tolerant: bool,
}

impl Body {
    /// Carries out an extraction from a tree; others are left alone.
    pub(super) fn extract_tree(&mut self, test: &Test, now_ns: i64, id: Id, answer: &Answer<'_>) {
        let found = match &test.plan.post_processors[id as usize].kind {
            PostKind::Css {
                selector,
                attribute,
                extraction,
            } => {
                let mut view = self.person.view(test, now_ns);
                let (selector, attribute) = (view.text(selector), view.text(attribute));
                let text = self.body_of(test, now_ns, extraction, answer);
                text.map(|text| (extraction, css(&text, &selector, attribute.trim())))
            }
            PostKind::XPath {
                path,
                namespaces,
                tolerant,
                fragment,
                extraction,
            } => self.xpath(
                test,
                now_ns,
                (path, namespaces),
                (tolerant, fragment),
                extraction,
                answer,
            ),
            PostKind::JmesPath { path, extraction } => {
                let path = self.person.view(test, now_ns).text(path);
                let text = self.body_of(test, now_ns, extraction, answer);
                text.map(|text| (extraction, jmes(&text, path.trim())))
            }
            _ => None,
        };
        let Some((extraction, found)) = found else {
            return;
        };
        let found = found.unwrap_or_else(|why| {
            test.sink.trouble(&why);
            Vec::new()
        });
        let groups: Vec<Groups> = found
            .into_iter()
            .take(MOST_MATCHES)
            .map(|text| vec![text.clone(), text])
            .collect();
        self.set_matches(test, now_ns, extraction, &groups, None);
    }

    fn xpath<'e>(
        &mut self,
        test: &Test,
        now_ns: i64,
        (path, namespaces): (&Template, &Template),
        (tolerant, fragment): (&Value<bool>, &Value<bool>),
        extraction: &'e Extraction,
        answer: &Answer<'_>,
    ) -> Option<(&'e Extraction, Result<Vec<String>, String>)> {
        let mut view = self.person.view(test, now_ns);
        let (path, namespaces) = (view.text(path), view.text(namespaces));
        let (tolerant, fragment) = (view.flag(tolerant), view.flag(fragment));
        let text = self.body_of(test, now_ns, extraction, answer)?;
        let looked = Looked {
            path: path.trim(),
            namespaces: &namespaces,
            tolerant,
        };
        let found = find(test, &text, &looked);
        let texts = found.map(|(found, document)| found.texts(&document, fragment));
        Some((extraction, texts))
    }

    fn body_of<'a>(
        &mut self,
        test: &Test,
        now_ns: i64,
        extraction: &Extraction,
        answer: &Answer<'a>,
    ) -> Option<std::borrow::Cow<'a, str>> {
        self.looked_at(test, now_ns, Field::Body, &extraction.applies, answer)
    }

    /// Why an assertion by XPath does not hold; `None`: it does.
    pub(super) fn xpath_fails(
        &mut self,
        test: &Test,
        now_ns: i64,
        (looked, negated): (&Looked<'_>, bool),
        applies: &Applies,
        answer: &Answer<'_>,
    ) -> Option<String> {
        let text = self.looked_at(test, now_ns, Field::Body, applies, answer)?;
        let path = looked.path;
        match find(test, &text, looked) {
            Err(why) => Some(why),
            Ok((found, _)) => match (found.holds(), negated) {
                (true, true) => Some(format!("Nodes Matched for {path}")),
                (false, false) => Some(format!("No Nodes Matched {path}")),
                _ => None,
            },
        }
    }
}

/// What an XPath finds in a text. Errors: the text or the path is none, and why.
fn find(test: &Test, text: &str, looked: &Looked<'_>) -> Result<(Found, Document), String> {
    let path = test.xpath(looked.path)?;
    let document = match looked.tolerant {
        true => Document::html(text),
        false => Document::xml(text).map_err(|why| format!("the body is no XML: {why}"))?,
    };
    let pairs = looked
        .namespaces
        .lines()
        .filter_map(|line| line.split_once('='));
    let spaces: Vec<_> = pairs
        .map(|(prefix, space)| (prefix.trim().to_owned(), space.trim().to_owned()))
        .collect();
    let found = path.find(&document, &spaces)?;
    Ok((found, document))
}

/// What a CSS selector finds: the texts of elements, or an attribute of each. Errors: it is none.
fn css(text: &str, selector: &str, attribute: &str) -> Result<Vec<String>, String> {
    let parsed =
        Selector::parse(selector).map_err(|_| format!("`{selector}` is no CSS selector"))?;
    let document = Html::parse_document(text);
    let found = document.select(&parsed);
    Ok(match attribute {
        "" => found
            .map(|element| {
                let text: String = element.text().collect();
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            })
            .collect(),
        // As jsoup has it: an attribute that is not there is empty.
        name => found
            .map(|element| element.value().attr(name).unwrap_or_default().to_owned())
            .collect(),
    })
}

/// What a JMESPath finds: the items of a list, or one value. Errors: it is none, or cannot be
/// evaluated.
pub(super) fn jmes(text: &str, path: &str) -> Result<Vec<String>, String> {
    let compiled = jmespath::compile(path).map_err(|_| format!("`{path}` is no JMESPath"))?;
    let Ok(document) = serde_json::from_str::<serde_json::Value>(text) else {
        return Ok(Vec::new());
    };
    let found = compiled
        .search(&document)
        .map_err(|why| format!("`{path}`: {}", why.reason))?;
    let found = serde_json::to_value(&*found).unwrap_or_default();
    Ok(match found {
        serde_json::Value::Null => Vec::new(),
        serde_json::Value::Array(items) => items.iter().map(json_text).collect(),
        one => vec![json_text(&one)],
    })
}

impl Test {
    /// An XPath of this text. Errors: what is wrong with it.
    fn xpath(&self, text: &str) -> Result<std::sync::Arc<XPath>, String> {
        // Its own words say more than that it is none.
        let compile = || XPath::parse(text).ok();
        super::test::cached(&self.xpaths, text, compile).ok_or_else(|| {
            let why = XPath::parse(text).err().unwrap_or_default();
            format!("`{text}` is no XPath: {why}")
        })
    }
}
