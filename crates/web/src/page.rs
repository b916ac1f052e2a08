//! Assembles the page from its document, script and style sheet.
//!
//! One HTML document without a line of script or style in it, one script, one style sheet; all of
//! them are part of the program. The document carries the page's words in both languages.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sokudo_i18n::{I18n, Lang, keys_of};

/// The page's script, built from `ui/src/web.ts`.
pub const SCRIPT: &str = include_str!("../../../ui/dist/web.js");
/// Its style sheet.
pub const STYLE: &str = include_str!("../../../ui/dist/web.css");
/// The document around them.
const DOCUMENT: &str = include_str!("page.html");
/// Prefix of the keys of the page's messages.
const PREFIX: &str = "web-";
/// Values that the page's script fills in itself.
const VALUES: [(&str, &str); 7] = [
    ("n", "{n}"),
    ("host", "{host}"),
    ("name", "{name}"),
    ("place", "{place}"),
    ("time", "{time}"),
    ("error", "{error}"),
    ("share", "{share}"),
];
/// The same where there is one of what is counted.
const ONE: [(&str, &str); 7] = {
    let mut values = VALUES;
    values[0].1 = "1";
    values
};

/// Content security policy of the page: it may load its own files alone.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// Content security policy of a report. It may run only the script inside it, in an origin of its own, so
/// that a record from elsewhere cannot give orders here.
pub const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals allow-popups; \
    default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The document.
pub fn document() -> String {
    let mut words = Map::new();
    let speakers = Lang::ALL.map(I18n::new);
    for key in keys_of("web") {
        let [en, ja] = [0, 1].map(|lang: usize| speakers[lang].message(key, &VALUES));
        let short = key.trim_start_matches(PREFIX);
        if en.contains("{n}") {
            let [one_en, one_ja] = [0, 1].map(|lang: usize| speakers[lang].message(key, &ONE));
            if one_en != en.replace("{n}", "1") {
                words.insert(
                    format!("{short}.one"),
                    json!({ "en": one_en, "ja": one_ja }),
                );
            }
        }
        words.insert(short.to_owned(), json!({ "en": en, "ja": ja }));
    }
    let words = harmless(&Value::Object(words).to_string());
    DOCUMENT
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{words}", &words)
}

/// JSON text without the characters that mean something in HTML.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
