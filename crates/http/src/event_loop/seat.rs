//! Per-user state of an event loop.

use std::sync::Arc;

use super::NONE;
use crate::observed::Timed;
use crate::target::{Found, TargetId};
use crate::user::Exchange;

/// State of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// There is no user of this number.
    Nothing,
    /// Waiting for a time.
    Pausing,
    /// Waiting for another user of its crew.
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
    /// Number of the exchange, by which a late answer of the resolver is recognised.
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
    /// Addresses of targets that it resolved itself, the latest last.
    pub(super) own: Vec<OwnFound>,
    /// Index and serial number of the shared connection that it uses.
    pub(super) lane: Option<(u32, u64)>,
    /// Stream of the present exchange; 0: it has none.
    pub(super) stream: u32,
    /// Answers on its kept connections, and the time that they took.
    pub(super) spent: Timed,
}

/// Addresses of a target that a user resolved.
pub(super) struct OwnFound {
    target: TargetId,
    /// As of [`Exchange::names`].
    round: u32,
    found: Arc<Found>,
}

/// Most targets that one user knows by itself.
const MOST_OWN: usize = 64;

impl Seat {
    /// Target that it found in this round.
    pub(super) fn own_found(&self, target: TargetId, round: u32) -> Option<Arc<Found>> {
        let mut own = self.own.iter();
        let known = own.find(|own| own.target == target && own.round == round);
        known.map(|own| Arc::clone(&own.found))
    }

    /// Remembers where it found a target; what it knew before of this one is forgotten.
    pub(super) fn learn(&mut self, target: TargetId, round: u32, found: Arc<Found>) {
        self.own.retain(|own| own.target != target);
        if self.own.len() >= MOST_OWN {
            self.own.remove(0);
        }
        self.own.push(OwnFound {
            target,
            round,
            found,
        });
    }

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
            own: Vec::new(),
            lane: None,
            stream: 0,
            spent: Timed::default(),
        }
    }
}
