//! The frames of a direct conversation, which outlives its connections.
//!
//! ```text
//! caller                                         server
//!   Ticket, Begin (name of the conversation) ───►
//!          ◄───────────────────────────── Answer
//!   Message ⇄ Message …                             each says how many of the other's were taken
//!        ╳ the connection is cut
//!   Ticket, Resume (name, messages taken) ──────►
//!          ◄──────────────────── Answer, Resumed (messages taken)
//!   Message ⇄ Message …                             those that were not taken are sent again
//!   Leave ──────────────────────────────────────►   the end was meant
//! ```
//!
//! Every end keeps the messages that the other one has not confirmed, within bounds.

use crate::framing::{self, FrameError, MAX_FRAME};

/// Name of a conversation: random, chosen by the caller, known to the two ends alone.
pub type ConversationId = [u8; 16];

/// Largest payload with its mark, bytes.
pub const MAX_MARKED: usize = MAX_FRAME + MESSAGE_HEAD;

/// Kind and count in front of a message, bytes.
const MESSAGE_HEAD: usize = 9;

const BEGIN: u8 = 1;
const RESUME: u8 = 2;
const RESUMED: u8 = 3;
const UNKNOWN: u8 = 4;
const MESSAGE: u8 = 5;
const TAKEN: u8 = 6;
const LEAVE: u8 = 7;

/// Kind of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// A conversation begins.
    Begin(ConversationId),
    /// A conversation goes on over a new connection.
    Resume {
        /// The conversation.
        conversation: ConversationId,
        /// Messages that the caller has taken.
        taken: u64,
    },
    /// It goes on.
    Resumed {
        /// Messages that the server has taken.
        taken: u64,
    },
    /// The server knows no such conversation, or no longer.
    Unknown,
    /// One message.
    Message {
        /// Messages of the other end that the sender has taken.
        taken: u64,
        /// The envelope.
        payload: Vec<u8>,
    },
    /// So many messages were taken, by an end that has nothing to say.
    Taken(u64),
    /// The sender closes the connection on purpose.
    Leave,
}

impl Mark {
    /// A complete frame. `payload` of a message has at most [`MAX_FRAME`] bytes.
    ///
    /// Errors: a message that is longer.
    pub fn to_frame(&self) -> Result<Vec<u8>, FrameError> {
        let mut bytes = Vec::new();
        match self {
            Self::Begin(conversation) => {
                bytes.push(BEGIN);
                bytes.extend(conversation);
            }
            Self::Resume {
                conversation,
                taken,
            } => {
                bytes.push(RESUME);
                bytes.extend(conversation);
                bytes.extend(taken.to_be_bytes());
            }
            Self::Resumed { taken } => {
                bytes.push(RESUMED);
                bytes.extend(taken.to_be_bytes());
            }
            Self::Unknown => bytes.push(UNKNOWN),
            Self::Message { taken, payload } => {
                bytes.reserve(MESSAGE_HEAD + payload.len());
                bytes.push(MESSAGE);
                bytes.extend(taken.to_be_bytes());
                bytes.extend(payload);
            }
            Self::Taken(taken) => {
                bytes.push(TAKEN);
                bytes.extend(taken.to_be_bytes());
            }
            Self::Leave => bytes.push(LEAVE),
        }
        framing::encode(&bytes, MAX_MARKED)
    }

    /// The mark in one frame's payload; `None` for bytes that are none. Accepts any bytes.
    pub fn from_payload(mut bytes: Vec<u8>) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match (*kind, rest.len()) {
            (BEGIN, 16) => Self::Begin(*rest.first_chunk()?),
            (RESUME, 24) => Self::Resume {
                conversation: *rest.first_chunk()?,
                taken: count(&rest[16..])?,
            },
            (RESUMED, 8) => Self::Resumed {
                taken: count(rest)?,
            },
            (UNKNOWN, 0) => Self::Unknown,
            (MESSAGE, 9..) => {
                let taken = count(rest)?;
                bytes.drain(..MESSAGE_HEAD);
                let payload = bytes;
                Self::Message { taken, payload }
            }
            (TAKEN, 8) => Self::Taken(count(rest)?),
            (LEAVE, 0) => Self::Leave,
            _ => return None,
        })
    }
}

fn count(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use proptest::prelude::*;

    fn back(mark: &Mark) -> Option<Mark> {
        let mut decoder = Decoder::new(MAX_MARKED);
        decoder.push(&mark.to_frame().expect("it fits"));
        let payload = decoder.next_frame().expect("a frame").expect("a whole one");
        Mark::from_payload(payload)
    }

    proptest! {
        #[test]
        fn marks_come_back(taken: u64, conversation: [u8; 16], payload in prop::collection::vec(any::<u8>(), 1..99)) {
            for mark in [
                Mark::Begin(conversation),
                Mark::Resume { conversation, taken },
                Mark::Resumed { taken },
                Mark::Unknown,
                Mark::Message { taken, payload },
                Mark::Taken(taken),
                Mark::Leave,
            ] {
                prop_assert_eq!(back(&mark), Some(mark));
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let read = Mark::from_payload(bytes);
            let empty = matches!(read, Some(Mark::Message { payload, .. }) if payload.is_empty());
            prop_assert!(!empty);
        }
    }

    #[test]
    fn the_longest_message_fits() {
        let payload = vec![7; MAX_FRAME];
        let mark = Mark::Message { taken: 1, payload };
        assert_eq!(back(&mark), Some(mark));
    }
}
