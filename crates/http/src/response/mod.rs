//! Parses HTTP/1 responses and finds where each of them ends.
//!
//! Sans-I/O: bytes are fed as they arrive, in any portions; nothing is allocated for a response
//! whose head arrives in one portion, unless the user wants to read it.

mod chunks;
mod head;

use chunks::{Chunks, Piece};
pub use head::Head;
use memchr::memchr;

use crate::engine::Limits;
use crate::failure::{FailureKind, Malformed};
use crate::user::{Exchange, Keep, Switch};

/// Bytes of a buffer that outlive the response they were made for.
const ROOM_KEPT: usize = 16 * 1024;
/// Bytes of a status line by which it is known to be one.
const STATUS_BEGIN: usize = 8;
/// Status of a connection that becomes something else than HTTP.
const SWITCHING_PROTOCOLS: u16 = 101;

/// Parses one response after the other, on one connection.
#[derive(Debug)]
pub struct Response {
    stage: Stage,
    asked: Asked,
    limits: Limits,
    informational: u32,
    head: Head,
    /// The kept head; while a head is not whole, as much of it as has come.
    text: Vec<u8>,
    body: Vec<u8>,
    head_bytes: u64,
    body_bytes: u64,
    framing_bytes: u64,
    persists: bool,
}

/// The facts of a request that decide how its response is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// It is a HEAD request, whose response has no body.
    pub is_head: bool,
    /// The meaning of the status 101.
    pub switch: Switch,
    /// The parts of the response that are kept.
    pub keep: Keep,
}

