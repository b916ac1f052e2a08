//! Handling of messages by other threads than those that read them.
//!
//! ```text
//! connection ─► reading thread ──chunks of whole frames──► handling thread ─► answers, receipts
//!                     ▲                                        │
//!                     └────────────── empty chunks ◄───────────┘
//! ```
//!
//! Each connection has a few chunks; when all of them wait for the handling thread, the reading
//! thread waits, too, and the connection's own flow control holds the sender back. Receipts go out
//! when messages are handled: the sender's window covers the queue.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::time::Duration;

use sokudo_model::Refusal;
use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::Stream;
use sokudo_workload::crew::Crew;
use sokudo_workload::link::Caller;
use sokudo_workload::patience::sleep_until_or_stop;

use super::client::{CHUNK_BYTES, LOOK};
use super::outgoing::look_at;
use super::protocol::BusReader;
use super::record::{End, Failure, Recorder, Report};
use super::report::Collected;
use super::server::{Answers, Arrival, BusReceiver, WRITE_BOUND, count, hang_up, prepare, silent};

/// Chunks that each connection has.
const CHUNKS: usize = 4;
/// Chunks that may wait for one handling thread.
const QUEUE: usize = 1024;
/// A handling thread that is ahead of its rate by less than this does not sleep for it.
const AHEAD_NS: i64 = 50_000;
/// Lateness that a handling thread makes up for.
const MADE_UP_NS: i64 = 500_000;
/// Wait for a full queue between two looks.
const FULL_LOOK: Duration = Duration::from_micros(100);

/// Bytes as they were read.
struct Chunk {
    bytes: Vec<u8>,
    filled: usize,
}

/// Counters that the reading thread of a connection shares with the threads that count.
#[derive(Default)]
struct Waiting {
    /// Bytes read and not handled.
    bytes: AtomicU64,
    /// Time during which no chunk was empty.
    full_ns: AtomicU64,
    /// Number of times that this began.
    full_events: AtomicU64,
}

/// Message of a reading thread to a handling thread.
enum Handed {
    /// A connection, before anything that comes from it.
    Opened(Box<Opened>),
    /// Bytes of one connection.
    Bytes(u32, Chunk),
    /// It has ended, for this reason.
    Ended(u32, Result<(), Failure>),
}

/// A connection's parts for the handling thread.
struct Opened {
    flow: u32,
    writing: Box<dyn Stream>,
    caller: Option<Caller>,
    empty: SyncSender<Chunk>,
    waiting: Arc<Waiting>,
}

/// Starts the threads: one reading thread for each connection, `--rx-threads` that handle.
pub(crate) fn start(
    arrivals: Vec<Arrival>,
    shared: &BusReceiver,
    crew: &mut Crew<Report, Collected>,
) -> Result<(), Refusal> {
    let handlers = shared.options.rx_threads.unwrap_or(1).max(1) as usize;
    let rate = shared.options.consume_rate;
    let rate_per_s = rate.map(|rate| shared.options.events_per_s(rate) / handlers as f64);
    let mut queues: Vec<SyncSender<Handed>> = Vec::new();
    for number in 0..handlers {
        let (queue, handed) = mpsc::sync_channel(QUEUE);
        let shared = shared.clone();
        let run = move || handle_all(&handed, rate_per_s, &shared);
        crew.start(&format!("handle{number}"), run)?;
        queues.push(queue);
    }
    for (number, arrival) in arrivals.into_iter().enumerate() {
        let queue = queues[number % handlers].clone();
        let shared = shared.clone();
        let name = format!("read{}", arrival.flow);
        crew.start(&name, move || read_all(arrival, &queue, &shared))?;
    }
    Ok(())
}

/// Reads one connection and hands over what comes.
fn read_all(arrival: Arrival, queue: &SyncSender<Handed>, shared: &BusReceiver) {
    precise_timers();
    let flow = arrival.flow;
    let failed = |error: io::Error| {
        let recorder = shared.recorder(flow, End::Receiving);
        recorder.finish(Some(error.into()), |_| {});
    };
    let caller = arrival.caller;
    let (mut reading, mut writing) = match arrival.stream.split() {
        Ok(halves) => halves,
        Err(error) => return failed(error),
    };
    let prepared = prepare(&mut *reading, &shared.options)
        .and_then(|()| reading.set_read_bound(LOOK))
        .and_then(|()| writing.set_write_bound(WRITE_BOUND));
    if let Err(error) = prepared {
        return failed(error);
    }
    // Room for all of them: giving one back neither waits nor allocates.
    let (empty, refill) = mpsc::sync_channel(CHUNKS);
    for _ in 0..CHUNKS {
        let bytes = vec![0; CHUNK_BYTES];
        // The other end is in this function.
        let _ = empty.send(Chunk { bytes, filled: 0 });
    }
    let waiting: Arc<Waiting> = Arc::default();
    let opened = Opened {
        flow,
        writing,
        caller,
        empty,
        waiting: Arc::clone(&waiting),
    };
    if put(queue, Handed::Opened(Box::new(opened)), shared) {
        let outcome = read_until_end(&mut *reading, flow, queue, &refill, &waiting, shared);
        put(queue, Handed::Ended(flow, outcome), shared);
    }
}

