//! What drives a test from its first stage to its last?
//!
//! ```text
//! setUp groups ─► main groups, together or one by one ─► tearDown groups
//!    each: starts in order of time ─► event loops ─► all users gone
//! beside it: once a second, what the shards saw ─► Listener
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_http::{Audit, Config, Engine, Stop, Targets, Trust};
use sokudo_jmeter::jtl::JtlFormat;
use sokudo_jmeter::plan::Stage;
use sokudo_jmeter::problem::Problem;
use sokudo_jmeter::run::{Part, Starts, StopKind, Test};
use sokudo_model::{Refusal, Rows};
use sokudo_net::clock::{now_ns, sleep_until};

use super::client::{Inflight, Joining, PlanUsers};
use super::options::LoadOptions;
use super::read::Prepared;
use super::rows::RowLog;
use super::tally::{Shard, Tallies};
use crate::refusal::{failed, operator, spawn};

/// Users are handed to the event loops this long before they begin.
const AHEAD_NS: i64 = 1_000_000_000;
/// Time between two looks at whether the operator has had enough.
const LOOK_NS: i64 = 50_000_000;
/// Time between two reports.
const INTERVAL: Duration = Duration::from_secs(1);
/// Users at a time in an open model, unless the options say it.
const MOST_INFLIGHT: u64 = 10_000;

/// Who hears how the load goes. Called from a thread of its own, never from the measured path.
pub trait Listener: Send + Sync {
    /// What was seen since the last time, and the users that are active.
    fn interval(&self, at_ns: i64, seen: &Tallies, active: u32);
}

/// A test that runs.
pub struct Generator {
    control: Arc<Control>,
    thread: Option<JoinHandle<Finished>>,
}

/// What can be done to it from outside.
struct Control {
    test: Arc<Test>,
    stopped: AtomicBool,
    /// The stage under way.
    stage: Mutex<Stop>,
}

/// What came of a test.
#[derive(Debug, Default)]
pub struct Finished {
    /// Everything that was seen.
    pub seen: Tallies,
    /// What the event loops did, stage by stage.
    pub audits: Vec<Audit>,
    /// Arrivals that were not begun because too many users were active.
    pub dropped: u64,
    /// Rows that could not be written.
    pub lost_rows: u64,
    /// Rows that were written, or handed on.
    pub rows: u64,
    /// How much later than agreed it began, nanoseconds.
    pub start_late_ns: i64,
    /// What users could not do, with how often.
    pub troubles: HashMap<String, u64>,
    /// Why the event loops or the results file failed.
    pub problems: Vec<String>,
    /// It was ended from outside.
    pub stopped: bool,
}

/// Why a test cannot start.
#[derive(Debug)]
pub enum NotStarted {
    /// The plan holds what cannot be executed.
    Plan(Vec<Problem>),
    /// Something else.
    Refused(Refusal),
}

impl From<NotStarted> for Refusal {
    fn from(why: NotStarted) -> Self {
        match why {
            NotStarted::Refused(refusal) => refusal,
            NotStarted::Plan(problems) => {
                let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
                operator(
                    format!("the plan cannot be executed: {}", all.join("; ")),
                    "disable these elements in the plan, or take them out",
                )
            }
        }
    }
}

