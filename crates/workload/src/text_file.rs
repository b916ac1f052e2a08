//! Files that options name.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file of at most so many bytes; a file without an end, as `/dev/zero`, is too large.
///
/// Errors: those of the system; the file is larger.
pub fn read_bytes(path: impl AsRef<Path>, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?
        .take(most_bytes + 1)
        .read_to_end(&mut bytes)?;
    match read as u64 > most_bytes {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// The same for a text.
///
/// Errors: as well, the file holds no text.
pub fn read_text(path: impl AsRef<Path>, most_bytes: u64) -> io::Result<String> {
    let text = String::from_utf8(read_bytes(path, most_bytes)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_file_without_an_end_is_too_large() {
        let kind = |most| read_text("/dev/zero", most).map_err(|error| error.kind());
        assert_eq!(kind(100), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(read_text("/dev/null", 100).ok().as_deref(), Some(""));
    }
}
