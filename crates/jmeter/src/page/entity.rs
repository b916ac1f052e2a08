//! HTML entities.

use std::borrow::Cow;

/// Entities by name; others stay as they are, as do those without `;`.
const NAMED: &[(&str, char)] = &[
    ("amp", '&'),
    ("apos", '\''),
    ("copy", '©'),
    ("gt", '>'),
    ("hyphen", '‐'),
    ("lt", '<'),
    ("nbsp", '\u{a0}'),
    ("quot", '"'),
    ("reg", '®'),
    ("shy", '\u{ad}'),
];
/// Longest entity between `&` and `;`.
const MOST_BYTES: usize = 10;

/// Replaces the entities of a text, once.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        let name = entity[1..].bytes().take(MOST_BYTES + 1);
        let end = name.clone().position(|byte| byte == b';');
        let meant = end.and_then(|end| character(&entity[1..=end]).map(|meant| (end, meant)));
        match meant {
            Some((end, meant)) => {
                out.push(meant);
                rest = &entity[end + 2..];
            }
            None => {
                out.push('&');
                rest = &entity[1..];
            }
        }
    }
    out.push_str(rest);
    out.into()
}

fn character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        let named = NAMED.iter().find(|(known, _)| *known == name);
        return named.map(|(_, character)| *character);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}
