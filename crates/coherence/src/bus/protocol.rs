//! Frames of the vendor's bus, protocol version 0.
//!
//! ```text
//! connector                                    acceptor
//!   hello(0..0, 23) name ─────────►◄───────── hello(0..5, 23)          10 B each, at once
//!                    ◄─────────────────────── name  accept 0
//!   accept 0 ──────────────────────►
//!   [length | message] … [-9 | 1 requested returned] ─────►            frames, both ways
//! ```
//!
//! Everything is big-endian, names are UTF-16. A receipt frame asks for receipts for the messages
//! before it (`requested` of them) and gives some back (`returned`). No I/O here: bytes in, items
//! out, and every length is bounded before it is used. The layout is the vendor's as its processes
//! speak it; `docs/reference/en/compat-message-bus-test.md` describes it.

use std::ops::Range;

/// First word of a hello.
pub const MAGIC: u32 = 0x5AC1_E001;

/// First word of the prefix that names a service behind a shared port.
pub const SHARED_PORT_MAGIC: u32 = 0x5AC1_E000;

/// Bytes of that prefix: the word and the sub-port.
pub const SHARED_PORT_BYTES: usize = 8;

/// Bytes of a hello.
pub const HELLO_BYTES: usize = 10;

/// Version that is offered, and no other: frames of 4-byte lengths, no identities, no checksums.
pub const VERSION: u16 = 0;

/// Longest name that is read, UTF-16 units.
pub const MAX_NAME_UNITS: u16 = 512;

/// Status with which an end accepts the connection.
pub const ACCEPTED: u8 = 0;

/// Bytes of a frame's length.
pub const LENGTH_BYTES: usize = 4;

/// Bytes of a message before its payload.
pub const MESSAGE_BYTES: usize = 21;

/// Bytes of a frame before a message's payload.
pub const HEADER_BYTES: usize = LENGTH_BYTES + MESSAGE_BYTES;

/// Largest message that is sent or taken, header included.
pub const MAX_MESSAGE_BYTES: u32 = 256 << 20;

/// Larger frames are handed out in parts, so that a small buffer suffices for any message.
pub const WHOLE_BYTES: usize = 64 << 10;

const RECEIPT: u8 = 1;
const SYNC: u8 = 2;
const RECEIPT_BYTES: usize = 9;
const SYNC_BYTES: usize = 18;

/// Bytes that do not belong on this wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The connection does not begin as it should.
    #[error("it begins with {0:#010x}, which is not the message bus protocol")]
    Magic(u32),
    /// The peer has left version 0 behind.
    #[error("it speaks versions {0} to {1} of the bus, not {VERSION}")]
    Version(u16, u16),
    /// A name without letters or with too many.
    #[error("its name has {0} letters; 1 to {MAX_NAME_UNITS} can be")]
    NameLength(u16),
    /// A name that is not a valid address.
    #[error("its name {0:?} is not a valid bus address")]
    Name(String),
    /// The peer refuses.
    #[error("it refuses the connection (code {0})")]
    Rejected(u8),
    /// A frame too short for a message, or longer than any message may be.
    #[error("a frame of {0} B can be no message")]
    FrameLength(i32),
    /// A payload that is not what the frame has room for.
    #[error("a message says {says} B of payload in a frame with room for {room}")]
    PayloadLength {
        /// In the message.
        says: i64,
        /// By the frame.
        room: u32,
    },
    /// Neither a request nor a response.
    #[error("a message of kind {0}")]
    MessageKind(u8),
    /// A control frame that is none.
    #[error("a control frame of {bytes} B and kind {kind}")]
    Control {
        /// Its length.
        bytes: u32,
        /// Its first byte.
        kind: u8,
    },
    /// Version 0 has nothing to resume.
    #[error("it resumes another connection, which version 0 does not do")]
    Sync,
    /// A negative number of receipts.
    #[error("it returns {0} receipts")]
    Receipts(i32),
    /// More receipts than messages.
    #[error("it returns {returned} receipts where {asked} were asked for")]
    TooManyReceipts {
        /// In its frame.
        returned: u32,
        /// Outstanding.
        asked: u64,
    },
}

/// Introduction of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Oldest version spoken.
    pub min_version: u16,
    /// Newest version spoken.
    pub max_version: u16,
    /// Length of the name that follows, UTF-16 units.
    pub name_units: u16,
}

