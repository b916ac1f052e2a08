//! `sokudo export`: a record for other programs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sokudo_model::{Record, Text};
use sokudo_store::export;

use super::records::resolve;
use super::screen::shown_path;
use super::{Exit, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// series.csv and flows.csv, for spreadsheets.
    Csv,
    /// distributions.hlog: times as an HdrHistogram interval log, which its own tools read.
    Hdr,
    /// iperf3.json: the last stream of the run as `iperf3 -J` (3.12) would have told it.
    Iperf3,
    /// record.json, everything in one object.
    Json,
    /// trace.json: phases, flows, series and events on a timeline, for ui.perfetto.dev.
    Perfetto,
    /// series.tsv and flows.tsv.
    Tsv,
}

/// Write a record in the form of other programs. The Parquet files inside it need no export.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Run: its name, the beginning or end of it, `latest`, or a path.
    #[arg(default_value = "latest")]
    run: String,

    /// Form of the files.
    #[arg(long, value_enum)]
    to: Form,

    /// Directory to write into; `-` is stdout, for a form of one file. Default: the record's own
    /// `export` directory.
    #[arg(long, short, value_name = "DIR|-")]
    output: Option<PathBuf>,
}

/// Carries it out.
pub fn run(args: ExportArgs) -> Result<Exit, Failure> {
    let path = resolve(&args.run)?;
    let record = sokudo_store::load(&path)?;
    if args.output.as_deref() == Some(Path::new("-")) {
        to_stdout(&record, args.to)?;
        return Ok(Exit::Fine);
    }
    let iperf3 = match args.to {
        Form::Iperf3 => as_iperf3(&record)?,
        _ => String::new(),
    };
    let dir = match args.output {
        Some(dir) => {
            std::fs::create_dir_all(&dir).map_err(|error| Failure::cannot_write(&dir, &error))?;
            dir
        }
        None => export::own_dir(&path)?,
    };
    let files = match args.to {
        Form::Csv => export::to_csv(&record, &dir)?,
        Form::Tsv => export::to_tsv(&record, &dir)?,
        Form::Hdr => vec![export::to_hdr(&record, &dir)?],
        Form::Json => vec![export::to_json(&record, &dir)?],
        Form::Perfetto => vec![export::to_perfetto(&record, &dir)?],
        Form::Iperf3 => vec![export::to_iperf3(&iperf3, &dir)?],
    };
    for file in files {
        println!("{}", shown_path(&file));
    }
    Ok(Exit::Fine)
}

fn to_stdout(record: &Record, form: Form) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = match form {
        Form::Hdr => export::hdr::log(record, &mut out),
        Form::Json => export::json(record, &mut out),
        Form::Perfetto => export::perfetto::trace(record, &mut out),
        Form::Iperf3 => out.write_all(as_iperf3(record)?.as_bytes()),
        Form::Csv | Form::Tsv => {
            return Err(Failure::operator(
                Text::new("error-export-several-files"),
                Text::new("error-export-several-files-hint"),
            ));
        }
    };
    match written.and_then(|()| out.flush()) {
        // A reader that leaves early, such as `head`, has what it wants.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::cannot_write(Path::new("stdout"), &error)),
        Ok(()) => Ok(()),
    }
}

fn as_iperf3(record: &Record) -> Result<String, Failure> {
    match sokudo_store::iperf3::write(record) {
        Some(json) => Ok(format!("{json:#}\n")),
        None => Err(Failure::operator(
            Text::new("error-export-no-stream"),
            Text::new("error-export-no-stream-hint"),
        )),
    }
}
