//! Packets of the vendor's datagram test.
//!
//! All fields big-endian:
//!
//! ```text
//!  0  u32  magic, "test" in ASCII
//!  4  u32  return port: the UDP port of the sender's listener
//!  8  i64  send time, sender's monotonic nanoseconds; opaque to the receiver
//! 16  i64  ack: a send time of the receiver that has come back, or -1
//! 24  u32  sequence number from 1, one per round        or   u64  the same, 64 bits wide
//! 28  u32… copies of it up to offset 8 + process bytes       32   …
//!  …  u32  from there on the word at offset 4k holds the number k
//! ```
//!
//! Both widths exist because release 24.09 sends 32 bits and expects 64: its listener takes the word
//! behind the number for the lower half, and sees a gap of 2^32 after every packet.
//!
//! Over TCP a connection opens with 24 bytes, then each packet follows with its magic replaced:
//!
//! ```text
//! opening  5ac1e000 00000001            the datagram service behind a shared port
//!          0ddf00da 74657370 fffffff0   magic of the framing, packet magic under the mask, mask
//!          i32                          local port of the connection
//! packet   length (24 bits) | number, rolling (4 bits) | lowest 4 bits of the magic
//!          … the packet from offset 4 on; `length` counts from offset 0
//! ```
//!
//! Nothing here touches a socket.

/// First word of every packet.
pub const MAGIC: u32 = 0x7465_7374;

/// Bytes up to the end of a 32-bit sequence number; no packet is shorter.
pub const HEADER_BYTES: usize = 28;

/// Bytes up to the end of a 64-bit sequence number.
pub const WIDE_HEADER_BYTES: usize = 32;

/// Offset from which the filler is counted: behind magic and return port.
pub const PREFIX_BYTES: usize = 8;

/// Port when an address names none.
pub const DEFAULT_PORT: u16 = 9999;

/// Bytes that open a connection of the TCP framing, with the two words for a shared port.
pub const OPENING_BYTES: usize = 24;

const NO_ACK: i64 = -1;
const SHARED_PORT: u32 = 0x5ac1_e000;
const DATAGRAM_SERVICE: u32 = 1;
const FRAMING_MAGIC: u32 = 0x0ddf_00da;
const MAGIC_MASK: u32 = 0xffff_fff0;

/// Width of a publisher's sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Every publisher of the vendor seen so far.
    Bits32,
    /// Width that the listener of release 24.09 reads.
    Bits64,
}

impl Width {
    /// Shortest packet of this width.
    pub fn header_bytes(self) -> usize {
        match self {
            Width::Bits32 => HEADER_BYTES,
            Width::Bits64 => WIDE_HEADER_BYTES,
        }
    }
}

/// The words at offsets 24 and 28, before the width of the number is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceWords {
    /// At offset 24.
    pub first: u32,
    /// At offset 28; `None` when the packet ends there.
    pub second: Option<u32>,
}

impl SequenceWords {
    /// The width that this packet alone suggests: a 64-bit number below 2^32 begins with a zero
    /// word, and no 32-bit number is zero.
    pub fn width(self) -> Width {
        match (self.first, self.second) {
            (0, Some(second)) if second != 0 => Width::Bits64,
            _ => Width::Bits32,
        }
    }

    /// The number, read in the given width.
    pub fn number(self, width: Width) -> u64 {
        match (width, self.second) {
            (Width::Bits64, Some(second)) => u64::from(self.first) << 32 | u64::from(second),
            _ => u64::from(self.first),
        }
    }
}

/// The fields of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Port of the sender's listener; with the sender's address it names the publisher.
    pub return_port: u16,
    /// Sender's clock at the send, nanoseconds.
    pub send_ns: i64,
    /// Receiver's own clock at a send of its own that this answers, nanoseconds.
    pub ack_ns: Option<i64>,
    /// The sequence number, undecided.
    pub sequence: SequenceWords,
}

/// Reason why bytes are not a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Shorter than [`HEADER_BYTES`].
    #[error("the packet ends inside its header")]
    Short,
    /// Another first word than [`MAGIC`].
    #[error("the packet begins with {0:#010x}, not with {MAGIC:#010x}")]
    Magic(u32),
    /// A return port that UDP does not have.
    #[error("the packet's return port {0} does not exist")]
    ReturnPort(u32),
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline]
fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl Packet {
    /// Reads a datagram.
    #[inline]
    pub fn read(bytes: &[u8]) -> Result<Packet, PacketError> {
        match u32_at(bytes, 0) {
            Some(MAGIC) => Packet::read_unmarked(bytes),
            Some(other) => Err(PacketError::Magic(other)),
            None => Err(PacketError::Short),
        }
    }

    /// Reads a packet whose first word something else has vouched for.
    #[inline]
    pub fn read_unmarked(bytes: &[u8]) -> Result<Packet, PacketError> {
        let fields = || {
            Some((
                u32_at(bytes, 4)?,
                i64_at(bytes, 8)?,
                i64_at(bytes, 16)?,
                u32_at(bytes, 24)?,
            ))
        };
        let (port, send_ns, ack_ns, first) = fields().ok_or(PacketError::Short)?;
        let return_port = u16::try_from(port)
            .ok()
            .filter(|port| *port != 0)
            .ok_or(PacketError::ReturnPort(port))?;
        Ok(Packet {
            return_port,
            send_ns,
            ack_ns: (ack_ns != NO_ACK).then_some(ack_ns),
            sequence: SequenceWords {
                first,
                second: u32_at(bytes, 28),
            },
        })
    }
}

