//! The sending end: one thread per stream, which serves all peers of the stream in turn.
//!
//! The loop touches nothing that another thread waits for: its counters are its own and are copied
//! out at each interval.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers, sleep_until, thread_cpu_ns, thread_wait_ns};
use sokudo_net::udp::{SendMode, SendProblem, Sender};
use sokudo_pace::{Paced, batch_within};
use sokudo_stats::Histogram;

use super::options::SizeRange;
use super::protocol::{HEADER_BYTES, Header, fill_verified};
use super::report::Report;
use super::stream::{STREAM_BATCH, StreamSender};

/// Longest burst of a paced sender, nanoseconds of its schedule.
const BURST_NS: f64 = 200_000.0;
/// Time between two datagrams that ask for an acknowledgement.
const ACK_EVERY_NS: i64 = 5_000_000;
/// A paced datagram that leaves later than this counts as late.
const LATE_NS: i64 = 1_000_000;
/// How long a reader of acknowledgements waits before it looks at the stop flag.
const ACK_WAIT: Duration = Duration::from_millis(50);
/// How long a paced wait may last before the stop flag is looked at.
const STOP_LOOK_NS: i64 = 50_000_000;

/// What carries a flow's datagrams.
pub enum Out {
    /// UDP.
    Udp(Sender),
    /// TCP or TLS.
    Stream(StreamSender),
}

impl Out {
    fn slot(&mut self, index: usize) -> &mut [u8] {
        match self {
            Out::Udp(sender) => sender.slot(index),
            Out::Stream(sender) => sender.slot(index),
        }
    }

    fn set_length(&mut self, index: usize, bytes: usize) {
        match self {
            Out::Udp(sender) => sender.set_length(index, bytes),
            Out::Stream(sender) => sender.set_length(index, bytes),
        }
    }

    /// Datagrams per call.
    pub fn batch(&self) -> usize {
        match self {
            Out::Udp(sender) => sender.batch(),
            Out::Stream(_) => STREAM_BATCH,
        }
    }
}

/// One flow as its sending thread sees it.
pub struct ClientFlow {
    /// Number in the phase.
    pub id: u32,
    /// The flow's secret number.
    pub ticket: u64,
    /// What carries it.
    pub out: Out,
    /// Mode of the sends; `None` over a stream.
    pub mode: Option<SendMode>,
    /// Counters so far.
    pub counts: ClientCounts,
}

/// What a flow's sending end counts.
#[derive(Debug, Clone, Default)]
pub struct ClientCounts {
    /// Datagrams that the kernel took; also the next sequence number.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Send calls that took any.
    pub calls: u64,
    /// Send calls that were refused.
    pub refused_calls: u64,
    /// Datagrams in those.
    pub refused: u64,
    /// Unreachable errors that came back.
    pub unreachable: u64,
    /// Datagrams that left more than a millisecond late.
    pub late: u64,
    /// First send, nanoseconds.
    pub first_ns: Option<i64>,
    /// Last send, nanoseconds.
    pub last_ns: i64,
    /// Why the flow ended early.
    pub error: Option<String>,
}

/// What one sending thread is to do.
pub struct ClientTask {
    /// Stream that the thread serves.
    pub stream: u32,
    /// Its flows.
    pub flows: Vec<ClientFlow>,
    /// Load offered by the thread over all its flows; `None` = as fast as possible.
    pub rate_per_s: Option<f64>,
    /// Datagrams per flow; `None` = until the time is over.
    pub count: Option<u64>,
    /// How long to send; 0 = until the count is reached.
    pub duration_ns: u64,
    /// Latest end in any case, from the start.
    pub bound_ns: u64,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Sizes to draw from.
    pub size: SizeRange,
    /// Bytes of each datagram to fill with the pattern.
    pub verify_bytes: usize,
    /// Seed of the size draw.
    pub seed: u64,
    /// Set when the thread must end.
    pub stop: Arc<AtomicBool>,
    /// When given, sending waits until it is set (by the receiving side's first datagram).
    pub polite: Option<Arc<AtomicBool>>,
}

/// What one sending thread did.
#[derive(Debug)]
pub struct ClientDone {
    /// Stream that the thread served.
    pub stream: u32,
    /// Flow, mode and counters.
    pub flows: Vec<(u32, Option<SendMode>, ClientCounts)>,
    /// CPU time of the thread from start to end, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub elapsed_ns: i64,
    /// Real minus intended send times since the last report; empty when unlimited.
    pub lateness: Histogram,
}

/// Draws sizes uniformly from a range: splitmix64, one step per datagram.
struct Sizes {
    range: SizeRange,
    state: u64,
}

impl Sizes {
    fn next(&mut self) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let span = u64::from(self.range.max - self.range.min) + 1;
        self.range.min as usize + ((u128::from(z) * u128::from(span)) >> 64) as usize
    }
}

