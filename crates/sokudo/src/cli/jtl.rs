//! `sokudo jtl`: evaluates result files of JMeter tests.

mod show;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use sokudo_i18n::TextError;
use sokudo_jmeter::jtl::{self, ReadOutcome};
use sokudo_jmeter::properties::{Origin, Properties};
use sokudo_load_http::jmx::read_bounded;
use sokudo_model::{Record, Text};
use sokudo_report::requests::{Dashboard, judged, statistics_json, summary};
use sokudo_stats::requests::goals::Goals;
use sokudo_stats::requests::{Requests, Settings, Tally};

use super::finish::ShowOptions;
use super::jmx::{pair, unreadable};
use super::screen::bar_target;
use super::{Exit, Failure, records};

/// Largest property file that is read.
const MOST_PROPERTY_BYTES: u64 = 1 << 20;
/// Names of the files of a dashboard.
const PAGE: &str = "index.html";
const FIGURES: &str = "statistics.json";

const EXAMPLES: &str = "\
Examples:
  sokudo jtl report results.jtl -o dashboard
  sokudo jtl report results.jtl -o dashboard --slo 'p95<2s,err<0.1%'     exit code 1 when missed
  sokudo jtl report new.jtl -o dashboard --compare old.jtl --percentiles 50,95,99.9
  sokudo jtl report results.jtl --json                                   only the figures

Exit codes: 0 fine, 1 a goal was missed, 2 a file cannot be read or the directory is not empty.";

/// Read result files of JMeter and of `sokudo jmx run`.
#[derive(Debug, Args)]
pub struct JtlArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a dashboard of a result file: one page that needs nothing else, and statistics.json.
    ///
    /// Reads CSV with any columns, and XML, of any length in little memory. Rows that cannot be
    /// read are counted and named.
    #[command(after_help = EXAMPLES)]
    Report(Box<ReportArgs>),
}

#[derive(Debug, Args)]
struct ReportArgs {
    /// The result file: .jtl or .csv or .xml.
    file: PathBuf,

    /// Directory of the dashboard; it must be empty or not exist. Without it only text is printed.
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Replace the dashboard that is in the directory already.
    #[arg(short = 'f', long)]
    force: bool,

    /// What must be kept: percentiles, mean, max, err and rps, such as `p95<2s,err<0.1%,rps>100`.
    #[arg(long, value_name = "GOALS")]
    slo: Option<Goals>,

    /// Result file of an earlier test, to compare with.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,

    /// The run that left the rows: its hosts' CPUs and interfaces over time, and its findings. A run's
    /// id, the beginning of one, `latest`, or a directory.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Percentiles to show, at most eight; the first three also stand in statistics.json.
    /// [default: 90,95,99]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = percent)]
    percentiles: Vec<f64>,

    /// Set a property of JMeter's report generator: apdex_satisfied_threshold,
    /// apdex_tolerated_threshold (after jmeter.reportgenerator.), aggregate_rpt_pct1 to 3.
    #[arg(short = 'J', value_name = "NAME=VALUE", value_parser = pair)]
    property: Vec<(String, String)>,

    /// Property file; later ones win over earlier ones, and -J over all.
    #[arg(short = 'q', value_name = "FILE")]
    property_file: Vec<PathBuf>,

    #[command(flatten)]
    show: ShowOptions,
}

fn percent(text: &str) -> Result<f64, TextError> {
    let number: f64 = text
        .trim()
        .parse()
        .map_err(|_| TextError::value("error-value-number", text))?;
    match number > 0.0 && number <= 100.0 {
        true => Ok(number),
        false => Err(TextError::value("error-value-percent", text)),
    }
}

/// Carries it out.
pub fn run(args: JtlArgs) -> Result<Exit, Failure> {
    let What::Report(args) = args.what;
    let mut properties = Properties::default();
    for file in &args.property_file {
        let bytes = read_bounded(file, MOST_PROPERTY_BYTES).map_err(|e| unreadable(file, &e))?;
        properties.add_file(&file.display().to_string(), &bytes);
    }
    for (name, value) in &args.property {
        properties.set(name, value, Origin::CommandLine);
    }
    let mut settings = settings_of(&properties)?;
    if args.percentiles.len() > 8 {
        return Err(Failure::operator(
            Text::new("error-jtl-percentiles"),
            Text::new("error-jtl-percentiles-hint"),
        ));
    }
    if !args.percentiles.is_empty() {
        settings.percentiles.clone_from(&args.percentiles);
    }
    let record = args.run.as_deref().map(recorded).transpose()?;
    let asked = DashboardOrder {
        file: &args.file,
        record: record.as_ref(),
        is_shown: true,
        output: args.output.as_deref(),
        force: args.force,
        goals: args.slo.as_ref(),
        compare: args.compare.as_deref(),
        settings,
        show: &args.show,
    };
    report(&asked).map(Reported::told)
}

/// The record of a run, with what is concluded from it.
fn recorded(run: &str) -> Result<Record, Failure> {
    let mut record = sokudo_store::load(&records::resolve(run)?)?;
    record.findings = sokudo_analyze::findings(&record);
    record.checks = sokudo_analyze::checks(&record);
    Ok(record)
}

/// A dashboard that is asked for.
#[derive(Debug)]
pub struct DashboardOrder<'a> {
    /// The result file.
    pub file: &'a Path,
    /// Directory of the dashboard; nowhere without it.
    pub output: Option<&'a Path>,
    /// Whether a dashboard that is there already may be replaced.
    pub force: bool,
    /// What must be kept; without it the dashboard shows what the run had to keep.
    pub goals: Option<&'a Goals>,
    /// Result file of an earlier test.
    pub compare: Option<&'a Path>,
    /// The run that left the rows.
    pub record: Option<&'a Record>,
    /// Whether it is told on the terminal, too.
    pub is_shown: bool,
    /// Settings of counting.
    pub settings: Settings,
    /// Output of the result.
    pub show: &'a ShowOptions,
}

