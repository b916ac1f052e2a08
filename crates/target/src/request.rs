//! Reads requests of HTTP/1.1 from bytes, within bounds.
//!
//! What is not needed is not kept: the method, the target, whether the connection stays, and where the
//! body lies.

use std::ops::Range;

/// Longest head, bytes.
pub const HEAD_MAX: usize = 16 << 10;
/// Most header lines.
pub const HEADERS_MAX: usize = 100;
/// Longest target of a request, bytes.
pub const TARGET_MAX: usize = 8 << 10;
/// Longest body, bytes.
pub const BODY_MAX: usize = 1 << 20;

/// Method by which a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// For the resource.
    Get,
    /// For its head alone.
    Head,
    /// With a body.
    Post,
    /// In another way.
    Other,
}

/// A whole request; ranges point into the bytes it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path without the query.
    pub path: Range<usize>,
    /// Query without its `?`; empty without one.
    pub query: Range<usize>,
    /// Body; empty without one.
    pub body: Range<usize>,
    /// The connection stays open after the answer.
    pub keeps: bool,
    /// The body is a form.
    pub is_form: bool,
    /// The answer is to be JSON.
    pub wants_json: bool,
}

impl Request {
    /// Bytes of the request: what follows belongs to the next one.
    pub fn len(&self) -> usize {
        self.body.end
    }

    /// True for a request of no bytes, which there is not.
    pub fn is_empty(&self) -> bool {
        self.body.end == 0
    }
}

/// Result of reading the bytes so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// A request begins, and more bytes are needed.
    Unfinished,
    /// A request.
    Whole(Request),
    /// No request: the status of the answer. The connection cannot go on.
    Bad(u16),
}

/// Reads the request at the beginning of `bytes`.
pub fn parse(bytes: &[u8]) -> Parsed {
    // Lines before a request are read over, as RFC 9112 asks for.
    let begin = bytes
        .iter()
        .take_while(|b| matches!(b, b'\r' | b'\n'))
        .count();
    if begin > 64 {
        return Parsed::Bad(400);
    }
    // A TLS handshake, for one, never has the end of a head: its client would wait forever.
    if bytes
        .get(begin)
        .is_some_and(|first| !first.is_ascii_graphic())
    {
        return Parsed::Bad(400);
    }
    let Some(head_end) = end_of_head(&bytes[begin..]).map(|end| begin + end) else {
        return match bytes.len() - begin > HEAD_MAX {
            true => Parsed::Bad(431),
            false => Parsed::Unfinished,
        };
    };
    if head_end - begin > HEAD_MAX {
        return Parsed::Bad(431);
    }
    match read_head(bytes, begin, head_end) {
        Ok(request) if request.body.end > bytes.len() => Parsed::Unfinished,
        Ok(request) => Parsed::Whole(request),
        Err(status) => Parsed::Bad(status),
    }
}

/// Index behind the empty line that ends a head.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'\n', &bytes[from..]) {
        let next = from + at + 1;
        match &bytes[next..] {
            [b'\n', ..] => return Some(next + 1),
            [b'\r', b'\n', ..] => return Some(next + 2),
            _ => from = next,
        }
    }
    None
}

fn read_head(bytes: &[u8], begin: usize, end: usize) -> Result<Request, u16> {
    let line_end = begin + memchr::memchr(b'\n', &bytes[begin..end]).ok_or(400u16)?;
    let (mut request, is_old) = read_line(bytes, begin, trimmed(bytes, begin, line_end))?;
    let mut headers = Headers {
        keeps: !is_old,
        ..Headers::default()
    };
    let mut at = line_end + 1;
    let mut count = 0;
    while at < end {
        let stop = at + memchr::memchr(b'\n', &bytes[at..end]).ok_or(400u16)?;
        let line = &bytes[at..trimmed(bytes, at, stop)];
        at = stop + 1;
        if line.is_empty() {
            break;
        }
        count += 1;
        if count > HEADERS_MAX {
            return Err(431);
        }
        headers.take(line)?;
    }
    if !headers.has_host && !is_old {
        return Err(400);
    }
    let length = headers.length.unwrap_or(0);
    if length > BODY_MAX {
        return Err(413);
    }
    request.body = end..end + length;
    request.keeps = headers.keeps;
    request.is_form = headers.is_form;
    request.wants_json = headers.wants_json;
    Ok(request)
}

