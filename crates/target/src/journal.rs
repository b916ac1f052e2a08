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
    /// The hold that it was made under, which puts it back in the end.
    #[serde(default)]
    pub hold: Option<u64>,
}

/// All changes that can be undone.
pub(crate) struct Journal {
    file: Option<File>,
    changes: Vec<Change>,
    last: u64,
}

impl Journal {
    /// A journal that cannot be read.
    pub(crate) fn none() -> Self {
        Self {
            file: None,
            changes: Vec::new(),
            last: 0,
        }
    }

    /// An empty journal in a file, and the changes that stood in it: those of a target that was killed.
    /// Errors: the file cannot be written.
    pub(crate) fn create(path: PathBuf) -> Result<(Self, Vec<Change>), (PathBuf, io::Error)> {
        let left = std::fs::read_to_string(&path).unwrap_or_default();
        let left = left
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let left = left.take(CHANGES_MAX).collect();
        let file = owner_only().write(true).truncate(true).open(&path);
        let file = file.map_err(|error| (path, error))?;
        let journal = Self {
            file: Some(file),
            ..Self::none()
        };
        Ok((journal, left))
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
        self.rewrite();
    }

    /// Changes that give each knob of a hold the value that it would have without the hold: changes of others stay.
    pub(crate) fn without(&self, hold: u64) -> Vec<Change> {
        let mut out: Vec<Change> = Vec::new();
        let held = |change: &Change| change.hold == Some(hold);
        for change in self.changes.iter().rev().filter(|change| held(change)) {
            if out.iter().any(|known| known.key == change.key) {
                continue;
            }
            let of_knob = || self.changes.iter().filter(|it| it.key == change.key);
            let first = of_knob().next().map(|first| first.old.clone());
            let kept = of_knob().rfind(|it| !held(it)).map(|it| it.new.clone());
            let now = of_knob().next_back().map(|last| last.new.clone());
            out.push(Change {
                old: now.unwrap_or_default(),
                new: kept.or(first).unwrap_or_default(),
                ..change.clone()
            });
        }
        out
    }

    /// Forgets the changes of a hold.
    pub(crate) fn release(&mut self, hold: u64) {
        let mut first: std::collections::BTreeMap<String, Value> =
            std::collections::BTreeMap::new();
        for change in &self.changes {
            let known = first.entry(change.key.clone());
            known.or_insert_with(|| change.old.clone());
        }
        self.changes.retain(|change| change.hold != Some(hold));
        // What is left begins with the value before the hold.
        for change in &mut self.changes {
            if let Some(before) = first.insert(change.key.clone(), change.new.clone()) {
                change.old = before;
            }
        }
        self.rewrite();
    }

    fn rewrite(&mut self) {
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
            hold: None,
        }
    }

    #[test]
    fn changes_are_numbered_kept_in_a_file_and_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let (mut journal, left) = Journal::create(path.clone()).expect("a file");
        assert_eq!(left, []);
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
        drop(journal);
        let (_, left) = Journal::create(path.clone()).expect("a file");
        assert_eq!(left.len(), 2, "a killed target leaves its changes");
        assert_eq!(lines().lines().count(), 0);
    }

    #[test]
    fn a_hold_takes_its_own_changes_out_and_no_others() {
        let mut journal = Journal::none();
        let held = |key: &str, old, new| Change {
            hold: Some(7),
            ..change(key, old, new)
        };
        journal.add(vec![
            held("pool.max", 10, 50),
            held("workers.max", 50, 12),
            held("pool.max", 50, 60),
            change("workers.max", 12, 30),
            change("listen.backlog", 511, 9),
        ]);
        let back = journal.without(7);
        let back: Vec<_> = back
            .iter()
            .map(|c| (c.key.as_str(), &c.old, &c.new))
            .collect();
        let value = |number: u64| Value::from(number);
        assert_eq!(
            back,
            [
                ("pool.max", &value(60), &value(10)),
                ("workers.max", &value(30), &value(30)),
            ]
        );
        journal.release(7);
        let left = journal
            .changes()
            .iter()
            .map(|c| (c.key.as_str(), &c.old, &c.new));
        assert_eq!(
            left.collect::<Vec<_>>(),
            [
                ("workers.max", &value(50), &value(30)),
                ("listen.backlog", &value(511), &value(9)),
            ]
        );
        assert_eq!(journal.without(7), []);
    }
}
