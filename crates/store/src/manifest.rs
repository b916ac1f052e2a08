//! Writes `run.json` in a format that later versions can read.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sokudo_model::manifest::RUN_SCHEMA;
use sokudo_model::proof::Proof;
use sokudo_model::{Arg, Check, Finding, HistogramSummary, Manifest, Problem, Summary, Text};

use crate::disk::{self, Disk};
use crate::layout::{FINDINGS, PLAN_JSON, RUN_JSON};
use crate::{StoreError, hash};

/// Largest JSON file of a record, bytes.
pub(crate) const JSON_BYTES_MAX: u64 = 128 << 20;
/// Most objects in one, and most values: a few bytes of either become hundreds in memory.
const JSON_OBJECTS_MAX: usize = 1 << 20;
const JSON_VALUES_MAX: usize = 8 << 20;

/// `findings.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FindingsFile {
    pub findings: Vec<Finding>,
    pub checks: Vec<Check>,
}

/// Reads `run.json` of the record in `record`.
///
/// Errors: [`StoreError::NotARecord`] without one, [`StoreError::NewerSchema`],
/// [`StoreError::Corrupt`].
pub fn read_manifest(record: &Path) -> Result<Manifest, StoreError> {
    let file = record.join(RUN_JSON);
    let Some(bytes) = disk::read(&file, JSON_BYTES_MAX)? else {
        return Err(StoreError::NotARecord {
            path: record.to_path_buf(),
        });
    };
    parse_manifest(&file, &bytes)
}

/// Understands the bytes of a `run.json`; `file` is only named in errors.
pub fn parse_manifest(file: &Path, bytes: &[u8]) -> Result<Manifest, StoreError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = parse_json(file, bytes)?;
    if head.schema != RUN_SCHEMA {
        return Err(unknown_schema(file, head.schema));
    }
    parse_json(file, bytes)
}

fn unknown_schema(file: &Path, found: String) -> StoreError {
    let version = |schema: &str| schema.strip_prefix("sokudo.run/")?.parse::<u32>().ok();
    if version(&found) > version(RUN_SCHEMA) {
        return StoreError::NewerSchema {
            file: file.to_path_buf(),
            found,
            known: RUN_SCHEMA,
        };
    }
    StoreError::corrupt(file, format!("its schema is `{found}`, not `{RUN_SCHEMA}`"))
}

pub(crate) fn parse_json<T: for<'de> Deserialize<'de>>(
    file: &Path,
    bytes: &[u8],
) -> Result<T, StoreError> {
    within_bounds(bytes).map_err(|what| StoreError::corrupt(file, what))?;
    serde_json::from_slice(bytes).map_err(|e| StoreError::corrupt(file, e))
}

/// Errors: it holds more objects or values than any record.
fn within_bounds(bytes: &[u8]) -> Result<(), String> {
    let (mut objects, mut values) = (0, 0);
    let (mut inside, mut escaped) = (false, false);
    for byte in bytes {
        match (inside, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => inside = !inside,
            (false, b'{') => objects += 1,
            (false, b',' | b'[') => values += 1,
            _ => {}
        }
    }
    match (objects, values) {
        (objects, _) if objects > JSON_OBJECTS_MAX => Err(format!(
            "it holds {objects} objects, and {JSON_OBJECTS_MAX} are read"
        )),
        (_, values) if values > JSON_VALUES_MAX => Err(format!(
            "it holds {values} values, and {JSON_VALUES_MAX} are read"
        )),
        _ => Ok(()),
    }
}

pub(crate) fn write_json(
    disk: &Disk,
    file: &Path,
    value: &impl Serialize,
) -> Result<(), StoreError> {
    disk.replace(file, &to_json(file, value)?)
}

/// JSON as it stands in a record: indented, one newline at the end.
pub(crate) fn to_json(file: &Path, value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut json =
        serde_json::to_vec_pretty(value).map_err(|e| StoreError::io("encode", file, e.into()))?;
    json.push(b'\n');
    Ok(json)
}

/// Writes `plan/plan.json`, and then `run.json`.
pub(crate) fn write_manifest(
    disk: &Disk,
    record: &Path,
    manifest: &Manifest,
) -> Result<(), StoreError> {
    write_plan(disk, record, manifest)?;
    write_run_json(disk, record, manifest)
}

/// Writes `plan/plan.json` alone, its secrets hidden.
pub(crate) fn write_plan(
    disk: &Disk,
    record: &Path,
    manifest: &Manifest,
) -> Result<(), StoreError> {
    let plan = manifest.plan.without_secrets();
    write_json(disk, &record.join(PLAN_JSON), &plan)
}

