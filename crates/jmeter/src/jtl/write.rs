//! Writer of result files in JMeter's formats.
//!
//! Columns, order and quoting are those of JMeter 5.6; the same properties,
//! `jmeter.save.saveservice.*`, select the columns. Additional columns follow on request:
//! `intended`, `sent`, `errno`, `phase`, `failure`.

mod element;

use std::fmt::Write as _;
use std::io::{self, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use sokudo_model::Rows;

use super::quotes::{holds_so_many, quote};
use crate::digits::digits;
use crate::properties::{Origin, Properties};
use crate::run::SampleRow;
use element::{attribute_name, escape};

/// Prefix of the properties that select what is written.
const PREFIX: &str = "jmeter.save.saveservice.";

/// The properties of a run, overridden by a listener's own settings: pairs of name suffix and
/// value.
pub fn listener_properties(all: &Properties, own: &[(&str, bool)]) -> Properties {
    let mut all = all.clone();
    for (name, value) in own {
        let value = if *value { "true" } else { "false" };
        all.set(format!("{PREFIX}{name}"), value, Origin::CommandLine);
        if *name == "xml" {
            let form = if value == "true" { "xml" } else { "csv" };
            all.set(format!("{PREFIX}output_format"), form, Origin::CommandLine);
        }
    }
    all
}

/// The contents and format of a result file.
#[derive(Debug, Clone)]
pub struct JtlFormat {
    /// XML instead of CSV.
    pub xml: bool,
    /// True if the first row has the names of the columns.
    pub has_header: bool,
    /// Delimiter.
    pub delimiter: char,
    /// True if sub-results are written, too.
    pub(super) has_parts: bool,
    /// Columns in order.
    columns: Vec<Column>,
    /// Variables after the columns (`sample_variables`).
    variables: Vec<String>,
    /// Contents of XML elements besides attributes.
    pub(super) texts: XmlContents,
    /// `sampleresult.default.encoding`: written in CSV if the response states no encoding.
    default_encoding: String,
    stamp: Stamp,
    time_zone: TimeZone,
    host_name: String,
}

/// Contents of an XML element besides attributes.
#[derive(Debug, Clone, Copy)]
pub(super) struct XmlContents {
    pub assertions: bool,
    pub response_headers: bool,
    pub request_headers: bool,
    pub response: bool,
    pub response_on_error: bool,
    pub sampler: bool,
    pub url: bool,
    pub file_name: bool,
}

/// Details of results that a file contains: they are kept only if one of the files does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SavedDetails {
    /// The outcome of each assertion.
    pub assertions: bool,
    /// Headers and bodies.
    pub texts: bool,
    /// Bodies as they were received.
    pub bodies: bool,
}

/// Format of time stamps.
#[derive(Debug, Clone)]
enum Stamp {
    Milliseconds,
    None,
    /// A `strftime` pattern.
    Formatted(String),
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    TimeStamp,
    Elapsed,
    Label,
    ResponseCode,
    ResponseMessage,
    ThreadName,
    DataType,
    Success,
    FailureMessage,
    Bytes,
    SentBytes,
    GroupThreads,
    AllThreads,
    Url,
    Filename,
    Latency,
    Encoding,
    SampleCount,
    ErrorCount,
    Hostname,
    IdleTime,
    Connect,
    Intended,
    Sent,
    Errno,
    Phase,
    Failure,
}

/// The contents of a column in a row.
enum Cell<'a> {
    /// A text, which may need quotes.
    Text(&'a str),
    /// An integer.
    Number(u64),
    /// Anything else that needs no quotes.
    Else,
}

