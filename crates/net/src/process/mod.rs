//! Processes that this program starts from itself, and the bounds on what they may take of the host.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

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

/// Kills a command that [`keep_interrupts_from`] was told of, and everything that it started and that
/// stayed with it. A process that has ended already is not an error.
pub fn kill_with_all(command: &Child) {
    imp::kill_group(command);
}

/// The exit code of a process as a shell tells it: of one that a signal ended, 128 and its number.
pub fn code_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + number).unwrap_or(u8::MAX);
    }
    let code = status.code().unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// End of a process: the name of the signal, or its exit code.
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

#[cfg(all(test, unix))]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn shell(line: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).stdin(Stdio::null());
        shell
    }

    #[test]
    fn codes_are_those_of_a_shell() {
        let code = |line| code_of(shell(line).status().expect("runs"));
        assert_eq!(code("exit 0"), 0);
        assert_eq!(code("exit 7"), 7);
        assert_eq!(code("kill -KILL $$"), 137);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_command_started_ends_with_it() {
        use std::io::Read as _;
        // The one that was started holds the pipe open for as long as it lives.
        let mut command = shell("sleep 1000 & echo; wait");
        keep_interrupts_from(&mut command);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("starts");
        let mut stdout = child.stdout.take().expect("piped");
        stdout.read_exact(&mut [0]).expect("it runs");
        kill_with_all(&child);
        assert_eq!(code_of(child.wait().expect("ends")), 137);
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).expect("nobody holds it");
        kill_with_all(&child);
    }
}
