//! Lets one thread wait for another, with a bound.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The end of a bound that begins now; an unlimited bound becomes one day.
pub(crate) fn deadline_in(bound: Duration) -> Instant {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    Instant::now() + bound.min(DAY)
}

/// Opens once and stays open.
#[derive(Debug, Default)]
pub(crate) struct Latch {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Latch {
    /// Releases all threads that wait now or later.
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    /// Waits at most `bound`; true when open.
    pub(crate) fn wait(&self, bound: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *self
            .opened
            .wait_timeout_while(open, bound, |open| !*open)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}