impl Hello {
    /// As it crosses the connection.
    pub fn write(&self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..4].copy_from_slice(&MAGIC.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.min_version.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.max_version.to_be_bytes());
        bytes[8..].copy_from_slice(&self.name_units.to_be_bytes());
        bytes
    }

    /// Reads one; checks that version 0 is among its versions and that the name can be.
    pub fn read(bytes: &[u8; HELLO_BYTES]) -> Result<Self, ProtocolError> {
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let magic = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if magic != MAGIC {
            return Err(ProtocolError::Magic(magic));
        }
        let hello = Self {
            min_version: word(4),
            max_version: word(6),
            name_units: word(8),
        };
        if hello.min_version > VERSION {
            return Err(ProtocolError::Version(hello.min_version, hello.max_version));
        }
        if !(1..=MAX_NAME_UNITS).contains(&hello.name_units) {
            return Err(ProtocolError::NameLength(hello.name_units));
        }
        Ok(hello)
    }
}

/// The fixed part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Chosen by who asks; the response carries it back. The vendor's: its transmitter's number in
    /// the lower half, its count of messages above.
    pub id: u32,
    /// True for a response.
    pub response: bool,
    /// Send time, nanoseconds of the sender's clock. 0: no response is wanted; -1: a response is
    /// wanted and not timed. A response carries its request's stamp.
    pub stamp_ns: i64,
    /// Bytes that follow.
    pub payload_bytes: u32,
}

impl Message {
    /// True when its sender waits for a response.
    pub fn wants_response(&self) -> bool {
        !self.response && self.stamp_ns != 0
    }

    /// Bytes of the message, header and payload, without the frame's length.
    pub fn bytes(&self) -> u64 {
        u64::from(self.payload_bytes) + MESSAGE_BYTES as u64
    }

    /// The frame's length and the message's fixed part.
    #[inline]
    pub fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let length = self.payload_bytes + MESSAGE_BYTES as u32;
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.id.to_be_bytes());
        bytes[8] = u8::from(self.response);
        bytes[9..17].copy_from_slice(&self.stamp_ns.to_be_bytes());
        bytes[17..].copy_from_slice(&i64::from(self.payload_bytes).to_be_bytes());
        bytes
    }

    /// Reads the fixed part, without the frame's length, in a frame with room for `room` bytes of
    /// payload.
    #[inline]
    fn read(bytes: &[u8; MESSAGE_BYTES], room: u32) -> Result<Self, ProtocolError> {
        let long = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            i64::from_be_bytes(eight)
        };
        let says = long(13);
        if says != i64::from(room) {
            return Err(ProtocolError::PayloadLength { says, room });
        }
        let response = match bytes[4] {
            0 => false,
            1 => true,
            kind => return Err(ProtocolError::MessageKind(kind)),
        };
        Ok(Self {
            id: u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            response,
            stamp_ns: long(5),
            payload_bytes: room,
        })
    }
}

/// Receipts asked for and given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Receipts {
    /// The sender wants so many for the messages before this frame.
    pub requested: u32,
    /// The sender has dealt with so many messages of the other side.
    pub returned: u32,
}

/// Bytes of a frame with receipts, its length included.
pub const RECEIPT_FRAME_BYTES: usize = LENGTH_BYTES + RECEIPT_BYTES;

impl Receipts {
    /// As a frame. Numbers above 2^31 - 1 do not fit and are cut there.
    pub fn write(&self) -> [u8; RECEIPT_FRAME_BYTES] {
        let fit = |n: u32| (n.min(i32::MAX as u32) as i32).to_be_bytes();
        let mut bytes = [0; RECEIPT_FRAME_BYTES];
        bytes[..4].copy_from_slice(&(-(RECEIPT_BYTES as i32)).to_be_bytes());
        bytes[4] = RECEIPT;
        bytes[5..9].copy_from_slice(&fit(self.requested));
        bytes[9..].copy_from_slice(&fit(self.returned));
        bytes
    }
}

/// Something that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A message, and where its payload stands in the bytes given.
    Message(Message, Range<usize>),
    /// The next part of a large message's payload, all bytes that were consumed.
    Part,
    /// The last part of a large message's payload, all bytes that were consumed.
    End(Message),
    /// Receipts.
    Receipts(Receipts),
}

/// Cuts a stream into frames. Keeps no bytes: what is not consumed is given again, with more.
#[derive(Debug, Default)]
pub struct Frames {
    /// The large message whose payload is arriving, and how much of it is still to come.
    large: Option<(Message, u32)>,
}