/// Reads one publisher's sequence numbers: remembers their width from the first packet, and counts
/// 32-bit numbers on beyond 2^32.
#[derive(Debug, Clone, Default)]
pub struct SequenceReader {
    width: Option<Width>,
    highest: u64,
}

impl SequenceReader {
    /// The packet's number.
    #[inline]
    pub fn read(&mut self, words: SequenceWords) -> u64 {
        let width = *self.width.get_or_insert_with(|| words.width());
        let number = match width {
            Width::Bits64 => words.number(Width::Bits64),
            Width::Bits32 => self.unwrapped(words.first),
        };
        self.highest = self.highest.max(number);
        number
    }

    /// The width, once a packet has shown it.
    pub fn width(&self) -> Option<Width> {
        self.width
    }

    /// The number with these lower 32 bits that lies nearest to the highest one seen.
    #[inline]
    fn unwrapped(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.highest as u32) as i32;
        match self.highest.checked_add_signed(i64::from(ahead)) {
            // Before anything wrapped, a number is what it says.
            Some(number) if self.highest > u64::from(u32::MAX / 2) => number,
            _ => u64::from(low),
        }
    }
}

/// Fills what is the same in every packet: magic, return port, filler.
pub fn write_constant(slot: &mut [u8], return_port: u16) {
    for (k, word) in (0u32..).zip(slot.chunks_mut(4)) {
        word.copy_from_slice(&k.to_be_bytes()[..word.len()]);
    }
    if let Some(head) = slot.first_chunk_mut::<PREFIX_BYTES>() {
        head[..4].copy_from_slice(&MAGIC.to_be_bytes());
        head[4..].copy_from_slice(&u32::from(return_port).to_be_bytes());
    }
}

/// Values that differ from packet to packet.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Number of the round, from 1.
    pub sequence: u64,
    /// Sender's clock, nanoseconds.
    pub send_ns: i64,
    /// A send time of the receiver to give back.
    pub ack_ns: Option<i64>,
}

impl Round {
    /// Writes times and number into a slot that [`write_constant`] has prepared.
    ///
    /// Copies of the number follow up to offset 8 + `process_bytes`, a multiple of 4. The slot must
    /// hold [`Width::header_bytes`].
    #[inline]
    pub fn write(&self, slot: &mut [u8], width: Width, process_bytes: usize) {
        slot[8..16].copy_from_slice(&self.send_ns.to_be_bytes());
        slot[16..24].copy_from_slice(&self.ack_ns.unwrap_or(NO_ACK).to_be_bytes());
        let end = (PREFIX_BYTES + process_bytes)
            .max(width.header_bytes())
            .min(slot.len());
        let number = self.sequence.to_be_bytes();
        let copies = slot[24..end].chunks_exact_mut(4);
        for (copy, at) in copies.zip([0usize, 4].into_iter().cycle()) {
            let from = match width {
                Width::Bits32 => 4,
                Width::Bits64 => at,
            };
            copy.copy_from_slice(&number[from..from + 4]);
        }
    }
}

/// True when every word behind the number, up to offset 8 + `process_bytes`, is one that some
/// publisher writes there: a half of the number, or the filler.
pub fn processed_intact(bytes: &[u8], words: SequenceWords, process_bytes: usize) -> bool {
    let end = (PREFIX_BYTES + process_bytes).min(bytes.len());
    let behind = bytes.get(HEADER_BYTES..end).unwrap_or_default();
    (7u32..).zip(behind.chunks_exact(4)).all(|(k, word)| {
        let word = u32_at(word, 0);
        word == Some(words.first) || word == words.second || word == Some(k)
    })
}

