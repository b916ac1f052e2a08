//! Figures of a database server while transactions were sent to it.

use std::collections::BTreeMap;

use sokudo_model::kinds::sql;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{mariadb, postgres};
use sokudo_model::statements::Statements;
use sokudo_model::{Evidence, Series, Unit, cut};

use super::exchange::Exchange;
use crate::view::PhaseView;

/// Looks at the sessions, each of about a second, below which they are chance.
const LEAST_POINTS: usize = 3;

/// Share of the time of all statements from which one of them is named.
const MOST_OF_TIME: f64 = 0.3;
/// Letters of a statement, and of a step of a plan, in a sentence.
const WORDS: usize = 80;

/// Sessions that wait for their client, or wait to send to it.
const CLIENT: &str = "Client";
/// Sessions that are at work, or would be if they had a CPU.
const CPU: &str = "CPU";
/// Sessions that wait for a lock of another transaction.
const LOCK: &str = "Lock";

/// The metrics of one kind of server that conclusions are drawn from.
#[derive(Debug)]
pub struct Told {
    sessions: Metric,
    events: Metric,
    event_label: &'static str,
    /// Whether an event is a wait until the log is on its disk, or for data from the disk.
    is_log: fn(&str) -> bool,
    is_read: fn(&str) -> bool,
    /// Whether an event is a wait for other processes that carry out the same statement.
    is_parallel: fn(&str) -> bool,
    /// Share of the sessions that wait for their client.
    pub client_ratio: Metric,
    /// Synchronizations of the log, commits, what reads missed, and how much they found.
    pub log_syncs: Metric,
    pub commits: Metric,
    pub reads: Metric,
    pub hit_ratio: Metric,
    /// Sessions that wait for rows of a table, and the transactions that they wait for.
    pub row_queue: [Metric; 2],
}

/// Metrics of PostgreSQL.
pub const POSTGRES: Told = Told {
    sessions: postgres::SESSIONS,
    events: postgres::WAIT_SESSIONS,
    event_label: "event",
    is_log: is_postgres_log,
    is_read: is_postgres_read,
    is_parallel: is_postgres_parallel,
    client_ratio: postgres::CLIENT_READ_RATIO,
    log_syncs: postgres::WAL_SYNCS_PER_SECOND,
    commits: postgres::COMMITS_PER_SECOND,
    reads: postgres::BLOCKS_READ_PER_SECOND,
    hit_ratio: postgres::HIT_RATIO,
    row_queue: [postgres::ROW_QUEUE_SESSIONS, postgres::ROW_QUEUE_HOLDERS],
};

/// Metrics of MariaDB.
pub const MARIADB: Told = Told {
    sessions: mariadb::SESSIONS,
    events: mariadb::STATE_SESSIONS,
    event_label: "state",
    is_log: is_mariadb_log,
    // The process list does not tell reads from other work.
    is_read: |_| false,
    is_parallel: |_| false,
    client_ratio: mariadb::CLIENT_WAIT_RATIO,
    log_syncs: mariadb::LOG_SYNCS_PER_SECOND,
    commits: mariadb::COMMITS_PER_SECOND,
    reads: mariadb::POOL_READS_PER_SECOND,
    hit_ratio: mariadb::HIT_RATIO,
    row_queue: [mariadb::ROW_QUEUE_SESSIONS, mariadb::ROW_QUEUE_HOLDERS],
};

/// Names of the waits differ in their letters between versions: `WALSync`, `WalSync`.
fn is_postgres_log(event: &str) -> bool {
    const WAITS: [&str; 4] = [
        "io/walsync",
        "io/walwrite",
        "lwlock/walwrite",
        "lwlock/walwritelock",
    ];
    WAITS.contains(&event.to_ascii_lowercase().as_str())
}

/// From version 10.6 on a session lets go of its rows, and waits for the log of its commit in the state behind its statement.
fn is_mariadb_log(state: &str) -> bool {
    let state = state.to_ascii_lowercase();
    state.contains("commit") || state == "updating status"
}

