//! The asking end: one thread per flow, which waits for one connection in its own read, or for
//! many in an event loop ([`super::many`]).

use std::io;
use std::sync::mpsc::SyncSender;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::Wait;
use sokudo_workload::exchange::{AskPlan, Course, Details, LOOK, Next, Report, measured};
use sokudo_workload::link::{Link, Solo, is_silence};
use sokudo_workload::meet::Dialled;

use super::many;
use super::options::Sizes;
use super::protocol::{Agreed, MessageKind, MessageReader};

/// Error about an answer whose number no request had.
pub(crate) const UNASKED: &str = "an answer arrived that belongs to no request";
/// Bytes taken from a stream at once.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;
/// Byte that fills a message.
const FILLER: u8 = 1;

/// Task of one asking thread.
pub struct Task {
    /// Rate, duration and count.
    pub plan: AskPlan,
    /// The flow's secret number.
    pub ticket: u64,
    /// Sizes of messages.
    pub sizes: Sizes,
    /// Requests that may be unanswered at a time, per connection.
    pub window: u32,
    /// Way of waiting.
    pub wait: Wait,
    /// True when answers begin to come while their request still leaves.
    pub duplex: bool,
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
            &task.plan,
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
    measured(&task.plan, at_ns, reports, ready, many::Loop::run);
}

/// Room for a message, whose memory is there: what was never written to would be found page by page while
/// it is sent for the first time.
pub(crate) fn room_for(bytes: u32) -> Vec<u8> {
    vec![FILLER; bytes as usize]
}

/// Shape of a flow's messages in one direction.
pub(crate) fn agreed(kind: MessageKind, ticket: u64, sizes: Sizes) -> Agreed {
    let length = match kind {
        MessageKind::Request => sizes.request,
        MessageKind::Response => sizes.response,
    };
    Agreed {
        kind,
        ticket,
        length,
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
            request: agreed(MessageKind::Request, task.ticket, task.sizes),
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
                false => {
                    let lost = || "a datagram or its answer was lost".into();
                    course.recorder.failed(intended_ns, lost);
                    course.may_go_on(now)?;
                }
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
    reader: MessageReader,
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
        let agreed = agreed(MessageKind::Response, task.ticket, task.sizes);
        // A longer message than agreed on must be seen to be longer.
        let room = (task.sizes.response as usize + 1).min(CHUNK_BYTES);
        Self {
            agreed,
            reader: MessageReader::new(agreed),
            buffer: vec![0; room],
            is_stream: true,
        }
    }

    /// The next answer is the first one of a fresh connection.
    pub(crate) fn begin_at(&mut self, sequence: u64) {
        self.reader = MessageReader::starting_at(self.agreed, sequence);
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
