//! TLS 1.3 between two hosts, with pinned keys: confidential, tamper-proof and authenticated.
//!
//! TLS 1.3 over one TCP connection, with blocking calls that all have a bound:
//!
//! ```text
//!            ┌─ Reader (one thread) ── decrypts ──┐
//! TcpStream ─┤                                    ├─ one TLS state behind a lock that is
//!            └─ Writer (any thread) ── encrypts ──┘  never held while the network is waited for
//! ```
//!
//! The server's certificate is self-signed from an Ed25519 seed; the client either pins that public
//! key or trusts anyone. Certificates carry no other meaning: no names, no dates, no authorities.

mod identity;

use std::fmt;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::pki_types::{IpAddr, Ipv4Addr, ServerName};
use rustls::{AlertDescription, ClientConnection, Connection, ServerConnection};
use sokudo_model::Text;

use crate::stream::socket::{Receiving, Sending as Bounded, shut};
use crate::wait::Wait;
pub(crate) use identity::client_config;
pub use identity::{Identity, PublicKey, Trust};

/// Both sides name this application protocol; a web server or browser is turned away by it.
const ALPN: &[u8] = b"sokudo";

/// Most bytes received during a handshake; ours takes less than 2 KiB.
const MAX_HANDSHAKE: usize = 32 * 1024;

/// Bytes asked from the kernel at once at first: a little more than one TLS record.
const PORTION: usize = 18 * 1024;
/// The same of a connection that was seen to have more: its calls to the kernel are a fourth as many.
const PORTION_MOST: usize = 4 * PORTION;

/// A connection is given up when the peer's kernel acknowledges nothing for this long.
const PEER_SILENT_BOUND: Duration = Duration::from_secs(30);

/// Longest time to send close_notify.
const GOODBYE_BOUND: Duration = Duration::from_millis(200);

/// Errors of TLS connections.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The peer closed the connection where more was expected.
    #[error("the other side closed the connection")]
    Closed,
    /// Not done within the bound given by the caller.
    #[error("no answer within the time allowed")]
    TimedOut,
    /// The peer sent something that is not TLS.
    #[error("the other side does not speak TLS")]
    NotTls,
    /// The peer speaks TLS, but not for us.
    #[error("the other side speaks TLS, but not sokudo's protocol")]
    NotSokudo,
    /// The server's public key is not the pinned one.
    #[error("the server's certificate does not belong to the expected key")]
    NotPinned {
        /// Common name in the certificate as the server wrote it: unproven. `None` when the
        /// certificate cannot be read.
        name: Option<String>,
    },
    /// The peer ended the handshake with an alert.
    #[error("the other side refused: {0}")]
    Alert(String),
    /// The peer broke the protocol.
    #[error("the other side broke the TLS protocol: {0}")]
    Protocol(String),
    /// The operating system failed.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// Own keys or certificate could not be made.
    #[error("no TLS identity: {0}")]
    Identity(String),
}

impl TlsError {
    /// The error as a message; words of the system stay as they are.
    pub fn text(&self) -> Text {
        match self {
            TlsError::Closed => Text::new("error-tls-closed"),
            TlsError::TimedOut => Text::new("error-tls-timeout"),
            TlsError::NotTls => Text::new("error-tls-foreign"),
            TlsError::NotSokudo => Text::new("error-tls-not-sokudo"),
            TlsError::NotPinned { .. } => Text::new("error-tls-not-pinned"),
            TlsError::Alert(why) => Text::new("error-tls-alert").word("why", why),
            TlsError::Protocol(why) => Text::new("error-tls-protocol").word("why", why),
            TlsError::Io(why) => Text::words(why.to_string()),
            TlsError::Identity(why) => Text::new("error-tls-identity").word("why", why),
        }
    }
}

/// Class of operation and management (CS2, RFC 4594 §3.3) in the byte that carries the DSCP.
#[cfg(target_os = "linux")]
const MANAGEMENT: u32 = 0x40;

/// TC_PRIO_INTERACTIVE: before bulk in queues of this host that know priorities.
#[cfg(target_os = "linux")]
const INTERACTIVE: u32 = 6;

