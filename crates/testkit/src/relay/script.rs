//! The script of a relay: which datagram suffers which fault.
//!
//! Pure: the fate of the k-th datagram is a function of the script alone, so a test can ask the
//! script for the truth that a measurement has to find.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// Datagrams of one direction that a rule is about; they are numbered from 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Which {
    /// These numbers.
    Exactly(BTreeSet<u64>),
    /// `first`, `first + n`, `first + 2n`, …
    Every {
        /// Distance between two of them; 0 means none at all.
        n: u64,
        /// The first one.
        first: u64,
    },
    /// `length` in a row out of each `every`: `first..first + length`, and so on.
    Runs {
        /// Distance between two beginnings; 0 means none at all.
        every: u64,
        /// Datagrams in each run.
        length: u64,
        /// The first one of the first run.
        first: u64,
    },
    /// This share of them (0 to 1), chosen by the seed.
    Share(f64),
}

/// Fate of one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is passed on.
    Pass,
    /// It is not passed on.
    Drop,
    /// It is passed on so many times more, at once.
    Duplicate(u32),
    /// It is passed on behind so many later datagrams: its RFC 4737 reordering extent, as long
    /// as those are in order themselves. What ends first releases it, too.
    Hold(u32),
    /// It is passed on with all bits of this byte flipped (the last byte if it is shorter).
    Corrupt(usize),
}

/// Picks the datagrams that a script is about; see [`Script::only`].
pub type Filter = Box<dyn Fn(&[u8]) -> bool + Send>;

/// Fate of the datagrams of one direction. Without rules everything passes.
#[derive(Default)]
pub struct Script {
    rules: Vec<(Which, Fate)>,
    seed: u64,
    delay: Duration,
    jitter: Duration,
    narrow: Option<Narrow>,
    only: Option<Filter>,
}

/// A link that carries less than what is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrow {
    /// Rate that it carries, bits per second.
    pub rate_bits_per_s: u64,
    /// Bytes that may wait in front of it, or pass at once where nothing waits; the rest is dropped.
    pub room_bytes: u64,
    /// Whether datagrams in that room wait for their turn, as in a queue, or pass at once, as at a policer.
    pub waits: bool,
}

impl Script {
    /// Everything passes, at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Seed of [`Which::Share`]; 0 when not given.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Adds a rule. The first rule about a datagram decides on it.
    pub fn rule(mut self, which: Which, fate: Fate) -> Self {
        self.rules.push((which, fate));
        self
    }

    /// Drops these.
    pub fn drop_exactly(self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.rule(Which::Exactly(numbers.into_iter().collect()), Fate::Drop)
    }

    /// Drops every n-th, the first `n` of which end with a dropped one.
    pub fn drop_every(self, n: u64) -> Self {
        let first = n.saturating_sub(1);
        self.rule(Which::Every { n, first }, Fate::Drop)
    }

    /// Drops `length` in a row at the end of each `every`.
    pub fn drop_runs(self, every: u64, length: u64) -> Self {
        let first = every.saturating_sub(length);
        let runs = Which::Runs {
            every,
            length,
            first,
        };
        self.rule(runs, Fate::Drop)
    }

    /// Sends these twice.
    pub fn duplicate(self, numbers: impl IntoIterator<Item = u64>) -> Self {
        let which = Which::Exactly(numbers.into_iter().collect());
        self.rule(which, Fate::Duplicate(1))
    }

    /// Puts these behind the `extent` datagrams after each.
    pub fn hold(self, numbers: impl IntoIterator<Item = u64>, extent: u32) -> Self {
        let which = Which::Exactly(numbers.into_iter().collect());
        self.rule(which, Fate::Hold(extent))
    }

    /// Flips the byte at `offset` of these.
    pub fn corrupt(self, numbers: impl IntoIterator<Item = u64>, offset: usize) -> Self {
        let which = Which::Exactly(numbers.into_iter().collect());
        self.rule(which, Fate::Corrupt(offset))
    }

    /// Delays everything by this much.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Delays each datagram by up to this much more, drawn by the seed; none overtakes another.
    pub fn jitter(mut self, jitter: Duration) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sends everything that the rules leave through a narrow link.
    pub fn narrow(mut self, narrow: Narrow) -> Self {
        self.narrow = Some(narrow);
        self
    }

