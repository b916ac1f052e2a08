//! The sending end: one thread per stream, which serves all peers of the stream in turn.
//!
//! The loop touches nothing that another thread waits for: its counters are its own and are copied
//! out at each interval.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use serde::{Deserialize, Serialize};
use sokudo_net::clock::{now_ns, precise_timers, sleep_until};
use sokudo_net::udp::{SendProblem, Sender};
use sokudo_pace::{Paced, batch_within};
use sokudo_stats::Histogram;
use sokudo_workload::consent::Silence;
use sokudo_workload::effort::{Effort, ThreadSpent};
use sokudo_workload::handover::Records;
use sokudo_workload::patience::{STOP_LOOK_NS, sleep_until_or_stop};

use super::options::SizeRange;
use super::protocol::{HEADER_BYTES, Header, fill_verified};
use super::report::{ClientInterval, Report};
use super::stream::{STREAM_BATCH, StreamSender};

/// Longest burst of a paced sender, nanoseconds of its schedule.
const BURST_NS: f64 = 200_000.0;
/// Time between two datagrams that ask for an acknowledgement.
const ACK_EVERY_NS: i64 = 5_000_000;
/// A paced datagram that leaves later than this counts as late.
const LATE_NS: i64 = 1_000_000;
/// A schedule whose last datagrams are late may finish them within this time: a thread that wakes
/// up a little late must not leave out what was due before the end.
const OVERTIME_NS: i64 = 10_000_000;

/// Carrier of a flow's datagrams.
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
    /// Its carrier.
    pub out: Out,
    /// Sizes to draw from.
    pub size: SizeRange,
    /// Counters so far.
    pub counts: ClientCounts,
    /// Set when nothing has come from the receiver for too long.
    pub is_silent: Arc<AtomicBool>,
    /// Lengths of the batch to be sent; empty when all are equal.
    drawn: Vec<u32>,
}

impl ClientFlow {
    /// A flow that has sent nothing.
    pub fn new(id: u32, ticket: u64, out: Out, size: SizeRange) -> Self {
        Self {
            id,
            ticket,
            drawn: match size.min < size.max {
                true => Vec::with_capacity(out.batch()),
                false => Vec::new(),
            },
            out,
            size,
            counts: ClientCounts::default(),
            is_silent: Arc::default(),
        }
    }

    /// Bytes of the first `taken` datagrams of the batch.
    #[inline]
    fn bytes_of(&self, taken: usize) -> u64 {
        if self.drawn.is_empty() {
            taken as u64 * u64::from(self.size.max)
        } else {
            self.drawn[..taken].iter().copied().map(u64::from).sum()
        }
    }
}

/// Counts of a flow's sending end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
    /// First send minus the agreed start, nanoseconds; `None` for a flow that waited for a peer.
    pub start_late_ns: Option<i64>,
    /// Last send, nanoseconds.
    pub last_ns: i64,
    /// Time from the begin of the load until all datagrams of a count had been sent, nanoseconds; of a schedule
    /// until the next one would have been due. `None` when something else ended the flow.
    #[serde(default)]
    pub reached_ns: Option<i64>,
    /// Reason of an early end.
    pub error: Option<String>,
}

/// Task of one sending thread.
pub struct ClientTask {
    /// Stream that the thread serves.
    pub stream: u32,
    /// Its flows.
    pub flows: Vec<ClientFlow>,
    /// Load offered by the thread over all its flows; `None` = as fast as possible.
    pub rate_per_s: Option<f64>,
    /// Datagrams per flow; `None` = until the time is over.
    pub count: Option<u64>,
    /// Duration of sending; 0 = until the count is reached.
    pub duration_ns: u64,
    /// Latest end in any case, from the start.
    pub bound_ns: u64,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Bytes of each datagram to fill with the pattern.
    pub verify_bytes: usize,
    /// Seed of the size draw.
    pub seed: u64,
    /// Set when the thread must end.
    pub stop: Arc<AtomicBool>,
    /// Flag that sending waits for, when given (set by the receiving side's first datagram).
    pub polite: Option<Arc<AtomicBool>>,
}

/// Result of one sending thread.
#[derive(Debug)]
pub struct ClientDone {
    /// Stream that the thread served.
    pub stream: u32,
    /// Flow and counters.
    pub flows: Vec<(u32, ClientCounts)>,
    /// CPU time of the thread from start to end, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub elapsed_ns: i64,
}

/// Draws sizes uniformly from a range: splitmix64, one step per datagram.
pub struct Sizes(pub u64);

