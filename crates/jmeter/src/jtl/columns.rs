//! Which column holds what, and how does a line of cells become a request?

use sokudo_stats::requests::Request;

use super::Why;
use super::time::{number, stamp_ms};

/// What JMeter 5.6 writes by default, in this order; also what a file without header is taken for.
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

/// Columns that JMeter writes when asked to.
const FURTHER_COLUMNS: [&str; 5] = [
    "Encoding",
    "SampleCount",
    "ErrorCount",
    "Hostname",
    "Filename",
];

/// Letters of a broken value that are told.
const TOLD_CHARACTERS: usize = 40;

/// Place of each column that matters; `None` where the file has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// Cells that each row must have.
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
    /// Finds the columns by their names, which are case sensitive; unknown names are variables.
    /// Of a name that occurs twice the first counts.
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

    /// What is missing of that without which nothing can be said.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.time_stamp, self.elapsed) {
            (None, _) => Some("timeStamp"),
            (_, None) => Some("elapsed"),
            _ => None,
        }
    }

    /// The request of a row. Cells are the contents, unquoted.
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

/// True for a name that JMeter gives a column.
pub fn is_known(name: &[u8]) -> bool {
    let known = DEFAULT_COLUMNS.iter().chain(&FURTHER_COLUMNS);
    known.into_iter().any(|k| k.as_bytes() == name)
}

/// Without a column for it, the response code says whether a request succeeded.
pub fn is_good(code: &[u8]) -> bool {
    code.is_empty() || (code.len() == 3 && matches!(code[0], b'2' | b'3'))
}

/// `true` or `false`, in any case.
pub fn truth(cell: &[u8]) -> Result<bool, Why> {
    match cell {
        b"true" => Ok(true),
        b"false" => Ok(false),
        _ if cell.eq_ignore_ascii_case(b"true") => Ok(true),
        _ if cell.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(value("success", cell)),
    }
}

/// A cell that does not hold what its column promises.
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
    /// Cells that stand one behind another in `text`; each ends at its place of `ends`.
    pub fn new(text: &'a [u8], ends: &'a [usize]) -> Self {
        Self { text, ends }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The contents of one of them; empty when there is none.
    #[inline]
    pub fn get(&self, place: usize) -> &'a [u8] {
        let Some(&to) = self.ends.get(place) else {
            return &[];
        };
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(from..to).unwrap_or_default()
    }

    /// All contents.
    pub fn all(&self) -> Vec<&'a [u8]> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }
}
