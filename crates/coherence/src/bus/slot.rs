//! State that a transmitter shares with the threads that receive its responses and receipts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;

/// Delays that are remembered, by the lower bits of a message's number.
const REMEMBERED: usize = 4096;

/// Bits of a remembered delay; above them stands the message's number.
const DELAY_BITS: u32 = 48;

/// One transmitter, as others see it.
#[derive(Debug)]
pub struct Slot {
    thread: OnceLock<Thread>,
    /// Its bytes without receipt.
    pub in_flight_bytes: AtomicU64,
    /// True while it waits for receipts.
    pub awaits_receipts: AtomicBool,
    /// Number of the first message of the window that it waits for, and the window's length.
    window: AtomicU64,
    answered: AtomicU32,
    /// Delay of each timed message behind its intended time, with the message's number.
    delays: Box<[AtomicU64]>,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            thread: OnceLock::new(),
            in_flight_bytes: AtomicU64::new(0),
            awaits_receipts: AtomicBool::new(false),
            window: AtomicU64::new(0),
            answered: AtomicU32::new(0),
            delays: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Slot {
    /// The calling thread is the transmitter.
    pub fn begin(&self) {
        self.thread.get_or_init(std::thread::current);
    }

    /// Wakes the transmitter, should it sleep.
    #[inline]
    pub fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Responses to `length` messages from the `first` on will be waited for.
    pub fn expect(&self, first: u16, length: u32) {
        self.answered.store(0, Ordering::Relaxed);
        let window = u64::from(first) << 32 | u64::from(length);
        self.window.store(window, Ordering::Release);
    }

    /// Responses of the window that have come.
    #[inline]
    pub fn answered(&self) -> u32 {
        self.answered.load(Ordering::Acquire)
    }

    /// A response to message `number` has come; wakes the transmitter when it was the last.
    #[inline]
    pub fn answer(&self, number: u16) {
        let window = self.window.load(Ordering::Acquire);
        let (first, length) = ((window >> 32) as u16, window as u32);
        // Numbers go round; what lies outside belongs to a window that was given up.
        if u32::from(number.wrapping_sub(first)) < length.min(1 << 16)
            && self.answered.fetch_add(1, Ordering::AcqRel) + 1 >= length
        {
            self.wake();
        }
    }

    /// Remembers how much later than it should message `number` left.
    #[inline]
    pub fn set_delay(&self, number: u16, delay_ns: u64) {
        let kept = delay_ns.min((1 << DELAY_BITS) - 1) | u64::from(number) << DELAY_BITS;
        self.delays[usize::from(number) % REMEMBERED].store(kept, Ordering::Relaxed);
    }

    /// Delay of message `number` behind its intended time; `None` when it is too long ago.
    #[inline]
    pub fn delay_ns(&self, number: u16) -> Option<u64> {
        let kept = self.delays[usize::from(number) % REMEMBERED].load(Ordering::Relaxed);
        (kept >> DELAY_BITS == u64::from(number)).then_some(kept & ((1 << DELAY_BITS) - 1))
    }

    /// Receipts for so many of its bytes have come.
    pub fn settle(&self, bytes: u64) {
        self.in_flight_bytes.fetch_sub(bytes, Ordering::AcqRel);
        if self.awaits_receipts.load(Ordering::Acquire) {
            self.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_the_window_count() {
        let slot = Slot::default();
        slot.expect(u16::MAX, 3);
        for number in [u16::MAX, 0, 1] {
            slot.answer(number);
        }
        assert_eq!(slot.answered(), 3);
        slot.answer(2);
        slot.answer(u16::MAX - 1);
        assert_eq!(slot.answered(), 3, "none of these was asked");
    }

    #[test]
    fn delays_belong_to_their_message() {
        let slot = Slot::default();
        slot.set_delay(5, 700);
        assert_eq!(slot.delay_ns(5), Some(700));
        assert_eq!(slot.delay_ns(5 + REMEMBERED as u16), None);
        slot.set_delay(7, u64::MAX);
        assert!(slot.delay_ns(7) > Some(1 << 47));
    }
}
