//! One host's part of a bus phase, from bind to result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;

use sokudo_model::{FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::stream::{Listener, Stream};
use sokudo_net::tcp::TcpOptions;
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::limit::Limit;
use sokudo_workload::link::{Caller, Link};
use sokudo_workload::meet::{Arrived, Calls, Meeting, Terms};
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};

use super::NAME;
use super::client;
use super::course::Task;
use super::join::Numbers;
use super::options::{BusOptions, Rx};
use super::record::Report;
use super::report::{Collected, Reporter};
use super::server::{self, Arrival, BusReceiver};
use super::step::Gate;
use super::{queue, relay, single};

/// This host's end of one flow.
#[derive(Default)]
struct FlowEnd {
    stream: Option<Box<dyn Stream>>,
    /// Calls the peer; the connections of some transports live no longer than it.
    caller: Option<Caller>,
    listener: Option<Box<Listener>>,
}

/// One host's part of a phase.
pub(crate) struct BusPhase {
    options: Arc<BusOptions>,
    meeting: Meeting,
    emit: Emit,
    gate: Option<Arc<Gate>>,
    ends: BTreeMap<u32, FlowEnd>,
    tcp_state: Option<Watch>,
    /// Agreed start of the load, nanoseconds.
    start_ns: i64,
    crew: Crew<Report, Collected>,
}

impl BusPhase {
    /// Binds everything that this host is called for.
    pub(crate) fn prepare(
        options: BusOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let sends = spec.phase.flows.iter().any(|flow| flow.from == spec.me);
        let gate = match options.step && sends && !(options.relay && spec.me > 0) {
            true => Some(Gate::own().ok_or_else(nobody_to_ask)?),
            false => None,
        };
        let terms = Terms {
            transport: options.transport,
            tcp: TcpOptions::default(),
            connections: vec![1; spec.phase.flows.len()],
            calls: match options.single {
                true => Calls::Sender,
                false => Calls::Lower,
            },
            during_load: options.single,
        };
        let meeting = Meeting::prepare(spec, terms)?;
        Ok(Self {
            crew: Crew::new(meeting.own_name()),
            meeting,
            options: Arc::new(options),
            emit,
            gate,
            ends: BTreeMap::new(),
            tcp_state: None,
            start_ns: 0,
        })
    }

    /// True when this host hands on what arrives.
    fn is_relay(&self) -> bool {
        self.options.relay && self.meeting.spec().me > 0
    }

    fn shared(&self, reports: &SyncSender<Report>) -> BusReceiver {
        BusReceiver {
            options: Arc::clone(&self.options),
            came: Arc::default(),
            limit: self.meeting.limit().cloned(),
            stop: Arc::clone(&self.crew.closed),
            reports: reports.clone(),
        }
    }

    /// Messages per second of each sending thread, as asked for.
    fn thread_rate(&self) -> Option<f64> {
        let threads = self.meeting.sent_here().len().max(1) as f64;
        let rate = self.options.rate?;
        Some(self.options.events_per_s(rate) / threads)
    }

    fn task(&self, flow: &FlowPlan, came: &Arc<AtomicBool>) -> Task {
        let spec = self.meeting.spec();
        let is_polite = self.options.polite && spec.me == 0;
        Task {
            flow: flow.id,
            options: Arc::clone(&self.options),
            rate_per_s: self.thread_rate(),
            seed: spec.seed.wrapping_add(u64::from(flow.id)),
            bound_ns: spec.phase.bound_ns,
            polite: is_polite.then(|| Arc::clone(came)),
            gate: self.gate.clone(),
            stop: Arc::clone(&self.crew.stop),
        }
    }

    /// The connections of this host, for their state.
    fn watched(&self) -> Vec<Watched> {
        let spec = self.meeting.spec();
        let watched = self.ends.iter().filter_map(|(flow, end)| {
            let tcp = end.stream.as_ref()?.tcp()?.try_clone().ok()?;
            let sends = spec.phase.flows[*flow as usize].from == spec.me;
            Some(Watched {
                flow: *flow,
                end: if sends { "sender" } else { "receiver" },
                tcp,
            })
        });
        watched.take(MAX_FLOWS).collect()
    }

    fn take_links(&mut self, flow: u32, links: Vec<Link>) {
        let stream = links.into_iter().find_map(|link| match link {
            Link::Stream(stream) => Some(stream),
            Link::Udp(_) => None,
        });
        self.ends.entry(flow).or_default().stream = stream;
    }

    fn start_sender(
        &mut self,
        flow: &FlowPlan,
        shared: &BusReceiver,
        at_ns: i64,
    ) -> Result<(), Refusal> {
        let end = self.ends.remove(&flow.id).unwrap_or_default();
        let task = self.task(flow, &shared.came);
        let ticket = self.meeting.ticket(flow.id);
        let reports = shared.reports.clone();
        let name = format!("send{}", flow.id);
        match (end.stream, end.caller) {
            (Some(stream), caller) => self.crew.start(&name, move || {
                client::run(&task, stream, at_ns, &reports);
                drop(caller);
            }),
            (None, Some(caller)) => self.crew.start(&name, move || {
                single::send(&task, ticket, &caller, at_ns, &reports);
            }),
            (None, None) => Err(unconnected(flow.id)),
        }
    }

