//! Text encoding as in Java.
//!
//! The tables are those of the Encoding Standard, corrected where Java's charsets of the same names
//! differ: characters that cannot be encoded become `?`, ISO-8859-1 is not windows-1252, and
//! Shift_JIS and EUC-JP have the wave dash, not the full-width tilde, and no NEC or IBM extensions.

use std::collections::HashMap;
use std::sync::OnceLock;

use encoding_rs::{EUC_JP, EncoderResult, Encoding, SHIFT_JIS, UTF_16BE, UTF_16LE};

/// One of Java's charsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charset {
    name: &'static str,
    kind: Encoder,
}

#[derive(Debug, Clone, Copy)]
enum Encoder {
    Utf8,
    /// A single-byte charset with the first so many code points of Unicode.
    First(u32),
    ShiftJis,
    EucJp,
    /// UTF-16 in this order of bytes, with a byte order mark or without.
    Utf16 {
        is_big: bool,
        has_mark: bool,
    },
    Other(&'static Encoding),
}

/// Names that Java accepts, with its own name of each.
const KNOWN: &[(&[&str], Charset)] = &[
    (&["utf-8", "utf8"], Charset::UTF_8),
    (
        &["iso-8859-1", "iso8859-1", "iso8859_1", "latin1", "l1"],
        Charset::new("ISO-8859-1", Encoder::First(0x100)),
    ),
    (&["us-ascii", "ascii"], Charset::US_ASCII),
    (
        &["utf-16", "utf16", "utf_16"],
        Charset::utf_16("UTF-16", true, true),
    ),
    (
        &["utf-16be", "utf_16be"],
        Charset::utf_16("UTF-16BE", true, false),
    ),
    (
        &["utf-16le", "utf_16le"],
        Charset::utf_16("UTF-16LE", false, false),
    ),
    (
        &["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji"],
        Charset::new("Shift_JIS", Encoder::ShiftJis),
    ),
    (
        &["windows-31j", "ms932", "windows-932", "cswindows31j"],
        Charset::new("windows-31j", Encoder::Other(SHIFT_JIS)),
    ),
    (
        &["euc-jp", "eucjp", "euc_jp", "x-eucjp", "x-euc-jp"],
        Charset::new("EUC-JP", Encoder::EucJp),
    ),
];

/// Characters whose code the Encoding Standard gives to another character: the character, its bytes
/// in Shift_JIS; and the one without a code.
const JIS_ONLY: &[(char, [u8; 2], char)] = &[
    ('\u{301c}', [0x81, 0x60], '\u{ff5e}'),
    ('\u{2016}', [0x81, 0x61], '\u{2225}'),
    ('\u{2212}', [0x81, 0x7c], '\u{ff0d}'),
    ('\u{a2}', [0x81, 0x91], '\u{ffe0}'),
    ('\u{a3}', [0x81, 0x92], '\u{ffe1}'),
    ('\u{ac}', [0x81, 0xca], '\u{ffe2}'),
];

impl Charset {
    /// The default.
    pub const UTF_8: Self = Self::new("UTF-8", Encoder::Utf8);
    /// The charset of request heads.
    pub const US_ASCII: Self = Self::new("US-ASCII", Encoder::First(0x80));

    const fn new(name: &'static str, kind: Encoder) -> Self {
        Self { name, kind }
    }

    const fn utf_16(name: &'static str, is_big: bool, has_mark: bool) -> Self {
        Self::new(name, Encoder::Utf16 { is_big, has_mark })
    }

