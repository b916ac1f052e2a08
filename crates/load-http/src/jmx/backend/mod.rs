//! Backend listeners: they report a running test to a database.
//!
//! ```text
//! event loops ─ notes of results ─► bounded queue ─► a thread per listener ─ every few seconds ─► database
//! ```
//!
//! The load never waits for a database: a note that finds no room is lost, counted and told, and so is
//! a message that could not be sent.

mod speaker;
mod sums;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sokudo_http::Trust;
use sokudo_jmeter::plan::{Backend, Choice, Destination, Id, ListenerKind};
use sokudo_jmeter::run::{RowKind, SampleRow, Test};
use sokudo_model::Refusal;
use sokudo_net::clock::now_ns;
use sokudo_workload::refusal::spawn;

use self::speaker::Speaker;
use self::sums::{Sums, Window};
use super::options::JmxOptions;
use super::read::Prepared;

/// Notes that are handed over at a time.
const BATCH: usize = 256;
/// Batches that may wait.
const QUEUE: usize = 256;
/// Labels that are counted separately; the others are only in the sum of all.
const MOST_LABELS: usize = 1_000;

/// A result as a database gets it.
pub(super) struct Note {
    label: Arc<str>,
    elapsed_ms: u64,
    /// Requests in it.
    hits: u64,
    sent_bytes: u64,
    bytes: u64,
    /// Users that were active at its end.
    active: u32,
    is_transaction: bool,
    /// Code and message of one that failed.
    error: Option<Box<(String, String)>>,
}

/// Sums of the load between two messages.
pub(super) struct Summary {
    backend: Backend,
    choice: Choice,
    percentiles: Vec<f32>,
    all: Sums,
    labels: BTreeMap<Arc<str>, Sums>,
    /// Active users at the ends of the latest results.
    users: Window,
    /// Users that began, and those that are active.
    begun: u64,
    active: u64,
}

impl Summary {
    fn new(backend: Backend, choice: Choice) -> Self {
        Self {
            choice,
            percentiles: backend.percentiles.clone(),
            all: Sums::new(backend.window, backend.begins_anew),
            labels: BTreeMap::new(),
            users: Window::new(backend.window),
            begun: 0,
            active: 0,
            backend,
        }
    }

    fn add(&mut self, note: &Note) {
        self.users.add(note.active.into());
        self.all.add_to_all(note);
        if self.backend.summary_only || !self.choice.has(&note.label) {
            return;
        }
        if let Some(sums) = self.labels.get_mut(&note.label) {
            return sums.add(note);
        }
        if self.labels.len() < MOST_LABELS {
            let mut sums = Sums::new(self.backend.window, self.backend.begins_anew);
            sums.add(note);
            self.labels.insert(Arc::clone(&note.label), sums);
        }
    }

    /// After a message.
    fn begin(&mut self) {
        let begins_anew = self.backend.begins_anew;
        self.all.begin(begins_anew);
        self.labels
            .values_mut()
            .for_each(|sums| sums.begin(begins_anew));
    }
}

/// The databases of a plan before the test begins.
#[derive(Default)]
pub(super) struct Backends(Vec<Waiting>);

struct Waiting {
    listener: Id,
    summary: Summary,
    speaker: Speaker,
    to: SyncSender<Vec<Note>>,
    notes: Receiver<Vec<Note>>,
    lost: Arc<AtomicU64>,
}

impl Backends {
    /// Those of a plan's listeners; gives what cannot be told anything: the test goes on without. Where
    /// several generators execute the plan, each tells of itself.
    pub fn of(prepared: &Prepared, options: &JmxOptions) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut all = Vec::new();
        for (listener, of) in (0..).zip(&prepared.plan.listeners) {
            let ListenerKind::Backend(backend) = &of.kind else {
                continue;
            };
            if matches!(backend.to, Destination::Nobody(_)) {
                continue;
            }
            let mut backend = Backend::clone(backend);
            if options.together.is_some() {
                words::tell_apart(&mut backend.to, &prepared.duty.host);
            }
            match waiting(listener, backend, trust(options)) {
                Ok(waiting) => all.push(waiting),
                Err(why) => problems.push(format!("`{}` sends nothing: {why}", of.name)),
            }
        }
        (Self(all), problems)
    }

    /// One event loop's ways to them.
    pub fn lanes(&self) -> Vec<Lane> {
        let lane = |waiting: &Waiting| Lane {
            listener: waiting.listener,
            to: waiting.to.clone(),
            lost: Arc::clone(&waiting.lost),
            notes: Vec::new(),
            labels: HashMap::new(),
        };
        self.0.iter().map(lane).collect()
    }

    /// Begins to tell of a test: until all lanes are gone.
    pub fn start(self, test: &Arc<Test>) -> Result<Telling, Refusal> {
        let start = |waiting: Waiting| {
            let Waiting {
                summary,
                speaker,
                notes,
                lost,
                ..
            } = waiting;
            let (test, name) = (Arc::clone(test), speaker.name());
            let thread = spawn("backend", move || tell(summary, speaker, &notes, &test))?;
            Ok((name, thread, lost))
        };
        self.0
            .into_iter()
            .map(start)
            .collect::<Result<_, _>>()
            .map(Telling)
    }
}

