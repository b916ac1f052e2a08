//! Intervals that hold the true value of a measured figure with a stated confidence.
//!
//! | figure | interval | assumes |
//! |---|---|---|
//! | median of repeated runs | two of the values, by their ranks | runs are independent |
//! | percentile of one run | two values of its distribution, by their ranks | none where the distribution is known per batch |
//! | rate of one run | Student's t over the means of batches | batches are long against what lasts |
//!
//! Neither of the first two assumes a shape of the distribution: the number of values below a
//! quantile is binomial whatever they are (David and Nagaraja, "Order Statistics", section 7.1).
//! Within a run, neighbours resemble each other, and a run tells less than its number of samples
//! says. How much less follows from batches: the variance between them over the variance that
//! independent samples would have (batch means; Law, "Simulation Modeling and Analysis", section
//! 9.5), with what is left between neighbouring batches taken from their autocorrelation.

use crate::histogram::Histogram;

/// Confidence that is aimed at.
pub const LEVEL: f64 = 0.95;
/// Probability beyond either end.
const TAIL: f64 = (1.0 - LEVEL) / 2.0;
/// Fewest batches of a rate.
pub const MIN_RATE_BATCHES: usize = 10;
/// Fewest batches that tell how much neighbours resemble each other.
const MIN_BATCHES: usize = 5;
/// Independent batches that any batches tell as much as, at least: fewer leave no figure at all.
const FEWEST_INDEPENDENT: f64 = 4.0;
/// Expected values beyond a quantile from which the binomial distribution is as good as normal.
const NORMAL_FROM: f64 = 400.0;

/// An interval around a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that it holds the true value, 0 to 1.
    pub confidence: f64,
}

/// The median of repeated runs lies between two of their values. `None` below two finite values.
///
/// From six values on the confidence is at least [`LEVEL`]; fewer cannot say that much: then it is
/// the interval from the smallest to the largest value, with the confidence that it has.
pub fn of_median(values: &[f64]) -> Option<Interval> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as u64;
    if n < 2 {
        return None;
    }
    let (low, high) = match ranks(n, 0.5) {
        (Some(low), Some(high)) => (low, high),
        _ => (1, n),
    };
    let value = |rank: u64| sorted[(rank - 1) as usize];
    Some(Interval {
        low: value(low),
        high: value(high),
        confidence: confidence(n, low, high),
    })
}

/// The quantile `q` (between 0 and 1) of what a distribution was drawn from, in its own units.
///
/// `inflation` says how many samples tell as much as one independent sample; see
/// [`inflation`]. `None` when there are too few samples for both ends.
pub fn of_quantile(all: &Histogram, q: f64, inflation: f64) -> Option<Interval> {
    let independent = (all.len() as f64 / inflation.max(1.0)).floor();
    let (low, high) = ranks(independent as u64, q);
    let value = |rank: u64| all.quantile(rank as f64 / independent) as f64;
    Some(Interval {
        low: value(low?),
        high: value(high?),
        confidence: LEVEL,
    })
}

/// The factor by which the variance of a run's share of samples up to `limit` exceeds that of
/// independent samples, from the distributions of batches that follow each other. At least 1;
/// `None` for too few batches.
pub fn inflation<'a>(batches: impl IntoIterator<Item = &'a Histogram>, limit: u64) -> Option<f64> {
    let counts = batches.into_iter().filter(|batch| !batch.is_empty());
    let counts: Vec<(f64, f64)> = counts
        .map(|batch| (batch.len() as f64, up_to(batch, limit) as f64))
        .collect();
    let batches = counts.len() as f64;
    let (n, below) = counts.iter().fold((0.0, 0.0), |(n, below), (more, under)| {
        (n + more, below + under)
    });
    let share = below / n;
    let binomial = share * (1.0 - share) * n;
    if counts.len() < MIN_BATCHES || binomial <= 0.0 {
        return None;
    }
    let excess: Vec<f64> = counts.iter().map(|(n, below)| below - share * n).collect();
    let spread = Spread::of(&excess);
    let between = spread.variance * batches / binomial;
    let few = spread.point() / student(f64::INFINITY);
    Some((between * batches / spread.independent * few.powi(2)).max(1.0))
}

/// The mean of what the means of equally long batches were drawn from. `None` below
/// [`MIN_RATE_BATCHES`].
pub fn of_mean(batches: &[f64]) -> Option<Interval> {
    if batches.len() < MIN_RATE_BATCHES || batches.iter().any(|b| !b.is_finite()) {
        return None;
    }
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let excess: Vec<f64> = batches.iter().map(|batch| batch - mean).collect();
    let spread = Spread::of(&excess);
    let half = spread.point() * (spread.variance / spread.independent).sqrt();
    Some(Interval {
        low: mean - half,
        high: mean + half,
        confidence: LEVEL,
    })
}

/// The spread of batches that follow each other.
struct Spread {
    /// Variance of a batch.
    variance: f64,
    /// Independent batches that tell as much about the mean.
    independent: f64,
}

