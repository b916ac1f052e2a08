//! Changes knobs of a target for a time, from this or another process.
//!
//! They are put back when the hold is dropped. A file beside the keys of the targets tells the next
//! program of it when this one is killed; the target itself puts them back when it hears nothing for a
//! lease.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use sokudo_net::files::owner_only;

use crate::client::{Remote, RemoteError};
use crate::hold::LEASE;
use crate::journal::Change;
use crate::stop::Stop;

/// Renewals in the time of a lease.
const RENEWALS: u32 = 5;
/// How the files of holds begin.
const BEGINNING: &str = "hold-";
/// Longest file of a hold, bytes.
const FILE_MAX: u64 = 64 << 10;

/// Knobs that are held.
pub struct HeldKnobs {
    remote: Remote,
    number: u64,
    /// Locked as long as this process lives.
    file: File,
    path: PathBuf,
    stop: Arc<Stop>,
    renewing: Option<JoinHandle<()>>,
    is_released: bool,
}

/// What the next program needs to put knobs back.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    admin: SocketAddr,
    key: Option<String>,
    hold: u64,
    by: String,
}

/// A hold of a program that was killed.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// Admin port of the target.
    pub at: SocketAddr,
    /// Who held its knobs.
    pub by: String,
    /// What was put back; `None`: the target has done so itself, or is gone.
    pub changes: Option<Vec<Change>>,
}

/// The knobs cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The target does not let them be held.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The file of the hold cannot be written, so that nobody would put them back.
    #[error("`{}` cannot be written: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
}

impl HeldKnobs {
    /// Holds the knobs of a target under the name `by`; the file lies in `folder`.
    ///
    /// Errors: see [`HoldError`].
    pub fn hold(remote: Remote, by: &str, folder: &Path) -> Result<Self, HoldError> {
        let number = remote.hold(by)?;
        let note = Note {
            admin: remote.at(),
            key: remote.key().map(str::to_owned),
            hold: number,
            by: by.to_owned(),
        };
        let name = format!(
            "{BEGINNING}{}-{}.json",
            std::process::id(),
            remote.at().port()
        );
        let path = folder.join(name);
        let file = match write(&path, &note) {
            Ok(file) => file,
            Err(error) => {
                // Its lease ends it, when this does not.
                let _ = remote.release(number);
                return Err(HoldError::File { path, error });
            }
        };
        let stop = Arc::new(Stop::default());
        let renewing = {
            let (remote, stop) = (remote.clone(), Arc::clone(&stop));
            let renew = move || {
                while !stop.is_asked() {
                    // A target that does not answer is asked again; `set` tells when the hold is over.
                    let _ = remote.set_held(number, &[]);
                    stop.rest(LEASE / RENEWALS);
                }
            };
            let thread = std::thread::Builder::new().name("sokudo-renew".into());
            thread.spawn(renew).ok()
        };
        Ok(Self {
            remote,
            number,
            file,
            path,
            stop,
            renewing,
            is_released: false,
        })
    }

    /// The target whose knobs they are.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Changes knobs until the hold ends. Errors: it is over, or a value does not fit.
    pub fn set(&self, pairs: &[(String, String)]) -> Result<Vec<Change>, RemoteError> {
        self.remote.set_held(self.number, pairs)
    }

    /// Ends the hold; returns what putting the knobs back changed.
    ///
    /// Errors: the target does not answer, or has put them back itself.
    pub fn release(mut self) -> Result<Vec<Change>, RemoteError> {
        self.end()
    }

    fn end(&mut self) -> Result<Vec<Change>, RemoteError> {
        self.is_released = true;
        self.stop.ask();
        // A thread that has panicked has said so.
        let _ = self.renewing.take().map(JoinHandle::join);
        let released = self.remote.release(self.number);
        // A file that stays is looked at by the next program.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
        released
    }
}

impl Drop for HeldKnobs {
    fn drop(&mut self) {
        if !self.is_released {
            // What cannot be told here the target does when the lease ends.
            let _ = self.end();
        }
    }
}

/// Writes a locked file; nobody sees it before it is locked and whole.
fn write(path: &Path, note: &Note) -> std::io::Result<File> {
    let beside = path.with_extension("tmp");
    let mut file = owner_only().write(true).truncate(true).open(&beside)?;
    file.lock()?;
    file.write_all(serde_json::to_string(note)?.as_bytes())?;
    std::fs::rename(&beside, path)?;
    Ok(file)
}

/// Puts back what programs held that were killed; `folder` is that of the keys.
pub fn recover(folder: &Path) -> Vec<Recovered> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hold = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(BEGINNING) && name.ends_with(".json")
    };
    let paths = entries.map(|entry| entry.path()).filter(is_hold);
    paths.filter_map(|path| recover_one(&path)).collect()
}

fn recover_one(path: &Path) -> Option<Recovered> {
    use std::io::Read as _;
    let file = File::open(path).ok()?;
    // Whoever holds the lock is alive.
    file.try_lock().ok()?;
    let mut text = String::new();
    let read = (&file).take(FILE_MAX).read_to_string(&mut text);
    // A file that cannot be read says nothing to the program after this one either.
    let _ = std::fs::remove_file(path);
    read.ok()?;
    let note: Note = serde_json::from_str(&text).ok()?;
    let released = Remote::new(note.admin, note.key).release(note.hold);
    Some(Recovered {
        at: note.admin,
        by: note.by,
        changes: released.ok(),
    })
}
