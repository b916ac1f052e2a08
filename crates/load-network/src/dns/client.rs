//! One asking thread: an event loop over its sockets.
//!
//! ```text
//! schedule ──due──► lane with room ──query──► slots, by number ──response──► recorder
//!                       ▲                                           │
//!                       └─────────────── room again ◄───────────────┘
//! ```
//!
//! Queries that are due together leave each lane in one system call, and responses come in likewise.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_model::Refusal;
use sokudo_net::clock::now_ns;
use sokudo_net::dns;
use sokudo_net::wait::{Interest, Wait, Waiter};
use sokudo_workload::exchange::{AskPlan, Course, Next, Report, measured};

use super::dial::{Dialler, Made};
use super::queries::QuerySet;
use super::record::ResponseDetails;
use super::socket::{CHUNK_BYTES, Carrier, Handed, Lane, Room, Sizes, Slots};
use crate::rr::many::waiter;

/// Time between two looks for responses that do not come, and the rest of a socket on which a send
/// failed.
const LOOK_NS: i64 = 10_000_000;
/// Most receives from one socket in a row: one that never runs dry must not keep the thread from its
/// others, or from its end.
const MOST_RECEIVES: usize = 64;
/// Longest wait while connections are being made.
const DIALLING: Duration = Duration::from_millis(2);

const NO_RESPONSE: &str = "no response came in time";
const NOBODY: &str = "nothing listens on the server's port";
const ENDED: &str = "the server closed the connection";

type DnsCourse = Course<ResponseDetails>;

/// Task of one asking thread.
pub(super) struct Task {
    pub(super) plan: AskPlan,
    pub(super) server: SocketAddr,
    pub(super) queries: Arc<QuerySet>,
    pub(super) sizes: Sizes,
    /// Place in the load of its first query, and the distance to its next: no two threads ask the
    /// same one.
    pub(super) sequence: (u64, u64),
    pub(super) lanes: Vec<Lane>,
}

/// Asks from `at_ns` on, until time, count or stop; reports to `reports`.
pub(super) fn run(task: Task, at_ns: i64, reports: &SyncSender<Report<ResponseDetails>>) {
    let Task {
        plan,
        server,
        queries,
        sizes,
        sequence,
        lanes,
    } = task;
    let timeout = Duration::from_nanos(plan.timeout_ns.max(1).unsigned_abs());
    let ready = || {
        let mut asker = Asker {
            waiter: waiter(Wait::Block, lanes.len())?,
            room: (0..lanes.len()).collect(),
            dirty: Vec::with_capacity(lanes.len()),
            resting: Vec::with_capacity(lanes.len()),
            chunk: vec![0; CHUNK_BYTES],
            expected: Vec::with_capacity(sizes.query_bytes),
            under_way: 0,
            room_since_ns: i64::MIN,
            dialler: None,
            redial: (server, timeout),
            queries,
            sizes,
            sequence,
            lanes,
        };
        asker.watch_all()?;
        Ok(asker)
    };
    measured(&plan, at_ns, reports, ready, Asker::run);
}

/// One thread's sockets and what is under way.
struct Asker {
    queries: Arc<QuerySet>,
    sizes: Sizes,
    sequence: (u64, u64),
    lanes: Vec<Lane>,
    waiter: Waiter,
    room: Room,
    /// Lanes with queries that the kernel does not have yet.
    dirty: Vec<usize>,
    /// Lanes on which nothing is sent until the next look.
    resting: Vec<usize>,
    chunk: Vec<u8>,
    expected: Vec<u8>,
    under_way: u64,
    /// Last moment at which room for a query came back, monotonic nanoseconds.
    room_since_ns: i64,
    dialler: Option<Dialler>,
    redial: (SocketAddr, Duration),
}

impl Asker {
    fn watch_all(&mut self) -> io::Result<()> {
        for (token, lane) in self.lanes.iter().enumerate() {
            if let Some(source) = lane.source() {
                self.waiter.add(source, token as u64, Interest::Read)?;
            }
        }
        Ok(())
    }

