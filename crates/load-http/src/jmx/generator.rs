//! A running test, with its start, change and end from outside.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_http::{Audit, Stop, Targets};
use sokudo_jmeter::jtl::JtlFormat;
use sokudo_jmeter::plan::{Load, Stage};
use sokudo_jmeter::problem::Problem;
use sokudo_jmeter::run::{GeneratorShare, StopKind, Test};
use sokudo_model::{Change, Refusal, Rows, Text};
use sokudo_net::wait::allow_open_files;
use sokudo_workload::refusal::{failed, operator, spawn};

use super::backend::trust;
use super::client::{Called, Inflight};
use super::course::RunningTest;
use super::crowd::Crowd;
use super::databases::Databases;
use super::options::JmxOptions;
use super::outputs::Outputs;
use super::read::Prepared;
use super::rows::RowLog;
use super::silence::Silence;
use super::sockets::Sockets;
use super::tally::Tallies;

/// Users at a time in an open model, unless the options say it.
const MOST_INFLIGHT: u64 = 10_000;
/// Open files and sockets that are asked of the system; it gives as many as the owner of this process may have.
const MOST_FILES: u64 = 1 << 20;

/// Time between two looks at whether a test is over, or to be ended.
const LOOK: Duration = Duration::from_millis(20);

/// Users of a running test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsersSeen {
    /// Number of those that are active.
    pub active: u32,
    /// Share of their time since the last report that they spent in pauses; `None` when nobody was there.
    pub pausing: Option<f64>,
}

/// Receiver of the progress of a load. Called from a thread of its own, never from the measured
/// path.
pub trait LoadObserver: Send + Sync {
    /// Takes the counts since the last call, and what the users do.
    fn interval(&self, at_ns: i64, seen: &Tallies, users: UsersSeen);
}

/// A test that runs.
pub struct Generator {
    control: Arc<Control>,
    thread: Option<JoinHandle<Finished>>,
}

/// Handle to a running test from outside.
pub(super) struct Control {
    pub test: Arc<Test>,
    pub stopped: AtomicBool,
    /// The stage under way.
    pub stage: Mutex<Stop>,
    /// Its users, where their number can be changed.
    pub crowd: Mutex<Option<Crowd>>,
    /// Another rate that was asked for, arrivals per second of all generators together.
    pub rate: Mutex<Option<f64>>,
    pub rate_changed: AtomicBool,
}

impl Control {
    fn of(test: Arc<Test>) -> Self {
        Self {
            test,
            stopped: AtomicBool::new(false),
            stage: Mutex::default(),
            crowd: Mutex::default(),
            rate: Mutex::default(),
            rate_changed: AtomicBool::new(false),
        }
    }
}

/// Result of a test.
#[derive(Debug, Default)]
pub struct Finished {
    /// Everything that was seen.
    pub seen: Tallies,
    /// Results of the event loops, stage by stage.
    pub audits: Vec<Audit>,
    /// Arrivals that were not begun because too many users were active.
    pub dropped: u64,
    /// Arrivals of an open model that were begun late.
    pub late: u64,
    /// The time in which nothing was answered, by event loop; none where the users' own loops ended the test,
    /// or the schedule of an open model says what was due.
    pub silences: Vec<Silence>,
    /// Rows that could not be written.
    pub lost_rows: u64,
    /// Rows that were written, or handed on.
    pub rows: u64,
    /// Agreed begin, nanoseconds.
    pub begin_ns: i64,
    /// Departure of the last user, nanoseconds.
    pub gone_ns: i64,
    /// Delay of its begin behind the agreed one, nanoseconds.
    pub start_late_ns: i64,
    /// Errors of users, with the number of each.
    pub troubles: HashMap<String, u64>,
    /// Errors of the event loops or the results file.
    pub problems: Vec<Text>,
    /// It was ended from outside.
    pub stopped: bool,
    /// The rate of arrivals was changed from outside.
    pub rate_changed: bool,
}

/// Reason why a test cannot start.
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
                    Text::new("error-jmx-not-executable").word("problems", all.join("; ")),
                    Text::new("error-jmx-disable-hint"),
                )
            }
        }
    }
}

