//! The receiving end: who handles what arrives, and what goes back.
//!
//! ```text
//! inline   connection ─► one thread: read, handle, answer
//! poll     connections ─► one thread looks at each in turn, and never sleeps
//! queue    see [`super::queue`]
//! ```
//!
//! Answers and receipts leave together when what had come is handled. A receipt leaves when a
//! quarter of the window has been taken, or nothing more is there to be read.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::Stream;
use sokudo_net::wait::Wait;
use sokudo_workload::limit::{Exceeded, Limit, Purse};
use sokudo_workload::link::{Caller, is_silence};

use super::client::{CHUNK_BYTES, LOOK};
use super::options::{BusOptions, Mode};
use super::outgoing::{Memory, look_at};
use super::protocol::{Agreed, BusReader, FrameKind, FrameWay, HEADER_BYTES, Header};
use super::record::{End, Failure, Recorder, Report};

/// A sender that takes no answer for this long is given up.
pub(crate) const WRITE_BOUND: Duration = Duration::from_secs(10);
/// Looks at all connections between two yields of a polling thread.
const LOOKS_PER_YIELD: u32 = 16;

/// State that all receiving threads of a host share.
#[derive(Clone)]
pub(crate) struct BusReceiver {
    pub(crate) options: Arc<BusOptions>,
    /// Set by the first message, for a polite sender of the same host.
    pub(crate) came: Arc<AtomicBool>,
    /// What they may do together; `None` = anything.
    pub(crate) limit: Option<Arc<Limit>>,
    /// Set when the threads must end.
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) reports: SyncSender<Report>,
}

impl BusReceiver {
    /// False when the threads are to end.
    pub(crate) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// True when more came than was granted.
    pub(crate) fn is_over(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.is_exceeded())
    }

    /// What one more thread pays from.
    pub(crate) fn purse(&self) -> Purse {
        Purse::new(self.limit.as_ref())
    }

    pub(crate) fn recorder(&self, flow: u32, end: End) -> Recorder {
        let interval_ns = self.options.interval.0;
        Recorder::new(flow, end, interval_ns, self.reports.clone())
    }

    /// Shape of the messages that may arrive.
    pub(crate) fn agreed(&self) -> Agreed {
        Agreed {
            way: FrameWay::Forth,
            min_bytes: self.options.size.min,
            max_bytes: self.options.size.max,
        }
    }
}

/// One connection that messages come from.
pub(crate) struct Arrival {
    pub(crate) flow: u32,
    pub(crate) stream: Box<dyn Stream>,
    /// Caller that the connection may need to live, where this host made it.
    pub(crate) caller: Option<Caller>,
}

/// Answers and receipts that go back over one connection.
pub(crate) struct Answers {
    bytes: Vec<u8>,
    /// A response without its header.
    body: Vec<u8>,
    with_receipts: bool,
    receipt_every_bytes: u64,
    taken: u64,
    taken_bytes: u64,
    told_bytes: u64,
    purse: Purse,
}

impl Answers {
    pub(crate) fn new(options: &BusOptions, purse: Purse) -> Self {
        Self {
            bytes: Vec::with_capacity(CHUNK_BYTES),
            body: vec![0; options.size.max as usize],
            with_receipts: !options.no_acks,
            receipt_every_bytes: options.receipt_every_bytes(),
            taken: 0,
            taken_bytes: 0,
            told_bytes: 0,
            purse,
        }
    }

    /// Takes a message; its answer waits for [`Answers::send`]. True when it has one.
    ///
    /// Errors: more came than was granted.
    #[inline]
    pub(crate) fn take(&mut self, message: &Header) -> Result<bool, Exceeded> {
        self.purse.events(1)?;
        self.purse.received(message.length as usize)?;
        self.taken += 1;
        self.taken_bytes += u64::from(message.length);
        if !message.wants_answer() {
            return Ok(false);
        }
        self.purse.sent(message.length as usize)?;
        let response = Header {
            kind: FrameKind::Response,
            ..*message
        };
        response.write(&mut self.body);
        self.bytes
            .extend_from_slice(&self.body[..message.length as usize]);
        Ok(true)
    }

