//! The universal scalability law, fitted to throughput over concurrency.
//!
//! `X(N) = λN / (1 + σ(N - 1) + κN(N - 1))`: σ is the share that requests serialise, κ what they
//! cost each other. It knows no pauses: where users think, it is fitted to users in the system.

/// A fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// Throughput of one user, requests per second.
    pub lambda: f64,
    /// Contention, 0 to 1.
    pub sigma: f64,
    /// Coherency, at least 0.
    pub kappa: f64,
}

/// Fewest points.
pub const MIN_POINTS: usize = 6;

impl Usl {
    /// Fits `(users, requests per second)` by least squares of `N/X`, which is linear in the three
    /// parameters, relative to its size. `None` for fewer than [`MIN_POINTS`] usable points, or where
    /// the best fit has no meaning (a negative parameter beyond rounding).
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let usable = points.iter().filter(|(n, x)| *n >= 1.0 && *x > 0.0);
        let usable: Vec<(f64, f64)> = usable.map(|(n, x)| (*n, n / x)).collect();
        if usable.len() < MIN_POINTS {
            return None;
        }
        let mut sums = [[0.0; 4]; 3];
        for (n, time) in usable {
            let weight = 1.0 / (time * time);
            let row = [1.0, n - 1.0, n * (n - 1.0)];
            for (i, left) in row.iter().enumerate() {
                for (j, right) in row.iter().enumerate() {
                    sums[i][j] += weight * left * right;
                }
                sums[i][3] += weight * left * time;
            }
        }
        let [base, contention, coherency] = solve(sums)?;
        let (sigma, kappa) = (contention / base, coherency / base);
        let sound = base > 0.0 && sigma > -0.01 && kappa > -1e-6;
        sound.then(|| Self {
            lambda: 1.0 / base,
            sigma: sigma.max(0.0),
            kappa: kappa.max(0.0),
        })
    }

    /// Requests per second of `n` users.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// Users with the highest throughput; `None` when it rises without bound.
    pub fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt();
        (peak.is_finite() && peak >= 1.0).then_some(peak)
    }
}

/// Solves three linear equations by elimination with row exchange.
fn solve(mut m: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for at in 0..3 {
        let best = (at..3).max_by(|a, b| m[*a][at].abs().total_cmp(&m[*b][at].abs()))?;
        m.swap(at, best);
        let pivot = m[at];
        if pivot[at].abs() < 1e-300 {
            return None;
        }
        for (row, line) in m.iter_mut().enumerate() {
            if row != at {
                let factor = line[at] / pivot[at];
                for (value, from) in line.iter_mut().zip(pivot) {
                    *value -= factor * from;
                }
            }
        }
    }
    let out = [m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]];
    out.iter().all(|value| value.is_finite()).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_follows_the_law_is_found_again(lambda in 1.0f64..10_000.0, sigma in 0.0f64..0.3, kappa in 1e-5f64..0.01) {
            let law = Usl { lambda, sigma, kappa };
            let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, law.at(n))).into();
            let fit = Usl::fit(&points).unwrap();
            prop_assert!((fit.lambda / lambda - 1.0).abs() < 1e-6);
            prop_assert!((fit.sigma - sigma).abs() < 1e-6 && (fit.kappa - kappa).abs() < 1e-6);
            let peak = fit.peak().unwrap();
            prop_assert!(law.at(peak) >= law.at(peak * 1.1) && law.at(peak) >= law.at(peak * 0.9));
        }

        #[test]
        fn whatever_the_points_it_answers(points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..12)) {
            if let Some(fit) = Usl::fit(&points) {
                prop_assert!(fit.lambda.is_finite() && fit.sigma >= 0.0 && fit.kappa >= 0.0);
            }
        }
    }

    #[test]
    fn few_points_have_no_fit() {
        let points: Vec<(f64, f64)> = (1..=5).map(|n| (f64::from(n), f64::from(n))).collect();
        assert_eq!(Usl::fit(&points), None);
    }
}
