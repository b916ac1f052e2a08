//! `sokudo load`: test plans, with the options of the tool they come from.
//!
//! ```text
//! options ─► properties, plan read and refused as a whole ─► results file by the tool's rules
//!     ├─ sokudo load         a run with record, report and exit code
//!     └─ compat jmeter       the tool's own lines on stdout, no record
//! ```

mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, FromArgMatches};
use jiff::Zoned;
use sokudo_controller::{ControlError, KeepRows, Run};
use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::Reading;
use sokudo_jmeter::plan::{Load, Plan, Stage, schedule};
use sokudo_jmeter::settings::Unsupported;
use sokudo_model::{Labels, PhasePlan, Record, Refusal, Rows, Text};
use sokudo_net::clock::now_ns;
use sokudo_stats::requests::goals::Goals;
use sokudo_workloads::load::summariser::Summariser;
use sokudo_workloads::load::{
    self, Gather, Gathered, Generator, Listener, LoadOptions, NotStarted, Prepared, Tallies,
    Together, read_plan,
};
use sokudo_workloads::values::Span;

use super::finish::{self, ShowOptions};
use super::jmx::{PropertyArgs, print_problems};
use super::jtl::Reported;
use super::load::Generators;
use super::observer::Terminal;
use super::web::{WatchArgs, Watched};
use super::workload::{self, Call, Measured};
use super::{Exit, Failure, jtl, stop_flag};

/// Longest run of a plan that nothing but its users ends.
const ENDLESS_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;
/// The same where other hosts execute it: as long as they go on by default.
const ENDLESS_ELSEWHERE_NS: u64 = 3_600 * 1_000_000_000;
/// Time for stages before and after, and for the last samples, beside the plan's own length.
const BESIDE_NS: u64 = 600_000_000_000;
/// Time between two looks at whether the test is over.
const LOOK: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  sokudo load plan.jmx -l result.jtl -J THREAD_NUMBER=40 -J SUSTAIN=300
  sokudo load plan.jmx --users 100 --duration 60          100 users in each group for a minute
  sokudo load plan.jmx --model open:500/s --duration 60   the same requests at a rate, whatever comes back
  sokudo load plan.jmx -l r.jtl --slo 'p95<2s,err<0.1%'   exit code 1 when missed
  sokudo load plan.jmx --on 'lab/*' -l all.jtl            its users divided among the hosts of a group
  sokudo jmx check plan.jmx                               what the plan asks for, without load
  sokudo compat jmeter -n -t plan.jmx -l result.jtl       the tool's own command line and lines

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

    /// Without a window: always so here.
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
    #[arg(long, value_name = "N")]
    users: Option<u64>,

    /// How long the main groups last instead of the plan's time or loops: `60`, `60s`, `5min`.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    duration: Option<u64>,

    /// Most users at a time in an open model; further arrivals are counted, not begun.
    #[arg(long, value_name = "N")]
    max_inflight: Option<u64>,

    /// Event loops. Default: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: u32,

    /// Accept any certificate, as the tool does.
    #[arg(long)]
    insecure: bool,

    /// What happens to elements and functions that cannot be executed: fail, warn or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    unsupported: Unsupported,

    #[command(flatten)]
    generators: Generators,

    /// Every generator has all users of the plan, as the tool has it. Default: they are divided, the
    /// first generators take what does not divide.
    #[arg(long)]
    replicate: bool,

    /// The users of the plan are divided, with -R and -r too.
    #[arg(long, conflicts_with = "replicate")]
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

    /// File outside of the plan's directory that the generators may have, as the plan writes it.
    /// May be given several times.
    #[arg(long, value_name = "FILE")]
    with: Vec<String>,

    /// What must be kept over the file of results: percentiles, mean, max, err and rps, such as
    /// `p95<2s,err<0.1%`. A missed goal gives the exit code 1.
    #[arg(long, value_name = "GOALS", requires = "log")]
    slo: Option<Goals>,

    /// File of results of an earlier test, to compare the dashboard with.
    #[arg(long, value_name = "FILE", requires = "output")]
    compare: Option<PathBuf>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    watch: WatchArgs,

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

/// Who decides when a request leaves.
#[derive(Debug, Clone, PartialEq)]
enum Model {
    Closed,
    Open {
        per_s: f64,
        poisson: bool,
    },
    /// See [`schedule`].
    Schedule(String),
}

