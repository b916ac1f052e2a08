//! Reader of JTL files: one pass with bounded memory.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};
use sokudo_model::Text;
use sokudo_stats::requests::Request;

use super::columns::{Cells, Columns, DEFAULT_COLUMNS, is_known};
use super::csv::{RowSplit, Splitter};
use super::{Broken, MOST_ROW_BYTES, Why, xml};

/// Bytes per read.
const CHUNK_BYTES: usize = 256 << 10;
/// Delimiters that are tried if the header does not show it.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Most rows with an unclosed quote, after which the file is refused: searching for the end of each
/// of them reads 1 MiB.
const MOST_OPEN_QUOTES: u32 = 100;

/// The format of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// CSV.
    Csv {
        /// The delimiter.
        delimiter: u8,
        /// True if the file begins with the names of its columns.
        header: bool,
    },
    /// XML.
    Xml,
}

/// The outcome of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Format.
    pub format: Format,
    /// Number of rows that were passed on.
    pub rows: u64,
    /// Rows that could not be read.
    pub broken: Broken,
    /// True if the file ends within a row, as that of a killed generator does.
    pub cut: bool,
    /// Number of sub-results (redirects, embedded resources, samples of transactions), which do not
    /// count as rows; only XML has them.
    pub inner: u64,
}

/// Reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JtlError {
    /// I/O error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The first line has neither column names nor the default columns.
    #[error(
        "line 1 is neither a header with JMeter's column names nor a row of the {} default columns",
        DEFAULT_COLUMNS.len()
    )]
    NotJtl,
    /// A required column is missing.
    #[error("line {line}: the header has no column `{column}`")]
    NoColumn {
        /// Line of the header.
        line: u64,
        /// Name of the column.
        column: &'static str,
    },
    /// Too many rows have an unclosed quote.
    #[error("line {line}: more than {MOST_OPEN_QUOTES} rows have a quote that is not closed")]
    OpenQuotes {
        /// Line at which reading ended.
        line: u64,
    },
}

impl JtlError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::Io(error) => Text::words(error.to_string()),
            Self::NotJtl => Text::new("error-jtl-not-jtl").with("columns", DEFAULT_COLUMNS.len()),
            Self::NoColumn { line, column } => Text::new("error-jtl-no-column")
                .with("line", line)
                .word("column", *column),
            Self::OpenQuotes { line } => Text::new("error-jtl-quotes")
                .with("line", line)
                .with("most", MOST_OPEN_QUOTES),
        }
    }
}

/// Reads a JTL file from its beginning and passes each row to `each`, in file order.
///
/// Memory: a few hundred KiB, or twice the longest row up to 1 MiB; for XML 16 MiB for one element.
/// Fails for I/O errors, or if the file is not JTL. Rows that cannot be read are counted.
pub fn read(mut input: impl Read, mut each: impl FnMut(&Request)) -> Result<ReadOutcome, JtlError> {
    read_rows(&mut input, &mut each)
}

/// [`read`] without type parameters, so that it is compiled once and with this crate.
fn read_rows(
    input: &mut dyn Read,
    mut each: &mut dyn FnMut(&Request),
) -> Result<ReadOutcome, JtlError> {
    let mut window = Window::new(input);
    window.fill()?;
    window.skip_byte_order_mark();
    let first = window.bytes().iter().find(|b| !b.is_ascii_whitespace());
    if first == Some(&b'<') {
        return Ok(xml::read(window.into_rest(), &mut each)?);
    }
    Csv::begin(window)?.run(&mut each)
}