/// Columns in order: CSV name, XML attribute, suffix of the property, default.
const COLUMNS: &[(Column, &str, &str, &str, bool)] = &[
    (Column::TimeStamp, "timeStamp", "ts", "time_stamp", true),
    (Column::Elapsed, "elapsed", "t", "time", true),
    (Column::Label, "label", "lb", "label", true),
    (
        Column::ResponseCode,
        "responseCode",
        "rc",
        "response_code",
        true,
    ),
    (
        Column::ResponseMessage,
        "responseMessage",
        "rm",
        "response_message",
        true,
    ),
    (Column::ThreadName, "threadName", "tn", "thread_name", true),
    (Column::DataType, "dataType", "dt", "data_type", true),
    (Column::Success, "success", "s", "successful", true),
    (
        Column::FailureMessage,
        "failureMessage",
        "",
        "assertion_results_failure_message",
        true,
    ),
    (Column::Bytes, "bytes", "by", "bytes", true),
    (Column::SentBytes, "sentBytes", "sby", "sent_bytes", true),
    (
        Column::GroupThreads,
        "grpThreads",
        "ng",
        "thread_counts",
        true,
    ),
    (
        Column::AllThreads,
        "allThreads",
        "na",
        "thread_counts",
        true,
    ),
    (Column::Url, "URL", "", "url", true),
    (Column::Filename, "Filename", "", "filename", false),
    (Column::Latency, "Latency", "lt", "latency", true),
    (Column::Encoding, "Encoding", "de", "encoding", false),
    (
        Column::SampleCount,
        "SampleCount",
        "sc",
        "sample_count",
        false,
    ),
    (
        Column::ErrorCount,
        "ErrorCount",
        "ec",
        "sample_count",
        false,
    ),
    (Column::Hostname, "Hostname", "hn", "hostname", false),
    (Column::IdleTime, "IdleTime", "it", "idle_time", true),
    (Column::Connect, "Connect", "ct", "connect_time", true),
];

/// Additional columns, after all others.
const OWN: &[(Column, &str)] = &[
    (Column::Intended, "intended"),
    (Column::Sent, "sent"),
    (Column::Errno, "errno"),
    (Column::Phase, "phase"),
    (Column::Failure, "failure"),
];

/// Order of the attributes of an XML sample.
const ATTRIBUTES: &[Column] = &[
    Column::Elapsed,
    Column::IdleTime,
    Column::Latency,
    Column::Connect,
    Column::TimeStamp,
    Column::Success,
    Column::Label,
    Column::ResponseCode,
    Column::ResponseMessage,
    Column::ThreadName,
    Column::DataType,
    Column::Encoding,
    Column::Bytes,
    Column::SentBytes,
    Column::SampleCount,
    Column::ErrorCount,
    Column::GroupThreads,
    Column::AllThreads,
    Column::Hostname,
];

impl JtlFormat {
    /// The format that the properties state; `own` adds the additional columns.
    pub fn new(properties: &Properties, time_zone: TimeZone, host_name: &str, own: bool) -> Self {
        let get = |name: &str| properties.get(&format!("{PREFIX}{name}"));
        let flag = |name: &str, default: bool| {
            get(name).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
        };
        let stamp = match get("timestamp_format").map(str::trim) {
            None | Some("" | "ms") => Stamp::Milliseconds,
            Some("none") => Stamp::None,
            Some(pattern) => Stamp::Formatted(strftime(pattern)),
        };
        let wanted = |(column, _, _, property, default): &&(Column, &str, &str, &str, bool)| {
            flag(property, *default)
                && !(*column == Column::TimeStamp && matches!(stamp, Stamp::None))
        };
        let columns = COLUMNS.iter().filter(wanted).map(|column| column.0);
        let own = OWN.iter().filter(|_| own).map(|column| column.0);
        let delimiter = match get("default_delimiter") {
            Some("\\t") => '\t',
            Some(text) => text.chars().next().unwrap_or(','),
            None => ',',
        };
        Self {
            xml: get("output_format").is_some_and(|format| format.trim() == "xml"),
            has_header: flag("print_field_names", true),
            delimiter,
            has_parts: flag("subresults", true),
            texts: XmlContents {
                assertions: flag("assertions", true),
                response_headers: flag("responseHeaders", false),
                request_headers: flag("requestHeaders", false),
                response: flag("response_data", false),
                response_on_error: flag("response_data.on_error", false),
                sampler: flag("samplerData", false),
                url: flag("url", true),
                file_name: flag("filename", false),
            },
            columns: columns.chain(own).collect(),
            variables: properties.sample_variables(),
            default_encoding: properties
                .get("sampleresult.default.encoding")
                .unwrap_or("UTF-8")
                .into(),
            stamp,
            time_zone,
            host_name: host_name.into(),
        }
    }

