//! Compares what the sender lists with the tree, and says what is wanted.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender as Outbox;
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;

use super::await_data::{Awaited, unasked};
use super::basis::{Basis, Task};
use super::fold::{self, Folds, Place};
use super::{MAX_SHARED, ReceiveState, stage};
use crate::delta::LEAST_BYTES;
use crate::message::{Answer, Entry, EntryKind, Id, Meta, Verdict};
use crate::path::{RelPath, STAGED};
use crate::root::{self, Keeps, Status};
use crate::session::{Progress, lock};

/// Answers that may wait before no more are made.
const MAX_UNSENT: u64 = 4_096;
/// Bytes that a round may keep until its end, and of each of its parts besides names and attributes.
const MAX_HELD_BYTES: usize = 512 << 20;
const HELD_EACH: usize = 128;
/// Most names in a directory.
const MAX_NAMES: usize = 32 << 20;
/// Most names of a round that the source does not have and that are remembered.
const MAX_EXTRA: usize = 4 << 20;

/// Tasks that are left when all content has come.
#[derive(Default)]
pub(super) struct RoundWork {
    /// Directories that were listed, with what they have.
    pub(super) directories: Vec<(RelPath, Meta)>,
    /// Further names of files: directory, name, the file's first name.
    pub(super) links: Vec<(RelPath, Vec<u8>, Id)>,
    /// Names that the source does not have.
    pub(super) extra: Vec<(Arc<RelPath>, Vec<u8>)>,
    /// Hashes of the paths of the directories that were listed.
    listed: HashSet<u64>,
    /// Hashes of the paths that are the same as others for the target's file system.
    same: HashSet<u64>,
    /// Bytes of all that.
    held_bytes: usize,
    entries: u32,
}

/// The directory that is being listed.
struct Current {
    path: Arc<RelPath>,
    /// `None` for the sink that drops everything, and where there is none to compare with.
    handle: Option<OwnedFd>,
    /// It was made for this round: nothing is in it.
    fresh: bool,
    /// It could not be made.
    broken: bool,
    /// It was listed before in this round: its entries have been judged.
    repeated: bool,
    /// The names in it.
    seen: fold::Names,
    /// Differences between names that its file system ignores, once that was asked.
    folds: Option<Folds>,
    /// Hashes of the names whose content is awaited: sorted at its end, which takes half of the memory of a set.
    wanted: Vec<u64>,
}

/// See the module.
pub(super) struct Judge<'a> {
    shared: &'a ReceiveState,
    to_basis: Outbox<Task>,
    /// For after the verdicts: an answer about a file must not come before its verdict.
    tasks: Vec<Task>,
    current: Option<Current>,
    round: RoundWork,
}

impl<'a> Judge<'a> {
    pub(super) fn new(shared: &'a ReceiveState, to_basis: Outbox<Task>) -> Self {
        Self {
            shared,
            to_basis,
            tasks: Vec::new(),
            current: None,
            round: RoundWork::default(),
        }
    }

    /// The entries of this directory follow.
    pub(super) fn directory(&mut self, path: RelPath, meta: Meta) -> io::Result<()> {
        let mut current = Current {
            path: Arc::new(path),
            handle: None,
            fresh: false,
            broken: false,
            repeated: false,
            seen: fold::Names::default(),
            folds: None,
            wanted: Vec::new(),
        };
        let hash = stage::name_hash(current.path.as_bytes());
        if !self.round.listed.insert(hash) {
            current.repeated = true;
            self.current = Some(current);
            return Ok(());
        }
        self.hold(HELD_EACH + current.path.as_bytes().len() + meta.attribute_bytes())?;
        if !self.shared.terms.filter.takes_directory(&current.path) {
            let why = "the directory does not belong to the replication";
            self.shared.failed(current.path.to_string(), why.into());
            current.broken = true;
        } else if self.is_same(&current.path) {
            // That was said of the name itself.
            current.broken = true;
        } else if let Some(root) = self.shared.root() {
            match root.directory(&current.path) {
                Ok(handle) => {
                    // It gets the mode that was listed when the round ends. Where this fails, so do the
                    // names in it.
                    if !self.shared.terms.dry_run && self.shared.terms.keeps.mode {
                        let _ = root::let_owner_write(handle.as_fd());
                    }
                    self.shared.meets(handle.as_fd())?;
                    current.handle = Some(handle);
                }
                Err(_) if self.shared.terms.dry_run => {
                    self.shared.count(|counts| counts.directories_made += 1);
                }
                Err(_) => match self.make(&current.path) {
                    Ok(handle) => {
                        current.handle = Some(handle);
                        current.fresh = true;
                    }
                    Err(error) => {
                        let why = format!("the directory cannot be made: {error}");
                        self.shared.failed(current.path.to_string(), why);
                        current.broken = true;
                    }
                },
            }
            if !current.broken {
                let path = current.path.as_ref().clone();
                self.round.directories.push((path, meta));
            }
        }
        self.current = Some(current);
        Ok(())
    }

