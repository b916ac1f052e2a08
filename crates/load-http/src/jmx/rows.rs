//! The writer of the result file, or of rows that another host keeps.
//!
//! A thread of its own, behind a bounded queue: event loops never wait for the disk or the network.
//! When the disk is full the load goes on; what could not be written is counted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use sokudo_jmeter::jtl::JtlFormat;
use sokudo_model::{Refusal, Rows, Text};
use sokudo_workload::contract::{Emit, Emitted};
use sokudo_workload::refusal::{operator, spawn};

/// Batches that may wait: some megabytes.
const QUEUE: usize = 128;
/// Begin and end of an XML file of results, and the distance in which its end is looked for.
const XML_START: &[u8; 5] = b"<?xml";
const XML_END: &[u8] = b"</testResults>";
const XML_TAIL_BYTES: u64 = 64;

/// A file of results while it is written.
pub(super) struct RowLog {
    thread: JoinHandle<Written>,
}

/// Result of writing the rows.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Rows that were written, or handed on.
    pub rows: u64,
    /// Bytes that could not be written.
    pub lost_bytes: u64,
    /// Last error of writing; `None`: there was none.
    pub error: Option<String>,
}

impl RowLog {
    /// Opens a file at its end and writes what stands before the first row of a new one.
    pub fn open(path: &Path, format: &Arc<JtlFormat>) -> Result<(Self, SyncSender<Rows>), Refusal> {
        let cannot = |error: std::io::Error| {
            operator(
                Text::new("error-rows-unwritable")
                    .with("path", path.display())
                    .with("error", error),
                Text::new("error-file-place-hint"),
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
            .read(true)
            .append(true)
            .open(path)
            .map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        if length == 0 {
            format.begin(&mut file).map_err(cannot)?;
        } else if format.xml {
            reopen(&mut file, length).map_err(cannot)?;
        }
        let (sender, batches) = mpsc::sync_channel(QUEUE);
        let format = Arc::clone(format);
        let thread = spawn("results", move || write(file, &format, &batches))?;
        Ok((Self { thread }, sender))
    }

    /// Hands the rows on instead of writing them; `t0_ns` is the run's start.
    pub fn away(emit: Emit, t0_ns: i64) -> Result<(Self, SyncSender<Rows>), Refusal> {
        let (sender, batches) = mpsc::sync_channel(QUEUE);
        let thread = spawn("results", move || hand_on(&emit, t0_ns, &batches))?;
        Ok((Self { thread }, sender))
    }

    /// Waits until everything is written; all senders are gone.
    pub fn finish(self) -> Written {
        self.thread.join().unwrap_or_else(|_| Written {
            error: Some("the thread that writes results died".into()),
            ..Written::default()
        })
    }
}

/// Cuts off what stands behind the last row of an XML file, so that further rows can follow. A file whose
/// writer was killed has nothing there.
///
/// Errors: it is not a file of results.
fn reopen(file: &mut File, length: u64) -> io::Result<()> {
    let mut start = [0; XML_START.len()];
    file.read_exact(&mut start)?;
    if start != *XML_START {
        let says = "it exists and is not an XML file of results";
        return Err(io::Error::new(io::ErrorKind::InvalidData, says));
    }
    let from = length.saturating_sub(XML_TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    io::Read::by_ref(file)
        .take(XML_TAIL_BYTES)
        .read_to_end(&mut tail)?;
    let mut places = tail.windows(XML_END.len());
    let end = places.rposition(|place| place == XML_END);
    end.map_or(Ok(()), |end| file.set_len(from + end as u64))
}

fn write(file: File, format: &JtlFormat, batches: &Receiver<Rows>) -> Written {
    let mut out = BufWriter::new(file);
    let mut written = Written::default();
    while let Ok(batch) = batches.recv() {
        // Flushed batch by batch: a killed generator leaves whole rows.
        match out
            .write_all(batch.text.as_bytes())
            .and_then(|()| out.flush())
        {
            Ok(()) => written.rows += batch.len() as u64,
            Err(error) => {
                written.lost_bytes += batch.text.len() as u64;
                written.error = Some(error.to_string());
            }
        }
    }
    if let Err(error) = format.end(&mut out).and_then(|()| out.flush()) {
        written.error = Some(error.to_string());
    }
    written
}

fn hand_on(emit: &Emit, t0_ns: i64, batches: &Receiver<Rows>) -> Written {
    let mut written = Written::default();
    while let Ok(mut batch) = batches.recv() {
        batch.before = written.rows;
        written.rows += batch.len() as u64;
        let ends = batch.ends_ns.iter_mut();
        ends.for_each(|end_ns| *end_ns = end_ns.saturating_sub(t0_ns));
        emit(Emitted::Rows(batch));
    }
    written
}