impl Sizes {
    /// The next size.
    #[inline]
    pub fn draw(&mut self, range: SizeRange) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let span = u64::from(range.max - range.min) + 1;
        range.min + ((u128::from(z) * u128::from(span)) >> 64) as u32
    }
}

/// Sends from `at_ns` on, until time, count or stop; reports to `reports`.
pub fn run(mut task: ClientTask, at_ns: i64, reports: &SyncSender<Report>) {
    precise_timers();
    // Made before the start: at that moment others may begin on the same core.
    let mut records = Records::new(|| prepared(&task));
    let Some(start_ns) = wait_for_start(&task, at_ns) else {
        let _ = reports.send(Report::ClientDone(done(
            task,
            at_ns,
            ThreadSpent::default(),
        )));
        return;
    };
    let effort = Effort::begin();
    send_all(&mut task, start_ns, reports, &mut records);
    if task.polite.is_none() {
        for ClientFlow { counts, .. } in &mut task.flows {
            counts.start_late_ns = counts.first_ns.map(|first| first - at_ns);
        }
    }
    let done = done(task, start_ns, effort.spent());
    records.t_ns = now_ns();
    records.flows.clear();
    // Both fail only when the reporting thread has ended.
    let _ = reports.send(Report::Client(records.last()));
    let _ = reports.send(Report::ClientDone(done));
}

/// An empty interval, written to without allocating.
fn prepared(task: &ClientTask) -> ClientInterval {
    ClientInterval {
        flows: Vec::with_capacity(task.flows.len()),
        lateness: match task.rate_per_s {
            Some(_) => Histogram::allocated(),
            None => Histogram::new(),
        },
        ..ClientInterval::default()
    }
}

fn done(
    task: ClientTask,
    start_ns: i64,
    ThreadSpent { cpu_ns, wait_ns }: ThreadSpent,
) -> ClientDone {
    ClientDone {
        stream: task.stream,
        flows: task
            .flows
            .into_iter()
            .map(|flow| (flow.id, flow.counts))
            .collect(),
        cpu_ns,
        wait_ns,
        elapsed_ns: now_ns() - start_ns,
    }
}

/// Sleeps until the start, or until the first datagram has come in politely; `None` when stopped.
fn wait_for_start(task: &ClientTask, at_ns: i64) -> Option<i64> {
    sleep_until_or_stop(at_ns, &task.stop)?;
    let Some(polite) = &task.polite else {
        return Some(at_ns);
    };
    let give_up_ns = at_ns.saturating_add_unsigned(task.bound_ns);
    while !polite.load(Ordering::Acquire) {
        sleep_until_or_stop((now_ns() + 1_000_000).min(give_up_ns), &task.stop)?;
        if now_ns() >= give_up_ns {
            return None;
        }
    }
    Some(now_ns())
}

/// Rate limit of a thread.
struct Pace {
    paced: Paced,
    rate_per_s: f64,
    batch: usize,
    /// Datagrams of the schedule that are due before the end and not handed over yet.
    left: u64,
}

impl Pace {
    fn new(rate_per_s: f64, most: usize, start_ns: i64, end_ns: i64) -> Option<Self> {
        let paced = Paced::new(rate_per_s, start_ns)?;
        let span_s = end_ns.saturating_sub(start_ns).max(0) as f64 / 1e9;
        Some(Self {
            paced,
            rate_per_s,
            batch: batch_within(rate_per_s, BURST_NS, most),
            // The one that is due exactly at the end is not sent.
            left: (span_s * rate_per_s).ceil() as u64,
        })
    }

    /// Time of the next send: with the last of a batch, so that none leaves early. The last batch
    /// of the schedule may be smaller.
    fn due_ns(&self) -> i64 {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        self.paced.due_ns(self.batch.min(left))
    }

    /// Notes that `count` datagrams of the schedule left, or were refused, at `now`.
    #[inline]
    fn started(
        &mut self,
        count: usize,
        now: i64,
        lateness: &mut Histogram,
        counts: &mut ClientCounts,
    ) {
        let (first_ns, period_ns) = (self.paced.next_ns(), 1e9 / self.rate_per_s);
        for index in 0..count {
            let late_ns = now - first_ns - (index as f64 * period_ns) as i64;
            lateness.record(late_ns.max(0) as u64);
            counts.late += u64::from(late_ns > LATE_NS);
        }
        self.paced.started(count, now);
        self.left = self.left.saturating_sub(count as u64);
    }
}

