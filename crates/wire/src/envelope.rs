//! Envelopes, which match replies to asks by number.
//!
//! After the ticket each frame holds one envelope. The controller numbers its asks; a reply carries
//! the number of its ask; a note carries zero.

use serde::{Deserialize, Serialize};
use sokudo_model::Text;

use crate::framing::{self, FrameError, MAX_FRAME};
use crate::message::{Ask, Note, Reply};

/// One message on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Number of the ask, from 1; zero for a note.
    pub id: u64,
    /// The content.
    pub body: Body,
}

/// The content of an envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// Controller to agent.
    Ask(Ask),
    /// Agent to controller, answering the ask of the same number.
    Reply(Reply),
    /// Agent to controller, unasked.
    Note(Note),
}

/// Reason why bytes are not an envelope, or an envelope does not become a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The bytes hold no message of this protocol version.
    #[error("{bytes} bytes that are not a valid message: {why}")]
    Garbled {
        /// The number of bytes.
        bytes: usize,
        /// The decoding error.
        why: String,
    },
    /// More bytes than the message has.
    #[error("{bytes} bytes that are not a valid message: {rest} bytes are left over")]
    LeftOver {
        /// The number of bytes.
        bytes: usize,
        /// Those behind the message.
        rest: usize,
    },
    /// The frame around it is wrong.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl EnvelopeError {
    /// Noun for what came instead of a message.
    pub fn text(&self) -> Text {
        match self {
            Self::Garbled { bytes, why } => Text::new("error-envelope-garbled")
                .with("bytes", bytes)
                .word("why", why),
            Self::LeftOver { bytes, rest } => Text::new("error-envelope-left-over")
                .with("bytes", bytes)
                .with("rest", rest),
            Self::Frame(error) => error.text(),
        }
    }
}

impl Envelope {
    /// A complete frame.
    ///
    /// Errors: the message is longer than [`MAX_FRAME`].
    pub fn to_frame(&self) -> Result<Vec<u8>, EnvelopeError> {
        let payload = postcard::to_stdvec(self).map_err(|why| EnvelopeError::Garbled {
            bytes: 0,
            why: why.to_string(),
        })?;
        Ok(framing::encode(&payload, MAX_FRAME)?)
    }

    /// The number in one frame's payload, whatever the rest is.
    pub fn id_of(payload: &[u8]) -> Result<u64, EnvelopeError> {
        let read = postcard::take_from_bytes::<u64>(payload);
        read.map(|(id, _)| id)
            .map_err(|why| EnvelopeError::Garbled {
                bytes: payload.len(),
                why: why.to_string(),
            })
    }

    /// The envelope in one frame's payload. Accepts any bytes.
    ///
    /// Errors: anything that is not exactly one envelope.
    pub fn from_payload(payload: &[u8]) -> Result<Self, EnvelopeError> {
        let garbled = |why: String| EnvelopeError::Garbled {
            bytes: payload.len(),
            why,
        };
        let (envelope, rest) = postcard::take_from_bytes::<Self>(payload)
            .map_err(|why| garbled(why.to_string().to_lowercase()))?;
        if !rest.is_empty() {
            return Err(EnvelopeError::LeftOver {
                bytes: payload.len(),
                rest: rest.len(),
            });
        }
        Ok(envelope)
    }
}
