//! Distribution of the service times of a phase, and whether it falls into two parts.

use sokudo_stats::Histogram;

use crate::quantities::exchange::Exchange;
use crate::view::PhaseView;

/// Histograms of one phase that are looked at.
const MAX_HISTOGRAMS: usize = 10_000;
/// Fewest requests in the slow part.
const FEW: u64 = 20;
/// Smallest and largest part of the requests that the slow part holds.
const PARTS: (f64, f64) = (0.004, 0.95);
/// Width of the gap between the parts in shares of the requests: so few lie in it.
const GAP: f64 = 0.005;
/// Times that the times after the gap are longer than those before it.
const APART: f64 = 3.0;

/// Service times that fall into a quick and a slow part with next to nothing between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoParts {
    /// Share of the requests in the slow part.
    pub slow_share: f64,
    /// Mean of the slow part, seconds.
    pub slow: f64,
    /// Mean of the quick part, seconds.
    pub quick: f64,
    /// Share of all service time in the slow part.
    pub time_share: f64,
}

/// Every service time of a phase, nanoseconds; `None` where the record holds none.
pub fn of(view: &PhaseView<'_>) -> Option<Histogram> {
    let numbers = Exchange::of(*view)?.numbers;
    let (t0, t1) = (view.phase.t0_ns, view.phase.t1_ns);
    [numbers.service, numbers.latency]
        .into_iter()
        .find_map(|metric| {
            let stored = view.record.histograms.iter();
            let inside =
                stored.filter(|h| h.key.metric == metric.name && h.t0_ns >= t0 && h.t0_ns < t1);
            let mut all = Histogram::new();
            // Bytes that are not a histogram say nothing.
            let each = inside.take(MAX_HISTOGRAMS);
            each.filter_map(|stored| Histogram::from_v2(&stored.hdr_v2).ok())
                .for_each(|one| all.merge(&one));
            (!all.is_empty()).then_some(all)
        })
}

/// Requests that took longer than so many seconds.
pub fn longer_than(view: &PhaseView<'_>, seconds: f64) -> Option<f64> {
    let all = of(view)?;
    let longer = all
        .buckets()
        .filter(|bucket| bucket.low as f64 * 1e-9 > seconds);
    Some(longer.map(|bucket| bucket.count).sum::<u64>() as f64)
}

/// Mean of the requests that took longer than so many seconds; `None` where none did.
pub fn mean_above(view: &PhaseView<'_>, seconds: f64) -> Option<f64> {
    let all = of(view)?;
    let (n, sum) = all
        .buckets()
        .map(|bucket| (bucket.low as f64 * 1e-9, bucket.count as f64))
        .filter(|(value, _)| *value > seconds)
        .fold((0.0, 0.0), |(n, sum), (value, count)| {
            (n + count, sum + value * count)
        });
    (n > 0.0).then(|| sum / n)
}

/// The two parts of a distribution, when it has them.
pub fn two_parts(all: &Histogram) -> Option<TwoParts> {
    let n = all.len() as f64;
    let buckets: Vec<(f64, u64)> = all
        .buckets()
        .filter(|bucket| bucket.count > 0)
        .map(|bucket| (bucket.low as f64 * 1e-9, bucket.count))
        .collect();
    let mut best: Option<(f64, f64)> = None;
    let mut before = 0u64;
    for (low, count) in &buckets {
        before += count;
        // The end of the gap: where the next few have been left out.
        let mut inside = before;
        let rest = buckets.iter().skip_while(|(value, _)| value <= low);
        for (value, more) in rest {
            let slow = 1.0 - inside as f64 / n;
            let ratio = value / low.max(1e-9);
            let fits = (PARTS.0..=PARTS.1).contains(&slow) && slow * n >= FEW as f64;
            if fits && ratio >= APART && best.is_none_or(|(known, _)| ratio > known) {
                best = Some((ratio, (low * value).sqrt()));
            }
            inside += more;
            if (inside - before) as f64 > GAP * n {
                break;
            }
        }
    }
    let (_, bound) = best?;
    let part = |of: &dyn Fn(f64) -> bool| {
        let own = buckets.iter().filter(|(value, _)| of(*value));
        own.fold((0.0, 0.0), |(n, sum), (value, count)| {
            (n + *count as f64, sum + value * *count as f64)
        })
    };
    let (slow, quick) = (part(&|value| value > bound), part(&|value| value <= bound));
    (quick.0 > 0.0).then(|| TwoParts {
        slow_share: slow.0 / n,
        slow: slow.1 / slow.0,
        quick: quick.1 / quick.0,
        time_share: slow.1 / (slow.1 + quick.1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ms(values: impl Iterator<Item = (f64, u64)>) -> Histogram {
        let mut all = Histogram::new();
        values.for_each(|(ms, n)| all.record_n((ms * 1e6) as u64, n));
        all
    }

    #[test]
    fn a_slow_part_apart_from_the_rest_is_found() {
        let two = of_ms([(2.0, 900), (2.5, 50), (40.0, 2), (100.0, 48)].into_iter());
        let parts = two_parts(&two).expect("two parts");
        assert!((parts.slow_share - 0.05).abs() < 0.003, "{parts:?}");
        assert!((parts.slow - 0.1).abs() < 0.01 && (parts.quick - 0.002).abs() < 0.001);
        assert!(parts.time_share > 0.6);
    }

    #[test]
    fn one_part_with_a_long_tail_is_not_two() {
        // Exponential times: each decile is a little longer.
        let tail = (1..1000).map(|i| (-(1.0 - f64::from(i) / 1000.0).ln() * 10.0, 10));
        assert_eq!(two_parts(&of_ms(tail)), None);
        assert_eq!(two_parts(&of_ms([(2.0, 1000)].into_iter())), None);
        // A handful of outliers does not form a part of its own.
        assert_eq!(
            two_parts(&of_ms([(2.0, 10_000), (500.0, 5)].into_iter())),
            None
        );
    }
}
