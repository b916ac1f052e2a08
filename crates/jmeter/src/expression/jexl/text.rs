//! Methods of `java.lang.String` and regular expressions.

use std::collections::HashMap;
use std::rc::Rc;

use fancy_regex::Regex;

use super::value::Value;

type Groups<'t> = fancy_regex::Captures<'t, str>;

/// Longest text that a script makes, bytes.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// Names of the methods of a String.
pub(super) const METHODS: &[&str] = &[
    "charAt",
    "compareTo",
    "compareToIgnoreCase",
    "concat",
    "contains",
    "contentEquals",
    "endsWith",
    "equals",
    "equalsIgnoreCase",
    "format",
    "hashCode",
    "indexOf",
    "intern",
    "isBlank",
    "isEmpty",
    "join",
    "lastIndexOf",
    "length",
    "matches",
    "repeat",
    "replace",
    "replaceAll",
    "replaceFirst",
    "split",
    "startsWith",
    "strip",
    "stripLeading",
    "stripTrailing",
    "subSequence",
    "substring",
    "toCharArray",
    "toLowerCase",
    "toString",
    "toUpperCase",
    "trim",
    "valueOf",
];

/// Compiled regular expressions of one script.
#[derive(Default)]
pub(super) struct Patterns {
    compiled: HashMap<Rc<str>, Rc<Regex>>,
}

impl Patterns {
    fn of(&mut self, pattern: &str) -> Result<Rc<Regex>, String> {
        if let Some(known) = self.compiled.get(pattern) {
            return Ok(Rc::clone(known));
        }
        let wrong = |_| format!("`{pattern}` is not a valid regular expression");
        let compiled = Rc::new(Regex::new(pattern).map_err(wrong)?);
        self.compiled.insert(pattern.into(), Rc::clone(&compiled));
        Ok(compiled)
    }

    /// True if the whole text matches.
    pub fn matches(&mut self, pattern: &str, text: &str) -> Result<bool, String> {
        let whole = self.of(&format!("\\A(?:{pattern})\\z"))?;
        whole.is_match(text).map_err(|why| why.to_string())
    }

    /// Replaces all matches, or the first.
    fn replace(
        &mut self,
        (text, pattern, with): (&str, &str, &str),
        all: bool,
    ) -> Result<String, String> {
        let pattern = self.of(pattern)?;
        let mut out = String::new();
        let mut done = 0;
        let most = if all { usize::MAX } else { 1 };
        for found in pattern.captures_iter(text).take(most) {
            let found = found.map_err(|why| why.to_string())?;
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[done..whole.start()]);
            substitute(&found, with, &mut out)?;
            done = whole.end();
            if out.len() > MOST_BYTES {
                return Err(too_long());
            }
        }
        out.push_str(&text[done..]);
        Ok(out)
    }

    /// `String.split`: texts at the end that are empty are left out unless `limit` says otherwise.
    fn split(&mut self, text: &str, pattern: &str, limit: i64) -> Result<Vec<String>, String> {
        let pattern = self.of(pattern)?;
        let mut parts: Vec<String> = Vec::new();
        let mut done = 0;
        for found in pattern.find_iter(text) {
            let found = found.map_err(|why| why.to_string())?;
            if limit > 0 && parts.len() as i64 == limit - 1 {
                break;
            }
            // A match of nothing at the beginning gives no empty text.
            if found.end() == 0 || found.start() == text.len() && found.end() == found.start() {
                continue;
            }
            parts.push(text[done..found.start()].into());
            done = found.end();
        }
        if done == 0 && parts.is_empty() {
            return Ok(vec![text.into()]);
        }
        parts.push(text[done..].into());
        while limit == 0 && parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
        Ok(parts)
    }
}

/// Appends a replacement with its `$1` and `${name}`.
fn substitute(found: &Groups<'_>, with: &str, out: &mut String) -> Result<(), String> {
    let mut rest = with.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push(rest.next().ok_or("a replacement ends with a backslash")?),
            '$' if rest.next_if_eq(&'{').is_some() => {
                let name: String = rest.by_ref().take_while(|c| *c != '}').collect();
                out.push_str(found.name(&name).map_or("", |group| group.as_str()));
            }
            '$' => {
                let first = rest.next_if(char::is_ascii_digit);
                let first = first.ok_or("a replacement has `$` without a group")?;
                let mut group = first as usize - '0' as usize;
                if group >= found.len() {
                    return Err(format!("there is no group {group}"));
                }
                while let Some(digit) = rest.peek().filter(|c| c.is_ascii_digit()) {
                    let longer = group * 10 + *digit as usize - '0' as usize;
                    if longer >= found.len() {
                        break;
                    }
                    group = longer;
                    rest.next();
                }
                out.push_str(found.get(group).map_or("", |group| group.as_str()));
            }
            other => out.push(other),
        }
    }
    Ok(())
}

