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

mod check;
mod client;
pub mod options;
mod tables;
#[cfg(test)]
mod tests;

use sokudo_model::kinds::{sql, tpcb as numbers};
use sokudo_model::{Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_workload::choice::Choice as _;
use sokudo_workload::joined::put;

use crate::drive::{Benchmark, Checked, Loaded, load};
use client::Transfers;
pub use options::TpcbOptions;

/// Debit and credit on a database.
pub struct Tpcb;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Benchmark for Tpcb {
    const KIND: &'static Kind = &numbers::KIND;
    const SCALE_TABLE: Option<&'static str> = Some("tpcb_branches");
    const TABLES: &'static [&'static str] = &crate::tables::names(&tables::TABLES);
    const MARKED_TABLES: &'static [&'static str] = &["tpcb_history"];
    type Options = TpcbOptions;
    type Transactions = Transfers;

    async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
        tables::init(target, scale).await
    }

    async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
        check::conditions(session).await
    }

    fn transactions(options: &TpcbOptions, _seed: u64, scale: i64) -> Result<Transfers, Refusal> {
        Ok(Transfers {
            scale,
            variant: options.variant,
            is_pipelined: options.pipeline,
        })
    }

    fn labels(options: &TpcbOptions) -> Labels {
        Labels::from([("variant".into(), options.variant.name().into())])
    }

    fn put_own(_options: &TpcbOptions, scale: i64, summary: &mut Summary) {
        let tps = sql::TRANSACTIONS_PER_SECOND.of(summary);
        put(summary, numbers::TPS, tps);
        put(summary, numbers::SCALE, scale as f64);
    }
}

load!(Tpcb, TpcbOptions, ());
