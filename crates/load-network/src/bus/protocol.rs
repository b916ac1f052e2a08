//! Frames of the bus.
//!
//! One header for everything that crosses a connection, all fields big-endian, [`HEADER_BYTES`]
//! long; in messages and responses the payload follows:
//!
//! ```text
//!  0  u32  length of the frame, this header included
//!  4  u8   kind: 1 message, 2 response, 3 receipt
//!  5  u8   flags: 1 an answer is wanted, 2 warm-up, not counted
//!  6  u16  check over all other fields
//!  8  u64  message, response: number of the message on its connection, from 0
//!          receipt: messages taken so far
//! 16  u64  message, response: the sender's stamp, echoed
//!          receipt: bytes taken so far
//! ```
//!
//! Which lengths may come is agreed on before: another one ends the connection at once, and nothing
//! is ever allocated for what a peer claims.

/// Bytes before the payload; no frame is shorter.
pub const HEADER_BYTES: usize = 24;

/// Flag: the receiver is to answer.
pub const WANTS_ANSWER: u8 = 1;
/// Flag: the message belongs to the warm-up.
pub const UNCOUNTED: u8 = 2;

/// Kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// From a sender.
    Message,
    /// The answer to one message, as long as it.
    Response,
    /// Says how much has been taken.
    Receipt,
}

impl FrameKind {
    fn code(self) -> u8 {
        match self {
            FrameKind::Message => 1,
            FrameKind::Response => 2,
            FrameKind::Receipt => 3,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(FrameKind::Message),
            2 => Some(FrameKind::Response),
            3 => Some(FrameKind::Receipt),
            _ => None,
        }
    }
}

/// The fields before the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole frame.
    pub length: u32,
    /// Its kind.
    pub kind: FrameKind,
    /// [`WANTS_ANSWER`], [`UNCOUNTED`].
    pub flags: u8,
    /// Number of the message, or how many have been taken.
    pub number: u64,
    /// Stamp of the message, or how many bytes have been taken.
    pub stamp: u64,
}

/// Reason why bytes are not a frame of this connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// The check does not fit the fields, or the kind is none.
    #[error("the bytes received are not a message of this test")]
    Damaged,
    /// Messages where answers belong, or the other way round.
    #[error("a frame came that belongs to the other direction")]
    WrongWay,
    /// A length outside what was agreed on.
    #[error("the message claims {0} B, which was not agreed on")]
    Length(u32),
}

/// A multiply-xor fold in which any changed bit changes the result most likely: it finds damage,
/// tickets keep strangers out.
#[inline]
fn check(length: u32, kind: u8, flags: u8, number: u64, stamp: u64) -> u16 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = u64::from(length) << 16 | u64::from(kind) << 8 | u64::from(flags);
    let mut mix = (first ^ K).wrapping_mul(K) ^ number;
    mix = (mix ^ (mix >> 29)).wrapping_mul(K) ^ stamp;
    mix = (mix ^ (mix >> 31)).wrapping_mul(K);
    (mix >> 48) as u16
}

impl Header {
    /// Writes the header to the front of `frame`.
    ///
    /// Panics: when `frame` is shorter than [`HEADER_BYTES`].
    #[inline]
    pub fn write(&self, frame: &mut [u8]) {
        let Self {
            length,
            kind,
            flags,
            number,
            stamp,
        } = *self;
        let check = check(length, kind.code(), flags, number, stamp);
        let frame = &mut frame[..HEADER_BYTES];
        frame[0..4].copy_from_slice(&length.to_be_bytes());
        frame[4] = kind.code();
        frame[5] = flags;
        frame[6..8].copy_from_slice(&check.to_be_bytes());
        frame[8..16].copy_from_slice(&number.to_be_bytes());
        frame[16..24].copy_from_slice(&stamp.to_be_bytes());
    }

