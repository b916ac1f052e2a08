//! Random numbers of the distributions that pgbench has: `random_zipfian` and its like.
//!
//! A bound belongs to its range. Sources: pgbench(1) for the distributions and their parameters; Luc Devroye,
//! Non-Uniform Random Variate Generation, chapter X.6, for the rejection of the zipfian one.

use sokudo_pace::Random;

use super::scalar::Fault;

/// Least parameter of a normal distribution that is cut off at both ends.
pub(super) const LEAST_GAUSSIAN: f64 = 2.0;
/// Parameters that a zipfian distribution may have.
pub(super) const ZIPFIAN: (f64, f64) = (1.001, 1000.0);

/// A distribution over whole numbers from a least to a most one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Distribution {
    /// Each is as likely as any other.
    Uniform,
    /// The lower, the more likely; the parameter says how much.
    Exponential(f64),
    /// The nearer to the middle, the more likely; the parameter is half the range in standard deviations.
    Gaussian(f64),
    /// The k-th is drawn in proportion to `1 / k^s`.
    Zipfian(f64),
}

impl Distribution {
    /// True for a parameter that the distribution has.
    pub(super) fn is_valid(self) -> bool {
        match self {
            Self::Uniform => true,
            Self::Exponential(parameter) => parameter > 0.0 && parameter.is_finite(),
            Self::Gaussian(parameter) => parameter >= LEAST_GAUSSIAN && parameter.is_finite(),
            Self::Zipfian(s) => (ZIPFIAN.0..=ZIPFIAN.1).contains(&s),
        }
    }

    /// A number from `least` to `most`.
    ///
    /// Errors: the order is wrong, the range has no room in 64 bits, or the parameter is not valid.
    pub(super) fn draw(self, random: &mut Random, least: i64, most: i64) -> Result<i64, Fault> {
        let range = most
            .checked_sub(least)
            .and_then(|width| width.checked_add(1));
        let range = range.filter(|range| *range > 0 && self.is_valid());
        let range = range.ok_or(Fault::Distribution)?;
        // A share that rounds up to 1 is still within.
        let at = |share: f64| least + ((range as f64 * share) as i64).clamp(0, range - 1);
        Ok(match self {
            Self::Uniform => random.between(least, most),
            Self::Exponential(parameter) => at(exponential(random, parameter)),
            Self::Gaussian(parameter) => at(gaussian(random, parameter)),
            Self::Zipfian(s) => least - 1 + zipfian(random, range, s),
        })
    }
}

/// From 0 to below 1: exponential, cut off.
fn exponential(random: &mut Random, parameter: f64) -> f64 {
    let cut = (-parameter).exp();
    let above_0 = 1.0 - random.unit();
    -(cut + (1.0 - cut) * above_0).ln() / parameter
}

/// From 0 to below 1: normal around the middle, drawn again outside of so many deviations.
fn gaussian(random: &mut Random, parameter: f64) -> f64 {
    loop {
        let deviations = random.normal();
        if (-parameter..parameter).contains(&deviations) {
            return (deviations + parameter) / (2.0 * parameter);
        }
    }
}

/// From 1 to `n`, the k-th in proportion to `1 / k^s`, s above 1.
fn zipfian(random: &mut Random, n: i64, s: f64) -> i64 {
    let power = s - 1.0;
    let b = power.exp2();
    loop {
        let (u, v) = (1.0 - random.unit(), random.unit());
        let x = u.powf(-1.0 / power).floor();
        let t = (1.0 + 1.0 / x).powf(power);
        if x <= n as f64 && v * x * (t - 1.0) / (b - 1.0) <= t / b {
            return (x as i64).clamp(1, n);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Share of each of 1..=n in many draws.
    fn shares(distribution: Distribution, n: usize) -> Vec<f64> {
        const DRAWS: usize = 200_000;
        let mut random = Random::new(11, 0);
        let mut counts = vec![0.0; n];
        for _ in 0..DRAWS {
            let drawn = distribution.draw(&mut random, 1, n as i64).expect("valid");
            counts[drawn as usize - 1] += 1.0 / DRAWS as f64;
        }
        counts
    }

    fn near(distribution: Distribution, density: impl Fn(f64) -> f64) {
        let n = 20;
        let weights: Vec<f64> = (1..=n).map(|k| density(k as f64)).collect();
        let all: f64 = weights.iter().sum();
        for (share, weight) in shares(distribution, n).iter().zip(&weights) {
            assert!(
                (share - weight / all).abs() < 0.005,
                "{distribution:?} {share} {weight}"
            );
        }
    }

    #[test]
    fn numbers_are_drawn_as_their_distributions_say() {
        near(Distribution::Uniform, |_| 1.0);
        near(Distribution::Zipfian(1.5), |k| k.powf(-1.5));
        near(Distribution::Exponential(4.0), |k| {
            (-4.0 * (k - 1.0) / 20.0).exp()
        });
        // The mass of each twentieth of five deviations on either side; by the density of its middle.
        near(Distribution::Gaussian(2.5), |k| {
            let deviations = (k - 0.5) / 20.0 * 5.0 - 2.5;
            (-deviations * deviations / 2.0).exp()
        });
    }

    proptest! {
        #[test]
        fn bounds_hold(seed: u64, least: i64, width in 0..1_000_000_i64, parameter in 1.001..1000.0) {
            let most = least.saturating_add(width);
            let mut random = Random::new(seed, 0);
            for distribution in [
                Distribution::Uniform,
                Distribution::Exponential(parameter),
                Distribution::Gaussian(parameter),
                Distribution::Zipfian(parameter),
            ] {
                match distribution.draw(&mut random, least, most) {
                    Ok(drawn) => prop_assert!((least..=most).contains(&drawn)),
                    Err(_) => prop_assert!(!distribution.is_valid()),
                }
            }
        }
    }

    #[test]
    fn wrong_bounds_and_parameters_are_refused() {
        let mut random = Random::new(1, 1);
        for (distribution, least, most) in [
            (Distribution::Uniform, 2, 1),
            (Distribution::Uniform, i64::MIN, i64::MAX),
            (Distribution::Zipfian(1.0), 1, 2),
            (Distribution::Gaussian(1.9), 1, 2),
            (Distribution::Exponential(0.0), 1, 2),
            (Distribution::Exponential(f64::NAN), 1, 2),
        ] {
            let drawn = distribution.draw(&mut random, least, most);
            assert_eq!(drawn, Err(Fault::Distribution), "{distribution:?}");
        }
    }
}
