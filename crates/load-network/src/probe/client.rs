//! The asking end: for each flow one thread that sends by the clock, and one that takes answers, so
//! that waiting for the one never delays the other.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use sokudo_net::clock::{now_ns, precise_timers, thread_cpu_ns, thread_wait_ns};
use sokudo_net::stamps::{self, Stamped};
use sokudo_net::udp::{self, SendProblem};
use sokudo_stats::Histogram;
use sokudo_workload::consent::{SILENCE_BOUND_NS, Silence};
use sokudo_workload::handover::Records;
use sokudo_workload::link::is_silence;
use sokudo_workload::patience::sleep_until_or_stop;

use super::delay::Row;
use super::protocol::{Agreed, HEADER_BYTES};
use super::report::{Interval, Report};
use crate::datagram::sequence::Tracker;

/// Longest wait for answers after the operator has stopped the run.
const STOP_GRACE_NS: i64 = 1_000_000_000;
/// Stands in for the moment of departure of a probe that has not left.
const NEVER: i64 = i64::MIN;

/// Task of the two threads of one flow.
pub(crate) struct Task {
    /// Number of the flow in the phase.
    pub(crate) flow: u32,
    pub(crate) agreed: Agreed,
    /// Probes to send; [`super::options::ProbeOptions::MAX_PROBES`] at most.
    pub(crate) probes: u64,
    /// Time between two of them.
    pub(crate) every_ns: u64,
    /// An answer that takes longer is late.
    pub(crate) timeout_ns: i64,
    /// Time between two reports.
    pub(crate) interval_ns: u64,
    /// Set when the threads must end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Result of the sending thread.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// Probes that the kernel took; as many numbers were used.
    pub(crate) sent: u64,
    /// Probes that the kernel did not take.
    pub(crate) refused: u64,
    /// Probes left out because the time of the next one had come before they could leave.
    pub(crate) unsent: u64,
    /// Agreed start, nanoseconds.
    pub(crate) begin_ns: i64,
    /// First departure minus the agreed start, nanoseconds.
    pub(crate) start_late_ns: Option<i64>,
    /// Reason of an early end.
    pub(crate) error: Option<String>,
    /// Departure minus its moment in the schedule, nanoseconds.
    pub(crate) timer_error: Histogram,
    /// Length of the send call, nanoseconds.
    pub(crate) send_call: Histogram,
    /// CPU time of the thread, nanoseconds.
    pub(crate) cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub(crate) wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub(crate) elapsed_ns: i64,
}

/// Result of the receiving thread.
#[derive(Debug)]
pub(crate) struct Received {
    /// By sequence number; `None` = not answered in time.
    pub(crate) rows: Vec<Option<Row>>,
    /// Departures of all probes that left, by sequence number.
    pub(crate) departures_ns: Vec<i64>,
    /// Answers by their own numbers.
    pub(crate) answers: Tracker,
    /// Answers after the timeout.
    pub(crate) late: u64,
    /// Datagrams that are not answers of this flow.
    pub(crate) foreign: u64,
    /// Arrivals that the kernel stamped.
    pub(crate) kernel_stamps: u64,
    /// Time that the far end held each probe, nanoseconds.
    pub(crate) turnaround: Histogram,
}

/// Result of one flow's asking end.
#[derive(Debug)]
pub(crate) struct Probed {
    pub(crate) flow: u32,
    pub(crate) sent: Sent,
    pub(crate) received: Received,
    /// The first failure.
    pub(crate) error: Option<String>,
}

/// State that both threads share.
struct ProbeState {
    /// Departure of each probe; written before it leaves.
    departures_ns: Box<[AtomicI64]>,
    /// Numbers used so far.
    sent: AtomicU64,
    /// Time at which the last probe had left; [`NEVER`] until then.
    over_ns: AtomicI64,
    /// Set when no answer has come for too long.
    is_silent: AtomicBool,
}

