//! The asking end: one thread per flow, which waits for one connection in its own read, or for
//! many in an event loop ([`super::many`]).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::urgency::First;
use sokudo_net::wait::Wait;
use sokudo_workload::effort::Effort;
use sokudo_workload::exchange::{Asked, Details, Recorder, Report, Scope};
use sokudo_workload::link::{Link, Solo, is_silence};
use sokudo_workload::meet::Dialled;
use sokudo_workload::patience::{sleep_until_or_stop, wait_for_start};
use sokudo_workload::sample::Sample;
use sokudo_workload::schedule::Schedule;

use super::many;
use super::options::Sizes;
use super::protocol::{Agreed, Kind, Reader};

/// Longest wait of one receive call: how soon a stop or a timeout is noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// What is said of an answer with a number that was not asked with.
pub(crate) const UNASKED: &str = "an answer came that nobody asked for";
/// How long answers are waited for after the operator has had enough.
const STOP_GRACE_NS: i64 = 1_000_000_000;
/// Bytes taken from a stream at once.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;
/// What a message holds where it says nothing.
const FILLER: u8 = 1;

/// What one asking thread is to do.
pub struct Task {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// The flow's secret number.
    pub ticket: u64,
    /// Sizes of messages.
    pub sizes: Sizes,
    /// Requests that may be unanswered at a time, per connection.
    pub window: u32,
    /// Requests per second; `None` = closed loop.
    pub rate_per_s: Option<f64>,
    /// Requests to be answered; `None` = until the time is over.
    pub count: Option<u64>,
    /// How long to ask, warm-up included; 0 = until the count is reached.
    pub duration_ns: u64,
    /// Part of it that does not count.
    pub warmup_ns: u64,
    /// Latest end in any case, from the start.
    pub bound_ns: u64,
    /// A request without an answer for this long has failed.
    pub timeout_ns: i64,
    /// How to wait.
    pub wait: Wait,
    /// True when answers begin to come while their request still leaves.
    pub duplex: bool,
    /// Requests whose latency is taken.
    pub sample: Sample,
    /// Round trips to hand over one by one.
    pub keep: u64,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Set when the thread must end.
    pub stop: Arc<AtomicBool>,
}

/// What all asking loops share: when to ask, when to give up, what to write down.
pub(crate) struct Course<D: Details = ()> {
    pub(crate) schedule: Schedule,
    pub(crate) recorder: Recorder<D>,
    /// End of the load.
    pub(crate) end_ns: i64,
    pub(crate) timeout_ns: i64,
    count: Option<u64>,
    stop: Arc<AtomicBool>,
    stopped_ns: Option<i64>,
    /// Until the first request has left.
    first: Option<First>,
}

/// What is to be done about the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send it; this was its intended start.
    Now(i64),
    /// Its time comes then.
    At(i64),
    /// There is none.
    Over,
}

impl<D: Details> Course<D> {
    fn new(task: &Task, start_ns: i64, reports: &SyncSender<Report<D>>) -> Self {
        let end_ns = start_ns.saturating_add_unsigned(match task.duration_ns {
            0 => task.bound_ns,
            duration => duration.min(task.bound_ns),
        });
        let schedule = Schedule::new(task.rate_per_s, start_ns, end_ns);
        let scope = Scope {
            flow: task.flow,
            count_from_ns: start_ns.saturating_add_unsigned(task.warmup_ns),
            interval_ns: task.interval_ns,
            sample: task.sample,
            keep: task.keep,
            is_open: schedule.is_open(),
        };
        let recorder = Recorder::new(scope, reports.clone());
        Self {
            schedule,
            recorder,
            end_ns,
            timeout_ns: task.timeout_ns,
            count: task.count,
            stop: Arc::clone(&task.stop),
            stopped_ns: None,
            first: None,
        }
    }

    /// A request has left.
    #[inline]
    pub(crate) fn sent(&mut self, intended_ns: i64, now: i64, had_room: bool) {
        self.first = None;
        self.recorder.sent(intended_ns, now, had_room);
    }

    /// What is to be done about the next request, when `under_way` are unanswered.
    #[inline]
    pub(crate) fn next(&self, now: i64, under_way: u64) -> Next {
        if self.stop.load(Ordering::Relaxed) {
            return Next::Over;
        }
        let enough = |count| self.recorder.counts.transactions + under_way >= count;
        if self.count.is_some_and(enough) {
            return Next::Over;
        }
        match self.schedule.next_ns(now) {
            // What is due and late is asked for all the same, but not for ever.
            Some(at_ns) if self.schedule.is_open() => match at_ns <= now {
                true if now < self.end_ns.saturating_add(self.timeout_ns) => Next::Now(at_ns),
                true => Next::Over,
                false => Next::At(at_ns),
            },
            Some(at_ns) if now < self.end_ns => Next::Now(at_ns),
            _ => Next::Over,
        }
    }

