//! Sending with a connection for each message.
//!
//! ```text
//! connect, ticket, message ─► accept, ticket, message, answer ─► answer, hang up
//! ```
//!
//! The latency begins before the call: it holds the connection's set-up.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::{Listener, Stream};
use sokudo_workload::link::{CallError, Caller, Link, admit, show_ticket};
use sokudo_workload::patience::sleep_until_or_stop;

use super::client::{CHUNK_BYTES, LOOK};
use super::course::{BusCourse, Next, Task, started_late, wait_for_start};
use super::protocol::{Agreed, BusReader, FrameKind, FrameWay, HEADER_BYTES, Header};
use super::record::{End, Failure, FailureKind, Recorder, Report};
use super::server::{Answers, BusReceiver, count, hang_up, prepare, silent};

/// Longest wait for one connection.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// A caller that is silent for longer is hung up on.
const CALLER_BOUND_NS: i64 = 5_000_000_000;
/// Failed messages in a row after which the far end is given up.
const MOST_FAILURES: u32 = 10;

/// Sends one message per connection from `at_ns` on, until time, count or stop.
pub(crate) fn send(
    task: &Task,
    ticket: u64,
    caller: &Caller,
    at_ns: i64,
    reports: &SyncSender<Report>,
) {
    precise_timers();
    let started = wait_for_start(task, at_ns);
    let interval_ns = task.options.interval.0;
    let mut recorder = Recorder::new(task.flow, End::Sending, interval_ns, reports.clone());
    let mut course = BusCourse::new(task, started.unwrap_or(at_ns));
    recorder.start_late_ns = started_late(task, started, at_ns);
    let mut calls = Calls {
        task,
        ticket,
        caller,
        out: vec![0; task.options.size.max as usize],
        back: vec![0; task.options.size.max as usize + HEADER_BYTES],
        made: 0,
        failed: 0,
    };
    let failure = match started {
        Some(_) => calls.carry(&mut course, &mut recorder),
        None => None,
    };
    recorder.finish(failure, |finished| {
        finished.connections = calls.made;
        finished.unanswered = calls.failed;
        finished.unacknowledged = calls.failed;
        finished.unstarted = course.unstarted();
        finished.reached_ns = course.reached_ns(finished.totals.last_ns);
    });
}

struct Calls<'t> {
    task: &'t Task,
    ticket: u64,
    caller: &'t Caller,
    out: Vec<u8>,
    back: Vec<u8>,
    made: u64,
    failed: u64,
}

impl Calls<'_> {
    /// The first failure of all, when there was one.
    fn carry(&mut self, course: &mut BusCourse, recorder: &mut Recorder) -> Option<Failure> {
        let mut first = None;
        let mut in_a_row = 0;
        loop {
            let now = now_ns();
            recorder.report_when_due(now);
            let intended_ns = match course.next(now) {
                Next::Now(intended_ns) => intended_ns,
                Next::At(at_ns) => {
                    // A stop is noticed by the next look at the course.
                    let _ = sleep_until_or_stop(at_ns, &self.task.stop);
                    continue;
                }
                Next::Over => return first,
            };
            let size = course.draw();
            let is_sampled = course.is_sampled();
            let message = course.leaves(intended_ns, size, true);
            let totals = &mut recorder.totals;
            totals.all_messages += 1;
            if message.counts() {
                totals.count(size, now);
            }
            match self.exchange(&message, course) {
                Ok(answered_ns) => {
                    in_a_row = 0;
                    recorder.totals.answers += 1;
                    if is_sampled && message.counts() {
                        recorder.answered(answered_ns - intended_ns, answered_ns - now);
                    }
                }
                Err(failure) => {
                    in_a_row += 1;
                    self.failed += 1;
                    first.get_or_insert(failure);
                    if in_a_row >= MOST_FAILURES {
                        return first;
                    }
                }
            }
        }
    }

    /// One message over a connection of its own; when its answer was whole.
    fn exchange(&mut self, message: &Header, course: &BusCourse) -> Result<i64, Failure> {
        let called = self.caller.call(CONNECT_BOUND).map_err(not_called)?;
        self.made += 1;
        let mut link = called.link;
        show_ticket(&mut link, self.ticket)?;
        let Link::Stream(mut stream) = link else {
            return Err(Failure::new(
                FailureKind::Other,
                "datagrams have no connection",
            ));
        };
        stream.set_wait(self.task.options.wait.0)?;
        stream.set_write_bound(Duration::from_nanos(self.task.options.timeout.0))?;
        stream.set_read_bound(LOOK)?;
        let size = message.length as usize;
        message.write(&mut self.out);
        stream.write_all(&self.out[..size])?;
        let answered_ns = self.wait_for_answer(&mut *stream, message, course)?;
        hang_up(&mut *stream, true);
        Ok(answered_ns)
    }

    fn wait_for_answer(
        &mut self,
        stream: &mut dyn Stream,
        message: &Header,
        course: &BusCourse,
    ) -> Result<i64, Failure> {
        let begun_ns = now_ns();
        let mut reader = BusReader::new(Agreed {
            way: FrameWay::Back,
            min_bytes: message.length,
            max_bytes: message.length,
        });
        loop {
            let count = match silent(stream.read(&mut self.back))? {
                Some(0) => return Err(Failure::closed()),
                Some(count) => count,
                None => {
                    let silent_ns = now_ns() - begun_ns;
                    if silent_ns >= course.timeout_ns || course.is_stopped() {
                        return Err(Failure::new(FailureKind::Silent, "no answer came in time"));
                    }
                    continue;
                }
            };
            let mut rest = &self.back[..count];
            while let Some(header) = reader.next(&mut rest, |_| {})? {
                if header.kind == FrameKind::Response && header.number == message.number {
                    return Ok(now_ns());
                }
            }
        }
    }
}

