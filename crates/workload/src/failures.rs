//! Failed requests by reason: flow, code and message, in a bounded number.
//!
//! Reasons that servers make up without end (an id in each message) are counted together from the
//! bound on: a series for each of them would fill the record and the page.

use sokudo_model::metrics::group;
use sokudo_model::{Batch, SeriesKey, cut};

use crate::reporting::Names;

/// Reasons that are told apart; further ones are counted together.
const MOST: usize = 60;
/// Longest message, characters.
const MOST_CHARS: usize = 160;
/// Message of the reasons that are counted together.
pub const OTHERS: &str = "(other failures)";

/// A reason and how often it occurred.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    flow: String,
    code: String,
    message: String,
    count: u64,
    /// It occurred since it was last told.
    is_new: bool,
}

/// Failed requests by reason.
#[derive(Debug, Clone, Default)]
pub struct Failures(Vec<Reason>);

impl Failures {
    /// Counts failures of a flow with this code and message; either may be empty.
    pub fn add(&mut self, flow: &str, (code, message): (&str, &str), count: u64) {
        if count == 0 {
            return;
        }
        let message = cut(message, MOST_CHARS);
        if let Some(known) = self.find(flow, code, &message) {
            return known.count_more(count);
        }
        let (flow, code, message) = match self.0.len() < MOST {
            true => (flow, code, &*message),
            false => ("", "", OTHERS),
        };
        match self.find(flow, code, message) {
            Some(known) => known.count_more(count),
            None => self.0.push(Reason {
                flow: flow.into(),
                code: code.into(),
                message: message.into(),
                count,
                is_new: true,
            }),
        }
    }

    fn find(&mut self, flow: &str, code: &str, message: &str) -> Option<&mut Reason> {
        let is_it =
            |one: &&mut Reason| one.code == code && one.message == message && one.flow == flow;
        self.0.iter_mut().find(is_it)
    }

    /// Adds what others counted, as failures of this flow.
    pub fn add_all(&mut self, flow: &str, others: &Self) {
        for one in &others.0 {
            self.add(flow, (&one.code, &one.message), one.count);
        }
    }

    /// Puts the reasons that occurred since the last time into a batch, each with its count so far.
    pub fn tell(&mut self, names: &Names, source: &str, at_ns: i64, batch: &mut Batch) {
        for one in self.0.iter_mut().filter(|one| one.is_new) {
            one.is_new = false;
            batch.push(&one.key(names, source), at_ns, one.count as f64);
        }
    }
}

impl Reason {
    fn count_more(&mut self, count: u64) {
        self.count += count;
        self.is_new = true;
    }

    fn key(&self, names: &Names, source: &str) -> SeriesKey {
        let mut key = names.key(source, group::FAILURES, &self.flow);
        for (name, value) in [("code", &self.code), ("message", &self.message)] {
            if !value.is_empty() {
                key.labels.insert(name.into(), value.clone());
            }
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            host: "hosta".into(),
            flows: Default::default(),
            t0_ns: 0,
            start_ns: 0,
        }
    }

    fn told(failures: &mut Failures) -> Vec<(String, f64)> {
        let mut batch = Batch::default();
        failures.tell(&names(), "http", 1, &mut batch);
        let each = batch.series.iter().map(|series| {
            let label = |name: &str| series.key.labels.get(name).cloned().unwrap_or_default();
            let words = ["flow", "code", "message"].map(label).join("|");
            (words, series.points[0].1)
        });
        each.collect()
    }

    #[test]
    fn reasons_are_told_with_their_counts_when_they_occurred_again() {
        let mut failures = Failures::default();
        failures.add("login", ("503", "Busy"), 2);
        failures.add("login", ("", "connect: refused"), 1);
        assert_eq!(
            told(&mut failures),
            [
                ("login|503|Busy".into(), 2.0),
                ("login||connect: refused".into(), 1.0)
            ]
        );
        failures.add("login", ("503", "Busy"), 3);
        assert_eq!(told(&mut failures), [("login|503|Busy".into(), 5.0)]);
        assert!(told(&mut failures).is_empty());
    }

    #[test]
    fn further_reasons_are_counted_together() {
        let mut failures = Failures::default();
        for id in 0..10 * MOST {
            failures.add("a", ("500", &format!("no item {id}")), 1);
        }
        let all = told(&mut failures);
        assert_eq!(all.len(), MOST + 1);
        assert_eq!(all[MOST], (format!("||{OTHERS}"), 9.0 * MOST as f64));
        let mut long = Failures::default();
        long.add("a", ("500", &"é".repeat(9_000)), 1);
        assert!(told(&mut long)[0].0.chars().count() < MOST_CHARS + 20);
    }
}
