//! Many connections on one thread, or many requests on one connection: an event loop.
//!
//! ```text
//! schedule ──due──► connection with room ──request──► slots (in order) ──answer──► recorder
//!                        ▲                                                 │
//!                        └──────────────── room again ◄────────────────────┘
//! ```

use std::collections::VecDeque;
use std::io;

use sokudo_net::clock::now_ns;
use sokudo_net::wait::{Interest, Trigger, Wait, Waiter};
use sokudo_workload::exchange::{Course, Next, ended};
use sokudo_workload::link::{Link, is_silence};

use super::client::{CHUNK_BYTES, Task, UNASKED, agreed, room_for};
use super::protocol::{Agreed, MessageKind, MessageReader};

/// Connections reported ready at once.
const EVENTS: usize = 256;
/// From so many connections on, `block` asks epoll where there is one: poll's cost grows with them.
const POLL_UP_TO: usize = 16;
/// Time between two looks for answers that do not come.
const TIMEOUT_LOOK_NS: i64 = 100_000_000;

/// A request under way.
struct Slot {
    sequence: u64,
    intended_ns: i64,
    sent_ns: i64,
}

/// One connection.
struct Connection {
    link: Link,
    reader: MessageReader,
    slots: VecDeque<Slot>,
    next_sequence: u64,
    /// Bytes of requests that the socket had no room for, from `out_at` on.
    out: Vec<u8>,
    out_at: usize,
    alive: bool,
    /// Stands in the list of connections with room.
    listed: bool,
}

pub(crate) struct Loop<'a> {
    task: &'a Task,
    request: Agreed,
    response: Agreed,
    message: Vec<u8>,
    chunk: Vec<u8>,
    connections: Vec<Connection>,
    waiter: Waiter,
    /// Connections that may send, in turn.
    room: VecDeque<usize>,
    under_way: u64,
    alive: usize,
    /// Last time at which a request found room that was not there before.
    room_since_ns: i64,
}

/// A waiter for `count` connections.
pub(crate) fn waiter(wait: Wait, count: usize) -> io::Result<Waiter> {
    if wait == Wait::Block
        && count > POLL_UP_TO
        && let Ok(waiter) = Waiter::new(Wait::Epoll, Trigger::Level, EVENTS)
    {
        return Ok(waiter);
    }
    Waiter::new(wait, Trigger::Level, EVENTS)
}

impl<'a> Loop<'a> {
    /// All of `links` are watched from now on.
    pub(crate) fn new(task: &'a Task, links: Vec<Link>) -> io::Result<Self> {
        let response = agreed(MessageKind::Response, task.ticket, task.sizes);
        let mut waiter = waiter(task.wait, links.len())?;
        let mut connections = Vec::with_capacity(links.len());
        for (token, mut link) in links.into_iter().enumerate() {
            link.never_wait()?;
            waiter.add(link.source()?, token as u64, Interest::Read)?;
            connections.push(Connection {
                link,
                reader: MessageReader::new(response),
                slots: VecDeque::with_capacity(task.window as usize),
                next_sequence: 0,
                out: Vec::new(),
                out_at: 0,
                alive: true,
                listed: true,
            });
        }
        Ok(Self {
            request: agreed(MessageKind::Request, task.ticket, task.sizes),
            response,
            message: room_for(task.sizes.request),
            chunk: vec![0; CHUNK_BYTES],
            waiter,
            room: (0..connections.len()).collect(),
            under_way: 0,
            alive: connections.len(),
            room_since_ns: i64::MIN,
            connections,
            task,
        })
    }

    /// Asks over all links until time, count or stop.
    pub(crate) fn run(&mut self, course: &mut Course) {
        let mut timeouts_at_ns = now_ns() + TIMEOUT_LOOK_NS;
        loop {
            let now = now_ns();
            let wake_ns = self.ask(course, now);
            if self.alive == 0 || (wake_ns.is_none() && self.under_way == 0) {
                return;
            }
            if let Err(error) = self.listen(course, wake_ns) {
                course.recorder.failed(now, || ended(&error));
                return;
            }
            let now = now_ns();
            if now >= timeouts_at_ns {
                timeouts_at_ns = now + TIMEOUT_LOOK_NS;
                self.give_up_overdue(course, now);
            }
            if now >= course.recorder.report_at_ns() {
                course.recorder.report(now);
            }
        }
    }

