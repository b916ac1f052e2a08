//! What runs the users, and what did it cost?

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How a caller ends a run from outside. Copies act on the same run.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks no user for another step; exchanges under way may end by themselves.
    pub fn soon(&self) {
        self.0.fetch_max(1, Ordering::Relaxed);
    }

    /// Ends exchanges under way too: they fail with [`crate::Kind::Stopped`].
    pub fn now(&self) {
        self.0.fetch_max(2, Ordering::Relaxed);
    }

    /// True when no user is asked any more.
    pub fn is_soon(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// True when exchanges under way end.
    pub fn is_now(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

/// How the engine runs.
#[derive(Debug, Clone)]
pub struct Config {
    /// Event loops: one thread each; 0 counts as 1.
    pub loops: usize,
    /// Any certificate of a server is accepted, and any name.
    pub accept_any_certificate: bool,
    /// Bounds of responses.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            loops: 1,
            accept_any_certificate: false,
            limits: Limits::default(),
        }
    }
}

/// Bounds of what a server may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest head of one response, bytes.
    pub head_bytes: usize,
    /// Longest trailer after the last chunk, bytes.
    pub trailer_bytes: usize,
    /// Most informational (1xx) responses before the real one.
    pub informational: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 64 * 1024,
            trailer_bytes: 16 * 1024,
            informational: 32,
        }
    }
}

/// What one event loop did.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopAudit {
    /// Exchanges that began.
    pub started: u64,
    /// Steps that were taken later than [`LATE_NS`] after the moment a user had asked for: the
    /// generator's own lateness.
    pub late_starts: u64,
    /// The latest of them, nanoseconds.
    pub latest_start_ns: u64,
    /// Connections opened.
    pub connections: u64,
    /// Attempts to connect for which this host had no free port.
    pub ports_exhausted: u64,
    /// CPU time of the thread, nanoseconds; `None` where the system does not say.
    pub cpu_ns: Option<u64>,
    /// Time in which the thread was ready to run and had no CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from the loop's start to its end, nanoseconds.
    pub elapsed_ns: u64,
}

/// A step that is taken this much after its time is late.
pub const LATE_NS: i64 = 1_000_000;

/// What the engine did, loop by loop.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// By loop.
    pub loops: Vec<LoopAudit>,
}
