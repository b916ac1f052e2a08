//! The spread of repeated trials of the same measurement.
//!
//! Made for the handful of values that repeated trials give: nothing assumes a normal distribution,
//! nothing draws random numbers.

use crate::interval::{self, Interval};

/// Location and spread of a set of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Finite values.
    pub n: usize,
    /// Smallest.
    pub min: f64,
    /// First quartile, linear between neighbours.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile, linear between neighbours.
    pub q3: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); `None` for one value.
    pub sd: Option<f64>,
    /// Interval of the median; `None` for one value.
    pub interval: Option<Interval>,
}

/// The spread of `values`; those that are not finite are left out. `None` when none remain.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let mean = sorted.iter().map(|v| v / n as f64).sum::<f64>();
    let sd = (n > 1).then(|| {
        let squares: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
        (squares / (n - 1) as f64).sqrt()
    });
    Some(Spread {
        n,
        min,
        q1: between(&sorted, 0.25),
        median: between(&sorted, 0.5),
        q3: between(&sorted, 0.75),
        max,
        mean,
        sd,
        interval: interval::of_median(&sorted),
    })
}

impl Spread {
    /// Distance between the quartiles over the median: a doubt that one outlier cannot inflate.
    /// `None` when the median is 0.
    pub fn relative_iqr(&self) -> Option<f64> {
        (self.median != 0.0).then(|| (self.q3 - self.q1) / self.median.abs())
    }
}

/// Quantile by linear interpolation between order statistics (Hyndman and Fan, type 7).
/// `sorted` is not empty.
fn between(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    let share = at - below as f64;
    sorted[below] * (1.0 - share) + sorted[above] * share
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_spread() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[f64::NAN]), None);
    }

    #[test]
    fn one_value_has_no_deviation() {
        let s = spread(&[3.0]).unwrap();
        assert_eq!((s.n, s.median, s.sd, s.interval), (1, 3.0, None, None));
    }

    #[test]
    fn known_values() {
        let s = spread(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(
            (s.min, s.q1, s.median, s.q3, s.max),
            (1.0, 2.0, 3.0, 4.0, 5.0)
        );
        assert!((s.mean - 3.0).abs() < 1e-12);
        assert!((s.sd.unwrap() - 2.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(s.relative_iqr(), Some(2.0 / 3.0));
    }

    proptest! {
        #[test]
        fn order_holds(values in prop::collection::vec(-1e9f64..1e9, 1..80)) {
            let s = spread(&values).unwrap();
            prop_assert!(s.min <= s.q1 && s.q1 <= s.median && s.median <= s.q3 && s.q3 <= s.max);
            prop_assert!(s.min <= s.mean + 1e-3 && s.mean <= s.max + 1e-3);
        }
    }
}
