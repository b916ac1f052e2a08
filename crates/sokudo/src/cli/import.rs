//! `sokudo import`: another tool's result as a record.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_model::{Manifest, PhasePlan, Plan, Text};
use sokudo_session::conclude;
use sokudo_store::RunDir;
use sokudo_store::iperf3::{self, Imported, Iperf3Error};

use super::finish::{ShowOptions, exit_of, show};
use super::{Exit, Failure, command_for_record};

const EXAMPLES: &str = "\
Examples:
  iperf3 -c hostb -J > result.json
  sokudo import result.json            show it, keep it as a record, write its report
  sokudo export latest --to csv        and use it like any other";

/// Read the JSON that iperf3 wrote (`iperf3 -J`) and keep it as a record.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// File to read; `-` is stdin.
    file: PathBuf,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries it out.
pub fn run(args: ImportArgs) -> Result<Exit, Failure> {
    let bytes = read(&args.file)?;
    let imported = iperf3::read(&bytes).map_err(|error| not_imported(&args.file, &error))?;
    let id = sokudo_controller::new_run_id(imported.workload);
    let mut writer = RunDir::create(&sokudo_store::runs_root(), &id)?;
    writer.append(&imported.batch)?;
    let path = writer.close(manifest(imported, id)?)?.path().to_path_buf();
    let record = conclude(&path, args.show.lang())?;
    show(&record, &path, &args.show);
    Ok(exit_of(&record))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::operator(
            Text::new("error-cannot-read")
                .with("path", file.display())
                .with("error", error),
            Text::new("error-import-hint-or-stdin"),
        )
    };
    let mut bytes = Vec::new();
    // One byte more than is read tells that there is more.
    let most = iperf3::MAX_BYTES as u64 + 1;
    match file == Path::new("-") {
        true => std::io::stdin().take(most).read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    }
    .map_err(failed)?;
    Ok(bytes)
}

fn not_imported(file: &Path, error: &Iperf3Error) -> Failure {
    let hint = match error {
        Iperf3Error::Empty(_) => Text::new("error-import-hint-empty"),
        Iperf3Error::TooLarge(_) | Iperf3Error::ManyConnections | Iperf3Error::ManyIntervals => {
            Text::new("error-import-hint-long")
        }
        Iperf3Error::NotJson(_) | Iperf3Error::NotIperf3 => Text::new("error-import-hint"),
    };
    Failure::operator(
        Text::new("error-cannot-import")
            .with("path", file.display())
            .text("error", error.text()),
        hint,
    )
}

/// The result as the run that it was.
fn manifest(imported: Imported, id: sokudo_model::RunId) -> Result<Manifest, Failure> {
    let phase = &imported.phase;
    let plan = Plan {
        phases: vec![PhasePlan {
            name: phase.name.clone(),
            workload: phase.workload.clone(),
            options: phase.options.clone(),
            flows: imported.flows,
            duration_ns: phase.t1_ns.max(0) as u64,
            bound_ns: phase.t1_ns.max(0) as u64,
            labels: phase.labels.clone(),
        }],
        ..Plan::default()
    };
    Ok(Manifest {
        started: imported.started,
        started_unix_ns: imported.started_unix_ns,
        command: command_for_record(),
        plan_sha256: sokudo_store::plan_sha256(&plan)?,
        plan,
        hosts: imported.hosts,
        summary: phase.result.summary.clone(),
        notes: vec![Text::new("import-iperf3-note").word("version", &imported.version)],
        status: imported.status,
        problems: imported.problems,
        phases: vec![imported.phase],
        ..Manifest::new(id, imported.workload)
    })
}
