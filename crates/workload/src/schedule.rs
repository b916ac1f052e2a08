//! Intended starts of requests.
//!
//! A closed loop starts a request when the one before it is answered. An open loop has a schedule
//! that knows nothing of answers: a request that leaves late still counts from its intended start,
//! so that a stall of the far end counts for every request that was due meanwhile.
//! After a stall the requests that are due leave as fast as they can: it is the far end's backlog,
//! not ours, that a user would wait for.

use sokudo_pace::Paced;

/// A request that leaves later than this although it could have left counts as late.
pub const LATE_NS: i64 = 1_000_000;

/// The intended starts of one thread.
#[derive(Debug, Clone)]
pub enum Schedule {
    /// Each request starts when there is room for it.
    Closed,
    /// Each request has its time.
    Open {
        /// Times of the events.
        paced: Paced,
        /// Number of the next event.
        next: u64,
        /// Events of the whole schedule.
        last: u64,
    },
}

impl Schedule {
    /// Events at `rate_per_s` from `start_ns` until `end_ns`; a closed loop without a rate.
    pub fn new(rate_per_s: Option<f64>, start_ns: i64, end_ns: i64) -> Self {
        let paced = rate_per_s.and_then(|rate| Some((rate, Paced::new(rate, start_ns)?)));
        match paced {
            None => Schedule::Closed,
            Some((rate, paced)) => {
                let span_s = end_ns.saturating_sub(start_ns).max(0) as f64 / 1e9;
                Schedule::Open {
                    paced,
                    next: 0,
                    // The one that is due exactly at the end is not sent.
                    last: (span_s * rate).ceil() as u64,
                }
            }
        }
    }

    /// Intended start of the next request, `now` in a closed loop; `None` after the last one.
    #[inline]
    pub fn next_ns(&self, now: i64) -> Option<i64> {
        match self {
            Schedule::Closed => Some(now),
            Schedule::Open { paced, next, last } => (next < last).then(|| paced.intended_ns(*next)),
        }
    }

    /// Intended start of the request after the last one that started, whether it is still part of the load or
    /// not; `None` in a closed loop.
    pub fn due_ns(&self) -> Option<i64> {
        match self {
            Schedule::Closed => None,
            Schedule::Open { paced, next, .. } => Some(paced.intended_ns(*next)),
        }
    }

    /// Notes that the next request has started.
    #[inline]
    pub fn started(&mut self) {
        if let Schedule::Open { next, .. } = self {
            *next += 1;
        }
    }

    /// Requests with a time of their own, at `from_ns` or later, that have not started.
    pub fn left_from(&self, from_ns: i64) -> u64 {
        let Schedule::Open { paced, next, last } = self else {
            return 0;
        };
        let first_ns = paced.intended_ns(*next);
        let period_ns = (paced.intended_ns(*last) - first_ns).max(1) as f64
            / (last.saturating_sub(*next)).max(1) as f64;
        let before = ((from_ns - first_ns).max(0) as f64 / period_ns).ceil() as u64;
        last.saturating_sub(*next).saturating_sub(before)
    }

    /// True when requests have their times.
    pub fn is_open(&self) -> bool {
        matches!(self, Schedule::Open { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_schedule_holds_what_the_rate_and_the_time_say() {
        let mut schedule = Schedule::new(Some(1000.0), 5_000_000, 1_005_000_000);
        let mut count = 0;
        while let Some(at_ns) = schedule.next_ns(0) {
            assert_eq!(at_ns, 5_000_000 + count * 1_000_000);
            schedule.started();
            count += 1;
        }
        assert_eq!(count, 1000);
        assert_eq!(schedule.left_from(0), 0);
    }

    #[test]
    fn what_has_not_started_is_known() {
        let mut schedule = Schedule::new(Some(1000.0), 0, 1_000_000_000);
        (0..300).for_each(|_| schedule.started());
        assert_eq!(schedule.left_from(0), 700);
        assert_eq!(schedule.left_from(500_000_000), 500);
        assert_eq!(Schedule::new(None, 0, 1).left_from(0), 0);
    }

    #[test]
    fn a_closed_schedule_is_always_now() {
        let mut schedule = Schedule::new(None, 0, 1);
        schedule.started();
        assert_eq!(schedule.next_ns(77), Some(77));
        assert!(!schedule.is_open());
    }
}