    fn run(&mut self, course: &mut DnsCourse) {
        let mut look_at_ns = now_ns() + LOOK_NS;
        loop {
            let wake_ns = self.ask(course, now_ns());
            self.flush_dirty(course);
            if wake_ns.is_none() && self.under_way == 0 {
                return;
            }
            if let Err(error) = self.listen(course, wake_ns) {
                course.lose(now_ns(), &error);
                return;
            }
            let now = now_ns();
            if now >= look_at_ns {
                look_at_ns = now + LOOK_NS;
                self.look(course, now);
            }
            if now >= course.recorder.report_at_ns() {
                course.recorder.report(now);
            }
        }
    }

    /// Writes what is due; returns when to look again, `None` when nothing more is to be sent.
    fn ask(&mut self, course: &mut DnsCourse, now: i64) -> Option<i64> {
        loop {
            match course.next(now, self.under_way) {
                Next::Over => return None,
                Next::At(at_ns) => return Some(at_ns),
                Next::Now(intended_ns) => {
                    let Some(index) = self.with_room() else {
                        return Some(i64::MAX);
                    };
                    course.schedule.started();
                    self.write(course, index, intended_ns, now);
                }
            }
        }
    }

    /// The next lane that may send.
    fn with_room(&mut self) -> Option<usize> {
        while let Some(index) = self.room.pop_front() {
            let lane = &mut self.lanes[index];
            lane.is_listed = false;
            if lane.has_room() {
                return Some(index);
            }
        }
        None
    }

    fn write(&mut self, course: &mut DnsCourse, index: usize, intended_ns: i64, now: i64) {
        let (sequence, step) = self.sequence;
        self.sequence.0 += step;
        let (lane, queries) = (&mut self.lanes[index], &self.queries);
        let number = lane.slots.begin(sequence, intended_ns, now);
        self.under_way += 1;
        let had_room = intended_ns >= self.room_since_ns;
        course.sent(intended_ns, now, had_room);
        let put = |room: &mut [u8]| queries.write(number, sequence, room);
        let is_full = match &mut lane.carrier {
            Carrier::Udp(datagrams) => datagrams.put(put),
            Carrier::Tcp(Some(stream)) => {
                stream.put(self.sizes.query_bytes, put);
                false
            }
            Carrier::Tcp(None) => false,
        };
        if !lane.is_dirty {
            lane.is_dirty = true;
            self.dirty.push(index);
        }
        if is_full {
            self.flush(course, index);
        }
        self.list(index);
    }

    /// Puts a lane with room at the end of the list.
    #[inline]
    fn list(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        if !lane.is_listed && lane.has_room() {
            lane.is_listed = true;
            self.room.push_back(index);
        }
    }

    /// The same where a lane may have got its room back, however: queries that were due before had none.
    fn list_again(&mut self, index: usize, now: i64) {
        let was_full = self.room.is_empty();
        self.list(index);
        if was_full && !self.room.is_empty() {
            self.room_since_ns = now;
        }
    }

    fn flush_dirty(&mut self, course: &mut DnsCourse) {
        while let Some(index) = self.dirty.pop() {
            self.lanes[index].is_dirty = false;
            self.flush(course, index);
        }
    }

    /// Hands what waits on a lane to the kernel.
    fn flush(&mut self, course: &mut DnsCourse, index: usize) {
        let lane = &mut self.lanes[index];
        match &mut lane.carrier {
            Carrier::Udp(datagrams) => match datagrams.flush() {
                Handed::Fine => {}
                Handed::Unreachable => self.nobody_there(course, index),
                Handed::Refused(number) => self.refused(course, index, number),
            },
            Carrier::Tcp(Some(stream)) => match stream.flush() {
                Ok(is_empty) => self.watch_for_room(index, is_empty),
                Err(_) => self.hang_up(course, index),
            },
            Carrier::Tcp(None) => {}
        }
    }

    /// Watches for room to write as long as something waits to be written.
    #[inline]
    fn watch_for_room(&mut self, index: usize, is_empty: bool) {
        let Carrier::Tcp(Some(stream)) = &mut self.lanes[index].carrier else {
            return;
        };
        if stream.waits_for_room != is_empty {
            return;
        }
        stream.waits_for_room = !is_empty;
        let interest = match is_empty {
            true => Interest::Read,
            false => Interest::Both,
        };
        if let Some(source) = self.lanes[index].source() {
            // A source that cannot be watched is found by its timeout.
            let _ = self.waiter.change(source, index as u64, interest);
        }
    }

