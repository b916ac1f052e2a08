//! Substitute for macOS and Windows, which place threads themselves: macOS lets no program choose a
//! core, and the interface of Windows works on groups of 64 cores.

use std::io;

use crate::absent::unsupported;

/// A set of cores, which has no value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {}

impl Set {
    pub(super) fn allowed() -> io::Result<Self> {
        Err(unsupported("choice of cores that sokudo knows"))
    }

    pub(super) fn count(&self) -> usize {
        match *self {}
    }

    pub(super) fn each(&self) -> impl Iterator<Item = Self> + '_ {
        std::iter::once(*self)
    }

    pub(super) fn keep(&self) -> io::Result<()> {
        match *self {}
    }
}
