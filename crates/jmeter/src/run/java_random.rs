//! Random numbers as `java.util.Random` draws them from a seed: plans with a seed have the values that
//! JMeter draws.

/// The factor of the generator, which also scrambles the seed.
const FACTOR: u64 = 0x5_DEEC_E66D;
/// What is added with each step.
const ADDEND: u64 = 0xB;
/// The state has 48 bits.
const STATE: u64 = (1 << 48) - 1;

/// A generator with a seed.
#[derive(Debug)]
pub(super) struct JavaRandom(u64);

impl JavaRandom {
    /// A generator that begins with this seed.
    pub fn new(seed: i64) -> Self {
        Self((seed as u64 ^ FACTOR) & STATE)
    }

    /// The next 31 bits.
    fn bits(&mut self) -> i64 {
        self.0 = self.0.wrapping_mul(FACTOR).wrapping_add(ADDEND) & STATE;
        (self.0 >> 17) as i64
    }

    /// A number from 0 to below `bound`, which is positive and at most 2³¹ - 1.
    pub fn below(&mut self, bound: i64) -> i64 {
        if bound & (bound - 1) == 0 {
            return (bound * self.bits()) >> 31;
        }
        loop {
            let drawn = self.bits();
            let value = drawn % bound;
            // The last, incomplete range of values is drawn again.
            if drawn - value + (bound - 1) <= i64::from(i32::MAX) {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: i64, bound: i64) -> [i64; 4] {
        let mut random = JavaRandom::new(seed);
        std::array::from_fn(|_| random.below(bound))
    }

    #[test]
    fn numbers_are_those_of_java() {
        // Of `new java.util.Random(seed).nextInt(bound)`.
        assert_eq!(drawn(42, 10), [0, 3, 8, 4]);
        assert_eq!(drawn(42, 16), [11, 0, 10, 0]);
        assert_eq!(drawn(20, 9999), [7073, 8953, 3744, 6072]);
    }
}
