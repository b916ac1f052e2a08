//! One open connection, which its event loop and a worker own in turn.
//!
//! ```text
//! Reading ──whole request──► Busy ──answered──► Reading
//!    │                        │ └─something arrives meanwhile─► Wanted ──answered──► the loop is rung
//!    └── timeout, end         └──answered, Connection: close──► Closing ──end, 2 s──► gone
//! ```

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::request::Request;

/// Owner of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// The loop, which waits for a request.
    Reading = 0,
    /// A worker, or the queue in front of them.
    Busy = 1,
    /// The same, and the loop wants to hear when it is over.
    Wanted = 2,
    /// The loop, which waits for the end.
    Closing = 3,
}

/// Input of one connection that is taken however much the others hold, and room that it keeps between requests: an
/// ordinary request without a body fits in. 20,000 connections hold 40 MB of it.
const SMALL_BYTES: usize = 2 << 10;
/// Most input of all connections together; those with more than the small one have to go when it is exceeded.
pub(crate) const INPUT_BYTES_MAX: usize = 96 << 20;

/// Bytes of input that all connections hold.
pub(crate) type HeldBytes = Arc<AtomicUsize>;

/// A connection.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Place among the connections of the loop.
    pub(crate) slot: usize,
    state: AtomicU8,
    /// Time at which the loop began to wait, milliseconds of the target's clock.
    since_ms: AtomicU64,
    input: Mutex<Input>,
    held: HeldBytes,
}

/// Input that has arrived.
#[derive(Default)]
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// The request at their beginning, once it is whole.
    pub(crate) request: Option<Request>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, slot: usize, now_ms: u64, held: &HeldBytes) -> Self {
        Self {
            stream,
            slot,
            state: AtomicU8::new(State::Reading as u8),
            since_ms: AtomicU64::new(now_ms),
            input: Mutex::default(),
            held: Arc::clone(held),
        }
    }

    pub(crate) fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Reading,
            1 => State::Busy,
            2 => State::Wanted,
            _ => State::Closing,
        }
    }

    /// Changes hands; only the owner may.
    pub(crate) fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
    }

    /// The loop wants to hear when the worker is done; false when it is done already.
    pub(crate) fn want(&self) -> bool {
        self.swap(State::Busy, State::Wanted) || self.state() == State::Wanted
    }

    fn swap(&self, from: State, to: State) -> bool {
        let (from, to) = (from as u8, to as u8);
        let swapped = self
            .state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        swapped.is_ok()
    }

    pub(crate) fn since_ms(&self) -> u64 {
        self.since_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn touch(&self, now_ms: u64) {
        self.since_ms.store(now_ms, Ordering::Relaxed);
    }

    pub(crate) fn input(&self) -> MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what has arrived; false when all connections hold too much, and this one is not small.
    pub(crate) fn take(&self, arrived: &[u8]) -> bool {
        let held = self.held.fetch_add(arrived.len(), Ordering::Relaxed) + arrived.len();
        let mut input = self.input();
        input.bytes.reserve_exact(arrived.len());
        input.bytes.extend_from_slice(arrived);
        held <= INPUT_BYTES_MAX || input.bytes.len() <= SMALL_BYTES
    }

    /// The worker has answered. Returns true when the loop must hear of it.
    pub(crate) fn finish(&self, keeps: bool, now_ms: u64) -> bool {
        self.touch(now_ms);
        let has_more = {
            let mut input = self.input();
            let length = input.request.take().map_or(0, |request| request.len());
            let has_more = keeps && length < input.bytes.len();
            let over = match has_more {
                true => length,
                false => input.bytes.len(),
            };
            input.bytes.drain(..over);
            // A large body is not kept for the next one.
            input.bytes.shrink_to(SMALL_BYTES);
            self.held.fetch_sub(over, Ordering::Relaxed);
            has_more
        };
        let next = match keeps {
            true => State::Reading,
            false => {
                // The peer may be gone already.
                let _ = self.stream.shutdown(Shutdown::Write);
                State::Closing
            }
        };
        if !has_more && self.swap(State::Busy, next) {
            return false;
        }
        self.set(next);
        true
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let held = self.input().bytes.len();
        self.held.fetch_sub(held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    fn connection(held: &HeldBytes) -> Connection {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let stream = TcpStream::connect(listener.local_addr().expect("an address"));
        Connection::new(stream.expect("connected"), 0, 0, held)
    }

    /// Many connections that once had a large request, and wait for the next one.
    #[test]
    fn an_idle_connection_keeps_little_room() {
        let held = HeldBytes::default();
        let idle = connection(&held);
        assert!(idle.take(&[b'x'; 30 << 10]));
        idle.set(State::Busy);
        idle.finish(false, 0);
        assert_eq!(held.load(Ordering::Relaxed), 0);
        assert!(idle.input().bytes.capacity() <= SMALL_BYTES);
    }

    /// Heads that do not end, of so many connections that together they hold more than may be.
    #[test]
    fn only_small_requests_are_taken_when_all_hold_too_much() {
        let held = HeldBytes::default();
        held.store(INPUT_BYTES_MAX, Ordering::Relaxed);
        let other = connection(&held);
        assert!(other.take(&[b'x'; SMALL_BYTES]));
        assert!(!other.take(b"x"));
        drop(other);
        assert_eq!(held.load(Ordering::Relaxed), INPUT_BYTES_MAX);
    }
}
