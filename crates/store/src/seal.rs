//! Converts a spool into a finished record, repeatably after a crash.
//!
//! ```text
//! spool ──► *.parquet.tmp ──► *.parquet ──► hashes ──► run.json says how it ended ──► spool removed
//! ```
//!
//! `run.json` is the turning point: until it carries a final status, the spool is complete and
//! the whole conversion can be done again; afterwards the spool is only left-over space.

use std::path::Path;

use sokudo_model::{Batch, Manifest, Problem, RunStatus, Text, Unit};

use crate::StoreError;
use crate::disk::{self, Disk};
use crate::layout::{EVENTS, HISTOGRAMS, SERIES, SPOOL};
use crate::manifest::{write_plan, write_run_json};
use crate::spool::{self, Loss};
use crate::tables::events::EventWriter;
use crate::tables::histograms::HistogramWriter;
use crate::tables::series::SeriesWriter;
use crate::{hash, layout};

/// The result of a conversion.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Converted {
    pub batches: u64,
    pub points: u64,
    pub loss: Loss,
    /// Latest moment of anything recorded, nanoseconds since the run's start.
    pub last_ns: i64,
}

/// Turns the spool into tables.
pub(crate) fn convert(disk: &Disk, record: &Path) -> Result<Converted, StoreError> {
    let converted = write_tables(disk, record);
    if converted.is_err() {
        // Gives the space back. A table that has its final name already will be written again.
        for table in [SERIES, HISTOGRAMS, EVENTS] {
            let _ = disk.remove_file(&disk::temporary(&record.join(table)));
        }
    }
    converted
}

fn write_tables(disk: &Disk, record: &Path) -> Result<Converted, StoreError> {
    let mut series = SeriesWriter::create(disk, &record.join(SERIES))?;
    let mut histograms = HistogramWriter::create(disk, &record.join(HISTOGRAMS))?;
    let mut events = EventWriter::create(disk, &record.join(EVENTS))?;
    let mut converted = Converted::default();
    for path in spool::segments(&record.join(SPOOL))? {
        let decoded = spool::read_segment(&path)?;
        if let Some(version) = decoded.foreign_version {
            return Err(StoreError::NewerSchema {
                file: path,
                found: format!("spool {version}"),
                known: "spool 1",
            });
        }
        converted.loss.add(decoded.loss);
        for batch in decoded.batches {
            converted.count(&batch);
            batch.series.into_iter().try_for_each(|s| series.push(s))?;
            batch
                .histograms
                .into_iter()
                .try_for_each(|h| histograms.push(h))?;
            batch.events.into_iter().try_for_each(|e| events.push(e))?;
        }
    }
    series.finish()?;
    histograms.finish()?;
    events.finish()?;
    Ok(converted)
}

impl Converted {
    fn count(&mut self, batch: &Batch) {
        self.batches += 1;
        for series in &batch.series {
            self.points += series.points.len() as u64;
        }
        let points = batch.series.iter().flat_map(|s| &s.points).map(|(t, _)| *t);
        let intervals = batch.histograms.iter().map(|h| h.t1_ns);
        let events = batch.events.iter().map(|e| e.t_ns);
        let last_ns = points.chain(intervals).chain(events).max();
        self.last_ns = self.last_ns.max(last_ns.unwrap_or(0));
    }

    /// The problem for the manifest about frames that could not be read.
    pub fn problem(&self) -> Option<Problem> {
        (!self.loss.is_none()).then(|| Problem {
            t_ns: self.last_ns,
            host: String::new(),
            phase: String::new(),
            says: Text::new("store-spool-damaged-says")
                .number("bytes", self.loss.bytes as f64, Unit::Bytes)
                .number("gaps", self.loss.gaps as f64, Unit::One),
            missing: Some(Text::new("store-samples-missing")),
        })
    }
}

/// Completes a record whose tables are written: plan, hashes, final `run.json`, no spool.
///
/// The caller holds the spool's lock through `lock`, which is let go just before the spool is
/// removed, since some systems do not remove open files.
pub(crate) fn seal(
    disk: &Disk,
    record: &Path,
    manifest: &mut Manifest,
    lock: std::fs::File,
) -> Result<(), StoreError> {
    if manifest.status == RunStatus::Running {
        manifest.status = RunStatus::Partial;
    }
    sync_small_files(disk, record)?;
    // The plan goes with the manifest, and its hash goes into it.
    write_plan(disk, record, manifest)?;
    manifest.files = hash::hash_all(record)?;
    write_run_json(disk, record, manifest)?;
    drop(lock);
    disk.remove_flat_dir(&record.join(SPOOL))
}

/// Clock readings are appended without waiting for the disk; here they are waited for.
fn sync_small_files(disk: &Disk, record: &Path) -> Result<(), StoreError> {
    let clock = record.join(layout::CLOCK);
    for file in disk::list_dir(&clock)? {
        disk.append(&file)?.sync()?;
        disk.sync_parent(&file)?;
    }
    Ok(())
}
