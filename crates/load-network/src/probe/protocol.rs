//! Probes and answers on the wire.
//!
//! All fields big-endian; both are padded with zeros to the size that was agreed on, so that both
//! ways carry the same load:
//!
//! ```text
//! probe                                        answer
//!  0  u64  ticket: the flow's secret number     0  u64  ticket
//!  8  u64  sequence number, from 0              8  u64  sequence number of the probe
//! 16  u32  length of the datagram              16  u64  number of the answer, from 0: one per arrival
//! 20  u32  check over bytes 0..20              24  i64  arrival of the probe, answering host's clock, ns
//!                                              32  i64  departure of the answer, same clock, ns
//!                                              40  u32  length of the datagram
//!                                              44  u32  check over bytes 0..44
//! ```
//!
//! Answers have numbers of their own: a hole in them was lost on the way back, and whatever else is
//! missing never reached the far end.

/// Bytes of an answer's fields; no probe is shorter.
pub const HEADER_BYTES: usize = 48;

/// Bytes of a probe's fields.
const PROBE_BYTES: usize = 24;

/// Clock readings above this are longer than any host is up (146 years).
const MAX_CLOCK_NS: i64 = 1 << 62;

/// The answering host's statement about one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Sequence number of the probe.
    pub sequence: u64,
    /// Number of the answer.
    pub number: u64,
    /// Arrival of the probe on the answering host's clock, nanoseconds.
    pub received_ns: i64,
    /// Departure of the answer on the same clock, nanoseconds; not before the arrival.
    pub sent_ns: i64,
}

/// Mixes words so that any changed bit changes the result (a multiply-xor fold, not a cryptographic
/// function: tickets keep strangers out, this finds damage).
#[inline]
fn check<const N: usize>(words: [u64; N]) -> u32 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = words.into_iter().fold(N as u64, |mix, word| {
        let mixed = (mix ^ word).wrapping_mul(K);
        mixed ^ (mixed >> 29)
    });
    (mix.wrapping_mul(K) >> 32) as u32
}

fn u64_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(word)
}

fn u32_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(word)
}

/// Probes and answers of one flow.
#[derive(Debug, Clone, Copy)]
pub struct Agreed {
    /// The flow's secret number.
    pub ticket: u64,
    /// Bytes of every datagram; at least [`HEADER_BYTES`].
    pub length: u32,
}

impl Agreed {
    fn probe_check(self, sequence: u64) -> u32 {
        check([self.ticket, sequence, u64::from(self.length)])
    }

    fn answer_check(self, answer: &Answer) -> u32 {
        check([
            self.ticket,
            answer.sequence,
            answer.number,
            answer.received_ns as u64,
            answer.sent_ns as u64,
            u64::from(self.length),
        ])
    }

    /// Writes a probe to the front of `bytes`, which must hold [`HEADER_BYTES`].
    #[inline]
    pub fn write_probe(self, sequence: u64, bytes: &mut [u8]) {
        let bytes = &mut bytes[..PROBE_BYTES];
        bytes[0..8].copy_from_slice(&self.ticket.to_be_bytes());
        bytes[8..16].copy_from_slice(&sequence.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.probe_check(sequence).to_be_bytes());
    }

    /// Writes an answer to the front of `bytes`, which must hold [`HEADER_BYTES`].
    #[inline]
    pub fn write_answer(self, answer: &Answer, bytes: &mut [u8]) {
        let bytes = &mut bytes[..HEADER_BYTES];
        bytes[0..8].copy_from_slice(&self.ticket.to_be_bytes());
        bytes[8..16].copy_from_slice(&answer.sequence.to_be_bytes());
        bytes[16..24].copy_from_slice(&answer.number.to_be_bytes());
        bytes[24..32].copy_from_slice(&answer.received_ns.to_be_bytes());
        bytes[32..40].copy_from_slice(&answer.sent_ns.to_be_bytes());
        bytes[40..44].copy_from_slice(&self.length.to_be_bytes());
        bytes[44..48].copy_from_slice(&self.answer_check(answer).to_be_bytes());
    }

    /// The front of a datagram of this flow; `None` for another length or another ticket.
    fn front(self, bytes: &[u8]) -> Option<&[u8; HEADER_BYTES]> {
        let head = bytes.first_chunk::<HEADER_BYTES>()?;
        let own = bytes.len() == self.length as usize && u64_at(head, 0) == self.ticket;
        own.then_some(head)
    }

    /// Sequence number of a whole datagram that is a probe of this flow; `None` for anything else.
    #[inline]
    pub fn read_probe(self, bytes: &[u8]) -> Option<u64> {
        let head = self.front(bytes)?;
        let sequence = u64_at(head, 8);
        let whole = u32_at(head, 16) == self.length;
        (whole && u32_at(head, 20) == self.probe_check(sequence)).then_some(sequence)
    }