    /// Writes what precedes the first row of a new file.
    pub fn begin(&self, out: &mut impl Write) -> io::Result<()> {
        if self.xml {
            return out.write_all(
                b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n",
            );
        }
        if !self.has_header {
            return Ok(());
        }
        let mut line = String::new();
        for column in &self.columns {
            if !line.is_empty() {
                line.push(self.delimiter);
            }
            line.push_str(column.name());
        }
        for name in &self.variables {
            line.push(self.delimiter);
            line.extend(["\"", &name.replace('"', "\"\""), "\""]);
        }
        line.push('\n');
        out.write_all(line.as_bytes())
    }

    /// Writes what follows the last row.
    pub fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match self.xml {
            true => out.write_all(b"\n</testResults>\n"),
            false => Ok(()),
        }
    }

    /// Details of results that it contains.
    pub fn holds(&self) -> SavedDetails {
        let texts = &self.texts;
        SavedDetails {
            assertions: self.xml && texts.assertions,
            texts: self.xml
                && (texts.response_headers
                    || texts.request_headers
                    || texts.response
                    || texts.response_on_error
                    || texts.sampler),
            bodies: false,
        }
    }

    /// Appends a result and its sub-results: as consecutive rows, or as nested elements.
    pub fn write(&self, row: &SampleRow<'_>, rows: &mut Rows) {
        if self.xml {
            let begin = rows.text.len();
            self.element(row, 0, &mut rows.text);
            return rows.close(begin, row.end_ns);
        }
        let begin = rows.text.len();
        self.csv_row(row, &mut rows.text);
        rows.close(begin, row.end_ns);
        for below in row.below.iter().filter(|_| self.has_parts) {
            self.write(below, rows);
        }
    }

    /// Most rows need no quotes: they are written without, and one scan of the whole row checks
    /// whether that was correct.
    fn csv_row(&self, row: &SampleRow<'_>, out: &mut String) {
        let begin = out.len();
        self.cells(row, out, |text, out| out.push_str(text));
        let between = (self.columns.len() + self.variables.len()).saturating_sub(1);
        if !holds_so_many(&out.as_bytes()[begin..], self.delimiter, between) {
            out.truncate(begin);
            self.cells(row, out, |text, out| quote(text, self.delimiter, out));
        }
        out.push('\n');
    }

    /// Writes the columns of a row; `write` appends a text.
    #[inline(always)]
    fn cells(&self, row: &SampleRow<'_>, out: &mut String, write: impl Fn(&str, &mut String)) {
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(self.delimiter);
            }
            match self.cell(*column, row) {
                Cell::Text(text) => write(text, out),
                Cell::Number(number) => digits(number, out),
                Cell::Else => self.formatted(*column, row, out),
            }
        }
        for index in 0..self.variables.len() {
            out.push(self.delimiter);
            // Java writes an unset variable as `null`.
            let value = row.variables.get(index).and_then(Option::as_deref);
            write(value.unwrap_or("null"), out);
        }
    }

    /// Writes the attributes of a result, each after a blank.
    pub(super) fn attributes(&self, row: &SampleRow<'_>, out: &mut String) {
        let asked = ATTRIBUTES.iter();
        for column in asked.filter(|column| self.columns.contains(column)) {
            let known = COLUMNS.iter().find(|known| known.0 == *column);
            let Some((_, _, attribute, _, _)) = known else {
                continue;
            };
            out.extend([" ", attribute, "=\""]);
            match self.cell(*column, row) {
                // Only the encoding that the response itself states.
                _ if *column == Column::Encoding => escape(&row.encoding, out),
                Cell::Text(text) => escape(text, out),
                Cell::Number(number) => digits(number, out),
                Cell::Else => self.formatted(*column, row, out),
            }
            out.push('"');
        }
        for (index, name) in self.variables.iter().enumerate() {
            let value = row.variables.get(index).and_then(Option::as_deref);
            out.push(' ');
            attribute_name(name, out);
            out.push_str("=\"");
            escape(value.unwrap_or_default(), out);
            out.push('"');
        }
    }

    /// The contents of a column.
    #[inline]
    fn cell<'a>(&'a self, column: Column, row: &'a SampleRow<'_>) -> Cell<'a> {
        Cell::Text(match column {
            Column::Label => &row.label,
            Column::ResponseCode => &row.code,
            Column::ResponseMessage => &row.message,
            Column::ThreadName => &row.thread_name,
            Column::DataType => row.data_type,
            Column::Success if row.success => "true",
            Column::Success => "false",
            Column::FailureMessage => &row.failure_message,
            Column::Url => &row.url,
            Column::Filename => "",
            Column::Encoding if row.encoding.is_empty() => &self.default_encoding,
            Column::Encoding => &row.encoding,
            Column::Hostname => &self.host_name,
            Column::Phase => row.phase,
            Column::Failure => &row.failure,
            Column::Elapsed => return Cell::Number(row.elapsed_ms),
            Column::Bytes => return Cell::Number(row.bytes),
            Column::SentBytes => return Cell::Number(row.sent_bytes),
            Column::GroupThreads => return Cell::Number(row.group_threads.into()),
            Column::AllThreads => return Cell::Number(row.all_threads.into()),
            Column::Latency => return Cell::Number(row.latency_ms),
            Column::IdleTime => return Cell::Number(row.idle_ms),
            Column::Connect => return Cell::Number(row.connect_ms),
            Column::SampleCount => return Cell::Number(1),
            Column::ErrorCount => return Cell::Number((!row.success).into()),
            Column::TimeStamp if !matches!(self.stamp, Stamp::Formatted(_)) => {
                return Cell::Number(u64::try_from(row.start_ms).unwrap_or(0));
            }
            Column::TimeStamp | Column::Intended | Column::Sent | Column::Errno => {
                return Cell::Else;
            }
        })
    }

    /// Appends a value that is not an integer.
    fn formatted(&self, column: Column, row: &SampleRow<'_>, out: &mut String) {
        // Microseconds of the monotonic clock as milliseconds since 1970, so that they can be
        // compared with the start of the row.
        let stage = |at_ns: i64| row.start_ms as f64 + (at_ns - row.start_ns) as f64 / 1e6;
        let written = match (column, &self.stamp) {
            (Column::TimeStamp, Stamp::Formatted(pattern)) => {
                let at = Timestamp::from_millisecond(row.start_ms);
                let local = at.unwrap_or_default().to_zoned(self.time_zone.clone());
                write!(out, "{}", local.strftime(pattern))
            }
            (Column::Intended, _) => write!(out, "{:.3}", stage(row.intended_ns)),
            (Column::Sent, _) => write!(out, "{:.3}", stage(row.sent_ns)),
            (Column::Errno, _) if row.errno != 0 => write!(out, "{}", row.errno),
            _ => Ok(()),
        };
        // Writing into a String cannot fail.
        let _ = written;
    }
}

impl Column {
    fn name(self) -> &'static str {
        let known = COLUMNS.iter().map(|column| (column.0, column.1));
        let mut all = known.chain(OWN.iter().copied());
        all.find(|(column, _)| *column == self)
            .map_or("", |(_, name)| name)
    }
}

/// Converts one of Java's date patterns to `strftime`.
fn strftime(pattern: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let count = rest.chars().take_while(|other| *other == c).count();
        let (run, behind) = rest.split_at(count * c.len_utf8());
        rest = behind;
        match (c, count) {
            ('\'', _) => quoted = !quoted,
            _ if quoted => out.push_str(run),
            ('y', 1..=2) if count == 2 => out.push_str("%y"),
            ('y', _) => out.push_str("%Y"),
            ('M', 3..) => out.push_str("%b"),
            ('M', _) => out.push_str("%m"),
            ('d', _) => out.push_str("%d"),
            ('H', _) => out.push_str("%H"),
            ('m', _) => out.push_str("%M"),
            ('s', _) => out.push_str("%S"),
            ('S', _) => out.push_str("%3f"),
            ('Z', _) => out.push_str("%z"),
            ('%', _) => out.push_str(&"%%".repeat(count)),
            _ => out.push_str(run),
        }
    }
    out
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
