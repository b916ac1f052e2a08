//! The receiving half: publishers heard at one local address, and the end of each.
//!
//! ```text
//! socket ─► Book::take ─► Publisher (life, now, log)        the measured path
//!                └─ send time ─► Links ─► publisher thread   given back as acknowledgement
//! Book::tend ─► events, never waiting for their reader
//! ```

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};

use sokudo_model::HistogramSummary;
use sokudo_net::clock::{now_ns, precise_timers, thread_cpu_ns, unix_ns};
use sokudo_net::udp::{Receiver, socket_drops};

use super::account::{Counts, Publisher};
use super::event::{Event, PacketWay};
use super::options::{CoherenceDatagramOptions, ReportInterval, nanoseconds};
use super::protocol::{Packet, Width, processed_intact};
use super::report::{RxBlock, RxReport};
use super::tcp::Inlet;

/// Publishers that one listener follows at a time; packets of others are counted as foreign.
pub const MAX_PUBLISHERS: usize = 256;

/// Finished publishers that one listener's summary remembers.
const MAX_FINISHED: usize = 1024;

/// "No send time to give back."
const NOTHING: i64 = i64::MIN;

/// State that the listener and the publisher of one local address share.
#[derive(Debug)]
pub struct Links {
    /// True while a publisher sends to the listener.
    pub hearing: AtomicBool,
    /// Number of times that this has begun: a silence too short to be noticed as such still shows
    /// here.
    pub spells: AtomicU64,
    /// Destinations of the publisher.
    peers: Vec<SocketAddr>,
    /// Per peer: the send time of its latest packet minus our clock at its arrival.
    back: Vec<AtomicI64>,
}

impl Links {
    /// Links to these peers.
    pub fn new(peers: &[SocketAddr]) -> Self {
        Self {
            hearing: AtomicBool::new(false),
            spells: AtomicU64::new(0),
            peers: peers.iter().map(|peer| canonical(*peer)).collect(),
            back: peers.iter().map(|_| AtomicI64::new(NOTHING)).collect(),
        }
    }

    fn find(&self, publisher: SocketAddr) -> Option<usize> {
        self.peers.iter().position(|peer| *peer == publisher)
    }

    #[inline]
    fn heard(&self, peer: usize, send_ns: i64, now_ns: i64) {
        self.back[peer].store(send_ns.wrapping_sub(now_ns), Ordering::Relaxed);
    }

    /// The latest send time of a peer, moved forward by the time that we held it, so that its owner
    /// sees the way there and back and not our pacing. Each is given back once.
    #[inline]
    pub fn take_ack(&self, peer: usize, now_ns: i64) -> Option<i64> {
        if self.back[peer].load(Ordering::Relaxed) == NOTHING {
            return None;
        }
        match self.back[peer].swap(NOTHING, Ordering::Relaxed) {
            NOTHING => None,
            difference => Some(difference.wrapping_add(now_ns)),
        }
    }
}

/// Address and port alone: an IPv4 address inside IPv6 as itself, without flow and scope.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

/// Result of one publisher's packets, from first heard until it stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct RxSummary {
    /// The publisher: its address and its listener's port.
    pub publisher: SocketAddr,
    /// Width of its sequence numbers.
    pub width: Option<Width>,
    /// Lowest number that arrived. What lies below was lost or sent before; what was lost behind
    /// the highest is as unknown.
    pub lowest: u64,
    /// Counts of what arrived.
    pub counts: Counts,
    /// Round trips of acknowledgements, seconds; `None` when the publisher gave none back.
    pub ack_rtt: Option<HistogramSummary>,
}

impl RxSummary {
    fn of(publisher: &Publisher) -> Self {
        Self {
            publisher: publisher.address,
            width: publisher.width(),
            lowest: publisher.lowest(),
            counts: publisher.life().clone(),
            ack_rtt: (!publisher.ack_rtt.is_empty()).then(|| publisher.ack_rtt.summary(1e-9)),
        }
    }
}

/// Result of one listener.
#[derive(Debug, Clone, PartialEq)]
pub struct ListenerSummary {
    /// Its address.
    pub local: SocketAddr,
    /// Receive buffer that the system granted, bytes; `None` over TCP.
    pub granted_buffer_bytes: Option<u64>,
    /// Each stretch of each publisher, in the order in which they ended; the latest 1024.
    pub publishers: Vec<RxSummary>,
    /// Arrivals that are not packets of the test, or belong to more publishers than are followed.
    pub foreign: u64,
    /// Packets whose processed bytes were damaged.
    pub corrupted: u64,
    /// Arrivals that were longer than the packet size agreed on, and were cut.
    pub truncated: u64,
    /// Kernel buffers dropped at the socket; `None` where the system does not say.
    pub drops: Option<u64>,
    /// CPU time of the listening thread, nanoseconds; `None` where the system does not say.
    pub cpu_ns: Option<u64>,
    /// Reason of an early end.
    pub error: Option<String>,
}

