//! Columns of a CSV result file, and conversion of a row to a request.

use sokudo_stats::requests::Request;

use super::Why;
use super::time::{number, stamp_ms};

/// JMeter 5.6's default columns in their order; also assumed for a file without a header.
pub const DEFAULT_COLUMNS: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// Columns that JMeter writes on request.
const FURTHER_COLUMNS: [&str; 5] = [
    "Encoding",
    "SampleCount",
    "ErrorCount",
    "Hostname",
    "Filename",
];

/// Most characters of an invalid value that are reported.
const TOLD_CHARACTERS: usize = 40;

/// Index of each column that is read; `None`: the file does not have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// Number of cells that each row must have.
    pub n: usize,
    time_stamp: Option<usize>,
    elapsed: Option<usize>,
    label: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    failure: Option<usize>,
    success: Option<usize>,
    bytes: Option<usize>,
    sent_bytes: Option<usize>,
    all_threads: Option<usize>,
    latency: Option<usize>,
    connect: Option<usize>,
    host: Option<usize>,
}

impl Columns {
    /// Finds the columns by name, case-sensitively; unknown names are variables. Of two columns
    /// with one name the first counts.
    pub fn of(names: &[&[u8]]) -> Self {
        let find = |name: &str| names.iter().position(|n| *n == name.as_bytes());
        Self {
            n: names.len(),
            time_stamp: find("timeStamp"),
            elapsed: find("elapsed"),
            label: find("label"),
            code: find("responseCode"),
            message: find("responseMessage"),
            failure: find("failureMessage"),
            success: find("success"),
            bytes: find("bytes"),
            sent_bytes: find("sentBytes"),
            all_threads: find("allThreads"),
            latency: find("Latency"),
            connect: find("Connect"),
            host: find("Hostname"),
        }
    }

    /// The default columns.
    pub fn default_order() -> Self {
        Self::of(&DEFAULT_COLUMNS.map(str::as_bytes))
    }

    /// The required columns that are missing.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.time_stamp, self.elapsed) {
            (None, _) => Some("timeStamp"),
            (_, None) => Some("elapsed"),
            _ => None,
        }
    }

    /// The request of a row. Cells are the unquoted contents.
    #[inline]
    pub fn request<'a>(&self, cells: &Cells<'a>) -> Result<Request<'a>, Why> {
        if cells.len() != self.n {
            return Err(Why::Cells {
                got: cells.len(),
                wanted: self.n,
            });
        }
        let text = |place: Option<usize>| place.map_or(&b""[..], |p| cells.get(p));
        let amount = |place: Option<usize>, column: &'static str| match place.map(|p| cells.get(p))
        {
            None | Some([]) => Ok(None),
            Some(cell) => number(cell).map(Some).ok_or_else(|| value(column, cell)),
        };
        let stamp = text(self.time_stamp);
        let start_ms = stamp_ms(stamp).ok_or_else(|| value("timeStamp", stamp))?;
        let elapsed = text(self.elapsed);
        let elapsed_ms = number(elapsed).ok_or_else(|| value("elapsed", elapsed))?;
        let threads = amount(self.all_threads, "allThreads")?;
        let code = text(self.code);
        Ok(Request {
            start_ms,
            elapsed_ms,
            label: text(self.label),
            code,
            message: text(self.message),
            failure: text(self.failure),
            success: match self.success {
                Some(place) => truth(cells.get(place))?,
                None => is_good(code),
            },
            bytes: amount(self.bytes, "bytes")?.unwrap_or(0),
            sent_bytes: amount(self.sent_bytes, "sentBytes")?.unwrap_or(0),
            threads: threads.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            latency_ms: amount(self.latency, "Latency")?,
            connect_ms: amount(self.connect, "Connect")?,
            host: text(self.host),
        })
    }
}

/// True for the name of a JMeter column.
pub fn is_known(name: &[u8]) -> bool {
    let known = DEFAULT_COLUMNS.iter().chain(&FURTHER_COLUMNS);
    known.into_iter().any(|k| k.as_bytes() == name)
}

/// Without a success column, the response code states whether a request succeeded.
pub fn is_good(code: &[u8]) -> bool {
    code.is_empty() || (code.len() == 3 && matches!(code[0], b'2' | b'3'))
}

/// Parses `true` or `false`, ignoring case.
pub fn truth(cell: &[u8]) -> Result<bool, Why> {
    match cell {
        b"true" => Ok(true),
        b"false" => Ok(false),
        _ if cell.eq_ignore_ascii_case(b"true") => Ok(true),
        _ if cell.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(value("success", cell)),
    }
}

/// The error for a cell with an invalid value.
#[cold]
pub fn value(column: &'static str, cell: &[u8]) -> Why {
    let told = &cell[..cell.len().min(4 * TOLD_CHARACTERS)];
    let value = String::from_utf8_lossy(told)
        .chars()
        .take(TOLD_CHARACTERS)
        .collect();
    Why::Value { column, value }
}

/// The cells of one row, unquoted.
#[derive(Debug)]
pub struct Cells<'a> {
    text: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Cells<'a> {
    /// The concatenated cells in `text`; each ends at its index in `ends`.
    pub fn new(text: &'a [u8], ends: &'a [usize]) -> Self {
        Self { text, ends }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The contents of a cell; empty if it does not exist.
    #[inline]
    pub fn get(&self, place: usize) -> &'a [u8] {
        let Some(&to) = self.ends.get(place) else {
            return &[];
        };
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(from..to).unwrap_or_default()
    }

    /// The contents of all cells.
    pub fn all(&self) -> Vec<&'a [u8]> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }
}