    fn start_relays(&mut self, incoming: &[FlowPlan], shared: &BusReceiver) -> Result<(), Refusal> {
        let onwards = self.meeting.sent_here();
        for before in incoming {
            let behind = onwards.iter().find(|flow| flow.stream == before.stream);
            let Some(behind) = behind else { continue };
            let arrived = self.ends.remove(&before.id).unwrap_or_default();
            let dialled = self.ends.remove(&behind.id).unwrap_or_default();
            let (Some(stream), Some(onward)) = (arrived.stream, dialled.stream) else {
                return Err(unconnected(behind.id));
            };
            let before = Arrival {
                flow: before.id,
                stream,
                caller: arrived.caller,
            };
            let behind = Arrival {
                flow: behind.id,
                stream: onward,
                caller: dialled.caller,
            };
            relay::start(before, behind, shared, &mut self.crew)?;
        }
        Ok(())
    }

    fn start_receivers(
        &mut self,
        incoming: &[FlowPlan],
        shared: &BusReceiver,
    ) -> Result<(), Refusal> {
        let mut arrivals = Vec::new();
        for flow in incoming {
            let Some(end) = self.ends.remove(&flow.id) else {
                continue;
            };
            if let Some(listener) = end.listener {
                let (id, ticket) = (flow.id, self.meeting.ticket(flow.id));
                let shared = shared.clone();
                let receive = move || single::receive(id, ticket, &listener, &shared);
                self.crew.start(&format!("receive{id}"), receive)?;
                continue;
            }
            let stream = end.stream.ok_or_else(|| unconnected(flow.id))?;
            let flow = flow.id;
            arrivals.push(Arrival {
                flow,
                stream,
                caller: end.caller,
            });
        }
        match self.options.rx {
            Rx::Queue => queue::start(arrivals, shared, &mut self.crew)?,
            Rx::Poll => self.start_polling(arrivals, shared)?,
            Rx::Inline => {
                for arrival in arrivals {
                    let shared = shared.clone();
                    let name = format!("receive{}", arrival.flow);
                    let receive = move || server::inline(arrival, &shared);
                    self.crew.start(&name, receive)?;
                }
            }
        }
        Ok(())
    }

    fn start_polling(
        &mut self,
        arrivals: Vec<Arrival>,
        shared: &BusReceiver,
    ) -> Result<(), Refusal> {
        let threads = self.options.rx_threads.unwrap_or(1).max(1) as usize;
        let mut shares: Vec<Vec<Arrival>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, arrival) in arrivals.into_iter().enumerate() {
            shares[number % threads].push(arrival);
        }
        for (number, share) in shares.into_iter().enumerate() {
            if share.is_empty() {
                continue;
            }
            let shared = shared.clone();
            let poll = move || server::poll(share, &shared);
            self.crew.start(&format!("poll{number}"), poll)?;
        }
        Ok(())
    }
}

fn nobody_to_ask() -> Refusal {
    operator(
        Text::new("error-bus-step-nobody"),
        Text::new("error-bus-step-nobody-hint"),
    )
}

fn unconnected(flow: u32) -> Refusal {
    failed(Text::new("error-flow-unconnected").with("flow", flow), None)
}

impl Phase<Numbers> for BusPhase {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.meeting.hold_to(limit);
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            self.take_links(flow.id, dialled.links);
            self.ends.entry(flow.id).or_default().caller = Some(dialled.caller);
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        for (flow, end) in self.meeting.arrived()? {
            match end {
                Arrived::Links(links) => self.take_links(flow, links),
                Arrived::Callers(listener) => {
                    self.ends.entry(flow).or_default().listener = Some(listener);
                }
                Arrived::Datagrams(_) => return Err(unconnected(flow)),
            }
        }
        self.start_ns = at_ns;
        let names = self.meeting.series_names(at_ns, t0_ns);
        let emit = Arc::clone(&self.emit);
        let begins = (at_ns, self.meeting.spec().hosts.len());
        self.tcp_state = Watch::begin(self.watched(), NAME, names.clone(), begins, emit)?;
        let me = self.meeting.spec().me;
        let flows = self.meeting.spec().phase.flows.clone();
        let incoming: Vec<FlowPlan> = flows.into_iter().filter(|flow| flow.to == me).collect();
        let outgoing = match self.is_relay() {
            true => Vec::new(),
            false => self.meeting.sent_here(),
        };
        let reporter = Reporter::new(names, Arc::clone(&self.emit), outgoing.len());
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        let shared = self.shared(&reports);
        if self.is_relay() {
            self.start_relays(&incoming, &shared)?;
        }
        self.start_receivers(&incoming, &shared)?;
        for flow in &outgoing {
            self.start_sender(flow, &shared, at_ns)?;
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        // Every sender has waited for what it had under way.
        self.tcp_state = None;
        self.ends.clear();
        self.crew.end();
        let collected = self.crew.collected()?;
        Ok(Numbers::new(collected, self.thread_rate(), self.start_ns))
    }
}
