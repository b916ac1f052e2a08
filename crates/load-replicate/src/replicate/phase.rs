//! One host's part of a replication, from bind to result.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sokudo_model::{PhaseSpec, Refusal, Text};
use sokudo_replicate::limit::Limiter;
use sokudo_replicate::receive::{Durability, ReceiveTerms, Receiver, Sink};
use sokudo_replicate::root::{Keeps, Root};
use sokudo_replicate::send::{Level, Outcome, SendTerms, Sender};
use sokudo_replicate::session::{Progress, Reading, Session};
use sokudo_replicate::source::Source;
use sokudo_replicate::wire::Channel;
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::limit::Limit;
use sokudo_workload::link::{Caller, Link};
use sokudo_workload::meet::{Arrived, Calls, Meeting, Terms};
use sokudo_workload::patience::sleep_until_or_stop;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::reporting::{Names, Output};
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};

use super::NAME;
use super::bounded::channel;
use super::course::{SenderRounds, Upstream};
use super::join::{EndNumbers, Followed, Numbers};
use super::options::{Durable, LevelChoice, Property, ReplicateOptions};
use super::reporter::Reporter;
use super::timetable::WeekTime;
use super::trial::{self, Scratch};

/// Longest wait for a receiver whose sender has ended.
const DRAIN_BOUND: Duration = Duration::from_secs(30);
/// The same for a mirror that was told to end: its round is taken up by the next run.
const LEAVE_BOUND: Duration = Duration::from_secs(3);
/// Time between two looks at whether all sessions have ended.
const DRAIN_LOOK: Duration = Duration::from_millis(5);

/// The connections of a flow and who called them.
type End = (Vec<Link>, Option<Caller>);

/// Files that one end of one flow reads or writes.
enum Store {
    Source(Source),
    Sink(Sink, Option<Leftover>),
}

/// What is removed with an end of a flow.
enum Leftover {
    /// The directory of a trial.
    Trial { _scratch: Scratch },
    /// The target that was made for a session, until that begins.
    Target(NewTarget),
}

/// A target's directory that was made for a session. Dropping it removes the directory, when that is empty.
struct NewTarget(Option<PathBuf>);

impl Drop for NewTarget {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Somebody may have put something there, or have removed it.
            let _ = std::fs::remove_dir(path);
        }
    }
}

impl Leftover {
    /// The session begins: from now on the target is its own.
    fn keep_target(self) -> Option<Self> {
        match self {
            Self::Target(mut made) => {
                made.0 = None;
                None
            }
            trial @ Self::Trial { .. } => Some(trial),
        }
    }
}

/// Result of one end of one flow.
pub(super) struct Ended {
    pub(super) flow: u32,
    pub(super) sends: bool,
    pub(super) outcome: Outcome,
    progress: Arc<Progress>,
    elapsed: Duration,
    cores: Option<trial::EndCores>,
    rtt_us: Option<u32>,
    followed: Followed,
}

/// One end of a flow that is under way.
struct UnderWay {
    flow: u32,
    sends: bool,
    session: Arc<Session>,
    progress: Arc<Progress>,
}

/// One host's part of a phase.
pub(super) struct ReplicatePhase {
    options: ReplicateOptions,
    emit: Emit,
    meeting: Meeting,
    /// Opened before anything is agreed: what cannot be read or written is said at once.
    stores: BTreeMap<u32, Store>,
    ends: BTreeMap<u32, End>,
    under_way: Vec<UnderWay>,
    /// A mirror is to end with the round that is under way.
    leave: Arc<AtomicBool>,
    /// Session with the host before this one in a relay tree.
    upstream: Arc<Upstream>,
    /// Of the sessions that send and have a limit.
    limiters: Vec<Arc<Limiter>>,
    tcp_state: Option<Watch>,
    crew: Crew<Ended, Vec<Ended>>,
}

