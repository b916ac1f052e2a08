//! The receiving end: one thread per socket, which follows every flow that arrives there.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::udp::{self, Receiver, socket_drops};
use sokudo_stats::Histogram;
use sokudo_workload::effort::Effort;
use sokudo_workload::handover::Records;
use sokudo_workload::limit::{Exceeded, Purse};

use super::client::{next_report_ns, rest_is_worth_it};
use super::protocol::{HEADER_BYTES, Header, HeaderError, verified_intact};
use super::report::{Report, ServerFlowReport, ServerInterval};
use super::sequence::{Account, Tracker};
use super::stream::{StreamRead, StreamReceiver};

/// After the senders have finished and everything is accounted for, how long to look out for
/// duplicates.
const LINGER_NS: u64 = 20_000_000;
/// Beyond the silence that ends the wait, how long stragglers may keep a receiver at work in any
/// case after the senders have finished.
const DRAIN_BOUND_NS: i64 = 10_000_000_000;
/// Longest wait of one receive call: how soon a stop or an interval's end is noticed.
pub const RECEIVE_BOUND: Duration = Duration::from_millis(50);
/// Time between two signs of life to the senders.
const LIFE_NS: i64 = 500_000_000;
/// Above this rate the receiver looks every [`COLLECT`] instead of being woken for each datagram,
/// in every I/O mode. The sender pays for waking a receiver on the same host: without it one call
/// per datagram delivered 1.3 to 1.9 times as many (`bench/datagram`).
const COLLECT_ABOVE_PER_S: f64 = 30_000.0;
/// Length of a collection.
const COLLECT: Duration = Duration::from_micros(50);
/// Empty looks in a row after which it waits to be woken again.
const EMPTY_LOOKS: u32 = 200;

/// Counts of a flow's receiving end.
#[derive(Debug)]
pub struct ServerFlow {
    /// Number in the phase.
    pub id: u32,
    ticket: u64,
    /// Address of the sender, which has proven that it sends this flow; acknowledgements go nowhere
    /// else.
    pub peer: Option<SocketAddr>,
    tracker: Tracker,
    bytes: u64,
    corrupted: u64,
    jitter_ns: f64,
    last_transit_ns: Option<i64>,
    last_call_ns: Option<i64>,
}

/// Result of a flow's receiving end.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerFlowDone {
    /// Number in the phase.
    pub flow: u32,
    /// The sequence numbers' account.
    pub account: Account,
    /// Bytes of distinct datagrams.
    pub bytes: u64,
    /// Datagrams of this flow that were damaged.
    pub corrupted: u64,
    /// RFC 3550 jitter, nanoseconds; `None` before the second datagram.
    pub jitter_ns: Option<f64>,
    /// Times between receive calls of the whole phase; empty until the host's numbers are put together.
    #[serde(with = "sokudo_workload::histogram_text")]
    pub interarrival: Histogram,
}

impl ServerFlow {
    /// Follows a flow of sokudo's wire.
    pub fn new(id: u32, ticket: u64) -> Self {
        Self {
            id,
            ticket,
            peer: None,
            tracker: Tracker::new(Some(0)),
            bytes: 0,
            corrupted: 0,
            jitter_ns: 0.0,
            last_transit_ns: None,
            last_call_ns: None,
        }
    }

    #[inline]
    fn arrive(&mut self, header: &Header, length: usize, now: i64, interarrival: &mut Histogram) {
        let before = self.tracker.unique();
        self.tracker.arrive(header.sequence, now);
        // A duplicate carries no new bytes.
        self.bytes += (self.tracker.unique() - before) * length as u64;
        if self.last_call_ns != Some(now) {
            self.note_call(header.send_ns, now, interarrival);
        }
    }

