//! Loads of transactions on databases.
//!
//! `drive` carries out what every such load has in common: sessions sharded over threads, schedules, further
//! tries, the ledger of acknowledged commits. A folder per workload says what a transaction is.

pub mod db;
pub mod dbt1;
pub mod dbt2;
pub mod dbt3;
pub mod digest;
pub(crate) mod draw;
pub(crate) mod drive;
pub mod dump;
pub mod options;
pub mod settings;
pub mod sqlmix;
pub(crate) mod tables;
pub mod target_text;
pub mod tpcb;

use sokudo_workload::Workload;

/// The loads of this family.
///
/// A static, so that what a load is to its callers is compiled here, beside the load.
pub static REGISTRY: &[&dyn Workload] = &[
    &dbt1::Dbt1,
    &dbt2::Dbt2,
    &dbt3::Dbt3,
    &sqlmix::Sqlmix,
    &tpcb::Tpcb,
];
