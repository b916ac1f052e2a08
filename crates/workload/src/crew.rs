//! The threads of a phase on this host, and their end.
//!
//! ```text
//! measuring threads ──reports──► reporting thread ──► what it has collected
//!   stop: the load ends    closed: everything ends
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

use sokudo_model::Refusal;

use crate::refusal::spawn;
use crate::reporting::Reporting;

/// The threads of a phase. Dropping it ends them and waits for them.
pub struct Crew<R, T> {
    /// Ends the load.
    pub stop: Arc<AtomicBool>,
    /// Ends everything.
    pub closed: Arc<AtomicBool>,
    host: String,
    threads: Vec<JoinHandle<()>>,
    // Dropped last: the threads hold ways to it.
    reporting: Reporting<R, T>,
}

impl<R: Send + 'static, T: Send + 'static> Crew<R, T> {
    /// A crew without threads, on the host with this name.
    pub fn new(host: &str) -> Self {
        Self {
            stop: Arc::default(),
            closed: Arc::default(),
            host: host.replace('\0', ""),
            threads: Vec::new(),
            reporting: Reporting::default(),
        }
    }

    /// Starts the reporting thread; gives the way to it.
    pub fn report(
        &mut self,
        run: impl FnOnce(&Receiver<R>) -> T + Send + 'static,
    ) -> Result<SyncSender<R>, Refusal> {
        self.reporting.begin(run)
    }

    /// Starts a measuring thread, named after its `part` in the phase.
    pub fn start(
        &mut self,
        part: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), Refusal> {
        // Several hosts may live in one process: the kernel shows 15 bytes of a thread's name.
        let thread = spawn(&format!("{part} {}", self.host), run)?;
        self.threads.push(thread);
        Ok(())
    }

    /// True when all measuring threads have ended.
    pub fn has_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Returns what the reporting thread has collected, once the measuring threads have ended.
    ///
    /// Errors: the phase was never started, or the thread died.
    pub fn collected(&mut self) -> Result<T, Refusal> {
        self.reporting.collected()
    }
}

impl<R, T> Crew<R, T> {
    /// Ends the load; what is under way may still come in.
    pub fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the measuring threads and waits for them.
    pub fn end(&mut self) {
        self.halt();
        self.closed.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The numbers of a thread that panicked are missing.
            let _ = thread.join();
        }
    }
}

impl<R, T> Drop for Crew<R, T> {
    fn drop(&mut self) {
        self.end();
    }
}
