//! One host's part of a phase, from its sessions to the result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sokudo_model::kinds::sql;
use sokudo_model::settings::Setting;
use sokudo_model::statements::{tell_plan, tell_read};
use sokudo_model::{Batch, FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_net::wait::allow_open_files;
use sokudo_pace::Random;
use sokudo_sql::{Begin, Class, Session, SqlError, Target};
use sokudo_workload::contract::{Emit, Emitted, Options as _, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::exchange::{AskPlan, AskedNumbers, Collected, Report, Reporter};
use sokudo_workload::flows::share;
use sokudo_workload::limit::Limit;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::reporting::Names;
use sokudo_workload::sample::Sample;
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};

use super::check::{Checked, Marks, marks};
use super::client::{AllKept, Client, Connection, Task, Transactions, run};
use super::join::{Numbers, numbers_of};
use super::record::TransactionDetails;
use super::statements::{Look, Seen, between, end_with_their_session};
use super::{Benchmark, BenchmarkOptions as _, Ledger, facts};
use crate::db::{CONNECT, SET_UP, block_on, connect, fits, no_tables, refused, runtime, set_up};
use crate::options::CommonOptions;

/// Longest check of the tables after the load, less than what a host may take to answer.
const CHECK: Duration = Duration::from_secs(20);
/// Longest wait for a server that is not back yet, before the check.
const BACK: Duration = Duration::from_secs(8);
/// Open files beside the sessions.
const OTHER_FILES: u64 = 256;

/// Facts about the database, known once the first session stands.
#[derive(Debug, Clone, Default)]
struct Facts {
    is_embedded: bool,
    version: String,
    settings: Vec<Setting>,
    scale: i64,
}

type PartsOf<B> = <<B as Benchmark>::Transactions as Transactions>::Parts;
type DetailsOf<B> = TransactionDetails<PartsOf<B>>;

/// One host's part of a phase.
pub(crate) struct SqlPhase<B: Benchmark> {
    options: B::Options,
    spec: PhaseSpec,
    emit: Emit,
    /// The file that was made for this run; removed with it.
    own_file: Option<tempfile::TempDir>,
    facts: Facts,
    /// Once the database is known.
    transactions: Option<Arc<B::Transactions>>,
    /// A connection of each flow, from when it was made until the load starts.
    watched: Vec<Watched>,
    tcp_state: Option<Watch>,
    /// From when they were made until the load starts.
    armed: Vec<(FlowPlan, Task<B::Transactions>)>,
    crew: Crew<Report<DetailsOf<B>>, Collected<DetailsOf<B>>>,
    agreed_ns: Option<i64>,
    /// What the server said of the load's statements before it, on the host that asks.
    seen: Option<Seen>,
    /// Names of the series, once the load has its time.
    names: Option<Names>,
    done: Arc<AtomicU64>,
    ledgers: Arc<Mutex<Vec<Ledger>>>,
    /// The load's sessions after it, where the server's counters of their statements end with them.
    kept: AllKept<B::Transactions>,
}

impl<B: Benchmark> SqlPhase<B> {
    /// Checks the options; no traffic yet.
    pub(crate) fn prepare(
        options: B::Options,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let me = spec.hosts.get(spec.me as usize);
        let phase = Self {
            crew: Crew::new(me.map_or("", |host| host.name.as_str())),
            options,
            spec,
            emit,
            own_file: None,
            facts: Facts::default(),
            transactions: None,
            watched: Vec::new(),
            tcp_state: None,
            armed: Vec::new(),
            agreed_ns: None,
            seen: None,
            names: None,
            done: Arc::default(),
            ledgers: Arc::default(),
            kept: Arc::default(),
        };
        let sessions: u64 = phase.own_flows().map(|flow| phase.sessions_of(&flow)).sum();
        can_hold(sessions)?;
        Ok(phase)
    }

    fn common(&self) -> Cow<'_, CommonOptions> {
        self.options.common()
    }

    fn own_flows(&self) -> impl Iterator<Item = FlowPlan> + use<'_, B> {
        let flows = self.spec.phase.flows.iter();
        flows.filter(|flow| flow.from == self.spec.me).cloned()
    }

    /// Load threads of all hosts together.
    fn threads(&self) -> u64 {
        self.spec.phase.flows.len().max(1) as u64
    }

    fn clients_of(&self, flow: &FlowPlan) -> u64 {
        let all = u64::from(self.common().clients);
        share(all, u64::from(flow.id), self.threads()).max(1)
    }

    /// Sessions of a thread: one per client, or its share of the pool.
    fn sessions_of(&self, flow: &FlowPlan) -> u64 {
        match self.common().pool {
            Some(pool) => share(pool.into(), u64::from(flow.id), self.threads()).max(1),
            None => self.clients_of(flow),
        }
    }

    fn thread_rate(&self) -> Option<f64> {
        Some(self.common().transactions_per_s()? / self.threads() as f64)
    }

    /// The database that is loaded.
    fn target(&self) -> Result<Target, Refusal> {
        if let Some(target) = &self.common().target {
            fits::<B>(&target.0)?;
            return Ok(target.0.clone());
        }
        let directory = self.own_file.as_ref().map(|own| own.path().join("own.db"));
        let text = directory.map(|file| format!("sqlite:{}", file.display()));
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| failed(Text::new("error-never-started"), None))
    }

    /// Name of that database, without secrets.
    fn database(&self) -> String {
        match &self.common().target {
            Some(target) => target.to_string(),
            None => "sqlite".into(),
        }
    }

    /// Makes the file of a run that names no database.
    fn make_own(&mut self) -> Result<(), Refusal> {
        let directory = tempfile::Builder::new().prefix("sokudo-sql").tempdir();
        let directory = directory
            .map_err(|error| failed(Text::new("error-sql-own-file").with("error", error), None))?;
        self.own_file = Some(directory);
        let target = self.target()?;
        let loaded = block_on(&runtime()?, B::init(&target, self.options.own_scale()));
        loaded.map_err(|error| refused(&target, &error))?;
        Ok(())
    }

    /// Learns of the database what the load needs to know.
    fn look(&mut self, target: &Target, due: Instant) -> Result<(), Refusal> {
        let name = self.database();
        let looking = async {
            let mut session = connect(target, CONNECT, self.common().commit).await?;
            Ok::<_, SqlError>(Facts {
                is_embedded: session.engine().is_embedded(),
                version: session.version().await?,
                settings: facts::settings(&mut session, &name).await?,
                scale: match B::SCALE_TABLE {
                    Some(table) => facts::scale_of(&mut session, table).await?,
                    None => 0,
                },
            })
        };
        let (_, looked) = set_up(due, looking)?;
        self.facts = looked.map_err(|error| match error.class {
            Class::Undefined => no_tables(target, B::KIND.name, &error),
            _ => refused(target, &error),
        })?;
        match B::SCALE_TABLE.filter(|_| self.facts.scale == 0) {
            Some(table) => Err(no_tables(target, B::KIND.name, &empty(table))),
            None => Ok(()),
        }
    }

    /// Makes the sessions of one load thread.
    fn task(
        &self,
        (flow, due): (&FlowPlan, Instant),
        target: &Target,
        run: i64,
        transactions: &Arc<B::Transactions>,
    ) -> Result<Task<B::Transactions>, Refusal> {
        // Numbers of clients are told apart over all threads and hosts.
        let first = i64::from(flow.id) << 14;
        let numbers = (first..).take(self.clients_of(flow) as usize);
        let seats_before: u64 = self.seats_before(flow);
        let seats = (seats_before..).zip(numbers);
        let clients = seats.map(|(seat, number)| Client {
            random: Random::new(self.spec.seed, number as u64),
            ledger: Ledger::of(run + number),
            seat: transactions.seat(seat),
        });
        let clients = clients.collect();
        let connecting = async {
            let mut connections = Vec::new();
            for _ in 0..self.sessions_of(flow) {
                let mut session = connect(target, CONNECT, self.common().commit).await?;
                session.limit(
                    Duration::from_nanos(self.common().timeout.0),
                    &self.crew.stop,
                )?;
                let prepared = transactions.prepare(&mut session).await?;
                connections.push(Connection {
                    session,
                    prepared,
                    is_lost: false,
                });
            }
            Ok::<_, SqlError>(connections)
        };
        let (runtime, connections) = set_up(due, connecting)?;
        Ok(Task {
            plan: self.plan(flow),
            target: target.clone(),
            commit: self.common().commit,
            transactions: Arc::clone(transactions),
            retries: self.common().retries,
            clients,
            connections: connections.map_err(|error| refused(target, &error))?,
            is_shared: self.common().pool.is_some(),
            runtime,
            done: Arc::clone(&self.done),
            ledgers: Arc::clone(&self.ledgers),
            kept: self.keeps_sessions(target).then(|| Arc::clone(&self.kept)),
        })
    }

    /// Has the first session of a flow watched while it loads.
    fn watch(&mut self, flow: &FlowPlan, task: &Task<B::Transactions>) {
        let first = task.connections.first();
        let tcp = first.and_then(|connection| connection.session.tcp());
        let watched = tcp.filter(|_| self.watched.len() < MAX_FLOWS);
        self.watched.extend(watched.map(|tcp| Watched {
            flow: flow.id,
            end: "sender",
            tcp,
        }));
    }

    /// Names of the series of connections, whose label is the pair of both ends.
    fn connection_names(&self, at_ns: i64, t0_ns: i64) -> Names {
        let mut names = self.series_names(at_ns, t0_ns);
        for label in names.flows.values_mut() {
            *label = format!("{}→{label}", names.host);
        }
        names
    }

    /// Whether the load's sessions stand until their statements are counted. Of several hosts one asks, and all keep
    /// theirs.
    fn keeps_sessions(&self, target: &Target) -> bool {
        !self.common().no_server_stats && end_with_their_session(target.engine())
    }

    /// Clients of the flows in front of this one, over all hosts.
    fn seats_before(&self, flow: &FlowPlan) -> u64 {
        let flows = self.spec.phase.flows.iter();
        let before = flows.filter(|other| other.id < flow.id);
        before.map(|other| self.clients_of(other)).sum()
    }

    fn plan(&self, flow: &FlowPlan) -> AskPlan {
        let options = self.common();
        AskPlan {
            flow: flow.id,
            rate_per_s: self.thread_rate(),
            count: self.options.count_of(flow, self.threads()),
            duration_ns: options.duration_ns(),
            warmup_ns: options.warmup.0,
            bound_ns: self.spec.phase.bound_ns,
            timeout_ns: i64::try_from(options.timeout.0).unwrap_or(i64::MAX),
            sample: Sample::All,
            keep: 0,
            interval_ns: options.interval.0,
            stop: Arc::clone(&self.crew.stop),
        }
    }

    fn series_names(&self, at_ns: i64, t0_ns: i64) -> Names {
        let me = self.spec.hosts.get(self.spec.me as usize);
        let name = self.database();
        let label = |flow: &FlowPlan| match self.common().threads {
            1 => name.clone(),
            _ => format!("{name} #{}", flow.stream + 1),
        };
        let flows = self.spec.phase.flows.iter();
        Names {
            flows: flows.map(|flow| (flow.id, label(flow))).collect(),
            host: me.map_or(String::new(), |host| host.name.clone()),
            t0_ns,
            start_ns: at_ns,
        }
    }

    /// Names of the transactions of each flow: with several threads, those of each have its number.
    fn transaction_names(&self) -> BTreeMap<u32, Vec<String>> {
        let names = B::names(&self.options);
        let of_flow = |flow: &FlowPlan| {
            let label = |name: &String| match self.common().threads {
                1 => name.clone(),
                _ => format!("{name} #{}", flow.stream + 1),
            };
            (flow.id, names.iter().map(label).collect())
        };
        self.spec.phase.flows.iter().map(of_flow).collect()
    }

    /// Tells the settings of the database as series.
    fn tell_settings(&self, names: &Names) {
        let mut batch = Batch::default();
        for setting in &self.facts.settings {
            let mut key = names.key(B::KIND.source, sql::SETTING, "");
            key.labels = setting.labels();
            batch.push(&key, names.start_ns - names.t0_ns, 1.0);
        }
        if !batch.is_empty() {
            (self.emit)(Emitted::Batch(batch));
        }
    }

    /// The server whose statements are looked at, on one of the hosts that load.
    fn looked_at(&self) -> Option<(Target, Arc<B::Transactions>)> {
        let first = self.spec.phase.flows.first()?;
        let transactions = self.transactions.as_ref()?;
        let is_wanted = first.from == self.spec.me && !self.common().no_server_stats;
        let target = self.target().ok().filter(|_| is_wanted)?;
        Some((target, Arc::clone(transactions)))
    }

    fn look_before(&self) -> Option<Seen> {
        let (target, transactions) = self.looked_at()?;
        let (look, runtime) = (Look::at(&target)?, runtime().ok()?);
        let planned = block_on(&runtime, look.planned(&*transactions));
        let counted = block_on(&runtime, look.counted());
        Some(Seen { counted, planned })
    }

    fn look_after(&self) -> Option<Seen> {
        let (target, transactions) = self.looked_at()?;
        let (look, runtime) = (Look::at(&target)?, runtime().ok()?);
        let counted = block_on(&runtime, look.counted());
        // What they had begun may hold locks.
        self.release();
        let planned = block_on(&runtime, look.planned(&*transactions));
        Some(Seen { counted, planned })
    }

    /// Ends the sessions that were kept.
    fn release(&self) {
        if let Ok(mut kept) = self.kept.lock() {
            kept.clear();
        }
    }

    /// Tells the plans that one look has found.
    fn tell_plans(&self, names: &Names, seen: &Seen, t_ns: i64, batch: &mut Batch) {
        let key = |metric| names.key(B::KIND.source, metric, &self.database());
        for (statement, plan) in seen.planned.iter().flatten() {
            tell_plan(key(sql::PLAN), statement, plan, t_ns, batch);
        }
    }

    /// Tells what the server counted for each statement between a look before the load and now, and the plans.
    fn tell_statements(&self, names: &Names, before: &Seen) {
        let Some(after) = self.look_after() else {
            return;
        };
        let key = |metric| names.key(B::KIND.source, metric, &self.database());
        let t_ns = now_ns() - names.t0_ns;
        let mut batch = Batch::default();
        let counted = between(before, &after);
        let lacking = counted.as_ref().err().map(String::as_str);
        tell_read(key(sql::STATEMENTS_READ), lacking, t_ns, &mut batch);
        for one in counted.into_iter().flatten() {
            one.tell(key, t_ns, &mut batch);
        }
        let lacking = [before, &after].map(|seen| seen.planned.as_ref().err());
        let lacking = lacking.into_iter().flatten().next().map(String::as_str);
        tell_read(key(sql::PLANS_READ), lacking, t_ns, &mut batch);
        self.tell_plans(names, &after, t_ns, &mut batch);
        (self.emit)(Emitted::Batch(batch));
    }

    /// The state of the tables, once all writing has ended.
    fn check(&self, ledgers: &[Ledger]) -> Result<(Checked, Marks), String> {
        let told = |_: Refusal| "the check could not begin".to_owned();
        let target = self.target().map_err(told)?;
        let runtime = runtime().map_err(told)?;
        let checking = async {
            let mut session = connect_when_back(&target).await?;
            let checked = conditions::<B>(&mut session).await?;
            let marks = marks(&mut session, B::MARKED_TABLES, ledgers).await?;
            Ok((checked, marks))
        };
        let checked = block_on(&runtime, async {
            tokio::time::timeout(CHECK, checking).await
        });
        checked
            .unwrap_or_else(|_| Err(SqlError::timeout()))
            .map_err(|error| error.to_string())
    }
}

