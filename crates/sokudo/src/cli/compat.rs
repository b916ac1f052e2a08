//! `sokudo compat`: other tools' command lines, unchanged.

use std::io::Write;

use clap::{Args, Subcommand};
use sokudo_workloads::datagram::vendor::{self, Asked, VendorOptions};

use super::{Exit, Failure, stop_flag};

/// Take another tool's command line as it is, and print its report with right numbers.
#[derive(Debug, Args)]
pub struct CompatArgs {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// The datagram test of a well-known data grid: `sokudo compat datagram-test -local :9999 …`.
    ///
    /// Speaks the tool's own wire, so a real process of it can be the other end. `-?` prints all
    /// options. Ends with Ctrl-C where the tool would not end by itself.
    #[command(disable_help_flag = true)]
    DatagramTest {
        /// The tool's arguments.
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ARGS"
        )]
        args: Vec<String>,
    },
}

/// Carries it out.
pub fn run(args: CompatArgs) -> Result<Exit, Failure> {
    let Tool::DatagramTest { args } = args.tool;
    let options = match VendorOptions::parse(&args)? {
        Asked::Run(options) => *options,
        Asked::Help => {
            print!("{}", vendor::HELP);
            return Ok(Exit::Fine);
        }
    };
    let stop = stop_flag()?;
    let mut out = std::io::stdout();
    let summary = vendor::run(options, &mut out, &stop)?;
    let _ = out.flush();
    let problems = summary.problems();
    for problem in &problems {
        eprintln!("  ! {problem}");
    }
    Ok(if problems.is_empty() {
        Exit::Fine
    } else {
        Exit::RunFailed
    })
}
