//! A mix of transactions of one's own on a database (`sqlmix`): how many of each per second, how long each takes,
//! and what it costs in further tries.
//!
//! ```text
//! read.sql@3  (script of pgbench) ─┐
//! book.toml   (named transactions) ├─► steps ─► a client draws one by weight ─► begin · statements · commit
//!                                  ┘            and tries it again, from the transaction that failed
//! ```
//!
//! What it stresses and what it does not is what the files say. The generator was the limit when transactions began
//! late although a session was free (`sql.late_ratio`), or when its thread used a whole core. Values of parameters
//! travel apart from the statements, which are prepared once per session, as with `pgbench -M prepared`.
//!
//! Source: pgbench(1) for scripts.

mod client;
mod draw;
mod evaluate;
mod expression;
mod file_text;
pub mod mix;
mod mix_file;
pub mod options;
mod program;
mod scalar;
mod script;
mod sql_text;
#[cfg(test)]
mod tests;
mod wrong;

use std::sync::Arc;

use sokudo_model::kinds::sqlmix as numbers;
use sokudo_model::{Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};

use crate::drive::{Benchmark, Checked, Loaded, Named, load};
use crate::tpcb::Tpcb;
use client::MixLoad;
pub use options::SqlmixOptions;

/// A mix of transactions of one's own.
pub struct Sqlmix;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Benchmark for Sqlmix {
    const KIND: &'static Kind = &numbers::KIND;
    const SCALE_TABLE: Option<&'static str> = None;
    const TABLES: &'static [&'static str] = &[];
    const MARKED_TABLES: &'static [&'static str] = &[];
    type Options = SqlmixOptions;
    type Transactions = MixLoad;

    /// Tables to try scripts on: those of `tpcb`.
    async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
        Tpcb::init(target, scale).await
    }

    async fn conditions(_session: &mut Session) -> Result<Checked, SqlError> {
        Ok(Checked::default())
    }

    fn transactions(options: &SqlmixOptions, seed: u64, _scale: i64) -> Result<MixLoad, Refusal> {
        let defined = options.define.iter();
        let defined = defined.map(|one| (one.name.clone(), one.value.clone()));
        Ok(MixLoad {
            mix: Arc::new(options.mix()?),
            paths: options.file.iter().map(|file| file.path.clone()).collect(),
            given: MixLoad::given(options.scale, seed, &defined.collect::<Vec<_>>()),
            clients: options.common.clients,
        })
    }

    fn names(options: &SqlmixOptions) -> Vec<String> {
        let mix = options.mix();
        mix.map_or_else(
            |_| Vec::new(),
            |mix| mix.transaction_names().map(str::to_owned).collect(),
        )
    }

    fn labels(_options: &SqlmixOptions) -> Labels {
        Labels::new()
    }

    fn put_own(_options: &SqlmixOptions, _scale: i64, _summary: &mut Summary) {}
}

load!(Sqlmix, SqlmixOptions, Named);
