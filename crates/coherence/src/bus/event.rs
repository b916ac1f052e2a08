//! Events of a running test.

use super::account::Block;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something was taken otherwise than asked for, or refused; a sentence.
    Note(String),
    /// A bus takes connections at this address.
    Open {
        /// Its address.
        on: String,
    },
    /// A peer is connected.
    Connect {
        /// The peer's address as it says it.
        peer: String,
        /// The bus.
        on: String,
    },
    /// A peer is not connected any more, or could not be.
    Disconnect {
        /// The peer's address.
        peer: String,
        /// The bus.
        on: String,
        /// The reason.
        why: String,
        /// True when it should not have happened: this end called, or the peer broke the rules.
        fault: bool,
    },
    /// Statistics are due.
    Report(Box<Report>),
    /// A transmitter waits for a step before it sends to this peer.
    Prompt {
        /// The peer's address.
        peer: String,
    },
}

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Since the last one.
    pub now: Block,
    /// Since the first connection.
    pub life: Block,
    /// One line per connection: bus, peer, bytes that wait, messages without receipt. Only when
    /// details were asked for.
    pub connections: Vec<String>,
}
