//! Recovers the record of a run whose program died.

use std::path::{Path, PathBuf};

use sokudo_model::{Batch, Manifest, Problem, RunStatus, Text, Unit};

use crate::disk::{self, Disk};
use crate::layout::{CLOCK, SPOOL};
use crate::manifest::JSON_BYTES_MAX;
use crate::spool::{self, Loss, SpoolWriter};
use crate::writer::take_lock;
use crate::{StoreError, read_manifest, seal};

/// The result of [`recover`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoverReport {
    /// Directory of the record.
    pub path: PathBuf,
    /// False when the record was complete already and nothing had to be recovered.
    pub recovered: bool,
    /// Batches found in the spool.
    pub batches: u64,
    /// Points of series in them.
    pub points: u64,
    /// Data that could not be read.
    pub loss: Loss,
}

/// Completes the record of a run that was never closed.
///
/// Every whole frame of the spool is kept; a torn end or damaged places are counted. The run
/// becomes `partial`, with a problem that says so. It can be killed at any point and called
/// again, and does nothing to a complete record except removing a left-over spool.
///
/// Errors: [`StoreError::InUse`] while the run still goes on, [`StoreError::NotARecord`],
/// [`StoreError::Full`] (the spool stays).
pub fn recover(record: &Path) -> Result<RecoverReport, StoreError> {
    recover_on(&Disk::default(), record)
}

/// The content of the spool of a run that was never closed, in order.
///
/// Errors: [`StoreError::InUse`] while the run still goes on, [`StoreError::NotARecord`].
pub fn spooled(record: &Path) -> Result<Vec<Batch>, StoreError> {
    disk::check_own_dir(&record.join(SPOOL))?;
    let _lock = take_lock(record)?;
    let mut all = Vec::new();
    for path in spool::segments(&record.join(SPOOL))? {
        all.extend(spool::read_segment(&path)?.batches);
    }
    Ok(all)
}

/// Adds to the spool of a run that was never closed what was found elsewhere, before [`recover`].
///
/// Errors: [`StoreError::InUse`], [`StoreError::Full`] (what was added before stays).
pub fn add_to_spool(record: &Path, batches: &[Batch]) -> Result<(), StoreError> {
    disk::check_own_dir(&record.join(SPOOL))?;
    let _lock = take_lock(record)?;
    let mut writer = SpoolWriter::after_others(Disk::default(), record.join(SPOOL))?;
    for batch in batches {
        writer.append(batch)?;
    }
    writer.sync()
}

pub(crate) fn recover_on(disk: &Disk, record: &Path) -> Result<RecoverReport, StoreError> {
    let spool = record.join(SPOOL);
    if read_manifest(record)?.status != RunStatus::Running {
        return remove_leftovers(disk, record, &spool);
    }
    // A recovery changes or removes files in these two only.
    disk::check_own_dir(&spool)?;
    disk::check_own_dir(&record.join(CLOCK))?;
    if !spool.exists() {
        return Err(StoreError::corrupt(
            &spool,
            "it is missing, so nothing can be recovered from it",
        ));
    }
    let lock = take_lock(record)?;
    // Another process may have closed the run just before the lock was ours.
    let mut manifest = read_manifest(record)?;
    if manifest.status != RunStatus::Running {
        drop(lock);
        return remove_leftovers(disk, record, &spool);
    }
    cut_torn_lines(disk, &record.join(CLOCK))?;
    let converted = seal::convert(disk, record)?;
    manifest
        .problems
        .push(died(&manifest, converted.last_ns, converted.batches));
    manifest.problems.extend(converted.problem());
    manifest.status = RunStatus::Partial;
    seal::seal(disk, record, &mut manifest, lock)?;
    Ok(RecoverReport {
        path: record.to_path_buf(),
        recovered: true,
        batches: converted.batches,
        points: converted.points,
        loss: converted.loss,
    })
}

/// The run was closed; its program died while removing the spool.
fn remove_leftovers(disk: &Disk, record: &Path, spool: &Path) -> Result<RecoverReport, StoreError> {
    if spool.exists() {
        disk.remove_flat_dir(spool)?;
    }
    Ok(RecoverReport {
        path: record.to_path_buf(),
        recovered: false,
        batches: 0,
        points: 0,
        loss: Loss::default(),
    })
}

fn died(manifest: &Manifest, last_ns: i64, batches: u64) -> Problem {
    let phase = manifest
        .phases
        .iter()
        .find(|p| p.status == RunStatus::Running)
        .map_or_else(String::new, |p| p.name.clone());
    Problem {
        t_ns: last_ns,
        host: String::new(),
        phase,
        says: Text::new("store-recovered-says")
            .number("last", last_ns as f64 / 1e9, Unit::Seconds)
            .number("batches", batches as f64, Unit::One),
        missing: Some(Text::new("store-recovered-missing")),
    }
}

/// A line of a clock file that was being written when the program died is not kept.
fn cut_torn_lines(disk: &Disk, clock: &Path) -> Result<(), StoreError> {
    for path in disk::list_dir(clock)? {
        // A link's file is not the record's.
        if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            continue;
        }
        let bytes = disk::read(&path, JSON_BYTES_MAX)?.unwrap_or_default();
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        if whole < bytes.len() {
            disk.append(&path)?.cut(whole as u64)?;
        }
    }
    Ok(())
}
