//! A queue through which many threads send over one connection without waiting for each other.
//!
//! ```text
//! transmitter ─┐ push ┌───────┐ swap ┌──────┐ writev
//! reader ──────┼─────►│ queue ├─────►│ wire ├────────► socket (never blocks)
//! receiver ────┘      └───────┘      └──────┘
//! ```
//!
//! What waits is descriptions, 40 bytes each: every payload is sent from one block of zeros.
//! The first thread that flushes writes for all; a full socket is left to the connection's pump, unless
//! the thread may wait itself. Readers never wait for room, so that two ends that answer each
//! other cannot stand still together.

use std::io::{self, IoSlice, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ledger::{Ledger, Settled};
use super::protocol::{
    HEADER_BYTES, LENGTH_BYTES, Message, ProtocolError, RECEIPT_FRAME_BYTES, Receipts,
};

/// Bytes that payloads consist of.
static PAYLOAD: [u8; 64 << 10] = [0; 64 << 10];

/// Pieces per write.
const SLICES: usize = 256;

/// One frame that waits.
#[derive(Debug, Clone, Copy)]
pub struct Out {
    head: [u8; HEADER_BYTES],
    head_bytes: u8,
    payload_bytes: u32,
    /// Send time of a timed message, nanoseconds; 0 for others.
    timed_ns: i64,
}

impl Out {
    /// A message, `timed_ns` when its receipt is to be timed.
    #[inline]
    pub fn message(message: &Message, timed_ns: Option<i64>) -> Self {
        Self {
            head: message.write(),
            head_bytes: HEADER_BYTES as u8,
            payload_bytes: message.payload_bytes,
            timed_ns: timed_ns.unwrap_or(0),
        }
    }

    fn receipts(receipts: Receipts) -> Self {
        let mut head = [0; HEADER_BYTES];
        head[..RECEIPT_FRAME_BYTES].copy_from_slice(&receipts.write());
        Self {
            head,
            head_bytes: RECEIPT_FRAME_BYTES as u8,
            payload_bytes: 0,
            timed_ns: 0,
        }
    }

    /// Bytes of the message, without the frame's length.
    #[inline]
    pub fn message_bytes(&self) -> u64 {
        self.bytes() - LENGTH_BYTES as u64
    }

    #[inline]
    fn bytes(&self) -> u64 {
        u64::from(self.head_bytes) + u64::from(self.payload_bytes)
    }
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Out>,
    /// Messages for which receipts have not been asked.
    to_request: u32,
    /// Receipts to give.
    to_return: u32,
    ledger: Ledger,
    kicked: bool,
}

/// The frames that are being written.
#[derive(Debug, Default)]
struct Wire {
    frames: Vec<Out>,
    /// Frames that are written whole.
    done: usize,
    /// Bytes of the next one that are written.
    part: u64,
}

/// Result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// Nothing waits any more.
    Empty,
    /// Another thread is writing.
    Busy,
    /// The socket takes nothing now.
    Full,
    /// The connection is gone.
    Gone,
}

/// Messages that one connection has to send.
#[derive(Debug)]
pub struct Outbox {
    socket: TcpStream,
    receipts: bool,
    queue: Mutex<Queue>,
    wire: Mutex<Wire>,
    pump: Condvar,
    unsent_bytes: AtomicU64,
    /// Last time at which the peer took something, or had nothing to take.
    progress_ns: AtomicI64,
}

