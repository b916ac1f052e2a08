//! Any system: `poll` over a list that is passed to the kernel in each call.

use std::io;
use std::mem::transmute;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::{AsFd, BorrowedFd, Interest, Ready, timespec};

pub(super) struct PollSet {
    sources: Vec<PollFd<'static>>,
    /// Same order as `sources`.
    tokens: Vec<u64>,
    ready: Vec<Ready>,
    /// Index at which the next report begins, so that busy sources cannot hide others.
    first: usize,
}

fn flags(interest: Interest) -> PollFlags {
    match interest {
        Interest::Read => PollFlags::IN,
        Interest::Write => PollFlags::OUT,
        Interest::Both => PollFlags::IN | PollFlags::OUT,
    }
}

fn entry(source: BorrowedFd<'_>, interest: Interest) -> PollFd<'static> {
    // SAFETY: only the lifetime changes. The number is used for nothing but `poll`, which reads no
    // memory of this process but the list itself; should the owner break the contract of `Waiter`
    // and close the source first, `poll` reports an invalid or a foreign source.
    let source = unsafe { transmute::<BorrowedFd<'_>, BorrowedFd<'static>>(source) };
    PollFd::from_borrowed_fd(source, flags(interest))
}

#[cfg(unix)]
fn same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    use std::os::fd::AsRawFd as _;
    one.as_raw_fd() == other.as_raw_fd()
}

#[cfg(windows)]
fn same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    use std::os::windows::io::AsRawSocket as _;
    one.as_raw_socket() == other.as_raw_socket()
}

impl PollSet {
    pub(super) fn new(events: usize) -> Self {
        Self {
            sources: Vec::new(),
            tokens: Vec::new(),
            ready: Vec::with_capacity(events),
            first: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        self.sources.push(entry(source, interest));
        self.tokens.push(token);
        Ok(())
    }

    pub(super) fn change(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let at = self.position(source)?;
        self.sources[at] = entry(source, interest);
        self.tokens[at] = token;
        Ok(())
    }

    pub(super) fn remove(&mut self, source: BorrowedFd<'_>) -> io::Result<()> {
        let at = self.position(source)?;
        self.sources.swap_remove(at);
        self.tokens.swap_remove(at);
        Ok(())
    }

    fn position(&self, source: BorrowedFd<'_>) -> io::Result<usize> {
        self.sources
            .iter()
            .position(|known| same(known.as_fd(), source))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn wait(&mut self, bound: Duration) -> io::Result<usize> {
        self.ready.clear();
        poll(&mut self.sources, Some(&timespec(bound)))?;
        let count = self.sources.len();
        for step in 0..count {
            let at = (self.first + step) % count;
            let found = self.sources[at].revents();
            if found.is_empty() {
                continue;
            }
            if self.ready.len() == self.ready.capacity() {
                self.first = at;
                break;
            }
            let closed = found.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
            self.ready.push(Ready {
                token: self.tokens[at],
                readable: closed || found.contains(PollFlags::IN),
                writable: found.contains(PollFlags::OUT),
                ended: closed,
                closed,
            });
        }
        Ok(self.ready.len())
    }

    pub(super) fn ready(&self, index: usize) -> Ready {
        self.ready[index]
    }
}
