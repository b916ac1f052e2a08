//! Faults that the target has on purpose: what a request meets before and while it is carried out.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::settings::{Fault, ms};
use crate::stop::Stop;

/// State of the faults from one request to the next.
pub(crate) struct Faults {
    stop: Arc<Stop>,
    epoch: Instant,
    /// Requests so far.
    requests: AtomicU64,
    /// The lock that all requests share.
    lock: Mutex<()>,
    allowance: Mutex<Allowance>,
    leaked: Mutex<Vec<File>>,
}

/// Requests that may still be answered.
struct Allowance {
    at: Instant,
    left: f64,
}

/// Fate of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is carried out, and its answer is late by this.
    Served(Duration),
    /// It is answered with this status at once.
    Refused(u16),
}

impl Faults {
    pub(crate) fn new(stop: Arc<Stop>) -> Self {
        Self {
            stop,
            epoch: Instant::now(),
            requests: AtomicU64::new(0),
            lock: Mutex::new(()),
            allowance: Mutex::new(Allowance {
                at: Instant::now(),
                left: 1.0,
            }),
            leaked: Mutex::default(),
        }
    }

    /// Decides about the next request, and holds it up as all requests are.
    pub(crate) fn meet(&self, fault: &Fault) -> Fate {
        self.pause(fault);
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if is_among(number, fault.error_share) {
            return Fate::Refused(503);
        }
        if fault.status_rate_per_s > 0.0 && !self.allows(fault.status_rate_per_s) {
            return Fate::Refused(429);
        }
        if fault.lock_ms > 0.0 {
            let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.stop.rest(ms(fault.lock_ms));
        }
        let is_slow = fault.slow_every > 0 && number.is_multiple_of(fault.slow_every);
        Fate::Served(match is_slow {
            true => ms(fault.slow_ms),
            false => Duration::ZERO,
        })
    }

    /// Waits as long as all workers stand still.
    #[inline]
    pub(crate) fn pause(&self, fault: &Fault) {
        if fault.pause_ms <= 0.0 {
            return;
        }
        let left = pause_left(
            self.epoch.elapsed(),
            ms(fault.pause_every_ms),
            ms(fault.pause_ms),
        );
        self.stop.rest(left);
    }

    /// Takes one from what a steady rate has brought so far; at most 100 ms of it are kept.
    fn allows(&self, rate_per_s: f64) -> bool {
        let mut allowance = self
            .allowance
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let brought = now.duration_since(allowance.at).as_secs_f64() * rate_per_s;
        allowance.at = now;
        allowance.left = (allowance.left + brought).min((rate_per_s / 10.0).max(1.0));
        let is_allowed = allowance.left >= 1.0;
        if is_allowed {
            allowance.left -= 1.0;
        }
        is_allowed
    }

    /// Holds as many file descriptors as asked for, or as the system gives; returns how many.
    pub(crate) fn leak(&self, wanted: u64) -> u64 {
        let mut leaked = self.leaked.lock().unwrap_or_else(PoisonError::into_inner);
        leaked.truncate(wanted as usize);
        let own = std::env::current_exe();
        while (leaked.len() as u64) < wanted {
            match own.as_ref().map(File::open) {
                Ok(Ok(file)) => leaked.push(file),
                _ => break,
            }
        }
        leaked.len() as u64
    }
}

/// Rest of the pause at this time: the last part of every period.
fn pause_left(elapsed: Duration, every: Duration, pause: Duration) -> Duration {
    let every_ns = every.as_nanos().max(1);
    let within = Duration::from_nanos((elapsed.as_nanos() % every_ns) as u64);
    let begins = every.saturating_sub(pause);
    match within >= begins {
        true => every.saturating_sub(within),
        false => Duration::ZERO,
    }
}

/// True for a share of all numbers from 1 on, evenly spread.
fn is_among(number: u64, share: f64) -> bool {
    let before = |number: u64| (number as f64 * share).floor();
    before(number) > before(number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_spread_evenly() {
        for (share, expected) in [(0.0, 0), (0.25, 250), (0.5, 500), (1.0, 1000)] {
            let hit = (1..=1000).filter(|n| is_among(*n, share)).count();
            assert_eq!(hit, expected, "{share}");
        }
    }

    #[test]
    fn a_pause_is_the_end_of_every_period() {
        let left = |at| {
            let ms = Duration::from_millis;
            pause_left(ms(at), ms(100), ms(30)).as_millis()
        };
        assert_eq!(
            [left(0), left(69), left(70), left(99), left(170)],
            [0, 0, 30, 1, 30]
        );
    }

    #[test]
    fn a_rate_answers_the_rest_429() {
        let faults = Faults::new(Arc::default());
        let fault = Fault {
            status_rate_per_s: 0.001,
            ..Fault::default()
        };
        assert_eq!(faults.meet(&fault), Fate::Served(Duration::ZERO));
        assert_eq!(faults.meet(&fault), Fate::Refused(429));
        assert_eq!(faults.meet(&Fault::default()), Fate::Served(Duration::ZERO));
    }

    #[test]
    fn every_so_manieth_answer_is_slow() {
        let faults = Faults::new(Arc::default());
        let fault = Fault {
            slow_every: 3,
            slow_ms: 40.0,
            ..Fault::default()
        };
        let fates: Vec<_> = (0..6).map(|_| faults.meet(&fault)).collect();
        let (fast, slow) = (Fate::Served(Duration::ZERO), Fate::Served(ms(40.0)));
        assert_eq!(fates, [fast, fast, slow, fast, fast, slow]);
    }

    #[test]
    fn descriptors_are_held_and_given_back() {
        let faults = Faults::new(Arc::default());
        assert_eq!(faults.leak(5), 5);
        assert_eq!(faults.leak(2), 2);
        assert_eq!(faults.leak(0), 0);
    }
}
