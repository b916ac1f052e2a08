//! Messages of PostgreSQL's protocol 3.0, written into memory and read from it.
//!
//! ```text
//! to the server     tag(1) length(4, with itself) body      without tag: startup, TLS request, cancellation
//! from the server   tag(1) length(4, with itself) body
//! ```
//!
//! Source: PostgreSQL documentation, "Frontend/Backend Protocol".

use std::ops::Range;

/// Most bytes of one message of the protocol: PostgreSQL itself has none longer than 1 GiB.
const MOST_BYTES: usize = (1 << 30) + 64;
/// Most bytes of a message from the server that are kept: far above the rows of a load, and little for a host
/// with hundreds of sessions that a server would fill.
pub(super) const ANSWER_BYTES: usize = 64 << 20;
/// The same before the session is open: the listener there has not shown yet that it is the server.
const LOGIN_BYTES: usize = 64 << 10;
/// Bytes of an inbox of a new session: many sessions hold no more than the answer to one statement.
const INBOX_BYTES: usize = 1 << 10;
/// An inbox that a read has filled grows up to this many bytes, so that long results come in few reads.
const USUAL_BYTES: usize = 8 << 10;
/// Inboxes that grew beyond this become small again.
const LARGE_BYTES: usize = 1 << 20;
/// Bytes that an inbox has room for before more are read.
const ROOM_BYTES: usize = 512;

const PROTOCOL_3_0: i32 = 3 << 16;
const TLS_REQUEST: i32 = 80_877_103;
const CANCEL_REQUEST: i32 = 80_877_102;

/// Messages from the server, by their tag.
pub(super) mod tag {
    pub(crate) const AUTHENTICATION: u8 = b'R';
    pub(crate) const COMMAND_COMPLETE: u8 = b'C';
    pub(crate) const COPY_IN: u8 = b'G';
    pub(crate) const DATA_ROW: u8 = b'D';
    /// In the place of "command complete", for a statement without words.
    pub(crate) const EMPTY: u8 = b'I';
    pub(crate) const ERROR: u8 = b'E';
    pub(crate) const KEY: u8 = b'K';
    pub(crate) const NEGOTIATE: u8 = b'v';
    pub(crate) const PARAMETERS: u8 = b't';
    pub(crate) const READY: u8 = b'Z';
    pub(crate) const ROWS: u8 = b'T';
}

/// A message that cannot be written: its text has a zero byte, or there is too much of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritable(pub(super) &'static str);

/// Bytes from the server that are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Garbled;

/// Reason why the bytes that have arrived are not read as a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    Garbled,
    /// The message has more bytes than are kept.
    TooLong,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Object identifier of its type.
    pub(crate) ty: u32,
}

/// Parts of an error that the server reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// In the language of the server.
    pub(crate) severity: String,
    is_fatal: bool,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) context: Option<String>,
}

impl ServerError {
    /// The server ends the session with it.
    pub(crate) fn is_fatal(&self) -> bool {
        self.is_fatal
    }

    /// Notes that the session ends with it, or did not begin.
    pub(super) fn end_session(&mut self) {
        self.is_fatal = true;
    }
}

/// Writes one message with a tag; `body` adds to it. Nothing is left of a message that cannot be written.
pub(super) fn message(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), Unwritable>,
) -> Result<(), Unwritable> {
    let begins = out.len();
    out.push(tag);
    let written = untagged(out, body);
    if written.is_err() {
        out.truncate(begins);
    }
    written
}

fn untagged(
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), Unwritable>,
) -> Result<(), Unwritable> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out)?;
    let length = i32::try_from(out.len() - at).ok();
    let length = length.filter(|length| *length <= MOST_BYTES as i32);
    let length = length.ok_or(Unwritable("a statement and its values hold at most 1 GiB"))?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// A text that ends with a zero byte.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) -> Result<(), Unwritable> {
    if text.as_bytes().contains(&0) {
        return Err(Unwritable("a text has a zero byte"));
    }
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// The number of values that follow. Errors: more than the protocol has room for.
pub(super) fn put_count(out: &mut Vec<u8>, count: usize) -> Result<(), Unwritable> {
    let count = u16::try_from(count);
    let count = count.map_err(|_| Unwritable("a statement takes at most 65,535 values"))?;
    out.extend_from_slice(&count.to_be_bytes());
    Ok(())
}

