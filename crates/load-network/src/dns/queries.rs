//! The queries of a load, encoded once before it begins.
//!
//! ```text
//! messages  │ query 0 │ query 1 │ …    sent in turn; the number of a query, and the ten digits of a
//!                                      name with `{n}`, are written into the copy that is sent
//! ```

use std::fmt;
use std::str::FromStr;

use sokudo_i18n::TextError;
use sokudo_model::Text;
use sokudo_net::dns::{self, HEAD_BYTES, Name, RecordType, Wishes};

use super::options::TypeText;

/// Placeholder in a name for the number of the query.
const PLACE: &str = "{n}";
/// Digits of that number.
const DIGITS: usize = 10;
/// Count of such numbers: they begin again after so many.
const NUMBERS: u64 = 10_000_000_000;
/// Most queries of a load.
const MOST: usize = 2_000_000;

/// A name to ask for, with or without a place for the number of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    name: Name,
    /// Offset of the digits in the name on the wire, bytes.
    digits_at: Option<usize>,
}

/// A text that is not a query.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotAQuery {
    /// A line of a file.
    #[error("line {line} of the queries is not a valid query: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The word at fault, and what it should be.
        why: TextError,
    },
    /// More than a load holds.
    #[error("there are more than {MOST} queries")]
    TooMany,
}

impl NotAQuery {
    /// The sentence and its hint, for people.
    pub fn told(&self) -> (Text, Text) {
        let (says, hint) = match self {
            Self::Line { line, why } => {
                let says = Text::new("error-dns-line")
                    .with("line", line)
                    .text("why", why.text());
                (says, "error-dns-line-hint")
            }
            Self::TooMany => (
                Text::new("error-dns-many").with("most", MOST),
                "error-dns-many-hint",
            ),
        };
        (says, Text::new(hint))
    }
}

impl FromStr for Template {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = || TextError(Text::new("error-dns-name").word("name", text));
        let zeros = "0".repeat(DIGITS);
        let (plain, place) = match text.split_once(PLACE) {
            None => (text.to_owned(), None),
            Some((_, after)) if after.contains(PLACE) => return Err(wrong()),
            Some((before, after)) => (format!("{before}{zeros}{after}"), Some(before.len())),
        };
        let name = match plain.as_str() {
            "." => Name::root(),
            plain => Name::of(plain).ok_or_else(wrong)?,
        };
        // On the wire each dot is the length of what follows, and one more stands in front.
        let digits_at = place.map(|at| at + 1);
        Ok(Self {
            text: text.into(),
            name,
            digits_at,
        })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

sokudo_workload::json_as_text!(Template);

/// One encoded query.
#[derive(Debug, Clone, Copy)]
struct Encoded {
    start: usize,
    bytes: u16,
    question_bytes: u16,
    /// Offset of the digits in the message, bytes; 0 = none.
    digits_at: u16,
}

/// The queries of a load.
#[derive(Debug, Clone)]
pub struct QuerySet {
    wishes: Wishes,
    messages: Vec<u8>,
    queries: Vec<Encoded>,
}

impl QuerySet {
    /// No query yet.
    pub fn new(wishes: Wishes) -> Self {
        Self {
            wishes,
            messages: Vec::new(),
            queries: Vec::new(),
        }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Length of the longest, bytes.
    pub fn longest(&self) -> usize {
        let longest = self.queries.iter().map(|one| one.bytes).max();
        longest.map_or(0, usize::from)
    }

    /// Adds a query for the records of a name.
    ///
    /// Errors: there are too many.
    pub fn add(&mut self, template: &Template, kind: RecordType) -> Result<(), NotAQuery> {
        if self.queries.len() >= MOST {
            return Err(NotAQuery::TooMany);
        }
        let start = self.messages.len();
        let name = &template.name;
        dns::query(&mut self.messages, 0, (name, kind), self.wishes);
        // A name has 255 bytes at most, so none of these lengths is near its bound.
        let short = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
        self.queries.push(Encoded {
            start,
            bytes: short(self.messages.len() - start),
            question_bytes: short(dns::question_bytes(name)),
            digits_at: template.digits_at.map_or(0, |at| short(HEAD_BYTES + at)),
        });
        Ok(())
    }

    /// Adds the queries of a file, a line each: `name`, or `name type`. Lines that begin with `;` or
    /// `#` say nothing. The format of dnsperf(1).
    ///
    /// Errors: a line that is not a query.
    pub fn add_lines(&mut self, lines: &str, kind: RecordType) -> Result<(), NotAQuery> {
        for (at, line) in lines.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            let wrong = |why: TextError| NotAQuery::Line { line: at + 1, why };
            let mut words = line.split_whitespace();
            let name: Template = words.next().unwrap_or_default().parse().map_err(wrong)?;
            let kind = match words.next() {
                None => kind,
                Some(word) => word.parse::<TypeText>().map_err(wrong)?.0,
            };
            if let Some(word) = words.next() {
                return Err(wrong(TextError::value("error-dns-line-rest", word)));
            }
            self.add(&name, kind)?;
        }
        Ok(())
    }