/// Whose certificates are accepted, as the load has it.
pub(super) fn trust(options: &JmxOptions) -> Trust {
    match options.insecure {
        true => Trust::Anyone,
        false => Trust::System,
    }
}

fn waiting(listener: Id, backend: Backend, trust: Trust) -> Result<Waiting, String> {
    let choice = backend.labels.compile()?;
    let speaker = Speaker::new(&backend.to, trust)?;
    let (to, notes) = mpsc::sync_channel(QUEUE);
    Ok(Waiting {
        listener,
        summary: Summary::new(backend, choice),
        speaker,
        to,
        notes,
        lost: Arc::default(),
    })
}

/// One event loop's way to a database.
pub(super) struct Lane {
    listener: Id,
    to: SyncSender<Vec<Note>>,
    lost: Arc<AtomicU64>,
    notes: Vec<Note>,
    labels: HashMap<String, Arc<str>>,
}

impl Lane {
    /// Notes a result, if its listener is among these.
    pub fn add(&mut self, row: &SampleRow<'_>, listeners: &[Id]) {
        if !listeners.contains(&self.listener) {
            return;
        }
        let label = self.label(&row.label);
        let error = || Box::new((row.code.to_string(), row.message.to_string()));
        self.notes.push(Note {
            label,
            elapsed_ms: row.elapsed_ms,
            hits: hits(row),
            sent_bytes: row.sent_bytes,
            bytes: row.bytes,
            active: row.all_threads,
            is_transaction: row.kind == RowKind::Transaction,
            error: (!row.success).then(error),
        });
        if self.notes.len() >= BATCH {
            self.hand_over();
        }
    }

    fn label(&mut self, label: &str) -> Arc<str> {
        if let Some(known) = self.labels.get(label) {
            return Arc::clone(known);
        }
        let new: Arc<str> = label.into();
        if self.labels.len() < MOST_LABELS {
            self.labels.insert(label.into(), Arc::clone(&new));
        }
        new
    }

    /// Hands over what is there; what finds no room is lost.
    pub fn hand_over(&mut self) {
        let count = self.notes.len() as u64;
        if count > 0 && self.to.try_send(std::mem::take(&mut self.notes)).is_err() {
            self.lost.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// Requests in a result: itself, and what is below it.
fn hits(row: &SampleRow<'_>) -> u64 {
    1 + row.below.iter().map(hits).sum::<u64>()
}

/// The databases while a test runs.
pub(super) struct Telling(Vec<(String, JoinHandle<Told>, Arc<AtomicU64>)>);

impl Telling {
    /// Waits for the last messages; gives what was lost.
    pub fn finish(self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, thread, lost) in self.0 {
            let told = thread.join();
            let lost = lost.load(Ordering::Relaxed);
            if lost > 0 {
                problems.push(format!(
                    "`{name}` was not told of {lost} results: its queue was full"
                ));
            }
            match told {
                Ok(Told {
                    messages,
                    failed: failed @ 1..,
                    why,
                }) => problems.push(format!(
                    "{failed} of {messages} messages to `{name}` could not be sent: {why}"
                )),
                Ok(_) => {}
                Err(_) => problems.push(format!("the thread that tells `{name}` died")),
            }
        }
        problems
    }
}

/// Counts of delivered and lost messages.
#[derive(Default)]
struct Told {
    messages: u64,
    failed: u64,
    /// Of the first that failed.
    why: String,
}

/// At which moment of a test a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before its first result.
    Begin,
    /// While it runs.
    Amid,
    /// After its last one.
    End,
}

impl Told {
    fn message(&mut self, summary: &mut Summary, speaker: &mut Speaker, at: Moment, test: &Test) {
        (summary.begun, summary.active) = (test.begun(), test.active().into());
        self.messages += 1;
        if let Err(why) = speaker.say(summary, at, test.wall_ms(now_ns())) {
            self.failed += 1;
            if self.failed == 1 {
                self.why = why;
            }
        }
        summary.begin();
    }
}

/// Sums up what comes and sends it every so often, until nothing more can come.
fn tell(
    mut summary: Summary,
    mut speaker: Speaker,
    notes: &Receiver<Vec<Note>>,
    test: &Test,
) -> Told {
    let mut told = Told::default();
    let interval = Duration::from_secs(summary.backend.interval_s);
    let mut due = Instant::now() + interval;
    told.message(&mut summary, &mut speaker, Moment::Begin, test);
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match notes.recv_timeout(left) {
            Ok(batch) => batch.iter().for_each(|note| summary.add(note)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= due {
            told.message(&mut summary, &mut speaker, Moment::Amid, test);
            due = (due + interval).max(Instant::now());
        }
    }
    told.message(&mut summary, &mut speaker, Moment::End, test);
    told
}

#[cfg(test)]
mod tests;