impl Generator {
    /// Starts a test at `at_ns`. `ended` is called when all users are gone.
    pub fn start(
        prepared: &Prepared,
        options: &JmxOptions,
        when: (i64, u64),
        listener: Arc<dyn LoadObserver>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, NotStarted> {
        let log = open_log(options, prepared).map_err(NotStarted::Refused)?;
        Self::start_with(log, prepared, options, when, listener, ended)
    }

    /// As [`Generator::start`], with somewhere else for the rows to go.
    pub(super) fn start_with(
        log: Option<OpenLog>,
        prepared: &Prepared,
        options: &JmxOptions,
        (at_ns, seed): (i64, u64),
        listener: Arc<dyn LoadObserver>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, NotStarted> {
        // How many connections there will be at a time, the plan does not say: users think, and pages have parts.
        let _ = allow_open_files(MOST_FILES);
        let refused = NotStarted::Refused;
        let mut outputs = Outputs::open(log, prepared, options).map_err(refused)?;
        let summary_log = outputs.summary_log(prepared, options, &listener);
        let targets = Arc::new(Targets::new());
        let loops = options.loops().max(1);
        let shards = outputs.shards(loops, prepared);
        let test = prepared
            .test(&targets, shards[0].clone())
            .map_err(NotStarted::Plan)?;
        let called = Arc::new(Called {
            databases: Databases::start(prepared, loops).map_err(refused)?,
            sockets: Sockets::start(&prepared.plan, loops).map_err(refused)?,
        });
        let (files, outputs) = outputs.start(&test).map_err(refused)?;
        let control = Arc::new(Control::of(test));
        let inflight = options.max_inflight.unwrap_or(MOST_INFLIGHT);
        let course = RunningTest {
            control: Arc::clone(&control),
            targets,
            shards,
            trust: trust(options),
            identities: Arc::clone(&prepared.identities),
            part: prepared.duty.users,
            inflight: Arc::new(Inflight {
                most: prepared.duty.users.share(inflight),
                dropped: AtomicU64::new(0),
                late: AtomicU64::new(0),
            }),
            called,
            seed,
        };
        let run = move || {
            let listener = summary_log
                .clone()
                .map_or(listener, |log| log as Arc<dyn LoadObserver>);
            let mut finished = course.run(at_ns, files, &listener);
            if let Some(log) = summary_log {
                log.end();
            }
            // The log ends when its last sender is dropped.
            drop(listener);
            finished.problems.extend(outputs.finish());
            ended();
            finished
        };
        let thread = spawn("plan", run).map_err(refused)?;
        Ok(Self {
            control,
            thread: Some(thread),
        })
    }

    /// Other load from now on; `part` of its users are those of this generator.
    ///
    /// Errors: the stage under way has no users, or no arrivals, that could be changed.
    pub fn steer(&self, change: &Change, part: GeneratorShare) -> Result<(), Refusal> {
        if let Some(per_s) = change.rate_per_s {
            self.control.change_rate(per_s)?;
        }
        let Some(users) = change.users else {
            return Ok(());
        };
        match &mut *locked(&self.control.crowd) {
            Some(crowd) => crowd.set_users(users, part),
            None => Err(operator(
                Text::new("error-jmx-groups-fixed"),
                Text::new("error-jmx-groups-fixed-hint"),
            )),
        }
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

    /// Waits for the end, and asks for it when `stop` is set. Errors: the thread died.
    pub fn finish_or(self, stop: &AtomicBool) -> Result<Finished, Refusal> {
        while !self.is_over() {
            std::thread::sleep(LOOK);
            if stop.load(Ordering::Relaxed) {
                self.stop();
            }
        }
        self.finish()
    }

    /// Waits for the end. Errors: the thread died.
    pub fn finish(mut self) -> Result<Finished, Refusal> {
        let joined = self.thread.take().map(JoinHandle::join);
        let died = || failed(Text::new("error-jmx-thread-died"), None);
        joined.and_then(Result::ok).ok_or_else(died)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.control.stop(StopKind::Now);
            // The result of a thread that panicked is missing.
            let _ = thread.join();
        }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    fn change_rate(&self, per_s: f64) -> Result<(), Refusal> {
        let groups = self.test.plan().groups.iter();
        let mut main = groups.filter(|group| group.stage == Stage::Main);
        if !main.any(|group| matches!(group.load, Load::Open { .. })) {
            return Err(operator(
                Text::new("error-jmx-users-no-rate"),
                Text::new("error-jmx-users-no-rate-hint"),
            ));
        }
        *locked(&self.rate) = Some(per_s);
        self.rate_changed.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&self, kind: StopKind) {
        self.stopped.store(true, Ordering::Relaxed);
        self.test.stop(kind);
        let stage = locked(&self.stage);
        match kind {
            StopKind::Now => stage.now(),
            _ => stage.soon(),
        }
    }
}

pub(super) type OpenLog = (RowLog, Arc<JtlFormat>, std::sync::mpsc::SyncSender<Rows>);

fn open_log(options: &JmxOptions, prepared: &Prepared) -> Result<Option<OpenLog>, Refusal> {
    let Some(path) = &options.results else {
        return Ok(None);
    };
    let format = Arc::new(options.row_format(&prepared.duty.host));
    let (log, sender) = RowLog::open(path, &format)?;
    Ok(Some((log, format, sender)))
}
