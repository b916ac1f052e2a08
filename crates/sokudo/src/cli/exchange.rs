//! `sokudo rr` and `sokudo crr`: how long does an answer take?

use clap::Args;
use sokudo_controller::{ControlError, Run, SearchPlan};
use sokudo_model::{FlowPlan, Labels, PhasePlan, Refusal, RunStatus, Text};
use sokudo_workloads::rr::{self, RrOptions, options::CommonOptions};
use sokudo_workloads::{crr, crr::CrrOptions};

use super::finish::ShowOptions;
use super::key::KeyText;
use super::observer::Terminal;
use super::workload::{self, Call};
use super::{Exit, Failure};

/// Examples after the help of `rr`.
pub const RR_EXAMPLES: &str = "\
Examples:
  sokudo rr hostb                                one connection, 64 B, one request at a time
  sokudo rr hostb --rate 10k/s --duration 60s    open loop: latency from the intended start
  sokudo rr hostb --find 'p99<1ms'               the highest rate that keeps the bound
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

/// Share of the rate that a closed loop reached at which a search begins.
const CEILING: f64 = 1.25;
/// Probes of a search at most.
const MAX_PROBES: u32 = 16;
/// A trial either keeps its bounds (loss 0) or does not (loss 1).
const EITHER_OR: f64 = 0.5;
/// Shortest probe of a search, nanoseconds.
const SHORTEST_PROBE_NS: u64 = 1_000_000_000;

/// Arguments of both commands.
#[derive(Debug, Args)]
pub struct ExchangeArgs<O: Args> {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,

    #[command(flatten)]
    options: O,

    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    show: ShowOptions,
}

/// Options of a workload that asks and is answered.
pub trait Exchange: Args {
    /// Name of the workload.
    const NAME: &'static str;
    /// Name of its rate in a summary.
    const PER_SECOND: &'static str;
    /// Checks how the options fit together.
    fn validate(&self) -> Result<(), Refusal>;
    /// As they travel in a plan.
    fn to_json(&self) -> String;
    /// What both workloads have.
    fn common(&self) -> &CommonOptions;
}

impl Exchange for RrOptions {
    const NAME: &'static str = rr::NAME;
    const PER_SECOND: &'static str = rr::names::RR.per_second;

    fn validate(&self) -> Result<(), Refusal> {
        RrOptions::validate(self)
    }

    fn to_json(&self) -> String {
        RrOptions::to_json(self)
    }

    fn common(&self) -> &CommonOptions {
        &self.common
    }
}

impl Exchange for CrrOptions {
    const NAME: &'static str = crr::NAME;
    const PER_SECOND: &'static str = rr::names::CRR.per_second;

    fn validate(&self) -> Result<(), Refusal> {
        CrrOptions::validate(self)
    }

    fn to_json(&self) -> String {
        CrrOptions::to_json(self)
    }

    fn common(&self) -> &CommonOptions {
        &self.common
    }
}

/// Carries it out.
pub fn run<O: Exchange>(args: ExchangeArgs<O>) -> Result<Exit, Failure> {
    args.options.validate()?;
    let call = Call {
        workload: O::NAME,
        hosts: &args.hosts,
        key: args.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.common().interval.0,
        show: &args.show,
    };
    let observer = Terminal::new(args.show.lang(), None, None);
    workload::carry_out(
        &call,
        observer,
        |run| measure(run, &args.options),
        |_| Ok(()),
    )
}

fn measure<O: Exchange>(run: &mut Run, options: &O) -> Result<(), ControlError> {
    let common = options.common();
    let hosts = run.hosts().list().len() as u32;
    let flows = rr::flows(hosts, common.threads, common.direction);
    let plan = phase::<O>("measure", options, flows, common.duration_ns());
    if common.find.is_none() {
        run.run_phase(plan)?;
        return Ok(());
    }
    search::<O>(run, plan)
}

fn phase<O: Exchange>(
    name: &str,
    options: &O,
    flows: Vec<FlowPlan>,
    duration_ns: u64,
) -> PhasePlan {
    PhasePlan {
        name: name.into(),
        workload: O::NAME.into(),
        options: options.to_json(),
        flows,
        duration_ns,
        bound_ns: workload::bound_ns(duration_ns),
        labels: Labels::new(),
    }
}

/// A closed loop says how many requests per second there can be at all; from a little above that
/// the search goes down.
fn search<O: Exchange>(run: &mut Run, base: PhasePlan) -> Result<(), ControlError> {
    let duration_ns = base.duration_ns;
    let probe_ns = (duration_ns / 5).max(SHORTEST_PROBE_NS);
    let mut closed = base.clone();
    closed.name = "closed-loop".into();
    closed.labels.insert("role".into(), "probe".into());
    let workload = sokudo_workloads::find(O::NAME);
    let trial = workload.and_then(|w| w.trial(&base.options, None, probe_ns).ok());
    closed.options = trial.unwrap_or(closed.options);
    closed.duration_ns = probe_ns;
    closed.bound_ns = workload::bound_ns(probe_ns);
    let capacity = run.run_phase(closed)?;
    let most = capacity.result.summary.get(O::PER_SECOND).copied();
    let Some(most) = most.filter(|most| capacity.status == RunStatus::Ok && *most > 0.0) else {
        return Ok(());
    };
    let plan = SearchPlan {
        base: PhasePlan {
            name: "search".into(),
            ..base
        },
        probe_ns,
        confirm_ns: duration_ns,
        max_loss: EITHER_OR,
        max_probes: MAX_PROBES,
        ceiling: Some(most * CEILING),
    };
    let searched = run.search(&plan)?;
    match searched.best.zip(searched.confirmed) {
        Some((best, confirmed)) => {
            let summary = &mut run.manifest_mut().summary;
            rr::put_best(O::NAME, summary, &best, &confirmed.result);
        }
        None => run
            .manifest_mut()
            .notes
            .push(Text::new("engine-search-no-rate")),
    }
    Ok(())
}
