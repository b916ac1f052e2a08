//! The thread of one sink, and the bounded queue in front of it.

use std::io;
use std::net::{TcpListener, ToSocketAddrs as _, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::exposition::{MEDIA_TYPE, Newest};
use crate::place::{SinkAddress, SinkFormat, Target};
use crate::{Delivered, Point, http, influx, otlp, remote_write};

/// Batches that wait for a sink at most.
const QUEUE: usize = 256;
/// Points that are sent at a time, about.
const POINTS_MAX: usize = 5_000;
/// Longest datagram of lines, bytes: what fits most paths.
const DATAGRAM_MAX: usize = 1_400;
/// Longest time for what is still in the queue at the end.
const LAST: Duration = Duration::from_secs(5);
/// Time between two looks for a scraper that connects.
const LOOK: Duration = Duration::from_millis(50);

/// A sink that takes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct Trouble {
    /// The sink, as it was typed.
    pub place: String,
    /// Message of the system, or of the sink.
    pub why: String,
}

#[derive(Default)]
struct SinkState {
    sent: AtomicU64,
    lost: AtomicU64,
    is_closing: AtomicBool,
    why: Mutex<Option<String>>,
    is_told: AtomicBool,
}

impl SinkState {
    fn lose(&self, points: usize, why: Option<String>) {
        self.lost.fetch_add(points as u64, Ordering::Relaxed);
        if let Some(why) = why {
            let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(why);
        }
    }

    fn why(&self) -> Option<String> {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.clone()
    }
}

/// One sink with its thread.
pub struct Worker {
    place: String,
    queue: SyncSender<Arc<[Point]>>,
    shared: Arc<SinkState>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Opens the sink and starts its thread.
    pub fn start(place: &SinkAddress) -> Result<Self, Trouble> {
        let trouble = |error: io::Error| Trouble {
            place: place.to_string(),
            why: error.to_string(),
        };
        let listener = match &place.target {
            Target::Listen(address) => Some(listen(*address).map_err(trouble)?),
            _ => None,
        };
        let (queue, points) = sync_channel(QUEUE);
        let shared = Arc::new(SinkState::default());
        let (own, sink) = (Arc::clone(&shared), place.clone());
        let thread = std::thread::Builder::new()
            .name("out".into())
            .spawn(move || match listener {
                Some(listener) => answer(&listener, &points, &own),
                None => send(&sink, &points, &own),
            })
            .map_err(trouble)?;
        Ok(Self {
            place: place.to_string(),
            queue,
            shared,
            thread,
        })
    }

    /// Puts points into the queue; a full one loses them.
    pub fn offer(&self, points: &Arc<[Point]>) {
        if self.queue.try_send(Arc::clone(points)).is_err() {
            self.shared.lose(points.len(), None);
        }
    }

    /// Trouble of the sink, once.
    pub fn news(&self) -> Option<Trouble> {
        let why = self.shared.why()?;
        let is_told = self.shared.is_told.swap(true, Ordering::Relaxed);
        (!is_told).then(|| Trouble {
            place: self.place.clone(),
            why,
        })
    }

    /// Ends the thread, after what is in its queue, within a bound. A sink that fails by then is not tried again.
    pub fn close(self) -> Delivered {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        drop(self.queue);
        // A thread that panicked has sent what it counted.
        let _ = self.thread.join();
        Delivered {
            place: self.place,
            sent: self.shared.sent.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
            why: self.shared.why().unwrap_or_default(),
        }
    }
}

fn listen(address: std::net::SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves the newest values until the queue is closed.
fn answer(listener: &TcpListener, queue: &Receiver<Arc<[Point]>>, shared: &SinkState) {
    let mut newest = Newest::default();
    loop {
        match queue.recv_timeout(LOOK) {
            Ok(points) => {
                newest.take(&points);
                shared
                    .sent
                    .fetch_add(points.len() as u64, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Ok((stream, _)) = listener.accept() {
            // A scraper that leaves early has what it wants.
            let _ = http::serve(stream, MEDIA_TYPE, &newest.text());
        }
    }
}

/// Sends what is in the queue until it is closed.
fn send(place: &SinkAddress, queue: &Receiver<Arc<[Point]>>, shared: &SinkState) {
    let mut closing: Option<Instant> = None;
    while let Ok(first) = queue.recv() {
        let mut points = first.to_vec();
        while points.len() < POINTS_MAX {
            match queue.try_recv() {
                Ok(more) => points.extend_from_slice(&more),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        match deliver(place, &points) {
            Ok(()) => {
                shared
                    .sent
                    .fetch_add(points.len() as u64, Ordering::Relaxed);
            }
            Err(why) => shared.lose(points.len(), Some(why)),
        }
        if !shared.is_closing.load(Ordering::Relaxed) {
            continue;
        }
        let since = *closing.get_or_insert_with(Instant::now);
        // A sink that is down, or slow, would be waited for once per batch.
        if shared.why().is_some() || since.elapsed() >= LAST {
            let rest = queue.try_iter().map(|points| points.len()).sum();
            shared.lose(rest, None);
            return;
        }
    }
}

fn deliver(place: &SinkAddress, points: &[Point]) -> Result<(), String> {
    let (authority, path) = match &place.target {
        Target::Http { authority, path } => (authority, path),
        Target::Udp(address) => return datagrams(address, points),
        Target::Listen(_) => return Ok(()),
    };
    let post = |headers: &str, body: &[u8]| http::post(authority, path, headers, body);
    match place.kind {
        SinkFormat::Influx => {
            let lines = influx::lines(points);
            post(
                "Content-Type: text/plain; charset=utf-8\r\n",
                lines.as_bytes(),
            )
        }
        SinkFormat::Otlp => {
            let request = otlp::request(points).to_string();
            post("Content-Type: application/json\r\n", request.as_bytes())
        }
        SinkFormat::Prometheus => {
            let body = remote_write::body(points).map_err(|error| error.to_string())?;
            let headers = remote_write::HEADERS;
            post(
                &format!("Content-Type: application/x-protobuf\r\n{headers}"),
                &body,
            )
        }
        SinkFormat::OpenMetrics => Ok(()),
    }
}

/// As many whole lines per datagram as fit.
fn datagrams(address: &str, points: &[Point]) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let mut addresses = address.to_socket_addrs().map_err(told)?;
    let address = addresses.next().ok_or("its name has no address")?;
    let any = if address.is_ipv6() {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    };
    let socket = UdpSocket::bind(any).map_err(told)?;
    socket.connect(address).map_err(told)?;
    let text = influx::lines(points);
    let mut packet = String::new();
    for line in text.split_inclusive('\n') {
        if packet.len() + line.len() > DATAGRAM_MAX && !packet.is_empty() {
            socket.send(packet.as_bytes()).map_err(told)?;
            packet.clear();
        }
        packet.push_str(line);
    }
    socket.send(packet.as_bytes()).map_err(told)?;
    Ok(())
}
