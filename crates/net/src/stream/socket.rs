//! Bounded reads and writes on one socket, in each of the three ways of waiting.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::{DEFAULT_BOUND, Stream, StreamError, StreamKind};
use crate::wait::{AsFd, BorrowedFd, Interest, LONGEST, Spinning, Trigger, Wait, Waiter};

/// A connected socket that carries bytes.
pub trait ByteSocket: AsFd + Send + Sync + 'static {
    /// The socket, when it is one of TCP.
    fn tcp(&self) -> Option<&TcpStream>;
}

impl ByteSocket for TcpStream {
    fn tcp(&self) -> Option<&TcpStream> {
        Some(self)
    }
}

/// A socket as a [`Stream`]. Both halves of it share one descriptor.
pub struct SocketStream<S> {
    socket: Arc<S>,
    kind: StreamKind,
    receiving: Receiving,
    sending: Sending,
}

impl SocketStream<TcpStream> {
    /// A connected TCP socket as a stream.
    ///
    /// Errors: the system's, when it takes no bound.
    pub fn over_tcp(tcp: TcpStream, kind: StreamKind) -> Result<Self, StreamError> {
        Self::new(Arc::new(tcp), kind)
            .map_err(|why| StreamError::local("the socket takes no bound", why))
    }
}

impl<S: ByteSocket> SocketStream<S> {
    /// A connected, blocking socket as a stream with [`DEFAULT_BOUND`] both ways.
    pub(crate) fn new(socket: Arc<S>, kind: StreamKind) -> io::Result<Self> {
        let mut receiving = Receiving::default();
        receiving.set_bound(&*socket, DEFAULT_BOUND)?;
        let mut sending = Sending::default();
        sending.set_bound(&*socket, DEFAULT_BOUND)?;
        Ok(Self {
            socket,
            kind,
            receiving,
            sending,
        })
    }

    /// The socket itself.
    #[cfg(target_os = "linux")]
    pub(crate) fn socket(&self) -> &Arc<S> {
        &self.socket
    }
}

impl<S: ByteSocket> Read for SocketStream<S> {
    #[inline]
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.receiving.receive(&*self.socket, out)
    }
}

impl<S: ByteSocket> Write for SocketStream<S> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sending.send(&*self.socket, &[IoSlice::new(bytes)])
    }

    #[inline]
    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.sending.send(&*self.socket, pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: ByteSocket> Stream for SocketStream<S> {
    fn kind(&self) -> StreamKind {
        self.kind
    }

    fn tcp(&self) -> Option<&TcpStream> {
        self.socket.tcp()
    }

    fn source(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn set_wait(&mut self, wait: Wait) -> io::Result<()> {
        self.receiving.set_wait(&*self.socket, wait)
    }

    fn set_read_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.receiving.set_bound(&*self.socket, bound)
    }

    fn set_write_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.sending.set_bound(&*self.socket, bound)
    }

    fn shutdown(&mut self, how: Shutdown) -> io::Result<()> {
        shut(&*self.socket, how)
    }

    fn split(self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)> {
        let writing = Self {
            socket: Arc::clone(&self.socket),
            kind: self.kind,
            receiving: Receiving {
                bound: self.receiving.bound,
                applied: self.receiving.applied,
                ..Receiving::default()
            },
            sending: self.sending,
        };
        Ok((self, Box::new(writing)))
    }
}

/// Ends a direction; a connection that has already ended is not an error.
pub(crate) fn shut(socket: &impl AsFd, how: Shutdown) -> io::Result<()> {
    match SockRef::from(&socket.as_fd()).shutdown(how) {
        Err(why) if why.kind() == io::ErrorKind::NotConnected => Ok(()),
        done => done,
    }
}

/// Bounds below the kernel's clock tick wait for a tick.
const SHORTEST: Duration = Duration::from_millis(1);

/// The reading side of one socket: its bound and its way of waiting.
#[derive(Default)]
pub(crate) struct Receiving {
    wait: Wait,
    bound: Duration,
    /// The options last set on the socket.
    applied: Option<Duration>,
    /// Present while `wait` is [`Wait::Epoll`].
    waiter: Option<Waiter>,
}

impl Receiving {
    pub(crate) fn set_wait(&mut self, socket: &impl AsFd, wait: Wait) -> io::Result<()> {
        self.waiter = None;
        if wait == Wait::Epoll {
            let mut waiter = Waiter::new(wait, Trigger::Level, 1)?;
            waiter.add(socket.as_fd(), 0, Interest::Read)?;
            self.waiter = Some(waiter);
        }
        self.wait = wait;
        Ok(())
    }

