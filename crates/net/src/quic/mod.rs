//! Implements the blocking stream interface over one QUIC stream.
//!
//! ```text
//! thread of the workload                 thread of this side (one runtime, all its connections)
//! read/write ──► state of the connection ◄── packets, timers, acknowledgements
//!     └ sleeps, bounded ◄── woken ────────────────┘
//! ```
//!
//! One connection carries one bidirectional stream. The caller opens it with one byte, so that the
//! other end learns of it at once; the workload never sees that byte. Identity and trust are those
//! of [`crate::tls`]. Only with the cargo feature `quic`.

#[cfg(not(feature = "quic"))]
#[path = "absent.rs"]
mod imp;
#[cfg(feature = "quic")]
#[path = "present.rs"]
mod imp;
#[cfg(feature = "quic")]
mod park;

pub use imp::{Caller, Incoming, QuicListener, QuicStream};
