//! Sending with a connection for each message.
//!
//! ```text
//! connect, ticket, message ─► accept, ticket, message, answer ─► answer, hang up
//! ```
//!
//! The latency begins before the call: it holds the connection's set-up.

use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::{Listener, Stream};
use sokudo_workload::effort::ThreadSpent;
use sokudo_workload::link::{CallError, Caller, Link, show_ticket};
use sokudo_workload::patience::sleep_until_or_stop;
use sokudo_workload::turns::{Serve, TurnedAway, Turns};

use super::client::{CHUNK_BYTES, LOOK};
use super::course::{BusCourse, Next, Task, started_late, wait_for_start};
use super::protocol::{Agreed, BusReader, FrameKind, FrameWay, HEADER_BYTES, Header};
use super::record::{End, Failure, FailureKind, Recorder, Report};
use super::server::{Answers, BusReceiver, count, hang_up, silent};

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
    let shown = ticket.to_be_bytes();
    let turns = Turns {
        listener,
        wait: shared.options.wait.0,
        proof_bytes: shown.len(),
        is_proof: &|begun| begun.starts_with(&shown),
        stop: &shared.stop,
    };
    let mut receiving = Receiving {
        shared,
        recorder: shared.recorder(flow, End::Receiving),
        answers: Answers::new(&shared.options, shared.purse()),
        chunk: vec![0; CHUNK_BYTES],
        shown_bytes: shown.len(),
        connections: 0,
        strangers: 0,
        failure: None,
    };
    let away = turns.take(&mut receiving).unwrap_or_else(|error| {
        receiving.failure = Some(Failure::new(FailureKind::Other, error.to_string()));
        TurnedAway::default()
    });
    let (connections, strangers) = (receiving.connections, receiving.strangers);
    receiving.recorder.finish(receiving.failure, |finished| {
        finished.connections = connections;
        finished.strangers = strangers + away.strangers;
        let own = ThreadSpent {
            cpu_ns: finished.cpu_ns,
            wait_ns: finished.wait_ns,
        };
        let all = own.with(&away.others);
        (finished.cpu_ns, finished.wait_ns) = (all.cpu_ns, all.wait_ns);
    });
}

/// Takes the messages of callers that have shown the flow's ticket.
struct Receiving<'s> {
    shared: &'s BusReceiver,
    recorder: Recorder,
    answers: Answers,
    chunk: Vec<u8>,
    /// Bytes of the ticket.
    shown_bytes: usize,
    connections: u64,
    strangers: u64,
    failure: Option<Failure>,
}

impl Receiving<'_> {
    /// One caller: its message, and the answer. `begun` is what it has sent behind its ticket.
    fn one(&mut self, stream: &mut dyn Stream, begun: &[u8]) -> Result<(), Failure> {
        let give_up_ns = now_ns() + CALLER_BOUND_NS;
        let mut reader = BusReader::new(self.shared.agreed());
        self.take(&mut reader, begun)?;
        while self.shared.goes_on() && now_ns() < give_up_ns {
            if self.answers.is_due() {
                self.answers.send(stream)?;
            }
            let mut chunk = std::mem::take(&mut self.chunk);
            let read = silent(stream.read(&mut chunk));
            let taken = match read {
                Ok(Some(count)) => self.take(&mut reader, &chunk[..count]),
                _ => Ok(()),
            };
            self.chunk = chunk;
            taken?;
            if read? == Some(0) {
                break;
            }
        }
        Ok(())
    }

    /// Handles bytes as they came.
    fn take(&mut self, reader: &mut BusReader, mut bytes: &[u8]) -> Result<(), Failure> {
        let now = now_ns();
        while let Some(header) = reader.next(&mut bytes, |_| {})? {
            count(&mut self.recorder, &header, now);
            self.recorder.totals.answers += u64::from(self.answers.take(&header)?);
        }
        Ok(())
    }
}

impl Serve for Receiving<'_> {
    fn serve(&mut self, mut stream: Box<dyn Stream>, begun: &[u8]) -> ControlFlow<()> {
        self.connections += 1;
        let served = self.one(&mut *stream, &begun[self.shown_bytes..]);
        hang_up(&mut *stream, served.is_ok());
        if self.shared.is_over() {
            self.failure = served.err();
            return ControlFlow::Break(());
        }
        // The calling end says what became of its connection.
        let is_foreign = served.is_err_and(|failure| failure.kind == FailureKind::Foreign);
        self.strangers += u64::from(is_foreign);
        ControlFlow::Continue(())
    }

    fn waited(&mut self, time: Duration) {
        self.recorder.totals.idle_ns += time.as_nanos() as u64;
        self.recorder.report_when_due(now_ns());
    }
}
