//! `sokudo stream`: how many bytes per second does a connection carry?

use clap::Args;
use sokudo_model::{FlowPlan, Refusal};
use sokudo_workloads::stream::{self, StreamOptions};

use super::finish::ShowOptions;
use super::key::KeyText;
use super::load::{Load, LoadArgs};
use super::observer::Terminal;
use super::workload::{self, Call};
use super::{Exit, Failure};

const EXAMPLES: &str = "\
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

/// Send bulk bytes over connections: goodput, what it costs, and what holds it back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StreamArgs {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,

    #[command(flatten)]
    options: StreamOptions,

    #[command(flatten)]
    load: LoadArgs,

    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    show: ShowOptions,
}

impl Load for StreamOptions {
    const NAME: &'static str = stream::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        StreamOptions::validate(self)
    }

    fn to_json(&self) -> String {
        StreamOptions::to_json(self)
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        stream::flows(hosts, self.streams, self.direction)
    }

    fn duration_ns(&self) -> u64 {
        StreamOptions::duration_ns(self)
    }

    fn fixed(&self) -> Option<&'static str> {
        let bytes = self.bytes.map(|_| "bytes");
        self.rate.map(|_| "rate").or(bytes)
    }
}

/// Carries it out.
pub fn run(args: StreamArgs) -> Result<Exit, Failure> {
    let planned = args.load.plan(&args.options)?;
    let lang = args.show.lang();
    let call = Call {
        workload: stream::NAME,
        hosts: &args.hosts,
        key: args.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.interval.0,
        show: &args.show,
    };
    let observer = Terminal::new(lang, None, None);
    workload::carry_out(
        &call,
        observer,
        |run| planned.measure(run, lang),
        |_| Ok(()),
    )
}
