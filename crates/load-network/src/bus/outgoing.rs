//! Frames that wait to leave together, and the memory that holds them.

use std::hint::black_box;
use std::io;
use std::ops::Range;

use sokudo_net::memory::Locked;

use super::options::Buffers;

/// Bytes that leave in one call: large enough that the call hardly counts.
pub(crate) const BATCH_BYTES: usize = 256 << 10;

/// Memory for bytes on their way.
pub(crate) enum Memory {
    /// Kept.
    Pool(Vec<u8>),
    /// Asked for anew each time.
    Heap(Vec<u8>),
    /// Kept, and never written to a disk.
    Registered(Locked),
}

impl Memory {
    /// `bytes` of memory of this kind.
    ///
    /// Errors: the system lets this process lock no more memory.
    pub(crate) fn new(kind: Buffers, bytes: usize) -> io::Result<Self> {
        Ok(match kind {
            Buffers::Pool => Memory::Pool(vec![0; bytes]),
            Buffers::Heap => Memory::Heap(vec![0; bytes]),
            Buffers::Registered => Memory::Registered(Locked::new(bytes)?),
        })
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Memory::Pool(bytes) | Memory::Heap(bytes) => bytes,
            Memory::Registered(locked) => locked.bytes(),
        }
    }

    /// Reuses the memory once its content has left.
    #[inline]
    pub(crate) fn renew(&mut self) {
        if let Memory::Heap(bytes) = self {
            *bytes = black_box(vec![0; bytes.len()]);
        }
    }
}

/// Frames that have not left yet.
pub(crate) struct Outgoing {
    memory: Memory,
    capacity: usize,
    /// Bytes that are in it, and of these those that have left.
    filled: usize,
    gone: usize,
    /// Frames in it.
    frames: u32,
}

impl Outgoing {
    /// Room for a batch, or for one frame of `largest` bytes when that is more.
    pub(crate) fn new(kind: Buffers, largest: usize) -> io::Result<Self> {
        let capacity = largest.max(BATCH_BYTES);
        Ok(Self {
            memory: Memory::new(kind, capacity)?,
            capacity,
            filled: 0,
            gone: 0,
            frames: 0,
        })
    }

    /// True when a frame of `bytes` fits behind the others.
    #[inline]
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.filled + bytes <= self.capacity
    }

    /// Memory for one more frame, with whatever an earlier one left in it.
    #[inline]
    pub(crate) fn frame(&mut self, bytes: usize) -> &mut [u8] {
        let place: Range<usize> = self.filled..self.filled + bytes;
        self.filled += bytes;
        self.frames += 1;
        &mut self.memory.bytes()[place]
    }

    /// Frames of which something has not left.
    #[inline]
    pub(crate) fn frames(&self) -> u32 {
        self.frames
    }

    /// Bytes to hand over next.
    #[inline]
    pub(crate) fn rest(&mut self) -> &[u8] {
        let place = self.gone..self.filled;
        &self.memory.bytes()[place]
    }

    /// So many bytes have left.
    #[inline]
    pub(crate) fn left(&mut self, bytes: usize) {
        self.gone += bytes;
        if self.gone == self.filled {
            self.filled = 0;
            self.gone = 0;
            self.frames = 0;
            self.memory.renew();
        }
    }
}

/// Writes payload, `step` bytes per access.
#[inline]
pub(crate) fn fill(payload: &mut [u8], step: usize, seed: u8) {
    for (number, chunk) in payload.chunks_mut(step).enumerate() {
        black_box(&mut *chunk).fill(number as u8 ^ seed);
    }
}

/// Reads payload, `step` bytes per access.
#[inline]
pub(crate) fn look_at(payload: &[u8], step: usize) {
    for chunk in payload.chunks(step) {
        black_box(chunk.iter().fold(0u8, |all, byte| all ^ byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_and_in_parts() {
        let mut outgoing = Outgoing::new(Buffers::Heap, 10).unwrap();
        outgoing.frame(3).copy_from_slice(b"abc");
        outgoing.frame(2).copy_from_slice(b"de");
        assert_eq!((outgoing.frames(), outgoing.rest()), (2, &b"abcde"[..]));
        outgoing.left(4);
        assert_eq!(outgoing.rest(), b"e");
        outgoing.left(1);
        assert!(outgoing.frames() == 0 && outgoing.rest().is_empty());
        assert!(outgoing.fits(BATCH_BYTES) && !outgoing.fits(BATCH_BYTES + 1));
    }

    #[test]
    fn every_byte_is_touched() {
        for step in [1, 8, 1000] {
            let mut payload = vec![7; 1000];
            fill(&mut payload, step, 0x55);
            let untouched = payload.iter().filter(|byte| **byte == 7).count();
            assert!(untouched < 100, "{untouched} with step {step}");
            look_at(&payload, step);
        }
    }
}
