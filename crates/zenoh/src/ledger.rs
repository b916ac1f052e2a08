//! Updates files of a group that several commands may change at the same time.
//!
//! The file is JSON for the owner's eyes only, written whole or not at all; a lock beside it is held for
//! as long as a change takes. Threads of one process that change it queue before that, so that however
//! many hosts join at once, none of them is kept from the lock by all the others.

use std::fs::{self, File, TryLockError};
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::GroupError;
use crate::files::write_secret;
use crate::group::group_folder;

/// Longest time to wait while another command uses the file.
const LOCK_BOUND: Duration = Duration::from_secs(5);
/// Time between two attempts to take the lock.
const LOOK: Duration = Duration::from_millis(5);

/// One file of one group on this host.
#[derive(Debug, Clone)]
pub(crate) struct Ledger<T> {
    folder: PathBuf,
    name: &'static str,
    content: PhantomData<fn() -> T>,
    /// Held by the thread that is next.
    next: Arc<Mutex<()>>,
}

impl<T: Default + Clone + PartialEq + Serialize + DeserializeOwned> Ledger<T> {
    /// `<config>/groups/<group>/<name>.json`
    pub(crate) fn of(config: &Path, group: &str, name: &'static str) -> Self {
        Self {
            folder: group_folder(config, group),
            name,
            content: PhantomData,
            next: Arc::default(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(self.name).with_extension("json")
    }

    /// Its content; the default when there is no file.
    pub(crate) fn read(&self) -> Result<T, GroupError> {
        let path = self.path();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|why| GroupError::Damaged {
                path,
                why: why.to_string(),
            }),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(T::default()),
            Err(why) => Err(GroupError::File { path, why }),
        }
    }

    /// Changes the file under its lock; an unchanged file is not written.
    pub(crate) fn change<R>(&self, step: impl FnOnce(&mut T) -> R) -> Result<R, GroupError> {
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let _held = self.hold()?;
        let before = self.read()?;
        let mut content = before.clone();
        let out = step(&mut content);
        if content != before {
            write_secret(&self.path(), &content, false)?;
        }
        Ok(out)
    }

    /// Held until it is dropped.
    fn hold(&self) -> Result<File, GroupError> {
        let path = self.folder.join(self.name).with_extension("lock");
        let failed = |why| GroupError::File {
            path: path.clone(),
            why,
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        let deadline = Instant::now() + LOCK_BOUND;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(LOOK),
                Err(TryLockError::WouldBlock) => {
                    return Err(failed(io::ErrorKind::TimedOut.into()));
                }
                Err(TryLockError::Error(why)) => return Err(failed(why)),
            }
        }
    }
}
