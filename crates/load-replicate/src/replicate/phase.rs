//! One host's part of a replication, from bind to result.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::json;
use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Batch, PhaseSpec, Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_replicate::mirror::Mirror;
use sokudo_replicate::receive::{Durability, ReceiveTerms, Receiver, Sink};
use sokudo_replicate::root::{Keeps, Root};
use sokudo_replicate::send::{Level, Outcome, Round, SendTerms, Sender};
use sokudo_replicate::session::{LOOK, PATIENCE, Progress, Reading, Session};
use sokudo_replicate::source::Source;
use sokudo_replicate::wire::Channel;
use sokudo_stats::Histogram;
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::link::{Caller, Link, Transport};
use sokudo_workload::meet::{Arrived, Calls, Meeting, Terms};
use sokudo_workload::patience::sleep_until_or_stop;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::reporting::{Names, Output};
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};
use sokudo_workload::values::Span;

use super::NAME;
use super::join::{EndNumbers, Followed, Numbers};
use super::options::{Durable, LevelChoice, Property, ReplicateOptions};

/// Longest wait for a receiver whose sender has ended.
const DRAIN_BOUND: Duration = Duration::from_secs(30);
/// The same for a mirror that was told to end: its round is taken up by the next run.
const LEAVE_BOUND: Duration = Duration::from_secs(3);
/// Time between two looks at whether all sessions have ended.
const DRAIN_LOOK: Duration = Duration::from_millis(5);

/// The connections of a flow and who called them.
type End = (Vec<Link>, Option<Caller>);

/// What one end of one flow reads or writes.
enum Store {
    Source(Source),
    Sink(Sink),
}

