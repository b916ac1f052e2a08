//! A trial: a part of the source, to a directory of its own at the target, which goes with it.

#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::net::TcpStream;
#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::thread;
#[cfg(unix)]
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(unix)]
use sokudo_net::tcp::info;
#[cfg(unix)]
use sokudo_replicate::root::{self, Root};
#[cfg(unix)]
use sokudo_replicate::session::thread_cpu_s;

/// Directory of a trial in the target: a name that belongs to replications, and that each of them removes
/// where it finds it.
#[cfg(unix)]
const SCRATCH: &str = ".~sk-trial";
/// Time in which all cores are kept busy.
#[cfg(unix)]
const SPIN: Duration = Duration::from_millis(100);

/// Part of the source that a trial takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Share of the files, above 0 to 1: always the same ones.
    pub share: f64,
    /// Bytes of each file at most.
    pub most_bytes: u64,
}

impl Trial {
    /// All of the source.
    pub const WHOLE: Self = Self {
        share: 1.0,
        most_bytes: u64::MAX,
    };

    pub(super) fn is_valid(&self) -> bool {
        self.share > 0.0 && self.share <= 1.0 && self.most_bytes > 0
    }
}

/// The directory of a trial, removed when this is dropped.
#[cfg(unix)]
pub(super) struct Scratch {
    target: PathBuf,
    made: bool,
}

/// Makes the directory of a trial below a target, and the target itself where only its last name is
/// missing.
#[cfg(unix)]
pub(super) fn scratch(target: &Path) -> io::Result<(Arc<Root>, Scratch)> {
    let made = match std::fs::create_dir(target) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(error),
    };
    let scratch = Scratch {
        target: target.into(),
        made,
    };
    scratch.clear();
    let own = target.join(SCRATCH);
    std::fs::create_dir(&own)?;
    Ok((Arc::new(Root::open(&own)?), scratch))
}

#[cfg(unix)]
impl Scratch {
    /// Removes what lies there; a name below the target that is not a directory of ours goes too.
    fn clear(&self) {
        if let Ok(target) = Root::open(&self.target) {
            // What cannot be removed now is removed by the next replication.
            let _ = root::remove_tree(target.handle(), SCRATCH.as_bytes(), 0);
        }
    }
}

#[cfg(unix)]
impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
        if self.made {
            // Fails where somebody put something into it meanwhile.
            let _ = std::fs::remove_dir(&self.target);
        }
    }
}

/// Cores of an end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct EndCores {
    /// Those that its threads may run on.
    pub(super) all: f64,
    /// Those that as many threads got: CPU time over time while each wanted all of one.
    pub(super) free: f64,
}

/// Looks at the cores of this end.
#[cfg(unix)]
pub(super) fn look_at_cores() -> EndCores {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let begun = Instant::now();
    let spin = || {
        let from_s = thread_cpu_s();
        while begun.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        thread_cpu_s() - from_s
    };
    let cpu_s: f64 = thread::scope(|scope| {
        let spinning: Vec<_> = (0..threads).map(|_| scope.spawn(spin)).collect();
        let each = spinning.into_iter().map(|one| one.join().unwrap_or(0.0));
        each.sum()
    });
    EndCores {
        all: threads as f64,
        free: cpu_s / begun.elapsed().as_secs_f64(),
    }
}

/// The shortest round trip that a connection has seen.
#[cfg(unix)]
pub(super) fn round_trip_us(connection: &TcpStream) -> Option<u32> {
    let info = info::read(connection).ok()?;
    info.min_rtt_us.or(info.rtt_us)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_trial_goes_with_it() {
        let place = std::env::temp_dir().join(format!("sokudo-trial-{}", std::process::id()));
        let (root, scratch) = self::scratch(&place).unwrap();
        std::fs::create_dir(place.join(SCRATCH).join("d")).unwrap();
        std::fs::write(place.join(SCRATCH).join("d/f"), b"x").unwrap();
        drop(root);
        drop(scratch);
        assert!(!place.exists());
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("kept"), b"x").unwrap();
        drop(self::scratch(&place).unwrap());
        let left = std::fs::read_dir(&place).unwrap().count();
        assert_eq!(left, 1);
        std::fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn some_of_a_core_is_always_free() {
        let EndCores { all, free } = look_at_cores();
        assert!(
            all >= 1.0 && free > 0.0 && free <= all * 1.2,
            "{free} of {all}"
        );
    }
}
