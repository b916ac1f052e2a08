//! Follows the changes of a tree: round after round of what the system says has changed.
//!
//! ```text
//! system ──events──► watcher's thread ──► directories that changed ──round when quiet──► sender
//!            └ lost, too many, no watches left ──► everything is looked at
//! ```
//!
//! Events only say where to look. What is sent, and that nothing leads outside, is decided by the walk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::dirty::{Dirty, Due};
use crate::path::{RelPath, STAGED};
use crate::send::Round;
use crate::session::{LOOK, Session};

/// Changes that wait for the sender; with more of them everything is looked at.
const MOST_CHANGES: usize = 65_536;
/// Least time between two looks at everything, where the system cannot tell all changes.
const RESCAN_EVERY: Duration = Duration::from_secs(5);
/// The same as a multiple of what a look took, so that a large tree is not walked all the time.
const RESCAN_SHARE: u32 = 10;

/// A directory that changed, and whether anything below it may have.
type Change = (RelPath, bool);

/// State that the watcher's thread shares with the sender.
struct WatchState {
    root: PathBuf,
    /// Changes were lost, at unknown places.
    lost: AtomicBool,
    /// A directory went or was moved: a successor of its name may be watched no more, because watches are
    /// kept by name.
    moved: AtomicBool,
    /// Reason for which not all changes are told.
    blind: OnceLock<String>,
}

/// A source that is watched.
pub struct Mirror {
    // Held for its thread.
    _watcher: Option<RecommendedWatcher>,
    shared: Arc<WatchState>,
    changes: Receiver<Change>,
    dirty: Dirty,
    begun: Instant,
    /// Times of the round that was given, and of the first change that it holds.
    given: Option<(Duration, Option<Duration>)>,
    /// Time of the next look at everything, where the system is blind.
    rescan_at: Duration,
    /// New directories are looked at twice: what was made in them before they were watched has no event.
    again: Vec<(RelPath, bool)>,
    /// Looks at everything beyond the first.
    rescans: u64,
    /// Time between two looks at everything, and when the next one is due.
    resync: Option<(Duration, Duration)>,
}

impl Mirror {
    /// Begins to watch a directory, before its first round, so that no change falls between.
    ///
    /// A system without watches, or without enough of them, is not an error: everything is looked at
    /// again and again instead, and [`Self::blind`] says why.
    pub fn begin(root: &Path) -> Self {
        let (told, changes) = sync_channel(MOST_CHANGES);
        let shared = Arc::new(WatchState {
            root: root.to_owned(),
            lost: AtomicBool::new(false),
            moved: AtomicBool::new(false),
            blind: OnceLock::new(),
        });
        let watcher = watch(&shared, told).map_err(|error| {
            let _ = shared.blind.set(error.to_string());
        });
        Self {
            _watcher: watcher.ok(),
            shared,
            changes,
            dirty: Dirty::default(),
            begun: Instant::now(),
            given: None,
            rescan_at: Duration::ZERO,
            again: Vec::new(),
            rescans: 0,
            resync: None,
        }
    }

    /// The same that also looks at everything so often, whatever the system tells.
    pub fn resyncing(mut self, every: Option<Duration>) -> Self {
        self.resync = every.map(|every| (every, every));
        self
    }

    /// One that is told nothing, as where the system has no watches left.
    #[cfg(test)]
    pub(crate) fn without_watches(root: &Path) -> Self {
        let mut mirror = Self::begin(root);
        mirror._watcher = None;
        while mirror.changes.try_recv().is_ok() {}
        let _ = mirror.shared.blind.set("no watches left".into());
        mirror
    }

    /// The system tells that it lost events, as when its queue is full.
    #[cfg(test)]
    pub(crate) fn overflows(&self) {
        let event = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        self.shared.note(&event, &sync_channel(0).0);
    }

    /// Reason for which the system does not tell all changes; `None` where it does.
    pub fn blind(&self) -> Option<&str> {
        self.shared.blind.get().map(String::as_str)
    }

    /// Looks at everything, beyond the first.
    pub fn rescans(&self) -> u64 {
        self.rescans
    }

    /// The next round: everything first, then what changed. Waits for it at most [`LOOK`] and gives a
    /// round without directories when there is none yet. `followed` gets the time from the first
    /// change of the round before to its end, nanoseconds.
    pub fn next(&mut self, session: &Session, followed: &mut dyn FnMut(u64)) -> Option<Round> {
        if session.is_over() {
            return None;
        }
        let now = self.begun.elapsed();
        match self.given.take() {
            None if self.rescan_at.is_zero() => {
                self.rescan_at = RESCAN_EVERY;
                self.given = Some((now, None));
                return Some(Round::full());
            }
            None => {}
            Some((given, since)) => {
                if let Some(since) = since {
                    followed(now.saturating_sub(since).as_nanos() as u64);
                }
                let took = now.saturating_sub(given);
                self.rescan_at = now + RESCAN_EVERY.max(took * RESCAN_SHARE);
            }
        }
        self.listen(now);
        let now = self.begun.elapsed();
        if let Some(due) = self.dirty.take(now) {
            return Some(self.round(due, now));
        }
        let directories = std::mem::take(&mut self.again);
        if !directories.is_empty() {
            self.given = Some((now, None));
        }
        Some(Round { directories })
    }

