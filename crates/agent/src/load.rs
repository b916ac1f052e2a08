//! Sum of the load of all sessions of a host, which the bounds of its policy limit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sokudo_model::{Change, Refusal};
use sokudo_workload::Demand;

use crate::Guard;

/// The demands of the phases that are prepared or running, by number.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    demands: BTreeMap<u64, Demand>,
}

impl State {
    /// The sum of all but one.
    fn beside(&self, number: Option<u64>) -> Demand {
        let others = self.demands.iter().filter(|(own, _)| Some(**own) != number);
        others.map(|(_, demand)| *demand).sum()
    }
}

impl Loads {
    /// True when nothing is prepared or running.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.state().demands.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A phase's part of the host. Dropping it gives the part back.
pub(crate) struct Share {
    guard: Arc<Guard>,
    number: u64,
}

impl Share {
    /// Takes a part, when the policy has room for it beside all others.
    ///
    /// Errors: what is too much, and who can change it.
    pub(crate) fn take(guard: &Arc<Guard>, demand: Demand) -> Result<Self, Refusal> {
        let mut state = guard.loads.state();
        let sum = [state.beside(None), demand].into_iter().sum();
        guard.policy.allows_sum(&sum)?;
        state.next += 1;
        let number = state.next;
        state.demands.insert(number, demand);
        Ok(Self {
            guard: Arc::clone(guard),
            number,
        })
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
        Ok(before)
    }

    /// Becomes the part that it was.
    pub(crate) fn set(&self, demand: Demand) {
        self.guard.loads.state().demands.insert(self.number, demand);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.guard.loads.state().demands.remove(&self.number);
    }
}
