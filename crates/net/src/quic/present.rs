//! A build with QUIC: connections driven by one runtime thread per side.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    Connection, ConnectionError, Endpoint, EndpointConfig, IdleTimeout, ReadError, RecvStream,
    SendStream, TokioRuntime, TransportConfig, VarInt, WriteError,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::park::{poll_until, run_until};
use crate::stream::{Connected, DEFAULT_BOUND, Stream, StreamError, StreamKind};
use crate::tls::{self, Identity, TlsError, Trust};
use crate::wait::Wait;

/// A connection is closed after this silence; a peer that is alive sends keep-alives before.
const SILENCE_BOUND_MS: u32 = 15_000;
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// Longest time until bytes that were written before the end are acknowledged.
const LINGER: Duration = Duration::from_secs(5);

/// Bytes that may be under way in one direction.
const WINDOW_BYTES: u32 = 8 << 20;

/// First byte of a stream, from the caller.
const OPENING: u8 = 0;

/// The application error code of a normal close.
const FINE: VarInt = VarInt::from_u32(0);

/// First of the error codes of QUIC that carry TLS alerts (RFC 9001 §4.8).
const ALERTS: u64 = 0x100;
/// `no_application_protocol` (RFC 7301).
const NO_APPLICATION_PROTOCOL: u64 = 120;

/// One runtime on its own thread. The thread ends when the last user of it is dropped.
struct Side {
    handle: Handle,
    endpoints: Arc<Mutex<Vec<Endpoint>>>,
    /// Dropped to end the thread.
    _alive: oneshot::Sender<()>,
}

impl Side {
    fn start() -> io::Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (alive, gone) = oneshot::channel::<()>();
        let endpoints = Arc::new(Mutex::new(Vec::new()));
        let side = Self {
            handle: runtime.handle().clone(),
            endpoints: Arc::clone(&endpoints),
            _alive: alive,
        };
        thread::Builder::new()
            .name("sokudo-quic".into())
            .spawn(move || {
                runtime.block_on(async {
                    // Nothing is ever sent: this ends when the sender is dropped.
                    let _ = gone.await;
                    let last: Vec<Endpoint> = lock(&endpoints).drain(..).collect();
                    for endpoint in last {
                        let _ = tokio::time::timeout(LINGER, endpoint.wait_idle()).await;
                    }
                });
            })?;
        Ok(Arc::new(side))
    }

    fn open(&self, local: SocketAddr, server: Option<quinn::ServerConfig>) -> io::Result<Endpoint> {
        let socket = UdpSocket::bind(local)?;
        let _runtime = self.handle.enter();
        let config = EndpointConfig::default();
        let endpoint = Endpoint::new(config, server, socket, Arc::new(TokioRuntime))?;
        lock(&self.endpoints).push(endpoint.clone());
        Ok(endpoint)
    }
}

/// Takes a lock also after a panic of its holder: each holder does one step, so the data is usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(SILENCE_BOUND_MS))))
        .keep_alive_interval(Some(KEEP_ALIVE))
        .stream_receive_window(VarInt::from_u32(WINDOW_BYTES))
        .send_window(u64::from(WINDOW_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None);
    Arc::new(config)
}

fn not_started(why: impl std::fmt::Display) -> StreamError {
    StreamError::unavailable(StreamKind::Quic, why)
}

fn secure(peer: SocketAddr, why: TlsError) -> StreamError {
    StreamError::Secure {
        kind: StreamKind::Quic,
        peer: peer.to_string(),
        why,
    }
}

/// Calls listeners; all its connections share one thread and, per address family, one UDP port.
pub struct Caller {
    side: Arc<Side>,
    trust: Trust,
    /// One endpoint for IPv4 and one for IPv6, made when first needed.
    endpoints: Mutex<[Option<Endpoint>; 2]>,
}

impl Caller {
    /// Starts the thread.
    ///
    /// Errors: [`StreamError::Unavailable`].
    pub fn new(trust: &Trust) -> Result<Self, StreamError> {
        Ok(Self {
            side: Side::start().map_err(not_started)?,
            trust: trust.clone(),
            endpoints: Mutex::new([None, None]),
        })
    }

