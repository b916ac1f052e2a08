//! Assignment of responses to messages that a relay has forwarded.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::connection::Connection;
use super::protocol::Message;

/// Lower half of the ids of relayed messages: no transmitter has this number.
pub const RELAY: u16 = u16::MAX;

/// Messages that were sent on and whose responses are to travel back. At most 65 536 at a time:
/// the number is half an id, and the oldest gives way.
#[derive(Debug, Default)]
pub struct Relay {
    next: u16,
    origins: HashMap<u16, (Weak<Connection>, Message)>,
}

impl Relay {
    /// Notes where a request came from; the id under which to send it on. True when another that
    /// had no response yet was forgotten for it.
    pub fn put(&mut self, origin: &Arc<Connection>, request: Message) -> (u32, bool) {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let forgotten = self
            .origins
            .insert(number, (Arc::downgrade(origin), request));
        (id(number), forgotten.is_some())
    }

    /// The origin of the request to which this response belongs, and the response for it. `None`
    /// for one that was never sent on, or whose origin is gone.
    pub fn take(&mut self, response: &Message) -> Option<(Arc<Connection>, Message)> {
        let number = (response.id >> 16) as u16;
        let (origin, request) = self.origins.remove(&number)?;
        let back = Message {
            response: true,
            payload_bytes: response.payload_bytes,
            ..request
        };
        Some((origin.upgrade()?, back))
    }
}

/// The id of the `number`-th message that a relay sends on.
pub fn id(number: u16) -> u32 {
    u32::from(number) << 16 | u32::from(RELAY)
}
