//! `sokudo export`: a record for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::records::resolve;
use super::{Exit, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// series.csv and flows.csv, for spreadsheets.
    Csv,
    /// record.json, everything in one object.
    Json,
    /// series.tsv and flows.tsv.
    Tsv,
}

/// Write a record as CSV, TSV or JSON. The Parquet files inside the record need no export.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Run: its name, the beginning of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    /// Form of the files.
    #[arg(long, value_enum)]
    to: Form,

    /// Directory to write into. Default: the record's own `export` directory.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Carries it out.
pub fn run(args: ExportArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    let record = sokudo_store::load(&path)?;
    let dir = args.output.unwrap_or_else(|| path.join("export"));
    std::fs::create_dir_all(&dir).map_err(|error| Failure::cannot_write(&dir, &error))?;
    let files = match args.to {
        Form::Csv => sokudo_store::export::to_csv(&record, &dir)?,
        Form::Tsv => sokudo_store::export::to_tsv(&record, &dir)?,
        Form::Json => vec![sokudo_store::export::to_json(&record, &dir)?],
    };
    for file in files {
        println!("{}", file.display());
    }
    Ok(Exit::Fine)
}
