//! Reader of JTL files in XML.
//!
//! The children of the root element are rows; elements inside them are sub-results and only
//! counted. Only the open row is kept in memory.

use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, Encoding, UTF_8};
use memchr::memchr_iter;
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use sokudo_stats::requests::Request;

use super::columns::{is_good, truth, value};
use super::read::{Format, ReadOutcome};
use super::time::{number, stamp_ms};
use super::{Broken, Why};
use crate::document::MOST_ATTRIBUTES;

/// Largest element or piece of text, bytes.
const MOST_EVENT_BYTES: usize = 16 << 20;
/// Deepest nesting; the rest of a deeper file is not read.
const MOST_DEPTH: u32 = 200;
/// Bytes per read.
const CHUNK_BYTES: usize = 64 << 10;
/// Number of bytes in which the name of the encoding is searched.
const PROLOGUE_BYTES: usize = 256;

/// Reads rows until the file ends or is not well-formed.
pub fn read(input: impl Read, each: &mut impl FnMut(&Request)) -> io::Result<ReadOutcome> {
    let mut reader = Reader::from_reader(Utf8Source::new(input)?);
    let mut state = Rows::new();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        reader.get_mut().since_event = 0;
        let line = reader.get_ref().line;
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => {
                state.end(line);
                return Ok(state.outcome);
            }
            Ok(Event::Start(tag)) => state.start(&tag, line),
            Ok(Event::Empty(tag)) => {
                state.start(&tag, line);
                state.close(each);
            }
            Ok(Event::End(_)) => state.close(each),
            Ok(Event::Text(text)) => state.text(&text.xml10_content()),
            Ok(Event::CData(text)) => state.text(&text.xml10_content()),
            Ok(Event::GeneralRef(name)) => state.reference(&name),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(quick_xml::Error::Io(error)) if error.kind() != io::ErrorKind::FileTooLarge => {
                return Err(io::Error::new(error.kind(), error.to_string()));
            }
            Err(error) => {
                state.fail(line, Why::Xml(error.to_string()), reader.get_ref().ended);
                return Ok(state.outcome);
            }
        }
        if state.depth > MOST_DEPTH {
            state.fail(
                line,
                Why::Xml(format!(
                    "more than {MOST_DEPTH} elements inside one another"
                )),
                false,
            );
            return Ok(state.outcome);
        }
    }
}

/// The open row, and the counts so far.
struct Rows {
    depth: u32,
    row: Option<Open>,
    /// True inside the message of a failed assertion.
    in_message: bool,
    outcome: ReadOutcome,
}

/// A row whose element is open.
#[derive(Default)]
struct Open {
    line: u64,
    start_ms: i64,
    elapsed_ms: u64,
    label: String,
    code: String,
    message: String,
    failure: String,
    success: bool,
    bytes: u64,
    sent_bytes: u64,
    threads: Option<u32>,
    latency_ms: Option<u64>,
    connect_ms: Option<u64>,
    host: String,
}

/// Longest message of an assertion that is kept, bytes.
const MOST_MESSAGE_BYTES: usize = 4096;

impl Rows {
    fn new() -> Self {
        Self {
            depth: 0,
            row: None,
            in_message: false,
            outcome: ReadOutcome {
                format: Format::Xml,
                rows: 0,
                broken: Broken::default(),
                cut: false,
                inner: 0,
            },
        }
    }

    fn start(&mut self, tag: &BytesStart, line: u64) {
        self.depth += 1;
        let is_sample = matches!(tag.name().as_ref(), "sample" | "httpSample");
        match self.depth {
            2 if is_sample => match Open::of(tag, line) {
                Ok(open) => self.row = Some(open),
                Err(why) => self.outcome.broken.add(line, why),
            },
            _ if is_sample => self.outcome.inner += 1,
            // Only assertions of the row itself, not of its sub-results.
            4 => self.in_message = tag.name().as_ref() == "failureMessage",
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let Some(row) = self
            .row
            .as_mut()
            .filter(|_| self.in_message && self.depth == 4)
        else {
            return;
        };
        for c in text.chars() {
            if row.failure.len() >= MOST_MESSAGE_BYTES {
                break;
            }
            row.failure.push(c);
        }
    }

    fn reference(&mut self, name: &quick_xml::events::BytesRef) {
        if let Some(c) = crate::xml::reference(name) {
            self.text(c.encode_utf8(&mut [0; 4]));
        }
    }

    fn close(&mut self, each: &mut impl FnMut(&Request)) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 3 {
            self.in_message = false;
        }
        if self.depth == 1
            && let Some(row) = self.row.take()
        {
            each(&row.request());
            self.outcome.rows += 1;
        }
    }

    fn end(&mut self, line: u64) {
        if self.depth > 0 {
            self.outcome.cut = true;
            let begun = self.row.take().map(|row| row.line);
            if let Some(begun) = begun {
                self.outcome.broken.add(begun.min(line), Why::Cut);
            }
        }
    }

