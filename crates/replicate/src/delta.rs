//! Blocks of a file that are equal at both ends need not travel.
//!
//! The receiver hashes what it has, block by block (XXH3-128); the sender compares aligned blocks
//! and sends the others. It finds what was changed in place or appended: databases, disk images,
//! logs, and files of which a part has come before. After bytes were inserted everything behind them
//! differs. The two ends trust each other's hashes: who could forge them could send any content.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_128;

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 128 << 10;
/// Smallest file that is compared block by block.
pub const LEAST_BYTES: u64 = 1 << 20;

/// Hashes of the blocks of some bytes that begin at a block's begin.
pub fn hash_blocks(data: &[u8]) -> impl Iterator<Item = u128> {
    data.chunks(BLOCK_BYTES).map(xxh3_128)
}

/// The parts of `data`, which begins at block `first` of the file, that differ from the basis.
pub fn differing(data: &[u8], first: usize, basis: &[u128]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    for (index, hash) in hash_blocks(data).enumerate() {
        let end = (begin + BLOCK_BYTES).min(data.len());
        if basis.get(first + index) != Some(&hash) {
            match parts.last_mut() {
                Some(last) if last.end == begin => last.end = end,
                _ => parts.push(begin..end),
            }
        }
        begin = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_and_the_basis_make_the_file(
            size in 0_usize..6 * BLOCK_BYTES,
            old_size in 0_usize..6 * BLOCK_BYTES,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let mut data: Vec<u8> = (0..size).map(|at| (at / 1000) as u8).collect();
            let mut old = data.clone();
            old.resize(old_size, 9);
            for (at, value) in changes {
                if size > 0 {
                    data[at.index(size)] = value;
                }
            }
            let basis: Vec<u128> = hash_blocks(&old).collect();
            let parts = differing(&data, 0, &basis);
            let mut made = old.clone();
            made.resize(size, 0);
            for part in &parts {
                made[part.clone()].copy_from_slice(&data[part.clone()]);
            }
            prop_assert_eq!(&made, &data);
            for pair in parts.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
        }
    }
}
