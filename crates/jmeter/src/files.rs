//! Access to the files that a plan names.
//!
//! The caller provides it: the program uses the disk, a test a list. This crate opens no file.

use std::collections::BTreeMap;
use std::io;

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
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Fails if a file may not be opened in place, to be read and written. Relative paths start at the current
    /// folder.
    fn may_open_here(&self, _path: &str) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Mode of writing to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Behind what is in it.
    Append,
    /// In the place of what is in it.
    Replace,
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
}
