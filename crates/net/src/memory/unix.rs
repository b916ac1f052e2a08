//! Locking by `mlock`.

use std::io;

/// A range of pages that stays in RAM.
pub(super) struct Lock {
    start: usize,
    bytes: usize,
}

impl Lock {
    pub(super) fn new(memory: &[u8]) -> io::Result<Self> {
        let (start, bytes) = (memory.as_ptr() as usize, memory.len());
        // SAFETY: the range is that of a live slice; locking changes no byte of it.
        unsafe { rustix::mm::mlock(start as *mut _, bytes)? };
        Ok(Self { start, bytes })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: unlocking touches no byte; at worst another lock of a shared page ends early.
        // It fails only when the range is not mapped any more, and then nothing is locked.
        let _ = unsafe { rustix::mm::munlock(self.start as *mut _, self.bytes) };
    }
}
