//! The clock of a test: its omitted start, and the intervals that are told.

use std::time::{Duration, Instant};

/// How far a test has come.
#[derive(Debug)]
pub struct Clock {
    begun: Instant,
    /// What is left out at the start; zero once it is over.
    omit: Duration,
    /// Length of an interval; zero tells none.
    interval: Duration,
    next: Duration,
}

impl Clock {
    /// A test that begins now.
    pub fn start(interval: Duration, omit_seconds: u64) -> Self {
        Self {
            begun: Instant::now(),
            omit: Duration::from_secs(omit_seconds),
            interval,
            next: interval,
        }
    }

    /// Time since the start of what is counted, or of the omitted start while that lasts.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// What is left out at the start, while it lasts.
    pub fn omitting(&self) -> Option<Duration> {
        (!self.omit.is_zero()).then_some(self.omit)
    }

    /// True when intervals are told.
    pub fn tells_intervals(&self) -> bool {
        !self.interval.is_zero()
    }

    /// Ends the omitted start once its time is over, and gives its length.
    pub fn end_omit(&mut self) -> Option<Duration> {
        let omit = self.omitting().filter(|omit| self.elapsed() >= *omit)?;
        self.begun += omit;
        self.omit = Duration::ZERO;
        self.next = self.interval;
        Some(omit)
    }

    /// The end of an interval that is over at `now` and was not given yet, in seconds.
    pub fn end_interval(&mut self, now: Duration) -> Option<f64> {
        if !self.tells_intervals() || now < self.next {
            return None;
        }
        let end = self.next.as_secs_f64();
        self.next += self.interval;
        Some(end)
    }
}
