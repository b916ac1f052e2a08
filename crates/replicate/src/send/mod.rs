//! The sending end: walks, asks what is wanted, reads, packs, sends.
//!
//! ```text
//! lister ──► listing connection          answers connection ──► reader
//!    └ pending, in order ◄──── verdicts ──────────────────────────┘
//!                 └► queue ──► workers ──► data connections
//! ```
//!
//! The lister runs ahead of the data by at most [`AHEAD`] entries, so that a tree of any size
//! needs little memory.

mod answers;
mod lister;
mod queue;
mod records;
mod worker;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use crate::level::Chooser;
use crate::limit::Limiter;
use crate::message::{Counts, Failure};
use crate::path::RelPath;
use crate::session::{EndsOnPanic, Progress, Session, lock};
use crate::source::Source;
use crate::wire::{Channel, FramePace, FrameReader, FrameWriter, Role};

pub(crate) use records::{Record, Records};

/// Entries that were listed and are not sent yet.
const AHEAD: usize = 65_536;
/// Bytes of attributes of entries that were listed and are not sent yet: the receiver keeps them.
const AHEAD_BYTES: usize = 16 << 20;
/// Most failures that are kept by name; all are counted.
pub const KEPT_FAILURES: usize = 1_000;

/// Compression level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Chosen while data flows.
    Auto,
    /// As asked for; 0 is none.
    Fixed(i32),
}

/// Settings of the sender.
#[derive(Debug, Clone)]
pub struct SendTerms {
    /// Compression.
    pub level: Level,
    /// Bytes of small files in one frame, at most 1 MiB; 0: one file per frame.
    pub batch_bytes: usize,
    /// Bytes of a large file in one frame, 64 KiB to 2 MiB.
    pub chunk_bytes: usize,
    /// Bound on the bytes that the sender writes, frames of lists and heads included, all connections together; a
    /// holder of it may change it.
    pub limiter: Option<Arc<Limiter>>,
    /// Nothing is changed at the target: contents are compared, differences are counted.
    pub compare_only: bool,
    /// Round follows round: a file that vanishes before it is read is not a failure, the next round looks at
    /// its directory again.
    pub follows: bool,
}

impl Default for SendTerms {
    fn default() -> Self {
        Self {
            level: Level::Auto,
            batch_bytes: 1 << 20,
            chunk_bytes: 1 << 20,
            limiter: None,
            compare_only: false,
            follows: false,
        }
    }
}

/// Scope of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Directories and whether all below them belongs to it too.
    pub directories: Vec<(RelPath, bool)>,
}

impl Round {
    /// Everything.
    pub fn full() -> Self {
        Self {
            directories: vec![(RelPath::root(), true)],
        }
    }

    /// Nothing yet: the connections are kept, and the next one is asked for.
    pub fn none() -> Self {
        Self {
            directories: Vec::new(),
        }
    }
}

/// Outcome of a session, at either end.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The counts of each complete round, as the receiver kept them, added up.
    pub counts: Counts,
    /// Rounds that are complete.
    pub rounds: u64,
    /// Failures to replicate, the first [`KEPT_FAILURES`].
    pub failures: Vec<Failure>,
    /// Reason for which it ended early.
    pub broken: Option<String>,
}

/// Everything the threads of the sender share.
struct SendState {
    source: Source,
    terms: SendTerms,
    session: Arc<Session>,
    progress: Arc<Progress>,
    queue: queue::Queue,
    chooser: Mutex<Chooser>,
    outcome: Mutex<Outcome>,
    /// The receiver was told that nothing follows.
    said_bye: AtomicBool,
    /// Zero of the times that threads compare.
    begun: Instant,
}

impl SendState {
    fn left(&self, failure: Failure) {
        Progress::add(&self.progress.failures, 1);
        let mut outcome = lock(&self.outcome);
        if outcome.failures.len() < KEPT_FAILURES {
            outcome.failures.push(failure);
        }
    }
}

/// A sender: what, how, and over which connections.
pub struct Sender {
    /// Source of files.
    pub source: Source,
    /// Settings of the sender.
    pub terms: SendTerms,
    /// Connections to the receiver: three or more.
    pub channels: Vec<Box<dyn Channel>>,
    /// Ends it early.
    pub session: Arc<Session>,
    /// Progress of the sender.
    pub progress: Arc<Progress>,
}

impl Sender {
    /// Carries out round after round until `rounds` gives none. It is asked for each when the one
    /// before is complete, and may wait; it must return soon when the session is over.
    pub fn run(self, mut rounds: impl FnMut(&Session) -> Option<Round> + Send) -> Outcome {
        let Sender {
            source,
            terms,
            channels,
            session,
            progress,
        } = self;
        let workers = channels.len().saturating_sub(2).max(1);
        let (begun, limiter) = (Instant::now(), terms.limiter.clone());
        let shared = SendState {
            chooser: Mutex::new(Chooser::new(workers)),
            queue: queue::Queue::new(workers, &session),
            outcome: Mutex::default(),
            said_bye: AtomicBool::new(false),
            begun,
            source,
            terms,
            session: Arc::clone(&session),
            progress: Arc::clone(&progress),
        };
        let mut writers = Vec::new();
        for (place, channel) in channels.into_iter().enumerate() {
            let role = match place {
                0 => Role::Listing,
                1 => Role::Answers,
                data => Role::Data(data as u16 - 2),
            };
            let pace = limiter.clone().map(|limiter| FramePace { limiter, begun });
            let mut writer = FrameWriter::new(channel, &session, &progress).paced(pace);
            if let Err(error) = writer.hello(role) {
                session.fail("the receiver cannot be spoken to", &error);
            }
            writers.push(writer);
        }
        let mut writers = writers.into_iter();
        let (Some(listing), Some(answers)) = (writers.next(), writers.next()) else {
            session.fail("the session", &"it has too few connections");
            return finish(shared);
        };
        let answers = FrameReader::new(answers.into_channel(), &session, &progress);
        thread::scope(|scope| {
            let shared = &shared;
            let _ends = EndsOnPanic(&shared.session);
            for (number, writer) in writers.enumerate() {
                start(scope, &format!("send{number}"), shared, move || {
                    worker::run(shared, number, writer)
                });
            }
            start(scope, "answers", shared, move || {
                answers::run(shared, answers)
            });
            if let Err(error) = lister::run(shared, listing, &mut rounds) {
                shared.session.fail("the list of files", &error);
            }
            shared.queue.close();
        });
        finish(shared)
    }
}

fn start<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    shared: &'scope SendState,
    run: impl FnOnce() -> std::io::Result<()> + Send + 'scope,
) {
    let own = name.to_owned();
    let spawned = thread::Builder::new()
        .name(own.clone())
        .spawn_scoped(scope, move || {
            let _ends = EndsOnPanic(&shared.session);
            if let Err(error) = run() {
                shared.session.fail(&own, &error);
            }
            shared.progress.thread_ends();
            shared.queue.wake_all();
        });
    if let Err(error) = spawned {
        shared.session.fail("no thread could be started", &error);
    }
}

fn finish(shared: SendState) -> Outcome {
    let mut outcome = shared
        .outcome
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    outcome.broken = outcome.broken.or(shared.session.failure());
    outcome
}
