//! Limit of what the far ends of a phase can make this host send and take.
//!
//! The policy of a host grants a phase the rates of its options. The end that loads holds to them by
//! itself; the end that answers does what the other end asks, and that one may hold to nothing. So each
//! answering thread pays from a [`Purse`] for what it does:
//!
//! ```text
//! granted rate ──► Limit (one per phase) ──a portion at a time──► Purse (one per thread) ──► answers
//! ```
//!
//! Paying is a subtraction. Only when a portion is used up the thread looks at the clock and at what the
//! other threads have taken. When the limit is exceeded all threads end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_net::clock::now_ns;

use crate::demand::Demand;

/// What a load is ahead of its rate when its threads begin together, seconds, beside the first events.
const AHEAD_S: f64 = 1.0;
/// A load that was held up makes up for it: so many seconds of its rate can be saved up.
const SAVED_S: f64 = 10.0;
/// Parts of a second that one portion is enough for, when all threads are as busy.
const PORTIONS_PER_S: f64 = 2.0;

/// An amount that grows at a rate, and is taken from.
#[derive(Debug, Clone, Copy)]
struct Amount {
    per_s: f64,
    /// Amount at the beginning.
    ahead: f64,
    /// Taken at once by a thread.
    portion: i64,
    /// What is there. Below zero: more was taken than was granted.
    level: f64,
}

/// Kinds of amounts, as the index of each.
const EVENTS: usize = 0;
const RECEIVED: usize = 1;
const SENT: usize = 2;

#[derive(Debug)]
struct State {
    /// Messages, received bytes, sent bytes; `None` for what is not limited.
    amounts: [Option<Amount>; 3],
    /// Time until which the amounts have grown; `None` before the load.
    grown_ns: Option<i64>,
}

/// Limit of one phase on one host.
#[derive(Debug)]
pub struct Limit {
    state: Mutex<State>,
    is_exceeded: AtomicBool,
    flows: u32,
}

/// The error of an answering thread whose far end takes more than was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the other end asked for more than the policy of this host grants the phase")]
pub struct Exceeded;

impl From<Exceeded> for io::Error {
    fn from(exceeded: Exceeded) -> Self {
        io::Error::other(exceeded)
    }
}

impl Limit {
    /// The limit of a phase of which so many flows begin or end here. Nothing is taken yet.
    pub fn new(demand: &Demand, flows: u32) -> Self {
        Self {
            state: Mutex::new(State {
                amounts: amounts(demand, flows),
                grown_ns: None,
            }),
            is_exceeded: AtomicBool::new(false),
            flows,
        }
    }

    /// Begins to grow at this moment, not before.
    pub fn begin(&self, at_ns: i64) {
        self.state().grown_ns = Some(at_ns.max(now_ns()));
    }

    /// Grows as another load needs from now on.
    pub fn change(&self, demand: &Demand) {
        let mut state = self.state();
        state.grow(now_ns());
        let new = amounts(demand, self.flows);
        for (new, old) in new.into_iter().zip(&mut state.amounts) {
            let level =
                |new: &Amount| old.map_or(new.ahead, |old| old.level - old.ahead + new.ahead);
            *old = new.map(|new| Amount {
                level: level(&new),
                ..new
            });
        }
    }

    /// True when more was asked for than was granted.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// Time after which what was taken is no more than the rate allows.
    pub fn owed(&self) -> Duration {
        let mut state = self.state();
        state.grow(now_ns());
        let amounts = state.amounts.iter().flatten();
        let owed = amounts.filter(|amount| amount.per_s > 0.0);
        let owed = owed.map(|amount| (amount.ahead - amount.level) / amount.per_s);
        let seconds = owed.fold(0.0, f64::max);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is missing and another portion; `None` when it is not granted.
    fn take(&self, index: usize, missing: i64) -> Option<i64> {
        let mut state = self.state();
        state.grow(now_ns());
        let Some(amount) = &mut state.amounts[index] else {
            return Some(i64::MAX);
        };
        if self.is_exceeded() || amount.level < missing as f64 {
            self.is_exceeded.store(true, Ordering::Relaxed);
            return None;
        }
        // Where little is left, less than a portion.
        let left = (amount.level - missing as f64) as i64;
        let spare = amount.portion.min(left);
        amount.level -= (missing + spare) as f64;
        Some(spare)
    }

    fn give_back(&self, left: [i64; 3]) {
        let mut state = self.state();
        for (amount, left) in state.amounts.iter_mut().zip(left) {
            if let Some(amount) = amount {
                amount.level += left.max(0) as f64;
            }
        }
    }
}

impl State {
    fn grow(&mut self, now: i64) {
        let Some(grown_ns) = &mut self.grown_ns else {
            return;
        };
        let seconds = (now - *grown_ns).max(0) as f64 * 1e-9;
        *grown_ns = now.max(*grown_ns);
        for amount in self.amounts.iter_mut().flatten() {
            let most = amount.ahead + SAVED_S * amount.per_s;
            amount.level = (amount.level + seconds * amount.per_s).min(most);
        }
    }
}

/// The amounts of a load; what its options do not bound is not limited.
fn amounts(demand: &Demand, flows: u32) -> [Option<Amount>; 3] {
    let flows = f64::from(flows.max(1));
    let threads = demand
        .connections
        .map_or(flows, |many| flows.max(many as f64));
    let events = demand.events_per_s.filter(|per_s| *per_s > 0.0);
    let bytes = [demand.received_bytes_per_s, demand.sent_bytes_per_s];
    let most_bytes = bytes
        .iter()
        .flatten()
        .fold(0.0, |most: f64, one| most.max(*one));
    // Every flow begins with a message of its own, whatever its rate is; of those that are seldom answered
    // it is the first.
    let first = |each: f64| 2.0 * flows * each;
    let amount = |per_s: f64, first: f64| {
        let ahead = AHEAD_S * per_s + first;
        Amount {
            per_s,
            ahead,
            portion: (per_s / (PORTIONS_PER_S * threads)) as i64,
            level: ahead,
        }
    };
    let message_bytes = events.map_or(0.0, |per_s| most_bytes / per_s);
    let of_bytes = |per_s: Option<f64>| {
        // Nothing is answered where nothing is said to be.
        let first = |per_s: f64| {
            if per_s > 0.0 {
                first(message_bytes)
            } else {
                0.0
            }
        };
        per_s.map(|per_s| amount(per_s, first(per_s)))
    };
    [
        demand.events_per_s.map(|per_s| amount(per_s, first(1.0))),
        of_bytes(demand.received_bytes_per_s),
        of_bytes(demand.sent_bytes_per_s),
    ]
}

/// What a thread has taken from the limit of its phase and not used yet.
#[derive(Debug, Default)]
pub struct Purse {
    /// `None`: nothing is limited.
    limit: Option<Arc<Limit>>,
    left: [i64; 3],
}

impl Purse {
    /// An empty purse. Without a limit it is never used up.
    pub fn new(limit: Option<&Arc<Limit>>) -> Self {
        Self {
            limit: limit.cloned(),
            left: [0; 3],
        }
    }

