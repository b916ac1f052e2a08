//! Options that all loads on databases share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, Rate, Refusal, Text};
use sokudo_sql::Engine;
use sokudo_workload::choice::{self, Choice, Only, Subset};
use sokudo_workload::contract::ServerMonitor;
use sokudo_workload::flows::{loaders, numbered};
use sokudo_workload::refusal::operator;
use sokudo_workload::times::{check_duration, check_interval, check_timeout, load_ns};
use sokudo_workload::values::{HowMany, RequestRate, Span};

use crate::target_text::TargetText;

/// When a commit is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Commit {
    /// As the database is set up: usually once it is on the disk.
    #[default]
    Sync,
    /// Before it is on the disk.
    Async,
}

impl Choice for Commit {
    fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
        }
    }
}

impl Serialize for Commit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The values of `--commit`.
pub struct Commits;

impl Subset for Commits {
    type Choice = Commit;
    const NAME: &'static str = "Commit";
    const VALUES: &'static [(Commit, &'static str)] = &[
        (
            Commit::Sync,
            "As the database is set up: usually once it is on the disk",
        ),
        (
            Commit::Async,
            "Before that: a crash of the server may lose the last ones (PostgreSQL: synchronous_commit=off; SQLite: synchronous=normal)",
        ),
    ];
}

/// Options that all loads on databases share.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommonOptions {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`, with the tables that
    /// `sokudo db init` makes. Default: a SQLite file that is made for the run and removed after it.
    #[arg(long, value_name = "DSN")]
    #[schemars(with = "Option<String>")]
    pub target: Option<TargetText>,

    /// Clients, each with a session of its own; over all threads.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub clients: u32,

    /// Sessions that all clients share, as those of an application share the pool of its server; over all threads.
    /// A client waits for one before each transaction. Default: each client has its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pool: Option<u32>,

    /// Load threads.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,

    /// How long to measure. Default: 10 s.
    #[arg(short, long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Measure exactly so many transactions; without --duration it also ends when requests fail and none is
    /// answered for 10 s and three times --timeout.
    #[arg(short = 'n', long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Transactions per second, whatever the database does: `500/s`. Latency then counts from the intended
    /// start. Default: a closed loop, in which each client begins when its last transaction has ended.
    #[arg(short, long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<RequestRate>,

    /// Load before the measurement begins; it is not counted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// Further tries of a transaction that the server ended because of others: serialization failure,
    /// deadlock, a lock that was not free in time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub retries: u32,

    /// A try without an answer for this long has failed.
    #[arg(long, value_name = "TIME", default_value = "15s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// When the load's own sessions have a commit acknowledged; the server's settings stay as they are.
    #[arg(long, value_parser = choice::parser::<Commits>(), default_value = "sync")]
    #[serde(deserialize_with = "choice::read::<Commits, _>")]
    #[schemars(with = "Only<Commits>")]
    pub commit: Commit,

    /// Do not observe the server itself over one session more.
    #[arg(long)]
    pub no_server_stats: bool,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for CommonOptions {
    fn default() -> Self {
        Self {
            target: None,
            clients: 1,
            pool: None,
            threads: 1,
            duration: None,
            count: None,
            rate: None,
            warmup: Span(0),
            retries: 10,
            timeout: Span(15_000_000_000),
            commit: Commit::Sync,
            no_server_stats: false,
            interval: Span(250_000_000),
        }
    }
}