    fn endpoint(&self, v6: bool) -> io::Result<Endpoint> {
        let mut endpoints = lock(&self.endpoints);
        let place = &mut endpoints[usize::from(v6)];
        if let Some(endpoint) = place {
            return Ok(endpoint.clone());
        }
        let any: SocketAddr = match v6 {
            false => (Ipv4Addr::UNSPECIFIED, 0).into(),
            true => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let made = self.side.open(any, None)?;
        *place = Some(made.clone());
        Ok(made)
    }

    /// Calls a listener, within the bound.
    ///
    /// Errors: [`StreamError::Secure`]; a port without a listener is indistinguishable from
    /// silence.
    pub fn connect(&self, peer: SocketAddr, bound: Duration) -> Result<Connected, StreamError> {
        let deadline = tls::deadline_in(bound);
        let endpoint = self
            .endpoint(peer.is_ipv6())
            .map_err(|why| StreamError::local("cannot open a UDP socket", why))?;
        // Each call has its own verifier, which records the key that this peer presented.
        let (config, verifier) =
            tls::client_config(&self.trust).map_err(|why| secure(peer, why))?;
        let crypto = QuicClientConfig::try_from(config).map_err(not_started)?;
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport());
        let begun = Instant::now();
        let connecting = {
            let _runtime = self.side.handle.enter();
            // Names are not checked here; an IP address is never sent as server name.
            endpoint.connect_with(config, peer, "127.0.0.1")
        };
        let connecting =
            connecting.map_err(|why| secure(peer, TlsError::Protocol(why.to_string())))?;
        let refused = |why| secure(peer, verifier.stranger().unwrap_or_else(|| told(why)));
        let connection = run_until(left(deadline), connecting)
            .ok_or_else(|| secure(peer, TlsError::TimedOut))?
            .map_err(&refused)?;
        let secure_ns = begun.elapsed().as_nanos() as u64;
        let (mut send, recv) = run_until(left(deadline), connection.open_bi())
            .ok_or_else(|| secure(peer, TlsError::TimedOut))?
            .map_err(&refused)?;
        run_until(left(deadline), send.write_all(&[OPENING]))
            .ok_or_else(|| secure(peer, TlsError::TimedOut))?
            .map_err(|why| secure(peer, TlsError::Io(why.into())))?;
        let stream = QuicStream::new(connection, send, recv, Arc::clone(&self.side));
        Ok(Connected {
            stream: Box::new(stream),
            transport_ns: None,
            secure_ns: Some(secure_ns),
        })
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn told(why: ConnectionError) -> TlsError {
    match why {
        ConnectionError::TimedOut => TlsError::TimedOut,
        ConnectionError::Reset | ConnectionError::LocallyClosed => TlsError::Closed,
        ConnectionError::VersionMismatch => TlsError::NotTls,
        ConnectionError::ApplicationClosed(why) => TlsError::Alert(why.to_string()),
        ConnectionError::ConnectionClosed(why) => match u64::from(why.error_code) {
            code if code == ALERTS + NO_APPLICATION_PROTOCOL => TlsError::NotSokudo,
            _ => TlsError::Alert(why.to_string()),
        },
        ConnectionError::TransportError(why)
            if u64::from(why.code) == ALERTS + NO_APPLICATION_PROTOCOL =>
        {
            TlsError::NotSokudo
        }
        why => TlsError::Protocol(why.to_string()),
    }
}

/// Waits for callers on one UDP port.
pub struct QuicListener {
    side: Arc<Side>,
    endpoint: Endpoint,
    local: SocketAddr,
}

impl QuicListener {
    /// Listens; port 0 lets the system choose.
    ///
    /// Errors: [`StreamError::Local`], [`StreamError::Unavailable`].
    pub fn bind(local: SocketAddr, identity: &Identity) -> Result<Self, StreamError> {
        let failed = |why| StreamError::local(format!("cannot listen on {local} (UDP)"), why);
        let crypto = QuicServerConfig::try_from(Arc::clone(identity.config()));
        let crypto = crypto.map_err(not_started)?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport());
        let side = Side::start().map_err(not_started)?;
        let endpoint = side.open(local, Some(config)).map_err(failed)?;
        let local = endpoint.local_addr().map_err(failed)?;
        Ok(Self {
            side,
            endpoint,
            local,
        })
    }

    /// The address at which it listens.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Waits for a caller; `None` when the bound has passed.
    ///
    /// Errors: [`StreamError::Local`] when the endpoint has failed.
    pub fn accept(&self, bound: Duration) -> Result<Option<Incoming>, StreamError> {
        match run_until(bound, self.endpoint.accept()) {
            None => Ok(None),
            Some(Some(incoming)) => Ok(Some(Incoming {
                incoming,
                side: Arc::clone(&self.side),
            })),
            Some(None) => Err(StreamError::local(
                format!("nobody can call {} any more", self.local),
                io::ErrorKind::NotConnected.into(),
            )),
        }
    }
}

impl Drop for QuicListener {
    fn drop(&mut self) {
        // Established connections continue; new callers are refused.
        self.endpoint.set_server_config(None);
    }
}

/// A caller whose handshake has not been done yet. Dropping it refuses the caller.
pub struct Incoming {
    incoming: quinn::Incoming,
    side: Arc<Side>,
}

impl Incoming {
    /// The caller's address, as its packets give it.
    pub fn peer(&self) -> SocketAddr {
        self.incoming.remote_address()
    }

