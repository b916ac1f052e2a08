//! Linux: `sendmmsg`, `recvmmsg`, `UDP_SEGMENT`, `UDP_GRO`, `SO_MEMINFO`.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use super::{Datagram, MAX_PAYLOAD_BYTES, MMSG_BATCH, SendMode, SendProblem, Sent};

/// Buffers of 64 KiB taken per call with GRO: more would fall out of the second-level cache.
const GRO_BATCH: usize = 8;
/// Room for one `UDP_GRO` control message, aligned as `cmsghdr` wants it.
const CONTROL_WORDS: usize = 8;
/// Index of the drop counter in the array that `SO_MEMINFO` fills (`SK_MEMINFO_DROPS`).
const MEMINFO_DROPS: usize = 8;
const MEMINFO_WORDS: usize = 9;
/// `UDP_SEGMENT`, `UDP_GRO` (linux/udp.h) and `SO_MEMINFO` (asm-generic/socket.h).
const UDP_SEGMENT: i32 = 103;
const UDP_GRO: i32 = 104;
const SO_MEMINFO: i32 = 55;

/// A peer's address as the kernel wrote it.
pub type RawAddress<'a> = &'a libc::sockaddr_storage;

/// Reads an address that the kernel wrote.
pub fn socket_address(raw: &RawAddress<'_>) -> Option<SocketAddr> {
    match i32::from(raw.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that the storage holds a sockaddr_in, which is smaller.
            let v4 = unsafe { &*(std::ptr::from_ref(*raw).cast::<libc::sockaddr_in>()) };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that the storage holds a sockaddr_in6, which is smaller.
            let v6 = unsafe { &*(std::ptr::from_ref(*raw).cast::<libc::sockaddr_in6>()) };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

pub(crate) fn set_option(fd: RawFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: the pointer and length describe one live i32.
    let status = unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            std::ptr::from_ref(&value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Lets the kernel hand several equal datagrams over as one buffer (Linux 5.0).
pub fn enable_gro(socket: &UdpSocket) -> io::Result<()> {
    set_option(socket.as_raw_fd(), libc::SOL_UDP, UDP_GRO, 1)
}

/// Makes every larger buffer written to this socket be cut into datagrams of `size_bytes`
/// (Linux 4.18); 0 turns it off.
pub fn segmentation(socket: &UdpSocket, size_bytes: usize) -> io::Result<()> {
    set_option(
        socket.as_raw_fd(),
        libc::SOL_UDP,
        UDP_SEGMENT,
        size_bytes as i32,
    )
}

/// Makes sends fail with `ENOBUFS` when a queue of the sending host drops a datagram.
///
/// Without `IP_RECVERR` Linux drops it and reports success (udp(7), `udp_send_skb`).
pub fn report_refusals(socket: &UdpSocket) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    match socket.local_addr()? {
        SocketAddr::V4(_) => set_option(fd, libc::IPPROTO_IP, libc::IP_RECVERR, 1),
        SocketAddr::V6(_) => set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1),
    }
}

/// Datagrams dropped at the receive queue of this socket since it was opened.
///
/// Unit: kernel buffers: with GRO one buffer can hold several datagrams. The counter is 32 bits
/// wide and wraps. It is the number that `SO_RXQ_OVFL` attaches to datagrams, but can be read
/// when none arrives any more. Source: `SK_MEMINFO_DROPS` of `SO_MEMINFO` (Linux 4.12).
pub fn socket_drops(socket: &UdpSocket) -> Option<u32> {
    let mut words = [0u32; MEMINFO_WORDS];
    let mut length = size_of::<[u32; MEMINFO_WORDS]>() as libc::socklen_t;
    // SAFETY: the pointer and length describe the live array; the kernel writes at most `length`.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &mut length,
        )
    };
    let whole = length as usize >= size_of::<[u32; MEMINFO_WORDS]>();
    (status == 0 && whole).then(|| words[MEMINFO_DROPS])
}

/// MTU of the path of a connected socket, as far as the kernel knows it: the interface's at
/// first, less after an ICMP "packet too big".
pub fn path_mtu(socket: &UdpSocket) -> Option<u32> {
    let (level, name) = match socket.local_addr().ok()? {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mut value = 0i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointer and length describe one live i32.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_mut(&mut value).cast(),
            &mut length,
        )
    };
    (status == 0 && value > 0).then_some(value as u32)
}

/// Reason why a send failed.
pub fn send_problem(error: &io::Error) -> SendProblem {
    match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::EAGAIN) => SendProblem::Refused,
        Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH) => {
            SendProblem::Unreachable
        }
        Some(libc::EMSGSIZE) => SendProblem::TooLarge,
        other => SendProblem::Other(other.unwrap_or(0)),
    }
}

