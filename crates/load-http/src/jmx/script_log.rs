//! The log that a plan's scripts write to.
//!
//! To a file, by a thread of its own behind a bounded queue: event loops never wait for the disk. The
//! file is bounded, too; what found no room is counted and told.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use sokudo_model::Refusal;
use sokudo_workload::refusal::{operator, spawn};

/// Lines that may wait.
const QUEUE: usize = 4_096;
/// Largest file, bytes.
const MOST_BYTES: u64 = 256 << 20;

/// A log while it is written.
pub(super) struct ScriptLog {
    thread: JoinHandle<Result<u64, String>>,
    lost: Arc<AtomicU64>,
}

/// One way into the log; it ends when all of them are gone.
#[derive(Clone)]
pub(super) struct LogLines {
    to: SyncSender<String>,
    lost: Arc<AtomicU64>,
}

impl LogLines {
    /// Hands a line over; one that finds no room is counted.
    pub fn add(&self, line: String) {
        if self.to.try_send(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl ScriptLog {
    /// Begins a file anew, as the tool does. Errors: it cannot be written.
    pub fn open(path: &Path) -> Result<(Self, LogLines), Refusal> {
        // As JMeter, with the folders that are missing.
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = folder.and_then(|()| File::create(path)).map_err(|error| {
            operator(
                format!("the log `{}` cannot be written: {error}", path.display()),
                "name a file in a directory that you may write to",
            )
        })?;
        let (to, lines) = mpsc::sync_channel(QUEUE);
        let thread = spawn("script log", move || write(file, &lines, MOST_BYTES))?;
        let lost = Arc::new(AtomicU64::new(0));
        let lines = LogLines {
            to,
            lost: Arc::clone(&lost),
        };
        Ok((Self { thread, lost }, lines))
    }

    /// Waits until everything is written; gives what went wrong.
    pub fn finish(self) -> Option<String> {
        let lost = self.lost.load(Ordering::Relaxed);
        match self.thread.join() {
            Ok(Ok(unwritten)) if unwritten + lost > 0 => Some(format!(
                "lines of the log that were not written, more than its queue or its file may hold: {}",
                unwritten + lost
            )),
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(format!("the log could not be written: {error}")),
            Err(_) => Some("the thread that writes the log died".into()),
        }
    }
}

/// Writes all lines; gives the number of those beyond the bound. Errors: the first of the disk.
fn write(out: impl Write, lines: &Receiver<String>, most_bytes: u64) -> Result<u64, String> {
    let mut out = BufWriter::new(out);
    let (mut bytes, mut unwritten) = (0, 0);
    let mut failed = None;
    while let Some(line) = next(lines, &mut out, &mut failed) {
        bytes += line.len() as u64;
        if bytes > most_bytes {
            unwritten += 1;
        } else if failed.is_none() {
            failed = out.write_all(line.as_bytes()).err();
        }
    }
    if failed.is_none() {
        failed = out.flush().err();
    }
    failed.map_or(Ok(unwritten), |error| Err(error.to_string()))
}

/// The next line; what was written is flushed before there is a wait for it.
fn next(
    lines: &Receiver<String>,
    out: &mut impl Write,
    failed: &mut Option<std::io::Error>,
) -> Option<String> {
    if let Ok(line) = lines.try_recv() {
        return Some(line);
    }
    if failed.is_none() {
        *failed = out.flush().err();
    }
    lines.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_written_into_folders_that_were_missing() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("one/two/x.log");
        let (log, lines) = ScriptLog::open(&path).expect("it is opened");
        lines.add("said\n".into());
        drop(lines);
        assert_eq!(log.finish(), None);
        let written = std::fs::read_to_string(&path).expect("a log");
        assert!(written.contains("said"), "{written}");
    }

    #[test]
    fn a_file_keeps_its_bound_and_what_is_beyond_is_counted() {
        let (to, lines) = mpsc::sync_channel(8);
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            to.send(line.to_owned()).unwrap();
        }
        drop(to);
        let mut written = Vec::new();
        assert_eq!(write(&mut written, &lines, 9), Ok(2));
        assert_eq!(written, b"one\ntwo\n");
    }

    #[test]
    fn lines_without_room_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.log");
        let (log, lines) = ScriptLog::open(&path).unwrap();
        lines.add("line\n".into());
        lines.lost.fetch_add(2, Ordering::Relaxed);
        drop(lines);
        let told = log.finish().expect("two were lost");
        assert!(told.starts_with("lines of the log"), "{told}");
        assert!(told.ends_with(": 2"), "{told}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "line\n");
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("a file");
        assert!(ScriptLog::open(&file.join("run.log")).is_err());
    }
}
