//! What does a request look like on the wire, and what its response?
//!
//! Both have the same header, all fields big-endian, [`HEADER_BYTES`] long; the rest is payload:
//!
//! ```text
//!  0  u64  ticket: the flow's secret number; nothing else is answered
//!  8  u64  sequence number of the request, from 0, one count per connection
//! 16  u32  length of the whole message, this header included
//! 20  u32  check over bytes 0..20 and the direction: a request is no response
//! ```
//!
//! The sizes of requests and responses are agreed on before, so a length that is another one ends
//! the connection at once: nothing is ever allocated for what a peer claims.

/// Bytes before the payload; no message is shorter.
pub const HEADER_BYTES: usize = 24;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

/// Why bytes are no message of this flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The check does not fit the fields: damaged, of the wrong direction, or not ours.
    #[error("what came is no message of this test")]
    Damaged,
    /// The ticket of another flow.
    #[error("the message belongs to another flow")]
    Stranger,
    /// Another length than agreed on.
    #[error("the message claims {0} B, which was not agreed on")]
    Length(u32),
}

/// Mixes the header's words so that any changed bit changes the result (a multiply-xor fold, not
/// a cryptographic function: tickets keep strangers out, this finds damage).
#[inline]
fn check(kind: Kind, header: &Header) -> u32 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let direction = match kind {
        Kind::Request => 0x5e9d,
        Kind::Response => 0xa25e,
    };
    let mut mix = header.ticket.wrapping_mul(K) ^ header.sequence;
    mix = (mix ^ (mix >> 29)).wrapping_mul(K) ^ (u64::from(header.length) << 16 | direction);
    mix = (mix ^ (mix >> 31)).wrapping_mul(K);
    (mix >> 32) as u32
}

impl Header {
    /// Writes the header to the front of `message`, which must hold it.
    #[inline]
    pub fn write(&self, kind: Kind, message: &mut [u8]) {
        let message = &mut message[..HEADER_BYTES];
        message[0..8].copy_from_slice(&self.ticket.to_be_bytes());
        message[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        message[16..20].copy_from_slice(&self.length.to_be_bytes());
        message[20..24].copy_from_slice(&check(kind, self).to_be_bytes());
    }

    /// Reads the header at the front of `bytes`; `None` when there are too few of them, or when
    /// the check does not fit.
    #[inline]
    pub fn read(kind: Kind, bytes: &[u8]) -> Option<Header> {
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

/// What messages of one flow in one direction look like.
#[derive(Debug, Clone, Copy)]
pub struct Agreed {
    /// Requests or responses.
    pub kind: Kind,
    /// The flow's secret number.
    pub ticket: u64,
    /// Bytes of each message; at least [`HEADER_BYTES`].
    pub length: u32,
}

impl Agreed {
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

    /// Sequence number of a whole datagram.
    #[inline]
    pub fn datagram(&self, bytes: &[u8]) -> Result<u64, BadMessage> {
        let sequence = self.sequence(bytes)?;
        match bytes.len() == self.length as usize {
            true => Ok(sequence),
            false => Err(BadMessage::Damaged),
        }
    }

    /// Writes the header of message `sequence` to the front of `message`.
    #[inline]
    pub fn write(&self, sequence: u64, message: &mut [u8]) {
        let header = Header {
            ticket: self.ticket,
            sequence,
            length: self.length,
        };
        header.write(self.kind, message);
    }
}

/// Finds messages in a stream of bytes that comes in pieces. Payload is passed over, not kept.
#[derive(Debug, Clone)]
pub struct Reader {
    agreed: Agreed,
    head: [u8; HEADER_BYTES],
    /// Bytes of the current header that have come.
    filled: usize,
    /// Bytes of the current message that are still to come, once its header is whole.
    left: usize,
    sequence: u64,
}

impl Reader {
    /// Reads messages of this shape.
    pub fn new(agreed: Agreed) -> Self {
        Self {
            agreed,
            head: [0; HEADER_BYTES],
            filled: 0,
            left: 0,
            sequence: 0,
        }
    }

    /// Takes the next piece and calls `whole` with the sequence number of each message that it
    /// completes.
    ///
    /// Errors: what came is no message. Nothing after it can be read.
    #[inline]
    pub fn feed(&mut self, mut bytes: &[u8], mut whole: impl FnMut(u64)) -> Result<(), BadMessage> {
        while !bytes.is_empty() {
            if self.filled < HEADER_BYTES {
                let count = bytes.len().min(HEADER_BYTES - self.filled);
                self.head[self.filled..][..count].copy_from_slice(&bytes[..count]);
                self.filled += count;
                bytes = &bytes[count..];
                if self.filled < HEADER_BYTES {
                    return Ok(());
                }
                self.sequence = self.agreed.sequence(&self.head)?;
                self.left = self.agreed.length as usize - HEADER_BYTES;
            }
            let count = bytes.len().min(self.left);
            self.left -= count;
            bytes = &bytes[count..];
            if self.left == 0 {
                self.filled = 0;
                whole(self.sequence);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TICKET: u64 = 0x0123_4567_89ab_cdef;

    fn message(kind: Kind, sequence: u64, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; (length as usize).max(HEADER_BYTES)];
        let header = Header {
            ticket: TICKET,
            sequence,
            length,
        };
        header.write(kind, &mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_are_a_promise() {
        let bytes = message(Kind::Request, 7, 32);
        assert_eq!(
            bytes[..20],
            [
                0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 32
            ]
        );
        assert_eq!(bytes.len(), 32);
    }

    fn agreed(kind: Kind, length: u32) -> Agreed {
        Agreed {
            kind,
            ticket: TICKET,
            length,
        }
    }

    /// What a reader finds in these pieces.
    fn read(agreed: Agreed, pieces: &[&[u8]]) -> Result<Vec<u64>, BadMessage> {
        let mut reader = Reader::new(agreed);
        let mut found = Vec::new();
        for piece in pieces {
            reader.feed(piece, |sequence| found.push(sequence))?;
        }
        Ok(found)
    }

    #[test]
    fn a_response_is_no_request() {
        let bytes = message(Kind::Response, 7, 24);
        let seen = |kind| read(agreed(kind, 24), &[&bytes]);
        assert_eq!(seen(Kind::Request), Err(BadMessage::Damaged));
        assert_eq!(seen(Kind::Response), Ok(vec![7]));
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
            header.write(Kind::Request, &mut bytes);
            let agreed = agreed(Kind::Request, 24);
            let refused = Err(BadMessage::Length(length));
            assert_eq!(read(agreed, &[&bytes]), refused);
            assert_eq!(agreed.datagram(&bytes), refused.map(|_: Vec<u64>| 0));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 24u32..4096) {
            let agreed = agreed(Kind::Request, length);
            let found = read(agreed, &[&bytes]);
            prop_assert!(found.is_err() || found == Ok(vec![]));
            prop_assert!(agreed.datagram(&bytes).is_err());
        }

        #[test]
        fn every_flipped_bit_is_found(sequence in any::<u64>(), bit in 0usize..HEADER_BYTES * 8) {
            let mut bytes = message(Kind::Request, sequence, 64);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(agreed(Kind::Request, 64), &[&bytes]).is_err());
        }

        #[test]
        fn pieces_make_no_difference(length in 24u32..300, count in 1u64..20, cuts in prop::collection::vec(1usize..500, 0..20)) {
            let bytes: Vec<u8> = (0..count).flat_map(|n| message(Kind::Response, n, length)).collect();
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let found = read(agreed(Kind::Response, length), &pieces);
            prop_assert_eq!(found, Ok((0..count).collect::<Vec<u64>>()));
        }
    }
}
