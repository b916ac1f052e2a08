//! Exports a record for spreadsheets, scripts and other programs.
//!
//! Two long tables (series and flows) as CSV or TSV, a third one of single round trips where they were
//! kept, and everything as one JSON object. Missing values are empty cells, never zero.

pub mod commands;
mod round_trips;

pub mod hdr;
pub mod perfetto;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use sokudo_model::document::{Document, field};
use sokudo_model::{
    FlowResult, HistogramSummary, PhaseRecord, Record, SeriesKey, harmless, metric,
};

use crate::disk::{self, Disk, DiskFile};
use crate::layout::RUN_JSON;
use crate::tables::labels_json;
use crate::{StoreError, percentiles};

/// Separator and quoting of cells. A text that a spreadsheet would take for a formula gets a
/// leading `'`; U+FFFD stands for characters that steer a terminal or turn the direction of
/// writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Commas; RFC 4180 quoting.
    Csv,
    /// Tabs; tab, line ends and backslash inside a cell become `\t`, `\n`, `\r`, `\\`.
    Tsv,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
        }
    }
}

/// Writes `series.csv`, `flows.csv` and, where there are any, `commands.csv` and `round_trips.csv` into an existing
/// directory; returns their paths.
pub fn to_csv(record: &Record, dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    to_tables(record, dir, Format::Csv)
}

/// Writes `series.tsv`, `flows.tsv` and, where there are any, `commands.tsv` and `round_trips.tsv` into an existing
/// directory; returns their paths.
pub fn to_tsv(record: &Record, dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    to_tables(record, dir, Format::Tsv)
}

/// Writes `record.json` into an existing directory; returns its path.
pub fn to_json(record: &Record, dir: &Path) -> Result<PathBuf, StoreError> {
    to_file(dir.join("record.json"), |out| json(record, out))
}

/// Writes `distributions.hlog`, an HdrHistogram interval log, into an existing directory; returns its
/// path.
pub fn to_hdr(record: &Record, dir: &Path) -> Result<PathBuf, StoreError> {
    to_file(dir.join("distributions.hlog"), |out| hdr::log(record, out))
}

/// Writes `trace.json`, which ui.perfetto.dev opens, into an existing directory; returns its path.
pub fn to_perfetto(record: &Record, dir: &Path) -> Result<PathBuf, StoreError> {
    to_file(dir.join("trace.json"), |out| perfetto::trace(record, out))
}

fn to_tables(record: &Record, dir: &Path, format: Format) -> Result<Vec<PathBuf>, StoreError> {
    let path = |table: &str| dir.join(format!("{table}.{}", format.extension()));
    let mut files = vec![
        to_file(path("series"), |out| series(record, format, out))?,
        to_file(path("flows"), |out| flows(record, format, out))?,
    ];
    if commands::any(record) {
        let file = path("commands");
        files.push(to_file(file, |out| commands::write(record, format, out))?);
    }
    if round_trips::any(record) {
        let file = path("round_trips");
        files.push(to_file(file, |out| {
            round_trips::write(record, format, out)
        })?);
    }
    Ok(files)
}

/// Writes `iperf3.json`, made by [`crate::iperf3`], into an existing directory; returns its path.
pub fn to_iperf3(text: &str, dir: &Path) -> Result<PathBuf, StoreError> {
    to_file(dir.join("iperf3.json"), |out| {
        out.write_all(text.as_bytes())
    })
}

/// The record's own directory for exports, made where there is none.
///
/// Errors: [`StoreError::Corrupt`] when a link to elsewhere stands in its place.
pub fn own_dir(record: &Path) -> Result<PathBuf, StoreError> {
    let dir = record.join("export");
    disk::check_own_dir(&dir)?;
    Disk::default().create_dir_all(&dir)?;
    Ok(dir)
}

/// True for a file in a record's own directory for exports.
fn is_of_record(path: &Path) -> bool {
    let record = path.ancestors().nth(2);
    record.is_some_and(|record| record.join(RUN_JSON).is_file())
}

fn to_file(
    path: PathBuf,
    write: impl FnOnce(&mut BufWriter<DiskFile>) -> io::Result<()>,
) -> Result<PathBuf, StoreError> {
    let disk = Disk::default();
    let file = match is_of_record(&path) {
        true => disk.create(&path)?,
        false => disk.create_shared(&path)?,
    };
    let mut out = BufWriter::new(file);
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(|e| StoreError::io("write", &path, e))?;
    Ok(path)
}

/// All points of all series, one per line: time_seconds (since the run's start), host, source,
/// metric, unit, labels (JSON), value.
pub fn series(record: &Record, format: Format, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table { format, out };
    table.row(
        [
            "time_seconds",
            "host",
            "source",
            "metric",
            "unit",
            "labels",
            "value",
        ]
        .map(word),
    )?;
    for series in &record.series {
        let key = &series.key;
        let labels = labels_json(&key.labels);
        for (t_ns, value) in &series.points {
            table.row([
                Cell::Seconds(*t_ns),
                Cell::Word(&key.host),
                Cell::Word(&key.source),
                Cell::Word(&key.metric),
                Cell::Word(metric::unit_of(&key.metric).name()),
                Cell::Word(&labels),
                Cell::Number(Some(*value)),
            ])?;
        }
    }
    Ok(())
}

