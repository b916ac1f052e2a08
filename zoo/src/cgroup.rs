//! Bounds CPU time, writes and reads of programs by control groups of their own.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::SlowDisk;

/// Period over which the time is bounded, microseconds.
const PERIOD_US: u32 = 100_000;

/// A control group that is removed when this is dropped; nothing must live in it then.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// Makes a group whose processes together get this share of a core.
    pub fn new(share_of_core: f64) -> Result<Self, String> {
        let quota_us = (share_of_core * f64::from(PERIOD_US)).round();
        let period_us = PERIOD_US.to_string();
        Self::made(
            "cpu",
            &[("cpu.max", format!("{quota_us} {PERIOD_US}"))],
            &[
                ("cpu.cfs_period_us", period_us),
                ("cpu.cfs_quota_us", quota_us.to_string()),
            ],
        )
    }

    /// Makes a group whose processes together write and read so many times a second on the disk below a path.
    pub fn of_disk(disk: &SlowDisk, path: &Path) -> Result<Self, String> {
        let (major, minor) = disk_of(path).ok_or("no disk below this folder")?;
        // A group that an earlier run left keeps no bound that this one does not want.
        let unified = |bound: Option<f64>| bound.map_or("max".into(), |n| n.round().to_string());
        let older =
            |bound: Option<f64>| format!("{major}:{minor} {}", bound.unwrap_or(0.0).round());
        let (writes, reads) = (unified(disk.writes), unified(disk.reads));
        let both = format!("{major}:{minor} wiops={writes} riops={reads}");
        Self::made(
            "blkio",
            &[("io.max", both)],
            &[
                ("blkio.throttle.write_iops_device", older(disk.writes)),
                ("blkio.throttle.read_iops_device", older(disk.reads)),
            ],
        )
    }

    /// A group with this text in files of the unified hierarchy, or of the folder of a controller in the older one.
    fn made(
        older: &str,
        unified: &[(&str, String)],
        otherwise: &[(&str, String)],
    ) -> Result<Self, String> {
        let (root, is_unified) = root(older)?;
        let folder = root.join(format!("sokudo-zoo-{}", std::process::id()));
        let files = if is_unified { unified } else { otherwise };
        let made = || -> std::io::Result<()> {
            if !folder.is_dir() {
                fs::create_dir(&folder)?;
            }
            let mut files = files.iter();
            files.try_for_each(|(file, text)| fs::write(folder.join(file), text))
        };
        made().map_err(|why| format!("no control group `{}`: {why}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Puts a process into the group, and with it what it starts from now on.
    pub fn takes(&self, id: u32) -> Result<(), String> {
        let file = self.folder.join("cgroup.procs");
        fs::write(&file, id.to_string())
            .map_err(|why| format!("no process in `{}`: {why}", file.display()))
    }

    /// Line of a shell that puts itself into the group.
    pub fn joins(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.folder.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel refuses while a process of it is still ending; the next run uses it again.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Folder in which groups are made that this controller bounds, and whether that is the unified hierarchy.
fn root(controller: &str) -> Result<(PathBuf, bool), String> {
    let unified = Path::new("/sys/fs/cgroup");
    let names = fs::read_to_string(unified.join("cgroup.subtree_control"));
    // The older `blkio` is `io` there.
    let is_one = |word: &str| controller.ends_with(word);
    if names.is_ok_and(|text| text.split_whitespace().any(is_one)) {
        return Ok((unified.to_owned(), true));
    }
    let own = unified.join(controller);
    match own.join("cgroup.procs").exists() {
        true => Ok((own, false)),
        false => Err(format!("no control group bounds {} here", controller)),
    }
}

/// Numbers of the whole disk that holds a path; `None` where there is none.
fn disk_of(path: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let device = fs::metadata(path).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let place = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let is_part = place.join("partition").exists();
    let disk = if is_part { place.parent()? } else { &place };
    let text = fs::read_to_string(disk.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
