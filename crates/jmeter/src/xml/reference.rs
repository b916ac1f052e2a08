//! References to characters: `&amp;`, `&#65;`, `&#x41;`.

use quick_xml::events::BytesRef;

/// Text that is made of characters and of numbers of UTF-16 units, as Java has it.
#[derive(Debug, Default)]
pub(super) struct Units {
    text: String,
    /// First half of a pair, whose second half may follow.
    high: Option<u32>,
}

impl Units {
    pub fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.drop_half();
            self.text.push_str(text);
        }
    }

    /// Adds a character by its number. Two halves in sequence are one character; another half cannot be
    /// sent: Java writes `?` in its place.
    pub fn push_unit(&mut self, unit: u32) {
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..0xe000) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                self.text.extend(char::from_u32(code));
            }
            (before, unit) => {
                self.high = before;
                self.drop_half();
                match unit {
                    0xd800..0xdc00 => self.high = Some(unit),
                    unit => self.text.push(char::from_u32(unit).unwrap_or('?')),
                }
            }
        }
    }

    pub fn into_text(mut self) -> String {
        self.drop_half();
        self.text
    }

    fn drop_half(&mut self) {
        if self.high.take().is_some() {
            self.text.push('?');
        }
    }
}

/// The character of the entity `&name;`; `None` for custom entities and halves of characters.
pub(crate) fn reference(name: &BytesRef<'_>) -> Option<char> {
    unit(name).and_then(char::from_u32)
}

/// The number of the character of `&name;`. As in JMeter's parser, any number up to that of the last
/// character is one.
pub(super) fn unit(name: &str) -> Option<u32> {
    let digits = |digits: &str, radix| {
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let code = plain.then(|| u32::from_str_radix(digits, radix).ok())??;
        (code <= u32::from(char::MAX)).then_some(code)
    };
    if let Some(code) = name.strip_prefix('#') {
        return match code.strip_prefix('x') {
            Some(code) => digits(code, 16),
            None => digits(code, 10),
        };
    }
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    };
    Some(character.into())
}

/// The value of an attribute as it is written. Errors: the name of an unknown entity.
pub(super) fn attribute_text(written: &str) -> Result<String, &str> {
    let mut text = Units::default();
    let mut rest = written;
    while let Some(at) = rest.find(['&', '\n', '\r', '\t']) {
        text.push(&rest[..at]);
        rest = &rest[at..];
        match rest.strip_prefix('&') {
            Some(behind) => {
                let (name, behind) = behind.split_once(';').ok_or(behind)?;
                text.push_unit(unit(name).ok_or(name)?);
                rest = behind;
            }
            None => {
                text.push(" ");
                rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
            }
        }
    }
    text.push(rest);
    Ok(text.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_a_character() {
        let text = |written| attribute_text(written).expect(written);
        assert_eq!(text("a&#x0;b&#31;&#x00041;&#x1F600;"), "a\0b\x1fA\u{1f600}");
        assert_eq!(text("&#xd83d;&#xde00;"), "\u{1f600}");
        assert_eq!(text("&#xd83d;x&#xde00;&#xd800;"), "?x??");
        assert_eq!(text("&lt;&amp;amp;\r\n\t&#10;"), "<&amp;  \n");
    }

    #[test]
    fn everything_else_is_an_unknown_entity() {
        for name in ["nbsp", "#", "#x", "#X41", "#x110000", "#-1", "#+1", ""] {
            assert_eq!(unit(name), None, "{name}");
        }
        assert_eq!(attribute_text("a & b"), Err(" b"));
    }
}
