//! Closes a run and shows its result.
//!
//! The record is closed, loaded again, analysed, given its report, and shown: whatever people see
//! is computed from the record alone.

use std::path::Path;

use clap::Args;
use serde_json::Value;
use sokudo_controller::{Finished, Run};
use sokudo_i18n::Lang;
use sokudo_model::{Record, RunStatus};
use sokudo_session::conclude;

use super::screen::{escapes, shown_path, width};
use super::{Exit, Failure};

/// How a result is shown.
#[derive(Debug, Clone, Args)]
pub struct ShowOptions {
    /// Print one JSON object (schema sokudo.summary/1) instead of text.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    language: LangOption,
}

impl ShowOptions {
    /// Language to speak.
    pub fn lang(&self) -> Lang {
        self.language.lang()
    }
}

/// The language of what a command prints.
#[derive(Debug, Clone, Args)]
pub struct LangOption {
    /// Language of sentences: en or ja. Default: from SOKUDO_LANG, LC_ALL or LANG.
    #[arg(long, value_name = "LANG")]
    lang: Option<Lang>,
}

impl LangOption {
    /// Language to speak.
    pub fn lang(&self) -> Lang {
        self.lang.unwrap_or_else(Lang::from_env)
    }
}

/// Closes the record, draws the conclusions, writes the report and shows the result.
pub fn finish(run: Run, options: &ShowOptions) -> Result<Exit, Failure> {
    let Finished { path, .. } = run.finish()?;
    let record = conclude(&path, options.lang())?;
    show(&record, &path, options);
    Ok(exit_of(&record))
}

/// Prints a record to stdout.
pub fn show(record: &Record, path: &Path, options: &ShowOptions) {
    if options.json {
        println!("{:#}", summary(record, path));
        return;
    }
    let width = width();
    let text = sokudo_report::terminal(record, options.lang(), escapes(&std::io::stdout()), width);
    print!("{text}");
    println!("\n  record  {}", shown_path(path));
    println!("  report  {}", shown_path(&path.join("report.html")));
}

/// A record as one JSON object, schema sokudo.summary/1.
pub fn summary(record: &Record, path: &Path) -> Value {
    sokudo_report::summary_json(record, &path.display().to_string())
}

/// Exit code for a record, by how its run ended.
pub fn exit_of(record: &Record) -> Exit {
    match record.manifest.status {
        RunStatus::Ok if record.checks.iter().all(|check| check.passed) => Exit::Fine,
        RunStatus::Ok => Exit::CheckFailed,
        RunStatus::Partial | RunStatus::Failed | RunStatus::Running => Exit::RunFailed,
    }
}