    /// Sets only the options that have changed.
    pub(crate) fn set_bound(&mut self, socket: &impl AsFd, bound: Duration) -> io::Result<()> {
        self.bound = bound.min(LONGEST);
        if !bound.is_zero() && self.applied != Some(self.bound) {
            SockRef::from(&socket.as_fd()).set_read_timeout(Some(self.bound.max(SHORTEST)))?;
            self.applied = Some(self.bound);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn receive(&mut self, socket: &impl AsFd, out: &mut [u8]) -> io::Result<usize> {
        if self.bound.is_zero() {
            return at_once(socket, out);
        }
        match (self.wait, &mut self.waiter) {
            (Wait::Spin { for_ns }, _) => spinning(socket, out, for_ns, self.bound),
            (Wait::Epoll, Some(waiter)) => polling(socket, out, waiter, self.bound),
            _ => blocking(socket, out, self.bound),
        }
    }
}

fn blocking(socket: &impl AsFd, out: &mut [u8], bound: Duration) -> io::Result<usize> {
    loop {
        match imp::receive(socket, out, bound) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            taken => return taken,
        }
    }
}

fn at_once(socket: &impl AsFd, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match imp::receive(socket, out, Duration::ZERO) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            taken => return taken,
        }
    }
}

fn spinning(socket: &impl AsFd, out: &mut [u8], for_ns: u64, bound: Duration) -> io::Result<usize> {
    let spin = Duration::from_nanos(for_ns);
    let mut spinning = None;
    loop {
        match at_once(socket, out) {
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
            taken => return taken,
        }
        let spent = spinning.get_or_insert_with(Spinning::new).pause();
        if spent >= bound {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if spent >= spin {
            return blocking(socket, out, bound - spent);
        }
    }
}

fn polling(
    socket: &impl AsFd,
    out: &mut [u8],
    waiter: &mut Waiter,
    bound: Duration,
) -> io::Result<usize> {
    let deadline = Instant::now() + bound;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let ready = waiter.wait(left)?;
        match at_once(socket, out) {
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
            taken => return taken,
        }
        if ready == 0 && Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// The writing side of one socket.
#[derive(Default, Clone, Copy)]
pub(crate) struct Sending {
    bound: Duration,
    applied: Option<Duration>,
}

impl Sending {
    /// Sets only the options that have changed.
    pub(crate) fn set_bound(&mut self, socket: &impl AsFd, bound: Duration) -> io::Result<()> {
        self.bound = bound.min(LONGEST);
        if !bound.is_zero() && self.applied != Some(self.bound) {
            SockRef::from(&socket.as_fd()).set_write_timeout(Some(self.bound.max(SHORTEST)))?;
            self.applied = Some(self.bound);
        }
        Ok(())
    }

    /// Writes a part of the bytes, waiting while there is no room at all.
    #[inline]
    pub(crate) fn send(&self, socket: &impl AsFd, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let now = self.bound.is_zero();
        loop {
            match imp::send(socket, pieces, self.bound) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock && !now => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                sent => return sent,
            }
        }
    }
}

#[cfg(unix)]
mod imp {
    //! One call each; "at once" is a flag of the call, and the socket itself knows longer bounds.

    use super::*;
    use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send as send_one, sendmsg};

    /// A write to a closed peer fails with an error, never with a signal.
    #[cfg(not(target_vendor = "apple"))]
    const SEND: SendFlags = SendFlags::NOSIGNAL;
    #[cfg(target_vendor = "apple")]
    const SEND: SendFlags = SendFlags::empty();

    #[inline]
    pub(super) fn receive(
        socket: &impl AsFd,
        out: &mut [u8],
        bound: Duration,
    ) -> io::Result<usize> {
        let flags = if bound.is_zero() {
            RecvFlags::DONTWAIT
        } else {
            RecvFlags::empty()
        };
        Ok(recv(socket, out, flags)?.1)
    }

    #[inline]
    pub(super) fn send(
        socket: &impl AsFd,
        pieces: &[IoSlice<'_>],
        bound: Duration,
    ) -> io::Result<usize> {
        let flags = if bound.is_zero() {
            SEND | SendFlags::DONTWAIT
        } else {
            SEND
        };
        match pieces {
            [one] => Ok(send_one(socket, one, flags)?),
            _ => {
                let most = pieces.len().min(MOST_PIECES);
                let mut nothing = SendAncillaryBuffer::default();
                Ok(sendmsg(socket, &pieces[..most], &mut nothing, flags)?)
            }
        }
    }

    /// `IOV_MAX` of every supported system.
    const MOST_PIECES: usize = 1024;
}

#[cfg(not(unix))]
mod imp {
    //! Waits first, then calls: on Windows a call that its own bound ended leaves the socket in a
    //! state that is not documented (documentation of `SO_RCVTIMEO`).

    use super::*;
    use crate::wait;

    pub(super) fn receive(
        socket: &impl AsFd,
        out: &mut [u8],
        bound: Duration,
    ) -> io::Result<usize> {
        if !wait::readable(socket.as_fd(), bound)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        (&*SockRef::from(&socket.as_fd())).read(out)
    }

    pub(super) fn send(
        socket: &impl AsFd,
        pieces: &[IoSlice<'_>],
        bound: Duration,
    ) -> io::Result<usize> {
        if !wait::writable(socket.as_fd(), bound)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        (&*SockRef::from(&socket.as_fd())).write_vectored(pieces)
    }
}