impl ReplicatePhase {
    /// Binds everything that this host is called for, and opens both trees.
    pub(super) fn prepare(
        options: ReplicateOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        let terms = Terms {
            transport: options.transport,
            tcp: options.tcp(),
            connections: vec![options.links(); spec.phase.flows.len()],
            calls: Calls::Lower,
            during_load: false,
        };
        let mut stores = BTreeMap::new();
        let me = spec.me;
        let flows = || spec.phase.flows.iter();
        // A target that is made now may be what this host passes on.
        for flow in flows().filter(|flow| flow.to == me) {
            let (sink, leftover) = sink(&options)?;
            stores.insert(flow.id, Store::Sink(sink, leftover));
        }
        for flow in flows().filter(|flow| flow.from == me) {
            let source = source(&options.on_host(me), spec.seed)?;
            stores.insert(flow.id, Store::Source(source));
        }
        let meeting = Meeting::prepare(spec, terms)?;
        Ok(Self {
            crew: Crew::new(meeting.own_name()),
            options,
            emit,
            meeting,
            stores,
            ends: BTreeMap::new(),
            under_way: Vec::new(),
            leave: Arc::default(),
            upstream: Arc::default(),
            limiters: Vec::new(),
            tcp_state: None,
        })
    }

    fn sends(&self, flow: u32) -> bool {
        let meeting = &self.meeting;
        meeting.spec().phase.flows[flow as usize].from == meeting.spec().me
    }

    /// The first connection for content of each flow, on this end.
    fn watched(&self) -> Vec<Watched> {
        let watched = self.ends.iter().filter_map(|(flow, (links, _))| {
            Some(Watched {
                flow: *flow,
                end: if self.sends(*flow) {
                    "sender"
                } else {
                    "receiver"
                },
                tcp: links.last()?.tcp()?.try_clone().ok()?,
            })
        });
        watched.take(MAX_FLOWS).collect()
    }

    fn begin(
        &mut self,
        flow: u32,
        at_ns: i64,
        reports: std::sync::mpsc::SyncSender<Ended>,
    ) -> Result<(), Refusal> {
        let (Some((links, caller)), Some(store)) =
            (self.ends.remove(&flow), self.stores.remove(&flow))
        else {
            return Ok(());
        };
        let connection = links.last().and_then(|link| link.tcp()?.try_clone().ok());
        let channels = links.into_iter();
        let channels = channels.map(|link| channel(link, self.options.transport));
        let channels = channels.collect::<io::Result<Vec<Box<dyn Channel>>>>();
        let channels = channels.map_err(|error| failed(error.to_string(), None))?;
        let (session, progress) = (Session::new(), Arc::new(Progress::default()));
        let sends = self.sends(flow);
        self.under_way.push(UnderWay {
            flow,
            sends,
            session: Arc::clone(&session),
            progress: Arc::clone(&progress),
        });
        let limiter = self.options.limit.as_ref().filter(|_| sends).map(|table| {
            let limiter = Arc::new(Limiter::new(table.at(WeekTime::now())));
            self.limiters.push(Arc::clone(&limiter));
            limiter
        });
        let send_terms = send_terms(&self.options, limiter);
        let receive_terms = receive_terms(&self.options)?;
        let upstream = Arc::clone(&self.upstream);
        let relays = self.meeting.spec().me > 0 && self.options.relay.is_some();
        let mut course = match relays && sends {
            true => SenderRounds::relay(&upstream),
            false => SenderRounds::of(&self.options, &self.leave),
        };
        let closed = Arc::clone(&self.crew.closed);
        let is_trial = self.options.trial.is_some();
        let name = if sends { "sends" } else { "receives" };
        self.crew.start(&format!("{name}{flow}"), move || {
            // The connections of some transports live no longer than who called.
            let _caller = caller;
            sleep_until_or_stop(at_ns, &closed);
            // Both ends look at the same time: on one machine each finds its share.
            let cores = is_trial.then(trial::look_at_cores);
            let begun = Instant::now();
            let kept = Arc::clone(&progress);
            let outcome = match store {
                Store::Source(source) => {
                    let sender = Sender {
                        source,
                        terms: send_terms,
                        channels,
                        session,
                        progress,
                    };
                    sender.run(|session| course.next(session, &kept))
                }
                Store::Sink(sink, leftover) => {
                    let _trial = leftover.and_then(Leftover::keep_target);
                    let terms = receive_terms;
                    let receiver = Receiver {
                        sink,
                        terms,
                        channels,
                        session,
                        progress,
                    };
                    let outcome = receiver.run();
                    upstream.ended(&outcome);
                    outcome
                }
            };
            kept.thread_ends();
            let ended = Ended {
                flow,
                sends,
                outcome,
                progress: kept,
                elapsed: begun.elapsed(),
                cores,
                rtt_us: connection.as_ref().and_then(trial::round_trip_us),
                followed: course.followed(),
            };
            // Fails only when the reporting thread has ended.
            let _ = reports.send(ended);
        })
    }

