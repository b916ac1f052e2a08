//! The database layer: how many transfers per second a database inside the program commits.
//!
//! It is a SQLite file that is made for each turn: the layer shows what this machine's processor and file system
//! allow, and no network.

use sokudo_load_sql::tpcb::TpcbOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// One client, the smallest database.
pub fn options(amount: &Amount) -> String {
    let mut options = TpcbOptions::default();
    options.common.duration = Some(Span(amount.duration_ns));
    options.to_json()
}
