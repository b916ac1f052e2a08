//! Entry points for fuzzing of the parsers that a running test uses.

use serde_json::Value;

use super::address::Address;
use super::content::decoded;
use super::cookies::Jars;
use super::css;
use super::extract_tree::jmes_value;
use super::feed::{DataRows, FirstRow};
use super::link::{LinkTarget, resolve};
use super::outcome::Reply;

/// Parses bytes as a data file.
pub(crate) fn data_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for (delimiter, quoted) in [(',', true), ('\t', false), ('日', true)] {
        for first in [FirstRow::IsData, FirstRow::IsSkipped, FirstRow::Names] {
            DataRows::parse(&text, delimiter, quoted, first);
        }
    }
}

/// Parses lines as cookies of a server and writes the cookies of a request.
pub(crate) fn cookies(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(from) = Address::parse("https://shop.example/a/b") else {
        return;
    };
    let mut jars = Jars::default();
    let jar = jars.begin(0, "standard");
    for (line, now_s) in text.lines().zip(0..) {
        jar.take(&from, line, now_s);
    }
    let mut sent = String::new();
    jar.write(&from, &mut sent);
    assert!(!sent.contains(['\r', '\n']));
}

/// Resolves lines as links of a page and as redirects, each from the address of the last one: none
/// of them splits a request.
pub(crate) fn links(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(mut at) = Address::parse("https://shop.example/a/b?c") else {
        return;
    };
    for link in text.split('\n') {
        let redirected = at.join(link);
        if let Some(LinkTarget::Url(there)) = resolve(&at, link) {
            let mut written = String::new();
            there.write(&mut written);
            assert!(!written.contains(['\r', '\n']), "{written:?}");
            at = there;
        }
        at = redirected.filter(|_| !link.contains('\r')).unwrap_or(at);
    }
}

/// Parses a JMESPath in the first line and applies it to the rest.
pub(crate) fn jmes_path(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (path, text) = text.split_once('\n').unwrap_or((&text, "{}"));
    if let Ok(found) = jmes_value(text, path) {
        assert!(serde_json::from_str::<Value>(&found.to_string()).is_ok());
    }
}

/// Parses a CSS selector in the first line and applies it to the rest.
pub(crate) fn css(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (selector, text) = text.split_once('\n').unwrap_or((&text, ""));
    for attribute in ["", "a"] {
        // A selector that is not valid, and one that asks for too much, are valid outcomes.
        let _ = css::css(text, selector, attribute);
    }
}

/// Decodes bytes as a body: the first byte selects the encoding.
pub(crate) fn body(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else {
        return;
    };
    let encodings = ["gzip", "deflate", "br", "br, gzip", "x"];
    let encoding = encodings[usize::from(*first) % encodings.len()];
    let headers = format!("Content-Encoding: {encoding}\r\n");
    let reply = Reply {
        body_bytes: body.len() as u64,
        status: 200,
        headers: headers.as_bytes(),
        body,
        ..Reply::default()
    };
    // A body that is not valid in its encoding is a valid outcome.
    let _ = decoded(&reply);
}
