//! Linux: setrlimit(2), proc_pid_exe(5), proc_pid_oom_score_adj(5).

use std::io;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};

/// Highest value of `oom_score_adj`: this process goes first.
const FIRST_TO_GO: &str = "1000";

/// The kernel's name for it.
pub(super) fn own_program() -> io::Result<PathBuf> {
    Ok("/proc/self/exe".into())
}

pub(super) fn kill_group(command: &Child) {
    let _ = kill_process_group(Pid::from_child(command), Signal::KILL);
}

pub(super) fn confine(share: f64) {
    let system = rustix::system::sysinfo();
    let bytes = system.totalram as f64 * f64::from(system.mem_unit) * share;
    // Private writable memory, in which everything is that is allocated (since Linux 4.7).
    lower(Resource::Data, bytes as u64);
    lower(Resource::Core, 0);
    // Containers may lack the file; the limits above hold all the same.
    let _ = std::fs::write("/proc/self/oom_score_adj", FIRST_TO_GO);
}

fn lower(resource: Resource, to: u64) {
    let to = getrlimit(resource).current.map_or(to, |now| now.min(to));
    // To have less is always allowed.
    let _ = setrlimit(
        resource,
        Rlimit {
            current: Some(to),
            maximum: Some(to),
        },
    );
}
