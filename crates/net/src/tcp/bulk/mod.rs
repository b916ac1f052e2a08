//! Bulk sending and receiving over TCP with as few copies and system calls per byte as the system
//! allows.
//!
//! ```text
//! plain     one copy: program → kernel                    read      one copy: kernel → program
//! vectored  the same, several pieces per call             discard   none: the kernel drops the
//! zerocopy  none: the kernel sends the program's pages              bytes (MSG_TRUNC) and tells
//!           and tells when it is done with them                     how many they were
//! sendfile  none: the kernel sends pages of a memory file
//! ```
//!
//! The kernel may do something else than was requested: [`Achieved`] reports what it did. On
//! loopback, for example, "zerocopy" sends are copied.

use std::fmt;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::TcpStream;
use std::str::FromStr;
use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod imp;

/// Largest payload block that a sender repeats.
pub const MAX_BLOCK_BYTES: usize = 64 << 20;

/// Zero-copy sends that may wait for the kernel's word at once.
pub const MAX_OUTSTANDING: u32 = 128;

/// Pieces per call of a vectored send.
pub const PIECES: usize = 16;

/// Way in which bytes are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SendPath {
    /// `send`: the kernel copies.
    Plain,
    /// `sendmsg` with [`PIECES`] pieces: the kernel copies.
    Vectored,
    /// `send` with `MSG_ZEROCOPY`: the kernel takes the pages themselves, where it can.
    Zerocopy,
    /// `sendfile` from a file in memory.
    Sendfile,
}

impl SendPath {
    /// All of them, in the order of their names in messages.
    pub const ALL: [SendPath; 4] = [
        SendPath::Plain,
        SendPath::Vectored,
        SendPath::Zerocopy,
        SendPath::Sendfile,
    ];

    /// Name as typed.
    pub fn name(self) -> &'static str {
        match self {
            SendPath::Plain => "plain",
            SendPath::Vectored => "vectored",
            SendPath::Zerocopy => "zerocopy",
            SendPath::Sendfile => "sendfile",
        }
    }
}

/// Way in which bytes are taken from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReceivePath {
    /// `recv` into a buffer.
    Read,
    /// `recv` with `MSG_TRUNC`: the kernel counts and drops the bytes. Content cannot be checked.
    Discard,
}

impl ReceivePath {
    /// Both of them.
    pub const ALL: [ReceivePath; 2] = [ReceivePath::Read, ReceivePath::Discard];

    /// Name as typed.
    pub fn name(self) -> &'static str {
        match self {
            ReceivePath::Read => "read",
            ReceivePath::Discard => "discard",
        }
    }
}

/// A text that names no path of the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is none of: {known}")]
pub struct NoSuchPath {
    given: String,
    known: String,
}

fn named<T: Copy>(given: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, NoSuchPath> {
    let found = all.iter().copied().find(|one| name(*one) == given);
    found.ok_or_else(|| NoSuchPath {
        given: given.into(),
        known: all
            .iter()
            .map(|one| name(*one))
            .collect::<Vec<_>>()
            .join(", "),
    })
}

impl FromStr for SendPath {
    type Err = NoSuchPath;

    fn from_str(text: &str) -> Result<Self, NoSuchPath> {
        named(text, &Self::ALL, Self::name)
    }
}

impl FromStr for ReceivePath {
    type Err = NoSuchPath;

    fn from_str(text: &str) -> Result<Self, NoSuchPath> {
        named(text, &Self::ALL, Self::name)
    }
}

impl fmt::Display for SendPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for ReceivePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Counts of a sender so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Achieved {
    /// The requested mode.
    pub path: SendPath,
    /// Bytes that the kernel took.
    pub bytes: u64,
    /// Calls that it took them with.
    pub calls: u64,
    /// Zero-copy calls whose pages the kernel has given back.
    pub completed: u64,
    /// Of these, calls whose bytes the kernel copied after all.
    pub copied: u64,
    /// Calls sent plainly because the kernel had no room to remember another zero-copy send.
    pub fallback: u64,
}

impl Achieved {
    fn new(path: SendPath) -> Self {
        Self {
            path,
            bytes: 0,
            calls: 0,
            completed: 0,
            copied: 0,
            fallback: 0,
        }
    }

    /// True when at least half of the known zero-copy calls were copied: the name of the path
    /// then promises too much.
    pub fn copied_after_all(&self) -> bool {
        let known = self.completed + self.fallback;
        self.path == SendPath::Zerocopy && known > 0 && (self.copied + self.fallback) * 2 >= known
    }
}

/// Sends one block of bytes over and over.
pub struct BulkSender<'a> {
    tcp: &'a TcpStream,
    block: imp::Block,
    /// Offset in the block at which the next call begins.
    at: usize,
    achieved: Achieved,
}