    /// Waits for responses until `wake_ns` at the latest, and takes them.
    fn listen(&mut self, course: &mut DnsCourse, wake_ns: Option<i64>) -> io::Result<()> {
        let mut bound = course.wait_bound(now_ns(), wake_ns);
        if self.dialler.as_ref().is_some_and(Dialler::is_busy) {
            bound = bound.min(DIALLING);
        }
        let ready = self.waiter.wait(bound)?;
        for at in 0..ready {
            let event = self.waiter.ready(at);
            let index = event.token as usize;
            if event.writable && matches!(self.lanes[index].carrier, Carrier::Tcp(_)) {
                self.flush(course, index);
            }
            self.take(course, index);
        }
        while let Some((index, made)) = self.dialler.as_mut().and_then(Dialler::next) {
            self.connected(course, index, made);
        }
        Ok(())
    }

    /// Takes the responses that a lane has; the waiter tells of those that are left.
    fn take(&mut self, course: &mut DnsCourse, index: usize) {
        let Self {
            lanes,
            queries,
            chunk,
            expected,
            ..
        } = self;
        let Lane { carrier, slots, .. } = &mut lanes[index];
        let before = slots.live();
        let mut ended = false;
        let mut is_unreachable = false;
        for _ in 0..MOST_RECEIVES {
            match carrier {
                Carrier::Udp(datagrams) => {
                    let refusals = datagrams.receiver.refusals();
                    // What a socket cannot receive is found by its timeout.
                    let came = datagrams.receiver.receive_ready().unwrap_or(0);
                    is_unreachable |= datagrams.receiver.refusals() > refusals;
                    let now = now_ns();
                    let mut settle = Settle {
                        queries,
                        slots,
                        expected,
                        course,
                        now,
                    };
                    datagrams
                        .receiver
                        .for_each(|datagram| settle.message(datagram.bytes));
                    if came < datagrams.batch {
                        break;
                    }
                }
                Carrier::Tcp(Some(stream)) => {
                    let now = now_ns();
                    let mut settle = Settle {
                        queries,
                        slots,
                        expected,
                        course,
                        now,
                    };
                    match stream.take(chunk, |message| settle.message(message)) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(_) => {
                            ended = true;
                            break;
                        }
                    }
                }
                Carrier::Tcp(None) => break,
            }
        }
        let answered = before - slots.live();
        self.under_way -= u64::from(answered);
        if ended {
            self.hang_up(course, index);
        } else if is_unreachable {
            self.nobody_there(course, index);
        } else {
            self.list_again(index, now_ns());
        }
    }

    /// The server's host says that nothing listens: what is under way on the lane stays unanswered.
    #[cold]
    fn nobody_there(&mut self, course: &mut DnsCourse, index: usize) {
        if let Some(details) = course.recorder.details(now_ns()) {
            details.unreachable += 1;
        }
        self.fail_all(course, index, || NOBODY.into());
        self.rest(index);
    }

    /// The kernel did not take what was to leave.
    #[cold]
    fn refused(&mut self, course: &mut DnsCourse, index: usize, number: i32) {
        let why = || match number {
            0 => "this host had no room for further datagrams".into(),
            number => format!(
                "this host cannot send: {}",
                io::Error::from_raw_os_error(number)
            ),
        };
        self.fail_all(course, index, why);
        self.rest(index);
    }

    /// The connection is gone: what was under way on it has failed, and another one is made.
    #[cold]
    fn hang_up(&mut self, course: &mut DnsCourse, index: usize) {
        if let Some(source) = self.lanes[index].source() {
            // The source is closed with its connection anyway.
            let _ = self.waiter.remove(source);
        }
        self.lanes[index].carrier = Carrier::Tcp(None);
        self.fail_all(course, index, || ENDED.into());
        self.dial(course, index);
    }

    fn dial(&mut self, course: &mut DnsCourse, index: usize) {
        if self.dialler.is_none() {
            let (server, timeout) = self.redial;
            match Dialler::start(server, timeout) {
                Ok(dialler) => self.dialler = Some(dialler),
                Err(Refusal { says, .. }) => {
                    return course.recorder.failed(now_ns(), || english(&says));
                }
            }
        }
        if let Some(dialler) = &mut self.dialler {
            dialler.want(index);
        }
    }

    /// A connection was made again, or could not be: then a query could not be sent.
    fn connected(&mut self, course: &mut DnsCourse, index: usize, made: Made) {
        let now = now_ns();
        match made {
            Ok((connection, took_ns)) => {
                let lane = Lane::tcp(connection, self.sizes);
                self.lanes[index].carrier = lane.carrier;
                if let Some(source) = self.lanes[index].source()
                    && let Err(error) = self.waiter.add(source, index as u64, Interest::Read)
                {
                    return course.lose(now, &error);
                }
                if let Some(details) = course.recorder.details(now) {
                    details.made_connections += 1;
                    details.connecting.record(Some(took_ns), None);
                }
                self.list_again(index, now);
            }
            Err(error) => {
                if error.kind() == io::ErrorKind::AddrNotAvailable
                    && let Some(details) = course.recorder.details(now)
                {
                    details.ports_exhausted += 1;
                }
                let why = || format!("no connection to the server: {error}");
                course.recorder.failed(now, why);
                self.dial(course, index);
            }
        }
    }

    /// Nothing is sent on the lane until the next look.
    fn rest(&mut self, index: usize) {
        // A lane that counts as listed is not put into the list.
        self.room.retain(|other| *other != index);
        self.lanes[index].is_listed = true;
        if !self.resting.contains(&index) {
            self.resting.push(index);
        }
    }

    /// Everything under way on a lane has failed.
    fn fail_all(&mut self, course: &mut DnsCourse, index: usize, why: impl Fn() -> String) {
        let under_way = &mut self.under_way;
        self.lanes[index].slots.end_where(|slot| {
            *under_way -= 1;
            course.recorder.failed(slot.intended_ns, &why);
            true
        });
    }

    /// Gives up queries without a response in time, and lets resting lanes send again.
    fn look(&mut self, course: &mut DnsCourse, now: i64) {
        for index in 0..self.lanes.len() {
            let under_way = &mut self.under_way;
            self.lanes[index].slots.end_where(|slot| {
                let is_overdue = course.is_overdue(slot.sent_ns, now);
                if is_overdue {
                    *under_way -= 1;
                    course
                        .recorder
                        .failed(slot.intended_ns, || NO_RESPONSE.into());
                }
                is_overdue
            });
            self.list_again(index, now);
        }
        while let Some(index) = self.resting.pop() {
            self.lanes[index].is_listed = false;
            self.list_again(index, now);
        }
    }
}