fn model(text: &str) -> Result<Model, String> {
    let (poisson, rate) = match text.split_once(':') {
        None if text == "closed" => return Ok(Model::Closed),
        Some(("open", rate)) => (false, rate),
        Some(("poisson", rate)) => (true, rate),
        Some(("schedule", steps)) => {
            return match schedule::parse(steps)?.is_empty() {
                true => Err("the schedule says nothing".into()),
                false => Ok(Model::Schedule(steps.to_owned())),
            };
        }
        _ => {
            let known = "`closed`, `open:RATE`, `poisson:RATE` or `schedule:STEPS`";
            return Err(format!("a model is {known}"));
        }
    };
    let (number, unit) = rate.split_once('/').unwrap_or((rate, "s"));
    let (number, factor) = match number.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => (number, 1.0),
    };
    let per_s = schedule::rate(&format!("{number}/{unit}")).map(|per_s| per_s * factor);
    match per_s.ok().filter(|per_s| *per_s > 0.0) {
        Some(per_s) => Ok(Model::Open { per_s, poisson }),
        None => Err(format!("`{rate}` is no rate such as `500/s` or `600/min`")),
    }
}

/// A length in whole seconds; a number alone means seconds, as the tool has it.
fn seconds(text: &str) -> Result<u64, String> {
    let told = || format!("`{text}` is no time of whole seconds such as `60`, `90s` or `5min`");
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let Span(ns) = text.parse().map_err(|_| told())?;
            Some(ns / 1_000_000_000)
                .filter(|_| ns % 1_000_000_000 == 0)
                .ok_or_else(told)?
        }
    };
    Some(seconds).filter(|s| *s > 0).ok_or_else(told)
}

impl PlanArgs {
    /// The dashboard must have its place before the test, not after it; and what is told of a test
    /// must not be told of rows that were there before.
    fn check_output(&self) -> Result<(), Failure> {
        if let Some(directory) = self.output.as_deref().filter(|_| self.dashboard) {
            jtl::must_be_free(directory, self.force)?;
        }
        let Some(file) = self.log.as_deref().filter(|_| self.is_reported()) else {
            return Ok(());
        };
        let holds = fs::metadata(file).is_ok_and(|file| file.len() > 0);
        match holds && !self.force {
            true => Err(Failure::operator(
                format!(
                    "`{}` is not empty: it holds results already",
                    file.display()
                ),
                "name a new file, or replace it with -f",
            )),
            false => Ok(()),
        }
    }

    /// Whether the rows are looked at when the test is over.
    fn is_reported(&self) -> bool {
        self.dashboard || self.slo.is_some()
    }

    /// Dashboard and goals of a file of results, with what the run says that left it.
    fn report(
        &self,
        file: &Path,
        record: Option<&Record>,
        is_shown: bool,
    ) -> Result<Reported, Failure> {
        jtl::report(&jtl::Asked {
            file,
            record,
            is_shown,
            output: self.output.as_deref(),
            force: self.force,
            goals: self.slo.as_ref(),
            compare: self.compare.as_deref(),
            settings: jtl::settings_of(&self.properties.layers()?)?,
            show: &self.show,
        })
    }

