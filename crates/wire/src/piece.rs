//! Splits frames into pieces with flow control, so that an end that does not read does not block
//! the others.
//!
//! ```text
//! kind 1 B │ …
//!     0    │ the last, or only, piece of a frame
//!     1    │ a piece of a frame, more follow
//!     2    │ u64 BE: bytes of pieces that were read so far
//! an empty message: the session ends
//! ```
//!
//! A router that cannot forward a message has to wait, and everyone who sends through it waits as well.
//! So no end ever has more than [`WINDOW`] bytes on the way that the other one has not read: routers
//! hold that much for each session without waiting. The rest stays with its sender.

use std::collections::VecDeque;

use sokudo_model::Text;

use crate::framing::MAX_FRAME;

/// Bytes of a frame in one piece: with everything around it less than the 64 KiB that routers carry
/// whole.
pub const PIECE: usize = 60 * 1024;
/// Bytes on the way that were not read yet.
pub const WINDOW: u64 = 1024 * 1024;
/// Bytes that are read before the other end is informed.
const TOLD_EVERY: u64 = WINDOW / 4;

const LAST: u8 = 0;
const MORE: u8 = 1;
const TAKEN: u8 = 2;

/// One message of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A piece of a frame.
    Part {
        /// Its bytes.
        bytes: &'a [u8],
        /// Whether the frame is whole with it.
        last: bool,
    },
    /// The other end has read this many bytes of pieces since the session began.
    Taken(u64),
    /// The other end is leaving.
    End,
}

/// Reason why a message does not continue a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PieceError {
    /// An unknown kind, or a length that does not fit the kind.
    #[error("it sent a piece that is none: {0} bytes")]
    Garbled(usize),
    /// Longer than any frame.
    #[error("it sent a frame of more than {MAX_FRAME} bytes")]
    TooLong,
    /// It acknowledged more bytes than were sent.
    #[error("it says that it has read {taken} bytes of {sent}")]
    NeverSent {
        /// The acknowledged bytes.
        taken: u64,
        /// The sent bytes.
        sent: u64,
    },
}

impl PieceError {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::Garbled(bytes) => Text::new("error-piece-garbled").with("bytes", bytes),
            Self::TooLong => Text::new("error-piece-long").with("most", MAX_FRAME),
            Self::NeverSent { taken, sent } => Text::new("error-piece-never-sent")
                .with("taken", taken)
                .with("sent", sent),
        }
    }
}

impl<'a> Piece<'a> {
    /// Reads a message. Accepts any bytes.
    pub fn read(message: &'a [u8]) -> Result<Self, PieceError> {
        let garbled = PieceError::Garbled(message.len());
        let Some((kind, bytes)) = message.split_first() else {
            return Ok(Piece::End);
        };
        match *kind {
            LAST => Ok(Piece::Part { bytes, last: true }),
            MORE => Ok(Piece::Part { bytes, last: false }),
            TAKEN => {
                let taken = bytes.try_into().map_err(|_| garbled)?;
                Ok(Piece::Taken(u64::from_be_bytes(taken)))
            }
            _ => Err(garbled),
        }
    }
}

/// The message that acknowledges read bytes.
pub fn taken(bytes: u64) -> Vec<u8> {
    [&[TAKEN][..], &bytes.to_be_bytes()].concat()
}

/// The sending end of a session.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Messages that are not on the way yet.
    waiting: VecDeque<Vec<u8>>,
    /// Bytes of them.
    backlog: usize,
    sent: u64,
    taken: u64,
}

impl Outgoing {
    /// A frame that is to be sent behind those before it.
    pub fn push(&mut self, frame: &[u8]) {
        let mut pieces = frame.chunks(PIECE).peekable();
        if pieces.peek().is_none() {
            self.wait(LAST, &[]);
        }
        while let Some(piece) = pieces.next() {
            let kind = if pieces.peek().is_some() { MORE } else { LAST };
            self.wait(kind, piece);
        }
    }

    fn wait(&mut self, kind: u8, piece: &[u8]) {
        self.backlog += 1 + piece.len();
        self.waiting.push_back([&[kind][..], piece].concat());
    }

