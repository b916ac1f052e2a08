//! Sleeping that notices a request to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_net::clock::{now_ns, sleep_until};
use sokudo_net::urgency::First;

/// Longest wait between two looks at the stop flag.
pub const STOP_LOOK_NS: i64 = 50_000_000;

/// Sleeps until the start at `at_ns`; `None` when stopped before.
///
/// Threads that begin at the same moment may share a core. A thread that has not begun runs before one that has,
/// where the system allows it: the guard is to be dropped when the first bytes have left.
pub fn wait_for_start(at_ns: i64, stop: &AtomicBool) -> Option<First> {
    let first = First::begin();
    sleep_until_or_stop(at_ns, stop).map(|()| first)
}

/// Sleeps until the monotonic clock shows `at_ns`; `None` when stopped before.
pub fn sleep_until_or_stop(at_ns: i64, stop: &AtomicBool) -> Option<()> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let left_ns = at_ns - now_ns();
        if left_ns <= STOP_LOOK_NS {
            sleep_until(at_ns);
            return Some(());
        }
        std::thread::sleep(Duration::from_nanos(STOP_LOOK_NS as u64));
    }
}
