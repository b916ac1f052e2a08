//! Writes files so that a crash leaves either the old or the new version.
//!
//! Everything that the store writes goes through [`Disk`], so that tests can make any single
//! operation fail, as a full disk or a killed process would.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::layout::TEMPORARY;

/// The file system, with room for faults in tests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    #[cfg(test)]
    pub faults: Option<std::sync::Arc<faults::Faults>>,
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: File,
    path: PathBuf,
    disk: Disk,
}

impl Disk {
    /// Creates a directory and those above it, for their owner alone.
    pub fn create_dir_all(&self, path: &Path) -> Result<(), StoreError> {
        self.step()
            .and_then(|()| private_dir().recursive(true).create(path))
            .map_err(|e| StoreError::io("create", path, e))
    }

    /// Creates a directory that must not exist yet, for its owner alone.
    pub fn create_dir(&self, path: &Path) -> Result<(), StoreError> {
        match self.step().and_then(|()| private_dir().create(path)) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(StoreError::Exists {
                path: path.to_path_buf(),
            }),
            other => other.map_err(|e| StoreError::io("create", path, e)),
        }
    }

    /// Creates a file in the place of one that exists: a link there is replaced, not followed, since in
    /// a record from an untrusted source it may lead anywhere. Only its owner may read it.
    pub fn create(&self, path: &Path) -> Result<DiskFile, StoreError> {
        self.create_new(path, private_file().write(true))
    }

    /// The same for a file that the operator wants elsewhere: those may read it who usually may.
    pub fn create_shared(&self, path: &Path) -> Result<DiskFile, StoreError> {
        self.create_new(path, OpenOptions::new().write(true))
    }

    fn create_new(&self, path: &Path, options: &mut OpenOptions) -> Result<DiskFile, StoreError> {
        match self.step().and_then(|()| fs::remove_file(path)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("create", path, e)),
            _ => self.open(path, options.create_new(true)),
        }
    }

    /// Opens a file for writing at its end, creating it when it does not exist.
    pub fn append(&self, path: &Path) -> Result<DiskFile, StoreError> {
        self.open(path, private_file().append(true).create(true))
    }

    fn open(&self, path: &Path, options: &OpenOptions) -> Result<DiskFile, StoreError> {
        let file = self
            .step()
            .and_then(|()| options.open(path))
            .map_err(|e| StoreError::io("create", path, e))?;
        Ok(DiskFile {
            file,
            path: path.to_path_buf(),
            disk: self.clone(),
        })
    }

    /// Puts `bytes` into `path` so that a reader sees the old content or the new, never a part.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let temporary = temporary(path);
        let written = self.create(&temporary).and_then(|mut file| {
            file.put(bytes)?;
            file.sync()?;
            drop(file);
            self.publish(&temporary, path)
        });
        if written.is_err() {
            // Gives the space back; when this fails too, the next `replace` overwrites it.
            let _ = self.remove_file(&temporary);
        }
        written
    }

    /// Gives a complete, synced temporary file its final name.
    pub fn publish(&self, temporary: &Path, path: &Path) -> Result<(), StoreError> {
        self.step()
            .and_then(|()| fs::rename(temporary, path))
            .map_err(|e| StoreError::io("rename a temporary file to", path, e))?;
        self.sync_parent(path)
    }

    /// Makes the names in the directory of `path` survive a power failure.
    ///
    /// Where a directory cannot be opened as a file (Windows), the file system journals renames
    /// by itself and there is nothing to do.
    pub fn sync_parent(&self, path: &Path) -> Result<(), StoreError> {
        let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) else {
            return Ok(());
        };
        let Ok(directory) = File::open(parent) else {
            return Ok(());
        };
        self.step()
            .and_then(|()| directory.sync_all())
            .map_err(|e| StoreError::io("sync", parent, e))
    }

    /// Removes a file; a missing one is not an error.
    pub fn remove_file(&self, path: &Path) -> Result<(), StoreError> {
        match self.step().and_then(|()| fs::remove_file(path)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, e)),
            _ => Ok(()),
        }
    }

    /// Removes a directory of plain files, one file at a time; a missing one is not an error.
    pub fn remove_flat_dir(&self, path: &Path) -> Result<(), StoreError> {
        check_own_dir(path)?;
        for file in list_dir(path)? {
            self.remove_file(&file)?;
        }
        match self.step().and_then(|()| fs::remove_dir(path)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, e)),
            _ => self.sync_parent(path),
        }
    }

    /// Every operation passes here first; tests may refuse it.
    fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        if let Some(faults) = &self.faults {
            return faults.step();
        }
        Ok(())
    }
}