    /// True when something must leave now, whatever else may come.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        let untold = self.taken_bytes - self.told_bytes;
        !self.bytes.is_empty() || (self.with_receipts && untold >= self.receipt_every_bytes)
    }

    /// True when more was taken than the sender knows of.
    #[inline]
    pub(crate) fn owes_receipt(&self) -> bool {
        self.with_receipts && self.taken_bytes > self.told_bytes
    }

    /// Sends what waits, with a receipt of everything taken.
    #[inline]
    pub(crate) fn send(&mut self, stream: &mut dyn Stream) -> io::Result<()> {
        if self.owes_receipt() {
            self.told_bytes = self.taken_bytes;
            let receipt = Header {
                length: HEADER_BYTES as u32,
                kind: FrameKind::Receipt,
                flags: 0,
                number: self.taken,
                stamp: self.taken_bytes,
            };
            self.purse.sent(HEADER_BYTES)?;
            let at = self.bytes.len();
            self.bytes.resize(at + HEADER_BYTES, 0);
            receipt.write(&mut self.bytes[at..]);
        }
        if self.bytes.is_empty() {
            return Ok(());
        }
        let sent = stream.write_all(&self.bytes);
        self.bytes.clear();
        sent
    }
}

/// Handles messages of one connection in the thread that reads them.
struct Inline {
    stream: Box<dyn Stream>,
    _caller: Option<Caller>,
    reader: BusReader,
    answers: Answers,
    touch: usize,
    recorder: Recorder,
}

impl Inline {
    fn new(arrival: Arrival, shared: &BusReceiver) -> Self {
        Self {
            stream: arrival.stream,
            _caller: arrival.caller,
            reader: BusReader::new(shared.agreed()),
            answers: Answers::new(&shared.options, shared.purse()),
            touch: shared.options.touch.0 as usize,
            recorder: shared.recorder(arrival.flow, End::Receiving),
        }
    }

    /// Handles bytes as they came.
    #[inline]
    fn handle(&mut self, mut bytes: &[u8], came: &AtomicBool) -> Result<(), Failure> {
        let now = now_ns();
        if self.recorder.totals.all_messages == 0 {
            came.store(true, Ordering::Release);
        }
        let touch = self.touch;
        let payload = |piece: &[u8]| {
            if touch > 0 {
                look_at(piece, touch);
            }
        };
        while let Some(header) = self.reader.next(&mut bytes, payload)? {
            count(&mut self.recorder, &header, now);
            self.recorder.totals.answers += u64::from(self.answers.take(&header)?);
        }
        self.recorder.report_when_due(now);
        Ok(())
    }

    /// Ends the record; what is left in the answers leaves first.
    fn finish(mut self, outcome: Result<(), Failure>) {
        let last = match outcome.is_ok() {
            true => self.answers.send(&mut *self.stream),
            false => Ok(()),
        };
        // The sender says what became of a connection that it closed.
        drop(last);
        hang_up(&mut *self.stream, outcome.is_ok());
        let between = self.reader.is_between_frames();
        drop(self.stream);
        let failure = match outcome {
            Ok(()) if between => None,
            Ok(()) => Some(Failure::closed()),
            Err(failure) => Some(failure),
        };
        self.recorder.finish(failure, |_| {});
    }
}

/// Says to the sender that nothing more comes; other handles of the socket may live on. A failed
/// connection is of no use in either direction.
pub(crate) fn hang_up(stream: &mut dyn Stream, is_well: bool) {
    let how = match is_well {
        true => Shutdown::Write,
        false => Shutdown::Both,
    };
    // A connection that is gone has been hung up.
    let _ = stream.shutdown(how);
}

/// Counts one message; with the first, the thread's own account begins.
#[inline]
pub(crate) fn count(recorder: &mut Recorder, header: &Header, now: i64) {
    if recorder.totals.all_messages == 0 {
        recorder.begin_here(now);
    }
    recorder.totals.all_messages += 1;
    if header.counts() {
        recorder.totals.count(header.length, now);
    }
}

/// Makes a connection wait as the options say.
pub(crate) fn prepare(stream: &mut dyn Stream, options: &BusOptions) -> io::Result<()> {
    let wait = options.wait.0;
    stream.set_wait(match (wait, stream.source().is_some()) {
        (Wait::Epoll, false) => Wait::Block,
        (wait, _) => wait,
    })?;
    stream.set_write_bound(WRITE_BOUND)
}

/// Takes the messages of one connection and handles them, until it ends or is to end.
pub(crate) fn inline(arrival: Arrival, shared: &BusReceiver) {
    precise_timers();
    let mut one = Inline::new(arrival, shared);
    let outcome = inline_loop(&mut one, shared);
    one.finish(outcome);
}

