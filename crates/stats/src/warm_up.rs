//! The end of a warm-up, by MSER-5.
//!
//! ```text
//! means of five observations each    2  5  8 │ 9 10  9 10 10  9 10 …
//!                              left out ◄────┤ the standard error of what is left is least here
//! ```
//!
//! Sources: K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", SIMULATION
//! 69(6), 1997; K. P. White, M. J. Cobb, S. C. Spratt, "A Comparison of Five Steady-State Truncation Heuristics",
//! Winter Simulation Conference 2000, for batches of five.

/// Observations of a batch.
const BATCH: usize = 5;
/// Batches below which nothing can be told: half of them are kept at least.
const FEWEST: usize = 4;

/// Number of observations at the begin that belong to the warm-up; at most half of them, and none of few.
pub fn mser5(observations: &[f64]) -> usize {
    let batches = observations.chunks_exact(BATCH);
    let means: Vec<f64> = batches.map(mean).collect();
    if means.len() < FEWEST || !means.iter().all(|mean| mean.is_finite()) {
        return 0;
    }
    let cuts = 0..=means.len() / 2;
    let best =
        cuts.min_by(|a, b| squared_error(&means[*a..]).total_cmp(&squared_error(&means[*b..])));
    best.unwrap_or(0) * BATCH
}

/// Square of the standard error of the mean, up to a constant.
fn squared_error(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64).powi(2)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observations around 100 that differ by up to 4.
    fn steady(n: usize) -> impl Iterator<Item = f64> {
        (0..n).map(|at| 100.0 + ((at * 7) % 9) as f64 - 4.0)
    }

    #[test]
    fn a_slow_begin_is_left_out() {
        let slow: Vec<f64> = [10.0, 25.0, 40.0, 60.0, 75.0, 85.0, 92.0]
            .into_iter()
            .chain(steady(53))
            .collect();
        let cut = mser5(&slow);
        assert!((5..=15).contains(&cut), "{cut}");
        assert!(mean(&slow[cut..]) > 98.0);
        // Whatever is left out of a steady one changes nothing.
        let steady: Vec<f64> = steady(45).collect();
        assert!((mean(&steady[mser5(&steady)..]) - 100.0).abs() < 1.0);
        assert_eq!(mser5(&[7.0; 60]), 0);
    }

    #[test]
    fn few_observations_and_what_is_no_number_tell_nothing() {
        assert_eq!(
            mser5(&[1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]),
            0
        );
        assert_eq!(mser5(&[]), 0);
        assert_eq!(mser5(&[f64::NAN; 40]), 0);
        // Never more than half.
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(mser5(&rising), 20);
    }
}
