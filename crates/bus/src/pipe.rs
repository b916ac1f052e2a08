//! The interface that a network must implement to carry messages.
//!
//! A pipe carries frames both ways, in order and whole: a [`FrameSender`] that any thread may use
//! and a [`FrameSource`] that one thread reads. [`carried::link`](crate::carried::link) makes a link
//! of the calling end, [`carried::serve`](crate::carried::serve) serves the called one.

use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::tls::{Received, TlsReader, Writer};
use sokudo_wire::Decoder;

/// The end of a connection that the other end closed.
pub(crate) fn closed() -> Text {
    Text::new("error-tls-closed")
}

/// The end of a connection that this end closed.
pub(crate) fn own_close() -> Text {
    Text::new("error-link-own-close")
}

/// The end of a conversation that the controller ended in order.
pub(crate) fn goodbye() -> Text {
    Text::new("error-link-goodbye")
}

/// Nothing came for so long.
pub(crate) fn silent(time: Duration) -> Text {
    Text::new("error-link-silent").with("seconds", time.as_secs_f64())
}

/// Sends frames; shared by threads.
pub trait FrameSender: Send + Sync {
    /// Hands one frame over, within `bound`.
    ///
    /// Errors: why nothing can be sent any more, as a message.
    fn send(&self, frame: &[u8], bound: Duration) -> Result<(), Text>;

    /// Ends both ways; a source that waits wakes up. May be called twice.
    fn close(&self);

    /// True when what was sent comes over the next connection, should this one be cut.
    fn can_renew(&self) -> bool {
        false
    }

    /// Goes on over a new connection, because nothing comes over this one any more.
    fn renew(&self) {}
}

/// A received frame, or its absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// The payload of a frame.
    Frame(Vec<u8>),
    /// Nothing within the bound.
    Idle,
}

/// A source of frames; for one thread.
pub trait FrameSource: Send {
    /// Waits for the next frame, at most `bound`.
    ///
    /// Errors: the reason why nothing more arrives, as a message.
    fn next(&mut self, bound: Duration) -> Result<Arrival, Text>;

    /// Time after an interruption for which the other end may go on where it stopped.
    fn keep(&self) -> Duration {
        Duration::ZERO
    }

    /// Number of new connections that took the place of one that was cut.
    fn renewals(&self) -> u64 {
        0
    }
}

impl FrameSender for Writer {
    fn send(&self, frame: &[u8], bound: Duration) -> Result<(), Text> {
        Writer::send(self, frame, bound).map_err(|why| why.text())
    }

    fn close(&self) {
        Writer::close(self);
    }
}

/// Frames of a TLS connection.
pub struct TlsSource {
    reader: TlsReader,
    decoder: Decoder,
    bytes: Vec<u8>,
}

impl TlsSource {
    /// Bytes already in the decoder are returned first.
    pub fn new(reader: TlsReader, decoder: Decoder) -> Self {
        Self {
            reader,
            decoder,
            bytes: Vec::new(),
        }
    }
}

impl TlsSource {
    /// Allows frames of up to `max` bytes from now on.
    pub fn set_max(&mut self, max: usize) {
        self.decoder.set_max(max);
    }
}

/// Reason why no further frame comes over a TLS connection.
#[derive(Debug)]
pub(crate) enum TlsEnd {
    /// The connection has ended.
    Cut(Text),
    /// The other end sent what no frame is.
    Nonsense(Text),
}

impl TlsSource {
    /// Waits for the next frame, at most `bound`.
    pub(crate) fn next_or_end(&mut self, bound: Duration) -> Result<Arrival, TlsEnd> {
        let began = Instant::now();
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => return Ok(Arrival::Frame(frame)),
                Ok(None) => {}
                Err(why) => {
                    let says = Text::new("error-link-sent-a").text("what", why.text());
                    return Err(TlsEnd::Nonsense(says));
                }
            }
            // A pipe that is fed byte by byte is as idle as a silent one.
            let left = bound.saturating_sub(began.elapsed());
            self.bytes.clear();
            match self.reader.read(&mut self.bytes, left) {
                Ok(Received::Bytes(_)) => self.decoder.push(&self.bytes),
                Ok(Received::Idle) => return Ok(Arrival::Idle),
                Ok(Received::End) => return Err(TlsEnd::Cut(closed())),
                Err(why) => return Err(TlsEnd::Cut(why.text())),
            }
        }
    }
}

impl FrameSource for TlsSource {
    fn next(&mut self, bound: Duration) -> Result<Arrival, Text> {
        self.next_or_end(bound).map_err(|end| match end {
            TlsEnd::Cut(why) | TlsEnd::Nonsense(why) => why,
        })
    }
}
