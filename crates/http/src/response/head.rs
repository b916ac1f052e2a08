//! Parses the head of a response: how its body is delimited and whether the connection is kept.

use memchr::memchr;

use crate::failure::Malformed;

/// Head of one response, as far as the engine must know it. Ranges are offsets into the bytes that
/// it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Minor version: `HTTP/1.minor`.
    pub minor: u8,
    /// Status, three digits.
    pub status: u16,
    /// The reason phrase begins here.
    pub reason_from: usize,
    /// … and ends here.
    pub reason_until: usize,
    /// The first header line begins here.
    pub lines_from: usize,
    /// The empty line that ends the head begins here.
    pub lines_until: usize,
    /// Bytes of the head, the empty line included.
    pub len: usize,
    /// The value of `Content-Length`.
    pub length: Option<u64>,
    /// The last transfer coding is `chunked`.
    pub chunked: bool,
    /// There is a transfer coding.
    pub coded: bool,
    /// `Connection: close`.
    pub close: bool,
    /// `Connection: keep-alive`.
    pub keep_alive: bool,
}

impl Head {
    /// Reads a head from the beginning of `bytes`; `None` when its end is not there yet.
    ///
    /// Line ends may lack their carriage return (RFC 9112 §2.2), folded lines are passed over (§5.2).
    /// Errors: what the first bytes or a line break; also seen in a head that is not whole.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut head = Self::default();
        let Some(newline) = memchr(b'\n', bytes) else {
            return match begins_like_a_status_line(bytes) {
                true => Ok(None),
                false => Err(Malformed::StatusLine),
            };
        };
        head.status_line(without_return(&bytes[..newline]))?;
        let mut at = newline + 1;
        head.lines_from = at;
        loop {
            let Some(length) = memchr(b'\n', &bytes[at..]) else {
                return Ok(None);
            };
            let line = without_return(&bytes[at..at + length]);
            if line.is_empty() {
                head.lines_until = at;
                head.len = at + length + 1;
                return Ok(Some(head));
            }
            head.line(line)?;
            at += length + 1;
        }
    }

    fn status_line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor,
            b' ',
            a,
            b,
            c,
            rest @ ..,
        ] = line
        else {
            return Err(Malformed::StatusLine);
        };
        let digits = [minor, a, b, c];
        if !digits.iter().all(|digit| digit.is_ascii_digit()) || *a == b'0' {
            return Err(Malformed::StatusLine);
        }
        self.minor = minor - b'0';
        let digit = |byte: u8| u16::from(byte - b'0');
        self.status = digit(*a) * 100 + digit(*b) * 10 + digit(*c);
        self.reason_until = line.len();
        self.reason_from = match rest {
            // Some servers leave out the reason, and the space before it.
            [] => line.len(),
            [b' ', ..] => STATUS_END + 1,
            _ => return Err(Malformed::StatusLine),
        };
        Ok(())
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        if matches!(line[0], b' ' | b'\t') {
            return Ok(());
        }
        let colon = match memchr(b':', line) {
            None | Some(0) => return Err(Malformed::Header),
            Some(colon) => colon,
        };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.coded = true;
                let last = value.rsplit(|byte| *byte == b',').next();
                self.chunked =
                    last.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"));
            }
            _ => {}
        }
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// A list of equal lengths is one length (RFC 9110 §8.6).
    fn content_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for number in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let length = decimal(number).ok_or(Malformed::Length)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(Malformed::Length);
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// True when the server means to keep the connection (RFC 9112 §9.3).
    pub fn persists(&self) -> bool {
        match self.minor {
            0 => self.keep_alive && !self.close,
            _ => !self.close,
        }
    }
}

/// End of the status in a status line.
const STATUS_END: usize = 12;

/// True when these bytes, which hold no line end, may become a status line.
fn begins_like_a_status_line(bytes: &[u8]) -> bool {
    const BEGIN: &[u8] = b"HTTP/1.";
    let known = bytes.len().min(BEGIN.len());
    bytes[..known] == BEGIN[..known]
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}
