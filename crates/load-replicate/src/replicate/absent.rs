//! One host's part of a replication, on systems whose file calls the engine does not know yet: refused.

use std::sync::Arc;

use sokudo_model::{PhaseSpec, Refusal, Text};
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::limit::Limit;
use sokudo_workload::refusal::operator;

use super::join::Numbers;
use super::options::ReplicateOptions;

/// A phase that cannot be prepared here.
pub(super) enum ReplicatePhase {}

impl ReplicatePhase {
    /// Refuses: this system can neither send nor receive trees.
    pub(super) fn prepare(_: ReplicateOptions, _: PhaseSpec, _: Emit) -> Result<Self, Refusal> {
        Err(operator(
            Text::new("error-replicate-system"),
            Text::new("error-replicate-system-hint"),
        ))
    }
}

impl Phase<Numbers> for ReplicatePhase {
    fn offer(&self) -> String {
        match *self {}
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        match *self {}
    }

    fn arm(&mut self, _: &[Option<String>]) -> Result<(), Refusal> {
        match *self {}
    }

    fn start(&mut self, _: i64, _: i64) -> Result<(), Refusal> {
        match *self {}
    }

    fn halt(&mut self) {
        match *self {}
    }

    fn drain(&mut self, _: &[Option<String>]) -> Result<Numbers, Refusal> {
        match *self {}
    }
}
