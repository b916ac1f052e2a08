//! The send window of a connection, in bytes or messages.
//!
//! Counts only: what was sent, and what came back as receipts (streaming) or responses (request and
//! response). The sender asks before each message; nothing ever exceeds the window.

/// Bound of what may be under way on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Bytes, headers included.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
}

impl Most {
    /// No bound but the system's own buffers.
    pub const NONE: Most = Most {
        bytes: u64::MAX,
        messages: u64::MAX,
    };
}

/// Messages under way on one connection.
#[derive(Debug, Clone)]
pub struct Window {
    most: Most,
    sent: Amount,
    back: Amount,
    /// Most bytes that have been under way.
    peak_bytes: u64,
    peak_messages: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    messages: u64,
    bytes: u64,
}

impl Window {
    /// An empty window.
    pub fn new(most: Most) -> Self {
        Self {
            most,
            sent: Amount::default(),
            back: Amount::default(),
            peak_bytes: 0,
            peak_messages: 0,
        }
    }

    /// True when a message of so many bytes may be sent now.
    #[inline]
    pub fn fits(&self, bytes: u64) -> bool {
        self.messages() < self.most.messages && self.bytes() + bytes <= self.most.bytes
    }

    /// Messages that may still be sent, as far as their number is bounded.
    #[inline]
    pub fn message_room(&self) -> u64 {
        self.most.messages - self.messages()
    }

    /// A message was sent.
    #[inline]
    pub fn sent(&mut self, bytes: u64) {
        self.sent.messages += 1;
        self.sent.bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(self.bytes());
        self.peak_messages = self.peak_messages.max(self.messages());
    }

    /// One message came back.
    ///
    /// False when none of that size is under way: a peer that answers what was not sent.
    #[inline]
    #[must_use]
    pub fn came_back(&mut self, bytes: u64) -> bool {
        if self.messages() == 0 || self.bytes() < bytes {
            return false;
        }
        self.back.messages += 1;
        self.back.bytes += bytes;
        true
    }

    /// The peer has taken so much, counted from the start.
    ///
    /// False for more than was sent, or less than it said before.
    #[inline]
    #[must_use]
    pub fn taken(&mut self, messages: u64, bytes: u64) -> bool {
        let grows = messages >= self.back.messages && bytes >= self.back.bytes;
        if !grows || messages > self.sent.messages || bytes > self.sent.bytes {
            return false;
        }
        self.back = Amount { messages, bytes };
        true
    }

    /// Messages under way.
    #[inline]
    pub fn messages(&self) -> u64 {
        self.sent.messages - self.back.messages
    }

    /// Bytes under way.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.sent.bytes - self.back.bytes
    }

    /// Most bytes and most messages that have ever been under way.
    pub fn peak(&self) -> (u64, u64) {
        (self.peak_bytes, self.peak_messages)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn claims_that_cannot_be_true_are_refused() {
        let mut window = Window::new(Most::NONE);
        assert!(!window.came_back(24));
        window.sent(100);
        window.sent(100);
        assert!(!window.taken(3, 200) && !window.taken(2, 201));
        assert!(window.taken(1, 100));
        assert!(!window.taken(0, 100) && !window.taken(1, 99));
        assert!(!window.came_back(101));
        assert!(window.came_back(100));
        assert_eq!((window.messages(), window.bytes()), (0, 0));
        assert_eq!(window.peak(), (200, 2));
    }

    proptest! {
        #[test]
        fn no_order_of_events_exceeds_the_bounds(
            bytes in 100u64..10_000,
            messages in 1u64..50,
            events in prop::collection::vec((any::<bool>(), 24u64..100), 0..500),
        ) {
            let mut window = Window::new(Most { bytes, messages });
            let mut under_way = std::collections::VecDeque::new();
            for (send, size) in events {
                if send && window.fits(size) {
                    window.sent(size);
                    under_way.push_back(size);
                } else if let Some(size) = under_way.pop_front() {
                    prop_assert!(window.came_back(size));
                }
                prop_assert!(window.bytes() <= bytes && window.messages() <= messages);
                prop_assert_eq!(window.bytes(), under_way.iter().sum::<u64>());
            }
            let (peak_bytes, peak_messages) = window.peak();
            prop_assert!(peak_bytes <= bytes && peak_messages <= messages);
        }
    }
}
