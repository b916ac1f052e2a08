//! The receiving end: a thread reads from one connection, or from several as they have something.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::tcp::bulk::ReceivePath;
use sokudo_net::tcp::{self, TcpOptions};
use sokudo_net::wait::{Interest, Wait};
use sokudo_workload::limit::{Exceeded, Purse};
use sokudo_workload::link::{Caller, Link, is_silence};
use sokudo_workload::patience::sleep_until_or_stop;

use super::account::{End, Ledger, Times};
use super::carry::{Inlet, state};
use super::client::LOOK;
use super::report::{Ended, Report};
use crate::rr::many::waiter;

/// Parts of a second in which a slow reader reads once.
const SLOW_READS_PER_S: f64 = 100.0;

/// One connection to read from.
pub(super) struct Incoming {
    pub(super) flow: u32,
    pub(super) link: Link,
    /// The connections of some transports live no longer than who called.
    pub(super) caller: Option<Caller>,
}

/// Task of one receiving thread.
pub(super) struct Task {
    pub(super) flows: Vec<Incoming>,
    pub(super) path: ReceivePath,
    /// Most bytes per read.
    pub(super) at_once: usize,
    /// Bytes that a reader of one connection waits for, at least.
    pub(super) gather: Option<usize>,
    /// Bytes per second that are read at most.
    pub(super) read_rate: Option<f64>,
    pub(super) purse: Purse,
    pub(super) times: Times,
    pub(super) tcp: TcpOptions,
    /// Set when all senders have finished: a slow reader need not be slow any more.
    pub(super) draining: Arc<AtomicBool>,
    /// Ends the reading.
    pub(super) closed: Arc<AtomicBool>,
}

impl Task {
    /// Errors: more came than was granted. A read may bring any number of writes: of these only the bytes
    /// are limited.
    #[inline]
    fn pay(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.purse.received(bytes)
    }
}

/// End of the reading of one connection.
#[derive(Debug, Clone, Default)]
struct Outcome {
    /// The sender said that this was all.
    end_seen: bool,
    error: Option<String>,
}

/// Reads from the start of the load until every sender has finished.
pub(super) fn run(mut task: Task, reports: &SyncSender<Report>) {
    precise_timers();
    let started = sleep_until_or_stop(task.times.start_ns, &task.closed).is_some();
    let mut flows = std::mem::take(&mut task.flows);
    let numbers: Vec<u32> = flows.iter().map(|flow| flow.flow).collect();
    let end = End::Receiver;
    let mut ledger = Ledger::new(end, numbers.iter().copied(), task.times, reports.clone());
    let mut outcomes = vec![Outcome::default(); flows.len()];
    let read = match started {
        false => Ok(()),
        true => match flows.as_mut_slice() {
            [one] => read_one(&mut task, one, &mut ledger, &mut outcomes[0]),
            several => read_several(&mut task, several, &mut ledger, &mut outcomes),
        },
    };
    if let Err(error) = read {
        for outcome in &mut outcomes {
            outcome.error.get_or_insert_with(|| ended(&error));
        }
    }
    let moved = ledger.close(now_ns(), |index| state(&flows[index].link));
    for ((moved, outcome), mut flow) in moved.into_iter().zip(outcomes).zip(flows) {
        let ended = Ended {
            granted: flow
                .link
                .tcp()
                .and_then(|t| tcp::granted(t, &task.tcp).ok()),
            asked_per_s: None,
            events: 0,
            late: 0,
            start_late_ns: None,
            path: None,
            is_reached: false,
            copied_ratio: None,
            whole: outcome.end_seen,
            error: outcome.error,
            end,
            moved,
        };
        // Fails only when the reporting thread has ended.
        let _ = reports.send(Report::Ended(Box::new(ended)));
        // Other threads hold handles of the socket, and the sender must still learn of the end.
        if let Link::Stream(stream) = &mut flow.link {
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(flow.link);
        drop(flow.caller);
    }
}

/// Text for people about a connection that could not be read any more.
fn ended(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionReset => "the sending end reset the connection".into(),
        io::ErrorKind::ConnectionAborted => "the sending end has been silent for too long".into(),
        _ => format!("the connection ended: {error}"),
    }
}

