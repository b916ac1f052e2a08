//! Test datagrams on the wire.
//!
//! All fields big-endian, [`HEADER_BYTES`] long, the rest is payload:
//!
//! ```text
//!  0  u64  ticket: the flow's secret number; a receiver counts nothing else
//!  8  u64  sequence number, from 0, one per flow
//! 16  i64  send time, sender's monotonic nanoseconds; opaque to the receiver
//! 24  u32  flags: bit 0 = please acknowledge, bit 1 = this is an acknowledgement
//! 28  u32  check over bytes 0..28
//! 32  …    payload: first the verified bytes, then zeros
//! ```
//!
//! An acknowledgement is the same header sent back, its send time moved forward by the time the
//! receiver held it, so that `now - send time` is the round trip without the holding time.
//!
//! A receiver of UDP also says from time to time that it is there: an acknowledgement with the highest
//! sequence number of all, which no datagram has.
//!
//! Over a stream each datagram is preceded by its length as u32.

/// Bytes before the payload; no datagram is shorter.
pub const HEADER_BYTES: usize = 32;

/// Bytes of the length in front of a datagram on a stream.
pub const FRAME_BYTES: usize = 4;

/// Sequence number of a sign of life.
const SIGN_OF_LIFE: u64 = u64::MAX;

const ACK_WANTED: u32 = 1;
const ACK: u32 = 2;

/// The fields before the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The flow's secret number.
    pub ticket: u64,
    /// Sequence number, from 0.
    pub sequence: u64,
    /// Sender's monotonic clock at the send, nanoseconds.
    pub send_ns: i64,
    /// The sender wants an acknowledgement.
    pub ack_wanted: bool,
    /// This is an acknowledgement.
    pub ack: bool,
}

/// Reason why bytes are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    Short,
    /// The check does not fit the fields: damaged on the way, or not ours.
    Damaged,
}

/// Mixes the header's words so that any changed bit changes the result (a multiply-xor fold, not
/// a cryptographic function: tickets keep strangers out, this finds damage).
#[inline]
fn check(ticket: u64, sequence: u64, send_ns: i64, flags: u32) -> u32 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mix = ticket.wrapping_mul(K) ^ sequence;
    mix = (mix ^ (mix >> 29)).wrapping_mul(K) ^ send_ns as u64;
    mix = (mix ^ (mix >> 31)).wrapping_mul(K) ^ u64::from(flags);
    mix = (mix ^ (mix >> 30)).wrapping_mul(K);
    (mix >> 32) as u32
}

impl Header {
    /// A receiver's statement that it is there.
    pub fn sign_of_life(ticket: u64) -> Self {
        Self {
            ticket,
            sequence: SIGN_OF_LIFE,
            send_ns: 0,
            ack_wanted: false,
            ack: true,
        }
    }

    /// True for such a statement: it acknowledges nothing.
    #[inline]
    pub fn is_sign_of_life(&self) -> bool {
        self.ack && self.sequence == SIGN_OF_LIFE
    }

    /// Writes the header to the front of `slot`, which must hold it.
    #[inline]
    pub fn write(&self, slot: &mut [u8]) {
        let flags = u32::from(self.ack_wanted) * ACK_WANTED + u32::from(self.ack) * ACK;
        let slot = &mut slot[..HEADER_BYTES];
        slot[0..8].copy_from_slice(&self.ticket.to_be_bytes());
        slot[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        slot[16..24].copy_from_slice(&self.send_ns.to_be_bytes());
        slot[24..28].copy_from_slice(&flags.to_be_bytes());
        let check = check(self.ticket, self.sequence, self.send_ns, flags);
        slot[28..32].copy_from_slice(&check.to_be_bytes());
    }

    /// Reads the header at the front of a datagram.
    #[inline]
    pub fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(HeaderError::Short);
        };
        let ticket = u64_at(head, 0);
        let sequence = u64_at(head, 8);
        let send_ns = u64_at(head, 16) as i64;
        let flags = u32_at(head, 24);
        if u32_at(head, 28) != check(ticket, sequence, send_ns, flags) {
            return Err(HeaderError::Damaged);
        }
        Ok(Header {
            ticket,
            sequence,
            send_ns,
            ack_wanted: flags & ACK_WANTED != 0,
            ack: flags & ACK != 0,
        })
    }
}

