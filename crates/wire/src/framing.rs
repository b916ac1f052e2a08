//! Splits a byte stream into length-prefixed frames.
//!
//! ```text
//! ┌────────────────┬───────────────────┐
//! │ length, u32 BE │ payload, length B │ …
//! └────────────────┴───────────────────┘
//! ```
//!
//! A frame carries at least one byte and at most what the connection has earned: 1 KiB before the
//! ticket is valid, 16 MiB after. The decoder takes bytes in any portions and never allocates
//! more than it has received.

use sokudo_model::Text;

/// Largest payload before the ticket is valid, bytes.
pub const MAX_FRAME_BEFORE_TICKET: usize = 1024;

/// Largest payload after the ticket is valid, bytes.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

const HEAD: usize = 4;

/// Room kept between frames, bytes: a buffer that grew for one large frame is given back.
const KEEP: usize = 64 * 1024;

/// Errors of frames. The connection cannot be used any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The announced length is zero.
    #[error("frame without content")]
    Empty,
    /// The announced or given length is above the bound.
    #[error("frame of {length} bytes where at most {max} are allowed")]
    TooLong {
        /// Length of the payload, bytes.
        length: usize,
        /// The bound, bytes.
        max: usize,
    },
}

impl FrameError {
    /// Noun for what came instead of a frame.
    pub fn text(&self) -> Text {
        match self {
            Self::Empty => Text::new("error-frame-empty"),
            Self::TooLong { length, max } => Text::new("error-frame-long")
                .with("length", length)
                .with("max", max),
        }
    }
}

/// Puts the length in front of a payload.
///
/// Errors: an empty payload, or one longer than `max`.
pub fn encode(payload: &[u8], max: usize) -> Result<Vec<u8>, FrameError> {
    check_length(payload.len(), max)?;
    let mut frame = Vec::with_capacity(HEAD + payload.len());
    frame.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    frame.extend_from_slice(payload);
    Ok(frame)
}

/// Cuts a stream of bytes into payloads.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes of `buffer` already handed out.
    used: usize,
    max: usize,
}

impl Decoder {
    /// A decoder that accepts payloads up to `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            buffer: Vec::new(),
            used: 0,
            max,
        }
    }

    /// Changes the bound for all frames not yet returned.
    pub fn set_max(&mut self, max: usize) {
        self.max = max;
    }

    /// Takes received bytes, in any portions.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes received and not yet returned.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.used
    }

    /// The next complete payload; `None` until more bytes arrive.
    ///
    /// Errors are final: the same error is returned again.
    pub fn next_frame(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(head) = self.buffer[self.used..].first_chunk::<HEAD>() else {
            self.forget_used();
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head) as usize;
        check_length(length, self.max)?;
        let begin = self.used + HEAD;
        let Some(payload) = self.buffer.get(begin..begin + length) else {
            self.forget_used();
            return Ok(None);
        };
        let payload = payload.to_vec();
        self.used = begin + length;
        Ok(Some(payload))
    }

    /// Moves what is left to the front; done once per portion, not once per frame.
    fn forget_used(&mut self) {
        if self.used == 0 {
            return;
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        if self.buffer.capacity() > KEEP && self.buffer.len() < KEEP {
            self.buffer.shrink_to(KEEP);
        }
    }
}

fn check_length(length: usize, max: usize) -> Result<(), FrameError> {
    // The head holds 32 bits, whatever bound the caller allows.
    let max = max.min(u32::MAX as usize);
    match length {
        0 => Err(FrameError::Empty),
        _ if length > max => Err(FrameError::TooLong { length, max }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(decoder: &mut Decoder) -> Result<Vec<Vec<u8>>, FrameError> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next_frame()? {
            frames.push(frame);
        }
        Ok(frames)
    }

    fn after_head(head: u32) -> Result<Option<Vec<u8>>, FrameError> {
        let mut decoder = Decoder::new(MAX_FRAME);
        decoder.push(&head.to_be_bytes());
        decoder.next_frame()
    }

    #[test]
    fn a_bad_length_is_an_error_as_soon_as_it_is_read() {
        assert_eq!(after_head(0), Err(FrameError::Empty));
        for length in [MAX_FRAME + 1, 1 << 31, u32::MAX as usize] {
            let max = MAX_FRAME;
            assert_eq!(
                after_head(length as u32),
                Err(FrameError::TooLong { length, max })
            );
        }
        assert_eq!(after_head(MAX_FRAME as u32), Ok(None));
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let mut decoder = Decoder::new(MAX_FRAME);
        decoder.push(&(MAX_FRAME as u32).to_be_bytes());
        assert_eq!(decoder.next_frame(), Ok(None));
        assert!(decoder.buffer.capacity() < 1024);
    }

    #[test]
    fn a_large_frame_does_not_hold_its_memory() {
        let mut decoder = Decoder::new(MAX_FRAME);
        decoder.push(&encode(&vec![7; MAX_FRAME], MAX_FRAME).unwrap());
        assert_eq!(all(&mut decoder).unwrap().len(), 1);
        assert!(decoder.buffer.capacity() <= 2 * KEEP);
    }

    #[test]
    fn encoding_keeps_the_same_bounds() {
        assert_eq!(encode(&[], 8), Err(FrameError::Empty));
        assert_eq!(
            encode(&[0; 9], 8),
            Err(FrameError::TooLong { length: 9, max: 8 })
        );
    }

    proptest! {
        #[test]
        fn frames_survive_any_portions(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 0..20),
            portion in 1usize..64,
        ) {
            let mut stream = Vec::new();
            for payload in &payloads {
                stream.extend(encode(payload, MAX_FRAME).unwrap());
            }
            let mut decoder = Decoder::new(MAX_FRAME);
            let mut received = Vec::new();
            for bytes in stream.chunks(portion) {
                decoder.push(bytes);
                received.extend(all(&mut decoder).unwrap());
            }
            prop_assert_eq!(received, payloads);
            prop_assert_eq!(decoder.pending(), 0);
        }
    }
}
