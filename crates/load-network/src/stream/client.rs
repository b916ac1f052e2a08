//! The sending end: a thread writes to one connection, or in turn to several.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::tcp::bulk::SendPath;
use sokudo_net::tcp::{self, TcpOptions};
use sokudo_net::urgency::First;
use sokudo_net::wait::{Interest, Wait, Waiter};
use sokudo_workload::link::{Caller, Link, is_silence};
use sokudo_workload::patience::{sleep_until_or_stop, wait_for_start};
use sokudo_workload::schedule::{LATE_NS, Schedule};

use super::account::{End, Ledger, Times};
use super::carry::{Outlet, state};
use super::protocol::payload;
use super::report::{Ended, Report, Written};
use crate::rr::many::waiter;

/// Longest wait of one write: how soon the end of the load is noticed.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// Longest wait until the kernel has given lent pages back, at the end.
const PAGES_BOUND: Duration = Duration::from_secs(1);

/// One connection to write to.
pub(super) struct Outgoing {
    pub(super) flow: u32,
    pub(super) link: Link,
    /// The connections of some transports live no longer than who called.
    pub(super) caller: Option<Caller>,
}

/// Task of one sending thread.
pub(super) struct Task {
    pub(super) flows: Vec<Outgoing>,
    pub(super) path: SendPath,
    /// Bytes per write.
    pub(super) size: usize,
    /// Bytes per connection; `None` = until the time is over.
    pub(super) bytes: Option<u64>,
    /// Writes per second and connection; `None` = as many as are taken.
    pub(super) rate_per_s: Option<f64>,
    pub(super) times: Times,
    /// End of the load.
    pub(super) end_ns: i64,
    /// A connection that takes nothing for this long is given up.
    pub(super) patience: Duration,
    pub(super) tcp: TcpOptions,
    pub(super) seed: u64,
    /// Ends the load.
    pub(super) stop: Arc<AtomicBool>,
    /// Ends the wait for the peer afterwards.
    pub(super) closed: Arc<AtomicBool>,
}

/// Times and amount of the writes to one connection.
struct WriteCourse {
    left: Option<u64>,
    schedule: Schedule,
    size: usize,
    /// Bytes of the write under way that were not taken yet.
    event_left: usize,
    /// Time at which the last write was taken.
    done_ns: i64,
    events: u64,
    late: u64,
    /// Since when nothing has been taken.
    stuck_ns: Option<i64>,
    over: bool,
    error: Option<String>,
}

/// Action for a connection.
enum Turn {
    /// Write up to so many bytes.
    Now(usize),
    /// The next write is due then.
    At(i64),
    /// Everything has been written.
    Over,
}

impl WriteCourse {
    fn new(task: &Task) -> Self {
        let start_ns = task.times.start_ns;
        Self {
            left: task.bytes,
            schedule: Schedule::new(task.rate_per_s, start_ns, task.end_ns),
            size: task.size,
            event_left: 0,
            done_ns: start_ns,
            events: 0,
            late: 0,
            stuck_ns: None,
            over: false,
            error: None,
        }
    }

    #[inline]
    fn turn(&mut self, now: i64) -> Turn {
        let room = match self.left {
            Some(0) => return Turn::Over,
            Some(left) => left.min(self.size as u64) as usize,
            None => self.size,
        };
        if !self.schedule.is_open() {
            return Turn::Now(room);
        }
        if self.event_left == 0 {
            match self.schedule.next_ns(now) {
                None => return Turn::At(i64::MAX),
                Some(at_ns) if at_ns > now => return Turn::At(at_ns),
                Some(at_ns) => {
                    self.schedule.started();
                    self.events += 1;
                    self.event_left = self.size;
                    let had_room = self.done_ns <= at_ns;
                    self.late += u64::from(had_room && now - at_ns > LATE_NS);
                }
            }
        }
        Turn::Now(room.min(self.event_left))
    }

    #[inline]
    fn took(&mut self, bytes: usize, now: i64) {
        self.stuck_ns = None;
        if let Some(left) = &mut self.left {
            *left -= (bytes as u64).min(*left);
        }
        if self.schedule.is_open() {
            self.event_left -= bytes.min(self.event_left);
            self.done_ns = now;
        }
    }

    /// Notes that a write took nothing; gives the connection up when that lasts.
    #[cold]
    fn refused(&mut self, error: &io::Error, now: i64, patience: Duration) {
        if !is_silence(error) {
            self.fail(ended(error));
            return;
        }
        let since_ns = *self.stuck_ns.get_or_insert(now);
        if now - since_ns >= patience.as_nanos() as i64 {
            let seconds = patience.as_secs_f64();
            self.fail(format!("the far end took nothing for {seconds} s"));
        }
    }

    fn fail(&mut self, why: String) {
        self.over = true;
        self.error = Some(why);
    }
}

/// Text for people about a connection that could not be written to any more.
fn ended(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionReset => "the far end reset the connection".into(),
        io::ErrorKind::BrokenPipe => "the far end closed the connection".into(),
        io::ErrorKind::ConnectionAborted => "the far end has been silent for too long".into(),
        _ => format!("the connection ended: {error}"),
    }
}

