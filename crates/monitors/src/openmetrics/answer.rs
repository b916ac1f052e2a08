//! Reads the HTTP/1.1 answer of an endpoint from its bytes.

/// Longest head of an answer, bytes.
const MAX_HEAD: usize = 64 << 10;

/// State of the bytes received so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// More must come; at the end of the connection this is all that there is.
    Unfinished,
    /// A whole answer.
    Whole {
        /// Status code.
        status: u16,
        /// Bytes after the head, without the framing of chunks.
        body: Vec<u8>,
    },
    /// Not an answer in HTTP/1.
    Broken(&'static str),
}

/// Way in which the end of the body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunks,
    UntilClosed,
}

/// Reads the bytes so far; `is_closed` when no more will come.
pub(super) fn answer(bytes: &[u8], is_closed: bool) -> Answer {
    let Some(at) = find(bytes, b"\r\n\r\n") else {
        return match (is_closed, bytes.len() > MAX_HEAD) {
            (true, _) => Answer::Broken("it ends within its head"),
            (false, true) => Answer::Broken("its head has no end"),
            (false, false) => match b"HTTP/1.".starts_with(&bytes[..bytes.len().min(7)]) {
                true => Answer::Unfinished,
                false => Answer::Broken("it does not begin with `HTTP/1.`"),
            },
        };
    };
    let (status, framing) = match head(&bytes[..at]) {
        Ok(head) => head,
        Err(problem) => return Answer::Broken(problem),
    };
    let rest = &bytes[at + 4..];
    let body = match framing {
        Framing::UntilClosed if is_closed => Some(rest.to_vec()),
        Framing::UntilClosed => None,
        Framing::Length(length) => rest.get(..length).map(<[u8]>::to_vec),
        Framing::Chunks => match chunks(rest) {
            Ok(body) => body,
            Err(problem) => return Answer::Broken(problem),
        },
    };
    match body {
        Some(body) => Answer::Whole { status, body },
        None if is_closed => Answer::Broken("it ends within its body"),
        None => Answer::Unfinished,
    }
}

/// Whether the bytes so far may be a whole answer: spares reading all of a long one after each piece.
pub(super) fn may_be_whole(bytes: &[u8]) -> bool {
    let Some(at) = find(bytes, b"\r\n\r\n") else {
        return true;
    };
    match head(&bytes[..at]) {
        Ok((_, Framing::Length(length))) => bytes.len() - at - 4 >= length,
        Ok((_, Framing::Chunks)) => bytes.ends_with(b"\r\n\r\n"),
        Ok((_, Framing::UntilClosed)) => false,
        Err(_) => true,
    }
}

fn head(bytes: &[u8]) -> Result<(u16, Framing), &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "its head is not text")?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    if !first.next().is_some_and(|word| word.starts_with("HTTP/1.")) {
        return Err("it does not begin with `HTTP/1.`");
    }
    let status = first.next().and_then(|word| word.parse().ok());
    let status = status.ok_or("it has no status code")?;
    let mut framing = Framing::UntilClosed;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err("a line of its head has no colon");
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            // Chunks win over a length (RFC 9112, 6.3).
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                framing = Framing::Chunks;
            }
            "transfer-encoding" => return Err("its transfer encoding is not known"),
            "content-encoding" if !value.eq_ignore_ascii_case("identity") => {
                return Err("it is compressed, which was not asked for");
            }
            "content-length" if framing != Framing::Chunks => {
                let length = value.parse().map_err(|_| "its length is not a number")?;
                framing = Framing::Length(length);
            }
            _ => {}
        }
    }
    Ok((status, framing))
}

/// The content of chunks; `None` when the last one has not come yet.
fn chunks(mut rest: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut body = Vec::new();
    loop {
        let Some(end) = find(rest, b"\r\n") else {
            return match rest.len() > 1024 {
                true => Err("the length of a chunk has no end"),
                false => Ok(None),
            };
        };
        let line = std::str::from_utf8(&rest[..end]).unwrap_or_default();
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16);
        let length = length.map_err(|_| "the length of a chunk is not a number")?;
        rest = &rest[end + 2..];
        if length == 0 {
            return Ok(Some(body));
        }
        let Some(after) = length.checked_add(2).and_then(|length| rest.get(length..)) else {
            return Ok(None);
        };
        body.extend_from_slice(&rest[..length]);
        rest = after;
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(body: &str) -> Answer {
        Answer::Whole {
            status: 200,
            body: body.into(),
        }
    }

    #[test]
    fn every_framing_gives_the_body() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\na 1\r\n1;x=y\r\n\n\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\na 1\n",
        ] {
            assert_eq!(answer(text.as_bytes(), true), whole("a 1\n"), "{text}");
            for length in 0..text.len() - 4 {
                assert_eq!(
                    answer(&text.as_bytes()[..length], false),
                    Answer::Unfinished,
                    "{length}"
                );
            }
        }
        let moved = answer(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", false);
        assert!(matches!(moved, Answer::Whole { status: 302, .. }));
    }

    #[test]
    fn what_is_not_http_is_told() {
        for text in [
            "SSH-2.0-OpenSSH",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200",
        ] {
            assert!(
                matches!(answer(text.as_bytes(), true), Answer::Broken(_)),
                "{text}"
            );
        }
        let endless = answer(
            &[b'H', b'T', b'T', b'P', b'/', b'1', b'.'].repeat(20_000),
            false,
        );
        assert_eq!(endless, Answer::Broken("its head has no end"));
    }
}