impl CommonOptions {
    /// Checks what the types cannot: how the options fit together.
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        check_duration(self.duration, self.warmup.0)?;
        check_interval(self.interval)?;
        check_timeout(self.timeout)?;
        if self.threads > self.clients {
            return Err(operator(
                Text::new("error-sql-threads")
                    .with("threads", self.threads)
                    .with("clients", self.clients),
                Text::new("error-sql-threads-hint"),
            ));
        }
        if self.pool.is_some_and(|pool| pool < self.threads) {
            return Err(operator(
                Text::new("error-sql-pool")
                    .with("threads", self.threads)
                    .with("pool", self.pool.unwrap_or(0)),
                Text::new("error-sql-pool-hint"),
            ));
        }
        let engine = self.target.as_ref().map(|target| target.0.engine());
        if self.commit == Commit::Async && engine == Some(Engine::MySql) {
            return Err(operator(
                Text::new("error-sql-commit"),
                Text::new("error-sql-commit-hint"),
            ));
        }
        if matches!(self.rate, Some(RequestRate(Rate::Bits(_) | Rate::Bytes(_)))) {
            return Err(operator(
                Text::new("error-sql-rate"),
                Text::new("error-sql-rate-hint"),
            ));
        }
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-rr-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        Ok(())
    }

    /// Errors: the database has no pipelines.
    pub(crate) fn check_pipeline(&self) -> Result<(), Refusal> {
        let engine = self.target.as_ref().map(|target| target.0.engine());
        match engine {
            Some(Engine::Postgres) => Ok(()),
            _ => Err(operator(
                Text::new("error-sql-pipeline"),
                Text::new("error-sql-pipeline-hint"),
            )),
        }
    }

    pub(crate) fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        numbered(loaders(hosts).map(|host| (host, host)), self.threads)
    }

    pub(crate) fn duration_ns(&self) -> u64 {
        load_ns(self.duration, self.count, self.warmup)
    }

    /// Sessions on the database, over all threads.
    pub(crate) fn sessions(&self) -> u32 {
        self.pool.unwrap_or(self.clients)
    }

    /// Host and port of the server; `None` for a file.
    pub(crate) fn server(&self) -> Option<(&str, u16)> {
        self.target.as_ref()?.0.server()
    }

    /// Data source name of the database that was named.
    pub(crate) fn database(&self) -> Option<&str> {
        Some(self.target.as_ref()?.0.secret_text())
    }

    /// The monitor that observes the server, and its data source name; `None` for a file, and where that is
    /// not wanted.
    pub(crate) fn server_monitor(&self) -> Option<ServerMonitor> {
        let target = &self.target.as_ref().filter(|_| !self.no_server_stats)?.0;
        let monitor = match target.engine() {
            Engine::Postgres => "postgres",
            Engine::MySql => "mariadb",
            Engine::Sqlite | Engine::DuckDb => return None,
        };
        Some(ServerMonitor {
            monitor,
            options: vec![("dsn", target.secret_text().to_owned())],
        })
    }

    pub(crate) fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }

    pub(crate) fn of_hosts(&self, hosts: u32) -> Self {
        let rate = self.transactions_per_s();
        let more = |count: HowMany| HowMany(count.0.saturating_mul(u64::from(hosts)));
        Self {
            clients: self.clients.saturating_mul(hosts),
            pool: self.pool.map(|pool| pool.saturating_mul(hosts)),
            count: self.count.map(more),
            rate: rate.map(|rate| RequestRate(Rate::Events(rate * f64::from(hosts)))),
            ..self.clone()
        }
    }

    /// Transactions per second as asked for, over all threads.
    pub(crate) fn transactions_per_s(&self) -> Option<f64> {
        match self.rate?.0 {
            Rate::Events(rate) => Some(rate),
            Rate::Bits(_) | Rate::Bytes(_) => None,
        }
    }

    /// The same load for a trial of a search: another rate, for so long.
    pub(crate) fn become_trial(&mut self, rate_per_s: Option<f64>, duration_ns: u64) {
        self.rate = rate_per_s.map(|rate| RequestRate(Rate::Events(rate)));
        self.count = None;
        self.duration = Some(Span(duration_ns));
    }
}

/// Methods of [`Options`](sokudo_workload::contract::Options) that follow from a field `common`.
macro_rules! by_common_options {
    () => {
        fn flows(&self, hosts: u32) -> Vec<sokudo_model::FlowPlan> {
            self.common.flows(hosts)
        }

        fn duration_ns(&self) -> u64 {
            self.common.duration_ns()
        }

        fn interval_ns(&self) -> u64 {
            self.common.interval.0
        }

        fn server(&self) -> Option<&str> {
            Some(self.common.server()?.0)
        }

        fn server_port(&self) -> Option<u16> {
            Some(self.common.server()?.1)
        }

        fn database(&self) -> Option<&str> {
            self.common.database()
        }

        fn server_monitor(&self) -> Option<sokudo_workload::contract::ServerMonitor> {
            self.common.server_monitor()
        }

        fn of_hosts(&self, hosts: u32) -> Self {
            Self {
                common: self.common.of_hosts(hosts),
                ..self.clone()
            }
        }
    };
}
pub(crate) use by_common_options;