/// The result of a method of a text; `None`: there is none with such arguments.
pub(super) fn call(
    text: &Rc<str>,
    name: &str,
    arguments: &[Value],
    patterns: &mut Patterns,
) -> Option<Result<Value, String>> {
    let simple = match (name, arguments) {
        ("length", []) => int(text.encode_utf16().count()),
        ("isEmpty", []) => Value::Flag(text.is_empty()),
        ("isBlank", []) => Value::Flag(text.trim().is_empty()),
        ("toString" | "intern", []) => Value::Text(Rc::clone(text)),
        ("hashCode", []) => Value::Int(Value::Text(Rc::clone(text)).hash()),
        ("trim", []) => Value::text(text.trim_matches(|c| c <= ' ')),
        ("strip", []) => Value::text(text.trim()),
        ("stripLeading", []) => Value::text(text.trim_start()),
        ("stripTrailing", []) => Value::text(text.trim_end()),
        ("toUpperCase", []) => Value::text(text.to_uppercase()),
        ("toLowerCase", []) => Value::text(text.to_lowercase()),
        ("equals", [other]) => Value::Flag(Value::Text(Rc::clone(text)).equals(other)),
        ("equalsIgnoreCase", [Value::Null]) => Value::Flag(false),
        ("toCharArray", []) => Value::array(text.encode_utf16().map(Value::Char).collect()),
        ("repeat", [count]) => return Some(repeated(text, count.as_whole()?)),
        ("charAt", [at]) => return Some(char_at(text, at.as_whole()?)),
        ("substring" | "subSequence", [from]) if name == "substring" => {
            return Some(part(text, from.as_whole()?, None));
        }
        ("substring" | "subSequence", [from, to]) => {
            return Some(part(text, from.as_whole()?, Some(to.as_whole()?)));
        }
        ("split", [by]) => return Some(patterns.split(text, as_text(by)?, 0).map(texts)),
        ("split", [by, limit]) => {
            let limit = limit.as_whole()?;
            return Some(patterns.split(text, as_text(by)?, limit).map(texts));
        }
        ("format", [Value::Text(pattern), values @ ..]) => {
            return Some(super::format::format(pattern, values).map(Value::text));
        }
        ("valueOf", [value]) => return Some(value.shown().map(Value::text)),
        ("join", [Value::Text(between), parts @ ..]) => return Some(joined(between, parts)),
        ("indexOf" | "lastIndexOf", _) => return index_of(text, name, arguments),
        _ => return call_with_text(text, name, arguments, patterns),
    };
    Some(Ok(simple))
}

/// Methods whose arguments are texts.
fn call_with_text(
    text: &Rc<str>,
    name: &str,
    arguments: &[Value],
    patterns: &mut Patterns,
) -> Option<Result<Value, String>> {
    let parts: Option<Vec<String>> = arguments.iter().map(piece).collect();
    let parts = parts?;
    let value = match (name, parts.as_slice()) {
        ("concat", [other]) if text.len() + other.len() > MOST_BYTES => {
            return Some(Err(too_long()));
        }
        ("concat", [other]) => Value::text(format!("{text}{other}")),
        ("contains", [other]) => Value::Flag(text.contains(other)),
        ("contentEquals", [other]) => Value::Flag(**text == **other),
        ("startsWith", [other]) => Value::Flag(text.starts_with(other)),
        ("startsWith", [other, from]) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let part: Vec<u16> = other.encode_utf16().collect();
            let from: usize = from.parse().ok()?;
            let rest = units.get(from..);
            Value::Flag(rest.is_some_and(|rest| rest.starts_with(&part)))
        }
        ("endsWith", [other]) => Value::Flag(text.ends_with(other)),
        ("equalsIgnoreCase", [other]) => Value::Flag(folded(text) == folded(other)),
        ("compareTo", [other]) => Value::Int(compared(text, other)),
        ("compareToIgnoreCase", [other]) => Value::Int(compared(&folded(text), &folded(other))),
        ("replace", [from, to]) => return Some(replaced(text, from, to)),
        ("matches", [pattern]) => return Some(patterns.matches(pattern, text).map(Value::Flag)),
        ("replaceAll", [pattern, with]) => {
            let done = patterns.replace((text, pattern, with), true);
            return Some(done.map(Value::text));
        }
        ("replaceFirst", [pattern, with]) => {
            let done = patterns.replace((text, pattern, with), false);
            return Some(done.map(Value::text));
        }
        _ => return None,
    };
    Some(Ok(value))
}