impl Generator {
    /// Starts a test at `at_ns`. `ended` is called when all users are gone.
    pub fn start(
        prepared: &Prepared,
        options: &LoadOptions,
        when: (i64, u64),
        listener: Arc<dyn Listener>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, NotStarted> {
        let log = open_log(options, prepared).map_err(NotStarted::Refused)?;
        Self::start_with(log, prepared, options, when, listener, ended)
    }

    /// As [`Generator::start`], with somewhere else for the rows to go.
    pub(super) fn start_with(
        log: Option<OpenLog>,
        prepared: &Prepared,
        options: &LoadOptions,
        (at_ns, seed): (i64, u64),
        listener: Arc<dyn Listener>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, NotStarted> {
        let targets = Arc::new(Targets::new());
        let sender = log
            .as_ref()
            .map(|(_, format, sender)| (Arc::clone(format), sender.clone()));
        let shards: Vec<Arc<Shard>> = (0..options.loops().max(1))
            .map(|_| Arc::new(Shard::new(sender.clone())))
            .collect();
        drop(sender);
        let test = prepared
            .test(&targets, shards[0].clone())
            .map_err(NotStarted::Plan)?;
        let log = log.map(|(log, _, _)| log);
        let control = Arc::new(Control {
            test,
            stopped: AtomicBool::new(false),
            stage: Mutex::default(),
        });
        let course = Course {
            control: Arc::clone(&control),
            targets,
            shards,
            trust: if options.insecure {
                Trust::Anyone
            } else {
                Trust::System
            },
            part: prepared.duty.users,
            inflight: Arc::new(Inflight {
                most: prepared
                    .duty
                    .users
                    .share(options.max_inflight.unwrap_or(MOST_INFLIGHT)),
                dropped: AtomicU64::new(0),
            }),
            seed,
        };
        let run = move || {
            let finished = course.run(at_ns, log, &listener);
            ended();
            finished
        };
        let thread = spawn("plan", run).map_err(NotStarted::Refused)?;
        Ok(Self {
            control,
            thread: Some(thread),
        })
    }

    /// Asks for the end: samples under way finish, nothing new begins.
    pub fn stop(&self) {
        self.control.stop(StopKind::Soon);
    }

    /// Breaks off what is under way, too.
    pub fn stop_now(&self) {
        self.control.stop(StopKind::Now);
    }

    /// True when all users are gone.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end. Errors: the thread died.
    pub fn finish(mut self) -> Result<Finished, Refusal> {
        let joined = self.thread.take().map(JoinHandle::join);
        let died = || failed("the thread that drives the plan died", None);
        joined.and_then(Result::ok).ok_or_else(died)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.control.stop(StopKind::Now);
            // A thread that died has nothing more to say.
            let _ = thread.join();
        }
    }
}

impl Control {
    fn stop(&self, kind: StopKind) {
        self.stopped.store(true, Ordering::Relaxed);
        self.test.stop(kind);
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match kind {
            StopKind::Now => stage.now(),
            _ => stage.soon(),
        }
    }
}

pub(super) type OpenLog = (RowLog, Arc<JtlFormat>, std::sync::mpsc::SyncSender<Rows>);

fn open_log(options: &LoadOptions, prepared: &Prepared) -> Result<Option<OpenLog>, Refusal> {
    let Some(path) = &options.results else {
        return Ok(None);
    };
    let format = Arc::new(options.row_format(&prepared.duty.host));
    let (log, sender) = RowLog::open(path, &format)?;
    Ok(Some((log, format, sender)))
}

/// Everything that a running test needs.
struct Course {
    control: Arc<Control>,
    targets: Arc<Targets>,
    shards: Vec<Arc<Shard>>,
    trust: Trust,
    inflight: Arc<Inflight>,
    /// The users of this generator.
    part: Part,
    seed: u64,
}

impl Course {
    fn run(self, at_ns: i64, log: Option<RowLog>, listener: &Arc<dyn Listener>) -> Finished {
        let mut finished = Finished::default();
        let over = Arc::new(AtomicBool::new(false));
        let reporter = {
            let (over, shards) = (Arc::clone(&over), self.shards.clone());
            let (test, listener) = (Arc::clone(&self.control.test), Arc::clone(listener));
            spawn("report", move || report(&over, &shards, &test, &*listener))
        };
        sleep_until(at_ns);
        finished.start_late_ns = now_ns().saturating_sub(at_ns).max(0);
        self.stages(&mut finished);
        over.store(true, Ordering::Relaxed);
        match reporter.map(|thread| {
            thread.thread().unpark();
            thread.join()
        }) {
            Ok(Ok(seen)) => finished.seen = seen,
            Ok(Err(_)) => finished.problems.push("the reporting thread died".into()),
            Err(refusal) => finished.problems.push(refusal.says),
        }
        for shard in &self.shards {
            finished.lost_rows += shard.lost_rows();
            for (what, count) in shard.troubles() {
                *finished.troubles.entry(what).or_default() += count;
            }
        }
        finished.dropped = self.inflight.dropped.load(Ordering::Relaxed);
        finished.stopped = self.control.stopped.load(Ordering::Relaxed);
        self.shards.iter().for_each(|shard| shard.close());
        if let Some(log) = log {
            let written = log.finish();
            finished.rows = written.rows;
            if let Some(error) = written.error {
                finished.problems.push(format!(
                    "{} bytes of results could not be written: {error}",
                    written.lost_bytes
                ));
            }
        }
        finished
    }