    /// What is asked for behind the test; a test that failed stays a failed one.
    fn report_after(&self, measured: &Measured) -> Result<Exit, Failure> {
        let file = self.log.as_deref().filter(|_| self.is_reported());
        let report = |record: Option<&Record>, is_shown: bool| {
            let report = |file| self.report(file, record, is_shown);
            file.map(report).transpose()
        };
        let (exit, reported) = match measured {
            // What it did until then has been told.
            Measured::Early(exit) => (*exit, report(None, false)?),
            Measured::Whole(record, path) if self.show.json => {
                let mut summary = finish::summary(record, path);
                let reported = report(Some(record), true);
                if let Ok(Some(Reported {
                    json: Some(json), ..
                })) = &reported
                {
                    summary["dashboard"] = json.clone();
                }
                println!("{summary:#}");
                (finish::exit_of(record), reported?)
            }
            Measured::Whole(record, path) => {
                finish::show(record, path, &self.show);
                (finish::exit_of(record), report(Some(record), true)?)
            }
        };
        let goals = reported.map_or(Exit::Fine, |reported| reported.exit);
        Ok(if exit == Exit::Fine { goals } else { exit })
    }

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
                    "-r needs the property `remote_hosts`, and it names nobody",
                    "name the hosts: -R hosta,hostb",
                ));
            }
        }
        if !self.remote.is_empty() {
            self.generators.on = std::mem::take(&mut self.remote);
            self.replicate = !self.split;
        }
        let alone = self.generators.on.is_empty();
        let shared = self.replicate || self.split || self.data == Data::Split;
        if alone && (shared || !self.with.is_empty()) {
            return Err(Failure::operator(
                "--replicate, --split, --data and --with say what several generators do, and there is one",
                "name the generators: --on hosta,hostb",
            ));
        }
        Ok(())
    }

    fn tell_ignored(&self) -> Result<(), Failure> {
        let system = self.properties.system()?;
        let is_alone = self.generators.on.is_empty();
        self.tool.tell_ignored(&system, is_alone, self.show.lang());
        Ok(())
    }

    fn options(&self) -> Result<LoadOptions, Failure> {
        let plan = self.plan.clone().or_else(|| self.test.clone());
        let plan = plan.ok_or_else(|| {
            Failure::operator("no plan was named", "name a .jmx file, or use -t PLAN")
        })?;
        let properties = self.properties.layers()?;
        let (open_per_s, poisson, schedule) = match &self.model {
            Model::Closed => (None, false, String::new()),
            Model::Open { per_s, poisson } => (Some(*per_s), *poisson, String::new()),
            Model::Schedule(steps) => (None, false, steps.clone()),
        };
        Ok(LoadOptions {
            plan,
            properties: properties
                .iter()
                .map(|(n, v)| (n.to_owned(), v.to_owned()))
                .collect(),
            results: self.log.clone(),
            script_log: self.tool.log_file.as_deref().map(absolute),
            own_columns: self.own_columns,
            unsupported: self.unsupported.word().into(),
            open_per_s,
            poisson,
            schedule,
            duration_s: self.duration,
            users: self.users,
            max_inflight: self.max_inflight,
            proxy: self.tool.proxy(&self.properties.system()?)?,
            key_store: tool::ToolArgs::key_store(&self.properties.system()?)
                .as_deref()
                .map(absolute),
            threads: self.threads,
            insecure: self.insecure,
            together: (!self.generators.on.is_empty()).then(|| Together {
                replicate: self.replicate,
                split_data: self.data == Data::Split,
                rows: self.log.is_some(),
                with: self.with.clone(),
                start_unix_ns: 0,
            }),
        })
    }

    /// The tool's rule: rows are added to a file that exists, unless it is to be replaced.
    fn clear_results(&self) -> Result<(), Failure> {
        let Some(path) = self
            .log
            .as_deref()
            .filter(|path| self.force && path.exists())
        else {
            return Ok(());
        };
        fs::remove_file(path).map_err(|error| Failure::cannot_write(path, &error))
    }
}

/// `sokudo load`.
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
    let seed = args.seed.unwrap_or_else(workload::random_seed);
    let lang = args.show.lang();
    let Some(prepared) = prepare(&options, seed, lang)? else {
        return Ok(Exit::OperatorError);
    };
    options.results = args.log.as_deref().map(absolute);
    options.plan = absolute(&options.plan);
    load::permit();
    args.clear_results()?;
    let call = Call {
        workload: load::NAME,
        hosts: &args.generators.on,
        key: args.generators.key.as_ref(),
        seed: Some(seed),
        interval_ns: 1_000_000_000,
        show: &args.show,
    };
    let plan = prepared.plan.clone();
    drop(prepared);
    let page = args.watch.open(load::NAME)?;
    let beside = page.as_ref().map(Watched::observer);
    let measured = workload::measured(
        &call,
        Terminal::new(lang, None, None).beside(beside),
        |run| {
            if let Some(page) = &page {
                page.begins(run);
            }
            let generators = run.hosts().list().len().max(2) as u64 - 1;
            announce(&plan, &options, generators, lang);
            match options.together {
                Some(_) => together(run, &plan, options),
                None => run.run_phase(phase(&plan, &options, 1)).map(drop),
            }
        },
    )?;
    if let (Some(page), Measured::Whole(record, _)) = (&page, &measured) {
        page.close(record);
    }
    args.report_after(&measured)
}

/// Several generators execute the plan; their rows become one file here.
fn together(run: &mut Run, plan: &Plan, mut options: LoadOptions) -> Result<(), ControlError> {
    let start_unix_ns = run.manifest().started_unix_ns;
    let path = options.results.take();
    if let Some(together) = &mut options.together {
        together.start_unix_ns = start_unix_ns;
    }
    let refused = |refusal: Refusal| ControlError::Operator {
        says: refusal.says,
        hint: refusal.hint,
    };
    let gather = path.map(|path| Gather::open(&options, &path)).transpose();
    let gather = gather.map_err(refused)?;
    let keeper = Keeper(Arc::new(Mutex::new(gather)));
    run.keep_rows(Box::new(keeper.clone()));
    let hosts = run.hosts().list().len() as u32;
    let measured = run.run_phase(phase(plan, &options, hosts));
    let sent = measured
        .as_ref()
        .ok()
        .map(|record| load::rows_sent(&record.result));
    if let Some(gather) = keeper.take() {
        let gathered = gather.finish(&sent.unwrap_or_default());
        tell(run, &gathered);
    }
    run.group_numbers();
    measured.map(drop)
}