/// State of the sending loop.
struct Loop {
    end_ns: i64,
    batch: usize,
    pace: Option<Pace>,
    sizes: Sizes,
    /// Flows that have more to send.
    live: Vec<usize>,
    turn: usize,
    ack_at_ns: i64,
    report_at_ns: i64,
    start_ns: i64,
}

impl Loop {
    fn new(task: &ClientTask, start_ns: i64) -> Self {
        let end_ns = start_ns.saturating_add_unsigned(match task.duration_ns {
            0 => task.bound_ns,
            duration => duration.min(task.bound_ns),
        });
        let batches = task.flows.iter().map(|flow| flow.out.batch());
        let batch = batches.min().unwrap_or(1);
        let pace = task.rate_per_s;
        Self {
            end_ns,
            batch,
            pace: pace.and_then(|rate| Pace::new(rate, batch, start_ns, end_ns)),
            sizes: Sizes(task.seed),
            live: (0..task.flows.len()).collect(),
            turn: 0,
            start_ns,
            ack_at_ns: start_ns,
            report_at_ns: start_ns.saturating_add_unsigned(task.interval_ns),
        }
    }

    /// False when the time is over, all flows have ended, or the operator has stopped the run.
    #[inline]
    fn goes_on(&self, task: &ClientTask, now: i64) -> bool {
        let unfinished = self.pace.as_ref().is_some_and(|pace| pace.left > 0);
        let overtime_ns = if unfinished { OVERTIME_NS } else { 0 };
        now < self.end_ns.saturating_add(overtime_ns)
            && !self.live.is_empty()
            && !task.stop.load(Ordering::Relaxed)
    }

    /// Datagrams that may leave now; `Err` with the time to wait for when there are none.
    #[inline]
    fn ready(&self, now: i64) -> Result<usize, i64> {
        let Some(pace) = &self.pace else {
            return Ok(self.batch);
        };
        let due_ns = match pace.left {
            0 => self.end_ns,
            _ => pace.due_ns(),
        };
        if now < due_ns {
            return Err(due_ns
                .min(now + STOP_LOOK_NS)
                .min(self.report_at_ns.max(now)));
        }
        Ok(pace.paced.due(now, pace.batch))
    }

    /// Sends up to `ready` datagrams of the flow whose turn it is.
    #[inline]
    fn send(&mut self, task: &mut ClientTask, ready: usize, now: i64, lateness: &mut Histogram) {
        self.turn = (self.turn + 1) % self.live.len();
        let flow = &mut task.flows[self.live[self.turn]];
        let left = task
            .count
            .map_or(u64::MAX, |count| count - flow.counts.sent);
        let ready = ready.min(usize::try_from(left).unwrap_or(usize::MAX));
        let ack_wanted = now >= self.ack_at_ns;
        if ack_wanted {
            self.ack_at_ns = now + ACK_EVERY_NS;
        }
        fill(
            flow,
            ready,
            now,
            ack_wanted,
            task.verify_bytes,
            &mut self.sizes,
        );
        let used = send(flow, ready, now);
        if let (Some(pace), Some(used)) = (&mut self.pace, used) {
            pace.started(used, now, lateness, &mut flow.counts);
        }
        if used.is_none() {
            self.slow_down(now);
        }
        let is_reached = flow.counts.sent == task.count.unwrap_or(u64::MAX);
        if is_reached {
            flow.counts.reached_ns = Some(self.length_ns());
        }
        if used.is_none() || is_reached {
            self.live.swap_remove(self.turn);
        }
    }

    /// Ends the flows whose receivers say nothing any more.
    fn end_silent(&mut self, task: &mut ClientTask, now: i64) {
        for at in (0..self.live.len()).rev() {
            let flow = &mut task.flows[self.live[at]];
            if flow.is_silent.load(Ordering::Relaxed) {
                flow.counts.error = Some(Silence::new(now).says());
                self.slow_down(now);
                self.live.swap_remove(at);
            }
        }
    }

    /// Time since the start, nanoseconds; up to when the next datagram of a schedule is due.
    #[cold]
    fn length_ns(&self) -> i64 {
        let due_ns = self.pace.as_ref().map(|pace| pace.paced.next_ns());
        now_ns().max(due_ns.unwrap_or(i64::MIN)) - self.start_ns
    }

    /// One flow has failed: the others keep their own share of the rate, no more.
    #[cold]
    fn slow_down(&mut self, now: i64) {
        let flows = self.live.len() as f64;
        self.pace = self.pace.take().and_then(|pace| {
            let rate_per_s = pace.rate_per_s * (flows - 1.0) / flows;
            Pace::new(rate_per_s, self.batch, now, self.end_ns)
        });
    }
}

