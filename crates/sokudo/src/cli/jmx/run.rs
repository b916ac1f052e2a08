//! Executes a JMeter test plan, with the options of the tool it comes from.
//!
//! ```text
//! options ─► properties, plan read and refused as a whole ─► results file by the tool's rules
//!     ├─ sokudo jmx run      a run with record, report and exit code
//!     └─ compat jmeter       the tool's own lines on stdout, no record
//! ```

mod compat;
mod knee;
mod rows;
mod versus;

use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_controller::KneeRange;
use sokudo_i18n::Lang;
use sokudo_jmeter::Reading;
use sokudo_jmeter::plan::Plan;
use sokudo_jmeter::settings::Unsupported;
use sokudo_load_http::jmx::{self, JmxOptions, Prepared, Together, read_plan};
use sokudo_model::{Bounds, Change, PhasePlan, Text};
use sokudo_session::{LoadedServer, Versus, random_seed};
use sokudo_workload::times::check_interval;
use sokudo_workload::values::{Span, whole_seconds};

use super::model::{Model, model};
use super::{PropertyArgs, announce, print_problems, together, tool, unsupported};
use crate::cli::finish::ShowOptions;
use crate::cli::jtl::Reported;
use crate::cli::live::LiveArgs;
use crate::cli::measure::{Generators, RuleArgs};
use crate::cli::observe::ObserveArgs;
use crate::cli::observer::Terminal;
use crate::cli::out::OutArgs;
use crate::cli::target_knobs::TargetKnobs;
use crate::cli::web::{WatchArgs, Watched};
use crate::cli::workload::{self, Call, Measured};
use crate::cli::{Exit, Failure, is_secret};

pub use self::compat::as_jmeter;

const EXAMPLES: &str = "\
Examples:
  sokudo jmx run plan.jmx -l result.jtl -J THREAD_NUMBER=40 -J SUSTAIN=300
  sokudo jmx run plan.jmx --users 100 --duration 60          100 users in each group for a minute
  sokudo jmx run plan.jmx --model open:500/s --duration 60   at a rate, whatever comes back
  sokudo jmx run plan.jmx -l r.jtl --slo 'p95<2s,err<0.1%'   exit code 1 when missed
  sokudo jmx run plan.jmx --on 'lab/*' -l all.jtl            its users, divided among a group's hosts
  sokudo jmx check plan.jmx                                  what the plan asks for, without load
  sokudo compat jmeter -n -t plan.jmx -l result.jtl          the tool's own command line and lines

Options with one dash mean what they mean there. A plan with elements that are not known is refused
before the first request; --unsupported says otherwise.";

