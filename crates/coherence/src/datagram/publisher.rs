//! The sending half: one local address sends the same rounds to all its peers.
//!
//! ```text
//! round     1         2         3                one sequence number per round
//! peers   a b c     a b c     a b c              and one packet to each peer
//! calls   a: 1 2 3  b: 1 2 3  c: 1 2 3           several rounds are handed over per call
//! ```
//!
//! With a rate the rounds leave by deadlines, a few hundred microseconds' worth at a time: there is
//! no burst at the start to overshoot with, and no rate too low to divide by.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use sokudo_model::Summary;
use sokudo_net::clock::{now_ns, precise_timers, sleep_until, thread_cpu_ns, unix_ns};
use sokudo_net::udp::Sender;
use sokudo_pace::{Paced, batch_within};

use super::event::{Event, PacketWay};
use super::listener::Links;
use super::options::ReportInterval;
use super::protocol::Width;
use super::report::{TxRate, TxReport};
use super::tcp::{Outlet, TCP_BATCH};

mod batch;

use batch::{Batch, SizeDraw};

/// Longest burst of a paced publisher, nanoseconds of its schedule.
const BURST_NS: f64 = 200_000.0;

/// Most rounds per call.
const MOST_ROUNDS: usize = 32;

/// Longest wait between two looks at the flags.
const LOOK_NS: i64 = 20_000_000;

/// Between two looks of a polite publisher.
const POLITE_LOOK: Duration = Duration::from_millis(1);

/// Carrier of packets to one peer.
pub enum Out {
    /// UDP.
    Udp(Sender),
    /// The framing over TCP.
    Tcp(Outlet),
}

impl Out {
    fn batch(&self) -> usize {
        match self {
            Out::Udp(sender) => sender.batch(),
            Out::Tcp(_) => TCP_BATCH,
        }
    }

    /// The slot of a packet that another call may use, too.
    pub fn slot(&mut self, index: usize) -> &mut [u8] {
        match self {
            Out::Udp(sender) => sender.slot(index),
            Out::Tcp(outlet) => outlet.slot(index),
        }
    }

    fn set_length(&mut self, index: usize, bytes: usize) {
        match self {
            Out::Udp(sender) => sender.set_length(index, bytes),
            Out::Tcp(outlet) => outlet.set_length(index, bytes),
        }
    }

    /// Writes what is the same in every packet into all slots.
    pub fn prepare(&mut self, return_port: u16) {
        for index in 0..self.batch() {
            super::protocol::write_constant(self.slot(index), return_port);
        }
    }
}

/// Amount sent to one peer.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerSummary {
    /// The peer.
    pub peer: SocketAddr,
    /// Packets that the system took.
    pub sent: u64,
    /// Their bytes, without IP and UDP headers.
    pub bytes: u64,
    /// Packets that the system refused for want of room; never counted as sent.
    pub refused: u64,
    /// Port-unreachable and host-unreachable errors that came back.
    pub unreachable: u64,
    /// First send, nanoseconds.
    pub first_ns: Option<i64>,
    /// Last send, nanoseconds.
    pub last_ns: i64,
    /// Acknowledgements that were given back to the peer.
    pub acks: u64,
}

impl PeerSummary {
    fn new(peer: SocketAddr) -> Self {
        Self {
            peer,
            sent: 0,
            bytes: 0,
            refused: 0,
            unreachable: 0,
            first_ns: None,
            last_ns: 0,
            acks: 0,
        }
    }

    /// The numbers under their catalogue names.
    pub fn metrics(&self) -> Summary {
        let mut metrics = Summary::new();
        let mut put = |name: &str, value: f64| metrics.insert(name.into(), value);
        put("datagram.sent_packets", self.sent as f64);
        put("datagram.sent_bytes", self.bytes as f64);
        put("datagram.lost_at_sender_packets", self.refused as f64);
        put("datagram.unreachable_errors", self.unreachable as f64);
        let elapsed_s = self
            .first_ns
            .map_or(0.0, |first| (self.last_ns - first) as f64 / 1e9);
        if elapsed_s > 0.0 {
            let per_s = |n: u64| n as f64 / elapsed_s;
            put("datagram.sent_packets_per_second", per_s(self.sent));
            put("datagram.sent_bytes_per_second", per_s(self.bytes));
        }
        metrics
    }
}

/// Reason why a publisher ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// All rounds asked for are sent.
    Iterations,
    /// The time is over.
    Duration,
    /// It was told to.
    Stopped,
    /// Sending failed: why.
    Failed(String),
}

/// Result of one publisher.
#[derive(Debug, Clone, PartialEq)]
pub struct PublisherSummary {
    /// The listener of the same local address.
    pub listener: SocketAddr,
    /// Rounds that were begun.
    pub rounds: u64,
    /// Each peer.
    pub peers: Vec<PeerSummary>,
    /// Time spent sending, polite waits taken out, nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of the sending thread, nanoseconds; `None` where the system does not say.
    pub cpu_ns: Option<u64>,
    /// Reason of its end.
    pub ended: Ended,
}

