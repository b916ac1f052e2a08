//! The answering end: one thread per flow, so that a stalled peer delays no other flow.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::udp;
use sokudo_net::wait::{Interest, Wait};
use sokudo_workload::effort::{Effort, ThreadSpent};
use sokudo_workload::exchange::{Answered, Details, LOOK, Report};
use sokudo_workload::limit::{Exceeded, Purse};
use sokudo_workload::link::{Link, Patience, Solo, is_silence};
use sokudo_workload::meet::{Arrived, Datagrams};
use sokudo_workload::turns::TurnedAway;

use super::client::{CHUNK_BYTES, agreed};
use super::many::waiter;
use super::options::Sizes;
use super::protocol::{Agreed, MessageKind, MessageReader, Piece};

/// A caller that takes no answer for this long is given up.
const WRITE_BOUND: Duration = Duration::from_secs(10);

/// Bytes of answers that leave together; what a caller asks at once is not held in memory at once.
const OUT_BYTES: usize = 256 * 1024;

/// Answers what comes in at the end of a flow until the thread is stopped or no caller is left.
pub(crate) type AnswerLoop = fn(&mut Loop, Arrived, Wait) -> io::Result<()>;

/// Task of one answering thread.
pub(crate) struct Task {
    pub(crate) flow: u32,
    pub(crate) ticket: u64,
    pub(crate) sizes: Sizes,
    /// True when a request goes back while it is still coming in.
    pub(crate) duplex: bool,
    pub(crate) wait: Wait,
    pub(crate) end: Arrived,
    pub(crate) answer: AnswerLoop,
    pub(crate) purse: Purse,
    /// Set when the thread must end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// State that all answering loops share.
pub(crate) struct Loop {
    request: Agreed,
    response: Agreed,
    duplex: bool,
    /// One response; those to several requests that came together leave together.
    message: Vec<u8>,
    out: Vec<u8>,
    chunk: Vec<u8>,
    purse: Purse,
    stop: Arc<AtomicBool>,
    /// Times of other threads of the flow.
    beside: ThreadSpent,
    done: Answered,
}

/// Answers until it is stopped or all callers have gone.
pub(crate) fn run<D: Details>(task: Task, reports: &SyncSender<Report<D>>) {
    precise_timers();
    let (begun_ns, effort) = (now_ns(), Effort::begin());
    let mut state = Loop {
        request: agreed(MessageKind::Request, task.ticket, task.sizes),
        response: agreed(MessageKind::Response, task.ticket, task.sizes),
        duplex: task.duplex,
        message: vec![0; task.sizes.response as usize],
        out: Vec::new(),
        chunk: vec![0; CHUNK_BYTES],
        purse: task.purse,
        stop: task.stop,
        beside: ThreadSpent::default(),
        done: Answered {
            flow: task.flow,
            ..Answered::default()
        },
    };
    let outcome = (task.answer)(&mut state, task.end, task.wait);
    let mut done = state.done;
    done.error = outcome.err().map(|error| error.to_string());
    let spent = effort.spent().with(&state.beside);
    (done.cpu_ns, done.wait_ns) = (spent.cpu_ns, spent.wait_ns);
    done.elapsed_ns = now_ns() - begun_ns;
    // Fails only when the reporting thread has ended.
    let _ = reports.send(Report::Answered(done));
}

impl Loop {
    /// Answers over connections that were made before the load, or datagrams.
    pub(crate) fn answer_all(&mut self, end: Arrived, wait: Wait) -> io::Result<()> {
        match end {
            Arrived::Datagrams(socket) => self.datagrams(&socket, wait),
            Arrived::Links(mut links) => match (links.len(), links.pop()) {
                (1, Some(link)) => self.one(link, wait),
                (_, last) => {
                    links.extend(last);
                    self.many(links, wait)
                }
            },
            Arrived::Callers(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Requests answered so far.
    pub(crate) fn answered(&self) -> u64 {
        self.done.answered
    }

    /// Pays for a caller of the flow that asked nothing as for one that did.
    ///
    /// Errors: it asks for more than was granted.
    pub(crate) fn pay_for_silence(&mut self) -> Result<(), Exceeded> {
        self.purse.events(1)
    }

    /// Shape of the requests.
    pub(crate) fn request(&self) -> Agreed {
        self.request
    }

    /// Set when the thread is to end.
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Counts callers that proved nothing, and the threads that looked at them.
    pub(crate) fn turned_away(&mut self, away: &TurnedAway) {
        self.done.strangers += away.strangers;
        self.beside = away.others;
    }

    /// False when the thread is to end.
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// One connection: the thread waits in its read.
    fn one(&mut self, mut link: Link, way: Wait) -> io::Result<()> {
        let mut waiting = Solo::new(&mut link, way, LOOK)?;
        let mut reader = MessageReader::new(self.request);
        while self.goes_on() {
            match waiting.receive(&mut link, &mut self.chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    if !self.answer(&mut link, &mut reader, count)? {
                        return Ok(());
                    }
                }
                Err(error) if is_silence(&error) => {}
                // The asking end says what became of the connection.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// A connection that has `begun` to ask, and whose reads are bounded. It is hung up on when it still is
    /// silent at a time.
    ///
    /// Errors: it asks for more than was granted.
    pub(crate) fn begun(
        &mut self,
        mut link: Link,
        begun: &[u8],
        give_up_ns: i64,
    ) -> Result<(), Exceeded> {
        let mut reader = MessageReader::new(self.request);
        self.chunk[..begun.len()].copy_from_slice(begun);
        let mut count = begun.len();
        while self.answer(&mut link, &mut reader, count)? {
            count = loop {
                match link.receive(&mut self.chunk) {
                    Ok(0) => return Ok(()),
                    Ok(count) => break count,
                    Err(error) if is_silence(&error) && now_ns() < give_up_ns && self.goes_on() => {
                    }
                    // The asking end says what became of the connection.
                    Err(_) => return Ok(()),
                }
            };
        }
        Ok(())
    }

    /// Answers what the first `count` bytes of the chunk ask; false when the connection is over.
    ///
    /// Errors: it asks for more than was granted.
    #[inline]
    fn answer(
        &mut self,
        link: &mut Link,
        reader: &mut MessageReader,
        count: usize,
    ) -> Result<bool, Exceeded> {
        let (out, message, response) = (&mut self.out, &mut self.message, self.response);
        let head_bytes = response.head_bytes();
        let (mut answered, mut alive) = (0, true);
        let purse = &mut self.purse;
        purse.received(count)?;
        let mut granted = Ok(());
        out.clear();
        let mut put = |bytes: &[u8]| {
            granted = granted.and_then(|()| purse.sent(bytes.len()));
            alive = alive && granted.is_ok();
            if !alive {
                return;
            }
            if out.len() + bytes.len() > OUT_BYTES && !out.is_empty() {
                alive = link.send_all(out).is_ok();
                out.clear();
            }
            out.extend_from_slice(bytes);
        };
        let fed = match self.duplex {
            true => reader.pieces(&self.chunk[..count], |piece| match piece {
                Piece::Head(sequence) => {
                    response.write(sequence, message);
                    put(&message[..head_bytes]);
                }
                Piece::Payload(bytes) => put(bytes),
                Piece::End(_) => answered += 1,
            }),
            false => reader.feed(&self.chunk[..count], |sequence| {
                response.write(sequence, message);
                put(message);
                answered += 1;
            }),
        };
        granted.and_then(|()| purse.events(answered))?;
        self.done.answered += answered;
        if fed.is_err() {
            self.done.strangers += 1;
            return Ok(false);
        }
        Ok(alive && (out.is_empty() || link.send_all(out).is_ok()))
    }

    /// Many connections: an event loop.
    fn many(&mut self, links: Vec<Link>, way: Wait) -> io::Result<()> {
        let mut waiter = waiter(way, links.len())?;
        let mut connections: Vec<Option<(Link, MessageReader)>> = Vec::with_capacity(links.len());
        for (token, mut link) in links.into_iter().enumerate() {
            link.never_wait()?;
            if let Link::Stream(stream) = &mut link {
                // Only the asking end must never wait: both could wait for each other.
                stream.set_write_bound(WRITE_BOUND)?;
            }
            waiter.add(link.source()?, token as u64, Interest::Read)?;
            connections.push(Some((link, MessageReader::new(self.request))));
        }
        let mut left = connections.len();
        while self.goes_on() && left > 0 {
            let ready = waiter.wait(LOOK)?;
            for at in 0..ready {
                let index = waiter.ready(at).token as usize;
                let Some((link, reader)) = &mut connections[index] else {
                    continue;
                };
                if !self.serve(link, reader)? {
                    if let Ok(source) = link.source() {
                        let _ = waiter.remove(source);
                    }
                    connections[index] = None;
                    left -= 1;
                }
            }
        }
        Ok(())
    }

    /// Answers everything that a connection has brought; false when it is over.
    ///
    /// Errors: it asks for more than was granted.
    fn serve(&mut self, link: &mut Link, reader: &mut MessageReader) -> Result<bool, Exceeded> {
        loop {
            match link.receive(&mut self.chunk) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    if !self.answer(link, reader, count)? {
                        return Ok(false);
                    }
                    if count < CHUNK_BYTES && link.buffered() == 0 {
                        return Ok(true);
                    }
                }
                Err(error) => return Ok(is_silence(&error)),
            }
        }
    }

    /// Datagrams: every request with the ticket is answered when it comes from an address that has proven
    /// itself.
    fn datagrams(&mut self, from: &Datagrams, way: Wait) -> io::Result<()> {
        let socket = &from.socket;
        let mut patience = Patience::new(socket, way, LOOK)?;
        while self.goes_on() {
            match patience.wait_for(socket, || socket.recv_from(&mut self.chunk)) {
                Ok((count, peer)) => match self.request.datagram(&self.chunk[..count]) {
                    Ok(sequence) if from.knows(peer) => {
                        self.purse.events(1)?;
                        self.purse.received(count)?;
                        self.purse.sent(self.message.len())?;
                        self.response.write(sequence, &mut self.message);
                        // What the system does not take is lost, as on the way.
                        let _ = from.send_to(&self.message, peer);
                        self.done.answered += 1;
                    }
                    // Nor is what others send taken from what the flow was granted.
                    _ => self.done.strangers += 1,
                },
                Err(error) if is_silence(&error) => {}
                // An earlier answer did not reach its port.
                Err(error) if udp::is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
