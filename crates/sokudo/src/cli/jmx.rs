//! `sokudo jmx`: what does a JMeter test plan ask for?

mod probe;
mod properties;
mod reference;
mod show;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use sokudo_i18n::Lang;
use sokudo_jmeter::properties::Properties;
use sokudo_jmeter::settings::{Settings, Unsupported};
use sokudo_jmeter::{Reading, read};
use sokudo_load_http::jmx::{PlanFiles, read_bounded};

use super::finish::ShowOptions;
use super::{Exit, Failure};

pub use properties::PropertyArgs;
pub(super) use properties::pair;

/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  sokudo jmx check plan.jmx -J THREADS=40 -J DURATION=300
  sokudo jmx check plan.jmx -q test.properties --generators 4
  sokudo jmx check plan.jmx --json --resolved      everything, for a program
  sokudo jmx check plan.jmx --probe --demand 43    one user for ten seconds: how many are too many?

Exit codes: 0 the plan can be executed, 2 it is refused; all reasons are told at once.";

/// Read JMeter test plans.
#[derive(Debug, Args)]
pub struct JmxArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say what a plan holds, what it will do, and what its author probably did not mean.
    ///
    /// Sends nothing without --probe. Elements that sokudo does not know are errors, told with file and line.
    #[command(after_help = EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Print every element and function that sokudo knows, as a page in Markdown.
    Elements(ElementsArgs),
}

#[derive(Debug, Args)]
struct ElementsArgs {
    /// Language of sentences: en or ja. Default: from SOKUDO_LANG, LC_ALL or LANG.
    #[arg(long, value_name = "LANG")]
    lang: Option<Lang>,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The plan: a .jmx file.
    plan: PathBuf,

    #[command(flatten)]
    properties: PropertyArgs,

    /// What happens to elements and functions that cannot be executed: fail, warn or skip.
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    unsupported: Unsupported,

    /// Generators that each execute the whole plan.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    generators: u64,

    /// Seed of random choices that are made before the test begins.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Send what one user per group sends, for so many seconds, and tell at how many users the load
    /// will probably be too much.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "10",
          value_parser = clap::value_parser!(u64).range(1..=3_600))]
    probe: Option<u64>,

    /// With --probe: milliseconds that one request keeps the server's busiest resource busy, such as
    /// CPU time over cores.
    #[arg(long, value_name = "MS", requires = "probe")]
    demand: Option<f64>,

    /// With --json: the resolved plan, too.
    #[arg(long, requires = "json")]
    resolved: bool,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(args: JmxArgs) -> Result<Exit, Failure> {
    match args.what {
        What::Check(args) => check(&args),
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
    let settings = settings(args)?;
    let bytes = read_bounded(&args.plan, MOST_BYTES).map_err(|e| unreadable(&args.plan, &e))?;
    let files = PlanFiles::beside(&args.plan);
    let reading = read(&args.plan.display().to_string(), &bytes, &settings, &files);
    let probed = match args.probe.filter(|_| reading.errors == 0) {
        Some(seconds) => {
            let demand = args.demand.map(|ms| ms / 1e3);
            let asked = (seconds, demand, args.seed);
            Some(probe::probe(&args.plan, &args.properties, asked)?)
        }
        None => None,
    };
    let shown = show::Shown::new(
        &reading,
        args.generators,
        &settings.properties,
        args.show.lang(),
    );
    if args.show.json {
        println!("{}", shown.json(args.resolved, probed.as_ref()));
    } else {
        print!("{}", shown.text(probed.as_ref()));
    }
    Ok(match reading.errors {
        0 => Exit::Fine,
        _ => Exit::OperatorError,
    })
}

/// What else the reader needs from outside.
fn settings(args: &CheckArgs) -> Result<Settings, Failure> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(Settings {
        properties: args.properties.layers()?,
        unsupported: args.unsupported,
        seed: args.seed,
        now_ms: since_1970.map_or(0, |since| since.as_millis() as i64),
        time_zone: TimeZone::system(),
    })
}

/// Tells on stderr what is wrong with a plan that is to be executed; nothing when nothing is.
pub fn print_problems(reading: &Reading, lang: Lang) {
    let properties = Properties::default();
    let shown = show::Shown::new(reading, 1, &properties, lang);
    eprint!("{}", shown.only_problems());
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::operator(
        format!("`{}` cannot be read: {error}", path.display()),
        "name a file that exists and that you may read, of at most 64 MiB",
    )
}
