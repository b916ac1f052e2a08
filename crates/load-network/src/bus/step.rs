//! The gate with which the operator releases messages one by one.
//!
//! The command that reads standard input and the thread that sends are in one process; the gate
//! stands between them. Other hosts have none, and refuse.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Lets one message pass for each time that it was opened.
#[derive(Debug, Default)]
pub struct Gate {
    opened: AtomicU64,
    passed: AtomicU64,
    closed: AtomicBool,
}

/// The gate of this process, when an operator uses it.
static OWN: Mutex<Option<Arc<Gate>>> = Mutex::new(None);

impl Gate {
    /// Puts up the gate of this process.
    pub fn put_up() -> Arc<Self> {
        let gate = Arc::new(Self::default());
        *OWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&gate));
        gate
    }

    /// The gate of this process.
    pub(crate) fn own() -> Option<Arc<Self>> {
        OWN.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets one more message pass.
    pub fn open(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Closes it for good: the test is over when the released messages have passed.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// True when a message may pass now.
    pub(crate) fn is_open(&self) -> bool {
        self.passed.load(Ordering::Relaxed) < self.opened.load(Ordering::Relaxed)
    }

    /// True when no message will ever pass again.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) && !self.is_open()
    }

    /// A message passes.
    pub(crate) fn pass(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pass_as_it_was_opened_for() {
        let gate = Gate::default();
        assert!(!gate.is_open() && !gate.is_closed());
        gate.open();
        gate.close();
        assert!(gate.is_open() && !gate.is_closed());
        gate.pass();
        assert!(gate.is_closed());
    }
}