/// Result of a dashboard.
#[derive(Debug)]
pub struct Reported {
    /// 1 when a goal was missed.
    pub exit: Exit,
    /// JSON to print where it was asked for; text has been printed.
    pub json: Option<Value>,
}

impl Reported {
    /// Prints what is still to be printed.
    pub fn told(self) -> Exit {
        if let Some(json) = self.json {
            println!("{json}");
        }
        self.exit
    }
}

/// Reads a result file, writes its dashboard and prints what it says, unless JSON is asked for.
///
/// Errors: a file cannot be read or is not a result file; the directory holds something already.
pub fn report(asked: &DashboardOrder) -> Result<Reported, Failure> {
    if let Some(directory) = asked.output {
        must_be_free(directory, asked.force)?;
    }
    let (requests, outcome) = count(asked.file, &asked.settings)?;
    let earlier = match asked.compare {
        Some(file) => Some((name_of(file), count(file, &asked.settings)?.0)),
        None => None,
    };
    let name = name_of(asked.file);
    let started = started(&requests);
    let remarks = jtl::remarks(&requests, &outcome);
    let goals = asked.goals.map(|goals| judged(goals, &requests));
    let of_run = asked.record.map(|record| record.checks.as_slice());
    let demands = goals.as_deref().or(of_run).unwrap_or_default();
    let dashboard = Dashboard {
        name: &name,
        requests: &requests,
        started: &started,
        earlier: earlier
            .as_ref()
            .map(|(name, requests)| (name.as_str(), requests)),
        demands,
        record: asked.record,
        remarks: &remarks,
    };
    let page = match asked.output {
        Some(directory) => Some(write(directory, &dashboard, asked)?),
        None => None,
    };
    let json = asked.show.json;
    if asked.is_shown && !json {
        show::show(&dashboard, page.as_deref(), asked.show.lang());
    }
    let mut goals = goals.iter().flatten();
    Ok(Reported {
        exit: match goals.all(|goal| goal.passed) {
            true => Exit::Fine,
            false => Exit::CheckFailed,
        },
        json: json.then(|| summary(&dashboard, page.as_deref())),
    })
}

/// Report settings of JMeter's properties; its defaults where they are silent.
///
/// Errors: a property is not the number that it should be.
pub fn settings_of(properties: &Properties) -> Result<Settings, Failure> {
    let settings = jtl::settings_of(properties);
    settings.map_err(|error| {
        Failure::operator(
            Text::new("error-jtl-property")
                .with("name", &error.name)
                .with("value", &error.text),
            Text::new("error-jtl-property-hint"),
        )
    })
}

/// Reads all rows of a file.
fn count(file: &Path, settings: &Settings) -> Result<(Requests, ReadOutcome), Failure> {
    let opened = File::open(file).map_err(|e| unreadable_rows(file, &e))?;
    let length = opened
        .metadata()
        .map_err(|e| unreadable_rows(file, &e))?
        .len();
    let bar = ProgressBar::with_draw_target(Some(length), bar_target());
    let mut tally = Tally::new(settings.clone());
    let outcome = jtl::read(bar.wrap_read(opened), |row| tally.add(row));
    bar.finish_and_clear();
    let outcome = outcome.map_err(|error| match error {
        jtl::JtlError::Io(error) => unreadable_rows(file, &error),
        other => Failure::operator(
            Text::new("error-jtl-file")
                .with("path", file.display())
                .text("error", other.text()),
            Text::new("error-jtl-file-hint"),
        ),
    })?;
    let requests = tally.finish();
    match (outcome.broken.first.first(), outcome.rows) {
        (Some(first), 0) => Err(Failure::operator(
            Text::new("error-jtl-no-rows")
                .with("path", file.display())
                .with("rows", outcome.broken.n)
                .with("line", first.line)
                .text("why", first.why.text()),
            Text::new("error-jtl-file-hint"),
        )),
        _ => Ok((requests, outcome)),
    }
}

fn unreadable_rows(file: &Path, error: &std::io::Error) -> Failure {
    Failure::operator(
        Text::new("error-cannot-read")
            .with("path", file.display())
            .with("error", error),
        Text::new("error-jtl-readable-hint"),
    )
}

fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Start of the first request, in this machine's zone.
fn started(requests: &Requests) -> String {
    let first =
        Timestamp::from_millisecond(requests.total.first_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let zoned = first.to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()
}

/// Refuses a directory in which something is, before any time is spent on reading.
pub(super) fn must_be_free(directory: &Path, force: bool) -> Result<(), Failure> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::cannot_write(directory, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| Failure::cannot_write(directory, &e))?;
        let name = entry.file_name();
        let own = name == PAGE || name == FIGURES;
        if !(force && own) {
            return Err(Failure::operator(
                Text::new("error-directory-not-empty")
                    .with("path", directory.display())
                    .with("name", name.to_string_lossy()),
                Text::new("error-directory-not-empty-hint"),
            ));
        }
    }
    Ok(())
}

/// Writes both files; gives the path of the page.
fn write(
    directory: &Path,
    dashboard: &Dashboard,
    asked: &DashboardOrder,
) -> Result<PathBuf, Failure> {
    fs::create_dir_all(directory).map_err(|e| Failure::cannot_write(directory, &e))?;
    let page = directory.join(PAGE);
    for (path, text) in [
        (page.clone(), dashboard.html(asked.show.lang())),
        (directory.join(FIGURES), statistics_json(dashboard.requests)),
    ] {
        fs::write(&path, text).map_err(|e| Failure::cannot_write(&path, &e))?;
    }
    Ok(page)
}