    /// Times are taken once per receive call, from the first datagram that it brought: the others
    /// of the same call have no arrival time of their own.
    #[inline]
    fn note_call(&mut self, send_ns: i64, now: i64, interarrival: &mut Histogram) {
        if let Some(last) = self.last_call_ns.replace(now) {
            interarrival.record((now - last).max(0) as u64);
        }
        let transit_ns = now.wrapping_sub(send_ns);
        if let Some(last) = self.last_transit_ns.replace(transit_ns) {
            let difference = transit_ns.wrapping_sub(last).unsigned_abs() as f64;
            self.jitter_ns += (difference - self.jitter_ns) / 16.0;
        }
    }

    fn close(self) -> ServerFlowDone {
        let timed = self.last_transit_ns.is_some() && self.tracker.unique() > 1;
        ServerFlowDone {
            flow: self.id,
            account: self.tracker.close(),
            bytes: self.bytes,
            corrupted: self.corrupted,
            jitter_ns: timed.then_some(self.jitter_ns),
            interarrival: Histogram::new(),
        }
    }
}

/// State that the receiving threads of a phase share; nothing in it is written on the measured
/// path.
#[derive(Debug, Default)]
pub struct DatagramReceiver {
    /// Set when the threads must end at once.
    pub stop: AtomicBool,
    /// Set by the first datagram, for polite senders of the same host.
    pub first: Arc<AtomicBool>,
    /// Flow → datagrams sent, when the senders have finished.
    pub sent: OnceLock<HashMap<u32, u64>>,
}

/// Carrier of the datagrams to this thread.
pub enum In {
    /// UDP.
    Udp(Receiver),
    /// TCP or TLS.
    Stream(StreamReceiver),
}

/// Task of one receiving thread.
pub struct ServerTask {
    /// Stream that its socket belongs to.
    pub stream: u32,
    /// Its source.
    pub input: In,
    /// Flows that may arrive.
    pub flows: Vec<ServerFlow>,
    /// Bytes of each datagram to verify.
    pub verify_bytes: usize,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Silence after the senders' end that ends the wait for stragglers.
    pub idle_ns: u64,
    /// Shared with the phase.
    pub shared: Arc<DatagramReceiver>,
    /// What the thread pays from.
    pub purse: Purse,
}

/// Result of one receiving thread.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerDone {
    /// Stream that its socket belongs to.
    pub stream: u32,
    /// Each flow.
    pub flows: Vec<ServerFlowDone>,
    /// Kernel buffers dropped at the socket; `None` where the system does not say.
    pub drops: Option<u64>,
    /// Datagrams that belong to no flow.
    pub foreign: u64,
    /// Receive calls that returned any.
    pub calls: u64,
    /// Kernel buffers received.
    pub buffers: u64,
    /// Datagrams received, duplicates included.
    pub datagrams: u64,
    /// CPU time of the thread from the first datagram to the end, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time between the first and the last datagram, nanoseconds.
    pub elapsed_ns: i64,
    /// Reason of an early end.
    pub error: Option<String>,
}

/// Counters of the thread that belong to no single flow, and its intervals.
struct Totals {
    records: Records<ServerInterval>,
    foreign: u64,
    calls: u64,
    buffers: u64,
    datagrams: u64,
    first_ns: Option<i64>,
    last_ns: i64,
    /// Since the first call that brought something.
    effort: Effort,
    last_flow: usize,
    error: Option<String>,
    purse: Purse,
    /// Whether all that came was granted.
    granted: Result<(), Exceeded>,
}

/// Receives until drained or stopped; reports to `reports`.
pub fn run(mut task: ServerTask, reports: &SyncSender<Report>) {
    precise_timers();
    let mut totals = Totals::new(&task.flows, std::mem::take(&mut task.purse));
    let mut by_ticket: HashMap<u64, usize> = HashMap::new();
    for (index, flow) in task.flows.iter().enumerate() {
        by_ticket.insert(flow.ticket, index);
    }
    receive_all(&mut task, &by_ticket, &mut totals, reports);
    let spent = totals.effort.spent();
    let done = ServerDone {
        stream: task.stream,
        flows: task.flows.into_iter().map(ServerFlow::close).collect(),
        // Since the socket was opened: what came before this thread ran counts, too.
        drops: drops(&task.input).map(u64::from),
        foreign: totals.foreign,
        calls: totals.calls,
        buffers: totals.buffers,
        datagrams: totals.datagrams,
        cpu_ns: spent.cpu_ns,
        wait_ns: spent.wait_ns,
        elapsed_ns: totals.first_ns.map_or(0, |first| totals.last_ns - first),
        error: totals.error,
    };
    totals.records.t_ns = None;
    // Both fail only when the reporting thread has ended.
    let _ = reports.send(Report::Server(totals.records.last()));
    let _ = reports.send(Report::ServerDone(done));
}

