//! Keeps observations on disk until the controller has confirmed that it has all of them.
//!
//! ```text
//! <folder>/<when>-<number>.part            a run that has no name yet
//! <folder>/<run>~<when>-<number>.kept      everything this host said in that run
//! ```
//!
//! Each batch for a controller is written to a file first, frame by frame as it is sent. A controller
//! that ends its session in order has received everything, and the file is removed. When a controller
//! dies the file stays, and a later controller that resumes the run collects it page by page
//! ([`sokudo_wire::Ask::Kept`]). Files and bytes are bounded: the oldest files are removed first, and
//! what a run sends beyond its bound is not kept.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sokudo_bus::{Notes, PushError};
use sokudo_model::{Batch, RunId};
use sokudo_net::files::owner_only;
use sokudo_wire::{Body, Decoder, Envelope, MAX_FRAME, Note};

/// Bytes of one run at most.
const MAX_BYTES: u64 = 64 << 20;
/// Files at most.
const MAX_FILES: usize = 32;
/// Approximate bytes of a page: it may exceed this by one frame.
const PAGE_BYTES: usize = 1 << 20;
/// Bits of a cursor that count bytes; those above count files.
const OFFSET_BITS: u32 = 40;

/// Store of kept observations; one for all sessions of a host.
#[derive(Debug)]
pub struct Keeper {
    folder: PathBuf,
    number: AtomicU64,
    /// Runs that still go on.
    going_on: Mutex<BTreeSet<String>>,
}

/// Part of what was kept of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page {
    pub(crate) batches: Vec<Batch>,
    /// Begin of the next page; `None` after the last one.
    pub(crate) next: Option<u64>,
}

impl Keeper {
    /// Keeps in this folder, which is made if it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            number: AtomicU64::new(0),
            going_on: Mutex::default(),
        })
    }

    /// A file for a run that begins. Without room for it nothing is kept.
    pub(crate) fn begin(self: &Arc<Self>) -> Kept {
        self.make_room();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let when = since.map_or(0, |since| since.as_nanos());
        let stem = format!("{when}-{}-{number}", std::process::id());
        let path = self.folder.join(format!("{stem}.part"));
        Kept {
            keeper: Arc::clone(self),
            state: Mutex::new(State {
                file: owner_only().append(true).open(&path).ok(),
                path,
                stem,
                run: None,
                bytes: 0,
            }),
        }
    }

    /// One page of what was kept of a run, from a cursor on; 0 is the beginning.
    ///
    /// Errors: the run still goes on here, as people read it; a file cannot be read.
    pub(crate) fn page(&self, run: &RunId, from: u64) -> Result<Page, String> {
        if self.going_on().contains(&run.0) {
            return Err("the run still goes on here".into());
        }
        let files = self.files_of(run);
        let mut at = (from >> OFFSET_BITS) as usize;
        let mut offset = from & ((1 << OFFSET_BITS) - 1);
        while let Some(path) = files.get(at) {
            let (batches, read) = read_page(path, offset)
                .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            let next = match read {
                Some(offset) => Some((at as u64) << OFFSET_BITS | offset),
                None if at + 1 < files.len() => Some((at as u64 + 1) << OFFSET_BITS),
                None => None,
            };
            if !batches.is_empty() || next.is_none() {
                return Ok(Page { batches, next });
            }
            (at, offset) = (at + usize::from(read.is_none()), read.unwrap_or(0));
        }
        Ok(Page {
            batches: Vec::new(),
            next: None,
        })
    }

    /// Removes what was kept of a run; to be called once the controller has received it.
    pub(crate) fn discard(&self, run: &RunId) {
        for path in self.files_of(run) {
            // A file that cannot be removed now is removed when later files need its room.
            let _ = fs::remove_file(path);
        }
    }

    fn going_on(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.going_on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files_of(&self, run: &RunId) -> Vec<PathBuf> {
        let prefix = format!("{}~", run.0);
        let mut files = self.files();
        files.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&prefix))
        });
        files
    }

    /// All files, by name.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Removes the oldest files.
    fn make_room(&self) {
        let changed = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
        let mut files = self.files();
        files.sort_by_key(changed);
        let excess = (files.len() + 1).saturating_sub(MAX_FILES);
        for path in &files[..excess] {
            let _ = fs::remove_file(path);
        }
    }
}

/// Batches from `offset` on, and the offset of the next ones; `None` at the end or at damaged data.
fn read_page(path: &Path, offset: u64) -> io::Result<(Vec<Batch>, Option<u64>)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take((PAGE_BYTES + MAX_FRAME + 4) as u64)
        .read_to_end(&mut bytes)?;
    let mut decoder = Decoder::new(MAX_FRAME);
    decoder.push(&bytes);
    let (mut batches, mut read) = (Vec::new(), 0);
    // The first frame that cannot be read is the end: the writer was interrupted there.
    while let Ok(Some(payload)) = decoder.next_frame() {
        read += 4 + payload.len();
        let Ok(envelope) = Envelope::from_payload(&payload) else {
            return Ok((batches, None));
        };
        if let Body::Note(Note::Batch(batch)) = envelope.body {
            batches.push(batch);
        }
        if read >= PAGE_BYTES {
            return Ok((batches, Some(offset + read as u64)));
        }
    }
    Ok((batches, None))
}

