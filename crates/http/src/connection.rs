//! State of one connection to a server: its socket, its TLS session, the request being sent and the
//! response being received.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection};
use socket2::{Domain, Protocol, Socket, Type};

use crate::engine::Limits;
use crate::failure::{Failure, FailureKind, Phase};
use crate::observed::Reading;
use crate::response::Response;
use crate::shared::SharedConnection;
use crate::target::{Found, Leaves, TargetId};
use crate::tls;
use crate::tunnel::Tunnel;

/// A request below this many bytes leaves in one segment, which is never held back.
const ONE_SEGMENT: usize = 1200;
/// Bytes of a shared connection that are encrypted or handed over at once.
const AT_ONCE: usize = 64 * 1024;
/// Bytes of an unsent request's buffer that outlive it.
const ROOM_KEPT: usize = 16 * 1024;

/// Stage of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No socket.
    Vacant,
    /// The peer has not answered the call.
    Connecting,
    /// A tunnel is being requested from a proxy.
    Tunnelling,
    /// The TLS handshake is under way.
    Securing,
    /// A request is leaving.
    Sending,
    /// A response is awaited or coming.
    Receiving,
    /// Kept for the next request.
    Idle,
    /// HTTP/2: its progress is in [`Connection::shared`].
    Shared,
}

/// One connection, or a free slot for one, which keeps its buffers.
pub(crate) struct Connection {
    pub(crate) stage: Stage,
    pub(crate) target: TargetId,
    /// The user that owns it.
    pub(crate) user: u32,
    /// Tells its events from those of an earlier connection in the same room.
    pub(crate) generation: u32,
    /// Index of the target's address that it connects to, in the order in which they are tried.
    pub(crate) attempt: usize,
    /// The addresses that its user resolved itself.
    pub(crate) found: Option<Arc<Found>>,
    pub(crate) peer: Option<SocketAddr>,
    /// It has carried an exchange before.
    pub(crate) used: bool,
    pub(crate) response: Response,
    /// HTTP/2: shared by several users.
    pub(crate) is_for_many: bool,
    /// Its state for the users of an HTTP/2 connection; kept for reuse by the next one.
    pub(crate) shared: Option<Box<SharedConnection>>,
    socket: Option<TcpStream>,
    tls: Option<Box<ClientConnection>>,
    /// The request to a proxy before the handshake.
    tunnel: Option<Box<Tunnel>>,
    /// The request, as far as it has not left; the bytes before `left_from` have.
    request: Vec<u8>,
    left_from: usize,
    is_prompt: bool,
    /// Its counters when they were read last.
    read: Reading,
}

impl Connection {
    /// Room for a connection.
    pub(crate) fn vacant(limits: Limits) -> Self {
        Self {
            stage: Stage::Vacant,
            target: TargetId(u32::MAX),
            user: u32::MAX,
            generation: 0,
            attempt: 0,
            found: None,
            peer: None,
            used: false,
            response: Response::new(limits),
            is_for_many: false,
            shared: None,
            socket: None,
            tls: None,
            tunnel: None,
            request: Vec::new(),
            left_from: 0,
            is_prompt: false,
            read: Reading::default(),
        }
    }

    /// Calls the peer; whether it answers is seen later.
    ///
    /// Errors: no socket, no port, no way, no such address or interface to leave from.
    pub(crate) fn call(&mut self, peer: SocketAddr, leaves: &Leaves) -> io::Result<()> {
        self.peer = Some(peer);
        self.used = false;
        self.is_prompt = false;
        self.read = Reading::default();
        let socket = non_blocking(Domain::for_address(peer))?;
        leave(&socket, leaves)?;
        match socket.connect(&peer.into()) {
            Ok(()) => {}
            Err(error) if is_under_way(&error) => {}
            Err(error) => return Err(error),
        }
        self.socket = Some(socket.into());
        self.stage = Stage::Connecting;
        Ok(())
    }

    /// Prepares the TLS handshake.
    pub(crate) fn secure(
        &mut self,
        config: &Arc<ClientConfig>,
        host: &str,
    ) -> Result<(), FailureKind> {
        self.tls = Some(Box::new(tls::begin(config, host)?));
        self.be_prompt();
        Ok(())
    }