/// Sends equal-sized slots of one buffer over a connected socket.
///
/// ```text
/// buffer  | slot 0 | slot 1 | slot 2 | …      slot i begins at i × stride
/// ```
pub struct Sender {
    socket: UdpSocket,
    mode: SendMode,
    stride: usize,
    buffer: Vec<u8>,
    iovecs: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the raw pointers in `iovecs` and `headers` point into heap blocks owned by the same
// value, which do not move when the value does and are never shared.
unsafe impl Send for Sender {}

impl Sender {
    /// Prepares a connected socket for datagrams of up to `size_bytes`.
    ///
    /// Fails with the system's error when it does not offer the mode.
    pub fn new(socket: UdpSocket, mode: SendMode, size_bytes: usize) -> io::Result<Self> {
        if mode == SendMode::Gso {
            segmentation(&socket, size_bytes)?;
        }
        let batch = mode.batch(size_bytes);
        let mut buffer = vec![0u8; batch * size_bytes];
        let mut iovecs: Vec<libc::iovec> = (0..batch)
            .map(|i| libc::iovec {
                iov_base: buffer[i * size_bytes..].as_mut_ptr().cast(),
                iov_len: size_bytes,
            })
            .collect();
        let headers = iovecs
            .iter_mut()
            .map(|iovec| {
                // SAFETY: all-zero is a valid mmsghdr: no address, no control data.
                let mut header: libc::mmsghdr = unsafe { zeroed() };
                header.msg_hdr.msg_iov = iovec;
                header.msg_hdr.msg_iovlen = 1;
                header
            })
            .collect();
        Ok(Self {
            socket,
            mode,
            stride: size_bytes,
            buffer,
            iovecs,
            headers,
        })
    }

    /// Datagrams that one call can carry.
    pub fn batch(&self) -> usize {
        self.iovecs.len()
    }

    /// The socket, for reading its state.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Bytes of the `index`-th datagram of the next call, `stride` of them.
    #[inline]
    pub fn slot(&mut self, index: usize) -> &mut [u8] {
        &mut self.buffer[index * self.stride..][..self.stride]
    }

    /// Makes the `index`-th datagram of the next call `bytes` long. Not for segmented sends, whose
    /// datagrams are all equal.
    #[inline]
    pub fn set_length(&mut self, index: usize, bytes: usize) {
        debug_assert!(self.mode != SendMode::Gso && bytes <= self.stride);
        self.iovecs[index].iov_len = bytes.min(self.stride);
    }

    /// Hands the first `count` slots to the kernel, waiting while its buffer is full.
    #[inline]
    pub fn send(&mut self, count: usize) -> Sent {
        debug_assert!(count >= 1 && count <= self.batch());
        match self.mode {
            SendMode::Plain => self.send_one_buffer(self.iovecs[0].iov_len, 1),
            SendMode::Gso => self.send_one_buffer(count * self.stride, count),
            SendMode::Mmsg => self.send_many(count),
        }
    }

    fn send_one_buffer(&mut self, bytes: usize, count: usize) -> Sent {
        // SAFETY: `bytes` never exceeds the buffer that the pointer begins.
        let status = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                self.buffer.as_ptr().cast(),
                bytes,
                0,
            )
        };
        if status >= 0 {
            return Sent {
                taken: count,
                problem: None,
            };
        }
        Sent {
            taken: 0,
            problem: Some(send_problem(&io::Error::last_os_error())),
        }
    }

    fn send_many(&mut self, count: usize) -> Sent {
        let mut taken = 0;
        while taken < count {
            // SAFETY: headers[taken..count] are initialised and point to live iovecs and slots.
            let status = unsafe {
                libc::sendmmsg(
                    self.socket.as_raw_fd(),
                    self.headers[taken..].as_mut_ptr(),
                    (count - taken) as u32,
                    0,
                )
            };
            if status < 0 {
                return Sent {
                    taken,
                    problem: Some(send_problem(&io::Error::last_os_error())),
                };
            }
            taken += status as usize;
        }
        Sent {
            taken,
            problem: None,
        }
    }
}

/// Takes datagrams from a bound socket, several per call.
pub struct Receiver {
    socket: UdpSocket,
    stride: usize,
    gro: bool,
    buffer: Vec<u8>,
    headers: Vec<libc::mmsghdr>,
    names: Vec<libc::sockaddr_storage>,
    controls: Vec<[u64; CONTROL_WORDS]>,
    // Kept alive because `headers` points to them.
    _iovecs: Vec<libc::iovec>,
    ready: usize,
    refusals: u64,
}

// SAFETY: as for `Sender`: every pointer leads to a heap block owned by the same value.
unsafe impl Send for Receiver {}