pub(super) fn startup(out: &mut Vec<u8>, settings: &[(&str, &str)]) -> Result<(), Unwritable> {
    untagged(out, |out| {
        out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
        for (name, value) in settings {
            put_text(out, name)?;
            put_text(out, value)?;
        }
        out.push(0);
        Ok(())
    })
}

pub(super) fn tls_request() -> [u8; 8] {
    let mut bytes = [0, 0, 0, 8, 0, 0, 0, 0];
    bytes[4..].copy_from_slice(&TLS_REQUEST.to_be_bytes());
    bytes
}

/// Asks for the end of what a session executes, over another connection. `key` is the body of its
/// [`tag::KEY`].
pub(super) fn cancel_request(key: &[u8]) -> Vec<u8> {
    let length = (key.len() + 8) as i32;
    let words = [length.to_be_bytes(), CANCEL_REQUEST.to_be_bytes()];
    [words.as_flattened(), key].concat()
}

pub(super) fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), Unwritable> {
    message(out, b'p', |out| {
        if password.contains(&0) {
            return Err(Unwritable("the password has a zero byte"));
        }
        out.extend_from_slice(password);
        out.push(0);
        Ok(())
    })
}

/// First message of SASL.
pub(super) fn sasl_begin(
    out: &mut Vec<u8>,
    mechanism: &str,
    data: &[u8],
) -> Result<(), Unwritable> {
    message(out, b'p', |out| {
        put_text(out, mechanism)?;
        out.extend_from_slice(&(data.len() as i32).to_be_bytes());
        out.extend_from_slice(data);
        Ok(())
    })
}

/// A further message of SASL.
pub(super) fn sasl_go_on(out: &mut Vec<u8>, data: &[u8]) -> Result<(), Unwritable> {
    message(out, b'p', |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

/// Statements as one text. The server answers with [`tag::READY`] at the end.
pub(super) fn query(out: &mut Vec<u8>, sql: &str) -> Result<(), Unwritable> {
    message(out, b'Q', |out| put_text(out, sql))
}

pub(super) fn parse(
    out: &mut Vec<u8>,
    name: &str,
    sql: &str,
    types: &[u32],
) -> Result<(), Unwritable> {
    message(out, b'P', |out| {
        put_text(out, name)?;
        put_text(out, sql)?;
        put_count(out, types.len())?;
        for ty in types {
            out.extend_from_slice(&ty.to_be_bytes());
        }
        Ok(())
    })
}

/// Asks for the types of a statement's parameters and columns.
pub(super) fn describe_statement(out: &mut Vec<u8>, name: &str) -> Result<(), Unwritable> {
    message(out, b'D', |out| {
        out.push(b'S');
        put_text(out, name)
    })
}

/// Asks for the columns of the unnamed portal.
pub(super) fn describe_portal(out: &mut Vec<u8>) {
    out.extend_from_slice(b"D\0\0\0\x06P\0");
}

pub(super) fn close_statement(out: &mut Vec<u8>, name: &str) -> Result<(), Unwritable> {
    message(out, b'C', |out| {
        out.push(b'S');
        put_text(out, name)
    })
}

/// Executes the unnamed portal, for all of its rows.
pub(super) fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Ends a call: the server answers with [`tag::READY`], after an error, too.
pub(super) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

pub(super) fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"c\0\0\0\x04");
}

/// Ends COPY without its rows.
pub(super) fn copy_fail(out: &mut Vec<u8>) {
    out.extend_from_slice(b"f\0\0\0\x0dno rows\0\0");
}

/// Begins a piece of COPY, whose rows are appended before [`copy_data_end`].
pub(super) fn copy_data_begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(b"d\0\0\0\0");
}