/// All flows of all phases, one per line: phase, workload, phase_labels, flow, from, to, labels,
/// complete, then one column per metric and seven per distribution (`<metric> n`, `min`, `mean`,
/// `p50`, `p90`, `p99`, `p999`, `max`) that any flow has.
pub fn flows(record: &Record, format: Format, out: &mut impl Write) -> io::Result<()> {
    let all = || record.manifest.phases.iter().flat_map(|p| &p.result.flows);
    let metrics: BTreeSet<&str> = all()
        .flat_map(|f| f.metrics.keys())
        .map(String::as_str)
        .collect();
    let distributions: BTreeSet<&str> = all()
        .flat_map(|f| f.histograms.keys())
        .map(String::as_str)
        .collect();
    let mut table = Table { format, out };
    let fixed = [
        "phase",
        "workload",
        "phase_labels",
        "flow",
        "from",
        "to",
        "labels",
        "complete",
    ];
    let heads: Vec<String> = fixed
        .iter()
        .chain(&metrics)
        .map(|name| name.to_string())
        .chain(distributions.iter().flat_map(|name| {
            NUMBERS
                .iter()
                .map(move |(number, _)| format!("{name} {number}"))
        }))
        .collect();
    table.row(heads.iter().map(|head| word(head)))?;
    for phase in &record.manifest.phases {
        for flow in &phase.result.flows {
            flow_row(&mut table, phase, flow, &metrics, &distributions)?;
        }
    }
    Ok(())
}

/// A number of a distribution: the last word of its column's name, and how to read it.
type NumberOf = (&'static str, fn(&HistogramSummary) -> f64);

const NUMBERS: [NumberOf; 8] = [
    ("n", |h| h.n as f64),
    ("min", |h| h.min),
    ("mean", |h| h.mean),
    ("p50", |h| h.p50),
    ("p90", |h| h.p90),
    ("p99", |h| h.p99),
    ("p999", |h| h.p999),
    ("max", |h| h.max),
];

fn flow_row(
    table: &mut Table<impl Write>,
    phase: &PhaseRecord,
    flow: &FlowResult,
    metrics: &BTreeSet<&str>,
    distributions: &BTreeSet<&str>,
) -> io::Result<()> {
    let (phase_labels, labels) = (labels_json(&phase.labels), labels_json(&flow.labels));
    let fixed = [
        Cell::Word(&phase.name),
        Cell::Word(&phase.workload),
        Cell::Word(&phase_labels),
        Cell::Number(Some(f64::from(flow.id))),
        Cell::Word(&flow.from),
        Cell::Word(&flow.to),
        Cell::Word(&labels),
        Cell::Word(if flow.complete { "true" } else { "false" }),
    ];
    let values = metrics
        .iter()
        .map(|name| Cell::Number(flow.metrics.get(*name).copied()));
    let numbers = distributions.iter().flat_map(|name| {
        let distribution = flow.histograms.get(*name);
        NUMBERS
            .iter()
            .map(move |(_, of)| Cell::Number(distribution.map(of)))
    });
    table.row(fixed.into_iter().chain(values).chain(numbers))
}

/// The object that [`json`] writes.
#[rustfmt::skip]
pub const RECORD: Document = Document {
    name: "record",
    command: "sokudo export --to json",
    fields: &[
        field("manifest", "any", ""),
        field("environments", "map of object", ""),
        field("environments.*.host", "string", ""),
        field("environments.*.facts", "array of object", ""),
        field("environments.*.facts[].section", "string", ""),
        field("environments.*.facts[].name", "string", ""),
        field("environments.*.facts[].value", "string or null", ""),
        field("environments.*.facts[].unit", "string or null", ""),
        field("environments.*.facts[].source", "string", ""),
        field("series", "array of object", ""),
        field("series[].host", "string", ""),
        field("series[].source", "string", ""),
        field("series[].metric", "string", ""),
        field("series[].labels", "map of string", ""),
        field("series[].unit", "string", ""),
        field("series[].points", "array of array of number", ""),
        field("histograms", "array of object", ""),
        field("histograms[].host", "string", ""),
        field("histograms[].source", "string", ""),
        field("histograms[].metric", "string", ""),
        field("histograms[].labels", "map of string", ""),
        field("histograms[].unit", "string", ""),
        field("histograms[].t0_ns", "integer", "nanoseconds"),
        field("histograms[].t1_ns", "integer", "nanoseconds"),
        field("histograms[].n", "integer", ""),
        field("histograms[].p50", "number", ""),
        field("histograms[].p90", "number", ""),
        field("histograms[].p99", "number", ""),
        field("histograms[].p999", "number", ""),
        field("histograms[].p9999", "number", ""),
        field("histograms[].max", "number", ""),
        field("events", "array of object", ""),
        field("events[].t_ns", "integer", "nanoseconds"),
        field("events[].host", "string", ""),
        field("events[].source", "string", ""),
        field("events[].kind", "string", ""),
        field("events[].says", "any", ""),
        field("findings", "array of any", ""),
        field("checks", "array of any", ""),
    ],
};

/// The whole record as one JSON object, series by series: `manifest`, `environments`, `series`
/// (`points` as `[t_ns, value]`), `histograms` (percentiles in the metric's unit), `events`,
/// `findings`, `checks`. A value that JSON cannot hold is `null`.
pub fn json(record: &Record, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"manifest\":")?;
    serde_json::to_writer(&mut *out, &record.manifest)?;
    write!(out, ",\n\"environments\":")?;
    serde_json::to_writer(&mut *out, &record.environments)?;
    let series = record.series.iter().map(|s| {
        let mut object = key_json(&s.key);
        object["unit"] = metric::unit_of(&s.key.metric).name().into();
        object["points"] = json!(s.points);
        object
    });
    json_array("series", series, out)?;
    let histograms = record.histograms.iter().map(|h| {
        let mut object = key_json(&h.key);
        object["unit"] = metric::unit_of(&h.key.metric).name().into();
        object["t0_ns"] = h.t0_ns.into();
        object["t1_ns"] = h.t1_ns.into();
        if let Some(p) = percentiles(h) {
            object["n"] = p.n.into();
            let numbers = [("p50", p.p50), ("p90", p.p90), ("p99", p.p99)];
            let tail = [("p999", p.p999), ("p9999", p.p9999), ("max", p.max)];
            for (name, value) in numbers.into_iter().chain(tail) {
                object[name] = value.into();
            }
        }
        object
    });
    json_array("histograms", histograms, out)?;
    json_array("events", record.events.iter().map(|e| json!(e)), out)?;
    json_array("findings", record.findings.iter().map(|f| json!(f)), out)?;
    json_array("checks", record.checks.iter().map(|c| json!(c)), out)?;
    out.write_all(b"}\n")
}

