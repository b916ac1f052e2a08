//! A bound on the rate of bytes, shared by all connections of a session.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest time that is saved up, nanoseconds: what was not sent in a pause is not sent at once after.
const SAVED_NS: u64 = 50_000_000;

/// Tells each sender how long to wait. Pure: the time is an argument.
#[derive(Debug)]
pub struct Limiter {
    /// Bits of the rate, bytes per second; infinite without a limit.
    bytes_per_s: AtomicU64,
    /// Time at which the bytes that were granted so far have left, nanoseconds.
    free_ns: Mutex<u64>,
}

impl Limiter {
    /// For so many bytes per second.
    pub fn new(bytes_per_s: Option<f64>) -> Self {
        let limiter = Self {
            bytes_per_s: AtomicU64::new(0),
            free_ns: Mutex::new(0),
        };
        limiter.set(bytes_per_s);
        limiter
    }

    /// Another rate from now on; `None`: no limit.
    pub fn set(&self, bytes_per_s: Option<f64>) {
        let rate = bytes_per_s.map_or(f64::INFINITY, |rate| rate.max(1.0));
        self.bytes_per_s.store(rate.to_bits(), Ordering::Relaxed);
    }

    /// Grants bytes: they may leave after so many nanoseconds.
    pub fn grant(&self, bytes: u64, now_ns: u64) -> u64 {
        let rate = f64::from_bits(self.bytes_per_s.load(Ordering::Relaxed));
        let mut free_ns = match self.free_ns.lock() {
            Ok(free_ns) => free_ns,
            Err(poisoned) => poisoned.into_inner(),
        };
        if rate.is_infinite() {
            *free_ns = 0;
            return 0;
        }
        let begin_ns = (*free_ns).max(now_ns.saturating_sub(SAVED_NS));
        *free_ns = begin_ns + (bytes as f64 / rate * 1e9) as u64;
        begin_ns.saturating_sub(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_second_carries_more_than_was_allowed(sizes in prop::collection::vec((1_u64..1 << 20, 0_u64..20_000_000), 1..200)) {
            let rate = 10e6;
            let limiter = Limiter::new(Some(rate));
            let mut now = 1_000_000_000_u64;
            let mut sent: Vec<(u64, u64)> = Vec::new();
            for (bytes, pause) in sizes {
                now += pause;
                now += limiter.grant(bytes, now);
                sent.push((now, bytes));
            }
            for (at, _) in &sent {
                let within: u64 = sent.iter().filter(|(t, _)| t >= at && *t < at + 1_000_000_000).map(|(_, b)| b).sum();
                // The last grant of a second may reach into the next one.
                prop_assert!(within as f64 <= rate * 1.05 + f64::from(1 << 20) + 1.0, "{within}");
            }
        }
    }

    #[test]
    fn a_limit_may_come_and_go() {
        let limiter = Limiter::new(None);
        assert_eq!(limiter.grant(1 << 30, 0), 0);
        limiter.set(Some(1e6));
        assert_eq!(limiter.grant(1_000_000, 1_000_000_000), 0);
        // What was granted before still leaves first; what was saved up before counts.
        assert_eq!(limiter.grant(1, 1_000_000_000), 950_000_000);
        limiter.set(None);
        assert_eq!(limiter.grant(1 << 30, 1_000_000_000), 0);
    }
}
