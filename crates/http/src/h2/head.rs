//! Parses the header and trailer fields of a response.

use super::frame::{self, END_HEADERS, END_STREAM, HEADER_BYTES, Header, PRIORITY};
use super::hpack::BadBlock;
use super::receive::ROOM_KEPT;
use super::session::Session;
use super::stream::Reading;
use crate::failure::{Breach, FailureKind};
use crate::user::Keep;

/// A header block that is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) ends: bool,
}

/// The fields of a head that the engine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Said {
    status: u16,
    length: Option<u64>,
}

/// The last decoded block and its meaning, kept because servers often repeat the same block.
#[derive(Debug, Default)]
pub(super) struct Same {
    block: Vec<u8>,
    /// State of the table under which the block has this meaning.
    version: u64,
    said: Option<Said>,
}

impl Session {
    pub(super) fn headers(
        &mut self,
        header: Header,
        payload: &[u8],
        now_ns: i64,
    ) -> Result<(), FailureKind> {
        self.must_be_ours(header.stream)?;
        let mut block = frame::without_padding(header.flags, payload).ok_or(Breach::Padding)?;
        if header.has(PRIORITY) {
            block = block.get(5..).ok_or(Breach::FrameSize)?;
        }
        self.count_head(header);
        let begun = Block {
            stream: header.stream,
            ends: header.has(END_STREAM),
        };
        if header.has(END_HEADERS) {
            return self.head(begun, block, now_ns);
        }
        self.reader.block = Some(begun);
        self.reader.block_bytes.clear();
        self.reader.block_bytes.extend_from_slice(block);
        Ok(())
    }

    pub(super) fn continuation(
        &mut self,
        header: Header,
        payload: &[u8],
        now_ns: i64,
    ) -> Result<(), FailureKind> {
        let block = self.reader.block.ok_or(Breach::FrameOrder)?;
        if self.reader.block_bytes.len() + payload.len() > self.limits.head_bytes {
            return Err(Breach::HeadTooLong.into());
        }
        self.count_head(header);
        self.reader.block_bytes.extend_from_slice(payload);
        if !header.has(END_HEADERS) {
            return Ok(());
        }
        self.reader.block = None;
        let mut bytes = std::mem::take(&mut self.reader.block_bytes);
        let read = self.head(block, &bytes, now_ns);
        bytes.clear();
        bytes.shrink_to(ROOM_KEPT);
        self.reader.block_bytes = bytes;
        read
    }