/// The bytes that open a connection of the TCP framing.
pub fn opening(local_port: u16) -> [u8; OPENING_BYTES] {
    let words = [
        SHARED_PORT,
        DATAGRAM_SERVICE,
        FRAMING_MAGIC,
        MAGIC & MAGIC_MASK,
        MAGIC_MASK,
        u32::from(local_port),
    ];
    let mut bytes = [0; OPENING_BYTES];
    for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// First word of the `number`-th packet of a connection, `length` bytes long.
pub fn frame_word(length: usize, number: u64) -> [u8; 4] {
    let word = (length as u32) << 8 | (number as u32 & 15) << 4 | MAGIC & !MAGIC_MASK;
    word.to_be_bytes()
}

/// Content of the front of a TCP stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Not enough bytes yet.
    More,
    /// The opening, so many bytes long.
    Opening(usize),
    /// A packet of so many bytes; its first word is not the magic.
    Packet(usize),
}

/// Reason why a TCP stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The connection opens otherwise.
    #[error("the connection does not open as the datagram test's TCP framing does")]
    Opening,
    /// A length that no packet has.
    #[error("the stream announces a packet of {0} B")]
    Length(usize),
    /// A packet is missing or the stream is damaged.
    #[error("the stream's packets are out of step")]
    OutOfStep,
}

/// Finds the packets of one connection.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    opened: bool,
    number: u32,
}

impl Frames {
    /// Content of the front of `bytes`. After anything but [`Frame::More`] the caller goes on
    /// behind it. Packets above `max_bytes` are an error.
    pub fn next(&mut self, bytes: &[u8], max_bytes: usize) -> Result<Frame, FrameError> {
        if !self.opened {
            return self.open(bytes);
        }
        let Some(word) = u32_at(bytes, 0) else {
            return Ok(Frame::More);
        };
        let length = (word >> 8) as usize;
        if length < HEADER_BYTES || length > max_bytes {
            return Err(FrameError::Length(length));
        }
        if word & 0xff != (self.number & 15) << 4 | MAGIC & !MAGIC_MASK {
            return Err(FrameError::OutOfStep);
        }
        if bytes.len() < length {
            return Ok(Frame::More);
        }
        self.number = self.number.wrapping_add(1);
        Ok(Frame::Packet(length))
    }

