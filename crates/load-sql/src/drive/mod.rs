//! What loads of transactions have in common.
//!
//! ```text
//! thread (one runtime) ── client 0 ── session ──┐
//!                     ├── client 1 ── session ──┼──► database
//!                     └── ticker: intervals, end│
//! gate: which transaction is due, and who takes it (open loop: the client that has waited longest)
//! ```
//!
//! A client tries a transaction again when the server ended it because of others (SQLSTATE 40001, 40P01 and
//! their like); its latency goes on. A session that is lost is made again.

mod client;
mod gate;
mod ledger;
mod record;

pub(crate) use client::{Attempt, Client, Ready, Task, Transactions, run};
pub(crate) use ledger::{Ledger, Mark};
pub(crate) use record::TransactionDetails;
