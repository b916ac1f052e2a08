//! Files whose content is on its way.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::ReceiveState;
use super::stage::{self, Staged};
use crate::message::{Id, Meta};
use crate::path::RelPath;
use crate::root::{self, Handles};
use crate::session::lock;

/// Files that may be awaited before no more are asked for: four times what a sender has under way.
const MAX_AWAITED: usize = 256 << 10;
/// The same for bytes of their attributes.
const MAX_ATTRIBUTES_AWAITED: usize = 64 << 20;
/// Most files that are open because parts of them have come.
const MAX_OPEN: usize = 400;
/// Most files that were adopted from what was there, and wait for parts: each is open, and a copy.
const MAX_ADOPTED: usize = 32;

/// A file whose content was asked for.
#[derive(Clone)]
pub(super) struct Awaited {
    pub(super) directory: Arc<RelPath>,
    pub(super) name: Arc<[u8]>,
    pub(super) meta: Arc<Meta>,
    /// Bytes when it was listed.
    pub(super) size: u64,
    /// Made when its first part comes, or what was there was adopted.
    pub(super) parts: Option<Arc<Parts>>,
}

impl Awaited {
    /// Its path, for people.
    pub(super) fn path(&self) -> String {
        match self.directory.join(&self.name) {
            Ok(path) => path.to_string(),
            Err(_) => crate::path::shown(&self.name),
        }
    }
}

/// Files whose content was asked for and did not come yet.
#[derive(Default)]
pub(super) struct AllAwaited {
    files: HashMap<Id, Awaited>,
    attribute_bytes: usize,
}

impl AllAwaited {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True when no more should be asked for: a sender that lists without sending must not use up
    /// the memory.
    pub(super) fn is_much(&self) -> bool {
        self.files.len() > MAX_AWAITED || self.attribute_bytes > MAX_ATTRIBUTES_AWAITED
    }

    pub(super) fn insert(&mut self, id: Id, awaited: Awaited) {
        self.attribute_bytes += awaited.meta.attribute_bytes();
        self.files.insert(id, awaited);
    }

    pub(super) fn remove(&mut self, id: Id) -> Option<Awaited> {
        let awaited = self.files.remove(&id)?;
        self.attribute_bytes -= awaited.meta.attribute_bytes();
        Some(awaited)
    }

    /// Gives a file what was there already; false when it is awaited no longer.
    pub(super) fn adopt(&mut self, id: Id, parts: Arc<Parts>) -> bool {
        let awaited = self.files.get_mut(&id);
        awaited.map(|awaited| awaited.parts = Some(parts)).is_some()
    }

    fn get_mut(&mut self, id: Id) -> Option<&mut Awaited> {
        self.files.get_mut(&id)
    }
}

/// End of a large file, as the sender said.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) size: u64,
    pub(super) mtime_ns: i64,
    pub(super) sent: u64,
}

/// A file that comes in parts, over several connections.
#[derive(Default)]
pub(super) struct Parts(RwLock<State>);

/// A staged file that is open, and counted as such.
pub(super) struct OpenFile {
    file: OwnedFd,
    counted: Arc<AtomicUsize>,
}

