//! A test that speaks the wire of the vendor's datagram test.
//!
//! ```text
//! options ─► setup ─► per local address   listener thread  ◄── packets ── anybody
//!                                         publisher thread ── rounds ───► peers
//!                       events, summaries ─► observer (text, table, record)
//! ```
//!
//! One process is a listener at each local address and, when peers are named, a publisher from
//! each. There is no handshake and no message at the end: a listener knows what arrived and the
//! numbers between, and takes silence for the end. What it cannot know (loss at head and tail of a
//! run) is absent from its numbers; use sokudo's own wire where both ends are sokudo.
//!
//! It stresses the same path as the datagram workload that it belongs to, without telling sender
//! and receiver loss apart. Sources: the vendor's manual, and the wire as its processes were seen
//! to speak it; `docs/reference/en/compat-datagram-test.md` lists where this differs and why.

pub mod account;
pub mod event;
pub mod listener;
pub mod mtu;
pub mod native;
pub mod options;
pub mod protocol;
pub mod publisher;
pub mod report;
pub mod setup;
pub mod tcp;
pub mod text;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use sokudo_model::Refusal;
use sokudo_net::clock::now_ns;
use sokudo_net::unless::unless;
use sokudo_workload::refusal::interrupted;

pub use event::{Event, PacketWay};
pub use listener::{ListenerSummary, RxSummary};
pub use options::{CoherenceDatagramOptions, CommandLine, HELP, Layout, Provider, ReportInterval};
pub use publisher::{Ended, PeerSummary, PublisherSummary};

use listener::{Links, ListenerTask};
use publisher::PublisherTask;
use setup::{Binding, Setup, set_up};
use text::Screen;

/// Events that wait for their reader; the threads go on without waiting when there are more.
const EVENTS: usize = 1024;

/// Longest time until `stop` is noticed.
const LOOK: Duration = Duration::from_millis(20);

/// After the last publisher has ended: how long its own packets may take to be heard here.
const GRACE_NS: i64 = 200_000_000;

/// After the last publisher has ended: how long others may go on sending to this process.
const LINGER_NS: i64 = 10_000_000_000;

/// Result of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct CoherenceDatagramSummary {
    /// Bytes per packet.
    pub packet_size: u32,
    /// Each local address's receiving half.
    pub listeners: Vec<ListenerSummary>,
    /// Each local address's sending half; empty without peers.
    pub publishers: Vec<PublisherSummary>,
    /// Reason why output is missing although the test went on.
    pub output_failure: Option<String>,
}

impl CoherenceDatagramSummary {
    /// Problems on the way, as sentences; empty when all is well.
    pub fn problems(&self) -> Vec<String> {
        let failed = self.publishers.iter().filter_map(|it| match &it.ended {
            Ended::Failed(why) => Some(why.clone()),
            _ => None,
        });
        let deaf = self.listeners.iter().filter_map(|it| it.error.clone());
        failed
            .chain(deaf)
            .chain(self.output_failure.clone())
            .collect()
    }
}

/// Runs a test and shows it on `out` as the vendor does.
///
/// Ends when all publishers have sent their count or time is over and no packets arrive any more, and in
/// any case when `stop` is set; a listener without peers, or a publisher without bounds, ends with
/// `stop` alone.
pub fn run(
    options: CoherenceDatagramOptions,
    out: &mut (dyn Write + Send),
    stop: &AtomicBool,
) -> Result<CoherenceDatagramSummary, Refusal> {
    let setup = begun(&options, stop)?;
    let mut screen = Screen::new(out, &options, setup.packet_size, setup.bindings.len());
    let mut summary = go(setup, &options, &mut |event| screen.show(&event), stop);
    summary.output_failure = screen.failure();
    Ok(summary)
}

/// Runs a test and hands everything that happens to `observe`. Ends like [`run`].
pub fn watch(
    options: &CoherenceDatagramOptions,
    observe: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<CoherenceDatagramSummary, Refusal> {
    Ok(go(begun(options, stop)?, options, observe, stop))
}

/// Prepares a test. Names may be looked up for long.
///
/// Errors: operator errors, and that `stop` was set meanwhile.
fn begun(options: &CoherenceDatagramOptions, stop: &AtomicBool) -> Result<Setup, Refusal> {
    let options = options.clone();
    let made = unless(stop, move || set_up(&options));
    made.unwrap_or_else(|| Err(interrupted()))
}

/// Runs a test without showing anything, and sets `stop` after `duration_ns`: a listener has no end of
/// its own. Ends like [`run`].
pub fn watch_for(
    options: &CoherenceDatagramOptions,
    duration_ns: u64,
    stop: &AtomicBool,
) -> Result<CoherenceDatagramSummary, Refusal> {
    let until = Instant::now() + Duration::from_nanos(duration_ns);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clock = scope.spawn(|| {
            while Instant::now() < until && !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(50));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let outcome = watch(options, &mut |_| {}, stop);
        done.store(true, Ordering::Relaxed);
        clock.thread().unpark();
        outcome
    })
}