    /// The next message that may be sent now.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        let message = self.waiting.front()?;
        let bytes = message.len() as u64;
        if self.sent - self.taken + bytes > WINDOW {
            return None;
        }
        self.sent += bytes;
        self.backlog -= message.len();
        self.waiting.pop_front()
    }

    /// Processes an acknowledgement of this many bytes.
    pub fn taken(&mut self, taken: u64) -> Result<(), PieceError> {
        let sent = self.sent;
        if taken > sent {
            return Err(PieceError::NeverSent { taken, sent });
        }
        self.taken = self.taken.max(taken);
        Ok(())
    }

    /// Bytes that wait here because the other end does not read.
    pub fn backlog(&self) -> usize {
        self.backlog
    }
}

/// The receiving end of a session.
#[derive(Debug, Default)]
pub struct Incoming {
    frame: Vec<u8>,
    taken: u64,
    told: u64,
}

impl Incoming {
    /// Adds the next piece; returns the frame when it is complete.
    ///
    /// Errors: [`PieceError::TooLong`].
    pub fn part(&mut self, bytes: &[u8], last: bool) -> Result<Option<Vec<u8>>, PieceError> {
        if self.frame.len() + bytes.len() > MAX_FRAME {
            return Err(PieceError::TooLong);
        }
        self.taken += 1 + bytes.len() as u64;
        self.frame.extend_from_slice(bytes);
        Ok(last.then(|| std::mem::take(&mut self.frame)))
    }

    /// The message that informs the other end how much was read, when it is due.
    pub fn due(&mut self) -> Option<Vec<u8>> {
        if self.taken - self.told < TOLD_EVERY {
            return None;
        }
        self.told = self.taken;
        Some(taken(self.taken))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sends what may be sent to an end that reads everything; the frames that came out.
    fn carry(out: &mut Outgoing, into: &mut Incoming) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        while let Some(message) = out.next_message() {
            match Piece::read(&message) {
                Ok(Piece::Part { bytes, last }) => {
                    frames.extend(into.part(bytes, last).expect("a frame that was sent"));
                }
                other => panic!("{other:?}"),
            }
            if let Some(told) = into.due() {
                let Ok(Piece::Taken(taken)) = Piece::read(&told) else {
                    panic!("{told:?}");
                };
                out.taken(taken).expect("what was sent");
            }
        }
        frames
    }

    #[test]
    fn who_reads_nothing_gets_a_window_and_no_more() {
        let mut out = Outgoing::default();
        let frame = vec![7; 3 * WINDOW as usize];
        out.push(&frame);
        let mut on_the_way = 0;
        while let Some(message) = out.next_message() {
            on_the_way += message.len() as u64;
        }
        assert!(on_the_way <= WINDOW && on_the_way > WINDOW - 2 * PIECE as u64);
        assert!(out.backlog() > 2 * WINDOW as usize - 2 * PIECE);
        assert_eq!(out.taken(on_the_way), Ok(()));
        assert!(out.next_message().is_some());
    }

    #[test]
    fn what_was_never_sent_was_not_read() {
        let mut out = Outgoing::default();
        out.push(b"ab");
        assert!(out.next_message().is_some());
        assert_eq!(out.taken(3), Ok(()));
        let (taken, sent) = (4, 3);
        assert_eq!(out.taken(4), Err(PieceError::NeverSent { taken, sent }));
    }

    #[test]
    fn a_frame_longer_than_any_is_refused() {
        let mut into = Incoming::default();
        let piece = vec![0; PIECE];
        let mut last = Ok(None);
        for _ in 0..=MAX_FRAME / PIECE {
            last = into.part(&piece, false);
        }
        assert_eq!(last, Err(PieceError::TooLong));
    }

    proptest! {
        #[test]
        fn frames_arrive_as_they_were_sent(
            lengths in prop::collection::vec(0usize..4 * PIECE, 0..16),
        ) {
            let frames: Vec<Vec<u8>> = lengths.iter().enumerate()
                .map(|(number, length)| vec![number as u8; *length])
                .collect();
            let (mut out, mut into) = (Outgoing::default(), Incoming::default());
            frames.iter().for_each(|frame| out.push(frame));
            prop_assert_eq!(carry(&mut out, &mut into), frames);
            prop_assert_eq!(out.backlog(), 0);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(Piece::Taken(taken)) = Piece::read(&bytes) {
                prop_assert_eq!(super::taken(taken), bytes);
            }
        }
    }
}
