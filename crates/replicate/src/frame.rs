//! Frames: a header of 32 bytes and a payload, which may be compressed.
//!
//! ```text
//!  0      1       2       4         8          12        16       24       32
//!  │ kind │ codec │ zero  │ raw len │ wire len │ zero    │ seq    │ hash   │ payload …
//! ```
//!
//! Numbers are little-endian. The hash is XXH3-64 of the raw payload, seeded with that of the first 24
//! bytes of the header: a frame that was changed, cut, moved or repeated on its stream is found before
//! anything in it is used. Lengths are bounded before memory is taken for them; a compressed payload
//! must unpack to exactly the raw length.

use std::io;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 32;
/// Longest payload, before and after compression.
pub const MAX_PAYLOAD: usize = 4 << 20;

/// Kind of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// First frame of a connection: which of the session's connections it is.
    Hello = 1,
    /// A message, [`crate::message`].
    Message = 2,
    /// Whole files, one after the other.
    Batch = 3,
    /// A part of one file.
    Chunk = 4,
    /// The sender has sent all that was wanted so far: what waits to be published is published.
    Flush = 5,
    /// The connection is still in use.
    Alive = 6,
}

impl FrameKind {
    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Hello,
            2 => Self::Message,
            3 => Self::Batch,
            4 => Self::Chunk,
            5 => Self::Flush,
            6 => Self::Alive,
            _ => return None,
        })
    }
}

/// Encoding of a payload on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    Stored,
    /// As one Zstandard frame (RFC 8878).
    Zstd,
}

/// Head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Kind of the payload.
    pub kind: FrameKind,
    /// Its encoding.
    pub codec: Codec,
    /// Bytes of the payload once unpacked.
    pub raw_len: u32,
    /// Bytes of the payload on the wire.
    pub wire_len: u32,
    /// Frames before it on the same connection and way.
    pub seq: u64,
    /// Hash of the header's other fields and the raw payload.
    pub hash: u64,
}

/// Error of bytes that are not a frame of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A kind or codec that this version does not know, or bytes that must be zero.
    #[error("a frame of an unknown kind")]
    Unknown,
    /// A length beyond the bound, or lengths that do not fit together.
    #[error("a frame with impossible lengths")]
    Length,
    /// Not the frame that must follow the last one.
    #[error("a frame out of order")]
    Order,
    /// The payload is not what the sender hashed.
    #[error("a frame whose content does not match its hash")]
    Hash,
    /// The payload does not unpack to its raw length.
    #[error("a frame that does not unpack")]
    Unpack,
    /// The payload does not hold what its kind says.
    #[error("a frame with impossible content")]
    Content,
}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl Header {
    /// The header of a payload that is sent as frame `seq` of its connection.
    pub fn of(kind: FrameKind, codec: Codec, raw: &[u8], wire_len: usize, seq: u64) -> Self {
        let mut header = Self {
            kind,
            codec,
            raw_len: raw.len() as u32,
            wire_len: wire_len as u32,
            seq,
            hash: 0,
        };
        header.hash = header.hash_of(raw);
        header
    }

    fn hash_of(&self, raw: &[u8]) -> u64 {
        let head = self.encode();
        xxh3_64_with_seed(raw, xxh3_64(&head[..24]))
    }

    /// As it travels.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[1] = match self.codec {
            Codec::Stored => 0,
            Codec::Zstd => 1,
        };
        bytes[4..8].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.wire_len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.seq.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.hash.to_le_bytes());
        bytes
    }

    /// Reads a header. Its lengths are within their bounds.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, FrameError> {
        let [kind, codec, zero_a, zero_b, rest @ ..] = bytes;
        let kind = FrameKind::from_byte(*kind).ok_or(FrameError::Unknown)?;
        let codec = match codec {
            0 => Codec::Stored,
            1 => Codec::Zstd,
            _ => return Err(FrameError::Unknown),
        };
        let word =
            |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if [*zero_a, *zero_b] != [0, 0] || word(8) != 0 {
            return Err(FrameError::Unknown);
        }
        let header = Self {
            kind,
            codec,
            raw_len: word(0),
            wire_len: word(4),
            seq: long(12),
            hash: long(20),
        };
        let most = MAX_PAYLOAD as u32;
        let fits = match codec {
            Codec::Stored => header.wire_len == header.raw_len,
            Codec::Zstd => header.wire_len < header.raw_len,
        };
        match header.raw_len <= most && fits {
            true => Ok(header),
            false => Err(FrameError::Length),
        }
    }

    /// Whether `raw` is the payload that the sender hashed.
    pub fn verify(&self, raw: &[u8]) -> Result<(), FrameError> {
        match raw.len() == self.raw_len as usize && self.hash_of(raw) == self.hash {
            true => Ok(()),
            false => Err(FrameError::Hash),
        }
    }
}

/// Reads little-endian numbers and byte strings from the front of a payload.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// From the begin of a payload.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// True when nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], FrameError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(FrameError::Content)?;
        self.0 = rest;
        Ok(taken)
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    /// A number of four bytes.
    pub fn u32(&mut self) -> Result<u32, FrameError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(
            bytes.try_into().map_err(|_| FrameError::Content)?,
        ))
    }

    /// A number of eight bytes.
    pub fn u64(&mut self) -> Result<u64, FrameError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(
            bytes.try_into().map_err(|_| FrameError::Content)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_comes_back_as_it_went() {
        let raw = b"what was read";
        let header = Header::of(FrameKind::Chunk, Codec::Stored, raw, raw.len(), 7);
        assert_eq!(Header::decode(&header.encode()), Ok(header));
        assert_eq!(header.verify(raw), Ok(()));
    }

    #[test]
    fn every_changed_bit_of_a_frame_is_found() {
        let raw = b"sixteen bytes ok";
        let header = Header::of(FrameKind::Batch, Codec::Stored, raw, raw.len(), 3);
        let mut bytes = header.encode().to_vec();
        bytes.extend_from_slice(raw);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let (head, payload) = changed.split_at(HEADER_BYTES);
            let read = Header::decode(head.try_into().unwrap());
            let accepted = read.is_ok_and(|read| read.verify(payload).is_ok());
            assert!(!accepted, "bit {bit}");
        }
    }

    #[test]
    fn lengths_are_bounded_before_memory_is_taken() {
        let raw = vec![0; 64];
        let mut header = Header::of(FrameKind::Batch, Codec::Stored, &raw, 64, 0);
        header.raw_len = MAX_PAYLOAD as u32 + 1;
        header.wire_len = header.raw_len;
        assert_eq!(Header::decode(&header.encode()), Err(FrameError::Length));
        header.raw_len = 64;
        header.codec = Codec::Zstd;
        header.wire_len = 64;
        assert_eq!(Header::decode(&header.encode()), Err(FrameError::Length));
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes in any::<[u8; HEADER_BYTES]>()) {
            if let Ok(header) = Header::decode(&bytes) {
                prop_assert_eq!(header.encode(), bytes);
            }
        }
    }
}