    /// Reads a header.
    ///
    /// Errors: [`BadFrame::Damaged`]. The length is not judged here.
    #[inline]
    pub fn read(head: &[u8; HEADER_BYTES]) -> Result<Self, BadFrame> {
        let [a, b, c, d, kind, flags, check_high, check_low, rest @ ..] = *head;
        let [
            n0,
            n1,
            n2,
            n3,
            n4,
            n5,
            n6,
            n7,
            s0,
            s1,
            s2,
            s3,
            s4,
            s5,
            s6,
            s7,
        ] = rest;
        let length = u32::from_be_bytes([a, b, c, d]);
        let number = u64::from_be_bytes([n0, n1, n2, n3, n4, n5, n6, n7]);
        let stamp = u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
        let wanted = u16::from_be_bytes([check_high, check_low]);
        if wanted != check(length, kind, flags, number, stamp) {
            return Err(BadFrame::Damaged);
        }
        Ok(Self {
            length,
            kind: FrameKind::from_code(kind).ok_or(BadFrame::Damaged)?,
            flags,
            number,
            stamp,
        })
    }

    /// True when the sender wants an answer.
    #[inline]
    pub fn wants_answer(&self) -> bool {
        self.flags & WANTS_ANSWER != 0
    }

    /// True when the message counts.
    #[inline]
    pub fn counts(&self) -> bool {
        self.flags & UNCOUNTED == 0
    }
}

/// Direction of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameWay {
    /// Messages.
    Forth,
    /// Responses and receipts.
    Back,
}

/// Frames that may come on one side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    /// Messages, or what comes back.
    pub way: FrameWay,
    /// Shortest message, header included.
    pub min_bytes: u32,
    /// Longest message.
    pub max_bytes: u32,
}

impl Agreed {
    #[inline]
    fn header(&self, head: &[u8; HEADER_BYTES]) -> Result<Header, BadFrame> {
        let header = Header::read(head)?;
        let fits = match (self.way, header.kind) {
            (FrameWay::Forth, FrameKind::Message) | (FrameWay::Back, FrameKind::Response) => {
                (self.min_bytes..=self.max_bytes).contains(&header.length)
            }
            (FrameWay::Back, FrameKind::Receipt) => header.length as usize == HEADER_BYTES,
            (FrameWay::Forth, _) | (FrameWay::Back, FrameKind::Message) => {
                return Err(BadFrame::WrongWay);
            }
        };
        match fits && header.length as usize >= HEADER_BYTES {
            true => Ok(header),
            false => Err(BadFrame::Length(header.length)),
        }
    }
}

/// Finds frames in a stream of bytes that comes in pieces. Payload is passed over, not kept.
#[derive(Debug, Clone)]
pub struct BusReader {
    agreed: Agreed,
    head: [u8; HEADER_BYTES],
    /// Bytes of an incomplete header that have come.
    filled: usize,
    /// The frame whose payload is still to come, and how much of it.
    open: Option<(Header, usize)>,
}

impl BusReader {
    /// Reads frames of this shape.
    pub fn new(agreed: Agreed) -> Self {
        Self {
            agreed,
            head: [0; HEADER_BYTES],
            filled: 0,
            open: None,
        }
    }

    /// True when the next byte begins a frame.
    pub fn is_between_frames(&self) -> bool {
        self.filled == 0 && self.open.is_none()
    }

    /// Takes bytes off the front of `bytes` until a frame is whole; `None` when they are used up.
    /// `payload` sees each piece of payload once.
    ///
    /// Errors: the bytes are not a valid frame. Nothing after them can be read.
    #[inline]
    pub fn next<'a>(
        &mut self,
        bytes: &mut &'a [u8],
        mut payload: impl FnMut(&'a [u8]),
    ) -> Result<Option<Header>, BadFrame> {
        let (header, left) = match self.open.take() {
            Some(open) => open,
            None => match self.begin(bytes)? {
                Some(header) => (header, header.length as usize - HEADER_BYTES),
                None => return Ok(None),
            },
        };
        let (piece, rest) = bytes.split_at(left.min(bytes.len()));
        *bytes = rest;
        if !piece.is_empty() {
            payload(piece);
        }
        match left - piece.len() {
            0 => Ok(Some(header)),
            left => {
                self.open = Some((header, left));
                Ok(None)
            }
        }
    }

