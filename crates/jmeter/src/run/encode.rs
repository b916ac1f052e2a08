//! How are texts written into addresses and forms?

use encoding_rs::Encoding;

/// Appends a text as `java.net.URLEncoder` writes it: letters, digits and `.-*_` stay, a blank
/// becomes `+`, everything else `%XX` of its bytes in the encoding.
pub fn form(text: &str, encoding: Option<&'static Encoding>, out: &mut Vec<u8>) {
    match encoding {
        Some(encoding) if !text.is_ascii() => {
            let (bytes, _, _) = encoding.encode(text);
            bytes.iter().for_each(|byte| form_byte(*byte, out));
        }
        _ => text.bytes().for_each(|byte| form_byte(byte, out)),
    }
}

fn form_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(byte),
        b' ' => out.push(b'+'),
        other => percent(other, out),
    }
}

fn percent(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([
        b'%',
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]);
}

/// Appends a text without its escapes: `+` is a blank, `%XX` a byte; a broken escape stands for
/// itself.
pub fn unform(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'%' => match text.get(at..at + 2).map(|hex| u8::from_str_radix(hex, 16)) {
                Some(Ok(byte)) => {
                    out.push(byte);
                    at += 2;
                }
                _ => out.push(b'%'),
            },
            other => out.push(*other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends a path and query so that it can stand in a request line: what may stand there stays,
/// the rest is escaped as UTF-8.
pub fn path(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~'
                if !matches!(
                    byte,
                    b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | b'#'
                ) =>
            {
                out.push(byte)
            }
            // The fragment is no part of what is asked for.
            b'#' => return,
            other => percent(other, out),
        }
    }
}

/// Appends bytes as base64.
pub fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit <= chunk.len() {
                DIGITS[value as usize]
            } else {
                b'='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn formed(text: &str) -> String {
        let mut out = Vec::new();
        form(text, None, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_written_as_java_does() {
        assert_eq!(formed("a b&c=日*-._~"), "a+b%26c%3D%E6%97%A5*-._%7E");
        let mut out = Vec::new();
        form("日", Some(encoding_rs::SHIFT_JIS), &mut out);
        assert_eq!(out, b"%93%FA");
        let mut out = Vec::new();
        path("/a b/日?x=1&y={2}#end", &mut out);
        assert_eq!(out, b"/a%20b/%E6%97%A5?x=1&y=%7B2%7D");
    }

    #[test]
    fn base64_has_its_known_values() {
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            base64(text.as_bytes(), &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_again(text in "\\PC{0,40}") {
            prop_assert_eq!(unform(&formed(&text)), text);
        }

        #[test]
        fn no_text_panics(text in "[%+a0-9é]{0,20}") {
            unform(&text);
        }
    }
}
