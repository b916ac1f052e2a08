//! State of an HTTP/2 connection beside its socket: its users and its progress.

use std::collections::VecDeque;

use crate::engine::Limits;
use crate::failure::Phase;
use crate::h2::Session;

/// Buffers of held requests that are kept for others.
const SPARE: usize = 64;

/// Progress of a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Its target's addresses are looked up.
    Resolving,
    /// The peer has not answered the call.
    Connecting,
    /// A tunnel is being requested from a proxy.
    Tunnelling,
    /// The TLS handshake is under way.
    Securing,
    /// Frames are exchanged.
    Open,
}

impl Step {
    /// The stage at which whatever is under way ends when the connection does.
    pub(crate) fn phase(self) -> Phase {
        match self {
            Step::Resolving => Phase::Resolve,
            Step::Connecting | Step::Tunnelling => Phase::Connect,
            Step::Securing => Phase::Tls,
            Step::Open => Phase::Send,
        }
    }
}

/// A request that the peer does not accept yet.
pub(crate) struct Held {
    pub(crate) user: u32,
    /// Both heads and the body.
    pub(crate) request: Vec<u8>,
}

/// The part of a connection that many users share.
pub(crate) struct SharedConnection {
    /// Tells it from earlier ones in the same room.
    pub(crate) serial: u64,
    pub(crate) lane: u32,
    pub(crate) step: Step,
    pub(crate) session: Session,
    /// Users that come here with their requests.
    pub(crate) users: u32,
    /// Times at which the addresses were known, the connection was there, and the handshake was
    /// over; 0 = not yet.
    pub(crate) resolved: i64,
    pub(crate) connected: i64,
    pub(crate) secured: i64,
    /// Requests that wait for others to end, the oldest first.
    pub(crate) held: VecDeque<Held>,
    spare: Vec<Vec<u8>>,
    /// Something is to leave that the system was not given.
    pub(crate) is_marked: bool,
    /// The system was asked to report when more can be sent.
    pub(crate) watches_room: bool,
    /// No further requests are accepted; it closes with the last one under way.
    pub(crate) is_last: bool,
}

impl SharedConnection {
    /// Room for a shared connection.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            serial: 0,
            lane: 0,
            step: Step::Resolving,
            session: Session::new(limits),
            users: 0,
            resolved: 0,
            connected: 0,
            secured: 0,
            held: VecDeque::new(),
            spare: Vec::new(),
            is_marked: false,
            watches_room: true,
            is_last: false,
        }
    }

    /// A connection that begins.
    pub(crate) fn begin(&mut self, serial: u64, lane: u32) {
        (self.serial, self.lane, self.step) = (serial, lane, Step::Resolving);
        self.session.reset();
        self.users = 0;
        (self.resolved, self.connected, self.secured) = (0, 0, 0);
        self.held.clear();
        (self.is_marked, self.watches_room, self.is_last) = (false, true, false);
    }

    /// True when no request may begin here any more.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_last || self.session.is_leaving()
    }

    /// True when nothing is under way here.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.session.under_way() == 0 && self.held.is_empty()
    }

    /// Keeps a request until there is room for it.
    pub(crate) fn hold(&mut self, user: u32, request: &[u8]) {
        let mut room = self.spare.pop().unwrap_or_default();
        room.extend_from_slice(request);
        self.held.push_back(Held {
            user,
            request: room,
        });
    }

    /// Takes a held request's buffer back.
    pub(crate) fn give_back(&mut self, mut room: Vec<u8>) {
        if self.spare.len() < SPARE {
            room.clear();
            self.spare.push(room);
        }
    }

    /// At which stage the request of a stream is; one that has no stream is not sent.
    pub(crate) fn phase_of(&self, stream: u32) -> Phase {
        let Some(stream) = self
            .session
            .stream(stream)
            .filter(|_| self.step == Step::Open)
        else {
            return self.step.phase();
        };
        match (stream.sent_ns, stream.first_byte_ns) {
            (_, 1..) => Phase::Read,
            (0, _) => Phase::Send,
            _ => Phase::Wait,
        }
    }
}
