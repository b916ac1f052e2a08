//! Checks that both languages have the same messages, and that links in documents resolve.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{files_below, folders_in, none, root, text_of, texts_below};

#[test]
fn both_languages_have_the_same_messages() {
    let mut offences = Vec::new();
    let files: BTreeSet<_> = texts_below("locales", &["ftl"])
        .into_iter()
        .filter_map(|(path, _)| Some(path.file_name()?.to_owned()))
        .collect();
    for file in files {
        let keys = |language: &str| {
            let path = Path::new("locales").join(language).join(&file);
            message_keys(&text_of(&path).unwrap_or_default())
        };
        let (en, ja) = (keys("en"), keys("ja"));
        for key in en.symmetric_difference(&ja) {
            let missing_in = if en.contains(key) { "ja" } else { "en" };
            let file = file.display();
            offences.push(format!("locales/{missing_in}/{file} lacks `{key}`"));
        }
    }
    none(offences);
}

/// Japanese words that stand for what another word of GLOSSARY.md or of the same spelling stands for.
const JAPANESE_TWINS: [(&str, &str); 11] = [
    ("膝", "屈曲点"),
    ("テストプラン", "テスト計画"),
    ("JMeter プラン", "JMeter のテスト計画"),
    ("ディレクトリ", "ディレクトリー"),
    ("プロパティ", "プロパティー"),
    ("メモリ", "メモリー"),
    ("バッファ", "バッファー"),
    ("カウンタ", "カウンター"),
    ("レイテンシ", "レイテンシー"),
    ("要求に応答", "リクエストに応答"),
    ("要求側", "リクエスト側"),
];

#[test]
fn one_thing_has_one_japanese_word() {
    let mut offences = Vec::new();
    let texts = texts_below("locales/ja", &["ftl"]).into_iter();
    for (path, text) in texts.chain(texts_below("docs", &["md"])) {
        for (line, number) in text.lines().zip(1..) {
            for (twin, word) in JAPANESE_TWINS {
                let line = line.replace(word, "").replace("バッファリング", "");
                if line.contains(twin) {
                    let path = path.display();
                    offences.push(format!("{path}:{number}: `{twin}`, elsewhere `{word}`"));
                }
            }
        }
    }
    none(offences);
}

#[test]
fn every_message_that_the_code_names_exists() {
    let known: BTreeSet<String> = texts_below("locales/en", &["ftl"])
        .iter()
        .flat_map(|(_, text)| message_keys(text))
        .collect();
    let mut offences = Vec::new();
    for (path, text) in texts_below("crates", &["rs"]) {
        let product = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let is_test =
            path.ends_with("tests.rs") || path.components().any(|c| c.as_os_str() == "tests");
        if is_test || path.starts_with("crates/model") || path.starts_with("crates/testkit") {
            continue;
        }
        for key in named_messages(product) {
            if !known.contains(key) {
                offences.push(format!("{}: locales/en has no `{key}`", path.display()));
            }
        }
    }
    none(offences);
}

#[test]
fn errors_are_given_the_values_that_they_need() {
    let english = text_of("locales/en/errors.ftl".as_ref()).unwrap_or_default();
    let needed: BTreeMap<&str, BTreeSet<&str>> = messages(&english).collect();
    let mut offences = Vec::new();
    for (path, text) in texts_below("crates", &["rs"]) {
        for (key, given) in chained_values(&text) {
            if let Some(needed) = needed.get(key)
                && !given.is_empty()
                && *needed != given
            {
                let path = path.display();
                offences.push(format!(
                    "{path}: `{key}` needs {needed:?}, is given {given:?}"
                ));
            }
        }
    }
    none(offences);
}

#[test]
fn every_message_is_said_somewhere() {
    let code = Said::of(&texts_below("crates", &["rs"]), "{");
    let page = Said::of(&texts_below("ui/src", &["ts"]), "${");
    let messages = texts_below("locales/en", &["ftl"]);
    let inner: String = messages.iter().map(|(_, text)| text.as_str()).collect();
    let mut offences = Vec::new();
    for (path, text) in &messages {
        // Its sentences are looked for by what they say.
        if path.ends_with("reasons.ftl") {
            continue;
        }
        for key in message_keys(text) {
            // The page and the report's scripts leave out the first part of a key.
            let tail = key.split_once('-').map_or("", |(_, tail)| tail);
            let inside = ["{ ", "{ -"].map(|open| format!("{open}{key} "));
            if !code.says(&key)
                && !page.says(&key)
                && !page.says(tail)
                && !inside.iter().any(|used| inner.contains(used))
            {
                offences.push(format!("{}: nobody says `{key}`", path.display()));
            }
        }
    }
    none(offences);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut offences = Vec::new();
    for path in files_below("")
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
    {
        let text = text_of(&path).unwrap_or_default();
        let directory = root().join(path.parent().unwrap_or(Path::new("")));
        for target in local_links(&text) {
            if !directory.join(target).exists() {
                offences.push(format!("{}: `{target}` is not there", path.display()));
            }
        }
    }
    none(offences);
}

