//! Percent-encoding of URLs and forms, quoted strings and base64.

use super::charset::Charset;

/// Appends a text as `java.net.URLEncoder` writes it: letters, digits and `.-*_` stay, a blank
/// becomes `+`, all else `%XX` of its bytes in the charset.
pub(super) fn form(text: &str, charset: Charset, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    if text.is_ascii() {
        return text.bytes().for_each(|byte| form_byte(byte, out));
    }
    scratch.clear();
    charset.encode(text, scratch);
    scratch.iter().for_each(|byte| form_byte(*byte, out));
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

/// Decodes a text as `java.net.URLDecoder` does: `+` is a blank, `%XX` a byte of the charset. Fails
/// with the message of Java's exception.
pub(super) fn unform(text: &str, charset: Charset) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['%', '+']) {
        let (plain, escaped) = rest.split_at(at);
        out.push_str(plain);
        rest = escaped;
        if let Some(behind) = rest.strip_prefix('+') {
            out.push(' ');
            rest = behind;
            continue;
        }
        bytes.clear();
        while let Some(behind) = rest.strip_prefix('%') {
            bytes.push(escaped_byte(behind)?);
            rest = &behind[2..];
        }
        out.push_str(&charset.decode(&bytes));
    }
    out.push_str(rest);
    Ok(out)
}

/// The byte of the first two hexadecimal digits.
fn escaped_byte(digits: &str) -> Result<u8, String> {
    let mut characters = digits.chars();
    let (Some(high), Some(low)) = (characters.next(), characters.next()) else {
        return Err("URLDecoder: Incomplete trailing escape (%) pattern".into());
    };
    let broken = |index: usize| {
        format!(
            "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index {index} in: \"{high}{low}\""
        )
    };
    let digit = |character: char, index| character.to_digit(16).ok_or_else(|| broken(index));
    // Two hexadecimal digits fit into a byte.
    Ok((digit(high, 0)? * 16 + digit(low, 1)?) as u8)
}

/// Bytes that are not escaped in a request line.
const STAYS: [bool; 256] = {
    let mut stays = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        let is_escaped = matches!(
            byte,
            b'"' | b'#' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        );
        stays[byte as usize] = !is_escaped;
        byte += 1;
    }
    stays
};

/// Appends a path and query as JMeter's client writes them into a request line: allowed characters
/// stay, others are escaped as UTF-8, and consecutive slashes of the path become one.
pub(super) fn path(text: &str, out: &mut Vec<u8>) {
    let mut before = 0;
    let stays = |byte: u8| {
        let is_second = byte == b'/' && before == b'/';
        before = byte;
        STAYS[usize::from(byte)] && !is_second
    };
    if text.bytes().all(stays) {
        return out.extend_from_slice(text.as_bytes());
    }
    let mut in_path = true;
    let mut before = 0;
    for byte in text.bytes() {
        in_path &= byte != b'?';
        match byte {
            // The fragment is not sent.
            b'#' => return,
            b'/' if in_path && before == b'/' => {}
            byte if STAYS[usize::from(byte)] => out.push(byte),
            other => percent(other, out),
        }
        before = byte;
    }
}

/// Appends a quoted string (RFC 9110, 5.6.4).
pub(super) fn quoted_string(value: &str, out: &mut String) {
    out.push('"');
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
}

/// Appends bytes as base64.
pub(crate) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
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

/// The bytes of a text in base64 as Apache Commons Codec reads it: both alphabets, up to the first `=`;
/// other characters are passed over, and a last digit alone is none.
pub(crate) fn from_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        })
    };
    let digits = text.bytes().take_while(|byte| *byte != b'=');
    let digits: Vec<u8> = digits.filter_map(value).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 18 | at(1) << 12 | at(2) << 6 | at(3);
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..chunk.len() - 1]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn formed(text: &str) -> String {
        let mut out = Vec::new();
        form(text, Charset::UTF_8, &mut Vec::new(), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// What the decoder of the commons codec makes of these.
    #[test]
    fn base64_is_read_up_to_its_end() {
        let read = |text| String::from_utf8_lossy(&from_base64(text)).into_owned();
        assert_eq!(read("YWJjIMO8"), "abc ü");
        assert_eq!(
            (read("YWJ"), read("YWI"), read("YWI=QQ==")),
            ("ab".into(), "ab".into(), "ab".into())
        );
        assert_eq!(read("YW*Jj"), "abc");
    }

    #[test]
    fn texts_are_written_as_java_does() {
        assert_eq!(formed("a b&c=日*-._~"), "a+b%26c%3D%E6%97%A5*-._%7E");
        let mut out = Vec::new();
        let sjis = Charset::named("Shift_JIS").unwrap();
        form("日", sjis, &mut Vec::new(), &mut out);
        assert_eq!(out, b"%93%FA");
        assert_eq!(unform("a+%93%FA", sjis).unwrap(), "a 日");
        let mut out = Vec::new();
        path("//a b///日/?x=1//&y={2}#end", &mut out);
        assert_eq!(out, b"/a%20b/%E6%97%A5/?x=1//&y=%7B2%7D");
    }

    #[test]
    fn what_may_stand_there_stays() {
        for text in ["/a/b?x=//", "/~a;b,c@d&e=+$", "*"] {
            let mut out = Vec::new();
            path(text, &mut out);
            assert_eq!(out, text.as_bytes());
        }
        let mut out = Vec::new();
        path("/a//b", &mut out);
        path("/a#b", &mut out);
        path("/a|b", &mut out);
        assert_eq!(out, b"/a/b/a/a%7Cb");
    }

    #[test]
    fn broken_escapes_are_told_in_javas_words() {
        let says = |text: &str| unform(text, Charset::UTF_8).unwrap_err();
        assert!(says("100%").ends_with("Incomplete trailing escape (%) pattern"));
        assert!(says("%1z").ends_with("pattern - Error at index 1 in: \"1z\""));
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
            prop_assert_eq!(unform(&formed(&text), Charset::UTF_8), Ok(text));
        }

        #[test]
        fn no_text_panics(text in "[%+a0-9é日]{0,20}") {
            let _ = unform(&text, Charset::UTF_8);
        }
    }
}
