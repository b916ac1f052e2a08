//! Access to the files that a plan names.
//!
//! The caller provides it: the program uses the disk, a test a list. This crate opens no file.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Reads and writes the files that a plan names.
pub trait Files {
    /// The bytes of a file, at most `most_bytes` of them.
    ///
    /// Relative paths start at the directory of the plan. Fails if the file does not exist, cannot
    /// be read, or is larger.
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>>;

    /// True if the file exists.
    fn exists(&self, path: &str) -> bool;

    /// As [`Files::read`], with relative paths that start at the current folder.
    fn read_here(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.read(path, most_bytes)
    }

    /// As [`Files::exists`], with relative paths that start at the current folder.
    fn exists_here(&self, path: &str) -> bool {
        self.exists(path)
    }

    /// Writes a file whose folder exists, behind what is in it or in its place. Relative paths start at the
    /// current folder.
    ///
    /// Fails if it cannot be written, or nothing may be.
    fn write_here(&self, _path: &str, _bytes: &[u8], _mode: WriteMode) -> io::Result<()> {
        Err(not_written())
    }

    /// What is known of a file or folder; `None`: there is none. Relative paths start at the current folder.
    ///
    /// Fails if nothing may be told of it.
    fn about_here(&self, path: &str) -> io::Result<Option<FileAbout>> {
        Ok(self.exists_here(path).then(FileAbout::default))
    }

    /// The names in a folder; `None`: there is none. Relative paths start at the current folder.
    fn list_here(&self, _path: &str) -> io::Result<Option<Vec<String>>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Makes a folder whose parent exists; false if that failed. Relative paths start at the current folder.
    fn make_folder_here(&self, _path: &str) -> io::Result<bool> {
        Err(not_written())
    }

    /// Removes a file or an empty folder; false if that failed. Relative paths start at the current folder.
    fn remove_here(&self, _path: &str) -> io::Result<bool> {
        Err(not_written())
    }

    /// The current folder, and that of the plan.
    fn folders(&self) -> io::Result<[String; 2]> {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a host that was sent its plan has no folder for it: name files as the plan's folder has them",
        ))
    }

    /// The environment of the program, which scripts read.
    fn environment(&self) -> io::Result<BTreeMap<String, String>> {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a host that was sent its plan lends it no environment: give what it reads as properties",
        ))
    }

    /// The same files for scripts that are executed before the test; `None`: they have none.
    fn lent(&self) -> Option<Arc<dyn Files + Send + Sync>> {
        None
    }

    /// Fails if a file may not be opened in place, to be read and written. Relative paths start at the current
    /// folder.
    fn may_open_here(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// What is known of a file or folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileAbout {
    /// True for a folder.
    pub is_folder: bool,
    /// Its size, bytes.
    pub bytes: u64,
    /// Milliseconds since 1970 at its last change; 0: unknown.
    pub changed_ms: u64,
}

fn not_written() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "a host that was sent its plan writes no files: execute the plan where the file shall be",
    )
}

/// Mode of writing to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Behind what is in it.
    Append,
    /// In the place of what is in it.
    Replace,
}

/// Files of which nothing is changed: a plan is read more often than it is executed.
pub(crate) struct ReadOnly(pub Arc<dyn Files + Send + Sync>);

impl ReadOnly {
    fn unchanged() -> io::Error {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            "what is computed before the test changes no files",
        )
    }
}

impl Files for ReadOnly {
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.0.read(path, most_bytes)
    }

    fn exists(&self, path: &str) -> bool {
        self.0.exists(path)
    }

    fn read_here(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.0.read_here(path, most_bytes)
    }

    fn exists_here(&self, path: &str) -> bool {
        self.0.exists_here(path)
    }

    fn write_here(&self, _path: &str, _bytes: &[u8], _mode: WriteMode) -> io::Result<()> {
        Err(Self::unchanged())
    }

    fn about_here(&self, path: &str) -> io::Result<Option<FileAbout>> {
        self.0.about_here(path)
    }

    fn list_here(&self, path: &str) -> io::Result<Option<Vec<String>>> {
        self.0.list_here(path)
    }

    fn make_folder_here(&self, _path: &str) -> io::Result<bool> {
        Err(Self::unchanged())
    }

    fn remove_here(&self, _path: &str) -> io::Result<bool> {
        Err(Self::unchanged())
    }

    fn folders(&self) -> io::Result<[String; 2]> {
        self.0.folders()
    }

    fn environment(&self) -> io::Result<BTreeMap<String, String>> {
        self.0.environment()
    }
}

/// Files that exist only in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(pub BTreeMap<String, Vec<u8>>);

impl Files for MemoryFiles {
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() as u64 > most_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.clone())
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    fn about_here(&self, path: &str) -> io::Result<Option<FileAbout>> {
        let bytes = self.0.get(path).map(|bytes| bytes.len() as u64);
        Ok(bytes.map(|bytes| FileAbout {
            bytes,
            ..FileAbout::default()
        }))
    }
}