    /// The charset with this name; `None`: unknown.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        if let Some((_, found)) = KNOWN.iter().find(|(names, _)| names.iter().any(is)) {
            return Some(*found);
        }
        let found = Encoding::for_label(name.as_bytes())?;
        Some(Self::new(found.name(), Encoder::Other(found)))
    }

    /// Java's name of the charset.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Appends an encoded text.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self.kind {
            Encoder::Utf8 => out.extend_from_slice(text.as_bytes()),
            _ if text.is_ascii() && self.keeps_ascii() => out.extend_from_slice(text.as_bytes()),
            Encoder::First(limit) => out.extend(text.chars().map(|character| {
                let number = u32::from(character);
                // The limit is at most 256.
                if number < limit { number as u8 } else { b'?' }
            })),
            Encoder::ShiftJis => text.chars().for_each(|character| shift_jis(character, out)),
            Encoder::EucJp => text.chars().for_each(|character| euc_jp(character, out)),
            Encoder::Utf16 { is_big, has_mark } => {
                let mark = (has_mark && !text.is_empty()).then_some(0xfeff);
                for unit in mark.into_iter().chain(text.encode_utf16()) {
                    out.extend(match is_big {
                        true => unit.to_be_bytes(),
                        false => unit.to_le_bytes(),
                    });
                }
            }
            Encoder::Other(encoding) => with_question_marks(encoding, text, out),
        }
    }

    /// Decodes bytes.
    pub fn decode(self, bytes: &[u8]) -> String {
        let encoding = match self.kind {
            Encoder::Utf8 => return String::from_utf8_lossy(bytes).into_owned(),
            Encoder::First(_) => return bytes.iter().map(|byte| char::from(*byte)).collect(),
            Encoder::ShiftJis => SHIFT_JIS,
            Encoder::EucJp => EUC_JP,
            Encoder::Utf16 { is_big, has_mark } => {
                let is_marked_little = has_mark && bytes.starts_with(&[0xff, 0xfe]);
                let own = match is_big && !is_marked_little {
                    true => UTF_16BE,
                    false => UTF_16LE,
                };
                return own.decode_with_bom_removal(bytes).0.into_owned();
            }
            Encoder::Other(encoding) => encoding,
        };
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    }

    fn keeps_ascii(self) -> bool {
        match self.kind {
            Encoder::Other(encoding) => encoding.is_ascii_compatible(),
            Encoder::Utf16 { .. } => false,
            _ => true,
        }
    }
}

fn with_question_marks(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    let mut portion = [0; 256];
    loop {
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut portion, true);
        out.extend_from_slice(&portion[..written]);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(_) => out.push(b'?'),
        }
    }
}

/// The encoding of one character; empty if it has none.
fn bytes_of(encoding: &'static Encoding, character: char, portion: &mut [u8; 8]) -> usize {
    let mut text = [0; 4];
    let text = character.encode_utf8(&mut text);
    let mut encoder = encoding.new_encoder();
    match encoder.encode_from_utf8_without_replacement(text, portion, true) {
        (EncoderResult::InputEmpty, _, written) => written,
        _ => 0,
    }
}

fn shift_jis(character: char, out: &mut Vec<u8>) {
    for (own, bytes, not) in JIS_ONLY {
        if *own == character {
            return out.extend_from_slice(bytes);
        }
        if *not == character {
            return out.push(b'?');
        }
    }
    let mut portion = [0; 8];
    match bytes_of(SHIFT_JIS, character, &mut portion) {
        0 => out.push(b'?'),
        // NEC and IBM extensions.
        2 if matches!(portion[0], 0x87 | 0xed | 0xee | 0xf0..) => out.push(b'?'),
        length => out.extend_from_slice(&portion[..length]),
    }
}

fn euc_jp(character: char, out: &mut Vec<u8>) {
    for (own, [lead, trail], not) in JIS_ONLY {
        if *own == character {
            // All of them are in the first two rows.
            let (row, cell) = match trail {
                0x9f.. => (0xa2, trail - 0x9f + 0xa1),
                0x80.. => (0xa1, trail - 0x40 + 0xa0),
                _ => (0xa1, trail - 0x40 + 0xa1),
            };
            debug_assert_eq!(*lead, 0x81, "the first two rows have one lead byte");
            return out.extend_from_slice(&[row, cell]);
        }
        if *not == character {
            return supplementary(character, out);
        }
    }
    let mut portion = [0; 8];
    match bytes_of(EUC_JP, character, &mut portion) {
        0 => supplementary(character, out),
        // NEC and IBM extensions.
        2 if matches!(portion[0], 0xad | 0xf5..) => supplementary(character, out),
        length => out.extend_from_slice(&portion[..length]),
    }
}

