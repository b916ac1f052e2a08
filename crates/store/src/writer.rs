//! Records a run while it is under way.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use sokudo_model::{
    Batch, Check, Environment, Finding, Manifest, Plan, Problem, RunId, RunStatus, Text, Unit,
};

use crate::disk::{Disk, private_file};
use crate::layout::{CLOCK, ENVIRONMENT, PLAN_JSON, SPOOL, check_id, host_file};
use crate::spool::SpoolWriter;
use crate::{StoreError, attach, manifest, save_findings, seal};

/// First line of every `clock/<host>.csv`.
const CLOCK_HEADER: &str = "t_ns,offset_ns,error_ns\n";
/// File inside the spool that is locked while a process records.
pub(crate) const LOCK: &str = "lock";

/// Makes the directory of a new run.
#[derive(Debug)]
pub struct RunDir;

impl RunDir {
    /// Creates `<root>/<id>` with a first `run.json` (status `running`), so that the directory is
    /// a record from its first moment.
    ///
    /// Errors: [`StoreError::Exists`], [`StoreError::BadId`], and whatever the disk says.
    pub fn create(root: &Path, id: &RunId) -> Result<Writer, StoreError> {
        create(Disk::default(), root, id)
    }
}

pub(crate) fn create(disk: Disk, root: &Path, id: &RunId) -> Result<Writer, StoreError> {
    check_id(id)?;
    disk.create_dir_all(root)?;
    let path = root.join(&id.0);
    disk.create_dir(&path)?;
    for inner in [ENVIRONMENT, CLOCK, "plan", SPOOL] {
        disk.create_dir(&path.join(inner))?;
    }
    let spool = path.join(SPOOL);
    disk.create(&spool.join(LOCK))?;
    let lock = take_lock(&path)?;
    disk.sync_parent(&spool)?;
    disk.sync_parent(&path)?;
    let writer = Writer {
        spool: SpoolWriter::new(disk.clone(), spool),
        disk,
        path,
        id: id.clone(),
        lock,
        refused: Refused::default(),
    };
    writer.write_manifest(&first_manifest(id))?;
    Ok(writer)
}

/// Locks the spool of a record against other writers and recoverers.
///
/// Errors: [`StoreError::InUse`] when another process holds it.
pub(crate) fn take_lock(record: &Path) -> Result<File, StoreError> {
    let path = record.join(SPOOL).join(LOCK);
    if path.is_symlink() {
        return Err(StoreError::corrupt(&path, "it is a link"));
    }
    let file = private_file()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| StoreError::io("open", &path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
            path: record.to_path_buf(),
        }),
        Err(TryLockError::Error(e)) => Err(StoreError::io("lock", &path, e)),
    }
}

/// The manifest of a run before its description is known.
fn first_manifest(id: &RunId) -> Manifest {
    let now = jiff::Timestamp::now();
    let started_unix_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
    Manifest {
        started: now.to_string(),
        started_unix_ns,
        ..Manifest::new(id.clone(), "unknown")
    }
}

/// Batches that could not be recorded.
#[derive(Debug, Default)]
struct Refused {
    batches: u64,
    first_ns: i64,
    disk_full: bool,
}

/// Records one run. Dropping it without [`Writer::close`] leaves a spool that
/// [`crate::recover`] completes.
#[derive(Debug)]
pub struct Writer {
    disk: Disk,
    path: PathBuf,
    id: RunId,
    spool: SpoolWriter,
    lock: File,
    refused: Refused,
}