fn send_all(
    task: &mut ClientTask,
    start_ns: i64,
    reports: &SyncSender<Report>,
    records: &mut Records<ClientInterval>,
) {
    let mut state = Loop::new(task, start_ns);
    let mut now = now_ns();
    while state.goes_on(task, now) {
        match state.ready(now) {
            Ok(ready) => state.send(task, ready, now, &mut records.lateness),
            Err(until_ns) => sleep_until(until_ns),
        }
        now = now_ns();
        if now >= state.report_at_ns {
            state.report_at_ns = next_report_ns(state.report_at_ns, now, task.interval_ns);
            report(task, now, records, reports);
            state.end_silent(task, now);
        }
    }
    if rest_is_worth_it(state.report_at_ns, now, task.interval_ns) {
        report(task, now, records, reports);
    }
}

#[inline]
fn fill(
    flow: &mut ClientFlow,
    ready: usize,
    now: i64,
    ack_wanted: bool,
    verify_bytes: usize,
    sizes: &mut Sizes,
) {
    let mut header = Header {
        ticket: flow.ticket,
        sequence: flow.counts.sent,
        send_ns: now,
        ack_wanted,
        ack: false,
    };
    flow.drawn.clear();
    for index in 0..ready {
        let slot = flow.out.slot(index);
        header.write(slot);
        if verify_bytes > HEADER_BYTES {
            fill_verified(slot, header.sequence, verify_bytes);
        }
        if flow.size.min < flow.size.max {
            let bytes = sizes.draw(flow.size);
            flow.drawn.push(bytes);
            flow.out.set_length(index, bytes as usize);
        }
        header.sequence += 1;
        header.ack_wanted = false;
    }
}

/// Hands `ready` datagrams over and counts what became of them.
///
/// Returns how many of them the schedule is rid of: all that were taken or refused. `None` when the
/// flow is over.
#[inline]
fn send(flow: &mut ClientFlow, ready: usize, now: i64) -> Option<usize> {
    let mut used = ready;
    let taken = match &mut flow.out {
        Out::Udp(sender) => {
            let mut sent = sender.send(ready);
            if sent.taken == 0 && sent.problem == Some(SendProblem::Unreachable) {
                // The error is an earlier datagram's. Now that it has been said, this batch can go.
                flow.counts.unreachable += 1;
                sent = sender.send(ready);
            }
            if let Some(problem) = sent.problem {
                if !note_problem(&mut flow.counts, problem, ready - sent.taken) {
                    return None;
                }
                if problem == SendProblem::Unreachable && sent.taken > 0 {
                    used = sent.taken;
                }
            }
            sent.taken
        }
        Out::Stream(sender) => match sender.send(ready) {
            Ok(()) => ready,
            Err(error) => {
                flow.counts.error = Some(format!("the stream ended: {error}"));
                return None;
            }
        },
    };
    if taken > 0 {
        let bytes = flow.bytes_of(taken);
        let counts = &mut flow.counts;
        counts.first_ns.get_or_insert(now);
        counts.last_ns = now;
        counts.calls += 1;
        counts.sent += taken as u64;
        counts.bytes += bytes;
    }
    Some(used)
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

/// Hands the interval over. Counters are cumulative: an interval that is kept for the next time is made
/// up for by that one.
fn report(
    task: &ClientTask,
    now: i64,
    records: &mut Records<ClientInterval>,
    reports: &SyncSender<Report>,
) {
    records.t_ns = now;
    records.flows.clear();
    let sent = |flow: &ClientFlow| (flow.id, flow.counts.sent, flow.counts.bytes);
    records.flows.extend(task.flows.iter().map(sent));
    let unwrap = |report| match report {
        Report::Client(interval) => Some(interval),
        _ => None,
    };
    records.hand_over(reports, Report::Client, unwrap);
}

/// The first multiple of the interval after `now`, counted from the report that is due.
pub(crate) fn next_report_ns(due_ns: i64, now: i64, interval_ns: u64) -> i64 {
    let interval_ns = i64::try_from(interval_ns).unwrap_or(i64::MAX).max(1);
    let over_ns = (now - due_ns).max(0) % interval_ns;
    (now - over_ns).saturating_add(interval_ns)
}

/// Whether what happened since the last report, up to `end_ns`, is long enough for a rate: a
/// quarter of an interval.
pub(crate) fn rest_is_worth_it(due_ns: i64, end_ns: i64, interval_ns: u64) -> bool {
    end_ns.saturating_add_unsigned(interval_ns - interval_ns / 4) >= due_ns
}