    /// Sends what is due; returns when to look again, `None` when nothing more is to be sent.
    fn ask(&mut self, course: &mut Course, mut now: i64) -> Option<i64> {
        loop {
            match course.next(now, self.under_way) {
                Next::Over => return None,
                Next::At(at_ns) => return Some(at_ns),
                Next::Now(intended_ns) => {
                    let Some(index) = self.with_room() else {
                        return Some(i64::MAX);
                    };
                    course.schedule.started();
                    self.send(course, index, intended_ns, now);
                    now = now_ns();
                }
            }
        }
    }

    /// The next connection that may send.
    fn with_room(&mut self) -> Option<usize> {
        while let Some(index) = self.room.pop_front() {
            let connection = &mut self.connections[index];
            connection.listed = false;
            if connection.alive {
                return Some(index);
            }
        }
        None
    }

    fn send(&mut self, course: &mut Course, index: usize, intended_ns: i64, now: i64) {
        let connection = &mut self.connections[index];
        let sequence = connection.next_sequence;
        connection.next_sequence += 1;
        self.request.write(sequence, &mut self.message);
        connection.slots.push_back(Slot {
            sequence,
            intended_ns,
            sent_ns: now,
        });
        self.under_way += 1;
        let had_room = intended_ns >= self.room_since_ns;
        let put = connection.put(&self.message);
        course.sent(intended_ns, now, had_room);
        if let Err(error) = put {
            self.lose(course, index, &error);
            return;
        }
        self.watch(index);
        self.list(index);
    }

    /// Puts a connection with room at the end of the list.
    fn list(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let has_room = connection.slots.len() < self.task.window as usize;
        if connection.alive && !connection.listed && has_room && connection.out.is_empty() {
            connection.listed = true;
            self.room.push_back(index);
        }
    }

    /// The same where a connection may have got its room back, however: requests that were due before had none.
    fn list_again(&mut self, index: usize, now: i64) {
        let was_full = self.room.is_empty();
        self.list(index);
        if was_full && !self.room.is_empty() {
            self.room_since_ns = now;
        }
    }

    /// Watches for room to write as long as something waits to be written.
    fn watch(&mut self, index: usize) {
        let connection = &self.connections[index];
        if !connection.out.is_empty() {
            // A source that cannot be watched is found by its timeout.
            if let Ok(source) = connection.link.source() {
                let _ = self.waiter.change(source, index as u64, Interest::Both);
            }
        }
    }

    /// Waits for answers until `wake_ns` at the latest, and takes them.
    fn listen(&mut self, course: &mut Course, wake_ns: Option<i64>) -> io::Result<()> {
        let ready = self.waiter.wait(course.wait_bound(now_ns(), wake_ns))?;
        for at in 0..ready {
            let event = self.waiter.ready(at);
            let index = event.token as usize;
            if event.writable {
                self.flush(course, index);
            }
            if event.readable {
                self.take(course, index);
            }
        }
        Ok(())
    }

    fn flush(&mut self, course: &mut Course, index: usize) {
        let connection = &mut self.connections[index];
        if !connection.alive {
            return;
        }
        match connection.flush() {
            Ok(()) if connection.out.is_empty() => {
                if let Ok(source) = connection.link.source() {
                    let _ = self.waiter.change(source, index as u64, Interest::Read);
                }
                self.list_again(index, now_ns());
            }
            Ok(()) => {}
            Err(error) => self.lose(course, index, &error),
        }
    }

    /// Takes all answers that a connection has.
    fn take(&mut self, course: &mut Course, index: usize) {
        loop {
            let connection = &mut self.connections[index];
            if !connection.alive {
                return;
            }
            let is_stream = !connection.link.is_datagram();
            match connection.link.receive(&mut self.chunk) {
                Ok(0) if is_stream => {
                    self.lose(course, index, &io::ErrorKind::UnexpectedEof.into());
                    return;
                }
                Ok(count) => {
                    let now = now_ns();
                    let bytes = &self.chunk[..count];
                    let before = connection.slots.len();
                    let taken = match is_stream {
                        true => connection.answers(bytes, course, now),
                        false => {
                            connection.answer_datagram(self.response, bytes, course, now);
                            Ok(())
                        }
                    };
                    let answered = before - connection.slots.len();
                    self.under_way -= answered as u64;
                    if let Err(error) = taken {
                        self.lose(course, index, &error);
                        return;
                    }
                    self.list_again(index, now);
                    // A short read has emptied a stream; the waiter tells of what comes later.
                    let more = self.connections[index].link.buffered() > 0;
                    if is_stream && count < CHUNK_BYTES && !more {
                        return;
                    }
                }
                Err(error) if is_silence(&error) || !is_stream => return,
                Err(error) => {
                    self.lose(course, index, &error);
                    return;
                }
            }
        }
    }