    /// Its socket, and what was read of it last.
    pub(crate) fn socket_and_reading(&mut self) -> (Option<&TcpStream>, &mut Reading) {
        (self.socket.as_ref(), &mut self.read)
    }

    /// True when a handshake follows the connection.
    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Prepares the call for a tunnel.
    pub(crate) fn tunnel(&mut self, request: String) {
        self.tunnel = Some(Box::new(Tunnel::new(request)));
    }

    /// True when a proxy has to open a tunnel before the handshake.
    pub(crate) fn is_tunnelled(&self) -> bool {
        self.tunnel.is_some()
    }

    /// Goes on with the call for a tunnel; true when it is there.
    ///
    /// Errors: the proxy refuses, or does not speak HTTP.
    pub(crate) fn dig(&mut self) -> Result<bool, Failure> {
        let (Some(tunnel), Some(socket)) = (&mut self.tunnel, &self.socket) else {
            return Err(Failure::new(Phase::Connect, FailureKind::Other));
        };
        let there = tunnel.go_on(socket)?;
        if there {
            self.tunnel = None;
        }
        Ok(there)
    }

    /// The socket, to be registered for readiness.
    pub(crate) fn socket(&self) -> Option<&TcpStream> {
        self.socket.as_ref()
    }

    /// Closes the socket; buffers stay.
    pub(crate) fn close(&mut self) {
        self.socket = None;
        self.tls = None;
        self.tunnel = None;
        self.stage = Stage::Vacant;
        self.generation = self.generation.wrapping_add(1);
    }

    /// Keeps a request until it can leave.
    pub(crate) fn hold(&mut self, request: &[u8]) {
        self.request.clear();
        self.request.shrink_to(ROOM_KEPT.max(request.len()));
        self.request.extend_from_slice(request);
        self.left_from = 0;
    }

    /// Sends what can leave of a request at once and holds the rest; true when all has left.
    ///
    /// Errors: the connection is of no further use.
    #[inline]
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<bool, Failure> {
        if self.tls.is_some() {
            self.hold(request);
            return self.send_on();
        }
        if request.len() > ONE_SEGMENT {
            self.be_prompt();
        }
        let Some(mut socket) = self.socket.as_ref() else {
            return Err(Failure::new(Phase::Send, FailureKind::Other));
        };
        let sent = match socket.write(request) {
            Ok(sent) if sent == request.len() => {
                self.request.clear();
                self.left_from = 0;
                return Ok(true);
            }
            Ok(sent) => sent,
            Err(error) if is_later(&error) => 0,
            Err(error) => return Err(Failure::of(Phase::Send, &error)),
        };
        self.hold(&request[sent..]);
        // Edge-triggered readiness is reported again only after a call that would have blocked.
        self.send_on()
    }