/// Completes a piece of COPY. Errors: one row of more than 1 GiB.
pub(super) fn copy_data_end(out: &mut [u8]) -> Result<(), Unwritable> {
    let length = i32::try_from(out.len() - 1).ok();
    let length = length.filter(|length| *length <= MOST_BYTES as i32);
    let length = length.ok_or(Unwritable("a row holds at most 1 GiB"))?;
    out[1..5].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Bytes from the server that were not looked at yet.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
    /// Whether the last read left no room: there may be more to read.
    is_filled: bool,
    /// Most bytes of one message.
    most: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; INBOX_BYTES],
            from: 0,
            to: 0,
            is_filled: false,
            most: LOGIN_BYTES,
        }
    }

    /// The session is open: messages may be as long as answers are.
    pub(super) fn open(&mut self) {
        self.most = ANSWER_BYTES;
    }

    /// The next whole message: its tag, and where its body stands. `None` while it is not whole.
    pub(super) fn next(&mut self) -> Result<Option<(u8, Range<usize>)>, Unread> {
        let [tag, a, b, c, d, ..] = self.bytes[self.from..self.to] else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=MOST_BYTES).contains(&length) {
            return Err(Unread::Garbled);
        }
        if length > self.most {
            return Err(Unread::TooLong);
        }
        if self.to - self.from <= length {
            return Ok(None);
        }
        let body = self.from + 5..self.from + 1 + length;
        self.from = body.end;
        Ok(Some((tag, body)))
    }

    /// The bytes of a message that [`Self::next`] has found, until the next are read.
    pub(super) fn body(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Room for more bytes. It grows with what has arrived, never with what was announced.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
            if self.bytes.len() > LARGE_BYTES {
                self.bytes = vec![0; INBOX_BYTES];
            }
        }
        let is_filled = std::mem::take(&mut self.is_filled);
        if is_filled && self.bytes.len() < USUAL_BYTES {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
        if self.bytes.len() - self.to < ROOM_BYTES {
            if self.from > 0 {
                self.bytes.copy_within(self.from..self.to, 0);
                self.to -= self.from;
                self.from = 0;
            }
            if self.bytes.len() - self.to < ROOM_BYTES.max(self.to) {
                self.bytes.resize(2 * self.bytes.len(), 0);
            }
        }
        &mut self.bytes[self.to..]
    }

    /// So many bytes were read into the room.
    pub(super) fn add(&mut self, count: usize) {
        self.to = (self.to + count).min(self.bytes.len());
        self.is_filled = self.to == self.bytes.len();
    }
}

/// Reads a body from its beginning.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn two(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn four(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// The types of a statement's parameters.
pub(super) fn parameters(body: &[u8]) -> Result<Vec<u32>, Garbled> {
    let mut fields = Fields(body);
    let count = fields.two().ok_or(Garbled)?;
    let types = (0..count).map(|_| fields.four().ok_or(Garbled));
    types.collect()
}

/// The columns of a result.
pub(super) fn columns(body: &[u8]) -> Result<Vec<Column>, Garbled> {
    let mut fields = Fields(body);
    let count = fields.two().ok_or(Garbled)?;
    let mut column = || {
        let name = fields.text()?;
        // Table and column of the table.
        fields.take(6)?;
        let ty = fields.four()?;
        // Size, modifier and format.
        fields.take(8)?;
        Some(Column { name, ty })
    };
    (0..count).map(|_| column().ok_or(Garbled)).collect()
}

/// Finds the values of a row: where each begins in the body, and its bytes; `None` for no value.
pub(super) fn values(body: &[u8], found: &mut Vec<Option<(usize, usize)>>) -> Result<(), Garbled> {
    found.clear();
    let mut fields = Fields(body);
    for _ in 0..fields.two().ok_or(Garbled)? {
        let length = fields.four().ok_or(Garbled)? as i32;
        let value = match usize::try_from(length) {
            Err(_) => None,
            Ok(length) => {
                let at = body.len() - fields.0.len();
                fields.take(length).ok_or(Garbled)?;
                Some((at, length))
            }
        };
        found.push(value);
    }
    Ok(())
}

