//! Division of users, arrivals and rows among generators.

/// One of several generators that divide a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratorShare {
    /// Index of the generator, from 0.
    index: u64,
    /// Number of generators.
    of: u64,
}

impl GeneratorShare {
    /// The only generator.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Generator `index`, from 0, of `of`; `None` if `index` is too large.
    pub fn new(index: u64, of: u64) -> Option<Self> {
        (index < of).then_some(Self { index, of })
    }

    /// True if the thing with this number, from 0, belongs to the generator: every `of`-th does, so
    /// that the first generators take the remainder.
    pub fn has(self, number: u64) -> bool {
        number % self.of == self.index
    }

    /// Number of `whole` things that belong to the generator.
    pub fn share(self, whole: u64) -> u64 {
        whole / self.of + u64::from(self.index < whole % self.of)
    }

    /// Number of the `nth` thing, from 0, that belongs to the generator.
    pub fn nth(self, nth: u64) -> u64 {
        nth.saturating_mul(self.of).saturating_add(self.index)
    }

    /// Number of generators.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Index of the generator, from 0.
    pub fn index(self) -> u64 {
        self.index
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_make_up_the_whole(whole in 0u64..200, of in 1u64..9) {
            let parts = || (0..of).filter_map(|index| GeneratorShare::new(index, of));
            prop_assert_eq!(parts().map(|part| part.share(whole)).sum::<u64>(), whole);
            for part in parts() {
                let own: Vec<u64> = (0..whole).filter(|number| part.has(*number)).collect();
                prop_assert_eq!(own.len() as u64, part.share(whole));
                let nth: Vec<u64> = (0..part.share(whole)).map(|nth| part.nth(nth)).collect();
                prop_assert_eq!(own, nth);
            }
        }
    }

    #[test]
    fn there_is_no_part_behind_the_last() {
        assert_eq!(GeneratorShare::new(2, 2), None);
        assert_eq!(GeneratorShare::new(0, 0), None);
        assert_eq!(GeneratorShare::new(0, 1), Some(GeneratorShare::WHOLE));
    }
}
