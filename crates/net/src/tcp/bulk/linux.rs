//! Linux: `MSG_ZEROCOPY` with its completions, `sendfile` from a memory file, `MSG_TRUNC`.

use std::io::{self, Write as _};
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

use super::{Achieved, MAX_OUTSTANDING, SendPath};
use crate::tcp::imp::set;
use crate::wait;

/// Longest wait of a send for pages that the kernel still holds, when too many are out and the
/// socket itself has no bound.
const COMPLETION_BOUND: Duration = Duration::from_secs(10);
/// `SO_ZEROCOPY` (asm-generic/socket.h).
const SO_ZEROCOPY: i32 = 60;
/// `SO_EE_ORIGIN_ZEROCOPY`, `SO_EE_CODE_ZEROCOPY_COPIED` (linux/errqueue.h).
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;
/// Room for the control message of one completion with its address, aligned as `cmsghdr` wants it.
#[repr(align(8))]
struct Control([u8; 128]);

pub(super) fn can_discard() -> io::Result<()> {
    Ok(())
}

/// Sets how many bytes must be available before a reader is woken (`SO_RCVLOWAT`, socket(7)).
pub(super) fn gather(tcp: &TcpStream, bytes: usize) -> io::Result<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    set(tcp.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
}

/// Drops up to `bytes` received bytes inside the kernel; returns how many.
pub(super) fn discard(tcp: &TcpStream, bytes: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer (tcp(7)), so that a null
    // pointer is never followed; were it, the kernel would answer EFAULT.
    let status = unsafe {
        libc::recv(
            tcp.as_raw_fd(),
            std::ptr::null_mut(),
            bytes,
            libc::MSG_TRUNC,
        )
    };
    if status >= 0 {
        Ok(status as usize)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whole pages that go back to the system, not to the allocator, when they are dropped: the kernel
/// may still be sending from them, and then keeps them until it is done. Memory of the allocator
/// would be reused meanwhile and its new content sent.
struct Pages {
    start: *mut u8,
    mapped: usize,
    used: usize,
}

// SAFETY: the pages belong to this value alone; the pointer is not shared.
unsafe impl Send for Pages {}

impl Pages {
    fn holding(bytes: &[u8]) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let mapped = bytes.len().div_ceil(page) * page;
        // SAFETY: a new private mapping, placed by the kernel, touches no existing memory.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let pages = Self {
            start: start.cast(),
            mapped,
            used: bytes.len(),
        };
        // SAFETY: the mapping is new, writable and at least as long as `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pages.start, bytes.len()) };
        Ok(pages)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `used` bytes from `start` on are mapped, initialised, and never written again.
        unsafe { std::slice::from_raw_parts(self.start, self.used) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `holding`; no reference outlives this value. The
        // kernel holds its own references to pages that it still sends.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.mapped) };
    }
}

/// The bytes that a sender repeats.
pub(super) struct Block {
    pages: Pages,
    file: Option<OwnedFd>,
    /// Zero-copy sends made, and known to be done; the kernel counts modulo 2³² too.
    sent: u32,
    done: u32,
}

impl Block {
    pub(super) fn new(tcp: &TcpStream, path: SendPath, bytes: &[u8]) -> io::Result<Self> {
        let file = match path {
            SendPath::Plain | SendPath::Vectored => None,
            SendPath::Zerocopy => allow_zerocopy(tcp).map(|()| None)?,
            SendPath::Sendfile => Some(memory_file(bytes)?),
        };
        Ok(Self {
            pages: Pages::holding(bytes)?,
            file,
            sent: 0,
            done: 0,
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.pages.bytes()
    }

    pub(super) fn send_file(&self, tcp: &TcpStream, at: usize, length: usize) -> io::Result<usize> {
        let Some(file) = &self.file else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut offset = at as u64;
        Ok(rustix::fs::sendfile(tcp, file, Some(&mut offset), length)?)
    }

    pub(super) fn send_pages(
        &mut self,
        tcp: &TcpStream,
        at: usize,
        length: usize,
        achieved: &mut Achieved,
    ) -> io::Result<usize> {
        if self.outstanding() >= MAX_OUTSTANDING {
            self.await_completion(tcp, own_bound(tcp)?, achieved)?;
        }
        let mut sent = self.try_pages(tcp, at, length);
        if no_room(&sent) && self.outstanding() > 0 {
            self.await_completion(tcp, own_bound(tcp)?, achieved)?;
            sent = self.try_pages(tcp, at, length);
        }
        if no_room(&sent) {
            achieved.fallback += 1;
            let mut tcp = tcp;
            return tcp.write(&self.bytes()[at..][..length]);
        }
        sent
    }

    fn try_pages(&mut self, tcp: &TcpStream, at: usize, length: usize) -> io::Result<usize> {
        let piece = &self.bytes()[at..][..length];
        // SAFETY: the pointer and length describe a live slice; the pages are never written, and
        // outlive the kernel's use of them (see `Pages`).
        let status = unsafe {
            libc::send(
                tcp.as_raw_fd(),
                piece.as_ptr().cast(),
                piece.len(),
                libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL,
            )
        };
        if status < 0 {
            return Err(io::Error::last_os_error());
        }
        if status > 0 {
            self.sent = self.sent.wrapping_add(1);
        }
        Ok(status as usize)
    }

    fn outstanding(&self) -> u32 {
        self.sent.wrapping_sub(self.done)
    }

    /// Waits until the kernel has given at least one send's pages back.
    fn await_completion(
        &mut self,
        tcp: &TcpStream,
        bound: Duration,
        achieved: &mut Achieved,
    ) -> io::Result<()> {
        let before = self.done;
        let deadline = Instant::now() + bound.min(wait::LONGEST);
        loop {
            while let Some(completion) = next_completion(tcp)? {
                self.done = self.done.wrapping_add(completion.calls);
                achieved.completed += u64::from(completion.calls);
                if completion.copied {
                    achieved.copied += u64::from(completion.calls);
                }
            }
            if self.done != before || self.outstanding() == 0 {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !error_queue_speaks(tcp, left)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    pub(super) fn finish(
        &mut self,
        tcp: &TcpStream,
        bound: Duration,
        achieved: &mut Achieved,
    ) -> io::Result<()> {
        let deadline = Instant::now() + bound.min(wait::LONGEST);
        while self.outstanding() > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            self.await_completion(tcp, left, achieved)?;
        }
        Ok(())
    }
}

fn own_bound(tcp: &TcpStream) -> io::Result<Duration> {
    Ok(tcp.write_timeout()?.unwrap_or(COMPLETION_BOUND))
}

fn no_room(sent: &io::Result<usize>) -> bool {
    matches!(sent, Err(why) if why.raw_os_error() == Some(libc::ENOBUFS))
}

fn allow_zerocopy(tcp: &TcpStream) -> io::Result<()> {
    let Err(why) = set(tcp.as_raw_fd(), libc::SOL_SOCKET, SO_ZEROCOPY, 1i32) else {
        return Ok(());
    };
    match why.raw_os_error() {
        Some(libc::ENOPROTOOPT | libc::EOPNOTSUPP) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("this kernel or kind of connection offers no MSG_ZEROCOPY: {why}"),
        )),
        _ => Err(why),
    }
}

fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("sokudo-block", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// Waits for something on the error queue; false when the bound passed.
///
/// Errors: the connection's own error, when that is what made the socket speak.
fn error_queue_speaks(tcp: &TcpStream, bound: Duration) -> io::Result<bool> {
    let mut one = [PollFd::new(tcp, PollFlags::empty())];
    let timeout = rustix::event::Timespec {
        tv_sec: bound.as_secs() as _,
        tv_nsec: bound.subsec_nanos() as _,
    };
    match rustix::event::poll(&mut one, Some(&timeout)) {
        Ok(0) => return Ok(false),
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(true),
        Err(why) => return Err(why.into()),
    }
    if one[0].revents().contains(PollFlags::HUP) {
        let why = tcp.take_error()?;
        return Err(why.unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()));
    }
    match tcp.take_error()? {
        None => Ok(true),
        Some(why) => Err(why),
    }
}

/// A completion: the pages of this many calls are free again.
#[derive(Debug, PartialEq, Eq)]
struct Completion {
    calls: u32,
    copied: bool,
}

/// Takes one message from the error queue; `None` when it is empty.
fn next_completion(tcp: &TcpStream) -> io::Result<Option<Completion>> {
    let mut control = Control([0; 128]);
    // SAFETY: all-zero is a valid msghdr: no address, no data.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = control.0.len() as _;
    // SAFETY: the header points to a live, aligned control block of the stated size.
    let status = unsafe {
        libc::recvmsg(
            tcp.as_raw_fd(),
            &mut header,
            libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
        )
    };
    if status < 0 {
        let why = io::Error::last_os_error();
        return match why.kind() {
            io::ErrorKind::WouldBlock => Ok(None),
            io::ErrorKind::Interrupted => Ok(Some(Completion {
                calls: 0,
                copied: false,
            })),
            _ => Err(why),
        };
    }
    let written = (header.msg_controllen as usize).min(control.0.len());
    Ok(Some(completion(&control.0[..written]).unwrap_or(
        Completion {
            calls: 0,
            copied: false,
        },
    )))
}

/// Reads a control message with a `sock_extended_err` (linux/errqueue.h); `None` when it says
/// something else.
///
/// ```text
/// cmsghdr: 0 length u64 · 8 level i32 · 12 type i32 │ 16 errno u32 · 20 origin u8 · 21 type u8 ·
/// 22 code u8 · 23 pad │ 24 info u32: first call │ 28 data u32: last call
/// ```
fn completion(control: &[u8]) -> Option<Completion> {
    const HEAD: usize = size_of::<libc::cmsghdr>();
    let word = |at: usize| -> Option<u32> {
        let bytes = control.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (level, kind) = (word(HEAD - 8)? as i32, word(HEAD - 4)? as i32);
    let is_error = matches!(
        (level, kind),
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
    );
    if !is_error || word(HEAD)? != 0 || *control.get(HEAD + 4)? != ORIGIN_ZEROCOPY {
        return None;
    }
    let (first, last) = (word(HEAD + 8)?, word(HEAD + 12)?);
    Some(Completion {
        calls: last.wrapping_sub(first).wrapping_add(1),
        copied: *control.get(HEAD + 6)? & CODE_COPIED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(origin: u8, code: u8, first: u32, last: u32) -> Vec<u8> {
        let mut bytes = vec![0u8; size_of::<libc::cmsghdr>() - 8];
        bytes.extend(libc::SOL_IP.to_ne_bytes());
        bytes.extend(libc::IP_RECVERR.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend([origin, 0, code, 0]);
        bytes.extend(first.to_ne_bytes());
        bytes.extend(last.to_ne_bytes());
        bytes
    }

    #[test]
    fn completions_count_their_range_and_tell_copies() {
        let check = |bytes: &[u8], expected: Option<(u32, bool)>| {
            let found = completion(bytes).map(|c| (c.calls, c.copied));
            assert_eq!(found, expected);
        };
        check(&message(5, 0, 3, 3), Some((1, false)));
        check(&message(5, 1, 0, 9), Some((10, true)));
        check(&message(5, 0, u32::MAX, 1), Some((3, false)));
        check(&message(2, 0, 0, 0), None);
        let whole = message(5, 0, 0, 0);
        for cut in 0..whole.len() {
            check(&whole[..cut], None);
        }
    }
}