    /// True for a directory that is the same as another one for the target's file system, and for those in it.
    fn is_same(&self, path: &RelPath) -> bool {
        if self.round.same.is_empty() {
            return false;
        }
        let bytes = path.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above = ends.map(|(end, _)| &bytes[..end]);
        let mut paths = above.chain(std::iter::once(bytes));
        paths.any(|path| self.round.same.contains(&stage::name_hash(path)))
    }

    /// True when a name whose place among the others is this one is the same as one of them for the file system of
    /// the directory.
    ///
    /// Errors: the file system cannot be asked.
    fn folds(&self, current: &mut Current, place: Place) -> io::Result<bool> {
        let Place::Alike(difference) = place else {
            return Ok(false);
        };
        let is_dry = self.shared.terms.dry_run;
        // A directory that a dry run does not make would be like the root.
        let root = self.shared.root().filter(|_| is_dry).map(|it| it.handle());
        let Some(at) = current.handle.as_ref().map(AsFd::as_fd).or(root) else {
            return Ok(false);
        };
        let folds = match current.folds {
            Some(folds) => folds,
            None if is_dry => fold::observed(at)?,
            None => fold::asked(at)?,
        };
        current.folds = Some(folds);
        Ok(folds.ignores(difference))
    }

    /// Makes a directory and those above it; anything else of its name is removed.
    fn make(&self, path: &RelPath) -> io::Result<OwnedFd> {
        let root = self.shared.root().ok_or(io::ErrorKind::NotFound)?;
        let Some((above, name)) = path.split() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let parent = match root.directory(&above) {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.make(&above)?,
            Err(error) => return Err(error),
        };
        let mode = Mode::RWXU;
        match rustix::fs::mkdirat(&parent, name, mode) {
            Ok(()) => {}
            Err(Errno::EXIST) => replace(parent.as_fd(), name, mode)?,
            Err(error) => return Err(error.into()),
        }
        self.shared.count(|counts| counts.directories_made += 1);
        root.directory(path)
    }

