//! Common parts of loads of transactions.
//!
//! ```text
//! thread (one runtime) ── client 0 ── session ──┐
//!                     ├── client 1 ── session ──┼──► database
//!                     └── ticker: intervals, end│
//! gate: which transaction is due, and who takes it (open loop: the client that has waited longest)
//! pool: with `--pool`, fewer sessions than clients, lent for one transaction each
//! ```
//!
//! A client tries a transaction again when the server ended it because of others (SQLSTATE 40001, 40P01 and
//! their like); its latency goes on. A session that is lost is made again.

mod benchmark;
mod check;
mod client;
mod deadlines;
mod facts;
mod gate;
mod join;
mod ledger;
mod phase;
mod pool;
mod record;
mod statements;
mod tasks;
mod timer;

use sokudo_model::PhaseSpec;
use sokudo_workload::contract::PathUse;
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::share;

pub(crate) use benchmark::{Benchmark, BenchmarkOptions, load};
pub(crate) use check::one;
pub use check::{Broken, Checked, How};
pub(crate) use client::{Attempt, Client, Noted, Told, Transactions, Turn};
pub(crate) use gate::sleep_until;
pub(crate) use join::{Numbers, join};
pub(crate) use ledger::{Ledger, Mark};
pub(crate) use phase::{SqlPhase, conditions};
pub(crate) use record::{Named, Parts};

/// Bytes of a statement and its parameters, at most.
const MESSAGE_BYTES: u64 = 4096;

/// Rows that were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Rows of all tables.
    pub rows: u64,
}

/// Demand of a load on its hosts: sessions, and transactions per second where they are bounded.
pub(crate) fn demand(options: &impl BenchmarkOptions, spec: &PhaseSpec) -> Demand {
    let flows = spec.phase.flows.len().max(1) as u64;
    let common = options.common();
    let per_s = common.transactions_per_s().map(|rate| rate / flows as f64);
    Demand::of_flows(spec, options.duration_ns(), |flow| {
        let sessions = share(common.sessions().into(), flow.id.into(), flows).max(1);
        FlowDemand::exchange(sessions, per_s, MESSAGE_BYTES, Some(MESSAGE_BYTES))
    })
}

/// The file of a database that is one.
pub(crate) fn paths(options: &impl BenchmarkOptions) -> Vec<PathUse> {
    let common = options.common();
    let file = common.target.as_ref().and_then(|target| target.0.file());
    let used = file.map(|path| PathUse {
        path: path.into(),
        writes: true,
    });
    used.into_iter().collect()
}
