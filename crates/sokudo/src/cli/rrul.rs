//! `sokudo rrul`: latency idle, and under load up, down and both ways.

use clap::Args;
use sokudo_controller::RrulPlan;
use sokudo_load_network::probe::ProbeOptions;
use sokudo_workload::times::check_duration;
use sokudo_workload::values::Span;

use super::workload::{self, Call, CallArgs};
use super::{Exit, Failure};

/// Name of the run.
const NAME: &str = "rrul";

const EXAMPLES: &str = "\
Examples:
  sokudo rrul hostb                              four parts of 10 s
  sokudo rrul hostb --duration 30s --streams 8   longer, and a heavier load
  sokudo link run --rate 20Mb/s --queue 1MB -- sokudo rrul b     a deep queue, to see a bad grade

The grade is that of the DSLReports speed test: what load up and load down add to the median round
trip, on average: A+ below 5 ms, A 30 ms, B 60 ms, C 200 ms, D 400 ms, F beyond.";

/// Measure latency idle, and under load up, down and both ways at once: bufferbloat, with its grade.
///
/// Start `sokudo serve` on HOST first. Datagrams and messages over TCP, 50 of each per second, measure
/// round trips while TCP streams fill the path, as flent's test of this name does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RrulArgs {
    /// Host on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(value_name = "HOST")]
    host: String,

    /// TCP streams each way.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    streams: u32,

    /// How long each of the four parts takes.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    duration: Span,

    #[command(flatten)]
    call: CallArgs,
}

/// Carries it out.
pub fn run(args: RrulArgs) -> Result<Exit, Failure> {
    check_duration(Some(args.duration), 0)?;
    let plan = RrulPlan {
        duration_ns: args.duration.0,
        streams: args.streams,
    };
    let hosts = [args.host];
    let call = Call {
        workload: NAME,
        ..args.call.to(&hosts, &ProbeOptions::default())
    };
    let observer = args.call.terminal(call.interval_ns);
    workload::carry_out(&call, observer, |run| run.rrul(&plan).map(drop), |_| Ok(()))
}
