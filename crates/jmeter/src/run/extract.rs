//! Extraction of variables from a result by regular expression, boundary or JSON path.

use std::borrow::Cow;

use super::context::{ThreadContext, View};
use super::extract_tree::extract_tree;
use super::sample_result::SampleResult;
use crate::document::{MOST_TEXT_BYTES, TOO_MUCH_TEXT};
use crate::expression::{Template, World as _, character_of};
use crate::json::{self, PathFault, Value as Json};
use crate::plan::{Applies, Extraction, Field, PostKind};

/// Most matches of one extraction.
pub(super) const MOST_MATCHES: usize = 100_000;

/// The groups of one match, the whole match first; `None`: it took no part.
pub(super) type MatchGroups = Vec<Option<String>>;

/// Executes a postprocessor that extracts variables from a result.
pub(super) fn extract(view: &mut View<'_>, kind: &PostKind, result: &SampleResult<'_>) {
    match kind {
        PostKind::Regex {
            pattern,
            field,
            template,
            extraction,
        } => {
            let (pattern, template) = (view.text(pattern), view.text(template));
            let Some(texts) = field_texts(view, *field, &extraction.applies, result) else {
                return;
            };
            let found = match view.test().pattern(&pattern) {
                Ok(regex) => in_all(&texts, |text| matches_of(&regex, text)),
                Err(why) => Err(why),
            };
            let found = found.unwrap_or_else(|why| {
                view.test().sink.trouble(&why);
                Vec::new()
            });
            set_matches(view, extraction, &found, Some(&template));
        }
        PostKind::Boundary {
            left,
            right,
            field,
            extraction,
        } => {
            let (left, right) = (view.text(left), view.text(right));
            let Some(texts) = field_texts(view, *field, &extraction.applies, result) else {
                return;
            };
            let found = in_all(&texts, |text| Ok(between(text, &left, &right)));
            set_matches(view, extraction, &found.unwrap_or_default(), None);
        }
        PostKind::Json { .. } => extract_json(view, kind, result),
        kind => extract_tree(view, kind, result),
    }
}

/// The texts that an extractor examines: of the result, of its sub-results, or of both. `None`: it
/// examines a variable that is not set.
pub(super) fn field_texts<'a>(
    view: &mut View<'_>,
    field: Field,
    applies: &Applies,
    result: &SampleResult<'a>,
) -> Option<Vec<Cow<'a, str>>> {
    let test = view.test();
    let inner = || {
        let inner = result.inner.iter();
        inner.map(|inner| text_of(field, &SampleResult::of_inner(test, inner)))
    };
    match applies {
        Applies::Inner => Some(inner().collect()),
        Applies::All => Some(
            [text_of(field, result)]
                .into_iter()
                .chain(inner())
                .collect(),
        ),
        Applies::Main | Applies::Variable(_) => {
            field_text(view, field, applies, result).map(|text| vec![text])
        }
    }
}

/// The text of one result, or of a variable, that an element examines; `None`: the variable is not set.
pub(super) fn field_text<'a>(
    view: &mut View<'_>,
    field: Field,
    applies: &Applies,
    result: &SampleResult<'a>,
) -> Option<Cow<'a, str>> {
    if let Applies::Variable(name) = applies {
        let name = view.text(name);
        return view.variable(&name).map(|value| value.to_owned().into());
    }
    Some(text_of(field, result))
}

fn text_of<'a>(field: Field, result: &SampleResult<'a>) -> Cow<'a, str> {
    match field {
        Field::Body => result.text.into(),
        Field::BodyUnescaped => unescaped(result.text).into(),
        Field::ResponseHeaders => result.headers.into(),
        Field::RequestHeaders => result.request_headers().into(),
        Field::RequestBody => result.request_text().into(),
        Field::Url => result.url.into(),
        Field::Code => result.code.into(),
        Field::Message => result.message.into(),
    }
}

