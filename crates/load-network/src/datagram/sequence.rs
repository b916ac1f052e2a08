//! Tracking of sequence numbers: arrived, out of order, repeated, missing.
//!
//! A receiver feeds sequence numbers in order of arrival. Everything below the highest number seen
//! was either received or stands in the list of open gaps, so gaps alone tell late arrivals from
//! duplicates, and no bitmap is needed:
//!
//! ```text
//! received   0 1 2 3 . . 6 7 . 9            next = 10
//! gaps               [4,6)   [8,9)
//! arrives 5  → in a gap: out of order, the gap shrinks to [4,5)
//! arrives 7  → in no gap: a duplicate
//! ```

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sokudo_stats::Histogram;

/// Open gaps kept; the oldest is closed for good beyond this (heavy loss at high rates).
const MAX_OPEN_GAPS: usize = 16_384;

/// A number further ahead than this is invalid: no sender gets there within one datagram.
const MAX_JUMP: u64 = 1 << 40;

/// Sequence numbers that were jumped over and have not arrived since.
#[derive(Debug, Clone, Copy)]
struct Gap {
    first: u64,
    /// One past the last.
    end: u64,
    /// Arrivals counted before the one that jumped, for the reordering extent.
    opened_at: u64,
}

/// Meaning of one arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The number that was expected, or one beyond it.
    Forward,
    /// Later than a higher number.
    OutOfOrder,
    /// Seen before.
    Duplicate,
    /// Older than anything that is still tracked (late or duplicate, which cannot be told), or too far
    /// ahead to be true.
    Stale,
}

/// Follows one flow's sequence numbers.
#[derive(Debug)]
pub struct Tracker {
    /// First number that can arrive: 0 for sokudo's wire.
    base: Option<u64>,
    next: u64,
    /// Distinct arrivals.
    unique: u64,
    duplicates: u64,
    out_of_order: u64,
    stale: u64,
    gaps: VecDeque<Gap>,
    /// Numbers below this are no longer tracked.
    horizon: u64,
    closed_runs: Histogram,
    extents: Histogram,
    extent_sum: f64,
    offset_sum: f64,
    gaps_seen: u64,
    gap_packets_sum: u64,
    gap_packets_max: u64,
    timed_gaps: u64,
    gap_ns_sum: i64,
    gap_ns_max: i64,
    first_ns: Option<i64>,
    last_ns: i64,
}

/// Result of a tracker at the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Account {
    /// Highest number seen plus one, counted from the base.
    pub span: u64,
    /// Distinct arrivals.
    pub unique: u64,
    /// Numbers that never arrived.
    pub missing: u64,
    /// Arrivals of a number that had arrived.
    pub duplicates: u64,
    /// Arrivals below a number that had arrived, first time.
    pub out_of_order: u64,
    /// Arrivals too old, or too far ahead, to be classified.
    pub stale: u64,
    /// Length of each run of missing numbers.
    #[serde(with = "sokudo_workload::histogram_text")]
    pub loss_runs: Histogram,
    /// RFC 4737 reordering extents.
    #[serde(with = "sokudo_workload::histogram_text")]
    pub extents: Histogram,
    /// Mean of those; `None` when nothing was out of order.
    pub extent_mean: Option<f64>,
    /// Mean distance between arrival position and sequence position of those.
    pub offset_mean: Option<f64>,
    /// Runs of numbers that were jumped over, the one behind the last arrival included.
    pub gaps: u64,
    /// Numbers in them.
    pub gap_packets: u64,
    /// Numbers in the largest.
    pub gap_packets_max: u64,
    /// Time between two arrivals across a jump, mean, nanoseconds; `None` without such a jump.
    pub gap_ns_mean: Option<f64>,
    /// Time across the longest of them, nanoseconds.
    pub gap_ns_max: Option<i64>,
    /// First arrival, nanoseconds.
    pub first_ns: Option<i64>,
    /// Last arrival, nanoseconds.
    pub last_ns: i64,
}

