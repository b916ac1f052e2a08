//! Character encoding of XML files.
//!
//! A byte order mark takes precedence, then the XML declaration, then UTF-8. Bytes that are not
//! valid in the encoding are an error, never a replacement character: a request that was changed
//! silently would be a wrong test.

use encoding_rs::{DecoderResult, Encoding, UTF_8};

/// Number of bytes in which the XML declaration is searched.
const DECLARATION_BYTES: usize = 256;

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

/// The text of an XML file.
///
/// Fails if the declaration names an unknown encoding, or the bytes are not valid in it.
pub fn decode_xml(bytes: &[u8]) -> Result<String, NotText> {
    let encoding = match (Encoding::for_bom(bytes), declared(bytes)) {
        (Some((encoding, _)), _) => encoding,
        (None, Some(label)) => {
            Encoding::for_label(label.as_bytes()).ok_or(NotText::UnknownEncoding(label))?
        }
        (None, None) => UTF_8,
    };
    decode(bytes, encoding)
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

/// The name of the encoding in `<?xml … encoding="NAME"?>`.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let head: String = head.iter().map(|byte| char::from(*byte)).collect();
    let declaration = head
        .trim_start()
        .strip_prefix("<?xml")?
        .split("?>")
        .next()?;
    let rest = declaration.split_once("encoding")?.1.trim_start();
    let rest = rest.strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(rest[1..].split(quote).next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_names_the_encoding() {
        let (bytes, ..) =
            encoding_rs::SHIFT_JIS.encode("<?xml version='1.0' encoding='Shift_JIS'?><名前/>");
        assert!(decode_xml(&bytes).unwrap().ends_with("<名前/>"));
        let (bytes, ..) =
            encoding_rs::EUC_JP.encode("<?xml version=\"1.0\" encoding = \"EUC-JP\"?><名前/>");
        assert!(decode_xml(&bytes).unwrap().ends_with("<名前/>"));
    }

    #[test]
    fn a_byte_order_mark_wins_and_is_taken_off() {
        let text = "\u{feff}<?xml version='1.0' encoding='Shift_JIS'?><é/>";
        assert!(decode_xml(text.as_bytes()).unwrap().starts_with("<?xml"));
        let utf16: Vec<u8> = "\u{feff}<é/>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(decode_xml(&utf16).unwrap(), "<é/>");
    }

    #[test]
    fn wrong_bytes_are_told_with_their_line() {
        let error = decode_xml(b"<a>\n\n\xff</a>").unwrap_err();
        assert_eq!(
            error,
            NotText::Malformed {
                encoding: "UTF-8",
                line: 3
            }
        );
        let error = decode_xml(b"<?xml encoding='klingon'?>").unwrap_err();
        assert_eq!(error, NotText::UnknownEncoding("klingon".into()));
    }
}
