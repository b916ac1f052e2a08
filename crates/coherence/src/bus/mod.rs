//! A test that speaks the wire of the vendor's message bus test.
//!
//! ```text
//! transmitters ─► outbox of a connection ─► socket ═══ peer ═══ socket ─► reader ─► dealer
//!      ▲                                                            │ responses, receipts
//!      └──────────────────── responses, receipts ◄──────────────────┘
//! ```
//!
//! One process is a bus at each bound address, with transmitters and, if wanted, receive threads.
//! Messages are framed and arrive in order; a receipt says that they have been dealt with; one in
//! so many asks for a timed response. There is no end on this wire: a test lasts until it is
//! stopped. It stresses the same path as the bus workload that it belongs to; what the far end
//! measured stays there. The generator was the limit when its transmitters never waited
//! (`backlog(out 0%`) and nothing waited at the receiver.
//!
//! Sources: the vendor's manual, and the wire as its processes were seen to speak it;
//! `docs/reference/en/compat-message-bus-test.md` lists where this differs and why.

pub mod account;
pub mod connection;
pub mod event;
pub mod handshake;
pub mod ledger;
pub mod native;
pub mod node;
pub mod options;
pub mod outbox;
pub mod protocol;
pub mod receive;
pub mod relay;
pub mod report;
mod setup;
pub mod slot;
pub mod text;
pub mod transmit;
pub mod values;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Scope;

use sokudo_model::{Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_net::unless::unless;
use sokudo_workload::refusal::interrupted;

pub use account::{Block, Count};
pub use event::{Event, Report};
pub use options::{CoherenceBusOptions, CommandLine, HELP, Mode, Warmup};

use account::{Gauges, Mailbox, Meter, Windows};
use connection::LOOK;
use node::{Bus, PeerTotals, World};
use slot::Slot;
use text::Screen;

/// Events that wait for their reader.
const EVENTS: usize = 1024;

/// Result of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct CoherenceBusSummary {
    /// Since the first connection, without warm-up; `None` when there never was one.
    pub life: Option<Block>,
    /// Totals of each peer's connections, by bus and peer.
    pub peers: BTreeMap<(String, String), PeerTotals>,
    /// Problems on the way, as sentences.
    pub problems: Vec<String>,
}

/// Runs a test and shows it as the vendor does: reports on `out`, events on `notes`.
///
/// Ends when `stop` is set. With `-prompt`, lines of standard input are the steps.
pub fn run(
    options: &CoherenceBusOptions,
    out: &mut (dyn Write + Send),
    notes: &mut (dyn Write + Send),
    stop: &AtomicBool,
) -> Result<CoherenceBusSummary, Refusal> {
    let steps = options.prompt.then(steps_of_input);
    let mut screen = Screen::new(out, notes, options);
    let mut summary = go(
        options,
        steps,
        &mut |event| screen.show(&event),
        &mut |_| false,
        stop,
    )?;
    summary.problems.extend(screen.failure());
    Ok(summary)
}

/// State from which a caller decides whether the test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Peers that are connected.
    pub connected: u64,
    /// Peers that are still being called.
    pub calling: u64,
    /// Transmitters that have not sent all they should.
    pub sending: u64,
    /// Messages sent without receipt.
    pub unreceipted: u64,
}

/// Runs a test and hands everything that happens to `observe`. Ends when `stop` is set, or when
/// `enough` says so, which is asked some fifty times a second.
pub fn watch(
    options: &CoherenceBusOptions,
    observe: &mut dyn FnMut(Event),
    enough: &mut dyn FnMut(State) -> bool,
    stop: &AtomicBool,
) -> Result<CoherenceBusSummary, Refusal> {
    go(options, None, observe, enough, stop)
}

/// One step per line. The thread ends with the input, or with the process.
fn steps_of_input() -> Receiver<()> {
    let (step, steps) = sync_channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || step.send(()).is_err() {
                return;
            }
        }
    });
    steps
}