/// JIS X 0212, which the Encoding Standard only decodes.
fn supplementary(character: char, out: &mut Vec<u8>) {
    static PLACES: OnceLock<HashMap<char, [u8; 2]>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        let rows = 0xa1..=0xfe;
        let all = rows.flat_map(|row| (0xa1..=0xfe).map(move |cell| [row, cell]));
        let known = all.filter_map(|[row, cell]| {
            let bytes = [0x8f, row, cell];
            let (text, _, broken) = EUC_JP.decode(&bytes);
            let mut characters = text.chars();
            let first = characters.next()?;
            (!broken && characters.next().is_none()).then_some((first, [row, cell]))
        });
        known.collect()
    });
    match places.get(&character) {
        Some([row, cell]) => out.extend_from_slice(&[0x8f, *row, *cell]),
        None => out.push(b'?'),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(charset: &str, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        Charset::named(charset).unwrap().encode(text, &mut out);
        out
    }

    /// The values are what Java 17 writes.
    #[test]
    fn texts_are_written_in_javas_bytes() {
        assert_eq!(encoded("Shift_JIS", "日本～①\\~"), b"\x93\xfa\x96\x7b??\\~");
        assert_eq!(encoded("Shift_JIS", "〜−"), b"\x81\x60\x81\x7c");
        assert_eq!(encoded("Windows-31J", "日～①"), b"\x93\xfa\x81\x60\x87\x40");
        assert_eq!(
            encoded("EUC-JP", "日〜−¬～"),
            b"\xc6\xfc\xa1\xc1\xa1\xdd\xa2\xcc\x8f\xa2\xb7"
        );
        assert_eq!(encoded("ISO-8859-1", "ü日€"), b"\xfc??");
        assert_eq!(encoded("us-ascii", "aü"), b"a?");
        assert_eq!(encoded("utf8", "日"), "日".as_bytes());
        assert_eq!(encoded("ISO-8859-2", "ř日"), b"\xf8?");
        assert!(Charset::named("no such thing").is_none());
    }

    #[test]
    fn names_are_javas() {
        let name = |label: &str| Charset::named(label).map(Charset::name);
        assert_eq!(name("sjis"), Some("Shift_JIS"));
        assert_eq!(name("Windows-31J"), Some("windows-31j"));
        assert_eq!(name(" utf8 "), Some("UTF-8"));
    }

    proptest! {
        #[test]
        fn kanji_and_kana_are_read_again(text in "[ぁ-んァ-ヶ一-龠a-z0-9]{0,20}", sjis: bool) {
            let charset = Charset::named(if sjis { "Shift_JIS" } else { "EUC-JP" }).unwrap();
            let mut bytes = Vec::new();
            charset.encode(&text, &mut bytes);
            let back = charset.decode(&bytes);
            let same = |(a, b): (char, char)| a == b || b == '?';
            prop_assert_eq!(back.chars().count(), text.chars().count());
            prop_assert!(text.chars().zip(back.chars()).all(same));
        }

        #[test]
        fn no_text_and_no_bytes_panic(text in "\\PC{0,20}", bytes: Vec<u8>) {
            for name in ["Shift_JIS", "EUC-JP", "windows-31j", "ISO-2022-JP", "UTF-16", "ascii"] {
                let charset = Charset::named(name).unwrap();
                charset.encode(&text, &mut Vec::new());
                charset.decode(&bytes);
            }
        }
    }
}
