//! Requests and responses on the wire.
//!
//! Both have the same header, all fields big-endian, [`HEADER_BYTES`] long; the rest is payload:
//!
//! ```text
//!  0  u64  ticket: the flow's secret number; nothing else is answered
//!  8  u64  sequence number of the request, from 0, one count per connection
//! 16  u32  length of the whole message, this header included
//! 20  u32  check over bytes 0..20 and the direction: so that a request is not taken for a response
//! ```
//!
//! The sizes of requests and responses are agreed on before, so a length that is another one ends
//! the connection at once: nothing is ever allocated for what a peer claims.
//!
//! A message of 1 to 23 B has no room for that. On a byte stream, where nothing is lost or out of
//! turn, both ends know what must come next, and it is that many bytes of
//!
//! ```text
//!  0  u64  sequence number xor a mask of ticket and direction, little-endian: neighbours differ
//!  8  u64  fold of the word before    16  u64  fold of that
//! ```
//!
//! so that every byte is checked here too.

/// Bytes of a header; shorter messages have none.
pub const HEADER_BYTES: usize = 24;

/// Odd constant of the multiply-xor folds (2^64 over the golden ratio).
const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// From the host that measures.
    Request,
    /// Back to it.
    Response,
}

/// The fields before the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The flow's secret number.
    pub ticket: u64,
    /// Sequence number of the request.
    pub sequence: u64,
    /// Bytes of the whole message.
    pub length: u32,
}

/// Reason why bytes are not a message of this flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The check does not fit the fields: damaged, of the wrong direction, or not ours.
    #[error("the bytes received are not a message of this test")]
    Damaged,
    /// The ticket of another flow.
    #[error("the message belongs to another flow")]
    Stranger,
    /// Another length than agreed on.
    #[error("the message claims {0} B, which was not agreed on")]
    Length(u32),
    /// A short message that is not the one whose turn it is.
    #[error("what came is not the message whose turn it is")]
    OutOfTurn,
}

/// Mixes the header's words so that any changed bit changes the result (a multiply-xor fold, not
/// a cryptographic function: tickets keep strangers out, this finds damage).
#[inline]
fn check(kind: MessageKind, header: &Header) -> u32 {
    let mut mix = header.ticket.wrapping_mul(K) ^ header.sequence;
    mix = (mix ^ (mix >> 29)).wrapping_mul(K) ^ (u64::from(header.length) << 16 | kind.mark());
    mix = (mix ^ (mix >> 31)).wrapping_mul(K);
    (mix >> 32) as u32
}

impl MessageKind {
    /// Number that tells the directions apart; the lowest bytes differ.
    fn mark(self) -> u64 {
        match self {
            MessageKind::Request => 0x5e9d,
            MessageKind::Response => 0xa25e,
        }
    }
}

impl Header {
    /// Writes the header to the front of `message`, which must hold it.
    #[inline]
    pub fn write(&self, kind: MessageKind, message: &mut [u8]) {
        let message = &mut message[..HEADER_BYTES];
        message[0..8].copy_from_slice(&self.ticket.to_be_bytes());
        message[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        message[16..20].copy_from_slice(&self.length.to_be_bytes());
        message[20..24].copy_from_slice(&check(kind, self).to_be_bytes());
    }

    /// Reads the header at the front of `bytes`; `None` when there are too few of them, or when
    /// the check does not fit.
    #[inline]
    pub fn read(kind: MessageKind, bytes: &[u8]) -> Option<Header> {
        let head = bytes.first_chunk::<HEADER_BYTES>()?;
        let (ticket, rest) = head.split_first_chunk::<8>()?;
        let (sequence, rest) = rest.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let header = Header {
            ticket: u64::from_be_bytes(*ticket),
            sequence: u64::from_be_bytes(*sequence),
            length: u32::from_be_bytes(*length),
        };
        let wanted = u32::from_be_bytes(*rest.first_chunk::<4>()?);
        (wanted == check(kind, &header)).then_some(header)
    }
}

/// Shape of the messages of one flow in one direction.
#[derive(Debug, Clone, Copy)]
pub struct Agreed {
    /// Requests or responses.
    pub kind: MessageKind,
    /// The flow's secret number.
    pub ticket: u64,
    /// Bytes of each message, at least 1; in datagrams at least [`HEADER_BYTES`].
    pub length: u32,
}

impl Agreed {
    /// Bytes at the front of a message that are checked.
    #[inline]
    pub fn head_bytes(&self) -> usize {
        (self.length as usize).min(HEADER_BYTES)
    }

