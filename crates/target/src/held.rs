//! Changes knobs of a target for a time, from this or another process.
//!
//! They are put back when the hold is dropped. A file beside the keys of the targets tells the next
//! program of it when this one is killed; the target itself puts them back when it hears nothing for a
//! lease.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use sokudo_net::files;

use crate::client::{Remote, RemoteError};
use crate::hold::LEASE;
use crate::journal::Change;
use crate::stop::Stop;

/// Renewals in the time of a lease.
const RENEWALS: u32 = 5;
/// Prefix of the files of holds.
const BEGINNING: &str = "hold-";

/// Knobs that are held.
pub struct HeldKnobs {
    remote: Remote,
    number: u64,
    /// Until it is released.
    file: Option<files::Note>,
    stop: Arc<Stop>,
    renewing: Option<JoinHandle<()>>,
    is_released: bool,
}

/// State with which the next program puts knobs back.
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
    /// Holder of its knobs.
    pub by: String,
    /// Knobs that were put back; `None`: the target has done so itself, or is gone.
    pub changes: Option<Vec<Change>>,
}

/// The knobs cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The target does not let them be held.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The file of the hold cannot be written, so that they could not be put back later.
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
        let written = serde_json::to_string(&note).map_err(std::io::Error::from);
        let file = match written.and_then(|text| files::Note::write(&path, &text)) {
            Ok(file) => Some(file),
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
        if let Some(file) = self.file.take() {
            file.remove();
        }
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

/// Puts back what programs held that were killed; `folder` is that of the keys.
pub fn recover(folder: &Path) -> Vec<Recovered> {
    let left = files::Note::left(folder, BEGINNING).into_iter();
    left.filter_map(|(note, text)| recover_one(note, &text))
        .collect()
}

fn recover_one(file: files::Note, text: &str) -> Option<Recovered> {
    // A note that cannot be read says nothing to the program after this one either.
    file.remove();
    let note: Note = serde_json::from_str(text).ok()?;
    let released = Remote::new(note.admin, note.key).release(note.hold);
    Some(Recovered {
        at: note.admin,
        by: note.by,
        changes: released.ok(),
    })
}