/// The file of one session in one run.
#[derive(Debug)]
pub(crate) struct Kept {
    keeper: Arc<Keeper>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` when there is no room, or keeping has ended.
    file: Option<File>,
    path: PathBuf,
    stem: String,
    run: Option<RunId>,
    bytes: u64,
}

impl Kept {
    /// Writes one batch. What does not fit is not kept; the measurement goes on.
    fn keep(&self, batch: &Batch) {
        let mut state = self.state();
        let State { file, bytes, .. } = &mut *state;
        let Some(out) = file else { return };
        let body = Body::Note(Note::Batch(batch.clone()));
        let Ok(frame) = (Envelope { id: 0, body }).to_frame() else {
            return;
        };
        *bytes += frame.len() as u64;
        if *bytes > MAX_BYTES || out.write_all(&frame).is_err() {
            *file = None;
        }
    }

    /// Sets the name of the run. A run whose name is not a valid file name is not kept.
    pub(crate) fn name(&self, run: &RunId) {
        let mut state = self.state();
        if state.run.is_some() {
            return;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let fits = !run.0.is_empty() && run.0.len() <= 128 && run.0.chars().all(plain);
        let named = format!("{}~{}.kept", run.0, state.stem);
        let named = self.keeper.folder.join(named);
        if !fits || fs::rename(&state.path, &named).is_err() {
            state.file = None;
            return;
        }
        state.path = named;
        state.run = Some(run.clone());
        self.keeper.going_on().insert(run.0.clone());
    }

    /// Removes the file, because the controller has received everything.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.file = None;
        // The file may have been removed already, or never been created.
        let _ = fs::remove_file(&state.path);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let state = self.state();
        match &state.run {
            Some(run) => {
                self.keeper.going_on().remove(&run.0);
            }
            // Without the run's name no controller could ask for it.
            None => {
                let _ = fs::remove_file(&state.path);
            }
        }
    }
}

/// Sends a session's notes: each is kept on disk first.
#[derive(Clone)]
pub(crate) struct Outlet {
    pub(crate) notes: Notes,
    pub(crate) kept: Option<Arc<Kept>>,
}

impl Outlet {
    /// Sends a note. It is kept even when the controller does not take it.
    pub(crate) fn push(&self, note: Note) -> Result<(), PushError> {
        if let (Some(kept), Note::Batch(batch)) = (&self.kept, &note) {
            kept.keep(batch);
        }
        self.notes.push(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sokudo_model::{Series, SeriesKey};

    fn batch(t_ns: i64, points: usize) -> Batch {
        let key = SeriesKey {
            host: "hosta".into(),
            source: "test".into(),
            metric: "rr.transactions_per_second".into(),
            labels: Default::default(),
        };
        let points = (0..points as i64).map(|n| (t_ns + n, 1.0)).collect();
        Batch {
            series: vec![Series { key, points }],
            ..Batch::default()
        }
    }

    fn all(keeper: &Keeper, run: &RunId) -> Vec<Batch> {
        let (mut out, mut from) = (Vec::new(), 0);
        loop {
            let page = keeper.page(run, from).expect("a page");
            out.extend(page.batches);
            match page.next {
                Some(next) => from = next,
                None => return out,
            }
        }
    }

    fn keeper() -> (tempfile::TempDir, Arc<Keeper>) {
        let place = tempfile::tempdir().expect("a place");
        let keeper = Keeper::open(&place.path().join("kept")).expect("a keeper");
        (place, Arc::new(keeper))
    }

    #[test]
    fn what_a_lost_controller_did_not_take_comes_page_by_page() {
        let (_place, keeper) = keeper();
        let run = RunId("run-1".into());
        let said: Vec<Batch> = (0..40).map(|n| batch(n * 1_000_000, 8000)).collect();
        // Two sessions of the same run: two files.
        for half in said.chunks(20) {
            let kept = keeper.begin();
            kept.keep(&half[0]);
            kept.name(&run);
            half[1..].iter().for_each(|batch| kept.keep(batch));
            assert!(
                keeper
                    .page(&run, 0)
                    .is_err_and(|why| why.contains("goes on"))
            );
        }
        assert!(keeper.page(&run, 0).expect("a page").next.is_some());
        assert_eq!(all(&keeper, &run), said);
        assert_eq!(all(&keeper, &RunId("run-11".into())), []);
        keeper.discard(&run);
        assert_eq!(all(&keeper, &run), []);
    }

    #[test]
    fn who_says_goodbye_leaves_nothing_behind() {
        let (_place, keeper) = keeper();
        let (named, unnamed, bad) = (keeper.begin(), keeper.begin(), keeper.begin());
        named.name(&RunId("run-1".into()));
        named.keep(&batch(0, 1));
        named.forget();
        unnamed.keep(&batch(0, 1));
        bad.name(&RunId("../run".into()));
        drop((named, unnamed, bad));
        assert_eq!(keeper.files(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_torn_end_costs_no_more_than_itself() {
        let (_place, keeper) = keeper();
        let run = RunId("run-1".into());
        let kept = keeper.begin();
        kept.name(&run);
        kept.keep(&batch(0, 1));
        kept.keep(&batch(1, 1));
        drop(kept);
        let path = &keeper.files()[0];
        let bytes = fs::read(path).expect("a file");
        fs::write(path, &bytes[..bytes.len() - 3]).expect("a torn file");
        assert_eq!(all(&keeper, &run), [batch(0, 1)]);
        // Any cursor is answered.
        for from in [1, u64::MAX, 7 << OFFSET_BITS, bytes.len() as u64 * 2] {
            assert!(keeper.page(&run, from).is_ok());
        }
    }

    #[test]
    fn the_oldest_files_give_way() {
        let (_place, keeper) = keeper();
        for number in 0..MAX_FILES + 5 {
            keeper.begin().name(&RunId(format!("run-{number}")));
        }
        assert!(keeper.files().len() <= MAX_FILES);
    }
}
