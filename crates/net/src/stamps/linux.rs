//! Linux: `SO_TIMESTAMPNS`, one control message per datagram.
//!
//! The kernel stamps with the wall clock. The stamp is moved to the monotonic clock by reading both
//! right after the datagram was taken: the wall clock may be set while the program runs, but hardly
//! ever between an arrival and the receive call.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::Stamped;
use crate::clock::{both_ns, now_ns};
use crate::udp::{set_option, socket_address};

/// Room for one control message with a time, aligned as `cmsghdr` wants it.
const CONTROL_WORDS: usize = 8;
/// A datagram cannot wait longer than this in the socket: the wall clock was set.
const OLDEST_NS: i64 = 10_000_000_000;

pub(super) fn enable(socket: &UdpSocket) -> io::Result<()> {
    set_option(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPNS,
        1,
    )
}

pub(super) fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Stamped> {
    let mut control = [0u64; CONTROL_WORDS];
    // SAFETY: all-zero is a valid sockaddr_storage and a valid msghdr.
    let (mut name, mut header): (libc::sockaddr_storage, libc::msghdr) =
        unsafe { (zeroed(), zeroed()) };
    let mut iovec = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    header.msg_name = std::ptr::from_mut(&mut name).cast();
    header.msg_namelen = size_of::<libc::sockaddr_storage>() as u32;
    header.msg_iov = &mut iovec;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header points to live name, data and control blocks of the stated sizes.
    let status = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, 0) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    let both = both_ns();
    let now = both.map_or_else(now_ns, |(now, _)| now);
    let stamp_ns = stamp(&control, header.msg_controllen);
    // A stamp in the future or far in the past was taken before the wall clock was set.
    let age_ns = stamp_ns.zip(both).map(|(stamp, (_, wall))| wall - stamp);
    let age_ns = age_ns.filter(|age| (0..OLDEST_NS).contains(age));
    Ok(Stamped {
        length: status as usize,
        at_ns: now - age_ns.unwrap_or(0),
        by_kernel: age_ns.is_some(),
        from: socket_address(&&name),
    })
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> Option<i64> {
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

/// Wall-clock time of arrival out of the control messages, of which `length` bytes were written.
fn stamp(control: &[u64; CONTROL_WORDS], length: usize) -> Option<i64> {
    const HEADER_WORDS: usize = size_of::<libc::cmsghdr>() / size_of::<u64>();
    if length < size_of::<libc::cmsghdr>() + size_of::<libc::timespec>() {
        return None;
    }
    // SAFETY: the block is aligned and large enough for the header, and the kernel wrote that much.
    let message = unsafe { *control.as_ptr().cast::<libc::cmsghdr>() };
    let is_stamp =
        message.cmsg_level == libc::SOL_SOCKET && message.cmsg_type == libc::SCM_TIMESTAMPNS;
    let [seconds, fraction] = *control[HEADER_WORDS..].first_chunk::<2>()?;
    let both = nanoseconds(seconds as i64, fraction as i64);
    both.filter(|_| is_stamp)
}
