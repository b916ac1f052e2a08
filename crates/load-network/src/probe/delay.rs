//! Delays of each probe, there and back, with the bound of the clock error.
//!
//! ```text
//! asking host      sent ●─────────────╮                    ╭──► ● received
//!                        ╲  up + offset                   ╱  down − offset
//! answering host          ╰──────────► ● received   sent ●
//! ```
//!
//! The raw differences of stamps hold the difference of the clocks, too: `up` has it added, `down`
//! taken off, and in the round trip it falls out. The clocks were compared before and after the
//! load; between the two they are taken to drift evenly. A one-way delay is shown only where the
//! doubt about the clocks is not larger than itself.
//!
//! Pure: rows and clocks in, delays out.

use sokudo_model::HostClock;
use sokudo_stats::Histogram;

/// One answered probe, as the stamps tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Departure of the probe on the asking host's clock, nanoseconds.
    pub sent_ns: i64,
    /// Arrival at the answering host, its clock, minus `sent_ns`.
    pub up_ns: i64,
    /// Arrival of the answer, asking host's clock, minus its departure, answering host's clock.
    pub down_ns: i64,
}

/// Faster than this no two sound clocks drift apart, seconds per second: crystals stay within a tenth.
const DRIFT_MAX: f64 = 500e-6;

impl Row {
    /// Round trip without the far end's turn-around, nanoseconds.
    pub fn rtt_ns(&self) -> i64 {
        self.up_ns.saturating_add(self.down_ns)
    }
}

/// The answering host's clock minus the asking host's, over the time of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairClock {
    /// Moment of the first comparison on the asking host's clock, nanoseconds.
    at_ns: i64,
    /// Difference at that moment, nanoseconds.
    offset_ns: f64,
    /// Change of the difference per time.
    pub drift: f64,
    /// The difference is right within this, nanoseconds; 0 when both are one clock.
    pub error_ns: u64,
}

impl PairClock {
    /// From the clocks of the asking and the answering host.
    pub fn new(asking: &HostClock, answering: &HostClock) -> Self {
        let apart = |of: fn(&HostClock) -> (i64, u64)| {
            let ((asking, asking_error), (answering, answering_error)) =
                (of(asking), of(answering));
            (
                answering.saturating_sub(asking) as f64,
                asking_error.saturating_add(answering_error),
            )
        };
        let (before_ns, before_error_ns) = apart(|c| (c.before.offset_ns, c.before.error_ns));
        let (after_ns, after_error_ns) = apart(|c| (c.after.offset_ns, c.after.error_ns));
        let span = |c: &HostClock| c.after.at_ns.saturating_sub(c.before.at_ns);
        let span_ns = span(asking).max(span(answering));
        let moved_ns = (after_ns - before_ns).abs();
        let drifted_ns = span_ns.max(0) as f64 * DRIFT_MAX
            + before_error_ns.saturating_add(after_error_ns) as f64;
        // A clock that was stepped at an unknown time during the phase was wrong by the whole step.
        let stepped_ns = if moved_ns > drifted_ns { moved_ns } else { 0.0 };
        Self {
            at_ns: asking.before.at_ns.saturating_add(asking.before.offset_ns),
            offset_ns: before_ns,
            drift: drift(answering) - drift(asking),
            error_ns: before_error_ns
                .max(after_error_ns)
                .saturating_add(stepped_ns as u64),
        }
    }

    /// One clock read by both hosts.
    pub fn one() -> Self {
        Self::new(&HostClock::default(), &HostClock::default())
    }

    fn offset_at(&self, sent_ns: i64) -> i64 {
        let since_ns = sent_ns.saturating_sub(self.at_ns) as f64;
        (self.offset_ns + self.drift * since_ns) as i64
    }

    /// One-way delays of a probe and its answer, nanoseconds; each is right within `error_ns`.
    pub fn one_way(&self, row: &Row) -> (i64, i64) {
        let offset_ns = self.offset_at(row.sent_ns);
        (
            row.up_ns.saturating_sub(offset_ns),
            row.down_ns.saturating_add(offset_ns),
        )
    }