/// Probes over a connected socket from `at_ns` on, until the last answer or its timeout.
pub(crate) fn run(task: &Task, socket: &UdpSocket, at_ns: i64, reports: &SyncSender<Report>) {
    precise_timers();
    let shared = ProbeState {
        departures_ns: (0..task.probes).map(|_| AtomicI64::new(NEVER)).collect(),
        sent: AtomicU64::new(0),
        over_ns: AtomicI64::new(NEVER),
        is_silent: AtomicBool::new(false),
    };
    let mut receiving = Receiving::new(task, &shared, at_ns, reports);
    let (sent, error) = std::thread::scope(|scope| {
        let name = format!("probe{}", task.flow);
        let sender = std::thread::Builder::new().name(name);
        let sender = sender.spawn_scoped(scope, || send(task, socket, at_ns, &shared));
        let sender = match sender {
            Ok(sender) => sender,
            Err(error) => return (Sent::default(), Some(error.to_string())),
        };
        let error = receiving.run(socket).err();
        let error = error.map(|error| error.to_string());
        match sender.join() {
            Ok(sent) => (sent, error),
            Err(_) => (Sent::default(), Some("the sending thread died".into())),
        }
    });
    let probed = Probed {
        flow: task.flow,
        received: receiving.finish(sent.sent),
        error: sent.error.clone().or(error),
        sent,
    };
    // Fails only when the reporting thread has ended.
    let _ = reports.send(Report::Probed(Box::new(probed)));
}

fn send(task: &Task, socket: &UdpSocket, at_ns: i64, shared: &ProbeState) -> Sent {
    precise_timers();
    let started = sleep_until_or_stop(at_ns, &task.stop);
    let (cpu_start, wait_start) = (thread_cpu_ns(), thread_wait_ns());
    let mut out = Sent {
        begin_ns: at_ns,
        timer_error: Histogram::allocated(),
        send_call: Histogram::allocated(),
        ..Sent::default()
    };
    let mut datagram = vec![0u8; task.agreed.length as usize];
    let every_ns = task.every_ns as i64;
    let slots = if started.is_some() { task.probes } else { 0 };
    for slot in 0..slots as i64 {
        let intended_ns = at_ns.saturating_add(every_ns.saturating_mul(slot));
        let goes_on = sleep_until_or_stop(intended_ns, &task.stop).is_some();
        if !goes_on || shared.is_silent.load(Ordering::Relaxed) {
            break;
        }
        let sequence = out.sent;
        task.agreed.write_probe(sequence, &mut datagram);
        let now = now_ns();
        // Sent now, two would leave at once: the second would measure the first.
        if now - intended_ns >= every_ns {
            out.unsent += 1;
            continue;
        }
        out.start_late_ns.get_or_insert(now - at_ns);
        shared.departures_ns[sequence as usize].store(now, Ordering::Relaxed);
        // Counted before it can be answered.
        shared.sent.store(sequence + 1, Ordering::Release);
        if let Err(error) = socket.send(&datagram) {
            out.refused += 1;
            shared.sent.store(sequence, Ordering::Release);
            if is_final(&error) {
                out.error = Some(format!("sending failed: {error}"));
                break;
            }
            continue;
        }
        out.send_call.record((now_ns() - now) as u64);
        out.timer_error.record((now - intended_ns) as u64);
        out.sent += 1;
    }
    let since = |end: Option<u64>, start: Option<u64>| {
        let both = end.zip(start);
        both.map(|(end, start)| end.saturating_sub(start))
    };
    out.cpu_ns = since(thread_cpu_ns(), cpu_start);
    out.wait_ns = since(thread_wait_ns(), wait_start);
    let now = now_ns();
    out.elapsed_ns = now - at_ns;
    shared.over_ns.store(now, Ordering::Release);
    out
}

/// False for what the next probe may not meet: a full queue, or the refusal of an earlier one.
#[cold]
fn is_final(error: &std::io::Error) -> bool {
    let problem = udp::send_problem(error);
    matches!(problem, SendProblem::TooLarge | SendProblem::Other(_))
}

struct Receiving<'a> {
    task: &'a Task,
    shared: &'a ProbeState,
    reports: &'a SyncSender<Report>,
    received: Received,
    /// By sequence number: answered, in time or late.
    settled: Vec<bool>,
    /// Number of them.
    settled_count: u64,
    /// Answers since the last report.
    records: Records<Interval>,
    report_at_ns: i64,
    stopped_ns: Option<i64>,
    silence: Silence,
}

impl<'a> Receiving<'a> {
    fn new(
        task: &'a Task,
        shared: &'a ProbeState,
        at_ns: i64,
        reports: &'a SyncSender<Report>,
    ) -> Self {
        let every_ns = i64::try_from(task.every_ns).unwrap_or(i64::MAX);
        Self {
            task,
            shared,
            reports,
            received: Received {
                rows: vec![None; task.probes as usize],
                departures_ns: Vec::new(),
                answers: Tracker::new(Some(0)),
                late: 0,
                foreign: 0,
                kernel_stamps: 0,
                turnaround: Histogram::allocated(),
            },
            settled: vec![false; task.probes as usize],
            settled_count: 0,
            records: Records::new(|| Interval {
                flow: task.flow,
                rtt: Histogram::allocated(),
                ..Interval::default()
            }),
            report_at_ns: at_ns.saturating_add_unsigned(task.interval_ns),
            stopped_ns: None,
            silence: Silence::within(at_ns, SILENCE_BOUND_NS.max(every_ns.saturating_mul(10))),
        }
    }

