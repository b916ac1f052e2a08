//! `sokudo rr` and `sokudo crr`: how long does an answer take?

use clap::Args;
use sokudo_model::{FlowPlan, Refusal};
use sokudo_workloads::rr::{self, CommonOptions, RrOptions};
use sokudo_workloads::sample::Sample;
use sokudo_workloads::{crr, crr::CrrOptions};

use super::finish::ShowOptions;
use super::key::KeyText;
use super::load::{Load, LoadArgs};
use super::observer::Terminal;
use super::workload::{self, Call};
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
is seen by one request only. With --rate everybody who would have asked meanwhile sees it.";

/// Examples after the help of `crr`.
pub const CRR_EXAMPLES: &str = "\
Examples:
  sokudo crr hostb                               connect, ask 64 B, hang up, again and again
  sokudo crr hostb --transport tls --threads 4   with a TLS handshake, four at a time
  sokudo crr hostb --rate 200/s --duration 60s   open loop, gentle on ports

Each connection keeps its local port for a minute after it is closed (TIME_WAIT).";

/// Arguments of both commands.
#[derive(Debug, Args)]
pub struct ExchangeArgs<O: Args> {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,

    #[command(flatten)]
    options: O,

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

/// What differs between the two.
pub trait Exchange: Args + Clone {
    /// Name of the workload.
    const NAME: &'static str;
    /// What both have.
    fn common(&self) -> &CommonOptions;
    /// Checks how the options fit together.
    fn validate(&self) -> Result<(), Refusal>;
    /// As they travel in a plan.
    fn to_json(&self) -> String;
}

impl Exchange for RrOptions {
    const NAME: &'static str = rr::NAME;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn validate(&self) -> Result<(), Refusal> {
        RrOptions::validate(self)
    }

    fn to_json(&self) -> String {
        RrOptions::to_json(self)
    }
}

impl Exchange for CrrOptions {
    const NAME: &'static str = crr::NAME;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn validate(&self) -> Result<(), Refusal> {
        CrrOptions::validate(self)
    }

    fn to_json(&self) -> String {
        CrrOptions::to_json(self)
    }
}

impl<E: Exchange> Load for E {
    const NAME: &'static str = <E as Exchange>::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        Exchange::validate(self)
    }

    fn to_json(&self) -> String {
        Exchange::to_json(self)
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        rr::flows(hosts, self.common().threads, self.common().direction)
    }

    fn duration_ns(&self) -> u64 {
        self.common().duration_ns()
    }

    fn fixed(&self) -> Option<&'static str> {
        let count = self.common().count.map(|_| "count");
        self.common().rate.map(|_| "rate").or(count)
    }

    fn untimed(&self) -> Option<&'static str> {
        (self.common().sample == Sample::None).then_some("sample none")
    }
}

/// Carries out `rr` or `crr`.
pub fn run<O: Exchange>(args: ExchangeArgs<O>) -> Result<Exit, Failure> {
    let planned = args.load.plan(&args.options)?;
    let lang = args.show.lang();
    let call = Call {
        workload: <O as Exchange>::NAME,
        hosts: &args.hosts,
        key: args.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.common().interval.0,
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
