//! Pauses of a user between requests.
//!
//! The distributions of JMeter's timers, in whole milliseconds as there: each draw is cut to a
//! whole number. A pause is never negative because the *absolute value* is taken, which moves the
//! mean: a Gaussian pause of 500 ± 500 ms has a mean of 583 ms, not 500.

use crate::Random;

/// Distribution of a pause. All fields are milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Always the same.
    Constant {
        /// The pause.
        delay_ms: f64,
    },
    /// Any value from the offset on, equally likely.
    Uniform {
        /// Least pause.
        offset_ms: f64,
        /// Width of the range above it.
        range_ms: f64,
    },
    /// |N(0, 1) · deviation + offset|.
    Gaussian {
        /// Middle of the distribution before the absolute value.
        offset_ms: f64,
        /// Its deviation before the absolute value.
        deviation_ms: f64,
    },
    /// The offset and a Poisson-distributed number of milliseconds.
    Poisson {
        /// Least pause.
        offset_ms: f64,
        /// Mean of what is added.
        lambda_ms: f64,
    },
}

impl Think {
    /// One pause in whole milliseconds.
    pub fn draw_ms(&self, random: &mut Random) -> u64 {
        let drawn = match *self {
            Self::Constant { delay_ms } => delay_ms.max(0.0),
            Self::Uniform {
                offset_ms,
                range_ms,
            } => random.unit() * range_ms + offset_ms,
            Self::Gaussian {
                offset_ms,
                deviation_ms,
            } => random.normal() * deviation_ms + offset_ms,
            Self::Poisson {
                offset_ms,
                lambda_ms,
            } => offset_ms + random.poisson(lambda_ms) as f64,
        };
        // A float becomes the nearest number that fits, and 0 when it is none.
        drawn.abs() as u64
    }

    /// Mean pause in milliseconds, before it is cut to a whole number.
    pub fn mean_ms(&self) -> f64 {
        match *self {
            Self::Constant { delay_ms } => delay_ms.max(0.0),
            Self::Uniform {
                offset_ms,
                range_ms,
            } => uniform_mean(offset_ms, offset_ms + range_ms),
            Self::Gaussian {
                offset_ms,
                deviation_ms,
            } => folded_mean(offset_ms, deviation_ms.abs()),
            Self::Poisson {
                offset_ms,
                lambda_ms,
            } => (offset_ms + lambda_ms.max(0.0)).abs(),
        }
    }
}

/// Mean of |U(a, b)|.
fn uniform_mean(a: f64, b: f64) -> f64 {
    let (a, b) = (a.min(b), a.max(b));
    if a >= 0.0 || b <= 0.0 || a == b {
        return (a + b).abs() / 2.0;
    }
    (a * a + b * b) / (2.0 * (b - a))
}

/// Mean of |N(mu, sigma)|: sigma·√(2/π)·exp(−mu²/2sigma²) + mu·(1 − 2·Φ(−mu/sigma)).
fn folded_mean(mu: f64, sigma: f64) -> f64 {
    if sigma == 0.0 {
        return mu.abs();
    }
    let ratio = mu / sigma;
    let bell = (2.0 / std::f64::consts::PI).sqrt() * (-ratio * ratio / 2.0).exp();
    sigma * bell + mu * erf(ratio / std::f64::consts::SQRT_2)
}

/// The error function, to about 1.2e-7 (Abramowitz and Stegun 7.1.26 is 1.5e-7).
fn erf(x: f64) -> f64 {
    const A: [f64; 5] = [
        0.254829592,
        -0.284496736,
        1.421413741,
        -1.453152027,
        1.061405429,
    ];
    let t = 1.0 / (1.0 + 0.3275911 * x.abs());
    let sum = A.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_pause_of_500_and_500_has_a_mean_of_583() {
        let think = Think::Gaussian {
            offset_ms: 500.0,
            deviation_ms: 500.0,
        };
        assert!((think.mean_ms() - 583.3).abs() < 0.1, "{}", think.mean_ms());
    }

    #[test]
    fn draws_have_the_stated_mean() {
        let all = [
            Think::Constant { delay_ms: 250.0 },
            Think::Uniform {
                offset_ms: 100.0,
                range_ms: 300.0,
            },
            Think::Uniform {
                offset_ms: -100.0,
                range_ms: 300.0,
            },
            Think::Gaussian {
                offset_ms: 500.0,
                deviation_ms: 500.0,
            },
            Think::Gaussian {
                offset_ms: 0.0,
                deviation_ms: 100.0,
            },
            Think::Gaussian {
                offset_ms: 300.0,
                deviation_ms: 100.0,
            },
            Think::Poisson {
                offset_ms: 300.0,
                lambda_ms: 100.0,
            },
        ];
        let mut random = Random::new(42, 0);
        for think in all {
            const N: u64 = 50_000;
            let sum: u64 = (0..N).map(|_| think.draw_ms(&mut random)).sum();
            // Cutting to whole milliseconds takes half of one off, except where there is nothing
            // to cut.
            let drawn = sum as f64 / N as f64;
            let off = (drawn - think.mean_ms()).abs();
            assert!(off < 0.02 * think.mean_ms() + 1.0, "{think:?}: {drawn}");
        }
    }

    #[test]
    fn odd_numbers_are_no_pause() {
        let mut random = Random::new(1, 1);
        for odd in [f64::NAN, f64::NEG_INFINITY, -5.0] {
            let think = Think::Constant { delay_ms: odd };
            assert_eq!(think.draw_ms(&mut random), 0, "{odd}");
        }
    }
}
