//! Names that a file system takes for one although their bytes differ: in case (`README`, `readme`), or in the form
//! in which Unicode composes characters (`é` as one character, or as `e` with an accent).
//!
//! Of two such names of a directory the first is replicated, and the other is refused: written one after the other,
//! the second would replace the content of the first. A file system is asked only where the source has such
//! names; by a directory that is made for it, or, where nothing may be changed, by names that are there.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, Mode, OFlags};
use unicode_normalization::UnicodeNormalization as _;

use super::stage::{name_hash, staged_name};
use crate::root::{self, Status};

/// Reason for which the second of two such names is refused.
pub(super) const SAME: &str = "the target's file system takes it for another name of its directory, which differs only in case or in Unicode form";

/// What the staged name of the directory that is made to ask is derived from; no file has it.
const PROBE: &[u8] = b"\0";
/// Names that are looked at where nothing may be changed.
const MOST_NAMES: usize = 1_000;

/// Differences that a file system ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Folds {
    /// That of capitals and small letters.
    pub(super) case: bool,
    /// That of composed and decomposed characters.
    pub(super) forms: bool,
}

/// A name in small letters.
fn small(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            // By way of capitals, as `ß` and `ss`, `ς` and `σ` are alike for some file systems.
            let capitals = text.chars().flat_map(char::to_uppercase);
            let small = capitals.flat_map(char::to_lowercase);
            small.collect::<String>().into_bytes()
        }
        _ => name.to_ascii_lowercase(),
    }
}

/// A name in small letters and decomposed: alike for all names that any file system takes for one.
fn alike(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            let parts: String = text.nfd().collect();
            let small = String::from_utf8(small(parts.as_bytes())).unwrap_or(parts);
            small.nfd().collect::<String>().into_bytes()
        }
        _ => small(name),
    }
}

/// Hashes of a name, of its small letters, and of what is alike in all names that may be one with it.
struct Hashes {
    exact: u64,
    small: u64,
    alike: u64,
}

impl Hashes {
    fn of(name: &[u8]) -> Self {
        let exact = name_hash(name);
        // Most names are all three.
        let is_plain = name
            .iter()
            .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        match is_plain {
            true => Self {
                exact,
                small: exact,
                alike: exact,
            },
            false => Self {
                exact,
                small: name_hash(&small(name)),
                alike: name_hash(&alike(name)),
            },
        }
    }
}

/// Difference between two names that may be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Only in case.
    Case,
    /// In the form of Unicode, and perhaps in case.
    Forms,
}

impl Folds {
    /// True for a file system that ignores this difference.
    pub(super) fn ignores(self, difference: Difference) -> bool {
        match difference {
            Difference::Case => self.case,
            Difference::Forms => self.forms,
        }
    }
}

/// The names of a directory by what is alike in them.
#[derive(Default)]
pub(super) struct Names {
    /// Hashes of the names as they are.
    exact: HashSet<u64>,
    /// Of names that are not in small letters and decomposed: hash of what is alike, and of their small letters.
    others: HashMap<u64, u64>,
}

/// The place of a name among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// No other is like it.
    New,
    /// The very name is there.
    Known,
    /// One that differs so is there.
    Alike(Difference),
}

impl Names {
    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.exact.len()
    }

    /// The place of a name among those that were added.
    pub(super) fn place(&self, name: &[u8]) -> Place {
        self.place_of(&Hashes::of(name))
    }

    fn place_of(&self, name: &Hashes) -> Place {
        if self.exact.contains(&name.exact) {
            return Place::Known;
        }
        let first = match self.others.get(&name.alike) {
            Some(small) => *small,
            // Its small letters are the name itself.
            None if self.exact.contains(&name.alike) => name.alike,
            None => return Place::New,
        };
        Place::Alike(match first == name.small {
            true => Difference::Case,
            false => Difference::Forms,
        })
    }

    /// Adds a name; gives its place before, and its hash, which is that of its staged name.
    pub(super) fn add(&mut self, name: &[u8]) -> (Place, u64) {
        let hashes = Hashes::of(name);
        let place = self.place_of(&hashes);
        let Hashes {
            exact,
            small,
            alike,
        } = hashes;
        if alike != exact {
            self.others.entry(alike).or_insert(small);
        }
        self.exact.insert(exact);
        (place, exact)
    }
}

