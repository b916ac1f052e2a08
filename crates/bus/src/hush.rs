//! Tracks the quiet phases, during which only urgent messages are sent.
//!
//! A quiet phase is measured without traffic of the controller or the agents on the network under
//! test. Both ends of a link know beforehand how long it lasts, so that the missing heartbeats are not
//! taken for a failure.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::latch::deadline_in;
use crate::mailbox::Parcel;

/// Bytes that may be held back. A sender that has more ends the quiet phase, so that nothing is lost.
const HELD_BYTES: usize = 32 * 1024 * 1024;

/// A silence lasts no longer, at either end: for so long a host may go on without its controller.
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// The state of the quiet phase at one end.
#[derive(Debug, Default)]
pub(crate) struct Hush {
    until: Mutex<Option<Instant>>,
    ended: Condvar,
}

impl Hush {
    /// Silence for so long from now on, at most [`LONGEST`]. The guard keeps others from
    /// [speaking](Hush::speak) until it is dropped.
    pub(crate) fn begin(&self, time: Duration) -> MutexGuard<'_, Option<Instant>> {
        let mut until = self.lock();
        *until = Some(deadline_in(time.min(LONGEST)));
        until
    }

    /// No silence any more.
    pub(crate) fn end(&self) {
        *self.lock() = None;
        self.ended.notify_all();
    }

    /// Remaining time of the quiet phase; `None` outside of one.
    pub(crate) fn left(&self) -> Option<Duration> {
        left(*self.lock())
    }

    /// Says something unless it is a time of silence; `None` when it is.
    pub(crate) fn speak<T>(&self, say: impl FnOnce() -> T) -> Option<T> {
        let until = self.lock();
        left(*until).is_none().then(say)
    }

    /// Waits until the quiet phase ends; true when there was one.
    pub(crate) fn wait(&self) -> bool {
        let mut until = self.lock();
        let mut waited = false;
        while let Some(time) = left(*until) {
            waited = true;
            let woken = self.ended.wait_timeout(until, time);
            until = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        waited
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn left(until: Option<Instant>) -> Option<Duration> {
    let left = until?.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}

/// The held messages, in order.
#[derive(Debug)]
pub(crate) struct Held<T> {
    waiting: VecDeque<T>,
    bytes: usize,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<T: Parcel> Held<T> {
    /// Keeps what can wait; gives back what cannot. True when there is room for more.
    pub(crate) fn keep(&mut self, parcel: T) -> (Option<T>, bool) {
        if parcel.must_arrive() {
            return (Some(parcel), true);
        }
        self.bytes += parcel.weight();
        self.waiting.push_back(parcel);
        (None, self.bytes < HELD_BYTES)
    }

    /// The next held message, once it may be sent.
    pub(crate) fn next(&mut self) -> Option<T> {
        let parcel = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(parcel.weight());
        Some(parcel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Word(usize, bool);

    impl Parcel for Word {
        fn weight(&self) -> usize {
            self.0
        }

        fn must_arrive(&self) -> bool {
            self.1
        }

        fn gap(_: u64) -> Self {
            Self(0, true)
        }
    }

    #[test]
    fn nothing_is_said_until_it_is_over() {
        let hush = Hush::default();
        assert_eq!(hush.speak(|| 1), Some(1));
        assert!(!hush.wait());
        drop(hush.begin(Duration::from_secs(3600)));
        assert_eq!(hush.speak(|| 1), None);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| hush.wait());
            hush.end();
            // It may have begun to wait before or after: either way it passes.
            waiting.join().expect("waiting cannot fail");
        });
        assert_eq!((hush.left(), hush.speak(|| 2)), (None, Some(2)));
    }

    #[test]
    fn it_has_a_bound() {
        let hush = Hush::default();
        drop(hush.begin(3 * LONGEST));
        assert!(hush.left().is_some_and(|left| left <= LONGEST));
    }

    #[test]
    fn it_ends_by_itself() {
        let hush = Hush::default();
        drop(hush.begin(Duration::from_millis(20)));
        hush.wait();
        assert_eq!(hush.left(), None);
    }

    #[test]
    fn what_can_wait_is_kept_in_order_and_the_rest_passes() {
        let mut held = Held::default();
        assert_eq!(held.keep(Word(1, false)), (None, true));
        assert_eq!(held.keep(Word(2, true)), (Some(Word(2, true)), true));
        assert_eq!(held.keep(Word(HELD_BYTES, false)), (None, false));
        assert_eq!(held.next(), Some(Word(1, false)));
        assert_eq!(held.next(), Some(Word(HELD_BYTES, false)));
        assert_eq!((held.next(), held.bytes), (None, 0));
    }
}
