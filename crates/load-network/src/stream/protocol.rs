//! Bytes of a connection of the stream test.
//!
//! ```text
//! caller → called    8 bytes: the flow's ticket, whichever of the two sends ([`sokudo_workload::link`])
//! sender → receiver  payload: one block over and over, nothing else
//! sender → receiver  the end of the stream: that was all
//! receiver → sender  the end of the other direction: all of it was read
//! ```
//!
//! There are no lengths and no headers, so there is nothing that could be read wrongly: the
//! receiver counts bytes, and the control plane says how many there must be.

/// The block of payload: `bytes` that look random, so that no device on the way makes them fewer.
/// The same seed gives the same block.
pub fn payload(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut block = Vec::with_capacity(bytes + 8);
    while block.len() < bytes {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block.extend_from_slice(&state.to_le_bytes());
    }
    block.truncate(bytes);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_has_its_length_and_does_not_repeat_within_the_block() {
        for bytes in [1, 7, 8, 1000, 128 << 10] {
            assert_eq!(payload(bytes, 42).len(), bytes);
        }
        let block = payload(64 << 10, 0);
        let mut words: Vec<&[u8]> = block.chunks(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 8 << 10);
        assert_eq!(payload(100, 7), payload(100, 7));
    }
}