/// Options that a listener's book needs.
#[derive(Debug, Clone)]
pub struct BookSettings {
    /// Its address.
    pub local: SocketAddr,
    /// Bytes that a packet counts, 0 = its length.
    pub payload: u32,
    /// Bytes of each packet to check.
    pub process_bytes: usize,
    /// Silence that ends all publishers, nanoseconds; 0 = never.
    pub timeout_ns: i64,
    /// Between two reports.
    pub report: ReportInterval,
    /// Between two rows of the table; `Off` without one.
    pub log: ReportInterval,
    /// Packets per tick; 0 = none.
    pub tick: u64,
}

impl BookSettings {
    /// The part of the options that a listener at `local` needs.
    pub fn new(options: &CoherenceDatagramOptions, local: SocketAddr) -> Self {
        Self {
            local,
            payload: options.payload,
            process_bytes: options.process_bytes as usize,
            timeout_ns: nanoseconds(options.rx_timeout_ms),
            report: options.report_interval,
            log: match options.log {
                Some(_) => options.log_interval,
                None => ReportInterval::Off,
            },
            tick: options.tick_interval,
        }
    }
}

/// Counts up to the next report or row.
#[derive(Debug, Clone, Copy)]
struct Due {
    interval: ReportInterval,
    at_packets: u64,
    at_ns: i64,
}

impl Due {
    fn new(interval: ReportInterval, packets: u64, now_ns: i64) -> Self {
        let (at_packets, at_ns) = match interval {
            ReportInterval::Off => (u64::MAX, i64::MAX),
            ReportInterval::Packets(every) => (packets.saturating_add(every), i64::MAX),
            ReportInterval::Time(every_ns) => (u64::MAX, now_ns.saturating_add_unsigned(every_ns)),
        };
        Self {
            interval,
            at_packets,
            at_ns,
        }
    }

    #[inline]
    fn is_due(&self, packets: u64, now_ns: i64) -> bool {
        packets >= self.at_packets || now_ns >= self.at_ns
    }

    fn next(&mut self, packets: u64, now_ns: i64) {
        *self = Due::new(self.interval, packets, now_ns);
    }
}

struct Followed {
    publisher: Publisher,
    link: Option<usize>,
}

/// Everything that one listener knows. Time is an argument; events are offered, not pushed.
pub struct Book<'a> {
    settings: BookSettings,
    links: &'a Links,
    followed: Vec<Followed>,
    by_address: HashMap<SocketAddr, usize>,
    /// The publisher that was heard last: packets come in runs.
    last: usize,
    finished: Vec<RxSummary>,
    /// Packets of the test so far, duplicates included.
    packets: u64,
    last_ns: i64,
    ticks_told: u64,
    publishers_told: usize,
    report: Due,
    log: Due,
    foreign: u64,
    corrupted: u64,
    truncated: u64,
}

impl<'a> Book<'a> {
    /// An empty book.
    pub fn new(settings: BookSettings, links: &'a Links, now_ns: i64) -> Self {
        let report = Due::new(settings.report, 0, now_ns);
        let log = Due::new(settings.log, 0, now_ns);
        Self {
            settings,
            links,
            followed: Vec::new(),
            by_address: HashMap::new(),
            last: 0,
            finished: Vec::new(),
            packets: 0,
            last_ns: now_ns,
            ticks_told: 0,
            publishers_told: 0,
            report,
            log,
            foreign: 0,
            corrupted: 0,
            truncated: 0,
        }
    }

    /// Counts a datagram.
    #[inline]
    pub fn take_datagram(&mut self, bytes: &[u8], source: SocketAddr, now_ns: i64) {
        match Packet::read(bytes) {
            Ok(packet) => self.take(&packet, bytes, source, now_ns),
            Err(_) => self.foreign += 1,
        }
    }

    /// Counts a packet from a stream, whose first word is the framing's.
    #[inline]
    pub fn take_framed(&mut self, bytes: &[u8], source: SocketAddr, now_ns: i64) {
        match Packet::read_unmarked(bytes) {
            Ok(packet) => self.take(&packet, bytes, source, now_ns),
            Err(_) => self.foreign += 1,
        }
    }