/// Sends from `at_ns` on, until time, count or stop; reports to `reports`.
pub fn run(mut task: ClientTask, at_ns: i64, reports: &SyncSender<Report>) {
    precise_timers();
    let Some(start_ns) = wait_for_start(&task, at_ns) else {
        let _ = reports.send(Report::ClientDone(done(
            task,
            at_ns,
            None,
            None,
            Histogram::new(),
        )));
        return;
    };
    let cpu_start = thread_cpu_ns();
    let wait_start = thread_wait_ns();
    let mut lateness = Histogram::new();
    send_all(&mut task, start_ns, reports, &mut lateness);
    let cpu_ns = thread_cpu_ns()
        .zip(cpu_start)
        .map(|(end, start)| end - start);
    let wait_ns = thread_wait_ns()
        .zip(wait_start)
        .map(|(end, start)| end.saturating_sub(start));
    let _ = reports.send(Report::ClientDone(done(
        task, start_ns, cpu_ns, wait_ns, lateness,
    )));
}

fn done(
    task: ClientTask,
    start_ns: i64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    lateness: Histogram,
) -> ClientDone {
    ClientDone {
        stream: task.stream,
        flows: task
            .flows
            .into_iter()
            .map(|flow| (flow.id, flow.mode, flow.counts))
            .collect(),
        cpu_ns,
        wait_ns,
        elapsed_ns: now_ns() - start_ns,
        lateness,
    }
}

/// Sleeps until the start, or until the first datagram has come in politely; `None` when stopped.
fn wait_for_start(task: &ClientTask, at_ns: i64) -> Option<i64> {
    sleep_until_or_stop(at_ns, &task.stop)?;
    let Some(polite) = &task.polite else {
        return Some(at_ns);
    };
    let give_up_ns = at_ns + task.bound_ns as i64;
    while !polite.load(Ordering::Acquire) {
        sleep_until_or_stop((now_ns() + 1_000_000).min(give_up_ns), &task.stop)?;
        if now_ns() >= give_up_ns {
            return None;
        }
    }
    Some(now_ns())
}

fn sleep_until_or_stop(at_ns: i64, stop: &AtomicBool) -> Option<()> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let left_ns = at_ns - now_ns();
        if left_ns <= STOP_LOOK_NS {
            sleep_until(at_ns);
            return Some(());
        }
        std::thread::sleep(Duration::from_nanos(STOP_LOOK_NS as u64));
    }
}

fn send_all(
    task: &mut ClientTask,
    start_ns: i64,
    reports: &SyncSender<Report>,
    lateness: &mut Histogram,
) {
    let end_ns = start_ns.saturating_add(match task.duration_ns {
        0 => task.bound_ns as i64,
        duration => duration.min(task.bound_ns) as i64,
    });
    let mut sizes = (task.size.min < task.size.max).then_some(Sizes {
        range: task.size,
        state: task.seed,
    });
    let mut paced = task.rate_per_s.and_then(|rate| Paced::new(rate, start_ns));
    let smallest = task
        .flows
        .iter()
        .map(|flow| flow.out.batch())
        .min()
        .unwrap_or(1);
    let batch = task
        .rate_per_s
        .map_or(smallest, |rate| batch_within(rate, BURST_NS, smallest));
    let mut ack_at_ns = start_ns;
    let mut report_at_ns = start_ns + task.interval_ns as i64;
    let mut live: Vec<usize> = (0..task.flows.len()).collect();
    let mut turn = 0;
    let mut now = now_ns();
    while now < end_ns && !live.is_empty() && !task.stop.load(Ordering::Relaxed) {
        let mut ready = batch;
        if let Some(paced) = &paced {
            let due_ns = paced.due_ns(batch).min(end_ns);
            if now < due_ns {
                sleep_until(due_ns.min(now + STOP_LOOK_NS).min(report_at_ns.max(now)));
                now = now_ns();
                report_when_due(task, now, &mut report_at_ns, lateness, reports);
                continue;
            }
            ready = paced.due(now, batch);
        }
        turn = (turn + 1) % live.len();
        let flow = &mut task.flows[live[turn]];
        let left = task
            .count
            .map_or(u64::MAX, |count| count - flow.counts.sent);
        let ready = ready
            .min(usize::try_from(left).unwrap_or(usize::MAX))
            .min(flow.out.batch());
        let ack_wanted = now >= ack_at_ns;
        if ack_wanted {
            ack_at_ns = now + ACK_EVERY_NS;
        }
        fill(
            flow,
            ready,
            now,
            ack_wanted,
            task.verify_bytes,
            sizes.as_mut(),
        );
        let goes_on = send(flow, ready, now, task.size);
        if let Some(paced) = &mut paced {
            note_lateness(paced, ready, now, lateness, &mut flow.counts);
            paced.started(ready, now);
        }
        if !goes_on || flow.counts.sent == task.count.unwrap_or(u64::MAX) {
            live.swap_remove(turn);
        }
        now = now_ns();
        report_when_due(task, now, &mut report_at_ns, lateness, reports);
    }
}

