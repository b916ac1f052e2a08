//! Frames on a connection.
//!
//! A connection carries frames in one direction, after one frame by which the sender says which of
//! the session's connections it is. Reads and writes must return within [`crate::session::LOOK`] or
//! so with `WouldBlock` or `TimedOut`; the caller has set that. Silence and stillness are bounded.

use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::frame::{Codec, FrameError, FrameKind, HEADER_BYTES, Header, MAX_PAYLOAD};
use crate::limit::Limiter;
use crate::session::{LOOK, PATIENCE, Progress, Session};

/// A connection to the peer.
pub trait Channel: Read + Write + Send {}

impl<T: Read + Write + Send> Channel for T {}

/// Role of a connection within a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Sender to receiver: entries.
    Listing,
    /// Receiver to sender: verdicts.
    Answers,
    /// Sender to receiver: content.
    Data(u16),
}

/// Version of what is sent; ends of different versions refuse each other.
const VERSION: u8 = 1;

impl Role {
    fn encode(self) -> [u8; 4] {
        let (kind, number) = match self {
            Role::Listing => (0, 0),
            Role::Answers => (1, 0),
            Role::Data(number) => (2, number),
        };
        let [low, high] = number.to_le_bytes();
        [VERSION, kind, low, high]
    }

    fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        match bytes {
            [VERSION, 0, 0, 0] => Ok(Role::Listing),
            [VERSION, 1, 0, 0] => Ok(Role::Answers),
            [VERSION, 2, low, high] => Ok(Role::Data(u16::from_le_bytes([*low, *high]))),
            _ => Err(FrameError::Content),
        }
    }
}

/// The wait of a read or write for its peer.
struct Wait<'a> {
    session: &'a Session,
    /// Beginning of the error for a peer that is gone.
    stalled: &'static str,
    last: Instant,
}

impl<'a> Wait<'a> {
    fn begin(session: &'a Session, stalled: &'static str) -> Self {
        Self {
            session,
            stalled,
            last: Instant::now(),
        }
    }

    /// Takes note that bytes moved.
    fn moved(&mut self) {
        self.last = Instant::now();
    }

    /// Fails unless the error is a pause, the session goes on, and the peer may still come.
    fn goes_on(&self, error: io::Error) -> io::Result<()> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        if !matches!(error.kind(), WouldBlock | TimedOut | Interrupted) {
            return Err(error);
        }
        if self.session.is_over() {
            return Err(self.session.over());
        }
        if self.last.elapsed() > PATIENCE {
            let text = format!("{} for {} s", self.stalled, PATIENCE.as_secs());
            return Err(io::Error::new(TimedOut, text));
        }
        Ok(())
    }
}

/// The pace of the writers of a session: their limit, and the zero of its time.
#[derive(Clone)]
pub struct FramePace {
    /// Shared by all of them.
    pub limiter: Arc<Limiter>,
    /// The same for all of them.
    pub begun: Instant,
}

impl FramePace {
    /// Waits until so many bytes may leave, or fewer; gives how many.
    ///
    /// Errors: the session is over.
    fn earn(&self, bytes: usize, session: &Session) -> io::Result<usize> {
        let part = bytes.min(self.limiter.slice());
        let now_ns = self.begun.elapsed().as_nanos() as u64;
        let mut left = Duration::from_nanos(self.limiter.grant(part, now_ns));
        while !left.is_zero() {
            if session.is_over() {
                return Err(session.over());
            }
            let step = left.min(LOOK);
            thread::sleep(step);
            left -= step;
        }
        Ok(part)
    }
}

/// Writes frames.
pub struct FrameWriter {
    channel: Box<dyn Channel>,
    seq: u64,
    session: Arc<Session>,
    progress: Arc<Progress>,
    pace: Option<FramePace>,
}

impl FrameWriter {
    /// On a connection that has carried no frame this way.
    pub fn new(
        channel: Box<dyn Channel>,
        session: &Arc<Session>,
        progress: &Arc<Progress>,
    ) -> Self {
        Self {
            channel,
            seq: 0,
            session: Arc::clone(session),
            progress: Arc::clone(progress),
            pace: None,
        }
    }

    /// Keeps to a pace from now on: heads of frames count, too.
    pub fn paced(mut self, pace: Option<FramePace>) -> Self {
        self.pace = pace;
        self
    }

    /// The connection, to be read from instead.
    pub fn into_channel(self) -> Box<dyn Channel> {
        self.channel
    }

    /// Says which connection this is.
    pub fn hello(&mut self, role: Role) -> io::Result<()> {
        let raw = role.encode();
        self.send(FrameKind::Hello, &raw, Codec::Stored, &raw)
    }

    /// Says that the connection is in use.
    pub fn alive(&mut self) -> io::Result<()> {
        self.send(FrameKind::Alive, &[], Codec::Stored, &[])
    }

    /// Sends a payload as it was packed.
    pub fn send(
        &mut self,
        kind: FrameKind,
        raw: &[u8],
        codec: Codec,
        wire: &[u8],
    ) -> io::Result<()> {
        let head = Header::of(kind, codec, raw, wire.len(), self.seq).encode();
        self.seq += 1;
        self.write_all(&head, wire)?;
        Progress::add(&self.progress.wire_bytes, (head.len() + wire.len()) as u64);
        Ok(())
    }

