//! Access to the files that a plan names.
//!
//! The caller provides it: the program reads from disk, a test from a list. This crate opens no
//! file.

use std::collections::BTreeMap;
use std::io;

/// Reads the files that a plan names.
pub trait Files {
    /// The bytes of a file, at most `most_bytes` of them.
    ///
    /// Relative paths start at the directory of the plan. Fails if the file does not exist, cannot
    /// be read, or is larger.
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>>;

    /// True if the file exists.
    fn exists(&self, path: &str) -> bool;
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

/// True for a path that stays below the plan's directory, however it is written.
///
/// Plans may include only files below their own directory: absolute paths, drive letters, `..` and
/// control characters are refused.
pub fn stays_inside(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    let odd = path.chars().any(char::is_control);
    let mut parts = path.split('/');
    !path.is_empty() && !path.starts_with('/') && !drive && !odd && parts.all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tricks_with_paths_are_seen() {
        for fine in [
            "a.jmx",
            "parts/login.jmx",
            "./a.jmx",
            "日本/計画.jmx",
            "a..b.jmx",
        ] {
            assert!(stays_inside(fine), "{fine}");
        }
        for trick in [
            "",
            "/etc/x",
            "../a",
            "a/../../b",
            "..\\a",
            "C:\\a",
            "\\\\host\\a",
            "a\0b",
        ] {
            assert!(!stays_inside(trick), "{trick:?}");
        }
    }
}