    fn end_sessions(&self) {
        for one in &self.under_way {
            one.session.end();
        }
    }
}

fn keeps(options: &ReplicateOptions) -> Keeps {
    Keeps {
        mode: options.keeps(Property::Mode),
        times: options.keeps(Property::Times),
        owner: options.keeps(Property::Owner) && options.source_path().is_some(),
        attributes: options.keeps(Property::Attributes),
    }
}

fn cannot_open(key: &'static str, path: &Path, error: &io::Error) -> Refusal {
    operator(
        Text::new(key)
            .with("path", path.display())
            .with("error", error),
        Text::new("error-replicate-root-hint"),
    )
}

pub(super) fn source(options: &ReplicateOptions, seed: u64) -> Result<Source, Refusal> {
    let Some(path) = options.source_path() else {
        let set = options.data_set(seed)?;
        return set
            .map(Source::Set)
            .ok_or_else(|| failed(Text::new("error-replicate-no-set"), None));
    };
    let root = Root::open(&path);
    let root = root.map_err(|error| cannot_open("error-replicate-source", &path, &error))?;
    Ok(Source::Tree {
        root: Arc::new(root),
        filter: options.filter()?,
        keeps: keeps(options),
        most_bytes: options.trial.map_or(u64::MAX, |trial| trial.most_bytes),
    })
}

/// The target's root; made when only its last directory is missing.
fn sink(options: &ReplicateOptions) -> Result<(Sink, Option<Leftover>), Refusal> {
    let Some(path) = options.target_path() else {
        return Ok((Sink::Null, None));
    };
    let cannot = |error: io::Error| cannot_open("error-replicate-target", &path, &error);
    if options.trial.is_some() {
        let (root, scratch) = trial::scratch(&path).map_err(cannot)?;
        return Ok((
            Sink::Tree(root),
            Some(Leftover::Trial { _scratch: scratch }),
        ));
    }
    let made = match options.only_looks() {
        true => None,
        false => new_target(&path).map_err(cannot)?,
    };
    let root = Root::open(&path).map_err(cannot)?;
    Ok((Sink::Tree(Arc::new(root)), made.map(Leftover::Target)))
}

