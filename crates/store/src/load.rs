//! Reads a record.

use std::collections::BTreeMap;
use std::path::Path;

use sokudo_model::{Environment, Manifest, Record, RunStatus, is_within_reach};

use crate::layout::{ENVIRONMENT, EVENTS, FINDINGS, HISTOGRAMS, RUN_JSON, SERIES};
use crate::manifest::{FindingsFile, JSON_BYTES_MAX, parse_json};
use crate::tables::{events, guarded, histograms, series};
use crate::{StoreError, disk, hash, read_manifest};

/// Reads a whole record into memory.
///
/// The hash of every file is compared before it is read, so damage is named and never shown as a
/// measurement.
///
/// Errors: [`StoreError::Unfinished`] for a run that was never closed, [`StoreError::Corrupt`]
/// naming the file, [`StoreError::NewerSchema`], [`StoreError::NotARecord`].
pub fn load(record: &Path) -> Result<Record, StoreError> {
    let manifest = read_manifest(record)?;
    if manifest.status == RunStatus::Running {
        return Err(StoreError::Unfinished { id: manifest.id.0 });
    }
    for table in [SERIES, HISTOGRAMS, EVENTS] {
        check_hash(record, table, &manifest)?;
    }
    let findings = read_findings(record, &manifest)?;
    let read = Record {
        environments: read_environments(record, &manifest)?,
        series: guarded(&record.join(SERIES), series::read)?,
        histograms: guarded(&record.join(HISTOGRAMS), histograms::read)?,
        events: guarded(&record.join(EVENTS), events::read)?,
        findings: findings.findings,
        checks: findings.checks,
        manifest,
    };
    within_reach(record, &read)?;
    Ok(read)
}

/// Errors: a moment lies farther from the run's start than any of a run. Whatever reads a record subtracts and adds
/// moments.
fn within_reach(path: &Path, record: &Record) -> Result<(), StoreError> {
    let manifest = &record.manifest;
    let phases = manifest.phases.iter().flat_map(|it| [it.t0_ns, it.t1_ns]);
    let offsets = manifest.hosts.iter().map(|host| host.clock_offset_ns);
    let problems = manifest.problems.iter().map(|problem| problem.t_ns);
    // Points and events are in the order of time.
    let points = record.series.iter().map(|series| &series.points);
    let points = points.flat_map(|points| points.first().into_iter().chain(points.last()));
    let intervals = record.histograms.iter();
    let events = record
        .events
        .first()
        .into_iter()
        .chain(record.events.last());
    let files: [(&str, &mut dyn Iterator<Item = i64>); 4] = [
        (RUN_JSON, &mut phases.chain(offsets).chain(problems)),
        (SERIES, &mut points.map(|(t_ns, _)| *t_ns)),
        (
            HISTOGRAMS,
            &mut intervals.flat_map(|it| [it.t0_ns, it.t1_ns]),
        ),
        (EVENTS, &mut events.map(|event| event.t_ns)),
    ];
    for (file, moments) in files {
        for t_ns in moments {
            if !is_within_reach(t_ns) {
                let what = format!("a moment lies {t_ns} ns from the begin of the run");
                return Err(StoreError::corrupt(&path.join(file), what));
            }
        }
    }
    Ok(())
}

fn read_findings(record: &Path, manifest: &Manifest) -> Result<FindingsFile, StoreError> {
    check_hash(record, FINDINGS, manifest)?;
    let file = record.join(FINDINGS);
    match disk::read(&file, JSON_BYTES_MAX)? {
        Some(bytes) => parse_json(&file, &bytes),
        None => Ok(FindingsFile::default()),
    }
}

fn read_environments(
    record: &Path,
    manifest: &Manifest,
) -> Result<BTreeMap<String, Environment>, StoreError> {
    let mut environments = BTreeMap::new();
    for file in disk::list_dir(&record.join(ENVIRONMENT))? {
        let Some(name) = file.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        if !name.ends_with(".json") {
            continue;
        }
        check_hash(record, &format!("{ENVIRONMENT}/{name}"), manifest)?;
        let bytes = disk::read(&file, JSON_BYTES_MAX)?.unwrap_or_default();
        let environment: Environment = parse_json(&file, &bytes)?;
        environments.insert(environment.host.clone(), environment);
    }
    Ok(environments)
}

/// Compares a file with its hash in the manifest; a file that is not listed passes.
fn check_hash(record: &Path, name: &str, manifest: &Manifest) -> Result<(), StoreError> {
    let Some(wanted) = manifest.files.get(name) else {
        return Ok(());
    };
    let file = record.join(name);
    if !file.exists() {
        return Err(StoreError::corrupt(&file, "it is missing"));
    }
    if hash::sha256(&file)? != *wanted {
        return Err(StoreError::corrupt(
            &file,
            "its content has changed since the run was closed",
        ));
    }
    Ok(())
}
