//! How is a result written, so that everything that reads JMeter's files reads it?
//!
//! Columns, order and quoting are those of JMeter 5.6; which columns there are is said by the same
//! properties, `jmeter.save.saveservice.*`. Columns of our own come behind, when they are asked
//! for: `intended`, `sent`, `errno`, `phase`, `failure`.

use std::fmt::Write as _;
use std::io::{self, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::properties::Properties;
use crate::run::{RowKind, SampleRow};

/// What stands in which form in a file of results.
#[derive(Debug, Clone)]
pub struct JtlFormat {
    /// XML instead of CSV.
    pub xml: bool,
    /// Names of the columns stand in the first row.
    pub has_header: bool,
    /// Between columns.
    pub delimiter: char,
    /// Parts of samples have rows of their own.
    has_parts: bool,
    /// Columns in order.
    columns: Vec<Column>,
    stamp: Stamp,
    time_zone: TimeZone,
    host_name: String,
}

/// How the time of a row is written.
#[derive(Debug, Clone)]
enum Stamp {
    Milliseconds,
    None,
    /// A pattern of `strftime`.
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

/// Columns in their order: name in CSV, attribute in XML, property behind the prefix, default.
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

/// Our own columns, behind all others.
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
    /// As the properties say; `own` adds our own columns.
    pub fn new(properties: &Properties, time_zone: TimeZone, host_name: &str, own: bool) -> Self {
        let get = |name: &str| properties.get(&format!("jmeter.save.saveservice.{name}"));
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
            columns: columns.chain(own).collect(),
            stamp,
            time_zone,
            host_name: host_name.into(),
        }
    }

    /// Writes what stands before the first row of a new file.
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
        line.push('\n');
        out.write_all(line.as_bytes())
    }

    /// Writes what stands behind the last row.
    pub fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match self.xml {
            true => out.write_all(b"\n</testResults>\n"),
            false => Ok(()),
        }
    }

    /// Appends a row. Samples inside a transaction that stands for them, and parts of samples, have
    /// none in XML.
    pub fn row(&self, row: &SampleRow<'_>, out: &mut String) {
        match (row.kind, self.xml) {
            (RowKind::Inner | RowKind::Part, true) => {}
            (RowKind::Part, false) if !self.has_parts => {}
            (_, true) => self.xml_row(row, out),
            (_, false) => self.csv_row(row, out),
        }
    }

    fn csv_row(&self, row: &SampleRow<'_>, out: &mut String) {
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(self.delimiter);
            }
            match self.text(*column, row) {
                Some(text) => quote(text, self.delimiter, out),
                None => self.number(*column, row, out),
            }
        }
        out.push('\n');
    }

    fn xml_row(&self, row: &SampleRow<'_>, out: &mut String) {
        let tag = if row.data_type.is_empty() {
            "sample"
        } else {
            "httpSample"
        };
        out.extend(["<", tag]);
        for column in ATTRIBUTES
            .iter()
            .filter(|column| self.columns.contains(column))
        {
            let (.., attribute, _, _) = COLUMNS[COLUMNS
                .iter()
                .position(|known| known.0 == *column)
                .unwrap_or(0)];
            out.extend([" ", attribute, "=\""]);
            match self.text(*column, row) {
                Some(text) => escape(text, out),
                None => self.number(*column, row, out),
            }
            out.push('"');
        }
        if row.failure_message.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n  <assertionResult>\n    <failure>true</failure>\n    <error>false</error>\n    <failureMessage>");
        escape(row.failure_message, out);
        out.extend(["</failureMessage>\n  </assertionResult>\n</", tag, ">\n"]);
    }

    /// The text of a column; `None` for numbers.
    fn text<'a>(&'a self, column: Column, row: &SampleRow<'a>) -> Option<&'a str> {
        Some(match column {
            Column::Label => row.label,
            Column::ResponseCode => row.code,
            Column::ResponseMessage => row.message,
            Column::ThreadName => row.thread_name,
            Column::DataType => row.data_type,
            Column::Success => match row.success {
                true => "true",
                false => "false",
            },
            Column::FailureMessage => row.failure_message,
            Column::Url => row.url,
            Column::Filename => "",
            Column::Encoding => row.encoding,
            Column::Hostname => &self.host_name,
            Column::Phase => row.phase,
            Column::Failure => row.failure,
            _ => return None,
        })
    }

    fn number(&self, column: Column, row: &SampleRow<'_>, out: &mut String) {
        // Microseconds of the monotonic clock as milliseconds since 1970, so that they can be
        // compared with the row's own start.
        let stage = |at_ns: i64| row.start_ms as f64 + (at_ns - row.start_ns) as f64 / 1e6;
        let written = match column {
            Column::TimeStamp => {
                self.time(row.start_ms, out);
                return;
            }
            Column::Intended => write!(out, "{:.3}", stage(row.intended_ns)),
            Column::Sent => write!(out, "{:.3}", stage(row.sent_ns)),
            Column::Errno if row.errno == 0 => return,
            Column::Errno => write!(out, "{}", row.errno),
            column => return digits(integer(column, row), out),
        };
        // Writing into a String cannot fail.
        let _ = written;
    }

    fn time(&self, at_ms: i64, out: &mut String) {
        match &self.stamp {
            Stamp::Formatted(pattern) => {
                let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
                let local = at.to_zoned(self.time_zone.clone());
                let _ = write!(out, "{}", local.strftime(pattern));
            }
            Stamp::Milliseconds | Stamp::None => digits(u64::try_from(at_ms).unwrap_or(0), out),
        }
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

fn integer(column: Column, row: &SampleRow<'_>) -> u64 {
    match column {
        Column::Elapsed => row.elapsed_ms,
        Column::Bytes => row.bytes,
        Column::SentBytes => row.sent_bytes,
        Column::GroupThreads => row.group_threads.into(),
        Column::AllThreads => row.all_threads.into(),
        Column::Latency => row.latency_ms,
        Column::IdleTime => row.idle_ms,
        Column::Connect => row.connect_ms,
        Column::SampleCount => 1,
        Column::ErrorCount => u64::from(!row.success),
        _ => 0,
    }
}

/// Appends a number without the machinery of formatting: rows are many.
fn digits(mut number: u64, out: &mut String) {
    let mut text = [0u8; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&text[at..]).unwrap_or_default());
}