impl Asked {
    /// Those of an exchange.
    pub(crate) fn by(exchange: &Exchange) -> Self {
        Self {
            is_head: exchange.method_is_head,
            switch: exchange.switch,
            keep: exchange.keep,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    /// This many bytes of the body are missing.
    Body(u64),
    Chunked(Chunks),
    /// The body ends with the connection.
    UntilClose,
    Done,
}

/// The result of feeding bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// This many belong to the response.
    pub used: usize,
    /// The response is whole.
    pub done: bool,
}

impl Response {
    /// Before the first response of a connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            stage: Stage::Head,
            asked: Asked::default(),
            limits,
            informational: 0,
            head: Head::default(),
            text: Vec::new(),
            body: Vec::new(),
            head_bytes: 0,
            body_bytes: 0,
            framing_bytes: 0,
            persists: false,
        }
    }

    /// The next response begins.
    pub fn begin(&mut self, asked: Asked) {
        self.stage = Stage::Head;
        self.asked = asked;
        self.informational = 0;
        self.head = Head::default();
        (self.head_bytes, self.body_bytes, self.framing_bytes) = (0, 0, 0);
        self.persists = false;
        for buffer in [&mut self.text, &mut self.body] {
            buffer.clear();
            if buffer.capacity() > ROOM_KEPT {
                buffer.shrink_to(ROOM_KEPT);
            }
        }
    }

    /// Takes bytes as they came from the connection. Bytes after the end are not used.
    ///
    /// Errors: the bytes are not a valid response; the connection cannot be used further.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Malformed> {
        let mut used = 0;
        while self.stage != Stage::Done && used < bytes.len() {
            used += self.portion(&bytes[used..])?;
        }
        Ok(Fed {
            used,
            done: self.stage == Stage::Done,
        })
    }

    /// Takes note of the end of the connection; true when the response is whole.
    pub fn closed(&mut self) -> bool {
        if self.stage == Stage::UntilClose {
            self.stage = Stage::Done;
        }
        self.stage == Stage::Done
    }

    /// The failure when the end of the connection cuts the response.
    pub fn cut(&self) -> FailureKind {
        let chunk = match &self.stage {
            Stage::Chunked(chunks) => chunks.cut(),
            _ => None,
        };
        match chunk {
            Some((size, came)) => FailureKind::CutChunk { size, came },
            None => FailureKind::ClosedEarly,
        }
    }

    /// Processes some bytes and returns how many.
    #[inline]
    fn portion(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        match &mut self.stage {
            Stage::Head => self.head(bytes),
            Stage::Body(left) => {
                let here = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= here as u64;
                if *left == 0 {
                    self.stage = Stage::Done;
                }
                self.body(&bytes[..here]);
                Ok(here)
            }
            Stage::Chunked(chunks) => match chunks.next(bytes)? {
                Piece::Framing(used) => {
                    self.framing_bytes += used as u64;
                    Ok(used)
                }
                Piece::Data(used) => {
                    self.body(&bytes[..used]);
                    Ok(used)
                }
                Piece::End(used) => {
                    self.framing_bytes += used as u64;
                    self.stage = Stage::Done;
                    Ok(used)
                }
            },
            Stage::UntilClose => {
                self.body(bytes);
                Ok(bytes.len())
            }
            Stage::Done => Ok(0),
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
        if let Keep::Body { at_most } = self.asked.keep {
            let room = at_most.saturating_sub(self.body.len());
            self.body.extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let before = self.text.len();
        // At most so many bytes of this portion can belong to a head within the bound.
        let room = (self.limits.head_bytes - before).min(bytes.len());
        if before > 0 {
            self.text.extend_from_slice(&bytes[..room]);
            // Read again from its beginning only when a line has become whole.
            if before >= STATUS_BEGIN && memchr(b'\n', &bytes[..room]).is_none() {
                return self.not_whole(room);
            }
        }
        let known: &[u8] = match before {
            0 => &bytes[..room],
            _ => &self.text,
        };
        let Some(head) = Head::read(known)? else {
            if before == 0 {
                self.text.extend_from_slice(&bytes[..room]);
            }
            return self.not_whole(room);
        };
        let used = head.len - before;
        self.head_bytes += head.len as u64;
        let switches = head.status == SWITCHING_PROTOCOLS;
        if switches && self.asked.switch == Switch::Unasked {
            return Err(Malformed::UnaskedSwitch);
        }
        let is_response = switches && self.asked.switch == Switch::Asked;
        if head.status / 100 == 1 && !is_response {
            self.informational += 1;
            if self.informational > self.limits.informational {
                return Err(Malformed::Informational);
            }
            self.text.clear();
            return Ok(used);
        }
        match (self.asked.keep, before) {
            (Keep::Nothing, _) => self.text.clear(),
            (_, 0) => self.text.extend_from_slice(&bytes[..head.len]),
            _ => self.text.truncate(head.len),
        }
        self.take_head(head);
        Ok(used)
    }

    /// More of the head must come.
    fn not_whole(&self, used: usize) -> Result<usize, Malformed> {
        match self.text.len() >= self.limits.head_bytes {
            true => Err(Malformed::HeadTooLong),
            false => Ok(used),
        }
    }

    /// Finds the end of the body (RFC 9112 §6.3).
    fn take_head(&mut self, head: Head) {
        let no_body = self.asked.is_head
            || matches!(head.status, 204 | 304)
            || head.status == SWITCHING_PROTOCOLS;
        self.persists = head.persists() && head.status != SWITCHING_PROTOCOLS;
        self.stage = match head.length {
            _ if no_body => Stage::Done,
            _ if head.chunked => Stage::Chunked(Chunks::new(self.limits.trailer_bytes)),
            Some(length) if !head.coded => match length {
                0 => Stage::Done,
                length => Stage::Body(length),
            },
            _ => Stage::UntilClose,
        };
        // Two conflicting lengths (request smuggling): an intermediary may have used the other one.
        let ambiguous = head.coded && head.length.is_some();
        self.persists &= self.stage != Stage::UntilClose && !ambiguous;
        self.head = head;
    }

    /// True before the first byte.
    pub fn is_untouched(&self) -> bool {
        self.stage == Stage::Head && self.text.is_empty() && self.head_bytes == 0
    }

    /// True when another request may follow on the connection, once the response is whole.
    pub fn persists(&self) -> bool {
        self.persists
    }

    /// Status; 0 before the head is whole.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Bytes of heads, also of informational ones and of one that is not whole.
    pub fn head_bytes(&self) -> u64 {
        match self.stage {
            Stage::Head => self.head_bytes + self.text.len() as u64,
            _ => self.head_bytes,
        }
    }

    /// Bytes of the body so far.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Bytes of the framing of chunks so far, trailers included.
    pub fn framing_bytes(&self) -> u64 {
        self.framing_bytes
    }

    /// Reason phrase, if kept.
    pub fn reason(&self) -> &[u8] {
        self.kept(self.head.reason_from, self.head.reason_until)
    }

    /// Header lines with their line ends, if kept.
    pub fn headers(&self) -> &[u8] {
        self.kept(self.head.lines_from, self.head.lines_until)
    }

    /// The body as far as it is kept.
    pub fn body_kept(&self) -> &[u8] {
        &self.body
    }

    fn kept(&self, from: usize, until: usize) -> &[u8] {
        match self.stage {
            Stage::Head => &[],
            _ => self.text.get(from..until).unwrap_or(&[]),
        }
    }
}

/// Reads any bytes as responses, whole and in pieces of `cut` bytes: both come to the same.
pub fn any_bytes(bytes: &[u8], cut: usize) {
    let read = |piece: usize| {
        let mut response = Response::new(Limits::default());
        response.begin(Asked {
            keep: Keep::Body { at_most: 4096 },
            ..Asked::default()
        });
        let mut used = 0;
        for piece in bytes.chunks(piece.max(1)) {
            let fed = response.feed(piece)?;
            assert!(fed.used <= piece.len());
            used += fed.used;
            if fed.done {
                break;
            }
        }
        let whole = response.closed();
        Ok::<_, Malformed>((used, whole, response.status(), response.body_bytes()))
    };
    assert_eq!(read(cut), read(bytes.len()));
}

#[cfg(test)]
mod tests;