    /// Does the handshake, within the bound.
    ///
    /// Errors: [`StreamError::Secure`].
    pub fn establish(self, bound: Duration) -> Result<Box<dyn Stream>, StreamError> {
        let deadline = tls::deadline_in(bound);
        let peer = self.incoming.remote_address();
        let late = || secure(peer, TlsError::TimedOut);
        let refused = |why| secure(peer, told(why));
        let connecting = {
            let _runtime = self.side.handle.enter();
            self.incoming.accept().map_err(refused)?
        };
        let connection = run_until(left(deadline), connecting)
            .ok_or_else(late)?
            .map_err(refused)?;
        let (send, mut recv) = run_until(left(deadline), connection.accept_bi())
            .ok_or_else(late)?
            .map_err(refused)?;
        let mut first = [0];
        let read = run_until(left(deadline), recv.read_exact(&mut first)).ok_or_else(late)?;
        if read.is_err() || first != [OPENING] {
            return Err(secure(peer, TlsError::NotSokudo));
        }
        Ok(Box::new(QuicStream::new(connection, send, recv, self.side)))
    }
}

/// State that both halves of a stream share. The last half that is dropped ends the connection.
struct QuicState {
    connection: Connection,
    sending: Mutex<Sending>,
    side: Arc<Side>,
}

struct Sending {
    /// `None` once the connection is being ended.
    stream: Option<SendStream>,
    /// The end of the own bytes was announced.
    finished: bool,
}

impl Sending {
    fn finish(&mut self) {
        if let Some(stream) = &mut self.stream
            && !self.finished
        {
            // Fails only when the peer wants no more bytes anyway.
            let _ = stream.finish();
            self.finished = true;
        }
    }
}

impl QuicState {
    /// Ends the connection when the peer has everything, without blocking the caller. When
    /// another thread waits for room to write, it ends at once and that thread wakes up.
    fn end(&self) {
        let Ok(mut sending) = self.sending.try_lock() else {
            return self.connection.close(FINE, b"");
        };
        sending.finish();
        let Some(stream) = sending.stream.take() else {
            // It is ending already.
            return;
        };
        let connection = self.connection.clone();
        self.side.handle.spawn(async move {
            let _ = tokio::time::timeout(LINGER, stream.stopped()).await;
            connection.close(FINE, b"");
        });
    }
}

impl Drop for QuicState {
    fn drop(&mut self) {
        self.end();
    }
}

/// One QUIC stream, or a half of it.
pub struct QuicStream {
    /// `None` in the writing half.
    recv: Option<RecvStream>,
    shared: Arc<QuicState>,
    deaf: bool,
    wait: Wait,
    read_bound: Duration,
    write_bound: Duration,
}

impl QuicStream {
    fn new(connection: Connection, send: SendStream, recv: RecvStream, side: Arc<Side>) -> Self {
        Self {
            recv: Some(recv),
            shared: Arc::new(QuicState {
                connection,
                sending: Mutex::new(Sending {
                    stream: Some(send),
                    finished: false,
                }),
                side,
            }),
            deaf: false,
            wait: Wait::Block,
            read_bound: DEFAULT_BOUND,
            write_bound: DEFAULT_BOUND,
        }
    }
}

/// Maps the end of a connection for a reader: a normal close of the peer is an end of data, anything
/// else an error.
fn lost(why: ConnectionError) -> io::Result<usize> {
    match why {
        ConnectionError::LocallyClosed => Ok(0),
        ConnectionError::ApplicationClosed(close) if close.error_code == FINE => Ok(0),
        ConnectionError::TimedOut => Err(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "the other side has been silent for too long",
        )),
        why => Err(io::Error::new(
            io::ErrorKind::ConnectionReset,
            why.to_string(),
        )),
    }
}

