//! `sokudo stream`: how many bytes per second does a connection carry?

use clap::Args;
use sokudo_model::{Labels, PhasePlan};
use sokudo_workloads::stream::{self, StreamOptions};

use super::finish::ShowOptions;
use super::key::KeyText;
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

    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(args: StreamArgs) -> Result<Exit, Failure> {
    args.options.validate()?;
    let call = Call {
        workload: stream::NAME,
        hosts: &args.hosts,
        key: args.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.interval.0,
        show: &args.show,
    };
    let observer = Terminal::new(args.show.lang(), None, None);
    let options = &args.options;
    let measure = |run: &mut sokudo_controller::Run| {
        let hosts = run.hosts().list().len() as u32;
        let duration_ns = options.duration_ns();
        run.run_phase(PhasePlan {
            name: "measure".into(),
            workload: stream::NAME.into(),
            options: options.to_json(),
            flows: stream::flows(hosts, options.streams, options.direction),
            duration_ns,
            bound_ns: workload::bound_ns(duration_ns),
            labels: Labels::new(),
        })
        .map(drop)
    };
    workload::carry_out(&call, observer, measure, |_| Ok(()))
}
