//! Text files that options name.

use std::fs::File;
use std::io::{self, Read as _};

/// Reads a text file of at most so many bytes; a file without an end, as `/dev/zero`, is too large.
///
/// Errors: those of the system; the file is larger, or holds no text.
pub fn read_text(path: &str, most_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?
        .take(most_bytes + 1)
        .read_to_string(&mut text)?;
    match read as u64 > most_bytes {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(text),
    }
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
