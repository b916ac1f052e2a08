//! Bounds the CPU time of the program under test by a control group of its own.

use std::fs;
use std::path::{Path, PathBuf};

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
        let (root, is_unified) = root()?;
        let folder = root.join(format!("sokudo-zoo-{}", std::process::id()));
        let made = || -> std::io::Result<()> {
            if !folder.is_dir() {
                fs::create_dir(&folder)?;
            }
            let quota_us = (share_of_core * f64::from(PERIOD_US)).round();
            if is_unified {
                return fs::write(folder.join("cpu.max"), format!("{quota_us} {PERIOD_US}"));
            }
            fs::write(folder.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
            fs::write(folder.join("cpu.cfs_quota_us"), quota_us.to_string())
        };
        made().map_err(|why| format!("no control group `{}`: {why}", folder.display()))?;
        Ok(Self { folder })
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

/// Folder in which groups with a bound on CPU time are made, and whether that is the unified hierarchy.
fn root() -> Result<(PathBuf, bool), String> {
    let unified = Path::new("/sys/fs/cgroup");
    let controllers = fs::read_to_string(unified.join("cgroup.subtree_control"));
    if controllers.is_ok_and(|text| text.split_whitespace().any(|word| word == "cpu")) {
        return Ok((unified.to_owned(), true));
    }
    let own = unified.join("cpu");
    match own.join("cpu.cfs_quota_us").exists() || own.join("cpu.shares").exists() {
        true => Ok((own, false)),
        false => Err("no control group bounds CPU time here".into()),
    }
}
