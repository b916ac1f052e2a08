//! The end of the target, which wakes every waiting thread.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whether the target ends.
#[derive(Default)]
pub(crate) struct Stop {
    is_asked: Mutex<bool>,
    asked: Condvar,
}

impl Stop {
    pub(crate) fn ask(&self) {
        *self.is_asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.asked.notify_all();
    }

    pub(crate) fn is_asked(&self) -> bool {
        *self.is_asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps, until the target ends at the latest.
    pub(crate) fn rest(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        let is_asked = self.is_asked.lock().unwrap_or_else(PoisonError::into_inner);
        // Who is woken by the end need not know it.
        let _ = self
            .asked
            .wait_timeout_while(is_asked, time, |is_asked| !*is_asked);
    }
}