    /// The same clock with the doubt that these rows prove: nothing arrives before it left, so a
    /// delay below zero by more than the error shows that the clocks did not drift evenly.
    pub fn doubted(self, rows: &[Row]) -> Self {
        let lowest = |row: &Row| {
            let (up_ns, down_ns) = self.one_way(row);
            up_ns.min(down_ns)
        };
        let proven_ns = rows.iter().map(lowest).min().unwrap_or(0).min(0);
        Self {
            error_ns: self.error_ns.max(proven_ns.unsigned_abs()),
            ..self
        }
    }
}

/// Change of a host's offset per time, between its two readings.
fn drift(clock: &HostClock) -> f64 {
    let HostClock { before, after } = clock;
    let span_ns = after.at_ns.saturating_sub(before.at_ns) as f64;
    match span_ns > 0.0 {
        true => after.offset_ns.saturating_sub(before.offset_ns) as f64 / span_ns,
        false => 0.0,
    }
}

/// A value beside its error: `None` when the error is larger, because it is then meaningless.
pub fn shown(value: f64, error: f64) -> Option<f64> {
    (value >= error).then_some(value)
}

/// Variation of one series of delays.
#[derive(Debug, Default)]
pub struct Variation {
    /// Absolute differences of the delays of consecutive probes (RFC 3393), nanoseconds.
    pub ipdv: Histogram,
    /// Interarrival jitter (RFC 3550 section 6.4.1) after the last probe, nanoseconds; `None` below
    /// two answered probes.
    pub jitter_ns: Option<f64>,
}