/// Sets what lets the kernel notice a dead peer, and sends small messages at once, before load where
/// queues tell them apart.
///
/// Keep-alive after 10 s of silence, three times 5 s apart; on Linux unacknowledged data counts
/// too (TCP_USER_TIMEOUT). Failures are not errors: the agent's lease is the last word.
pub fn watch_peer(tcp: &TcpStream) {
    let socket = socket2::SockRef::from(tcp);
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(5));
    #[cfg(not(target_os = "windows"))]
    let keepalive = keepalive.with_retries(3);
    let _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(target_os = "linux")]
    {
        let _ = socket.set_tcp_user_timeout(Some(PEER_SILENT_BOUND));
        // An IPv6 socket may carry IPv4, so it takes both. They set the priority, too: before it.
        let _ = socket.set_tclass_v6(MANAGEMENT);
        let _ = socket.set_tos_v4(MANAGEMENT);
        let _ = socket.set_priority(INTERACTIVE);
    }
    let _ = tcp.set_nodelay(true);
    // A first value; every call sets its own.
    let _ = tcp.set_write_timeout(Some(PEER_SILENT_BOUND));
}

/// Waits for a client's handshake on an accepted connection.
///
/// Errors: see [`TlsError`]; at `deadline` at the latest.
pub fn accept(tcp: TcpStream, me: &Identity, deadline: Instant) -> Result<Session, TlsError> {
    let conn = ServerConnection::new(Arc::clone(me.config())).map_err(told)?;
    Session::establish(tcp, conn.into(), deadline)
}

/// Performs the handshake with a server.
///
/// Errors: see [`TlsError`]; at `deadline` at the latest.
pub fn connect(tcp: TcpStream, trust: &Trust, deadline: Instant) -> Result<Session, TlsError> {
    let (config, verifier) = client_config(trust)?;
    // Names mean nothing here; an IP address is never sent.
    let name = ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([127, 0, 0, 1])));
    let conn = ClientConnection::new(Arc::new(config), name).map_err(told)?;
    let session = Session::establish(tcp, conn.into(), deadline);
    match (session, verifier.stranger()) {
        (Err(_), Some(stranger)) => Err(stranger),
        (Ok(session), _) if session.reader.line.tls().alpn_protocol() != Some(ALPN) => {
            Err(TlsError::NotSokudo)
        }
        (session, _) => session,
    }
}

/// An established connection.
pub struct Session {
    /// For the one thread that receives.
    pub reader: TlsReader,
    /// For all threads that send.
    pub writer: Writer,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:?})", self.reader.line.tcp)
    }
}

impl Session {
    /// 32 bytes that only the two ends of this connection know (RFC 8446 §7.5).
    pub fn export(&self, label: &[u8]) -> Result<[u8; 32], TlsError> {
        let tls = self.reader.line.tls();
        tls.export_keying_material([0; 32], label, None)
            .map_err(told)
    }

    fn establish(
        tcp: TcpStream,
        mut conn: Connection,
        deadline: Instant,
    ) -> Result<Self, TlsError> {
        let early = handshake(&tcp, &mut conn, deadline)?;
        let line = Arc::new(Line {
            tcp,
            tls: Mutex::new(conn),
            sending: Mutex::new(Sending::default()),
        });
        Ok(Self {
            reader: TlsReader {
                line: Arc::clone(&line),
                ready: early,
                taken: 0,
                ended: false,
                portion: vec![0; PORTION],
                receiving: Receiving::default(),
            },
            writer: Writer { line },
        })
    }
}

/// The result of [`TlsReader::read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// This many bytes were appended; may be zero when only TLS messages arrived.
    Bytes(usize),
    /// Nothing came within the bound.
    Idle,
    /// The peer has sent close_notify, or its end of the connection is closed.
    End,
}

/// The receiving half.
pub struct TlsReader {
    line: Arc<Line>,
    /// Decrypted bytes that did not fit the caller's buffer; those before `taken` are delivered.
    ready: Vec<u8>,
    taken: usize,
    ended: bool,
    portion: Vec<u8>,
    receiving: Receiving,
}