/// An empty interval, written to without allocating.
fn prepared(flows: &[ServerFlow]) -> ServerInterval {
    let flow = |flow: &ServerFlow| ServerFlowReport {
        id: flow.id,
        interarrival: Histogram::allocated(),
        ..ServerFlowReport::default()
    };
    ServerInterval {
        t_ns: None,
        flows: flows.iter().map(flow).collect(),
    }
}

fn drops(input: &In) -> Option<u32> {
    match input {
        In::Udp(receiver) => socket_drops(receiver.socket()),
        In::Stream(_) => None,
    }
}

fn receive_all(
    task: &mut ServerTask,
    by_ticket: &HashMap<u64, usize>,
    totals: &mut Totals,
    reports: &SyncSender<Report>,
) {
    let shared = Arc::clone(&task.shared);
    let mut report_at_ns = now_ns().saturating_add_unsigned(task.interval_ns);
    let mut quiet_since_ns: Option<i64> = None;
    let mut draining_since_ns: Option<i64> = None;
    let mut collector = Collector::default();
    let mut life_at_ns = now_ns();
    while !shared.stop.load(Ordering::Relaxed) {
        let before = totals.datagrams;
        if !receive_once(task, by_ticket, totals, &mut collector) {
            break;
        }
        if let Err(exceeded) = totals.granted {
            totals.error = Some(exceeded.to_string());
            break;
        }
        let now = now_ns();
        if shared.sent.get().is_some() {
            let since_ns = *draining_since_ns.get_or_insert(now);
            if now - since_ns > DRAIN_BOUND_NS.saturating_add_unsigned(task.idle_ns) {
                break;
            }
        }
        if now >= life_at_ns {
            life_at_ns = now + LIFE_NS;
            say_alive(task);
        }
        if totals.datagrams > before {
            quiet_since_ns = None;
            if before == 0 {
                shared.first.store(true, Ordering::Release);
            }
        } else if let Some(sent) = shared.sent.get() {
            let since_ns = *quiet_since_ns.get_or_insert(now);
            let patience_ns = if all_arrived(task, sent) {
                LINGER_NS
            } else {
                task.idle_ns
            };
            if (now - since_ns).unsigned_abs() >= patience_ns {
                break;
            }
        }
        if now >= report_at_ns {
            report_at_ns = next_report_ns(report_at_ns, now, task.interval_ns);
            report(&task.flows, now, &mut totals.records, reports);
        }
    }
    if totals.first_ns.is_some() && rest_is_worth_it(report_at_ns, totals.last_ns, task.interval_ns)
    {
        report(&task.flows, totals.last_ns, &mut totals.records, reports);
    }
}

fn all_arrived(task: &ServerTask, sent: &HashMap<u32, u64>) -> bool {
    task.flows.iter().all(|flow| {
        sent.get(&flow.id)
            .is_none_or(|n| flow.tracker.unique() >= *n)
    })
}

/// Decides between being woken for each datagram and looking from time to time.
#[derive(Default)]
struct Collector {
    collecting: bool,
    empty_looks: u32,
    window_start_ns: i64,
    window_datagrams: u64,
}

impl Collector {
    /// Looks at the arrival rate every few milliseconds.
    #[inline]
    fn note(&mut self, now: i64, datagrams: u64) {
        const WINDOW_NS: i64 = 5_000_000;
        if now - self.window_start_ns < WINDOW_NS {
            return;
        }
        let seconds = (now - self.window_start_ns) as f64 / 1e9;
        let rate = (datagrams - self.window_datagrams) as f64 / seconds;
        self.collecting = rate > COLLECT_ABOVE_PER_S;
        self.window_start_ns = now;
        self.window_datagrams = datagrams;
    }
}

