//! Waits of one stage: how many, their sum, and how they are distributed.

use std::time::Duration;

use serde::Serialize;

/// Number of bounded classes. Class `k` holds waits up to `2^k` microseconds: 1 µs to 134 s.
pub(crate) const CLASSES: usize = 28;

/// Waits of one stage since the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    /// By class; the last one holds what is longer than all bounds.
    pub(crate) classes: [u64; CLASSES + 1],
}

/// Waits as the admin port tells them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitStats {
    /// Waits so far.
    pub count: u64,
    /// Their sum: divided by the elapsed time it is the mean number that waited (Little's law).
    pub seconds_total: f64,
    /// Mean; missing before the first.
    pub seconds_mean: Option<f64>,
    /// Bound of the class that holds the median.
    pub seconds_p50: Option<f64>,
    /// The same for 99 of 100.
    pub seconds_p99: Option<f64>,
}

impl Waits {
    /// Counts one wait.
    #[inline]
    pub(crate) fn add(&mut self, wait: Duration) {
        let ns = wait.as_nanos() as u64;
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        let us = ns.div_ceil(1000).max(1);
        let class = (u64::BITS - (us - 1).leading_zeros()) as usize;
        self.classes[class.min(CLASSES)] += 1;
    }

    /// Upper bound of a class, seconds.
    pub(crate) fn bound_s(class: usize) -> f64 {
        (1u64 << class) as f64 / 1e6
    }

    fn quantile_s(&self, share: f64) -> Option<f64> {
        let wanted = (self.count as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(Self::bound_s(class.min(CLASSES - 1)))
    }

    pub(crate) fn stats(&self) -> WaitStats {
        let seconds_total = self.sum_ns as f64 / 1e9;
        WaitStats {
            count: self.count,
            seconds_total,
            seconds_mean: (self.count > 0).then(|| seconds_total / self.count as f64),
            seconds_p50: self.quantile_s(0.5),
            seconds_p99: self.quantile_s(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_into_the_class_that_bounds_them() {
        let check = |ns: u64, class: usize| {
            let mut waits = Waits::default();
            waits.add(Duration::from_nanos(ns));
            assert_eq!(waits.classes[class], 1, "{ns} ns: {:?}", waits.classes);
        };
        check(0, 0);
        check(1_000, 0);
        check(1_001, 1);
        check(2_000, 1);
        check(2_001, 2);
        check(1_000_000, 10);
        check(u64::MAX, CLASSES);
    }

    #[test]
    fn quantiles_name_the_bound_of_their_class() {
        let mut waits = Waits::default();
        assert_eq!(waits.stats().seconds_mean, None);
        assert_eq!(waits.stats().seconds_p50, None);
        for _ in 0..98 {
            waits.add(Duration::from_micros(3));
        }
        for _ in 0..2 {
            waits.add(Duration::from_micros(900));
        }
        let stats = waits.stats();
        assert_eq!(stats.count, 100);
        assert_eq!(stats.seconds_p50, Some(4e-6));
        assert_eq!(stats.seconds_p99, Some(1024e-6));
        assert!((stats.seconds_total - (98.0 * 3e-6 + 2.0 * 900e-6)).abs() < 1e-12);
    }
}