/// The refusal of a text of more than [`MOST_BYTES`].
pub(super) fn too_long() -> String {
    "the text becomes too long".into()
}

fn int(number: usize) -> Value {
    Value::Int(i32::try_from(number).unwrap_or(i32::MAX))
}

fn texts(parts: Vec<String>) -> Value {
    Value::array(parts.into_iter().map(Value::text).collect())
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// An argument that is a text, a character, or the number that `startsWith` takes.
fn piece(value: &Value) -> Option<String> {
    match value {
        Value::Text(_) | Value::Char(_) | Value::Builder(_) | Value::Int(_) => value.shown().ok(),
        _ => None,
    }
}

fn folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// Difference of the first units that differ, otherwise of the lengths.
fn compared(a: &str, b: &str) -> i32 {
    let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    let (a, b) = (units(a), units(b));
    let differ = a.iter().zip(&b).find(|(a, b)| a != b);
    differ.map_or(a.len() as i32 - b.len() as i32, |(a, b)| {
        i32::from(*a) - i32::from(*b)
    })
}

fn repeated(text: &str, count: i64) -> Result<Value, String> {
    let count = usize::try_from(count).map_err(|_| format!("`{count}` is negative"))?;
    match text.len().checked_mul(count) {
        Some(bytes) if bytes <= MOST_BYTES => Ok(Value::text(text.repeat(count))),
        _ => Err(too_long()),
    }
}

fn replaced(text: &str, from: &str, to: &str) -> Result<Value, String> {
    let growth = text.matches(from).count().saturating_mul(to.len());
    match text.len().saturating_add(growth) <= MOST_BYTES {
        true => Ok(Value::text(text.replace(from, to))),
        false => Err(too_long()),
    }
}

fn joined(between: &str, parts: &[Value]) -> Result<Value, String> {
    let all: Result<Vec<String>, String> = match parts {
        [Value::List(items) | Value::Array(items)] => {
            items.borrow().iter().map(Value::shown).collect()
        }
        parts => parts.iter().map(Value::shown).collect(),
    };
    let joined = all?.join(between);
    match joined.len() > MOST_BYTES {
        true => Err(too_long()),
        false => Ok(Value::text(joined)),
    }
}

fn char_at(text: &str, at: i64) -> Result<Value, String> {
    let unit = usize::try_from(at).ok();
    let unit = unit.and_then(|at| text.encode_utf16().nth(at));
    unit.map(Value::Char)
        .ok_or_else(|| format!("there is no character {at}"))
}

fn part(text: &str, from: i64, to: Option<i64>) -> Result<Value, String> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let to = to.unwrap_or(units.len() as i64);
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = range.and_then(|(from, to)| units.get(from..to));
    let wrong = || format!("`{from}` to `{to}` is outside of the text");
    let part = part.ok_or_else(wrong)?;
    Ok(Value::text(String::from_utf16_lossy(part)))
}

fn index_of(text: &str, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
    let (wanted, from) = match arguments {
        [wanted] => (wanted, None),
        [wanted, from] => (wanted, Some(from.as_whole()?)),
        _ => return None,
    };
    let wanted: Vec<u16> = match wanted {
        Value::Int(unit) => vec![u16::try_from(*unit).ok()?],
        wanted => piece(wanted)?.encode_utf16().collect(),
    };
    let units: Vec<u16> = text.encode_utf16().collect();
    let last = units.len().checked_sub(wanted.len());
    let is_at = |at: &usize| units[*at..].starts_with(&wanted);
    let found = last.and_then(|last| match name {
        "indexOf" => {
            let from = usize::try_from(from.unwrap_or(0)).unwrap_or(0);
            (from..=last).find(is_at)
        }
        _ => {
            let most = from.map_or(Some(last), |from| usize::try_from(from).ok());
            (0..=most?.min(last)).rev().find(is_at)
        }
    });
    let index = found.map_or(-1, |at| i32::try_from(at).unwrap_or(i32::MAX));
    Some(Ok(Value::Int(index)))
}