    /// Bytes of which a message shorter than a header shows the first ones.
    #[inline]
    fn short(&self, sequence: u64) -> [u8; HEADER_BYTES] {
        let fold = |word: u64| (word ^ (word >> 29)).wrapping_mul(K);
        let first = sequence ^ self.ticket.wrapping_mul(K) ^ self.kind.mark();
        let mut block = [0; HEADER_BYTES];
        block[..8].copy_from_slice(&first.to_le_bytes());
        block[8..16].copy_from_slice(&fold(first).to_le_bytes());
        block[16..].copy_from_slice(&fold(fold(first)).to_le_bytes());
        block
    }

    /// Sequence number of the message that begins with `head`.
    #[inline]
    fn sequence(&self, head: &[u8]) -> Result<u64, BadMessage> {
        let header = Header::read(self.kind, head).ok_or(BadMessage::Damaged)?;
        if header.ticket != self.ticket {
            return Err(BadMessage::Stranger);
        }
        if header.length != self.length {
            return Err(BadMessage::Length(header.length));
        }
        Ok(header.sequence)
    }

    /// True when a message of at least [`HEADER_BYTES`] begins so.
    pub fn begins(&self, bytes: &[u8]) -> bool {
        self.sequence(bytes).is_ok()
    }

    /// Sequence number of a whole datagram.
    #[inline]
    pub fn datagram(&self, bytes: &[u8]) -> Result<u64, BadMessage> {
        let sequence = self.sequence(bytes)?;
        match bytes.len() == self.length as usize {
            true => Ok(sequence),
            false => Err(BadMessage::Damaged),
        }
    }

    /// Writes the head of message `sequence` to the front of `message`, which must hold it.
    #[inline]
    pub fn write(&self, sequence: u64, message: &mut [u8]) {
        let head_bytes = self.head_bytes();
        if head_bytes < HEADER_BYTES {
            message[..head_bytes].copy_from_slice(&self.short(sequence)[..head_bytes]);
            return;
        }
        let header = Header {
            ticket: self.ticket,
            sequence,
            length: self.length,
        };
        header.write(self.kind, message);
    }
}

/// A piece that a [`MessageReader`] finds in a stream, in this order for each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The head of the message with this sequence number is whole.
    Head(u64),
    /// Bytes behind the head, as many as have come.
    Payload(&'a [u8]),
    /// The message with this sequence number is whole.
    End(u64),
}

/// Finds messages in a stream of bytes that comes in pieces. Payload is passed over, not kept.
#[derive(Debug, Clone)]
pub struct MessageReader {
    agreed: Agreed,
    head: [u8; HEADER_BYTES],
    /// Bytes of a head: fewer than a header when messages are shorter.
    head_bytes: usize,
    /// Bytes of the current head that have come.
    filled: usize,
    /// Bytes of the current message that are still to come, once its head is whole.
    left: usize,
    sequence: u64,
    /// Sequence number of the next short message.
    turn: u64,
}

impl MessageReader {
    /// Reads messages of this shape, of which the first has the number 0.
    pub fn new(agreed: Agreed) -> Self {
        Self::starting_at(agreed, 0)
    }

    /// Reads messages of this shape, of which the first has this number.
    pub fn starting_at(agreed: Agreed, sequence: u64) -> Self {
        Self {
            agreed,
            head: [0; HEADER_BYTES],
            head_bytes: agreed.head_bytes(),
            filled: 0,
            left: 0,
            sequence: 0,
            turn: sequence,
        }
    }

