//! A lock-free byte ring in shared memory with one writer and one reader.
//!
//! ```text
//!            taken                written
//! ───────────┬────────────────────┬───────────────      positions only grow; a byte's place is
//!  free      │ ready for reader   │ free for writer     its position modulo the ring's size
//! ───────────┴────────────────────┴───────────────
//! ```
//!
//! **Order.** The writer fills bytes, then stores `written` with release; the reader loads it with
//! acquire, so the bytes are there. The reader copies bytes out, then stores `taken` with release;
//! the writer loads it with acquire, so it overwrites only bytes that are out.
//!
//! **Sleep.** A side that found nothing to do stores 1 to its `parked` word, checks the positions
//! again, then sleeps while the word is 1. The other side publishes its position, then reads that
//! word. Both sides separate the two steps by a sequentially consistent fence: at least one of them
//! sees the other's store, so either the second check finds work or the waker finds the word set.
//! When the waker clears the word before the sleeper sleeps, the kernel refuses the sleep.
//!
//! **Distrust.** The other process may write anything anywhere in the memory. Positions are checked
//! against the ring's size before use, own positions are kept outside the shared memory, and
//! sleeps are bounded, so the worst result is garbage bytes or the error [`Broken`].

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::thread::futex;

/// The other side's position is impossible: the other side has corrupted the ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// One value on its own pair of cache lines, so that the two sides do not disturb each other.
#[repr(C, align(128))]
#[derive(Default)]
pub(super) struct Lone<T>(T);

/// The shared state of one ring, in front of its bytes. All-zero is a fresh ring.
#[repr(C)]
#[derive(Default)]
pub(super) struct Header {
    written: Lone<AtomicU64>,
    taken: Lone<AtomicU64>,
    reader_parked: Lone<AtomicU32>,
    writer_parked: Lone<AtomicU32>,
    /// The writer will write no more.
    ended: Lone<AtomicU32>,
    /// The reader will read no more.
    refused: Lone<AtomicU32>,
}

impl Header {
    /// Informs the reader that no more bytes follow.
    pub(super) fn end(&self) {
        self.ended.0.store(1, Ordering::Release);
        wake(&self.reader_parked.0);
    }

    /// Informs the writer that no more bytes are read.
    pub(super) fn refuse(&self) {
        self.refused.0.store(1, Ordering::Release);
        wake(&self.writer_parked.0);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.0.load(Ordering::Acquire) != 0
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.0.load(Ordering::Acquire) != 0
    }

    /// Wakes the sides that sleep on this ring, so that they check it again.
    pub(super) fn wake_both(&self) {
        wake(&self.reader_parked.0);
        wake(&self.writer_parked.0);
    }
}

/// Wakes the side that sleeps on `parked`, if one does.
#[inline]
fn wake(parked: &AtomicU32) {
    fence(Ordering::SeqCst);
    if parked.load(Ordering::Relaxed) != 0 && parked.swap(0, Ordering::Relaxed) != 0 {
        // Fails only for an address that is not mapped, and ours is.
        let _ = futex::wake(parked, futex::Flags::empty(), 1);
    }
}

/// Sleeps until woken, at most for `bound`, unless `idle` turns false before.
fn park(parked: &AtomicU32, idle: impl FnOnce() -> bool, bound: Duration) {
    parked.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if idle() {
        let timeout = Timespec {
            tv_sec: bound.as_secs() as _,
            tv_nsec: bound.subsec_nanos() as _,
        };
        // Woken, timed out, interrupted or refused: the caller checks again in each case.
        let _ = futex::wait(parked, futex::Flags::empty(), 1, Some(&timeout));
    }
    parked.store(0, Ordering::Relaxed);
}

/// Keeps memory mapped.
pub(super) trait Memory: Send + Sync {
    /// First byte.
    fn start(&self) -> NonNull<u8>;
    /// Mapped bytes.
    fn length(&self) -> usize;
}

/// Position of one ring in shared memory.
#[derive(Clone)]
pub(super) struct Ring {
    memory: Arc<dyn Memory>,
    header_at: usize,
    data_at: usize,
    size: usize,
}

impl Ring {
    /// A ring whose header and bytes begin at these offsets. `None` when it does not lie inside
    /// the memory, is misaligned, or has a size that is not a power of two.
    pub(super) fn new(
        memory: Arc<dyn Memory>,
        header_at: usize,
        data_at: usize,
        size: usize,
    ) -> Option<Self> {
        let header_end = header_at.checked_add(size_of::<Header>())?;
        let data_end = data_at.checked_add(size)?;
        let start = memory.start().as_ptr() as usize;
        let aligned = start.checked_add(header_at)? % align_of::<Header>() == 0;
        let inside = header_end <= memory.length() && data_end <= memory.length();
        let apart = header_end <= data_at || data_end <= header_at;
        (aligned && inside && apart && size.is_power_of_two()).then_some(Self {
            memory,
            header_at,
            data_at,
            size,
        })
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: `new` checked that the header lies inside the memory, aligned; it is mapped as
        // long as `self.memory` lives, holds nothing but atomics, and every bit pattern is valid.
        unsafe { &*self.memory.start().as_ptr().add(self.header_at).cast() }
    }