impl Writer {
    /// Directory of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Replaces `run.json` and `plan/plan.json`, at any time and as often as wanted.
    ///
    /// Until the run is closed, it says `running` and lists no files, whatever `manifest` says:
    /// a final status promises that everything is on the disk.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let mut open = manifest.clone();
        open.status = RunStatus::Running;
        open.files.clear();
        manifest::write_manifest(&self.disk, &self.path, &open)
    }

    /// Writes `environment/<host>.json`.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), StoreError> {
        let name = host_file(&environment.host, "json");
        let file = self.path.join(ENVIRONMENT).join(name);
        manifest::write_json(&self.disk, &file, &environment.without_secrets())
    }

    /// Writes `findings.json`.
    pub fn write_findings(&self, findings: &[Finding], checks: &[Check]) -> Result<(), StoreError> {
        manifest::write_findings(&self.disk, &self.path, findings, checks)
    }

    /// Adds one line to `clock/<host>.csv`: at `t_ns` since the run's start the host's clock was
    /// `offset_ns` ahead of the controller's, right within `error_ns`.
    pub fn append_clock(
        &self,
        host: &str,
        t_ns: i64,
        offset_ns: i64,
        error_ns: u64,
    ) -> Result<(), StoreError> {
        let path = self.path.join(CLOCK).join(host_file(host, "csv"));
        let mut file = self.disk.append(&path)?;
        let whole = file.len()?;
        let header = if whole == 0 { CLOCK_HEADER } else { "" };
        let line = format!("{header}{t_ns},{offset_ns},{error_ns}\n");
        file.put(line.as_bytes()).inspect_err(|_| {
            // A line torn here is cut off by `recover` at the latest.
            let _ = file.cut(whole);
        })
    }

    /// Adds a batch to the spool. About once a second it waits until the disk has everything.
    ///
    /// Errors: [`StoreError::Full`] when the disk is full. What was added before stays
    /// recoverable, later calls may succeed again, and [`Writer::close`] says in the manifest
    /// that something is missing.
    pub fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.spool
            .append(&batch.without_secrets())
            .inspect_err(|error| {
                if self.refused.batches == 0 {
                    self.refused.first_ns = first_ns(batch);
                }
                self.refused.batches += 1;
                self.refused.disk_full |= matches!(error, StoreError::Full { .. });
            })
    }

    /// Turns the spool into tables, and writes the hashes and the final `run.json`.
    ///
    /// An `ok` becomes `partial` when something could not be recorded, and so does a `running`.
    /// Errors leave the spool as it is, for [`crate::recover`], and `manifest` in `run.json` as
    /// far as it could be written.
    pub fn close(mut self, mut manifest: Manifest) -> Result<ClosedRun, StoreError> {
        self.spool.sync()?;
        self.write_manifest(&manifest)?;
        let converted = seal::convert(&self.disk, &self.path)?;
        let own: Vec<Problem> = [self.refused.problem(), converted.problem()]
            .into_iter()
            .flatten()
            .collect();
        if !own.is_empty() && manifest.status == RunStatus::Ok {
            manifest.status = RunStatus::Partial;
        }
        manifest.problems.extend(own);
        // Its segment would still be open when the spool is removed.
        drop(self.spool);
        seal::seal(&self.disk, &self.path, &mut manifest, self.lock)?;
        Ok(ClosedRun {
            path: self.path,
            manifest,
        })
    }
}

impl Refused {
    fn problem(&self) -> Option<Problem> {
        let key = match self.disk_full {
            true => "store-disk-full-says",
            false => "store-write-failed-says",
        };
        (self.batches > 0).then(|| Problem {
            t_ns: self.first_ns,
            host: String::new(),
            phase: String::new(),
            says: Text::new(key).number("batches", self.batches as f64, Unit::One),
            missing: Some(Text::new("store-samples-missing")),
        })
    }
}

fn first_ns(batch: &Batch) -> i64 {
    let points = batch.series.iter().flat_map(|s| &s.points).map(|(t, _)| *t);
    let intervals = batch.histograms.iter().map(|h| h.t0_ns);
    let events = batch.events.iter().map(|e| e.t_ns);
    points.chain(intervals).chain(events).min().unwrap_or(0)
}

/// A complete record.
#[derive(Debug)]
pub struct ClosedRun {
    path: PathBuf,
    manifest: Manifest,
}

impl ClosedRun {
    /// Directory of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The manifest as it was closed: final status, problems, file hashes.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes what was concluded from the record, and its hash; see [`crate::save_findings`].
    pub fn write_findings(&self, findings: &[Finding], checks: &[Check]) -> Result<(), StoreError> {
        save_findings(&self.path, findings, checks)
    }

    /// Adds a file made from the record, such as `report.html`, and its hash; see
    /// [`crate::attach`].
    pub fn attach(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        attach(&self.path, name, bytes)
    }
}

/// Text of the plan's hash, as it stands in `Manifest::plan_sha256`: SHA-256 of the bytes of
/// `plan/plan.json`, hexadecimal.
pub fn plan_sha256(plan: &Plan) -> Result<String, StoreError> {
    let bytes = manifest::to_json(Path::new(PLAN_JSON), &plan.without_secrets())?;
    Ok(crate::hash::sha256_of(&bytes))
}
