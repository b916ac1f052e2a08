//! Calls of the allocator by the program under test.
//!
//! The count is the process's: a test binary that counts makes [`COUNTED`] its allocator, and runs one
//! measurement at a time.
//!
//! ```
//! use sokudo_testkit::allocations::{COUNTED, Counted};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counted = COUNTED;
//! # fn main() {}
//! ```

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The system's allocator, counted.
pub type Counted = &'static StatsAlloc<System>;

/// Allocator that counts, for a test binary.
pub const COUNTED: Counted = &INSTRUMENTED_SYSTEM;

/// One extra call per so many events fails a test: an allocation per event is two, with its end. What goes
/// on beside the load varies by less. On a busy machine some readings of the connections fall out, of some
/// 700 calls each.
const EVENTS_PER_CALL: usize = 2;

/// Calls of the allocator up to now, giving back included.
pub fn calls() -> usize {
    let stats = COUNTED.stats();
    stats.allocations + stats.reallocations + stats.deallocations
}

/// Result of a load, and its requests to the allocator.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Requests, messages, datagrams, writes.
    pub events: f64,
    /// Calls of the allocator from before the load was prepared until its numbers were there.
    pub calls: usize,
    /// Duration of the same span.
    pub elapsed: Duration,
}

/// Runs `load`, which says how many events there were.
pub fn cost_of(load: impl FnOnce() -> f64) -> Cost {
    let (before, begun) = (calls(), Instant::now());
    let events = load();
    Cost {
        events,
        calls: calls() - before,
        elapsed: begun.elapsed(),
    }
}

/// Measurements of which one must be clean. An allocation per event shows in each of them; readings that
/// fall out of the load with few events, on a busy machine, show in some.
const MEASUREMENTS: usize = 3;

/// Fails when a load of many events calls the allocator more often than the same load of few events,
/// which lasts as long. `measure` plays both, few events first.
#[track_caller]
pub fn none_per_event(mut measure: impl FnMut() -> [Cost; 2]) {
    let measured = (0..MEASUREMENTS).map(|_| compare(measure()));
    let mut all: Vec<String> = Vec::new();
    for outcome in measured {
        match outcome {
            Ok(()) => return,
            Err(why) => all.push(why),
        }
    }
    panic!("{}", all.join(" / "));
}

/// Checks that one measurement shows no allocation per event; fails when it proves nothing.
#[track_caller]
fn compare([few, many]: [Cost; 2]) -> Result<(), String> {
    let more = many.events - few.events;
    assert!(more > few.events, "{many:?} is not much more than {few:?}");
    // What goes on beside the load goes on for longer when a slow machine does not keep up.
    let longer = many.elapsed.as_secs_f64() / few.elapsed.as_secs_f64();
    let beside = few.calls as f64 * longer.max(1.0);
    let calls = many.calls.saturating_sub(beside as usize);
    match calls * EVENTS_PER_CALL < more as usize {
        true => Ok(()),
        false => Err(format!(
            "{calls} more calls of the allocator for {more} more events: {few:?}, {many:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Cost = Cost {
        events: 100.0,
        calls: 500,
        elapsed: Duration::from_secs(1),
    };

    #[test]
    fn calls_that_do_not_grow_with_the_events_are_fine() {
        let events = 1_100.0;
        none_per_event(|| {
            [
                FEW,
                Cost {
                    events,
                    calls: 550,
                    ..FEW
                },
            ]
        });
        none_per_event(|| {
            [
                FEW,
                Cost {
                    events,
                    calls: 400,
                    ..FEW
                },
            ]
        });
    }

    #[test]
    #[should_panic(expected = "500 more calls of the allocator for 1000 more events")]
    fn a_call_per_two_events_is_found() {
        let events = 1_100.0;
        let many = Cost {
            events,
            calls: 1_000,
            ..FEW
        };
        none_per_event(|| [FEW, many]);
    }

    #[test]
    #[should_panic(expected = "is not much more than")]
    fn a_load_that_hardly_grew_proves_nothing() {
        let events = 150.0;
        none_per_event(|| [FEW, Cost { events, ..FEW }]);
    }
}