#[inline]
fn fill(
    flow: &mut ClientFlow,
    ready: usize,
    now: i64,
    ack_wanted: bool,
    verify_bytes: usize,
    mut sizes: Option<&mut Sizes>,
) {
    let mut header = Header {
        ticket: flow.ticket,
        sequence: flow.counts.sent,
        send_ns: now,
        ack_wanted,
        ack: false,
    };
    for index in 0..ready {
        let slot = flow.out.slot(index);
        header.write(slot);
        if verify_bytes > HEADER_BYTES {
            fill_verified(slot, header.sequence, verify_bytes);
        }
        if let Some(sizes) = sizes.as_mut() {
            flow.out.set_length(index, sizes.next());
        }
        header.sequence += 1;
        header.ack_wanted = false;
    }
}

/// Hands `ready` datagrams over and counts what became of them; false when the flow is over.
#[inline]
fn send(flow: &mut ClientFlow, ready: usize, now: i64, size: SizeRange) -> bool {
    let counts = &mut flow.counts;
    let taken = match &mut flow.out {
        Out::Udp(sender) => {
            let sent = sender.send(ready);
            if let Some(problem) = sent.problem {
                if !note_problem(counts, problem, ready - sent.taken) {
                    return false;
                }
            }
            sent.taken
        }
        Out::Stream(sender) => match sender.send(ready) {
            Ok(()) => ready,
            Err(error) => {
                counts.error = Some(format!("the stream ended: {error}"));
                return false;
            }
        },
    };
    if taken > 0 {
        counts.first_ns.get_or_insert(now);
        counts.last_ns = now;
        counts.calls += 1;
        counts.sent += taken as u64;
        counts.bytes += taken as u64 * u64::from(size.mean());
    }
    true
}

#[cold]
fn note_problem(counts: &mut ClientCounts, problem: SendProblem, left: usize) -> bool {
    match problem {
        SendProblem::Refused => {
            counts.refused_calls += 1;
            counts.refused += left as u64;
            true
        }
        SendProblem::Unreachable => {
            counts.unreachable += 1;
            true
        }
        SendProblem::TooLarge => {
            counts.error = Some("the datagrams do not fit the path any more (EMSGSIZE)".into());
            false
        }
        SendProblem::Other(code) => {
            let error = std::io::Error::from_raw_os_error(code);
            counts.error = Some(format!("sending failed: {error}"));
            false
        }
    }
}

#[inline]
fn note_lateness(
    paced: &Paced,
    ready: usize,
    now: i64,
    lateness: &mut Histogram,
    counts: &mut ClientCounts,
) {
    // The last datagram of a batch is the one that left at its time; the first waited for it.
    let late_ns = (now - paced.next_ns()).max(0);
    lateness.record(late_ns as u64);
    if late_ns > LATE_NS {
        counts.late += ready as u64;
    }
}

#[inline]
fn report_when_due(
    task: &ClientTask,
    now: i64,
    report_at_ns: &mut i64,
    lateness: &mut Histogram,
    reports: &SyncSender<Report>,
) {
    if now < *report_at_ns {
        return;
    }
    *report_at_ns = now - (now - *report_at_ns) % task.interval_ns as i64 + task.interval_ns as i64;
    let flows = task
        .flows
        .iter()
        .map(|flow| (flow.id, flow.counts.sent, flow.counts.bytes))
        .collect();
    // Counters are cumulative: a report that finds no room is made up for by the next one.
    let _ = reports.try_send(Report::Client {
        t_ns: now,
        flows,
        lateness: lateness.take(),
    });
}

/// Reads the acknowledgements of one flow until told to stop; hands round trips over each second.
pub fn read_acks(
    socket: &UdpSocket,
    flow: u32,
    ticket: u64,
    stop: &AtomicBool,
    reports: &SyncSender<Report>,
) {
    if socket.set_read_timeout(Some(ACK_WAIT)).is_err() {
        return;
    }
    let mut rtt = Histogram::new();
    let mut report_at_ns = now_ns() + 1_000_000_000;
    let mut bytes = [0u8; HEADER_BYTES];
    loop {
        let received = socket.recv(&mut bytes);
        let now = now_ns();
        if let Ok(HEADER_BYTES) = received {
            match Header::read(&bytes) {
                Ok(header) if header.ack && header.ticket == ticket => {
                    rtt.record((now - header.send_ns).max(0) as u64);
                }
                _ => {}
            }
        }
        let over = stop.load(Ordering::Relaxed);
        if over || now >= report_at_ns {
            report_at_ns = now + 1_000_000_000;
            let _ = reports.try_send(Report::Acks {
                t_ns: now,
                flow,
                rtt: rtt.take(),
            });
        }
        if over {
            return;
        }
    }
}
