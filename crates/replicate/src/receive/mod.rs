//! The receiving end: compares, says what it wants, stages, verifies, publishes.
//!
//! ```text
//! listing connection ──► judge ──► verdicts ──► answers connection
//!                          └► basis (hashes of what is there)
//! data connections ──► stage (a name of its own) ──► verify ──► rename ──► counted
//! ```
//!
//! A name of the tree shows the old or the new file, never a mixture: content is written under
//! another name in the same directory, and renamed when it is whole. What a session leaves behind
//! under such names is continued or removed by the next one, which compares it block by block; so no
//! journal is needed, and a wrong one can do no harm.

mod await_data;
mod basis;
mod data;
mod finish;
mod fold;
mod judge;
mod stage;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver as Inbox, RecvTimeoutError, Sender as Outbox};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::FileType;

use crate::codec::{Packer, Unpacker};
use crate::filter::Filter;
use crate::frame::{Codec, FrameError, FrameKind};
use crate::message::{Answer, Counts, Failure, Id, Listing, encode, read_listing};
use crate::path::RelPath;
use crate::root::{self, Keeps, Root};
use crate::send::{KEPT_FAILURES, Outcome};
use crate::session::{ALIVE, EndsOnPanic, LOOK, Progress, Session, lock};
use crate::wire::{Channel, FrameReader, FrameWriter, Role};
use await_data::AllAwaited;

/// Time between two answers that say how much is published.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Most files with several names in a round.
const MAX_SHARED: usize = 4 << 20;

/// Time at which content is on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Chosen by the system. A power cut may leave files that were published without content.
    None,
    /// Before files are published, many at a time: a power cut leaves old or new files.
    Batch,
    /// Each file and its directory before the next.
    File,
}

/// Destination of content.
pub enum Sink {
    /// Into a tree below a root.
    Tree(Arc<Root>),
    /// Nowhere: it is verified and dropped.
    Null,
}

/// Settings of the receiver.
#[derive(Debug, Clone)]
pub struct ReceiveTerms {
    /// Time at which content is on the device.
    pub durability: Durability,
    /// Names that the source does not have are removed.
    pub delete: bool,
    /// Most names that a round may remove; with more, none is.
    pub max_delete: Option<u64>,
    /// Contents are compared even where size and time are equal.
    pub checksum: bool,
    /// Blocks of what is there are used.
    pub delta: bool,
    /// Nothing is changed; counts say what would be.
    pub dry_run: bool,
    /// Properties that are set.
    pub keeps: Keeps,
    /// Filter of what belongs to the replication; the others are never removed.
    pub filter: Filter,
}

/// A receiver: where to, how, and over which connections.
pub struct Receiver {
    /// Destination of content.
    pub sink: Sink,
    /// Settings of the receiver.
    pub terms: ReceiveTerms,
    /// Connections to the sender: three or more, in any order.
    pub channels: Vec<Box<dyn Channel>>,
    /// Ends it early.
    pub session: Arc<Session>,
    /// Progress of the receiver.
    pub progress: Arc<Progress>,
}

/// Everything the threads of the receiver share.
struct ReceiveState {
    sink: Sink,
    terms: ReceiveTerms,
    session: Arc<Session>,
    progress: Arc<Progress>,
    awaited: Mutex<AllAwaited>,
    /// File systems that the tree lies on besides the root's own, by number.
    devices: Mutex<HashMap<u64, OwnedFd>>,
    /// Staged files that are open: made for their parts, and adopted from what was there.
    open: Arc<AtomicUsize>,
    adopted: Arc<AtomicUsize>,
    /// By data connection: rounds of which all content has been taken from it.
    flushes: Mutex<Vec<u64>>,
    /// Told when one of those changes.
    flushed: Condvar,
    counts: Mutex<Counts>,
    outcome: Mutex<Outcome>,
    answers: Mutex<Option<Outbox<Answer>>>,
    /// Answers that were not sent yet.
    unsent: AtomicU64,
    /// Files with several names: where they are.
    shared_files: Mutex<HashMap<Id, RelPath>>,
}

impl ReceiveState {
    fn root(&self) -> Option<&Arc<Root>> {
        match &self.sink {
            Sink::Tree(root) => Some(root),
            Sink::Null => None,
        }
    }