fn go(
    options: &CoherenceBusOptions,
    steps: Option<Receiver<()>>,
    observe: &mut dyn FnMut(Event),
    enough: &mut dyn FnMut(State) -> bool,
    stop: &AtomicBool,
) -> Result<CoherenceBusSummary, Refusal> {
    let asked = options.clone();
    let made = unless(stop, move || setup::set_up(&asked));
    let buses = made.unwrap_or_else(|| Err(interrupted()))?;
    let (events, incoming) = sync_channel(EVENTS);
    let halt = AtomicBool::new(false);
    let slots: usize = buses.iter().map(|bus| bus.slots.len()).sum();
    let world = World {
        options,
        halt: &halt,
        meter: Meter::default(),
        mailbox: Mailbox::default(),
        slots: (0..slots).map(|_| Slot::default()).collect(),
        events,
        steps: steps.map(Mutex::new),
        calling: AtomicUsize::new(0),
        sending: AtomicUsize::new(slots),
    };
    options
        .notes
        .iter()
        .cloned()
        .map(Event::Note)
        .for_each(&mut *observe);
    for bus in &buses {
        observe(Event::Open {
            on: bus.name.clone(),
        });
    }
    let mut course = WatchCourse::default();
    let started = std::thread::scope(|scope| {
        let started = start(&buses, &world, scope);
        while started.is_ok() && !stop.load(Ordering::Relaxed) {
            if enough(course.look(&buses, &world, observe)) {
                break;
            }
            match incoming.recv_timeout(LOOK) {
                Ok(event) => course.note(event, observe),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        // The life's numbers are those at the end of load, not of winding down.
        course.end(&buses, &world);
        halt.store(true, Ordering::Relaxed);
        for slot in &world.slots {
            slot.wake();
        }
        // The channel is closed so that no thread waits for room in it: later events are not needed.
        drop(incoming);
        started
    });
    started?;
    course.take_late(&world.mailbox);
    let mut peers = BTreeMap::new();
    for bus in &buses {
        let totals = bus.totals().into_iter();
        peers.extend(totals.map(|(peer, totals)| ((bus.name.clone(), peer), totals)));
    }
    Ok(CoherenceBusSummary {
        life: course.life,
        peers,
        problems: course.problems,
    })
}

fn start<'s>(
    buses: &'s [Bus],
    world: &'s World<'s>,
    scope: &'s Scope<'s, '_>,
) -> Result<(), Refusal> {
    let spawn = |name: &str, run: Box<dyn FnOnce() + Send + 's>| {
        let thread = std::thread::Builder::new().name(name.into());
        let started = thread.spawn_scoped(scope, run);
        started.map(drop).map_err(|why| {
            sokudo_workload::refusal::failed(
                Text::new("error-coherence-thread").with("why", why),
                Some(Text::new("error-coherence-thread-hint")),
            )
        })
    };
    for bus in buses {
        spawn("bus-accept", Box::new(move || bus.accept(world, scope)))?;
        for index in 0..bus.inboxes.len() {
            spawn(
                "bus-receive",
                Box::new(move || receive::work(bus, index, world)),
            )?;
        }
        for index in bus.slots.clone() {
            spawn(
                "bus-transmit",
                Box::new(move || transmit::run(bus, index, world, scope)),
            )?;
        }
        if world.options.polite || world.options.single {
            continue;
        }
        for peer in 0..bus.peers().len() {
            world.calling.fetch_add(1, Ordering::AcqRel);
            spawn(
                "bus-call",
                Box::new(move || bus.call_and_serve(peer, world, scope)),
            )?;
        }
    }
    Ok(())
}

/// State of the watching thread.
#[derive(Default)]
struct WatchCourse {
    windows: Windows,
    life: Option<Block>,
    problems: Vec<String>,
}

/// Problems that are remembered; a flood of them says nothing new.
const MAX_PROBLEMS: usize = 100;

