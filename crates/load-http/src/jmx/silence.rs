//! The time in which requests of an event loop failed and none was answered.
//!
//! ```text
//! answer ─┬─ a request fails ─ … ─ another fails ─┬─ pause of the plan ─ answer
//!         └────────────── silence ────────────────┘
//! ```
//!
//! A closed loop has no times at which its requests are due. What it could not try while its server was
//! dead goes by the pace of the answers: users that wait for one answer until the end fail once each, and
//! would otherwise hide how much was missing.

use serde::{Deserialize, Serialize};
use sokudo_jmeter::run::{RowKind, SampleRow};
use sokudo_workload::joined::ratio;
use sokudo_workload::load_time::{LONG_GAP, untried};

/// Silence of one event loop, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    answered: u64,
    /// Sum of the times of the answers.
    took_ns: i64,
    failed: u64,
    /// End of the last answer.
    answered_ns: Option<i64>,
    /// Silences that an answer ended.
    past_ns: i64,
    /// The silence since the last answer: its begin, and the end of its last request.
    now_ns: Option<(i64, i64)>,
}

impl Silence {
    /// Adds a result; those of transactions and of samplers that send nothing do not count.
    pub(super) fn add(&mut self, row: &SampleRow<'_>) {
        if !row.is_http || row.kind != RowKind::Sample {
            return;
        }
        match row.phase.is_empty() {
            true => self.answer((row.start_ns, row.end_ns)),
            false => self.fail((row.start_ns, row.end_ns)),
        }
    }

    fn answer(&mut self, (start_ns, end_ns): (i64, i64)) {
        if let Some((from_ns, until_ns)) = self.now_ns.take() {
            self.past_ns += self.lost(until_ns.min(end_ns).saturating_sub(from_ns));
        }
        self.answered += 1;
        self.took_ns += end_ns.saturating_sub(start_ns).max(0);
        self.answered_ns = self.answered_ns.max(Some(end_ns));
    }

    /// A gap between answers as time that was lost: a short one is chance.
    fn lost(&self, gap_ns: i64) -> i64 {
        let mean_ns = ratio(self.took_ns as f64, self.answered as f64).unwrap_or(0.0);
        let is_long = gap_ns as f64 >= mean_ns * LONG_GAP;
        if is_long { gap_ns.max(0) } else { 0 }
    }

    fn fail(&mut self, (start_ns, end_ns): (i64, i64)) {
        self.failed += 1;
        let from_ns = start_ns.max(self.answered_ns.unwrap_or(start_ns));
        let (first_ns, last_ns) = self.now_ns.unwrap_or((from_ns, end_ns));
        self.now_ns = Some((first_ns.min(from_ns), last_ns.max(end_ns)));
    }

    /// Requests that could not be tried in a load of this length that began at `from_ns`.
    pub(super) fn untried(&self, from_ns: i64, load_ns: i64) -> u64 {
        let until_ns = from_ns.saturating_add(load_ns);
        let last_ns = self.now_ns.map_or(0, |(first_ns, last_ns)| {
            self.lost(last_ns.min(until_ns).saturating_sub(first_ns))
        });
        let silent_ns = self.past_ns.saturating_add(last_ns);
        let lost = ratio(silent_ns as f64, load_ns as f64).unwrap_or(0.0);
        untried(self.answered, self.failed, lost.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    /// An answer after a millisecond.
    fn quick(end_ns: i64) -> (i64, i64) {
        (end_ns - S / 1_000, end_ns)
    }

    /// 300 answers in three seconds.
    fn answered() -> Silence {
        let mut silence = Silence::default();
        (1..=300).for_each(|at| silence.answer(quick(at * S / 100)));
        silence
    }

    #[test]
    fn users_that_wait_for_a_dead_server_could_not_try_the_rest() {
        let mut silence = answered();
        assert_eq!(silence.untried(0, 3 * S), 0);
        // Two users wait until they are stopped, a little after the end.
        silence.fail((299 * S / 100, 11 * S));
        silence.fail((3 * S, 11 * S));
        assert_eq!(silence.untried(0, 10 * S), 698);
    }

    #[test]
    fn a_server_that_is_back_ends_the_silence() {
        let mut silence = answered();
        silence.fail((3 * S, 7 * S));
        (801..=1_000).for_each(|at| silence.answer(quick(at * S / 100)));
        // Four seconds of silence in ten; the pause of the plan after them is none.
        assert_eq!(silence.untried(0, 10 * S), 333 - 1);
    }

    #[test]
    fn pauses_of_the_plan_are_no_silence() {
        let mut silence = Silence::default();
        // A user that thinks for ten seconds is refused twice, at once.
        for at in 0..10 {
            match at {
                3 | 4 => silence.fail((at * 10 * S, at * 10 * S + 1)),
                _ => silence.answer(quick(at * 10 * S)),
            }
        }
        assert_eq!(silence.untried(0, 100 * S), 0);
    }

    #[test]
    fn failures_as_quick_as_answers_leave_nothing_untried() {
        let mut silence = Silence::default();
        // Two of three requests fail, all after 5 ms, one after the other.
        for at in 0..600 {
            let both = (at * S / 200, (at + 1) * S / 200);
            match at % 3 {
                0 => silence.answer(both),
                _ => silence.fail(both),
            }
        }
        assert_eq!(silence.untried(0, 3 * S), 0);
    }

    #[test]
    fn where_nothing_was_answered_the_failures_say_all() {
        let mut silence = Silence::default();
        silence.fail((0, 5 * S));
        assert_eq!(silence.untried(0, 5 * S), 0);
    }
}
