//! Starts a real `zenohd`, the router that an installation of Zenoh has.

use std::path::{Path, PathBuf};

use crate::program::{Running, Sokudo};
use crate::skip;

/// Names the program when it is not on the path.
const VARIABLE: &str = "SOKUDO_ZENOHD";

/// Starts `zenohd -c SETTINGS` and waits until it listens; says why the test is skipped and returns
/// `None` where there is no such program.
pub fn start(settings: &Path) -> Option<Running> {
    let Some(program) = found() else {
        skip(format_args!(
            "there is no `zenohd` on the path, and {VARIABLE} names none"
        ));
        return None;
    };
    let arguments = ["-c".as_ref(), settings.as_os_str()];
    let call = Sokudo::of(program.as_os_str(), arguments).env("RUST_LOG", "z=info");
    let mut running = call.start();
    running.wait_for(|line| line.contains("can be reached at").then_some(()));
    Some(running)
}

fn found() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join("zenohd"));
    candidates.find(|candidate| candidate.is_file())
}