/// The matches in all texts, one text after the other. Fails as the search in one of them does.
pub(super) fn in_all<T>(
    texts: &[Cow<'_, str>],
    find: impl Fn(&str) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    let mut found = Vec::new();
    for text in texts {
        found.extend(find(text)?);
    }
    found.truncate(MOST_MATCHES);
    Ok(found)
}

/// Sets the variables of an extraction as JMeter does: `name`, `name_g1`, and with all
/// matches `name_1`, `name_matchNr`.
pub(super) fn set_matches(
    view: &mut View<'_>,
    extraction: &Extraction,
    found: &[MatchGroups],
    template: Option<&str>,
) {
    let name = view.text(&extraction.variable);
    let name = name.trim();
    let wanted = view.integer(&extraction.match_number);
    let default = extraction
        .default
        .as_ref()
        .map(|default| view.text(default));
    let value = |groups: &MatchGroups| match template {
        Some(template) => fill(template, groups),
        None => groups.get(1).cloned().flatten().unwrap_or_default(),
    };
    let thread = &mut *view.thread;
    forget_numbered(thread, name);
    if let Some(default) = &default {
        thread.set(name, default);
    }
    if wanted < 0 {
        thread.set(&format!("{name}_matchNr"), &found.len().to_string());
        for (groups, number) in found.iter().zip(1..) {
            let numbered = format!("{name}_{number}");
            thread.set(&numbered, &value(groups));
            if template.is_some() {
                set_groups(thread, &numbered, groups);
            }
        }
        return;
    }
    match found.get(choose(thread, wanted, found.len())) {
        Some(groups) => {
            thread.set(name, &value(groups));
            if template.is_some() {
                set_groups(thread, name, groups);
            }
        }
        None => forget_groups(thread, name),
    }
}

/// Index of the match of this number among `count`; 0: a random one.
fn choose(thread: &mut ThreadContext, wanted: i64, count: usize) -> usize {
    match wanted {
        0 => thread.random().below(count as u64) as usize,
        wanted => wanted as usize - 1,
    }
}

fn set_groups(thread: &mut ThreadContext, name: &str, groups: &MatchGroups) {
    thread.set(&format!("{name}_g"), &(groups.len() - 1).to_string());
    for (index, text) in groups.iter().enumerate() {
        let name = format!("{name}_g{index}");
        match text {
            Some(text) => thread.set(&name, text),
            None => drop(thread.remove(&name)),
        }
    }
}

/// Removes the numbered matches of an earlier extraction.
fn forget_numbered(thread: &mut ThreadContext, name: &str) {
    let count = thread.remove(&format!("{name}_matchNr"));
    let count = count
        .and_then(|count| count.parse::<usize>().ok())
        .unwrap_or(0);
    for number in 1..=count.min(MOST_MATCHES) {
        let numbered = format!("{name}_{number}");
        thread.remove(&numbered);
        forget_groups(thread, &numbered);
    }
}

/// Removes the groups of an earlier match.
fn forget_groups(thread: &mut ThreadContext, name: &str) {
    let groups = thread.remove(&format!("{name}_g"));
    let groups = groups.and_then(|groups| groups.parse::<usize>().ok());
    if let Some(groups) = groups {
        for group in 0..=groups.min(MOST_MATCHES) {
            thread.remove(&format!("{name}_g{group}"));
        }
    }
}

/// Sets the variables of an XPath extractor: the first of the matches that were asked for, each
/// with its number, and their count.
pub(super) fn set_texts(view: &mut View<'_>, extraction: &Extraction, found: &[Option<String>]) {
    let name = view.text(&extraction.variable);
    let name = name.trim();
    let wanted = view.integer(&extraction.match_number);
    let default = extraction.default.as_ref();
    let default = default
        .map(|default| view.text(default))
        .unwrap_or_default();
    let thread = &mut *view.thread;
    forget_numbered(thread, name);
    let chosen = match wanted {
        ..0 => 0..found.len(),
        _ if found.is_empty() => 0..0,
        wanted => {
            let index = choose(thread, wanted, found.len());
            index..index + 1
        }
    };
    let found = found.get(chosen).unwrap_or_default();
    let first = found.first().and_then(Option::as_ref);
    thread.set(name, first.unwrap_or(&default));
    for (text, number) in found.iter().zip(1..) {
        if let Some(text) = text {
            thread.set(&format!("{name}_{number}"), text);
        }
    }
    thread.set(&format!("{name}_matchNr"), &found.len().to_string());
}

fn extract_json(view: &mut View<'_>, kind: &PostKind, result: &SampleResult<'_>) {
    let PostKind::Json {
        paths,
        variables,
        defaults,
        matches,
        joins,
        applies,
        fits: _,
    } = kind
    else {
        return;
    };
    let texts = field_texts(view, Field::Body, applies, result).unwrap_or_default();
    let documents = texts.iter().map(|text| json::read(text));
    let documents: Option<Vec<Json>> = documents.collect();
    let documents = documents.filter(|documents| !documents.is_empty());
    let joins = view.flag(joins);
    for (index, (path, variable)) in paths.iter().zip(variables).enumerate() {
        let (path, name) = (view.text(path), view.text(variable));
        let part = |view: &mut View<'_>, of: &[Template]| {
            of.get(index)
                .map(|text| view.text(text))
                .unwrap_or_default()
        };
        let default = part(view, defaults);
        let wanted = part(view, matches).trim().parse::<i64>().unwrap_or(0);
        let found = documents.as_deref().map(|documents| {
            let found = view.test().json_path(path.trim());
            found.and_then(|path| json_values(&path, documents))
        });
        let wanted = PathWanted {
            joins,
            wanted,
            default: &default,
        };
        let texts = |found: Vec<Json>| found.iter().map(|value| wanted.text(value)).collect();
        set_found(
            view,
            name.trim(),
            found.map(|found| found.map(texts)),
            &wanted,
        );
    }
}

