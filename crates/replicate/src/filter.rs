//! Filter of the names of a replication: include and exclude patterns.
//!
//! Patterns are globs of the path below the root: `*` within a name, `**` over directories, `?`,
//! `[…]`, `{a,b}`. A pattern without `/` fits the last name anywhere. What is excluded is neither
//! listed nor removed at the target. With includes, a file must fit one of them; directories are
//! always walked.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use xxhash_rust::xxh3::xxh3_64;

use crate::path::RelPath;

/// Longest pattern, and most of them.
const MAX_PATTERN: usize = 1_024;
const MAX_PATTERNS: usize = 1_000;

/// Compiled patterns.
#[derive(Debug, Clone)]
pub struct Filter {
    include: GlobSet,
    exclude: GlobSet,
    /// Of 2^32 files so many are taken, by a hash of their path; `None`: all.
    sampled: Option<u32>,
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` is not understood: {why}")]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// Reason.
    pub why: String,
}

fn compile(patterns: &[String]) -> Result<GlobSet, BadPattern> {
    let bad = |pattern: &str, why: String| BadPattern {
        pattern: pattern.into(),
        why,
    };
    if patterns.len() > MAX_PATTERNS {
        return Err(bad(
            &patterns[0],
            format!("there are more than {MAX_PATTERNS}"),
        ));
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if pattern.len() > MAX_PATTERN {
            return Err(bad(pattern, format!("it is longer than {MAX_PATTERN} B")));
        }
        let stripped = pattern.strip_prefix('/').unwrap_or(pattern);
        let stripped = stripped.strip_suffix('/').unwrap_or(stripped);
        let whole = match pattern.trim_end_matches('/').contains('/') {
            true => stripped.to_owned(),
            false => format!("**/{stripped}"),
        };
        let glob = GlobBuilder::new(&whole).literal_separator(true).build();
        set.add(glob.map_err(|error| bad(pattern, error.kind().to_string()))?);
    }
    set.build()
        .map_err(|error| bad("", error.kind().to_string()))
}

impl Filter {
    /// From include and exclude patterns; without includes everything is included.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, BadPattern> {
        Ok(Self {
            include: compile(include)?,
            exclude: compile(exclude)?,
            sampled: None,
        })
    }

    /// The same for a share of the files, from 0 to 1: always the same ones.
    pub fn sampled(self, share: f64) -> Self {
        let of_all = (share.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32;
        Self {
            sampled: (share < 1.0).then_some(of_all),
            ..self
        }
    }

    /// True when nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty() && self.sampled.is_none()
    }

    /// True when the directory and those above it belong to the replication.
    pub fn takes_directory(&self, path: &RelPath) -> bool {
        if self.is_everything() {
            return true;
        }
        match path.split() {
            None => true,
            Some((above, name)) => self.takes(&above, name, true) && self.takes_directory(&above),
        }
    }

    /// True when the name in this directory belongs to the replication.
    pub fn takes(&self, directory: &RelPath, name: &[u8], is_directory: bool) -> bool {
        if self.is_everything() {
            return true;
        }
        let Ok(path) = directory.join(name) else {
            // Such a name is reported where it is listed.
            return true;
        };
        if let Some(most) = self.sampled.filter(|_| !is_directory)
            && xxh3_64(path.as_bytes()) as u32 > most
        {
            return false;
        }
        let path = as_path(path.as_bytes());
        !self.exclude.is_match(&path)
            && (is_directory || self.include.is_empty() || self.include.is_match(&path))
    }
}

#[cfg(unix)]
fn as_path(bytes: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn as_path(bytes: &[u8]) -> std::path::PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sample_takes_its_share_of_the_files_and_every_directory() {
        let filter = Filter::new(&[], &[]).unwrap().sampled(0.2);
        let taken = |is_directory| {
            let names = (0..5_000).map(|number| format!("f{number}"));
            names
                .filter(|name| filter.takes(&RelPath::root(), name.as_bytes(), is_directory))
                .count()
        };
        assert!((800..1_200).contains(&taken(false)), "{}", taken(false));
        assert_eq!(taken(true), 5_000);
        assert!(!filter.is_everything());
    }

    use super::*;

    fn takes(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let filter = Filter::new(&owned(include), &owned(exclude)).unwrap();
        let path = RelPath::parse(path.as_bytes()).unwrap();
        let (directory, name) = path.split().unwrap();
        filter.takes(&directory, name, false)
    }

    #[test]
    fn patterns_mean_what_users_of_globs_expect() {
        assert!(takes(&[], &[], "a/b"));
        assert!(!takes(&[], &["*.tmp"], "a/b.tmp"));
        assert!(takes(&[], &["/*.tmp"], "a/b.tmp"));
        assert!(!takes(&[], &["/*.tmp"], "b.tmp"));
        assert!(!takes(&[], &["cache/**"], "cache/x/y"));
        assert!(takes(&[], &["cache/*"], "cache/x/y"));
        assert!(takes(&["*.rs"], &[], "src/lib.rs"));
        assert!(!takes(&["*.rs"], &[], "src/lib.c"));
        assert!(!takes(&["*.rs"], &["target/**"], "target/a.rs"));
        assert!(!takes(&[], &["名*"], "a/名前"));
    }

    #[test]
    fn a_pattern_that_is_no_glob_is_named() {
        let error = Filter::new(&[], &["a[".into()]).unwrap_err();
        assert_eq!(error.pattern, "a[");
    }
}