    /// True when an answer that has been missing since `sent_ns` is waited for no longer.
    pub(crate) fn is_overdue(&mut self, sent_ns: i64, now: i64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            let since_ns = *self.stopped_ns.get_or_insert(now);
            if now - since_ns >= STOP_GRACE_NS {
                return true;
            }
        }
        now - sent_ns >= self.timeout_ns
    }

    /// Sleeps until a request's time has come; false when stopped.
    pub(crate) fn sleep_until(&mut self, at_ns: i64) -> bool {
        // A report that is due meanwhile is made now: the thread has time.
        let now = now_ns();
        if at_ns >= self.recorder.report_at_ns() && now >= self.recorder.report_at_ns() {
            self.recorder.report(now);
        }
        sleep_until_or_stop(at_ns, &self.stop).is_some()
    }

    /// A connection was lost for this reason, and with it a request that was to leave then.
    fn lose(&mut self, intended_ns: i64, error: &io::Error) {
        self.recorder.counts.connections_lost += 1;
        self.recorder.failed(intended_ns, || ended(error));
    }

    /// Requests of the schedule that nobody could send, at the end: also those that would have come
    /// after the last connection broke.
    fn count_unstarted(&mut self) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let left = self.schedule.left_from(self.recorder.count_from_ns());
        let counts = &mut self.recorder.counts;
        let asked = counts.transactions + counts.errors;
        let most = self
            .count
            .map_or(u64::MAX, |count| count.saturating_sub(asked));
        counts.unstarted += left.min(most);
    }
}

/// Asks over the connections from `at_ns` on, until time, count or stop; reports to `reports`.
pub(crate) fn run(task: Task, dialled: Dialled, at_ns: i64, reports: &SyncSender<Report<()>>) {
    // The connections of some transports live no longer than their caller.
    let Dialled {
        links,
        caller: _caller,
    } = dialled;
    match <[Link; 1]>::try_from(links) {
        Ok([link]) if task.window == 1 && !task.duplex => measured(
            &task,
            at_ns,
            reports,
            || Alone::new(&task, link),
            Alone::ask,
        ),
        Ok([link]) => ask_many(&task, vec![link], at_ns, reports),
        Err(links) => ask_many(&task, links, at_ns, reports),
    }
}

fn ask_many(task: &Task, links: Vec<Link>, at_ns: i64, reports: &SyncSender<Report<()>>) {
    let ready = || many::Loop::new(task, links);
    measured(task, at_ns, reports, ready, many::Loop::run);
}

/// Runs `ask` as the body of an asking thread and hands over what came out. What it needs is made `ready`
/// before the start: at that moment others may begin on the same core.
pub(crate) fn measured<D: Details, T>(
    task: &Task,
    at_ns: i64,
    reports: &SyncSender<Report<D>>,
    ready: impl FnOnce() -> io::Result<T>,
    ask: impl FnOnce(&mut T, &mut Course<D>),
) {
    precise_timers();
    let mut course = Course::new(task, at_ns, reports);
    let mut ready = ready();
    course.first = wait_for_start(at_ns, &task.stop);
    let effort = Effort::begin();
    if course.first.is_some() {
        match &mut ready {
            Ok(ready) => ask(ready, &mut course),
            Err(error) => course.lose(now_ns(), error),
        }
        course.count_unstarted();
    }
    let now = now_ns();
    let spent = effort.spent();
    let asked = Asked {
        flow: task.flow,
        counts: course.recorder.finish(now),
        cpu_ns: spent.cpu_ns,
        wait_ns: spent.wait_ns,
        elapsed_ns: now - at_ns,
    };
    // Fails only when nobody listens any more.
    let _ = reports.send(Report::Asked(Box::new(asked)));
}

/// Room for a message, whose memory is there: what was never written to would be found page by page while
/// it is sent for the first time.
pub(crate) fn room_for(bytes: u32) -> Vec<u8> {
    vec![FILLER; bytes as usize]
}

/// What a flow's messages look like in one direction.
pub(crate) fn agreed(kind: Kind, ticket: u64, sizes: Sizes) -> Agreed {
    let length = match kind {
        Kind::Request => sizes.request,
        Kind::Response => sizes.response,
    };
    Agreed {
        kind,
        ticket,
        length,
    }
}

/// What people read about a connection that ended.
pub(crate) fn ended(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the far end closed the connection".into(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "the far end did not answer in time".into()
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the far end reset the connection".into()
        }
        _ => format!("the connection ended: {error}"),
    }
}

/// One connection, one request at a time.
struct Alone {
    link: Link,
    waiting: Solo,
    request: Agreed,
    message: Vec<u8>,
    answers: Answers,
}