    fn round(&mut self, due: Due, now: Duration) -> Round {
        self.given = Some((now, Some(due.since)));
        match due.directories {
            Some(directories) => {
                let new = directories.iter().filter(|(_, below)| *below);
                self.again = new.cloned().collect();
                Round { directories }
            }
            None => {
                self.rescans += 1;
                Round::full()
            }
        }
    }

    fn is_resync_due(&mut self, now: Duration) -> bool {
        let Some((every, due)) = self.resync.filter(|(_, due)| now >= *due) else {
            return false;
        };
        // After a pause of the host one look is enough.
        self.resync = Some((every, due.max(now) + every));
        true
    }

    /// Takes in changes until a round is due, at most [`LOOK`].
    fn listen(&mut self, begun: Duration) {
        loop {
            let now = self.begun.elapsed();
            let is_blind = self.blind().is_some() && now >= self.rescan_at;
            let is_lost = self.shared.lost.swap(false, Ordering::Relaxed);
            let is_moved =
                now >= self.rescan_at && self.shared.moved.swap(false, Ordering::Relaxed);
            if is_lost || is_blind || is_moved || self.is_resync_due(now) {
                self.rescan_at = now + RESCAN_EVERY;
                self.dirty.note_everything(now);
            }
            let left = (begun + LOOK).saturating_sub(now);
            let wait = self.dirty.due_in(now).map_or(left, |due| due.min(left));
            if wait.is_zero() {
                return;
            }
            match self.changes.recv_timeout(wait) {
                Ok((directory, below)) => {
                    self.dirty.note(self.begun.elapsed(), directory, below);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Without a watch, what is due comes from the clock alone.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
            }
        }
    }
}

fn watch(shared: &Arc<WatchState>, told: SyncSender<Change>) -> notify::Result<RecommendedWatcher> {
    let own = Arc::clone(shared);
    let handler = move |event: notify::Result<Event>| match event {
        Ok(event) => own.note(&event, &told),
        Err(error) => {
            // Of a directory that is gone again there is nothing to watch.
            if !is_not_found(&error) {
                let _ = own.blind.set(error.to_string());
            }
            own.lost.store(true, Ordering::Relaxed);
        }
    };
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(handler, config)?;
    watcher.watch(&shared.root, RecursiveMode::Recursive)?;
    Ok(watcher)
}

fn is_not_found(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// True for what changes neither a name nor a content nor a property.
fn is_idle(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    }
}

/// True when a directory at this place may be another one than before, with all below it.
fn is_new(kind: EventKind) -> bool {
    match kind {
        EventKind::Create(CreateKind::File) => false,
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)) => true,
        EventKind::Any | EventKind::Other => true,
        _ => false,
    }
}

impl WatchState {
    fn note(&self, event: &Event, told: &SyncSender<Change>) {
        if event.need_rescan() {
            self.lost.store(true, Ordering::Relaxed);
        }
        if is_idle(event.kind) {
            return;
        }
        if event.kind == EventKind::Remove(RemoveKind::Folder) {
            self.moved.store(true, Ordering::Relaxed);
        }
        for path in &event.paths {
            let Some(own) = self.relative(path) else {
                continue;
            };
            let is_directory = path.symlink_metadata().is_ok_and(|status| status.is_dir());
            if is_directory && matches!(event.kind, EventKind::Modify(ModifyKind::Name(_))) {
                self.moved.store(true, Ordering::Relaxed);
            }
            let below = is_new(event.kind);
            let above = own.split().map(|(above, _)| (above, false));
            let own = is_directory.then_some((own, below));
            for change in above.into_iter().chain(own) {
                if told.try_send(change).is_err() {
                    self.lost.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// The path below the root; `None` for what no round can hold.
    fn relative(&self, path: &Path) -> Option<RelPath> {
        use std::os::unix::ffi::OsStrExt;
        let below = path.strip_prefix(&self.root).ok()?;
        let name = path.file_name().map_or(&b""[..], OsStrExt::as_bytes);
        // A mirror of a mirror: what its own receiver stages is not mirrored.
        if name.starts_with(STAGED) {
            return None;
        }
        RelPath::parse(below.as_os_str().as_bytes()).ok()
    }
}
