//! Directories that changed, until a round replicates them. Pure: times are arguments.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::path::RelPath;

/// A change waits this long for the next one: what one program writes belongs into one round.
const QUIET: Duration = Duration::from_millis(50);
/// A change waits this long at most, however many follow.
const PATIENT: Duration = Duration::from_millis(500);
/// Most directories that are remembered; with more, everything is examined.
const MOST_DIRECTORIES: usize = 10_000;

/// Scope of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Directories, each after those above it, and whether all below belongs to it; `None`: everything.
    pub directories: Option<Vec<(RelPath, bool)>>,
    /// Time at which the first of the changes was seen.
    pub since: Duration,
}

/// Changes that no round has taken yet. Times are since some moment, the same for all calls.
#[derive(Debug, Default)]
pub struct Dirty {
    directories: BTreeMap<RelPath, bool>,
    everything: bool,
    /// First and last change.
    seen: Option<(Duration, Duration)>,
}

impl Dirty {
    /// Takes note of a change in a directory, or anywhere `below` it.
    pub fn note(&mut self, now: Duration, directory: RelPath, below: bool) {
        self.see(now);
        if self.everything {
            return;
        }
        *self.directories.entry(directory).or_default() |= below;
        if self.directories.len() > MOST_DIRECTORIES {
            self.note_everything(now);
        }
    }

    /// Takes note that changes were missed, at an unknown place.
    pub fn note_everything(&mut self, now: Duration) {
        self.see(now);
        self.everything = true;
        self.directories.clear();
    }

    fn see(&mut self, now: Duration) {
        let first = self.seen.map_or(now, |(first, _)| first);
        self.seen = Some((first, now));
    }

    /// Time until a round is due; `None` without a change.
    pub fn due_in(&self, now: Duration) -> Option<Duration> {
        let (first, last) = self.seen?;
        let at = (last + QUIET).min(first + PATIENT);
        Some(at.saturating_sub(now))
    }

    /// The next round, when one is due.
    pub fn take(&mut self, now: Duration) -> Option<Due> {
        self.due_in(now).filter(Duration::is_zero)?;
        let (since, _) = self.seen.take()?;
        let directories = std::mem::take(&mut self.directories);
        let everything = std::mem::take(&mut self.everything);
        Some(Due {
            directories: (!everything).then(|| outermost(directories)),
            since,
        })
    }
}

/// Leaves out what lies below a directory that is looked at with all below it.
fn outermost(directories: BTreeMap<RelPath, bool>) -> Vec<(RelPath, bool)> {
    let mut whole: Vec<RelPath> = Vec::new();
    let mut kept = Vec::new();
    // By depth: what is above comes first, whatever bytes names have.
    let mut sorted: Vec<(RelPath, bool)> = directories.into_iter().collect();
    sorted.sort_by_key(|(path, _)| path.depth());
    for (path, below) in sorted {
        if whole.iter().any(|above| path.is_below(above)) {
            continue;
        }
        if below {
            whole.push(path.clone());
        }
        kept.push((path, below));
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text.as_bytes()).unwrap()
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_round_waits_for_quiet_and_not_for_ever() {
        let mut dirty = Dirty::default();
        assert_eq!(dirty.due_in(ms(0)), None);
        assert_eq!(dirty.take(ms(1_000)), None);
        dirty.note(ms(1_000), path("a"), false);
        assert_eq!(dirty.take(ms(1_049)), None);
        for at in (1_040..1_500).step_by(20) {
            dirty.note(ms(at), path("b"), false);
            assert_eq!(dirty.take(ms(at)), None, "{at}");
        }
        let due = dirty.take(ms(1_500)).unwrap();
        assert_eq!(due.since, ms(1_000));
        let both = vec![(path("a"), false), (path("b"), false)];
        assert_eq!(due.directories, Some(both));
        assert_eq!(dirty.due_in(ms(1_500)), None);
    }

    #[test]
    fn what_is_below_a_whole_directory_is_looked_at_once() {
        let mut dirty = Dirty::default();
        for (text, below) in [("a/b/c", false), ("a.x", false), ("a", true), ("", false)] {
            dirty.note(ms(0), path(text), below);
        }
        let due = dirty.take(ms(50)).unwrap().directories.unwrap();
        let expected = [("", false), ("a", true), ("a.x", false)];
        assert_eq!(due, expected.map(|(text, below)| (path(text), below)));
    }

    #[test]
    fn what_was_missed_is_found_by_looking_at_everything() {
        let mut dirty = Dirty::default();
        dirty.note(ms(0), path("a"), false);
        dirty.note_everything(ms(1));
        dirty.note(ms(2), path("b"), true);
        assert_eq!(dirty.take(ms(100)).unwrap().directories, None);
        for number in 0..=MOST_DIRECTORIES {
            dirty.note(ms(200), path(&number.to_string()), false);
        }
        assert_eq!(dirty.take(ms(300)).unwrap().directories, None);
    }

    proptest! {
        #[test]
        fn every_change_is_in_the_next_round(
            changes in prop::collection::vec(("([a-c]/){0,4}[a-c]", any::<bool>()), 1..40),
        ) {
            let mut dirty = Dirty::default();
            for (text, below) in &changes {
                dirty.note(ms(0), path(text), *below);
            }
            let due = dirty.take(PATIENT).unwrap().directories.unwrap();
            for (text, below) in &changes {
                let changed = path(text);
                let has_it = due.iter().any(|(path, whole)| {
                    (*path == changed && (*whole || !below)) || (*whole && changed.is_below(path))
                });
                prop_assert!(has_it, "{}", text);
            }
            let depths: Vec<usize> = due.iter().map(|(path, _)| path.depth()).collect();
            prop_assert!(depths.is_sorted());
        }
    }
}
