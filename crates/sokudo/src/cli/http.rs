//! `sokudo http`: how many requests per second does a web server answer?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Command, FromArgMatches};
use sokudo_controller::{Hosts, Observer, Run, RunConfig, Steering};
use sokudo_i18n::Lang;
use sokudo_load_http::http::{self, HttpOptions};
use sokudo_model::{MonitorSpec, Record, RunStatus};

use super::finish::{ShowOptions, conclude};
use super::measure::{Generators, MeasureArgs};
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::web::{WatchArgs, Watched};
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
  sokudo http hostb:8080/ --on 'lab/*' -c 400        400 connections from all hosts of a group
  sokudo http https://hostb/ --http2 -c 32 -m 100    HTTP/2: 100 requests at a time on each of 32
  sokudo http hostb:8080/ --no-keepalive             a connection for each request
  sokudo http hostb:8080/ -d 60s --web               seen in a browser while it goes on

Without --rate the loop is closed: a server that stalls is asked less, and few requests see it. With
--rate everybody who would have asked meanwhile sees it.";

/// Load a web server: requests per second, latency, and where the time goes.
///
/// The server needs nothing of ours. HTTP/1.1 or HTTP/2, plain or over TLS; every failure is
/// told apart.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HttpArgs {
    #[command(flatten)]
    options: HttpOptions,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    generators: Generators,

    #[command(flatten)]
    watch: WatchArgs,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(mut args: HttpArgs) -> Result<Exit, Failure> {
    args.options.read_body()?;
    let planned = args.measure.plan(&args.options)?;
    let lang = args.show.lang();
    let call = Call {
        workload: http::NAME,
        hosts: &args.generators.on,
        key: args.generators.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.interval.0,
        observe: &args.observe,
        show: &args.show,
    };
    let page = args.watch.open(http::NAME)?;
    let beside = page.as_ref().map(Watched::observer);
    workload::carry_out(
        &call,
        Terminal::new(lang, None, None).beside(beside),
        |run| {
            if let Some(page) = &page {
                page.begins(run);
            }
            planned.measure(run, lang)?;
            if !args.generators.on.is_empty() {
                run.group_numbers();
            }
            Ok(())
        },
        |record| {
            if let Some(page) = &page {
                page.close(record);
            }
            Ok(())
        },
    )
}

/// A load that a page asks for.
pub struct ForPage<'a> {
    /// What would be typed after `sokudo http`.
    pub words: &'a [String],
    /// Seed of every random choice; drawn when absent.
    pub seed: Option<u64>,
    /// What observes beside the usual monitors.
    pub monitors: Vec<MonitorSpec>,
    /// Ends the run early.
    pub stop: Arc<AtomicBool>,
    /// Told how it goes on.
    pub observer: Box<dyn Observer>,
    /// Gets the handle with which the load is changed.
    pub steers: &'a dyn Fn(Steering),
}

/// Measures once, and returns the record.
pub fn for_page(asked: ForPage<'_>) -> Result<Record, Failure> {
    let no_word = |error: clap::Error| {
        let text = error.render().to_string();
        super::not_understood(&text, &[http::NAME.into()])
    };
    let bare = Command::new(http::NAME).no_binary_name(true);
    let typed = HttpOptions::augment_args(bare).try_get_matches_from(asked.words);
    let options = HttpOptions::from_arg_matches(&typed.map_err(no_word)?).map_err(no_word)?;
    let planned = MeasureArgs::default().plan(&options)?;
    let config = RunConfig {
        workload: http::NAME.into(),
        command: super::command_for_record(),
        root: sokudo_store::runs_root(),
        seed: asked.seed.unwrap_or_else(workload::random_seed),
        interval_ns: options.interval.0.max(workload::WATCH_NS),
        monitors: asked.monitors,
        stop: asked.stop,
    };
    let hosts = Hosts::own(sokudo_agent::factory)?;
    let lang = Lang::from_env();
    let mut run = Run::begin(hosts, config, asked.observer)?;
    (asked.steers)(run.steering());
    let measured = planned.measure(&mut run, lang);
    let phases = &run.manifest().phases;
    let nothing = phases.iter().all(|phase| phase.status == RunStatus::Failed);
    match measured {
        Err(error) if nothing => {
            sokudo_store::discard(&run.finish()?.path)?;
            Err(error.into())
        }
        Err(error) => {
            run.ended_by(&error);
            conclude(&run.finish()?.path, lang)
        }
        Ok(()) => conclude(&run.finish()?.path, lang),
    }
}