/// Rows that a command changed or gave, from its tag: `INSERT 0 3`, `SELECT 1`, `BEGIN`.
pub(super) fn rows_of(body: &[u8]) -> u64 {
    let text = body.strip_suffix(&[0]).unwrap_or(body);
    let digits = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits).ok();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// An error of the server. Fields that are not known are passed over.
pub(super) fn server_error(body: &[u8]) -> ServerError {
    let (mut error, mut fields) = (ServerError::default(), Fields(body));
    while let Some([kind]) = fields.take(1)
        && *kind != 0
        && let Some(text) = fields.text()
    {
        match kind {
            b'S' => error.severity = text,
            b'V' => error.is_fatal = matches!(text.as_str(), "FATAL" | "PANIC"),
            b'C' => error.code = text,
            b'M' => error.message = text,
            b'D' => error.detail = Some(text),
            b'H' => error.hint = Some(text),
            b'P' => error.position = Some(text),
            b'W' => error.context = Some(text),
            _ => {}
        }
    }
    error
}

/// What the server wants to know before it opens the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Authentication<'a> {
    Done,
    Password,
    /// With this salt.
    Md5([u8; 4]),
    /// By one of these mechanisms.
    Sasl(Vec<String>),
    SaslGoesOn(&'a [u8]),
    SaslDone(&'a [u8]),
    /// Something else, by its number.
    Other(u32),
}

/// Reads a body of [`tag::AUTHENTICATION`].
pub(super) fn authentication(body: &[u8]) -> Result<Authentication<'_>, Garbled> {
    let mut fields = Fields(body);
    Ok(match fields.four().ok_or(Garbled)? {
        0 => Authentication::Done,
        3 => Authentication::Password,
        5 => Authentication::Md5(fields.0.try_into().map_err(|_| Garbled)?),
        10 => {
            let mut mechanisms = Vec::new();
            while let Some(text) = fields.text().filter(|text| !text.is_empty()) {
                mechanisms.push(text);
            }
            Authentication::Sasl(mechanisms)
        }
        11 => Authentication::SaslGoesOn(fields.0),
        12 => Authentication::SaslDone(fields.0),
        other => Authentication::Other(other),
    })
}

