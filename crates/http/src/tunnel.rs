//! Asks a proxy for a tunnel (`CONNECT`).
//!
//! ```text
//! CONNECT host:port ──►        everything after the 2xx belongs to the target
//!                   ◄── 2xx
//! ```

use std::io::{self, Read, Write};

use crate::connection::is_later;
use crate::failure::{Failure, FailureKind, Malformed, Phase};

/// Longest answer of a proxy, bytes.
const MOST_BYTES: usize = 16 * 1024;

/// A call for a tunnel, as far as it is.
pub(crate) struct Tunnel {
    request: Vec<u8>,
    sent: usize,
    answer: Vec<u8>,
}

impl Tunnel {
    /// A call that has not begun.
    pub(crate) fn new(request: String) -> Self {
        Self {
            request: request.into_bytes(),
            sent: 0,
            answer: Vec::new(),
        }
    }

    /// Sends and reads what there is; true when the tunnel is there.
    ///
    /// Errors: the connection ended, the answer is not valid HTTP, or the proxy refused.
    pub(crate) fn go_on(&mut self, mut socket: impl Read + Write) -> Result<bool, Failure> {
        let failed = |error: io::Error| Failure::of(Phase::Connect, &error);
        while self.sent < self.request.len() {
            match socket.write(&self.request[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
        }
        let mut portion = [0; 1024];
        loop {
            match socket.read(&mut portion) {
                Ok(0) => return Err(Failure::new(Phase::Connect, FailureKind::ClosedEarly)),
                Ok(count) => self.answer.extend_from_slice(&portion[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
            if let Some(there) = judge(&self.answer)? {
                return Ok(there);
            }
        }
    }
}

/// Meaning of an answer so far; `None`: it is not whole. Errors: it is no, or no HTTP.
fn judge(answer: &[u8]) -> Result<Option<bool>, Failure> {
    let malformed = |what| Failure::new(Phase::Connect, FailureKind::Malformed(what));
    let begin = &answer[..answer.len().min(5)];
    if !b"HTTP/".starts_with(begin) {
        return Err(malformed(Malformed::StatusLine));
    }
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return match answer.len() > MOST_BYTES {
            true => Err(malformed(Malformed::HeadTooLong)),
            false => Ok(None),
        };
    };
    let status = answer[..end].split(|byte| *byte == b' ').nth(1);
    match status {
        Some([b'2', _, _]) => Ok(Some(true)),
        Some(&[b'1'..=b'9', _, _]) => Err(Failure::new(Phase::Connect, FailureKind::ProxyRefused)),
        _ => Err(malformed(Malformed::StatusLine)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket that takes everything and gives this.
    struct Scripted(Vec<u8>, Vec<u8>);

    impl Read for Scripted {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = to.len().min(self.0.len()).min(7);
            to[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    impl Write for Scripted {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.1.extend_from_slice(from);
            Ok(from.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn ask(answer: &str) -> Result<bool, Failure> {
        let mut socket = Scripted(answer.into(), Vec::new());
        let mut tunnel = Tunnel::new("CONNECT h:443 HTTP/1.1\r\n\r\n".into());
        tunnel.go_on(&mut socket)
    }

    #[test]
    fn a_proxy_says_yes_no_or_nonsense() {
        assert_eq!(ask("HTTP/1.1 200 OK\r\nA: b\r\n\r\n"), Ok(true));
        assert_eq!(ask("HTTP/1.1 200 O"), Ok(false));
        let kind = |answer: &str| ask(answer).unwrap_err().kind;
        assert_eq!(kind("HTTP/1.1 407 No\r\n\r\n"), FailureKind::ProxyRefused);
        for nonsense in ["SSH-2.0", "HTTP/1.1 xx\r\n\r\n", "HTTP/1.1\r\n\r\n"] {
            assert!(
                matches!(kind(nonsense), FailureKind::Malformed(_)),
                "{nonsense}"
            );
        }
        let endless = format!("HTTP/1.1 200 {}", "x".repeat(MOST_BYTES));
        assert!(matches!(kind(&endless), FailureKind::Malformed(_)));
    }
}