/// Result of one end of one flow.
struct Ended {
    flow: u32,
    sends: bool,
    outcome: Outcome,
    progress: Arc<Progress>,
    elapsed: Duration,
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
        for flow in &spec.phase.flows {
            if flow.from == spec.me {
                stores.insert(flow.id, Store::Source(source(&options, spec.seed)?));
            } else if flow.to == spec.me {
                stores.insert(flow.id, Store::Sink(sink(&options)?));
            }
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
        let send_terms = send_terms(&self.options);
        let receive_terms = receive_terms(&self.options)?;
        let mut course = Course::of(&self.options, &self.leave);
        let closed = Arc::clone(&self.crew.closed);
        let name = if sends { "sends" } else { "receives" };
        self.crew.start(&format!("{name}{flow}"), move || {
            // The connections of some transports live no longer than who called.
            let _caller = caller;
            sleep_until_or_stop(at_ns, &closed);
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
                Store::Sink(sink) => {
                    let terms = receive_terms;
                    Receiver {
                        sink,
                        terms,
                        channels,
                        session,
                        progress,
                    }
                    .run()
                }
            };
            kept.thread_ends();
            let ended = Ended {
                flow,
                sends,
                outcome,
                progress: kept,
                elapsed: begun.elapsed(),
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

/// The rounds of a sender.
struct Course {
    /// A full round has been given.
    begun: bool,
    mirror: Option<Following>,
    leave: Arc<AtomicBool>,
}

/// A sender that follows its source.
struct Following {
    root: PathBuf,
    time: Duration,
    /// The watch, and when it ends; from the first round on, and from its end on.
    mirror: Option<Mirror>,
    until: Option<Instant>,
    lags: Histogram,
}

impl Course {
    fn of(options: &ReplicateOptions, leave: &Arc<AtomicBool>) -> Self {
        let following = |(time, root): (Span, PathBuf)| Following {
            root,
            time: Duration::from_nanos(time.0),
            mirror: None,
            until: None,
            lags: Histogram::new(),
        };
        let asked = options.mirror.zip(options.source_path());
        Self {
            begun: false,
            mirror: asked.map(following),
            leave: Arc::clone(leave),
        }
    }

    /// The next round; `None` when nothing follows.
    fn next(&mut self, session: &Session, progress: &Progress) -> Option<Round> {
        let is_first = !std::mem::replace(&mut self.begun, true);
        let Some(following) = &mut self.mirror else {
            return is_first.then(Round::full);
        };
        let root = &following.root;
        let mirror = following.mirror.get_or_insert_with(|| Mirror::begin(root));
        if !is_first {
            let end = Instant::now() + following.time;
            let is_late = Instant::now() >= *following.until.get_or_insert(end);
            if is_late || self.leave.load(Ordering::Relaxed) {
                return None;
            }
        }
        let lags = &mut following.lags;
        mirror.next(session, &mut |lag_ns| {
            lags.record(lag_ns);
            progress.last_lag_ns.store(lag_ns, Ordering::Relaxed);
        })
    }

    /// What was seen on the way.
    fn followed(self) -> Followed {
        let Some(following) = self.mirror else {
            return Followed::default();
        };
        let mirror = following.mirror.as_ref();
        Followed {
            rescans: mirror.map_or(0, Mirror::rescans),
            blind: mirror.and_then(Mirror::blind).map(str::to_owned),
            lags: following.lags,
        }
    }
}

/// A connection whose reads and writes return soon, as the engine needs them.
struct Bounded(Link);

fn channel(mut link: Link, transport: Transport) -> io::Result<Box<dyn Channel>> {
    if let Link::Stream(stream) = &mut link {
        stream.set_read_bound(LOOK)?;
        // A record that has left in part cannot be taken up again: such a write waits for its end.
        stream.set_write_bound(match transport.writes_in_parts() {
            true => LOOK,
            false => PATIENCE,
        })?;
    }
    Ok(Box::new(Bounded(link)))
}

impl Drop for Bounded {
    /// Says that this was all: without it the end of a TLS connection looks like a cut.
    fn drop(&mut self) {
        if let Link::Stream(stream) = &mut self.0 {
            // A connection that broke has nobody to tell.
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.receive(out)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.0 {
            Link::Stream(stream) => stream.write_vectored(parts),
            Link::Udp(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Link::Stream(stream) => stream.flush(),
            Link::Udp(_) => Ok(()),
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

fn source(options: &ReplicateOptions, seed: u64) -> Result<Source, Refusal> {
    let Some(path) = options.source_path() else {
        let set = options.data_set(seed)?;
        return set
            .map(Source::Set)
            .ok_or_else(|| failed("no data set", None));
    };
    let root = Root::open(&path);
    let root = root.map_err(|error| cannot_open("error-replicate-source", &path, &error))?;
    Ok(Source::Tree {
        root: Arc::new(root),
        filter: options.filter()?,
        keeps: keeps(options),
    })
}

/// The target's root; made when only its last directory is missing.
fn sink(options: &ReplicateOptions) -> Result<Sink, Refusal> {
    let Some(path) = options.target_path() else {
        return Ok(Sink::Null);
    };
    let cannot = |error: io::Error| cannot_open("error-replicate-target", &path, &error);
    if !options.only_looks() {
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(cannot(error));
            }
            _ => {}
        }
    }
    Ok(Sink::Tree(Arc::new(Root::open(&path).map_err(cannot)?)))
}

fn send_terms(options: &ReplicateOptions) -> SendTerms {
    SendTerms {
        level: match options.level {
            LevelChoice::Auto => Level::Auto,
            LevelChoice::Fixed(level) => Level::Fixed(level),
        },
        batch_bytes: options.batch.0 as usize,
        chunk_bytes: options.chunk.0 as usize,
        limit_bytes_per_s: options.limit_bytes_per_s(),
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

/// The reporting thread: makes series of what the sessions count.
struct Reporter {
    output: Output,
    under_way: Vec<(u32, bool, Arc<Progress>, Reading)>,
    last_ns: i64,
    every: Duration,
    stop: Arc<AtomicBool>,
    sessions: Vec<Arc<Session>>,
}

impl Reporter {
    fn run(mut self, queue: &Queue<Ended>) -> Vec<Ended> {
        let mut ended = Vec::new();
        let mut sent: BTreeMap<u32, bool> = BTreeMap::new();
        self.output.say_when_sent(|| json!(sent).to_string());
        let mut next = Instant::now() + self.every;
        loop {
            let wait = next.saturating_duration_since(Instant::now()).min(LOOK);
            match queue.recv_timeout(wait) {
                Ok(one) => {
                    if one.sends {
                        sent.insert(one.flow, one.outcome.broken.is_none());
                        self.output.sender_ended();
                        self.sample();
                        self.output.say_when_sent(|| json!(sent).to_string());
                    }
                    ended.push(one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.sample();
                    return ended;
                }
            }
            if self.stop.load(Ordering::Relaxed) {
                self.sessions.drain(..).for_each(|session| session.end());
            }
            if Instant::now() >= next {
                self.sample();
                next += self.every;
            }
        }
    }

    fn sample(&mut self) {
        let now = now_ns();
        let seconds = (now - self.last_ns) as f64 * 1e-9;
        // Before the start there is nothing to say.
        if seconds < 1e-3 {
            return;
        }
        let at_ns = now - self.output.names.t0_ns;
        let mut batch = Batch::default();
        for (flow, sends, progress, before) in &mut self.under_way {
            let read = progress.read();
            let label = self.output.names.label(*flow);
            let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            let mut push = |metric, value: f64| {
                batch.push(&self.output.key(metric, &label), at_ns, value);
            };
            if *sends {
                let bits = per_s(read.wire_bytes, before.wire_bytes) * 8.0;
                push(numbers::WIRE_BITS_PER_SECOND, bits);
                if read.rounds > before.rounds && read.last_lag_ns > 0 {
                    push(numbers::LAST_LAG_SECONDS, read.last_lag_ns as f64 * 1e-9);
                }
            } else {
                let bytes = per_s(read.bytes_done, before.bytes_done);
                push(numbers::USER_BYTES_PER_SECOND, bytes);
                let files = per_s(read.files_done, before.files_done);
                push(numbers::FILES_PER_SECOND, files);
            }
            *before = read;
        }
        self.last_ns = now;
        self.output.emit(batch);
    }
}

impl Phase<Numbers> for ReplicatePhase {
    fn offer(&self) -> String {
        self.meeting.offer()
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