/// Reads any bytes as if a server had sent them: a target of fuzzing.
pub(crate) fn any_bytes(bytes: &[u8]) {
    let mut inbox = Inbox::new();
    for piece in bytes.chunks(1000) {
        let room = inbox.room();
        let count = piece.len().min(room.len());
        room[..count].copy_from_slice(&piece[..count]);
        inbox.add(count);
        while let Ok(Some((_, range))) = inbox.next() {
            let body = inbox.body(range);
            let _ = (parameters(body), columns(body), rows_of(body));
            let _ = (server_error(body), authentication(body));
            let _ = values(body, &mut Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All messages of bytes that arrive in pieces of this size.
    fn messages(bytes: &[u8], piece: usize) -> Result<Vec<(u8, Vec<u8>)>, Unread> {
        let (mut inbox, mut found) = (Inbox::new(), Vec::new());
        inbox.open();
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = inbox.room();
            let count = piece.min(rest.len()).min(room.len());
            room[..count].copy_from_slice(&rest[..count]);
            inbox.add(count);
            rest = &rest[count..];
            while let Some((tag, range)) = inbox.next()? {
                found.push((tag, inbox.body(range).to_vec()));
            }
        }
        Ok(found)
    }

    proptest! {
        #[test]
        fn messages_are_whole_however_they_arrive(
            bodies in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..20_000)), 0..6),
            piece in 1_usize..9_000,
        ) {
            let mut bytes = Vec::new();
            for (tag, body) in &bodies {
                let put = |out: &mut Vec<u8>| {
                    out.extend_from_slice(body);
                    Ok(())
                };
                prop_assert_eq!(message(&mut bytes, *tag, put), Ok(()));
            }
            prop_assert_eq!(messages(&bytes, piece), Ok(bodies));
        }

        #[test]
        fn no_body_is_read_beyond_its_end(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut found = Vec::new();
            if values(&body, &mut found).is_ok() {
                for (at, count) in found.into_iter().flatten() {
                    prop_assert!(at + count <= body.len());
                }
            }
            let _ = (columns(&body), parameters(&body), rows_of(&body));
            let _ = (server_error(&body), authentication(&body).is_ok());
        }
    }

    /// Rows of 100 bytes, as a server sends them.
    fn rows(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..count {
            let body = |out: &mut Vec<u8>| {
                out.extend_from_slice(&[7; 95]);
                Ok(())
            };
            assert_eq!(message(&mut bytes, b'D', body), Ok(()));
        }
        bytes
    }

    /// Reads that all these bytes take, and the bytes of the inbox afterwards.
    fn reads_of(bytes: &[u8]) -> (usize, usize) {
        let (mut inbox, mut reads, mut rest) = (Inbox::new(), 0, bytes);
        while !rest.is_empty() {
            let room = inbox.room();
            let count = rest.len().min(room.len());
            room[..count].copy_from_slice(&rest[..count]);
            inbox.add(count);
            rest = &rest[count..];
            reads += 1;
            while inbox.next().expect("messages").is_some() {}
        }
        (reads, inbox.bytes.len())
    }

    #[test]
    fn a_session_with_short_answers_stays_small_and_long_results_come_in_few_reads() {
        assert_eq!(reads_of(&rows(5)), (1, INBOX_BYTES));
        let (reads, bytes) = reads_of(&rows(10_000));
        // 1 MB in pieces of 8 KiB, and the three smaller ones before.
        assert!(reads <= 1_000_000 / USUAL_BYTES + 10, "{reads} reads");
        assert_eq!(bytes, USUAL_BYTES);
    }

    #[test]
    fn lengths_that_no_message_has_are_refused() {
        for length in [0_u32, 3, (1 << 30) + 65, u32::MAX] {
            let bytes = [&b"D"[..], &length.to_be_bytes()].concat();
            assert_eq!(messages(&bytes, 5), Err(Unread::Garbled), "{length}");
        }
    }

    #[test]
    fn long_messages_are_refused_by_their_length() {
        let announced = |length: usize| {
            let length = u32::try_from(length).expect("a length");
            [&b"D"[..], &length.to_be_bytes()].concat()
        };
        let first = |inbox: &mut Inbox, bytes: &[u8]| {
            inbox.room()[..bytes.len()].copy_from_slice(bytes);
            inbox.add(bytes.len());
            inbox.next()
        };
        let mut inbox = Inbox::new();
        let before = first(&mut inbox, &announced(LOGIN_BYTES + 1));
        assert_eq!(before, Err(Unread::TooLong));
        for (length, expected) in [
            (LOGIN_BYTES + 1, Ok(None)),
            (ANSWER_BYTES, Ok(None)),
            (ANSWER_BYTES + 1, Err(Unread::TooLong)),
        ] {
            let mut inbox = Inbox::new();
            inbox.open();
            assert_eq!(first(&mut inbox, &announced(length)), expected, "{length}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_message_that_cannot_be_written() {
        let mut out = b"before".to_vec();
        assert!(query(&mut out, "select '\0'").is_err());
        assert!(parse(&mut out, "s", "select 1", &[23; 70_000]).is_err());
        assert_eq!(out, b"before");
    }

    #[test]
    fn tags_of_commands_end_with_their_rows() {
        for (tag, rows) in [
            (&b"INSERT 0 3\0"[..], 3),
            (b"SELECT 12\0", 12),
            (b"BEGIN\0", 0),
            (b"\0", 0),
            (b"", 0),
            (b"COPY 99999999999999999999\0", 0),
        ] {
            assert_eq!(rows_of(tag), rows);
        }
    }

    #[test]
    fn errors_are_fatal_by_their_english_word() {
        let body = b"SFATALE\0VFATAL\0C57P01\0Madieu\0Xunknown\0\0";
        let said = server_error(body);
        assert!(said.is_fatal());
        assert_eq!(
            (said.code.as_str(), said.message.as_str()),
            ("57P01", "adieu")
        );
        assert!(!server_error(b"SFATAL\0").is_fatal());
    }
}