    fn fail(&mut self, line: u64, why: Why, ended: bool) {
        self.outcome.cut |= ended;
        let why = if ended { Why::Cut } else { why };
        self.outcome
            .broken
            .add(self.row.take().map_or(line, |row| row.line), why);
    }
}

impl Open {
    fn of(tag: &BytesStart, line: u64) -> Result<Self, Why> {
        let mut row = Open {
            line,
            ..Open::default()
        };
        let (mut stamp, mut elapsed, mut success) = (None, None, None);
        for (attribute, so_far) in tag.attributes().zip(0..) {
            if so_far >= MOST_ATTRIBUTES {
                let said = format!("an element has more than {MOST_ATTRIBUTES} attributes");
                return Err(Why::Xml(said));
            }
            let attribute = attribute.map_err(|e| Why::Xml(e.to_string()))?;
            let text = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|e| Why::Xml(e.to_string()))?;
            let amount =
                |column| number(text.as_bytes()).ok_or_else(|| value(column, text.as_bytes()));
            match attribute.key.as_ref() {
                "ts" => {
                    stamp = Some(
                        stamp_ms(text.as_bytes()).ok_or_else(|| value("ts", text.as_bytes()))?,
                    )
                }
                "t" => elapsed = Some(amount("t")?),
                "lb" => row.label = text.into_owned(),
                "rc" => row.code = text.into_owned(),
                "rm" => row.message = text.into_owned(),
                "s" => success = Some(truth(text.as_bytes())?),
                "by" => row.bytes = amount("by")?,
                "sby" => row.sent_bytes = amount("sby")?,
                "na" => row.threads = Some(u32::try_from(amount("na")?).unwrap_or(u32::MAX)),
                "lt" => row.latency_ms = Some(amount("lt")?),
                "ct" => row.connect_ms = Some(amount("ct")?),
                "hn" => row.host = text.into_owned(),
                _ => {}
            }
        }
        row.start_ms = stamp.ok_or_else(|| value("ts", b""))?;
        row.elapsed_ms = elapsed.ok_or_else(|| value("t", b""))?;
        row.success = success.unwrap_or_else(|| is_good(row.code.as_bytes()));
        Ok(row)
    }

    fn request(&self) -> Request<'_> {
        Request {
            start_ms: self.start_ms,
            elapsed_ms: self.elapsed_ms,
            label: self.label.as_bytes(),
            code: self.code.as_bytes(),
            message: self.message.as_bytes(),
            failure: self.failure.trim().as_bytes(),
            success: self.success,
            bytes: self.bytes,
            sent_bytes: self.sent_bytes,
            threads: self.threads,
            latency_ms: self.latency_ms,
            connect_ms: self.connect_ms,
            host: self.host.as_bytes(),
        }
    }
}

/// A file converted to UTF-8; invalid bytes become replacement characters. Counts lines, and ends
/// if one piece becomes too large.
struct Utf8Source<R> {
    input: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
    line: u64,
    since_event: usize,
}

impl<R: Read> Utf8Source<io::Chain<io::Cursor<Vec<u8>>, R>> {
    fn new(mut input: R) -> io::Result<Self> {
        let mut prologue = Vec::new();
        input
            .by_ref()
            .take(PROLOGUE_BYTES as u64)
            .read_to_end(&mut prologue)?;
        let decoder = encoding_of(&prologue).new_decoder();
        let raw = vec![0; CHUNK_BYTES];
        let most = decoder
            .max_utf8_buffer_length(CHUNK_BYTES)
            .unwrap_or(4 * CHUNK_BYTES);
        Ok(Self {
            input: io::Cursor::new(prologue).chain(input),
            decoder,
            raw,
            text: vec![0; most],
            from: 0,
            to: 0,
            ended: false,
            line: 1,
            since_event: 0,
        })
    }
}

/// The encoding of the XML declaration; UTF-8 if it is missing or unknown.
fn encoding_of(prologue: &[u8]) -> &'static Encoding {
    let text = String::from_utf8_lossy(prologue);
    let declared = text
        .split_once("?>")
        .map_or("", |(declaration, _)| declaration);
    let name = declared.split_once("encoding=").and_then(|(_, rest)| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest[1..].split(quote).next()
    });
    name.and_then(|name| Encoding::for_label(name.as_bytes()))
        .unwrap_or(UTF_8)
}

impl<R: Read> Read for Utf8Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for Utf8Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since_event > MOST_EVENT_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "an element is larger than 16 MiB",
            ));
        }
        while self.from == self.to && !self.ended {
            let n = match self.input.read(&mut self.raw) {
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            self.ended = n == 0;
            let (_, _, written, _) =
                self.decoder
                    .decode_to_utf8(&self.raw[..n], &mut self.text, self.ended);
            self.from = 0;
            self.to = written;
        }
        Ok(&self.text[self.from..self.to])
    }

    fn consume(&mut self, n: usize) {
        let used = &self.text[self.from..(self.from + n).min(self.to)];
        self.line += memchr_iter(b'\n', used).count() as u64;
        self.since_event += used.len();
        self.from += used.len();
    }
}