    /// Some entries of the directory; answers with a verdict for each.
    pub(super) fn entries(&mut self, entries: Vec<Entry>) -> io::Result<()> {
        let Some(mut current) = self.current.take() else {
            return Err(unasked());
        };
        let mut verdicts = Vec::with_capacity(entries.len());
        for entry in entries {
            let id = self.round.entries;
            self.round.entries = id.checked_add(1).ok_or_else(too_much)?;
            if current.repeated {
                verdicts.push(Verdict::Skip);
                continue;
            }
            let (place, hash) = current.seen.add(&entry.name);
            if current.seen.len() > MAX_NAMES {
                return Err(too_much());
            }
            if current.broken {
                self.shared.count(|counts| counts.failed += 1);
                verdicts.push(Verdict::Skip);
                continue;
            }
            let judged = match self.folds(&mut current, place) {
                // A name that was removed and made again while the directory was read.
                Ok(_) if place == Place::Known => {
                    Err(io::Error::other("its name was listed twice"))
                }
                Ok(false) => self.judge(&current, id, &entry),
                Ok(true) => Err(self.same_name(&current, &entry)),
                Err(error) => Err(error),
            };
            let verdict = match judged {
                Ok(verdict) => verdict,
                Err(error) => {
                    lock(&self.shared.shared_files).remove(&id);
                    self.refuse(&current, &entry.name, error.to_string());
                    Verdict::Skip
                }
            };
            if verdict != Verdict::Skip {
                current.wanted.push(hash);
            }
            verdicts.push(verdict);
        }
        self.current = Some(current);
        self.hold(0)?;
        self.shared.answer(Answer::Verdicts(verdicts));
        for task in self.tasks.drain(..) {
            // Fails only when that thread has ended, and the session with it.
            let _ = self.to_basis.send(task);
        }
        // A sender that keeps to its own bounds never meets the others.
        while self.shared.unsent.load(Ordering::Relaxed) > MAX_UNSENT
            || lock(&self.shared.awaited).is_much()
        {
            if self.shared.session.is_over() {
                return Err(self.shared.session.over());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Takes note of a name that is the same as another one for the target's file system.
    fn same_name(&mut self, current: &Current, entry: &Entry) -> io::Error {
        if let (EntryKind::Directory, Ok(path)) = (&entry.kind, current.path.join(&entry.name)) {
            self.round.same.insert(stage::name_hash(path.as_bytes()));
        }
        io::Error::other(fold::SAME)
    }

    /// Takes note of what the round keeps until its end.
    ///
    /// Errors: it is more than any round may keep.
    fn hold(&mut self, bytes: usize) -> io::Result<()> {
        self.round.held_bytes = self.round.held_bytes.saturating_add(bytes);
        match self.round.held_bytes > MAX_HELD_BYTES {
            true => Err(too_much()),
            false => Ok(()),
        }
    }

    fn refuse(&self, current: &Current, name: &[u8], why: String) {
        let path = current.path.join(name);
        let path = path.map_or_else(|_| current.path.to_string(), |path| path.to_string());
        self.shared.failed(path, why);
    }

    fn judge(&mut self, current: &Current, id: Id, entry: &Entry) -> io::Result<Verdict> {
        // The sender has such patterns too; this end does not rely on it.
        let is_directory = entry.kind == EntryKind::Directory;
        let filter = &self.shared.terms.filter;
        if !filter.takes(&current.path, &entry.name, is_directory) {
            return Err(io::Error::other("it does not belong to the replication"));
        }
        match &entry.kind {
            EntryKind::Directory | EntryKind::Left => Ok(Verdict::Skip),
            EntryKind::HardLink { of } => {
                self.shared.count(|counts| counts.files += 1);
                if current.handle.is_some() {
                    let path = current.path.as_ref().clone();
                    self.hold(HELD_EACH + path.as_bytes().len() + entry.name.len())?;
                    self.round.links.push((path, entry.name.clone(), *of));
                }
                Ok(Verdict::Skip)
            }
            EntryKind::Symlink { target } => {
                self.symlink(current, entry, target)?;
                Ok(Verdict::Skip)
            }
            EntryKind::File { size, racy, shared } => {
                self.shared.count(|counts| {
                    counts.files += 1;
                    counts.bytes = counts.bytes.saturating_add(*size);
                });
                let progress = &self.shared.progress;
                Progress::add(&progress.files_listed, 1);
                Progress::add(&progress.bytes_listed, *size);
                if *shared {
                    self.remember(current, id, &entry.name)?;
                }
                self.file(current, id, entry, *size, *racy)
            }
        }
    }

    fn remember(&self, current: &Current, id: Id, name: &[u8]) -> io::Result<()> {
        let mut files = lock(&self.shared.shared_files);
        if files.len() >= MAX_SHARED {
            return Err(io::Error::other(
                "too many files of the tree have several names",
            ));
        }
        let path = current.path.join(name).map_err(io::Error::other)?;
        files.insert(id, path);
        Ok(())
    }

    fn symlink(&self, current: &Current, entry: &Entry, target: &[u8]) -> io::Result<()> {
        let terms = &self.shared.terms;
        let Some(at) = current.handle.as_ref().map(AsFd::as_fd) else {
            self.shared.count(|counts| counts.symlinks_made += 1);
            return Ok(());
        };
        let there = match current.fresh {
            true => None,
            false => root::status_of(at, &entry.name)?,
        };
        let is_link = there.is_some_and(|there| there.kind == FileType::Symlink);
        if is_link && root::link_target(at, &entry.name)? == target {
            return Ok(());
        }
        self.shared.count(|counts| counts.symlinks_made += 1);
        if terms.dry_run {
            return Ok(());
        }
        self.check_room(there.as_ref())?;
        // A link is made under the name of files in transit and renamed: the old one is never missing.
        let staged = stage::staged_name(&entry.name);
        root::remove_tree(at, &staged, 0)?;
        rustix::fs::symlinkat(target, at, &staged[..])?;
        let published = root::set_link_meta(at, &staged, &entry.meta, terms.keeps)
            .and_then(|()| self.shared.publish(&current.path, at, &entry.name));
        if published.is_err() {
            stage::remove(at, &entry.name);
        }
        published
    }

    /// Refuses a file in the place of a directory, where removing is not allowed. The directory goes
    /// when the file is whole.
    fn check_room(&self, there: Option<&Status>) -> io::Result<()> {
        let is_directory = there.is_some_and(|there| there.kind == FileType::Directory);
        match is_directory && !self.shared.terms.delete {
            true => Err(io::Error::other(
                "the target has a directory of this name, and nothing may be removed",
            )),
            false => Ok(()),
        }
    }

    fn file(
        &mut self,
        current: &Current,
        id: Id,
        entry: &Entry,
        size: u64,
        racy: bool,
    ) -> io::Result<Verdict> {
        let terms = &self.shared.terms;
        let awaited = || Awaited {
            directory: Arc::clone(&current.path),
            name: entry.name.as_slice().into(),
            meta: Arc::new(entry.meta.clone()),
            size,
            parts: None,
        };
        let at = current.handle.as_ref().map(AsFd::as_fd);
        let there = match at {
            Some(at) if !current.fresh => root::status_of(at, &entry.name)?,
            _ => None,
        };
        let regular = there.filter(|there| there.kind == FileType::RegularFile);
        let same_size = regular.is_some_and(|there| there.size == size);
        let same_time = regular.is_some_and(|there| there.mtime_ns == entry.meta.mtime_ns);
        if same_size && same_time && !racy && !terms.checksum {
            if let (Some(at), Some(there)) = (at, regular) {
                self.equal(at, entry, &there)?;
            }
            return Ok(Verdict::Skip);
        }
        if same_size && (terms.checksum || (same_time && racy)) {
            return Ok(self.later(id, awaited(), Basis::Compare));
        }
        if terms.dry_run {
            self.would_write(current, entry, size, there.is_some());
            return Ok(Verdict::Skip);
        }
        if let Some(at) = at {
            self.check_room(there.as_ref())?;
            if size >= LEAST_BYTES {
                let staged = stage::staged_name(&entry.name);
                if !current.fresh && root::status_of(at, &staged)?.is_some() {
                    return Ok(self.later(id, awaited(), Basis::Resume));
                }
                let is_large = regular.is_some_and(|there| there.size >= LEAST_BYTES);
                if terms.delta && is_large {
                    return Ok(self.later(id, awaited(), Basis::Delta));
                }
            }
        }
        self.wants(size);
        lock(&self.shared.awaited).insert(id, awaited());
        Ok(Verdict::Send)
    }

    fn wants(&self, size: u64) {
        Progress::add(&self.shared.progress.files_wanted, 1);
        Progress::add(&self.shared.progress.bytes_wanted, size);
    }

    fn later(&mut self, id: Id, awaited: Awaited, basis: Basis) -> Verdict {
        self.wants(awaited.size);
        lock(&self.shared.awaited).insert(id, awaited.clone());
        let task = Task { id, awaited, basis };
        self.tasks.push(task);
        Verdict::Later
    }

    fn would_write(&self, current: &Current, entry: &Entry, size: u64, exists: bool) {
        self.shared.count(|counts| {
            counts.files_written += 1;
            counts.bytes_received = counts.bytes_received.saturating_add(size);
        });
        if self.shared.terms.checksum {
            let why = match exists {
                true => "it differs at the target",
                false => "it is missing at the target",
            };
            self.refuse(current, &entry.name, why.into());
        }
    }

    /// Content is equal: sets what else differs.
    fn equal(&self, at: BorrowedFd<'_>, entry: &Entry, there: &Status) -> io::Result<()> {
        self.shared.count(|counts| counts.files_equal += 1);
        Progress::add(&self.shared.progress.bytes_kept, there.size);
        let terms = &self.shared.terms;
        if !differs(at, &entry.name, &entry.meta, there, terms.keeps)? {
            return Ok(());
        }
        self.shared.count(|counts| counts.metadata_set += 1);
        if terms.dry_run {
            return Ok(());
        }
        set_meta_of(at, &entry.name, &entry.meta, terms.keeps)
    }

    /// Ends the directory.
    pub(super) fn directory_end(&mut self, complete: bool) -> io::Result<()> {
        let mut current = self.current.take().ok_or_else(unasked)?;
        let Some(handle) = &current.handle else {
            return Ok(());
        };
        if current.fresh || current.repeated || !complete {
            return Ok(());
        }
        current.wanted.sort_unstable();
        let terms = &self.shared.terms;
        let (mut stale, mut alike) = (Vec::new(), Vec::new());
        let extra = &mut self.round.extra;
        let listed = root::names(handle.as_fd(), |name| {
            if name.starts_with(STAGED) {
                let of = stage::hash_in(name);
                if of.is_none_or(|hash| current.wanted.binary_search(&hash).is_err()) {
                    stale.push(name.to_vec());
                }
                return Ok(());
            }
            let place = current.seen.place(name);
            if place == Place::Known || extra.len() + alike.len() >= MAX_EXTRA {
                return Ok(());
            }
            if !terms.filter.is_everything() {
                let status = root::status_of(handle.as_fd(), name)?;
                let is_directory = status.is_some_and(|it| it.kind == FileType::Directory);
                if !terms.filter.takes(&current.path, name, is_directory) {
                    return Ok(());
                }
            }
            match place {
                Place::Alike(_) => alike.push((name.to_vec(), place)),
                Place::New | Place::Known => {
                    extra.push((Arc::clone(&current.path), name.to_vec()));
                }
            }
            Ok(())
        });
        if let Err(error) = listed {
            let why = format!("the target's directory cannot be read: {error}");
            self.shared.failed(current.path.to_string(), why);
        }
        for (name, place) in alike {
            // Another spelling of a name that was listed: removing it would remove the file that is replicated.
            if !self.folds(&mut current, place)? {
                self.round.extra.push((Arc::clone(&current.path), name));
            }
        }
        let handle = current.handle.as_ref().map(AsFd::as_fd);
        if let Some(handle) = handle.filter(|_| !self.shared.terms.dry_run) {
            for name in stale {
                if let Err(error) = root::remove_tree(handle, &name, 0) {
                    let why = format!("what an earlier session left cannot be removed: {error}");
                    self.refuse(&current, &name, why);
                }
            }
        }
        Ok(())
    }

    /// Ends the round, of so many entries.
    pub(super) fn round_end(&mut self, entries: u32) -> io::Result<RoundWork> {
        let round = std::mem::take(&mut self.round);
        match round.entries == entries && self.current.is_none() {
            true => Ok(round),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the list of files has a gap",
            )),
        }
    }
}

fn too_much() -> io::Error {
    let text = "the list of files is larger than any may be";
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Makes a directory in the place of what is none, or of a link to one.
fn replace(parent: BorrowedFd<'_>, name: &[u8], mode: Mode) -> io::Result<()> {
    let there = root::status_of(parent, name)?;
    if there.is_some_and(|there| there.kind == FileType::Directory) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let staged = stage::staged_name(name);
    root::remove_tree(parent, &staged, 0)?;
    rustix::fs::mkdirat(parent, &staged[..], mode)?;
    let plain = rustix::fs::AtFlags::empty();
    if stage::exchange(parent, name).is_ok() {
        return Ok(rustix::fs::unlinkat(parent, &staged[..], plain)?);
    }
    rustix::fs::unlinkat(parent, name, plain)?;
    stage::publish(parent, name)
}

/// True when a file has other properties than it is to have.
pub(super) fn differs(
    at: BorrowedFd<'_>,
    name: &[u8],
    wanted: &Meta,
    there: &Status,
    keeps: Keeps,
) -> io::Result<bool> {
    let plain = (keeps.mode && there.mode != wanted.mode)
        || (keeps.times && there.mtime_ns != wanted.mtime_ns)
        || (keeps.owner && (there.uid, there.gid) != (wanted.uid, wanted.gid));
    Ok(plain || (keeps.attributes && root::attributes(at, name)? != wanted.attributes))
}

/// Gives a file or directory its properties, by its name.
pub(super) fn set_meta_of(
    at: BorrowedFd<'_>,
    name: &[u8],
    meta: &Meta,
    keeps: Keeps,
) -> io::Result<()> {
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(at, name, flags, Mode::empty())?;
    root::set_meta(file.as_fd(), (meta, meta.mtime_ns), keeps, false)
}
