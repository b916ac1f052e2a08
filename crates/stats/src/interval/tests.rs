//! Coverage of the intervals: how often they hold the truth, by simulation from a seed.

use proptest::prelude::*;

use super::*;

/// Seeded random numbers (SplitMix64).
struct Seeded(u64);

impl Seeded {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * (-53f64).exp2()
    }

    /// Exponential with mean 1.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Share of `sets` in which the interval that `one` makes holds `truth`.
fn coverage(sets: u32, truth: f64, mut one: impl FnMut(&mut Seeded) -> Interval) -> f64 {
    let mut random = Seeded(4);
    let held = (0..sets).filter(|_| {
        let interval = one(&mut random);
        interval.low <= truth && truth <= interval.high
    });
    f64::from(held.count() as u32) / f64::from(sets)
}

#[test]
fn ranks_of_the_median_agree_with_published_tables() {
    // Ranks for the sign-test interval of the median at 95 %.
    let table = [
        (5, None),
        (6, Some(1)),
        (8, Some(1)),
        (9, Some(2)),
        (10, Some(2)),
        (15, Some(4)),
        (20, Some(6)),
        (25, Some(8)),
    ];
    for (n, rank) in table {
        let opposite = rank.map(|rank| n + 1 - rank);
        assert_eq!(ranks(n, 0.5), (rank, opposite), "n = {n}");
    }
}

#[test]
fn exact_and_approximate_ranks_meet() {
    for (n, more) in [(800, 801), (40_000, 40_001)] {
        let q = NORMAL_FROM / n as f64;
        for q in [q, 1.0 - q] {
            let (exact, normal) = (ranks(n, q), ranks(more, q + 1e-9));
            let near = |a: Option<u64>, b: Option<u64>| a.unwrap().abs_diff(b.unwrap()) <= 3;
            assert!(
                near(exact.0, normal.0) && near(exact.1, normal.1),
                "{exact:?} {normal:?}"
            );
        }
    }
}

#[test]
fn few_runs_say_how_little_they_say() {
    assert_eq!(of_median(&[3.0, f64::NAN]), None);
    for (n, confidence) in [(2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.96875)] {
        let values: Vec<f64> = (0..n).map(f64::from).collect();
        let interval = of_median(&values).unwrap();
        assert_eq!((interval.low, interval.high), (0.0, f64::from(n - 1)));
        assert!((interval.confidence - confidence).abs() < 1e-12, "{n}");
    }
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    let interval = of_median(&ten).unwrap();
    assert_eq!((interval.low, interval.high), (2.0, 9.0));
    assert!((interval.confidence - 0.978_515_625).abs() < 1e-12);
}

#[test]
fn a_percentile_needs_samples_beyond_it() {
    let of = |n: u64| {
        let mut all = Histogram::new();
        (0..n).for_each(|value| all.record(value));
        all
    };
    assert_eq!(of_quantile(&of(0), 0.5, 1.0), None);
    assert_eq!(of_quantile(&of(300), 0.99, 1.0), None, "p99 of 300");
    assert!(of_quantile(&of(400), 0.99, 1.0).is_some());
    assert_eq!(of_quantile(&of(400), 0.99, 2.0), None, "as much as 200");
}

#[test]
fn the_t_distribution_is_that_of_the_tables() {
    let table = [
        (0.5, 12.706),
        (1.0, 12.706),
        (9.0, 2.262),
        (25.0, 2.060),
        (120.0, 1.980),
    ];
    for (freedom, point) in table {
        assert!(
            (student(freedom) - point).abs() < 0.002,
            "{freedom}: {}",
            student(freedom)
        );
    }
    assert!((student(f64::INFINITY) - 1.96).abs() < 1e-9);
}

/// The A/A test: runs of one system that differ as `rr` over loopback does, in groups of very
/// different speed.
#[test]
fn the_median_of_equal_runs_is_covered() {
    let speed = |random: &mut Seeded| {
        let placement = [17e3, 45e3, 70e3][(random.unit() * 3.0) as usize];
        placement * (1.0 + 0.05 * random.normal())
    };
    // The middle one of three equally frequent groups, at its own middle.
    for runs in [6, 9, 20] {
        let held = coverage(20_000, 45e3, |random| {
            let values: Vec<f64> = (0..runs).map(|_| speed(random)).collect();
            of_median(&values).unwrap()
        });
        assert!(held >= LEVEL, "{runs} runs: {held}");
    }
    let held = coverage(20_000, 45e3, |random| {
        let values: Vec<f64> = (0..4).map(|_| speed(random)).collect();
        of_median(&values).unwrap()
    });
    assert!(
        (held - 0.875).abs() < 0.01,
        "the confidence of four runs: {held}"
    );
}

