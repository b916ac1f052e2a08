//! Lists the runs and finds the one that the operator named.

use std::path::{Component, Path, PathBuf};

use sokudo_model::{RunStatus, Summary};

use crate::layout::{FINDINGS, RUN_JSON, SERIES, SPOOL};
use crate::manifest::{FindingsFile, JSON_BYTES_MAX, parse_json};
use crate::{StoreError, disk, read_manifest};

/// One directory under the root.
#[derive(Debug)]
pub struct RunEntry {
    /// Name of the directory, which is the run's id.
    pub id: String,
    /// The directory.
    pub path: PathBuf,
    /// The content of its `run.json`, or why that cannot be read: a broken record.
    pub info: Result<RunInfo, StoreError>,
}

/// A run in a few words.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// Start in wall-clock time, RFC 3339.
    pub started: String,
    /// The same as nanoseconds since the Unix epoch.
    pub started_unix_ns: i64,
    /// The workload that the run is named after.
    pub workload: String,
    /// Load of the run, in a few words.
    pub did: String,
    /// Its status; `running` also for a run that was never closed.
    pub status: RunStatus,
    /// False when a check of the run failed.
    pub is_passed: bool,
    /// Totals over the run.
    pub summary: Summary,
}

/// The runs under `root`, newest first, broken records last. No root, no runs.
///
/// A directory without any file of a record is not listed.
pub fn list(root: &Path) -> Result<Vec<RunEntry>, StoreError> {
    let mut entries: Vec<RunEntry> = disk::list_dir(root)?
        .into_iter()
        .filter(|path| {
            [RUN_JSON, SERIES, SPOOL]
                .iter()
                .any(|f| path.join(f).exists())
        })
        .filter_map(|path| entry(&path))
        .collect();
    entries.sort_by_key(|e| {
        let started = e.info.as_ref().map_or(i64::MIN, |i| i.started_unix_ns);
        std::cmp::Reverse((started, e.id.clone()))
    });
    Ok(entries)
}

/// Removes a record as a whole, for a run that measured nothing.
///
/// Errors: [`StoreError::NotARecord`] when the directory holds no `run.json`, which protects other
/// directories, and what the disk says.
pub fn discard(record: &Path) -> Result<(), StoreError> {
    if !record.join(RUN_JSON).is_file() {
        return Err(StoreError::NotARecord {
            path: record.to_path_buf(),
        });
    }
    std::fs::remove_dir_all(record).map_err(|e| StoreError::io("remove", record, e))
}

fn entry(path: &Path) -> Option<RunEntry> {
    let info = read_manifest(path).map(|manifest| RunInfo {
        is_passed: is_passed(path),
        did: manifest.did(),
        started: manifest.started,
        started_unix_ns: manifest.started_unix_ns,
        workload: manifest.workload,
        status: manifest.status,
        summary: manifest.summary,
    });
    Some(RunEntry {
        id: path.file_name()?.to_str()?.into(),
        path: path.to_path_buf(),
        info,
    })
}

/// Whether every check of a record passed; a record without readable conclusions has none that failed.
fn is_passed(record: &Path) -> bool {
    let file = record.join(FINDINGS);
    let bytes = disk::read(&file, JSON_BYTES_MAX).ok().flatten();
    let read = bytes.and_then(|bytes| parse_json::<FindingsFile>(&file, &bytes).ok());
    read.is_none_or(|read| read.checks.iter().all(|check| check.passed))
}

/// Directory of the run that `text` means: a whole id, the unique beginning or end of one,
/// `latest`, or a path. An end is one or more whole parts between hyphens: `bf4d`, `http-bf4d`.
///
/// Errors: [`StoreError::Unknown`], [`StoreError::Ambiguous`]; for a path that is not a record,
/// [`StoreError::NotARecord`].
pub fn resolve(root: &Path, text: &str) -> Result<PathBuf, StoreError> {
    if is_path(text) {
        return existing(Path::new(text));
    }
    if !text.is_empty() && root.join(text).join(RUN_JSON).exists() {
        return Ok(root.join(text));
    }
    let entries = list(root)?;
    if text == "latest" {
        let newest = entries.into_iter().find(|e| e.info.is_ok());
        return newest
            .map(|e| e.path)
            .ok_or_else(|| unknown(root, text, &[]));
    }
    let matches: Vec<&RunEntry> = entries
        .iter()
        .filter(|e| !text.is_empty() && (e.id.starts_with(text) || ends_with_part(&e.id, text)))
        .collect();
    match matches[..] {
        [] if Path::new(text).join(RUN_JSON).exists() => Ok(PathBuf::from(text)),
        [] => Err(unknown(root, text, &entries)),
        [one] => Ok(one.path.clone()),
        _ => Err(StoreError::Ambiguous {
            text: text.into(),
            root: root.to_path_buf(),
            candidates: matches.iter().map(|e| e.id.clone()).collect(),
        }),
    }
}

/// Whether the last parts of a run's name are `text`.
fn ends_with_part(id: &str, text: &str) -> bool {
    id.strip_suffix(text)
        .is_some_and(|rest| rest.ends_with('-'))
}

/// True for text that cannot be a name inside the root: `./x`, `a/b`, `/x`, `..`.
fn is_path(text: &str) -> bool {
    let mut components = Path::new(text).components();
    let one_name = matches!(components.next(), None | Some(Component::Normal(_)));
    !one_name || components.next().is_some() || text.ends_with(std::path::is_separator)
}

fn existing(path: &Path) -> Result<PathBuf, StoreError> {
    // `runs/<id>/run.json` means its record, too.
    let record = match path.file_name() {
        Some(name) if name == RUN_JSON => path.parent().unwrap_or(path),
        _ => path,
    };
    if record.join(RUN_JSON).exists() {
        return Ok(record.to_path_buf());
    }
    Err(StoreError::NotARecord {
        path: record.to_path_buf(),
    })
}

fn unknown(root: &Path, text: &str, entries: &[RunEntry]) -> StoreError {
    const SHOWN: usize = 5;
    StoreError::Unknown {
        text: text.into(),
        root: root.to_path_buf(),
        newest: entries.iter().take(SHOWN).map(|e| e.id.clone()).collect(),
    }
}
