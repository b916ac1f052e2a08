//! A process that reports the end of an agent's process, which cannot report it itself.
//!
//! ```text
//! sokudo agent ── pipe: group, life … "bye" ──► sokudo agent-guard
//!                                                  end of the pipe without "bye": tells the group
//! ```
//!
//! Messages travel over UDP, where nothing happens when a process is killed: a router would notice after
//! seconds. The system closes the pipe at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use clap::Args;
use sokudo_model::Text;
use sokudo_wire::join::MemberRole;
use sokudo_zenoh::Membership;
use sokudo_zenoh::agent::{self, Serving};

use super::super::{Exit, Failure, config, stop_flag};
use crate::cli::screen::tell_status;

/// Name of the hidden subcommand.
const COMMAND: &str = "agent-guard";
/// Message of a process that leaves in order.
const BYE: &str = "bye";
/// Longest text on the pipe, bytes.
const MAX_BYTES: u64 = 1024;

/// Outlives an agent's process, and tells its group that it is gone.
#[derive(Debug, Args)]
pub struct GuardArgs {}

/// The agent's end: says goodbye when it is dropped.
pub struct Guarded(Option<Child>);

impl Guarded {
    /// Starts the other process. Without one the loss of this process is noticed by its silence.
    pub fn begin(group: &str, serving: &Serving) -> Self {
        let begun = (|| -> std::io::Result<Child> {
            let mut child = Command::new(std::env::current_exe()?)
                .arg(COMMAND)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            if let Some(pipe) = &mut child.stdin {
                pipe.write_all(format!("{group}\n{}\n", serving.life()).as_bytes())?;
            }
            Ok(child)
        })();
        match begun {
            Ok(child) => Self(Some(child)),
            Err(why) => {
                tell_status(&Text::new("status-no-watchdog").with("error", why));
                Self(None)
            }
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else {
            return;
        };
        if let Some(mut pipe) = child.stdin.take() {
            // A guard that is gone needs no goodbye.
            let _ = pipe.write_all(format!("{BYE}\n").as_bytes());
        }
        let _ = child.wait();
    }
}

/// The other process.
pub fn run(_: GuardArgs) -> Result<Exit, Failure> {
    // Ctrl-C at a terminal reaches both; the agent says what becomes of it.
    let _stop = stop_flag()?;
    let mut lines = BufReader::new(std::io::stdin().take(MAX_BYTES)).lines();
    let mut next = || lines.next().and_then(Result::ok);
    let (Some(group), Some(life)) = (next(), next()) else {
        return Ok(Exit::Fine);
    };
    if next().as_deref() != Some(BYE) {
        let membership = Membership::load(&config(), &group, MemberRole::Agent)?;
        agent::say_gone(&membership, &life)?;
    }
    Ok(Exit::Fine)
}
