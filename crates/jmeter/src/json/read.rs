//! Reads JSON as leniently as JMeter's library: apostrophes as quotation marks, texts without any,
//! missing values between commas.

use super::{MOST_DEPTH, Value};

/// Reads the document at the beginning of a text. `None`: it is not JSON, or nested too deeply.
pub fn read(text: &str) -> Option<Value> {
    let mut reader = JsonReader {
        rest: text,
        depth: 0,
    };
    // Whatever follows an array, an object or a quoted text is not looked at.
    reader.value("")
}

/// Reads the value at the beginning of a text. Gives the rest of the text.
pub(super) fn read_prefix(text: &str) -> Option<(Value, &str)> {
    let mut reader = JsonReader {
        rest: text,
        depth: 0,
    };
    let value = reader.value("")?;
    Some((value, reader.rest))
}

struct JsonReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl JsonReader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn takes(&mut self, character: char) -> bool {
        let rest = self.rest.strip_prefix(character);
        rest.inspect(|rest| self.rest = rest).is_some()
    }

    /// The next value. A text without quotation marks ends at one of `ends`.
    fn value(&mut self, ends: &str) -> Option<Value> {
        self.blanks();
        match self.rest.chars().next()? {
            '{' => self.nested(Self::map),
            '[' => self.nested(Self::list),
            mark @ ('"' | '\'') => self.quoted(mark).map(Value::Text),
            _ => {
                let word = self.bare(ends);
                (!word.is_empty()).then(|| named(word))
            }
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        self.rest = &self.rest[1..];
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.takes(']') {
                return Some(Value::List(items));
            }
            if self.takes(',') {
                continue;
            }
            items.push(self.value(",]:}")?);
        }
    }

    fn map(&mut self) -> Option<Value> {
        let mut members: Vec<(String, Value)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        loop {
            self.blanks();
            if self.takes('}') {
                return Some(Value::Map(members));
            }
            if self.takes(',') {
                continue;
            }
            let name = match self.rest.chars().next()? {
                mark @ ('"' | '\'') => self.quoted(mark)?,
                _ => self.bare(":").to_owned(),
            };
            self.blanks();
            if !self.takes(':') {
                return None;
            }
            let value = self.value(",}:]")?;
            // The last one of a name counts, at the place of the first.
            match places.get(&name) {
                Some(place) => members[*place] = (name, value),
                None => {
                    places.insert(name.clone(), members.len());
                    members.push((name, value));
                }
            }
        }
    }

    /// A text up to one of these characters, or to the end.
    fn bare(&mut self, ends: &str) -> &str {
        let end = self.rest.find(|c| ends.contains(c));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word.trim_matches([' ', '\t', '\r', '\n'])
    }

    fn quoted(&mut self, mark: char) -> Option<String> {
        let mut out = String::new();
        let mut characters = self.rest[1..].char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                c if c == mark => {
                    self.rest = &self.rest[at + 2..];
                    return Some(out);
                }
                '\\' => {
                    let (_, escape) = characters.next()?;
                    match escape {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        'b' => out.push('\u{8}'),
                        'f' => out.push('\u{c}'),
                        'u' => {
                            let mut unit = hex(&mut characters)?;
                            // Two units of UTF-16 make one character.
                            if (0xd800..0xdc00).contains(&unit)
                                && characters.as_str().starts_with("\\u")
                            {
                                let mut ahead = characters.clone();
                                ahead.nth(1);
                                let low = hex(&mut ahead)?;
                                if (0xdc00..0xe000).contains(&low) {
                                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                                    characters = ahead;
                                }
                            }
                            out.push(char::from_u32(unit).unwrap_or('\u{fffd}'));
                        }
                        '"' | '\'' | '\\' | '/' => out.push(escape),
                        _ => return None,
                    }
                }
                other => out.push(other),
            }
        }
        None
    }
}

/// Four hexadecimal digits.
fn hex(characters: &mut std::str::CharIndices<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| {
        let (_, digit) = characters.next()?;
        Some(unit * 16 + digit.to_digit(16)?)
    })
}

/// The value of a word without quotation marks.
fn named(word: &str) -> Value {
    match word {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "NaN" => Value::Double(f64::NAN),
        word => number(word).unwrap_or_else(|| Value::Text(word.to_owned())),
    }
}

/// Longest decimal that is read as a double; a longer one keeps its digits.
const MOST_DOUBLE_CHARACTERS: usize = 18;

fn number(word: &str) -> Option<Value> {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    if word == "-" {
        return Some(Value::Whole(0));
    }
    let begins = unsigned.starts_with(|c: char| c.is_ascii_digit());
    let allowed =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !begins || !unsigned.bytes().all(allowed) {
        return None;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = word.parse().map(Value::Whole);
        return Some(whole.unwrap_or_else(|_| Value::Digits(word.to_owned())));
    }
    let double = word.parse::<f64>().ok()?;
    let is_long = word.len() > MOST_DOUBLE_CHARACTERS && super::write::double(double) != word;
    Some(match is_long {
        true => Value::Digits(word.to_owned()),
        false => Value::Double(double),
    })
}
