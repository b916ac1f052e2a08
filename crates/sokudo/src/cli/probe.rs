//! `sokudo probe`: one-way and round-trip delay of datagrams.

use clap::Args;
use sokudo_load_network::probe::{self, ProbeOptions};
use sokudo_session::LoadedServer;

use super::finish::ShowOptions;
use super::key::KeyText;
use super::live::LiveArgs;
use super::measure::{MeasureArgs, measure};
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::out::OutArgs;
use super::workload::{self, Call};
use super::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  sokudo probe hostb                             a probe every 10 ms for 10 s
  sokudo probe hostb --every 1ms --duration 60s  finer, longer
  sokudo probe hostb --dscp 46 --size 200        as a voice call: expedited, 200 B
  sokudo probe hostb hostc --direction mesh      every host probes all others
  sokudo probe hostb --sweep every=10ms,1ms,200us    does the way mind how many there are?
  sokudo probe hostb --find 'p99<1ms,loss<0.1%'  the highest rate that keeps the bounds

Round trips need one clock only. One-way delays compare two clocks: they are printed only where they
are not smaller than the error with which the clocks could be compared. On one host there is none.";

/// Probe other hosts at fixed intervals: delay each way, its variation, loss each way.
///
/// Start `sokudo serve` on each HOST first. Probes are few and small: they show what a thin, regular
/// flow feels, beside whatever else is on the way.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ProbeArgs {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,

    #[command(flatten)]
    options: ProbeOptions,

    #[command(flatten)]
    measure: MeasureArgs,

    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    live: LiveArgs,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(args: ProbeArgs) -> Result<Exit, Failure> {
    let planned = args.measure.plan(&args.options)?;
    let lang = args.show.lang();
    let call = Call {
        workload: probe::NAME,
        hosts: &args.hosts,
        key: args.key.as_ref(),
        seed: None,
        interval_ns: args.options.interval.0,
        observe: &args.observe,
        out: &args.out,
        may_miss: false,
        show: &args.show,
        server: LoadedServer::NOBODY,
    };
    let observer = Terminal::new(lang, None, None)
        .sampling_every(call.interval_ns)
        .live(args.live);
    workload::carry_out(
        &call,
        observer,
        |run| {
            measure(planned, run, lang)?;
            let measured = run.manifest_mut().phases.last();
            let notes = measured.map(|phase| probe::notes::notes(&phase.result));
            run.manifest_mut().notes.extend(notes.unwrap_or_default());
            Ok(())
        },
        |_| Ok(()),
    )
}