#[test]
fn percentiles_of_independent_samples_are_covered() {
    for (n, q) in [(500, 0.5), (2_000, 0.99), (100_000, 0.999)] {
        let truth = (-(1.0f64 - q).ln() * 1e6).round();
        let sets = 40_000_000 / n / 10;
        let held = coverage(sets.min(2_000), truth, |random| {
            let mut all = Histogram::new();
            (0..n).for_each(|_| all.record((random.exponential() * 1e6) as u64));
            of_quantile(&all, q, 1.0).unwrap()
        });
        // Two deviations of the simulation below the level.
        assert!(held >= 0.935, "p{q} of {n}: {held}");
    }
}

/// Latencies that rise and fall together: independent samples would claim far too much.
#[test]
fn percentiles_of_samples_that_resemble_each_other_are_covered() {
    const BATCHES: usize = 30;
    const SAMPLES_OF_EACH: usize = 150;
    // A level that lasts, times an exponential.
    let run = |random: &mut Seeded| {
        let mut level = random.normal();
        let parts = (0..BATCHES).map(|_| {
            let mut part = Histogram::new();
            for _ in 0..SAMPLES_OF_EACH {
                level = 0.95 * level + 0.312 * random.normal();
                part.record((1e6 * (0.5 * level).exp() * random.exponential()) as u64);
            }
            part
        });
        parts.collect::<Vec<_>>()
    };
    let merged = |parts: &[Histogram]| {
        let mut all = Histogram::new();
        parts.iter().for_each(|part| all.merge(part));
        all
    };
    let mut random = Seeded(11);
    let mut pooled = Histogram::new();
    (0..200).for_each(|_| pooled.merge(&merged(&run(&mut random))));
    let truth = pooled.quantile(0.5) as f64;
    let mut independent = 0;
    const SETS: u32 = 400;
    let held = coverage(SETS, truth, |random| {
        let parts = run(random);
        let all = merged(&parts);
        let naive = of_quantile(&all, 0.5, 1.0).unwrap();
        independent += u32::from(naive.low <= truth && truth <= naive.high);
        let inflation = inflation(&parts, all.quantile(0.5)).unwrap();
        of_quantile(&all, 0.5, inflation).unwrap()
    });
    assert!(held >= 0.93, "{held}");
    let independent = f64::from(independent) / f64::from(SETS);
    assert!(independent < 0.75, "as if independent: {independent}");
}

#[test]
fn rates_are_covered_by_batch_means() {
    for correlation in [0.0, 0.5] {
        let held = coverage(4_000, 1_000.0, |random| {
            let mut level = random.normal();
            let step = (1.0f64 - correlation * correlation).sqrt();
            let batches: Vec<f64> = (0..50)
                .map(|_| {
                    level = correlation * level + step * random.normal();
                    1_000.0 + 50.0 * level
                })
                .collect();
            of_mean(&batches).unwrap()
        });
        assert!(held >= 0.93, "correlation {correlation}: {held}");
    }
    assert_eq!(of_mean(&[1.0; 9]), None, "too few");
    let steady = of_mean(&[5.0; 10]).unwrap();
    assert_eq!((steady.low, steady.high), (5.0, 5.0));
}

proptest! {
    #[test]
    fn a_median_lies_within_its_interval(values in prop::collection::vec(-1e9f64..1e9, 2..80)) {
        let interval = of_median(&values).unwrap();
        let median = crate::spread(&values).unwrap().median;
        prop_assert!(interval.low <= median && median <= interval.high);
        prop_assert!((interval.confidence >= LEVEL) == (values.len() >= 6));
        prop_assert!(interval.confidence < 1.0);
    }

    #[test]
    fn a_percentile_lies_within_its_interval(values in prop::collection::vec(0u64..1 << 40, 1..3000),
                                             q in 0.01f64..0.999, inflation in 0.5f64..4.0) {
        let mut all = Histogram::new();
        values.iter().for_each(|value| all.record(*value));
        if let Some(interval) = of_quantile(&all, q, inflation) {
            let seen = all.quantile(q) as f64;
            prop_assert!(interval.low <= seen && seen <= interval.high);
        }
    }

    #[test]
    fn any_batches_give_finite_ends(values in prop::collection::vec(0f64..1e12, 0..60)) {
        if let Some(interval) = of_mean(&values) {
            prop_assert!(interval.low.is_finite() && interval.low <= interval.high);
        }
    }
}
