//! One host's part of a stream phase, from bind to result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use sokudo_model::{FlowPlan, PhaseSpec, Refusal};
use sokudo_net::tcp::bulk::{ReceivePath, SendPath};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::limit::Limit;
use sokudo_workload::link::{Caller, Link};
use sokudo_workload::meet::{Arrived, Calls, Meeting, Terms};
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};
use sokudo_workload::told::{SENT, read_each};

use super::account::Times;
use super::join::Numbers;
use super::options::{IoMode, StreamOptions, read_bytes};
use super::report::{Ended, Report, Reporter, Sent};
use super::selftest::Trial;
use super::{NAME, client, selftest, server};

/// Longest wait for bytes that are still on their way when all senders have finished.
const DRAIN_BOUND: Duration = Duration::from_secs(20);
/// The same when a connection broke: what is in this host's own buffers comes at once.
const BROKEN_BOUND: Duration = Duration::from_secs(2);
/// Time between two looks at whether all threads have ended.
const DRAIN_LOOK: Duration = Duration::from_millis(1);
/// Fewest bytes that reads ask for.
const READ_BYTES: usize = 128 << 10;

/// A connection and who called it.
type End = (Link, Option<Caller>);

/// Way in which this host hands bytes to the kernel.
#[derive(Debug, Clone, Copy)]
struct Io {
    path: SendPath,
    size: usize,
}

/// One host's part of a phase.
pub(crate) struct StreamPhase {
    options: StreamOptions,
    emit: Emit,
    meeting: Meeting,
    io: Io,
    ends: BTreeMap<u32, End>,
    /// All senders have finished.
    draining: Arc<AtomicBool>,
    tcp_state: Option<Watch>,
    crew: Crew<Report, Vec<Ended>>,
}

impl StreamPhase {
    /// Binds everything that this host is called for.
    pub(crate) fn prepare(
        options: StreamOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let sends = spec.phase.flows.iter().any(|flow| flow.from == spec.me);
        let terms = Terms {
            transport: options.transport,
            tcp: options.tcp(),
            connections: vec![1; spec.phase.flows.len()],
            calls: Calls::Lower,
            during_load: false,
        };
        let meeting = Meeting::prepare(spec, terms)?;
        Ok(Self {
            io: choose_io(&options, sends),
            crew: Crew::new(meeting.own_name()),
            meeting,
            options,
            emit,
            ends: BTreeMap::new(),
            draining: Arc::default(),
            tcp_state: None,
        })
    }

    fn me(&self) -> u32 {
        self.meeting.spec().me
    }

    fn times(&self, start_ns: i64) -> Times {
        let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        Times {
            start_ns,
            count_from_ns: start_ns.saturating_add(ns(self.options.warmup.0)),
            bin_ns: ns(self.options.bins.0),
            interval_ns: ns(self.options.interval.0),
        }
    }

    /// Flows of this host by the thread that serves them: same direction, same peer, same place
    /// among the threads.
    fn groups(&self, sends: bool) -> Vec<Vec<u32>> {
        let threads = self.options.thread_count().max(1);
        let mut groups: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for flow in &self.meeting.spec().phase.flows {
            let (own, peer) = match sends {
                true => (flow.from, flow.to),
                false => (flow.to, flow.from),
            };
            if own == self.me() {
                let place = (peer, flow.stream % threads);
                groups.entry(place).or_default().push(flow.id);
            }
        }
        groups.into_values().collect()
    }

    fn take(&mut self, flows: &[u32]) -> Vec<(u32, End)> {
        let taken = flows
            .iter()
            .map(|flow| Some((*flow, self.ends.remove(flow)?)));
        taken.flatten().collect()
    }

    fn sending_task(&mut self, flows: &[u32], start_ns: i64) -> client::Task {
        let taken = self.take(flows).into_iter();
        let outgoing = taken.map(|(flow, (link, caller))| client::Outgoing { flow, link, caller });
        let spec = self.meeting.spec();
        let load_ns = match self.options.duration_ns() {
            0 => spec.phase.bound_ns,
            duration_ns => duration_ns.min(spec.phase.bound_ns),
        };
        client::Task {
            flows: outgoing.collect(),
            path: self.io.path,
            size: self.io.size,
            bytes: self.options.bytes.map(|bytes| bytes.0),
            rate_per_s: self.rate_per_s(),
            times: self.times(start_ns),
            end_ns: start_ns.saturating_add_unsigned(load_ns),
            patience: self.options.patience(),
            tcp: self.options.tcp(),
            seed: spec.seed,
            stop: Arc::clone(&self.crew.stop),
            closed: Arc::clone(&self.crew.closed),
        }
    }

    /// Writes per second of each connection, as asked for.
    fn rate_per_s(&self) -> Option<f64> {
        let flows = self.meeting.sent_here().len().max(1) as f64;
        let rate = self.options.rate?;
        Some(rate.0.events_per_s(self.io.size as f64) / flows)
    }