fn passed(bound: Duration) -> io::Error {
    if bound.is_zero() {
        io::ErrorKind::WouldBlock.into()
    } else {
        io::ErrorKind::TimedOut.into()
    }
}

impl Read for QuicStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(recv) = &mut self.recv else {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this half of a QUIC stream only writes",
            ));
        };
        if out.is_empty() || self.deaf {
            return Ok(0);
        }
        let read = poll_until(self.wait, self.read_bound, |context| {
            recv.poll_read(context, out)
        });
        match read {
            None => Err(passed(self.read_bound)),
            Some(Ok(n)) => Ok(n),
            Some(Err(ReadError::ConnectionLost(why))) => lost(why),
            Some(Err(why)) => Err(io::Error::new(
                io::ErrorKind::ConnectionReset,
                why.to_string(),
            )),
        }
    }
}

impl Write for QuicStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut sending = lock(&self.shared.sending);
        let send = match &mut *sending {
            Sending {
                stream: Some(send),
                finished: false,
            } => send,
            _ => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        // A full window is waited for by sleeping, as a full socket is.
        let written = poll_until(Wait::Block, self.write_bound, |context| {
            Pin::new(&mut *send).poll_write(context, bytes)
        });
        match written {
            None => Err(passed(self.write_bound)),
            Some(Ok(n)) => Ok(n),
            Some(Err(WriteError::ConnectionLost(why))) => {
                lost(why)?;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            Some(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for QuicStream {
    fn kind(&self) -> StreamKind {
        StreamKind::Quic
    }

    fn set_wait(&mut self, wait: Wait) -> io::Result<()> {
        if wait == Wait::Epoll {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "epoll cannot watch a QUIC stream, which shares its socket with others",
            ));
        }
        self.wait = wait;
        Ok(())
    }

    fn set_read_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.read_bound = bound;
        Ok(())
    }

    fn set_write_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.write_bound = bound;
        Ok(())
    }

    fn shutdown(&mut self, how: Shutdown) -> io::Result<()> {
        if how == Shutdown::Write {
            lock(&self.shared.sending).finish();
            return Ok(());
        }
        self.deaf = true;
        if let Some(recv) = &mut self.recv {
            // Fails only when the stream has ended anyway.
            let _ = recv.stop(FINE);
        }
        if how == Shutdown::Both {
            self.shared.end();
        }
        Ok(())
    }

    fn split(mut self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)> {
        let reading = Self {
            recv: self.recv.take(),
            shared: Arc::clone(&self.shared),
            ..*self
        };
        Ok((Box::new(reading), self))
    }
}
