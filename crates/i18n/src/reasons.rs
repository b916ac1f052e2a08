//! Finds the message of a sentence that was written down in English.
//!
//! A record holds some reasons as one English sentence: labels of flows, failed requests. `reasons.ftl` has the
//! sentences that this program writes; each is a message on one line.

use std::cmp::Reverse;
use std::sync::OnceLock;

use sokudo_model::Text;

use crate::{Lang, sources};

/// The file with the sentences.
const FILE: &str = "reasons";

/// An English sentence with places for values.
struct Shape {
    key: &'static str,
    /// What stands before the first value.
    begin: &'static str,
    /// Each value's name, and what stands behind it.
    values: Vec<(&'static str, &'static str)>,
}

/// The message that says this sentence; sentences without values are looked for first.
pub(crate) fn known(sentence: &str) -> Option<Text> {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(shapes);
    shapes.iter().find_map(|shape| shape.of(sentence))
}

fn shapes() -> Vec<Shape> {
    let file = sources(Lang::En).iter().find(|(name, _)| *name == FILE);
    let lines = file.map_or("", |(_, source)| source).lines();
    let mut shapes: Vec<Shape> = lines.filter_map(Shape::read).collect();
    // Of those with values, the one that says the most: `{ $name }: { $error }` fits nearly everything.
    shapes.sort_by_key(|shape| (!shape.values.is_empty(), Reverse(shape.letters())));
    shapes
}

impl Shape {
    /// The message on a line of the file.
    fn read(line: &'static str) -> Option<Self> {
        let (key, says) = line.split_once(" = ").filter(|_| !line.starts_with('#'))?;
        let mut parts = says.split("{ $");
        let begin = parts.next()?;
        let values: Option<Vec<_>> = parts.map(|part| part.split_once(" }")).collect();
        Some(Self {
            key,
            begin,
            values: values?,
        })
    }

    /// Length of what it says by itself.
    fn letters(&self) -> usize {
        let behind = self.values.iter().map(|(_, behind)| behind.len());
        self.begin.len() + behind.sum::<usize>()
    }

    /// The message with the values that this sentence has; a value may be such a sentence itself.
    fn of(&self, sentence: &str) -> Option<Text> {
        let mut rest = sentence.strip_prefix(self.begin)?;
        let mut text = Text::new(self.key);
        for (number, (name, behind)) in self.values.iter().enumerate() {
            let is_last = number + 1 == self.values.len();
            let value = match is_last {
                true => rest.strip_suffix(behind)?,
                false => &rest[..rest.find(behind)?],
            };
            rest = &rest[value.len() + behind.len()..];
            text = text.text(name, Text::recorded(value));
        }
        rest.is_empty().then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::I18n;

    use super::*;

    fn check(sentence: &str, japanese: &str) {
        let text = Text::recorded(sentence);
        assert_eq!(I18n::new(Lang::En).text(&text), sentence);
        assert_eq!(I18n::new(Lang::Ja).text(&text), japanese);
    }

    #[test]
    fn a_sentence_of_a_record_is_told_in_japanese_with_its_values() {
        check(
            "the far end closed the connection",
            "相手が接続を閉じました",
        );
        check(
            "the connection ended: the message claims 7 B, which was not agreed on",
            "接続が終了しました: メッセージの長さ 7 B は合意した値と異なります",
        );
        check(
            "the connection ended: No route to host (os error 113)",
            "接続が終了しました: No route to host (os error 113)",
        );
    }

    #[test]
    fn reasons_of_several_names_are_told_each() {
        check(
            "2 names could not be replicated: a/b: it is too long. c: it changes all the time",
            "2 個の名前を複製できません: a/b: 長すぎます. c: 絶えず変更されています",
        );
    }

    #[test]
    fn a_sentence_of_others_stays_as_it_is() {
        for sentence in [
            "",
            "ERROR: relation does not exist. HINT: none",
            "a.b: c",
            "象",
        ] {
            check(sentence, sentence);
        }
    }
}