    fn count_head(&mut self, header: Header) {
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.head_bytes += (HEADER_BYTES + header.length) as u64;
        }
    }

    /// A whole header block: a head, an informational one, or what follows the body.
    #[inline]
    fn head(&mut self, block: Block, bytes: &[u8], now_ns: i64) -> Result<(), FailureKind> {
        let said = self.read_block(block.stream, bytes)?;
        let Some(stream) = self.streams.get_mut(block.stream) else {
            return Ok(());
        };
        if stream.first_byte_ns == 0 {
            stream.first_byte_ns = now_ns;
        }
        stream.heard_ns = now_ns;
        match (stream.reading, said) {
            (Reading::Ended(_), _) => return Ok(()),
            // Trailer fields, which are not used.
            (Reading::Body, Some(said)) if block.ends && said.status == 0 => {}
            // RFC 9113 §8.6: there is no status 101.
            (Reading::Head, Some(said))
                if (100..200).contains(&said.status) && said.status != 101 && !block.ends =>
            {
                stream.informational += 1;
                stream.headers.clear();
                match stream.informational > self.limits.informational {
                    true => self.reset_stream(block.stream, Breach::Informational),
                    false => self.reader.idle_frames = 0,
                }
                return Ok(());
            }
            (Reading::Head, Some(said)) if said.status >= 200 => {
                stream.status = said.status;
                stream.length = said.length.filter(|_| said.status != 204);
                stream.reading = Reading::Body;
            }
            _ => {
                self.reset_stream(block.stream, Breach::Head);
                return Ok(());
            }
        }
        self.reader.idle_frames = 0;
        if block.ends {
            self.ends(block.stream, now_ns);
        }
        Ok(())
    }

    /// Content of a block; `None`: no head may have it. Its fields are kept if its stream wants
    /// them.
    ///
    /// Errors: nothing that follows on the connection can be read.
    #[inline]
    fn read_block(&mut self, id: u32, bytes: &[u8]) -> Result<Option<Said>, FailureKind> {
        let same = &mut self.reader.same;
        let stream = self.streams.get_mut(id);
        let kept = stream.filter(|stream| stream.keep != Keep::Nothing);
        let version = self.decoder.version();
        if kept.is_none() && same.said.is_some() && same.version == version && same.block == bytes {
            return Ok(same.said);
        }
        let mut fields = Fields {
            kept: kept
                .filter(|stream| stream.reading == Reading::Head)
                .map(|stream| &mut stream.headers),
            ..Fields::default()
        };
        let read = self
            .decoder
            .read(bytes, self.limits.head_bytes, |name, value| {
                fields.hear(name, value)
            });
        read.map_err(|bad| match bad {
            BadBlock::Broken => Breach::Compression,
            BadBlock::TooLong => Breach::HeadTooLong,
        })?;
        let said = (!fields.is_bad).then_some(fields.said);
        same.said = None;
        if self.decoder.version() == version {
            same.block.clear();
            same.block.shrink_to(ROOM_KEPT);
            same.block.extend_from_slice(bytes);
            (same.version, same.said) = (version, said);
        }
        Ok(said)
    }
}

/// Collects the fields of a block.
#[derive(Default)]
struct Fields<'a> {
    said: Said,
    /// The fields break the rules (RFC 9113 §8.2 and §8.3).
    is_bad: bool,
    /// A field without a colon has come: none with one may follow.
    are_plain: bool,
    /// The buffer for the fields as lines.
    kept: Option<&'a mut Vec<u8>>,
}

impl Fields<'_> {
    #[inline]
    fn hear(&mut self, name: &[u8], value: &[u8]) {
        if let [b':', ..] = name {
            let status = (name == b":status").then(|| status(value)).flatten();
            self.is_bad |= status.is_none() || self.are_plain || self.said.status != 0;
            self.said.status = status.unwrap_or(0);
            return;
        }
        self.are_plain = true;
        self.is_bad |= !is_field(name, value);
        if name == b"content-length" {
            let length = std::str::from_utf8(value)
                .ok()
                .filter(|text| !text.starts_with('+'));
            let length = length.and_then(|text| text.parse().ok());
            self.is_bad |=
                length.is_none() || self.said.length.is_some_and(|own| Some(own) != length);
            self.said.length = length;
        }
        if let Some(kept) = &mut self.kept {
            for part in [name, b": ", value, b"\r\n"] {
                kept.extend_from_slice(part);
            }
        }
    }
}

fn status(value: &[u8]) -> Option<u16> {
    let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value else {
        return None;
    };
    let digit = |byte: &u8| u16::from(byte - b'0');
    Some(digit(a) * 100 + digit(b) * 10 + digit(c))
}

/// True when a field may stand in a response.
fn is_field(name: &[u8], value: &[u8]) -> bool {
    let fits = |byte: &u8| matches!(byte, 0x21..=0x39 | 0x3b..=0x40 | 0x5b..=0x7e);
    let is_of_connection = || match name.len() {
        10 => name == b"connection" || name == b"keep-alive",
        7 => name == b"upgrade",
        16 => name == b"proxy-connection",
        17 => name == b"transfer-encoding",
        _ => false,
    };
    let ends_line = |byte: &u8| matches!(byte, 0 | b'\r' | b'\n');
    !name.is_empty() && name.iter().all(fits) && !is_of_connection() && !value.iter().any(ends_line)
}
