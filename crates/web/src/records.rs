//! The records that the page lists, and what it shows of each.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sokudo_model::{Summary, kinds};
use sokudo_store::StoreError;

use crate::desk::Order;
use crate::tracks::{self, Line};

/// Records that are listed.
const LISTED_MAX: usize = 200;
/// Largest report that is served, bytes.
const REPORT_BYTES_MAX: u64 = 64 << 20;
/// Longest id.
const ID_MAX: usize = 200;
/// Report inside a record.
const REPORT: &str = "report.html";
/// The order that a page gave, inside a record.
pub const ORDER: &str = "plan/order.json";
/// Largest order that is read, bytes.
const ORDER_BYTES_MAX: u64 = 24 << 20;

/// A record in a few words.
#[derive(Debug, Serialize)]
pub struct Row {
    id: String,
    /// Name of the run's load, and what was loaded.
    workload: String,
    did: String,
    started: String,
    status: &'static str,
    /// Share of what was lost or failed, 0 to 1, where the load has one.
    failed: Option<f64>,
    has_report: bool,
    /// It was ordered on a page, and can be ordered again.
    has_order: bool,
}

/// The reason why a part of a record is not shown.
#[derive(Debug, thiserror::Error)]
pub enum NotShown {
    /// There is no such record, or no such file in it.
    #[error("there is no record `{id}` with that")]
    Unknown {
        /// Id as asked for.
        id: String,
    },
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The newest records.
pub fn list(root: &Path) -> Result<Vec<Row>, NotShown> {
    let entries = sokudo_store::list(root)?;
    let rows = entries.into_iter().filter_map(|entry| {
        let info = entry.info.ok()?;
        Some(Row {
            has_report: entry.path.join(REPORT).is_file(),
            has_order: entry.path.join(ORDER).is_file(),
            id: entry.id,
            failed: failed(&info.workload, &info.summary),
            workload: info.workload,
            did: info.did,
            started: info.started,
            status: info.status.word(info.is_passed),
        })
    });
    Ok(rows.take(LISTED_MAX).collect())
}

/// The share of what a load lost or what failed; `None` for loads without one.
fn failed(workload: &str, summary: &Summary) -> Option<f64> {
    let (_, share) = kinds::curve_metrics(workload)?.shares.first()?;
    share.of(summary)
}

/// The order that a record came of. What was hidden in it cannot be given again.
pub fn order(root: &Path, id: &str) -> Result<Order, NotShown> {
    let unknown = || NotShown::Unknown { id: id.into() };
    let file = directory(root, id)?.join(ORDER);
    let about = std::fs::symlink_metadata(&file).map_err(|_| unknown())?;
    if !about.is_file() || about.len() > ORDER_BYTES_MAX {
        return Err(unknown());
    }
    let bytes = std::fs::read(&file).map_err(|_| unknown())?;
    serde_json::from_slice(&bytes).map_err(|_| unknown())
}

/// The report of a record, and its length.
pub fn report(root: &Path, id: &str) -> Result<(File, u64), NotShown> {
    let unknown = || NotShown::Unknown { id: id.into() };
    let file = directory(root, id)?.join(REPORT);
    let about = std::fs::symlink_metadata(&file).map_err(|_| unknown())?;
    if !about.is_file() || about.len() > REPORT_BYTES_MAX {
        return Err(unknown());
    }
    let opened = File::open(&file).map_err(|_| unknown())?;
    Ok((opened, about.len()))
}

/// The tracks of a record, to be laid under a running one.
pub fn tracks(root: &Path, id: &str) -> Result<Vec<Line>, NotShown> {
    let record = sokudo_store::load(&directory(root, id)?)?;
    Ok(tracks::of_record(&record))
}

/// Directory of a record. An id is a name inside the root, never a way out of it.
fn directory(root: &Path, id: &str) -> Result<PathBuf, NotShown> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let is_name = !id.is_empty() && id.len() <= ID_MAX && id.chars().all(plain);
    let directory = root.join(id);
    match is_name && !id.starts_with('.') && directory.join("run.json").is_file() {
        true => Ok(directory),
        false => Err(NotShown::Unknown { id: id.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_way_out() {
        let root = tempfile::tempdir().expect("a directory");
        let inner = root.path().join("runs");
        std::fs::create_dir_all(inner.join("one")).expect("made");
        for place in [root.path().to_path_buf(), inner.join("one")] {
            std::fs::write(place.join("run.json"), "{}").expect("written");
            std::fs::write(place.join(REPORT), "<p>").expect("written");
        }
        let (shown, length) = report(&inner, "one").expect("a report");
        let shown = std::io::read_to_string(shown).expect("text");
        assert_eq!((shown.as_str(), length), ("<p>", 3));
        for id in [
            "..",
            ".",
            "",
            "one/..",
            "one/../..",
            "../runs/one",
            "/etc",
            "one\0",
            "二",
        ] {
            assert!(report(&inner, id).is_err(), "{id:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join("one")).expect("made");
        std::fs::write(root.path().join("one/run.json"), "{}").expect("written");
        std::fs::write(root.path().join("secret"), "x").expect("written");
        let link = root.path().join("one").join(REPORT);
        std::os::unix::fs::symlink(root.path().join("secret"), link).expect("linked");
        assert!(report(root.path(), "one").is_err());
    }
}
