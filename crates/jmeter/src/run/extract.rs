//! What is taken out of a result into variables?

use std::borrow::Cow;

use serde_json::Value as Json;

use super::answer::Answer;
use super::test::Test;
use super::user::Body;
use crate::plan::{Applies, Extraction, Field, Id, PostKind};

/// Most matches of one extraction.
const MOST_MATCHES: usize = 100_000;

/// The texts of one match, the whole first.
pub(super) type Groups = Vec<String>;

impl Body {
    /// Carries out a postprocessor.
    pub(super) fn extract(&mut self, test: &Test, now_ns: i64, id: Id, answer: &Answer<'_>) {
        match &test.plan.post_processors[id as usize].kind {
            PostKind::Regex {
                pattern,
                field,
                template,
                extraction,
            } => {
                let mut view = self.person.view(test, now_ns);
                let (pattern, template) = (view.text(pattern), view.text(template));
                let Some(text) = self.looked_at(test, now_ns, *field, &extraction.applies, answer)
                else {
                    return;
                };
                let found = match test.pattern(&pattern) {
                    Ok(regex) => matches_of(&regex, &text),
                    Err(why) => {
                        test.sink.trouble(&why);
                        Vec::new()
                    }
                };
                self.set_matches(test, now_ns, extraction, &found, Some(&template));
            }
            PostKind::Boundary {
                left,
                right,
                field,
                extraction,
            } => {
                let mut view = self.person.view(test, now_ns);
                let (left, right) = (view.text(left), view.text(right));
                let Some(text) = self.looked_at(test, now_ns, *field, &extraction.applies, answer)
                else {
                    return;
                };
                let found = between(&text, &left, &right);
                self.set_matches(test, now_ns, extraction, &found, None);
            }
            PostKind::Json { .. } => self.extract_json(test, now_ns, id, answer),
            _ => self.extract_tree(test, now_ns, id, answer),
        }
    }

    /// The text that an element looks at; `None` when there is none of that kind.
    pub(super) fn looked_at<'a>(
        &mut self,
        test: &Test,
        now_ns: i64,
        field: Field,
        applies: &Applies,
        answer: &Answer<'a>,
    ) -> Option<Cow<'a, str>> {
        use crate::expression::World as _;
        match applies {
            Applies::Variable(name) => {
                let mut view = self.person.view(test, now_ns);
                let name = view.text(name);
                return view.variable(&name).map(|value| value.to_owned().into());
            }
            // Redirects that were followed are the only inner results, and they are not kept.
            Applies::Inner => return None,
            Applies::Main | Applies::All => {}
        }
        let (head, body) = answer
            .sent
            .split_at_checked(answer.sent_head)
            .unwrap_or((b"", b""));
        Some(match field {
            Field::Body | Field::BodyAsDocument => answer.text.into(),
            Field::BodyUnescaped => unescaped(answer.text).into(),
            Field::ResponseHeaders => answer.headers.into(),
            Field::RequestHeaders => String::from_utf8_lossy(head),
            Field::RequestBody => String::from_utf8_lossy(body),
            Field::Url => answer.url.into(),
            Field::Code => answer.code.into(),
            Field::Message => answer.message.into(),
        })
    }

    /// Sets the variables of an extraction as JMeter does: `name`, `name_g1`, and with all
    /// matches `name_1`, `name_matchNr`.
    pub(super) fn set_matches(
        &mut self,
        test: &Test,
        now_ns: i64,
        extraction: &Extraction,
        found: &[Groups],
        template: Option<&str>,
    ) {
        let mut view = self.person.view(test, now_ns);
        let name = view.text(&extraction.variable);
        let name = name.trim();
        let wanted = view.integer(&extraction.match_number);
        let default = extraction
            .default
            .as_ref()
            .map(|default| view.text(default));
        let value = |groups: &Groups| match template {
            Some(template) => fill(template, groups),
            None => groups.get(1).cloned().unwrap_or_default(),
        };
        self.forget_numbered(name);
        if let Some(default) = &default {
            self.person.set(name, default);
        }
        if wanted < 0 {
            self.person
                .set(&format!("{name}_matchNr"), &found.len().to_string());
            for (groups, number) in found.iter().zip(1..) {
                let numbered = format!("{name}_{number}");
                self.person.set(&numbered, &value(groups));
                if template.is_some() {
                    self.set_groups(&numbered, groups);
                }
            }
            return;
        }
        let chosen = match wanted {
            0 => self.person.random.below(found.len() as u64) as usize,
            wanted => wanted as usize - 1,
        };
        match found.get(chosen) {
            Some(groups) => {
                self.person.set(name, &value(groups));
                if template.is_some() {
                    self.set_groups(name, groups);
                }
            }
            None => {
                self.person.variables.remove(&format!("{name}_g"));
            }
        }
    }

    fn set_groups(&mut self, name: &str, groups: &Groups) {
        self.person
            .set(&format!("{name}_g"), &(groups.len() - 1).to_string());
        for (index, text) in groups.iter().enumerate() {
            self.person.set(&format!("{name}_g{index}"), text);
        }
    }

    /// Matches of an earlier time must not be taken for those of this one.
    fn forget_numbered(&mut self, name: &str) {
        let count = self.person.variables.remove(&format!("{name}_matchNr"));
        let count = count
            .and_then(|count| count.parse::<usize>().ok())
            .unwrap_or(0);
        for number in 1..=count.min(MOST_MATCHES) {
            self.person.variables.remove(&format!("{name}_{number}"));
        }
    }

    fn extract_json(&mut self, test: &Test, now_ns: i64, id: Id, answer: &Answer<'_>) {
        let PostKind::Json {
            paths,
            variables,
            defaults,
            matches,
            joins,
            applies,
        } = &test.plan.post_processors[id as usize].kind
        else {
            return;
        };
        let Some(text) = self.looked_at(test, now_ns, Field::Body, applies, answer) else {
            return;
        };
        let document: Option<Json> = serde_json::from_str(&text).ok();
        for (index, (path, variable)) in paths.iter().zip(variables).enumerate() {
            let mut view = self.person.view(test, now_ns);
            let (path, name) = (view.text(path), view.text(variable));
            let (path, name) = (path.trim(), name.trim());
            let default = defaults
                .get(index)
                .map(|default| view.text(default))
                .unwrap_or_default();
            let wanted = matches
                .get(index)
                .map(|wanted| view.text(wanted))
                .unwrap_or_default();
            let wanted = wanted.trim().parse::<i64>().unwrap_or(0);
            let joins = view.flag(joins);
            let found = match (&document, test.path(path)) {
                (Some(document), Ok(compiled)) => json_matches(&compiled, path, document),
                (None, _) => Vec::new(),
                (_, Err(why)) => {
                    test.sink.trouble(&why);
                    Vec::new()
                }
            };
            self.forget_numbered(name);
            if found.is_empty() {
                self.person.set(name, &default);
                if wanted < 0 {
                    self.person.set(&format!("{name}_matchNr"), "0");
                }
                continue;
            }
            if joins {
                self.person.set(&format!("{name}_ALL"), &found.join(","));
            }
            if wanted < 0 {
                for (text, number) in found.iter().zip(1..) {
                    self.person.set(&format!("{name}_{number}"), text);
                }
                self.person
                    .set(&format!("{name}_matchNr"), &found.len().to_string());
                continue;
            }
            let chosen = match wanted {
                0 => self.person.random.below(found.len() as u64) as usize,
                wanted => wanted as usize - 1,
            };
            self.person.set(name, found.get(chosen).unwrap_or(&default));
        }
    }
}