    /// Writes a query under this number to the beginning of `room`; returns its length. `sequence`
    /// counts the queries of the whole load: it selects the query, and stands in a name with `{n}`.
    ///
    /// Panics: when `room` is shorter than [`QuerySet::longest`].
    #[inline]
    pub(crate) fn write(&self, number: u16, sequence: u64, room: &mut [u8]) -> usize {
        let query = self.at(sequence);
        let bytes = usize::from(query.bytes);
        let message = &mut room[..bytes];
        message.copy_from_slice(&self.messages[query.start..][..bytes]);
        message[..2].copy_from_slice(&number.to_be_bytes());
        if query.digits_at > 0 {
            put_digits(&mut message[usize::from(query.digits_at)..], sequence);
        }
        bytes
    }

    /// Length of the query that has this place in the load, and its question as it was sent; `room`
    /// is written to for a name with `{n}`.
    #[inline]
    pub(crate) fn question<'a>(
        &'a self,
        sequence: u64,
        room: &'a mut Vec<u8>,
    ) -> (usize, &'a [u8]) {
        let query = self.at(sequence);
        let start = query.start + HEAD_BYTES;
        let question = &self.messages[start..][..usize::from(query.question_bytes)];
        if query.digits_at == 0 {
            return (query.bytes.into(), question);
        }
        room.clear();
        room.extend_from_slice(question);
        put_digits(
            &mut room[usize::from(query.digits_at) - HEAD_BYTES..],
            sequence,
        );
        (query.bytes.into(), room)
    }

    #[inline]
    fn at(&self, sequence: u64) -> Encoded {
        self.queries[(sequence % self.queries.len() as u64) as usize]
    }
}

fn put_digits(room: &mut [u8], sequence: u64) {
    let mut left = sequence % NUMBERS;
    for digit in room[..DIGITS].iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
}

/// Takes any text as the lines of a file of queries: nothing may panic, and what was taken can be sent.
pub fn any_text(text: &str) {
    let wishes = Wishes {
        recursion: true,
        udp_bytes: Some(1232),
        signatures: true,
    };
    let mut set = QuerySet::new(wishes);
    if set.add_lines(text, RecordType::A).is_err() || set.is_empty() {
        return;
    }
    let mut room = vec![0; set.longest()];
    let mut scratch = Vec::new();
    for sequence in 0..set.len() as u64 {
        let bytes = set.write(7, sequence, &mut room);
        let (length, question) = set.question(sequence, &mut scratch);
        assert!(length == bytes && room[HEAD_BYTES..bytes].starts_with(question));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Wishes = Wishes {
        recursion: true,
        udp_bytes: None,
        signatures: false,
    };

    fn set(lines: &str) -> Result<QuerySet, NotAQuery> {
        let mut set = QuerySet::new(PLAIN);
        set.add_lines(lines, RecordType::A)?;
        Ok(set)
    }

    fn sent(set: &QuerySet, sequence: u64) -> Vec<u8> {
        let mut room = vec![0; set.longest()];
        let bytes = set.write(0x1234, sequence, &mut room);
        room.truncate(bytes);
        room
    }

    #[test]
    fn queries_of_a_file_are_sent_in_turn() {
        let set = set("; a comment\nexample.org A\n\n# another\nmail.example MX\n.\tNS\n");
        let set = set.expect("three queries");
        assert_eq!(set.len(), 3);
        let expected = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x04mail\x07example\0\0\x0f\0\x01";
        assert_eq!(sent(&set, 1), expected);
        assert_eq!(sent(&set, 4), expected, "again from the beginning");
        assert_eq!(sent(&set, 2)[HEAD_BYTES..], *b"\0\0\x02\0\x01");
    }

    #[test]
    fn a_line_that_is_not_a_query_is_named() {
        for (lines, at) in [
            ("a.example\nb..example A", 2),
            ("a.example B", 1),
            ("a.example A IN", 1),
            ("\n\n{n}{n}.example", 3),
        ] {
            let NotAQuery::Line { line, .. } = set(lines).expect_err(lines) else {
                panic!("{lines}");
            };
            assert_eq!(line, at, "{lines}");
        }
    }

    #[test]
    fn a_number_stands_in_the_name_and_in_the_question_that_must_come_back() {
        let set = set("host{n}.example").expect("a query");
        let message = sent(&set, 42);
        assert!(message[HEAD_BYTES..].starts_with(b"\x0ehost0000000042\x07example\0"));
        let mut room = Vec::new();
        let (length, question) = set.question(42, &mut room);
        assert_eq!((length, question), (message.len(), &message[HEAD_BYTES..]));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,80}(\n[a-z{}n.]{0,20} ?[A-Z0-9]{0,6}){0,4}") {
            any_text(&text);
        }
    }
}
