//! Exports the commands of a run of many hosts as CSV, one line per flow: its begin and end, its
//! command, its two ends, its bytes and its rate. Writes one file for all hosts, and one per host
//! with the flows it took part in.

use std::collections::BTreeSet;
use std::io::{self, Write};

use sokudo_model::{FlowResult, PhaseRecord, Record, kinds};

use super::{Cell, Format, Table, word};
use crate::layout::{COMMANDS, COMMANDS_OF_HOSTS, host_file};

/// Hosts that have a table of their own, at most; the one of all hosts is whole.
pub const MOST_HOSTS: usize = 1000;

const HEADS: [&str; 9] = [
    "start_ms",
    "end_ms",
    "command",
    "from",
    "to",
    "bytes",
    "bits_per_second",
    "complete",
    "phase",
];

/// True for a run in which many hosts received commands.
pub fn any(record: &Record) -> bool {
    record.manifest.is_of_many_hosts()
}

/// All flows of all phases, in the order of their phases. Start and end are milliseconds since the
/// run's start; the end is that of the flow where it is known, else the phase's. Of requests and
/// responses the bytes of both ways count, so that the speed is the mean of both.
pub fn write(record: &Record, format: Format, out: &mut impl Write) -> io::Result<()> {
    write_where(record, format, out, |_| true)
}

/// The tables as files of the record: `commands.csv`, and `commands/<host>.csv` for each host that took
/// part, of [`MOST_HOSTS`] at most.
pub fn files(record: &Record) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut all = Vec::new();
    write(record, Format::Csv, &mut all)?;
    let mut files = vec![(COMMANDS.to_owned(), all)];
    let phases = record.manifest.phases.iter();
    let flows = phases.flat_map(|phase| &phase.result.flows);
    let ends: BTreeSet<&str> = flows
        .flat_map(|f| [f.from.as_str(), f.to.as_str()])
        .collect();
    // A server under load is not a host of the run.
    let hosts = record.manifest.hosts.iter().map(|host| host.name.as_str());
    for host in hosts.filter(|host| ends.contains(host)).take(MOST_HOSTS) {
        let mut own = Vec::new();
        write_where(record, Format::Csv, &mut own, |flow| {
            flow.from == host || flow.to == host
        })?;
        let name = format!("{COMMANDS_OF_HOSTS}/{}", host_file(host, "csv"));
        files.push((name, own));
    }
    Ok(files)
}

fn write_where(
    record: &Record,
    format: Format,
    out: &mut impl Write,
    wanted: impl Fn(&FlowResult) -> bool,
) -> io::Result<()> {
    let mut table = Table { format, out };
    table.row(HEADS.map(word))?;
    for phase in &record.manifest.phases {
        for flow in phase.result.flows.iter().filter(|flow| wanted(flow)) {
            row(&mut table, phase, flow)?;
        }
    }
    Ok(())
}

fn row(table: &mut Table<impl Write>, phase: &PhaseRecord, flow: &FlowResult) -> io::Result<()> {
    let carried = kinds::carried(&flow.metrics);
    let took_ns = carried.map(|carried| (carried.seconds * 1e9).round() as i64);
    let end_ns = took_ns.map_or(phase.t1_ns, |took_ns| phase.t0_ns.saturating_add(took_ns));
    table.row([
        Cell::Millis(phase.t0_ns),
        Cell::Millis(end_ns),
        Cell::Word(command(phase)),
        Cell::Word(&flow.from),
        Cell::Word(&flow.to),
        Cell::Number(carried.map(|carried| carried.bytes)),
        Cell::Number(carried.map(|carried| carried.bits_per_second().round())),
        Cell::Word(if flow.complete { "true" } else { "false" }),
        Cell::Word(phase.moment()),
    ])
}

/// Command of the hosts; of several loads at the same moment each is a command of its own.
fn command(phase: &PhaseRecord) -> &str {
    let told = phase.labels.get("command");
    let alone = told.filter(|_| phase.moment() == phase.name);
    alone.unwrap_or(&phase.workload)
}
