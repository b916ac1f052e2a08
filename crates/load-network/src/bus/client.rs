//! The sending end: one thread per flow and connection.
//!
//! ```text
//!            ┌─ compose while the window has room, messages are due and the batch is not full
//!   schedule ┤
//!            └─ hand the batch over ─► take what came back, or wait for it ─► compose …
//! ```

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::Stream;
use sokudo_net::wait::{Interest, Trigger, Wait, Waiter};
use sokudo_workload::link::is_silence;
use sokudo_workload::schedule::LATE_NS;

use super::amounts::Batch;
use super::course::{BusCourse, Next, Task, started_late, wait_for_start};
use super::options::Mode;
use super::outgoing::{Outgoing, fill};
use super::protocol::{Agreed, BusReader, FrameKind, FrameWay, HEADER_BYTES, Header};
use super::record::{End, Failure, FailureKind, Recorder, Report};
use super::window::Window;

/// Longest wait of one call: how soon a stop or a silence is noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Bytes taken from a connection at once.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// Bytes taken at once of what comes back.
const BACK_BYTES: usize = 64 << 10;
/// Longest time that what is under way at the end is waited for.
const DRAIN_NS: i64 = 10_000_000_000;
/// The same after the operator has stopped the run.
const STOP_GRACE_NS: i64 = 1_000_000_000;
/// A message that is due sooner than this is not slept for: the wake-up would be late.
const SPIN_NS: i64 = 50_000;
/// Bytes of answers that may be under way where a write cannot hand over a part: above that both
/// ends could wait for each other.
const WHOLE_ANSWER_BYTES: u64 = 64 << 10;
/// Most messages whose times are kept ready for: a longer queue grows as it must.
const KEPT_READY: u64 = 4096;

/// Sends from `at_ns` on, until time, count or stop; reports to `reports`.
pub(crate) fn run(
    task: &Task,
    mut stream: Box<dyn Stream>,
    at_ns: i64,
    reports: &SyncSender<Report>,
) {
    precise_timers();
    let started = wait_for_start(task, at_ns);
    let options = &task.options;
    let interval_ns = options.interval.0;
    let recorder = Recorder::new(task.flow, End::Sending, interval_ns, reports.clone());
    let largest = options.size.max as usize;
    let prepared = prepare(task, &mut *stream);
    let outgoing = match prepared.and_then(|()| Outgoing::new(options.buffers, largest)) {
        Ok(outgoing) => outgoing,
        Err(error) => return recorder.finish(Some(error.into()), |_| {}),
    };
    let start_ns = started.unwrap_or(at_ns);
    let mut sender = Sender::new(task, stream, start_ns, recorder, outgoing);
    sender.recorder.start_late_ns = started_late(task, started, at_ns);
    let outcome = started.map_or(Ok(()), |_| sender.carry().and_then(|()| sender.drain()));
    sender.finish(outcome.err());
}

/// A message that was asked to be answered, or whose receipt is timed.
#[derive(Debug, Clone, Copy)]
struct Timed {
    number: u64,
    intended_ns: i64,
    sent_ns: i64,
    bytes: u32,
    /// False for messages of the warm-up and those that are answered but not measured.
    is_measured: bool,
}

/// Reason why composing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// As many are together as leave together.
    BatchFull,
    /// As much is under way as may be.
    WindowFull,
    /// The next one's time comes then.
    NotDue(i64),
    /// There is no next one.
    Over,
}

struct Sender<'t> {
    task: &'t Task,
    stream: Box<dyn Stream>,
    course: BusCourse,
    recorder: Recorder,
    outgoing: Outgoing,
    window: Window,
    /// Watches for room to write and for answers at once, where that can be watched.
    both: Option<Waiter>,
    /// Watches for answers with a bound finer than a socket's own.
    readable: Option<Waiter>,
    reader: BusReader,
    back: Vec<u8>,
    asked: VecDeque<Timed>,
    asked_bytes: u64,
    most_asked_bytes: u64,
    unreceipted: VecDeque<Timed>,
    next_size: u32,
    /// Payload that is copied into every message.
    body: Option<Vec<u8>>,
    /// Last time that the window was full.
    full_ns: i64,
    /// Last time that something came back, or nothing was under way.
    heard_ns: i64,
    is_rr: bool,
    /// The connection took only a part of the batch.
    is_blocked: bool,
}