#[inline]
fn u64_at(head: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&head[at..at + 8]);
    u64::from_be_bytes(word)
}

#[inline]
fn u32_at(head: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&head[at..at + 4]);
    u32::from_be_bytes(word)
}

/// Byte `at` of the verified part of datagram `sequence`.
#[inline]
fn pattern(sequence: u64, at: usize) -> u8 {
    (sequence as u8).wrapping_mul(31).wrapping_add(at as u8)
}

/// Fills the verified bytes: those from the header's end up to `verify_bytes` of the datagram.
#[inline]
pub fn fill_verified(slot: &mut [u8], sequence: u64, verify_bytes: usize) {
    let end = verify_bytes.min(slot.len());
    for (at, byte) in slot.iter_mut().enumerate().take(end).skip(HEADER_BYTES) {
        *byte = pattern(sequence, at);
    }
}

/// True when the verified bytes are as the sender wrote them.
#[inline]
pub fn verified_intact(bytes: &[u8], sequence: u64, verify_bytes: usize) -> bool {
    let end = verify_bytes.min(bytes.len());
    bytes
        .iter()
        .enumerate()
        .take(end)
        .skip(HEADER_BYTES)
        .all(|(at, byte)| *byte == pattern(sequence, at))
}

/// The next datagram of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole datagram and the bytes that it took, length included.
    Whole(&'a [u8], usize),
    /// More bytes are needed.
    More,
    /// The length is not possible: 0, less than a header, or more than `max_bytes`.
    BadLength(u32),
}

/// Looks for a datagram at the front of `bytes` of a stream.
pub fn next_frame(bytes: &[u8], max_bytes: usize) -> Frame<'_> {
    let Some(length) = bytes.first_chunk::<FRAME_BYTES>() else {
        return Frame::More;
    };
    let length = u32::from_be_bytes(*length);
    if (length as usize) < HEADER_BYTES || length as usize > max_bytes {
        return Frame::BadLength(length);
    }
    let end = FRAME_BYTES + length as usize;
    match bytes.get(FRAME_BYTES..end) {
        Some(datagram) => Frame::Whole(datagram, end),
        None => Frame::More,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(ticket: u64, sequence: u64, send_ns: i64, ack_wanted: bool) -> Header {
        Header {
            ticket,
            sequence,
            send_ns,
            ack_wanted,
            ack: false,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(t: u64, s: u64, n: i64, a: bool) {
            let mut slot = [0u8; HEADER_BYTES];
            let sent = header(t, s, n, a);
            sent.write(&mut slot);
            prop_assert_eq!(Header::read(&slot), Ok(sent));
        }

        #[test]
        fn any_flipped_bit_is_noticed(t: u64, s: u64, n: i64, bit in 0usize..HEADER_BYTES * 8) {
            let mut slot = [0u8; HEADER_BYTES];
            header(t, s, n, false).write(&mut slot);
            slot[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Header::read(&slot), Err(HeaderError::Damaged));
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Header::read(&bytes);
            let _ = next_frame(&bytes, 1500);
            let _ = verified_intact(&bytes, 7, 1000);
        }
    }

    #[test]
    fn verified_bytes_show_damage() {
        let mut slot = vec![0u8; 100];
        fill_verified(&mut slot, 9, 80);
        assert!(verified_intact(&slot, 9, 80));
        slot[79] ^= 1;
        assert!(!verified_intact(&slot, 9, 80));
        assert!(verified_intact(&slot, 9, 79));
    }

    #[test]
    fn frames_are_cut_where_their_length_says() {
        let mut stream = 40u32.to_be_bytes().to_vec();
        stream.extend([5; 40]);
        stream.extend(1u32.to_be_bytes());
        assert_eq!(next_frame(&stream[..3], 1500), Frame::More);
        assert_eq!(next_frame(&stream[..43], 1500), Frame::More);
        assert_eq!(next_frame(&stream, 1500), Frame::Whole(&[5; 40], 44));
        assert_eq!(next_frame(&stream[44..], 1500), Frame::BadLength(1));
        assert_eq!(
            next_frame(&0x8000_0000u32.to_be_bytes(), 1500),
            Frame::BadLength(0x8000_0000)
        );
    }
}
