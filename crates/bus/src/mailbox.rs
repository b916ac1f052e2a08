//! A bounded queue of messages that never blocks the sender.
//!
//! Pushing never waits. A mailbox has a bound in messages and in bytes; above it ordinary messages
//! are dropped and counted per source, and a message with their number takes their place in the
//! order. Messages that must arrive have the same room again; above that, pushing them fails with an
//! error.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sokudo_model::Text;

use crate::latch::deadline_in;

/// Properties of messages that a mailbox needs.
pub(crate) trait Parcel: Sized {
    /// Memory it takes, bytes, roughly.
    fn weight(&self) -> usize;
    /// True for what the run cannot do without.
    fn must_arrive(&self) -> bool;
    /// The message that reports how many were dropped in its place.
    fn gap(dropped: u64) -> Self;
}

/// Reason why a message was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The connection has ended: the message will never be read.
    #[error("the connection to the controller is gone")]
    Gone,
    /// The reader is too slow: the note was dropped, which is counted and will be reported.
    #[error("too many notes are waiting")]
    Full,
}

impl PushError {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        Text::new(match self {
            Self::Gone => "error-link-gone",
            Self::Full => "error-link-full",
        })
    }
}

/// Reason why there is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PopError {
    /// Nothing yet.
    Empty,
    /// Nothing any more.
    Closed,
}

/// The bounds of a mailbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    /// Messages.
    pub count: usize,
    /// Bytes, as [`Parcel::weight`] counts them.
    pub bytes: usize,
}

/// A bounded queue from several sources to one reader.
#[derive(Debug)]
pub(crate) struct Mailbox<S, T> {
    bound: Bound,
    state: Mutex<State<S, T>>,
    filled: Condvar,
}

#[derive(Debug)]
struct State<S, T> {
    waiting: VecDeque<(S, T)>,
    bytes: usize,
    /// Dropped since the last gap message, by source.
    gaps: BTreeMap<S, u64>,
    dropped: u64,
    closed: bool,
}

impl<S: Copy + Ord, T: Parcel> Mailbox<S, T> {
    pub(crate) fn new(bound: Bound) -> Self {
        Self {
            bound,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                gaps: BTreeMap::new(),
                dropped: 0,
                closed: false,
            }),
            filled: Condvar::new(),
        }
    }

    /// Adds a message, or returns why not. Never waits.
    pub(crate) fn push(&self, source: S, parcel: T) -> Result<(), PushError> {
        let mut state = self.state();
        if state.closed {
            return Err(PushError::Gone);
        }
        let room = if parcel.must_arrive() { 2 } else { 1 };
        let bytes = state.bytes.saturating_add(parcel.weight());
        if state.waiting.len() >= room * self.bound.count || bytes > room * self.bound.bytes {
            *state.gaps.entry(source).or_default() += 1;
            state.dropped += 1;
            return Err(PushError::Full);
        }
        if let Some(dropped) = state.gaps.remove(&source) {
            state.enqueue(source, T::gap(dropped));
        }
        state.enqueue(source, parcel);
        drop(state);
        self.filled.notify_all();
        Ok(())
    }

    /// Waits for a message, at most `bound`. After `close` what is left is still handed out.
    pub(crate) fn pop(&self, bound: Duration) -> Result<(S, T), PopError> {
        let deadline = deadline_in(bound);
        let mut state = self.state();
        loop {
            if let Some(next) = state.dequeue() {
                return Ok(next);
            }
            if state.closed {
                return Err(PopError::Closed);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PopError::Empty);
            }
            state = self
                .filled
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Takes nothing any more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    /// Messages dropped so far, of all sources.
    pub(crate) fn dropped(&self) -> u64 {
        self.state().dropped
    }

    fn state(&self) -> MutexGuard<'_, State<S, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Copy + Ord, T: Parcel> State<S, T> {
    fn enqueue(&mut self, source: S, parcel: T) {
        self.bytes += parcel.weight();
        self.waiting.push_back((source, parcel));
    }

    fn dequeue(&mut self) -> Option<(S, T)> {
        if let Some((source, parcel)) = self.waiting.pop_front() {
            self.bytes -= parcel.weight();
            return Some((source, parcel));
        }
        let (source, dropped) = self.gaps.pop_first()?;
        Some((source, T::gap(dropped)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Mail {
        Light(u32),
        Heavy(usize),
        Urgent(u32),
        Gap(u64),
    }
    use Mail::*;

    impl Parcel for Mail {
        fn weight(&self) -> usize {
            match self {
                Heavy(bytes) => *bytes,
                _ => 1,
            }
        }
        fn must_arrive(&self) -> bool {
            matches!(self, Urgent(_))
        }
        fn gap(dropped: u64) -> Self {
            Gap(dropped)
        }
    }

    const BOUND: Bound = Bound {
        count: 3,
        bytes: 100,
    };

    fn all(mailbox: &Mailbox<u8, Mail>) -> Vec<(u8, Mail)> {
        std::iter::from_fn(|| mailbox.pop(Duration::ZERO).ok()).collect()
    }

    #[test]
    fn what_was_dropped_is_told_at_its_place_in_the_order() {
        let mailbox = Mailbox::new(BOUND);
        for n in 0..5 {
            let taken = mailbox.push(1, Light(n));
            assert_eq!(taken.is_ok(), n < 3);
        }
        assert_eq!(mailbox.push(2, Light(9)), Err(PushError::Full));
        assert_eq!(mailbox.pop(Duration::ZERO), Ok((1, Light(0))));
        mailbox.push(1, Light(5)).unwrap();
        assert_eq!(
            all(&mailbox),
            [
                (1, Light(1)),
                (1, Light(2)),
                (1, Gap(2)),
                (1, Light(5)),
                (2, Gap(1))
            ]
        );
        assert_eq!(mailbox.dropped(), 3);
    }

    #[test]
    fn what_must_arrive_has_room_when_the_rest_has_none() {
        let mailbox = Mailbox::new(BOUND);
        (0..3).for_each(|n| mailbox.push(1, Light(n)).unwrap());
        for n in 0..4 {
            assert_eq!(mailbox.push(1, Urgent(n)).is_ok(), n < 3);
        }
    }

    #[test]
    fn bytes_are_bounded_too_and_given_back() {
        let mailbox = Mailbox::new(BOUND);
        mailbox.push(1, Heavy(90)).unwrap();
        assert_eq!(mailbox.push(1, Heavy(20)), Err(PushError::Full));
        assert_eq!(all(&mailbox), [(1, Heavy(90)), (1, Gap(1))]);
        mailbox.push(1, Heavy(100)).unwrap();
    }

    #[test]
    fn a_closed_mailbox_hands_out_the_rest() {
        let mailbox = Mailbox::new(BOUND);
        mailbox.push(1, Light(1)).unwrap();
        mailbox.close();
        assert_eq!(mailbox.push(1, Light(2)), Err(PushError::Gone));
        assert_eq!(mailbox.pop(Duration::ZERO), Ok((1, Light(1))));
        assert_eq!(mailbox.pop(Duration::MAX), Err(PopError::Closed));
    }
}