/// One peer as its sending thread sees it.
pub struct Peer {
    /// Index in [`Links`].
    pub link: usize,
    /// Carrier of the packets.
    pub out: Out,
    counts: PeerSummary,
}

impl Peer {
    /// A peer to which nothing has been sent. The slots must have been prepared.
    pub fn new(link: usize, address: SocketAddr, out: Out) -> Self {
        Self {
            link,
            out,
            counts: PeerSummary::new(address),
        }
    }
}

/// Shape of the packets.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Smallest and largest packet; drawn uniformly when they differ.
    pub sizes: (u32, u32),
    /// Width of the sequence numbers.
    pub width: Width,
    /// Bytes behind the prefix to fill with copies of the number.
    pub process_bytes: usize,
    /// Bytes that a packet counts in the rates, 0 = its length.
    pub payload: u32,
}

/// Task of one publishing thread.
pub struct PublisherTask<'a> {
    /// The listener of the same local address.
    pub listener: SocketAddr,
    /// Destinations.
    pub peers: Vec<Peer>,
    /// Shape of the packets.
    pub shape: Shape,
    /// Rounds per second; `None` = as fast as possible.
    pub rounds_per_s: Option<f64>,
    /// Exactly so many rounds.
    pub iterations: Option<u64>,
    /// Duration of sending.
    pub duration_ns: Option<i64>,
    /// Packets to all peers, or time, between two reports.
    pub report: ReportInterval,
    /// Packets to all peers per tick; 0 = none.
    pub tick: u64,
    /// Send only while a publisher sends to the listener.
    pub polite: bool,
    /// Shared with the listener.
    pub links: &'a Links,
    /// Set when the thread must end.
    pub halt: &'a AtomicBool,
}

/// Positions of the reports.
#[derive(Debug, Default)]
struct Told {
    ticks: u64,
    packets: u64,
    bytes: u64,
    calls: u64,
    elapsed_ns: i64,
}

/// A publisher at work.
struct Work<'a, 'e> {
    task: PublisherTask<'a>,
    events: &'e SyncSender<Event>,
    batch: usize,
    rounds: u64,
    packets: u64,
    bytes: u64,
    calls: u64,
    sizes: SizeDraw,
    told: Told,
    /// Start of sending, moved forward by each polite wait.
    start_ns: i64,
    /// The listener's spell of hearing in which a polite publisher sends.
    spell: u64,
}

/// Sends until count, time or halt.
pub fn run(task: PublisherTask<'_>, events: &SyncSender<Event>) -> PublisherSummary {
    precise_timers();
    let cpu_start = thread_cpu_ns();
    let smallest = task.peers.iter().map(|peer| peer.out.batch()).min();
    let most = smallest.unwrap_or(1).min(MOST_ROUNDS);
    let batch = task
        .rounds_per_s
        .map_or(most, |rate| batch_within(rate, BURST_NS, most));
    let (least, largest) = task.shape.sizes;
    let mut work = Work {
        events,
        batch,
        rounds: 0,
        packets: 0,
        bytes: 0,
        calls: 0,
        sizes: SizeDraw {
            least,
            span: largest - least + 1,
            state: u64::from(task.listener.port()),
            drawn: [0; MOST_ROUNDS],
        },
        told: Told::default(),
        start_ns: now_ns(),
        spell: 0,
        task,
    };
    let ended = work.publish();
    let elapsed_ns = now_ns() - work.start_ns;
    work.last_report(&ended, elapsed_ns);
    PublisherSummary {
        listener: work.task.listener,
        rounds: work.rounds,
        peers: work
            .task
            .peers
            .into_iter()
            .map(|peer| peer.counts)
            .collect(),
        elapsed_ns: u64::try_from(elapsed_ns).unwrap_or(0),
        cpu_ns: thread_cpu_ns()
            .zip(cpu_start)
            .map(|(end, start)| end - start),
        ended,
    }
}

impl Work<'_, '_> {
    fn publish(&mut self) -> Ended {
        let mut paced = None;
        let mut begun = false;
        loop {
            if self.task.halt.load(Ordering::Relaxed) {
                return Ended::Stopped;
            }
            if self.must_wait() || !begun {
                if !self.wait_politely(begun) {
                    return Ended::Stopped;
                }
                begun = true;
                let rate = self.task.rounds_per_s;
                paced = rate.and_then(|rate| Paced::new(rate, now_ns()));
            }
            let now = now_ns();
            let elapsed_ns = now - self.start_ns;
            if self.task.duration_ns.is_some_and(|end| elapsed_ns >= end) {
                return Ended::Duration;
            }
            let left = self.rounds_left();
            if left == 0 {
                return Ended::Iterations;
            }
            let Some(ready) = self.ready(paced.as_ref(), now, left) else {
                self.tend(now);
                continue;
            };
            if let Err(failed) = self.send_rounds(ready) {
                return match self.task.halt.load(Ordering::Relaxed) {
                    true => Ended::Stopped,
                    false => Ended::Failed(failed),
                };
            }
            if let Some(paced) = &mut paced {
                paced.started(ready, now);
            }
            self.tend(now_ns());
        }
    }