impl<'a> BulkSender<'a> {
    /// A sender of `block`, repeated. Each call waits at most for the socket's own bound.
    ///
    /// Errors: an empty block or one above [`MAX_BLOCK_BYTES`];
    /// [`io::ErrorKind::Unsupported`] for a path that this system does not have.
    pub fn new(tcp: &'a TcpStream, path: SendPath, block: &[u8]) -> io::Result<Self> {
        if block.is_empty() || block.len() > MAX_BLOCK_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "a block has 1 to {MAX_BLOCK_BYTES} bytes, not {}",
                    block.len()
                ),
            ));
        }
        Ok(Self {
            tcp,
            block: imp::Block::new(tcp, path, block)?,
            at: 0,
            achieved: Achieved::new(path),
        })
    }

    /// Hands up to `at_most` bytes to the kernel, which go on in the block where the last call
    /// ended and do not reach over its end. Returns how many it took.
    ///
    /// Errors: [`io::ErrorKind::TimedOut`] after the socket's bound; others are final.
    #[inline]
    pub fn send(&mut self, at_most: usize) -> io::Result<usize> {
        let whole = self.block.bytes().len();
        let length = (whole - self.at).min(at_most);
        let sent = loop {
            let piece = &self.block.bytes()[self.at..][..length];
            let sent = match self.achieved.path {
                SendPath::Plain => self.tcp.write(piece),
                SendPath::Vectored => send_pieces(self.tcp, piece),
                SendPath::Zerocopy => {
                    let (block, achieved) = (&mut self.block, &mut self.achieved);
                    block.send_pages(self.tcp, self.at, length, achieved)
                }
                SendPath::Sendfile => self.block.send_file(self.tcp, self.at, length),
            };
            match sent {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                sent => break sent?,
            }
        };
        self.at = (self.at + sent) % whole;
        self.achieved.bytes += sent as u64;
        self.achieved.calls += 1;
        Ok(sent)
    }

    /// Waits until the kernel needs none of the sent pages any more, so that the figures are
    /// complete.
    ///
    /// Errors: [`io::ErrorKind::TimedOut`] when it still needs some after `bound`; dropping the
    /// sender then is safe, the kernel keeps what it needs.
    pub fn finish(&mut self, bound: Duration) -> io::Result<Achieved> {
        self.block.finish(self.tcp, bound, &mut self.achieved)?;
        Ok(self.achieved)
    }

    /// Counts so far.
    pub fn achieved(&self) -> Achieved {
        self.achieved
    }
}

fn send_pieces(mut tcp: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut pieces = [IoSlice::new(&[]); PIECES];
    let mut used = 0;
    for piece in bytes.chunks(bytes.len().div_ceil(PIECES).max(1)) {
        pieces[used] = IoSlice::new(piece);
        used += 1;
    }
    tcp.write_vectored(&pieces[..used])
}

/// Takes bytes from a connection and forgets them.
pub struct BulkReceiver<'a> {
    tcp: &'a TcpStream,
    path: ReceivePath,
    buffer: Vec<u8>,
    at_once: usize,
}

impl<'a> BulkReceiver<'a> {
    /// A receiver that takes up to `at_once_bytes` per call (limited to [`MAX_BLOCK_BYTES`]).
    ///
    /// Waits at most for the socket's own bound.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] for `Discard` outside Linux.
    pub fn new(tcp: &'a TcpStream, path: ReceivePath, at_once_bytes: usize) -> io::Result<Self> {
        let at_once = at_once_bytes.clamp(1, MAX_BLOCK_BYTES);
        let room = match path {
            ReceivePath::Read => at_once,
            ReceivePath::Discard => imp::can_discard().map(|()| 0)?,
        };
        Ok(Self {
            tcp,
            path,
            buffer: vec![0; room],
            at_once,
        })
    }

    /// From now on a call that waits is woken when so many bytes are there, when the peer has ended
    /// its side, or after the socket's own bound: then it takes what there is.
    ///
    /// Each wake-up costs the sending end as well when it is on the same host. The kernel limits
    /// the number to half of the receive buffer, which it enlarges for it unless its size was set.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] outside Linux.
    pub fn gather(&mut self, bytes: usize) -> io::Result<()> {
        imp::gather(self.tcp, bytes)
    }

    /// Takes at least one byte; 0 when the peer has ended its side.
    ///
    /// Errors: [`io::ErrorKind::TimedOut`] after the socket's bound; others are final.
    pub fn receive(&mut self) -> io::Result<usize> {
        loop {
            let taken = match self.path {
                ReceivePath::Read => (&*self.tcp).read(&mut self.buffer),
                ReceivePath::Discard => imp::discard(self.tcp, self.at_once),
            };
            match taken {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                taken => return taken,
            }
        }
    }

    /// The bytes of the last [`BulkReceiver::receive`], whose count the caller knows; empty when
    /// they are discarded.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }
}

#[cfg(test)]
mod tests;