/// One receive call and everything that it brought; false when the input has ended.
#[inline]
fn receive_once(
    task: &mut ServerTask,
    by_ticket: &HashMap<u64, usize>,
    totals: &mut Totals,
    collector: &mut Collector,
) -> bool {
    let ServerTask {
        input,
        flows,
        verify_bytes,
        ..
    } = task;
    match input {
        In::Udp(receiver) => {
            let outcome = if collector.collecting {
                receiver.receive_ready()
            } else {
                receiver.receive()
            };
            match outcome {
                Ok(0) => {
                    look_again_later(collector);
                    return true;
                }
                Ok(buffers) => totals.buffers += buffers as u64,
                // An earlier acknowledgement did not reach its port.
                Err(error) if udp::is_passing(&error) => return true,
                Err(error) => {
                    totals.error = Some(format!("receiving failed: {error}"));
                    return false;
                }
            }
            collector.empty_looks = 0;
            let now = now_ns();
            totals.note_call(now);
            let mut acks: Option<(Header, SocketAddr)> = None;
            receiver.for_each(|datagram| {
                let header = take(datagram.bytes, flows, by_ticket, *verify_bytes, totals, now);
                if let Some(header) = header.filter(|header| header.ack_wanted) {
                    let peer = flows[totals.last_flow].peer;
                    acks = peer.map(|peer| (header, peer));
                }
            });
            let paid = acks.map_or(Ok(()), |_| totals.purse.sent(HEADER_BYTES));
            totals.granted = totals.granted.and(paid);
            if let Some((header, peer)) = acks.filter(|_| totals.granted.is_ok()) {
                acknowledge(receiver, &header, (peer, flows.len() == 1), now);
            }
            collector.note(now, totals.datagrams);
            true
        }
        In::Stream(receiver) => match receiver.receive() {
            Ok(StreamRead::Datagrams(_)) => {
                let now = now_ns();
                totals.note_call(now);
                totals.buffers += 1;
                receiver.for_each(|bytes| {
                    take(bytes, flows, by_ticket, *verify_bytes, totals, now);
                });
                true
            }
            Ok(StreamRead::Nothing) => true,
            Ok(StreamRead::Closed) => false,
            Ok(StreamRead::BadLength(length)) => {
                totals.error = Some(format!(
                    "the stream carried a datagram length of {length} B"
                ));
                false
            }
            Err(error) => {
                totals.error = Some(format!("the stream failed: {error}"));
                false
            }
        },
    }
}

impl Totals {
    fn new(flows: &[ServerFlow], purse: Purse) -> Self {
        Self {
            purse,
            granted: Ok(()),
            records: Records::new(|| prepared(flows)),
            foreign: 0,
            calls: 0,
            buffers: 0,
            datagrams: 0,
            first_ns: None,
            last_ns: 0,
            effort: Effort::default(),
            last_flow: 0,
            error: None,
        }
    }

    /// Pays for a datagram of one of the flows.
    #[inline]
    fn pay(&mut self, bytes: usize) {
        let paid = self.purse.events(1);
        let paid = paid.and_then(|()| self.purse.received(bytes));
        self.granted = self.granted.and(paid);
    }

    #[inline]
    fn note_call(&mut self, now: i64) {
        self.calls += 1;
        if self.first_ns.is_none() {
            self.first_ns = Some(now);
            self.effort = Effort::begin();
        }
        self.last_ns = now;
    }
}

fn look_again_later(collector: &mut Collector) {
    if !collector.collecting {
        return;
    }
    collector.empty_looks += 1;
    if collector.empty_looks > EMPTY_LOOKS {
        collector.collecting = false;
        collector.empty_looks = 0;
    } else {
        std::thread::sleep(COLLECT);
    }
}

