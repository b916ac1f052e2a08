//! Creates files that only their owner may read, and notes for the program after this one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Longest note, bytes.
const NOTE_MAX: u64 = 1 << 20;

/// Options for a file that is created if it is missing, and that only its owner may read.
///
/// On Unix its mode is 0600. Windows gives a file the access list of its folder, and below a user's
/// own folder that is the user, the system and administrators.
pub fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A file that tells the next program what this one has to undo, when this one is killed.
#[derive(Debug)]
pub struct Note {
    /// Locked as long as this process lives.
    file: File,
    path: PathBuf,
}

impl Note {
    /// Writes it; nobody sees it before it is locked and whole.
    ///
    /// Errors: the file cannot be written.
    pub fn write(path: &Path, text: &str) -> io::Result<Self> {
        let beside = path.with_extension("tmp");
        let mut file = owner_only().write(true).truncate(true).open(&beside)?;
        file.lock()?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    /// The notes in a folder whose names begin so, whose writers are gone, with what they say. One that cannot
    /// be read says nothing.
    pub fn left(folder: &Path, beginning: &str) -> Vec<(Self, String)> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_note = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(beginning) && name.ends_with(".json")
        };
        let paths = entries.map(|entry| entry.path()).filter(is_note);
        paths.filter_map(Self::left_at).collect()
    }

    fn left_at(path: PathBuf) -> Option<(Self, String)> {
        let file = File::open(&path).ok()?;
        // The process that holds the lock is alive.
        file.try_lock().ok()?;
        let mut text = String::new();
        if (&file).take(NOTE_MAX).read_to_string(&mut text).is_err() {
            text.clear();
        }
        Some((Self { file, path }, text))
    }

    /// Removes it: everything is undone.
    pub fn remove(self) {
        // A file that stays is looked at by the next program.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn others_may_not_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        owner_only().write(true).open(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_note_is_found_once_its_writer_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let note = Note::write(&folder.path().join("note-1.json"), "undo").unwrap();
        assert!(Note::left(folder.path(), "note-").is_empty(), "it is alive");
        drop(note);
        assert!(Note::left(folder.path(), "other-").is_empty());
        let (note, text) = Note::left(folder.path(), "note-").pop().expect("a note");
        assert_eq!(text, "undo");
        note.remove();
        assert!(Note::left(folder.path(), "note-").is_empty());
    }
}
