//! A bound on the rate of bytes, shared by all connections of a session.
//!
//! Bytes leave when they have been earned, and at most 50 ms are earned ahead: in any time no more leaves
//! than the rate allows for that time and 50 ms, and a slice of each connection that had waited for its turn.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest time that is saved up, nanoseconds: what was not sent in a pause is not sent at once after.
const SAVED_NS: u64 = 50_000_000;
/// Time whose bytes are granted at once, seconds: others on a thin line need not wait longer for their turn.
const SLICE_S: f64 = 0.01;
/// Bytes that are granted at once at least, so that the headers of packets stay a small part of them.
const SLICE_LEAST: f64 = 1_024.0;
/// Longest time of those bytes, seconds: at a very low rate a peer must hear something now and then.
const SLICE_MOST_S: f64 = 1.0;

/// Tells each connection how long to wait. Pure: the time is an argument.
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

    /// Bytes to ask for at once; what is longer is sent in parts.
    pub fn slice(&self) -> usize {
        let rate = self.rate();
        let bytes = (rate * SLICE_S).max(SLICE_LEAST).min(rate * SLICE_MOST_S);
        // A rate without a bound gives the largest number.
        bytes.max(1.0) as usize
    }

    fn rate(&self) -> f64 {
        f64::from_bits(self.bytes_per_s.load(Ordering::Relaxed))
    }

    /// Grants bytes: they may leave after so many nanoseconds.
    pub fn grant(&self, bytes: usize, now_ns: u64) -> u64 {
        let rate = self.rate();
        let mut free_ns = match self.free_ns.lock() {
            Ok(free_ns) => free_ns,
            Err(poisoned) => poisoned.into_inner(),
        };
        if rate.is_infinite() {
            *free_ns = 0;
            return 0;
        }
        let begin_ns = (*free_ns).max(now_ns.saturating_sub(SAVED_NS));
        *free_ns = begin_ns + (bytes as f64 / rate * 1e9).ceil() as u64;
        free_ns.saturating_sub(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes and the time at which they leave, of one connection that pauses before each send.
    fn sent(limiter: &Limiter, sends: &[(usize, u64)], begin_ns: u64) -> Vec<(u64, usize)> {
        let mut now = begin_ns;
        let mut sent = Vec::new();
        for (bytes, pause_ns) in sends {
            now += pause_ns;
            let mut left = *bytes;
            while left > 0 {
                let part = left.min(limiter.slice());
                now += limiter.grant(part, now);
                sent.push((now, part));
                left -= part;
            }
        }
        sent
    }

    proptest! {
        #[test]
        fn no_time_carries_more_than_its_own_bytes_and_what_was_saved(
            sends in prop::collection::vec((1_usize..1 << 20, 0_u64..200_000_000), 1..8),
            rate in 1e6_f64..1e8,
            window_ms in 1_u64..3_000,
        ) {
            let limiter = Limiter::new(Some(rate));
            let sent = sent(&limiter, &sends, 7);
            let window_ns = window_ms * 1_000_000;
            let allowed = rate * (window_ns + SAVED_NS) as f64 * 1e-9 + limiter.slice() as f64 + 1.0;
            for (at, _) in &sent {
                let within = sent.iter().filter(|(t, _)| t >= at && *t < at + window_ns);
                let bytes: usize = within.map(|(_, bytes)| bytes).sum();
                prop_assert!(bytes as f64 <= allowed, "{bytes} bytes, {allowed} allowed");
            }
        }

        #[test]
        fn what_is_sent_without_pauses_takes_the_time_of_all_its_bytes(
            sizes in prop::collection::vec(1_usize..1 << 20, 1..10), rate in 1e5_f64..1e9,
        ) {
            let sends: Vec<(usize, u64)> = sizes.iter().map(|bytes| (*bytes, 0)).collect();
            let sent = sent(&Limiter::new(Some(rate)), &sends, 0);
            let bytes: usize = sizes.iter().sum();
            let seconds = sent.last().map_or(0, |(at, _)| *at) as f64 * 1e-9;
            let least = bytes as f64 / rate;
            prop_assert!(seconds >= least && seconds <= least + 1e-3, "{seconds} s of {least} s");
        }
    }

    #[test]
    fn frames_do_not_leave_before_they_are_earned() {
        // Ten files of 1 MB at 20 Mb/s, two in a frame: the last frame leaves after 4 s and not after 3.2 s.
        let sent = sent(&Limiter::new(Some(2.5e6)), &[(2_000_000, 0); 5], 0);
        assert_eq!(sent.last().map(|(at, _)| at / 1_000_000), Some(4_000));
        assert_eq!(sent[0], (10_000_000, 25_000));
    }

    #[test]
    fn slices_are_neither_packets_of_headers_nor_minutes_apart() {
        let slice = |rate: f64| Limiter::new(Some(rate)).slice();
        assert_eq!(slice(2.5e6), 25_000);
        assert_eq!(slice(20e3), 1_024);
        assert_eq!(slice(100.0), 100);
        assert_eq!(slice(0.0), 1);
        assert_eq!(Limiter::new(None).slice(), usize::MAX);
    }

    #[test]
    fn a_limit_may_come_and_go() {
        let limiter = Limiter::new(None);
        assert_eq!(limiter.grant(1 << 30, 0), 0);
        limiter.set(Some(1e6));
        // A second's bytes, of which 50 ms were saved.
        assert_eq!(limiter.grant(1_000_000, 1_000_000_000), 950_000_000);
        // What was granted before still leaves first.
        assert_eq!(limiter.grant(1_000, 1_000_000_000), 951_000_000);
        limiter.set(None);
        assert_eq!(limiter.grant(1 << 30, 1_000_000_000), 0);
    }
}
