//! Checks that the tree follows the rules of its architecture.
//!
//! Each rule is one test; a failure lists every offence with the file and what to do about it.

mod cycles;
mod edges;
mod errors;
mod names;
mod shapes;
mod source;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing written by people.
const NOT_OURS: &[&str] = &[
    ".git",
    "node_modules",
    "dist",
    "runs",
    "proptest-regressions",
];

/// Folders into which cargo builds.
const BUILT: &[&str] = &["target", "fuzz/target"];

/// Root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below `directory` that people wrote, relative to the root, in order.
fn files_below(directory: &str) -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    let mut open = vec![root.join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            // In a second working tree `.git` is a file.
            if NOT_OURS.iter().any(|skipped| name == *skipped) {
                continue;
            }
            let is_built = || BUILT.iter().any(|built| path == root.join(built));
            if path.is_dir() {
                open.extend((!is_built()).then_some(path));
            } else if let Ok(relative) = path.strip_prefix(&root) {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The files below `directory` with one of these extensions, and their text.
fn texts_below(directory: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let wanted = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|wanted| extension == *wanted)
    };
    let files = files_below(directory).into_iter().filter(wanted);
    files
        .filter_map(|path| Some((path.clone(), text_of(&path)?)))
        .collect()
}

/// Text of a file, given relative to the root; `None` when it is not there or is not text.
fn text_of(relative: &Path) -> Option<String> {
    fs::read_to_string(root().join(relative)).ok()
}

/// Names of the folders directly inside `directory`, in order.
fn folders_in(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(directory)).into_iter().flatten();
    let mut names: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Fails the test with all offences.
#[track_caller]
fn none(offences: Vec<String>) {
    assert!(offences.is_empty(), "\n{}\n", offences.join("\n"));
}