    /// Takes the next piece and calls `whole` with the sequence number of each message that it
    /// completes.
    ///
    /// Errors: the bytes are not a valid message. Nothing after them can be read.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8], mut whole: impl FnMut(u64)) -> Result<(), BadMessage> {
        self.pieces(bytes, |piece| {
            if let Piece::End(sequence) = piece {
                whole(sequence);
            }
        })
    }

    /// The same, and shows what has come before a message is whole.
    #[inline]
    pub fn pieces(
        &mut self,
        mut bytes: &[u8],
        mut found: impl FnMut(Piece<'_>),
    ) -> Result<(), BadMessage> {
        while !bytes.is_empty() {
            if self.filled < self.head_bytes {
                let count = bytes.len().min(self.head_bytes - self.filled);
                self.head[self.filled..][..count].copy_from_slice(&bytes[..count]);
                self.filled += count;
                bytes = &bytes[count..];
                if self.filled < self.head_bytes {
                    return Ok(());
                }
                self.sequence = self.read_head()?;
                self.left = self.agreed.length as usize - self.head_bytes;
                found(Piece::Head(self.sequence));
            }
            let count = bytes.len().min(self.left);
            let (payload, rest) = bytes.split_at(count);
            if !payload.is_empty() {
                found(Piece::Payload(payload));
            }
            self.left -= count;
            bytes = rest;
            if self.left == 0 {
                self.filled = 0;
                found(Piece::End(self.sequence));
            }
        }
        Ok(())
    }

    #[inline]
    fn read_head(&mut self) -> Result<u64, BadMessage> {
        if self.head_bytes == HEADER_BYTES {
            return self.agreed.sequence(&self.head);
        }
        let sequence = self.turn;
        self.turn = sequence.wrapping_add(1);
        match self.agreed.short(sequence)[..self.head_bytes] == self.head[..self.head_bytes] {
            true => Ok(sequence),
            false => Err(BadMessage::OutOfTurn),
        }
    }
}

/// Property that holds for any bytes, whole or cut into pieces: nothing panics, every message found
/// is one that this end would have written, and where a cut is makes no difference.
pub fn any_bytes(bytes: &[u8], length: u32, cut: usize) {
    let length = length.max(1);
    for kind in [MessageKind::Request, MessageKind::Response] {
        let agreed = Agreed {
            kind,
            ticket: 1,
            length,
        };
        let heads = |cut: usize| {
            let (mut reader, mut heads) = (MessageReader::new(agreed), Vec::new());
            let mut found = |piece: Piece<'_>| {
                if let Piece::Head(sequence) = piece {
                    heads.push(sequence);
                }
            };
            let mut parts = bytes.chunks(cut.max(1));
            let read = parts.try_for_each(|part| reader.pieces(part, &mut found));
            (read, heads)
        };
        let at_once = heads(bytes.len());
        let in_pieces = heads(cut);
        assert_eq!(at_once, in_pieces, "where a cut is must not matter");
        let mut written = vec![0; agreed.head_bytes()];
        for (sequence, message) in at_once.1.iter().zip(bytes.chunks(length as usize)) {
            agreed.write(*sequence, &mut written);
            assert_eq!(message[..written.len()], written, "found what nobody wrote");
        }
        if let Ok(sequence) = agreed.datagram(bytes) {
            agreed.write(sequence, &mut written);
            assert_eq!(bytes[..written.len()], written, "found what nobody wrote");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TICKET: u64 = 0x0123_4567_89ab_cdef;
    const SHORT: [u8; 23] = [
        7, 246, 237, 154, 183, 167, 147, 12, 87, 74, 253, 42, 38, 0, 191, 174, 94, 151, 112, 193,
        146, 239, 121,
    ];

    fn message(kind: MessageKind, sequence: u64, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        agreed(kind, length).write(sequence, &mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_are_a_promise() {
        let bytes = message(MessageKind::Request, 7, 32);
        assert_eq!(
            bytes[..20],
            [
                0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 32
            ]
        );
        assert_eq!(bytes.len(), 32);
    }

    #[test]
    fn the_bytes_of_short_messages_are_a_promise() {
        let mut bytes = [0; 23];
        agreed(MessageKind::Request, 23).write(1, &mut bytes);
        assert_eq!(bytes, SHORT);
        let mut one = [0; 1];
        agreed(MessageKind::Request, 1).write(1, &mut one);
        assert_eq!(one, SHORT[..1]);
    }

    fn agreed(kind: MessageKind, length: u32) -> Agreed {
        Agreed {
            kind,
            ticket: TICKET,
            length,
        }
    }

    /// Numbers that a reader finds in these pieces.
    fn read(agreed: Agreed, pieces: &[&[u8]]) -> Result<Vec<u64>, BadMessage> {
        let mut reader = MessageReader::new(agreed);
        let mut found = Vec::new();
        for piece in pieces {
            reader.feed(piece, |sequence| found.push(sequence))?;
        }
        Ok(found)
    }

    #[test]
    fn a_response_is_no_request() {
        let bytes = message(MessageKind::Response, 7, 24);
        let seen = |kind| read(agreed(kind, 24), &[&bytes]);
        assert_eq!(seen(MessageKind::Request), Err(BadMessage::Damaged));
        assert_eq!(seen(MessageKind::Response), Ok(vec![7]));
    }

    #[test]
    fn lengths_of_nothing_and_of_two_gigabytes_are_refused() {
        for length in [0, 1, 23, 25, 1 << 31, u32::MAX] {
            let mut bytes = vec![0; HEADER_BYTES];
            let header = Header {
                ticket: TICKET,
                sequence: 0,
                length,
            };
            header.write(MessageKind::Request, &mut bytes);
            let agreed = agreed(MessageKind::Request, 24);
            let refused = Err(BadMessage::Length(length));
            assert_eq!(read(agreed, &[&bytes]), refused);
            assert_eq!(agreed.datagram(&bytes), refused.map(|_: Vec<u64>| 0));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 24u32..4096) {
            let agreed = agreed(MessageKind::Request, length);
            let found = read(agreed, &[&bytes]);
            prop_assert!(found.is_err() || found == Ok(vec![]));
            prop_assert!(agreed.datagram(&bytes).is_err());
        }

        #[test]
        fn every_flipped_bit_is_found(sequence in any::<u64>(), bit in 0usize..HEADER_BYTES * 8) {
            let mut bytes = message(MessageKind::Request, sequence, 64);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(agreed(MessageKind::Request, 64), &[&bytes]).is_err());
        }

        #[test]
        fn whatever_comes_is_read_alike_in_any_pieces(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0u32..80, cut in 1usize..40) {
            any_bytes(&bytes, length, cut);
        }

        #[test]
        fn a_short_message_out_of_turn_is_found(length in 1u32..24, skipped in 1u64..255, byte in 0usize..24, flip in 1u8..) {
            let agreed = agreed(MessageKind::Response, length);
            let mut bytes = vec![0; length as usize];
            agreed.write(skipped, &mut bytes);
            prop_assert_eq!(read(agreed, &[&bytes]), Err(BadMessage::OutOfTurn));
            agreed.write(0, &mut bytes);
            prop_assert_eq!(read(agreed, &[&bytes]), Ok(vec![0]));
            bytes[byte % length as usize] ^= flip;
            prop_assert_eq!(read(agreed, &[&bytes]), Err(BadMessage::OutOfTurn));
        }

        #[test]
        fn pieces_make_no_difference(length in 1u32..300, count in 1u64..20, cuts in prop::collection::vec(1usize..500, 0..20)) {
            let bytes: Vec<u8> = (0..count).flat_map(|n| message(MessageKind::Response, n, length)).collect();
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let found = read(agreed(MessageKind::Response, length), &pieces);
            prop_assert_eq!(found, Ok((0..count).collect::<Vec<u64>>()));
        }
    }
}
