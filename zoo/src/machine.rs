//! Reads what else this machine does: a cause of the zoo's own making is not the only one on a busy machine.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

/// CPU time used so far, in ticks.
pub struct Busy {
    at: Instant,
    machine: f64,
    own: f64,
}

/// Ticks of a second that the kernel counts CPU time in.
const TICKS_PER_S: f64 = 100.0;

impl Busy {
    /// Reads the clocks of the machine and of this program with all it started.
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            machine: machine_ticks(),
            own: own_ticks(),
        }
    }

    /// Cores that programs of others used since then. What ended meanwhile is counted with its parent.
    pub fn others_since(&self) -> f64 {
        let now = Self::now();
        let ticks = (now.machine - self.machine) - (now.own - self.own);
        let seconds = now.at.duration_since(self.at).as_secs_f64();
        (ticks / TICKS_PER_S / seconds.max(0.001)).max(0.0)
    }
}

/// User, nice, system and steal time of all cores.
fn machine_ticks() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let fields: Vec<f64> = first
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    [0, 1, 2, 7].iter().filter_map(|at| fields.get(*at)).sum()
}

/// CPU time of this program, of what it started, and of those of them that ended.
fn own_ticks() -> f64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let processes: BTreeMap<u32, (u32, f64)> =
        ids.filter_map(|id| Some((id, process(id)?))).collect();
    let own = std::process::id();
    let is_own = |id: u32| {
        let mut id = id;
        // Deeper than any chain of parents here.
        for _ in 0..64 {
            if id == own {
                return true;
            }
            match processes.get(&id) {
                Some((parent, _)) => id = *parent,
                None => return false,
            }
        }
        false
    };
    let mine = processes.iter().filter(|(id, _)| is_own(**id));
    mine.map(|(_, (_, ticks))| ticks).sum()
}

/// Parent and CPU time of a process, that of children which ended included (proc(5)).
fn process(id: u32) -> Option<(u32, f64)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let times = fields
        .get(11..15)?
        .iter()
        .filter_map(|word| word.parse::<f64>().ok());
    Some((parent, times.sum()))
}

/// Facts about this machine that a reader needs.
pub fn facts() -> Vec<String> {
    let line = |path: &str, key: &str| {
        let text = fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = line("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        format!("{model}, {cores} cores"),
        format!("Linux {}", kernel.trim()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_knows_its_own_time() {
        assert!(process(std::process::id()).is_some());
        assert!(own_ticks() <= machine_ticks());
    }
}
