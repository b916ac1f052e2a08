//! What does an event loop know of one user?

use super::NONE;
use crate::user::Exchange;

/// What a user is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// There is no user of this number.
    Nothing,
    /// Waiting for a time.
    Pausing,
    /// Waiting for somebody of its crew.
    Resting,
    /// Waiting for its turn.
    Due,
    /// Waiting for its target's addresses.
    Resolving,
    /// Its connection is busy.
    Exchanging,
}

/// Stamps of the present exchange; 0 = not reached.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamps {
    pub(super) start: i64,
    pub(super) resolved: i64,
    pub(super) connected: i64,
    pub(super) secured: i64,
    pub(super) sent: i64,
    pub(super) first_byte: i64,
}

/// One user, as the loop sees it.
pub(super) struct Seat {
    pub(super) doing: Doing,
    /// The user has just joined: it was not this loop that kept it waiting.
    pub(super) is_new: bool,
    pub(super) exchange: Option<Exchange>,
    /// Number of the exchange: tells a late answer of the resolver.
    pub(super) number: u64,
    pub(super) stamps: Stamps,
    pub(super) request_bytes: u64,
    pub(super) reused: bool,
    /// The exchange fails then.
    pub(super) deadline_ns: i64,
    /// Connection of the present exchange.
    pub(super) busy: u32,
    /// Connections kept, one per target.
    pub(super) kept: Vec<u32>,
    /// Room and serial number of the shared connection that it comes to.
    pub(super) lane: Option<(u32, u64)>,
    /// Stream of the present exchange; 0: it has none.
    pub(super) stream: u32,
}

impl Seat {
    pub(super) fn empty() -> Self {
        Self {
            doing: Doing::Nothing,
            is_new: false,
            exchange: None,
            number: 0,
            stamps: Stamps::default(),
            request_bytes: 0,
            reused: false,
            deadline_ns: i64::MAX,
            busy: NONE,
            kept: Vec::new(),
            lane: None,
            stream: 0,
        }
    }
}
