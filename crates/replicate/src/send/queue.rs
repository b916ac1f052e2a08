//! Entries between the lister, the answers and the workers.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::{AHEAD, AHEAD_BYTES};
use crate::message::{Id, Verdict};
use crate::path::RelPath;
use crate::session::{ALIVE, LOOK, Session, lock};
use crate::source::Opened;

/// Files up to this size travel whole, several in a frame.
pub(super) const SMALL_BYTES: u64 = 1 << 20;
/// Bytes and number of small files that a worker takes at once.
const TAKE_BYTES: u64 = 1 << 20;
const TAKE_FILES: usize = 128;

/// A file that the receiver was told of.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) id: Id,
    pub(super) directory: Arc<RelPath>,
    pub(super) name: Box<[u8]>,
    pub(super) size: u64,
    /// Its content at the receiver has this hash.
    pub(super) compare: Option<[u8; 32]>,
    /// The receiver has blocks with these hashes.
    pub(super) basis: Option<Arc<Vec<u128>>>,
    /// Bytes of its attributes.
    pub(super) attribute_bytes: usize,
    /// Attempts before this one.
    pub(super) attempt: u32,
}

/// A large file that is being sent, by several workers at a time.
pub(super) struct Large {
    pub(super) item: Item,
    pub(super) opened: Opened,
    progress: Mutex<LargeProgress>,
}

#[derive(Debug)]
struct LargeProgress {
    /// Parts not handed out yet, the next one last.
    ranges: Vec<(u64, u64)>,
    /// Parts handed out and not sent.
    under_way: usize,
    sent_bytes: u64,
    given_up: bool,
    /// The receiver was told that it does not come.
    aborted: bool,
}

/// Next task of a worker.
pub(super) enum Job {
    /// Small files.
    Files(Vec<Item>),
    /// A file that must be opened to be sent in parts.
    Open(Item),
    /// A part of an open one.
    Part(Arc<Large>, u64, usize),
    /// All that was wanted has been sent: what waits is to be published.
    Flush,
    /// Nothing for a while.
    Idle,
    /// The end.
    End,
}

#[derive(Default)]
struct State {
    /// Entries without a verdict, in order; `None` for those that have no content.
    pending: VecDeque<Option<Item>>,
    /// Files of which the receiver will say more.
    later: HashMap<Id, (Item, Vec<u128>)>,
    ready: VecDeque<Item>,
    /// Bytes of the attributes of all those.
    attribute_bytes: usize,
    large: VecDeque<Arc<Large>>,
    /// Jobs in the hands of workers.
    under_way: usize,
    /// The lister has listed all of the round.
    listed: bool,
    /// By worker: it has flushed the round.
    flushed: Vec<bool>,
    /// Counts of the round came.
    round_over: bool,
    closed: bool,
}

/// See the module.
pub(super) struct Queue {
    state: Mutex<State>,
    work: Condvar,
    room: Condvar,
    session: Arc<Session>,
}

impl Queue {
    pub(super) fn new(workers: usize, session: &Arc<Session>) -> Self {
        let state = State {
            flushed: vec![true; workers],
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            session: Arc::clone(session),
        }
    }

