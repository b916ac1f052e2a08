//! XML parser that keeps line and column of each element.
//!
//! ```text
//! bytes ─ encoding ─► text ─ quick-xml ─► tree of elements, each with its place
//! ```
//!
//! It accepts what JMeter's parser accepts, well-formed or not: any character by its number, and
//! anything behind the root element. Only what test plans need: elements, attributes, text. Document type definitions are refused,
//! because custom entities can expand to huge texts or read other files. Size, depth and number of
//! elements are bounded.

use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use sokudo_model::Text;

use crate::document::MOST_ATTRIBUTES;
use crate::problem::FilePosition;
use reference::Units;

mod encoding;
mod reference;
mod shared;

pub use encoding::{NotText, decode_named, replaced_line};
pub(crate) use reference::reference;
pub(crate) use shared::fill_references;

/// Largest file that is read.
pub const MOST_BYTES: u64 = 64 << 20;

/// Deepest nesting of elements.
const MOST_DEPTH: usize = 200;

/// Most elements of one file.
const MOST_ELEMENTS: usize = 1_000_000;

/// One element.
#[derive(Debug, Clone)]
pub struct Element {
    /// Tag.
    pub tag: String,
    /// Attributes in order.
    pub attributes: Vec<(String, String)>,
    /// Child elements in order.
    pub children: Vec<Element>,
    /// Text before the first child element.
    pub text: String,
    /// Place of the start tag.
    pub place: FilePosition,
}

impl Element {
    /// Value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first child element with this tag.
    pub fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }
}

/// Reason why a file cannot be read.
#[derive(Debug, Clone)]
pub struct NotXml {
    /// Place where reading ended.
    pub place: FilePosition,
    /// The mistake.
    pub says: Text,
}

/// The root element of an XML file. `file` is the file name in places.
///
/// Fails if the bytes cannot be decoded, the text is not well-formed, or a limit is exceeded.
pub fn parse(file: &Arc<str>, bytes: &[u8]) -> Result<Element, NotXml> {
    let mut lines = LineCounter::new(file);
    if bytes.len() as u64 > MOST_BYTES {
        let says = Text::new("jmx-too-large").word("most", format!("{} MiB", MOST_BYTES >> 20));
        return Err(lines.refuse(says));
    }
    let text = encoding::decode_plan(bytes).map_err(|why| {
        let (line, says) = not_text(&why);
        let mut error = lines.refuse(says);
        error.place.line = line;
        error
    })?;
    lines.text = &text;
    OpenElements::default().read(&text, lines)
}

/// Line and message of text that cannot be decoded.
pub fn not_text(why: &NotText) -> (u32, Text) {
    match why {
        NotText::UnknownEncoding(name) => (
            1,
            Text::new("jmx-unknown-encoding").word("encoding", name.as_str()),
        ),
        NotText::Malformed { encoding, line } => (
            *line,
            Text::new("jmx-malformed-text").word("encoding", *encoding),
        ),
    }
}

/// The open elements, and the root element once it is closed.
#[derive(Default)]
struct OpenElements {
    open: Vec<Element>,
    /// Text of the innermost element so far.
    units: Units,
    root: Option<Element>,
    elements: usize,
}