impl Tracker {
    /// Follows a flow whose first number is `base`; `None` when only the first arrival can tell, so
    /// that loss before it stays unseen.
    pub fn new(base: Option<u64>) -> Self {
        Self {
            base,
            next: base.unwrap_or(0),
            unique: 0,
            duplicates: 0,
            out_of_order: 0,
            stale: 0,
            gaps: VecDeque::new(),
            horizon: base.unwrap_or(0),
            closed_runs: Histogram::allocated(),
            extents: Histogram::allocated(),
            extent_sum: 0.0,
            offset_sum: 0.0,
            gaps_seen: 0,
            gap_packets_sum: 0,
            gap_packets_max: 0,
            timed_gaps: 0,
            gap_ns_sum: 0,
            gap_ns_max: 0,
            first_ns: None,
            last_ns: 0,
        }
    }

    /// Counts one arrival of number `sequence` at `now_ns`.
    #[inline]
    pub fn arrive(&mut self, sequence: u64, now_ns: i64) -> Arrival {
        if sequence == self.next && self.first_ns.is_some() {
            self.next += 1;
            self.unique += 1;
            self.last_ns = now_ns;
            return Arrival::Forward;
        }
        self.arrive_otherwise(sequence, now_ns)
    }

    #[cold]
    fn arrive_otherwise(&mut self, sequence: u64, now_ns: i64) -> Arrival {
        if self.first_ns.is_none() {
            if sequence > MAX_JUMP {
                self.stale += 1;
                return Arrival::Stale;
            }
            if self.base.is_none() {
                self.base = Some(sequence);
                self.next = sequence;
                self.horizon = sequence;
            }
            self.jump(sequence, now_ns, false);
            self.first_ns = Some(now_ns);
            return Arrival::Forward;
        }
        if sequence >= self.next {
            if sequence - self.next > MAX_JUMP {
                self.stale += 1;
                return Arrival::Stale;
            }
            self.jump(sequence, now_ns, true);
            return Arrival::Forward;
        }
        self.arrive_late(sequence, now_ns)
    }

    /// Takes a number at or beyond the expected one, and notes what was jumped over.
    fn jump(&mut self, sequence: u64, now_ns: i64, timed: bool) {
        let jumped = sequence.saturating_sub(self.next);
        if jumped > 0 {
            self.gaps.push_back(Gap {
                first: self.next,
                end: sequence,
                opened_at: self.unique,
            });
            self.gaps_seen += 1;
            self.gap_packets_sum = self.gap_packets_sum.saturating_add(jumped);
            self.gap_packets_max = self.gap_packets_max.max(jumped);
            if timed {
                let across_ns = now_ns - self.last_ns;
                self.timed_gaps += 1;
                self.gap_ns_sum += across_ns;
                self.gap_ns_max = self.gap_ns_max.max(across_ns);
            }
            if self.gaps.len() > MAX_OPEN_GAPS {
                self.close_oldest();
            }
        }
        self.next = sequence.saturating_add(1);
        self.unique += 1;
        self.last_ns = now_ns;
    }

    fn close_oldest(&mut self) {
        if let Some(gap) = self.gaps.pop_front() {
            self.closed_runs.record(gap.end - gap.first);
            self.horizon = gap.end;
        }
    }

    fn arrive_late(&mut self, sequence: u64, now_ns: i64) -> Arrival {
        if sequence < self.horizon {
            self.stale += 1;
            return Arrival::Stale;
        }
        let after = self.gaps.partition_point(|gap| gap.end <= sequence);
        let Some(gap) = self
            .gaps
            .get(after)
            .copied()
            .filter(|gap| gap.first <= sequence)
        else {
            self.duplicates += 1;
            return Arrival::Duplicate;
        };
        self.fill(after, gap, sequence);
        // RFC 4737 section 4.2.2: this arrival's position minus that of the first arrival with a
        // higher number, which is the one that opened the gap.
        let extent = self.unique - gap.opened_at;
        self.extents.record(extent);
        self.extent_sum += extent as f64;
        let position = self.unique + self.base.unwrap_or(0);
        self.offset_sum += position.abs_diff(sequence) as f64;
        self.out_of_order += 1;
        self.unique += 1;
        self.last_ns = now_ns;
        Arrival::OutOfOrder
    }

