//! Header values, charset and text of an HTTP response.

use std::borrow::Cow;

use memchr::memchr;

use crate::run::outcome::Reply;

/// Values of all headers with this name, in order.
pub(in crate::run) fn header_values<'a>(
    headers: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = Cow<'a, str>> + 'a {
    header_bytes(headers, name).map(String::from_utf8_lossy)
}

/// As [`header_values`], as they came.
pub(super) fn header_bytes<'a>(
    headers: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> + 'a {
    let mut rest = headers;
    let lines = std::iter::from_fn(move || {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, behind) = rest.split_at(end);
        rest = behind;
        (!line.is_empty()).then_some(line)
    });
    lines.filter_map(move |line| {
        let (key, value) = line.trim_ascii_start().split_at_checked(name.len())?;
        if !key.eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        }
        let value = value.trim_ascii_start().strip_prefix(b":")?;
        Some(value.trim_ascii())
    })
}

/// A header as JMeter's client reads it, whatever its charset.
pub(super) fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Status line and headers as text.
pub(super) fn header_text(code: &str, message: &str, reply: &Reply<'_>) -> String {
    let headers = latin_1(reply.headers).replace("\r\n", "\n");
    format!("HTTP/1.1 {code} {message}\n{headers}")
}

/// The `charset` parameter of a content type; empty if it has none.
pub(super) fn charset(content_type: &str) -> &str {
    let parameter = content_type.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"'))
    });
    parameter.unwrap_or("")
}

/// The body as text in the charset of its content type; UTF-8 if that is missing or unknown.
pub(super) fn body_text(body: &[u8], content_type: Option<&str>) -> String {
    let label = content_type.map_or("", charset);
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        Some(encoding) => encoding.decode(body).0.into_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    }
}

/// JMeter's data type of a response: `text`, `bin` or empty.
pub(super) fn data_type(lost: bool, content_type: Option<&str>) -> &'static str {
    const BINARY: &[&str] = &[
        "image/",
        "audio/",
        "video/",
        "application/octet-stream",
        "application/pdf",
        "application/zip",
        "application/x-tar",
        "application/x-gzip",
        "application/java-archive",
        "application/java-vm",
    ];
    match content_type {
        _ if lost => "text",
        None => "",
        Some(kind) if BINARY.iter().any(|prefix| kind.starts_with(prefix)) => "bin",
        Some(_) => "text",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(headers: &[u8], name: &str) -> Vec<String> {
        header_values(headers, name).map(Cow::into_owned).collect()
    }

    #[test]
    fn headers_are_found_whatever_their_case_and_blanks() {
        let headers = b"Server: Set-Cookie: a\r\nset-cookie:b\r\n Set-Cookie : c \r\nSet-Cookie2: d\n\nSet-Cookie: e";
        assert_eq!(values(headers, "Set-Cookie"), ["b", "c", "e"]);
        assert!(values(headers, "Cookie").is_empty());
    }

    proptest! {
        #[test]
        fn headers_are_those_of_lines_cut_at_their_first_colon(text in "[aAé :\r\n]{0,40}") {
            let line = |line: &str| {
                let (key, value) = line.split_once(':')?;
                let same = key.trim_ascii().eq_ignore_ascii_case("aa");
                same.then(|| value.trim_ascii().to_owned())
            };
            let expected: Vec<String> = text.split('\n').filter_map(line).collect();
            prop_assert_eq!(values(text.as_bytes(), "aa"), expected);
        }
    }
}