impl Receiver {
    /// Prepares a bound socket for datagrams of up to `size_bytes`.
    ///
    /// `gro` must have been enabled on the socket with [`enable_gro`] when it is true; then a slot
    /// holds a whole 64 KiB buffer. `batch` is the number of buffers per call, 1 for one by one.
    pub fn new(socket: UdpSocket, size_bytes: usize, gro: bool, batch: usize) -> Self {
        let stride = if gro {
            MAX_PAYLOAD_BYTES + 29
        } else {
            size_bytes
        };
        let batch = if gro {
            batch.clamp(1, GRO_BATCH)
        } else {
            batch.clamp(1, MMSG_BATCH)
        };
        let mut buffer = vec![0u8; batch * stride];
        // SAFETY: all-zero is a valid sockaddr_storage and a valid mmsghdr.
        let mut names: Vec<libc::sockaddr_storage> = vec![unsafe { zeroed() }; batch];
        let mut controls = vec![[0u64; CONTROL_WORDS]; batch];
        let mut iovecs: Vec<libc::iovec> = (0..batch)
            .map(|i| libc::iovec {
                iov_base: buffer[i * stride..].as_mut_ptr().cast(),
                iov_len: stride,
            })
            .collect();
        let headers = (0..batch)
            .map(|i| {
                // SAFETY: all-zero is a valid mmsghdr.
                let mut header: libc::mmsghdr = unsafe { zeroed() };
                header.msg_hdr.msg_name = std::ptr::from_mut(&mut names[i]).cast();
                header.msg_hdr.msg_iov = &mut iovecs[i];
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = controls[i].as_mut_ptr().cast();
                header
            })
            .collect();
        Self {
            socket,
            stride,
            gro,
            buffer,
            headers,
            names,
            controls,
            _iovecs: iovecs,
            ready: 0,
            refusals: 0,
        }
    }

    /// The socket, for reading its state.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Waits for at least one datagram, as long as the socket's bound allows, then takes all that
    /// are there up to the batch. Returns the number of kernel buffers; 0 when the bound passed.
    #[inline]
    pub fn receive(&mut self) -> io::Result<usize> {
        self.receive_with(libc::MSG_WAITFORONE)
    }

    /// Takes what is there, without waiting. Returns the number of kernel buffers.
    #[inline]
    pub fn receive_ready(&mut self) -> io::Result<usize> {
        self.receive_with(libc::MSG_DONTWAIT)
    }

    fn receive_with(&mut self, flags: i32) -> io::Result<usize> {
        self.ready = 0;
        for header in &mut self.headers {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as u32;
            header.msg_hdr.msg_controllen = if self.gro { CONTROL_WORDS * 8 } else { 0 };
        }
        // SAFETY: every header points to live name, control and data blocks of the stated sizes.
        let status = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as u32,
                flags,
                std::ptr::null_mut(),
            )
        };
        if status >= 0 {
            self.ready = status as usize;
            return Ok(self.ready);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(0),
            Some(libc::ECONNREFUSED) => {
                self.refusals += 1;
                Ok(0)
            }
            _ => Err(error),
        }
    }

    /// Times that a connected socket learnt that nothing listens at its peer's port.
    #[inline]
    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Calls `each` for every datagram of the last receive, in order of arrival.
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(Datagram<'_>)) {
        for index in 0..self.ready {
            let header = &self.headers[index];
            let length = (header.msg_len as usize).min(self.stride);
            let bytes = &self.buffer[index * self.stride..][..length];
            let truncated = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
            let from = &self.names[index];
            let segment = if self.gro {
                self.segment_bytes(index)
            } else {
                None
            };
            match segment {
                Some(size) if size > 0 && size < length => {
                    let segments = length.div_ceil(size);
                    for bytes in bytes.chunks(size) {
                        each(Datagram {
                            bytes,
                            truncated,
                            segments,
                            from,
                        });
                    }
                }
                _ => each(Datagram {
                    bytes,
                    truncated,
                    segments: 1,
                    from,
                }),
            }
        }
    }

    /// Size of the datagrams inside the `index`-th buffer, from its `UDP_GRO` control message.
    fn segment_bytes(&self, index: usize) -> Option<usize> {
        let header = &self.headers[index].msg_hdr;
        if header.msg_controllen < size_of::<libc::cmsghdr>() + size_of::<i32>() {
            return None;
        }
        let control = self.controls[index].as_ptr().cast::<u8>();
        // SAFETY: the control block is u64-aligned, large enough for the header and one i32, and
        // the kernel said that it wrote at least that much.
        let (message, value) = unsafe {
            let message = *control.cast::<libc::cmsghdr>();
            let value = *control.add(size_of::<libc::cmsghdr>()).cast::<i32>();
            (message, value)
        };
        let is_gro = message.cmsg_level == libc::SOL_UDP && message.cmsg_type == UDP_GRO;
        (is_gro && value > 0).then_some(value as usize)
    }
}