/// Writes from the start of the load until it is over, then waits for the far ends to hang up.
pub(super) fn run(mut task: Task, reports: &SyncSender<Report>) {
    precise_timers();
    // Made before the start: at that moment others may begin on the same core.
    let block = payload(task.size, task.seed);
    let first = wait_for_start(task.times.start_ns, &task.stop);
    let started = first.is_some();
    let opening = Opening { block, first };
    let mut flows = std::mem::take(&mut task.flows);
    let numbers: Vec<u32> = flows.iter().map(|flow| flow.flow).collect();
    let mut ledger = Ledger::new(
        End::Sender,
        numbers.iter().copied(),
        task.times,
        reports.clone(),
    );
    let mut courses: Vec<WriteCourse> = flows.iter().map(|_| WriteCourse::new(&task)).collect();
    let mut copied = vec![None; flows.len()];
    let start_late_ns = started.then(|| now_ns() - task.times.start_ns);
    let written = match started {
        false => Ok(()),
        true => match flows.as_mut_slice() {
            [one] => write_one(
                &task,
                (one, opening),
                &mut ledger,
                &mut courses[0],
                &mut copied[0],
            ),
            several => write_several(
                &task,
                (several, opening),
                &mut ledger,
                &mut courses,
                &mut copied,
            ),
        },
    };
    if let Err(error) = written {
        for course in courses.iter_mut().filter(|course| course.error.is_none()) {
            course.fail(ended(&error));
        }
    }
    let moved = ledger.close(now_ns(), |index| state(&flows[index].link));
    let mut done = Vec::with_capacity(flows.len());
    for (index, moved) in moved.into_iter().enumerate() {
        let (flow, course) = (&mut flows[index], &mut courses[index]);
        let written = Written {
            flow: moved.flow,
            bytes: moved.bytes,
            whole: course.error.is_none(),
        };
        finish(&mut flow.link, course);
        // Fails only when the reporting thread has ended.
        let _ = reports.send(Report::Written(written));
        done.push(Ended {
            granted: flow
                .link
                .tcp()
                .and_then(|t| tcp::granted(t, &task.tcp).ok()),
            asked_per_s: task.rate_per_s,
            events: course.events,
            late: course.late,
            start_late_ns,
            path: Some(task.path),
            is_reached: course.left == Some(0),
            copied_ratio: copied[index],
            whole: false,
            error: course.error.take(),
            end: End::Sender,
            moved,
        });
    }
    for (flow, mut ended) in flows.iter_mut().zip(done) {
        ended.whole = ended.error.is_none() && wait_for_end(&mut flow.link, &task.closed);
        let _ = reports.send(Report::Ended(Box::new(ended)));
        drop(flow.caller.take());
    }
}

/// Tells the far end that this was all.
fn finish(link: &mut Link, course: &mut WriteCourse) {
    let Link::Stream(stream) = link else { return };
    if course.error.is_none()
        && let Err(error) = stream.shutdown(std::net::Shutdown::Write)
    {
        course.fail(ended(&error));
    }
}

/// Waits until the far end has read everything and hangs up; false when it did something else.
fn wait_for_end(link: &mut Link, closed: &AtomicBool) -> bool {
    let Link::Stream(stream) = link else {
        return false;
    };
    if stream.set_read_bound(LOOK).is_err() {
        return false;
    }
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(read) => return read == 0,
            Err(error) if is_silence(&error) && !closed.load(Ordering::Relaxed) => {}
            Err(_) => return false,
        }
    }
}

/// State with which the load begins.
struct Opening {
    /// The block that is written again and again.
    block: Vec<u8>,
    /// Until the first of it has left.
    first: Option<First>,
}

/// One connection, whose writes wait in the kernel.
fn write_one(
    task: &Task,
    (flow, mut opening): (&mut Outgoing, Opening),
    ledger: &mut Ledger,
    course: &mut WriteCourse,
    copied: &mut Option<f64>,
) -> io::Result<()> {
    if let Link::Stream(stream) = &mut flow.link {
        // A record of TLS leaves as a whole or never: giving up in the middle is final.
        let whole = stream.kind() == sokudo_net::stream::StreamKind::Tls;
        stream.set_write_bound(if whole { task.patience } else { LOOK })?;
    }
    let mut outlet = Outlet::new(&mut flow.link, task.path, opening.block)?;
    let mut now = now_ns();
    while now < task.end_ns && !course.over && !task.stop.load(Ordering::Relaxed) {
        match course.turn(now) {
            Turn::Over => break,
            Turn::At(at_ns) => pause(at_ns.min(task.end_ns), ledger, task),
            Turn::Now(at_most) => match outlet.send(at_most) {
                Ok(sent) => {
                    opening.first = None;
                    now = now_ns();
                    ledger.look(now, |_| state(outlet.link()));
                    ledger.moved(0, sent);
                    course.took(sent, now);
                    continue;
                }
                Err(error) => course.refused(&error, now, task.patience),
            },
        }
        now = now_ns();
        ledger.look(now, |_| state(outlet.link()));
    }
    ledger.ended(0, now_ns(), state(outlet.link()));
    *copied = outlet.copied_ratio(PAGES_BOUND);
    Ok(())
}

