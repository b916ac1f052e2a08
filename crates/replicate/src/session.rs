//! Shared state of the threads of one end: the wish to stop, and progress.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longest time until a thread that waits looks at whether it should go on.
pub const LOOK: Duration = Duration::from_millis(100);
/// A connection says something at least this often.
pub const ALIVE: Duration = Duration::from_secs(5);
/// A peer that says nothing, or takes nothing, for this long is gone.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Files and bytes that a receiver makes durable together.
pub const TOGETHER_FILES: usize = 4_096;
/// See [`TOGETHER_FILES`].
pub const TOGETHER_BYTES: u64 = 256 << 20;

/// CPU time of the calling thread.
#[cfg(unix)]
pub fn thread_cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Locks; what a thread that panicked left is as good as before, every change is whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the threads of one end go on.
#[derive(Debug, Default)]
pub struct Session {
    ended: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Session {
    /// One that goes on.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// True when the threads are to end.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Ends the threads: all is done, or somebody wants no more.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Ends the threads because of an error; the first one counts.
    pub fn fail(&self, what: &str, error: &dyn std::fmt::Display) {
        if !self.is_over() {
            lock(&self.failure).get_or_insert_with(|| format!("{what}: {error}"));
        }
        self.end();
    }

    /// The first error.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// An error for a thread that finds the session over.
    pub fn over(&self) -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionAborted, "the session was ended")
    }
}

/// Ends a session when the thread that holds it panics: the others must not wait for it.
#[cfg(unix)]
pub(crate) struct EndsOnPanic<'a>(pub(crate) &'a Session);

#[cfg(unix)]
impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(
                "a thread",
                &"it panicked, which is a defect of this program",
            );
        }
    }
}

macro_rules! progress {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Progress of an end. All counters only rise; the last lag is a reading.
        #[derive(Debug, Default)]
        pub struct Progress {
            $($(#[$doc])* pub $name: AtomicU64,)*
        }

        /// The counters at one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub struct Reading {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Progress {
            /// The counters now.
            pub fn read(&self) -> Reading {
                Reading { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

progress! {
    /// Regular files that were listed.
    files_listed,
    /// Bytes of those.
    bytes_listed,
    /// Files whose content is wanted.
    files_wanted,
    /// Bytes of those.
    bytes_wanted,
    /// Bytes of content that were handed to connections, or came from them.
    bytes_moved,
    /// Bytes of all frames on connections.
    wire_bytes,
    /// Files that are published, as far as this end knows.
    files_done,
    /// Bytes of those.
    bytes_done,
    /// Bytes that needed no transfer: they were there.
    bytes_kept,
    /// Bytes of content that were sent as they are because they look compressed.
    bytes_dense,
    /// Bytes of content that the compressor was given.
    bytes_packed,
    /// Time in the compressor or its inverse, all threads, nanoseconds.
    pack_ns,
    /// Time of data threads in reading from the tree, or in writing to it, nanoseconds.
    file_ns,
    /// Time of data threads in the connection: writing at the sender, reading at the receiver.
    wire_ns,
    /// Time in which data threads had nothing to do.
    idle_ns,
    /// Time in making things durable.
    sync_ns,
    /// Entries that could not be replicated.
    failures,
    /// Rounds whose entries are all listed.
    rounds_listed,
    /// Rounds that are complete.
    rounds,
    /// Of a mirror: time from the first change of the last round to its end, nanoseconds.
    last_lag_ns,
    /// CPU time of all threads that have ended, nanoseconds.
    cpu_ns,
    /// The same of the one that took the most.
    busiest_cpu_ns,
}

impl Progress {
    /// Takes note of the calling thread's CPU time, at its end.
    #[cfg(unix)]
    pub fn thread_ends(&self) {
        let cpu_ns = (thread_cpu_s() * 1e9) as u64;
        Self::add(&self.cpu_ns, cpu_ns);
        self.busiest_cpu_ns.fetch_max(cpu_ns, Ordering::Relaxed);
    }

    /// Adds to a counter of this or another thread.
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}