fn is_postgres_read(event: &str) -> bool {
    // A session that needs a block that another one reads waits for that one.
    const WAITS: [&str; 3] = ["io/datafileread", "ipc/bufferio", "lwlock/bufferio"];
    WAITS.contains(&event.to_ascii_lowercase().as_str())
}

/// A session whose statement is carried out by workers beside it waits for them.
fn is_postgres_parallel(event: &str) -> bool {
    const WAITS: [&str; 6] = [
        "ipc/bgworkerstartup",
        "ipc/bgworkershutdown",
        "ipc/executegather",
        "ipc/messagequeuereceive",
        "ipc/messagequeuesend",
        "ipc/parallelfinish",
    ];
    let event = event.to_ascii_lowercase();
    WAITS.contains(&event.as_str()) || event.starts_with("ipc/hash")
}

/// One server during one phase of transactions.
pub struct Database<'a> {
    view: PhaseView<'a>,
    /// The transactions.
    pub exchange: Exchange<'a>,
    /// The metrics of its kind.
    pub told: &'static Told,
    /// Host that observed it.
    pub host: &'a str,
    /// The server and its database.
    pub server: &'a str,
    classes: BTreeMap<&'a str, f64>,
    events: Vec<(&'a str, f64)>,
}

impl<'a> Database<'a> {
    /// The server that was observed; of several, the one with the most sessions. `None` where none was, or not
    /// for long enough.
    pub fn of(view: &PhaseView<'a>) -> Option<Self> {
        let exchange = Exchange::of(*view)?;
        let kinds = [&POSTGRES, &MARIADB].into_iter();
        let servers = kinds.flat_map(|told| {
            let first = view.series(None, told.sessions, &[("class", CPU)]);
            first.filter_map(|series| Self::one(*view, exchange, told, series))
        });
        servers.max_by(|a, b| a.sessions().total_cmp(&b.sessions()))
    }

