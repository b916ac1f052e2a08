//! Common part of the monitors of database servers: one session, asked ten times a second what the others do,
//! and once a second for the server's counters.
//!
//! ```text
//! sample ── sessions by class and event ─► Window ── once a second ─► means, shares
//!        └─ once a second: counters ─────► Counters ────────────────► rates, totals, ratios
//! ```
//!
//! The observed server has one more session. A server that does not answer gives `up` 0 and an event with
//! the reason; the session is then made again, once a second at most.

mod counters;
mod window;

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{Batch, SeriesKey, Text};
use sokudo_sql::{Class, Engine, Session, SqlError, Target};
use tokio::runtime::{Builder, Runtime};

use self::counters::Counters;
pub(crate) use self::counters::{Derived, Readings, Way};
pub(crate) use self::window::Seen;
use self::window::Window;
use crate::contract::{Reach, Sampler};
use crate::emit::{Emit, key};
use crate::outage::Outage;
use crate::{Context, Time, Unavailable};

/// Time between two looks at the sessions where no option says otherwise.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Time between two readings of the counters, and between two tries to connect.
const READ_NS: i64 = 1_000_000_000;
/// Label with the server and the database of a series.
const SERVER: &str = "server";
/// Longest wait for an answer that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// Which database is observed.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseOptions {
    /// The database, as the load's `--target`: its sessions are observed, and the counters of its server.
    /// The password may be in PGPASSWORD or MYSQL_PWD instead.
    dsn: String,
    /// Longest wait for an answer, 100ms to 60s.
    #[serde(default = "usual_timeout")]
    timeout: Time,
}

fn usual_timeout() -> Time {
    Time::from_ms(5000)
}

impl DatabaseOptions {
    fn target(&self, engine: Engine) -> Result<Target, Text> {
        let target = self
            .dsn
            .parse::<Target>()
            .map_err(|wrong| Text::new("error-value-database").word("cause", wrong.cause()))?;
        match target.engine() == engine {
            true => Ok(target),
            false => Err(Text::new("error-monitor-engine").word("engine", engine.name())),
        }
    }

    /// Whether the options can be used for this engine. Errors: what is wrong with them.
    pub(crate) fn check(&self, engine: Engine) -> Result<(), Text> {
        self.target(engine)?;
        let timeout = Duration::from_nanos(self.timeout.0.0);
        match (Duration::from_millis(100)..=MAX_TIMEOUT).contains(&timeout) {
            true => Ok(()),
            false => Err(Text::new("error-monitor-timeout")),
        }
    }

    /// The servers that may be connected to.
    pub(crate) fn reaches(&self, engine: Engine) -> Vec<Reach> {
        // Options whose database cannot be read are refused by `check` before.
        let target = self.target(engine).into_iter();
        let servers = target.flat_map(|target| target.servers());
        servers
            .map(|server| match server {
                Some((host, port)) => Reach::Address { host, port },
                None => Reach::Socket,
            })
            .collect()
    }
}

/// Queries to one kind of server.
pub(crate) trait Questions: Sized + Send + 'static {
    /// Prepares what a server of this version can be asked.
    async fn prepare(session: &mut Session) -> Result<Self, SqlError>;

    /// Activity of the sessions on the database at this moment.
    async fn sessions(&mut self, session: &mut Session) -> Result<Seen, SqlError>;

    /// The server's counters.
    async fn counters(&mut self, session: &mut Session) -> Result<Readings, SqlError>;
}

/// Names of the series of one kind of server.
pub(crate) struct Names {
    /// Name of the monitor, and of the source of its series.
    pub(crate) source: &'static str,
    pub(crate) engine: Engine,
    /// Everything that is emitted.
    pub(crate) metrics: &'static [&'static str],
    pub(crate) up: &'static str,
    /// Mean number of sessions, by class.
    pub(crate) sessions: &'static str,
    pub(crate) classes: &'static [&'static str],
    /// The same by event, and the label for it.
    pub(crate) events: (&'static str, &'static str),
    /// Share of the sessions that wait for their client.
    pub(crate) client_ratio: &'static str,
    /// Share of the looks at which a checkpoint was under way.
    pub(crate) checkpointing: Option<&'static str>,
    /// Mean number of sessions that wait for rows of a table, and of the transactions that hold them.
    pub(crate) queue: Option<[&'static str; 2]>,
    /// Mean number of sessions that execute a statement, where the server does not count its statements well.
    pub(crate) statements: Option<&'static str>,
    /// Series that are computed from the counters.
    pub(crate) derived: &'static [Derived],
}

/// Opens a monitor of this kind of server; nothing is connected yet.
pub(crate) fn open<Q: Questions>(
    names: &'static Names,
    options: &DatabaseOptions,
    ctx: &Context,
) -> Result<Box<dyn Sampler>, Unavailable> {
    let target = options.target(names.engine).map_err(Unavailable::System)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Unavailable::System(Text::words(error.to_string())))?;
    let server = target.to_string();
    Ok(Box::new(DatabaseSampler::<Q> {
        open: None,
        runtime,
        timeout: Duration::from_nanos(options.timeout.0.0),
        outage: Outage::new(&ctx.host, names.source, server.clone()),
        window: Window::new(names.classes),
        counters: Counters::default(),
        read_ns: None,
        host: ctx.host.clone(),
        names,
        server,
        target,
    }))
}