    /// A whole datagram that is an answer of this flow; `None` for anything else, also for clock
    /// readings that no host can have.
    #[inline]
    pub fn read_answer(self, bytes: &[u8]) -> Option<Answer> {
        let head = self.front(bytes)?;
        let answer = Answer {
            sequence: u64_at(head, 8),
            number: u64_at(head, 16),
            received_ns: u64_at(head, 24) as i64,
            sent_ns: u64_at(head, 32) as i64,
        };
        let whole =
            u32_at(head, 40) == self.length && u32_at(head, 44) == self.answer_check(&answer);
        let possible = 0 <= answer.received_ns
            && answer.received_ns <= answer.sent_ns
            && answer.sent_ns < MAX_CLOCK_NS;
        (whole && possible).then_some(answer)
    }
}

/// Looks at any bytes as a probe and as an answer, for the fuzz target: what is read writes itself
/// again, bit for bit.
pub fn any_bytes(bytes: &[u8]) {
    let agreed = Agreed {
        ticket: bytes
            .first_chunk()
            .map_or(0, |ticket| u64::from_be_bytes(*ticket)),
        length: bytes.len() as u32,
    };
    let mut again = bytes.to_vec();
    if let Some(sequence) = agreed.read_probe(bytes) {
        agreed.write_probe(sequence, &mut again);
    }
    if let Some(answer) = agreed.read_answer(bytes) {
        agreed.write_answer(&answer, &mut again);
    }
    assert_eq!(again, bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AGREED: Agreed = Agreed {
        ticket: 0x0123_4567_89ab_cdef,
        length: 64,
    };

    const ANSWER: Answer = Answer {
        sequence: 7,
        number: 5,
        received_ns: 1_000,
        sent_ns: 1_200,
    };

    fn probe(sequence: u64) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        AGREED.write_probe(sequence, &mut bytes);
        bytes
    }

    fn answer(answer: &Answer) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        AGREED.write_answer(answer, &mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_are_a_promise() {
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        let golden = include_str!("testdata/datagrams.hex");
        let written = format!("{}\n{}\n", hex(&probe(7)), hex(&answer(&ANSWER)));
        assert_eq!(written, golden);
    }

    #[test]
    fn a_probe_is_no_answer() {
        assert_eq!(AGREED.read_probe(&probe(9)), Some(9));
        assert_eq!(AGREED.read_answer(&probe(9)), None);
        assert_eq!(AGREED.read_answer(&answer(&ANSWER)), Some(ANSWER));
        assert_eq!(AGREED.read_probe(&answer(&ANSWER)), None);
    }

    #[test]
    fn other_flows_and_other_lengths_are_strangers() {
        let bytes = probe(1);
        let other = Agreed {
            ticket: AGREED.ticket ^ 1,
            ..AGREED
        };
        assert_eq!(other.read_probe(&bytes), None);
        assert_eq!(AGREED.read_probe(&bytes[..63]), None);
        assert_eq!(AGREED.read_probe(&[bytes, vec![0]].concat()), None);
    }

    #[test]
    fn times_that_no_host_can_have_are_refused() {
        for (received_ns, sent_ns) in [
            (-1, 5),
            (6, 5),
            (i64::MIN, i64::MAX),
            (1, i64::MAX),
            (5, -5),
        ] {
            let impossible = Answer {
                received_ns,
                sent_ns,
                ..ANSWER
            };
            assert_eq!(AGREED.read_answer(&answer(&impossible)), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            any_bytes(&bytes);
            prop_assert_eq!(AGREED.read_probe(&bytes), None);
            prop_assert_eq!(AGREED.read_answer(&bytes), None);
        }

        #[test]
        fn what_is_written_is_read(sequence: u64, number: u64, received_ns in 0i64..1 << 61, held in 0i64..1 << 40) {
            let wanted = Answer { sequence, number, received_ns, sent_ns: received_ns + held };
            any_bytes(&answer(&wanted));
            any_bytes(&probe(sequence));
            prop_assert_eq!(AGREED.read_answer(&answer(&wanted)), Some(wanted));
            prop_assert_eq!(AGREED.read_probe(&probe(sequence)), Some(sequence));
        }

        #[test]
        fn every_flipped_bit_is_found(sequence: u64, bit in 0usize..HEADER_BYTES * 8) {
            let mut bytes = answer(&Answer { sequence, ..ANSWER });
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(AGREED.read_answer(&bytes), None);
            if bit < PROBE_BYTES * 8 {
                let mut bytes = probe(sequence);
                bytes[bit / 8] ^= 1 << (bit % 8);
                prop_assert_eq!(AGREED.read_probe(&bytes), None);
            }
        }
    }
}
