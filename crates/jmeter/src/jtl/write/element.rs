//! Results as XML elements.
//!
//! ```text
//! <sample t="217" …>                    a transaction; a request is `httpSample`
//!   <assertionResult>…</assertionResult>
//!   <httpSample …>…</httpSample>        sub-results
//!   <responseHeader>…                   headers and bodies, if they are saved
//!   <java.net.URL>…</java.net.URL>
//! </sample>
//! ```

use super::JtlFormat;
use crate::run::{Asserted, Details, RowKind, SampleRow};

/// Indentation per level.
const INDENT: &str = "  ";

impl JtlFormat {
    /// Appends the element of a result, with a line end.
    pub(super) fn element(&self, row: &SampleRow<'_>, depth: usize, out: &mut String) {
        let tag = if row.is_http { "httpSample" } else { "sample" };
        indent(depth, out);
        out.extend(["<", tag]);
        self.attributes(row, out);
        out.push('>');
        let begin = out.len();
        out.push('\n');
        self.inside(row, depth + 1, out);
        if out.len() == begin + 1 {
            // An element without content.
            out.truncate(begin - 1);
            out.push_str("/>\n");
            return;
        }
        indent(depth, out);
        out.extend(["</", tag, ">\n"]);
    }

    fn inside(&self, row: &SampleRow<'_>, depth: usize, out: &mut String) {
        let none = Details::default();
        let details = row.details.as_deref().unwrap_or(&none);
        if self.texts.assertions {
            let asserted = details.assertions.iter();
            asserted.for_each(|asserted| assertion(asserted, depth, out));
        }
        for below in row.below.iter().filter(|_| self.has_parts) {
            self.element(below, depth, out);
        }
        let texts = &self.texts;
        let on_error = texts.response_on_error && !row.success;
        let text = |tag: &str, text: &str, out: &mut String| {
            indent(depth, out);
            out.extend(["<", tag, " class=\"java.lang.String\">"]);
            content(text, out);
            out.extend(["</", tag, ">\n"]);
        };
        if texts.response_headers {
            text("responseHeader", &details.response_headers, out);
        }
        if texts.request_headers {
            text("requestHeader", &details.request_headers, out);
        }
        if texts.response || on_error {
            match row.data_type {
                "text" => text("responseData", &details.response, out),
                other => {
                    let says = format!("Non-TEXT response data, cannot record: ({other})");
                    text("responseData", &says, out);
                }
            }
        }
        if texts.file_name {
            text("responseFile", "", out);
        }
        if texts.sampler || on_error {
            match (row.is_http, row.kind) {
                (true, _) => {
                    text("cookies", &details.cookies, out);
                    text("method", &details.method, out);
                    text("queryString", &details.query, out);
                    if let Some(location) = &details.location {
                        text("redirectLocation", location, out);
                    }
                }
                // A transaction has no such attribute.
                (false, RowKind::Transaction) => {}
                (false, RowKind::Sample | RowKind::Part) => {
                    text("samplerData", &details.query, out)
                }
            }
        }
        if texts.url && row.url == "null" && row.is_http {
            indent(depth, out);
            out.push_str("<null/>\n");
        } else if texts.url && row.url != "null" {
            indent(depth, out);
            out.push_str("<java.net.URL>");
            content(&row.url, out);
            out.push_str("</java.net.URL>\n");
        }
    }
}

fn assertion(asserted: &Asserted, depth: usize, out: &mut String) {
    let line = |depth: usize, tag: &str, text: &str, out: &mut String| {
        indent(depth, out);
        out.extend(["<", tag, ">"]);
        content(text, out);
        out.extend(["</", tag, ">\n"]);
    };
    indent(depth, out);
    out.push_str("<assertionResult>\n");
    let word = |is: bool| if is { "true" } else { "false" };
    line(depth + 1, "name", &asserted.name, out);
    line(depth + 1, "failure", word(asserted.failed), out);
    line(depth + 1, "error", word(asserted.is_error), out);
    if let Some(says) = &asserted.says {
        line(depth + 1, "failureMessage", says, out);
    }
    indent(depth, out);
    out.push_str("</assertionResult>\n");
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str(INDENT));
}

/// Escapes a text as an attribute name: characters that XML does not allow in names become `_`.
pub(super) fn attribute_name(name: &str, out: &mut String) {
    for (index, c) in name.chars().enumerate() {
        let begins = c.is_alphabetic() || c == '_';
        let follows = index > 0 && (c.is_ascii_digit() || matches!(c, '-' | '.'));
        out.push(if begins || follows { c } else { '_' });
    }
}

/// Escapes a text as an attribute value.
pub(super) fn escape(text: &str, out: &mut String) {
    text.chars().for_each(|c| match c {
        '\n' => out.push_str("&#xa;"),
        '\t' => out.push_str("&#x9;"),
        c => character(c, out),
    });
}

/// Escapes a text as element content, where line ends and tabs are kept.
fn content(text: &str, out: &mut String) {
    text.chars().for_each(|c| character(c, out));
}

/// Characters that XML 1.0 does not allow become `?`; control characters beyond ASCII are written
/// as references, as in JMeter.
fn character(c: char, out: &mut String) {
    match c {
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '&' => out.push_str("&amp;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&apos;"),
        '\r' => out.push_str("&#xd;"),
        '\n' | '\t' => out.push(c),
        '\u{fffe}' | '\u{ffff}' | '\0'..='\u{1f}' => out.push('?'),
        '\u{7f}'..='\u{9f}' => out.push_str(&format!("&#x{:x};", u32::from(c))),
        c => out.push(c),
    }
}