impl<'t> Sender<'t> {
    fn new(
        task: &'t Task,
        stream: Box<dyn Stream>,
        start_ns: i64,
        recorder: Recorder,
        outgoing: Outgoing,
    ) -> Self {
        let options = &task.options;
        let mut course = BusCourse::new(task, start_ns);
        let next_size = course.draw();
        let most = options.most();
        let ready = most.messages.min(KEPT_READY) as usize;
        let touch = options.touch.0 as usize;
        let body = options.reuse.then(|| {
            let mut body = vec![0; options.size.max as usize];
            fill(&mut body, touch, 0);
            body
        });
        let in_parts = options.transport.writes_in_parts();
        Self {
            task,
            stream,
            course,
            recorder,
            outgoing,
            window: Window::new(most),
            both: None,
            readable: None,
            reader: BusReader::new(Agreed {
                way: FrameWay::Back,
                min_bytes: options.size.min,
                max_bytes: options.size.max,
            }),
            back: vec![0; BACK_BYTES],
            asked: VecDeque::with_capacity(ready),
            asked_bytes: 0,
            most_asked_bytes: if in_parts {
                u64::MAX
            } else {
                WHOLE_ANSWER_BYTES
            },
            unreceipted: VecDeque::with_capacity(ready),
            next_size,
            body,
            full_ns: i64::MIN,
            heard_ns: start_ns,
            is_rr: options.mode == Mode::Rr,
            is_blocked: false,
        }
    }

    /// Sends everything.
    fn carry(&mut self) -> Result<(), Failure> {
        let mut now = now_ns();
        self.heard_ns = now;
        loop {
            let halt = self.compose(now);
            if self.may_leave(halt) {
                self.hand_over()?;
            }
            match halt {
                _ if self.is_blocked => self.wait_for_room()?,
                Halt::BatchFull => {
                    self.take(Duration::ZERO)?;
                }
                Halt::WindowFull => self.wait_for_answers()?,
                Halt::NotDue(at_ns) => self.wait_until(at_ns)?,
                Halt::Over if self.outgoing.frames() == 0 => return Ok(()),
                Halt::Over => {}
            }
            now = now_ns();
            self.recorder.totals.backlog_bytes = self.window.bytes();
            self.recorder.report_when_due(now);
        }
    }

    /// Puts messages into the batch until something stops it.
    #[inline]
    fn compose(&mut self, now: i64) -> Halt {
        let batch = match self.task.options.batch {
            Batch::Auto => u32::MAX,
            Batch::Count(count) if self.waits_for_whole_batch(count, now) => {
                return Halt::WindowFull;
            }
            Batch::Count(count) => count,
        };
        loop {
            let intended_ns = match self.course.next(now) {
                Next::Now(intended_ns) => intended_ns,
                Next::At(at_ns) => return Halt::NotDue(at_ns),
                Next::Over => return Halt::Over,
            };
            let size = self.next_size;
            let asks = self.is_rr || self.course.is_sampled();
            if !self.has_room(size, asks) {
                return Halt::WindowFull;
            }
            if self.outgoing.frames() >= batch || !self.outgoing.fits(size as usize) {
                return Halt::BatchFull;
            }
            self.put(intended_ns, size, asks, now);
        }
    }

    /// A batch of a size that was asked for begins when all of it has room: so many leave, and so
    /// many come back.
    #[inline]
    fn waits_for_whole_batch(&self, count: u32, now: i64) -> bool {
        self.outgoing.frames() == 0
            && self.window.messages() > 0
            && self.window.message_room() < u64::from(count)
            && self.course.next(now) != Next::Over
    }

