//! `sokudo runs`, `show`, `report`, `recover`: commands about records.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sokudo_i18n::I18n;
use sokudo_model::document::{Document, field};
use sokudo_model::{RunStatus, Text, harmless};
use sokudo_session::conclude;

use super::finish::{ShowOptions, exit_of, show as show_record};
use super::live::status::padded;
use super::screen::{announce, shown_path, tell_status};
use super::{Exit, Failure, language};

/// Columns of the word for how a run ended.
const STATUS_COLUMNS: usize = 8;

/// List the recorded runs, newest first.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Show a run again: verdict, numbers, record.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Run: its name, the beginning or end of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    #[command(flatten)]
    show: ShowOptions,
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// One self-contained page.
    Html,
    /// Text for a wiki or an issue.
    Markdown,
}

/// Draw the conclusions of a run again and write its report.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run: its name, the beginning or end of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    /// Form of the report.
    #[arg(long, value_enum, default_value = "html")]
    form: ReportForm,

    /// File to write. Default: report.html inside the record; Markdown goes to stdout.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    show: ShowOptions,
}

/// Complete the record of a run whose program died.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// Run: its name, the beginning or end of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    /// Group whose agents took part, and still hold what the dead controller did not take. Default:
    /// the one that the run's command names.
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Do not ask the agents: what they hold is given up.
    #[cfg(feature = "fleet")]
    #[arg(long, conflicts_with = "group")]
    no_collect: bool,

    #[command(flatten)]
    show: ShowOptions,
}

/// Finds the directory of a run.
pub fn resolve(run: &str) -> Result<PathBuf, Failure> {
    Ok(sokudo_store::resolve(&sokudo_store::runs_root(), run)?)
}

/// Each line of `sokudo runs --json`.
#[rustfmt::skip]
pub const RUNS: Document = Document {
    name: "runs",
    command: "sokudo runs --json",
    fields: &[
        field("run", "string", ""),
        field("started", "string", ""),
        field("workload", "string", ""),
        field("status", "string", ""),
        field("summary", "map of number", ""),
        field("record", "string", ""),
        field("error", "string", ""),
    ],
};

/// `sokudo runs`.
pub fn runs(args: RunsArgs) -> Result<Exit, Failure> {
    let root = sokudo_store::runs_root();
    let entries = sokudo_store::list(&root)?;
    if entries.is_empty() && !args.json {
        announce(&Text::new("status-no-runs").with("path", root.display()));
    }
    let i18n = I18n::new(language());
    for entry in entries {
        match (&entry.info, args.json) {
            (_, true) => println!("{}", as_json(&entry)),
            (Ok(info), false) => {
                let line = format!(
                    "{:<38} {} {}",
                    harmless(&entry.id),
                    padded(
                        &i18n.text(&status(info.status, info.is_passed)),
                        STATUS_COLUMNS
                    ),
                    sokudo_report::headline(&info.workload, &info.summary, &i18n)
                );
                println!("{}", line.trim_end());
            }
            (Err(error), false) => println!(
                "{:<38} {} {}",
                harmless(&entry.id),
                padded(&i18n.message("run-broken", &[]), STATUS_COLUMNS),
                harmless(&error.to_string())
            ),
        }
    }
    Ok(Exit::Fine)
}

/// Word for how a run ended.
fn status(status: RunStatus, is_passed: bool) -> Text {
    Text::new(match status {
        RunStatus::Ok if is_passed => "run-ok",
        RunStatus::Ok => "run-missed",
        RunStatus::Partial => "run-partial",
        RunStatus::Failed => "run-failed",
        RunStatus::Running => "run-running",
    })
}

fn as_json(entry: &sokudo_store::RunEntry) -> serde_json::Value {
    match &entry.info {
        Ok(info) => serde_json::json!({
            "run": entry.id, "started": info.started, "workload": info.workload,
            "status": info.status.word(info.is_passed), "summary": info.summary, "record": entry.path,
        }),
        Err(error) => serde_json::json!({
            "run": entry.id, "status": "broken", "error": error.to_string(), "record": entry.path,
        }),
    }
}

/// `sokudo show`.
pub fn show(args: ShowArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    let record = sokudo_store::load(&path)?;
    show_record(&record, &path, &args.show);
    Ok(exit_of(&record))
}

/// `sokudo report`.
pub fn report(args: ReportArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    let lang = args.show.lang();
    let record = conclude(&path, lang)?;
    match (args.form, args.output) {
        (ReportForm::Html, None) => println!("{}", shown_path(&path.join("report.html"))),
        (ReportForm::Html, Some(file)) => write(&file, &sokudo_report::html(&record, lang))?,
        (ReportForm::Markdown, None) => print!("{}", sokudo_report::markdown(&record, lang)),
        (ReportForm::Markdown, Some(file)) => {
            write(&file, &sokudo_report::markdown(&record, lang))?
        }
    }
    Ok(Exit::Fine)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| Failure::cannot_write(file, &error))?;
    println!("{}", shown_path(file));
    Ok(())
}

/// `sokudo recover`.
pub fn recover(args: RecoverArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    #[cfg(feature = "fleet")]
    let collected = collect(&path, &args)?;
    let report = sokudo_store::recover(&path)?;
    #[cfg(feature = "fleet")]
    if let Some(collected) = collected {
        collected.forget();
    }
    if report.recovered {
        let says = Text::new("status-recovered")
            .with("batches", report.batches)
            .with("points", report.points);
        let loss = says.with("bytes", report.loss.bytes);
        tell_status(&loss.with("gaps", report.loss.gaps));
    } else {
        tell_status(&Text::new("status-complete"));
    }
    let record = conclude(&path, args.show.lang())?;
    show_record(&record, &path, &args.show);
    Ok(Exit::Fine)
}

/// Takes from the agents of the run what they hold of it.
#[cfg(feature = "fleet")]
fn collect(
    path: &Path,
    args: &RecoverArgs,
) -> Result<Option<super::group::collect::Collected>, Failure> {
    if args.no_collect {
        return Ok(None);
    }
    let named = args.group.clone();
    let manifest = sokudo_store::read_manifest(path)?;
    match named.or_else(|| super::group::collect::group_of(&manifest)) {
        Some(group) => super::group::collect::collect(path, &group),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::{RunStatus, Summary};
    use sokudo_store::{RunEntry, RunInfo};

    use super::*;

    #[test]
    fn each_line_is_as_it_is_described() {
        let info = RunInfo {
            started: "2026-11-20T13:57:28+09:00".into(),
            started_unix_ns: 0,
            did: String::new(),
            workload: "rr".into(),
            status: RunStatus::Ok,
            is_passed: true,
            summary: Summary::new(),
        };
        let broken = sokudo_store::StoreError::Exists {
            path: PathBuf::from("x"),
        };
        let lines = [Ok(info), Err(broken)].map(|info| {
            as_json(&RunEntry {
                id: "x".into(),
                path: PathBuf::from("x"),
                info,
            })
        });
        let differences = sokudo_testkit::document::differences(&RUNS, &lines);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