    /// Takes one number out of a gap.
    fn fill(&mut self, index: usize, gap: Gap, sequence: u64) {
        let left = Gap {
            end: sequence,
            ..gap
        };
        let right = Gap {
            first: sequence + 1,
            ..gap
        };
        match (left.first < left.end, right.first < right.end) {
            (false, false) => {
                self.gaps.remove(index);
            }
            (true, false) => self.gaps[index] = left,
            (false, true) => self.gaps[index] = right,
            (true, true) => {
                self.gaps[index] = left;
                self.gaps.insert(index + 1, right);
            }
        }
    }

    /// Distinct arrivals so far.
    pub fn unique(&self) -> u64 {
        self.unique
    }

    /// Highest number seen plus one, counted from the base: how many must have been sent.
    pub fn span(&self) -> u64 {
        self.next - self.base.unwrap_or(0)
    }

    /// Arrivals of numbers seen before, so far.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Out-of-order arrivals so far.
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// Time of the last arrival, nanoseconds; `None` before the first.
    pub fn last_ns(&self) -> Option<i64> {
        self.first_ns.map(|_| self.last_ns)
    }

    /// Closes the books up to the highest number seen.
    pub fn close(mut self) -> Account {
        let span = self.span();
        for gap in std::mem::take(&mut self.gaps) {
            self.closed_runs.record(gap.end - gap.first);
        }
        let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
        Account {
            span,
            unique: self.unique,
            missing: span.saturating_sub(self.unique),
            duplicates: self.duplicates,
            out_of_order: self.out_of_order,
            stale: self.stale,
            extent_mean: mean(self.extent_sum, self.out_of_order),
            offset_mean: mean(self.offset_sum, self.out_of_order),
            gap_packets: self.gap_packets_sum,
            gap_ns_mean: mean(self.gap_ns_sum as f64, self.timed_gaps),
            loss_runs: self.closed_runs,
            extents: self.extents,
            gaps: self.gaps_seen,
            gap_packets_max: self.gap_packets_max,
            gap_ns_max: (self.timed_gaps > 0).then_some(self.gap_ns_max),
            first_ns: self.first_ns,
            last_ns: self.last_ns,
        }
    }
}

impl Account {
    /// The same when the sender used `sent` numbers: those behind the highest one seen are missing, too.
    pub fn up_to(mut self, sent: u64) -> Self {
        let tail = sent.saturating_sub(self.span);
        if tail > 0 {
            self.missing = self.missing.saturating_add(tail);
            self.loss_runs.record(tail);
            self.gaps = self.gaps.saturating_add(1);
            self.gap_packets = self.gap_packets.saturating_add(tail);
            self.gap_packets_max = self.gap_packets_max.max(tail);
            self.span = sent;
        }
        self
    }