fn inline_loop(one: &mut Inline, shared: &BusReceiver) -> Result<(), Failure> {
    let options = &*shared.options;
    prepare(&mut *one.stream, options)?;
    let mut memory = Memory::new(options.buffers, CHUNK_BYTES)?;
    // A request comes alone: there is no use in asking whether another is there.
    let asks_first = options.mode == Mode::Stream;
    while shared.goes_on() {
        let read = match asks_first {
            true => at_once(&mut *one.stream, memory.bytes()),
            false => Ok(None),
        };
        let read = match read {
            Ok(None) => {
                one.answers.send(&mut *one.stream)?;
                one.recorder.report_when_due(now_ns());
                wait_for_bytes(one, memory.bytes())
            }
            read => read,
        };
        match read {
            Ok(None) => {}
            Ok(Some(0)) => return Ok(()),
            Ok(Some(count)) => {
                one.handle(&memory.bytes()[..count], &shared.came)?;
                if one.answers.is_due() {
                    one.answers.send(&mut *one.stream)?;
                }
                memory.renew();
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Bytes that are there already; `None` for none.
#[inline]
pub(crate) fn at_once(stream: &mut dyn Stream, out: &mut [u8]) -> io::Result<Option<usize>> {
    stream.set_read_bound(Duration::ZERO)?;
    silent(stream.read(out))
}

/// Waits for bytes, one look long.
#[inline]
fn wait_for_bytes(one: &mut Inline, out: &mut [u8]) -> io::Result<Option<usize>> {
    one.stream.set_read_bound(LOOK)?;
    let begun_ns = now_ns();
    let read = silent(one.stream.read(out));
    one.recorder.totals.idle_ns += (now_ns() - begun_ns) as u64;
    read
}

/// Nothing came: `None`.
#[inline]
pub(crate) fn silent(read: io::Result<usize>) -> io::Result<Option<usize>> {
    match read {
        Ok(count) => Ok(Some(count)),
        Err(error) if is_silence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at all connections in turn, without sleeping, until all have ended or it is to end.
pub(crate) fn poll(arrivals: Vec<Arrival>, shared: &BusReceiver) {
    precise_timers();
    let mut all: Vec<Option<Inline>> = Vec::with_capacity(arrivals.len());
    for arrival in arrivals {
        let mut one = Inline::new(arrival, shared);
        match one.stream.set_write_bound(WRITE_BOUND) {
            Ok(()) => all.push(Some(one)),
            Err(error) => one.finish(Err(error.into())),
        }
    }
    let mut memory = match Memory::new(shared.options.buffers, CHUNK_BYTES) {
        Ok(memory) => memory,
        Err(error) => {
            let says = error.to_string();
            for one in all.into_iter().flatten() {
                one.finish(Err(io::Error::other(says.clone()).into()));
            }
            return;
        }
    };
    let mut left = all.len();
    let mut looks = 0u32;
    while shared.goes_on() && left > 0 {
        let mut found = false;
        for place in &mut all {
            let Some(one) = place else { continue };
            match look(one, memory.bytes(), &shared.came) {
                Ok(Some(something)) => found |= something,
                ended => {
                    if let Some(one) = place.take() {
                        one.finish(ended.map(drop));
                    }
                    left -= 1;
                }
            }
        }
        looks = looks.wrapping_add(1);
        if !found && looks.is_multiple_of(LOOKS_PER_YIELD) {
            // The senders may share this core.
            std::thread::yield_now();
        }
    }
    for one in all.into_iter().flatten() {
        one.finish(Ok(()));
    }
}

/// Looks at one connection: true when something was there, `None` when it has ended.
#[inline]
fn look(one: &mut Inline, chunk: &mut [u8], came: &AtomicBool) -> Result<Option<bool>, Failure> {
    match at_once(&mut *one.stream, chunk)? {
        Some(0) => Ok(None),
        Some(count) => {
            one.handle(&chunk[..count], came)?;
            if one.answers.is_due() {
                one.answers.send(&mut *one.stream)?;
            }
            Ok(Some(true))
        }
        None => {
            if one.answers.owes_receipt() {
                one.answers.send(&mut *one.stream)?;
            }
            Ok(Some(false))
        }
    }
}
