//! Turns messages into sentences in the reader's language.
//!
//! Pure crates name a message and give its values ([`sokudo_model::Text`]); this crate looks it
//! up in `locales/<language>/*.ftl`, which are part of the program, and fills the values in.
//! Numbers become text with three significant digits and their unit before the message sees them. A
//! message may say one thing of one and another of more: `{ $n -> [one] host *[other] hosts }`.
//!
//! Control characters in values are replaced, whatever their source: [`sokudo_model::harmless`].
//!
//! Nothing here fails: a message that does not exist is shown as its key and values in brackets,
//! so that a reader still gets the facts and a test can find it.

use std::fmt::Write as _;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use sokudo_model::{Arg, Text, cut, harmless, harmless_lines};

mod error;
mod lang;
mod reasons;

pub use error::TextError;
pub use lang::{Lang, UnknownLang};

/// The file that only `--help` needs.
const HELP: &str = "help";
/// The files that only the generated reference needs.
const REFERENCE: [&str; 2] = ["catalogue", "reference"];
/// Maximum depth of messages inside messages; deeper ones are shown by their key.
const MAX_DEPTH: u32 = 12;
/// Longest word in a sentence, characters; a longer one ends in `…`. Words come from other hosts too.
const MAX_WORD: usize = 8192;
/// Longest text that is words already, characters: those of another program may fill a page.
const MAX_WORDS: usize = 16_384;

/// The files of one language: name and content.
pub type Sources = [(&'static str, &'static str); 11];

macro_rules! sources {
    ($lang:literal) => {
        [
            (
                "analyze",
                include_str!(concat!("../../../locales/", $lang, "/analyze.ftl")),
            ),
            (
                "catalogue",
                include_str!(concat!("../../../locales/", $lang, "/catalogue.ftl")),
            ),
            (
                "cli",
                include_str!(concat!("../../../locales/", $lang, "/cli.ftl")),
            ),
            (
                "engine",
                include_str!(concat!("../../../locales/", $lang, "/engine.ftl")),
            ),
            (
                "errors",
                include_str!(concat!("../../../locales/", $lang, "/errors.ftl")),
            ),
            (
                "help",
                include_str!(concat!("../../../locales/", $lang, "/help.ftl")),
            ),
            (
                "jmeter",
                include_str!(concat!("../../../locales/", $lang, "/jmeter.ftl")),
            ),
            (
                "reasons",
                include_str!(concat!("../../../locales/", $lang, "/reasons.ftl")),
            ),
            (
                "reference",
                include_str!(concat!("../../../locales/", $lang, "/reference.ftl")),
            ),
            (
                "report",
                include_str!(concat!("../../../locales/", $lang, "/report.ftl")),
            ),
            (
                "web",
                include_str!(concat!("../../../locales/", $lang, "/web.ftl")),
            ),
        ]
    };
}

static ENGLISH: Sources = sources!("en");
static JAPANESE: Sources = sources!("ja");

/// The message files of a language, as they were compiled in.
pub fn sources(lang: Lang) -> &'static Sources {
    match lang {
        Lang::En => &ENGLISH,
        Lang::Ja => &JAPANESE,
    }
}

