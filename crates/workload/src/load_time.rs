//! The time of a load: what the rates of its flows are counted over.
//!
//! ```text
//! agreed start ─ warm-up ─┬─ first ─── … ─── last that got through ─┬─ end of the load
//!                         └─────────────── load time ───────────────┘
//! ```
//!
//! A rate over the time from the first to the last success would be right only while things go well: a far
//! end that dies after a fifth of the load would seem to be five times as fast.

use sokudo_model::metrics::group;
use sokudo_model::{PhaseSpec, Summary};

use crate::joined::{NS, put_each, ratio};

/// Times the mean latency from which a gap between answers, in which requests failed, is time that was lost.
pub const LONG_GAP: f64 = 4.0;

/// Time of a flow's load, and of what got through in it, nanoseconds from the first intended start that
/// counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadTime {
    load_ns: i64,
    through_ns: Option<(i64, i64)>,
}

impl LoadTime {
    /// A load of this length. `through_ns`: when the first and the last thing got through; `None` for
    /// nothing.
    pub fn new(load_ns: i64, through_ns: Option<(i64, i64)>) -> Self {
        Self {
            load_ns: load_ns.max(1),
            through_ns,
        }
    }

    /// The same at the end where the load arrives. What queued up on the way comes after the end of the
    /// load: it arrives in the time from the first arrival to the last.
    pub fn of_arrivals(load_ns: i64, through_ns: Option<(i64, i64)>) -> Self {
        let span_ns = through_ns.map_or(0, |(first, last)| last.saturating_sub(first));
        Self::new(load_ns.max(span_ns), through_ns)
    }

    /// Two moments on one clock as times since a begin on it.
    pub fn since(from_ns: i64, both_ns: Option<(i64, i64)>) -> Option<(i64, i64)> {
        let (first_ns, last_ns) = both_ns?;
        Some((
            first_ns.saturating_sub(from_ns),
            last_ns.saturating_sub(from_ns),
        ))
    }

    /// Length of the load, nanoseconds.
    pub fn length_ns(&self) -> i64 {
        self.load_ns
    }

    /// Events per second of so many in the whole load.
    pub fn per_s(&self, count: f64) -> f64 {
        count * 1e9 / self.load_ns as f64
    }

    /// Puts the length of the load, and when the first and the last thing got through.
    pub fn put(&self, metrics: &mut Summary) {
        let seconds = |ns: i64| ns.max(0) as f64 * NS;
        put_each(
            metrics,
            [
                (group::LOAD_SECONDS, Some(seconds(self.load_ns))),
                (
                    group::FIRST_THROUGH_SECONDS,
                    self.through_ns.map(|(first, _)| seconds(first)),
                ),
                (
                    group::LAST_THROUGH_SECONDS,
                    self.through_ns.map(|(_, last)| seconds(last)),
                ),
            ],
        );
    }
}

/// Planned length of the load that counts, nanoseconds: `duration_ns` without the warm-up. A load that the
/// operator ended early is as long as it was. `None` when nothing but an amount ends it.
pub fn planned_ns(spec: &PhaseSpec, duration_ns: u64, warmup_ns: u64) -> Option<i64> {
    let bound_ns = spec.phase.bound_ns.max(1);
    let bounds = [duration_ns, spec.phase.duration_ns];
    let shortest_ns = bounds.into_iter().filter(|ns| *ns > 0).min()?;
    let counted_ns = shortest_ns.min(bound_ns).saturating_sub(warmup_ns);
    i64::try_from(counted_ns).ok()
}

/// Requests that could not be tried in a closed loop: as many as were answered in as much time, when for
/// `lost` of it, 0 to 1, no connection was of use. `failed` of them were tried.
pub fn untried(answered: u64, failed: u64, lost: f64) -> u64 {
    let due = ratio(answered as f64 * lost, 1.0 - lost).unwrap_or(0.0);
    (due.round() as u64).saturating_sub(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn a_rate_is_counted_over_the_load_however_early_it_ended() {
        let died = LoadTime::new(5 * S, Some((0, S)));
        assert_eq!(died.per_s(5_000.0), 1_000.0);
        assert_eq!(LoadTime::new(5 * S, None).per_s(0.0), 0.0);
        let mut metrics = Summary::new();
        died.put(&mut metrics);
        let of = |metric: sokudo_model::Metric| metric.of(&metrics);
        assert_eq!(of(group::LOAD_SECONDS), Some(5.0));
        assert_eq!(of(group::FIRST_THROUGH_SECONDS), Some(0.0));
        assert_eq!(of(group::LAST_THROUGH_SECONDS), Some(1.0));
    }

    #[test]
    fn what_queued_up_arrives_at_the_rate_of_the_way() {
        let queued = LoadTime::of_arrivals(5 * S, Some((S / 10, 61 * S / 10)));
        assert_eq!(queued.per_s(6_000.0), 1_000.0);
        let dead = LoadTime::of_arrivals(5 * S, Some((0, S)));
        assert_eq!(dead.per_s(5_000.0), 1_000.0);
    }

    #[test]
    fn what_could_not_be_tried_goes_by_the_pace_of_the_answers() {
        assert_eq!(untried(300, 0, 0.7), 700);
        assert_eq!(untried(300, 10, 0.7), 690);
        assert_eq!(untried(300, 10, 0.0), 0);
        assert_eq!(untried(0, 10, 1.0), 0);
    }
}