impl WatchCourse {
    /// Reports when it is time.
    fn look(&mut self, buses: &[Bus], world: &World<'_>, observe: &mut dyn FnMut(Event)) -> State {
        let connected: u64 = buses.iter().map(Bus::connected).sum();
        let state = State {
            connected,
            calling: world.calling.load(Ordering::Acquire) as u64,
            sending: world.sending.load(Ordering::Acquire) as u64,
            unreceipted: unreceipted(buses),
        };
        // Single messages come and go with their connections.
        let singles = world.options.single && world.meter.totals().get(Count::Connects) > 0;
        let connections = connected.max(u64::from(singles));
        if connections == 0 && self.windows.lives() {
            self.end(buses, world);
            self.windows.restart();
        }
        let now = now_ns();
        let warmup = world.options.warmup;
        let lives = self
            .windows
            .tend(now, warmup, connections, &world.meter, &world.mailbox);
        let elapsed_ns = u64::try_from(now - self.windows.since_ns()).unwrap_or(0);
        if lives && elapsed_ns >= world.options.report_ns {
            let (now, life) = self.report(buses, world);
            let connections = match world.options.verbose {
                true => details(buses),
                false => Vec::new(),
            };
            observe(Event::Report(Box::new(Report {
                now,
                life,
                connections,
            })));
        }
        state
    }

    fn report(&mut self, buses: &[Bus], world: &World<'_>) -> (Block, Block) {
        let receipts = world.options.receipts;
        let gauges = Gauges {
            connections: buses.iter().map(Bus::connected).sum(),
            unreceipted: receipts.then(|| unreceipted(buses)),
            in_bytes: buses
                .iter()
                .flat_map(|bus| &bus.inboxes)
                .map(|it| it.waiting_bytes())
                .sum(),
            transmitters: match world.options.peers.is_empty() {
                true => 0,
                false => world.slots.len() as u64,
            },
            readers: match world.options.rx_threads {
                0 => 0,
                _ => buses.iter().map(|bus| bus.connections().len() as u64).sum(),
            },
        };
        self.windows
            .report(now_ns(), gauges, &world.meter, &world.mailbox)
    }

    /// Keeps the numbers of a life that is over.
    fn end(&mut self, buses: &[Bus], world: &World<'_>) {
        if self.windows.lives() {
            let (_, life) = self.report(buses, world);
            self.life = Some(life);
        }
    }

    /// Takes the times that threads still kept to themselves when the life's numbers were read.
    fn take_late(&mut self, mailbox: &Mailbox) {
        if let (Some(life), Ok(late)) = (&mut self.life, mailbox.lock()) {
            life.book.merge(&late);
        }
    }

    fn note(&mut self, event: Event, observe: &mut dyn FnMut(Event)) {
        if let Event::Disconnect {
            peer,
            on,
            why,
            fault: true,
        } = &event
            && self.problems.len() < MAX_PROBLEMS
        {
            self.problems.push(format!("{peer} on {on}: {why}"));
        }
        observe(event);
    }
}

fn unreceipted(buses: &[Bus]) -> u64 {
    let all = buses.iter().flat_map(Bus::connections);
    all.map(|it| it.outbox.outstanding()).sum()
}

fn details(buses: &[Bus]) -> Vec<String> {
    let of = |bus: &Bus| {
        let connections = bus.connections();
        let lines = connections.iter().map(|it| {
            let totals = it.meter.totals();
            format!(
                "bus:  {}, peer={}, msgs(in={}, out={}), bytes(in={}, out={}), unsent={}, unreceipted={}",
                bus.name,
                it.peer,
                totals.get(Count::InMessages),
                totals.get(Count::OutMessages),
                totals.get(Count::InBytes),
                totals.get(Count::OutBytes),
                it.outbox.unsent_bytes(),
                it.outbox.outstanding(),
            )
        });
        lines.collect::<Vec<_>>()
    };
    buses.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