impl Frames {
    /// The next item and the bytes that it takes; `None` when more are needed, at most
    /// [`LENGTH_BYTES`] + [`WHOLE_BYTES`] in all.
    ///
    /// Errors: the stream cannot be read on; the connection is of no more use.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> Result<Option<(usize, Item)>, ProtocolError> {
        if self.large.is_some() {
            return Ok(self.part(bytes));
        }
        let Some(first) = bytes.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = i32::from_be_bytes(*first);
        let body = &bytes[LENGTH_BYTES..];
        if length < 0 {
            let receipts = control(length.unsigned_abs(), body)?;
            return Ok(receipts.map(|(taken, it)| (LENGTH_BYTES + taken, Item::Receipts(it))));
        }
        if length < MESSAGE_BYTES as i32 || length > MAX_MESSAGE_BYTES as i32 {
            return Err(ProtocolError::FrameLength(length));
        }
        let whole = length as usize;
        if body.len() < whole.min(WHOLE_BYTES) {
            return Ok(None);
        }
        let Some(fixed) = body.first_chunk::<MESSAGE_BYTES>() else {
            return Ok(None);
        };
        let message = Message::read(fixed, length as u32 - MESSAGE_BYTES as u32)?;
        if whole <= WHOLE_BYTES {
            let end = LENGTH_BYTES + whole;
            return Ok(Some((end, Item::Message(message, HEADER_BYTES..end))));
        }
        self.large = Some((message, message.payload_bytes));
        Ok(Some((HEADER_BYTES, Item::Part)))
    }

    fn part(&mut self, bytes: &[u8]) -> Option<(usize, Item)> {
        let (message, left) = self.large?;
        let taken = bytes.len().min(left as usize);
        if taken == 0 {
            return None;
        }
        let left = left - taken as u32;
        if left == 0 {
            self.large = None;
            return Some((taken, Item::End(message)));
        }
        self.large = Some((message, left));
        Some((taken, Item::Part))
    }
}

