//! Seeded random numbers, so that a run can be repeated.
//!
//! One seed for the run, one stream per user of randomness: the same seed and stream give the
//! same numbers on every machine. The generator is xoshiro256++, its state is filled by
//! SplitMix64, as its authors advise (<https://prng.di.unimi.it>). Not for secrets.

/// A stream of random numbers that seed and stream number decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream of this number under this seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut at = seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        Self {
            state: std::array::from_fn(|_| split_mix(&mut at)),
        }
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to below 1, in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (-53f64).exp2()
    }

    /// A whole number below `bound`, each equally likely; 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's method: the upper half of a product, drawn again in the uneven part.
        let uneven = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// A whole number from `least` to `most`, both included; `least` when the order is wrong.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        if most <= least {
            return least;
        }
        match (most.wrapping_sub(least) as u64).checked_add(1) {
            Some(count) => least.wrapping_add(self.below(count) as i64),
            None => self.bits() as i64,
        }
    }

    /// A number from the normal distribution with mean 0 and deviation 1 (polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// A whole number from the Poisson distribution with this mean; 0 when the mean is not a
    /// positive number.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        // The product of many numbers below 1 underflows: a large mean is a sum of small ones.
        const PIECE: f64 = 500.0;
        const MOST: f64 = 1e9;
        if !(mean > 0.0 && mean.is_finite()) {
            return 0;
        }
        let mut left = mean.min(MOST);
        // Far from 0 the normal distribution is as good and does not take `mean` steps.
        if left > 100.0 * PIECE {
            return (left + left.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let mut count = 0;
        while left > 0.0 {
            let (mut product, least) = (self.unit(), (-left.min(PIECE)).exp());
            while product > least {
                count += 1;
                product *= self.unit();
            }
            left -= PIECE;
        }
        count
    }
}

fn split_mix(at: &mut u64) -> u64 {
    *at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *at;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_seed_repeats_and_streams_differ() {
        let draw = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    /// Mean and deviation of many draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        const N: usize = 100_000;
        let all: Vec<f64> = (0..N).map(|_| draw()).collect();
        let mean = all.iter().sum::<f64>() / N as f64;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn distributions_have_their_mean_and_deviation() {
        let mut random = Random::new(7, 0);
        let near = |(mean, deviation): (f64, f64), wanted: (f64, f64)| {
            let tolerance = 0.02 * wanted.1.max(0.5);
            assert!((mean - wanted.0).abs() < tolerance, "{mean} {wanted:?}");
            assert!(
                (deviation - wanted.1).abs() < tolerance,
                "{deviation} {wanted:?}"
            );
        };
        near(moments(|| random.unit()), (0.5, 12f64.sqrt().recip()));
        near(moments(|| random.normal()), (0.0, 1.0));
        near(moments(|| random.poisson(3.0) as f64), (3.0, 3f64.sqrt()));
        near(
            moments(|| random.poisson(90_000.0) as f64),
            (90_000.0, 300.0),
        );
        near(moments(|| random.below(2) as f64), (0.5, 0.5));
        let large = moments(|| random.poisson(1200.0) as f64);
        near(large, (1200.0, 1200f64.sqrt()));
    }

    proptest! {
        #[test]
        fn bounds_hold(seed: u64, least: i64, most: i64, bound: u64, mean: f64) {
            let mut random = Random::new(seed, 0);
            let drawn = random.between(least, most);
            prop_assert!(drawn == least || (least..=most).contains(&drawn));
            prop_assert!(random.below(bound) < bound.max(1));
            prop_assert!((0.0..1.0).contains(&random.unit()));
            random.poisson(mean);
        }
    }
}
