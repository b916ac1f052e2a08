//! Data streams: a thread each, which sends or receives and counts.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::IperfError;
use crate::control::is_timeout;
use crate::proto::{Account, Header, Params, StreamResult};

/// Longest wait of a thread between two looks at the end of the test.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time in which a receiver takes what was under way when the test ended.
const DRAIN: Duration = Duration::from_secs(1);

/// The connection of a stream.
pub enum Data {
    /// TCP.
    Tcp(TcpStream),
    /// UDP, connected to the far end.
    Udp(UdpSocket),
}

impl Data {
    fn addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        let both = match self {
            Self::Tcp(it) => (it.local_addr(), it.peer_addr()),
            Self::Udp(it) => (it.local_addr(), it.peer_addr()),
        };
        Some((both.0.ok()?, both.1.ok()?))
    }
}

/// Shared state of the streams of a test.
#[derive(Default)]
pub struct TestState {
    /// The test is over.
    pub over: AtomicBool,
    /// Bytes of all streams so far.
    pub bytes: AtomicU64,
    /// A stream broke before the end: what happened.
    pub broken: Mutex<Option<String>>,
}

impl TestState {
    /// The failure that ended a stream.
    pub fn broken(&self) -> Option<String> {
        let broken = self.broken.lock();
        broken.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Default)]
struct Counted {
    bytes: AtomicU64,
    packets: AtomicU64,
    lost: AtomicU64,
    jitter_ns: AtomicU64,
}

/// A stream that goes on.
pub struct Flow {
    /// Its number.
    pub id: u64,
    /// True when this end sends.
    pub sends: bool,
    /// Own and far address.
    pub addresses: Option<(SocketAddr, SocketAddr)>,
    counted: Arc<Counted>,
    /// Its count when the test itself began.
    omitted: StreamResult,
    shared: Arc<TestState>,
    thread: Option<JoinHandle<()>>,
}

impl Flow {
    /// Starts one; it begins at once.
    pub fn start(
        (id, sends): (u64, bool),
        data: Data,
        params: &Params,
        shared: &Arc<TestState>,
    ) -> Result<Self, IperfError> {
        let failed = |error| IperfError::io("starting a stream")(error);
        match &data {
            Data::Tcp(it) => it
                .set_read_timeout(Some(LOOK))
                .and_then(|()| it.set_write_timeout(Some(LOOK))),
            Data::Udp(it) => it
                .set_read_timeout(Some(LOOK))
                .and_then(|()| it.set_write_timeout(Some(LOOK))),
        }
        .map_err(failed)?;
        let counted = Arc::new(Counted::default());
        let addresses = data.addresses();
        let worker = Worker {
            params: params.clone(),
            shared: Arc::clone(shared),
            counted: Arc::clone(&counted),
        };
        let thread = std::thread::Builder::new()
            .name(format!("iperf-{id}"))
            .spawn(move || match sends {
                true => worker.send(data),
                false => worker.receive(data),
            })
            .map_err(failed)?;
        Ok(Self {
            id,
            sends,
            addresses,
            counted,
            omitted: StreamResult::default(),
            shared: Arc::clone(shared),
            thread: Some(thread),
        })
    }

    /// Its count so far in the test itself.
    pub fn so_far(&self, seconds: f64) -> StreamResult {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (counted, omitted) = (&*self.counted, &self.omitted);
        StreamResult {
            id: self.id,
            bytes: get(&counted.bytes) - omitted.bytes,
            packets: get(&counted.packets) - omitted.packets,
            // A datagram that comes late is no longer lost.
            lost: get(&counted.lost).saturating_sub(omitted.lost),
            jitter_s: get(&counted.jitter_ns) as f64 / 1e9,
            seconds,
        }
    }

    /// The test itself begins: what was counted before is left out.
    pub fn omit(&mut self) {
        self.omitted = StreamResult::default();
        self.omitted = self.so_far(0.0);
    }

    /// Waits for the thread, which ends soon after the test.
    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has counted what it could.
            let _ = thread.join();
        }
    }
}