    #[inline]
    fn has_room(&self, size: u32, asks: bool) -> bool {
        let answers = self.asked_bytes + u64::from(size);
        self.window.fits(u64::from(size))
            && (!asks || self.asked.is_empty() || answers <= self.most_asked_bytes)
    }

    /// Composes one message.
    #[inline]
    fn put(&mut self, intended_ns: i64, size: u32, asks: bool, now: i64) {
        let is_sampled = self.course.is_sampled();
        let is_open = self.course.schedule.is_open();
        // In a closed loop a message is meant to leave when it is composed.
        let sent_ns = if is_sampled || is_open { now_ns() } else { now };
        let intended_ns = if is_open { intended_ns } else { sent_ns };
        let had_room = intended_ns >= self.full_ns;
        let header = self.course.leaves(intended_ns, size, asks);
        let frame = self.outgoing.frame(size as usize);
        header.write(frame);
        let payload = &mut frame[HEADER_BYTES..];
        match &self.body {
            Some(body) => payload.copy_from_slice(&body[..payload.len()]),
            None if self.task.options.touch.0 > 0 => {
                let touch = self.task.options.touch.0 as usize;
                fill(payload, touch, header.number as u8);
            }
            None => {}
        }
        self.window.sent(u64::from(size));
        let timed = Timed {
            number: header.number,
            intended_ns,
            sent_ns,
            bytes: size,
            is_measured: is_sampled && header.counts(),
        };
        if asks {
            self.asked_bytes += u64::from(size);
            self.asked.push_back(timed);
        }
        if timed.is_measured && !self.task.options.no_acks {
            self.unreceipted.push_back(timed);
        }
        let totals = &mut self.recorder.totals;
        totals.all_messages += 1;
        if header.counts() {
            totals.count(size, sent_ns);
            if is_open && !had_room {
                totals.window_full += 1;
            } else if is_open && sent_ns - intended_ns > LATE_NS {
                totals.late += 1;
            }
        }
        self.next_size = self.course.draw();
    }

    /// True when the batch is to leave now.
    #[inline]
    fn may_leave(&self, halt: Halt) -> bool {
        let is_asked = match self.task.options.batch {
            Batch::Auto => true,
            Batch::Count(count) => self.outgoing.frames() >= count || self.is_blocked,
        };
        self.outgoing.frames() > 0 && (is_asked || !matches!(halt, Halt::NotDue(_)))
    }

