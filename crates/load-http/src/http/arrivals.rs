//! Intended starts of the requests of an open loop.

use sokudo_pace::Random;

/// The intended starts of one thread's requests, in order.
#[derive(Debug)]
pub(crate) struct Arrivals {
    start_ns: i64,
    end_ns: i64,
    gap_ns: f64,
    /// Time since the start of the next one; its number when they are even.
    next: f64,
    /// Draws the gaps; `None` = all gaps are equal.
    random: Option<Random>,
}

impl Arrivals {
    /// Requests at `rate_per_s`, above 0, from `start_ns` until before `end_ns`.
    pub(crate) fn new(
        rate_per_s: f64,
        start_ns: i64,
        end_ns: i64,
        mut random: Option<Random>,
    ) -> Self {
        let gap_ns = 1e9 / rate_per_s;
        let next = random.as_mut().map_or(0.0, |random| gap(random, gap_ns));
        Self {
            start_ns,
            end_ns,
            gap_ns,
            next,
            random,
        }
    }

    /// Intended start of the next request; `None` after the last.
    pub(crate) fn take(&mut self) -> Option<i64> {
        let at_ns = self.next_ns();
        if at_ns >= self.end_ns {
            return None;
        }
        self.next += match &mut self.random {
            None => 1.0,
            Some(random) => gap(random, self.gap_ns),
        };
        Some(at_ns)
    }

    /// Another rate for all starts that were not taken yet, from `now_ns` on. What is overdue by
    /// the old rate is still due.
    pub(crate) fn change(&mut self, rate_per_s: f64, now_ns: i64) {
        let next_ns = self.next_ns();
        let gap_ns = 1e9 / rate_per_s;
        // The wait for the next start is as far gone as it was.
        let left = (next_ns.saturating_sub(now_ns) as f64 / self.gap_ns).max(0.0);
        let first_ns = match next_ns <= now_ns {
            true => next_ns,
            false => now_ns.saturating_add((left * gap_ns) as i64),
        };
        self.start_ns = first_ns;
        self.next = 0.0;
        self.gap_ns = gap_ns;
    }

    /// Intended start of the request after the last one that was taken, nanoseconds.
    pub(crate) fn next_ns(&self) -> i64 {
        let since_ns = match &self.random {
            // Multiplied, not added up: errors of rounding do not grow.
            None => self.next * self.gap_ns,
            Some(_) => self.next,
        };
        self.start_ns.saturating_add(since_ns as i64)
    }

    /// Requests at `from_ns` or later that were not taken and were due before `until_ns`; of random
    /// arrivals, as many as the rate says.
    pub(crate) fn left(&self, from_ns: i64, until_ns: i64) -> u64 {
        let from_ns = self.next_ns().max(from_ns);
        let span_ns = until_ns.min(self.end_ns).saturating_sub(from_ns).max(0);
        (span_ns as f64 / self.gap_ns).ceil() as u64
    }
}

/// An exponentially distributed gap: what lies between visitors who know nothing of each other.
fn gap(random: &mut Random, mean_ns: f64) -> f64 {
    -(1.0 - random.unit()).ln() * mean_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn even_arrivals_keep_their_times() {
        let mut arrivals = Arrivals::new(3.0, 7, 7 + 2 * S, None);
        let all: Vec<i64> = std::iter::from_fn(|| arrivals.take()).collect();
        assert_eq!(all.len(), 6);
        assert_eq!((all[0], all[3]), (7, 7 + S));
        assert_eq!(arrivals.left(0, i64::MAX), 0);
        let unused = Arrivals::new(3.0, 0, 2 * S, None);
        assert_eq!((unused.left(0, S), unused.left(S, 2 * S)), (3, 3));
    }

    #[test]
    fn another_rate_holds_from_its_moment_on() {
        let mut arrivals = Arrivals::new(10.0, 0, 2 * S, None);
        let before: Vec<i64> = (0..10).filter_map(|_| arrivals.take()).collect();
        assert_eq!(before[9], 9 * S / 10);
        // Half of the wait for the next one is over.
        arrivals.change(100.0, 95 * S / 100);
        let after: Vec<i64> = std::iter::from_fn(|| arrivals.take()).collect();
        assert_eq!(after[0], 955 * S / 1000);
        assert_eq!(after[1], 965 * S / 1000);
        assert_eq!(after.len(), 105);
    }

    #[test]
    fn random_arrivals_have_the_rate_and_its_spread() {
        let mut arrivals = Arrivals::new(1000.0, 0, 20 * S, Some(Random::new(1, 2)));
        let all: Vec<i64> = std::iter::from_fn(|| arrivals.take()).collect();
        // 20,000 expected, with a standard deviation of 141.
        assert!((19_300..20_700).contains(&all.len()), "{}", all.len());
        assert!(all.is_sorted());
        // Of exponential gaps, e⁻¹ = 36.8 % are longer than their mean.
        let long = all.windows(2).filter(|pair| pair[1] - pair[0] > S / 1000);
        let share = long.count() as f64 / all.len() as f64;
        assert!((0.34..0.40).contains(&share), "{share}");
    }
}
