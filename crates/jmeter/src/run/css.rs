//! CSS selectors within bounds.
//!
//! The library recurses over a selector and looks at all ancestors and siblings of every element. A
//! selector is measured before it is parsed, and how much there is to look at before it is carried out.

use scraper::{ElementRef, Html, Node, Selector};

use crate::document::{MOST_TEXT_BYTES, TOO_MUCH_TEXT, markup};

/// Longest selector, bytes.
const MOST_BYTES: usize = 4 << 10;
/// Deepest nesting of brackets.
const MOST_DEPTH: usize = 8;
/// Most elements that are looked at, the ancestors and siblings of each counted again, for each part of the
/// selector.
const MOST_LOOKS: u64 = 200_000_000;

/// The matches of a CSS selector: the texts of elements, or an attribute of each. Fails if the
/// selector is not valid, or asks for too much.
pub(super) fn css(text: &str, selector: &str, attribute: &str) -> Result<Vec<String>, String> {
    let (parsed, parts) = parsed(selector)?;
    let document = markup::parse(text)?;
    let looks = looks(&document, selector.contains(['~', ':']));
    if looks.saturating_mul(parts) > MOST_LOOKS {
        return Err(format!("`{selector}` looks at too many elements"));
    }
    let mut found = Vec::new();
    let mut bytes = 0;
    for element in document.select(&parsed) {
        let value = match attribute {
            "" => text_of(element, MOST_TEXT_BYTES - bytes)?,
            // As in jsoup, a missing attribute is empty.
            name => element.value().attr(name).unwrap_or_default().to_owned(),
        };
        bytes += value.len();
        if bytes > MOST_TEXT_BYTES {
            return Err(TOO_MUCH_TEXT.into());
        }
        found.push(value);
    }
    Ok(found)
}

/// Reason why a selector cannot be evaluated on any document; `None`: it can.
pub(crate) fn css_flaw(selector: &str) -> Option<String> {
    parsed(selector).err()
}

/// A selector and the number of its parts.
fn parsed(selector: &str) -> Result<(Selector, u64), String> {
    let parts = measure(selector)?;
    if selector.contains("~=") {
        return Err("JMeter takes `~=` for a regular expression, which is not supported".into());
    }
    let parsed = Selector::parse(selector)
        .map_err(|_| format!("`{selector}` is not a valid CSS selector"))?;
    Ok((parsed, parts))
}

/// The text of an element with single blanks, at most so long. A blank stands between blocks and for a line
/// break; scripts and styles have no text.
fn text_of(element: ElementRef<'_>, most_bytes: usize) -> Result<String, String> {
    let mut text = String::new();
    for node in element.descendants() {
        match node.value() {
            Node::Text(part) => {
                let above = node.parent();
                let above = above.as_ref().and_then(|node| node.value().as_element());
                if above.is_some_and(|above| matches!(above.name(), "script" | "style")) {
                    continue;
                }
                let before = node.prev_sibling();
                let before = before.as_ref().and_then(|node| node.value().as_element());
                if before.is_some_and(|before| is_block(before.name())) {
                    text.push(' ');
                }
                text.push_str(part);
            }
            Node::Element(inner) if inner.name() == "br" || is_block(inner.name()) => {
                text.push(' ');
            }
            _ => {}
        }
        if text.len() > most_bytes {
            return Err(TOO_MUCH_TEXT.into());
        }
    }
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// True for an element that stands on lines of its own: a blank parts its text from the one before.
fn is_block(name: &str) -> bool {
    const BLOCKS: &[&str] = &[
        "address",
        "applet",
        "article",
        "aside",
        "audio",
        "blockquote",
        "body",
        "canvas",
        "caption",
        "center",
        "col",
        "colgroup",
        "dd",
        "del",
        "details",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frame",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "ins",
        "li",
        "link",
        "listing",
        "main",
        "marquee",
        "math",
        "menu",
        "meta",
        "nav",
        "noframes",
        "noscript",
        "ol",
        "p",
        "plaintext",
        "pre",
        "script",
        "section",
        "style",
        "svg",
        "table",
        "tbody",
        "td",
        "template",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
        "video",
    ];
    BLOCKS.binary_search(&name).is_ok()
}

/// The number of parts of a selector. Fails if the library could not parse it within its stack.
fn measure(selector: &str) -> Result<u64, String> {
    if selector.len() > MOST_BYTES {
        return Err(format!(
            "the selector is longer than {} KiB",
            MOST_BYTES >> 10
        ));
    }
    let mut depth = 0_usize;
    for c in selector.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_DEPTH {
            return Err(format!("brackets are nested deeper than {MOST_DEPTH}"));
        }
    }
    let parts = selector.split([' ', '>', '+', '~', ',', ':', '(']);
    Ok(parts.filter(|part| !part.is_empty()).count().max(1) as u64)
}

/// Elements of a document, the ancestors of each counted again, and its siblings where they matter.
fn looks(document: &Html, siblings_matter: bool) -> u64 {
    let mut looks = 0_u64;
    // Nodes whose children are to be counted, with their depth.
    let mut open = vec![(document.tree.root(), 1_u64)];
    while let Some((node, depth)) = open.pop() {
        let mut before = 0;
        for child in node.children().filter(|child| child.value().is_element()) {
            looks = looks.saturating_add(depth + before);
            before += u64::from(siblings_matter);
            open.push((child, depth + 1));
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_attributes_are_found() {
        let page = r#"<ul><li class="a"> one <b>1</b></li><li id="x">two</li></ul>"#;
        let all = |selector, attribute| css(page, selector, attribute);
        assert_eq!(all("li", ""), Ok(vec!["one 1".into(), "two".into()]));
        assert_eq!(all("ul > li:not(.a)", "id"), Ok(vec!["x".into()]));
        assert_eq!(all("li:has(b)", ""), Ok(vec!["one 1".into()]));
        assert!(all("li[", "").is_err());
    }

    #[test]
    fn selectors_that_ask_for_too_much_are_refused() {
        for selector in [
            ":not(".repeat(100_000) + "a" + &")".repeat(100_000),
            ":is(".repeat(500) + "a" + &")".repeat(500),
            "[".repeat(4_000),
            vec!["a"; 100_000].join(" > "),
        ] {
            assert!(css("<a>", &selector, "").is_err(), "{selector:.40}");
        }
        let rows = "<p>x".repeat(30_000);
        assert!(css(&rows, "p ~ p ~ p", "").is_err());
        assert_eq!(
            css(&rows, "body p", "").map(|found| found.len()),
            Ok(30_000)
        );
        let nested = "<i>x".repeat(30_000);
        assert!(css(&nested, "i i", "").is_err());
    }

    #[test]
    fn the_texts_of_all_matches_together_are_bounded() {
        let text = "x".repeat(1 << 20);
        let page = "<div>".repeat(200) + &text;
        assert_eq!(css(&page, "div", ""), Err(TOO_MUCH_TEXT.into()));
    }
}