/// End of a line without its `\r`.
fn trimmed(bytes: &[u8], begin: usize, end: usize) -> usize {
    match end > begin && bytes[end - 1] == b'\r' {
        true => end - 1,
        false => end,
    }
}

/// The request line, and whether it is of HTTP/1.0.
fn read_line(bytes: &[u8], begin: usize, end: usize) -> Result<(Request, bool), u16> {
    let line = &bytes[begin..end];
    let space = memchr::memchr(b' ', line).ok_or(400u16)?;
    let method = match &line[..space] {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        b"POST" => Method::Post,
        other if !other.is_empty() && other.iter().all(u8::is_ascii_alphanumeric) => Method::Other,
        _ => return Err(400),
    };
    let rest = space + 1;
    let last = rest + memchr::memchr(b' ', &line[rest..]).ok_or(400u16)?;
    if last - rest > TARGET_MAX {
        return Err(414);
    }
    let is_old = match &line[last + 1..] {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        version if version.starts_with(b"HTTP/") => return Err(505),
        _ => return Err(400),
    };
    let target = &line[rest..last];
    if !target.iter().all(u8::is_ascii_graphic) || target.is_empty() {
        return Err(400);
    }
    // A proxy asks for `http://host/path`.
    let skipped = match target.strip_prefix(b"http://") {
        Some(after) => 7 + memchr::memchr(b'/', after).unwrap_or(after.len()),
        None => 0,
    };
    let from = begin + rest + skipped;
    let to = begin + last;
    let mark = memchr::memchr(b'?', &bytes[from..to]).map_or(to, |at| from + at);
    let request = Request {
        method,
        path: from..mark,
        query: (mark + 1).min(to)..to,
        body: end..end,
        keeps: false,
        is_form: false,
        wants_json: false,
    };
    Ok((request, is_old))
}

#[derive(Default)]
struct Headers {
    keeps: bool,
    has_host: bool,
    length: Option<usize>,
    is_form: bool,
    wants_json: bool,
}

impl Headers {
    /// Takes one line. Errors: the status of the answer.
    fn take(&mut self, line: &[u8]) -> Result<(), u16> {
        let colon = memchr::memchr(b':', line).ok_or(400u16)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        // A blank before the colon, or a folded line, hides headers from other readers.
        if name.is_empty() || !name.iter().all(|b| b.is_ascii_graphic()) {
            return Err(400);
        }
        if name.eq_ignore_ascii_case(b"host") {
            if self.has_host {
                return Err(400);
            }
            self.has_host = true;
        } else if name.eq_ignore_ascii_case(b"connection") {
            self.take_connection(value);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value).ok_or(400u16)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(400);
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // Bodies of unknown length are not taken.
            return Err(411);
        } else if name.eq_ignore_ascii_case(b"content-type") {
            const FORM: &[u8] = b"application/x-www-form-urlencoded";
            let kind = value.get(..FORM.len()).unwrap_or_default();
            self.is_form = kind.eq_ignore_ascii_case(FORM);
        } else if name.eq_ignore_ascii_case(b"accept") {
            self.wants_json = value.starts_with(b"application/json");
        }
        Ok(())
    }

    fn take_connection(&mut self, value: &[u8]) {
        for word in value.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
            if word.eq_ignore_ascii_case(b"close") {
                self.keeps = false;
            } else if word.eq_ignore_ascii_case(b"keep-alive") {
                self.keeps = true;
            }
        }
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    let all = !digits.is_empty() && digits.len() < 16 && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| all)?;
    text.parse().ok()
}

/// The value of a parameter in a query or a form: the last one of its name. `+` and `%xx` are read.
pub fn parameter(form: &[u8], name: &str) -> Option<String> {
    let pairs = form.split(|b| *b == b'&').rev();
    let mut found = pairs.filter_map(|pair| {
        let at = memchr::memchr(b'=', pair)?;
        (decoded(&pair[..at]) == name.as_bytes()).then(|| decoded(&pair[at + 1..]))
    });
    String::from_utf8(found.next()?).ok()
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let hex = |at: usize| char::from(*text.get(at)?).to_digit(16);
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => out.push(b' '),
            (byte, ..) => out.push(*byte),
        }
        at += 1;
    }
    out
}

