//! Repeated reading of a small kernel file at little cost.
//!
//! It stays open and its buffer stays allocated: a reading is one seek and two reads. A file under
//! `/proc/thread-self/net` that stays open keeps showing the namespace it was opened in.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use sokudo_model::Text;

use crate::Unavailable;

/// Longest text that is read; larger than `/proc/stat` of a machine with 4096 cores.
const LIMIT_BYTES: usize = 4 << 20;

/// First size of the buffer: the kernel hands these files out a page at a time.
const START_BYTES: usize = 4096;

/// A kernel file that stays open.
pub(crate) struct Reread {
    file: File,
    buffer: Vec<u8>,
}

/// Says that a file of the system cannot be opened.
pub(crate) fn cannot_open(path: &Path, error: &std::io::Error) -> Unavailable {
    Unavailable::System(
        Text::new("error-monitor-open")
            .with("path", path.display())
            .with("error", error),
    )
}

impl Reread {
    /// Opens the file. Errors: names the file and the system's reason.
    pub(crate) fn open(path: &Path) -> Result<Self, Unavailable> {
        let file = File::open(path).map_err(|error| cannot_open(path, &error))?;
        Ok(Self {
            file,
            buffer: Vec::new(),
        })
    }

    /// Opens the file and reads it once, for files that exist but refuse to be read.
    pub(crate) fn open_readable(path: &Path) -> Result<Self, Unavailable> {
        let mut opened = Self::open(path)?;
        opened.fill().map_err(|error| {
            Unavailable::System(
                Text::new("error-monitor-file")
                    .with("file", path.display())
                    .with("error", error),
            )
        })?;
        Ok(opened)
    }

    /// The whole text as it is now; `None` when it cannot be read or is not text.
    pub(crate) fn text(&mut self) -> Option<&str> {
        let length = self.fill().ok()?;
        std::str::from_utf8(&self.buffer[..length]).ok()
    }

    /// Reads from the start to the end and returns the length.
    fn fill(&mut self) -> std::io::Result<usize> {
        self.file.rewind()?;
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                if length >= LIMIT_BYTES {
                    return Ok(length);
                }
                self.buffer.resize((length * 2).max(START_BYTES), 0);
            }
            match self.file.read(&mut self.buffer[length..]) {
                Ok(0) => return Ok(length),
                Ok(more) => length += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Text of a small file, without the white space around it; `None` when it cannot be read.
pub(crate) fn read_trimmed(path: &Path) -> Option<String> {
    read_bounded(path, 64 << 10)
        .ok()
        .map(|text| text.trim().to_owned())
}

/// At most `limit_bytes` of a file, invalid UTF-8 replaced.
pub(crate) fn read_bounded(path: &Path, limit_bytes: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(limit_bytes)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_and_shrinks_is_read_whole_each_time() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("file");
        std::fs::write(&path, "a".repeat(10_000)).expect("write");
        let mut file = Reread::open(&path).expect("open");
        assert_eq!(file.text().map(str::len), Some(10_000));
        std::fs::write(&path, "short").expect("write");
        assert_eq!(file.text(), Some("short"));
    }

    #[test]
    fn a_missing_file_is_named_in_the_reason() {
        let why = Reread::open(Path::new("/nowhere/at/all")).err();
        let why = why.expect("cannot be opened").to_string();
        assert!(
            why.starts_with("not available on this system: `/nowhere/at/all`"),
            "{why}"
        );
    }
}
