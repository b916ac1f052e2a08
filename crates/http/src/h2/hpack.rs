//! Decodes HPACK header blocks (RFC 7541).
//!
//! Huffman-coded strings and table references are resolved; the caller receives each field once, in
//! order. Every length is checked before anything is stored.

use super::huffman;
use super::table::{ENTRY_BYTES, Table};

/// Table size that a peer assumes until it receives another (RFC 9113 §6.5.2); we send none.
pub(super) const TABLE_BYTES: usize = 4096;
/// Continuation bytes of a number: more than any length needs.
const NUMBER_BYTES: usize = 4;

/// A header block cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadBlock {
    /// It breaks the format.
    Broken,
    /// Its fields are longer than the bound.
    TooLong,
}

impl From<huffman::NotPacked> for BadBlock {
    fn from(_: huffman::NotPacked) -> Self {
        BadBlock::Broken
    }
}

/// The state of one direction of a connection.
#[derive(Debug)]
pub(super) struct Decoder {
    table: Table,
    /// Unpacked strings of one field.
    unpacked: Vec<u8>,
}

/// Position of a string.
#[derive(Clone, Copy)]
enum StringPosition {
    /// In the block, as it is.
    Block(usize, usize),
    /// Among the unpacked.
    Unpacked(usize, usize),
}

impl Decoder {
    /// Before the first block of a connection.
    pub(super) fn new() -> Self {
        Self {
            table: Table::new(TABLE_BYTES),
            unpacked: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn with_table(most_bytes: usize) -> Self {
        Self {
            table: Table::new(most_bytes),
            ..Self::new()
        }
    }

    #[cfg(test)]
    pub(super) fn table_bytes(&self) -> usize {
        self.table.bytes()
    }

    /// See [`Table::version`].
    pub(super) fn version(&self) -> u64 {
        self.table.version()
    }

    /// Reads a whole block and hands each field over; their lengths, with 32 bytes for each, may
    /// come to `most_bytes`.
    ///
    /// Errors: the connection is of no further use, its table is unknown from now on.
    pub(super) fn read(
        &mut self,
        block: &[u8],
        most_bytes: usize,
        mut each: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), BadBlock> {
        let (mut at, mut bytes, mut may_resize) = (0, 0, true);
        let mut field = |bytes: &mut usize, name: &[u8], value: &[u8]| {
            *bytes += name.len() + value.len() + ENTRY_BYTES;
            if *bytes > most_bytes {
                return Err(BadBlock::TooLong);
            }
            each(name, value);
            Ok(())
        };
        while let Some(first) = block.get(at) {
            match first {
                0x80.. => {
                    let number = number(block, &mut at, 7)?;
                    let (name, value) = self.table.get(number).ok_or(BadBlock::Broken)?;
                    field(&mut bytes, name, value)?;
                }
                0x20..0x40 => {
                    let size = number(block, &mut at, 5)?;
                    if !may_resize || size > TABLE_BYTES {
                        return Err(BadBlock::Broken);
                    }
                    self.table.resize(size);
                    continue;
                }
                _ => {
                    let is_added = *first >= 0x40;
                    let (name, value) =
                        self.literal(block, &mut at, if is_added { 6 } else { 4 })?;
                    let text = |place| match place {
                        StringPosition::Block(from, until) => &block[from..until],
                        StringPosition::Unpacked(from, until) => &self.unpacked[from..until],
                    };
                    field(&mut bytes, text(name), text(value))?;
                    if is_added {
                        self.table.add(text(name), text(value));
                    }
                }
            }
            may_resize = false;
        }
        Ok(())
    }

    /// A field whose value, and perhaps name, is written out.
    fn literal(
        &mut self,
        block: &[u8],
        at: &mut usize,
        prefix: u8,
    ) -> Result<(StringPosition, StringPosition), BadBlock> {
        self.unpacked.clear();
        let name = match number(block, at, prefix)? {
            0 => self.string(block, at)?,
            number => {
                // Copied: the entry may be the one that makes room.
                let (name, _) = self.table.get(number).ok_or(BadBlock::Broken)?;
                self.unpacked.extend_from_slice(name);
                StringPosition::Unpacked(0, self.unpacked.len())
            }
        };
        Ok((name, self.string(block, at)?))
    }

    fn string(&mut self, block: &[u8], at: &mut usize) -> Result<StringPosition, BadBlock> {
        let is_packed = block.get(*at).ok_or(BadBlock::Broken)? & 0x80 != 0;
        let length = number(block, at, 7)?;
        let (from, until) = (*at, at.saturating_add(length));
        let string = block.get(from..until).ok_or(BadBlock::Broken)?;
        *at = until;
        if !is_packed {
            return Ok(StringPosition::Block(from, until));
        }
        let begin = self.unpacked.len();
        huffman::unpack(string, &mut self.unpacked)?;
        Ok(StringPosition::Unpacked(begin, self.unpacked.len()))
    }
}

/// A number that begins in the low `prefix` bits of a byte (RFC 7541 §5.1).
fn number(block: &[u8], at: &mut usize, prefix: u8) -> Result<usize, BadBlock> {
    let most = (1usize << prefix) - 1;
    let first = *block.get(*at).ok_or(BadBlock::Broken)?;
    *at += 1;
    let mut value = usize::from(first) & most;
    if value < most {
        return Ok(value);
    }
    for step in 0..NUMBER_BYTES {
        let byte = *block.get(*at).ok_or(BadBlock::Broken)?;
        *at += 1;
        value += usize::from(byte & 0x7f) << (7 * step);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(BadBlock::Broken)
}

/// Writes a number behind the bits `kind` of its first byte.
pub(super) fn put_number(out: &mut Vec<u8>, kind: u8, prefix: u8, value: usize) {
    let most = (1usize << prefix) - 1;
    if value < most {
        return out.push(kind | value as u8);
    }
    out.push(kind | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Writes a string as it is.
pub(super) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