impl TlsReader {
    /// Waits for bytes and appends them to `out`, at most about 72 KiB at once. A bound of zero
    /// takes what is there.
    ///
    /// Errors are final. Closing the writer from another thread ends the wait.
    pub fn read(&mut self, out: &mut Vec<u8>, bound: Duration) -> Result<Received, TlsError> {
        if self.buffered() > 0 {
            let n = self.buffered();
            out.extend_from_slice(&self.ready[self.taken..]);
            self.forget_ready();
            return Ok(Received::Bytes(n));
        }
        let n = match self.receive(bound)? {
            Portion::Bytes(n) => n,
            Portion::Idle => return Ok(Received::Idle),
            Portion::End => return Ok(Received::End),
        };
        let before = out.len();
        let mut plain = Plain::behind(out);
        self.ended = decrypt(&mut self.line.tls(), &self.portion[..n], &mut plain)?;
        Ok(self.received(out.len() - before))
    }

    /// As [`TlsReader::read`] into a slice; what does not fit is kept for the next call.
    pub fn read_slice(&mut self, out: &mut [u8], bound: Duration) -> Result<Received, TlsError> {
        if self.buffered() > 0 {
            let n = self.buffered().min(out.len());
            out[..n].copy_from_slice(&self.ready[self.taken..][..n]);
            self.taken += n;
            return Ok(self.received(n));
        }
        let n = match self.receive(bound)? {
            Portion::Bytes(n) => n,
            Portion::Idle => return Ok(Received::Idle),
            Portion::End => return Ok(Received::End),
        };
        self.forget_ready();
        let mut plain = Plain {
            first: out,
            filled: 0,
            rest: &mut self.ready,
        };
        self.ended = decrypt(&mut self.line.tls(), &self.portion[..n], &mut plain)?;
        let filled = plain.filled;
        Ok(self.received(filled))
    }

    /// Plain bytes that the next read gives without waiting.
    pub fn buffered(&self) -> usize {
        self.ready.len() - self.taken
    }

    /// Sets the way in which reads wait for the network.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] when this system cannot wait so.
    pub fn set_wait(&mut self, wait: Wait) -> io::Result<()> {
        self.receiving.set_wait(&self.line.tcp, wait)
    }

    /// The connection below, for its state. Its bytes are not for reading.
    pub fn tcp(&self) -> &TcpStream {
        &self.line.tcp
    }

    fn forget_ready(&mut self) {
        self.ready.clear();
        self.taken = 0;
    }

    fn received(&self, bytes: usize) -> Received {
        match bytes {
            0 if self.ended => Received::End,
            n => Received::Bytes(n),
        }
    }

    /// Takes bytes from the network into `portion`.
    fn receive(&mut self, bound: Duration) -> Result<Portion, TlsError> {
        if self.ended {
            return Ok(Portion::End);
        }
        let tcp = &self.line.tcp;
        self.receiving.set_bound(tcp, bound).map_err(io_told)?;
        match self.receiving.receive(tcp, &mut self.portion) {
            Ok(0) => Ok(Portion::End),
            Ok(n) => {
                if n == self.portion.len() && n < PORTION_MOST {
                    // What it holds stays in front.
                    self.portion.resize(PORTION_MOST, 0);
                }
                Ok(Portion::Bytes(n))
            }
            Err(why) => match io_told(why) {
                TlsError::TimedOut => Ok(Portion::Idle),
                TlsError::Closed => Ok(Portion::End),
                why => Err(why),
            },
        }
    }
}

/// The result of one read from the network.
enum Portion {
    Bytes(usize),
    Idle,
    End,
}

/// The sending half; clones share it.
#[derive(Clone)]
pub struct Writer {
    line: Arc<Line>,
}

impl Writer {
    /// Sends all bytes; fails when a portion of 64 KiB takes longer than `bound`, so that a slow
    /// connection is not taken for a dead one. Waits for other senders first.
    ///
    /// Errors are final: after one the peer may have received a part.
    pub fn send(&self, bytes: &[u8], bound: Duration) -> Result<(), TlsError> {
        let mut sending = lock(&self.line.sending);
        if sending.broken {
            return Err(TlsError::Closed);
        }
        let sent = self.line.encrypt_and_send(bytes, &mut sending, bound);
        sending.broken = sent.is_err();
        sent
    }