impl Spread {
    /// The spread of at least [`MIN_BATCHES`], from what each exceeds their mean by.
    fn of(excess: &[f64]) -> Self {
        let n = excess.len() as f64;
        let squares: f64 = excess.iter().map(|e| e * e).sum();
        let products: f64 = excess.windows(2).map(|pair| pair[0] * pair[1]).sum();
        if squares <= 0.0 {
            return Self {
                variance: 0.0,
                independent: n,
            };
        }
        // The estimate is too low by about (1 + 3ρ) / n (Kendall, Biometrika 41, 1954).
        let seen = products / squares;
        let correlation = (seen + (1.0 + 3.0 * seen.max(0.0)) / n).clamp(0.0, 0.99);
        let alike = ((1.0 + correlation) / (1.0 - correlation)).min(n / FEWEST_INDEPENDENT);
        // Batches that resemble each other lie nearer to their own mean than to the true one.
        let seen_of_variance = 1.0 - (alike - 1.0) / (n - 1.0);
        Self {
            variance: squares / (n - 1.0) / seen_of_variance,
            independent: n / alike,
        }
    }

    /// The point of Student's t for so few.
    fn point(&self) -> f64 {
        student(self.independent - 1.0)
    }
}

/// Samples in buckets that do not exceed `limit`.
fn up_to(batch: &Histogram, limit: u64) -> u64 {
    let below = batch.buckets().take_while(|bucket| bucket.high <= limit);
    below.map(|bucket| bucket.count).sum()
}

/// Ranks, from 1, of those of `n` sorted values beyond which the quantile `q` lies with at most
/// [`TAIL`] each; `None` for an end that so few values do not have.
fn ranks(n: u64, q: f64) -> (Option<u64>, Option<u64>) {
    if n == 0 || !(q > 0.0 && q < 1.0) {
        return (None, None);
    }
    // Values beyond a quantile are counted from the end of the distribution that is nearer.
    let beyond = n as f64 * q.min(1.0 - q);
    let (below, above) = match beyond > NORMAL_FROM {
        true => {
            let half = student(f64::INFINITY) * (n as f64 * q * (1.0 - q)).sqrt();
            let middle = n as f64 * q;
            let (low, high) = ((middle - half).floor(), (middle + half).ceil() + 1.0);
            return (
                Some(low.max(1.0) as u64),
                (high <= n as f64).then_some(high as u64),
            );
        }
        false => tails(n, q.min(1.0 - q)),
    };
    match q <= 0.5 {
        true => (below, above),
        false => (
            above.map(|rank| n + 1 - rank),
            below.map(|rank| n + 1 - rank),
        ),
    }
}

/// [`ranks`] for a quantile of at most one half, by adding up the binomial distribution.
fn tails(n: u64, q: f64) -> (Option<u64>, Option<u64>) {
    let (mut low, mut high) = (None, None);
    let mut seen = 0.0;
    for (fewer, probability) in (0..n).zip(binomial(n, q)) {
        seen += probability;
        if seen <= TAIL {
            low = Some(fewer + 1);
        }
        if seen >= 1.0 - TAIL {
            high = Some(fewer + 1);
            break;
        }
    }
    (low, high)
}

/// Probabilities that 0, 1, 2 … of `n` values lie below the quantile `q`, which is at most one half.
fn binomial(n: u64, q: f64) -> impl Iterator<Item = f64> {
    let first = (n as f64 * (1.0 - q).ln()).exp();
    (0..=n).scan(first, move |next, k| {
        let now = *next;
        *next *= (n - k) as f64 / (k + 1) as f64 * q / (1.0 - q);
        Some(now)
    })
}

/// Probability that the median lies between the values of these ranks.
fn confidence(n: u64, low: u64, high: u64) -> f64 {
    // Beyond this the first probability leaves the range of f64, and the level is met closely.
    const MOST: u64 = 1000;
    if n > MOST {
        return LEVEL;
    }
    let within = binomial(n, 0.5).take(high as usize).skip(low as usize);
    within.sum()
}

/// The 97.5 % point of Student's t with so many degrees of freedom, from 1 on.
fn student(freedom: f64) -> f64 {
    const TABLE: [(f64, f64); 16] = [
        (1.0, 12.706),
        (2.0, 4.303),
        (3.0, 3.182),
        (4.0, 2.776),
        (5.0, 2.571),
        (6.0, 2.447),
        (7.0, 2.365),
        (8.0, 2.306),
        (9.0, 2.262),
        (10.0, 2.228),
        (12.0, 2.179),
        (15.0, 2.131),
        (20.0, 2.086),
        (30.0, 2.042),
        (60.0, 2.000),
        (f64::INFINITY, 1.960),
    ];
    let freedom = freedom.max(1.0);
    let above = TABLE.iter().position(|(known, _)| *known >= freedom);
    let at = above.unwrap_or(TABLE.len() - 1).max(1);
    let ((fewer, larger), (more, smaller)) = (TABLE[at - 1], TABLE[at]);
    // Between two of them it is all but linear in the inverse.
    let share = (1.0 / fewer - 1.0 / freedom) / (1.0 / fewer - 1.0 / more);
    larger + (smaller - larger) * share
}

#[cfg(test)]
mod tests;
