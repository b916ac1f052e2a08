//! Debit and credit on a database (`tpcb`): transfers per second, and whether each of them is kept.
//!
//! ```text
//! begin
//!   update account (of 100,000 per branch)   += delta
//!   select its balance
//!   update teller  (of 10 per branch)        += delta
//!   update branch                            += delta      the row that all transactions of a branch wait for
//!   insert into history                      delta, mark
//! commit
//! ```
//!
//! The transaction of pgbench, "TPC-B (sort of)", in tables of its own. It is not a TPC result. Afterwards the
//! sums of all four tables must agree, and every commit that the server acknowledged must be in the history:
//! each row has the mark of its client and transaction.
//!
//! What it stresses: commits (one write to the log each), locks on few rows when there are fewer branches than
//! clients. What it does not: plans, sorting, large results. The generator was the limit when transactions
//! began late although a session was free (`sql.late_ratio`), or when its thread used a whole core.
//!
//! Sources: pgbench(1); TPC-B 2.0 (withdrawn) for the idea.

pub(crate) mod check;
mod client;
mod join;
pub mod options;
mod phase;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;

use sokudo_model::kinds::tpcb as numbers;
use sokudo_model::{Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, PathUse, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::share;
use sokudo_workload::load::{Ends, Load};

pub use options::TpcbOptions;

/// Bytes of a statement and its parameters, at most.
const MESSAGE_BYTES: u64 = 4096;

/// Debit and credit on a database.
pub struct Tpcb;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Load for Tpcb {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = TpcbOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: TpcbOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::TpcbPhase::prepare(options, spec, emit)?))
    }

    fn become_trial(options: &mut TpcbOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.become_trial(rate_per_s, duration_ns);
    }

    fn demand(options: &TpcbOptions, spec: &PhaseSpec) -> Demand {
        let flows = spec.phase.flows.len().max(1) as u64;
        let per_s = options.transactions_per_s().map(|rate| rate / flows as f64);
        Demand::of_flows(spec, options.duration_ns(), |flow| {
            let clients = share(options.clients.into(), flow.id.into(), flows).max(1);
            FlowDemand::exchange(clients, per_s, MESSAGE_BYTES, Some(MESSAGE_BYTES))
        })
    }

    fn paths(options: &TpcbOptions, _spec: &PhaseSpec) -> Vec<PathUse> {
        let file = options.target.as_ref().and_then(|target| target.0.file());
        let used = |path: &Path| PathUse {
            path: path.into(),
            writes: true,
        };
        file.into_iter().map(used).collect()
    }

    fn join(options: &TpcbOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}
