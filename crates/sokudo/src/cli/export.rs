//! `sokudo export`: a record for other programs.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use sokudo_model::Record;

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
    #[arg(long, value_enum, required_unless_present = "iperf3")]
    to: Option<Form>,

    /// Write the last stream of the run as `iperf3 -J` (3.12) would have told it; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    iperf3: Option<PathBuf>,

    /// Directory to write into. Default: the record's own `export` directory.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Carries it out.
pub fn run(args: ExportArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    let record = sokudo_store::load(&path)?;
    if let Some(file) = &args.iperf3 {
        to_iperf3(&record, file)?;
    }
    let Some(to) = args.to else {
        return Ok(Exit::Fine);
    };
    let dir = args.output.unwrap_or_else(|| path.join("export"));
    std::fs::create_dir_all(&dir).map_err(|error| Failure::cannot_write(&dir, &error))?;
    let files = match to {
        Form::Csv => sokudo_store::export::to_csv(&record, &dir)?,
        Form::Tsv => sokudo_store::export::to_tsv(&record, &dir)?,
        Form::Json => vec![sokudo_store::export::to_json(&record, &dir)?],
    };
    for file in files {
        println!("{}", file.display());
    }
    Ok(Exit::Fine)
}

fn to_iperf3(record: &Record, file: &Path) -> Result<(), Failure> {
    let Some(json) = sokudo_store::iperf3::write(record) else {
        return Err(Failure::operator(
            "this run holds no stream, and iperf3 has no words for anything else",
            "`sokudo stream HOST` makes one; --to json writes everything that this run holds",
        ));
    };
    let text = format!("{json:#}\n");
    if file == Path::new("-") {
        print!("{text}");
        return Ok(());
    }
    std::fs::write(file, text).map_err(|error| Failure::cannot_write(file, &error))?;
    println!("{}", file.display());
    Ok(())
}
