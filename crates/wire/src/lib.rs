//! What do controller and agent say to each other?
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
//!   Drain (everybody's counts) ──────────────►   wait for stragglers; answers with results
//!   Bye ─────────────────────────────────────►
//! ```
//!
//! No I/O and no clock here: bytes in, messages out.

pub mod message;

pub use message::{Ask, Description, HostSpec, Note, PhaseSpec, Refusal, Reply, WatchScope};
