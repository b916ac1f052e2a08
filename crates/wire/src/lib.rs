//! The messages between controller and agent.
//!
//! ```text
//! controller                                  agent
//!   Describe ────────────────────────────────►   who are you, what can you do
//!   Clock × 64 ──────────────────────────────►   your clock
//!   Watch ───────────────────────────────────►   monitors start        ──► Note::Batch …
//!   Prepare ─────────────────────────────────►   bind; answers with its offer (addresses)
//!   Arm (everybody's offers) ────────────────►   connect, touch memory; no traffic
//!   Start at T ──────────────────────────────►   load runs             ──► Note::Batch …
//!            ◄──────────────────────── Note::Sent   my senders have finished, with counts
//!   Clocks (before and after) ───────────────►   only where times of two hosts are compared
//!   Drain (everybody's counts) ──────────────►   wait for stragglers; answers with results
//!   Bye ─────────────────────────────────────►
//! ```
//!
//! Before the first ask the caller shows its [`ticket`]; then every message travels as an
//! [`envelope`] inside a frame ([`framing`]); direct conversations outlive their connections ([`mark`]). Who may call is decided by a [`key`].
//!
//! No I/O and no clock here: bytes in, messages out.

mod base32;
pub mod entry;
pub mod envelope;
pub mod framing;
pub mod join;
pub mod key;
pub mod label;
pub mod life;
pub mod mark;
pub mod message;
pub mod order;
pub mod piece;
pub mod ticket;

pub use envelope::{Body, Envelope, EnvelopeError};
pub use framing::{Decoder, FrameError, MAX_FRAME, MAX_FRAME_BEFORE_TICKET};
pub use key::{Key, KeyError, KeyId};
pub use mark::{ConversationId, MAX_MARKED, Mark};
pub use ticket::{Answer, PROTOCOL_VERSION, Ticket, TicketError, Verdict, VersionMismatch};

pub use message::{
    Ask, Description, Health, HostSpec, Note, PhaseSpec, Refusal, Reply, WatchScope,
};