/// A server that was restarted may need a moment.
async fn connect_when_back(target: &Target) -> Result<Session, SqlError> {
    let begun = Instant::now();
    loop {
        match Session::connect(target, BACK).await {
            Err(error) if error.is_lost && begun.elapsed() < BACK => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            connected => return connected,
        }
    }
}

impl<B: Benchmark> Phase<Numbers<PartsOf<B>>> for SqlPhase<B> {
    fn offer(&self) -> String {
        "{}".into()
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        // What a server sends is bounded by what is asked, and its messages by their own limits.
    }

    fn arm(&mut self, _offers: &[Option<String>]) -> Result<(), Refusal> {
        let own: Vec<FlowPlan> = self.own_flows().collect();
        if own.is_empty() {
            return Ok(());
        }
        if self.common().target.is_none() {
            self.make_own()?;
        }
        let target = self.target()?;
        let due = Instant::now() + SET_UP;
        self.look(&target, due)?;
        // Milliseconds since 1970, above the numbers of 1M clients: no other run has the same.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let run = since.map_or(0, |since| since.as_millis() as i64) << 20;
        let transactions = Arc::new(B::transactions(
            &self.options,
            self.spec.seed,
            self.facts.scale,
        )?);
        self.transactions = Some(Arc::clone(&transactions));
        self.seen = self.look_before();
        for flow in own {
            let task = self.task((&flow, due), &target, run, &transactions)?;
            self.watch(&flow, &task);
            self.armed.push((flow, task));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let names = self.series_names(at_ns, t0_ns);
        self.tell_settings(&names);
        if let Some(seen) = &self.seen {
            let mut batch = Batch::default();
            self.tell_plans(&names, seen, at_ns - t0_ns, &mut batch);
            if !batch.is_empty() {
                (self.emit)(Emitted::Batch(batch));
            }
        }
        self.names = Some(names);
        let (watched, hosts) = (std::mem::take(&mut self.watched), self.spec.hosts.len());
        let begins = (at_ns, hosts);
        let of_connections = self.connection_names(at_ns, t0_ns);
        let emit = Arc::clone(&self.emit);
        self.tcp_state = Watch::begin(watched, B::KIND.source, of_connections, begins, emit)?;
        let options = self.common();
        let counted_ns = at_ns.saturating_add_unsigned(options.warmup.0);
        self.agreed_ns = options.rate.is_none().then_some(counted_ns);
        let reporter = Reporter::new(
            (B::KIND.source, numbers_of(B::KIND)),
            self.series_names(at_ns, t0_ns),
            Arc::clone(&self.emit),
            self.armed.len(),
        );
        let reporter = reporter.naming(self.transaction_names());
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        for (flow, task) in std::mem::take(&mut self.armed) {
            let reports = reports.clone();
            let run = move || run(task, at_ns, &reports);
            self.crew.start(&format!("sql{}", flow.id), run)?;
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers<PartsOf<B>>, Refusal> {
        self.crew.end();
        self.tcp_state = None;
        let collected = self.crew.collected()?;
        if let (Some(names), Some(before)) = (&self.names, &self.seen) {
            self.tell_statements(names, before);
        }
        self.release();
        let flows = self.spec.phase.flows.iter();
        let sessions: Vec<u64> = flows.map(|flow| self.sessions_of(flow)).collect();
        let rate = self.thread_rate();
        let set_up = |flow: u32| {
            let sessions = sessions.get(flow as usize);
            (sessions.copied().unwrap_or(0), rate)
        };
        let has_loaded = !collected.asked.is_empty();
        let ledgers = self.ledgers.lock().map(|all| all.clone());
        let ledgers = ledgers.unwrap_or_default();
        let checked = (has_loaded && self.options.writes()).then(|| self.check(&ledgers));
        Ok(Numbers {
            asked: AskedNumbers::all(collected, self.agreed_ns, set_up),
            carried_out: self.done.load(Ordering::Relaxed),
            database: self.database(),
            is_embedded: self.facts.is_embedded,
            version: self.facts.version.clone(),
            durability: durability(&self.facts.settings),
            scale: self.facts.scale,
            told: self
                .transactions
                .as_ref()
                .map(|all| all.told())
                .unwrap_or_default(),
            checked,
        })
    }
}

/// Checks the conditions on the tables, as of one moment.
///
/// Errors: those of the server.
pub(crate) async fn conditions<B: Benchmark>(session: &mut Session) -> Result<Checked, SqlError> {
    session.begin(Begin::Read).await?;
    let checked = B::conditions(session).await?;
    session.rollback().await?;
    Ok(checked)
}

/// Tables without rows are as good as none.
fn empty(table: &str) -> SqlError {
    SqlError {
        class: Class::Undefined,
        code: None,
        message: format!("{table} has no rows"),
        is_lost: false,
    }
}

/// The settings that decide whether an acknowledged commit outlives a crash: `fsync=on full_page_writes=on`.
fn durability(settings: &[Setting]) -> String {
    let about = settings.iter().filter(|it| it.commits.is_some());
    about.map(Setting::text).collect::<Vec<_>>().join(" ")
}

/// Makes room for so many sessions. Errors: this process may not hold them.
fn can_hold(sessions: u64) -> Result<(), Refusal> {
    let wanted = sessions + OTHER_FILES;
    match allow_open_files(wanted).filter(|most| *most < wanted) {
        None => Ok(()),
        Some(most) => {
            let says = Text::new("error-process-files")
                .with("most", most)
                .with("connections", sessions)
                .with("wanted", wanted);
            Err(operator(says, Text::new("error-process-files-hint")))
        }
    }
}
