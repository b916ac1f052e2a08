//! Validation of URLs as in Java.
//!
//! JMeter's client passes each URL to `java.net.URI`; one that it refuses is a failed sample and
//! not sent.

/// Bytes that are valid in a path and in a query: most URLs have no others.
const WELCOME: [bool; 256] = {
    let mut welcome = [false; 256];
    let mut byte = 0;
    while byte < welcome.len() {
        welcome[byte] = UriPart::Path.takes(byte as u8);
        byte += 1;
    }
    welcome[b'?' as usize] = true;
    welcome
};

/// The message of Java's exception for an invalid path with query, which follows `before` in the
/// URL; `None`: it is valid.
pub(super) fn refusal(before: &str, path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    if bytes.iter().all(|byte| WELCOME[usize::from(*byte)]) {
        return None;
    }
    let mut part = UriPart::Path;
    for (at, byte) in bytes.iter().enumerate() {
        let fine = match (part, byte) {
            (UriPart::Path, b'?') => {
                part = UriPart::Query;
                true
            }
            (UriPart::Path | UriPart::Query, b'#') => {
                part = UriPart::Fragment;
                true
            }
            (_, b'%') => {
                let hex = bytes.get(at + 1..at + 3);
                if !hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
                    let index = units(before) + units(&path[..at]);
                    return Some(format!(
                        "Malformed escape pair at index {index}: {before}{path}"
                    ));
                }
                true
            }
            (part, byte) => part.takes(*byte),
        };
        if !fine {
            let index = units(before) + units(&path[..at]);
            let part = part.name();
            return Some(format!(
                "Illegal character in {part} at index {index}: {before}{path}"
            ));
        }
    }
    None
}

#[derive(Clone, Copy)]
enum UriPart {
    Path,
    Query,
    Fragment,
}

impl UriPart {
    fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Fragment => "fragment",
        }
    }

    /// RFC 2396 as implemented by Java, which allows characters beyond ASCII.
    const fn takes(self, byte: u8) -> bool {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => true,
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => true,
            b'/' | b';' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b',' => true,
            b'[' | b']' | b'?' => !matches!(self, Self::Path),
            _ => false,
        }
    }
}

/// Java counts UTF-16 units.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_java_refuses_is_told_in_its_words() {
        let says = |path: &str| refusal("http://h", path);
        assert_eq!(says("/日/;p=1?a=[1]&b=%20#x?y"), None);
        assert_eq!(
            says("/日/{x}").as_deref(),
            Some("Illegal character in path at index 11: http://h/日/{x}")
        );
        assert_eq!(
            says("/x?a b").as_deref(),
            Some("Illegal character in query at index 12: http://h/x?a b")
        );
        assert_eq!(
            says("/%4").as_deref(),
            Some("Malformed escape pair at index 9: http://h/%4")
        );
        assert!(says("/[").is_some() && says("/x#a#b").is_some());
    }

    proptest! {
        #[test]
        fn no_path_panics(path in "\\PC{0,30}") {
            refusal("http://h", &path);
        }
    }
}