    /// Takes answers until none can come any more. The socket's receive bound says how soon an end
    /// is noticed.
    fn run(&mut self, socket: &UdpSocket) -> std::io::Result<()> {
        // A longer datagram than agreed on must be seen to be longer.
        let mut buffer = vec![0u8; (self.task.agreed.length as usize + 1).max(HEADER_BYTES)];
        loop {
            match stamps::receive(socket, &mut buffer) {
                Ok(arrival) => self.take(&buffer[..arrival.length], &arrival),
                Err(error) if is_silence(&error) => {}
                // The far end's port was closed when a probe came: that probe is lost.
                Err(error) if udp::is_passing(&error) => {}
                Err(error) => return Err(error),
            }
            let now = now_ns();
            if now >= self.report_at_ns {
                self.report(now);
            }
            if self.silence.is_too_long(self.settled_count, now) {
                self.shared.is_silent.store(true, Ordering::Relaxed);
                return Err(std::io::Error::other(self.silence.says()));
            }
            if self.is_over(now) {
                return Ok(());
            }
        }
    }

    /// True when every probe has its answer, or has waited long enough for it.
    fn is_over(&mut self, now: i64) -> bool {
        let over_ns = self.shared.over_ns.load(Ordering::Acquire);
        if over_ns == NEVER {
            return false;
        }
        if self.settled_count >= self.shared.sent.load(Ordering::Acquire) {
            return true;
        }
        let mut until_ns = over_ns.saturating_add(self.task.timeout_ns);
        if self.task.stop.load(Ordering::Relaxed) {
            let since_ns = *self.stopped_ns.get_or_insert(now);
            until_ns = until_ns.min(since_ns.saturating_add(STOP_GRACE_NS));
        }
        now >= until_ns
    }

    /// Takes one datagram.
    fn take(&mut self, bytes: &[u8], arrival: &Stamped) {
        let answer = self.task.agreed.read_answer(bytes);
        let known = |sequence: u64| sequence < self.shared.sent.load(Ordering::Acquire);
        let Some(answer) = answer.filter(|answer| known(answer.sequence)) else {
            self.received.foreign += 1;
            return;
        };
        self.received.kernel_stamps += u64::from(arrival.by_kernel);
        self.received.answers.arrive(answer.number, arrival.at_ns);
        let index = answer.sequence as usize;
        if std::mem::replace(&mut self.settled[index], true) {
            return;
        }
        self.settled_count += 1;
        let sent_ns = self.shared.departures_ns[index].load(Ordering::Relaxed);
        if arrival.at_ns.saturating_sub(sent_ns) > self.task.timeout_ns {
            self.received.late += 1;
            return;
        }
        let taken = Row {
            sent_ns,
            up_ns: answer.received_ns.saturating_sub(sent_ns),
            down_ns: arrival.at_ns.saturating_sub(answer.sent_ns),
        };
        self.received.rows[index] = Some(taken);
        let held_ns = answer.sent_ns - answer.received_ns;
        self.received.turnaround.record(held_ns as u64);
        self.records.rtt.record(taken.rtt_ns().max(0) as u64);
        self.records.answered += 1;
    }

    /// Hands the interval over. When the reporting thread is behind, it is kept for the next time.
    fn report(&mut self, now: i64) {
        self.records.t_ns = now;
        let unwrap = |report| match report {
            Report::Interval(interval) => Some(interval),
            Report::Probed(_) | Report::Answered(_) => None,
        };
        self.records
            .hand_over(self.reports, Report::Interval, unwrap);
        self.report_at_ns = now.saturating_add_unsigned(self.task.interval_ns);
    }

    /// Hands over what was seen of `sent` probes.
    fn finish(mut self, sent: u64) -> Received {
        self.records.t_ns = now_ns();
        // Fails only when the reporting thread has ended.
        let _ = self.reports.send(Report::Interval(self.records.last()));
        let departures = self.shared.departures_ns.iter().take(sent as usize);
        self.received.departures_ns = departures.map(|at| at.load(Ordering::Relaxed)).collect();
        self.received.rows.truncate(sent as usize);
        self.received
    }
}