fn not_called(error: CallError) -> Failure {
    match error.is_ports_exhausted() {
        true => Failure::new(
            FailureKind::Other,
            "no local port is left for another connection",
        ),
        false => Failure::new(FailureKind::Closed, error.to_string()),
    }
}

/// Takes callers of one flow, one after the other, until it is to end.
pub(crate) fn receive(flow: u32, ticket: u64, listener: &Listener, shared: &BusReceiver) {
    precise_timers();
    let mut recorder = shared.recorder(flow, End::Receiving);
    let mut answers = Answers::new(&shared.options, shared.purse());
    let mut chunk = vec![0; CHUNK_BYTES];
    let (mut strangers, mut connections) = (0, 0);
    let mut failure = None;
    while shared.goes_on() {
        let begun_ns = now_ns();
        let accepted = listener.accept(LOOK);
        recorder.totals.idle_ns += (now_ns() - begun_ns) as u64;
        recorder.report_when_due(now_ns());
        let incoming = match accepted {
            Ok(Some(incoming)) => incoming,
            Ok(None) => continue,
            Err(error) => {
                failure = Some(Failure::new(FailureKind::Other, error.to_string()));
                break;
            }
        };
        let Ok(Link::Stream(mut stream)) = admit(incoming, ticket) else {
            strangers += 1;
            continue;
        };
        connections += 1;
        let served = serve(
            &mut *stream,
            &mut chunk,
            &mut answers,
            &mut recorder,
            shared,
        );
        hang_up(&mut *stream, served.is_ok());
        if shared.is_over() {
            failure = served.err();
            break;
        }
        // The calling end says what became of its connection.
        strangers += u64::from(served.is_err_and(|failure| failure.kind == FailureKind::Foreign));
    }
    recorder.finish(failure, |finished| {
        finished.connections = connections;
        finished.strangers = strangers;
    });
}

/// One caller: its message, and the answer.
fn serve(
    stream: &mut dyn Stream,
    chunk: &mut [u8],
    answers: &mut Answers,
    recorder: &mut Recorder,
    shared: &BusReceiver,
) -> Result<(), Failure> {
    prepare(stream, &shared.options)?;
    stream.set_read_bound(LOOK)?;
    let give_up_ns = now_ns() + CALLER_BOUND_NS;
    let mut reader = BusReader::new(shared.agreed());
    while shared.goes_on() && now_ns() < give_up_ns {
        let count_bytes = match silent(stream.read(chunk))? {
            Some(0) => return Ok(()),
            Some(count) => count,
            None => continue,
        };
        let now = now_ns();
        let mut rest = &chunk[..count_bytes];
        while let Some(header) = reader.next(&mut rest, |_| {})? {
            count(recorder, &header, now);
            recorder.totals.answers += u64::from(answers.take(&header)?);
        }
        if answers.is_due() {
            answers.send(stream)?;
        }
    }
    Ok(())
}
