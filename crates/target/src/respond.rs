//! Answers of HTTP/1.1 as bytes, and how they are written.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::Duration;

use sokudo_net::wait::writable;

use crate::settings::{Fault, ms};
use crate::stop::Stop;

/// Longest wait for a reader that takes nothing.
const WRITE_BOUND: Duration = Duration::from_secs(60);
/// Longest body that is copied behind its head, so that both are one write, bytes.
const JOINED_BYTES_MAX: usize = 64 << 10;
/// Largest body without meaning, bytes.
pub(crate) const FILLING_BYTES_MAX: usize = 16 << 20;

/// The bytes of all bodies without meaning: slow readers of many of them cost no memory each.
static FILLING: LazyLock<Vec<u8>> = LazyLock::new(|| vec![b'x'; FILLING_BYTES_MAX]);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Cow<'static, [u8]>,
    /// Value of `Server-Timing`; empty without one.
    pub(crate) timing: String,
}

impl Answer {
    /// A sentence as plain text.
    pub(crate) fn plain(status: u16, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: body.into(),
            timing: String::new(),
        }
    }

    /// So many bytes without meaning, [`FILLING_BYTES_MAX`] at most.
    pub(crate) fn filling(bytes: usize) -> Self {
        Self::plain(200, &FILLING[..bytes.min(FILLING_BYTES_MAX)])
    }

    /// The answer that says no more than its status.
    pub(crate) fn bare(status: u16) -> Self {
        Self::plain(
            status,
            format!("{status} {}\n", reason(status)).into_bytes(),
        )
    }

    /// Appends the answer to `out` and returns what is still to be sent: a long body. Without a body when only the
    /// head was asked for.
    pub(crate) fn begin(&self, out: &mut Vec<u8>, keeps: bool, with_body: bool) -> &[u8] {
        // Writing into memory does not fail.
        let _ = write!(
            out,
            "HTTP/1.1 {} {}\r\nServer: sokudo\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        if !self.timing.is_empty() {
            let _ = write!(out, "Server-Timing: {}\r\n", self.timing);
        }
        out.extend_from_slice(match keeps {
            true => b"Connection: keep-alive\r\n\r\n",
            false => b"Connection: close\r\n\r\n",
        });
        match with_body {
            true if self.body.len() > JOINED_BYTES_MAX => return &self.body,
            true => out.extend_from_slice(&self.body),
            false => {}
        }
        &[]
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

/// Writes an answer to a socket that does not block; waits for its reader.
///
/// Errors: the connection is gone, or its reader takes nothing.
pub(crate) fn send(stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    let mut to = stream;
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !writable(stream, WRITE_BOUND)? {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The same in small pieces, as the fault says.
pub(crate) fn drip(stream: &TcpStream, bytes: &[u8], fault: &Fault, stop: &Stop) -> io::Result<()> {
    for piece in bytes.chunks(fault.drip_bytes.max(1) as usize) {
        send(stream, piece)?;
        stop.rest(ms(fault.drip_ms));
    }
    Ok(())
}

/// Writes as much as the socket takes now: for refusals, which nobody waits for.
pub(crate) fn send_now(mut stream: &TcpStream, answer: &Answer) {
    let mut bytes = Vec::with_capacity(256);
    // It has no long body.
    answer.begin(&mut bytes, false, true);
    // The peer may be gone, which the caller finds out when it closes.
    let _ = stream.write(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_its_length_and_whether_the_connection_stays() {
        let mut out = Vec::new();
        let mut answer = Answer::plain(200, &b"hello"[..]);
        answer.timing = "pool;dur=1.5".into();
        assert!(answer.begin(&mut out, true, true).is_empty());
        let text = String::from_utf8(out).expect("text");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("\r\nContent-Length: 5\r\nServer-Timing: pool;dur=1.5\r\n"));
        assert!(text.ends_with("\r\nConnection: keep-alive\r\n\r\nhello"));
        let mut head = Vec::new();
        assert!(answer.begin(&mut head, false, false).is_empty());
        let head = String::from_utf8(head).expect("text");
        assert!(head.contains("Content-Length: 5\r\n") && head.ends_with("close\r\n\r\n"));
        let long = Answer::filling(FILLING_BYTES_MAX);
        let mut head = Vec::new();
        let rest = long.begin(&mut head, true, true);
        assert_eq!(
            (rest.len(), head.capacity() < 1024),
            (FILLING_BYTES_MAX, true)
        );
        assert_eq!(
            rest.as_ptr(),
            Answer::filling(70_000).body.as_ptr(),
            "they share their bytes"
        );
    }
}