impl Drop for Flow {
    /// A test that is left early is over for all of its streams: nothing is sent to a far end that has gone.
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.join();
    }
}

struct Worker {
    params: Params,
    shared: Arc<TestState>,
    counted: Arc<Counted>,
}

impl Worker {
    fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    fn count(&self, bytes: usize) -> u64 {
        self.counted
            .bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
        let before = self.shared.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        before + bytes as u64
    }

    fn breaks(&self, error: &std::io::Error) {
        if !self.is_over() {
            let broken = self.shared.broken.lock();
            broken
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| error.to_string());
        }
    }

    fn send(&self, mut data: Data) {
        let block = vec![0x37; self.params.block as usize];
        match &mut data {
            Data::Tcp(stream) => self.paced(block, |bytes, _| stream.write(bytes)),
            Data::Udp(socket) => {
                let wide = self.params.wide_numbers;
                let begun = Instant::now();
                self.paced(block, |bytes, number| {
                    let sent_ns = begun.elapsed().as_nanos() as u64;
                    Header { sent_ns, number }.write(wide, bytes);
                    match socket.send(bytes) {
                        // Nobody reads any more, or not yet: datagrams are lost, the test goes on.
                        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                            Ok(bytes.len())
                        }
                        sent => sent,
                    }
                });
            }
        }
    }

    /// Sends blocks when they are due, until the test is over.
    fn paced(
        &self,
        mut block: Vec<u8>,
        mut send: impl FnMut(&mut [u8], u64) -> std::io::Result<usize>,
    ) {
        let bits = block.len() as f64 * 8.0;
        let limit = self.params.bits_per_s;
        let apart = (limit > 0).then(|| Duration::from_secs_f64((bits / limit as f64).min(3600.0)));
        let mut due = Instant::now();
        let mut number = 0;
        while !self.is_over() {
            if apart.is_some() {
                let left = due.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    std::thread::sleep(left.min(LOOK));
                    continue;
                }
            }
            match send(&mut block, number + 1) {
                Ok(0) => return,
                Ok(sent) => {
                    number += 1;
                    self.counted.packets.store(number, Ordering::Relaxed);
                    let all = self.count(sent);
                    due += apart.map_or(Duration::ZERO, |apart| {
                        apart.mul_f64(sent as f64 * 8.0 / bits)
                    });
                    if self.params.bytes > 0 && all >= self.params.bytes {
                        self.shared.over.store(true, Ordering::Relaxed);
                    }
                }
                Err(error) if is_timeout(&error) || error.raw_os_error() == Some(105) => {}
                Err(error) => return self.breaks(&error),
            }
        }
    }

    fn receive(&self, mut data: Data) {
        let size = self.params.block.max(128 << 10) as usize;
        let mut block = vec![0; size];
        let begun = Instant::now();
        let mut account = Account::default();
        let mut until: Option<Instant> = None;
        loop {
            if until.is_none() && self.is_over() {
                until = Some(Instant::now() + DRAIN);
            }
            if until.is_some_and(|until| Instant::now() > until) {
                return;
            }
            let got = match &mut data {
                Data::Tcp(stream) => stream.read(&mut block),
                Data::Udp(socket) => socket.recv(&mut block),
            };
            match got {
                Ok(0) if matches!(data, Data::Tcp(_)) => return,
                Ok(bytes) => {
                    if matches!(data, Data::Udp(_)) {
                        let wide = self.params.wide_numbers;
                        let Some(header) = Header::read(wide, &block[..bytes]) else {
                            continue;
                        };
                        account.take(header, begun.elapsed().as_nanos() as u64);
                        self.counted
                            .packets
                            .store(account.highest, Ordering::Relaxed);
                        self.counted.lost.store(account.lost, Ordering::Relaxed);
                        let jitter_ns = (account.jitter_s * 1e9) as u64;
                        self.counted.jitter_ns.store(jitter_ns, Ordering::Relaxed);
                    }
                    self.count(bytes);
                }
                Err(error) if is_timeout(&error) => {
                    if until.is_some() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return self.breaks(&error),
            }
        }
    }
}