    /// Says goodbye if that is possible at once, then closes both directions.
    ///
    /// Wakes the reader and a blocked sender. May be called twice.
    pub fn close(&self) {
        if let Ok(mut sending) = self.line.sending.try_lock()
            && !sending.broken
        {
            self.line.tls().send_close_notify();
            // The peer also understands a connection that just ends.
            let _ = self.line.encrypt_and_send(&[], &mut sending, GOODBYE_BOUND);
            sending.broken = true;
        }
        // Fails only when the peer was faster.
        let _ = self.line.tcp.shutdown(Shutdown::Both);
    }

    /// Says goodbye and sends no more; the peer's bytes still arrive.
    ///
    /// Errors: as [`Writer::send`]; none when it was said before.
    pub fn finish(&self, bound: Duration) -> Result<(), TlsError> {
        let mut sending = lock(&self.line.sending);
        if sending.broken {
            return Ok(());
        }
        self.line.tls().send_close_notify();
        let sent = self.line.encrypt_and_send(&[], &mut sending, bound);
        sending.broken = true;
        sent?;
        shut(&self.line.tcp, Shutdown::Write).map_err(io_told)
    }

    /// The connection below, for its state. Its bytes are not for writing.
    pub fn tcp(&self) -> &TcpStream {
        &self.line.tcp
    }
}

/// State that both halves share.
struct Line {
    tcp: TcpStream,
    tls: Mutex<Connection>,
    sending: Mutex<Sending>,
}

#[derive(Default)]
struct Sending {
    ciphertext: Vec<u8>,
    bounded: Bounded,
    broken: bool,
}

impl Line {
    fn tls(&self) -> MutexGuard<'_, Connection> {
        lock(&self.tls)
    }

    /// The caller holds the `sending` lock, so that records leave in the order of encryption.
    fn encrypt_and_send(
        &self,
        mut plain: &[u8],
        sending: &mut Sending,
        bound: Duration,
    ) -> Result<(), TlsError> {
        let Sending {
            ciphertext,
            bounded,
            ..
        } = sending;
        loop {
            let deadline = deadline_in(bound);
            {
                let mut tls = self.tls();
                let n = tls.writer().write(plain).map_err(TlsError::Io)?;
                plain = &plain[n..];
                while tls.wants_write() {
                    tls.write_tls(ciphertext).map_err(TlsError::Io)?;
                }
            }
            let sent = transmit_bounded(&self.tcp, ciphertext, bounded, bound, deadline);
            ciphertext.clear();
            sent?;
            if plain.is_empty() {
                return Ok(());
            }
        }
    }
}

/// A lock whose holder panicked still guards usable data: every write below is complete or fatal.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the handshake; returns plain bytes that came right behind it.
fn handshake(
    tcp: &TcpStream,
    conn: &mut Connection,
    deadline: Instant,
) -> Result<Vec<u8>, TlsError> {
    let mut portion = vec![0; PORTION];
    let mut early = Vec::new();
    let mut total = 0;
    loop {
        flush(tcp, conn, deadline)?;
        if !conn.is_handshaking() {
            return Ok(early);
        }
        let n = receive(tcp, &mut portion, deadline)?;
        total += n;
        if total > MAX_HANDSHAKE {
            return Err(TlsError::Protocol("a handshake without end".into()));
        }
        let ended = decrypt(conn, &portion[..n], &mut Plain::behind(&mut early));
        if let Err(why) = ended {
            // Tell the peer what was wrong, if it still listens.
            let _ = flush(tcp, conn, deadline.min(Instant::now() + GOODBYE_BOUND));
            return Err(why);
        }
        if matches!(ended, Ok(true)) {
            return Err(TlsError::Closed);
        }
    }
}

fn flush(tcp: &TcpStream, conn: &mut Connection, deadline: Instant) -> Result<(), TlsError> {
    let mut ciphertext = Vec::new();
    while conn.wants_write() {
        conn.write_tls(&mut ciphertext).map_err(TlsError::Io)?;
    }
    transmit(tcp, &ciphertext, deadline)
}

/// Place of decrypted bytes: a slice, and behind it whatever does not fit.
struct Plain<'a> {
    first: &'a mut [u8],
    /// Bytes of the slice that are taken.
    filled: usize,
    rest: &'a mut Vec<u8>,
}

