//! Byte streams between two processes of one host through shared memory, without system calls on
//! the data path.
//!
//! ```text
//!              unix socket: hands the memory over once, then only tells that a side is gone
//! caller ───────────────────────────────────────────────────────────────── listener
//!    │   one memory file, sealed so that nobody can shrink it                 │
//!    └─► ring A: written ─────────────► taken                                 │
//!        ring B: taken ◄─────────────── written ◄─────────────────────────────┘
//! ```
//!
//! Each ring has one writer and one reader. A side that finds its ring full or empty polls it
//! briefly, then sleeps on a futex that the other side wakes. The death of a process is detected
//! within [`NOTICE_BOUND`].

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "absent.rs"]
mod imp;
#[cfg(target_os = "linux")]
mod ring;

pub use imp::{ShmStream, accept, available, connect};

/// Smallest ring, in bytes.
pub const MIN_RING_BYTES: usize = 4 * 1024;
/// Largest ring, in bytes.
pub const MAX_RING_BYTES: usize = 64 << 20;
/// Default size of a ring, in bytes.
pub const DEFAULT_RING_BYTES: usize = 256 * 1024;

/// Longest time until a sleeping side detects the death of the other one.
pub const NOTICE_BOUND: Duration = Duration::from_millis(100);

#[cfg(all(test, target_os = "linux"))]
mod tests;
