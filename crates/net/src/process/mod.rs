//! Processes that this program starts from itself, and the bounds on what they may take of the host.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod imp;

/// The program that runs here, also after a newer one was installed in its place.
///
/// Errors: the system does not tell.
pub fn own_program() -> io::Result<PathBuf> {
    imp::own_program()
}

/// From now on this process has at most this share of the host's memory, leaves no image of it on disk
/// when it dies, and is the first to go when the host runs out of memory. What the system does not
/// offer stays as it is.
pub fn confine(share: f64) {
    imp::confine(share);
}

/// Keeps Ctrl-C at the terminal of this process from a command: this process says what becomes of it.
pub fn keep_interrupts_from(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// How a process ended: the name of the signal, or its exit code.
pub fn end_of(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match number {
            4 => "SIGILL".into(),
            6 => "SIGABRT".into(),
            9 => "SIGKILL".into(),
            11 => "SIGSEGV".into(),
            15 => "SIGTERM".into(),
            other => format!("signal {other}"),
        };
    }
    status.to_string()
}
