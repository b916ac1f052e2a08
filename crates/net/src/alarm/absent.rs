//! Timers without a file.

use std::io;

use crate::absent::unsupported;

/// A file that can be read from the moment on that was set last: not on this system.
#[derive(Debug)]
pub enum Alarm {}

impl Alarm {
    /// None.
    ///
    /// Errors: always.
    pub fn new() -> io::Result<Self> {
        Err(unsupported("files of timers"))
    }

    /// Never called.
    pub fn set(&self, _at_ns: i64) -> io::Result<()> {
        match *self {}
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for Alarm {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        match *self {}
    }
}
