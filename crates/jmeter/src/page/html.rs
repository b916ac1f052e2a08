//! Links in the tags of a page.
//!
//! Tags are recognised as browsers do (HTML Living Standard, 13.2.5); no tree is built.

use super::Findings;

/// Elements whose content is text, even if it looks like tags.
const RAW: &[&str] = &[
    "script", "style", "textarea", "title", "xmp", "iframe", "noscript", "noframes", "noembed",
];
/// Attributes that are read; of two with the same name the first counts.
const ATTRIBUTES: [&str; 10] = [
    "src",
    "href",
    "rel",
    "background",
    "style",
    "type",
    "code",
    "codebase",
    "archive",
    "data",
];

/// The attributes of one tag, as written.
type Values<'a> = [Option<&'a str>; ATTRIBUTES.len()];

/// Adds the links of a page.
pub(super) fn scan(text: &str, found: &mut Findings) {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        if found.is_full() {
            return;
        }
        let inside = &rest[at + 1..];
        rest = match inside.bytes().next() {
            None => return,
            Some(b'!') => behind_declaration(inside),
            Some(b'?') => behind(inside, ">"),
            Some(b'/') => tag(&inside[1..]).map_or("", |tag| tag.behind),
            Some(byte) if byte.is_ascii_alphabetic() => match tag(inside) {
                None => return,
                Some(tag) => {
                    note(&tag, found);
                    behind_content(tag.name, tag.behind)
                }
            },
            Some(_) => inside,
        };
    }
}

/// Comments, CDATA sections and other declarations.
fn behind_declaration(inside: &str) -> &str {
    match () {
        () if inside.starts_with("!--") => behind(&inside[3..], "-->"),
        () if inside.starts_with("![CDATA[") => behind(inside, "]]>"),
        () => behind(inside, ">"),
    }
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

/// The text after the content of an element without tags in it.
fn behind_content<'a>(name: &str, text: &'a str) -> &'a str {
    if !RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw)) {
        return text;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let end = from + at;
        let behind = &text.as_bytes()[end + 2..];
        let is_same = behind
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        if is_same && behind.get(name.len()).is_none_or(ends) {
            return &text[end..];
        }
        from = end + 2;
    }
    ""
}

/// A tag.
struct Tag<'a> {
    name: &'a str,
    values: Values<'a>,
    /// The text after it.
    behind: &'a str,
}

/// The tag that begins here, after `<` or `</`; `None`: it is not closed.
fn tag(text: &str) -> Option<Tag<'_>> {
    let bytes = text.as_bytes();
    let ends_name = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    let mut at = bytes.iter().position(ends_name)?;
    let name = &text[..at];
    let mut values = Values::default();
    loop {
        // Slashes between attributes are ignored.
        at += bytes[at..]
            .iter()
            .position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
        if bytes[at] == b'>' {
            let behind = &text[at + 1..];
            return Some(Tag {
                name,
                values,
                behind,
            });
        }
        let begin = at;
        // An equals sign may only begin a name.
        at += 1;
        at += bytes[at..]
            .iter()
            .position(|byte| ends_name(byte) || *byte == b'=')?;
        let key = &text[begin..at];
        let next = at + not_blank(&bytes[at..])?;
        if bytes[next] != b'=' {
            continue;
        }
        at = next + 1;
        at += not_blank(&bytes[at..])?;
        let (value, end) = value(text, at)?;
        at = end;
        let known = ATTRIBUTES
            .iter()
            .position(|known| key.eq_ignore_ascii_case(known));
        if let Some(known) = known {
            values[known].get_or_insert(value);
        }
    }
}

fn not_blank(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| !byte.is_ascii_whitespace())
}

/// The value that begins here, and the position after it.
fn value(text: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let begin = at + 1;
            let end = begin + bytes[begin..].iter().position(|byte| *byte == quote)?;
            Some((&text[begin..end], end + 1))
        }
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
            let end = at + bytes[at..].iter().position(ends)?;
            Some((&text[at..end], end))
        }
    }
}

/// Adds the resources that a tag needs.
fn note(tag: &Tag<'_>, found: &mut Findings) {
    let [
        src,
        href,
        rel,
        background,
        style,
        kind,
        code,
        codebase,
        archive,
        data,
    ] = tag.values;
    let is = |name: &str| tag.name.eq_ignore_ascii_case(name);
    let same = |value: Option<&str>, word: &str| {
        value.is_some_and(|value| value.eq_ignore_ascii_case(word))
    };
    let mut link = |value: Option<&str>| value.into_iter().for_each(|link| found.link(link));
    match () {
        () if is("script") => return link(src),
        () if is("base") => href.into_iter().for_each(|base| found.base(base)),
        () if ["img", "frame", "iframe", "embed", "bgsound"]
            .iter()
            .any(|name| is(name)) =>
        {
            link(src);
        }
        () if is("input") && same(kind, "image") => link(src),
        () if is("input") => {}
        () if is("link") => {
            const NEEDED: &[&str] = &["stylesheet", "icon", "shortcut icon", "preload"];
            if NEEDED.iter().any(|word| same(rel, word)) {
                link(href);
            }
        }
        () if is("object") => {
            link(codebase);
            link(data);
        }
        () if is("applet") => match codebase {
            Some(folder) if !folder.is_empty() => {
                let file = archive.or(code).unwrap_or_default();
                found.link(&format!("{folder}/{file}"));
            }
            _ => link(code),
        },
        () => link(background),
    }
    if let Some(style) = style {
        styled(style, found);
    }
}

/// Adds the URLs in a style attribute: only quoted ones, from the first quote of a line to the
/// last, as the pattern `URL\(\s*('|")(.*)('|")\s*\)` finds them.
fn styled(style: &str, found: &mut Findings) {
    for line in style.lines() {
        let lower = line.to_ascii_lowercase();
        let Some(at) = lower.find("url(") else {
            continue;
        };
        let inside = line[at + 4..].trim_start();
        let Some(quoted) = inside.strip_prefix(['"', '\'']) else {
            continue;
        };
        let Some(end) = quoted.rfind(')') else {
            continue;
        };
        let behind = quoted[..end].trim_end();
        if let Some(link) = behind.strip_suffix(['"', '\'']) {
            found.link(link);
        }
    }
}