/// What a JSON path finds, as texts. A path to one list gives the list itself, as JMeter does.
pub(super) fn json_matches(
    path: &serde_json_path::JsonPath,
    text: &str,
    document: &Json,
) -> Vec<String> {
    let nodes = path.query(document).all();
    let is_definite =
        !text.contains(['*', '?', ',']) && !text.contains("..") && !text.contains(':');
    let expand = |node: &&Json| match node {
        Json::Array(items) if is_definite => items.iter().map(json_text).collect(),
        node => vec![json_text(node)],
    };
    nodes.iter().flat_map(expand).take(MOST_MATCHES).collect()
}

/// A JSON value as JMeter shows it: texts without quotes.
pub(super) fn json_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn matches_of(regex: &fancy_regex::Regex, text: &str) -> Vec<Groups> {
    let mut found = Vec::new();
    // A pattern that gives up on a text has found what it found so far.
    for captures in regex
        .captures_iter(text)
        .map_while(Result::ok)
        .take(MOST_MATCHES)
    {
        let group = |index| captures.get(index).map_or("", |m| m.as_str()).to_owned();
        found.push((0..captures.len()).map(group).collect());
    }
    found
}

fn between(text: &str, left: &str, right: &str) -> Vec<Groups> {
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
        found.push(vec![inside.to_owned(), inside.to_owned()]);
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    found
}

/// Puts the groups of a match into a template such as `$1$-$2$`.
fn fill(template: &str, groups: &Groups) -> String {
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
                    .and_then(|index| groups.get(index));
                out.push_str(group.map_or("", String::as_str));
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
    const ENTITIES: &[(&str, &str)] = &[
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ];
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    ENTITIES.iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let groups = vec!["ab".to_owned(), "a".into(), "b".into()];
        for (template, expected) in [
            ("$1$", "a"),
            ("$2$-$1$", "b-a"),
            ("$0$", "ab"),
            ("$9$x", "x"),
            ("a$b", "a$b"),
            ("", ""),
        ] {
            assert_eq!(fill(template, &groups), expected, "{template}");
        }
    }

    #[test]
    fn texts_between_boundaries_are_found() {
        let all = |text, left, right| {
            between(text, left, right)
                .into_iter()
                .map(|g| g[1].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(all("a[1]b[2]c[3", "[", "]"), ["1", "2"]);
        assert_eq!(all("x=1", "x=", ""), ["1"]);
        assert!(all("x", "(", ")").is_empty());
    }
}
