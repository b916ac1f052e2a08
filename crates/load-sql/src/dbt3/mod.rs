//! Decision support on a database (`dbt3`): 22 questions about orders, alone and from several streams at a time.
//!
//! ```text
//! power        stream 0    new orders come in · 22 questions · the same orders go
//! throughput   stream 1    22 questions in another order, asked with other parameters
//!              …           as many as --streams, at a time
//!              refreshes   new orders come in and go, a pair for each stream
//! ```
//!
//! Tables, questions and metrics are modelled on TPC-H, with rows, words and SQL of its own and amounts in whole cents.
//! It is not a TPC result. The second refresh removes the orders of the first one, so that the database is afterwards
//! what it was: the same questions get the same answers again, and their digest is the same on every engine.
//!
//! What it stresses: plans, joins, sorting, memory for both, reading. What it does not: commits, locks, many
//! sessions. The generator does nothing while a question is answered.
//!
//! Sources: TPC-H 3.0 for cardinalities, selectivity and formulas; DBT-3 for how a run goes.

mod check;
mod client;
pub mod data;
pub mod options;
mod parameters;
mod queries;
mod refresh;
mod rows;
mod schema;
mod streams;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use sokudo_model::kinds::dbt3 as numbers;
use sokudo_model::{Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_workload::choice::Choice as _;
use sokudo_workload::joined::put;

use crate::digest::Digest;
use crate::drive::{Benchmark, Checked, Loaded, load};
pub use check::{CONDITIONS, MORE_CONDITIONS};
pub use client::answers;
use client::{Kinds, Questions};
use data::{Sizes, Table};
pub use options::{Dbt3Options, Scale};

/// Decision support on a database.
pub struct Dbt3;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Benchmark for Dbt3 {
    const KIND: &'static Kind = &numbers::KIND;
    const SCALE_TABLE: Option<&'static str> = Some("dbt3_supplier");
    const TABLES: &'static [&'static str] = &crate::tables::names(&schema::TABLES);
    const IS_ANALYTICAL: bool = true;
    const MARKED_TABLES: &'static [&'static str] = &[];
    type Options = Dbt3Options;
    type Transactions = Questions;

    async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
        tables::init(target, scale).await
    }

    async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
        check::conditions(session).await
    }

    async fn contents(session: &mut Session) -> Result<Checked, SqlError> {
        check::contents(session).await
    }

    fn transactions(options: &Dbt3Options, _seed: u64, scale: i64) -> Result<Questions, Refusal> {
        let sizes = Sizes { suppliers: scale };
        Ok(Questions::new(sizes, options.roles(), options.query_seed))
    }

    fn labels(options: &Dbt3Options) -> Labels {
        Labels::from([
            ("test".into(), options.test.name().into()),
            ("query-seed".into(), options.query_seed.to_string()),
        ])
    }

    fn put_own(options: &Dbt3Options, scale: i64, summary: &mut Summary) {
        let sizes = Sizes { suppliers: scale };
        put(summary, numbers::SCALE_FACTOR, sizes.factor());
        let streams = numbers::THROUGHPUT
            .of(summary)
            .map(|_| f64::from(options.streams));
        put(summary, numbers::STREAMS, streams);
    }
}

load!(Dbt3, Dbt3Options, Kinds);

/// Tables whose rows one digest each describes, with the digest of what belongs there.
pub fn checksums(sizes: Sizes) -> Vec<(&'static str, Digest)> {
    let mut maker = data::Maker::new(sizes);
    let digest = |table: Table| {
        let mut digest = Digest::default();
        data::chunks(table, sizes).for_each(|chunk| maker.write(chunk, &mut digest));
        (table.columns().0, digest)
    };
    Table::ALL.into_iter().map(digest).collect()
}
