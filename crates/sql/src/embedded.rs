//! Time that statements take in engines that run within this process.

use std::cell::Cell;
use std::time::Instant;

thread_local! {
    /// Time that calls of such engines took in this thread since it was last taken, nanoseconds.
    static INSIDE_NS: Cell<u64> = const { Cell::new(0) };
}

/// Time that statements of SQLite or DuckDB took in this thread, computing and waiting for the disk, since
/// this was last called. Both run in the thread that calls them.
pub fn take_embedded_ns() -> u64 {
    INSIDE_NS.take()
}

/// A call of such an engine, until it is dropped.
pub(crate) struct Inside {
    since: Instant,
}

impl Inside {
    pub(crate) fn begin() -> Self {
        Self {
            since: Instant::now(),
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let took = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(0);
        INSIDE_NS.set(INSIDE_NS.get().saturating_add(took));
    }
}