/// Queries under way, and the recorder, while received messages are matched with them.
struct Settle<'a> {
    queries: &'a QuerySet,
    slots: &'a mut Slots,
    expected: &'a mut Vec<u8>,
    course: &'a mut DnsCourse,
    now: i64,
}

impl Settle<'_> {
    /// Records the response to a query under way; anything else is counted as unexpected.
    #[inline]
    fn message(&mut self, message: &[u8]) {
        let number = message
            .get(..2)
            .map(|two| u16::from_be_bytes([two[0], two[1]]));
        let slot = number.and_then(|number| self.slots.get(number));
        let answered = slot.and_then(|slot| {
            let (sent_bytes, question) = self.queries.question(slot.sequence, self.expected);
            let response = dns::response(message, question)?;
            Some((slot, sent_bytes, response))
        });
        let Some((slot, sent_bytes, response)) = answered else {
            return self.unexpected();
        };
        self.slots.end(response.number);
        let recorder = &mut self.course.recorder;
        recorder.answered(slot.intended_ns, slot.sent_ns, self.now);
        if let Some(details) = recorder.details(slot.intended_ns) {
            details.answered(response, sent_bytes, message.len());
        }
    }

    #[cold]
    fn unexpected(&mut self) {
        if let Some(details) = self.course.recorder.details(self.now) {
            details.unexpected += 1;
        }
    }
}