    fn rounds_left(&self) -> u64 {
        self.task
            .iterations
            .map_or(u64::MAX, |rounds| rounds - self.rounds)
    }

    #[inline]
    fn must_wait(&self) -> bool {
        let links = self.task.links;
        self.task.polite
            && (!links.hearing.load(Ordering::Acquire)
                || links.spells.load(Ordering::Relaxed) != self.spell)
    }

    /// Waits for the first packet, as long as it takes; false when halted. What the wait took does
    /// not count as time of sending.
    #[cold]
    fn wait_politely(&mut self, resumed: bool) -> bool {
        let since_ns = now_ns();
        let links = self.task.links;
        while self.task.polite && !links.hearing.load(Ordering::Acquire) {
            if self.task.halt.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(POLITE_LOOK);
        }
        self.spell = links.spells.load(Ordering::Relaxed);
        if resumed {
            self.start_ns += now_ns() - since_ns;
        } else {
            self.start_ns = now_ns();
        }
        let burst = self.task.rounds_per_s.map(|_| self.batch);
        let _ = self.events.send(Event::Go(burst));
        true
    }

    /// Rounds to send now; `None` after having slept for a while instead.
    #[inline]
    fn ready(&self, paced: Option<&Paced>, now: i64, left: u64) -> Option<usize> {
        let batch = self.batch.min(usize::try_from(left).unwrap_or(usize::MAX));
        let Some(paced) = paced else {
            return Some(batch);
        };
        let end_ns = self
            .task
            .duration_ns
            .map_or(i64::MAX, |duration| self.start_ns.saturating_add(duration));
        let due_ns = paced.due_ns(batch);
        if now < due_ns {
            sleep_until(due_ns.min(now + LOOK_NS).min(end_ns));
            return None;
        }
        Some(paced.due(now, batch))
    }

    fn send_rounds(&mut self, count: usize) -> Result<(), String> {
        let Self {
            task, sizes, calls, ..
        } = self;
        for peer in &mut task.peers {
            let before = (peer.counts.sent, peer.counts.bytes);
            let batch = Batch {
                first: self.rounds + 1,
                count,
                shape: task.shape,
            };
            batch.send(peer, task.links, sizes, task.halt)?;
            let sent = peer.counts.sent - before.0;
            self.packets += sent;
            self.bytes += match task.shape.payload {
                0 => peer.counts.bytes - before.1,
                payload => sent * u64::from(payload),
            };
            *calls += 1;
        }
        self.rounds += count as u64;
        Ok(())
    }

    /// Reports and ticks that have become due; those that find no room are made up for later.
    #[inline]
    fn tend(&mut self, now: i64) {
        if let Some(ticks) = self.packets.checked_div(self.task.tick)
            && ticks > self.told.ticks
            && self.offer(Event::Ticks {
                way: PacketWay::Out,
                from: self.told.ticks,
                to: ticks,
            })
        {
            self.told.ticks = ticks;
        }
        let elapsed_ns = now - self.start_ns;
        let due = match self.task.report {
            ReportInterval::Off => false,
            ReportInterval::Packets(every) => self.packets - self.told.packets >= every,
            ReportInterval::Time(every_ns) => {
                elapsed_ns.saturating_sub_unsigned(every_ns) >= self.told.elapsed_ns
            }
        };
        if due && self.offer(Event::Tx(self.report(elapsed_ns))) {
            self.note_told(elapsed_ns);
        }
    }

    fn offer(&self, event: Event) -> bool {
        !matches!(self.events.try_send(event), Err(TrySendError::Full(_)))
    }

    fn note_told(&mut self, elapsed_ns: i64) {
        self.told = Told {
            ticks: self.told.ticks,
            packets: self.packets,
            bytes: self.bytes,
            calls: self.calls,
            elapsed_ns,
        };
    }

    fn report(&self, elapsed_ns: i64) -> TxReport {
        let ns = |ns: i64| u64::try_from(ns).unwrap_or(0);
        TxReport {
            listener: self.task.listener,
            peers: self.task.peers.len(),
            life: TxRate {
                packets: self.packets,
                bytes: self.bytes,
                elapsed_ns: ns(elapsed_ns),
            },
            now: TxRate {
                packets: self.packets - self.told.packets,
                bytes: self.bytes - self.told.bytes,
                elapsed_ns: ns(elapsed_ns - self.told.elapsed_ns),
            },
            bursts: self.task.rounds_per_s.map(|_| self.calls - self.told.calls),
            unix_ns: unix_ns(),
        }
    }

    /// The summary at the end; nothing is measured any more, so it may wait for its reader.
    fn last_report(&mut self, ended: &Ended, elapsed_ns: i64) {
        if let Some(ticks) = self.packets.checked_div(self.task.tick)
            && ticks > self.told.ticks
        {
            let from = self.told.ticks;
            let way = PacketWay::Out;
            let _ = self.events.send(Event::Ticks {
                way,
                from,
                to: ticks,
            });
        }
        if *ended == Ended::Iterations {
            let _ = self.events.send(Event::IterationsReached);
        }
        if self.packets > 0 {
            let _ = self.events.send(Event::Tx(self.report(elapsed_ns)));
        }
    }
}
