//! Random values of several workloads: texts without meaning, uneven numbers.

use sokudo_pace::Random;

/// Characters that texts are cut from.
const POOL: usize = 1 << 14;

/// A number from `least` to `most` of which some are drawn far more often than others: NURand of TPC-C,
/// clause 2.1.6.
pub(crate) fn uneven(random: &mut Random, a: i64, c: i64, least: i64, most: i64) -> i64 {
    let drawn = random.between(0, a) | random.between(least, most);
    (drawn + c) % (most - least + 1) + least
}

/// Texts without meaning.
#[derive(Debug)]
pub(crate) struct Texts(String);

impl Texts {
    pub(crate) fn new() -> Self {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut random = Random::new(0, 0);
        let letter = |_| char::from(LETTERS[random.below(LETTERS.len() as u64) as usize]);
        Self((0..POOL).map(letter).collect())
    }

    /// A text with this many characters.
    pub(crate) fn of(&self, random: &mut Random, least: i64, most: i64) -> &str {
        let length = random.between(least, most) as usize;
        let from = random.below((POOL - length) as u64) as usize;
        &self.0[from..from + length]
    }
}