impl OpenFile {
    fn new(file: OwnedFd, counted: &Arc<AtomicUsize>) -> Self {
        counted.fetch_add(1, Ordering::Relaxed);
        Self {
            file,
            counted: Arc::clone(counted),
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.counted.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[derive(Default)]
pub(super) struct State {
    /// `None` until the first part, and for the sink that drops everything.
    file: Option<OpenFile>,
    attempt: u32,
    received: AtomicU64,
    end: Option<End>,
    over: bool,
}

impl Parts {
    /// With a file that has content already.
    pub(super) fn adopted(shared: &ReceiveState, file: OwnedFd) -> Self {
        let state = State {
            file: Some(OpenFile::new(file, &shared.adopted)),
            ..State::default()
        };
        Self(RwLock::new(state))
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a part. Parts of an earlier attempt are dropped.
    pub(super) fn put(
        &self,
        shared: &ReceiveState,
        handles: Option<&mut Handles>,
        of: &Awaited,
        (attempt, offset): (u32, u64),
        data: &[u8],
    ) -> io::Result<()> {
        self.begin(shared, handles, of, attempt)?;
        let state = self.read();
        if state.attempt != attempt || state.over {
            return Ok(());
        }
        if let Some(file) = &state.file {
            root::write_at(file.as_fd(), offset, data)?;
        }
        state
            .received
            .fetch_add(data.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the file for an attempt, or empties the one of the attempt before.
    fn begin(
        &self,
        shared: &ReceiveState,
        handles: Option<&mut Handles>,
        of: &Awaited,
        attempt: u32,
    ) -> io::Result<()> {
        {
            let state = self.read();
            let has_file = state.file.is_some() || shared.root().is_none();
            if state.over || (state.attempt >= attempt && has_file) {
                return Ok(());
            }
        }
        let mut state = self.write();
        if state.attempt < attempt {
            // The sender sends all of it again, but not its holes.
            if let Some(file) = &state.file {
                rustix::fs::ftruncate(file, 0)?;
            }
            state.attempt = attempt;
            state.received.store(0, Ordering::Relaxed);
            state.end = None;
        }
        if state.file.is_none()
            && let Some(handles) = handles
        {
            if shared.open.load(Ordering::Relaxed) >= MAX_OPEN {
                return Err(io::Error::other("parts of too many files came at once"));
            }
            let staged = Staged::create(handles.of(&of.directory)?, &of.name)?;
            state.file = Some(OpenFile::new(staged.into_file(), &shared.open));
        }
        Ok(())
    }

    /// Takes note that the sender has sent all parts of an attempt.
    pub(super) fn ends(
        &self,
        shared: &ReceiveState,
        handles: Option<&mut Handles>,
        of: &Awaited,
        attempt: u32,
        end: End,
    ) -> io::Result<()> {
        self.begin(shared, handles, of, attempt)?;
        let mut state = self.write();
        if state.attempt == attempt {
            state.end = Some(end);
        }
        Ok(())
    }

    /// The file with its end when everything has come, once.
    ///
    /// Errors: more has come than was sent.
    pub(super) fn complete(&self) -> io::Result<Option<(Option<OpenFile>, End)>> {
        let mut state = self.write();
        let received = state.received.load(Ordering::Relaxed);
        match state.end {
            Some(end) if !state.over && received == end.sent => {
                state.over = true;
                Ok(Some((state.file.take(), end)))
            }
            Some(end) if received > end.sent => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the sender sent more of a file than it says",
            )),
            _ => Ok(None),
        }
    }

    /// Takes no more parts.
    pub(super) fn give_up(&self) {
        let mut state = self.write();
        state.over = true;
        state.file = None;
    }
}

impl ReceiveState {
    /// The file of a record.
    ///
    /// Errors: it was not asked for.
    pub(super) fn awaited(&self, id: Id) -> io::Result<Awaited> {
        lock(&self.awaited).get_mut(id).cloned().ok_or_else(unasked)
    }

    /// The same, with its parts.
    pub(super) fn awaited_parts(&self, id: Id) -> io::Result<(Awaited, Arc<Parts>)> {
        let mut all = lock(&self.awaited);
        let awaited = all.get_mut(id).ok_or_else(unasked)?;
        let parts = awaited.parts.get_or_insert_with(Arc::default);
        let parts = Arc::clone(parts);
        Ok((awaited.clone(), parts))
    }

    /// True when no more files should be adopted for now.
    pub(super) fn has_adopted_enough(&self) -> bool {
        self.adopted.load(Ordering::Relaxed) >= MAX_ADOPTED
    }

    /// Gives a file up: it is reported when there is a reason, and what was staged is removed.
    pub(super) fn give_up(&self, id: Id, handles: Option<&mut Handles>, why: Option<String>) {
        let Some(awaited) = lock(&self.awaited).remove(id) else {
            return;
        };
        if let Some(parts) = &awaited.parts {
            parts.give_up();
        }
        // Its other names are not made links of what stood there before.
        lock(&self.shared_files).remove(&id);
        if let Some(handles) = handles
            && let Ok(at) = handles.of(&awaited.directory)
        {
            stage::remove(at, &awaited.name);
        }
        if let Some(why) = why {
            self.failed(awaited.path(), why);
        }
        self.settled(0, 0);
    }

    /// Takes a file out of those that are awaited, without publishing it.
    pub(super) fn forget(&self, id: Id) -> io::Result<Awaited> {
        let awaited = lock(&self.awaited).remove(id).ok_or_else(unasked)?;
        self.settled(0, 0);
        Ok(awaited)
    }
}

pub(super) fn unasked() -> io::Error {
    let text = "the sender sends a file that was not asked for";
    io::Error::new(io::ErrorKind::InvalidData, text)
}
