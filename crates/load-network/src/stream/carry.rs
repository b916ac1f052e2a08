//! Writing to and reading from a connection of any transport.
//!
//! TCP has its short cuts ([`sokudo_net::tcp::bulk`]); everything else is written and read.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use sokudo_net::tcp::bulk::{BulkReceiver, BulkSender, ReceivePath, SendPath};
use sokudo_net::tcp::info::{self, TcpInfo};
use sokudo_workload::link::Link;

/// The socket whose bytes the kernel alone carries; TLS has its own records above it.
fn kernel_tcp(link: &Link) -> Option<&TcpStream> {
    match link {
        Link::Stream(stream) if !stream.kind().encrypted() => stream.tcp(),
        _ => None,
    }
}

/// State of a connection's TCP, where there is one.
pub(super) fn state(link: &Link) -> Option<TcpInfo> {
    info::read(link.tcp()?).ok()
}

/// The writing end of one connection.
pub(super) enum Outlet<'a> {
    /// TCP.
    Bulk {
        link: &'a Link,
        sender: BulkSender<'a>,
    },
    /// Anything else.
    Plain {
        link: &'a mut Link,
        block: Vec<u8>,
        at: usize,
    },
}

impl<'a> Outlet<'a> {
    /// A writer of `block`, repeated. `path` concerns TCP only.
    ///
    /// Errors: the system has no such path.
    pub(super) fn new(link: &'a mut Link, path: SendPath, block: Vec<u8>) -> io::Result<Self> {
        if kernel_tcp(link).is_none() {
            return Ok(Outlet::Plain { link, block, at: 0 });
        }
        let link: &'a Link = link;
        let tcp = kernel_tcp(link).ok_or(io::ErrorKind::Unsupported)?;
        let sender = BulkSender::new(tcp, path, &block)?;
        Ok(Outlet::Bulk { link, sender })
    }

    /// The connection.
    pub(super) fn link(&self) -> &Link {
        match self {
            Outlet::Bulk { link, .. } => link,
            Outlet::Plain { link, .. } => link,
        }
    }

    /// Hands over up to `at_most` bytes, at most one block; returns how many were taken.
    ///
    /// Errors: see [`sokudo_workload::link::is_silence`] when none was taken within the link's bound.
    #[inline]
    pub(super) fn send(&mut self, at_most: usize) -> io::Result<usize> {
        match self {
            Outlet::Bulk { sender, .. } => sender.send(at_most),
            Outlet::Plain { link, block, at } => {
                let length = (block.len() - *at).min(at_most);
                let sent = link.send(&block[*at..][..length])?;
                *at = (*at + sent) % block.len();
                Ok(sent)
            }
        }
    }

    /// Share of the zero-copy calls that the kernel copied after all; `None` for other paths.
    pub(super) fn copied_ratio(&mut self, bound: Duration) -> Option<f64> {
        let Outlet::Bulk { sender, .. } = self else {
            return None;
        };
        if sender.achieved().path != SendPath::Zerocopy {
            return None;
        }
        // What the kernel still holds when the bound is over is not known; the rest is.
        let achieved = sender.finish(bound).unwrap_or(sender.achieved());
        let known = achieved.completed + achieved.fallback;
        (known > 0).then(|| (achieved.copied + achieved.fallback) as f64 / known as f64)
    }
}

/// The reading end of one connection.
pub(super) enum Inlet<'a> {
    /// TCP.
    Bulk {
        link: &'a Link,
        receiver: BulkReceiver<'a>,
    },
    /// Anything else.
    Plain { link: &'a mut Link, buffer: Vec<u8> },
}

impl<'a> Inlet<'a> {
    /// A reader of up to `at_once` bytes per call. `path` concerns TCP only.
    ///
    /// Errors: the system has no such path.
    pub(super) fn new(link: &'a mut Link, path: ReceivePath, at_once: usize) -> io::Result<Self> {
        if kernel_tcp(link).is_none() {
            let buffer = vec![0; at_once];
            return Ok(Inlet::Plain { link, buffer });
        }
        let link: &'a Link = link;
        let tcp = kernel_tcp(link).ok_or(io::ErrorKind::Unsupported)?;
        let receiver = BulkReceiver::new(tcp, path, at_once)?;
        Ok(Inlet::Bulk { link, receiver })
    }

    /// Lets TCP wake the reader for many bytes at once, where the system can; see
    /// [`BulkReceiver::gather`].
    pub(super) fn gather(&mut self, bytes: usize) {
        if let Inlet::Bulk { receiver, .. } = self {
            // A system without it reads as it always does.
            let _ = receiver.gather(bytes);
        }
    }

    /// The connection.
    pub(super) fn link(&self) -> &Link {
        match self {
            Inlet::Bulk { link, .. } => link,
            Inlet::Plain { link, .. } => link,
        }
    }

    /// Takes at least one byte; 0 when the peer has ended its side.
    ///
    /// Errors: see [`sokudo_workload::link::is_silence`] when nothing came within the link's bound.
    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<usize> {
        match self {
            Inlet::Bulk { receiver, .. } => receiver.receive(),
            Inlet::Plain { link, buffer } => link.receive(buffer),
        }
    }
}
