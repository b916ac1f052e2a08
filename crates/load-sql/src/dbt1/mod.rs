//! A web shop on a database (`dbt1`): interactions of visitors per second, and whether the orders add up.
//!
//! ```text
//! look     Home · New Products · Best Sellers · Product Detail · Search · Order Inquiry and Display
//! buy      Shopping Cart · Customer Registration · Buy Request · Buy Confirm
//! keep     Admin Request and Confirm: price and related items
//! ```
//!
//! Tables, interactions and mixes are modelled on TPC-W (withdrawn in 2005), with texts of its own and amounts in whole
//! cents. It is not a TPC result. Each visitor has a session of its own, or all share those of an application server's
//! pool; what a web server would do beside that is not part of it. Afterwards the conditions on carts, orders,
//! payments and stock must hold, and every order that the server acknowledged must be there: each has the mark of its
//! visitor.
//!
//! What it stresses: reads by index, lists that are sorted and cut off, few writes. What it does not: large scans.
//!
//! Sources: TPC-W 1.8 for mixes, think time and cardinalities; DBT-1 for the metric.

mod browse;
mod buy;
mod check;
mod client;
pub mod options;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

use std::time::Duration;

use sokudo_model::kinds::{dbt1 as numbers, sql};
use sokudo_model::{Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_workload::choice::Choice as _;
use sokudo_workload::joined::put;

use crate::drive::{Benchmark, Checked, Loaded, load};
use client::{Kinds, Visits, shares};
pub use options::Dbt1Options;

/// A web shop on a database.
pub struct Dbt1;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Benchmark for Dbt1 {
    const KIND: &'static Kind = &numbers::KIND;
    const SCALE_TABLE: Option<&'static str> = Some("dbt1_customer");
    const TABLES: &'static [&'static str] = &crate::tables::names(&schema::TABLES);
    const MARKED_TABLES: &'static [&'static str] = &["dbt1_orders"];
    type Options = Dbt1Options;
    type Transactions = Visits;

    async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
        rows::init(target, scale).await
    }

    async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
        check::conditions(session).await
    }

    /// New customers come with every load: the shop was made for whole units of them.
    fn transactions(options: &Dbt1Options, _seed: u64, scale: i64) -> Result<Visits, Refusal> {
        Ok(Visits {
            customers: scale / rows::CUSTOMERS * rows::CUSTOMERS,
            mix: options.mix,
            think: options.think.map(|think| Duration::from_nanos(think.0)),
        })
    }

    fn labels(options: &Dbt1Options) -> Labels {
        let think = options.think.map(|think| think.to_string());
        Labels::from([
            ("mix".into(), options.mix.name().into()),
            ("think".into(), think.unwrap_or_else(|| "none".into())),
        ])
    }

    fn put_own(options: &Dbt1Options, scale: i64, summary: &mut Summary) {
        let per_s = sql::TRANSACTIONS_PER_SECOND.of(summary);
        put(summary, numbers::BT_PER_SECOND, per_s);
        put(summary, numbers::CUSTOMERS, scale as f64);
        let off = mix_off(options, summary);
        put(summary, numbers::MIX_OFF_RATIO, off);
    }
}

/// The largest difference between the share of an interaction and that of its mix.
fn mix_off(options: &Dbt1Options, summary: &Summary) -> Option<f64> {
    let all = sql::TRANSACTIONS.of(summary).filter(|all| *all > 0.0)?;
    let off = numbers::COUNTS.iter().zip(shares(options.mix));
    let off = off.map(|(count, share)| {
        let done = count.of(summary).unwrap_or(0.0);
        (done / all - share as f64 / 10_000.0).abs()
    });
    Some(off.fold(0.0, f64::max))
}

load!(Dbt1, Dbt1Options, Kinds);