    /// Hands over as much as the connection takes.
    #[inline]
    fn hand_over(&mut self) -> Result<(), Failure> {
        self.is_blocked = false;
        while self.outgoing.frames() > 0 {
            match self.stream.write(self.outgoing.rest()) {
                Ok(0) => return Err(Failure::closed()),
                Ok(count) => self.outgoing.left(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_blocked = true;
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the connection takes more, or something comes back.
    fn wait_for_room(&mut self) -> Result<(), Failure> {
        let begun_ns = now_ns();
        let waiter = match &mut self.both {
            Some(waiter) => waiter,
            empty => {
                let mut waiter = Waiter::new(self.task.options.wait.0, Trigger::Level, 1)?;
                let source = self.stream.source();
                let source = source.ok_or(io::Error::from(io::ErrorKind::Unsupported))?;
                waiter.add(source, 0, Interest::Both)?;
                empty.insert(waiter)
            }
        };
        let ready = waiter.wait(LOOK)?;
        let is_writable = ready > 0 && waiter.ready(0).writable;
        let now = now_ns();
        self.recorder.totals.idle_ns += (now - begun_ns) as u64;
        if is_writable {
            self.heard_ns = now;
        }
        self.take(Duration::ZERO)?;
        self.expect_life(now)
    }

    /// Waits until something comes back: the window is full.
    fn wait_for_answers(&mut self) -> Result<(), Failure> {
        let begun_ns = now_ns();
        self.take(LOOK)?;
        let now = now_ns();
        self.full_ns = now;
        let totals = &mut self.recorder.totals;
        // In request and response waiting for the answer is the plan, not a backlog.
        if !self.is_rr {
            let waited_ns = (now - begun_ns) as u64;
            totals.backlog_ns += waited_ns;
            totals.idle_ns += waited_ns;
            totals.backlog_events += 1;
        }
        self.expect_life(now)
    }

    /// Waits until a message is due, and takes what comes back meanwhile.
    fn wait_until(&mut self, at_ns: i64) -> Result<(), Failure> {
        let left_ns = at_ns - now_ns();
        if left_ns <= SPIN_NS {
            self.take(Duration::ZERO)?;
            return Ok(());
        }
        let bound = Duration::from_nanos((left_ns - SPIN_NS / 2) as u64).min(LOOK);
        if self.stream.source().is_none() {
            self.take(bound)?;
        } else if self.stream.buffered() > 0 || self.is_readable_within(bound)? {
            self.take(Duration::ZERO)?;
        }
        self.expect_life(now_ns())
    }

    fn is_readable_within(&mut self, bound: Duration) -> io::Result<bool> {
        let waiter = match &mut self.readable {
            Some(waiter) => waiter,
            empty => {
                let mut waiter = Waiter::new(self.task.options.wait.0, Trigger::Level, 1)?;
                let source = self.stream.source();
                let source = source.ok_or(io::Error::from(io::ErrorKind::Unsupported))?;
                waiter.add(source, 0, Interest::Read)?;
                empty.insert(waiter)
            }
        };
        Ok(waiter.wait(bound)? > 0)
    }

    /// Refuses to wait any longer for a far end that has been silent for too long.
    fn expect_life(&mut self, now: i64) -> Result<(), Failure> {
        let expects = !self.asked.is_empty()
            || self.is_blocked
            || (!self.task.options.no_acks && self.window.messages() > 0);
        if !expects {
            self.heard_ns = now;
        }
        match now - self.heard_ns >= self.course.timeout_ns {
            true => Err(Failure::new(
                FailureKind::Silent,
                "the far end was silent for too long",
            )),
            false => Ok(()),
        }
    }

    /// Takes what came back, waiting up to `bound` for it; false when nothing came.
    #[inline]
    fn take(&mut self, bound: Duration) -> Result<bool, Failure> {
        self.stream.set_read_bound(bound)?;
        match self.stream.read(&mut self.back) {
            Ok(0) => Err(Failure::closed()),
            Ok(count) => {
                self.came_back(count)?;
                Ok(true)
            }
            Err(error) if is_silence(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Understands the first `count` bytes of what came back.
    #[inline]
    fn came_back(&mut self, count: usize) -> Result<(), Failure> {
        let now = now_ns();
        self.heard_ns = now;
        let back = std::mem::take(&mut self.back);
        let mut rest = &back[..count];
        let outcome = loop {
            match self.reader.next(&mut rest, |_| {}) {
                Ok(Some(header)) => {
                    if let Err(failure) = self.understand(&header, now) {
                        break Err(failure);
                    }
                }
                Ok(None) => break Ok(()),
                Err(bad) => break Err(bad.into()),
            }
        };
        self.back = back;
        outcome
    }

    #[inline]
    fn understand(&mut self, header: &Header, now: i64) -> Result<(), Failure> {
        let unasked = || {
            Failure::new(
                FailureKind::Foreign,
                "an answer arrived that belongs to no request",
            )
        };
        if header.kind == FrameKind::Receipt {
            let known = match self.is_rr {
                // Here answers make room; receipts are only timed.
                true => header.number <= self.course.number,
                false => self.window.taken(header.number, header.stamp),
            };
            if !known {
                return Err(unasked());
            }
            while let Some(timed) = self.unreceipted.front()
                && timed.number < header.number
            {
                self.recorder.receipt(now - timed.sent_ns);
                self.unreceipted.pop_front();
            }
            return Ok(());
        }
        let asked = self.asked.pop_front().ok_or_else(unasked)?;
        let fits = asked.number == header.number && asked.bytes == header.length;
        if !fits || (self.is_rr && !self.window.came_back(u64::from(asked.bytes))) {
            return Err(unasked());
        }
        self.asked_bytes -= u64::from(asked.bytes);
        self.recorder.totals.answers += 1;
        if asked.is_measured {
            self.recorder
                .answered(now - asked.intended_ns, now - asked.sent_ns);
        }
        Ok(())
    }

    /// Says that nothing more comes, and waits for what is under way, a bounded time.
    fn drain(&mut self) -> Result<(), Failure> {
        self.stream.shutdown(Shutdown::Write)?;
        let begun_ns = now_ns();
        self.heard_ns = begun_ns;
        loop {
            match self.take(LOOK) {
                Ok(_) => {}
                // The far end has read everything, and hangs up.
                Err(failure) if failure.kind == FailureKind::Closed => break,
                Err(failure) => return Err(failure),
            }
            let now = now_ns();
            self.recorder.report_when_due(now);
            let most_ns = match self.course.is_stopped() {
                true => STOP_GRACE_NS,
                false => DRAIN_NS,
            };
            if now - self.heard_ns >= self.course.timeout_ns || now - begun_ns >= most_ns {
                return Err(self.undrained());
            }
        }
        let receipts_missing = !self.task.options.no_acks && self.unreceipted_at_end() > 0;
        match receipts_missing || !self.asked.is_empty() {
            true => Err(Failure::closed()),
            false => Ok(()),
        }
    }

    fn undrained(&self) -> Failure {
        let left = self.window.messages();
        Failure::new(
            FailureKind::Undrained,
            format!("the backlog did not drain: {left} messages were still under way"),
        )
    }

    /// Messages without a receipt or an answer.
    fn unreceipted_at_end(&self) -> u64 {
        match (self.is_rr, self.task.options.no_acks) {
            (false, true) => 0,
            _ => self.window.messages(),
        }
    }

    fn finish(mut self, failure: Option<Failure>) {
        let (peak_bytes, peak_messages) = self.window.peak();
        let unacknowledged = self.unreceipted_at_end();
        let is_known = self.window_is_known();
        let totals = &mut self.recorder.totals;
        if is_known {
            totals.backlog_bytes = self.window.bytes();
            totals.backlog_peak_bytes = peak_bytes;
            totals.backlog_peak_messages = peak_messages;
        }
        let unanswered = self.asked.len() as u64;
        let unstarted = self.course.unstarted();
        let reached_ns = self.course.reached_ns(totals.last_ns);
        // Closed before the numbers are handed over, so that their reader finds the far end ended.
        drop(self.stream);
        self.recorder.finish(failure, |finished| {
            finished.unacknowledged = unacknowledged;
            finished.unanswered = unanswered;
            finished.unstarted = unstarted;
            finished.reached_ns = reached_ns;
        });
    }

    /// True when something tells how much is under way.
    fn window_is_known(&self) -> bool {
        self.is_rr || !self.task.options.no_acks
    }
}

/// Makes the connection wait as the options say.
fn prepare(task: &Task, stream: &mut dyn Stream) -> io::Result<()> {
    let wait = task.options.wait.0;
    stream.set_wait(match (wait, stream.source().is_some()) {
        (Wait::Epoll, false) => Wait::Block,
        (wait, _) => wait,
    })?;
    match task.options.transport.writes_in_parts() {
        true => stream.set_write_bound(Duration::ZERO),
        false => stream.set_write_bound(Duration::from_nanos(task.options.timeout.0)),
    }
}
