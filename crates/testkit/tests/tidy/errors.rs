//! Checks that what errors say exists in both languages.
//!
//! A sentence of an error type is one that stands in `#[error("…")]`. It needs a message whose English is that
//! sentence, with values in the same places: a reader of Japanese gets the message.

use std::collections::BTreeSet;

use crate::source::{Source, sources};
use crate::{none, text_of, texts_below};

/// Crate, error type, and why what it says reaches no user.
type Exempt = (&'static str, &'static str, &'static str);

/// Error types whose sentences have no message.
const NOT_TOLD: &[Exempt] = &[
    ("http", "Breach", "reports name each by a code"),
    ("http", "Malformed", "reports name each by a code"),
    (
        "jmeter",
        "ExpressionError",
        "the compiler of plans says each as a problem",
    ),
    (
        "jmeter",
        "FunctionFault",
        "it fails a sample in the tool's words",
    ),
    ("jmeter", "ScriptFault", "it is what a script's engine says"),
    ("model", "UnitError", "its messages are one per quantity"),
    (
        "net",
        "NoSuchKind",
        "options are read into a type of their own",
    ),
    ("net", "NoSuchPath", "an example alone reads it"),
    ("net", "RdmaError", "nothing but a test opens a device"),
    (
        "net",
        "TcpError",
        "its message takes the time with its unit",
    ),
    ("sql", "SqlError", "it is what a server says"),
    (
        "target",
        "NoSession",
        "the modelled server answers requests with it",
    ),
    (
        "target",
        "RemoteError",
        "the command line has messages of its own for it",
    ),
];

#[test]
fn what_errors_say_exists_in_both_languages() {
    let known: BTreeSet<String> = texts_below("locales/en", &["ftl"])
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.split_once(" = "))
        .map(|(_, says)| shape(says))
        .collect();
    let sources = sources();
    let mut offences = Vec::new();
    let mut needed = BTreeSet::new();
    let mut tell = |source: &Source, name: &str, what: String| {
        let is_it = |exempt: &&Exempt| exempt.0 == source.krate && exempt.1 == name;
        match NOT_TOLD.iter().find(is_it) {
            Some(exempt) => drop(needed.insert(exempt)),
            None => offences.push(format!("{}: `{name}` {what}", source.path.display())),
        }
    };
    for source in &sources {
        for (name, says) in sentences(source.product_text()) {
            if !known.contains(&shape(&says)) {
                let what = format!("says \"{says}\", which is no message of locales/en");
                tell(source, name, what);
            }
        }
        for name in displayed_by_hand(source.product_text()) {
            let mut own = sources.iter().filter(|other| other.krate == source.krate);
            if !own.any(|other| has_message(other.product_text(), name)) {
                tell(
                    source,
                    name,
                    "has no `text` or `says` that is a message".into(),
                );
            }
        }
    }
    for exempt in NOT_TOLD.iter().filter(|exempt| !needed.contains(exempt)) {
        offences.push(format!("{exempt:?}: nothing of it needs an exemption"));
    }
    none(offences);
}

#[test]
fn sentences_of_records_are_written_somewhere() {
    let code: String = sources()
        .iter()
        .map(|source| source.product_text())
        .collect();
    let code = joined(&code);
    let mut offences = Vec::new();
    let english = text_of("locales/en/reasons.ftl".as_ref()).unwrap_or_default();
    for (key, says) in english.lines().filter_map(|line| line.split_once(" = ")) {
        let shape = shape(says);
        let mut parts: Vec<&str> = shape.split("{}").collect();
        parts.sort_by_key(|part| part.len());
        let longest = parts
            .last()
            .map_or("", |part| part.trim_matches([' ', ':']));
        if !code.contains(longest) {
            offences.push(format!("locales/en/reasons.ftl: nobody writes `{key}`"));
        }
    }
    none(offences);
}

/// Types with sentences, and each sentence; sentences made of other ones alone are left out.
fn sentences(code: &str) -> Vec<(&str, String)> {
    const MARK: &str = "#[error(";
    let starts = code.match_indices(MARK).map(|(at, _)| at + MARK.len());
    let sentence = |at: usize| {
        let literal = code[at..].trim_start().strip_prefix('"')?;
        let says = unescaped(literal);
        let is_said = shape(&says).chars().any(char::is_alphabetic);
        is_said.then(|| (type_at(code, at), says))
    };
    starts.filter_map(sentence).collect()
}

/// A literal up to its closing quote, as it is printed.
fn unescaped(literal: &str) -> String {
    let mut says = String::new();
    let mut rest = literal.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some(other) => says.push(other),
                None => break,
            },
            c => says.push(c),
        }
    }
    says
}

/// Name of the type whose attribute stands here: the next one that begins, unless one is open.
fn type_at(code: &str, at: usize) -> &str {
    let begins = |line: &&str| {
        line.starts_with("pub") || line.starts_with("enum ") || line.starts_with("struct ")
    };
    let name = |line: &'_ str| -> Option<usize> {
        ["enum ", "struct "]
            .iter()
            .find_map(|word| line.find(word).map(|i| i + word.len()))
    };
    // An attribute of a variant is indented.
    let line_begin = code[..at].rfind('\n').map_or(0, |i| i + 1);
    let is_variant = code[line_begin..].starts_with(' ');
    let line = match is_variant {
        true => code[..at]
            .lines()
            .rev()
            .find(|line| begins(line) && name(line).is_some()),
        false => code[at..]
            .lines()
            .find(|line| begins(line) && name(line).is_some()),
    };
    let line = line.unwrap_or_default();
    let rest = name(line).map_or("", |i| &line[i..]);
    rest.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
}

/// Types that implement `Error` themselves.
fn displayed_by_hand(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().filter(|line| line.starts_with("impl "));
    lines.filter_map(|line| {
        let (of, name) = line.split_once("Error for ")?;
        let is_trait = of.ends_with([' ', ':']);
        let name = name.split(|c: char| !c.is_alphanumeric()).next();
        name.filter(|_| is_trait)
    })
}

/// True when this code gives the type a message.
fn has_message(code: &str, name: &str) -> bool {
    let own = code
        .match_indices(&format!("impl {name} {{"))
        .any(|(at, _)| {
            let body = &code[at..];
            let body = &body[..body.find("\n}\n").unwrap_or(body.len())];
            ["fn text(", "fn says("].iter().any(|method| {
                let line = body.lines().find(|line| line.contains(method));
                line.is_some_and(|line| line.contains("Text"))
            })
        });
    let display = code.split(&format!("Display for {name} {{")).nth(1);
    let display = display.map(|body| &body[..body.find("\n}\n").unwrap_or(body.len())]);
    own || display.is_some_and(|body| body.contains("english(&self."))
}

/// Code whose literals of several lines stand on one.
fn joined(code: &str) -> String {
    let mut lines = code.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |all, line| all + line.trim_start())
}

/// A sentence with its values replaced: `{ $name }` of a message and `{name}` of an error are alike.
fn shape(says: &str) -> String {
    let mut out = String::new();
    let mut rest = says;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        out.push_str("{}");
        rest = behind.split_once('}').map_or("", |(_, rest)| rest);
    }
    out + rest
}
