//! Substitute for systems whose memory-locking interface is not supported.

use std::io;

use crate::absent::unsupported;

/// A lock that locks nothing.
pub(super) struct Lock;

impl Lock {
    pub(super) fn new(_memory: &[u8]) -> io::Result<Self> {
        Err(unsupported("locking of memory that sokudo knows"))
    }
}