/// Execute a JMeter test plan: its users, its results file, and what it does not tell.
///
/// The server needs nothing of ours. Latency counts from the moment a request should have left.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    /// The plan: a .jmx file.
    plan: Option<PathBuf>,

    /// The plan, as the tool's option.
    #[arg(
        short = 't',
        alias = "testfile",
        value_name = "PLAN",
        conflicts_with = "plan"
    )]
    test: Option<PathBuf>,

    /// Run without a window: always the case here.
    #[arg(short = 'n', alias = "nongui")]
    no_window: bool,

    /// File of results (JTL); rows are added when it exists.
    #[arg(short = 'l', alias = "logfile", value_name = "FILE")]
    log: Option<PathBuf>,

    /// Replace the file of results and the dashboard when they exist.
    #[arg(short = 'f', alias = "forceDeleteResultFile")]
    force: bool,

    /// Make the dashboard after the test; needs -l and -o.
    #[arg(short = 'e', alias = "reportatendofloadtests", requires_all = ["log", "output"])]
    dashboard: bool,

    /// Make only the dashboard of this file of results; sends nothing. Needs -o.
    #[arg(short = 'g', alias = "reportonly", value_name = "FILE", requires = "output", conflicts_with_all = ["plan", "test"])]
    report_only: Option<PathBuf>,

    /// Directory of the dashboard; must be empty or not exist.
    #[arg(short = 'o', alias = "reportoutputfolder", value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    properties: PropertyArgs,

    #[command(flatten)]
    tool: tool::ToolArgs,

    /// Add columns for what the tool does not tell: intended start, send, errno, stage and
    /// kind of failure.
    #[arg(long)]
    own_columns: bool,

    /// Closed: the plan's users. Open: arrivals at a rate, each doing one iteration (`open:500/s`;
    /// `poisson:500/s` at random moments), or as a schedule says:
    /// `schedule:rate(0/s) even_arrivals(30 s) rate(500/s) even_arrivals(5 min)`.
    #[arg(long, value_name = "MODEL", default_value = "closed", value_parser = model)]
    model: Model,

    /// Users of each main group instead of the plan's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=Change::MOST_USERS))]
    users: Option<u64>,

    /// Time until all users of a main group have begun instead of the plan's: `60`, `60s`, `5min`.
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    ramp: Option<u64>,

    /// How long the main groups last instead of the plan's time or loops: `60`, `60s`, `5min`.
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    duration: Option<u64>,

    /// Most users at a time in an open model; further arrivals are counted, not begun.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=Change::MOST_USERS))]
    max_inflight: Option<u64>,

    /// Execute the plan so many times, one run after the other, and tell the median of the runs with the
    /// interval that holds it: from 6 runs on with 95 % confidence.
    #[arg(long, value_name = "N", conflicts_with = "log", value_parser = clap::value_parser!(u32).range(2..=100))]
    repeat: Option<u32>,

    /// Raise a property of the plan from LOW to HIGH, such as `THREAD_NUMBER=1..200`, or `users`, and
    /// find the knee: the number from which requests queue. See `sokudo knee --help`.
    #[arg(long, value_name = "PROPERTY=LOW..HIGH", conflicts_with_all = ["log", "repeat", "on", "remote", "remote_all"])]
    knee: Option<KneeRange>,

    /// Execute the plan with and without one change, four times each in turns, and tell what it does: a
    /// property of the plan (`THREAD_NUMBER=40`), `users=N` of each group, or a knob of the sokudo target
    /// that is loaded (`target.pool.max=50`).
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["log", "repeat", "knee", "on", "remote", "remote_all", "slo"])]
    versus: Option<Versus>,

    #[command(flatten)]
    rule: RuleArgs,

    /// Event loops. Default: one per core.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: u32,

    /// Accept any certificate, as the tool does.
    #[arg(long)]
    insecure: bool,

    /// What happens to elements and functions that cannot be executed: fail, warn or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = unsupported)]
    unsupported: Unsupported,

    #[command(flatten)]
    generators: Generators,

    /// Every generator has all users of the plan, as the tool has it. Default: they are divided, the
    /// first generators take what does not divide.
    #[arg(long, group = "division")]
    replicate: bool,

    /// The users of the plan are divided, with -R and -r too.
    #[arg(long, group = "division")]
    split: bool,

    /// The hosts of --on with --replicate, as the tool has it.
    #[arg(
        short = 'R',
        value_name = "HOSTS",
        value_delimiter = ',',
        conflicts_with = "on"
    )]
    remote: Vec<String>,

    /// The hosts of the property `remote_hosts`, as -R.
    #[arg(short = 'r', conflicts_with_all = ["on", "remote"])]
    remote_all: bool,

    /// Ends the tool's servers behind the test: taken, and without meaning here.
    #[arg(short = 'X')]
    exit_remote: bool,

    /// Rows of the plan's data files: all of them for every generator, or to each its own.
    #[arg(long, value_name = "WHAT", default_value = "share")]
    data: Data,

    /// File or folder that the plan may use beside its own folder and the current one, as the plan
    /// writes it. Generators are sent such files. May be given several times.
    #[arg(long, value_name = "PATH")]
    with: Vec<String>,

    /// What must be kept: p50, p90, p95, p99, p99.9, mean and max of the latency, err and rps, such
    /// as `p95<2s,err<0.1%,rps>100`. A missed bound gives the exit code 1.
    #[arg(long, value_name = "BOUNDS", conflicts_with = "report_only")]
    slo: Option<Bounds>,

    /// File of results of an earlier test, to compare the dashboard with.
    #[arg(long, value_name = "FILE", requires = "output")]
    compare: Option<PathBuf>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    watch: WatchArgs,

    /// Print a line for each interval of whole seconds: rate, latency, users, errors. Monitors sample as
    /// often.
    #[arg(long, value_name = "TIME", value_parser = whole_seconds, conflicts_with = "live")]
    interval: Option<u64>,

    #[command(flatten)]
    live: LiveArgs,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    show: ShowOptions,
}