/// Makes the target's directory; `None` where there is one.
fn new_target(path: &Path) -> io::Result<Option<NewTarget>> {
    match std::fs::create_dir(path) {
        Ok(()) => Ok(Some(NewTarget(Some(path.to_owned())))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

fn send_terms(options: &ReplicateOptions, limiter: Option<Arc<Limiter>>) -> SendTerms {
    SendTerms {
        level: match options.level {
            LevelChoice::Auto => Level::Auto,
            LevelChoice::Fixed(level) => Level::Fixed(level),
        },
        batch_bytes: options.batch.0 as usize,
        chunk_bytes: options.chunk.0 as usize,
        limiter,
        compare_only: options.only_looks(),
        follows: options.mirror.is_some(),
    }
}

fn receive_terms(options: &ReplicateOptions) -> Result<ReceiveTerms, Refusal> {
    Ok(ReceiveTerms {
        durability: match options.durability {
            Durable::None => Durability::None,
            Durable::Batch => Durability::Batch,
            Durable::File => Durability::File,
        },
        delete: options.delete,
        max_delete: options.max_delete.map(|most| most.0),
        checksum: options.checksum || options.verify,
        delta: !options.whole_file,
        dry_run: options.only_looks(),
        keeps: keeps(options),
        filter: options.filter()?,
    })
}

impl Phase<Numbers> for ReplicatePhase {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        // A policy with a rate allows no replication: what comes back has no bound.
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            let end = (dialled.links, Some(dialled.caller));
            self.ends.insert(flow.id, end);
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        for (flow, arrived) in self.meeting.arrived()? {
            if let Arrived::Links(links) = arrived {
                self.ends.insert(flow, (links, None));
            }
        }
        let names: Names = self.meeting.series_names(at_ns, t0_ns);
        let emit = Arc::clone(&self.emit);
        let begins = (at_ns, self.meeting.spec().hosts.len());
        self.tcp_state = Watch::begin(self.watched(), NAME, names.clone(), begins, emit)?;
        let sending = self.meeting.sent_here().len();
        let flows: Vec<u32> = self.ends.keys().copied().collect();
        let (sender, receiver) = std::sync::mpsc::channel::<Reporter>();
        let reports = self.crew.report(move |queue| match receiver.recv() {
            Ok(reporter) => reporter.run(queue),
            Err(_) => Vec::new(),
        })?;
        for flow in flows {
            self.begin(flow, at_ns, reports.clone())?;
        }
        let under_way = self.under_way.iter().map(|one| {
            let progress = Arc::clone(&one.progress);
            (one.flow, one.sends, progress, Reading::default())
        });
        let reporter = Reporter {
            output: Output::new(names, NAME, Arc::clone(&self.emit), sending),
            under_way: under_way.collect(),
            last_ns: at_ns,
            every: Duration::from_nanos(self.options.interval.0),
            stop: Arc::clone(&self.crew.stop),
            limit: self.options.limit.clone(),
            limiters: self.limiters.clone(),
            sessions: self
                .under_way
                .iter()
                .map(|one| Arc::clone(&one.session))
                .collect(),
        };
        // The thread waits for it, and lives as long as the crew.
        let _ = sender.send(reporter);
        Ok(())
    }

    fn halt(&mut self) {
        match self.options.mirror {
            Some(_) => self.leave.store(true, Ordering::Relaxed),
            None => self.end_sessions(),
        }
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        let is_left = self.leave.load(Ordering::Relaxed);
        let bound = if is_left { LEAVE_BOUND } else { DRAIN_BOUND };
        let deadline = Instant::now() + bound;
        while !self.crew.has_ended() && Instant::now() < deadline {
            std::thread::sleep(DRAIN_LOOK);
        }
        self.tcp_state = None;
        self.end_sessions();
        self.crew.end();
        let mut all = Numbers::default();
        for ended in self.crew.collected()? {
            let list = if ended.sends {
                &mut all.sent
            } else {
                &mut all.received
            };
            list.push(EndNumbers {
                flow: ended.flow,
                counts: ended.outcome.counts,
                rounds: ended.outcome.rounds,
                reading: ended.progress.read(),
                elapsed_ns: ended.elapsed.as_nanos() as u64,
                cores: ended.cores,
                rtt_us: ended.rtt_us,
                failures: ended.outcome.failures,
                broken: ended.outcome.broken,
                followed: ended.followed,
            });
        }
        Ok(all)
    }
}

impl Drop for ReplicatePhase {
    fn drop(&mut self) {
        // The crew waits for its threads: the sessions must end first.
        self.end_sessions();
    }
}
