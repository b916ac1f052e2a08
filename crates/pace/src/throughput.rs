//! Delays requests so that a given rate is kept.
//!
//! Two answers that JMeter's timers give. [`AtMost`] keeps a gap after the request before and
//! forgets what it missed. [`Exactly`] spreads a known number of arrivals at random over a time,
//! so that bursts look like those of independent people and the number is still met.

use crate::Random;

/// Requests at no more than a rate: a missed one is not caught up.
///
/// The gap is an argument because it may change while the load runs: with the number of active
/// users, or with an expression.
#[derive(Debug, Clone, Default)]
pub struct AtMost {
    previous_ms: Option<i64>,
}

impl AtMost {
    /// Milliseconds that the request of `now_ms` has to wait when requests are `gap_ms` apart.
    pub fn wait_ms(&mut self, now_ms: i64, gap_ms: i64) -> u64 {
        let due = match self.previous_ms {
            Some(previous) => previous.saturating_add(gap_ms.max(0)).max(now_ms),
            None => now_ms,
        };
        self.previous_ms = Some(due);
        due.abs_diff(now_ms)
    }
}

/// A number of arrivals at random moments of a time, in order: a Poisson process of which the
/// total is known. Needs no memory for the moments to come.
#[derive(Debug, Clone)]
pub struct Exactly {
    left: u64,
    at_s: f64,
    end_s: f64,
    random: Random,
}

impl Exactly {
    /// `arrivals` of them within `duration_s` from 0.
    pub fn new(arrivals: u64, duration_s: f64, random: Random) -> Self {
        Self {
            left: arrivals,
            at_s: 0.0,
            end_s: duration_s.max(0.0),
            random,
        }
    }
}

impl Iterator for Exactly {
    type Item = f64;

    /// Seconds of the next arrival after the start.
    fn next(&mut self) -> Option<f64> {
        if self.left == 0 {
            return None;
        }
        // The least of n numbers spread evenly over what is left: 1 − U^(1/n) of it.
        let share = 1.0 - self.random.unit().powf((self.left as f64).recip());
        self.at_s += (self.end_s - self.at_s) * share;
        self.left -= 1;
        Some(self.at_s)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gap_is_kept_and_a_late_request_is_not_caught_up() {
        let mut pace = AtMost::default();
        assert_eq!(pace.wait_ms(1_000, 100), 0);
        assert_eq!(pace.wait_ms(1_010, 100), 90);
        assert_eq!(pace.wait_ms(1_500, 100), 0);
        assert_eq!(pace.wait_ms(1_501, 100), 99);
    }

    #[test]
    fn arrivals_are_spread_evenly() {
        let all: Vec<f64> = Exactly::new(10_000, 100.0, Random::new(3, 0)).collect();
        for tenth in 0..10 {
            let from = f64::from(tenth) * 10.0;
            let inside = all
                .iter()
                .filter(|at| (from..from + 10.0).contains(*at))
                .count();
            assert!((880..1120).contains(&inside), "{inside} in tenth {tenth}");
        }
    }

    proptest! {
        #[test]
        fn the_number_is_exact_and_the_order_kept(count in 0u64..500, duration in 0.0f64..1e6, seed: u64) {
            let all: Vec<f64> = Exactly::new(count, duration, Random::new(seed, 0)).collect();
            prop_assert_eq!(all.len() as u64, count);
            prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(all.iter().all(|at| (0.0..=duration).contains(at)));
        }
    }
}