/// Sleeps until a write is due.
fn pause(at_ns: i64, ledger: &mut Ledger, task: &Task) {
    let begun_ns = now_ns();
    // Bins and reports go on meanwhile.
    let until_ns = at_ns.min(begun_ns + LOOK.as_nanos() as i64);
    let _ = sleep_until_or_stop(until_ns, &task.stop);
    ledger.paused(now_ns() - begun_ns);
}

/// Several connections by one thread: each with room gets a block, in turn.
fn write_several(
    task: &Task,
    (flows, mut opening): (&mut [Outgoing], Opening),
    ledger: &mut Ledger,
    courses: &mut [WriteCourse],
    copied: &mut [Option<f64>],
) -> io::Result<()> {
    let mut outlets = Vec::with_capacity(flows.len());
    for flow in flows.iter_mut() {
        never_wait(&mut flow.link)?;
        outlets.push(Outlet::new(
            &mut flow.link,
            task.path,
            opening.block.clone(),
        )?);
    }
    let mut full = Full::new(outlets.len())?;
    let mut now = now_ns();
    while now < task.end_ns && !task.stop.load(Ordering::Relaxed) {
        let mut next_ns = task.end_ns;
        let mut went_on = false;
        for (index, (outlet, course)) in outlets.iter_mut().zip(courses.iter_mut()).enumerate() {
            if course.over || full.holds(index) {
                continue;
            }
            match course.turn(now) {
                Turn::Over => {
                    course.over = true;
                    ledger.ended(index, now, state(outlet.link()));
                }
                Turn::At(at_ns) => next_ns = next_ns.min(at_ns),
                Turn::Now(at_most) => match outlet.send(at_most) {
                    Ok(sent) => {
                        went_on = true;
                        ledger.moved(index, sent);
                        course.took(sent, now);
                    }
                    Err(error) => {
                        course.refused(&error, now, task.patience);
                        if !course.over {
                            full.add(index, outlet)?;
                        }
                    }
                },
            }
        }
        opening.first = None;
        if courses.iter().all(|course| course.over) {
            break;
        }
        match full.any() {
            true => {
                let left = Duration::from_nanos((next_ns - now).max(0) as u64);
                let bound = if went_on {
                    Duration::ZERO
                } else {
                    left.min(LOOK)
                };
                full.wait(bound, &outlets)?;
            }
            false if !went_on => pause(next_ns, ledger, task),
            false => {}
        }
        now = now_ns();
        full.give_up(now, task.patience, courses);
        ledger.look(now, |index| state(outlets[index].link()));
    }
    for (copied, outlet) in copied.iter_mut().zip(&mut outlets) {
        *copied = outlet.copied_ratio(PAGES_BOUND);
    }
    drop(outlets);
    flows
        .iter_mut()
        .try_for_each(|flow| wait_again(&mut flow.link))
}

/// Writes return at once from now on.
fn never_wait(link: &mut Link) -> io::Result<()> {
    link.never_wait()?;
    match link.tcp() {
        Some(tcp) => tcp.set_nonblocking(true),
        None => Ok(()),
    }
}

/// Reads and writes wait again, a bounded time.
fn wait_again(link: &mut Link) -> io::Result<()> {
    if let Some(tcp) = link.tcp() {
        tcp.set_nonblocking(false)?;
    }
    match link {
        Link::Stream(stream) => stream.set_write_bound(LOOK),
        Link::Udp(_) => Ok(()),
    }
}

/// Connections without room.
struct Full {
    waiter: Waiter,
    held: Vec<bool>,
    count: usize,
}

impl Full {
    fn new(connections: usize) -> io::Result<Self> {
        Ok(Self {
            waiter: waiter(Wait::Block, connections)?,
            held: vec![false; connections],
            count: 0,
        })
    }

    fn holds(&self, index: usize) -> bool {
        self.held[index]
    }

    fn any(&self) -> bool {
        self.count > 0
    }

    fn add(&mut self, index: usize, outlet: &Outlet<'_>) -> io::Result<()> {
        let source = outlet.link().source()?;
        self.waiter.add(source, index as u64, Interest::Write)?;
        self.held[index] = true;
        self.count += 1;
        Ok(())
    }

    /// Lets those go that have room again.
    fn wait(&mut self, bound: Duration, outlets: &[Outlet<'_>]) -> io::Result<()> {
        let ready = self.waiter.wait(bound)?;
        for at in 0..ready {
            let index = self.waiter.ready(at).token as usize;
            self.waiter.remove(outlets[index].link().source()?)?;
            self.held[index] = false;
            self.count -= 1;
        }
        Ok(())
    }

    /// Ends the connections that have had no room for too long.
    fn give_up(&self, now: i64, patience: Duration, courses: &mut [WriteCourse]) {
        let held = self.held.iter().zip(courses).filter(|(held, _)| **held);
        for (_, course) in held.filter(|(_, course)| !course.over) {
            course.refused(&io::ErrorKind::WouldBlock.into(), now, patience);
        }
    }
}