/// Says what the file of results lacks.
fn tell(run: &mut Run, gathered: &Gathered) {
    if gathered.lost > 0 {
        let count = gathered.lost.to_string();
        run.note_problem(Text::new("load-lost-rows").word("count", count));
    }
    if let Some(error) = &gathered.error {
        run.note_problem(Text::new("load-problem").word("what", error.as_str()));
    }
}

/// Hands the generators' rows over to their file, until it is closed.
#[derive(Clone)]
struct Keeper(Arc<Mutex<Option<Gather>>>);

impl Keeper {
    fn take(&self) -> Option<Gather> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl KeepRows for Keeper {
    fn keep(&mut self, host: &str, rows: Rows) {
        let mut gather = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gather) = &mut *gather {
            gather.take(host, &rows);
        }
    }
}

/// Reads a plan. `None`: it is refused, and everything that is wrong with it has been told.
fn prepare(options: &LoadOptions, seed: u64, lang: Lang) -> Result<Option<Prepared>, Failure> {
    let reading: Reading = read_plan(options, seed)?;
    print_problems(&reading, lang);
    if reading.errors > 0 || reading.plan.is_none() {
        return Ok(None);
    }
    Ok(Some(Prepared::new(reading, options, seed)?))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn phase(plan: &Plan, options: &LoadOptions, hosts: u32) -> PhasePlan {
    let duration_ns = length_ms(plan).map(|ms| ms.saturating_mul(1_000_000));
    let endless_ns = match options.together {
        Some(_) => ENDLESS_ELSEWHERE_NS,
        None => ENDLESS_NS,
    };
    PhasePlan {
        name: "measure".into(),
        workload: load::NAME.into(),
        options: options.to_json(),
        flows: load::flows(hosts),
        duration_ns: duration_ns.unwrap_or(0),
        bound_ns: duration_ns.map_or(endless_ns, |ns| ns.saturating_add(BESIDE_NS)),
        labels: Labels::new(),
    }
}

/// How long the main groups last by the clock; `None` when something else ends one of them.
fn length_ms(plan: &Plan) -> Option<u64> {
    let main = plan
        .groups
        .iter()
        .filter(|group| group.stage == Stage::Main);
    let ends: Option<Vec<u64>> = main.map(|group| group.load.end_ms()).collect();
    let ends = ends?;
    match plan.serialize_groups {
        true => Some(ends.iter().sum()),
        false => ends.into_iter().max(),
    }
}

/// Says what is going to run, because the number of users is not what plans seem to say.
fn announce(plan: &Plan, options: &LoadOptions, generators: u64, lang: Lang) {
    let i18n = I18n::new(lang);
    let main = || {
        plan.groups
            .iter()
            .filter(|group| group.stage == Stage::Main)
    };
    let times = match &options.together {
        Some(together) if together.replicate => generators,
        _ => 1,
    };
    let groups = main().count().to_string();
    let said = match options.open_per_s {
        Some(rate) => i18n.message(
            "load-announce-open",
            &[
                ("rate", &(rate * times as f64).to_string()),
                ("groups", &groups),
            ],
        ),
        None => {
            let users: u64 = main().filter_map(|group| group.load.users()).sum();
            let users = (users * times).to_string();
            let open = main().any(|group| matches!(group.load, Load::Open { .. }));
            let key = if open {
                "load-announce-schedule"
            } else {
                "load-announce"
            };
            i18n.message(key, &[("users", &users), ("groups", &groups)])
        }
    };
    eprintln!("  {said}");
    if let Some(together) = &options.together {
        let key = match together.replicate {
            true => "load-announce-replicated",
            false => "load-announce-divided",
        };
        let said = i18n.message(key, &[("generators", &generators.to_string())]);
        eprintln!("  {said}");
    }
}

/// `sokudo compat jmeter ARGS…`: the tool's lines on stdout.
pub fn as_jmeter(words: &[String]) -> Result<Exit, Failure> {
    let command = clap::Command::new("jmeter").no_binary_name(true);
    let command = PlanArgs::augment_args(command).override_usage("sokudo compat jmeter [OPTIONS]");
    // The tool's own third spelling of help.
    let words = words.iter().map(|word| match word.as_str() {
        "-?" | "--?" => "--help",
        word => word,
    });
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
            print!("{error}");
            return Ok(Exit::Fine);
        }
        Err(error) => {
            return Err(super::not_understood(
                &error.to_string(),
                Some("load".into()),
            ));
        }
    };
    let mut args = PlanArgs::from_arg_matches(&matches)
        .map_err(|error| super::not_understood(&error.to_string(), Some("load".into())))?;
    if let Some(answered) = args.tool.answer()? {
        return Ok(answered);
    }
    args.take_remote()?;
    if !args.generators.on.is_empty() {
        let hosts = args.generators.on.join(", ");
        println!(
            "Starting distributed test with remote engines: [{hosts}] @ {}",
            moment()
        );
        let exit = run(args)?;
        println!("... end of run");
        return Ok(exit);
    }
    if let Some(file) = &args.report_only {
        return args.report(file, None, true).map(Reported::told);
    }
    args.check_output()?;
    args.tell_ignored()?;
    let mut options = args.options()?;
    // The tool checks no certificate.
    options.insecure = true;
    let seed = args.seed.unwrap_or_else(workload::random_seed);
    println!("Creating summariser <summary>");
    let Some(prepared) = prepare(&options, seed, args.show.lang())? else {
        return Ok(Exit::OperatorError);
    };
    println!(
        "Created the tree successfully using {}",
        options.plan.display()
    );
    args.clear_results()?;
    let stop = stop_flag()?;
    let interval_s = options
        .all_properties()
        .number("summariser.interval")
        .unwrap_or(30.0);
    let lines = Arc::new(Lines(Mutex::new(Summariser::new(
        "summary",
        interval_s as u64,
    ))));
    println!("Starting standalone test @ {}", moment());
    let listener: Arc<dyn Listener> = lines.clone();
    let started = Generator::start(&prepared, &options, (now_ns(), seed), listener, || {});
    let generator = started.map_err(|why: NotStarted| sokudo_model::Refusal::from(why))?;
    while !generator.is_over() {
        std::thread::sleep(LOOK);
        if stop.load(Ordering::Relaxed) {
            generator.stop();
        }
    }
    let finished = generator.finish()?;
    lines.end();
    println!("Tidying up ...    @ {}", moment());
    for (what, count) in &finished.troubles {
        eprintln!("  ! {what} ({count})");
    }
    for problem in &finished.problems {
        eprintln!("  ! {problem}");
    }
    println!("... end of run");
    let whole = finished.problems.is_empty() && finished.lost_rows == 0;
    let exit = if whole { Exit::Fine } else { Exit::RunFailed };
    args.report_after(&Measured::Early(exit))
}