impl OpenElements {
    fn read(mut self, text: &str, mut lines: LineCounter<'_>) -> Result<Element, NotXml> {
        let mut reader = Reader::from_str(text);
        // JMeter reads no further than it has to.
        while self.root.is_none() {
            let before = reader.buffer_position() as usize;
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    lines.go_to(reader.error_position() as usize);
                    return Err(lines.refuse(broken(&error)));
                }
            };
            lines.go_to(before);
            match event {
                Event::Start(tag) => self.open(&tag, &lines)?,
                Event::Empty(tag) => {
                    self.open(&tag, &lines)?;
                    self.close();
                }
                Event::End(_) => self.close(),
                Event::Text(text) => {
                    let text = text.xml10_content();
                    if self.open.is_empty() && !text.trim().is_empty() {
                        return Err(lines.refuse(Text::new("jmx-text-outside")));
                    }
                    self.text(|open| open.push(&text));
                }
                Event::CData(text) => self.text(|open| open.push(&text.xml10_content())),
                Event::GeneralRef(name) => {
                    let unit = reference::unit(&name).ok_or_else(|| {
                        let says = Text::new("jmx-unknown-entity").word("entity", &*name);
                        lines.refuse(says)
                    })?;
                    self.text(|open| open.push_unit(unit));
                }
                Event::DocType(_) => return Err(lines.refuse(Text::new("jmx-doctype"))),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        if self.open.len() == 1 && !self.open[0].children.is_empty() {
            self.close();
        }
        let unfinished = self.open.last().map(|open| open.tag.clone());
        match (unfinished, self.root) {
            (Some(tag), _) => Err(lines.refuse(Text::new("jmx-not-closed").word("tag", tag))),
            (None, Some(root)) => Ok(root),
            (None, None) => Err(lines.refuse(Text::new("jmx-empty"))),
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>, lines: &LineCounter<'_>) -> Result<(), NotXml> {
        self.elements += 1;
        if self.open.len() == MOST_DEPTH || self.elements > MOST_ELEMENTS {
            let most = format!("{MOST_DEPTH} / {MOST_ELEMENTS}");
            return Err(lines.refuse(Text::new("jmx-too-deep").word("most", most)));
        }
        let mut attributes = Vec::new();
        for (attribute, so_far) in tag.attributes().zip(0..) {
            if so_far >= MOST_ATTRIBUTES {
                let most = MOST_ATTRIBUTES.to_string();
                return Err(lines.refuse(Text::new("jmx-too-wide").word("most", most)));
            }
            let attribute = attribute.map_err(|e| lines.refuse(broken(&e)))?;
            let value = reference::attribute_text(&attribute.value).map_err(|entity| {
                lines.refuse(Text::new("jmx-unknown-entity").word("entity", entity))
            })?;
            attributes.push((attribute.key.as_ref().to_owned(), value));
        }
        self.settle();
        self.open.push(Element {
            tag: tag.name().as_ref().to_owned(),
            attributes,
            children: Vec::new(),
            text: String::new(),
            place: lines.place(),
        });
        Ok(())
    }

    /// Gives the innermost element the text that was collected for it.
    fn settle(&mut self) {
        let text = std::mem::take(&mut self.units).into_text();
        let innermost = self.open.last_mut();
        if let Some(open) = innermost.filter(|open| open.children.is_empty()) {
            open.text = text;
        }
    }

    fn close(&mut self) {
        self.settle();
        let Some(closed) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => self.root = Some(closed),
        }
    }

    /// Adds to the text of the innermost element. What follows on its first child is not read.
    fn text(&mut self, add: impl FnOnce(&mut Units)) {
        if let Some(open) = self.open.last()
            && open.children.is_empty()
        {
            add(&mut self.units);
        }
    }
}

fn broken(why: &impl ToString) -> Text {
    Text::new("jmx-broken-xml").word("why", why.to_string())
}

/// Converts ascending offsets to lines and columns.
struct LineCounter<'a> {
    file: Arc<str>,
    text: &'a str,
    at: usize,
    line: u32,
    /// Characters of the current line so far: a whole plan may be in one line.
    column: u32,
}

impl<'a> LineCounter<'a> {
    fn new(file: &Arc<str>) -> Self {
        Self {
            file: Arc::clone(file),
            text: "",
            at: 0,
            line: 1,
            column: 0,
        }
    }

    fn go_to(&mut self, offset: usize) {
        let offset = offset.clamp(self.at, self.text.len());
        for byte in &self.text.as_bytes()[self.at..offset] {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 0),
                // Continuation bytes of a character.
                0x80..0xc0 => {}
                _ => self.column += 1,
            }
        }
        self.at = offset;
    }

    fn place(&self) -> FilePosition {
        FilePosition {
            file: Arc::clone(&self.file),
            line: self.line,
            column: self.column + 1,
        }
    }

    fn refuse(&self, says: Text) -> NotXml {
        NotXml {
            place: self.place(),
            says,
        }
    }
}

#[cfg(test)]
mod tests;