/// Writes `run.json` alone, its secrets hidden.
pub(crate) fn write_run_json(
    disk: &Disk,
    record: &Path,
    manifest: &Manifest,
) -> Result<(), StoreError> {
    let mut manifest = manifest.without_secrets();
    keep_finite(&mut manifest);
    write_json(disk, &record.join(RUN_JSON), &manifest)
}

pub(crate) fn write_findings(
    disk: &Disk,
    record: &Path,
    findings: &[Finding],
    checks: &[Check],
) -> Result<(), StoreError> {
    let mut file = FindingsFile {
        findings: findings.to_vec(),
        checks: checks.to_vec(),
    };
    for finding in &mut file.findings {
        finite_finding(finding);
    }
    file.checks
        .iter_mut()
        .for_each(|c| finite_text(&mut c.says));
    write_json(disk, &record.join(FINDINGS), &file)
}

/// Adds a file that was made from the record, such as `report.html`, or replaces it.
///
/// The manifest's hash is taken out before and put in after, so that being killed in between
/// leaves an unlisted file and not a wrong hash. `name` is relative to the record.
pub fn attach(record: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    attach_all(record, &[(name.to_owned(), bytes.to_vec())])
}

/// The same for many files, names and contents: the manifest is written twice in all.
pub fn attach_all(record: &Path, files: &[(String, Vec<u8>)]) -> Result<(), StoreError> {
    let disk = Disk::default();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    amend(&disk, record, &names, |at, file| {
        if let Some(directory) = file.parent() {
            disk.create_dir_all(directory)?;
        }
        disk.replace(file, &files[at].1)
    })
}

/// Writes `findings.json` of a closed record, replacing what was concluded before.
pub fn save_findings(
    record: &Path,
    findings: &[Finding],
    checks: &[Check],
) -> Result<(), StoreError> {
    let disk = Disk::default();
    amend(&disk, record, &[FINDINGS], |_, _| {
        write_findings(&disk, record, findings, checks)
    })
}

/// Adds a test of a cause to a closed record.
pub fn save_proof(record: &Path, proof: Proof) -> Result<(), StoreError> {
    let disk = Disk::default();
    let mut manifest = read_manifest(record)?;
    manifest.proofs.push(proof);
    write_run_json(&disk, record, &manifest)
}

/// Takes the hashes of these files out, lets each be written, by its position, and puts them in.
fn amend(
    disk: &Disk,
    record: &Path,
    names: &[&str],
    write: impl Fn(usize, &Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let files: Result<Vec<_>, _> = names
        .iter()
        .map(|name| hash::file_of(record, name))
        .collect();
    let files = files?;
    let mut manifest = read_manifest(record)?;
    let before = manifest.files.len();
    manifest
        .files
        .retain(|name, _| !names.contains(&name.as_str()));
    if manifest.files.len() < before {
        write_run_json(disk, record, &manifest)?;
    }
    for (at, (name, file)) in names.iter().zip(&files).enumerate() {
        write(at, file)?;
        manifest.files.insert((*name).into(), hash::sha256(file)?);
    }
    write_run_json(disk, record, &manifest)
}

/// Takes out the numbers that JSON cannot hold: absent means "not available", and one division
/// by zero must not make a whole record unreadable.
fn keep_finite(manifest: &mut Manifest) {
    finite_summary(&mut manifest.summary);
    for phase in &mut manifest.phases {
        finite_summary(&mut phase.result.summary);
        phase.result.histograms.retain(|_, h| is_finite(h));
        for flow in &mut phase.result.flows {
            finite_summary(&mut flow.metrics);
            flow.histograms.retain(|_, h| is_finite(h));
        }
    }
    manifest.notes.iter_mut().for_each(finite_text);
    for Problem { says, missing, .. } in &mut manifest.problems {
        finite_text(says);
        missing.iter_mut().for_each(finite_text);
    }
}

fn finite_summary(summary: &mut Summary) {
    summary.retain(|_, value| value.is_finite());
}

fn is_finite(h: &HistogramSummary) -> bool {
    let values = [h.min, h.mean, h.p50, h.p90, h.p99, h.p999, h.max];
    values.iter().all(|v| v.is_finite())
}

fn finite_finding(finding: &mut Finding) {
    if !finding.weight.is_finite() {
        finding.weight = 0.0;
    }
    finite_text(&mut finding.says);
    finding.next.iter_mut().for_each(finite_text);
    for evidence in &mut finding.evidence {
        finite_text(&mut evidence.says);
        evidence.value = evidence.value.filter(|v| v.is_finite());
    }
}

/// A number that JSON cannot hold is written as a string: `NaN`, `inf`.
pub(crate) fn finite_text(text: &mut Text) {
    for arg in text.args.values_mut() {
        match arg {
            Arg::Number(value, _) if !value.is_finite() => *arg = Arg::Word(value.to_string()),
            Arg::Text(inner) => finite_text(inner),
            Arg::Number(..) | Arg::Word(_) => {}
        }
    }
}
