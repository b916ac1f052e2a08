//! Bounds what a Parquet file may unpack to, before anything of it is unpacked.
//!
//! A page of a few KiB can unpack to 2 GiB, and the library reserves what the page's head claims. The heads
//! stand uncompressed in front of the pages: they are read here, and nothing else is. The same holds for the
//! schema in the file's foot, which the library builds by recursion.
//!
//! ```text
//! file:         │ PAR1 │ column chunks … │ foot: version, schema, … │ length of the foot │ PAR1 │
//! column chunk: │ head: type, unpacked size, packed size, … │ page │ head │ page │ …
//! ```
//!
//! Heads and foot are written in Thrift's compact protocol: fields of `PageHeader` and of `FileMetaData` in
//! parquet-format's `parquet.thrift`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Largest page, unpacked. Common tools write 1 MiB.
const PAGE_BYTES_MAX: u64 = 64 << 20;
/// Largest head of a page: statistics hold the smallest and the largest value.
const HEAD_BYTES_MAX: u64 = 1 << 20;
/// Structures inside one another in a head.
const DEPTH_MAX: u32 = 8;
/// Elements of a schema, and children of one: those that are written here have 16 at most.
const SCHEMA_MAX: u64 = 64;
/// Length of the foot, and the mark behind it, bytes.
const TAIL_BYTES: usize = 8;
/// The mark at the end of a file.
const MARK: &[u8] = b"PAR1";

/// Checks the schema in the foot of a file, before the library builds it: it follows what is nested by recursion, and
/// reserves room for as many children as an element claims.
///
/// Errors: more elements, or children, than any table has, or a schema that common tools do not write, as people read
/// it. What is no Parquet file at all is left to the library.
pub(super) fn check_schema(file: &File, length: u64) -> Result<(), String> {
    match foot(file, length) {
        Ok(Some(mut thrift)) => schema(&mut thrift).map_err(|why| format!("its schema: {why}")),
        Ok(None) => Ok(()),
        Err(why) => Err(why.to_string()),
    }
}

/// The begin of the foot; `None` when the file has none.
fn foot(mut file: &File, length: u64) -> io::Result<Option<Thrift<impl Read>>> {
    let Some(end) = length.checked_sub(TAIL_BYTES as u64) else {
        return Ok(None);
    };
    let mut tail = [0; TAIL_BYTES];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut tail)?;
    let (size, mark) = tail.split_at(4);
    let size = size
        .iter()
        .rev()
        .fold(0, |size, byte| size << 8 | u64::from(*byte));
    let Some(start) = end.checked_sub(size).filter(|_| mark == MARK) else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(start))?;
    Ok(Some(Thrift {
        input: io::BufReader::new(file.take(size)),
        read: 0,
    }))
}

/// Nothing but the version may stand in front of it: what the library skips, it may skip differently.
fn schema(thrift: &mut Thrift<impl Read>) -> io::Result<()> {
    if thrift.field(0)? != Some((I32, 1)) {
        return Err(bad("it does not begin with its version"));
    }
    thrift.varint()?;
    if thrift.field(1)? != Some((LIST, 2)) {
        return Err(bad("it does not follow the version"));
    }
    let byte = thrift.byte()?;
    let count = match byte >> 4 {
        15 => thrift.varint()?,
        count => count.into(),
    };
    if byte & 0x0f != STRUCT || count > SCHEMA_MAX {
        return Err(bad("it has more elements than any table here"));
    }
    (0..count).try_for_each(|_| element(thrift))
}

/// One column, or one group of them.
fn element(thrift: &mut Thrift<impl Read>) -> io::Result<()> {
    let mut field = 0;
    while let Some((kind, number)) = thrift.field(field)? {
        field = number;
        match (number, kind) {
            (5, I32) => {
                let children = u64::try_from(thrift.signed()?);
                if !children.is_ok_and(|children| children <= SCHEMA_MAX) {
                    return Err(bad("it has more children than any table here"));
                }
            }
            (1..=3 | 6..=9, I32) | (4, BINARY) => thrift.skip(kind, 0)?,
            // A logical type without parameters: a structure that is empty, within one.
            (10, STRUCT) => {
                let inner = thrift.field(0)?.map(|(kind, _)| kind);
                let ends = inner == Some(STRUCT) && thrift.byte()? == 0 && thrift.byte()? == 0;
                if !ends {
                    return Err(bad("a column has a type that is not read here"));
                }
            }
            _ => return Err(bad("an element has an unknown field")),
        }
    }
    Ok(())
}

/// Bytes that the pages of a column chunk unpack to.
///
/// Errors: a head that cannot be read, or a page that is too large, as people read it.
pub(super) fn unpacked_bytes(file: &File, start: u64, length: u64) -> Result<u64, String> {
    let end = start.checked_add(length).ok_or("it contradicts itself")?;
    let (mut at, mut total) = (start, 0u64);
    while at < end {
        let head = read_head(file, at, end).map_err(|why| format!("the head of a page: {why}"))?;
        if head.unpacked > PAGE_BYTES_MAX {
            let most = PAGE_BYTES_MAX >> 20;
            return Err(format!(
                "a page of {} bytes is larger than the {most} MiB that are read",
                head.unpacked
            ));
        }
        total = total.saturating_add(head.unpacked);
        at = at.saturating_add(head.length).saturating_add(head.packed);
    }
    Ok(total)
}

struct Head {
    length: u64,
    unpacked: u64,
    packed: u64,
}

fn read_head(mut file: &File, at: u64, end: u64) -> io::Result<Head> {
    file.seek(SeekFrom::Start(at))?;
    let most = HEAD_BYTES_MAX.min(end - at);
    let mut thrift = Thrift {
        input: io::BufReader::with_capacity(512, file.take(most)),
        read: 0,
    };
    let (mut unpacked, mut packed) = (None, None);
    let mut field = 0;
    while let Some((kind, number)) = thrift.field(field)? {
        field = number;
        match (number, kind) {
            (2, I32) => unpacked = u64::try_from(thrift.signed()?).ok(),
            (3, I32) => packed = u64::try_from(thrift.signed()?).ok(),
            _ => thrift.skip(kind, 0)?,
        }
    }
    match (unpacked, packed) {
        (Some(unpacked), Some(packed)) => Ok(Head {
            length: thrift.read,
            unpacked,
            packed,
        }),
        _ => Err(bad("it has no sizes")),
    }
}

// Types of fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Reads Thrift's compact protocol from the front.
struct Thrift<R> {
    input: R,
    read: u64,
}

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(bad("a number without end"))
    }

    fn signed(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Type and number of the next field; `None` at the end of the structure.
    fn field(&mut self, last: i64) -> io::Result<Option<(u8, i64)>> {
        let byte = self.byte()?;
        Ok(match (byte & 0x0f, byte >> 4) {
            (0, _) => None,
            (kind, 0) => Some((kind, self.signed()?)),
            (kind, step) => Some((kind, last.saturating_add(step.into()))),
        })
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let passed = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
        self.read += passed;
        match passed == bytes {
            true => Ok(()),
            false => Err(bad("it is longer than its column")),
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return Err(bad("too deep"));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | SET => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.varint()?,
                    count => count.into(),
                };
                for _ in 0..count {
                    match byte & 0x0f {
                        // In a list each truth value is a byte.
                        TRUE | FALSE => self.pass(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
                Ok(())
            }
            STRUCT => {
                let mut field = 0;
                while let Some((kind, number)) = self.field(field)? {
                    field = number;
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(bad("a field of no known type")),
        }
    }
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
