//! Sum of the load of all sessions of a host, which the bounds of its policy limit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sokudo_model::{Change, Refusal};
use sokudo_workload::Demand;
use sokudo_workload::limit::Limit;

use crate::Guard;
use crate::policy::Policy;

/// Longest wait of a new phase until what an earlier one took ahead of its rate is paid for.
const OWED_BOUND: Duration = Duration::from_secs(3);

/// The demands of the phases that are prepared or running, by number.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    demands: BTreeMap<u64, Demand>,
    /// Of phases that have ended: what they took ahead of their rate, until the moment at which the rate
    /// would have allowed it.
    owed: Vec<(Instant, Demand)>,
}

impl State {
    /// The sum of all but one.
    fn beside(&self, number: Option<u64>) -> Demand {
        let others = self.demands.iter().filter(|(own, _)| Some(**own) != number);
        others.map(|(_, demand)| *demand).sum()
    }

    /// Whether there is room for a demand beside all others.
    ///
    /// Errors: what is too much, and when less will be owed, if that will be enough.
    fn room(&mut self, policy: &Policy, demand: &Demand) -> Result<(), (Refusal, Option<Instant>)> {
        let now = Instant::now();
        self.owed.retain(|(until, _)| *until > now);
        let sum: Demand = [self.beside(None), *demand].into_iter().sum();
        policy.allows_sum(&sum).map_err(|refusal| (refusal, None))?;
        let owed = self.owed.iter().map(|(_, demand)| *demand);
        let next = self.owed.iter().map(|(until, _)| *until).min();
        let all: Demand = owed.chain([sum]).sum();
        policy.allows_sum(&all).map_err(|refusal| (refusal, next))
    }
}

impl Loads {
    /// True when nothing is prepared or running.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.state().demands.is_empty()
    }

    /// True when phases that have ended took more than their time allowed.
    #[cfg(test)]
    pub(crate) fn owes(&self) -> bool {
        !self.state().owed.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A phase's part of the host. Dropping it gives the part back: its rate not before what was taken at
/// that rate is paid for, or sessions behind each other would take more than one may.
pub(crate) struct Share {
    guard: Arc<Guard>,
    number: u64,
    /// Holds the ends that answer; `None` where the policy limits no rate.
    limit: Option<Arc<Limit>>,
}

impl Share {
    /// Takes a part for a phase of which so many flows begin or end here, when the policy has room for it
    /// beside all others; waits a short time for what is owed.
    ///
    /// Errors: what is too much, and who can change it.
    pub(crate) fn take(guard: &Arc<Guard>, demand: Demand, flows: u32) -> Result<Self, Refusal> {
        let give_up = Instant::now() + OWED_BOUND;
        let number = loop {
            let mut state = guard.loads.state();
            let until = match state.room(&guard.policy, &demand) {
                Ok(()) => {
                    state.next += 1;
                    let number = state.next;
                    state.demands.insert(number, demand);
                    break number;
                }
                Err((_, Some(until))) if until < give_up => until,
                Err((refusal, _)) => return Err(refusal),
            };
            drop(state);
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        };
        let is_limited = guard.policy.max_rate.is_some();
        Ok(Self {
            guard: Arc::clone(guard),
            number,
            limit: is_limited.then(|| Arc::new(Limit::new(&demand, flows))),
        })
    }

    /// What the ends that answer are held to.
    pub(crate) fn limit(&self) -> Option<&Arc<Limit>> {
        self.limit.as_ref()
    }

    /// Becomes the part of a changed load, when the policy has room for that; the part before.
    ///
    /// Errors: what is too much, and who can change it.
    pub(crate) fn change(&self, change: &Change) -> Result<Demand, Refusal> {
        let mut state = self.guard.loads.state();
        let others = state.beside(Some(self.number));
        self.guard.policy.allows_change(change, &others)?;
        let own = state.demands.entry(self.number);
        let own = own.or_insert(Demand::NOTHING);
        let before = *own;
        *own = before.changed(change);
        self.hold_to(own);
        Ok(before)
    }

    /// Becomes the part that it was.
    pub(crate) fn set(&self, demand: Demand) {
        self.guard.loads.state().demands.insert(self.number, demand);
        self.hold_to(&demand);
    }

    fn hold_to(&self, demand: &Demand) {
        if let Some(limit) = &self.limit {
            limit.change(demand);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.guard.loads.state();
        let demand = state.demands.remove(&self.number);
        let owed = self.limit.as_ref().map(|limit| limit.owed());
        let until = owed.filter(|owed| !owed.is_zero());
        let until = until.and_then(|owed| Instant::now().checked_add(owed));
        if let Some((until, demand)) = until.zip(demand) {
            // Its connections are closed.
            let connections = Some(0);
            let demand = Demand {
                connections,
                ..demand
            };
            state.owed.push((until, demand));
        }
    }
}
