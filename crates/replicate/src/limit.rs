//! A bound on the rate of bytes, shared by all connections of a session.

use std::sync::Mutex;

/// Longest time that is saved up, nanoseconds: what was not sent in a pause is not sent at once after.
const SAVED_NS: u64 = 50_000_000;

/// Tells each sender how long to wait. Pure: the time is an argument.
#[derive(Debug)]
pub struct Limiter {
    bytes_per_s: f64,
    /// When the bytes that were granted so far have left.
    free_ns: Mutex<u64>,
}

impl Limiter {
    /// For so many bytes per second.
    pub fn new(bytes_per_s: f64) -> Self {
        Self {
            bytes_per_s: bytes_per_s.max(1.0),
            free_ns: Mutex::new(0),
        }
    }

    /// Grants bytes: they may leave after so many nanoseconds.
    pub fn grant(&self, bytes: u64, now_ns: u64) -> u64 {
        let mut free_ns = match self.free_ns.lock() {
            Ok(free_ns) => free_ns,
            Err(poisoned) => poisoned.into_inner(),
        };
        let begin_ns = (*free_ns).max(now_ns.saturating_sub(SAVED_NS));
        *free_ns = begin_ns + (bytes as f64 / self.bytes_per_s * 1e9) as u64;
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
            let limiter = Limiter::new(rate);
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
}