/// What several generators do with the rows of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Data {
    /// Every generator has all of them, from the first on.
    Share,
    /// No two generators have the same row.
    Split,
}

impl PlanArgs {
    /// The tool's options for several generators become ours.
    fn take_remote(&mut self) -> Result<(), Failure> {
        if self.remote_all {
            let properties = self.properties.layers()?;
            let hosts = properties.get("remote_hosts").unwrap_or_default();
            let hosts = hosts
                .split(',')
                .map(str::trim)
                .filter(|host| !host.is_empty());
            self.remote = hosts.map(str::to_owned).collect();
            if self.remote.is_empty() {
                return Err(Failure::operator(
                    Text::new("error-jmx-no-remote-hosts"),
                    Text::new("error-jmx-no-remote-hosts-hint"),
                ));
            }
        }
        if !self.remote.is_empty() {
            self.generators.on = std::mem::take(&mut self.remote);
            self.replicate = !self.split;
        }
        let alone = self.generators.on.is_empty();
        let shared = self.replicate || self.split || self.data == Data::Split;
        if alone && shared {
            return Err(Failure::operator(
                Text::new("error-jmx-one-generator"),
                Text::new("error-jmx-one-generator-hint"),
            ));
        }
        Ok(())
    }

    fn tell_ignored(&self) -> Result<(), Failure> {
        let system = self.properties.system()?;
        let is_alone = self.generators.on.is_empty();
        self.tool.tell_ignored(&system, is_alone, self.show.lang());
        let makes_dashboard = self.dashboard || self.compare.is_some();
        if let Some(folder) = self.output.as_ref().filter(|_| !makes_dashboard) {
            announce::tell_no_dashboard(folder, self.show.lang());
        }
        Ok(())
    }

    /// The phase with what it must keep.
    fn bounded(&self, mut phase: PhasePlan) -> PhasePlan {
        let bounds = self.slo.as_ref();
        let label = bounds.map(|bounds| ("bounds".to_owned(), bounds.to_string()));
        phase.labels.extend(label);
        phase
    }

    fn options(&self) -> Result<JmxOptions, Failure> {
        let plan = self.plan.clone().or_else(|| self.test.clone());
        let plan = plan.ok_or_else(|| {
            Failure::operator(
                Text::new("error-jmx-no-plan"),
                Text::new("error-jmx-no-plan-hint"),
            )
        })?;
        let properties = self.properties.layers()?;
        let (open_per_s, poisson, schedule) = match &self.model {
            Model::Closed => (None, false, String::new()),
            Model::Open { per_s, poisson } => (Some(*per_s), *poisson, String::new()),
            Model::Schedule(steps) => (None, false, steps.clone()),
        };
        Ok(JmxOptions {
            plan,
            properties: properties
                .iter()
                .filter(|(name, _)| !is_secret(name))
                .map(|(n, v)| (n.to_owned(), v.to_owned()))
                .collect(),
            results: self.log.clone(),
            script_log: self.tool.log_file.as_deref().map(absolute),
            own_columns: self.own_columns,
            unsupported: self.unsupported,
            open_per_s,
            poisson,
            schedule,
            duration_s: self.duration,
            users: self.users,
            ramp_s: self.ramp,
            max_inflight: self.max_inflight,
            proxy: self.tool.proxy(&self.properties.system()?)?,
            key_store: tool::ToolArgs::key_store(&self.properties.system()?)?
                .as_deref()
                .map(absolute),
            threads: self.threads,
            insecure: self.insecure,
            together: (!self.generators.on.is_empty()).then(|| Together {
                replicate: self.replicate,
                split_data: self.data == Data::Split,
                rows: self.log.is_some(),
                start_unix_ns: 0,
            }),
            trusted: false,
            confined: false,
            with: self.with.clone(),
        })
    }
}

