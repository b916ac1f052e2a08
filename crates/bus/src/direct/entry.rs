//! The way of foreign frames through a conversation, without a network.

use std::sync::Arc;
use std::time::Duration;

use sokudo_model::Text;

use super::lasting::Lasting;
use crate::pipe::FrameSender;

/// A conversation whose connection is gone, which has sent some messages.
pub(crate) struct Taken {
    lasting: Arc<Lasting>,
    sent: u64,
}

impl Taken {
    /// A conversation that keeps `sent` messages.
    pub(crate) fn new(sent: u64) -> Self {
        let lasting = Lasting::without_connection([7; 16]);
        for _ in 0..sent {
            let kept = lasting.send(&[0, 0, 0, 1, 7], Duration::ZERO);
            assert_eq!(kept, Ok(()));
        }
        Self { lasting, sent }
    }

    /// Takes one frame; `None` when it holds no message.
    ///
    /// Errors: the conversation is over, and why.
    pub(crate) fn take(&mut self, frame: Vec<u8>) -> Result<Option<Vec<u8>>, Text> {
        let taken = self.lasting.take(1, frame)?;
        assert_eq!(self.lasting.sent(), self.sent);
        Ok(taken)
    }
}
