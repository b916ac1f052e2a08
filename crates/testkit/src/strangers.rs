//! Callers that belong to nobody and keep coming to some ports.

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time between two rounds of calls.
const PAUSE: Duration = Duration::from_millis(4);
/// Connections that are held open; the oldest is closed for another.
const HELD: usize = 300;
/// Longest wait for a connection, and for as many calls as a test wants.
const BOUND: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(60));

/// Strangers that call some hundred times a second, and say nothing, one byte, or nonsense. They stop when this
/// is dropped.
pub struct Strangers {
    over: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Strangers {
    /// Begins to call the ports that a host on loopback offers, in turn.
    pub fn at_offer(offer: &str) -> Self {
        let offer: Value = serde_json::from_str(offer).expect("an offer");
        let places = offer["places"].as_object().expect("places").values();
        let ports = places.filter_map(|place| u16::try_from(place["Port"].as_u64()?).ok());
        Self::at(ports.map(|port| ([127, 0, 0, 1], port).into()).collect())
    }

    /// Begins to call these places in turn.
    pub fn at(places: Vec<SocketAddr>) -> Self {
        let (over, calls) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (seen, count) = (Arc::clone(&over), Arc::clone(&calls));
        let call = move || {
            let mut held = VecDeque::new();
            for (number, place) in (0u64..).zip(places.iter().cycle()) {
                if seen.load(Ordering::Relaxed) {
                    return;
                }
                // A listener may have gone, or its queue be full.
                if let Ok(mut tcp) = TcpStream::connect_timeout(place, BOUND.0) {
                    let said: &[u8] =
                        [&b""[..], b"s", b"", b"GET / HTTP/1.1\r\n\r\n"][number as usize % 4];
                    // Who was hung up on cannot say anything.
                    let _ = tcp.write_all(said);
                    held.push_back(tcp);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                if held.len() > HELD {
                    held.pop_front();
                }
                std::thread::sleep(PAUSE);
            }
        };
        Self {
            over,
            calls,
            thread: Some(std::thread::spawn(call)),
        }
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Waits for so many calls.
    ///
    /// Panics: they do not come.
    pub fn wait_for(&self, calls: u64) {
        let deadline = Instant::now() + BOUND.1;
        while self.calls() < calls {
            assert!(Instant::now() < deadline, "{} calls only", self.calls());
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A thread that panicked has said so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