    /// Hands an answer to the thread that sends them. Never waits.
    fn answer(&self, answer: Answer) {
        if let Some(answers) = &*lock(&self.answers) {
            self.unsent.fetch_add(1, Ordering::Relaxed);
            // Fails only when that thread has ended, and the session with it.
            let _ = answers.send(answer);
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    fn failed(&self, path: String, why: String) {
        self.count(|counts| counts.failed += 1);
        Progress::add(&self.progress.failures, 1);
        let failure = Failure { path, why };
        let mut outcome = lock(&self.outcome);
        if outcome.failures.len() < KEPT_FAILURES {
            outcome.failures.push(failure.clone());
            drop(outcome);
            self.answer(Answer::Failed(failure));
        }
    }

    /// Gives what is staged its name. A directory of this name goes where removing is allowed: the
    /// two names are exchanged, so that either the old or the new is there.
    fn publish(&self, directory: &RelPath, at: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        let error = match stage::publish(at, name) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let there = root::status_of(at, name)?;
        let is_directory = there.is_some_and(|there| there.kind == FileType::Directory);
        if !is_directory || !self.terms.delete {
            return Err(error);
        }
        let removed = match self.terms.filter.is_everything() && stage::exchange(at, name).is_ok() {
            true => root::remove_tree(at, &stage::staged_name(name), 0)?,
            false => {
                let removed = finish::remove(self, directory, at, name)?;
                stage::publish(at, name)?;
                removed
            }
        };
        self.count(|counts| counts.removed += removed);
        Ok(())
    }

    /// Takes note of the file system that a directory lies on.
    fn meets(&self, directory: BorrowedFd<'_>) -> io::Result<()> {
        let (device, _) = root::status_of_open(directory)?.inode;
        if let Entry::Vacant(unmet) = lock(&self.devices).entry(device) {
            unmet.insert(directory.try_clone_to_owned()?);
        }
        Ok(())
    }

    /// Makes all that was written to the tree durable.
    fn sync(&self) -> io::Result<()> {
        let Some(root) = self.root() else {
            return Ok(());
        };
        let begun = Instant::now();
        #[cfg(test)]
        root::faults::meet(root.handle(), root::faults::Call::Sync)?;
        root.sync()?;
        let (own, _) = root::status_of_open(root.handle())?.inode;
        let devices: io::Result<Vec<OwnedFd>> = lock(&self.devices)
            .iter()
            .filter(|(device, _)| **device != own)
            .map(|(_, directory)| directory.try_clone())
            .collect();
        for directory in devices? {
            root::sync_of(directory.as_fd())?;
        }
        let sync_ns = begun.elapsed().as_nanos() as u64;
        Progress::add(&self.progress.sync_ns, sync_ns);
        Ok(())
    }

    /// Counts what was published.
    fn settled(&self, files: u64, bytes: u64) {
        Progress::add(&self.progress.files_done, files);
        Progress::add(&self.progress.bytes_done, bytes);
    }

    /// Takes note that a data connection has carried all of a round.
    ///
    /// Errors: the round before is not over.
    fn flushed(&self, connection: usize) -> io::Result<()> {
        let rounds = lock(&self.outcome).rounds;
        let mut flushes = lock(&self.flushes);
        match flushes.get_mut(connection) {
            Some(flushed) if *flushed <= rounds => *flushed += 1,
            _ => return Err(FrameError::Order.into()),
        }
        drop(flushes);
        self.flushed.notify_all();
        Ok(())
    }

    /// Takes note that a data connection was closed: nothing more is under way on it.
    ///
    /// Errors: content is awaited.
    fn closed(&self, connection: usize) -> io::Result<()> {
        if !lock(&self.awaited).is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the sender closed the connection",
            ));
        }
        if let Some(flushed) = lock(&self.flushes).get_mut(connection) {
            *flushed = u64::MAX;
        }
        self.flushed.notify_all();
        Ok(())
    }
}

impl Receiver {
    /// Receives until the sender has nothing more, or the session is over.
    pub fn run(self) -> Outcome {
        let Receiver {
            sink,
            terms,
            channels,
            session,
            progress,
        } = self;
        let terms = ReceiveTerms {
            keeps: terms.keeps.allowed(),
            ..terms
        };
        let (outbox, inbox) = mpsc::channel();
        let shared = ReceiveState {
            sink,
            terms,
            session: Arc::clone(&session),
            progress: Arc::clone(&progress),
            awaited: Mutex::default(),
            devices: Mutex::default(),
            open: Arc::default(),
            adopted: Arc::default(),
            flushes: Mutex::default(),
            flushed: Condvar::new(),
            counts: Mutex::default(),
            outcome: Mutex::default(),
            answers: Mutex::new(Some(outbox)),
            unsent: AtomicU64::new(0),
            shared_files: Mutex::default(),
        };
        match sort(channels, &session, &progress) {
            Err(error) => session.fail("the sender", &error),
            Ok((listing, answers, data)) => {
                if let Some(root) = shared.root()
                    && let Err(error) = root.lock()
                {
                    session.fail("another replication writes to this target", &error);
                    tell_broken(answers, &session);
                } else {
                    receive(&shared, listing, (answers, inbox), data);
                }
            }
        }
        let mut outcome = shared
            .outcome
            .into_inner()
            .unwrap_or_else(|e| e.into_inner());
        outcome.broken = session.failure();
        outcome
    }
}

/// Tells the sender why nothing is received.
fn tell_broken(mut answers: FrameWriter, session: &Session) {
    let why = session.failure().unwrap_or_default();
    let raw = encode(&Answer::Broken(why));
    let _ = answers.send(FrameKind::Message, &raw, Codec::Stored, &raw);
}

type Connections = (FrameReader, FrameWriter, Vec<FrameReader>);

