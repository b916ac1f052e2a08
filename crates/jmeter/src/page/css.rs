//! Imports of style sheets.
//!
//! Imports precede all other rules but a charset (CSS 2.1, 4.1.5): the search ends at the first
//! other rule. Images and fonts are not fetched, as in JMeter.

use super::Findings;

/// Adds the imports of a style sheet.
pub(super) fn scan(text: &str, found: &mut Findings) {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !found.is_full() {
        rest = behind_blanks(rest);
        if let Some(behind) = after_word(rest, "@charset") {
            let Some(end) = behind.find(';') else { return };
            rest = &behind[end + 1..];
            continue;
        }
        let Some(behind) = after_word(rest, "@import") else {
            return;
        };
        let Some((link, behind)) = address(behind_blanks(behind)) else {
            return;
        };
        found.link(link);
        let Some(end) = behind.find([';', '{', '}']) else {
            return;
        };
        if !behind[end..].starts_with(';') {
            return;
        }
        rest = &behind[end + 1..];
    }
}

/// The text after blanks, comments, and the markers that hide styles from old browsers.
fn behind_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match rest.strip_prefix("/*") {
            Some(comment) => comment.find("*/").map_or("", |end| &comment[end + 2..]),
            None => match rest
                .strip_prefix("<!--")
                .or_else(|| rest.strip_prefix("-->"))
            {
                Some(behind) => behind,
                None => return rest,
            },
        };
        rest = behind.trim_start();
    }
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// Splits `"…"`, `'…'` or `url(…)` into its content and the text after it.
fn address(text: &str) -> Option<(&str, &str)> {
    let quoted = |text: &'_ str| -> Option<(usize, usize)> {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let end = text[1..].find([quote, '\n'])?;
        text[1 + end..].starts_with(quote).then_some((1, 1 + end))
    };
    if let Some((begin, end)) = quoted(text) {
        return Some((&text[begin..end], &text[end + 1..]));
    }
    let inside = after_word(text, "url(")?.trim_start();
    if let Some((begin, end)) = quoted(inside) {
        let behind = inside[end + 1..].trim_start().strip_prefix(')')?;
        return Some((&inside[begin..end], behind));
    }
    let end = inside.find(')')?;
    Some((inside[..end].trim_end(), &inside[end + 1..]))
}