    /// Pays for messages that the far end sent.
    #[inline]
    pub fn events(&mut self, count: u64) -> Result<(), Exceeded> {
        self.pay(EVENTS, count)
    }

    /// Pays for bytes that came from the far end.
    #[inline]
    pub fn received(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.pay(RECEIVED, bytes as u64)
    }

    /// Pays for bytes that are about to leave for the far end.
    #[inline]
    pub fn sent(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.pay(SENT, bytes as u64)
    }

    #[inline]
    fn pay(&mut self, index: usize, amount: u64) -> Result<(), Exceeded> {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        let left = self.left[index].saturating_sub(amount);
        self.left[index] = left;
        match left < 0 {
            false => Ok(()),
            true => self.refill(index),
        }
    }

    #[cold]
    fn refill(&mut self, index: usize) -> Result<(), Exceeded> {
        let missing = self.left[index].saturating_neg();
        let taken = match &self.limit {
            None => Some(i64::MAX),
            Some(limit) => limit.take(index, missing),
        };
        // What is not granted stays missing: the next payment fails, too.
        self.left[index] = taken.ok_or(Exceeded)?;
        Ok(())
    }
}

impl Drop for Purse {
    fn drop(&mut self) {
        if let Some(limit) = &self.limit {
            limit.give_back(self.left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    fn demand(events: f64, bytes: impl Into<Option<f64>>) -> Demand {
        let bytes = bytes.into();
        Demand {
            connections: Some(1),
            events_per_s: Some(events),
            sent_bytes_per_s: bytes,
            received_bytes_per_s: bytes,
            ..Demand::NOTHING
        }
    }

    /// A limit that has grown for so long.
    fn after(seconds: i64, demand: &Demand) -> Arc<Limit> {
        let limit = Limit::new(demand, 1);
        limit.state().grown_ns = Some(now_ns() - seconds * SECOND_NS);
        Arc::new(limit)
    }

    #[test]
    fn what_is_granted_can_be_taken_and_no_more() {
        let limit = after(5, &demand(100.0, None));
        let mut purse = Purse::new(Some(&limit));
        // 5 s, 1 s ahead, and the first events.
        for _ in 0..600 {
            assert_eq!(purse.events(1), Ok(()));
        }
        assert_eq!(purse.received(1 << 40), Ok(()), "bytes are not limited");
        assert!((0..400).any(|_| purse.events(1).is_err()));
        assert!(limit.is_exceeded());
        assert_eq!(
            Purse::new(Some(&limit)).events(1),
            Err(Exceeded),
            "no thread goes on"
        );
    }

    #[test]
    fn each_way_is_limited_by_itself() {
        let limit = after(0, &demand(1000.0, 1000.0));
        let mut purse = Purse::new(Some(&limit));
        assert_eq!(purse.events(900), Ok(()));
        assert_eq!(purse.received(900), Ok(()));
        assert_eq!(purse.sent(900), Ok(()));
        assert_eq!(purse.sent(5000), Err(Exceeded));
    }

    #[test]
    fn what_is_left_is_given_back_and_what_is_owed_takes_its_time() {
        let limit = after(0, &demand(1.0, 1e6));
        let mut purse = Purse::new(Some(&limit));
        assert_eq!(purse.sent(1), Ok(()));
        drop(purse);
        assert!(limit.owed() < Duration::from_millis(10));
        let mut purse = Purse::new(Some(&limit));
        assert_eq!(purse.sent(2_000_000), Ok(()), "within the first events");
        drop(purse);
        assert!(limit.owed() > Duration::from_secs(1));
    }

    #[test]
    fn a_silent_hour_is_not_saved_up() {
        let limit = after(3600, &demand(100.0, None));
        assert_eq!(Purse::new(Some(&limit)).events(20_000), Err(Exceeded));
    }

    #[test]
    fn a_changed_load_grows_at_its_new_rate() {
        let limit = after(0, &demand(10.0, None));
        limit.change(&demand(10_000.0, None));
        assert_eq!(Purse::new(Some(&limit)).events(9_000), Ok(()));
    }

    #[test]
    fn without_a_limit_nothing_is_used_up() {
        let mut purse = Purse::new(None);
        for _ in 0..10 {
            assert_eq!(purse.sent(usize::MAX), Ok(()));
        }
    }
}
