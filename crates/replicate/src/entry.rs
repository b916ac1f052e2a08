//! Properties that every parser of foreign bytes must satisfy for any input.
//!
//! One function per parser of foreign bytes, each asserting that what was accepted is within its bounds
//! and means the same when written and read again. The fuzz targets and the property tests call the
//! same functions.

use crate::codec::Unpacker;
#[cfg(unix)]
use crate::frame::Cursor;
use crate::frame::{Codec, HEADER_BYTES, Header, MAX_PAYLOAD};
use crate::message::{EntryKind, Listing, encode, read_answer, read_listing};
use crate::path::check_name;
#[cfg(unix)]
use crate::send::{Record, Records};

/// The head of a frame and its payload.
pub fn frame(bytes: &[u8]) {
    let Some((head, payload)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return;
    };
    let Ok(header) = Header::decode(head) else {
        return;
    };
    assert_eq!(&header.encode(), head);
    assert!(header.raw_len as usize <= MAX_PAYLOAD && header.wire_len <= header.raw_len);
    let payload = &payload[..payload.len().min(header.wire_len as usize)];
    if header.codec == Codec::Stored {
        let is_whole = header.verify(payload).is_ok();
        assert!(!is_whole || payload.len() == header.raw_len as usize);
    } else if let Ok(mut unpacker) = Unpacker::new()
        && let Ok(raw) = unpacker.unpack(payload, header.raw_len as usize)
    {
        assert_eq!(raw.len(), header.raw_len as usize);
        let _ = header.verify(raw);
    }
}

/// Lists of a sender.
pub fn listing(bytes: &[u8]) {
    let Ok(listing) = read_listing(bytes) else {
        return;
    };
    match &listing {
        Listing::Directory { path, .. } => {
            assert!(path.components().all(|name| check_name(name).is_ok()));
        }
        Listing::Entries(entries) => {
            for entry in entries {
                assert_eq!(check_name(&entry.name), Ok(()));
                assert!(entry.meta.uid != u32::MAX && entry.meta.gid != u32::MAX);
                if let EntryKind::File { size, .. } = entry.kind {
                    assert!(i64::try_from(size).is_ok());
                }
            }
        }
        _ => {}
    }
    assert_eq!(read_listing(&encode(&listing)), Ok(listing));
}

/// Answers of a receiver.
pub fn answer(bytes: &[u8]) {
    if let Ok(answer) = read_answer(bytes) {
        assert_eq!(read_answer(&encode(&answer)), Ok(answer));
    }
}

/// The records of a batch.
#[cfg(unix)]
pub fn records(bytes: &[u8]) {
    let mut cursor = Cursor::new(bytes);
    let mut again = Records::new(0);
    let mut read = 0;
    while !cursor.is_empty() {
        let Ok(record) = Record::read(&mut cursor) else {
            break;
        };
        again.add(record);
        read = bytes.len() - cursor.rest().len();
    }
    assert_eq!(again.payload(), &bytes[..read]);
}

#[cfg(all(test, unix))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::FrameKind;
    use crate::message::{Answer, Entry, Failure, Meta, Verdict};
    use crate::path::RelPath;

    /// Payloads of every parser, as honest ends make them.
    fn honest() -> Vec<Vec<u8>> {
        let kind = EntryKind::File {
            size: 3,
            racy: true,
            shared: false,
        };
        let meta = Meta::default();
        let path = RelPath::parse(b"a/b").unwrap();
        let entry = Entry {
            name: b"name".to_vec(),
            kind,
            meta: meta.clone(),
        };
        let failure = Failure {
            path: "a".into(),
            why: "b".into(),
        };
        let mut records = Records::new(0);
        records.add(Record::File {
            id: 1,
            mtime_ns: 2,
            data: b"data",
        });
        records.add(Record::Same { id: 3 });
        let raw = [7; 200];
        let packed = zstd::bulk::compress(&raw, 1).unwrap();
        let header = Header::of(FrameKind::Chunk, Codec::Zstd, &raw, packed.len(), 1);
        vec![
            encode(&Listing::Directory { path, meta }),
            encode(&Listing::Entries(vec![entry])),
            encode(&Answer::Verdicts(vec![Verdict::Send, Verdict::Later])),
            encode(&Answer::Failed(failure)),
            records.payload().to_vec(),
            [&header.encode()[..], &packed].concat(),
        ]
    }

    fn all(bytes: &[u8]) {
        frame(bytes);
        listing(bytes);
        answer(bytes);
        records(bytes);
    }

    proptest! {
        #[test]
        fn any_bytes_keep_the_promises(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            all(&bytes);
        }

        #[test]
        fn changed_payloads_keep_the_promises(
            which in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let honest = honest();
            let mut bytes = honest[which.index(honest.len())].clone();
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            all(&bytes);
        }
    }
}
