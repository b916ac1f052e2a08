//! Sums of results between two messages to a database, and over a window of messages.
//!
//! Counts begin anew with each message; averages, least, most and percentiles look back at a window of
//! the latest results, as JMeter's do.

use std::collections::{BTreeMap, VecDeque};

use super::Note;

/// Most codes and messages by which failed responses are counted separately.
const MOST_ERRORS: usize = 100;
/// Results that the percentiles of all results look back at, where averages begin anew.
const WINDOW: usize = 100;

/// The latest numbers of something.
#[derive(Debug)]
pub(super) struct Window {
    most: usize,
    values: VecDeque<u64>,
}

impl Window {
    pub fn new(most: usize) -> Self {
        let values = VecDeque::new();
        Self { most, values }
    }

    pub fn add(&mut self, value: u64) {
        if self.values.len() >= self.most {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// `None`: there is none.
    pub fn mean(&self) -> Option<f64> {
        let sum: u64 = self.values.iter().sum();
        (!self.values.is_empty()).then(|| sum as f64 / self.values.len() as f64)
    }

    pub fn least(&self) -> Option<f64> {
        self.values.iter().min().map(|value| *value as f64)
    }

    pub fn most(&self) -> Option<f64> {
        self.values.iter().max().map(|value| *value as f64)
    }

    /// Percentiles, above 0 and up to 100, in the order asked; none when there is no value.
    ///
    /// Between two values the share of the way is taken: of `n` sorted ones, the place is `p (n + 1) /
    /// 100`, counted from 1.
    pub fn percentiles(&self, asked: &[f32]) -> Vec<f64> {
        let mut sorted: Vec<f64> = self.values.iter().map(|value| *value as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
            return Vec::new();
        };
        let one = |percent: &f32| {
            let place = f64::from(*percent) * (sorted.len() + 1) as f64 / 100.0;
            if place < 1.0 {
                return *least;
            }
            let below = place as usize;
            match sorted.get(below - 1..=below) {
                Some([from, to]) => from + (place - place.floor()) * (to - from),
                _ => *most,
            }
        };
        asked.iter().map(one).collect()
    }
}

/// The sums of one label, or of all results.
#[derive(Debug)]
pub(super) struct Sums {
    /// Results that succeeded since the last message.
    pub ok: u64,
    /// Results that failed.
    pub failed: u64,
    /// Requests in them.
    pub hits: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Times of results that succeeded, milliseconds.
    pub ok_ms: Window,
    /// Times of those that failed.
    pub failed_ms: Window,
    /// Times of all.
    pub all_ms: Window,
    /// The same for percentiles: these never begin anew.
    pub late_ms: Window,
    /// Those that failed by code and message.
    pub errors: BTreeMap<(String, String), u64>,
}

impl Sums {
    pub fn new(window: usize, begins_anew: bool) -> Self {
        let room = || Window::new(window);
        Self {
            ok: 0,
            failed: 0,
            hits: 0,
            sent_bytes: 0,
            bytes: 0,
            ok_ms: room(),
            failed_ms: room(),
            all_ms: room(),
            late_ms: Window::new(if begins_anew { WINDOW } else { window }),
            errors: BTreeMap::new(),
        }
    }

    /// Results since the last message.
    pub fn count(&self) -> u64 {
        self.ok + self.failed
    }

    /// Adds a result to those of its label.
    pub fn add(&mut self, note: &Note) {
        self.add_times(note);
        self.hits += note.hits;
        self.sent_bytes += note.sent_bytes;
        self.bytes += note.bytes;
    }

    /// Adds a result to all: what a transaction holds has been counted.
    pub fn add_to_all(&mut self, note: &Note) {
        self.add_times(note);
        if !note.is_transaction {
            self.hits += note.hits;
            self.sent_bytes += note.sent_bytes;
            self.bytes += note.bytes;
        }
    }

    fn add_times(&mut self, note: &Note) {
        self.all_ms.add(note.elapsed_ms);
        self.late_ms.add(note.elapsed_ms);
        match &note.error {
            None => {
                self.ok += 1;
                self.ok_ms.add(note.elapsed_ms);
            }
            Some(error) => {
                self.failed += 1;
                self.failed_ms.add(note.elapsed_ms);
                if self.errors.len() < MOST_ERRORS || self.errors.contains_key(error.as_ref()) {
                    *self.errors.entry((**error).clone()).or_default() += 1;
                }
            }
        }
    }

    /// Begins anew after a message.
    pub fn begin(&mut self, begins_anew: bool) {
        (self.ok, self.failed, self.hits) = (0, 0, 0);
        (self.sent_bytes, self.bytes) = (0, 0);
        self.errors.clear();
        if begins_anew {
            for window in [&mut self.ok_ms, &mut self.failed_ms, &mut self.all_ms] {
                window.values.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(most: usize, values: &[u64]) -> Window {
        let mut window = Window::new(most);
        values.iter().for_each(|value| window.add(*value));
        window
    }

    #[test]
    fn a_window_looks_back_at_the_latest() {
        let three = window(3, &[100, 1, 2, 6]);
        assert_eq!(
            (three.mean(), three.least(), three.most()),
            (Some(3.0), Some(1.0), Some(6.0))
        );
        // The places are 2 of 3, beyond the last, and before the first.
        assert_eq!(three.percentiles(&[50.0, 100.0, 1.0]), [2.0, 6.0, 1.0]);
        // Half of 11 is the place 5.5.
        let ten = window(100, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 19]);
        assert_eq!(ten.percentiles(&[50.0]), [5.5]);
        assert_eq!(window(3, &[]).mean(), None);
        assert_eq!(window(3, &[]).percentiles(&[50.0]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn percentiles_lie_between_least_and_most(
            values in prop::collection::vec(0u64..1_000_000, 1..200),
            asked in prop::collection::vec(0.001f32..=100.0, 1..4),
        ) {
            let window = window(100, &values);
            let found = window.percentiles(&asked);
            prop_assert_eq!(found.len(), asked.len());
            let within = window.least().unwrap()..=window.most().unwrap();
            prop_assert!(found.iter().all(|value| within.contains(value)));
        }
    }
}