    fn write_all(&mut self, mut head: &[u8], mut body: &[u8]) -> io::Result<()> {
        let mut wait = Wait::begin(&self.session, "the peer has taken nothing");
        let mut earned = 0;
        while !(head.is_empty() && body.is_empty()) {
            if earned == 0 {
                let left = head.len() + body.len();
                earned = match &self.pace {
                    Some(pace) => pace.earn(left, &self.session)?,
                    None => left,
                };
                wait.moved();
            }
            let of_head = &head[..head.len().min(earned)];
            let of_body = &body[..body.len().min(earned - of_head.len())];
            let written = match of_head {
                [] => self.channel.write(of_body),
                _ => self
                    .channel
                    .write_vectored(&[IoSlice::new(of_head), IoSlice::new(of_body)]),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    let from_head = count.min(head.len());
                    head = &head[from_head..];
                    body = &body[count - from_head..];
                    earned -= count;
                    wait.moved();
                }
                Err(error) => wait.goes_on(error)?,
            }
        }
        // Connections that gather bytes of their own hand them over.
        while let Err(error) = self.channel.flush() {
            wait.goes_on(error)?;
        }
        Ok(())
    }
}

/// Reads frames.
pub struct FrameReader {
    channel: Box<dyn Channel>,
    seq: u64,
    wire: Vec<u8>,
    session: Arc<Session>,
    progress: Arc<Progress>,
}

impl FrameReader {
    /// On a connection that has carried no frame this way.
    pub fn new(
        channel: Box<dyn Channel>,
        session: &Arc<Session>,
        progress: &Arc<Progress>,
    ) -> Self {
        Self {
            channel,
            seq: 0,
            wire: Vec::new(),
            session: Arc::clone(session),
            progress: Arc::clone(progress),
        }
    }

    /// The connection, to be written to instead.
    pub fn into_channel(self) -> Box<dyn Channel> {
        self.channel
    }

    /// Reads the first frame: which connection this is.
    pub fn expect_hello(&mut self) -> io::Result<Role> {
        match self.next_frame()? {
            Some((header, payload)) if header.kind == FrameKind::Hello => {
                header.verify(payload)?;
                Ok(Role::decode(payload)?)
            }
            Some(_) => Err(FrameError::Order.into()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next frame and its payload as it travelled; `None` when the peer has closed the connection
    /// between two frames.
    pub fn next_frame(&mut self) -> io::Result<Option<(Header, &[u8])>> {
        let mut head = [0; HEADER_BYTES];
        if !self.fill(&mut head, true)? {
            return Ok(None);
        }
        let header = Header::decode(&head)?;
        if header.seq != self.seq {
            return Err(FrameError::Order.into());
        }
        self.seq += 1;
        let length = header.wire_len as usize;
        debug_assert!(length <= MAX_PAYLOAD);
        let mut wire = std::mem::take(&mut self.wire);
        if wire.len() < length {
            wire.resize(length, 0);
        }
        let filled = self.fill(&mut wire[..length], false);
        self.wire = wire;
        filled?;
        Progress::add(&self.progress.wire_bytes, (HEADER_BYTES + length) as u64);
        Ok(Some((header, &self.wire[..length])))
    }

    /// Fills the buffer; false when the connection ended before its first byte, which `may_end` allows.
    fn fill(&mut self, out: &mut [u8], may_end: bool) -> io::Result<bool> {
        let mut filled = 0;
        let mut wait = Wait::begin(&self.session, "the peer has said nothing");
        while filled < out.len() {
            match self.channel.read(&mut out[filled..]) {
                Ok(0) if filled == 0 && may_end => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    filled += count;
                    wait.moved();
                }
                Err(error) => wait.goes_on(error)?,
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::session::lock;

    /// Takes everything, and tells the sizes of the writes.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<usize>>>);

    impl Read for Told {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
    }

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.0).push(bytes.len());
            Ok(bytes.len())
        }

        fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            let bytes = parts.iter().map(|part| part.len()).sum();
            lock(&self.0).push(bytes);
            Ok(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer with a limit; the session, and the sizes of its writes.
    fn limited(bytes_per_s: f64) -> (FrameWriter, Arc<Session>, Told) {
        let (session, told) = (Session::new(), Told::default());
        let pace = FramePace {
            limiter: Arc::new(Limiter::new(Some(bytes_per_s))),
            begun: Instant::now(),
        };
        let writer = FrameWriter::new(Box::new(told.clone()), &session, &Arc::default());
        (writer.paced(Some(pace)), session, told)
    }

    #[test]
    fn a_limit_parts_a_frame_into_slices_and_counts_its_head() {
        let (mut writer, _, told) = limited(20e6);
        let raw = vec![7; 500_000];
        writer
            .send(FrameKind::Batch, &raw, Codec::Stored, &raw)
            .unwrap();
        assert_eq!(*lock(&told.0), [200_000, 200_000, 100_000 + HEADER_BYTES]);
    }

    #[test]
    fn a_wait_for_the_limit_ends_with_the_session() {
        let (mut writer, session, _) = limited(1.0);
        session.end();
        let raw = [0; 64];
        let sent = writer.send(FrameKind::Batch, &raw, Codec::Stored, &raw);
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
