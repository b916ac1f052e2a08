//! Fetches programs that are published as Java archives.
//!
//! `mvn` fetches them once, into its ordinary local repository. Whatever is missing (`java`,
//! `mvn`, a way to the archives) is a reason to skip, not to fail.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time of a download.
const FETCH: Duration = Duration::from_secs(300);
/// Time between two checks whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Checks that a program runs, by having it print its version. Errors: it does not run here.
pub fn runs(program: &str) -> Result<(), String> {
    let status = Command::new(program)
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("`{program}` does not run here")),
    }
}

/// Runs `mvn` in a directory, without questions and with a bound.
///
/// Errors: it does not run here, failed, or took too long; `what` names what was to be fetched.
pub fn fetch(directory: &Path, arguments: &[&str], what: &str) -> Result<(), String> {
    runs("mvn")?;
    let mut child = Command::new("mvn")
        .args(["-q", "-B"])
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("`mvn` does not start: {error}"))?;
    let deadline = Instant::now() + FETCH;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(format!("mvn cannot fetch {what}")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK),
            _ => {
                // It may have ended by itself in the meantime; either way it is gone afterwards.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("mvn took too long to fetch {what}"));
            }
        }
    }
}
