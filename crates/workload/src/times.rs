//! Bounds of the times that options may have.
//!
//! The same bounds for every workload, so that a refusal reads the same everywhere.

use sokudo_model::{Refusal, Text};

use crate::refusal::operator;
use crate::values::{HowMany, Span};

/// Longest load that is accepted: 24 h.
pub const MAX_DURATION_NS: u64 = 86_400_000_000_000;

/// Longest wait for a silent far end that is accepted: above it a phase could not end within its
/// bound.
pub const MAX_TIMEOUT_NS: u64 = 20_000_000_000;

/// Measured when neither a duration nor a count is given: 10 s.
pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;

/// Shortest wait for a far end that is accepted.
pub const MIN_TIMEOUT_NS: u64 = 1_000_000;

/// Shortest time between two samples.
const MIN_INTERVAL_NS: u64 = 10_000_000;
/// Longest interval between two reports.
const MAX_INTERVAL_NS: u64 = 3_600_000_000_000;

/// Length of a load, the warm-up included, nanoseconds; 0 when only a count bounds it.
pub fn load_ns(duration: Option<Span>, count: Option<HowMany>, warmup: Span) -> u64 {
    match (duration, count) {
        (Some(span), _) => span.0 + warmup.0,
        (None, Some(_)) => 0,
        (None, None) => DEFAULT_DURATION_NS + warmup.0,
    }
}

/// Refuses a load that never begins, or lasts longer than one record should.
pub fn check_duration(duration: Option<Span>, warmup_ns: u64) -> Result<(), Refusal> {
    if duration.is_some_and(|span| span.0 == 0) {
        return Err(operator(
            Text::new("error-duration-0"),
            Text::new("error-duration-0-hint"),
        ));
    }
    let longest_ns = duration.map_or(0, |span| span.0).max(warmup_ns);
    if longest_ns > MAX_DURATION_NS {
        return Err(operator(
            Text::new("error-duration-long"),
            Text::new("error-duration-long-hint"),
        ));
    }
    Ok(())
}

/// Refuses intervals in which the measuring would be what is measured, and those that nobody waits for.
pub fn check_interval(interval: Span) -> Result<(), Refusal> {
    if interval.0 < MIN_INTERVAL_NS {
        return Err(operator(
            Text::new("error-interval-short"),
            Text::new("error-interval-short-hint"),
        ));
    }
    if interval.0 > MAX_INTERVAL_NS {
        return Err(operator(
            Text::new("error-interval-long"),
            Text::new("error-interval-long-hint"),
        ));
    }
    Ok(())
}

/// Refuses a timeout that is longer than a phase can wait.
pub fn check_timeout(timeout: Span) -> Result<(), Refusal> {
    if !(MIN_TIMEOUT_NS..=MAX_TIMEOUT_NS).contains(&timeout.0) {
        return Err(operator(
            Text::new("error-timeout-range"),
            Text::new("error-timeout-range-hint"),
        ));
    }
    Ok(())
}