/// Keys of the messages of one file, in its order; none for a file that does not exist.
pub fn keys_of(file: &str) -> impl Iterator<Item = &'static str> {
    let found = sources(Lang::En).iter().find(|(name, _)| *name == file);
    let lines = found.map_or("", |(_, source)| source).lines();
    // A message begins at the start of a line; what belongs to it is indented.
    lines
        .filter_map(|line| line.split_once(" ="))
        .map(|(key, _)| key)
        .filter(|key| key.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Messages of one language. Cheap to share between threads, made once per program.
pub struct I18n {
    lang: Lang,
    bundle: FluentBundle<FluentResource>,
}

impl I18n {
    /// Loads the messages of `lang`, without those of `--help` and of the generated reference.
    ///
    /// A message with a mistake in it is left out (and shown by its key); the tests of this crate
    /// make sure that there is none.
    pub fn new(lang: Lang) -> Self {
        Self::of(lang, |file| file != HELP && !REFERENCE.contains(&file))
    }

    /// Loads the messages of `--help` alone.
    pub fn help(lang: Lang) -> Self {
        Self::of(lang, |file| file == HELP)
    }

    /// Loads the messages of the generated reference alone.
    pub fn reference(lang: Lang) -> Self {
        Self::of(lang, |file| REFERENCE.contains(&file))
    }

    fn of(lang: Lang, is_wanted: impl Fn(&str) -> bool) -> Self {
        let id: unic_langid::LanguageIdentifier = lang.code().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![id]);
        bundle.set_use_isolating(false);
        for (_, source) in sources(lang).iter().filter(|(file, _)| is_wanted(file)) {
            let resource = match FluentResource::try_new((*source).into()) {
                Ok(resource) | Err((resource, _)) => resource,
            };
            // A key that exists already keeps its first meaning; a test keeps keys unique.
            let _ = bundle.add_resource(resource);
        }
        Self { lang, bundle }
    }

    /// Language of the messages.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// True when the language has a message with this key.
    pub fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }

    /// The sentence that `text` stands for.
    pub fn text(&self, text: &Text) -> String {
        self.render(text, 0)
    }

    /// The sentence of a message whose values are words.
    pub fn message(&self, key: &str, values: &[(&str, &str)]) -> String {
        let values: Vec<(&str, String)> =
            values.iter().map(|(name, it)| (*name, word(it))).collect();
        self.filled(key, &values)
    }

    fn render(&self, text: &Text, depth: u32) -> String {
        if let Some(words) = text.as_words() {
            return harmless_lines(&cut(words, MAX_WORDS)).into_owned();
        }
        if let Some(sentence) = text.as_recorded() {
            return self.recorded(&cut(sentence, MAX_WORDS), depth);
        }
        let values: Vec<(&str, String)> = text
            .args
            .iter()
            .map(|(name, arg)| (name.as_str(), self.value(arg, depth)))
            .collect();
        self.filled(&text.key, &values)
    }

    /// The message with its values, or its key and values in brackets.
    fn filled(&self, key: &str, values: &[(&str, String)]) -> String {
        let mut args = FluentArgs::with_capacity(values.len());
        for (name, value) in values {
            args.set(*name, selectable(value));
        }
        self.format(key, &args)
            .unwrap_or_else(|| bracketed(key, values))
    }

    /// A sentence that was written down in English.
    fn recorded(&self, sentence: &str, depth: u32) -> String {
        let known = match self.lang {
            Lang::Ja if depth < MAX_DEPTH => reasons::known(sentence),
            _ => None,
        };
        match known {
            Some(text) => self.render(&text, depth + 1),
            None => word(sentence),
        }
    }

    fn value(&self, arg: &Arg, depth: u32) -> String {
        match arg {
            Arg::Word(it) => word(it),
            Arg::Number(value, unit) => sokudo_model::units::human(*value, *unit),
            Arg::Text(inner) if depth < MAX_DEPTH => self.render(inner, depth + 1),
            Arg::Text(inner) => bracketed(&inner.key, &[]),
        }
    }

    /// The message with its values filled in; `None` when there is none, or a value is missing.
    fn format(&self, key: &str, args: &FluentArgs) -> Option<String> {
        let pattern = self.bundle.get_message(key)?.value()?;
        let mut errors = Vec::new();
        let sentence = self.bundle.format_pattern(pattern, Some(args), &mut errors);
        errors.is_empty().then(|| sentence.into_owned())
    }
}

/// The English sentence of a message, for what has no reader yet whose language is known: labels of a
/// record, the log of an agent, causes inside causes.
pub fn english(text: &Text) -> String {
    static SPEAKER: OnceLock<I18n> = OnceLock::new();
    SPEAKER.get_or_init(|| I18n::new(Lang::En)).text(text)
}

impl std::fmt::Debug for I18n {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("I18n").field("lang", &self.lang).finish()
    }
}

/// A word for a sentence: of bounded length, without control characters.
fn word(text: &str) -> String {
    harmless(&cut(text, MAX_WORD)).into_owned()
}

/// A value as a message sees it: `1` is a number, so that `[one]` is chosen by it, and everything else
/// a text, for which a message says what it says of many.
fn selectable(value: &str) -> FluentValue<'_> {
    match value {
        "1" => FluentValue::from(1),
        text => FluentValue::from(text),
    }
}

/// `[key name=value name=value]`: what a reader sees of a message that does not exist.
fn bracketed(key: &str, values: &[(&str, String)]) -> String {
    let mut out = format!("[{}", word(key));
    for (name, value) in values {
        let _ = write!(out, " {}={value}", word(name));
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests;
