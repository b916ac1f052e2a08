//! Errors of records, each with a hint.

use std::io;
use std::path::{Path, PathBuf};

use sokudo_model::{Refusal, Text};

/// Errors of writing or reading a record.
///
/// The message names the cause and the file; [`StoreError::hint`] the next action.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused an operation on a file. Usually permissions or a vanished directory.
    #[error("could not {action} `{path}`: {source}")]
    Io {
        /// The operation: `create`, `write`, `read`, …
        action: &'static str,
        /// File or directory concerned.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The disk, or the user's quota on it, is full. What was recorded before stays on disk.
    #[error("no space left on the disk while writing `{path}`")]
    Full {
        /// File that could not grow.
        path: PathBuf,
    },
    /// There is already a run with this name.
    #[error("`{path}` exists already")]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The text cannot name a run's directory.
    #[error("`{id}` cannot name a run: {why}")]
    BadId {
        /// The text.
        id: String,
        /// The defect.
        why: &'static str,
    },
    /// The directory holds no `run.json`.
    #[error("`{path}` is not a record: it has no run.json")]
    NotARecord {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the record does not hold what it should.
    #[error("`{file}` is damaged: {what}")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// The defect.
        what: String,
    },
    /// The record was written by a newer program.
    #[error("`{file}` has format `{found}`, but this program knows formats up to `{known}`")]
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// Format it names.
        found: String,
        /// Newest format that can be read.
        known: &'static str,
    },
    /// The run was never closed: it is still under way, or its program died.
    #[error("run `{id}` was never closed: it still goes on, or the program that recorded it died")]
    Unfinished {
        /// Name of the run.
        id: String,
    },
    /// Another process records into this directory right now.
    #[error("`{path}` is in use: another process is recording or recovering this run")]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// No run matches.
    #[error("no run matches `{text}` in `{root}`")]
    Unknown {
        /// The request.
        text: String,
        /// The searched directory.
        root: PathBuf,
        /// Names of the newest runs there, newest first, at most five.
        newest: Vec<String>,
    },
    /// Several runs match.
    #[error("`{text}` matches {} runs in `{root}`", candidates.len())]
    Ambiguous {
        /// The request.
        text: String,
        /// The searched directory.
        root: PathBuf,
        /// Names of the runs that match.
        candidates: Vec<String>,
    },
    /// One histogram or event is larger than a spool frame may be.
    #[error("one entry of {bytes} bytes is larger than the {limit} bytes that can be recorded")]
    TooLarge {
        /// Its encoded size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
}

impl StoreError {
    /// The failure as a message.
    pub fn says(&self) -> Text {
        let of = |key: &str, path: &Path| Text::new(key).with("path", path.display());
        match self {
            StoreError::Io {
                action,
                path,
                source,
            } => Text::new("error-store-io")
                .text(
                    "action",
                    Text::new(format!("store-{}", action.replace(' ', "-"))),
                )
                .with("path", path.display())
                .with("error", source),
            StoreError::Full { path } => of("error-store-full", path),
            StoreError::Exists { path } => of("error-store-exists", path),
            StoreError::BadId { id, why } => Text::new("error-store-bad-id")
                .with("id", id)
                .with("why", why),
            StoreError::NotARecord { path } => of("error-store-not-a-record", path),
            StoreError::Corrupt { file, what } => Text::new("error-store-corrupt")
                .with("file", file.display())
                .text("what", Text::recorded(what)),
            StoreError::NewerSchema { file, found, known } => Text::new("error-store-newer")
                .with("file", file.display())
                .with("found", found)
                .with("known", known),
            StoreError::Unfinished { id } => Text::new("error-store-unfinished").with("id", id),
            StoreError::InUse { path } => of("error-store-in-use", path),
            StoreError::Unknown { text, root, .. } => Text::new("error-store-unknown")
                .with("text", text)
                .with("root", root.display()),
            StoreError::Ambiguous {
                text,
                root,
                candidates,
            } => Text::new("error-store-ambiguous")
                .with("text", text)
                .with("n", candidates.len())
                .with("root", root.display()),
            StoreError::TooLarge { bytes, limit } => Text::new("error-store-too-large")
                .with("bytes", bytes)
                .with("limit", limit),
        }
    }

    /// The next thing to try, as a sentence without a final stop; `None` when nothing sensible
    /// can be said.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            StoreError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Text::new("error-store-io-hint")
            }
            StoreError::Io { .. } | StoreError::TooLarge { .. } => return None,
            StoreError::Full { path } => match run_of(path) {
                Some(run) => Text::new("error-store-full-run-hint").with("run", run),
                None => Text::new("error-store-full-hint"),
            },
            StoreError::Exists { .. } => Text::new("error-store-exists-hint"),
            StoreError::BadId { .. } => Text::new("error-store-bad-id-hint"),
            StoreError::NotARecord { .. } => Text::new("error-store-not-a-record-hint"),
            StoreError::Corrupt { .. } => Text::new("error-store-corrupt-hint"),
            StoreError::NewerSchema { .. } => Text::new("error-store-newer-hint"),
            StoreError::Unfinished { id } => {
                Text::new("error-store-unfinished-hint").with("id", id)
            }
            StoreError::InUse { .. } => Text::new("error-store-in-use-hint"),
            StoreError::Unknown { newest, .. } if newest.is_empty() => {
                Text::new("error-store-unknown-hint")
            }
            StoreError::Unknown { newest, .. } => {
                Text::new("error-store-unknown-newest-hint").with("newest", newest.join(", "))
            }
            StoreError::Ambiguous { candidates, .. } => {
                const SHOWN: usize = 5;
                let more = if candidates.len() > SHOWN {
                    ", …"
                } else {
                    ""
                };
                let shown = candidates.iter().take(SHOWN).cloned().collect::<Vec<_>>();
                let names = shown.join(", ") + more;
                Text::new("error-store-ambiguous-hint").with("names", names)
            }
        })
    }

    /// Wraps the system's answer; a full disk and a used-up quota become [`StoreError::Full`].
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Io {
                action,
                path,
                source,
            },
        }
    }

    /// Says that a file does not hold what it should.
    pub(crate) fn corrupt(file: &Path, what: impl ToString) -> Self {
        StoreError::Corrupt {
            file: file.to_path_buf(),
            what: what.to_string(),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let is_run = matches!(error, StoreError::Io { .. } | StoreError::Full { .. });
        Self {
            operator_error: !is_run,
            says: error.says(),
            hint: error.hint(),
        }
    }
}

/// Says that a file or directory which the operator named cannot be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Refusal {
    let is_full = error.kind() == io::ErrorKind::StorageFull;
    let hint = match is_full {
        true => Text::new("error-cannot-write-hint-full"),
        false => Text::new("error-cannot-write-hint"),
    };
    Refusal {
        operator_error: !is_full,
        says: Text::new("error-cannot-write")
            .with("path", path.display())
            .with("error", error),
        hint: Some(hint),
    }
}

/// Name of the run that a file belongs to: that of the nearest directory with a `run.json`.
fn run_of(file: &Path) -> Option<String> {
    let record = file
        .ancestors()
        .skip(1)
        .find(|directory| directory.join(crate::layout::RUN_JSON).exists())?;
    Some(record.file_name()?.to_string_lossy().into_owned())
}
