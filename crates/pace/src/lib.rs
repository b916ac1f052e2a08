//! Arrival schedules of load.
//!
//! A schedule knows the *intended* start of every event. Time is an argument: nothing here reads
//! a clock or sleeps.

pub mod ramp;
mod random;
mod think;
pub mod throughput;

pub use random::Random;
pub use think::Think;

/// Evenly spaced events at a fixed rate.
///
/// ```text
/// intended   |     |     |     |     |     |     |     |
/// real       |     |  (stalled)  ↓ ↓ ↓ ↓   |     |     |      catching up at twice the rate
/// ```
///
/// The intended times never move, so lateness is always counted against the plan. After a stall
/// the events that are due go out at no more than [`Paced::CATCH_UP`] times the rate: a burst at
/// full speed would measure the buffers on the way, not the way.
#[derive(Debug, Clone)]
pub struct Paced {
    start_ns: i64,
    period_ns: f64,
    /// Events handed out so far; the next one has this number.
    done: u64,
    not_before_ns: i64,
}

impl Paced {
    /// Factor by which a backlog is worked off faster than the rate.
    pub const CATCH_UP: f64 = 2.0;

    /// Events at `rate_per_s` from `start_ns` on.
    ///
    /// `None` when the rate is not a positive finite number.
    pub fn new(rate_per_s: f64, start_ns: i64) -> Option<Self> {
        let valid = rate_per_s.is_finite() && rate_per_s > 0.0;
        valid.then(|| Self {
            start_ns,
            period_ns: 1e9 / rate_per_s,
            done: 0,
            not_before_ns: start_ns,
        })
    }

    /// Intended time of event `number`, counted from 0.
    pub fn intended_ns(&self, number: u64) -> i64 {
        self.start_ns + (number as f64 * self.period_ns) as i64
    }

    /// Intended time of the next event.
    pub fn next_ns(&self) -> i64 {
        self.intended_ns(self.done)
    }

    /// Earliest start of the next `batch` events together: the intended time of the last of them,
    /// so that none starts early; later after a stall.
    pub fn due_ns(&self, batch: usize) -> i64 {
        self.intended_ns(self.done + batch.max(1) as u64 - 1)
            .max(self.not_before_ns)
    }

    /// Events that may start together at `now_ns`, at most `most`; 0 when none is due.
    ///
    /// More than one only when they are due anyway: the number grows with the time passed.
    pub fn due(&self, now_ns: i64, most: usize) -> usize {
        if now_ns < self.due_ns(1) {
            return 0;
        }
        let elapsed_ns = (now_ns - self.start_ns) as f64;
        let behind = (elapsed_ns / self.period_ns) as u64 + 1;
        (behind.saturating_sub(self.done) as usize).clamp(1, most.max(1))
    }

    /// Notes that `count` events started at `now_ns`.
    pub fn started(&mut self, count: usize, now_ns: i64) {
        self.done += count as u64;
        let gap_ns = count as f64 * self.period_ns / Self::CATCH_UP;
        self.not_before_ns = now_ns + gap_ns as i64;
    }
}

/// Largest batch that keeps bursts below `burst_ns` of the schedule, between 1 and `most`.
///
/// A paced sender that hands over 44 datagrams per call is bursty at low rates; this keeps the
/// burst a small, stated piece of time.
pub fn batch_within(rate_per_s: f64, burst_ns: f64, most: usize) -> usize {
    ((rate_per_s * burst_ns / 1e9) as usize).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_due_before_its_time() {
        let paced = Paced::new(1000.0, 5_000_000).unwrap();
        assert_eq!(paced.due(4_999_999, 64), 0);
        assert_eq!(paced.due(5_000_000, 64), 1);
    }

    #[test]
    fn a_stall_is_worked_off_at_twice_the_rate() {
        let mut paced = Paced::new(1000.0, 0).unwrap();
        let mut now_ns = 100_000_000; // 100 ms late: 101 events are due
        let mut sent = 0;
        while paced.next_ns() <= now_ns {
            now_ns = now_ns.max(paced.due_ns(1));
            let count = paced.due(now_ns, 1);
            paced.started(count, now_ns);
            sent += count;
        }
        assert!(
            (200..=203).contains(&sent),
            "{sent} sent until the schedule was caught"
        );
        assert!((199_000_000..=203_000_000).contains(&now_ns), "{now_ns}");
    }

    #[test]
    fn odd_rates_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Paced::new(rate, 0).is_none());
        }
    }

    #[test]
    fn batches_stay_within_the_burst() {
        assert_eq!(batch_within(1_000.0, 200_000.0, 44), 1);
        assert_eq!(batch_within(100_000.0, 200_000.0, 44), 20);
        assert_eq!(batch_within(10_000_000.0, 200_000.0, 44), 44);
    }

    proptest! {
        /// Whatever the clock does, no more events start than the schedule holds.
        #[test]
        fn never_ahead_of_the_schedule(rate in 1.0f64..1e7, steps in prop::collection::vec(0i64..10_000_000, 1..200)) {
            let mut paced = Paced::new(rate, 0).unwrap();
            let (mut now_ns, mut sent) = (0i64, 0u64);
            for step in steps {
                now_ns += step;
                let count = paced.due(now_ns, 64);
                if count > 0 {
                    paced.started(count, now_ns);
                    sent += count as u64;
                }
                let planned = (now_ns as f64 * rate / 1e9) as u64 + 1;
                prop_assert!(sent <= planned, "{} of {}", sent, planned);
            }
        }
    }
}