    fn take(&mut self, packet: &Packet, bytes: &[u8], source: SocketAddr, now_ns: i64) {
        let address = canonical(SocketAddr::new(source.ip(), packet.return_port));
        if !processed_intact(bytes, packet.sequence, self.settings.process_bytes) {
            self.corrupted += 1;
            return;
        }
        let known = self.followed.get(self.last);
        if known.is_none_or(|known| known.publisher.address != address) {
            match self.find_or_follow(address, source) {
                Some(index) => self.last = index,
                None => {
                    self.foreign += 1;
                    return;
                }
            }
        }
        self.packets += 1;
        self.last_ns = now_ns;
        let counted = match self.settings.payload {
            0 => bytes.len() as u64,
            payload => u64::from(payload),
        };
        let Followed { publisher, link } = &mut self.followed[self.last];
        if publisher.source != source {
            if publisher.restarted(packet, source) {
                let fresh = Publisher::new(address, source);
                let ended = std::mem::replace(publisher, fresh);
                remember(&mut self.finished, &ended);
            }
            publisher.source = source;
        }
        publisher.arrive(packet, counted, now_ns);
        if let Some(peer) = *link {
            self.links.heard(peer, packet.send_ns, now_ns);
        }
    }

    #[cold]
    fn find_or_follow(&mut self, address: SocketAddr, source: SocketAddr) -> Option<usize> {
        if let Some(index) = self.by_address.get(&address) {
            return Some(*index);
        }
        if self.followed.len() >= MAX_PUBLISHERS {
            return None;
        }
        let index = self.followed.len();
        self.followed.push(Followed {
            publisher: Publisher::new(address, source),
            link: self.links.find(address),
        });
        self.by_address.insert(address, index);
        if !self.links.hearing.load(Ordering::Relaxed) {
            self.links.spells.fetch_add(1, Ordering::Relaxed);
            self.links.hearing.store(true, Ordering::Release);
        }
        Some(index)
    }

    /// Says what has become due. `offer` returns false when there is no room; the event is offered
    /// again then, with everything that came in between.
    #[inline]
    pub fn tend(&mut self, now_ns: i64, offer: &mut dyn FnMut(Event) -> bool) {
        if self.publishers_told < self.followed.len() {
            let said = offer(Event::Receiving {
                listener: self.settings.local,
                publishers: self.followed.len(),
            });
            if said {
                self.publishers_told = self.followed.len();
            }
        }
        if let Some(ticks) = self.packets.checked_div(self.settings.tick)
            && ticks > self.ticks_told
            && offer(Event::Ticks {
                way: PacketWay::In,
                from: self.ticks_told,
                to: ticks,
            })
        {
            self.ticks_told = ticks;
        }
        if self.report.is_due(self.packets, now_ns) {
            self.offer_report(now_ns, offer);
        }
        if self.log.is_due(self.packets, now_ns) {
            self.offer_rows(now_ns, offer);
        }
    }

    #[cold]
    fn offer_report(&mut self, now_ns: i64, offer: &mut dyn FnMut(Event) -> bool) {
        if self.followed.is_empty() || offer(Event::Rx(self.report())) {
            for followed in &mut self.followed {
                followed.publisher.reported();
            }
            self.report.next(self.packets, now_ns);
        }
    }

    #[cold]
    fn offer_rows(&mut self, now_ns: i64, offer: &mut dyn FnMut(Event) -> bool) {
        let rows = self.blocks(Publisher::log);
        let listener = self.settings.local;
        if self.followed.is_empty() || offer(Event::Rows { listener, rows }) {
            for followed in &mut self.followed {
                followed.publisher.logged();
            }
            self.log.next(self.packets, now_ns);
        }
    }

    fn report(&self) -> RxReport {
        RxReport {
            listener: self.settings.local,
            unix_ns: unix_ns(),
            life: self.blocks(Publisher::life),
            now: self.blocks(Publisher::now),
        }
    }

    /// Those of whom anything is known.
    fn blocks(&self, counts: impl Fn(&Publisher) -> &Counts) -> Vec<RxBlock> {
        let publishers = self.followed.iter().map(|followed| &followed.publisher);
        publishers
            .filter(|publisher| counts(publisher).received > 0)
            .map(|publisher| RxBlock {
                publisher: publisher.address,
                counts: counts(publisher).clone(),
            })
            .collect()
    }

    /// True when all publishers have been silent for the timeout.
    #[inline]
    pub fn is_silent(&self, now_ns: i64) -> bool {
        let timeout_ns = self.settings.timeout_ns;
        timeout_ns > 0 && !self.followed.is_empty() && now_ns - self.last_ns >= timeout_ns
    }