/// State that all threads of a test share.
struct Common<'a> {
    options: &'a CoherenceDatagramOptions,
    halt: AtomicBool,
    /// Publishers that have not ended.
    sending: AtomicUsize,
}

fn go(
    setup: Setup,
    options: &CoherenceDatagramOptions,
    observe: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> CoherenceDatagramSummary {
    let Setup {
        mut bindings,
        packet_size,
        shape,
        rounds_per_s,
        opening,
    } = setup;
    opening.into_iter().for_each(&mut *observe);
    let (events, incoming) = sync_channel(EVENTS);
    let publishing = !options.peers.is_empty();
    let common = Common {
        options,
        halt: AtomicBool::new(false),
        sending: AtomicUsize::new(if publishing { bindings.len() } else { 0 }),
    };
    let links: Vec<Links> = bindings
        .iter_mut()
        .map(|binding| std::mem::replace(&mut binding.links, Links::new(&[])))
        .collect();
    std::thread::scope(|scope| {
        let mut listeners = Vec::new();
        let mut publishers = Vec::new();
        for (binding, links) in bindings.into_iter().zip(&links) {
            let (listening, sending) = tasks(binding, links, &common, shape, rounds_per_s);
            let to = events.clone();
            listeners.push(scope.spawn(move || listener::run(listening, &to)));
            if publishing {
                publishers.push(publish(scope, sending, &common, events.clone()));
            }
        }
        drop(events);
        let mut end = End {
            publishing,
            since_ns: None,
            silence_is_told: options.rx_timeout_ms > 0,
        };
        loop {
            match incoming.recv_timeout(LOOK) {
                Ok(event) => observe(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stop.load(Ordering::Relaxed) || end.has_come(&common, &links) {
                common.halt.store(true, Ordering::Relaxed);
            }
        }
        CoherenceDatagramSummary {
            packet_size,
            listeners: joined(listeners),
            publishers: joined(publishers),
            output_failure: None,
        }
    })
}

fn tasks<'a>(
    binding: Binding,
    links: &'a Links,
    common: &'a Common<'_>,
    shape: publisher::Shape,
    rounds_per_s: Option<f64>,
) -> (ListenerTask<'a>, PublisherTask<'a>) {
    let options = common.options;
    let listening = ListenerTask {
        input: binding.input,
        settings: binding.settings,
        granted_buffer_bytes: binding.granted_buffer_bytes,
        links,
        halt: &common.halt,
    };
    let sending = PublisherTask {
        listener: binding.local,
        peers: binding.peers,
        shape,
        rounds_per_s,
        iterations: options.tx_iterations,
        duration_ns: options.tx_duration_ms.map(options::nanoseconds),
        report: options.report_interval,
        tick: options.tick_interval,
        polite: options.polite,
        links,
        halt: &common.halt,
    };
    (listening, sending)
}

fn publish<'scope>(
    scope: &'scope Scope<'scope, '_>,
    task: PublisherTask<'scope>,
    common: &'scope Common<'_>,
    events: SyncSender<Event>,
) -> ScopedJoinHandle<'scope, PublisherSummary> {
    scope.spawn(move || {
        let summary = publisher::run(task, &events);
        common.sending.fetch_sub(1, Ordering::Release);
        summary
    })
}

/// Waits for the threads, which have all been told to end. One that panicked has already said so;
/// its numbers are missing.
fn joined<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> Vec<T> {
    threads
        .into_iter()
        .filter_map(|thread| thread.join().ok())
        .collect()
}

/// Decides when a test with publishers is over.
struct End {
    publishing: bool,
    /// Time at which the last publisher ended.
    since_ns: Option<i64>,
    /// Listeners notice that their senders have stopped.
    silence_is_told: bool,
}

impl End {
    fn has_come(&mut self, common: &Common<'_>, links: &[Links]) -> bool {
        if !self.publishing || common.sending.load(Ordering::Acquire) > 0 {
            return false;
        }
        let now = now_ns();
        let past_ns = now - *self.since_ns.get_or_insert(now);
        let heard = links.iter().any(|it| it.hearing.load(Ordering::Acquire));
        let others_may_send = heard && self.silence_is_told;
        past_ns >= if others_may_send { LINGER_NS } else { GRACE_NS }
    }
}

#[cfg(test)]
mod tests;