/// Counts one datagram; returns its header when it belongs to a flow and is intact.
#[inline]
fn take(
    bytes: &[u8],
    flows: &mut [ServerFlow],
    by_ticket: &HashMap<u64, usize>,
    verify_bytes: usize,
    totals: &mut Totals,
    now: i64,
) -> Option<Header> {
    let header = match Header::read(bytes) {
        Ok(header) if !header.ack => header,
        other => {
            note_foreign(bytes, other.err(), flows, totals);
            return None;
        }
    };
    if flows
        .get(totals.last_flow)
        .is_none_or(|flow| flow.ticket != header.ticket)
    {
        let Some(index) = by_ticket.get(&header.ticket) else {
            totals.foreign += 1;
            return None;
        };
        totals.last_flow = *index;
    }
    totals.datagrams += 1;
    totals.pay(bytes.len());
    let flow = &mut flows[totals.last_flow];
    if verify_bytes > HEADER_BYTES && !verified_intact(bytes, header.sequence, verify_bytes) {
        flow.corrupted += 1;
        return None;
    }
    let interarrival = &mut totals.records.flows[totals.last_flow].interarrival;
    flow.arrive(&header, bytes.len(), now, interarrival);
    Some(header)
}

/// A damaged datagram whose ticket is still readable belongs to that flow; others to none.
#[cold]
fn note_foreign(
    bytes: &[u8],
    error: Option<HeaderError>,
    flows: &mut [ServerFlow],
    totals: &mut Totals,
) {
    let ticket = bytes
        .first_chunk::<8>()
        .map(|bytes| u64::from_be_bytes(*bytes));
    let flow = flows.iter_mut().find(|flow| Some(flow.ticket) == ticket);
    match (error, flow) {
        (Some(HeaderError::Damaged), Some(flow)) => {
            flow.corrupted += 1;
            totals.datagrams += 1;
            totals.pay(bytes.len());
        }
        _ => totals.foreign += 1,
    }
}

/// Tells the senders that their receiver is there: without that their load ends.
#[cold]
fn say_alive(task: &ServerTask) {
    let In::Udp(receiver) = &task.input else {
        return;
    };
    let is_pinned = task.flows.len() == 1;
    for flow in &task.flows {
        if let Some(peer) = flow.peer {
            send_back(
                receiver,
                &Header::sign_of_life(flow.ticket),
                (peer, is_pinned),
            );
        }
    }
}

/// Sends the header back, its send time moved forward by the time it was held here.
fn acknowledge(receiver: &Receiver, header: &Header, to: (SocketAddr, bool), arrived_ns: i64) {
    let held_ns = now_ns() - arrived_ns;
    let send_ns = header.send_ns.wrapping_add(held_ns);
    let acknowledgement = Header {
        send_ns,
        ack: true,
        ack_wanted: false,
        ..*header
    };
    send_back(receiver, &acknowledgement, to);
}

/// Sends to a flow's sender; a pinned socket knows its address.
fn send_back(receiver: &Receiver, header: &Header, (peer, is_pinned): (SocketAddr, bool)) {
    let mut bytes = [0u8; HEADER_BYTES];
    header.write(&mut bytes);
    // An acknowledgement that cannot be sent is one sample less, nothing more.
    let _ = match is_pinned {
        true => receiver.socket().send(&bytes),
        false => receiver.socket().send_to(&bytes, peer),
    };
}

/// Hands the interval over. Counters are cumulative: an interval that is kept for the next time is made
/// up for by that one.
fn report(
    flows: &[ServerFlow],
    now: i64,
    records: &mut Records<ServerInterval>,
    reports: &SyncSender<Report>,
) {
    records.t_ns = Some(now);
    for (report, flow) in records.flows.iter_mut().zip(flows) {
        report.unique = flow.tracker.unique();
        report.span = flow.tracker.span();
        report.bytes = flow.bytes;
        report.out_of_order = flow.tracker.out_of_order();
        report.duplicates = flow.tracker.duplicates();
    }
    let unwrap = |report| match report {
        Report::Server(interval) => Some(interval),
        _ => None,
    };
    records.hand_over(reports, Report::Server, unwrap);
}
