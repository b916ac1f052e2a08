//! CPU time of a measuring thread, and the time that it waited for a CPU.

use sokudo_net::clock::{thread_cpu_ns, thread_wait_ns};

/// The calling thread's clocks at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effort {
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
}

/// Times of a thread between two moments, nanoseconds; `None` where the system does not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadSpent {
    /// CPU time.
    pub cpu_ns: Option<u64>,
    /// Time in which it was ready to run and had no CPU.
    pub wait_ns: Option<u64>,
}

impl ThreadSpent {
    /// These times and those of another thread; unknown ones count as nothing.
    pub fn with(&self, other: &Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        Self {
            cpu_ns: sum(self.cpu_ns, other.cpu_ns),
            wait_ns: sum(self.wait_ns, other.wait_ns),
        }
    }
}

impl Effort {
    /// Reads the clocks now. Costs a file read: once per run, not per message.
    pub fn begin() -> Self {
        Self {
            cpu_ns: thread_cpu_ns(),
            wait_ns: thread_wait_ns(),
        }
    }

    /// Times of the same thread since the begin.
    pub fn spent(&self) -> ThreadSpent {
        let now = Self::begin();
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        ThreadSpent {
            cpu_ns: more(now.cpu_ns, self.cpu_ns),
            wait_ns: more(now.wait_ns, self.wait_ns),
        }
    }
}