    /// Numbers, and applies the rules to, only datagrams that `filter` picks (data, not
    /// handshakes); the others pass, and are delayed.
    pub fn only(mut self, filter: impl Fn(&[u8]) -> bool + Send + 'static) -> Self {
        self.only = Some(Box::new(filter));
        self
    }

    /// Fate of datagram `number`.
    pub fn fate(&self, number: u64) -> Fate {
        self.rules
            .iter()
            .enumerate()
            .find(|(index, (which, _))| self.concerns(*index, which, number))
            .map_or(Fate::Pass, |(_, (_, fate))| *fate)
    }

    /// Number of these datagrams with a fate for which `wanted` is true.
    pub fn count(&self, numbers: Range<u64>, wanted: impl Fn(Fate) -> bool) -> u64 {
        numbers.filter(|number| wanted(self.fate(*number))).count() as u64
    }

    /// Delay of the datagram that passes as this one.
    pub(super) fn delay_ns(&self, number: u64) -> i64 {
        let drawn = unit_interval(self.seed, u64::MAX, number);
        let delay = self.delay.saturating_add(self.jitter.mul_f64(drawn));
        i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX)
    }

    pub(super) fn narrowed(&self) -> Option<Narrow> {
        self.narrow
    }

    pub(super) fn picks(&self, datagram: &[u8]) -> bool {
        self.only.as_ref().is_none_or(|filter| filter(datagram))
    }

    fn concerns(&self, index: usize, which: &Which, number: u64) -> bool {
        match which {
            Which::Exactly(numbers) => numbers.contains(&number),
            Which::Every { n, first } => {
                *n > 0 && number >= *first && (number - first).is_multiple_of(*n)
            }
            Which::Runs {
                every,
                length,
                first,
            } => *every > 0 && number >= *first && (number - first) % every < *length,
            Which::Share(share) => unit_interval(self.seed, index as u64, number) < *share,
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("rules", &self.rules)
            .field("seed", &self.seed)
            .field("delay", &self.delay)
            .field("jitter", &self.jitter)
            .field("narrow", &self.narrow)
            .field("only", &self.only.is_some())
            .finish()
    }
}

/// A number in 0..1 that depends on nothing but the arguments (SplitMix64's finalizer).
fn unit_interval(seed: u64, rule: u64, number: u64) -> f64 {
    let mut z = seed ^ rule.rotate_left(32) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
        z = (z ^ (z >> 29)).wrapping_mul(factor);
    }
    ((z ^ (z >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(script: &Script, among: u64) -> Vec<u64> {
        (0..among)
            .filter(|number| script.fate(*number) == Fate::Drop)
            .collect()
    }

    #[test]
    fn rules_name_the_datagrams_they_say() {
        assert_eq!(dropped(&Script::new(), 10), [0_u64; 0]);
        let exactly = Script::new().drop_exactly([0, 7, 7]);
        assert_eq!(dropped(&exactly, 10), [0, 7]);
        assert_eq!(dropped(&Script::new().drop_every(4), 12), [3, 7, 11]);
        assert_eq!(dropped(&Script::new().drop_runs(5, 2), 10), [3, 4, 8, 9]);
        assert_eq!(dropped(&Script::new().drop_every(0), 10), [0_u64; 0]);
        assert_eq!(dropped(&Script::new().drop_runs(0, 3), 10), [0_u64; 0]);
    }

    #[test]
    fn the_first_rule_decides() {
        let script = Script::new().duplicate([2]).drop_exactly([2, 3]);
        assert_eq!(script.fate(2), Fate::Duplicate(1));
        assert_eq!(script.fate(3), Fate::Drop);
    }

    #[test]
    fn a_share_is_kept_and_depends_on_the_seed_alone() {
        let script = |seed| Script::new().seed(seed).rule(Which::Share(0.1), Fate::Drop);
        let is_drop = |fate| fate == Fate::Drop;
        let n = script(1).count(0..100_000, is_drop);
        // Binomial, standard deviation 95: six of them on either side.
        assert!((9_430..=10_570).contains(&n), "{n}");
        assert_eq!(dropped(&script(1), 1_000), dropped(&script(1), 1_000));
        assert_ne!(dropped(&script(1), 1_000), dropped(&script(2), 1_000));
    }
}