#[test]
fn each_guide_exists_in_both_languages() {
    let mut offences = Vec::new();
    for part in folders_in("docs") {
        let pages = |language: &str| -> BTreeSet<_> {
            let directory = format!("docs/{part}/{language}");
            let files = files_below(&directory);
            files
                .iter()
                .filter_map(|p| Some(p.file_name()?.to_owned()))
                .collect()
        };
        for page in pages("en").symmetric_difference(&pages("ja")) {
            offences.push(format!(
                "docs/{part}: `{}` exists in one language only",
                page.display()
            ));
        }
    }
    none(offences);
}

#[test]
fn change_fragments_say_what_kind_of_change_they_are() {
    const KINDS: &[&str] = &["added", "changed", "fixed", "removed", "security"];
    let mut offences = Vec::new();
    for path in files_below("changelog.d") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = name
            .strip_suffix(".md")
            .and_then(|stem| stem.rsplit_once('.'));
        if name != "README.md" && !kind.is_some_and(|(_, kind)| KINDS.contains(&kind)) {
            offences.push(format!(
                "changelog.d/{name}: name it <topic>.<{}>.md",
                KINDS.join("|")
            ));
        }
    }
    none(offences);
}

/// Texts in code that could be keys of messages: whole ones, and beginnings of those that are put
/// together.
#[derive(Default)]
struct Said {
    whole: BTreeSet<String>,
    begun: BTreeSet<String>,
}

impl Said {
    /// Texts of these files; `open` stands before what is put into a text.
    fn of(files: &[(PathBuf, String)], open: &str) -> Self {
        let mut said = Self::default();
        for (_, text) in files {
            for rest in text.split(['"', '\'', '`']).skip(1) {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                let end = rest.find(|c| !plain(c)).unwrap_or(rest.len());
                let (key, rest) = rest.split_at(end);
                if rest.is_empty() {
                    said.whole.insert(key.to_owned());
                } else if rest.starts_with(open) && key.ends_with('-') {
                    said.begun.insert(key.to_owned());
                }
            }
        }
        said
    }

    fn says(&self, key: &str) -> bool {
        self.whole.contains(key)
            || self
                .begun
                .iter()
                .any(|begun| key.starts_with(begun.as_str()))
    }
}

/// Keys of the messages that are made in this code with `Text::new("key")`.
fn named_messages(code: &str) -> impl Iterator<Item = &str> {
    const MAKES: &str = "Text::new(\"";
    let own = |at: &usize| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let starts = code.match_indices(MAKES).map(|(at, _)| at).filter(own);
    starts.map(|at| {
        let rest = &code[at + MAKES.len()..];
        rest.split('"').next().unwrap_or_default()
    })
}

/// Keys of messages that are made in this code, with the names of the values that are chained to them. A
/// message that gets values later, or none, has none here.
fn chained_values(code: &str) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
    const GIVES: [&str; 4] = [".with(\"", ".word(\"", ".text(\"", ".number(\""];
    named_messages(code).map(|key| {
        let mut rest = &code[key.as_ptr() as usize - code.as_ptr() as usize + key.len()..];
        rest = rest.strip_prefix("\")").unwrap_or_default();
        let mut given = BTreeSet::new();
        while let Some(call) = GIVES
            .iter()
            .find_map(|it| rest.trim_start().strip_prefix(it))
        {
            let (name, after) = call.split_once('"').unwrap_or_default();
            given.insert(name);
            rest = &after[closing(after)..];
        }
        (key, given)
    })
}

/// Behind the parenthesis that closes the call whose first argument ends here.
fn closing(code: &str) -> usize {
    let (mut depth, mut is_text) = (1, false);
    for (at, c) in code.char_indices() {
        match c {
            '"' => is_text = !is_text,
            '(' if !is_text => depth += 1,
            ')' if !is_text => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// Messages of one Fluent file that stand on one line: key, and names of its values.
fn messages(text: &str) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
    let lines = text.lines().filter_map(|line| line.split_once(" = "));
    lines.map(|(key, says)| {
        let name = |part: &str| part.find([' ', '}']).unwrap_or(part.len());
        let names = says.split("{ $").skip(1).map(|part| &part[..name(part)]);
        (key, names.collect())
    })
}

/// Keys of the messages and terms of one Fluent file.
fn message_keys(text: &str) -> BTreeSet<String> {
    let key = |line: &str| {
        let (key, _) = line.split_once('=')?;
        let key = key.trim_end();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (!key.is_empty() && key.chars().all(plain)).then(|| key.to_owned())
    };
    text.lines().filter_map(key).collect()
}

/// Targets of Markdown links to files, without the part after `#`.
fn local_links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| {
            !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
        })
        .collect()
}