impl Variation {
    /// Of delays by sequence number; `None` for a probe without an answer.
    ///
    /// A clock difference falls out of differences: delays may be raw.
    pub fn of(delays: impl Iterator<Item = Option<i64>>) -> Self {
        const SMOOTHING: f64 = 16.0;
        let mut out = Self::default();
        let (mut neighbour, mut last): (Option<i64>, Option<i64>) = (None, None);
        for delay in delays {
            if let Some(delay) = delay {
                if let Some(before) = neighbour {
                    out.ipdv.record(delay.abs_diff(before));
                }
                if let Some(before) = last {
                    let jitter = out.jitter_ns.unwrap_or(0.0);
                    let step = delay.abs_diff(before) as f64;
                    out.jitter_ns = Some(jitter + (step - jitter) / SMOOTHING);
                }
                last = Some(delay);
            }
            neighbour = delay;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sokudo_model::ClockReading;

    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    fn clock(before: (i64, i64, u64), after: (i64, i64, u64)) -> HostClock {
        let reading = |(at_ns, offset_ns, error_ns)| ClockReading {
            at_ns,
            offset_ns,
            error_ns,
        };
        HostClock {
            before: reading(before),
            after: reading(after),
        }
    }

    /// Stamps of a probe sent at `sent_ns` when the far clock is ahead by `offset_ns`.
    fn row(sent_ns: i64, up_ns: i64, down_ns: i64, offset_ns: i64) -> Row {
        Row {
            sent_ns,
            up_ns: up_ns + offset_ns,
            down_ns: down_ns - offset_ns,
        }
    }

    #[test]
    fn one_clock_leaves_no_doubt() {
        let pair = PairClock::one();
        assert_eq!((pair.error_ns, pair.drift), (0, 0.0));
        assert_eq!(pair.one_way(&row(5, 300, 700, 0)), (300, 700));
    }

    #[test]
    fn a_drifting_clock_is_followed() {
        // Ahead by 5 ms at first, 10 µs more per second.
        let far = clock((0, 5_000_000, 30_000), (20 * SECOND_NS, 5_200_000, 40_000));
        let near = clock((0, 0, 0), (20 * SECOND_NS, 0, 0));
        let pair = PairClock::new(&near, &far);
        assert_eq!(pair.error_ns, 40_000);
        assert!((pair.drift - 10e-6).abs() < 1e-12);
        for second in 0..20 {
            let offset_ns = 5_000_000 + second * 10_000;
            let row = row(second * SECOND_NS, 2_000_000, 9_000_000, offset_ns);
            assert_eq!(pair.one_way(&row), (2_000_000, 9_000_000));
        }
    }

    #[test]
    fn the_errors_of_both_hosts_add_up() {
        let near = clock((0, -3_000, 10), (SECOND_NS, -3_000, 20));
        let far = clock((0, 4_000, 5), (SECOND_NS, 4_000, 7));
        let pair = PairClock::new(&near, &far);
        assert_eq!(pair.error_ns, 27);
        // The asking clock is behind the controller's by 3 µs, the answering one ahead by 4 µs.
        assert_eq!(
            pair.one_way(&row(0, 100_000, 50_000, 7_000)),
            (100_000, 50_000)
        );
    }

    #[test]
    fn a_delay_below_its_error_is_no_result() {
        assert_eq!(shown(0.000_050, 0.000_051), None);
        assert_eq!(shown(-0.000_001, 0.0), None);
        assert_eq!(shown(0.000_051, 0.000_051), Some(0.000_051));
        assert_eq!(shown(0.000_000, 0.0), Some(0.0));
    }

    #[test]
    fn a_clock_that_was_set_half_way_widens_the_error() {
        let far = clock((0, 0, 100_000), (20 * SECOND_NS, 0, 100_000));
        let pair = PairClock::new(&HostClock::default(), &far);
        let honest = [row(0, 300_000, 300_000, 0)];
        assert_eq!(pair.doubted(&honest).error_ns, 100_000);
        // For a second the far clock was 2 ms behind: answers seem to leave before they were asked.
        let jumped = [honest[0], row(SECOND_NS, 300_000, 300_000, -2_000_000)];
        assert_eq!(pair.doubted(&jumped).error_ns, 1_700_000);
    }

    #[test]
    fn a_clock_that_was_stepped_for_good_widens_the_error_by_the_step() {
        let near = clock((0, 0, 0), (20 * SECOND_NS, 0, 0));
        let far = |after_ns| clock((0, 0, 50_000), (20 * SECOND_NS, after_ns, 50_000));
        assert_eq!(
            PairClock::new(&near, &far(8_000_000)).error_ns,
            50_000,
            "400 ppm"
        );
        let stepped = PairClock::new(&near, &far(-30_000_000));
        assert_eq!(stepped.error_ns, 30_050_000);
    }

    #[test]
    fn hostile_clocks_do_not_overflow() {
        let wild = clock((i64::MIN, i64::MAX, u64::MAX), (i64::MAX, i64::MIN, 1));
        let pair = PairClock::new(&wild, &HostClock::default());
        let row = Row {
            sent_ns: i64::MIN,
            up_ns: i64::MAX,
            down_ns: i64::MIN,
        };
        assert_eq!(pair.doubted(&[row]).error_ns, u64::MAX);
    }

    #[test]
    fn variation_skips_what_was_lost() {
        let delays = [Some(10), Some(14), None, Some(30), Some(29)];
        let variation = Variation::of(delays.into_iter());
        // 10→14 and 30→29 are neighbours; 14→30 are not, but arrive one after the other.
        assert_eq!(variation.ipdv.len(), 2);
        assert_eq!(variation.ipdv.summary(1.0).max, 4.0);
        let mut jitter = 0.0;
        for step in [4.0, 16.0, 1.0] {
            jitter += (step - jitter) / 16.0;
        }
        assert_eq!(variation.jitter_ns, Some(jitter));
        assert_eq!(Variation::of([Some(1)].into_iter()).jitter_ns, None);
    }

    proptest! {
        /// Whatever the clocks do within their bounds, the true delay lies within the bar.
        #[test]
        fn the_truth_lies_within_the_bar(
            up_ns in 0i64..50_000_000,
            down_ns in 0i64..50_000_000,
            offset_ns in -10_000_000_000i64..10_000_000_000,
            drift_ppm in -100i64..100,
            error_ns in 1u64..1_000_000,
            wrong in prop::array::uniform2(-1.0f64..1.0),
            at in 0i64..10,
        ) {
            let truly = |t_ns: i64| offset_ns + t_ns / 1_000_000 * drift_ppm;
            let off = |share: f64| (error_ns as f64 * share) as i64;
            let end_ns = 10 * SECOND_NS;
            let far = clock(
                (0, truly(0) + off(wrong[0]), error_ns),
                (end_ns, truly(end_ns) + off(wrong[1]), error_ns),
            );
            let pair = PairClock::new(&HostClock::default(), &far);
            let sent_ns = at * SECOND_NS;
            let (up, down) = pair.one_way(&row(sent_ns, up_ns, down_ns, truly(sent_ns)));
            prop_assert!(up.abs_diff(up_ns) <= error_ns + 2, "{up} for {up_ns}");
            prop_assert!(down.abs_diff(down_ns) <= error_ns + 2, "{down} for {down_ns}");
        }
    }
}
