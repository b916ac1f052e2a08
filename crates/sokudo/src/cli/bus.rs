//! `sokudo bus`: messages per second between hosts, and their latency.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use sokudo_load_network::bus::BusOptions;
use sokudo_load_network::bus::step::Gate;
use sokudo_model::kinds::bus;
use sokudo_model::{Record, Text};
use sokudo_report::{distribution, tsv};

mod foreign;

use foreign::Wire;

use super::measure::{MeasureArgs, measure};
use super::screen::tell_status;
use super::workload::{self, CallArgs};
use super::{Exit, Failure, table};

const EXAMPLES: &str = "\
Examples:
  sokudo bus hostb                               4 KiB messages, as fast as the window allows
  sokudo bus hostb --rate 50k/s                  latency from the intended time
  sokudo bus hostb --find 'p99<1ms'              the highest rate that keeps the bound
  sokudo bus hostb --mode rr --wait spin         one message at a time, shortest latency
  sokudo bus hostb --rx queue --consume-rate 1k/s    a slow consumer
  sokudo bus hostb hostc --relay                 hostb hands on to hostc
  sokudo bus hostb hostc --direction mesh        every host sends to all others
  sokudo bus tmb://hostb:8000 --wire tmb         a process of another tool answers
  sokudo bus hostb --tsv bus.tsv                 a row for each interval

Rates: `50k/s` is messages, `1Gb/s` bits, `125MB/s` bytes.";

/// Send framed messages between hosts: messages per second, and how long they take.
///
/// Start `sokudo serve` on each HOST first. What is under way is bounded (--inflight), so that the
/// latency is that of the path and not that of a queue.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BusArgs {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required_unless_present = "bind", value_name = "HOST")]
    hosts: Vec<String>,

    /// Speak another tool's wire: its process is at the far end, and only this end's numbers are
    /// known. HOST is an address of that tool.
    #[arg(long, value_enum)]
    wire: Option<Wire>,

    /// With --wire: addresses to take connections at, such as `tmb://192.0.2.1:8000`.
    #[arg(long, value_name = "ADDRESS", requires = "wire")]
    bind: Vec<String>,

    #[command(flatten)]
    options: BusOptions,

    #[command(flatten)]
    measure: MeasureArgs,

    /// Write a table of tab-separated values when the run is over, a row for each interval.
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,

    /// Print the distribution of the response latency as well.
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    call: CallArgs,
}

/// Carries it out.
pub fn run(args: BusArgs) -> Result<Exit, Failure> {
    if let Some(wire) = args.wire {
        return foreign::run(wire, &args);
    }
    let planned = args.measure.plan(&args.options)?;
    let lang = args.call.show.lang();
    if let Some(file) = &args.tsv {
        table::must_be_writable(file)?;
    }
    if args.options.step {
        open_step_by_step()?;
    }
    let call = args.call.to(&args.hosts, &args.options);
    let observer = args.call.terminal(call.interval_ns);
    let also = |record: &Record| {
        if args.verbose && !args.call.show.json {
            print_latency(record);
        }
        match &args.tsv {
            Some(file) => table::write(file, &tsv::bus(record, args.options.interval.0)),
            None => Ok(()),
        }
    };
    workload::carry_out(&call, observer, |run| measure(planned, run, lang), also)
}

fn print_latency(record: &Record) {
    let lines = distribution(record, bus::RESPONSE_LATENCY_SECONDS);
    if !lines.is_empty() {
        println!("\n  {}", bus::RESPONSE_LATENCY_SECONDS);
        print!("{lines}");
    }
}

/// Lets one message pass for each line of standard input, from the first on.
fn open_step_by_step() -> Result<(), Failure> {
    tell_status(&Text::new("status-lines"));
    let mut lines = std::io::stdin().lock().lines();
    if !matches!(lines.next(), Some(Ok(_))) {
        return Err(Failure::operator(
            Text::new("error-bus-step-no-input"),
            Text::new("error-bus-step-no-input-hint"),
        ));
    }
    drop(lines);
    let gate = Gate::put_up();
    gate.open();
    std::thread::spawn(move || read_steps(&gate));
    Ok(())
}

fn read_steps(gate: &Arc<Gate>) {
    let lines = std::io::stdin().lock().lines();
    lines.map_while(Result::ok).for_each(|_| gate.open());
    gate.close();
}
