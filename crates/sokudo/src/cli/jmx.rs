//! `sokudo jmx`: executes JMeter test plans, checks them, and probes what one user alone sees.

mod announce;
mod model;
mod properties;
mod reference;
mod run;
pub(super) mod show;
mod together;
mod tool;

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use sokudo_i18n::{Lang, TextError};
use sokudo_jmeter::files::Files;
use sokudo_jmeter::properties::Properties;
use sokudo_jmeter::settings::{Settings, Unsupported};
use sokudo_jmeter::{Reading, read};
use sokudo_load_http::jmx::{self, JmxOptions, PlanFiles, Probed, Reach, read_bounded};
use sokudo_model::Text;
use sokudo_workload::values::whole_seconds;

use super::finish::ShowOptions;
use super::{Exit, Failure, stop_flag};

pub use properties::PropertyArgs;
pub(super) use properties::pair;
pub use run::as_jmeter;

/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  sokudo jmx check plan.jmx -J THREADS=40 -J DURATION=300
  sokudo jmx check plan.jmx -q test.properties --generators 4
  sokudo jmx check plan.jmx --json --resolved      everything, for a program

Exit codes: 0 the plan can be executed, 2 it is refused; all reasons are told at once.";

const PROBE_EXAMPLES: &str = "\
Examples:
  sokudo jmx probe plan.jmx -J THREADS=40
  sokudo jmx probe plan.jmx --duration 30 --demand 43

Exit codes: 0 the plan was probed, 2 it is refused, 3 it sent nothing within the time.";

/// Execute, check and probe JMeter test plans.
#[derive(Debug, Args)]
pub struct JmxArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Run(Box<run::PlanArgs>),
    /// Show what a plan holds, what it will do, and what is probably a mistake in it.
    ///
    /// Sends nothing. Elements that sokudo does not know are errors, told with file and line.
    #[command(after_help = EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Send what one user per group sends, and predict how many users are too many.
    ///
    /// The rest of the output is that of `sokudo jmx check`.
    #[command(after_help = PROBE_EXAMPLES)]
    Probe(Box<ProbeArgs>),
    /// Print every element and function that sokudo knows, as a page in Markdown.
    Elements(ElementsArgs),
}

#[derive(Debug, Args)]
struct ElementsArgs {
    /// Language of sentences: en or ja. Default: from SOKUDO_LANG, LC_ALL or LANG.
    #[arg(long, value_name = "LANG")]
    lang: Option<Lang>,
}

/// A plan and how it is read.
#[derive(Debug, Args)]
struct ReadArgs {
    /// The plan: a .jmx file.
    plan: PathBuf,

    #[command(flatten)]
    properties: PropertyArgs,

    /// What happens to elements and functions that cannot be executed: fail, warn or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = unsupported)]
    unsupported: Unsupported,

    /// File or folder that the plan may use beside its own folder and the current one, as the plan
    /// writes it. May be given several times.
    #[arg(long, value_name = "PATH")]
    with: Vec<String>,

    /// Seed of random choices that are made before the test begins.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    show: ShowOptions,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    read: ReadArgs,

    /// Generators that each execute the whole plan.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    generators: u64,

    /// With --json: the resolved plan, too.
    #[arg(long, requires = "json")]
    resolved: bool,
}

#[derive(Debug, Args)]
struct ProbeArgs {
    #[command(flatten)]
    read: ReadArgs,

    /// How long the user of each group sends: `10`, `30s`, `1min`.
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = probe_seconds)]
    duration: u64,

    /// Milliseconds that one request keeps the server's busiest resource busy, such as CPU time over
    /// cores.
    #[arg(long, value_name = "MS")]
    demand: Option<f64>,
}

/// Longest probe, seconds.
const PROBE_SECONDS_MAX: u64 = 3_600;

fn unsupported(text: &str) -> Result<Unsupported, TextError> {
    let word = text.parse::<Unsupported>();
    word.map_err(|error| error.text().into())
}

fn probe_seconds(text: &str) -> Result<u64, TextError> {
    match whole_seconds(text)? {
        asked @ ..=PROBE_SECONDS_MAX => Ok(asked),
        _ => Err(TextError(
            Text::new("error-value-probe").with("most", PROBE_SECONDS_MAX),
        )),
    }
}