    /// The two words for a shared port may be missing.
    fn open(&mut self, bytes: &[u8]) -> Result<Frame, FrameError> {
        let own = opening(0);
        let (first, at) = match u32_at(bytes, 0) {
            None => return Ok(Frame::More),
            Some(SHARED_PORT) => (0, 0),
            Some(FRAMING_MAGIC) => (8, 8),
            Some(_) => return Err(FrameError::Opening),
        };
        // Everything but the port, which is the caller's.
        let fixed = &own[first..OPENING_BYTES - 4];
        let known = fixed.len().min(bytes.len());
        if bytes[..known] != fixed[..known] {
            return Err(FrameError::Opening);
        }
        if bytes.len() < OPENING_BYTES - at {
            return Ok(Frame::More);
        }
        self.opened = true;
        Ok(Frame::Opening(OPENING_BYTES - at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(length: usize, width: Width, process_bytes: usize, round: Round) -> Vec<u8> {
        let mut slot = vec![0; length];
        write_constant(&mut slot, 9999);
        round.write(&mut slot, width, process_bytes);
        slot
    }

    const ROUND: Round = Round {
        sequence: 5,
        send_ns: 0x0102_0304_0506_0708,
        ack_ns: None,
    };

    #[test]
    fn the_narrow_packet_is_as_documented() {
        let bytes = packet(36, Width::Bits32, 20, ROUND);
        let words: Vec<u32> = (0..9).filter_map(|k| u32_at(&bytes, 4 * k)).collect();
        assert_eq!(
            words,
            [
                0x7465_7374,
                9999,
                0x0102_0304,
                0x0506_0708,
                u32::MAX,
                u32::MAX,
                5,
                7,
                8
            ]
        );
    }

    #[test]
    fn copies_go_as_far_as_asked() {
        let bytes = packet(48, Width::Bits32, 28, ROUND);
        let words: Vec<u32> = (6..12).filter_map(|k| u32_at(&bytes, 4 * k)).collect();
        assert_eq!(words, [5, 5, 5, 9, 10, 11]);
        let bytes = packet(48, Width::Bits64, 32, ROUND);
        let words: Vec<u32> = (6..12).filter_map(|k| u32_at(&bytes, 4 * k)).collect();
        assert_eq!(words, [0, 5, 0, 5, 10, 11]);
    }

    #[test]
    fn a_wide_number_is_what_the_24_09_listener_reads() {
        let bytes = packet(32, Width::Bits64, 20, ROUND);
        assert_eq!(i64_at(&bytes, 24), Some(5));
        assert_eq!(
            Packet::read(&bytes).unwrap().sequence.width(),
            Width::Bits64
        );
    }

    #[test]
    fn strangers_are_told_apart() {
        let mut bytes = packet(28, Width::Bits32, 20, ROUND);
        assert_eq!(Packet::read(&bytes[..27]), Err(PacketError::Short));
        bytes[4] = 1;
        assert!(matches!(
            Packet::read(&bytes),
            Err(PacketError::ReturnPort(_))
        ));
        bytes[0] = 0;
        assert_eq!(Packet::read(&bytes), Err(PacketError::Magic(0x0065_7374)));
    }

    #[test]
    fn narrow_numbers_count_on_beyond_their_width() {
        let mut reader = SequenceReader::default();
        let mut read = |first: u32| {
            reader.read(SequenceWords {
                first,
                second: Some(7),
            })
        };
        assert_eq!(read(u32::MAX - 1), u64::from(u32::MAX) - 1);
        assert_eq!(read(0), 1 << 32);
        assert_eq!(read(u32::MAX), u64::from(u32::MAX));
        assert_eq!(read(7), (1 << 32) + 7);
    }

    #[test]
    fn a_restart_far_back_is_not_a_wrap() {
        let mut reader = SequenceReader::default();
        let mut read = |first: u32| {
            reader.read(SequenceWords {
                first,
                second: Some(7),
            })
        };
        assert_eq!((read(1_000_000), read(1)), (1_000_000, 1));
    }

    #[test]
    fn the_opening_is_read_with_and_without_the_shared_port() {
        for skip in [0, 8] {
            let bytes = opening(50_000);
            let mut frames = Frames::default();
            for cut in 0..OPENING_BYTES - skip {
                assert_eq!(
                    frames.next(&bytes[skip..skip + cut], 65_507),
                    Ok(Frame::More)
                );
            }
            assert_eq!(
                frames.next(&bytes[skip..], 65_507),
                Ok(Frame::Opening(OPENING_BYTES - skip))
            );
        }
        let mut frames = Frames::default();
        assert_eq!(
            frames.next(b"GET / HTTP/1.1\r\n", 65_507),
            Err(FrameError::Opening)
        );
    }

    #[test]
    fn a_missing_packet_is_noticed_on_a_stream() {
        let mut frames = Frames {
            opened: true,
            number: 15,
        };
        let mut bytes = packet(28, Width::Bits32, 20, ROUND);
        bytes[..4].copy_from_slice(&frame_word(28, 15));
        assert_eq!(frames.next(&bytes, 100), Ok(Frame::Packet(28)));
        assert_eq!(frames.next(&bytes, 100), Err(FrameError::OutOfStep));
        bytes[..4].copy_from_slice(&frame_word(28, 16));
        assert_eq!(frames.next(&bytes[..27], 100), Ok(Frame::More));
        assert_eq!(frames.next(&bytes, 27), Err(FrameError::Length(28)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            length in WIDE_HEADER_BYTES..2000usize,
            process in 5usize..200,
            wide in any::<bool>(),
            sequence in 1u64..u64::from(u32::MAX),
            send_ns in any::<i64>(),
            ack_ns in prop::option::of(0..i64::MAX),
        ) {
            let width = if wide { Width::Bits64 } else { Width::Bits32 };
            let process = (process * 4).min((length - PREFIX_BYTES) / 4 * 4);
            let bytes = packet(length, width, process, Round { sequence, send_ns, ack_ns });
            let read = Packet::read(&bytes).unwrap();
            prop_assert_eq!((read.return_port, read.send_ns, read.ack_ns), (9999, send_ns, ack_ns));
            prop_assert_eq!(read.sequence.width(), width);
            prop_assert_eq!(SequenceReader::default().read(read.sequence), sequence);
            prop_assert!(processed_intact(&bytes, read.sequence, process));
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), max in 0usize..300) {
            if let Ok(packet) = Packet::read_unmarked(&bytes) {
                processed_intact(&bytes, packet.sequence, 4 * max);
            }
            let _ = Packet::read(&bytes);
            let mut frames = Frames::default();
            let _ = frames.next(&bytes, max);
            let mut frames = Frames { opened: true, number: 0 };
            if let Ok(Frame::Packet(length)) = frames.next(&bytes, max) {
                prop_assert!(length <= bytes.len());
            }
        }

        #[test]
        fn damage_behind_the_number_is_seen(at in 28usize..200, bit in 0u8..8) {
            // A number whose neighbours are not filler words.
            let round = Round { sequence: 0x0abc_def0, ..ROUND };
            let mut bytes = packet(208, Width::Bits32, 200, round);
            bytes[at] ^= 1 << bit;
            let packet = Packet::read(&bytes).unwrap();
            // The copy right behind the number cannot be told from the lower half of a wide number.
            prop_assert_eq!(processed_intact(&bytes, packet.sequence, 200), at < 32);
        }
    }
}
