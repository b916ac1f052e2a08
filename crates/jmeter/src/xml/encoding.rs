//! Character encoding of plans and of the files that they name.
//!
//! JMeter reads plans as UTF-8, whatever they declare. Bytes of other files that are not valid in their
//! encoding are an error, never a replacement character: a request that was changed silently would be a
//! wrong test.

use std::borrow::Cow;

use encoding_rs::{DecoderResult, Encoding, UTF_8};

/// Reason why bytes cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotText {
    /// The encoding is unknown.
    UnknownEncoding(String),
    /// The bytes at this line are not valid in the encoding.
    Malformed {
        /// Name of the encoding.
        encoding: &'static str,
        /// Line of the first invalid byte, from 1.
        line: u32,
    },
}

/// The text of a plan without its byte order mark. As in JMeter, bytes that are not UTF-8 become
/// replacement characters.
///
/// Fails if the byte order mark is that of another encoding.
pub fn decode_plan(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    match Encoding::for_bom(bytes) {
        Some((encoding, length)) if encoding == UTF_8 => {
            Ok(String::from_utf8_lossy(&bytes[length..]))
        }
        Some(_) => Err(NotText::Malformed {
            encoding: UTF_8.name(),
            line: 1,
        }),
        None => Ok(String::from_utf8_lossy(bytes)),
    }
}

/// The first line of a plan with bytes that are not UTF-8; `None`: there is none.
pub fn replaced_line(bytes: &[u8]) -> Option<u32> {
    let valid = std::str::from_utf8(bytes).err()?.valid_up_to();
    let before = bytes[..valid].iter().filter(|byte| **byte == b'\n');
    Some(before.count() as u32 + 1)
}

/// Decodes a file in the named encoding; UTF-8 if the name is empty.
///
/// Fails if the encoding is unknown, or the bytes are not valid in it.
pub fn decode_named(bytes: &[u8], label: &str) -> Result<String, NotText> {
    let unknown = || NotText::UnknownEncoding(label.into());
    let encoding = match label.trim() {
        "" => UTF_8,
        label => Encoding::for_label(label.as_bytes()).ok_or_else(unknown)?,
    };
    decode(bytes, encoding)
}

fn decode(bytes: &[u8], encoding: &'static Encoding) -> Result<String, NotText> {
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let most = decoder
        .max_utf8_buffer_length_without_replacement(bytes.len())
        .unwrap_or(bytes.len());
    let mut text = String::with_capacity(most);
    let (outcome, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
    match outcome {
        DecoderResult::InputEmpty => Ok(text),
        _ => Err(NotText::Malformed {
            encoding: encoding.name(),
            line: text.matches('\n').count() as u32 + 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_utf_8_whatever_they_declare() {
        let text = "<?xml version='1.0' encoding='Shift_JIS'?><名前/>";
        assert_eq!(decode_plan(text.as_bytes()).unwrap(), text);
        let marked = format!("\u{feff}{text}");
        assert_eq!(decode_plan(marked.as_bytes()).unwrap(), text);
        let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let encoding = "UTF-8";
        let error = NotText::Malformed { encoding, line: 1 };
        assert_eq!(decode_plan(&wide), Err(error));
    }

    #[test]
    fn other_bytes_are_replaced_and_told_with_their_line() {
        let bytes = b"<a>\n\n\xff\xe9</a>";
        assert_eq!(decode_plan(bytes).unwrap(), "<a>\n\n\u{fffd}\u{fffd}</a>");
        assert_eq!(replaced_line(bytes), Some(3));
        assert_eq!(replaced_line("<é/>".as_bytes()), None);
    }

    #[test]
    fn other_files_are_valid_in_their_encoding() {
        assert_eq!(decode_named(b"\x83\x65", "Shift_JIS").unwrap(), "テ");
        let error = decode_named(b"a\n\xff", "").unwrap_err();
        let encoding = "UTF-8";
        assert_eq!(error, NotText::Malformed { encoding, line: 2 });
        let error = decode_named(b"", "klingon").unwrap_err();
        assert_eq!(error, NotText::UnknownEncoding("klingon".into()));
    }
}