/// A control frame of `length` bytes.
fn control(length: u32, body: &[u8]) -> Result<Option<(usize, Receipts)>, ProtocolError> {
    let Some(&kind) = body.first() else {
        return Ok(None);
    };
    match (kind, length as usize) {
        (RECEIPT, RECEIPT_BYTES) => {}
        (SYNC, SYNC_BYTES) => return Err(ProtocolError::Sync),
        (kind, bytes) => {
            let bytes = bytes as u32;
            return Err(ProtocolError::Control { bytes, kind });
        }
    }
    let Some(frame) = body.first_chunk::<RECEIPT_BYTES>() else {
        return Ok(None);
    };
    let number =
        |at: usize| i32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let returned = number(5);
    let receipts = Receipts {
        // Release 24.09 writes the number negative when it is behind and wants them soon.
        requested: number(1).unsigned_abs(),
        returned: u32::try_from(returned).map_err(|_| ProtocolError::Receipts(returned))?,
    };
    Ok(Some((RECEIPT_BYTES, receipts)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(payload_bytes: u32) -> Message {
        Message {
            id: 0x0003_0001,
            response: false,
            stamp_ns: -1,
            payload_bytes,
        }
    }

    fn framed(message: &Message) -> Vec<u8> {
        let mut bytes = message.write().to_vec();
        bytes.resize(HEADER_BYTES + message.payload_bytes as usize, 0xAA);
        bytes
    }

    #[test]
    fn the_bytes_are_the_vendors() {
        // Seen on a connection with release 24.09: a hello, a request of 4096 B, a receipt frame.
        let hello = [0x5a, 0xc1, 0xe0, 0x01, 0, 0, 0, 5, 0, 14];
        let read = Hello::read(&hello).unwrap();
        assert_eq!((read.max_version, read.name_units), (5, 14));
        assert_eq!(read.write(), hello);
        let mut message = vec![0, 0, 0x10, 0, 0, 7, 0, 0, 0];
        message.extend([0; 8]);
        message.extend([0, 0, 0, 0, 0, 0, 0x0f, 0xeb]);
        let header = Message {
            id: 7 << 16,
            stamp_ns: 0,
            ..request(4075)
        };
        assert_eq!(header.write().to_vec(), message);
        let receipts = Receipts {
            requested: 19,
            returned: 0,
        };
        let frame = [0xff, 0xff, 0xff, 0xf7, 1, 0, 0, 0, 19, 0, 0, 0, 0];
        assert_eq!(receipts.write(), frame);
        let next = Frames::default().next(&frame).unwrap();
        assert_eq!(next, Some((13, Item::Receipts(receipts))));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let of = |length: i32| Frames::default().next(&length.to_be_bytes());
        for length in [0, 20, MAX_MESSAGE_BYTES as i32 + 1, i32::MAX] {
            assert_eq!(of(length), Err(ProtocolError::FrameLength(length)));
        }
        for length in [-9, -18, i32::MIN, 21, 4096] {
            assert_eq!(of(length), Ok(None), "{length}");
        }
        let mut cut = framed(&request(10));
        cut[24] = 11;
        let wrong = ProtocolError::PayloadLength { says: 11, room: 10 };
        assert_eq!(Frames::default().next(&cut), Err(wrong));
        let mut kind = framed(&request(10));
        kind[8] = 2;
        let wrong = Err(ProtocolError::MessageKind(2));
        assert_eq!(Frames::default().next(&kind), wrong);
    }

    #[test]
    fn control_frames_are_told_apart() {
        let of = |length: i32, body: &[u8]| {
            Frames::default().next(&[&length.to_be_bytes()[..], body].concat())
        };
        let mut sync = [0; 18];
        sync[0] = SYNC;
        assert_eq!(of(-18, &sync), Err(ProtocolError::Sync));
        let long = Err(ProtocolError::Control { bytes: 10, kind: 1 });
        assert_eq!(of(-10, &[1]), long);
        let most = 1 << 31;
        let huge = Err(ProtocolError::Control {
            bytes: most,
            kind: 1,
        });
        assert_eq!(of(i32::MIN, &[1]), huge);
        let negative = [1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(of(-9, &negative), Err(ProtocolError::Receipts(-1)));
        let soon = [1, 0xff, 0xff, 0xff, 0x87, 0, 0, 0, 0];
        let receipts = Receipts {
            requested: 121,
            returned: 0,
        };
        assert_eq!(of(-9, &soon), Ok(Some((13, Item::Receipts(receipts)))));
    }

    #[test]
    fn an_unknown_beginning_is_refused() {
        let mut hello = Hello {
            min_version: 1,
            max_version: 9,
            name_units: 3,
        };
        let newer = Err(ProtocolError::Version(1, 9));
        assert_eq!(Hello::read(&hello.write()), newer);
        hello.min_version = 0;
        hello.name_units = 0;
        let unnamed = Err(ProtocolError::NameLength(0));
        assert_eq!(Hello::read(&hello.write()), unnamed);
        let other = Hello::read(b"GET / HTTP");
        assert_eq!(other, Err(ProtocolError::Magic(0x4745_5420)));
    }

    /// Reads a stream that arrives in pieces of the given sizes; what stands in it.
    fn read_in_pieces(stream: &[u8], pieces: &[usize]) -> Result<Vec<Item>, ProtocolError> {
        let mut frames = Frames::default();
        let mut items = Vec::new();
        let mut held: Vec<u8> = Vec::new();
        let mut rest = stream;
        let mut sizes = pieces.iter().copied().cycle();
        while !rest.is_empty() {
            let size = sizes.next().unwrap_or(1).clamp(1, rest.len());
            held.extend(&rest[..size]);
            rest = &rest[size..];
            let mut at = 0;
            while let Some((taken, item)) = frames.next(&held[at..])? {
                assert!(taken > 0 && taken <= held.len() - at);
                at += taken;
                match item {
                    Item::Part => {}
                    Item::Message(message, _) => items.push(Item::End(message)),
                    other => items.push(other),
                }
            }
            held.drain(..at);
            assert!(held.len() < LENGTH_BYTES + WHOLE_BYTES);
        }
        Ok(items)
    }

    proptest! {
        #[test]
        fn a_stream_reads_the_same_in_any_pieces(
            sizes in prop::collection::vec((prop_oneof![0u32..200, 65_000u32..140_000], any::<bool>(), any::<i64>()), 1..6),
            pieces in prop::collection::vec(1usize..70_000, 1..5),
        ) {
            let mut stream = Vec::new();
            let mut expected = Vec::new();
            for (payload_bytes, response, stamp_ns) in sizes {
                let message = Message { response, stamp_ns, ..request(payload_bytes) };
                stream.extend(framed(&message));
                expected.push(Item::End(message));
                let receipts = Receipts { requested: payload_bytes, returned: 1 };
                stream.extend(receipts.write());
                expected.push(Item::Receipts(receipts));
            }
            prop_assert_eq!(read_in_pieces(&stream, &pieces), Ok(expected));
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), pieces in prop::collection::vec(1usize..50, 1..4)) {
            let _ = read_in_pieces(&bytes, &pieces);
        }
    }
}
