//! Locks memory so that the system does not swap it out.
//!
//! Memory that devices or the kernel access directly must stay resident while they use it.

use std::io;

#[cfg(unix)]
#[path = "unix.rs"]
mod imp;
#[cfg(not(unix))]
#[path = "absent.rs"]
mod imp;

/// Bytes that are locked into RAM until this is dropped.
pub struct Locked {
    // Dropped first, because the memory must still be mapped when it is unlocked.
    _lock: imp::Lock,
    bytes: Box<[u8]>,
}

impl Locked {
    /// Allocates this many zero bytes, touches and locks them.
    ///
    /// Errors: the system lets this process lock no more memory (`ulimit -l`), or cannot lock any.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let bytes = vec![0; bytes].into_boxed_slice();
        let lock = imp::Lock::new(&bytes)?;
        Ok(Self { _lock: lock, bytes })
    }

    /// The memory.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_memory_is_memory() {
        let mut locked = match Locked::new(100_000) {
            Ok(locked) => locked,
            Err(why) => {
                eprintln!("skipped: no memory can be locked here: {why}");
                return;
            }
        };
        locked.bytes()[99_999] = 7;
        assert_eq!(locked.bytes().iter().map(|b| u32::from(*b)).sum::<u32>(), 7);
    }
}
