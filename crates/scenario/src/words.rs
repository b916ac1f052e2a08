//! Splits a line into words, each with its column.

use sokudo_model::Text;

use crate::mistake::Mistake;

/// Longest line, bytes.
pub const LINE_BYTES_MAX: usize = 64 << 10;
/// Most words of a line.
pub const WORDS_MAX: usize = 4096;

/// One word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word, without quotes.
    pub text: String,
    /// Column of its first character, from 1.
    pub column: u32,
}

/// Splits a line at blanks. `"…"` and `'…'` keep blanks; `#` at the begin of a word starts a
/// remark.
///
/// Errors: a quote without its end; a line or a list of words that is too long.
pub fn split(line: &str) -> Result<Vec<Word>, Mistake> {
    if line.len() > LINE_BYTES_MAX {
        return Err(Mistake::at(
            1,
            Text::new("error-scenario-line-long").with("kib", LINE_BYTES_MAX >> 10),
            Text::new("error-scenario-line-hint"),
        ));
    }
    let mut words: Vec<Word> = Vec::new();
    let mut open: Option<Word> = None;
    let mut quote: Option<(char, u32)> = None;
    for (character, column) in line.chars().zip(1u32..) {
        match (quote, character) {
            (Some((end, _)), c) if c == end => quote = None,
            (None, '"' | '\'') => {
                quote = Some((character, column));
                open.get_or_insert_with(|| empty(column));
            }
            (None, '#') if open.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(open.take()),
            (_, c) => open.get_or_insert_with(|| empty(column)).text.push(c),
        }
        if words.len() > WORDS_MAX {
            return Err(Mistake::at(
                column,
                Text::new("error-scenario-line-words").with("most", WORDS_MAX),
                Text::new("error-scenario-line-hint"),
            ));
        }
    }
    if let Some((quote, column)) = quote {
        return Err(Mistake::at(
            column,
            Text::new("error-scenario-quote").with("quote", quote),
            Text::new("error-scenario-quote-hint").with("quote", quote),
        ));
    }
    words.extend(open);
    Ok(words)
}

fn empty(column: u32) -> Word {
    Word {
        text: String::new(),
        column,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let words = split(line).expect("words");
        words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_keep_their_columns() {
        let words = split("  node 2\t'a b'  # why").unwrap();
        let seen: Vec<(&str, u32)> = words.iter().map(|w| (w.text.as_str(), w.column)).collect();
        assert_eq!(seen, [("node", 3), ("2", 8), ("a b", 10)]);
        assert_eq!(texts("a#b \"\" 'x'y"), ["a#b", "", "xy"]);
        assert_eq!(split("say 'it").unwrap_err().column, 5);
    }

    proptest! {
        #[test]
        fn any_text_is_words_or_a_mistake(line in "\\PC{0,200}") {
            if let Ok(words) = split(&line) {
                let length = line.chars().count() as u32;
                prop_assert!(words.iter().all(|w| (1..=length).contains(&w.column)));
            }
        }

        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[^'\n\r]{0,20}", 0..10)) {
            let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(texts(&line.join(" ")), words);
        }
    }
}
