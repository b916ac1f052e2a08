//! Records of a batch frame: whole files, and what is said about others.

use crate::frame::{Cursor, FrameError};
use crate::message::Id;

/// Longest reason of an [`Record::Abort`].
const MAX_REASON: usize = 1_000;

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// A whole file.
    File {
        id: Id,
        mtime_ns: i64,
        data: &'a [u8],
    },
    /// The receiver's content has been compared and is the same.
    Same { id: Id },
    /// The receiver's content has been compared and differs; it was not asked to be replaced.
    Differs { id: Id },
    /// All parts of a file were sent.
    Finish {
        id: Id,
        attempt: u32,
        size: u64,
        mtime_ns: i64,
        /// Bytes that travelled; the others are zeros, or stood in the basis.
        sent: u64,
    },
    /// The file is not sent. Without a reason it is not a failure: a later round says what became of it.
    Abort { id: Id, reason: &'a [u8] },
}

const FILE: u8 = 1;
const SAME: u8 = 2;
const DIFFERS: u8 = 3;
const FINISH: u8 = 4;
const ABORT: u8 = 5;
/// Bytes of a file's record before its data.
const FILE_HEAD: usize = 1 + 4 + 8 + 4;

impl<'a> Record<'a> {
    /// Reads the next record of a payload.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, FrameError> {
        let kind = cursor.take(1)?[0];
        let id = cursor.u32()?;
        Ok(match kind {
            FILE => {
                let mtime_ns = cursor.u64()? as i64;
                let length = cursor.u32()?;
                let data = cursor.take(length as usize)?;
                Record::File { id, mtime_ns, data }
            }
            SAME => Record::Same { id },
            DIFFERS => Record::Differs { id },
            FINISH => Record::Finish {
                id,
                attempt: cursor.u32()?,
                size: cursor.u64()?,
                mtime_ns: cursor.u64()? as i64,
                sent: cursor.u64()?,
            },
            ABORT => {
                let length = cursor.u32()? as usize;
                if length > MAX_REASON {
                    return Err(FrameError::Content);
                }
                let reason = cursor.take(length)?;
                Record::Abort { id, reason }
            }
            _ => return Err(FrameError::Unknown),
        })
    }
}

/// Records that are gathered for a frame. The buffer never shrinks, so that it is cleared only once.
pub(crate) struct Records {
    bytes: Vec<u8>,
    used: usize,
}

impl Records {
    /// With room for so many bytes; more is made when it is needed.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            bytes: vec![0; room],
            used: 0,
        }
    }

    /// The payload so far.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// True when nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Forgets what was added.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    fn grow(&mut self, bytes: usize) -> &mut [u8] {
        let end = self.used + bytes;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let grown = &mut self.bytes[self.used..end];
        self.used = end;
        grown
    }

    fn put(&mut self, bytes: &[u8]) {
        self.grow(bytes.len()).copy_from_slice(bytes);
    }

    fn begin(&mut self, kind: u8, id: Id) {
        self.put(&[kind]);
        self.put(&id.to_le_bytes());
    }

    /// Adds a file of `length` bytes, which `fill` puts in; nothing is added when that fails.
    pub(crate) fn add_file<E>(
        &mut self,
        (id, mtime_ns, length): (Id, i64, usize),
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.used;
        self.begin(FILE, id);
        self.put(&mtime_ns.to_le_bytes());
        self.put(&(length as u32).to_le_bytes());
        let filled = fill(self.grow(length));
        if filled.is_err() {
            self.used = before;
        }
        filled
    }

    /// The data of the file that was added last, of so many bytes.
    pub(crate) fn last_data(&self, length: usize) -> &[u8] {
        &self.bytes[self.used - length..self.used]
    }

    /// Moves the file that was added last, of so many bytes, to other records.
    pub(crate) fn move_last(&mut self, length: usize, to: &mut Records) {
        let begin = self.used - length - FILE_HEAD;
        to.put(&self.bytes[begin..self.used]);
        self.used = begin;
    }

    /// Adds a record about a file.
    pub(crate) fn add(&mut self, record: Record<'_>) {
        match record {
            Record::File { id, mtime_ns, data } => {
                self.begin(FILE, id);
                self.put(&mtime_ns.to_le_bytes());
                self.put(&(data.len() as u32).to_le_bytes());
                self.put(data);
            }
            Record::Same { id } => self.begin(SAME, id),
            Record::Differs { id } => self.begin(DIFFERS, id),
            Record::Finish {
                id,
                attempt,
                size,
                mtime_ns,
                sent,
            } => {
                self.begin(FINISH, id);
                self.put(&attempt.to_le_bytes());
                self.put(&size.to_le_bytes());
                self.put(&mtime_ns.to_le_bytes());
                self.put(&sent.to_le_bytes());
            }
            Record::Abort { id, reason } => {
                let reason = &reason[..reason.len().min(MAX_REASON)];
                self.begin(ABORT, id);
                self.put(&(reason.len() as u32).to_le_bytes());
                self.put(reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_all(payload: &[u8]) -> Result<Vec<Record<'_>>, FrameError> {
        let mut cursor = Cursor::new(payload);
        let mut found = Vec::new();
        while !cursor.is_empty() {
            found.push(Record::read(&mut cursor)?);
        }
        Ok(found)
    }

    #[test]
    fn records_come_back_in_their_order() {
        let all = [
            Record::File {
                id: 1,
                mtime_ns: -5,
                data: b"abc",
            },
            Record::Same { id: 2 },
            Record::Differs { id: 3 },
            Record::Finish {
                id: 4,
                attempt: 1,
                size: 1 << 40,
                mtime_ns: 7,
                sent: 9,
            },
            Record::Abort {
                id: 5,
                reason: b"gone",
            },
            Record::File {
                id: 6,
                mtime_ns: 0,
                data: b"",
            },
        ];
        let mut records = Records::new(0);
        for record in all {
            records.add(record);
        }
        assert_eq!(read_all(records.payload()).unwrap(), all);
    }

    #[test]
    fn a_file_that_could_not_be_read_leaves_nothing() {
        let mut records = Records::new(8);
        records.add(Record::Same { id: 1 });
        let failed = records.add_file((2, 0, 100), |_| Err("torn"));
        assert_eq!(failed, Err("torn"));
        assert_eq!(
            read_all(records.payload()).unwrap(),
            [Record::Same { id: 1 }]
        );
    }

    #[test]
    fn the_last_file_moves_whole() {
        let (mut from, mut to) = (Records::new(64), Records::new(0));
        from.add(Record::Same { id: 1 });
        let filled: Result<(), ()> = from.add_file((2, 3, 4), |data| {
            data.copy_from_slice(b"wxyz");
            Ok(())
        });
        filled.unwrap();
        assert_eq!(from.last_data(4), b"wxyz");
        from.move_last(4, &mut to);
        assert_eq!(read_all(from.payload()).unwrap(), [Record::Same { id: 1 }]);
        let moved = Record::File {
            id: 2,
            mtime_ns: 3,
            data: b"wxyz",
        };
        assert_eq!(read_all(to.payload()).unwrap(), [moved]);
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_all(&bytes);
        }
    }
}
