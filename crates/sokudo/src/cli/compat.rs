//! `sokudo compat`: other tools' command lines, unchanged.

use std::io::Write;

use clap::{Args, Subcommand};
use sokudo_coherence::bus::{self as coherence_bus, CoherenceBusOptions};
use sokudo_coherence::datagram::{
    self as coherence_datagram, CoherenceDatagramOptions, CommandLine,
};
use sokudo_i18n::I18n;
use sokudo_iperf::{self as iperf, IperfError};
use sokudo_model::Text;

use super::{Exit, Failure, language, stop_flag};

/// Take another tool's command line as it is, and print a report in its form.
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
    /// The message bus test of the same data grid: `sokudo compat message-bus-test -bind tmb://…`.
    ///
    /// Speaks the tool's own wire, so a real process of it can be the other end. `-?` prints all
    /// options. Ends with Ctrl-C, as the tool itself.
    #[command(disable_help_flag = true)]
    MessageBusTest {
        /// The tool's arguments.
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ARGS"
        )]
        args: Vec<String>,
    },
    /// iperf3's command line: `sokudo compat iperf3 -c HOST -t 10 -R`, or `-s` to be its server.
    ///
    /// Speaks the tool's own wire: a real iperf3 can be the other end. `--help` prints all options.
    #[command(disable_help_flag = true)]
    Iperf3 {
        /// The tool's arguments.
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ARGS"
        )]
        args: Vec<String>,
    },
    /// Apache JMeter's command line: `sokudo compat jmeter -n -t plan.jmx -l result.jtl -J…`.
    ///
    /// Prints the tool's own lines, writes its file of results, and keeps no record.
    #[command(disable_help_flag = true)]
    Jmeter {
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
    match args.tool {
        Tool::DatagramTest { args } => datagram_test(&args),
        Tool::MessageBusTest { args } => message_bus_test(&args),
        Tool::Iperf3 { args } => iperf3(&args),
        Tool::Jmeter { args } => super::jmx::as_jmeter(&args),
    }
}

fn datagram_test(args: &[String]) -> Result<Exit, Failure> {
    let options = match CoherenceDatagramOptions::parse(args)? {
        CommandLine::Run(options) => *options,
        CommandLine::Help => {
            print!("{}", coherence_datagram::HELP);
            return Ok(Exit::Fine);
        }
    };
    let stop = stop_flag()?;
    let mut out = std::io::stdout();
    let summary = coherence_datagram::run(options, &mut out, &stop)?;
    let _ = out.flush();
    Ok(ended(&summary.problems()))
}

fn message_bus_test(args: &[String]) -> Result<Exit, Failure> {
    let options = match CoherenceBusOptions::parse(args)? {
        coherence_bus::CommandLine::Run(options) => *options,
        coherence_bus::CommandLine::Help { unknown: None } => {
            print!("{}", coherence_bus::HELP);
            return Ok(Exit::Fine);
        }
        // As the tool itself: the help, and exit code 1.
        coherence_bus::CommandLine::Help {
            unknown: Some(option),
        } => {
            eprintln!("unknown parameter {option}\n\n{}", coherence_bus::HELP);
            return Ok(Exit::CheckFailed);
        }
    };
    let stop = stop_flag()?;
    let mut out = std::io::stdout();
    let summary = coherence_bus::run(&options, &mut out, &mut std::io::stderr(), &stop)?;
    let _ = out.flush();
    Ok(ended(&summary.problems))
}

fn iperf3(args: &[String]) -> Result<Exit, Failure> {
    let line = iperf::CommandLine::parse(args)?;
    let mut out = std::io::stdout();
    match line {
        iperf::CommandLine::Help => print!("{}", iperf::HELP),
        iperf::CommandLine::Version => println!("sokudo {}", env!("CARGO_PKG_VERSION")),
        iperf::CommandLine::Client(options) => {
            iperf::run_client(&options, &mut out, &*stop_flag()?)?;
        }
        iperf::CommandLine::Server(options) => {
            let server = iperf::Server::bind(&options)?;
            iperf::run_server(&server, &options, &mut out, &*stop_flag()?)?;
        }
    }
    Ok(Exit::Fine)
}

impl From<IperfError> for Failure {
    fn from(error: IperfError) -> Self {
        let says = Text::new("error-iperf").text("error", error.text());
        match error {
            IperfError::Usage(_) => Failure::operator(says, Text::new("error-iperf-hint")),
            IperfError::Busy
            | IperfError::Io { .. }
            | IperfError::Protocol(_)
            | IperfError::Ended
            | IperfError::Stopped => Failure::run(says, None),
        }
    }
}

/// Says what went wrong on the way.
fn ended(problems: &[String]) -> Exit {
    let i18n = I18n::new(language());
    for problem in problems {
        eprintln!("  ! {}", i18n.text(&Text::recorded(problem)));
    }
    if problems.is_empty() {
        Exit::Fine
    } else {
        Exit::RunFailed
    }
}