    /// Numbers per gap, mean; `None` without a gap.
    pub fn gap_packets_mean(&self) -> Option<f64> {
        (self.gaps > 0).then(|| self.gap_packets as f64 / self.gaps as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn account(arrivals: &[u64], sent: Option<u64>) -> Account {
        let mut tracker = Tracker::new(Some(0));
        for (at, sequence) in arrivals.iter().enumerate() {
            tracker.arrive(*sequence, at as i64 * 1000);
        }
        let account = tracker.close();
        match sent {
            Some(sent) => account.up_to(sent),
            None => account,
        }
    }

    #[test]
    fn head_and_tail_are_counted() {
        let account = account(&[2, 3, 4], Some(8));
        assert_eq!((account.unique, account.missing), (3, 5));
        assert_eq!(account.loss_runs.len(), 2);
        assert_eq!((account.gaps, account.gap_packets_max), (2, 3));
        assert_eq!(account.gap_packets_mean(), Some(2.5));
        // Neither lies between two arrivals.
        assert_eq!((account.gap_ns_mean, account.gap_ns_max), (None, None));
    }

    #[test]
    fn a_flow_of_which_nothing_arrived_is_one_gap() {
        let account = account(&[], Some(20_000));
        assert_eq!((account.missing, account.gaps), (20_000, 1));
        assert_eq!(
            (account.gap_packets_max, account.loss_runs.len()),
            (20_000, 1)
        );
    }

    #[test]
    fn a_swap_has_extent_one() {
        let account = account(&[0, 2, 1, 3], Some(4));
        assert_eq!(
            (account.missing, account.out_of_order, account.duplicates),
            (0, 1, 0)
        );
        assert_eq!(account.extent_mean, Some(1.0));
        assert_eq!(account.gaps, 1);
        assert!(account.loss_runs.is_empty());
    }

    #[test]
    fn extent_counts_what_overtook() {
        // RFC 4737 section 4.2.4, second example: 7 8 arrive before 4 5 6.
        let account = account(&[0, 1, 2, 3, 7, 8, 4, 5, 6], Some(9));
        assert_eq!(account.out_of_order, 3);
        assert_eq!(account.extent_mean, Some((2.0 + 3.0 + 4.0) / 3.0));
    }

    #[test]
    fn duplicates_are_not_late() {
        let account = account(&[0, 0, 1, 3, 2, 2, 3], Some(4));
        assert_eq!(
            (account.unique, account.duplicates, account.out_of_order),
            (4, 3, 1)
        );
        assert_eq!(account.missing, 0);
    }

    #[test]
    fn without_a_base_the_first_arrival_is_the_base() {
        let mut tracker = Tracker::new(None);
        for sequence in [100, 101, 103] {
            tracker.arrive(sequence, 0);
        }
        let account = tracker.close();
        assert_eq!((account.unique, account.missing), (3, 1));
    }

    #[test]
    fn a_hostile_number_is_survived() {
        let account = account(&[0, u64::MAX, 5, u64::MAX, 1], None);
        assert_eq!((account.unique, account.stale, account.missing), (3, 2, 3));
    }

    #[test]
    fn many_gaps_stay_bounded() {
        let mut tracker = Tracker::new(Some(0));
        for n in 0..50_000u64 {
            tracker.arrive(n * 2, 0);
        }
        assert!(tracker.gaps.len() <= MAX_OPEN_GAPS);
        assert_eq!(tracker.arrive(1, 0), Arrival::Stale);
        let account = tracker.close();
        assert_eq!(account.missing, 49_999);
        assert_eq!(account.loss_runs.len(), 49_999);
    }

    proptest! {
        /// Against the obvious, slow way of counting.
        #[test]
        fn agrees_with_a_set(arrivals in prop::collection::vec(0u64..60, 1..120), extra in 0u64..5) {
            let mut seen = BTreeSet::new();
            let (mut duplicates, mut late) = (0, 0);
            let mut highest = None;
            for sequence in &arrivals {
                if !seen.insert(*sequence) {
                    duplicates += 1;
                } else if highest.is_some_and(|high| *sequence < high) {
                    late += 1;
                }
                highest = highest.max(Some(*sequence));
            }
            let sent = highest.unwrap() + 1 + extra;
            let account = account(&arrivals, Some(sent));
            prop_assert_eq!(account.unique, seen.len() as u64);
            prop_assert_eq!(account.missing, sent - seen.len() as u64);
            prop_assert_eq!(account.duplicates, duplicates);
            prop_assert_eq!(account.out_of_order, late);
        }
    }
}
