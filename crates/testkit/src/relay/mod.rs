//! A UDP relay with scripted faults.
//!
//! ```text
//!   client ──► relay.address() ══ forward script ══► target
//!          ◄══════════════════ backward script ═════
//! ```
//!
//! A UDP relay inside the test's own process. The script says which datagrams are lost,
//! repeated, overtaken, damaged or delayed; the counts say what was really done. A test compares
//! a measurement with both, after [`Relay::counts`] has shown that the relay added nothing of
//! its own (`refused` 0, `overflowed` 0): keep to some 50 000 datagrams per second.
//!
//! One client at a time: what the target sends goes to the client whose datagram arrived last.

pub(crate) mod line;
mod script;

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use sokudo_net::clock;

pub use line::Counts;
use line::Line;
pub use script::{Fate, Filter, Narrow, Script, Which};

/// Receive buffer asked for, bytes; granted in full only to root.
const BUFFER_BYTES: usize = 16 << 20;

/// Datagrams that may wait between reading and passing on.
const QUEUE_MAX: usize = 65_536;

/// Largest UDP payload, bytes.
const DATAGRAM_MAX_BYTES: usize = 65_507;

/// Time between two checks of a thread whether the relay is to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Settings of a relay: its target and what it does.
#[derive(Debug)]
pub struct Options {
    /// Address it is bound to, on both sides; the port is the system's choice.
    pub local: IpAddr,
    /// Destination of the datagrams.
    pub target: SocketAddr,
    /// Script for datagrams towards the target.
    pub forward: Script,
    /// Script for datagrams towards the client.
    pub backward: Script,
}

/// A relay that works until it is dropped.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    forward: Direction,
    backward: Direction,
    threads: Vec<JoinHandle<()>>,
}

/// State of one direction as seen by other threads.
#[derive(Debug)]
struct Direction {
    counts: Arc<Mutex<Counts>>,
    drops: Mutex<Option<DropCounter>>,
}

impl Relay {
    /// Starts a relay on the loopback address with this script towards the target; answers
    /// pass unchanged.
    pub fn start(forward: Script, target: SocketAddr) -> io::Result<Self> {
        Self::with(Options {
            local: Ipv4Addr::LOCALHOST.into(),
            target,
            forward,
            backward: Script::new(),
        })
    }

    /// Starts a relay in the calling thread's network namespace.
    ///
    /// Errors: no socket, or no thread.
    pub fn with(options: Options) -> io::Result<Self> {
        let listening = socket(options.local)?;
        let upstream = socket(options.local)?;
        upstream.connect(options.target)?;
        let address = listening.local_addr()?;

        let stop = Arc::new(AtomicBool::new(false));
        let client = Arc::new(Mutex::new(None));
        let forward = Direction::new(&listening)?;
        let backward = Direction::new(&upstream)?;
        let ways = [
            Way {
                from: listening.try_clone()?,
                heard: Some(Arc::clone(&client)),
                to: upstream.try_clone()?,
                towards: None,
                line: Line::new(options.forward),
                counts: Arc::clone(&forward.counts),
            },
            Way {
                from: upstream,
                heard: None,
                to: listening,
                towards: Some(client),
                line: Line::new(options.backward),
                counts: Arc::clone(&backward.counts),
            },
        ];
        let mut relay = Self {
            address,
            stop,
            forward,
            backward,
            threads: Vec::new(),
        };
        for way in ways {
            way.start(&relay.stop, &mut relay.threads)?;
        }
        Ok(relay)
    }

    /// Address that clients send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts of the datagrams towards the target, so far.
    pub fn counts(&self) -> Counts {
        self.forward.counts()
    }

    /// Counts of the datagrams towards the client, so far.
    pub fn counts_backward(&self) -> Counts {
        self.backward.counts()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed it to stderr already.
            let _ = thread.join();
        }
    }
}

impl Direction {
    fn new(socket: &UdpSocket) -> io::Result<Self> {
        let port = socket.local_addr()?.port();
        Ok(Self {
            counts: Arc::default(),
            drops: Mutex::new(DropCounter::open(port)),
        })
    }

    fn counts(&self) -> Counts {
        let mut counts = *self.counts.lock().expect("relay threads do not panic");
        let mut drops = self.drops.lock().expect("nobody panics while reading");
        counts.overflowed = drops.as_mut().and_then(DropCounter::read);
        counts
    }
}

/// One direction's sockets and script, before its two threads take them.
struct Way {
    from: UdpSocket,
    heard: Option<Arc<Mutex<Option<SocketAddr>>>>,
    to: UdpSocket,
    towards: Option<Arc<Mutex<Option<SocketAddr>>>>,
    line: Line,
    counts: Arc<Mutex<Counts>>,
}

