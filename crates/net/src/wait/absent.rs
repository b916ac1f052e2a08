//! Substitute for systems without epoll.

use std::io;
use std::time::Duration;

use super::{BorrowedFd, Interest, Ready, Trigger};
use crate::absent::unsupported;

/// A type without values.
pub(super) enum Epoll {}

impl Epoll {
    pub(super) fn new(_trigger: Trigger, _events: usize) -> io::Result<Self> {
        Err(unsupported("epoll"))
    }

    pub(super) fn add(
        &mut self,
        _source: BorrowedFd<'_>,
        _token: u64,
        _interest: Interest,
    ) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn change(
        &mut self,
        _source: BorrowedFd<'_>,
        _token: u64,
        _interest: Interest,
    ) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn remove(&mut self, _source: BorrowedFd<'_>) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn wait(&mut self, _bound: Duration) -> io::Result<usize> {
        match *self {}
    }

    pub(super) fn ready(&self, _index: usize) -> Ready {
        match *self {}
    }
}
