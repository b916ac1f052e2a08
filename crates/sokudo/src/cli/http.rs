//! `sokudo http`: how many requests per second does a web server answer?

use clap::Args;
use sokudo_model::{FlowPlan, Refusal};
use sokudo_workloads::http::{self, HttpOptions};

use super::finish::ShowOptions;
use super::load::{Generators, Load, LoadArgs};
use super::observer::Terminal;
use super::workload::{self, Call};
use super::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  sokudo http http://hostb:8080/                     64 connections, 10 s, as fast as answers come
  sokudo http hostb:8080/ -c 256 -d 60s -t 2         256 connections on two threads
  sokudo http hostb:8080/ --rate 500/s               open loop: latency from the intended start
  sokudo http hostb:8080/ --rate 500/s --slo 'p95<2s,errors<0.1%'   exit code 1 when broken
  sokudo http hostb:8080/ --find 'p99<50ms'          the highest rate that keeps the bound
  sokudo http hostb:8080/ --sweep rate=100/s..6400/s:x2   latency over load, and its knee
  sokudo http https://hostb/api -X POST -H 'Content-Type: application/json' -b @request.json
  sokudo http hostb:8080/ --on 'lab/*' -c 400         from every host of a group, 400 connections in all
  sokudo http hostb:8080/ --no-keepalive             a connection for each request

Without --rate the loop is closed: a server that stalls is asked less, and few requests see it. With
--rate everybody who would have asked meanwhile sees it.";

/// Load a web server: requests per second, latency, and where the time goes.
///
/// The server needs nothing of ours. HTTP/1.1, plain or over TLS; every failure is told apart.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HttpArgs {
    #[command(flatten)]
    options: HttpOptions,

    #[command(flatten)]
    load: LoadArgs,

    #[command(flatten)]
    generators: Generators,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    show: ShowOptions,
}

impl Load for HttpOptions {
    const NAME: &'static str = http::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        HttpOptions::validate(self)
    }

    fn to_json(&self) -> String {
        HttpOptions::to_json(self)
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        http::flows(hosts, self.threads)
    }

    fn duration_ns(&self) -> u64 {
        HttpOptions::duration_ns(self)
    }

    fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }
}

/// Carries it out.
pub fn run(mut args: HttpArgs) -> Result<Exit, Failure> {
    args.options.read_body()?;
    let planned = args.load.plan(&args.options)?;
    let lang = args.show.lang();
    let call = Call {
        workload: http::NAME,
        hosts: &args.generators.on,
        key: args.generators.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.interval.0,
        show: &args.show,
    };
    workload::carry_out(
        &call,
        Terminal::new(lang, None, None),
        |run| {
            planned.measure(run, lang)?;
            if !args.generators.on.is_empty() {
                run.group_numbers();
            }
            Ok(())
        },
        |_| Ok(()),
    )
}
