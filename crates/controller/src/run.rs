//! One run, from its first moment to its record.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use sokudo_bus::BusError;
use sokudo_model::manifest::moments;
use sokudo_model::{
    Batch, ClockReading, Event, Manifest, MonitorSpec, On, PhasePlan, PhaseRecord, Plan, Problem,
    Rows, RunId, RunStatus, Summary, Text, Unit,
};
use sokudo_net::clock::{now_ns, unix_ns};
use sokudo_store::{RunDir, StoreError, Writer};
use sokudo_wire::{Ask, Health, Note, Reply};

use crate::clock::ClockTrack;
use crate::complaints::{Complaints, MAX_WORD};
use crate::error::ControlError;
use crate::hosts::{ASK_BOUND, Hosts, LEASE};
use crate::knee::{CpuWatch, RateWatch};
use crate::knobs::Knobs;
use crate::steering::Steering;

/// Progress of a run, as reported to an [`Observer`].
#[derive(Debug)]
pub enum Progress<'a> {
    /// Something that takes a moment, in words.
    Doing(&'a Text),
    /// Step that is done; the next one has not been reported yet.
    Ready,
    /// Something worth knowing that went as it should.
    Says(&'a Text),
    /// Load of a phase begins.
    PhaseBegins(&'a PhasePlan),
    /// New samples.
    Batch(&'a Batch),
    /// Time since the load began.
    Elapsed {
        /// So far, nanoseconds.
        elapsed_ns: u64,
        /// Begin of the load on the clock of the samples, nanoseconds.
        begin_ns: i64,
    },
    /// A phase is over.
    PhaseEnds(&'a [PhaseRecord]),
    /// Something went wrong; the run goes on as far as it can.
    Problem(&'a Problem),
    /// The connection to a host became worse or better.
    Health {
        /// Name of the host.
        host: &'a str,
        /// Health of its connection now.
        health: Health,
        /// The same in words.
        says: &'a Text,
    },
}

/// Receives the progress of a run, such as a progress bar.
pub trait Observer: Send {
    /// Takes note.
    fn note(&mut self, progress: &Progress<'_>);
}

/// Keeps the rows about single requests. Called between two notes of the hosts, so it must not wait
/// for a disk.
pub trait KeepRows: Send {
    /// Takes rows of one host of the run.
    fn keep(&mut self, host: &str, rows: Rows);
}

/// Settings of a run.
#[derive(Debug, Clone)]
pub struct RunConfig {
    /// Name of the run's load.
    pub workload: String,
    /// Command line, secrets removed.
    pub command: Vec<String>,
    /// Directory that the record is made in.
    pub root: PathBuf,
    /// Seed of every random choice.
    pub seed: u64,
    /// Time between two samples of the monitors, nanoseconds.
    pub interval_ns: u64,
    /// Monitors beside those that observe every host anyway.
    pub monitors: Vec<MonitorSpec>,
    /// Set from outside to end the run early.
    pub stop: Arc<AtomicBool>,
}

/// A run that goes on.
pub struct Run {
    pub(crate) hosts: Hosts,
    pub(crate) config: RunConfig,
    pub(crate) writer: Writer,
    pub(crate) manifest: Manifest,
    pub(crate) t0_ns: i64,
    pub(crate) observer: Box<dyn Observer>,
    /// Hosts that were lost, by index.
    pub(crate) lost: Vec<bool>,
    complaints: Complaints,
    told_interrupted: bool,
    pub(crate) steering: Steering,
    rows: Option<Box<dyn KeepRows>>,
    /// Phases whose flows begin further apart are repeated, nanoseconds.
    pub(crate) max_skew_ns: Option<u64>,
    pub(crate) quiet_phases: bool,
    pub(crate) knobs: Option<Box<dyn Knobs>>,
    /// The hosts' CPUs since the present phase was planned, for a search of the knee.
    pub(crate) cpu_watch: CpuWatch,
    /// Rate of the load of the present run of such a search.
    pub(crate) rate_watch: RateWatch,
    /// Readings of the hosts' clocks, by index.
    pub(crate) clocks: Vec<ClockTrack>,
    /// The longest time that a start was agreed ahead; zero before the first one, nanoseconds.
    pub(crate) start_lead_ns: i64,
    /// Time for the answers to what ends the run.
    pub(crate) end_bound: Duration,
}

/// A run that is over and recorded.
#[derive(Debug)]
pub struct Finished {
    /// Its manifest.
    pub manifest: Manifest,
    /// Directory of its record.
    pub path: PathBuf,
}

/// The error of a directory that cannot be written to: the operator chose it.
fn no_place(error: StoreError) -> ControlError {
    match error {
        StoreError::Io { .. } => ControlError::Operator {
            says: error.to_string().into(),
            hint: Some(Text::new("error-no-place-hint")),
        },
        other => other.into(),
    }
}

/// A reader of the record should know it without looking at the time line: the clock was set, or a
/// monitor that was asked for did not observe.
fn is_worth_a_note(event: &Event) -> bool {
    event.kind == "clock-jump" || event.kind.starts_with("monitor-")
}

/// A name for a run that begins now: date, time, what it is called after, and four random digits.
pub fn new_run_id(workload: &str) -> RunId {
    let now = jiff::Zoned::now();
    let mut random = [0u8; 2];
    // Without randomness two runs of the same second would clash, which the store refuses.
    let _ = SystemRandom::new().fill(&mut random);
    let tag = u16::from_be_bytes(random);
    RunId(format!(
        "{}-{workload}-{tag:04x}",
        now.strftime("%Y-%m-%dT%H-%M-%S")
    ))
}

impl Run {
    /// Opens the record, captures the environment, and starts to observe all hosts.
    pub fn begin(
        mut hosts: Hosts,
        config: RunConfig,
        observer: Box<dyn Observer>,
    ) -> Result<Self, ControlError> {
        let id = new_run_id(&config.workload);
        let writer = RunDir::create(&config.root, &id).map_err(no_place)?;
        let count = hosts.list().len();
        hosts.stop_on(&config.stop);
        let started = jiff::Zoned::now();
        let manifest = Manifest {
            started: started.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            started_unix_ns: unix_ns(),
            command: config.command.clone(),
            seed: config.seed,
            hosts: hosts.entries(),
            plan: Plan {
                monitors: config.monitors.clone(),
                ..Plan::default()
            },
            ..Manifest::new(id, &config.workload)
        };
        let t0_ns = now_ns();
        let mut run = Self {
            hosts,
            config,
            writer,
            manifest,
            t0_ns,
            observer,
            lost: vec![false; count],
            complaints: Complaints::new(count),
            told_interrupted: false,
            steering: Steering::default(),
            rows: None,
            max_skew_ns: None,
            quiet_phases: false,
            knobs: None,
            cpu_watch: CpuWatch::default(),
            rate_watch: RateWatch::default(),
            clocks: vec![ClockTrack::default(); count],
            start_lead_ns: 0,
            end_bound: ASK_BOUND,
        };
        match run.open() {
            Ok(()) => {
                run.observer.note(&Progress::Ready);
                Ok(run)
            }
            Err(error) => {
                run.discard();
                Err(error)
            }
        }
    }

    fn open(&mut self) -> Result<(), ControlError> {
        self.writer.write_manifest(&self.manifest)?;
        self.hosts.bus.keep_alive(LEASE)?;
        self.capture_environments()?;
        self.watch()
    }

    /// Removes the record of a run that never began.
    fn discard(self) {
        let path = self.writer.path().to_path_buf();
        drop(self.writer);
        // The error that ended the run is reported; a directory that stays is listed as broken.
        let _ = sokudo_store::discard(&path);
    }

    fn capture_environments(&mut self) -> Result<(), ControlError> {
        self.observer
            .note(&Progress::Doing(&Text::new("engine-doing-environment")));
        let asks = self
            .hosts
            .list()
            .iter()
            .map(|host| (host.member, Ask::Environment))
            .collect();
        let patience = self.hosts.patience(ASK_BOUND);
        let answers = self.hosts.bus.ask_all(asks, patience);
        for (index, answer) in answers.into_iter().enumerate() {
            let host = &self.hosts.list()[index];
            let Reply::Environment(mut environment) = answer? else {
                return Err(ControlError::OutOfOrder {
                    host: host.name.clone(),
                });
            };
            environment.host = host.name.clone();
            self.writer.write_environment(&environment)?;
            self.writer
                .append_clock(&host.name, 0, host.clock.offset_ns, host.clock.error_ns)?;
            self.clocks[index].add(ClockReading {
                at_ns: self.t0_ns,
                offset_ns: host.clock.offset_ns,
                error_ns: host.clock.error_ns,
            });
        }
        Ok(())
    }

    fn watch(&mut self) -> Result<(), ControlError> {
        self.known_hosts()?;
        let alive = self.all_alive();
        let asks = alive
            .iter()
            .map(|index| (*index, &self.hosts.list()[*index]));
        let asks = asks
            .map(|(index, host)| {
                let ask = Ask::Watch {
                    host: host.name.clone(),
                    t0_ns: self.t0_ns + host.clock.offset_ns,
                    interval_ns: self.config.interval_ns,
                    scope: host.scope,
                    monitors: self.monitors_of(index),
                };
                (host.member, ask)
            })
            .collect();
        let patience = self.hosts.patience(ASK_BOUND);
        let answers = self.hosts.bus.ask_all(asks, patience);
        for (index, answer) in alive.into_iter().zip(answers) {
            match answer {
                Err(BusError::Lost { why, .. }) => self.lose(index, why, ""),
                answer => self.done(index, answer?)?,
            }
        }
        Ok(())
    }

    /// Monitors that the host of this index is asked to run.
    fn monitors_of(&self, index: usize) -> Vec<MonitorSpec> {
        let name = &self.hosts.list()[index].name;
        let monitors = self.config.monitors.iter().filter(|spec| match &spec.on {
            On::All => true,
            On::First => index == 0,
            On::Host(wanted) => wanted == name,
        });
        monitors.cloned().collect()
    }

    /// Whether every monitor's host takes part. Errors: the first one that does not.
    fn known_hosts(&self) -> Result<(), ControlError> {
        let names: Vec<&str> = self.hosts.list().iter().map(|h| h.name.as_str()).collect();
        for spec in &self.config.monitors {
            let On::Host(wanted) = &spec.on else { continue };
            if !names.contains(&wanted.as_str()) {
                return Err(ControlError::Operator {
                    says: Text::new("error-monitor-host-unknown")
                        .word("host", wanted)
                        .word("monitor", &spec.name),
                    hint: Some(
                        Text::new("error-monitor-host-unknown-hint")
                            .word("hosts", names.join(", ")),
                    ),
                });
            }
        }
        Ok(())
    }

    /// Expects that a host did what it was asked.
    pub(crate) fn done(&self, index: usize, reply: Reply) -> Result<(), ControlError> {
        let host = &self.hosts.list()[index];
        match reply {
            Reply::Done => Ok(()),
            Reply::Refused(refusal) => Err(ControlError::refused(host.name.clone(), refusal)),
            _ => Err(ControlError::OutOfOrder {
                host: host.name.clone(),
            }),
        }
    }

    /// Nanoseconds since the run's start.
    pub fn elapsed_ns(&self) -> i64 {
        now_ns() - self.t0_ns
    }

    /// The hosts, by index.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Directory of the record.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// A handle with which others change the load of a running phase.
    pub fn steering(&self) -> Steering {
        self.steering.clone()
    }

    /// Rows about single requests go there from now on; without it they are dropped.
    pub fn keep_rows(&mut self, keeper: Box<dyn KeepRows>) {
        self.rows = Some(keeper);
    }

    /// The manifest as it stands.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest, for adding notes and summary numbers.
    pub fn manifest_mut(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Reports to the observer what is being done.
    pub fn doing(&mut self, what: &Text) {
        self.observer.note(&Progress::Doing(what));
    }

    /// Reports a remark to the observer.
    pub(crate) fn says(&mut self, what: &Text) {
        self.observer.note(&Progress::Says(what));
    }

    /// True when the operator wants the run to end. The first call that returns true records it, because
    /// the caller then leaves out what would have come next.
    pub fn interrupted(&mut self) -> bool {
        let wanted = self.config.stop.load(Ordering::Relaxed);
        if wanted && !std::mem::replace(&mut self.told_interrupted, true) {
            let missing = Text::new("engine-interrupted-missing");
            self.problem("", "", Text::new("engine-interrupted"), Some(missing));
        }
        wanted
    }

    /// Clears the interruption, which was meant for the order under way and not for the run: later orders
    /// are carried out.
    pub fn go_on(&mut self) {
        self.config.stop.store(false, Ordering::Relaxed);
        self.told_interrupted = false;
    }

    /// Compares the clocks of all hosts again: what starts from now on counts on it. The record
    /// keeps every comparison.
    ///
    /// A host that is lost is left out. Errors: one that is not does not answer.
    pub fn sync_clocks(&mut self) -> Result<(), ControlError> {
        for index in self.all_alive() {
            match self.hosts.sync_clock(index) {
                Err(ControlError::Bus(BusError::Lost { why, .. })) => self.lose(index, why, ""),
                reading => self.keep_clock(index, reading?),
            }
        }
        Ok(())
    }

    /// Takes samples of the monitors so often from now on, nanoseconds.
    ///
    /// A host that is lost is left out. Errors: one that is not does not answer.
    pub fn watch_every(&mut self, interval_ns: u64) -> Result<(), ControlError> {
        self.config.interval_ns = interval_ns;
        self.watch()
    }

    /// Observes with these monitors, too, from now on.
    ///
    /// A host that is lost is left out. Errors: one refuses; the monitors of before go on then.
    pub fn observe(&mut self, monitors: Vec<MonitorSpec>) -> Result<(), ControlError> {
        let before = self.config.monitors.len();
        self.config.monitors.extend(monitors);
        let bounds = MonitorSpec::within_bounds(&self.config.monitors);
        let watched = bounds
            .map_err(|says| ControlError::Operator {
                says: says.into(),
                hint: None,
            })
            .and_then(|()| self.watch());
        match &watched {
            Ok(()) => self
                .manifest
                .plan
                .monitors
                .clone_from(&self.config.monitors),
            Err(_) => {
                self.config.monitors.truncate(before);
                // Hosts that did not refuse stop observing with them; the error is reported already.
                let _ = self.watch();
            }
        }
        watched
    }

    /// Repeats phases whose flows begin further apart than this from now on, nanoseconds; one that does
    /// so every time is kept, and a check says that it failed.
    pub fn repeat_above_skew(&mut self, max_skew_ns: u64) {
        self.max_skew_ns = Some(max_skew_ns);
    }

    /// From now on nothing but load is sent while a phase's load runs: no leases, no series, no
    /// comparison of clocks. The hosts keep their series until the load ends; a host that freezes is
    /// noticed then.
    pub fn keep_phases_quiet(&mut self) {
        self.quiet_phases = true;
        self.manifest.notes.push(Text::new("engine-quiet-phases"));
    }

    /// Takes what the hosts have sent since the last phase: for callers that wait long between phases,
    /// such as a console. What comes faster than it can be kept is left to the next phase: many hosts
    /// beside a slow processor would never let it begin.
    pub fn attend(&mut self) {
        const BOUND: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        while let Ok((member, note)) = self.hosts.bus.notes().try_recv() {
            if let Some(index) = self.hosts.index_of(member) {
                self.take_note(index, note, "");
            }
            if begun.elapsed() > BOUND {
                return;
            }
        }
    }

    /// True when a host, by index, was lost on the way.
    pub fn is_lost(&self, index: usize) -> bool {
        self.lost.get(index).copied().unwrap_or(true)
    }

    /// Adds the numbers of the hosts as a group to the summary: how many there are, how well their clocks
    /// could be compared, and how far apart their loads began.
    pub fn group_numbers(&mut self) {
        let numbers = crate::together::numbers(
            self.hosts.list(),
            &self.clocks,
            &self.manifest.phases,
            self.start_lead_ns,
        );
        self.manifest.summary.extend(self.own_summary());
        self.manifest.summary.extend(numbers);
        self.manifest.summary.extend(self.drift_numbers());
    }

    /// The summary without additions: that of the last phase. Of loads that ran at the same moment, names
    /// that two of them claim are left out.
    fn own_summary(&self) -> Summary {
        let last = moments(&self.manifest.phases).last().unwrap_or_default();
        let mut out = Summary::new();
        if !self.manifest.summary.is_empty() {
            return out;
        }
        let all = || last.iter().flat_map(|phase| &phase.result.summary);
        for (name, value) in all() {
            if all().filter(|(other, _)| *other == name).count() == 1 {
                out.insert(name.clone(), *value);
            }
        }
        out
    }

    /// Keeps in the record that something went wrong or is missing.
    pub fn note_problem(&mut self, says: Text) {
        self.problem("", "", says, None);
    }

    /// Notes in the record what ended the run before its time.
    pub fn ended_by(&mut self, error: &ControlError) {
        if matches!(error, ControlError::Interrupted) {
            return;
        }
        self.manifest.problems.push(Problem {
            t_ns: self.elapsed_ns(),
            host: String::new(),
            phase: String::new(),
            says: Text::new("engine-ended-by").word("why", error.to_string()),
            missing: None,
        });
    }

    /// Adds a phase that was executed, and keeps the manifest on disk up to date.
    pub fn add_phase(&mut self, record: PhaseRecord) -> Result<(), ControlError> {
        self.add_phases(vec![record])
    }

    /// Adds phases that were executed at the same moment.
    pub(crate) fn add_phases(&mut self, records: Vec<PhaseRecord>) -> Result<(), ControlError> {
        self.observer.note(&Progress::PhaseEnds(&records));
        self.manifest.phases.extend(records);
        match self.writer.write_manifest(&self.manifest) {
            // It is written again after the next phase and at the end, when there may be space.
            Ok(()) | Err(StoreError::Full { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes a problem of the run.
    pub(crate) fn problem(&mut self, host: &str, phase: &str, says: Text, missing: Option<Text>) {
        let problem = Problem {
            t_ns: self.elapsed_ns(),
            host: host.into(),
            phase: phase.into(),
            says,
            missing,
        };
        self.observer.note(&Progress::Problem(&problem));
        self.manifest.problems.push(problem);
    }

    /// Shows and records what was sampled. The store counts what it cannot record and says so in
    /// the manifest; measuring goes on.
    pub(crate) fn keep(&mut self, batch: &Batch) {
        self.observer.note(&Progress::Batch(batch));
        self.cpu_watch.take(batch);
        self.rate_watch.take(batch);
        let _ = self.writer.append(batch);
    }

    /// Records one note; returns it when it is not about the record alone.
    pub(crate) fn take_note(&mut self, index: usize, note: Note, phase: &str) -> Option<Note> {
        match note {
            Note::Batch(mut batch) => {
                let host = self.hosts.list()[index].name.clone();
                let foreign = batch.keep_own(Some(&host));
                if foreign > 0 && self.complaints.is_heard(index) {
                    let says =
                        Text::new("engine-not-its-own").number("count", foreign as f64, Unit::One);
                    self.problem(&host, phase, says, None);
                }
                self.keep(&batch);
                for event in batch.events.iter().filter(|event| is_worth_a_note(event)) {
                    if self.complaints.is_heard(index) {
                        let says = event.says.clone().within(MAX_WORD);
                        self.manifest.notes.push(says);
                    }
                }
                None
            }
            Note::Problem { says, missing } => {
                if self.complaints.is_heard(index) {
                    let host = self.hosts.list()[index].name.clone();
                    let missing = missing.map(|text| text.within(MAX_WORD));
                    self.problem(&host, phase, says.within(MAX_WORD), missing);
                }
                None
            }
            Note::Lost { why } => {
                self.lose(index, why, phase);
                None
            }
            Note::Health(health) => {
                self.keep_health(index, health);
                None
            }
            Note::Rows(rows) => {
                let host = &self.hosts.list()[index].name;
                if let Some(keeper) = &mut self.rows {
                    keeper.keep(host, rows);
                }
                None
            }
            Note::Sent(_) => Some(note),
        }
    }

    /// Says of hosts that complained too often how much of it was left out.
    fn tell_unheard(&mut self) {
        for (index, count) in self.complaints.unheard() {
            let host = self.hosts.list()[index].name.clone();
            let says = Text::new("engine-unheard").number("count", count as f64, Unit::One);
            self.problem(&host, "", says, None);
        }
    }

    /// Notes once that a host is gone.
    pub(crate) fn lose(&mut self, index: usize, why: Text, phase: &str) {
        if std::mem::replace(&mut self.lost[index], true) {
            return;
        }
        self.keep_health(index, Health::Lost);
        let host = self.hosts.list()[index].name.clone();
        let says = Text::new("engine-host-lost")
            .word("host", &host)
            .text("why", why.within(MAX_WORD));
        let missing = Text::new("engine-host-lost-missing").word("host", &host);
        self.problem(&host, phase, says, Some(missing));
    }

    /// Sends the same command to all hosts that are left; their answers are ignored.
    fn tell_all(&self, ask: Ask) {
        let hosts = self.hosts.list().iter().enumerate();
        let asks = hosts
            .filter(|(index, _)| !self.lost[*index])
            .map(|(_, host)| (host.member, ask.clone()))
            .collect();
        // A host that does not answer has been noted as lost, or has nothing more to report.
        let _ = self.hosts.bus.ask_all(asks, self.end_bound);
    }

    /// Stops observing, takes what is still under way, closes the record.
    ///
    /// `status` is what the phases came to; problems make it partial.
    pub fn finish(mut self) -> Result<Finished, ControlError> {
        self.tell_all(Ask::Unwatch);
        self.tell_all(Ask::Bye);
        self.hosts.bus.close();
        while let Ok((member, note)) = self.hosts.bus.notes().try_recv() {
            let ended = matches!(note, Note::Lost { .. });
            if let Some(index) = self.hosts.index_of(member).filter(|_| !ended) {
                self.take_note(index, note, "");
            }
        }
        let dropped = self.hosts.bus.notes().dropped();
        if dropped > 0 {
            let says = Text::new("engine-notes-dropped").word("n", dropped.to_string());
            self.problem("", "", says, None);
        }
        self.tell_unheard();
        self.manifest.status = self.status();
        self.manifest.summary.extend(self.own_summary());
        self.manifest.plan_sha256 = sokudo_store::plan_sha256(&self.manifest.plan)?;
        let closed = self.writer.close(self.manifest)?;
        Ok(Finished {
            manifest: closed.manifest().clone(),
            path: closed.path().to_path_buf(),
        })
    }

    fn status(&self) -> RunStatus {
        let phases = &self.manifest.phases;
        let all = |status| !phases.is_empty() && phases.iter().all(|phase| phase.status == status);
        if phases.is_empty() || all(RunStatus::Failed) {
            RunStatus::Failed
        } else if all(RunStatus::Ok) && self.manifest.problems.is_empty() {
            RunStatus::Ok
        } else {
            RunStatus::Partial
        }
    }
}