    #[inline]
    fn data(&self) -> *mut u8 {
        // SAFETY: `new` checked that `size` bytes from here lie inside the memory.
        unsafe { self.memory.start().as_ptr().add(self.data_at) }
    }

    /// Splits `count` bytes at `position` where the ring wraps: place, first part, second part.
    #[inline]
    fn parts(&self, position: u64, count: usize) -> (usize, usize, usize) {
        let place = (position as usize) & (self.size - 1);
        let first = count.min(self.size - place);
        (place, first, count - first)
    }

    /// Distance of `ahead` in front of `behind`; `None` when it is impossible.
    #[inline]
    fn distance(&self, ahead: u64, behind: u64) -> Result<usize, Broken> {
        match ahead.wrapping_sub(behind) {
            n if n <= self.size as u64 => Ok(n as usize),
            _ => Err(Broken),
        }
    }
}

/// The only writer of a ring.
pub(super) struct Writer {
    ring: Ring,
    /// Own position; the shared one is for the other side.
    written: u64,
    /// The reader's position as last read.
    taken: u64,
}

impl Writer {
    /// The writer of a fresh ring.
    pub(super) fn new(ring: Ring) -> Self {
        Self {
            ring,
            written: 0,
            taken: 0,
        }
    }

    pub(super) fn header(&self) -> &Header {
        self.ring.header()
    }

    /// Writes as many bytes as there is room for and wakes the reader; returns how many.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let mut room = self.ring.size - self.ring.distance(self.written, self.taken)?;
        if room < bytes.len() {
            self.taken = self.ring.header().taken.0.load(Ordering::Acquire);
            room = self.ring.size - self.ring.distance(self.written, self.taken)?;
        }
        let count = room.min(bytes.len());
        if count == 0 {
            return Ok(0);
        }
        let (place, first, second) = self.ring.parts(self.written, count);
        // SAFETY: `place + first` and `second` are at most `size` (see `parts`), so both targets
        // lie inside the ring; `bytes` holds `first + second` bytes and is not shared memory. By
        // the order described above an honest reader does not read there now; a dishonest one
        // reads garbage.
        unsafe {
            let data = self.ring.data();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.add(place), first);
            std::ptr::copy_nonoverlapping(bytes.as_ptr().add(first), data, second);
        }
        self.written = self.written.wrapping_add(count as u64);
        let header = self.ring.header();
        header.written.0.store(self.written, Ordering::Release);
        wake(&header.reader_parked.0);
        Ok(count)
    }

    /// Sleeps while the ring is full and `idle`, at most for `bound`.
    pub(super) fn park(&self, idle: impl FnOnce() -> bool, bound: Duration) {
        let header = self.ring.header();
        let full = || {
            let taken = header.taken.0.load(Ordering::Acquire);
            self.written.wrapping_sub(taken) == self.ring.size as u64 && !header.is_refused()
        };
        park(&header.writer_parked.0, || full() && idle(), bound);
    }
}

/// The only reader of a ring.
pub(super) struct RingReader {
    ring: Ring,
    /// Own position; the shared one is for the other side.
    taken: u64,
    /// The writer's position as last read.
    written: u64,
}

impl RingReader {
    /// The reader of a fresh ring.
    pub(super) fn new(ring: Ring) -> Self {
        Self {
            ring,
            taken: 0,
            written: 0,
        }
    }

    pub(super) fn header(&self) -> &Header {
        self.ring.header()
    }

    /// Bytes that can be taken now.
    pub(super) fn ready(&self) -> usize {
        let written = self.ring.header().written.0.load(Ordering::Acquire);
        self.ring.distance(written, self.taken).unwrap_or(0)
    }

    /// Reads as many bytes as are available and fit, and wakes the writer; returns how many.
    #[inline]
    pub(super) fn take(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        let mut ready = self.ring.distance(self.written, self.taken)?;
        if ready < out.len() {
            self.written = self.ring.header().written.0.load(Ordering::Acquire);
            ready = self.ring.distance(self.written, self.taken)?;
        }
        let count = ready.min(out.len());
        if count == 0 {
            return Ok(0);
        }
        let (place, first, second) = self.ring.parts(self.taken, count);
        // SAFETY: as in `put`, with the roles exchanged: both sources lie inside the ring, `out`
        // has room for `first + second` bytes, and is not shared memory.
        unsafe {
            let data = self.ring.data();
            std::ptr::copy_nonoverlapping(data.add(place), out.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, out.as_mut_ptr().add(first), second);
        }
        self.taken = self.taken.wrapping_add(count as u64);
        let header = self.ring.header();
        header.taken.0.store(self.taken, Ordering::Release);
        wake(&header.writer_parked.0);
        Ok(count)
    }