    /// Takes a header off the front.
    #[inline]
    fn begin(&mut self, bytes: &mut &[u8]) -> Result<Option<Header>, BadFrame> {
        if self.filled == 0
            && let Some((head, rest)) = bytes.split_first_chunk::<HEADER_BYTES>()
        {
            *bytes = rest;
            return self.agreed.header(head).map(Some);
        }
        let count = bytes.len().min(HEADER_BYTES - self.filled);
        let (piece, rest) = bytes.split_at(count);
        self.head[self.filled..][..count].copy_from_slice(piece);
        *bytes = rest;
        self.filled += count;
        if self.filled < HEADER_BYTES {
            return Ok(None);
        }
        self.filled = 0;
        self.agreed.header(&self.head).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(kind: FrameKind, length: u32, number: u64) -> Header {
        Header {
            length,
            kind,
            flags: WANTS_ANSWER,
            number,
            stamp: 77,
        }
    }

    fn frame(header: Header) -> Vec<u8> {
        let mut bytes = vec![0; (header.length as usize).clamp(HEADER_BYTES, 1 << 16)];
        header.write(&mut bytes);
        bytes
    }

    fn agreed(way: FrameWay) -> Agreed {
        Agreed {
            way,
            min_bytes: 24,
            max_bytes: 300,
        }
    }

    /// Headers and payload bytes that a reader finds in these pieces.
    fn read(agreed: Agreed, pieces: &[&[u8]]) -> Result<(Vec<Header>, usize), BadFrame> {
        let mut reader = BusReader::new(agreed);
        let (mut found, mut payload) = (Vec::new(), 0);
        for piece in pieces {
            let mut rest = *piece;
            while let Some(header) = reader.next(&mut rest, |bytes| payload += bytes.len())? {
                found.push(header);
            }
            assert!(rest.is_empty(), "the piece is used up");
        }
        Ok((found, payload))
    }

    #[test]
    fn the_bytes_are_a_promise() {
        let bytes = frame(header(FrameKind::Message, 32, 7));
        let golden = [
            0, 0, 0, 32, 1, 1, 14, 17, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 77,
        ];
        assert_eq!(bytes[..HEADER_BYTES], golden);
        assert_eq!(bytes.len(), 32);
    }

    #[test]
    fn what_goes_forth_does_not_come_back() {
        let message = frame(header(FrameKind::Message, 24, 7));
        let receipt = frame(header(FrameKind::Receipt, 24, 7));
        let wrong = Err(BadFrame::WrongWay);
        assert_eq!(read(agreed(FrameWay::Back), &[&message]), wrong);
        assert_eq!(read(agreed(FrameWay::Forth), &[&receipt]), wrong);
        assert!(read(agreed(FrameWay::Forth), &[&message]).is_ok());
        assert!(read(agreed(FrameWay::Back), &[&receipt]).is_ok());
    }

    #[test]
    fn lengths_of_nothing_and_of_two_gigabytes_are_refused() {
        for length in [0, 1, 23, 301, 1 << 31, u32::MAX] {
            for (way, kind) in [
                (FrameWay::Forth, FrameKind::Message),
                (FrameWay::Back, FrameKind::Receipt),
            ] {
                let bytes = frame(header(kind, length, 0));
                let refused = Err(BadFrame::Length(length));
                assert_eq!(read(agreed(way), &[&bytes]), refused);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_harm(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            max_bytes in 0u32..5000,
        ) {
            let agreed = Agreed { way: FrameWay::Forth, min_bytes: 0, max_bytes };
            let _ = read(agreed, &[&bytes]);
        }

        #[test]
        fn flipped_bits_are_found(number in any::<u64>(), bit in 0usize..HEADER_BYTES * 8) {
            let mut bytes = frame(header(FrameKind::Message, 64, number));
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(agreed(FrameWay::Forth), &[&bytes]).is_err());
        }

        #[test]
        fn pieces_make_no_difference(
            lengths in prop::collection::vec(24u32..300, 1..20),
            cuts in prop::collection::vec(1usize..500, 0..20),
        ) {
            let numbered = lengths.iter().zip(0u64..);
            let bytes: Vec<u8> = numbered
                .flat_map(|(length, n)| frame(header(FrameKind::Message, *length, n)))
                .collect();
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let (found, payload) = read(agreed(FrameWay::Forth), &pieces).unwrap();
            let numbers: Vec<u64> = found.iter().map(|header| header.number).collect();
            prop_assert_eq!(numbers, (0..lengths.len() as u64).collect::<Vec<_>>());
            prop_assert_eq!(payload, bytes.len() - lengths.len() * HEADER_BYTES);
        }
    }
}