/// A thread that panicked held the lock: what it guards is counters and descriptions, whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outbox {
    /// For a socket that never blocks.
    pub fn new(socket: TcpStream, receipts: bool, now_ns: i64) -> Self {
        Self {
            socket,
            receipts,
            queue: Mutex::default(),
            wire: Mutex::default(),
            pump: Condvar::new(),
            unsent_bytes: AtomicU64::new(0),
            progress_ns: AtomicI64::new(now_ns),
        }
    }

    /// Queues messages of one owner and leaves `outs` empty.
    pub fn push(&self, owner: u16, outs: &mut Vec<Out>, now_ns: i64) {
        let mut queue = lock(&self.queue);
        let mut bytes = 0;
        for out in outs.iter() {
            bytes += out.bytes();
            if self.receipts {
                let timed_ns = (out.timed_ns > 0).then_some(out.timed_ns);
                queue.ledger.sent(owner, out.message_bytes(), timed_ns);
                queue.to_request += 1;
            }
        }
        self.will_send(bytes, now_ns);
        queue.waiting.append(outs);
    }

    /// Queues receipts for `n` messages that have been dealt with.
    pub fn give_receipts(&self, n: u32) {
        let mut queue = lock(&self.queue);
        queue.to_return = queue.to_return.saturating_add(n);
    }

    /// Takes receipts that came.
    pub fn take_receipts(&self, n: u32, settled: impl FnMut(Settled)) -> Result<(), ProtocolError> {
        lock(&self.queue).ledger.returned(n, settled)
    }

    /// Messages without receipt.
    pub fn outstanding(&self) -> u64 {
        lock(&self.queue).ledger.outstanding()
    }

    /// Bytes that the socket has not taken.
    #[inline]
    pub fn unsent_bytes(&self) -> u64 {
        self.unsent_bytes.load(Ordering::Relaxed)
    }

    /// Time for which the peer has taken nothing although there was something, nanoseconds.
    pub fn stalled_ns(&self, now_ns: i64) -> i64 {
        match self.unsent_bytes() {
            0 => 0,
            _ => now_ns - self.progress_ns.load(Ordering::Relaxed),
        }
    }

    /// Writes as much as the socket takes, unless another thread does.
    pub fn flush(&self, now_ns: i64) -> Flushed {
        loop {
            let Ok(mut wire) = self.wire.try_lock() else {
                return Flushed::Busy;
            };
            let flushed = self.drive(&mut wire, now_ns);
            drop(wire);
            // Who came while the wire was taken went away again: look for what it left.
            if flushed != Flushed::Empty || !lock(&self.queue).has_work() {
                return flushed;
            }
        }
    }

    fn will_send(&self, bytes: u64, now_ns: i64) {
        if self.unsent_bytes.fetch_add(bytes, Ordering::Relaxed) == 0 {
            self.progress_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    fn drive(&self, wire: &mut Wire, now_ns: i64) -> Flushed {
        loop {
            if wire.done == wire.frames.len() && !self.refill(wire, now_ns) {
                return Flushed::Empty;
            }
            match self.write_some(wire) {
                Ok(written) => {
                    self.unsent_bytes.fetch_sub(written, Ordering::Relaxed);
                    self.progress_ns.store(now_ns, Ordering::Relaxed);
                    wire.advance(written);
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Flushed::Full,
                Err(_) => return Flushed::Gone,
            }
        }
    }

    /// Takes over what waits, and puts receipts behind it.
    fn refill(&self, wire: &mut Wire, now_ns: i64) -> bool {
        wire.frames.clear();
        (wire.done, wire.part) = (0, 0);
        let mut queue = lock(&self.queue);
        std::mem::swap(&mut wire.frames, &mut queue.waiting);
        let receipts = Receipts {
            requested: std::mem::take(&mut queue.to_request),
            returned: std::mem::take(&mut queue.to_return),
        };
        drop(queue);
        if receipts != Receipts::default() {
            self.will_send(RECEIPT_FRAME_BYTES as u64, now_ns);
            wire.frames.push(Out::receipts(receipts));
        }
        !wire.frames.is_empty()
    }

    fn write_some(&self, wire: &Wire) -> io::Result<u64> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut used = 0;
        let mut skip = wire.part as usize;
        'frames: for frame in &wire.frames[wire.done..] {
            let head = &frame.head[..usize::from(frame.head_bytes)];
            let mut left = frame.payload_bytes as usize;
            let begun = &head[skip.min(head.len())..];
            left -= skip.saturating_sub(head.len());
            skip = 0;
            let payload = std::iter::from_fn(|| {
                let piece = left.min(PAYLOAD.len());
                left -= piece;
                (piece > 0).then(|| &PAYLOAD[..piece])
            });
            for piece in std::iter::once(begun)
                .filter(|it| !it.is_empty())
                .chain(payload)
            {
                if used == SLICES {
                    break 'frames;
                }
                slices[used] = IoSlice::new(piece);
                used += 1;
            }
        }
        match (&self.socket).write_vectored(&slices[..used]) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            written => written.map(|n| n as u64),
        }
    }

    /// Asks the pump to write on.
    pub fn kick(&self) {
        lock(&self.queue).kicked = true;
        self.pump.notify_one();
    }

    /// Waits for a kick, at most `bound`; true when one came.
    pub fn wait_for_kick(&self, bound: Duration) -> bool {
        let queue = lock(&self.queue);
        let waited = self
            .pump
            .wait_timeout_while(queue, bound, |queue| !queue.kicked);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut queue.kicked)
    }
}

impl Queue {
    fn has_work(&self) -> bool {
        !self.waiting.is_empty() || self.to_request > 0 || self.to_return > 0
    }
}

impl Wire {
    fn advance(&mut self, written: u64) {
        self.part += written;
        while let Some(frame) = self.frames.get(self.done) {
            if self.part < frame.bytes() {
                return;
            }
            self.part -= frame.bytes();
            self.done += 1;
        }
    }
}
