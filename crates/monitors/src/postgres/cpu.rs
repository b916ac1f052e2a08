//! CPU time of a server's sessions, where they run on this machine.

use std::path::Path;

use crate::reread::{read_bounded, read_trimmed};

/// Name of the processes of sessions.
const NAME: &str = "postgres";
/// Longest file that is read, bytes.
const MOST: u64 = 256;

/// CPU time that these processes have used, seconds; `None` where one of them is no session of this machine: the
/// server is elsewhere, or one has ended.
///
/// Source: `/proc/PID/schedstat`; each session is a process with one thread.
pub(super) fn used_s(proc_root: &Path, pids: &[i64]) -> Option<f64> {
    let of = |pid: &i64| {
        let place = proc_root.join(pid.to_string());
        let is_one = read_trimmed(&place.join("comm"))? == NAME;
        let text = read_bounded(&place.join("schedstat"), MOST).ok()?;
        let ran_ns: u64 = text.split_whitespace().next()?.parse().ok()?;
        is_one.then_some(ran_ns as f64 / 1e9)
    };
    let each: Option<Vec<f64>> = pids.iter().map(of).collect();
    Some(each?.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_of_this_machine_are_counted() {
        let root = tempfile::tempdir().expect("a directory");
        for (pid, name, ran) in [
            (7, "postgres", 1_500_000_000),
            (8, "postgres", 250_000_000),
            (9, "sh", 1),
        ] {
            let place = root.path().join(pid.to_string());
            std::fs::create_dir(&place).expect("a directory");
            std::fs::write(place.join("comm"), format!("{name}\n")).expect("a file");
            std::fs::write(place.join("schedstat"), format!("{ran} 5 6\n")).expect("a file");
        }
        assert_eq!(used_s(root.path(), &[7, 8]), Some(1.75));
        assert_eq!(used_s(root.path(), &[7, 9]), None);
        assert_eq!(used_s(root.path(), &[7, 10]), None);
    }
}
