//! The journal of changed knobs: what was before, so that it can be put back.
//!
//! One JSON object per line, written before the change has effect. The file is for people and for
//! programs that were killed between a change and its undoing.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sokudo_net::files::owner_only;

/// Changes that are kept at most; the oldest ones can no longer be undone beyond it.
const CHANGES_MAX: usize = 100_000;

/// One knob that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// From 1 on.
    pub number: u64,
    /// Name of the knob.
    pub key: String,
    /// Its value before.
    pub old: Value,
    /// Its value from then on.
    pub new: Value,
}

/// All changes that can be undone.
pub(crate) struct Journal {
    file: Option<File>,
    changes: Vec<Change>,
    last: u64,
}

impl Journal {
    /// A journal that nobody can read.
    pub(crate) fn none() -> Self {
        Self {
            file: None,
            changes: Vec::new(),
            last: 0,
        }
    }

    /// An empty journal in a file. Errors: the file cannot be written.
    pub(crate) fn create(path: PathBuf) -> Result<Self, (PathBuf, io::Error)> {
        let file = owner_only().write(true).truncate(true).open(&path);
        let file = file.map_err(|error| (path, error))?;
        Ok(Self {
            file: Some(file),
            ..Self::none()
        })
    }

    /// Adds changes, and returns them with their numbers.
    pub(crate) fn add(&mut self, mut changes: Vec<Change>) -> Vec<Change> {
        for change in &mut changes {
            self.last += 1;
            change.number = self.last;
        }
        self.changes.extend(changes.iter().cloned());
        let beyond = self.changes.len().saturating_sub(CHANGES_MAX);
        self.changes.drain(..beyond);
        self.write(&changes);
        changes
    }

    /// The changes after a number, the latest first.
    pub(crate) fn after(&self, number: u64) -> Vec<Change> {
        let later = self.changes.iter().rev();
        later
            .take_while(|change| change.number > number)
            .cloned()
            .collect()
    }

    /// Forgets the changes after a number.
    pub(crate) fn cut(&mut self, number: u64) {
        self.changes.retain(|change| change.number <= number);
        if let Some(file) = &mut self.file {
            // A full disk does not keep the knobs from being put back.
            let _ = file.set_len(0).and_then(|()| file.rewind());
        }
        self.write(&self.changes.clone());
    }

    /// All changes that can be undone.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn write(&mut self, changes: &[Change]) {
        let Some(file) = &mut self.file else { return };
        let lines = changes
            .iter()
            .filter_map(|change| serde_json::to_string(change).ok());
        let text: String = lines.flat_map(|line| [line, "\n".into()]).collect();
        // The changes are known to the target also when the disk is full.
        let _ = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_data());
    }
}

/// A value as it is typed.
pub(crate) fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, old: u64, new: u64) -> Change {
        Change {
            number: 0,
            key: key.into(),
            old: old.into(),
            new: new.into(),
        }
    }

    #[test]
    fn changes_are_numbered_kept_in_a_file_and_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut journal = Journal::create(path.clone()).expect("a file");
        let first = journal.add(vec![
            change("pool.max", 10, 50),
            change("workers.max", 1, 2),
        ]);
        assert_eq!(first.iter().map(|c| c.number).collect::<Vec<_>>(), [1, 2]);
        journal.add(vec![change("pool.max", 50, 60)]);
        let later = journal.after(1);
        assert_eq!(later.iter().map(|c| c.number).collect::<Vec<_>>(), [3, 2]);
        let lines = || std::fs::read_to_string(&path).expect("text");
        let kept: Vec<Change> = lines()
            .lines()
            .map(|line| serde_json::from_str(line).expect("a change"))
            .collect();
        assert_eq!(kept, journal.changes());
        journal.cut(1);
        assert_eq!(lines().lines().count(), 1);
        assert_eq!(journal.add(vec![change("pool.max", 1, 2)])[0].number, 4);
    }
}