/// The part of a file that was read and not yet consumed.
struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK_BYTES],
            from: 0,
            to: 0,
            ended: false,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.from..self.to]
    }

    /// Reads more; the buffer grows if it is full.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        if self.to == self.buffer.len() {
            self.buffer.resize(self.to * 2, 0);
        }
        while self.to < self.buffer.len() && !self.ended {
            match self.input.read(&mut self.buffer[self.to..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.to += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn skip_byte_order_mark(&mut self) {
        if self.bytes().starts_with(b"\xef\xbb\xbf") {
            self.from += 3;
        }
    }

    /// The buffered bytes followed by the rest of the file.
    fn into_rest(self) -> impl Read {
        let mut there = self.buffer;
        there.truncate(self.to);
        there.drain(..self.from);
        io::Cursor::new(there).chain(self.input)
    }
}

/// A CSV file during reading.
struct Csv<R> {
    window: Window<R>,
    splitter: Splitter,
    columns: Columns,
    /// Line of the next row.
    line: u64,
    open_quotes: u32,
    outcome: ReadOutcome,
}

impl<R: Read> Csv<R> {
    /// Determines the delimiter and the columns.
    fn begin(window: Window<R>) -> Result<Self, JtlError> {
        let bytes = window.bytes();
        let (delimiter, columns) = match header(bytes) {
            Some((delimiter, columns)) => (delimiter, Some(columns)),
            None => (delimiter_of_rows(bytes).ok_or(JtlError::NotJtl)?, None),
        };
        let header = columns.is_some();
        let columns = columns.unwrap_or_else(Columns::default_order);
        if let Some(column) = columns.missing() {
            return Err(JtlError::NoColumn { line: 1, column });
        }
        let format = Format::Csv { delimiter, header };
        Ok(Self {
            window,
            splitter: Splitter::new(delimiter),
            columns,
            line: 1,
            open_quotes: 0,
            outcome: ReadOutcome {
                format,
                rows: 0,
                broken: Broken::default(),
                cut: false,
                inner: 0,
            },
        })
    }

    fn run(mut self, each: &mut impl FnMut(&Request)) -> Result<ReadOutcome, JtlError> {
        loop {
            let last = self.window.ended;
            if last && self.window.bytes().is_empty() {
                return Ok(self.outcome);
            }
            match self.splitter.split(self.window.bytes(), last) {
                RowSplit::Row(n) => self.row(n, each)?,
                RowSplit::More if !last && self.window.bytes().len() < MOST_ROW_BYTES => {
                    self.window.fill()?
                }
                RowSplit::More => self.skip_line()?,
            }
        }
    }

    /// Processes the row that the splitter found in the first `n` bytes.
    fn row(&mut self, n: usize, each: &mut impl FnMut(&Request)) -> Result<(), JtlError> {
        let row = &self.window.buffer[self.window.from..self.window.from + n];
        let cells = self.splitter.cells();
        let ends_with_line = row.last() == Some(&b'\n');
        match self.columns.request(&cells) {
            Ok(request) => {
                self.outcome.rows += 1;
                each(&request);
            }
            Err(_) if is_blank(&cells) => {}
            Err(_) if is_header(&cells) => {
                self.columns = Columns::of(&cells.all());
                if let Some(column) = self.columns.missing() {
                    return Err(JtlError::NoColumn {
                        line: self.line,
                        column,
                    });
                }
            }
            Err(_) if !ends_with_line => {
                self.outcome.cut = true;
                self.outcome.broken.add(self.line, Why::Cut);
            }
            Err(why) => self.outcome.broken.add(self.line, why),
        }
        self.line += memchr_iter(b'\n', row).count() as u64;
        self.window.from += n;
        Ok(())
    }

    /// Skips a row whose end was not found, and continues at its next line.
    fn skip_line(&mut self) -> Result<(), JtlError> {
        let bytes = self.window.bytes();
        let quoted = memchr(b'"', bytes).is_some();
        let end = memchr(b'\n', bytes);
        let why = match (quoted, end) {
            (_, None) if self.window.ended => Why::Cut,
            (true, _) => Why::OpenQuote,
            _ => Why::TooLong,
        };
        self.outcome.cut |= why == Why::Cut;
        self.open_quotes += u32::from(why == Why::OpenQuote);
        self.outcome.broken.add(self.line, why);
        if self.open_quotes > MOST_OPEN_QUOTES {
            return Err(JtlError::OpenQuotes { line: self.line });
        }
        self.line += 1;
        match end {
            Some(end) => self.window.from += end + 1,
            None => self.skip_to_line_end()?,
        }
        Ok(())
    }

    /// Skips bytes up to the next line end.
    fn skip_to_line_end(&mut self) -> Result<(), JtlError> {
        loop {
            if let Some(end) = memchr(b'\n', self.window.bytes()) {
                self.window.from += end + 1;
                return Ok(());
            }
            self.window.from = self.window.to;
            if self.window.ended {
                return Ok(());
            }
            self.window.fill()?;
        }
    }
}

fn is_blank(cells: &Cells) -> bool {
    cells.len() <= 1 && cells.get(0).iter().all(u8::is_ascii_whitespace)
}

/// True for a repeated header, as in a file that was concatenated from several.
fn is_header(cells: &Cells) -> bool {
    is_known(cells.get(0)) && cells.len() > 1 && is_known(cells.get(1))
}

/// Delimiter and columns, if the file begins with a header.
fn header(bytes: &[u8]) -> Option<(u8, Columns)> {
    // A name consists of letters, so that the character after the first name is the delimiter.
    let named = bytes.strip_prefix(b"\"").unwrap_or(bytes);
    let after = named
        .iter()
        .find(|b| !b.is_ascii_alphanumeric() && **b != b'_' && **b != b'"');
    let told = after.copied().filter(|b| !matches!(b, b'\r' | b'\n'));
    let candidates = DELIMITERS.into_iter().chain(told);
    candidates.into_iter().find_map(|delimiter| {
        let mut splitter = Splitter::new(delimiter);
        if splitter.split(bytes, true) == RowSplit::More {
            return None;
        }
        let cells = splitter.cells();
        is_header(&cells).then(|| (delimiter, Columns::of(&cells.all())))
    })
}

/// The delimiter for which the first line is a row of the default columns.
fn delimiter_of_rows(bytes: &[u8]) -> Option<u8> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some(b',');
    }
    let columns = Columns::default_order();
    DELIMITERS.into_iter().find(|delimiter| {
        let mut splitter = Splitter::new(*delimiter);
        splitter.split(bytes, true) != RowSplit::More && columns.request(&splitter.cells()).is_ok()
    })
}
