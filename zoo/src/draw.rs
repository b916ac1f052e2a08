//! Draws what differs between two runs of a case: a seed always draws the same.

use sokudo_pace::Random;

/// Numbers that depend on a seed and a name alone.
pub struct Draw(Random);

impl Draw {
    /// The draws of one run of one case.
    pub fn new(seed: u64, name: &str) -> Self {
        let of_name = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(Random::new(
            seed,
            name.bytes().fold(0xcbf2_9ce4_8422_2325, of_name),
        ))
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    /// `value` times a factor between 0.92 and 1.08.
    pub fn around(&mut self, value: f64) -> f64 {
        value * (0.92 + 0.16 * self.0.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_name_draw_the_same_again() {
        let drawn = |seed, name| {
            let mut draw = Draw::new(seed, name);
            (draw.below(1_000), draw.around(100.0))
        };
        assert_eq!(drawn(1, "loss"), drawn(1, "loss"));
        assert_ne!(drawn(1, "loss"), drawn(2, "loss"));
        assert_ne!(drawn(1, "loss"), drawn(1, "delay"));
        assert!((92.0..=108.0).contains(&drawn(1, "loss").1));
    }
}