    fn one(
        view: PhaseView<'a>,
        exchange: Exchange<'a>,
        told: &'static Told,
        series: &'a Series,
    ) -> Option<Self> {
        if view.inside(series).count() < LEAST_POINTS {
            return None;
        }
        let host = series.key.host.as_str();
        let server = series.key.labels.get("server")?.as_str();
        let of_server = |metric, label: &'static str| {
            let all = view.series(Some(host), metric, &[("server", server)]);
            all.filter_map(move |series| {
                let name = series.key.labels.get(label)?.as_str();
                Some((name, view.mean(series)?))
            })
        };
        Some(Self {
            classes: of_server(told.sessions, "class").collect(),
            events: of_server(told.events, told.event_label).collect(),
            view,
            exchange,
            told,
            host,
            server,
        })
    }

    /// Sessions on the database, on average.
    pub fn sessions(&self) -> f64 {
        self.classes.values().sum()
    }

    fn class(&self, name: &str) -> f64 {
        self.classes.get(name).copied().unwrap_or(0.0)
    }

    /// Sessions that the server works for: all but those that wait for their client.
    pub fn in_server(&self) -> f64 {
        self.sessions() - self.class(CLIENT)
    }

    /// Sessions that are at work, themselves or through workers beside them.
    pub fn computing(&self) -> f64 {
        self.class(CPU) + self.sum(self.told.is_parallel)
    }

    /// Sessions that wait for a lock.
    pub fn locked(&self) -> f64 {
        self.class(LOCK)
    }

    /// Sessions that wait until the log is on its disk.
    pub fn on_log(&self) -> f64 {
        self.sum(self.told.is_log)
    }

    /// Sessions that wait for data from the disk.
    pub fn on_reads(&self) -> f64 {
        self.sum(self.told.is_read)
    }

    fn sum(&self, is_one: fn(&str) -> bool) -> f64 {
        let events = self.events.iter().filter(|(event, _)| is_one(event));
        events.map(|(_, sessions)| sessions).sum()
    }

    /// The event in which most sessions are that wait neither for a lock nor for their client, and how many.
    pub fn most_of_others(&self) -> Option<(&'a str, f64)> {
        let is_other = |event: &str| {
            let class = event.split('/').next().unwrap_or_default();
            class != LOCK && class != CLIENT && event != "Sleep" && event != "row lock"
        };
        let others = self.events.iter().filter(|(event, _)| is_other(event));
        others.copied().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The series of a metric of this server.
    pub fn series(&self, metric: Metric) -> impl Iterator<Item = &'a Series> {
        let labels = [("server", self.server)];
        self.view.series(Some(self.host), metric, &labels)
    }

    /// Mean of a gauge of this server; `None` where it does not tell it.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        self.series(metric)
            .find_map(|series| self.view.mean(series))
    }

    /// Evidence that is a mean of this server.
    pub fn row(&self, key: &str, metric: Metric) -> Option<Evidence> {
        Some(self.row_of(key, metric, self.mean(metric)?))
    }

    /// Evidence that is a number of this server.
    pub fn row_of(&self, key: &str, metric: Metric, value: f64) -> Evidence {
        let mut row = self.view.evidence(key, metric, self.host, value);
        row.says = row.says.word("server", self.server);
        row.labels.insert("server".into(), self.server.into());
        row
    }

    /// Evidence that so many of its sessions wait for something.
    pub fn waiting_row(&self, key: &str, value: f64) -> Evidence {
        self.sessions_row(key, self.told.events, value)
    }

    /// Evidence that so many of its sessions are at work.
    pub fn working_row(&self, key: &str, value: f64) -> Evidence {
        self.sessions_row(key, self.told.sessions, value)
    }

    fn sessions_row(&self, key: &str, metric: Metric, value: f64) -> Evidence {
        let mut row = self.row_of(key, metric, value);
        let sessions = self.sessions();
        row.says = row.says.number("sessions", sessions, self.told.events.unit);
        row
    }

    /// Evidence that most of the server's time went to one statement, with the step of its plan that reads a whole
    /// table; `None` where the statements were not counted, or none stands out.
    pub fn statement_row(&self) -> Option<Evidence> {
        let all = Statements::of(self.view.record, self.view.phase);
        let all_s: f64 = all.counted.iter().map(|it| it.seconds).sum();
        let first = all.counted.first()?;
        if first.seconds < all_s * MOST_OF_TIME {
            return None;
        }
        let plan = all.plans_of(&first.statement);
        let step = plan.and_then(|it| scan(it.plans.last()?));
        let key = match step {
            Some(_) => "evidence-database-scan",
            None => "evidence-database-statement",
        };
        let mut row = self.row_of(key, sql::STATEMENT_SECONDS, first.seconds);
        row.says = row
            .says
            .word("statement", cut(&first.statement, WORDS))
            .number("all", all_s, Unit::Seconds);
        if let Some(step) = step {
            row.says = row.says.word("step", cut(step, WORDS));
        }
        Some(row)
    }

    /// Evidence that so many transactions were carried out per second, as the generator counts them.
    pub fn rate_row(&self) -> Option<Evidence> {
        let metric = self.exchange.numbers.per_second;
        let host = self.view.flows().first()?.from.as_str();
        let rate = self.exchange.rate()?;
        Some(
            self.view
                .evidence("evidence-transactions", metric, host, rate),
        )
    }
}

/// The step of a plan that reads a whole table, in the words of PostgreSQL or of MariaDB.
fn scan(plan: &str) -> Option<&str> {
    let mut steps = plan
        .lines()
        .map(|line| line.trim_start_matches([' ', '-', '>']));
    steps.find(|step| step.contains("Seq Scan on ") || step.starts_with("ALL on "))
}