    /// Sends on what is held; true when all has left.
    pub(crate) fn send_on(&mut self) -> Result<bool, Failure> {
        let failed = |error: io::Error| Failure::of(Phase::Send, &error);
        if let Some(tls) = &mut self.tls {
            let left = &self.request[self.left_from..];
            if !left.is_empty() {
                tls.writer().write_all(left).map_err(failed)?;
                self.left_from = self.request.len();
            }
            return self.flush_tls().map_err(failed);
        }
        if self.request.len() > ONE_SEGMENT {
            self.be_prompt();
        }
        let Some(mut socket) = self.socket.as_ref() else {
            return Err(Failure::new(Phase::Send, FailureKind::Other));
        };
        while self.left_from < self.request.len() {
            match socket.write(&self.request[self.left_from..]) {
                Ok(sent) => self.left_from += sent,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(true)
    }

    /// Bytes of the request that have not left.
    pub(crate) fn unsent(&self) -> usize {
        self.request.len() - self.left_from
    }

    /// Goes on with the handshake; true when it is over.
    pub(crate) fn shake_hands(&mut self) -> Result<bool, Failure> {
        let failed = |error: io::Error| Failure::of(Phase::Tls, &error);
        loop {
            self.flush_tls().map_err(failed)?;
            let (Some(tls), Some(socket)) = (&mut self.tls, &self.socket) else {
                return Err(Failure::new(Phase::Tls, FailureKind::Tls));
            };
            if !tls.is_handshaking() {
                return Ok(true);
            }
            let mut socket: &TcpStream = socket;
            match tls.read_tls(&mut socket) {
                Ok(0) => return Err(Failure::new(Phase::Tls, FailureKind::ClosedEarly)),
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
            if let Err(error) = tls.process_new_packets() {
                // The server is sent the reason; its delivery is not waited for.
                let _ = tls.write_tls(&mut socket);
                return Err(Failure::new(Phase::Tls, tls::kind_of(&error)));
            }
        }
    }

    /// Takes bytes of the response; `Ok(0)` = the peer sends no more.
    ///
    /// Errors: [`io::ErrorKind::WouldBlock`] when there is nothing yet; others are final.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(mut socket) = self.socket.as_ref() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let Some(tls) = &mut self.tls else {
            return socket.read(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                // The connection ended without close_notify: the body's length decides whether it is
                // complete.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            // At the end of the connection the next call of the reader distinguishes the two kinds of
            // end.
            tls.read_tls(&mut socket)?;
            let bad = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            tls.process_new_packets().map_err(bad)?;
        }
    }

    /// True when a read that did not fill the buffer has emptied the socket.
    #[inline]
    pub(crate) fn short_read_is_all(&self) -> bool {
        self.tls.is_none()
    }

    /// True when both ends have agreed to speak this.
    pub(crate) fn has_agreed_on(&self, protocol: tls::Protocol) -> bool {
        let tls = self.tls.as_ref();
        tls.is_none_or(|tls| tls.alpn_protocol() == Some(protocol.name()))
    }

    /// Sends what the shared session has buffered; true when all of it was sent.
    ///
    /// Errors: the connection is of no further use.
    pub(crate) fn send_shared(&mut self) -> Result<bool, Failure> {
        let failed = |error: io::Error| Failure::of(Phase::Send, &error);
        let (Some(shared), Some(mut socket)) = (&mut self.shared, self.socket.as_ref()) else {
            return Err(Failure::new(Phase::Send, FailureKind::Other));
        };
        loop {
            shared.session.fill();
            let pending = shared.session.pending();
            let pending = &pending[..pending.len().min(AT_ONCE)];
            if let Some(tls) = &mut self.tls {
                // At most one portion of unsent bytes is kept.
                if !flush(tls, socket).map_err(failed)? {
                    return Ok(false);
                }
                tls.writer().write_all(pending).map_err(failed)?;
            }
            if pending.is_empty() {
                return Ok(true);
            }
            let sent = match self.tls {
                Some(_) => Ok(pending.len()),
                None => socket.write(pending),
            };
            match sent {
                Ok(count) => shared.session.left(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
        }
    }

    fn flush_tls(&mut self) -> io::Result<bool> {
        match (&mut self.tls, &self.socket) {
            (Some(tls), Some(socket)) => flush(tls, socket),
            _ => Ok(true),
        }
    }

    /// Small segments leave at once from now on.
    pub(crate) fn be_prompt(&mut self) {
        if !self.is_prompt
            && let Some(socket) = &self.socket
        {
            self.is_prompt = true;
            // Where it fails the request is slower, not wrong.
            let _ = socket.set_nodelay(true);
        }
    }
}

/// Hands encrypted bytes to the system; true when it took all.
fn flush(tls: &mut ClientConnection, mut socket: &TcpStream) -> io::Result<bool> {
    while tls.wants_write() {
        match tls.write_tls(&mut socket) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_later(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// True when the call has to be made again later.
pub(crate) fn is_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected
    )
}

#[cfg(unix)]
fn is_under_way(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
}

#[cfg(not(unix))]
fn is_under_way(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Binds a socket to where it is to leave from.
fn leave(socket: &Socket, leaves: &Leaves) -> io::Result<()> {
    match leaves {
        Leaves::Anywhere => Ok(()),
        Leaves::From(address) => socket.bind(&SocketAddr::new(*address, 0).into()),
        #[cfg(target_os = "linux")]
        Leaves::Through(device) => socket.bind_device(Some(device.as_bytes())),
        #[cfg(not(target_os = "linux"))]
        Leaves::Through(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// A TCP socket that never waits, in one system call.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn non_blocking(domain: Domain) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    Socket::new_raw(domain, kind, Some(Protocol::TCP))
}

/// A TCP socket that never waits.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn non_blocking(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