    /// Sleeps while the ring is empty and `idle`, at most for `bound`.
    pub(super) fn park(&self, idle: impl FnOnce() -> bool, bound: Duration) {
        let header = self.ring.header();
        let empty = || {
            let written = header.written.0.load(Ordering::Acquire);
            written == self.taken && !header.has_ended()
        };
        park(&header.reader_parked.0, || empty() && idle(), bound);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    use proptest::prelude::*;

    /// Memory of this process that acts as shared.
    struct Heap(Vec<Lone<[u8; 128]>>);

    impl Memory for Heap {
        fn start(&self) -> NonNull<u8> {
            NonNull::from(&self.0[0]).cast()
        }

        fn length(&self) -> usize {
            self.0.len() * 128
        }
    }

    fn ring(size: usize) -> Ring {
        let header = size_of::<Header>();
        let count = (header + size).div_ceil(128);
        let heap = Heap((0..count).map(|_| Lone([0; 128])).collect());
        Ring::new(Arc::new(heap), 0, header, size).unwrap()
    }

    #[test]
    fn rings_outside_their_memory_are_refused() {
        let memory = ring(1024).memory;
        let header = size_of::<Header>();
        let check = |header_at, data_at, size, expected| {
            let made = Ring::new(Arc::clone(&memory), header_at, data_at, size);
            assert_eq!(made.is_some(), expected, "{header_at} {data_at} {size}");
        };
        check(0, header, 1024, true);
        check(0, header, 2048, false);
        check(0, header, 1000, false);
        check(0, 0, 1024, false);
        check(64, header + 128, 512, false);
        check(usize::MAX, header, 512, false);
        check(0, usize::MAX, 512, false);
    }

    #[test]
    fn impossible_positions_of_the_other_side_are_noticed() {
        let ring = ring(1024);
        let (mut writer, mut reader) = (Writer::new(ring.clone()), RingReader::new(ring.clone()));
        ring.header().written.0.store(1025, Ordering::Release);
        assert_eq!(reader.take(&mut [0; 8]), Err(Broken));
        assert_eq!(reader.ready(), 0);
        ring.header().taken.0.store(1, Ordering::Release);
        assert_eq!(writer.put(&[0; 2000]), Err(Broken));
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order(
            sizes in prop::collection::vec((0usize..90, 0usize..90), 1..200),
        ) {
            let ring = ring(64);
            let (mut writer, mut reader) = (Writer::new(ring.clone()), RingReader::new(ring));
            let (mut next_in, mut next_out) = (0u8, 0u8);
            for (put, take) in sizes {
                let bytes: Vec<u8> = (0..put).map(|i| next_in.wrapping_add(i as u8)).collect();
                let n = writer.put(&bytes).unwrap();
                next_in = next_in.wrapping_add(n as u8);
                let mut out = vec![0; take];
                let n = reader.take(&mut out).unwrap();
                for byte in &out[..n] {
                    prop_assert_eq!(*byte, next_out);
                    next_out = next_out.wrapping_add(1);
                }
            }
        }
    }

    /// A tiny ring makes both sides sleep and wrap all the time.
    #[test]
    fn two_threads_pass_a_million_bytes_through_sixteen() {
        let ring = ring(16);
        let (mut writer, mut reader) = (Writer::new(ring.clone()), RingReader::new(ring));
        const TOTAL: u64 = 1_000_000;
        let long = Duration::from_secs(30);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut sent = 0u64;
                while sent < TOTAL {
                    let bytes: [u8; 11] = std::array::from_fn(|i| (sent + i as u64) as u8);
                    let count = bytes.len().min((TOTAL - sent) as usize);
                    match writer.put(&bytes[..count]).unwrap() {
                        0 => writer.park(|| true, long),
                        n => sent += n as u64,
                    }
                }
                writer.header().end();
            });
            let mut received = 0u64;
            let mut out = [0; 7];
            loop {
                match reader.take(&mut out).unwrap() {
                    0 if reader.header().has_ended() && reader.ready() == 0 => break,
                    0 => reader.park(|| true, long),
                    n => {
                        for byte in &out[..n] {
                            assert_eq!(*byte, received as u8);
                            received += 1;
                        }
                    }
                }
            }
            assert_eq!(received, TOTAL);
        });
    }
}