/// Finds out which connection is which.
fn sort(
    channels: Vec<Box<dyn Channel>>,
    session: &Arc<Session>,
    progress: &Arc<Progress>,
) -> io::Result<Connections> {
    let (mut listing, mut answers, mut data) = (None, None, Vec::new());
    for channel in channels {
        let mut reader = FrameReader::new(channel, session, progress);
        match reader.expect_hello()? {
            Role::Listing if listing.is_none() => listing = Some(reader),
            Role::Answers if answers.is_none() => {
                answers = Some(FrameWriter::new(reader.into_channel(), session, progress));
            }
            Role::Data(_) => data.push(reader),
            Role::Listing | Role::Answers => return Err(FrameError::Order.into()),
        }
    }
    match (listing, answers) {
        (Some(listing), Some(answers)) if !data.is_empty() => Ok((listing, answers, data)),
        _ => Err(FrameError::Order.into()),
    }
}

fn receive(
    shared: &ReceiveState,
    listing: FrameReader,
    (answers, inbox): (FrameWriter, Inbox<Answer>),
    data: Vec<FrameReader>,
) {
    lock(&shared.flushes).resize(data.len(), 0);
    thread::scope(|scope| {
        let _ends = EndsOnPanic(&shared.session);
        start(scope, shared, "answers".into(), move || {
            send_answers(shared, answers, &inbox)
        });
        let (to_basis, basis_inbox) = mpsc::channel();
        start(scope, shared, "basis".into(), move || {
            basis::run(shared, &basis_inbox)
        });
        for (number, reader) in data.into_iter().enumerate() {
            let name = format!("receive{number}");
            start(scope, shared, name, move || {
                data::run(shared, number, reader)
            });
        }
        if let Err(error) = listen(shared, listing, to_basis) {
            shared.session.fail("the list of files", &error);
            // The others hear of it from this end.
            let why = shared.session.failure().unwrap_or(error.to_string());
            shared.answer(Answer::Broken(why));
        }
        // With the last sender of answers gone their thread sends what is left and closes.
        lock(&shared.answers).take();
    });
}

fn start<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    shared: &'scope ReceiveState,
    name: String,
    run: impl FnOnce() -> io::Result<()> + Send + 'scope,
) {
    let own = name.clone();
    let spawned = thread::Builder::new()
        .name(name)
        .spawn_scoped(scope, move || {
            let _ends = EndsOnPanic(&shared.session);
            if let Err(error) = run() {
                shared.session.fail(&own, &error);
                shared.flushed.notify_all();
            }
            shared.progress.thread_ends();
        });
    if let Err(error) = spawned {
        shared.session.fail("no thread could be started", &error);
    }
}

/// Sends answers until none is left; several verdicts become one message.
fn send_answers(
    shared: &ReceiveState,
    mut writer: FrameWriter,
    inbox: &Inbox<Answer>,
) -> io::Result<()> {
    let mut packer = Packer::new()?;
    let mut last = Instant::now();
    let mut said = (0, 0);
    let mut send = |answer: &Answer| -> io::Result<()> {
        let raw = encode(answer);
        let (codec, wire) = packer.pack(&raw, i32::from(raw.len() > 512));
        writer.send(FrameKind::Message, &raw, codec, wire)
    };
    loop {
        match inbox.recv_timeout(LOOK) {
            Ok(answer) => {
                shared.unsent.fetch_sub(1, Ordering::Relaxed);
                send(&answer)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if shared.session.is_over() => {
                // Who reads the list may notice only after this connection is closed.
                return match shared.session.failure() {
                    Some(why) => send(&Answer::Broken(why)),
                    None => Ok(()),
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if last.elapsed() >= PROGRESS_EVERY {
            let now = shared.progress.read();
            let (files, bytes) = (now.files_done, now.bytes_done);
            if said != (files, bytes) || last.elapsed() >= ALIVE {
                send(&Answer::Progress { files, bytes })?;
                said = (files, bytes);
                last = Instant::now();
            }
        }
    }
}

/// Reads the listing until the sender has nothing more.
fn listen(
    shared: &ReceiveState,
    mut reader: FrameReader,
    to_basis: Outbox<basis::Task>,
) -> io::Result<()> {
    let mut unpacker = Unpacker::new()?;
    let mut judge = judge::Judge::new(shared, to_basis);
    loop {
        if shared.session.is_over() {
            return Err(shared.session.over());
        }
        let Some((header, wire)) = reader.next_frame()? else {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the sender closed the connection",
            ));
        };
        let raw = match header.codec {
            Codec::Stored => wire,
            Codec::Zstd => unpacker.unpack(wire, header.raw_len as usize)?,
        };
        header.verify(raw)?;
        match header.kind {
            FrameKind::Alive => continue,
            FrameKind::Message => {}
            _ => return Err(FrameError::Order.into()),
        }
        match read_listing(raw)? {
            Listing::Directory { path, meta } => judge.directory(path, meta)?,
            Listing::Entries(entries) => judge.entries(entries)?,
            Listing::DirectoryEnd { complete } => judge.directory_end(complete)?,
            Listing::RoundEnd { entries } => {
                let round = judge.round_end(entries)?;
                finish::round(shared, round)?;
            }
            Listing::Bye => return Ok(()),
        }
    }
}