/// As JMeter quotes: a text with the delimiter, a quote or a line end stands in quotes, and a quote
/// in it is doubled.
fn quote(text: &str, delimiter: char, out: &mut String) {
    if !text.contains([delimiter, '"', '\r', '\n']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for (index, piece) in text.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(piece);
    }
    out.push('"');
}

/// As an XML attribute: characters that XML does not have become `?`.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#xa;"),
            '\r' => out.push_str("&#xd;"),
            '\t' => out.push_str("&#x9;"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
}

/// A pattern of Java's date formats as one of `strftime`.
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
mod tests {
    use super::*;
    use crate::properties::Origin;

    fn row() -> SampleRow<'static> {
        SampleRow {
            kind: RowKind::Sample,
            start_ms: 1_700_000_000_123,
            elapsed_ms: 52,
            label: "検索, \"DB\"",
            code: "200",
            message: "OK",
            thread_name: "Users 1-1",
            data_type: "text",
            success: true,
            failure_message: "",
            bytes: 321,
            sent_bytes: 123,
            group_threads: 2,
            all_threads: 4,
            url: "http://localhost:9080/stress/hoge",
            latency_ms: 51,
            idle_ms: 0,
            connect_ms: 1,
            encoding: "utf-8",
            intended_ns: 1_000_000,
            start_ns: 2_500_000,
            sent_ns: 3_000_000,
            end_ns: 54_500_000,
            errno: 0,
            spent: Default::default(),
            phase: "",
            failure: "",
        }
    }

    /// Two rows with the properties given, as one text.
    fn written(properties: &[(&str, &str)], own: bool) -> String {
        let mut all = Properties::default();
        for (name, value) in properties {
            all.set(
                format!("jmeter.save.saveservice.{name}"),
                *value,
                Origin::CommandLine,
            );
        }
        let format = JtlFormat::new(&all, TimeZone::UTC, "generator-1", own);
        let mut out = Vec::new();
        format.begin(&mut out).unwrap();
        let mut text = String::new();
        format.row(&row(), &mut text);
        let failed = SampleRow {
            success: false,
            code: "Non HTTP response code: java.net.SocketException",
            message: "Non HTTP response message: Connection reset",
            failure_message: "two\nlines",
            errno: 104,
            phase: "read",
            failure: "reset",
            ..row()
        };
        format.row(&failed, &mut text);
        let inner = SampleRow {
            kind: RowKind::Inner,
            ..row()
        };
        if format.xml {
            format.row(&inner, &mut text);
        }
        out.extend_from_slice(text.as_bytes());
        format.end(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_is_written_as_jmeter_does() {
        assert_eq!(
            written(&[], false),
            include_str!("../../testdata/jtl/written.csv")
        );
    }

    #[test]
    fn properties_choose_columns_and_form() {
        let chosen = [
            ("url", "false"),
            ("thread_counts", "false"),
            ("hostname", "true"),
            ("sample_count", "true"),
            ("encoding", "true"),
            ("default_delimiter", ";"),
            ("timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS"),
        ];
        assert_eq!(
            written(&chosen, true),
            include_str!("../../testdata/jtl/chosen.csv")
        );
        let bare = written(&[("print_field_names", "false")], false);
        assert!(bare.starts_with("1700000000123,52,"), "{bare}");
    }

    #[test]
    fn xml_is_written_as_jmeter_does() {
        assert_eq!(
            written(&[("output_format", "xml")], false),
            include_str!("../../testdata/jtl/written.xml")
        );
    }
}
