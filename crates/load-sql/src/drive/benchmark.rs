//! Parts of a workload on a database: tables, transactions, and conditions that hold afterwards.

use std::borrow::Cow;
use std::future::Future;

use sokudo_model::{FlowPlan, Kind, Labels, Refusal, Summary};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::share;

use super::{Checked, Loaded, Transactions};
use crate::options::CommonOptions;

/// Tables, transactions and conditions of one workload.
pub(crate) trait Benchmark: 'static {
    /// The workload.
    const KIND: &'static Kind;

    /// The table that is filled last: its rows are the scale of the database; `None` for a workload that knows no
    /// tables of its own.
    const SCALE_TABLE: Option<&'static str>;

    /// All its tables, where they are its own.
    const TABLES: &'static [&'static str] = &[];

    /// Whether it runs on DuckDB, whose transactions are few and large.
    const IS_ANALYTICAL: bool = false;

    /// Tables whose columns `client` and `sequence` hold the marks of transactions.
    const MARKED_TABLES: &'static [&'static str];

    type Options: BenchmarkOptions;
    type Transactions: Transactions;

    /// Makes the tables anew, in place of those that are there, and fills them for this scale.
    ///
    /// Errors: those of the server. Tables that were not filled completely have no scale: a run refuses them.
    fn init(target: &Target, scale: u32) -> impl Future<Output = Result<Loaded, SqlError>>;

    /// Checks what must hold in the tables, within a transaction that sees them as of one moment.
    ///
    /// Errors: those of the server.
    fn conditions(session: &mut Session) -> impl Future<Output = Result<Checked, SqlError>>;

    /// Checks what the tables hold, row by row; for a check outside of a run, which takes as long as it takes.
    ///
    /// Errors: those of the server.
    fn contents(_session: &mut Session) -> impl Future<Output = Result<Checked, SqlError>> {
        std::future::ready(Ok(Checked::default()))
    }

    /// The transactions of a run with this seed on a database of this scale.
    ///
    /// Errors: the options do not describe any.
    fn transactions(
        options: &Self::Options,
        seed: u64,
        scale: i64,
    ) -> Result<Self::Transactions, Refusal>;

    /// Names of its transactions, for a workload whose operator gives them.
    fn names(_options: &Self::Options) -> Vec<String> {
        Vec::new()
    }

    /// Labels of a flow.
    fn labels(options: &Self::Options) -> Labels;

    /// Puts the workload's own numbers beside those of all transactions.
    fn put_own(options: &Self::Options, scale: i64, summary: &mut Summary);
}

/// The options of a workload on a database.
pub(crate) trait BenchmarkOptions: Options + Send {
    /// Those that all such workloads have, as given or as they follow from the workload's own.
    fn common(&self) -> Cow<'_, CommonOptions>;

    /// The same to be changed for a trial of a search; `None` for a workload that is never one.
    fn common_mut(&mut self) -> Option<&mut CommonOptions> {
        None
    }

    /// Transactions that the threads of this flow are to carry out, one of so many flows; `None` = until the time
    /// is over.
    fn count_of(&self, flow: &FlowPlan, flows: u64) -> Option<u64> {
        let count = self.common().count?;
        Some(share(count.0, u64::from(flow.id), flows))
    }

    /// Scale of the database that is made for the run.
    fn own_scale(&self) -> u32;

    /// Whether the load changes the tables.
    fn writes(&self) -> bool;
}

/// The [`Load`](sokudo_workload::load::Load) of a [`Benchmark`], whose transactions have these parts.
macro_rules! load {
    ($load:ty, $options:ty, $parts:ty) => {
        impl sokudo_workload::load::Load for $load {
            const KIND: &'static sokudo_model::Kind = <Self as $crate::drive::Benchmark>::KIND;
            type Options = $options;
            type Numbers = $crate::drive::Numbers<$parts>;

            fn prepare(
                options: Self::Options,
                spec: sokudo_model::PhaseSpec,
                emit: sokudo_workload::contract::Emit,
            ) -> Result<
                Box<dyn sokudo_workload::contract::Phase<Self::Numbers>>,
                sokudo_model::Refusal,
            > {
                let phase = $crate::drive::SqlPhase::<Self>::prepare(options, spec, emit)?;
                Ok(Box::new(phase))
            }

            fn become_trial(
                options: &mut Self::Options,
                rate_per_s: Option<f64>,
                duration_ns: u64,
            ) {
                if let Some(common) = $crate::drive::BenchmarkOptions::common_mut(options) {
                    common.become_trial(rate_per_s, duration_ns);
                }
            }

            fn demand(
                options: &Self::Options,
                spec: &sokudo_model::PhaseSpec,
            ) -> sokudo_workload::demand::Demand {
                $crate::drive::demand(options, spec)
            }

            fn paths(
                options: &Self::Options,
                _spec: &sokudo_model::PhaseSpec,
            ) -> Vec<sokudo_workload::contract::PathUse> {
                $crate::drive::paths(options)
            }

            fn join(
                options: &Self::Options,
                ends: sokudo_workload::load::Ends<'_, Self::Numbers>,
            ) -> sokudo_model::PhaseResult {
                $crate::drive::join::<Self>(options, &ends)
            }
        }
    };
}
pub(crate) use load;
