//! In which order the streams ask, and what becomes of their times: power, throughput and both together.

use sokudo_pace::Random;

use super::queries::COUNT;

/// Orders of the questions: that of the power test, then those of the first streams of the throughput test.
/// Later streams have drawn ones.
const ORDERS: [[usize; COUNT]; 5] = [
    [
        14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12,
    ],
    [
        21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4,
    ],
    [
        6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21,
    ],
    [
        8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3,
    ],
    [
        5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20,
    ],
];
/// A time that is so many times shorter than the longest one counts as if it were that much shorter only.
const MOST_APART: f64 = 1000.0;

/// The order in which a stream asks; stream 0 is that of the power test.
pub(super) fn order(stream: u64) -> [usize; COUNT] {
    if let Some(order) = ORDERS.get(stream as usize) {
        return *order;
    }
    let mut random = Random::new(3, stream);
    let mut order = ORDERS[0];
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    order
}

/// Power: `3600 · SF / geometric mean` of the seconds of all questions and both refreshes.
pub(super) fn power(factor: f64, seconds: &[f64]) -> f64 {
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    let logarithms = seconds.iter().map(|s| s.max(longest / MOST_APART).ln());
    let mean = (logarithms.sum::<f64>() / seconds.len() as f64).exp();
    3600.0 * factor / mean
}

/// Throughput: `S · 22 · 3600 · SF / Ts` of S streams that took Ts together.
pub(super) fn throughput(factor: f64, streams: u64, seconds: f64) -> f64 {
    streams as f64 * COUNT as f64 * 3600.0 * factor / seconds
}

/// Both: their geometric mean.
pub(super) fn composite(power: f64, throughput: f64) -> f64 {
    (power * throughput).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_asks_every_question_once() {
        for stream in 0..40 {
            let mut order = order(stream);
            order.sort_unstable();
            assert!(order.into_iter().eq(1..=COUNT), "stream {stream}");
        }
        assert_ne!(order(5), order(6));
    }

    /// The figures of a published result sheet of 2005.
    #[test]
    fn the_composite_is_the_geometric_mean() {
        assert!((composite(336.99, 224.68) - 275.16).abs() < 0.005);
    }

    #[test]
    fn power_and_throughput_are_queries_per_hour() {
        // Each of the 24 takes two seconds: 1800 an hour, at a tenth of the size a tenth.
        assert!((power(1.0, &[2.0; 24]) - 1800.0).abs() < 1e-9);
        assert!((power(0.1, &[2.0; 24]) - 180.0).abs() < 1e-9);
        // Four streams of 22 questions in 88 s.
        assert!((throughput(1.0, 4, 88.0) - 3600.0).abs() < 1e-9);
        // A time of nearly nothing counts as a thousandth of the longest one.
        let with = |shortest| power(1.0, &[shortest, 10.0]);
        assert_eq!(with(1e-9), with(0.01));
        assert!((with(0.01) - 3600.0 / 0.1_f64.sqrt()).abs() < 1e-6);
        assert!(with(0.02) < with(0.01));
    }
}