fn key_json(key: &SeriesKey) -> serde_json::Value {
    json!({"host": key.host, "source": key.source, "metric": key.metric, "labels": key.labels})
}

fn json_array(
    name: &str,
    values: impl Iterator<Item = serde_json::Value>,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (i, value) in values.enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"]")
}

/// One cell.
#[derive(Clone, Copy)]
enum Cell<'a> {
    Word(&'a str),
    /// Empty when missing or not a number.
    Number(Option<f64>),
    /// Nanoseconds, written exactly as seconds.
    Seconds(i64),
    /// Nanoseconds, written exactly as milliseconds.
    Millis(i64),
}

fn word(text: &str) -> Cell<'_> {
    Cell::Word(text)
}

struct Table<'a, W: Write> {
    format: Format,
    out: &'a mut W,
}

impl<W: Write> Table<'_, W> {
    fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> io::Result<()> {
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                self.out.write_all(match self.format {
                    Format::Csv => b",",
                    Format::Tsv => b"\t",
                })?;
            }
            self.cell(cell)?;
        }
        self.out.write_all(b"\n")
    }

    fn cell(&mut self, cell: Cell) -> io::Result<()> {
        match cell {
            Cell::Number(Some(value)) if !value.is_nan() => write!(self.out, "{value}"),
            Cell::Number(_) => Ok(()),
            Cell::Seconds(t_ns) => self.decimal(t_ns, 9),
            Cell::Millis(t_ns) => self.decimal(t_ns, 6),
            Cell::Word(text) => self.word(text),
        }
    }

    /// A number of units of 10^-`digits`.
    fn decimal(&mut self, value: i64, digits: u32) -> io::Result<()> {
        let sign = if value < 0 { "-" } else { "" };
        let (value, unit) = (value.unsigned_abs(), 10u64.pow(digits));
        let (whole, rest, width) = (value / unit, value % unit, digits as usize);
        write!(self.out, "{sign}{whole}.{rest:0width$}")
    }

    fn word(&mut self, text: &str) -> io::Result<()> {
        let steers = |c: char| harmless::steers(c) && !matches!(c, '\t' | '\n' | '\r');
        let text: Cow<str> = match text.contains(steers) {
            true => text.replace(steers, "\u{fffd}").into(),
            false => text.into(),
        };
        let formula =
            text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
        match self.format {
            Format::Csv => self.csv_word(&text, formula),
            Format::Tsv => self.tsv_word(&text, formula),
        }
    }

    fn csv_word(&mut self, text: &str, formula: bool) -> io::Result<()> {
        let guard = if formula { "'" } else { "" };
        if formula || text.contains([',', '"', '\n', '\r']) {
            write!(self.out, "\"{guard}{}\"", text.replace('"', "\"\""))
        } else {
            self.out.write_all(text.as_bytes())
        }
    }

    fn tsv_word(&mut self, text: &str, formula: bool) -> io::Result<()> {
        if formula {
            self.out.write_all(b"'")?;
        }
        let escaped = text
            .replace('\\', "\\\\")
            .replace('\t', "\\t")
            .replace('\n', "\\n")
            .replace('\r', "\\r");
        self.out.write_all(escaped.as_bytes())
    }
}