/// What the file system of a directory ignores. A directory is made in it for a moment.
pub(super) fn asked(at: BorrowedFd<'_>) -> io::Result<Folds> {
    let name = staged_name(PROBE);
    root::remove_tree(at, &name, 0)?;
    rustix::fs::mkdirat(at, &name[..], Mode::RWXU)?;
    let folds = in_probe(at, &name);
    root::remove_tree(at, &name, 0)?;
    folds
}

fn in_probe(at: BorrowedFd<'_>, name: &[u8]) -> io::Result<Folds> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let probe = rustix::fs::openat(at, name, flags, Mode::empty())?;
    let finds = |made: &str, asked: &str| -> io::Result<bool> {
        rustix::fs::mkdirat(&probe, made, Mode::RWXU)?;
        Ok(root::status_of(probe.as_fd(), asked.as_bytes())?.is_some())
    };
    Ok(Folds {
        case: finds("name", "NAME")?,
        // A file system that takes no such name folds none.
        forms: finds("\u{e9}", "e\u{301}").unwrap_or(false),
    })
}

/// The same, as far as the names in the directory show it; nothing is changed.
pub(super) fn observed(at: BorrowedFd<'_>) -> io::Result<Folds> {
    let mut folds = Folds::default();
    let mut left = MOST_NAMES;
    root::names(at, |name| {
        left = left.saturating_sub(1);
        let Some(text) = std::str::from_utf8(name).ok().filter(|_| left > 0) else {
            return Ok(());
        };
        let finds = |other: String| -> io::Result<bool> {
            let is_other = other.as_bytes() != name;
            Ok(is_other && is_one(at, name, other.as_bytes())?)
        };
        folds.case |= finds(text.to_uppercase())? || finds(text.to_lowercase())?;
        folds.forms |= finds(text.nfd().collect())? || finds(text.nfc().collect())?;
        Ok(())
    })?;
    Ok(folds)
}

/// True when two names lead to one file that has one name.
fn is_one(at: BorrowedFd<'_>, name: &[u8], other: &[u8]) -> io::Result<bool> {
    let has_one_name = |it: &Status| it.kind == FileType::Directory || it.links == 1;
    let [name, other] = [root::status_of(at, name)?, root::status_of(at, other)?];
    let pair = name.zip(other).filter(|(name, _)| has_one_name(name));
    Ok(pair.is_some_and(|(name, other)| name.inode == other.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[&str]) -> Vec<Place> {
        let mut known = Names::default();
        names
            .iter()
            .map(|name| known.add(name.as_bytes()).0)
            .collect()
    }

    #[test]
    fn names_are_alike_in_case_and_in_form() {
        use Difference::{Case, Forms};
        use Place::{Alike, Known, New};
        for (names, expected) in [
            (["readme", "README"], Alike(Case)),
            (["README", "Readme"], Alike(Case)),
            (["README", "readme"], Alike(Case)),
            (["caf\u{e9}", "cafe\u{301}"], Alike(Forms)),
            (["cafe\u{301}", "caf\u{e9}"], Alike(Forms)),
            (["CAF\u{c9}", "cafe\u{301}"], Alike(Forms)),
            (["CAF\u{c9}", "caf\u{e9}"], Alike(Case)),
            (["Straße", "STRASSE"], Alike(Case)),
            (["\u{30ac}", "\u{30ab}\u{3099}"], Alike(Forms)),
            (["ファイル", "フアイル"], New),
            (["a", "b"], New),
            (["A", "A"], Known),
        ] {
            assert_eq!(places(&names)[1], expected, "{names:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_alike_in_ascii_alone() {
        let mut known = Names::default();
        assert_eq!(known.add(b"A\xff").0, Place::New);
        assert_eq!(known.add(b"a\xff").0, Place::Alike(Difference::Case));
        assert_eq!(known.add(b"a\xfe").0, Place::New);
        assert_eq!(known.len(), 3);
    }

    #[test]
    fn a_file_system_that_tells_names_apart_ignores_nothing_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let root = root::Root::open(place.path()).unwrap();
        std::fs::write(place.path().join("Name"), "").unwrap();
        let before = observed(root.handle()).unwrap();
        let folds = asked(root.handle()).unwrap();
        assert_eq!(before.case, folds.case);
        let names = std::fs::read_dir(place.path()).unwrap();
        assert_eq!(names.count(), 1);
    }
}