/// One connection, whose reads wait in the kernel.
fn read_one(
    task: &mut Task,
    flow: &mut Incoming,
    ledger: &mut Ledger,
    outcome: &mut Outcome,
) -> io::Result<()> {
    if let Link::Stream(stream) = &mut flow.link {
        stream.set_read_bound(LOOK)?;
    }
    let slow = |rate: f64| ((rate / SLOW_READS_PER_S) as usize).clamp(1, task.at_once);
    let at_once = task.read_rate.map_or(task.at_once, slow);
    let mut inlet = Inlet::new(&mut flow.link, task.path, at_once)?;
    if let Some(bytes) = task.gather {
        inlet.gather(bytes);
    }
    let mut read_rate = task.read_rate;
    while !task.closed.load(Ordering::Relaxed) {
        if let Some(rate) = read_rate {
            if task.draining.load(Ordering::Relaxed) {
                // What was read slowly is measured; the rest only has to arrive.
                ledger.ended(0, now_ns(), state(inlet.link()));
                read_rate = None;
            }
            let due_ns = task.times.start_ns + (ledger.bytes(0) as f64 / rate * 1e9) as i64;
            if pause(due_ns, ledger, task) {
                ledger.look(now_ns(), |_| state(inlet.link()));
                continue;
            }
        }
        let taken = inlet.receive();
        let now = now_ns();
        ledger.look(now, |_| state(inlet.link()));
        match taken {
            Ok(0) => {
                ledger.ended(0, now, state(inlet.link()));
                outcome.end_seen = true;
                break;
            }
            Ok(taken) => {
                ledger.moved(0, taken);
                task.pay(taken)?;
            }
            Err(error) if is_silence(&error) => {}
            Err(error) => {
                ledger.ended(0, now, state(inlet.link()));
                outcome.error = Some(ended(&error));
                break;
            }
        }
    }
    Ok(())
}

/// Stands still until `due_ns`, for a moment at most; false when it has come.
fn pause(due_ns: i64, ledger: &mut Ledger, task: &Task) -> bool {
    let begun_ns = now_ns();
    if due_ns <= begun_ns {
        return false;
    }
    let until_ns = due_ns.min(begun_ns + LOOK.as_nanos() as i64);
    let _ = sleep_until_or_stop(until_ns, &task.closed);
    ledger.paused(now_ns() - begun_ns);
    true
}

/// Several connections by one thread: each that has something gives one read, in turn.
fn read_several(
    task: &mut Task,
    flows: &mut [Incoming],
    ledger: &mut Ledger,
    outcomes: &mut [Outcome],
) -> io::Result<()> {
    let mut waiter = waiter(Wait::Block, flows.len())?;
    let mut inlets = Vec::with_capacity(flows.len());
    for (token, flow) in flows.iter_mut().enumerate() {
        if let Link::Stream(stream) = &mut flow.link {
            stream.set_read_bound(LOOK)?;
        }
        waiter.add(flow.link.source()?, token as u64, Interest::Read)?;
        inlets.push(Inlet::new(&mut flow.link, task.path, task.at_once)?);
    }
    let mut left = inlets.len();
    while left > 0 && !task.closed.load(Ordering::Relaxed) {
        let ready = waiter.wait(LOOK)?;
        let mut now = now_ns();
        for at in 0..ready {
            let index = waiter.ready(at).token as usize;
            let taken = inlets[index].receive();
            now = now_ns();
            ledger.look(now, |index| state(inlets[index].link()));
            match taken {
                Ok(0) => outcomes[index].end_seen = true,
                Ok(taken) => {
                    ledger.moved(index, taken);
                    task.pay(taken)?;
                    continue;
                }
                Err(error) if is_silence(&error) => continue,
                Err(error) => outcomes[index].error = Some(ended(&error)),
            }
            let link = inlets[index].link();
            ledger.ended(index, now, state(link));
            waiter.remove(link.source()?)?;
            left -= 1;
        }
        ledger.look(now, |index| state(inlets[index].link()));
    }
    Ok(())
}
