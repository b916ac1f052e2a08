//! The interface between a virtual user and the engine.
//!
//! ```text
//! engine ── step ──► user        "what now?"   Send · Pause · End
//! engine ◄─ request ─ user       head and body, appended to `out`
//!    ⋮  resolve, connect, TLS, send, wait, read: each stage stamped
//! engine ── ended ──► user       status, sizes, stamps, or the failure: once per Send
//! ```
//!
//! All times are nanoseconds of [`sokudo_net::clock::now_ns`].

use std::net::SocketAddr;

use crate::failure::Failure;
use crate::target::TargetId;

/// One virtual user. The engine owns its connections: one per target, kept alive as the exchange
/// says. A user is asked by one thread at a time, always the same.
pub trait User: Send {
    /// Returns the user's next action. With [`UserStep::Send`], the whole request (head and body)
    /// has been appended to `out`, which is empty when it is handed over.
    fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> UserStep;

    /// Takes the result of an exchange. Called exactly once per [`UserStep::Send`], before the next
    /// `step`.
    fn ended(&mut self, outcome: &Outcome<'_>);
}

/// The next action of a user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UserStep {
    /// Sends the request that was appended to `out`.
    Send(Exchange),
    /// Does nothing until then; a time that has passed asks again at once, after the others.
    Pause {
        /// Time of the next call of `step`.
        until_ns: i64,
    },
    /// Does nothing until another user of its crew calls it, see [`crate::Call::Wakes`].
    Rest,
    /// Leaves; its connections are closed.
    End,
}

/// Options of one request and its response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// The target.
    pub target: TargetId,
    /// Intended start (open models); the present moment for closed ones.
    pub intended_ns: i64,
    /// The connection is not kept after this exchange. The engine changes no byte of the request:
    /// `Connection: close` is the user's to write.
    pub close: bool,
    /// A kept connection is not used; it is closed. A shared one is always used.
    pub fresh: bool,
    /// Longest time for resolving, connecting and the TLS handshake together; 0 = no bound.
    pub connect_timeout_ns: u64,
    /// Longest silence of the server after the request began to leave, and between two portions of
    /// its response; 0 = no bound.
    pub response_timeout_ns: u64,
    /// Longest time from the start to the last byte; 0 = no bound.
    pub whole_timeout_ns: u64,
    /// The parts of the response that `ended` receives.
    pub keep: Keep,
    /// The response has no body although its head may announce one.
    pub method_is_head: bool,
    /// The meaning of the status 101.
    pub switch: Switch,
    /// The user resolves the target's name itself, and again when this number changes; `None`: the name
    /// is resolved once for all users.
    pub names: Option<u32>,
    /// HTTP/2: whom the request shares a connection with. `None`: HTTP/1.1, on a connection that
    /// is the user's own.
    pub lane: Option<Lane>,
}

/// The meaning of the status 101, with which a server changes to another protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Switch {
    /// A failure: the request did not ask for another protocol (RFC 9110 §7.8).
    #[default]
    Unasked,
    /// The response: the request has an `Upgrade` field.
    Asked,
    /// An informational status like others: another response follows.
    Informational,
}

/// Way in which a request shares an HTTP/2 connection with others.
///
/// What the user appends to `out` begins with both blocks of a [`crate::RequestHead`], which is the
/// same for all requests of the lane; the body follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Requests to one target with the same number share a connection.
    pub number: u32,
    /// Bytes of [`crate::RequestHead::first`].
    pub first_bytes: u32,
    /// Bytes of [`crate::RequestHead::next`].
    pub next_bytes: u32,
}

/// The parts of a response that a user receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Status and sizes.
    #[default]
    Nothing,
    /// Reason and headers too.
    Head,
    /// The body as well.
    Body {
        /// Bytes of it that are kept; the rest is counted only.
        at_most: usize,
    },
}

/// Result of an exchange.
///
/// A stage that did not take place has the stamp of the one before it: on a reused connection
/// `resolved_ns == connected_ns == secured_ns == start_ns`. After a failure, the stages that were
/// not reached are stamped with `end_ns`.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The target.
    pub target: TargetId,
    /// Intended start.
    pub intended_ns: i64,
    /// Time of the call of `step`.
    pub start_ns: i64,
    /// The host's addresses were known.
    pub resolved_ns: i64,
    /// The connection was there.
    pub connected_ns: i64,
    /// The TLS handshake was over.
    pub secured_ns: i64,
    /// The last byte of the request was handed to the system.
    pub sent_ns: i64,
    /// The first bytes of the response were in hand.
    pub first_byte_ns: i64,
    /// The last byte of the response was in hand, or the failure was known.
    pub end_ns: i64,
    /// The connection had been used before.
    pub reused: bool,
    /// Address of the peer, as far as one was tried.
    pub peer: Option<SocketAddr>,
    /// Bytes of the request handed to the system, before TLS.
    pub sent_bytes: u64,
    /// Bytes of heads received, those of informational responses included.
    pub head_bytes: u64,
    /// Bytes of the body received, framing of chunks not counted, content encoding not undone.
    pub body_bytes: u64,
    /// Bytes of the framing of chunks, trailers included.
    pub framing_bytes: u64,
    /// Status of the response; 0 when there was no head.
    pub status: u16,
    /// Reason phrase as received; empty unless kept, and in HTTP/2, which has none.
    pub reason: &'a [u8],
    /// Header lines as received, with their line ends, status line not included; empty unless kept.
    pub headers: &'a [u8],
    /// The body as received, as far as it was kept.
    pub body: &'a [u8],
    /// The failure, if there is no complete response.
    pub failure: Option<Failure>,
}

impl Outcome<'_> {
    /// From the intended start to the last byte.
    pub fn latency_ns(&self) -> u64 {
        span(self.intended_ns, self.end_ns)
    }

    /// From the real start to the last byte.
    pub fn service_ns(&self) -> u64 {
        span(self.start_ns, self.end_ns)
    }
}

fn span(from_ns: i64, until_ns: i64) -> u64 {
    u64::try_from(until_ns.saturating_sub(from_ns)).unwrap_or(0)
}