    /// Forgets all publishers and returns their last report, and rows for the table. Empty when
    /// nobody was heard.
    pub fn close(&mut self) -> Option<(RxReport, Vec<RxBlock>)> {
        if self.followed.is_empty() {
            return None;
        }
        let report = RxReport {
            now: Vec::new(),
            ..self.report()
        };
        let rows = match self.settings.log {
            ReportInterval::Off => Vec::new(),
            _ => report.life.clone(),
        };
        for followed in self.followed.drain(..) {
            remember(&mut self.finished, &followed.publisher);
        }
        self.by_address.clear();
        self.last = 0;
        self.publishers_told = 0;
        self.report.next(self.packets, self.last_ns);
        self.log.next(self.packets, self.last_ns);
        self.links.hearing.store(false, Ordering::Release);
        Some((report, rows))
    }
}

fn remember(finished: &mut Vec<RxSummary>, publisher: &Publisher) {
    if finished.len() >= MAX_FINISHED {
        finished.remove(0);
    }
    finished.push(RxSummary::of(publisher));
}

/// Source of the packets.
pub enum Input {
    /// UDP.
    Udp(Receiver),
    /// The framing over TCP.
    Tcp(Inlet),
}

/// Task of one listening thread.
pub struct ListenerTask<'a> {
    /// Its source.
    pub input: Input,
    /// Way of counting.
    pub settings: BookSettings,
    /// Receive buffer that the system granted, bytes.
    pub granted_buffer_bytes: Option<u64>,
    /// Shared with the publisher of the same address.
    pub links: &'a Links,
    /// Set when the thread must end.
    pub halt: &'a AtomicBool,
}

/// Listens until told to end.
pub fn run(mut task: ListenerTask<'_>, events: &SyncSender<Event>) -> ListenerSummary {
    precise_timers();
    let drops_start = drops(&task.input);
    let cpu_start = thread_cpu_ns();
    let mut book = Book::new(task.settings.clone(), task.links, now_ns());
    let mut offer = |event| !matches!(events.try_send(event), Err(TrySendError::Full(_)));
    let mut error = None;
    while !task.halt.load(Ordering::Relaxed) {
        if let Err(failed) = receive_once(&mut task.input, &mut book) {
            error = Some(format!("receiving failed: {failed}"));
            break;
        }
        let now = now_ns();
        book.tend(now, &mut offer);
        if book.is_silent(now) {
            close(&mut book, events, Event::Stopped);
        }
    }
    close(&mut book, events, Event::Rx);
    let dropped = drops(&task.input).zip(drops_start);
    ListenerSummary {
        local: task.settings.local,
        granted_buffer_bytes: task.granted_buffer_bytes,
        publishers: book.finished,
        foreign: book.foreign,
        corrupted: book.corrupted,
        truncated: book.truncated,
        drops: dropped.map(|(end, start)| u64::from(end.wrapping_sub(start))),
        cpu_ns: thread_cpu_ns()
            .zip(cpu_start)
            .map(|(end, start)| end - start),
        error,
    }
}

/// Nothing arrives any more, so this may wait for the events' reader.
fn close(book: &mut Book<'_>, events: &SyncSender<Event>, event: fn(RxReport) -> Event) {
    // What had no room before still belongs before the last report.
    book.tend(book.last_ns, &mut |event| events.send(event).is_ok());
    let Some((report, rows)) = book.close() else {
        return;
    };
    let listener = report.listener;
    let _ = events.send(event(report));
    if !rows.is_empty() {
        let _ = events.send(Event::Rows { listener, rows });
    }
}

fn drops(input: &Input) -> Option<u32> {
    match input {
        Input::Udp(receiver) => socket_drops(receiver.socket()),
        Input::Tcp(_) => None,
    }
}

#[inline]
fn receive_once(input: &mut Input, book: &mut Book<'_>) -> io::Result<()> {
    match input {
        Input::Udp(receiver) => {
            if receiver.receive()? > 0 {
                let now = now_ns();
                receiver.for_each(|datagram| {
                    book.truncated += u64::from(datagram.truncated);
                    match datagram.from() {
                        Some(source) => book.take_datagram(datagram.bytes, source, now),
                        None => book.foreign += 1,
                    }
                });
            }
            Ok(())
        }
        Input::Tcp(inlet) => {
            book.foreign +=
                inlet.receive(|bytes, source, now| book.take_framed(bytes, source, now))?;
            Ok(())
        }
    }
}
