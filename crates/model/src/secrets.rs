//! Takes secrets out of what is recorded: by the name that stands in front of a value.
//!
//! One rule serves header lines, properties, options, bodies, queries of URLs and lines of scripts. A value is
//! hidden when its name says that it could let others in; in doubt, more is hidden rather than less. Whatever is
//! hidden already stays as it is.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::{Arg, Batch, Environment, Labels, Manifest, Plan, Text};

/// Stands in a record in the place of a secret.
pub const HIDDEN: &str = "(hidden)";

/// Parts of names whose value is a secret, in small letters without `-`, `_` and `.`.
const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Ends of such names, which are harmless within others.
const ENDS: &[&str] = &["cookie", "key", "pwd"];

/// Characters that enclose a value.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// True for the name of a value that could let others in: a header, a property, an option, a field.
pub fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | '.'));
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    PARTS.iter().any(|part| name.contains(part)) || ENDS.iter().any(|end| name.ends_with(end))
}

fn of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// A text with the values of secret names hidden, and with the user's part of URLs.
pub fn hidden(text: &str) -> Cow<'_, str> {
    let found: Vec<Range<usize>> = values(text);
    let text = without(text, &found);
    let users = users(&text);
    match users.is_empty() {
        true => text,
        false => Cow::Owned(without(&text, &users).into_owned()),
    }
}

/// The same for JSON text: also fields with a secret name, and pairs that begin with one.
pub fn hidden_json(text: &str) -> Cow<'_, str> {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return hidden(text);
    };
    // Text in which nothing is hidden keeps its form.
    match hide(&mut value) {
        true => Cow::Owned(value.to_string()),
        false => Cow::Borrowed(text),
    }
}