impl Way {
    /// Starts a thread that only reads, and one that applies the script and passes on.
    fn start(self, stop: &Arc<AtomicBool>, threads: &mut Vec<JoinHandle<()>>) -> io::Result<()> {
        let Self {
            from,
            heard,
            to,
            towards,
            line,
            counts,
        } = self;
        let (arrived, queue) = mpsc::sync_channel(QUEUE_MAX);
        let stop = Arc::clone(stop);
        let reader = thread::Builder::new().name("relay-read".into());
        threads.push(reader.spawn(move || read(&from, heard.as_deref(), &arrived, &stop))?);
        let writer = thread::Builder::new().name("relay-write".into());
        threads.push(writer.spawn(move || {
            let send = |datagram: &[u8]| match &towards {
                None => to.send(datagram),
                Some(client) => match *client.lock().expect("no thread panics holding it") {
                    Some(client) => to.send_to(datagram, client),
                    None => Err(io::ErrorKind::NotConnected.into()),
                },
            };
            write(line, &queue, send, &counts);
        })?);
        Ok(())
    }
}

/// Time and bytes of an arrival.
type Arrival = (i64, Vec<u8>);

/// Reads until the relay ends; the queue blocks rather than drops.
fn read(
    from: &UdpSocket,
    heard: Option<&Mutex<Option<SocketAddr>>>,
    arrived: &SyncSender<Arrival>,
    stop: &AtomicBool,
) {
    let mut buffer = vec![0; DATAGRAM_MAX_BYTES];
    let mut last = None;
    while !stop.load(Ordering::Relaxed) {
        // Errors are time-outs, and refusals that the target answered to earlier datagrams.
        let Ok((n, sender)) = from.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(heard) = heard.filter(|_| last != Some(sender)) {
            *heard.lock().expect("no thread panics holding it") = Some(sender);
            last = Some(sender);
        }
        if arrived
            .send((clock::now_ns(), buffer[..n].to_vec()))
            .is_err()
        {
            return;
        }
    }
}

/// Applies the script until the reader has ended and nothing is left to pass on in time.
fn write(
    mut line: Line,
    queue: &Receiver<Arrival>,
    send: impl Fn(&[u8]) -> io::Result<usize>,
    counts: &Mutex<Counts>,
) {
    loop {
        while let Some(datagram) = line.take_due(clock::now_ns()) {
            // Held until the count is right: a datagram that was received has been counted.
            let mut shared = counts.lock().expect("no thread panics holding it");
            match send(&datagram) {
                Ok(_) => line.counts.forwarded += 1,
                Err(_) => line.counts.refused += 1,
            }
            *shared = line.counts;
        }
        *counts.lock().expect("no thread panics holding it") = line.counts;
        let left_ns = line.next_due_ns().map(|due_ns| due_ns - clock::now_ns());
        let wait = left_ns.map_or(LOOK_UP, |ns| Duration::from_nanos(ns.max(0) as u64));
        match queue.recv_timeout(wait.min(LOOK_UP)) {
            Ok((now_ns, datagram)) => {
                line.accept(now_ns, datagram);
                // Everything that has arrived meanwhile, before the clock is read again.
                for (now_ns, datagram) in queue.try_iter().take(64) {
                    line.accept(now_ns, datagram);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// A UDP socket with the largest buffers that this user may have.
fn socket(local: IpAddr) -> io::Result<UdpSocket> {
    let address = SocketAddr::new(local, 0);
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // Smaller buffers are not an error: `overflowed` shows when they were too small.
    let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
    let _ = socket.set_send_buffer_size(BUFFER_BYTES);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES);
    socket.bind(&address.into())?;
    socket.set_read_timeout(Some(LOOK_UP))?;
    Ok(socket.into())
}

/// The kernel's count of datagrams that found one socket's queue full: the last column of
/// `/proc/net/udp` (proc(5)).
#[derive(Debug)]
struct DropCounter {
    table: Vec<File>,
    port: u16,
}

impl DropCounter {
    /// Opens the tables of the calling thread's namespace; they stay those of that namespace.
    fn open(port: u16) -> Option<Self> {
        let tables = ["/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"];
        let table: Vec<_> = tables
            .iter()
            .filter_map(|path| File::open(path).ok())
            .collect();
        (!table.is_empty()).then_some(Self { table, port })
    }

    fn read(&mut self) -> Option<u64> {
        let wanted = format!(":{:04X}", self.port);
        for file in &mut self.table {
            let mut text = String::new();
            file.rewind().ok()?;
            file.read_to_string(&mut text).ok()?;
            let row = text.lines().find(|row| {
                row.split_ascii_whitespace()
                    .nth(1)
                    .is_some_and(|a| a.ends_with(&wanted))
            });
            if let Some(row) = row {
                return row.split_ascii_whitespace().last()?.parse().ok();
            }
        }
        None
    }
}
