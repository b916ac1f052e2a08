//! Values that preprocessors take from previous responses into the next request: the session of URL
//! re-writing, and the fields that a regular expression extracted.

use std::collections::HashMap;

use super::charset::Charset;
use super::context::View;
use super::encode;
use super::extract::MOST_MATCHES;
use crate::expression::{Template, World as _};
use crate::plan::{HttpArgument, Id, UrlRewriting, Value};
use crate::script::LentRequest;

/// Adds the session of the previous response to the request of the current sampler.
pub(super) fn rewrite(view: &mut View<'_>, id: Id, rewriting: &UrlRewriting) {
    let (test, sampler) = (view.test(), view.thread.sampler());
    let Some(mut lent) = view.thread.requests.lend(test, sampler) else {
        return;
    };
    let Some(text) = view.thread.previous().map(|sample| sample.text.clone()) else {
        return;
    };
    let name = view.text(&rewriting.name);
    let in_path = view.flag(&rewriting.in_path);
    let without_equals = view.flag(&rewriting.without_equals);
    let pattern = match in_path {
        true => in_paths(&name, without_equals, view.flag(&rewriting.ends_at_query)),
        false => anywhere(&name),
    };
    let regex = match test.pattern(&pattern) {
        Ok(regex) => regex,
        Err(why) => return test.sink.trouble(&why),
    };
    let found = regex.captures(&text).ok().flatten();
    let group = found.and_then(|found| found.iter().skip(1).flatten().next());
    let mut value = group.map_or_else(String::new, |group| group.as_str().to_owned());
    if view.flag(&rewriting.is_kept) {
        let kept = view.thread.sessions.entry(id).or_default();
        match value.is_empty() {
            true => value.clone_from(kept),
            false => kept.clone_from(&value),
        }
    }
    lent.is_changed = true;
    if in_path {
        let sign = if without_equals { "" } else { "=" };
        let path = view.text(&lent.request.path).replace(' ', "%20");
        let path = format!("{};{name}{sign}{value}", without_session(&path, &name));
        let method = view.text(&lent.request.method);
        set_path(&mut lent, &method, &path);
    } else {
        remove(view, &mut lent, &name);
        let decoded = match view.flag(&rewriting.encode) {
            true => (name, value),
            false => (decoded(&name), decoded(&value)),
        };
        add(&mut lent, decoded, true, "=");
    }
    view.thread.requests.take_back(test, sampler, lent);
}

/// Sets the arguments of the current request whose names a regular expression extracted, to the values that
/// it extracted with them: variable, group of the names, group of the values.
pub(super) fn fill_arguments(
    view: &mut View<'_>,
    (reference, names, values): (&Template, &Template, &Template),
) {
    let (test, sampler) = (view.test(), view.thread.sampler());
    let Some(mut lent) = view.thread.requests.lend(test, sampler) else {
        return;
    };
    let (reference, names) = (view.text(reference), view.text(names));
    let values = view.text(values);
    let of = |view: &View<'_>, number: usize, group: &str| {
        let name = format!("{reference}_{number}_g{group}");
        view.variable(&name).map(str::to_owned)
    };
    let count = view.variable(&format!("{reference}_matchNr"));
    let count = count.and_then(|count| count.parse::<usize>().ok());
    let Some(count) = count.filter(|_| of(view, 1, &values).is_some()) else {
        return;
    };
    let found = (1..=count.min(MOST_MATCHES))
        .filter_map(|number| Some((of(view, number, &names)?, of(view, number, &values))));
    let found: HashMap<String, Option<String>> = found.collect();
    for argument in &mut lent.request.arguments {
        let name = view.text(&argument.name);
        if let Some(Some(value)) = found.get(&name) {
            argument.value = Template::text(value.as_str());
            lent.is_changed = true;
        }
    }
    view.thread.requests.take_back(test, sampler, lent);
}

/// The pattern of a session behind `;` in paths.
fn in_paths(name: &str, without_equals: bool, ends_at_query: bool) -> String {
    let name = fancy_regex::escape(name);
    let sign = if without_equals { "" } else { "=" };
    let end = if ends_at_query { "?" } else { "" };
    format!(r#";{name}{sign}([^"'<>&\s;{end}]*)"#)
}

/// The pattern of a session in links and fields of forms.
fn anywhere(name: &str) -> String {
    let name = fancy_regex::escape(name);
    let own = format!(r#"\s[Nn][Aa][Mm][Ee]\s*=\s*["']{name}["']"#);
    let value = r#"\s[vV][Aa][Ll][Uu][Ee]\s*=\s*["']([^"']*)["']"#;
    format!(r#"[;?&]{name}=([^"'<>&\s;\\]*)|{own}[^>]*{value}|{value}[^>]*{own}"#)
}

/// A path without the session that it has: it ends with the path, or before its query.
fn without_session(path: &str, name: &str) -> String {
    let Some(begin) = path.find(&format!(";{name}")) else {
        return path.to_owned();
    };
    let query = path.find('?').map_or("", |query| &path[query..]);
    format!("{}{query}", &path[..begin])
}

/// Removes the arguments with a name.
fn remove(view: &mut View<'_>, lent: &mut LentRequest, name: &str) {
    let arguments = std::mem::take(&mut lent.request.arguments);
    let numbers = std::mem::take(&mut lent.arguments);
    for (argument, number) in arguments.into_iter().zip(numbers) {
        if view.text(&argument.name) != name {
            lent.request.arguments.push(argument);
            lent.arguments.push(number);
        }
    }
}

/// Sets the path as JMeter does: of a GET or DELETE the query becomes arguments.
fn set_path(lent: &mut LentRequest, method: &str, path: &str) {
    let is_whole = path.starts_with("http://") || path.starts_with("https://");
    let query = path.split_once('?');
    let query = query.filter(|_| !is_whole && matches!(method, "GET" | "DELETE"));
    let (path, query) = query.unwrap_or((path, ""));
    lent.request.path = Template::text(path);
    for pair in query.split('&') {
        let (name, sign, value) = match pair.split_once('=') {
            Some((name, value)) => (name, "=", value),
            None => (pair, "", ""),
        };
        if name.is_empty() {
            continue;
        }
        let (name, value) = (decoded(name), decoded(value));
        let needs_encoding = encoded(&name) != name || encoded(&value) != value;
        add(lent, (name, value), needs_encoding, sign);
    }
}

/// Adds an argument for this sample.
pub(super) fn add(
    lent: &mut LentRequest,
    (name, value): (String, String),
    encode: bool,
    separator: &str,
) {
    lent.arguments.push(None);
    lent.request.arguments.push(HttpArgument {
        name: Template::text(name),
        value: Template::text(value),
        encode: Value::Fixed(encode),
        separator: separator.into(),
        content_type: Template::text("text/plain"),
    });
}

/// A text without escapes; one with an invalid escape stays.
pub(super) fn decoded(text: &str) -> String {
    encode::unform(text, Charset::UTF_8).unwrap_or_else(|_| text.to_owned())
}

fn encoded(text: &str) -> String {
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    encode::form(text, Charset::UTF_8, &mut scratch, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