/// Carries it out.
pub fn run(args: JmxArgs) -> Result<Exit, Failure> {
    match args.what {
        What::Run(args) => run::run(*args),
        What::Check(args) => check(&args),
        What::Probe(args) => probe(&args),
        What::Elements(args) => {
            print!(
                "{}",
                reference::page(args.lang.unwrap_or_else(Lang::from_env))
            );
            Ok(Exit::Fine)
        }
    }
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let settings = args.read.settings()?;
    let files = Noted::of(&args.read);
    let reading = args.read.read_from(&settings, &files)?;
    let lang = args.read.show.lang();
    let shown = show::Shown::new(&reading, args.generators, &settings.properties, lang);
    let shown = shown.with_files(&files.asked.into_inner(), &files.files);
    print_shown(&shown, &args.read.show, args.resolved, None);
    Ok(exit_of(&reading))
}

fn probe(args: &ProbeArgs) -> Result<Exit, Failure> {
    let settings = args.read.settings()?;
    let reading = args.read.read(&settings)?;
    let probed = match reading.errors {
        0 => {
            let demand = args.demand.map(|ms| ms / 1e3);
            let layers = settings.properties.iter();
            let options = JmxOptions {
                plan: args.read.plan.clone(),
                properties: layers.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
                duration_s: Some(args.duration),
                with: args.read.with.clone(),
                ..JmxOptions::default()
            };
            let stop = stop_flag()?;
            Some(jmx::probe(options, (demand, args.read.seed), &stop)?)
        }
        _ => None,
    };
    let shown = show::Shown::new(&reading, 1, &settings.properties, args.read.show.lang());
    print_shown(&shown, &args.read.show, false, probed.as_ref());
    Ok(exit_of(&reading))
}

fn print_shown(
    shown: &show::Shown<'_>,
    options: &ShowOptions,
    resolved: bool,
    probed: Option<&Probed>,
) {
    match options.json {
        true => println!("{}", shown.json(resolved, probed)),
        false => print!("{}", shown.text(probed)),
    }
}

fn exit_of(reading: &Reading) -> Exit {
    match reading.errors {
        0 => Exit::Fine,
        _ => Exit::OperatorError,
    }
}

/// The files of a plan, with those that its reader asked for.
struct Noted {
    files: PlanFiles,
    asked: RefCell<Vec<String>>,
}

impl Noted {
    fn of(args: &ReadArgs) -> Self {
        Self {
            files: PlanFiles::within(&args.plan, Reach::below(&args.plan, &args.with)),
            asked: RefCell::default(),
        }
    }

    fn note(&self, path: String) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&path) {
            asked.push(path);
        }
    }
}

impl Files for Noted {
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.note(path.to_owned());
        self.files.read(path, most_bytes)
    }

    fn exists(&self, path: &str) -> bool {
        self.files.exists(path)
    }

    fn read_here(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        // The other paths start at the plan's folder.
        let whole = std::path::absolute(path)?;
        self.note(whole.display().to_string());
        self.files.read_here(path, most_bytes)
    }

    fn exists_here(&self, path: &str) -> bool {
        self.files.exists_here(path)
    }

    fn lent(&self) -> Option<Arc<dyn Files + Send + Sync>> {
        self.files.lent()
    }
}

impl ReadArgs {
    fn read(&self, settings: &Settings) -> Result<Reading, Failure> {
        self.read_from(settings, &Noted::of(self))
    }

    fn read_from(&self, settings: &Settings, files: &Noted) -> Result<Reading, Failure> {
        let bytes = read_bounded(&self.plan, MOST_BYTES).map_err(|e| unreadable(&self.plan, &e))?;
        let name = self.plan.display().to_string();
        Ok(read(&name, &bytes, settings, files))
    }

    /// Other settings of the reader.
    fn settings(&self) -> Result<Settings, Failure> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Settings {
            properties: self.properties.layers()?,
            unsupported: self.unsupported,
            seed: self.seed,
            now_ms: since_1970.map_or(0, |since| since.as_millis() as i64),
            time_zone: TimeZone::system(),
        })
    }
}

/// Tells on stderr what is wrong with a plan that is to be executed; nothing when nothing is.
pub fn print_problems(reading: &Reading, lang: Lang) {
    let properties = Properties::default();
    let shown = show::Shown::new(reading, 1, &properties, lang);
    eprint!("{}", shown.only_problems());
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::operator(
        Text::new("error-cannot-read")
            .with("path", path.display())
            .with("error", error),
        Text::new("error-cannot-read-hint-64-mib"),
    )
}