/// Executes the plan, keeps a record and shows it.
pub fn run(mut args: PlanArgs) -> Result<Exit, Failure> {
    if let Some(answered) = args.tool.answer()? {
        return Ok(answered);
    }
    args.take_remote()?;
    if let Some(file) = &args.report_only {
        return args.report(file, None, true).map(Reported::told);
    }
    args.check_output()?;
    args.tell_ignored()?;
    let mut options = args.options()?;
    let seed = args.seed.unwrap_or_else(random_seed);
    let Some(prepared) = prepare(&options, &args.properties.typed(), seed, args.show.lang())?
    else {
        return Ok(Exit::OperatorError);
    };
    knee::check(&args, &options, seed)?;
    versus::check(&args, &options, seed)?;
    options.results = args.log.as_deref().map(absolute);
    options.plan = absolute(&options.plan);
    jmx::permit();
    args.clear_results()?;
    let plan = prepared.plan.clone();
    drop(prepared);
    let measured = measure(&args, &plan, options, seed)?;
    args.report_after(&measured)
}

/// Executes the plan, on the hosts that are to generate or on this one.
fn measure(
    args: &PlanArgs,
    plan: &Plan,
    options: JmxOptions,
    seed: u64,
) -> Result<Measured, Failure> {
    let lang = args.show.lang();
    let of_target = args.versus.as_ref().is_some_and(Versus::is_of_target);
    let knobs = match args.rule.protect || of_target {
        true => Some(TargetKnobs::of(jmx::NAME, &args.observe, None)?),
        false => None,
    };
    let (knobs, observed) = knobs.unzip();
    let interval_ns = args.interval.unwrap_or(1).saturating_mul(1_000_000_000);
    check_interval(Span(interval_ns))?;
    let call = Call {
        may_miss: false,
        workload: jmx::NAME,
        hosts: &args.generators.on,
        key: args.generators.key.as_ref(),
        seed: Some(seed),
        interval_ns,
        observe: observed.as_ref().unwrap_or(&args.observe),
        out: &args.out,
        show: &args.show,
        server: match args.generators.on.is_empty() {
            true => LoadedServer::OF_PLAN,
            false => LoadedServer::NOBODY,
        },
    };
    let page = args.watch.open(jmx::NAME)?;
    let beside = page.as_ref().map(Watched::observer);
    let measured = workload::measured(
        &call,
        Terminal::new(lang, None, None)
            .sampling_every(interval_ns)
            .live(args.live)
            .beside(beside),
        |run| {
            if let Some(page) = &page {
                page.begins(run);
            }
            if let Some(knobs) = knobs {
                run.take_knobs(Box::new(knobs));
            }
            let generators = run.hosts().list().len().max(2) as u64 - 1;
            announce::announce(plan, &options, generators, lang);
            match options.together {
                Some(_) => together::together(run, options, args.repeat, |options, hosts| {
                    args.bounded(jmx::phase_plan(plan, options, hosts))
                }),
                None if args.knee.is_some() => knee::climb(run, args, &options, seed),
                None if args.versus.is_some() => versus::compare(run, args, plan, &options, seed),
                None => {
                    let phase = args.bounded(jmx::phase_plan(plan, &options, 1));
                    match args.repeat {
                        Some(runs) => run.repeat(&phase, runs).map(drop),
                        None => run.run_phase(phase).map(drop),
                    }
                }
            }
        },
    )?;
    if let (Some(page), Measured::Whole(record, _)) = (&page, &measured) {
        page.close(record);
    }
    Ok(measured)
}

/// Reads a plan. `None`: it is refused, and everything that is wrong with it has been told.
fn prepare(
    options: &JmxOptions,
    typed: &[&str],
    seed: u64,
    lang: Lang,
) -> Result<Option<Prepared>, Failure> {
    let reading: Reading = read_plan(options, seed)?;
    print_problems(&reading, lang);
    announce::tell_unread(typed, &reading, lang);
    let Some(plan) = reading.plan.as_ref().filter(|_| reading.errors == 0) else {
        return Ok(None);
    };
    if options.key_store.is_none() {
        announce::tell_without_keys(plan, lang);
    }
    Ok(Some(Prepared::new(reading, options, seed)?))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