    pub(super) fn wake_all(&self) {
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Waits for a change, a moment at most.
    fn wait<'a>(&self, on: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        match on.wait_timeout(state, LOOK) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    /// True while so many more entries may be listed; otherwise waits for a moment first.
    pub(super) fn has_room(&self) -> bool {
        let state = lock(&self.state);
        let is_full = |state: &State| {
            let entries = state.pending.len() + state.ready.len() + state.later.len();
            entries >= AHEAD || state.attribute_bytes >= AHEAD_BYTES
        };
        match is_full(&state) {
            false => true,
            true => !is_full(&self.wait(&self.room, state)),
        }
    }

    /// Takes note of listed entries before the receiver hears of them.
    pub(super) fn listed(&self, items: impl Iterator<Item = Option<Item>>) {
        let mut state = lock(&self.state);
        for item in items {
            state.attribute_bytes += item.as_ref().map_or(0, |item| item.attribute_bytes);
            state.pending.push_back(item);
        }
    }

    /// The round has no more entries.
    pub(super) fn all_listed(&self) {
        let mut state = lock(&self.state);
        state.listed = true;
        state.flushed.fill(false);
        drop(state);
        self.work.notify_all();
    }

    /// Waits until the receiver has counted the round; `alive` is called every few seconds.
    pub(super) fn await_round(&self, mut alive: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        let mut last = Instant::now();
        let mut state = lock(&self.state);
        while !state.round_over {
            if self.session.is_over() {
                return Err(self.session.over());
            }
            state = self.wait(&self.room, state);
            if last.elapsed() >= ALIVE {
                drop(state);
                alive()?;
                last = Instant::now();
                state = lock(&self.state);
            }
        }
        state.round_over = false;
        state.listed = false;
        Ok(())
    }

    /// Takes note that the receiver has counted the round.
    ///
    /// Errors: the round is not over.
    pub(super) fn round_counted(&self) -> io::Result<()> {
        let mut state = lock(&self.state);
        let is_sent = state.is_quiet() && state.flushed.iter().all(|flushed| *flushed);
        if !is_sent || state.round_over {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the receiver counts a round that is not over",
            ));
        }
        state.round_over = true;
        drop(state);
        self.room.notify_all();
        Ok(())
    }

    /// Ends the workers once they have nothing to do.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.work.notify_all();
    }

    /// Takes the verdicts about the next entries; gives files and bytes that are wanted.
    ///
    /// Errors: verdicts about entries that were not listed.
    pub(super) fn decide(&self, verdicts: &[Verdict]) -> io::Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        let mut state = lock(&self.state);
        for verdict in verdicts {
            let item = state.pending.pop_front().ok_or_else(unasked)?;
            match (verdict, item) {
                (Verdict::Skip, None) => {}
                (Verdict::Skip, Some(item)) => state.attribute_bytes -= item.attribute_bytes,
                (Verdict::Send, Some(item)) => {
                    files += 1;
                    bytes = item.size.saturating_add(bytes);
                    state.ready.push_back(item);
                }
                (Verdict::Later, Some(item)) => {
                    files += 1;
                    bytes = item.size.saturating_add(bytes);
                    state.later.insert(item.id, (item, Vec::new()));
                }
                (_, None) => return Err(unasked()),
            }
        }
        drop(state);
        self.wake_all();
        Ok((files, bytes))
    }

    /// Takes what the receiver has of a file.
    pub(super) fn basis(&self, id: Id, blocks: &[u128], more: bool) -> io::Result<()> {
        let mut state = lock(&self.state);
        let (item, known) = state.later.get_mut(&id).ok_or_else(unasked)?;
        let most = item.size.div_ceil(crate::delta::BLOCK_BYTES as u64) + 1;
        // There are no blocks beyond the end of the file.
        if (known.len() + blocks.len()) as u64 > most {
            return Err(unasked());
        }
        known.extend_from_slice(blocks);
        if !more && let Some((mut item, known)) = state.later.remove(&id) {
            item.basis = (!known.is_empty()).then(|| Arc::new(known));
            state.ready.push_back(item);
            self.work.notify_all();
        }
        Ok(())
    }

    /// Takes the hash of a file's content at the receiver.
    pub(super) fn compare(&self, id: Id, hash: [u8; 32]) -> io::Result<()> {
        let mut state = lock(&self.state);
        let (mut item, _) = state.later.remove(&id).ok_or_else(unasked)?;
        item.compare = Some(hash);
        state.ready.push_back(item);
        drop(state);
        self.work.notify_all();
        Ok(())
    }

    /// The next job of a worker.
    pub(super) fn next(&self, worker: usize) -> Job {
        let begun = Instant::now();
        let mut state = lock(&self.state);
        loop {
            if self.session.is_over() {
                return Job::End;
            }
            if let Some(job) = state.take(worker) {
                drop(state);
                self.room.notify_all();
                return job;
            }
            if begun.elapsed() >= ALIVE {
                return Job::Idle;
            }
            state = self.wait(&self.work, state);
        }
    }

    /// True when a worker would find small files now.
    pub(super) fn has_files(&self) -> bool {
        lock(&self.state).ready.front().is_some_and(Item::is_small)
    }

    /// A worker has done its job.
    pub(super) fn done(&self) {
        let mut state = lock(&self.state);
        state.under_way = state.under_way.saturating_sub(1);
        let quiet = state.is_quiet();
        drop(state);
        if quiet {
            self.work.notify_all();
        }
    }

    /// Hands a file back to be begun again. What the receiver had is mixed with what came meanwhile:
    /// all of it is sent.
    pub(super) fn again(&self, mut item: Item) {
        item.attempt += 1;
        item.basis = None;
        item.compare = None;
        lock(&self.state).ready.push_back(item);
        self.work.notify_all();
    }

    /// Hands an open file to all workers, in parts.
    pub(super) fn share(&self, item: Item, opened: Opened) {
        // With a basis every block is looked at: a hole may stand where the receiver has data.
        let mut ranges = match item.basis {
            Some(_) => vec![(0, opened.size())],
            None => opened.data_ranges(),
        };
        ranges.retain(|(begin, end)| begin < end);
        ranges.reverse();
        let progress = LargeProgress {
            ranges,
            under_way: 0,
            sent_bytes: 0,
            given_up: false,
            aborted: false,
        };
        let large = Arc::new(Large {
            item,
            opened,
            progress: Mutex::new(progress),
        });
        lock(&self.state).large.push_back(large);
        self.work.notify_all();
    }
}