struct DatabaseSampler<Q> {
    // Dropped before the runtime to which it belongs.
    open: Option<(Session, Q)>,
    runtime: Runtime,
    target: Target,
    timeout: Duration,
    outage: Outage,
    window: Window,
    counters: Counters,
    /// Time at which the counters were read last, or that was tried.
    read_ns: Option<i64>,
    host: String,
    names: &'static Names,
    server: String,
}

impl<Q: Questions> Sampler for DatabaseSampler<Q> {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        // A look that comes a little early would otherwise put the reading off by one look.
        let slack_ns = READ_NS / 20;
        let is_due = self
            .read_ns
            .is_none_or(|read_ns| t_ns.saturating_sub(read_ns) >= READ_NS - slack_ns);
        if self.open.is_none() && !is_due {
            return;
        }
        let began = Instant::now();
        let asked = self.ask(is_due);
        let over_ns = t_ns.saturating_add(began.elapsed().as_nanos() as i64);
        match asked {
            Ok((seen, readings)) => {
                self.outage.answered(over_ns, &mut out.events);
                self.window.take(seen);
                if let Some(readings) = readings {
                    self.read_ns = Some(t_ns);
                    self.emit(t_ns, &readings, out);
                }
            }
            Err(error) => {
                self.open = None;
                self.read_ns = Some(t_ns);
                self.window.begin_anew();
                let why = why(&error);
                self.outage.failed(t_ns, over_ns, why, &mut out.events);
                let up = self.key(self.names.up, &[]);
                Emit::new(out, t_ns, &self.host, self.names.metrics).put(&up, 0.0);
            }
        }
    }
}

impl<Q: Questions> DatabaseSampler<Q> {
    /// Connects where there is no session, and asks, all within the longest wait.
    fn ask(&mut self, with_counters: bool) -> Result<(Seen, Option<Readings>), SqlError> {
        let (open, target, timeout) = (&mut self.open, &self.target, self.timeout);
        let asking = async {
            let (session, questions) = match open {
                Some(open) => open,
                None => {
                    let mut session = Session::connect(target, timeout).await?;
                    let questions = Q::prepare(&mut session).await?;
                    open.insert((session, questions))
                }
            };
            let seen = questions.sessions(session).await?;
            let readings = match with_counters {
                true => Some(questions.counters(session).await?),
                false => None,
            };
            Ok((seen, readings))
        };
        let bounded = async { tokio::time::timeout(timeout, asking).await };
        let answered = self.runtime.block_on(bounded);
        answered.unwrap_or_else(|_| Err(SqlError::timeout()))
    }

    fn key(&self, metric: &str, labels: &[(&str, &str)]) -> SeriesKey {
        let own = [(SERVER, self.server.as_str())];
        key(
            &self.host,
            self.names.source,
            metric,
            &[&own, labels].concat(),
        )
    }

    fn emit(&mut self, t_ns: i64, readings: &Readings, out: &mut Batch) {
        let names = self.names;
        let mut points: Vec<(SeriesKey, f64)> = vec![(self.key(names.up, &[]), 1.0)];
        for (class, mean) in self.window.by_class() {
            points.push((self.key(names.sessions, &[("class", class)]), mean));
        }
        for (event, mean) in self.window.by_event() {
            let (metric, label) = names.events;
            points.push((self.key(metric, &[(label, event)]), mean));
        }
        if let Some(ratio) = self.window.client_ratio() {
            points.push((self.key(names.client_ratio, &[]), ratio));
        }
        if let (Some(metric), Some(ratio)) = (names.checkpointing, self.window.checkpointing()) {
            points.push((self.key(metric, &[]), ratio));
        }
        if let Some([sessions, holders]) = names.queue {
            for (relation, [waiting, holding]) in self.window.queues() {
                let label = [("relation", relation)];
                points.push((self.key(sessions, &label), waiting));
                points.push((self.key(holders, &label), holding));
            }
        }
        if let Some(metric) = names.statements {
            for (statement, mean) in self.window.statements() {
                points.push((self.key(metric, &[("statement", statement)]), mean));
            }
        }
        for (metric, value) in self.counters.take(t_ns, readings, names.derived) {
            points.push((self.key(metric, &[]), value));
        }
        self.window.begin_anew();
        let mut emit = Emit::new(out, t_ns, &self.host, names.metrics);
        for (key, value) in &points {
            emit.put(key, *value);
        }
    }
}

/// The reason why a server did not tell. What a server says may hold anything: it is cut.
fn why(error: &SqlError) -> Text {
    let key = match error.class {
        Class::Cancelled => return Text::new("engine-scrape-silent"),
        Class::Connection => "engine-scrape-unconnected",
        Class::Denied => "engine-database-denied",
        Class::Resources => "engine-database-full",
        _ => "engine-database-refused",
    };
    let says = error.to_string();
    Text::new(key).word("why", sokudo_model::cut(&says, 300))
}

#[cfg(test)]
pub(crate) mod tests;