impl DiskFile {
    /// Writes all of `bytes`.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_all(bytes)
            .map_err(|e| StoreError::io("write", &self.path, e))
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.disk
            .step()
            .and_then(|()| self.file.sync_all())
            .map_err(|e| StoreError::io("sync", &self.path, e))
    }

    /// Present length, bytes.
    pub fn len(&self) -> Result<u64, StoreError> {
        self.file
            .metadata()
            .map(|m| m.len())
            .map_err(|e| StoreError::io("examine", &self.path, e))
    }

    /// Cuts the file back to its first `len` bytes; writing goes on there.
    pub fn cut(&mut self, len: u64) -> Result<(), StoreError> {
        self.disk
            .step()
            .and_then(|()| self.file.set_len(len))
            .map_err(|e| StoreError::io("cut back", &self.path, e))
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        if let Some(faults) = &self.disk.faults {
            let allowed = faults.allow(bytes.len())?;
            return self.file.write(&bytes[..allowed]);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Options for files of a record: one that they create is for its owner alone. Windows gives it the
/// access list of its folder.
pub(crate) fn private_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The same for directories.
fn private_dir() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Name under which a file is written until it is complete.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY);
    name.into()
}

/// Entries of a directory in the order of their names; empty when there is no such directory.
pub(crate) fn list_dir(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |e| StoreError::io("list", path, e);
    let entries = match fs::read_dir(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = entries
        .map(|entry| entry.map(|e| e.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// Opens a file of a record for reading.
///
/// Anything but a plain file is refused before it is opened: opening a pipe would wait for a writer
/// without bound, and a device has no end. A link to a plain file is accepted.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a plain file")),
    }
}

/// Checks that a directory of a record is not a link: in a record from an untrusted source, a link in
/// its place would change or remove files elsewhere. A missing directory passes.
pub(crate) fn check_own_dir(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => Err(StoreError::corrupt(
            path,
            "it is not a directory of its own",
        )),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(StoreError::io("examine", path, e)),
    }
}

/// Reads a file of at most `bytes_max` bytes; `None` when it does not exist.
///
/// Errors: [`StoreError::Corrupt`] when it is larger, since no file of a record is.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let failed = |e| StoreError::io("read", path, e);
    let file = match open_plain(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    let mut bytes = Vec::new();
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(StoreError::corrupt(
            path,
            format!("it is larger than {bytes_max} bytes"),
        ));
    }
    Ok(Some(bytes))
}

/// Injects faults: a disk that fills up, a process that dies between two operations.
#[cfg(test)]
pub(crate) mod faults {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::Disk;

    /// Counts down to the fault.
    #[derive(Debug)]
    pub(crate) struct Faults {
        /// Bytes that can still be written before the disk is full.
        pub bytes_left: AtomicU64,
        /// Operations that still succeed before the process is dead.
        pub steps_left: AtomicU64,
    }

    impl Faults {
        pub fn step(&self) -> io::Result<()> {
            self.steps_left
                .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                .map(|_| ())
                .map_err(|_| io::Error::other("the process is dead"))
        }

        pub fn allow(&self, wanted: usize) -> io::Result<usize> {
            self.step()?;
            let left = self.bytes_left.load(Relaxed);
            let allowed = left.min(wanted as u64);
            self.bytes_left.store(left - allowed, Relaxed);
            if allowed == 0 && wanted > 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(allowed as usize)
        }
    }

    /// A disk with room for this many bytes.
    pub(crate) fn with_room_for(bytes: u64) -> (Disk, Arc<Faults>) {
        with(bytes, u64::MAX)
    }

    /// A disk on which everything fails after this many operations.
    pub(crate) fn dying_after(steps: u64) -> (Disk, Arc<Faults>) {
        with(u64::MAX, steps)
    }

    fn with(bytes: u64, steps: u64) -> (Disk, Arc<Faults>) {
        let faults = Arc::new(Faults {
            bytes_left: AtomicU64::new(bytes),
            steps_left: AtomicU64::new(steps),
        });
        let disk = Disk {
            faults: Some(faults.clone()),
        };
        (disk, faults)
    }
}