    /// Gives up requests without an answer in time; with a stream the whole connection.
    fn give_up_overdue(&mut self, course: &mut Course, now: i64) {
        for index in 0..self.connections.len() {
            while let Some(slot) = self.connections[index].slots.front() {
                if !course.is_overdue(slot.sent_ns, now) {
                    break;
                }
                if !self.connections[index].link.is_datagram() {
                    self.lose(course, index, &io::ErrorKind::TimedOut.into());
                    break;
                }
                if let Err(error) = course.may_go_on(now) {
                    self.lose(course, index, &error);
                    break;
                }
                if let Some(slot) = self.connections[index].slots.pop_front() {
                    self.under_way -= 1;
                    course.recorder.failed(slot.intended_ns, || {
                        "a datagram or its answer was lost".into()
                    });
                }
                self.list_again(index, now);
            }
        }
    }

    /// A connection is gone: what was under way on it has failed.
    #[cold]
    fn lose(&mut self, course: &mut Course, index: usize, error: &io::Error) {
        let connection = &mut self.connections[index];
        connection.alive = false;
        self.alive -= 1;
        // The source is closed with its link anyway.
        if let Ok(source) = connection.link.source() {
            let _ = self.waiter.remove(source);
        }
        course.recorder.lost_connection(now_ns());
        course.recorder.counts.error.get_or_insert(ended(error));
        self.under_way -= connection.slots.len() as u64;
        for slot in connection.slots.drain(..) {
            course.recorder.failed(slot.intended_ns, || ended(error));
        }
    }
}

impl Connection {
    /// Hands a request over, or keeps what the socket has no room for.
    fn put(&mut self, message: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        if self.out.is_empty() {
            sent = self.push(message)?;
        }
        self.out.extend_from_slice(&message[sent..]);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let out = std::mem::take(&mut self.out);
        let sent = self.push(&out[self.out_at..]);
        self.out = out;
        self.out_at += sent?;
        if self.out_at == self.out.len() {
            self.out.clear();
            self.out_at = 0;
        }
        Ok(())
    }

    /// Bytes that the socket took of these.
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.link.send(&bytes[sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => sent += count,
                Err(error) if is_silence(&error) => break,
                // The refusal is of an earlier datagram; this one is found missing in time.
                Err(_) if self.link.is_datagram() => return Ok(bytes.len()),
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// Answers of a stream come in the order of the requests.
    fn answers(&mut self, bytes: &[u8], course: &mut Course, now: i64) -> io::Result<()> {
        let slots = &mut self.slots;
        let mut in_order = true;
        let fed = self.reader.feed(bytes, |sequence| match slots.pop_front() {
            Some(slot) if slot.sequence == sequence => {
                course
                    .recorder
                    .answered(slot.intended_ns, slot.sent_ns, now);
            }
            Some(slot) => {
                in_order = false;
                course.recorder.failed(slot.intended_ns, || UNASKED.into());
            }
            None => in_order = false,
        });
        let bad = |says: String| io::Error::new(io::ErrorKind::InvalidData, says);
        fed.map_err(|error| bad(error.to_string()))?;
        match in_order {
            true => Ok(()),
            false => Err(bad(UNASKED.into())),
        }
    }

    /// Late answers and strangers' datagrams are passed over.
    fn answer_datagram(&mut self, agreed: Agreed, bytes: &[u8], course: &mut Course, now: i64) {
        let Ok(sequence) = agreed.datagram(bytes) else {
            return;
        };
        let known = self.slots.iter().position(|slot| slot.sequence == sequence);
        if let Some(slot) = known.and_then(|at| self.slots.remove(at)) {
            course
                .recorder
                .answered(slot.intended_ns, slot.sent_ns, now);
        }
    }
}