/// Everything that a path leads to in these documents. A path that one of them lacks is not an error.
fn json_values(path: &json::Path, documents: &[Json]) -> Result<Vec<Json>, PathFault> {
    let mut found = Vec::new();
    for document in documents {
        if *document == Json::Null {
            return Err(PathFault::Invalid("json can not be null".into()));
        }
        match path.list(document) {
            Ok(values) => found.extend(values),
            Err(PathFault::NotFound(_)) => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(found)
}

/// Selection of the found values that are stored, and their form.
pub(super) struct PathWanted<'a> {
    /// All of them, joined, in `name_ALL`.
    pub joins: bool,
    /// Number of the match; 0: a random one, −1: all.
    pub wanted: i64,
    /// Stands for a value that is missing or null.
    pub default: &'a str,
}

impl PathWanted<'_> {
    fn text(&self, value: &Json) -> String {
        match value {
            Json::Null => self.default.to_owned(),
            value => value.shown(),
        }
    }
}

/// Stores what a path led to as JMeter does. `None`: there was nothing to examine.
pub(super) fn set_found(
    view: &mut View<'_>,
    name: &str,
    found: Option<Result<Vec<String>, PathFault>>,
    how: &PathWanted<'_>,
) {
    forget_numbered(view.thread, name);
    match found {
        None => view.thread.set(name, how.default),
        Some(Ok(found)) => set_values(view.thread, name, &found, how),
        Some(Err(fault)) => {
            view.thread.set(name, how.default);
            view.test().sink.trouble(fault.says());
        }
    }
}

