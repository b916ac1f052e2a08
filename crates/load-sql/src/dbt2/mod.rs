//! Order entry on a database (`dbt2`): new orders per minute, and whether the books agree.
//!
//! ```text
//! 45 %  New-Order     order with 5 to 15 lines; 1 % are rolled back
//! 43 %  Payment       warehouse, district, customer; 15 % of the customers are from elsewhere
//!  4 %  Order-Status  last order of a customer
//!  4 %  Delivery      oldest order of each of ten districts
//!  4 %  Stock-Level   items of a district that run low
//! ```
//!
//! Mix and tables are modelled on TPC-C, with texts and names of its own and amounts in whole cents. It is not a
//! TPC result. Afterwards the 12 conditions of the specification must hold, and every New-Order and Payment that the
//! server acknowledged must be in the tables: each row has the mark of its client and transaction.
//!
//! What it stresses: locks of rows that many want (a warehouse for payments, a district for orders), reads and
//! writes over indexes, commits. What it does not: large scans. How much of the time of the load is the generator's
//! own is `sql.client_cpu_seconds_per_transaction`.
//!
//! Sources: TPC-C 5.11 for mix, cardinalities and conditions; DBT-2 for keying and think times.

mod check;
mod client;
mod customer;
mod delivery;
mod draw;
mod new_order;
pub mod options;
mod payment;
mod rows;
mod schema;
mod status;
mod stock_level;
mod tables;
#[cfg(test)]
mod tests;

use sokudo_model::kinds::{dbt2 as numbers, sql};
use sokudo_model::{Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_workload::joined::put;

use crate::drive::{Benchmark, Checked, Loaded, load};
use client::{Kinds, Orders};
pub use options::Dbt2Options;

/// Order entry on a database.
pub struct Dbt2;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Benchmark for Dbt2 {
    const KIND: &'static Kind = &numbers::KIND;
    const SCALE_TABLE: Option<&'static str> = Some("dbt2_warehouse");
    const TABLES: &'static [&'static str] = &crate::tables::names(&schema::TABLES);
    const MARKED_TABLES: &'static [&'static str] = &["dbt2_history", "dbt2_orders"];
    type Options = Dbt2Options;
    type Transactions = Orders;

    async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
        tables::init(target, scale).await
    }

    async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
        check::conditions(session).await
    }

    fn transactions(options: &Dbt2Options, _seed: u64, scale: i64) -> Result<Orders, Refusal> {
        Ok(Orders {
            warehouses: scale,
            pace: options.pace,
        })
    }

    fn labels(options: &Dbt2Options) -> Labels {
        let pace = options.pace.map(|pace| pace.to_string());
        let pace = pace.unwrap_or_else(|| "unpaced".into());
        Labels::from([("pace".into(), pace)])
    }

    fn put_own(options: &Dbt2Options, scale: i64, summary: &mut Summary) {
        put(summary, numbers::WAREHOUSES, scale as f64);
        let per_minute = per_minute(summary);
        put(summary, numbers::NEW_ORDERS_PER_MINUTE, per_minute);
        let (Some(pace), Some(per_minute)) = (options.pace, per_minute) else {
            return;
        };
        let most = client::most_per_minute(pace) * f64::from(options.common.clients);
        put(summary, numbers::PACE_RATIO, per_minute / most);
    }
}

/// New orders per minute of the load's time, those that were rolled back included.
fn per_minute(summary: &Summary) -> Option<f64> {
    let orders = numbers::NEW_ORDERS.of(summary)?;
    let all = sql::TRANSACTIONS.of(summary).filter(|all| *all > 0.0)?;
    Some(orders / all * sql::TRANSACTIONS_PER_SECOND.of(summary)? * 60.0)
}

load!(Dbt2, Dbt2Options, Kinds);
