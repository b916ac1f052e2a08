//! Who writes the file of results?
//!
//! A thread of its own, behind a bounded queue: event loops never wait for the disk. When the disk
//! is full the load goes on; what could not be written is counted.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use sokudo_jmeter::jtl::JtlFormat;
use sokudo_model::Refusal;

use crate::refusal::{operator, spawn};

/// Batches that may wait: some megabytes.
const QUEUE: usize = 128;

/// A file of results while it is written.
pub(super) struct RowLog {
    thread: JoinHandle<Written>,
}

/// What became of the rows.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Bytes that could not be written.
    pub lost_bytes: u64,
    /// Why.
    pub error: Option<String>,
}

impl RowLog {
    /// Opens a file at its end and writes what stands before the first row of a new one.
    pub fn open(
        path: &Path,
        format: &Arc<JtlFormat>,
    ) -> Result<(Self, SyncSender<String>), Refusal> {
        let cannot = |error: std::io::Error| {
            operator(
                format!(
                    "the results file `{}` cannot be written: {error}",
                    path.display()
                ),
                "name a file in a directory that exists and that you may write to",
            )
        };
        if let Some(parent) = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            std::fs::create_dir_all(parent).map_err(cannot)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(cannot)?;
        if file.metadata().map_err(cannot)?.len() == 0 {
            format.begin(&mut file).map_err(cannot)?;
        }
        let (sender, batches) = mpsc::sync_channel(QUEUE);
        let format = Arc::clone(format);
        let thread = spawn("results", move || write(file, &format, &batches))?;
        Ok((Self { thread }, sender))
    }

    /// Waits until everything is written; all senders are gone.
    pub fn finish(self) -> Written {
        self.thread.join().unwrap_or_else(|_| Written {
            lost_bytes: 0,
            error: Some("the thread that writes results died".into()),
        })
    }
}

fn write(file: File, format: &JtlFormat, batches: &Receiver<String>) -> Written {
    let mut out = BufWriter::new(file);
    let mut written = Written::default();
    while let Ok(batch) = batches.recv() {
        // Flushed batch by batch: a killed generator leaves whole rows.
        if let Err(error) = out.write_all(batch.as_bytes()).and_then(|()| out.flush()) {
            written.lost_bytes += batch.len() as u64;
            written.error = Some(error.to_string());
        }
    }
    if let Err(error) = format.end(&mut out).and_then(|()| out.flush()) {
        written.error = Some(error.to_string());
    }
    written
}