fn set_values(thread: &mut ThreadContext, name: &str, found: &[String], how: &PathWanted<'_>) {
    let PathWanted {
        wanted, default, ..
    } = *how;
    if found.is_empty() {
        thread.set(name, default);
    } else if wanted < 0 {
        for (value, number) in found.iter().zip(1..) {
            thread.set(&format!("{name}_{number}"), value);
        }
    } else if let [one] = found {
        // Whatever its number.
        thread.set(name, one);
    } else {
        let chosen = choose(thread, wanted, found.len());
        thread.set(name, found.get(chosen).map_or(default, String::as_str));
    }
    if how.joins && wanted < 0 {
        thread.set(&format!("{name}_ALL"), &found.join(","));
    }
    if wanted != 0 || found.is_empty() {
        thread.set(&format!("{name}_matchNr"), &found.len().to_string());
    }
}

/// A JSON value as JMESPath's extractor shows it: strings without quotes.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The matches of a pattern. Fails if they are too long together.
fn matches_of(regex: &fancy_regex::Regex, text: &str) -> Result<Vec<MatchGroups>, String> {
    let mut found = Vec::new();
    let mut bytes = 0;
    // If the pattern exceeds its backtracking limit, the matches so far are kept.
    for captures in regex
        .captures_iter(text)
        .map_while(Result::ok)
        .take(MOST_MATCHES)
    {
        let group = |index| captures.get(index).map(|m| m.as_str());
        let groups = (0..captures.len()).map(group);
        bytes += groups.clone().flatten().map(str::len).sum::<usize>();
        if bytes > MOST_TEXT_BYTES {
            return Err(TOO_MUCH_TEXT.into());
        }
        found.push(groups.map(|group| group.map(str::to_owned)).collect());
    }
    Ok(found)
}

fn between(text: &str, left: &str, right: &str) -> Vec<MatchGroups> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MOST_MATCHES {
        let Some((_, behind)) = rest.split_once(left) else {
            break;
        };
        let (inside, next) = match right {
            "" => (behind, ""),
            right => match behind.split_once(right) {
                Some(found) => found,
                None => break,
            },
        };
        found.push(vec![Some(inside.to_owned()), Some(inside.to_owned())]);
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    found
}

/// Puts the groups of a match into a template such as `$1$-$2$`; a group that took no part is `null`, as
/// in JMeter.
fn fill(template: &str, groups: &MatchGroups) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((head, tail)) = rest.split_once('$') {
        out.push_str(head);
        match tail.split_once('$') {
            Some((digits, behind))
                if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
            {
                let group = digits
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| groups.get(index)?.as_deref());
                out.push_str(group.unwrap_or("null"));
                rest = behind;
            }
            _ => {
                out.push('$');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let named = behind.split_once(';');
        let found = named.and_then(|(name, after)| Some((character_of(name)?, after)));
        rest = match found {
            Some((character, after)) => {
                out.push(character);
                after
            }
            None => {
                out.push('&');
                behind
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let groups = vec![
            Some("ab".to_owned()),
            Some("a".into()),
            Some("b".into()),
            None,
        ];
        for (template, expected) in [
            ("$1$", "a"),
            ("$2$-$1$", "b-a"),
            ("$0$", "ab"),
            ("$9$x", "nullx"),
            ("$3$", "null"),
            ("a$b", "a$b"),
            ("", ""),
        ] {
            assert_eq!(fill(template, &groups), expected, "{template}");
        }
    }

    #[test]
    fn the_texts_of_all_matches_together_are_bounded() {
        let groups = "(".repeat(40) + "x+" + &")".repeat(40);
        let regex = fancy_regex::Regex::new(&groups).expect("a pattern");
        let found = matches_of(&regex, &"x".repeat(4 << 20));
        assert_eq!(found, Err(TOO_MUCH_TEXT.into()));
    }

    #[test]
    fn texts_between_boundaries_are_found() {
        let all = |text, left, right| {
            between(text, left, right)
                .into_iter()
                .map(|g| g[1].clone().unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(all("a[1]b[2]c[3", "[", "]"), ["1", "2"]);
        assert_eq!(all("x=1", "x=", ""), ["1"]);
        assert!(all("x", "(", ")").is_empty());
    }
}
