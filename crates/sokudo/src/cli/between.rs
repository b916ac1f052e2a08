//! `sokudo rr`, `sokudo crr` and `sokudo stream`: loads between hosts.

use clap::Args;
use sokudo_workload::Options;

use super::measure::{MeasureArgs, measure};
use super::workload::{self, CallArgs};
use super::{Exit, Failure};

/// Examples after the help of `rr`.
pub const RR_EXAMPLES: &str = "\
Examples:
  sokudo rr hostb                                one connection, 64 B, one request at a time
  sokudo rr hostb --rate 10k/s --duration 60s    open loop: latency from the intended start
  sokudo rr hostb --find 'p99<1ms'               the highest rate that keeps the bound
  sokudo rr hostb --sweep rate=1k/s..64k/s:x2    latency over offered load, and its knee
  sokudo rr hostb --connections 1000 --threads 2 many connections
  sokudo rr hostb --size 64:4KiB --window 8      small questions, long answers, 8 at a time
  sokudo rr hostb --wait spin --transport udp    the shortest latency that this pair can show

Without --rate the loop is closed: each answer starts the next request, so a stall of the far end
is seen by one request only. With --rate every request that was due meanwhile sees it.";

/// Examples after the help of `crr`.
pub const CRR_EXAMPLES: &str = "\
Examples:
  sokudo crr hostb                               connect, ask 64 B, hang up, again and again
  sokudo crr hostb --transport tls --threads 4   with a TLS handshake, four at a time
  sokudo crr hostb --rate 200/s --duration 60s   open loop, gentle on ports

Each connection keeps its local port for a minute after it is closed (TIME_WAIT).";

/// Examples after the help of `stream`.
pub const STREAM_EXAMPLES: &str = "\
Examples:
  sokudo stream hostb                            one TCP connection, as fast as it goes, 10 s
  sokudo stream hostb --direction both           both ways at once
  sokudo stream hostb --streams 8 --cc bbr       eight connections, another congestion control
  sokudo stream hostb --transport tls            what encryption costs
  sokudo stream hostb --io auto                  the fastest way to write that this host has
  sokudo stream hostb --bytes 1GiB               how long does a gigabyte take?
  sokudo stream hostb --rate 500Mb/s --bins 5ms  a steady load, and its silences
  sokudo stream hostb --sweep streams=1,2,4,8    how many connections does it take?
  sokudo stream hosta hostb hostc --direction mesh   every host to all others

Start `sokudo serve` on each HOST first. Goodput is what the receiving program got, over the
receiver's time; both ends' counts must agree to the byte.";

/// Arguments of these commands.
#[derive(Debug, Args)]
pub struct BetweenArgs<O: Args> {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,

    #[command(flatten)]
    options: O,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    call: CallArgs,
}

/// Carries one of them out.
pub fn run<O: Options>(args: BetweenArgs<O>) -> Result<Exit, Failure> {
    let planned = args.measure.plan(&args.options)?;
    let lang = args.call.show.lang();
    let call = args.call.to(&args.hosts, &args.options);
    let observer = args.call.terminal(call.interval_ns);
    workload::carry_out(
        &call,
        observer,
        |run| measure(planned, run, lang),
        |_| Ok(()),
    )
}