fn read_until_end(
    reading: &mut dyn Stream,
    flow: u32,
    queue: &SyncSender<Handed>,
    refill: &Receiver<Chunk>,
    waiting: &Waiting,
    shared: &BusReceiver,
) -> Result<(), Failure> {
    while let Some(mut chunk) = empty_chunk(refill, waiting, shared) {
        let count = loop {
            match silent(reading.read(&mut chunk.bytes))? {
                Some(count) => break count,
                None if shared.goes_on() => {}
                None => return Ok(()),
            }
        };
        if count == 0 {
            return Ok(());
        }
        chunk.filled = count;
        waiting.bytes.fetch_add(count as u64, Ordering::Relaxed);
        if !put(queue, Handed::Bytes(flow, chunk), shared) {
            return Ok(());
        }
    }
    Ok(())
}

/// A chunk to read into; `None` when the handling threads have ended.
fn empty_chunk(refill: &Receiver<Chunk>, waiting: &Waiting, shared: &BusReceiver) -> Option<Chunk> {
    if let Ok(chunk) = refill.try_recv() {
        return Some(chunk);
    }
    let begun_ns = now_ns();
    waiting.full_events.fetch_add(1, Ordering::Relaxed);
    let chunk = loop {
        match refill.recv_timeout(LOOK) {
            Ok(chunk) => break Some(chunk),
            Err(RecvTimeoutError::Timeout) if shared.goes_on() => {}
            // The handling thread has given this connection up, or it is to end.
            Err(_) => break None,
        }
    };
    let full_ns = (now_ns() - begun_ns) as u64;
    waiting.full_ns.fetch_add(full_ns, Ordering::Relaxed);
    chunk
}

/// Hands over, waiting while the queue is full; false when the handling thread has ended.
fn put(queue: &SyncSender<Handed>, mut handed: Handed, shared: &BusReceiver) -> bool {
    loop {
        match queue.try_send(handed) {
            Ok(()) => return true,
            Err(TrySendError::Disconnected(_)) => return false,
            Err(TrySendError::Full(_)) if !shared.goes_on() => return false,
            Err(TrySendError::Full(back)) => {
                handed = back;
                std::thread::sleep(FULL_LOOK);
            }
        }
    }
}

/// Rate limit of one handling thread.
struct Pace {
    period_ns: i64,
    /// Earliest time of the next message.
    next_ns: Option<i64>,
}

impl Pace {
    fn new(rate_per_s: f64) -> Self {
        Self {
            period_ns: (1e9 / rate_per_s) as i64,
            next_ns: None,
        }
    }

    /// Books the next message; returns its moment. A late wake-up is made up for, a pause is not.
    #[inline]
    fn turn(&mut self, now: i64) -> i64 {
        let next_ns = self.next_ns.unwrap_or(now);
        let at_ns = next_ns.max(now - MADE_UP_NS);
        self.next_ns = Some(at_ns + self.period_ns);
        at_ns
    }
}

/// One connection, as its handling thread sees it.
struct Handling {
    writing: Box<dyn Stream>,
    _caller: Option<Caller>,
    reader: BusReader,
    answers: Answers,
    recorder: Recorder,
    empty: SyncSender<Chunk>,
    waiting: Arc<Waiting>,
}

impl Handling {
    fn new(opened: Opened, shared: &BusReceiver) -> Self {
        Self {
            writing: opened.writing,
            _caller: opened.caller,
            reader: BusReader::new(shared.agreed()),
            answers: Answers::new(&shared.options, shared.purse()),
            recorder: shared.recorder(opened.flow, End::Receiving),
            empty: opened.empty,
            waiting: opened.waiting,
        }
    }

    /// Handles a chunk, at the pace of its thread.
    fn handle(
        &mut self,
        chunk: Chunk,
        pace: &mut Option<Pace>,
        shared: &BusReceiver,
    ) -> Result<(), Failure> {
        let touch = shared.options.touch.0 as usize;
        let payload = |piece: &[u8]| {
            if touch > 0 {
                look_at(piece, touch);
            }
        };
        let mut now = now_ns();
        let mut rest = &chunk.bytes[..chunk.filled];
        shared.came.store(true, Ordering::Release);
        while let Some(header) = self.reader.next(&mut rest, payload)? {
            if let Some(pace) = pace {
                let Some(at_ns) = self.wait_for_turn(pace, shared)? else {
                    return Ok(());
                };
                now = at_ns;
            }
            count(&mut self.recorder, &header, now);
            self.recorder.totals.answers += u64::from(self.answers.take(&header)?);
        }
        let filled = chunk.filled as u64;
        let before = self.waiting.bytes.fetch_sub(filled, Ordering::Relaxed);
        self.count_waiting(before);
        self.recorder.report_when_due(now);
        // The reading thread may have ended.
        let _ = self.empty.send(chunk);
        if self.answers.is_due() {
            self.answers.send(&mut *self.writing)?;
        }
        Ok(())
    }