    fn stages(&self, finished: &mut Finished) {
        let test = &self.control.test;
        let plan = test.plan();
        self.stage(Stage::SetUp, None, finished);
        match plan.serialize_groups {
            false => self.stage(Stage::Main, None, finished),
            true => (0..plan.groups.len())
                .for_each(|group| self.stage(Stage::Main, Some(group), finished)),
        }
        let stopped = test.stopping() != StopKind::No;
        if !stopped || plan.teardown_on_shutdown && test.stopping() == StopKind::Soon {
            test.go_on();
            self.stage(Stage::TearDown, None, finished);
        }
    }

    /// Runs the groups of a stage until all their users are gone.
    fn stage(&self, stage: Stage, only: Option<usize>, finished: &mut Finished) {
        let test = &self.control.test;
        // What prepares and tidies up is done by every generator.
        let part = match stage {
            Stage::Main => self.part,
            Stage::SetUp | Stage::TearDown => Part::WHOLE,
        };
        let starts = Starts::new(test.plan(), stage, only, self.seed);
        let mut starts = starts.filter(|start| part.has(start.number - 1)).peekable();
        if starts.peek().is_none() || test.stopping() != StopKind::No {
            return;
        }
        let stop = Stop::default();
        *self
            .control
            .stage
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = stop.clone();
        let crews = self.shards.iter().map(|shard| {
            let inflight = Arc::clone(&self.inflight);
            PlanUsers::new(Arc::clone(test), Arc::clone(shard), stop.clone(), inflight)
        });
        let config = Config {
            trust: self.trust.clone(),
            name: "users".into(),
            ..Config::default()
        };
        let engine = match Engine::start(&config, &self.targets, crews.collect(), &stop) {
            Ok(engine) => engine,
            Err(error) => {
                finished.problems.push(error.to_string());
                test.stop(StopKind::Now);
                return;
            }
        };
        let stage_ns = now_ns();
        for start in starts {
            let at_ns = stage_ns + start.at_ns;
            while now_ns() < at_ns - AHEAD_NS && test.stopping() == StopKind::No {
                sleep_until((at_ns - AHEAD_NS).min(now_ns() + LOOK_NS));
            }
            if test.stopping() != StopKind::No {
                break;
            }
            engine.add(at_ns, Joining { start, stage_ns });
        }
        let (crews, audit) = engine.finish();
        drop(crews);
        if audit.died > 0 {
            finished
                .problems
                .push(format!("{} event loops died", audit.died));
        }
        finished.audits.push(audit);
    }
}

/// Once per interval: what the shards saw. Gives everything at the end.
fn report(
    over: &AtomicBool,
    shards: &[Arc<Shard>],
    test: &Test,
    listener: &dyn Listener,
) -> Tallies {
    let mut all = Tallies::new();
    loop {
        let ends = over.load(Ordering::Relaxed);
        let mut seen = Tallies::new();
        for shard in shards {
            for (label, tally) in shard.take() {
                seen.entry(label).or_default().merge(&tally);
            }
        }
        for (label, tally) in &seen {
            all.entry(label.clone()).or_default().merge(tally);
        }
        listener.interval(now_ns(), &seen, test.active());
        if ends {
            return all;
        }
        std::thread::park_timeout(INTERVAL);
    }
}