impl Item {
    /// True for a file that travels whole.
    pub(super) fn is_small(&self) -> bool {
        self.size <= SMALL_BYTES && self.basis.is_none() && self.attempt == 0
    }
}

impl State {
    /// True when all that is wanted so far was sent.
    fn is_quiet(&self) -> bool {
        let waits = self.pending.len() + self.later.len() + self.ready.len() + self.large.len();
        self.listed && waits == 0 && self.under_way == 0
    }

    fn take(&mut self, worker: usize) -> Option<Job> {
        if let Some(job) = self.take_part() {
            self.under_way += 1;
            return Some(job);
        }
        if let Some(first) = self.ready.front() {
            self.under_way += 1;
            if !first.is_small() {
                return self.take_ready().map(Job::Open);
            }
            return Some(Job::Files(self.take_files()));
        }
        if self.is_quiet() && self.flushed.get(worker) == Some(&false) {
            self.flushed[worker] = true;
            return Some(Job::Flush);
        }
        self.closed.then_some(Job::End)
    }

    fn take_part(&mut self) -> Option<Job> {
        loop {
            let large = Arc::clone(self.large.front()?);
            let part = large.hand_out();
            if part.as_ref().is_none_or(|part| part.is_last) {
                self.large.pop_front();
            }
            if let Some(Part { offset, bytes, .. }) = part {
                return Some(Job::Part(large, offset, bytes));
            }
        }
    }

    fn take_ready(&mut self) -> Option<Item> {
        let mut item = self.ready.pop_front()?;
        // An item that is begun again is not counted any more.
        self.attribute_bytes -= std::mem::take(&mut item.attribute_bytes);
        Some(item)
    }

    fn take_files(&mut self) -> Vec<Item> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while let Some(item) = self.ready.front() {
            if !item.is_small() || bytes >= TAKE_BYTES || taken.len() == TAKE_FILES {
                break;
            }
            bytes += item.size;
            taken.extend(self.take_ready());
        }
        taken
    }
}

/// Bytes of a part that a worker reads at once.
pub(super) const PART_BYTES: u64 = 1 << 20;

/// A part of a large file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    offset: u64,
    bytes: usize,
    is_last: bool,
}

impl Large {
    /// The next part, an empty one for a file without data; `None` when the file was given up. Asked
    /// in one step with taking the part: a file whose last part was sent is begun again only once.
    fn hand_out(&self) -> Option<Part> {
        let mut progress = lock(&self.progress);
        if progress.given_up {
            return None;
        }
        progress.under_way += 1;
        let Some((begin, end)) = progress.ranges.pop() else {
            return Some(Part {
                offset: 0,
                bytes: 0,
                is_last: true,
            });
        };
        // Parts end at multiples, so that blocks of a basis are whole.
        let stop = end.min((begin / PART_BYTES + 1) * PART_BYTES);
        if stop < end {
            progress.ranges.push((stop, end));
        }
        Some(Part {
            offset: begin,
            bytes: (stop - begin) as usize,
            is_last: progress.ranges.is_empty(),
        })
    }

    /// A part was sent, of which so many bytes travelled. Gives the bytes of the whole file that
    /// travelled when it was the last one.
    pub(super) fn sent(&self, bytes: u64) -> Option<u64> {
        let mut progress = lock(&self.progress);
        progress.under_way -= 1;
        progress.sent_bytes += bytes;
        let is_over = progress.ranges.is_empty() && progress.under_way == 0;
        is_over.then_some(progress.sent_bytes)
    }

    /// Nothing more of it is read; `aborted`: nor is it begun again.
    pub(super) fn give_up(&self, aborted: bool) {
        let mut progress = lock(&self.progress);
        progress.ranges.clear();
        progress.given_up = true;
        progress.aborted |= aborted;
    }

    pub(super) fn is_aborted(&self) -> bool {
        lock(&self.progress).aborted
    }

    pub(super) fn is_given_up(&self) -> bool {
        lock(&self.progress).given_up
    }
}

fn unasked() -> io::Error {
    let text = "the receiver speaks of a file that it was not told of";
    io::Error::new(io::ErrorKind::InvalidData, text)
}