/// Reads any bytes as requests, and asserts what holds of whatever is read.
///
/// Panics: a promise is broken.
pub fn any_bytes(bytes: &[u8]) {
    let mut rest = bytes;
    while let Parsed::Whole(request) = parse(rest) {
        let length = request.len();
        assert!(!request.is_empty() && length <= rest.len());
        assert!(request.path.end <= request.query.end && request.query.end <= request.body.start);
        assert!(request.body.len() <= BODY_MAX);
        for form in [&rest[request.query.clone()], &rest[request.body.clone()]] {
            let value = parameter(form, "bit");
            assert!(value.is_none_or(|value| value.len() <= form.len()));
        }
        // A request that lacks its last byte is not whole.
        assert_ne!(parse(&rest[..length - 1]), Parsed::Whole(request));
        rest = &rest[length..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Request {
        match parse(text.as_bytes()) {
            Parsed::Whole(request) => request,
            other => panic!("{other:?} of {text:?}"),
        }
    }

    #[test]
    fn requests_are_read() {
        let text =
            "GET /stress/x?bit=8&a=b HTTP/1.1\r\nHost: h\r\nAccept: application/json\r\n\r\nrest";
        let request = whole(text);
        assert_eq!(request.method, Method::Get);
        assert_eq!(&text[request.path.clone()], "/stress/x");
        assert_eq!(&text[request.query.clone()], "bit=8&a=b");
        assert_eq!(&text[request.len()..], "rest");
        assert!(request.keeps && request.wants_json && !request.is_form);

        let text = "POST http://h:80/p HTTP/1.1\nhost:h\nconnection: Close\ncontent-length: 5\n\
                    content-type: application/x-www-form-urlencoded; charset=utf-8\n\nbit=9";
        let request = whole(text);
        assert_eq!(&text[request.path.clone()], "/p");
        assert_eq!(&text[request.body.clone()], "bit=9");
        assert!(!request.keeps && request.is_form);
        assert!(!whole("GET / HTTP/1.0\r\n\r\n").keeps);
        assert!(whole("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keeps);
        assert!(whole("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n").keeps);
    }

    #[test]
    fn what_is_no_request_has_its_status() {
        let check = |text: &str, status: u16| {
            assert_eq!(parse(text.as_bytes()), Parsed::Bad(status), "{text:?}");
        };
        check("GET / HTTP/1.1\r\n\r\n", 400);
        check("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505);
        check("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400);
        check("GET /\r\nHost: h\r\n\r\n", 400);
        check("G=T / HTTP/1.1\r\nHost: h\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400);
        check(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            400,
        );
        check(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            400,
        );
        check(
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
            411,
        );
        check(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n",
            413,
        );
        check(
            &format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(9000)),
            414,
        );
        check(
            &format!("GET / HTTP/1.1\r\nx: {}", "x".repeat(HEAD_MAX)),
            431,
        );
        check(
            &format!(
                "GET / HTTP/1.1\r\nHost: h\r\n{}\r\n",
                "a: b\r\n".repeat(101)
            ),
            431,
        );
        check(&"\n".repeat(65), 400);
    }

    #[test]
    fn a_tls_handshake_is_answered_at_once() {
        assert_eq!(parse(b"\x16\x03\x01\x02\x00\x01"), Parsed::Bad(400));
    }

    #[test]
    fn more_bytes_are_waited_for() {
        let text = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
        for cut in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..cut]), Parsed::Unfinished, "{cut}");
        }
        assert_eq!(whole(text).len(), text.len());
    }

    #[test]
    fn parameters_are_decoded() {
        let check = |form: &str, expected: Option<&str>| {
            assert_eq!(
                parameter(form.as_bytes(), "a").as_deref(),
                expected,
                "{form}"
            );
        };
        check("a=1", Some("1"));
        check("b=2&a=1+2%2b&c", Some("1 2+"));
        check("a=1&a=2", Some("2"));
        check("%61=x%4", Some("x%4"));
        check("ab=1", None);
        check("", None);
        check("a=%ff", None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            any_bytes(&bytes);
        }

        #[test]
        fn any_lines_are_judged(lines in "(GET|POST|X) [ -~]{0,20} HTTP/1.[0-9]\r\n(Host: h\r\n)?([a-zA-Z-]{1,18}:[ -~]{0,12}\r\n){0,4}\r\n[ -~]{0,20}") {
            any_bytes(lines.as_bytes());
        }
    }
}
