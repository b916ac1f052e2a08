//! Packets of the test over TCP.
//!
//! A publisher opens one connection to each peer and writes framed packets; a listener takes any
//! number of them. One thread serves all of a listener's connections by looking at each in turn, so
//! that the book needs no lock; while nothing comes it looks every 200 microseconds, which ack times
//! over TCP contain.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_net::unless::unless;

use super::protocol::{Frame, Frames, frame_word, opening};

/// Packets per write.
pub const TCP_BATCH: usize = 32;

/// Connections that one listener serves; further ones are closed at once.
const MAX_CONNECTIONS: usize = 256;

/// A connection that has not opened properly by then is closed.
const OPENING_BOUND_NS: i64 = 10_000_000_000;

/// Longest time to connect to a peer.
const CONNECT_BOUND: Duration = Duration::from_secs(5);

/// Longest time until a blocked write notices the end of the test.
const WRITE_BOUND: Duration = Duration::from_millis(50);

/// Between two looks while nothing comes.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Bytes taken per read.
const READ_BYTES: usize = 256 * 1024;

struct Connection {
    tcp: TcpStream,
    source: SocketAddr,
    frames: Frames,
    open: bool,
    accepted_ns: i64,
    buffer: Vec<u8>,
    filled: usize,
}

/// A listener's end.
pub struct Inlet {
    listener: TcpListener,
    max_bytes: usize,
    connections: Vec<Connection>,
}

impl Inlet {
    /// Listens at `address` for packets of up to `max_bytes`.
    pub fn bind(address: SocketAddr, max_bytes: usize) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            max_bytes,
            connections: Vec::new(),
        })
    }

    /// Its real address.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes new connections and what the present ones hold, with the time of each read; waits a
    /// little when that is nothing. Returns how many connections were closed because they carried
    /// something else.
    pub fn receive(&mut self, mut each: impl FnMut(&[u8], SocketAddr, i64)) -> io::Result<u64> {
        self.accept()?;
        let (mut strangers, mut quiet) = (0, true);
        let max_bytes = self.max_bytes;
        self.connections
            .retain_mut(|connection| match connection.read(max_bytes, &mut each) {
                Read1::Some => {
                    quiet = false;
                    true
                }
                Read1::Nothing => true,
                Read1::Closed => false,
                Read1::Stranger => {
                    strangers += 1;
                    false
                }
            });
        if quiet {
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(strangers)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((tcp, source)) => {
                    if self.connections.len() < MAX_CONNECTIONS && tcp.set_nonblocking(true).is_ok()
                    {
                        let room = READ_BYTES.max(2 * self.max_bytes);
                        self.connections.push(Connection {
                            tcp,
                            source,
                            frames: Frames::default(),
                            open: false,
                            accepted_ns: now_ns(),
                            buffer: vec![0; room],
                            filled: 0,
                        });
                    }
                }
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Errors of one connection attempt, not of the listener.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// Result of one look at a connection.
enum Read1 {
    Some,
    Nothing,
    Closed,
    Stranger,
}

impl Connection {
    fn read(&mut self, max_bytes: usize, each: &mut impl FnMut(&[u8], SocketAddr, i64)) -> Read1 {
        match self.tcp.read(&mut self.buffer[self.filled..]) {
            Ok(0) if self.filled > 0 => return Read1::Stranger,
            Ok(0) => return Read1::Closed,
            Ok(read) => self.filled += read,
            Err(error) => {
                let waits = matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                );
                let late = !self.open && now_ns() - self.accepted_ns > OPENING_BOUND_NS;
                return match (waits, late) {
                    (true, false) => Read1::Nothing,
                    (true, true) => Read1::Stranger,
                    (false, _) => Read1::Closed,
                };
            }
        }
        let now = now_ns();
        let mut at = 0;
        loop {
            match self.frames.next(&self.buffer[at..self.filled], max_bytes) {
                Ok(Frame::More) => break,
                Ok(Frame::Opening(bytes)) => {
                    self.open = true;
                    at += bytes;
                }
                Ok(Frame::Packet(bytes)) => {
                    each(&self.buffer[at..at + bytes], self.source, now);
                    at += bytes;
                }
                Err(_) => return Read1::Stranger,
            }
        }
        self.buffer.copy_within(at..self.filled, 0);
        self.filled -= at;
        Read1::Some
    }
}

/// A publisher's end towards one peer, connected by the first write.
pub struct Outlet {
    local: SocketAddr,
    peer: SocketAddr,
    tcp: Option<TcpStream>,
    stride: usize,
    lengths: Vec<usize>,
    slots: Vec<u8>,
    written: Vec<u8>,
    number: u64,
}

/// Connects and opens the stream.
fn dial(local: SocketAddr, peer: SocketAddr) -> io::Result<TcpStream> {
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(peer),
        socket2::Type::STREAM,
        Some(socket2::Protocol::TCP),
    )?;
    socket.bind(&local.into())?;
    socket.connect_timeout(&peer.into(), CONNECT_BOUND)?;
    let mut tcp: TcpStream = socket.into();
    tcp.set_nodelay(true)?;
    tcp.set_write_timeout(Some(WRITE_BOUND))?;
    let port = tcp.local_addr()?.port();
    tcp.write_all(&opening(port))?;
    Ok(tcp)
}

impl Outlet {
    /// For packets of up to `size_bytes`, from any port of `local`'s address.
    pub fn new(local: SocketAddr, peer: SocketAddr, size_bytes: usize) -> Self {
        Self {
            local: SocketAddr::new(local.ip(), 0),
            peer,
            tcp: None,
            stride: size_bytes,
            lengths: vec![size_bytes; TCP_BATCH],
            slots: vec![0; TCP_BATCH * size_bytes],
            written: Vec::with_capacity(TCP_BATCH * size_bytes),
            number: 0,
        }
    }

    /// Bytes of the `index`-th packet of the next write.
    pub fn slot(&mut self, index: usize) -> &mut [u8] {
        &mut self.slots[index * self.stride..][..self.stride]
    }

    /// Makes the `index`-th packet of the next write `bytes` long.
    pub fn set_length(&mut self, index: usize, bytes: usize) {
        self.lengths[index] = bytes.min(self.stride);
    }

    /// Writes the first `count` packets, waiting while the peer does not take them; an error of
    /// kind `Interrupted` when told to halt meanwhile. After an error the next write would connect
    /// anew.
    pub fn send(&mut self, count: usize, halt: &AtomicBool) -> io::Result<()> {
        self.written.clear();
        for index in 0..count {
            let packet = &self.slots[index * self.stride..][..self.lengths[index]];
            let word = frame_word(packet.len(), self.number);
            self.written.extend_from_slice(&word);
            self.written.extend_from_slice(&packet[word.len()..]);
            self.number += 1;
        }
        let mut tcp = match self.tcp.take() {
            Some(tcp) => tcp,
            None => {
                let (local, peer) = (self.local, self.peer);
                let halted = || Err(io::ErrorKind::Interrupted.into());
                unless(halt, move || dial(local, peer)).unwrap_or_else(halted)?
            }
        };
        write_all(&mut tcp, &self.written, halt)?;
        self.tcp = Some(tcp);
        Ok(())
    }
}

/// Writes everything, however long the peer takes; ends when halted.
fn write_all(tcp: &mut TcpStream, mut left: &[u8], halt: &AtomicBool) -> io::Result<()> {
    while !left.is_empty() {
        match tcp.write(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => left = &left[written..],
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => {
                    if halt.load(Ordering::Relaxed) {
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                }
                _ => return Err(error),
            },
        }
    }
    Ok(())
}
