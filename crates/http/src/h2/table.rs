//! The static and dynamic tables of indexed header fields (RFC 7541 §2.3 and appendix A).

use std::collections::VecDeque;

/// Bytes that an entry counts in addition to its text (RFC 7541 §4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// Numbers from 1 on.
#[rustfmt::skip]
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
    ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
    ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
    ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
    ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
    ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""),
    ("via", ""), ("www-authenticate", ""),
];

/// One entry that a header block added.
#[derive(Debug)]
struct Entry {
    /// Name, then value.
    text: Vec<u8>,
    name_bytes: usize,
}

impl Entry {
    fn bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

/// The numbered fields of one connection: the fixed ones, and those that its header blocks added.
#[derive(Debug)]
pub(super) struct Table {
    /// The newest first.
    added: VecDeque<Entry>,
    bytes: usize,
    most_bytes: usize,
    /// Changes whenever an entry is added or removed.
    version: u64,
}

impl Table {
    /// A table without added entries, which may come to hold so many bytes.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            added: VecDeque::new(),
            bytes: 0,
            most_bytes,
            version: 0,
        }
    }

    /// Name and value of a number; `None`: nothing has it.
    pub(super) fn get(&self, number: usize) -> Option<(&[u8], &[u8])> {
        let place = number.checked_sub(1)?;
        if let Some((name, value)) = STATIC.get(place) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.added.get(place - STATIC.len())?;
        Some(entry.text.split_at(entry.name_bytes))
    }

    /// Adds an entry; the oldest make room. One that is longer than the table empties it.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.version += 1;
        let bytes = name.len() + value.len() + ENTRY_BYTES;
        let mut text = self.shrink(self.most_bytes.saturating_sub(bytes));
        if bytes > self.most_bytes {
            return;
        }
        text.clear();
        text.extend_from_slice(name);
        text.extend_from_slice(value);
        self.bytes += bytes;
        self.added.push_front(Entry {
            text,
            name_bytes: name.len(),
        });
    }

    /// The table may hold so many bytes from now on.
    pub(super) fn resize(&mut self, most_bytes: usize) {
        self.version += 1;
        self.most_bytes = most_bytes;
        self.shrink(most_bytes);
    }

    /// Drops the oldest until so many bytes are left; the room of the last one can be used again.
    fn shrink(&mut self, most_bytes: usize) -> Vec<u8> {
        let mut room = Vec::new();
        while self.bytes > most_bytes
            && let Some(entry) = self.added.pop_back()
        {
            self.bytes -= entry.bytes();
            room = entry.text;
        }
        room
    }

    /// Bytes that the added entries count.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// While it does not change, every number refers to the same field.
    pub(super) fn version(&self) -> u64 {
        self.version
    }
}