impl<'a> Plain<'a> {
    /// Behind what is there.
    fn behind(rest: &'a mut Vec<u8>) -> Self {
        Self {
            first: &mut [],
            filled: 0,
            rest,
        }
    }

    /// Takes so many bytes.
    fn take(&mut self, bytes: usize, mut from: impl io::Read) -> io::Result<()> {
        let room = &mut self.first[self.filled..];
        let fits = bytes.min(room.len());
        from.read_exact(&mut room[..fits])?;
        self.filled += fits;
        let before = self.rest.len();
        self.rest.resize(before + bytes - fits, 0);
        from.read_exact(&mut self.rest[before..])
    }
}

/// Feeds received bytes; puts the plain ones where they belong. True when the peer has said goodbye.
fn decrypt(
    conn: &mut Connection,
    mut bytes: &[u8],
    plain: &mut Plain<'_>,
) -> Result<bool, TlsError> {
    while !bytes.is_empty() {
        if conn.read_tls(&mut bytes).map_err(TlsError::Io)? == 0 {
            return Ok(true);
        }
        let state = conn.process_new_packets().map_err(told)?;
        plain
            .take(state.plaintext_bytes_to_read(), conn.reader())
            .map_err(TlsError::Io)?;
        if state.peer_has_closed() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Receives at least one byte before the deadline.
fn receive(tcp: &TcpStream, portion: &mut [u8], deadline: Instant) -> Result<usize, TlsError> {
    loop {
        tcp.set_read_timeout(Some(left(deadline)?))
            .map_err(io_told)?;
        match (&*tcp).read(portion) {
            Ok(0) => return Err(TlsError::Closed),
            Ok(n) => return Ok(n),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(io_told(why)),
        }
    }
}

/// Sends all bytes before the deadline.
fn transmit(tcp: &TcpStream, mut bytes: &[u8], deadline: Instant) -> Result<(), TlsError> {
    while !bytes.is_empty() {
        tcp.set_write_timeout(Some(left(deadline)?))
            .map_err(io_told)?;
        match (&*tcp).write(bytes) {
            Ok(0) => return Err(TlsError::Closed),
            Ok(n) => bytes = &bytes[n..],
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(io_told(why)),
        }
    }
    Ok(())
}

/// Sends all bytes; asks the clock and tells the socket its bound only when it must.
fn transmit_bounded(
    tcp: &TcpStream,
    mut bytes: &[u8],
    bounded: &mut Bounded,
    bound: Duration,
    deadline: Instant,
) -> Result<(), TlsError> {
    let mut left_over = bound.max(Duration::from_millis(1));
    while !bytes.is_empty() {
        bounded.set_bound(tcp, left_over).map_err(io_told)?;
        match bounded.send(tcp, &[IoSlice::new(bytes)]) {
            Ok(0) => return Err(TlsError::Closed),
            Ok(n) => bytes = &bytes[n..],
            Err(why) => return Err(io_told(why)),
        }
        if !bytes.is_empty() {
            left_over = left(deadline)?;
        }
    }
    Ok(())
}

/// The end of a bound that begins now; an unlimited bound becomes one day.
pub(crate) fn deadline_in(bound: Duration) -> Instant {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    Instant::now() + bound.min(DAY)
}

fn left(deadline: Instant) -> Result<Duration, TlsError> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(TlsError::TimedOut),
        left => Ok(left),
    }
}

fn io_told(why: io::Error) -> TlsError {
    use io::ErrorKind::*;
    match why.kind() {
        WouldBlock | TimedOut => TlsError::TimedOut,
        ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof | NotConnected => {
            TlsError::Closed
        }
        _ => TlsError::Io(why),
    }
}

fn told(why: rustls::Error) -> TlsError {
    use rustls::Error::*;
    match why {
        InvalidMessage(_) => TlsError::NotTls,
        NoApplicationProtocol | AlertReceived(AlertDescription::NoApplicationProtocol) => {
            TlsError::NotSokudo
        }
        PeerIncompatible(_) | AlertReceived(AlertDescription::ProtocolVersion) => {
            TlsError::NotSokudo
        }
        AlertReceived(alert) => TlsError::Alert(format!("{alert:?}")),
        why => TlsError::Protocol(why.to_string()),
    }
}

#[cfg(test)]
mod tests;