    /// Waits until the next message may be handled; `None` when it is to end. What is known of
    /// those before it is told first.
    fn wait_for_turn(
        &mut self,
        pace: &mut Pace,
        shared: &BusReceiver,
    ) -> Result<Option<i64>, Failure> {
        let now = now_ns();
        let at_ns = pace.turn(now);
        if at_ns - now < AHEAD_NS {
            return Ok(Some(now));
        }
        self.answers.send(&mut *self.writing)?;
        self.recorder.report_when_due(now);
        Ok(sleep_until_or_stop(at_ns, &shared.stop).map(|()| now_ns()))
    }

    fn count_waiting(&mut self, bytes: u64) {
        let totals = &mut self.recorder.totals;
        totals.backlog_bytes = bytes;
        totals.backlog_peak_bytes = totals.backlog_peak_bytes.max(bytes);
        totals.backlog_ns = self.waiting.full_ns.load(Ordering::Relaxed);
        totals.backlog_events = self.waiting.full_events.load(Ordering::Relaxed);
    }

    /// Tells what has been taken, when nothing more waits.
    fn settle(&mut self) -> Result<(), Failure> {
        self.answers.send(&mut *self.writing)?;
        self.recorder.report_when_due(now_ns());
        Ok(())
    }

    fn finish(mut self, outcome: Result<(), Failure>) {
        if outcome.is_ok() {
            // The sender says what became of a connection that it closed.
            let _ = self.answers.send(&mut *self.writing);
        }
        hang_up(&mut *self.writing, outcome.is_ok());
        let between = self.reader.is_between_frames();
        drop(self.writing);
        let failure = match outcome {
            Ok(()) if between => None,
            Ok(()) => Some(Failure::closed()),
            Err(failure) => Some(failure),
        };
        self.recorder.finish(failure, |_| {});
    }
}

/// Handles everything that is handed over, until all connections have ended or it is to end.
fn handle_all(handed: &Receiver<Handed>, rate_per_s: Option<f64>, shared: &BusReceiver) {
    precise_timers();
    let mut open: BTreeMap<u32, Handling> = BTreeMap::new();
    let mut pace = rate_per_s.map(Pace::new);
    while let Some(next) = next_handed(handed, &mut open, shared) {
        let (flow, outcome) = match next {
            Handed::Opened(opened) => {
                open.insert(opened.flow, Handling::new(*opened, shared));
                continue;
            }
            Handed::Bytes(flow, chunk) => {
                let Some(one) = open.get_mut(&flow) else {
                    continue;
                };
                match one.handle(chunk, &mut pace, shared) {
                    Ok(()) => continue,
                    failed => (flow, failed),
                }
            }
            Handed::Ended(flow, outcome) => (flow, outcome),
        };
        if let Some(one) = open.remove(&flow) {
            one.finish(outcome);
        }
    }
    for one in open.into_values() {
        one.finish(Ok(()));
    }
}

/// Takes the next message; before it sleeps, the thread settles its accounts. `None` at the end.
fn next_handed(
    handed: &Receiver<Handed>,
    open: &mut BTreeMap<u32, Handling>,
    shared: &BusReceiver,
) -> Option<Handed> {
    match handed.try_recv() {
        Ok(next) if shared.goes_on() => return Some(next),
        Ok(_) | Err(TryRecvError::Disconnected) => return None,
        Err(TryRecvError::Empty) => {}
    }
    let settle = |one: &mut Handling| one.settle().err();
    let failed = open
        .iter_mut()
        .find_map(|(flow, one)| Some((*flow, settle(one)?)));
    if let Some((flow, failure)) = failed {
        return Some(Handed::Ended(flow, Err(failure)));
    }
    let begun_ns = now_ns();
    let next = loop {
        match handed.recv_timeout(LOOK) {
            Ok(next) => break Some(next),
            Err(RecvTimeoutError::Timeout) if shared.goes_on() => {}
            Err(_) => break None,
        }
    };
    let idle_ns = (now_ns() - begun_ns) as u64;
    for one in open.values_mut() {
        one.recorder.totals.idle_ns += idle_ns;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_makes_up_for_little() {
        let mut pace = Pace::new(1000.0);
        assert_eq!(pace.turn(5_000_000), 5_000_000);
        assert_eq!(pace.turn(5_000_000), 6_000_000);
        // Woken late by 100 µs: the one after it keeps its time.
        assert_eq!(pace.turn(7_100_000), 7_000_000);
        assert_eq!(pace.turn(7_100_000), 8_000_000);
        assert_eq!(pace.turn(1_000_000_000), 1_000_000_000 - MADE_UP_NS);
    }
}