impl Alone {
    fn new(task: &Task, mut link: Link) -> io::Result<Self> {
        Ok(Self {
            waiting: Solo::new(&mut link, task.wait, LOOK)?,
            request: agreed(Kind::Request, task.ticket, task.sizes),
            message: room_for(task.sizes.request),
            answers: Answers::new(task, &link),
            link,
        })
    }

    fn ask(&mut self, course: &mut Course) {
        if let Err(error) = self.ask_in_turn(course) {
            course.lose(now_ns(), &error);
        }
    }

    fn ask_in_turn(&mut self, course: &mut Course) -> io::Result<()> {
        let mut answered_ns = i64::MIN;
        let mut sequence = 0;
        let mut now = now_ns();
        loop {
            if course.recorder.is_sparse() {
                now = course.recorder.clock_ns();
            }
            let intended_ns = match course.next(now, 0) {
                Next::Now(intended_ns) => intended_ns,
                Next::At(at_ns) => {
                    course.sleep_until(at_ns);
                    now = now_ns();
                    continue;
                }
                Next::Over => {
                    course.recorder.closes();
                    return Ok(());
                }
            };
            self.request.write(sequence, &mut self.message);
            course.schedule.started();
            let had_room = intended_ns >= answered_ns;
            let sent_ns = now;
            self.link.send_all(&self.message)?;
            course.sent(intended_ns, sent_ns, had_room);
            let (link, waiting) = (&mut self.link, &mut self.waiting);
            let came = self
                .answers
                .wait_for(sequence, sent_ns, link, waiting, course)?;
            now = course.recorder.clock_ns();
            match came {
                true => course.recorder.answered(intended_ns, sent_ns, now),
                false => course
                    .recorder
                    .failed(intended_ns, || "a datagram or its answer was lost".into()),
            }
            answered_ns = now;
            sequence += 1;
            if now >= course.recorder.report_at_ns() {
                course.recorder.report(now);
                now = now_ns();
            }
        }
    }
}

/// The answers of one connection that is asked one thing at a time.
pub(crate) struct Answers {
    agreed: Agreed,
    reader: Reader,
    buffer: Vec<u8>,
    is_stream: bool,
}

impl Answers {
    fn new(task: &Task, link: &Link) -> Self {
        Self {
            is_stream: !link.is_datagram(),
            ..Self::from_stream(task)
        }
    }

    /// Answers that a stream of bytes brings.
    pub(crate) fn from_stream(task: &Task) -> Self {
        let agreed = agreed(Kind::Response, task.ticket, task.sizes);
        // A longer message than agreed on must be seen to be longer.
        let room = (task.sizes.response as usize + 1).min(CHUNK_BYTES);
        Self {
            agreed,
            reader: Reader::new(agreed),
            buffer: vec![0; room],
            is_stream: true,
        }
    }

    /// The next answer is the first one of a fresh connection.
    pub(crate) fn begin_at(&mut self, sequence: u64) {
        self.reader = Reader::starting_at(self.agreed, sequence);
    }

    /// True when the answer has just come; false when a datagram's did not come in time.
    ///
    /// Errors: the connection is of no further use.
    #[inline]
    pub(crate) fn wait_for<D: Details>(
        &mut self,
        sequence: u64,
        sent_ns: i64,
        link: &mut Link,
        waiting: &mut Solo,
        course: &mut Course<D>,
    ) -> io::Result<bool> {
        loop {
            match waiting.receive(link, &mut self.buffer) {
                Ok(0) if self.is_stream => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    if self.holds(sequence, count)? {
                        return Ok(true);
                    }
                }
                // A datagram's port may be closed for a moment only: the timeout decides.
                Err(error) if is_silence(&error) || !self.is_stream => {
                    if course.is_overdue(sent_ns, now_ns()) {
                        return match self.is_stream {
                            true => Err(io::ErrorKind::TimedOut.into()),
                            false => Ok(false),
                        };
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// True when the first `count` bytes of the buffer complete the answer to `sequence`.
    #[inline]
    fn holds(&mut self, sequence: u64, count: usize) -> io::Result<bool> {
        let bytes = &self.buffer[..count];
        if !self.is_stream {
            // Late answers and strangers' datagrams are passed over.
            return Ok(self.agreed.datagram(bytes) == Ok(sequence));
        }
        let mut found = None;
        let mut extra = false;
        let bad = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        self.reader
            .feed(bytes, |answered| {
                extra |= found.is_some();
                found = Some(answered);
            })
            .map_err(|error| bad(error.to_string()))?;
        match found {
            None => Ok(false),
            Some(answered) if answered == sequence && !extra => Ok(true),
            Some(_) => Err(bad(UNASKED.into())),
        }
    }
}
