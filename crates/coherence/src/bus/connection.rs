//! State of one connection, shared by the threads that use it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{readable, writable};

use super::account::{Count, Meter};
use super::handshake::{Handshake, Role};
use super::outbox::{Flushed, Outbox};

/// Longest time until a thread that waits notices that the test is over.
pub const LOOK: Duration = Duration::from_millis(20);

/// Longest time of a call, and of a handshake.
pub const HANDSHAKE_BOUND: Duration = Duration::from_secs(5);

/// Most bytes read during a handshake at once.
const HANDSHAKE_BYTES: usize = 4096;

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Number among those of its bus.
    pub number: u64,
    /// The peer's address, as it says.
    pub peer: String,
    /// True when this end called.
    pub called: bool,
    /// True when transmitters send to it.
    pub target: bool,
    /// Messages to be sent.
    pub outbox: Outbox,
    /// Counts of the connection.
    pub meter: Meter,
    socket: TcpStream,
    gone: AtomicBool,
    parting: Mutex<Parting>,
}

/// Reason why a connection has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Parting {
    /// This end has no more use for it.
    #[default]
    Finished,
    /// The peer went away, as peers do: how, as a sentence.
    Left(String),
    /// Something that should not be: a sentence.
    Fault(String),
}

impl Parting {
    /// As a sentence.
    pub fn says(&self) -> &str {
        match self {
            Parting::Finished => "finished",
            Parting::Left(why) | Parting::Fault(why) => why,
        }
    }
}

impl Connection {
    /// Over a socket on which the handshake is done.
    pub fn new(
        greeted: Greeted,
        number: u64,
        called: bool,
        target: bool,
        receipts: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            number,
            peer: greeted.peer,
            called,
            target,
            outbox: Outbox::new(greeted.socket.try_clone()?, receipts, now_ns()),
            meter: Meter::default(),
            socket: greeted.socket,
            gone: AtomicBool::new(false),
            parting: Mutex::default(),
        })
    }

    /// The socket, which never blocks.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// True when nothing crosses it any more.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Ends it; the first reason counts.
    pub fn close(&self, parting: Parting) {
        if !self.gone.swap(true, Ordering::AcqRel) {
            if let Ok(mut kept) = self.parting.lock() {
                *kept = parting;
            }
            // It may be closed by the other end already.
            let _ = self.socket.shutdown(Shutdown::Both);
            self.outbox.kick();
        }
    }

    /// Ends it because the peer takes nothing any more.
    pub fn lost(&self) {
        self.close(Parting::Left("the connection was lost".into()));
    }

    /// Reason of its end.
    pub fn parting(&self) -> Parting {
        let kept = self.parting.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes until nothing waits, waiting for room where the peer has none. Returns how long the
    /// socket was full, nanoseconds; the connection is closed when that is longer than `patience_ns`.
    pub fn flush_and_wait(&self, patience_ns: u64, halt: &AtomicBool) -> u64 {
        let begun_ns = now_ns();
        let mut now = begun_ns;
        let mut waited = false;
        while !self.is_gone() && !halt.load(Ordering::Relaxed) {
            match self.outbox.flush(now) {
                Flushed::Empty => break,
                // Who writes goes on until nothing waits; a short delay is not a backlog.
                Flushed::Busy if self.outbox.unsent_bytes() < HIGH_BYTES => break,
                Flushed::Gone => {
                    self.lost();
                    break;
                }
                Flushed::Busy | Flushed::Full => {
                    waited = true;
                    self.wait_for_room(patience_ns);
                }
            }
            now = now_ns();
        }
        match waited {
            true => u64::try_from(now_ns() - begun_ns).unwrap_or(0),
            false => 0,
        }
    }

    /// Waits a moment for room in the socket, or closes a connection that has had none for too long.
    pub fn wait_for_room(&self, patience_ns: u64) {
        if let Err(why) = writable(&self.socket, LOOK) {
            self.close(Parting::Fault(format!(
                "the system cannot wait for room: {why}"
            )));
        }
        let stalled_ns = self.outbox.stalled_ns(now_ns());
        if u64::try_from(stalled_ns).is_ok_and(|ns| ns > patience_ns) {
            let seconds = stalled_ns as f64 / 1e9;
            self.close(Parting::Fault(format!(
                "the peer took nothing for {seconds:.1} s"
            )));
        }
    }

    /// Adds to the connection's count and to that of all.
    pub fn count(&self, all: &Meter, count: Count, n: u64) {
        self.meter.add(count, n);
        all.add(count, n);
    }
}

/// Bytes that may wait in one connection before its transmitters do.
pub const HIGH_BYTES: u64 = 256 << 10;

/// A connection on which both ends know each other.
#[derive(Debug)]
pub struct Greeted {
    socket: TcpStream,
    /// The peer's address, as it says.
    pub peer: String,
    /// Bytes that came behind the handshake.
    pub early: Vec<u8>,
}

/// Introduces this end and learns who the other is; the socket does not block from then on.
///
/// Errors: why not, as a sentence about the peer.
pub fn greet(
    socket: TcpStream,
    role: Role,
    own_name: &str,
    sub_port: Option<u32>,
    halt: &AtomicBool,
) -> Result<Greeted, String> {
    let failed = |why: io::Error| format!("the connection was lost in the handshake: {why}");
    socket.set_nonblocking(true).map_err(failed)?;
    let deadline_ns = now_ns() + HANDSHAKE_BOUND.as_nanos() as i64;
    let mut handshake = Handshake::new(role, own_name, sub_port);
    let mut early = Vec::new();
    let mut bytes = [0; HANDSHAKE_BYTES];
    loop {
        write_all(&socket, &handshake.outgoing(), deadline_ns).map_err(failed)?;
        if let Some(peer) = handshake.peer() {
            let peer = peer.to_owned();
            return Ok(Greeted {
                socket,
                peer,
                early,
            });
        }
        if halt.load(Ordering::Relaxed) || now_ns() > deadline_ns {
            return Err(format!(
                "no handshake within {} s",
                HANDSHAKE_BOUND.as_secs()
            ));
        }
        if !readable(&socket, LOOK).map_err(failed)? {
            continue;
        }
        match (&socket).read(&mut bytes) {
            Ok(0) => return Err("it closed the connection in the handshake".into()),
            Ok(read) => early.extend_from_slice(&bytes[..read]),
            Err(why) if is_passing(&why) => continue,
            Err(why) => return Err(failed(why)),
        }
        let taken = handshake.take(&early).map_err(|why| why.to_string())?;
        early.drain(..taken);
    }
}

/// Nothing there now, or a signal came.
pub fn is_passing(why: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    matches!(why.kind(), Interrupted | WouldBlock)
}

fn write_all(mut socket: &TcpStream, mut bytes: &[u8], deadline_ns: i64) -> io::Result<()> {
    while !bytes.is_empty() {
        match socket.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(why) if is_passing(&why) && now_ns() < deadline_ns => {
                writable(socket, LOOK)?;
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}