/// A moment as the tool writes it: `2026 Nov 21 15:07:55 UTC (1795273675000)`.
fn moment() -> String {
    let now = Zoned::now();
    let text = now.strftime("%Y %b %d %H:%M:%S %Z");
    format!("{text} ({})", now.timestamp().as_millisecond())
}

/// Prints the tool's lines as the test goes on.
struct Lines(Mutex<Summariser>);

impl Lines {
    fn end(&self) {
        let mut summariser = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in summariser.end(now_ns()) {
            println!("{line}");
        }
    }
}

impl Listener for Lines {
    fn interval(&self, at_ns: i64, seen: &Tallies, active: u32) {
        let mut summariser = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in summariser.add(at_ns, seen, active) {
            println!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_whole_seconds() {
        for (text, expected) in [("60", 60), ("2s", 2), ("5min", 300)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for wrong in ["", "0", "0s", "1500ms", "x", "-1", "2 parsecs"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn models_are_read() {
        assert_eq!(model("closed"), Ok(Model::Closed));
        assert_eq!(
            model("open:500/s"),
            Ok(Model::Open {
                per_s: 500.0,
                poisson: false
            })
        );
        assert_eq!(
            model("poisson:1.5k/s"),
            Ok(Model::Open {
                per_s: 1500.0,
                poisson: true
            })
        );
        assert_eq!(
            model("open:600/min"),
            Ok(Model::Open {
                per_s: 10.0,
                poisson: false
            })
        );
        let steps = "rate(0/s) even_arrivals(30 s) rate(500/s) pause(1 min)";
        assert_eq!(
            model(&format!("schedule:{steps}")),
            Ok(Model::Schedule(steps.into()))
        );
        let wrong_schedules = ["schedule:", "schedule:rate(1/s", "schedule:ramp(1/s)"];
        for wrong in ["open", "open:x", "open:0/s", "open:1/week", "shape:1", ""]
            .into_iter()
            .chain(wrong_schedules)
        {
            assert!(model(wrong).is_err(), "{wrong}");
        }
    }
}