    fn receiving_task(&mut self, flows: &[u32], start_ns: i64) -> server::Task {
        let taken = self.take(flows).into_iter();
        let incoming = taken.map(|(flow, (link, caller))| server::Incoming { flow, link, caller });
        let gather = self.options.gather_bytes(cpus());
        server::Task {
            flows: incoming.collect(),
            path: match self.options.discard {
                true => ReceivePath::Discard,
                false => ReceivePath::Read,
            },
            at_once: (self.options.size_bytes() as usize)
                .max(READ_BYTES)
                .max(gather.map_or(0, read_bytes)),
            gather,
            purse: self.meeting.purse(),
            read_rate: self.options.read_rate.map(super::options::bytes_per_s),
            times: self.times(start_ns),
            tcp: self.options.tcp(),
            draining: Arc::clone(&self.draining),
            closed: Arc::clone(&self.crew.closed),
        }
    }

    /// The connections whose state is recorded, on this end.
    fn watched(&self) -> Vec<Watched> {
        let flows = &self.meeting.spec().phase.flows;
        let watched = self.ends.iter().filter_map(|(flow, (link, _))| {
            let end = match flows[*flow as usize].from == self.me() {
                true => "sender",
                false => "receiver",
            };
            let tcp = link.tcp()?.try_clone().ok()?;
            Some(Watched {
                flow: *flow,
                end,
                tcp,
            })
        });
        watched.take(MAX_FLOWS).collect()
    }

    fn begin_threads(&mut self, at_ns: i64, reports: &SyncSender<Report>) -> Result<(), Refusal> {
        for flows in self.groups(false) {
            let task = self.receiving_task(&flows, at_ns);
            let (reports, name) = (reports.clone(), format!("recv{}", flows[0]));
            self.crew
                .start(&name, move || server::run(task, &reports))?;
        }
        for flows in self.groups(true) {
            let task = self.sending_task(&flows, at_ns);
            let (reports, name) = (reports.clone(), format!("send{}", flows[0]));
            self.crew
                .start(&name, move || client::run(task, &reports))?;
        }
        Ok(())
    }

    /// Longest time until the flows of this host end by themselves: long while bytes are on their
    /// way, short when a sender says that its connection broke, or is gone.
    ///
    /// Errors: what a host has sent cannot be read.
    fn patience(&self, sent: &[Option<String>]) -> Result<Duration, Refusal> {
        let sent: Vec<Option<Sent>> = read_each(&self.meeting.spec().hosts, SENT, sent)?;
        let is_whole = |flow: &FlowPlan| {
            let host = sent.get(flow.from as usize).and_then(Option::as_ref);
            host.and_then(|host| host.flows.get(&flow.id))
                .is_some_and(|flow| flow.whole)
        };
        let flows = self.meeting.spec().phase.flows.iter();
        let mut own = flows.filter(|flow| flow.from == self.me() || flow.to == self.me());
        Ok(match own.all(is_whole) {
            true => DRAIN_BOUND,
            false => BROKEN_BOUND,
        })
    }

    /// Waits until all threads have ended by themselves, then ends them.
    fn end_threads(&mut self, patience: Duration) {
        self.crew.halt();
        self.draining.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + patience;
        while !self.crew.has_ended() && Instant::now() < deadline {
            std::thread::sleep(DRAIN_LOOK);
        }
        self.tcp_state = None;
        self.crew.end();
    }
}

/// CPUs that this process may use.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Chooses the way of writing: as asked for, or as a short test finds best where this host sends.
fn choose_io(options: &StreamOptions, sends: bool) -> Io {
    let asked = |path| Io {
        path,
        size: options.size_bytes() as usize,
    };
    match options.io {
        IoMode::Plain => asked(SendPath::Plain),
        IoMode::Zerocopy => asked(SendPath::Zerocopy),
        IoMode::Sendfile => asked(SendPath::Sendfile),
        IoMode::Auto if !sends => asked(SendPath::Plain),
        IoMode::Auto => {
            let fixed = options.size.is_some() || options.rate.is_some();
            let trial = Trial {
                size_bytes: fixed.then(|| options.size_bytes() as usize),
                connections: options.streams.clamp(1, selftest::MOST_CONNECTIONS),
                gather: options.gather_bytes(cpus()),
            };
            let best = selftest::best(trial);
            Io {
                path: best.path,
                size: best.size_bytes,
            }
        }
    }
}

impl Phase<Numbers> for StreamPhase {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.meeting.hold_to(limit);
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            for link in dialled.links {
                self.ends.insert(flow.id, (link, None));
            }
            if let Some((_, caller)) = self.ends.get_mut(&flow.id) {
                *caller = Some(dialled.caller);
            }
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        for (flow, arrived) in self.meeting.arrived()? {
            if let Arrived::Links(links) = arrived {
                let ends = links.into_iter().map(|link| (flow, (link, None)));
                self.ends.extend(ends);
            }
        }
        let names = self.meeting.series_names(at_ns, t0_ns);
        let emit = Arc::clone(&self.emit);
        let begins = (at_ns, self.meeting.spec().hosts.len());
        self.tcp_state = Watch::begin(self.watched(), NAME, names.clone(), begins, emit)?;
        let sending = self.meeting.sent_here().len();
        let (emit, bin_ns) = (Arc::clone(&self.emit), self.times(at_ns).bin_ns);
        let reporter = Reporter::new(names, emit, bin_ns, sending);
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        self.begin_threads(at_ns, &reports)
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        self.end_threads(self.patience(sent)?);
        let ended = self.crew.collected()?;
        Ok(Numbers::new(ended, &self.options, self.io.size as u64))
    }
}
