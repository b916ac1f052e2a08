//! `sokudo`: measures, explains, tunes and proves the performance of distributed systems.
//!
//! The command line is parsed into one command; the command does its work and says how it ended.
//! Exit codes: 0 fine · 1 a check failed · 2 operator error · 3 the run failed or is partial.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::die_quietly_on_closed_pipe();
    match cli::parse().and_then(cli::run) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit().into()
        }
    }
}
