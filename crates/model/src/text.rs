//! Messages that a pure crate addresses to people who read different languages.
//!
//! A pure crate names a message and gives its values. The `i18n` crate turns the pair into a sentence,
//! in English or Japanese.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::harmless::cut;
use crate::metric::Unit;
use crate::secrets;

/// Most messages inside one another that are read from bytes: more is an error, because a parser
/// that follows any depth can be made to overflow its stack.
pub const MAX_DEPTH: u32 = 16;
/// Values of a message of another host at most; own messages have a handful.
const MAX_ARGS: usize = 32;
/// Key of a text that is words already, and name of its only value.
const WORDS: &str = "words";
/// Key of a sentence that a record holds in English.
const RECORDED: &str = "recorded";

/// A value inside a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Arg {
    /// Words that are the same in every language: a host name, an address, a kernel setting.
    Word(String),
    /// A number, shown with three significant digits and its unit.
    Number(f64, Unit),
    /// Another message, rendered in the same language; at most [`MAX_DEPTH`] deep.
    Text(#[serde(deserialize_with = "nested")] Box<Text>),
}

/// One message: its key in the locale files and the values it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// Key in `locales/<language>/*.ftl`, named by place and meaning: `rule-rxbuf-says`.
    pub key: String,
    /// Values by the name used in the message.
    pub args: BTreeMap<String, Arg>,
}

impl Text {
    /// A message without values.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            args: BTreeMap::new(),
        }
    }

    /// Words that are the same in every language: those of another program or of the system.
    pub fn words(words: impl Into<String>) -> Self {
        Self::new(WORDS).word(WORDS, words)
    }

    /// A sentence that a record holds in English, because it was one sentence before it had a reader: a
    /// label of a flow, the reason of a failed request. Its reader gets it in his own language where it is
    /// one of those that the locale files know.
    pub fn recorded(sentence: impl Into<String>) -> Self {
        Self::new(RECORDED).word(WORDS, sentence)
    }

    /// The sentence of [`Text::recorded`]; `None` for another text.
    pub fn as_recorded(&self) -> Option<&str> {
        match self.args.get(WORDS) {
            Some(Arg::Word(words)) if self.key == RECORDED => Some(words),
            _ => None,
        }
    }

    /// The words of a text that is words already; `None` for a message.
    pub fn as_words(&self) -> Option<&str> {
        match self.args.get(WORDS) {
            Some(Arg::Word(words)) if self.key == WORDS => Some(words),
            _ => None,
        }
    }

    /// True when there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.as_words().is_some_and(str::is_empty)
    }

    /// Adds a value as it is displayed: an address, a path, a count.
    pub fn with(self, name: &str, value: impl fmt::Display) -> Self {
        self.word(name, value.to_string())
    }

    /// The same with the secrets in its words hidden, also in those of messages inside it.
    pub fn without_secrets(&self) -> Self {
        let shown = |arg: &Arg| match arg {
            Arg::Word(word) => Arg::Word(secrets::hidden(word).into_owned()),
            Arg::Text(text) => Arg::Text(Box::new(text.without_secrets())),
            Arg::Number(value, unit) => Arg::Number(*value, *unit),
        };
        let args = self.args.iter();
        Self {
            key: self.key.clone(),
            args: args.map(|(name, arg)| (name.clone(), shown(arg))).collect(),
        }
    }

    /// Adds a word.
    pub fn word(mut self, name: &str, value: impl Into<String>) -> Self {
        self.args.insert(name.into(), Arg::Word(value.into()));
        self
    }

    /// Adds a number with its unit.
    pub fn number(mut self, name: &str, value: f64, unit: Unit) -> Self {
        self.args.insert(name.into(), Arg::Number(value, unit));
        self
    }

    /// Adds another message.
    pub fn text(mut self, name: &str, value: Text) -> Self {
        let value = match value.as_words() {
            Some(words) => Arg::Word(words.into()),
            None => Arg::Text(Box::new(value)),
        };
        self.args.insert(name.into(), value);
        self
    }

    /// Words of at most `most` characters each, for a message of another host: longer ones end in `…`.
    /// Of the values, the first [`MAX_ARGS`] stay.
    pub fn within(mut self, most: usize) -> Self {
        self.key = cut(&self.key, most).into_owned();
        let short = |(name, arg): (String, Arg)| {
            let arg = match arg {
                Arg::Word(word) => Arg::Word(cut(&word, most).into_owned()),
                Arg::Text(inner) => Arg::Text(Box::new(inner.within(most))),
                number @ Arg::Number(..) => number,
            };
            (cut(&name, most).into_owned(), arg)
        };
        self.args = self.args.into_iter().take(MAX_ARGS).map(short).collect();
        self
    }

    /// Memory of its words, bytes.
    pub fn bytes(&self) -> usize {
        let of = |arg: &Arg| match arg {
            Arg::Word(word) => word.len(),
            Arg::Text(inner) => inner.bytes(),
            Arg::Number(..) => 0,
        };
        let args = self.args.iter();
        let args = args.map(|(name, arg)| size_of::<(String, Arg)>() + name.len() + of(arg));
        self.key.len() + args.sum::<usize>()
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::words(words)
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::words(words)
    }
}

/// Reads a message inside a message. The depth is counted per thread because a `Deserialize`
/// implementation has nowhere else to keep it.
fn nested<'de, D: Deserializer<'de>>(from: D) -> Result<Box<Text>, D::Error> {
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
    /// Counts back on every way out, a panic included.
    struct Level;
    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(de::Error::custom("messages are nested too deeply"));
    }
    DEPTH.set(depth + 1);
    let _level = Level;
    Text::deserialize(from).map(Box::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_host_is_kept_within_bounds() {
        const MOST: usize = 10;
        let long = "x".repeat(100);
        let inner = Text::new("inner").word("why", &long);
        let mut text = Text::new(&long).word(&long, &long).text("of", inner);
        for number in 0..2 * MAX_ARGS {
            text = text.number(&format!("z{number:03}"), 1.0, Unit::One);
        }
        let kept = text.within(MOST);
        let is_short = |text: &str| text.chars().count() <= MOST;
        assert!(is_short(&kept.key) && kept.args.keys().all(|name| is_short(name)));
        assert_eq!(kept.args.len(), MAX_ARGS);
        let Arg::Text(inner) = &kept.args["of"] else {
            panic!("{kept:?}");
        };
        assert_eq!(
            inner.args["why"],
            Arg::Word(format!("{}…", "x".repeat(MOST - 1)))
        );
        assert!(kept.bytes() < 4096);
    }

    #[test]
    fn secrets_are_hidden_in_words_and_in_messages_inside() {
        let typed = "postgres://u:geheim@h/d";
        let inner = Text::new("inner").word("value", typed);
        let shown = Text::new("outer").word("value", typed).text("why", inner);
        let shown = format!("{:?}", shown.without_secrets());
        assert!(
            !shown.contains("geheim") && shown.contains("@h/d"),
            "{shown}"
        );
    }
}