/// Hides the secrets within a value; true when there were any.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::String(text) => hide_text(text),
        Value::Array(pair) if is_secret_pair(pair) => replace(&mut pair[1]),
        Value::Array(items) => items.iter_mut().fold(false, |any, item| hide(item) | any),
        Value::Object(fields) => fields.iter_mut().fold(false, |any, (name, field)| {
            let hidden = match field.is_string() && is_secret(name) {
                true => replace(field),
                false => hide(field),
            };
            hidden | any
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_secret_pair(items: &[Value]) -> bool {
    match items {
        [Value::String(name), Value::String(_)] => name.chars().all(of_name) && is_secret(name),
        _ => false,
    }
}

fn replace(value: &mut Value) -> bool {
    *value = HIDDEN.into();
    true
}

fn hide_text(text: &mut String) -> bool {
    let Cow::Owned(hidden) = hidden(text) else {
        return false;
    };
    *text = hidden;
    true
}

/// The text with [`HIDDEN`] in these places, which are in order.
fn without<'a>(text: &'a str, places: &[Range<usize>]) -> Cow<'a, str> {
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for place in places {
        out.push_str(&text[done..place.start]);
        out.push_str(HIDDEN);
        done = place.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Places of the values whose names are secret.
fn values(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices([':', '=']) {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let value = value_at(text, at);
        found.extend(value.filter(|value| !value.is_empty()));
    }
    found
}

/// Place of the value behind the separator at `at`, when the name in front of it is secret.
fn value_at(text: &str, at: usize) -> Option<Range<usize>> {
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let spaced = text[line..at].trim_end();
    let named = spaced.trim_end_matches(QUOTES).trim_end_matches('\\');
    let before = named.trim_end_matches(of_name);
    if !is_secret(&named[before.len()..]) {
        return None;
    }
    let is_field = named.len() < spaced.len();
    let is_header = text[at..].starts_with(':') && !is_field;
    let rest = &text[at + 1..];
    let start = at + 1 + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let rest = &text[start..];
    let rest = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    if let Some(inside) = quoted(rest).filter(|_| !is_header) {
        return Some(start + inside.start..start + inside.end);
    }
    // Names at the beginning of a word, such as `-Jpassword`, have all of it.
    let is_first = !before.contains(|c: char| c.is_whitespace() || "?&".contains(c));
    let ends = |c: char| match is_header {
        true => false,
        false if is_field => matches!(c, ',' | '}' | ']'),
        false => c == '&' && before.contains(['?', '&']) || c.is_whitespace() && !is_first,
    };
    let around = before.chars().rev().find(|c| QUOTES.contains(c));
    let end = rest.find(|c| Some(c) == around || ends(c));
    Some(start..start + end.unwrap_or(rest.len()))
}

/// Place of a value that begins with a quotation mark, without its marks.
fn quoted(text: &str) -> Option<Range<usize>> {
    let mark = text.trim_start_matches('\\');
    let open = text.len() - mark.len() + 1;
    mark.starts_with(QUOTES).then_some(())?;
    let closes = |at: &usize| !text[..*at].ends_with('\\');
    let mut ends = text[open..].match_indices(&text[..open]);
    let end = ends.find_map(|(at, _)| Some(open + at).filter(closes));
    Some(open..end.unwrap_or(text.len()))
}

/// Schemes of databases, where a user without a password is a name alone; elsewhere it may be a token.
const OF_DATABASES: [&str; 4] = ["postgres", "postgresql", "mysql", "mariadb"];

/// Places of `user:password` in URLs.
fn users(text: &str) -> Vec<Range<usize>> {
    let user = |(at, mark): (usize, &str)| {
        let start = at + mark.len();
        let rest = &text[start..];
        let ends = |c: char| c.is_whitespace() || "/?#".contains(c) || QUOTES.contains(&c);
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let user = &authority[..authority.rfind('@')?];
        let scheme = &text[..at];
        let scheme = &scheme[scheme.trim_end_matches(char::is_alphanumeric).len()..];
        let is_name = OF_DATABASES.contains(&scheme) && !user.contains(':');
        (user != HIDDEN && !is_name).then_some(start..start + user.len())
    };
    text.match_indices("://").filter_map(user).collect()
}

impl Plan {
    /// The plan as it is recorded: its secrets are hidden.
    pub fn without_secrets(&self) -> Self {
        let mut plan = self.clone();
        for phase in &mut plan.phases {
            hide_text(&mut phase.name);
            hide_options(&mut phase.options);
            hide_labels(&mut phase.labels);
        }
        for monitor in &mut plan.monitors {
            hide_options(&mut monitor.options);
        }
        plan
    }
}

impl Manifest {
    /// The manifest as it is recorded: its secrets are hidden.
    pub fn without_secrets(&self) -> Self {
        let mut manifest = self.clone();
        manifest.plan = self.plan.without_secrets();
        manifest.command.iter_mut().for_each(|word| {
            hide_text(word);
        });
        for phase in &mut manifest.phases {
            hide_text(&mut phase.name);
            hide_options(&mut phase.options);
            hide_labels(&mut phase.labels);
            for flow in &mut phase.result.flows {
                // The rows of a plan are named by their requests.
                hide_text(&mut flow.from);
                hide_text(&mut flow.to);
                hide_labels(&mut flow.labels);
            }
        }
        manifest.notes.iter_mut().for_each(hide_words);
        for problem in &mut manifest.problems {
            hide_text(&mut problem.phase);
            hide_words(&mut problem.says);
            problem.missing.iter_mut().for_each(hide_words);
        }
        manifest
    }
}

impl Batch {
    /// The batch as it is recorded: the secrets in labels and events are hidden.
    pub fn without_secrets(&self) -> Cow<'_, Self> {
        let keys = self.series.iter().map(|one| &one.key);
        let keys = keys.chain(self.histograms.iter().map(|one| &one.key));
        let mut labels = keys.flat_map(|key| &key.labels);
        let is_clean = |(name, value): (&String, &String)| {
            !is_secret(name) && matches!(hidden(value), Cow::Borrowed(_))
        };
        if self.events.is_empty() && labels.all(is_clean) {
            return Cow::Borrowed(self);
        }
        let mut batch = self.clone();
        let series = batch.series.iter_mut().map(|one| &mut one.key);
        let histograms = batch.histograms.iter_mut().map(|one| &mut one.key);
        for key in series.chain(histograms) {
            hide_labels(&mut key.labels);
        }
        for event in &mut batch.events {
            hide_words(&mut event.says);
        }
        Cow::Owned(batch)
    }
}

impl Environment {
    /// The facts as they are recorded: their secrets are hidden.
    pub fn without_secrets(&self) -> Self {
        let mut environment = self.clone();
        for fact in &mut environment.facts {
            if let Some(value) = &mut fact.value {
                hide_value(&fact.name, value);
            }
        }
        environment
    }
}

/// Hides the whole of a value with a secret name, else the secrets within it.
fn hide_value(name: &str, value: &mut String) {
    match is_secret(name) {
        true => HIDDEN.clone_into(value),
        false => drop(hide_text(value)),
    }
}

fn hide_labels(labels: &mut Labels) {
    for (name, value) in labels {
        hide_value(name, value);
    }
}

fn hide_options(options: &mut String) {
    if let Cow::Owned(hidden) = hidden_json(options) {
        *options = hidden;
    }
}

/// Hides the secrets in the words of a message.
pub fn hide_words(text: &mut Text) {
    for arg in text.args.values_mut() {
        match arg {
            Arg::Word(word) => {
                hide_text(word);
            }
            Arg::Text(inner) => hide_words(inner),
            Arg::Number(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        let secret = [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-API-Key",
            "db.PASSWORD",
            "user_passwd",
            "client_secret",
            "accessToken",
            "key",
            "-Jdb.pwd",
        ];
        for name in secret {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "Accept",
            "key_store",
            "CookieManager.check.cookies",
            "url",
            "users",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn values_of_secret_names_are_hidden() {
        let cases = [
            ("Authorization: Bearer s 1", "Authorization: (hidden)"),
            ("-HCookie: a=\"s\"; b=s", "-HCookie: (hidden)"),
            ("--header=X-Api-Key:s", "--header=X-Api-Key:(hidden)"),
            ("-Jdb.password=s&s s=s", "-Jdb.password=(hidden)"),
            (
                "--jmeterproperty=token=s s",
                "--jmeterproperty=token=(hidden)",
            ),
            ("a=1&password=s&b=2", "a=1&password=(hidden)&b=2"),
            ("http://h/?token=s&x=1", "http://h/?token=(hidden)&x=1"),
            ("http://me:s@h:8/a@b", "http://(hidden)@h:8/a@b"),
            ("http://token@h/", "http://(hidden)@h/"),
            ("postgres://me:s@h/b", "postgres://(hidden)@h/b"),
            (
                r#"{"user":"u","password" : "s\"s","n":1,"token":7}"#,
                r#"{"user":"u","password" : "(hidden)","n":1,"token":(hidden)}"#,
            ),
            (
                r#"{\"password\":\"s\",\"n\":1}"#,
                r#"{\"password\":\"(hidden)\",\"n\":1}"#,
            ),
            (
                "http h -H 'Cookie: s; s' --rate 5\nping h",
                "http h -H 'Cookie: (hidden)' --rate 5\nping h",
            ),
            (
                "load({header: ['Accept: a', \"Cookie: s\"], rate: 5})",
                "load({header: ['Accept: a', \"Cookie: (hidden)\"], rate: 5})",
            ),
            (
                "http h -b password=s --rate 5",
                "http h -b password=(hidden) --rate 5",
            ),
        ];
        for (typed, recorded) in cases {
            assert_eq!(hidden(typed), recorded);
            assert_eq!(hidden(recorded), recorded, "hidden twice");
        }
    }

    #[test]
    fn all_else_stays_as_it_is() {
        let harmless = [
            "Accept: text/html",
            "http://h:80/a?b=c@d",
            "--target=postgres://bench@h/b",
            "mysql://bench@h:3306/b",
            "-Jusers=5",
            "password",
            "key=",
            "",
            "ünï: ©=ö",
        ];
        for text in harmless {
            assert!(
                matches!(hidden(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
        let options = r#"{"z":1.50,"header":["Accept: a"],"a":null}"#;
        assert!(matches!(hidden_json(options), Cow::Borrowed(same) if same == options));
    }

    #[test]
    fn fields_and_pairs_of_options_are_hidden() {
        let options = r#"{"body":"password=s","header":["X-Token: s","Cookie: s"],"properties":[["token","s"],["n","5"]],"proxy":{"password":"s"}}"#;
        assert_eq!(
            hidden_json(options),
            r#"{"body":"password=(hidden)","header":["X-Token: (hidden)","Cookie: (hidden)"],"properties":[["token","(hidden)"],["n","5"]],"proxy":{"password":"(hidden)"}}"#
        );
    }
}
