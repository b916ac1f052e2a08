//! One host's part of a probe, from bind to result.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use sokudo_model::{HostClock, PhaseSpec, Refusal, Text};
use sokudo_net::tcp::TcpOptions;
use sokudo_net::{stamps, udp};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::limit::Limit;
use sokudo_workload::link::{Caller, Link, Transport};
use sokudo_workload::meet::{Arrived, Calls, Meeting, Terms};
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::reporting::{Names, never_started};

use super::delay::{PairClock, Row};
use super::join::Numbers;
use super::options::ProbeOptions;
use super::protocol::Agreed;
use super::report::{Collected, Report, Reporter, emit_probes};
use super::{client, server};

/// Longest wait of one receive call: how soon an end is noticed.
const LOOK: Duration = Duration::from_millis(20);

/// One host's part of a phase.
pub(crate) struct ProbePhase {
    options: ProbeOptions,
    emit: Emit,
    meeting: Meeting,
    asking: Vec<(client::Task, UdpSocket, Caller)>,
    crew: Crew<Report, Collected>,
    series: Option<Names>,
    clocks: Vec<Option<HostClock>>,
}

impl ProbePhase {
    /// Binds everything that this host answers.
    pub(crate) fn prepare(
        options: ProbeOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let terms = Terms {
            transport: Transport::Udp,
            tcp: TcpOptions::default(),
            connections: vec![1; spec.phase.flows.len()],
            calls: Calls::Sender,
            during_load: false,
        };
        let meeting = Meeting::prepare(spec, terms)?;
        Ok(Self {
            options,
            emit,
            crew: Crew::new(meeting.own_name()),
            meeting,
            asking: Vec::new(),
            series: None,
            clocks: Vec::new(),
        })
    }

    fn agreed(&self, flow: u32) -> Agreed {
        Agreed {
            ticket: self.meeting.ticket(flow),
            length: self.options.size.0 as u32,
        }
    }

    /// Makes a socket ready for stamped datagrams of the class asked for.
    fn ready(&self, socket: &UdpSocket) -> Result<(), Refusal> {
        if let Some(dscp) = self.options.dscp {
            let marked = udp::mark(socket, dscp);
            let says = |error| {
                Text::new("error-probe-unmarked")
                    .with("dscp", dscp)
                    .with("error", error)
            };
            marked
                .map_err(|error| operator(says(error), Text::new("error-probe-unmarked-hint")))?;
        }
        let bounded = udp::receive_bound(socket, LOOK);
        bounded.map_err(|error| {
            failed(
                Text::new("error-probe-unbounded").with("error", error),
                None,
            )
        })?;
        // Where the kernel does not stamp, the program does, and the result says so.
        let _ = stamps::enable(socket);
        Ok(())
    }

    fn asking_task(&self, flow: u32) -> client::Task {
        client::Task {
            flow,
            agreed: self.agreed(flow),
            probes: self.options.probes(),
            every_ns: self.options.every.0,
            timeout_ns: i64::try_from(self.options.timeout.0).unwrap_or(i64::MAX),
            interval_ns: self.options.interval.0,
            stop: Arc::clone(&self.crew.stop),
        }
    }

    /// The clocks of both ends of a flow; `None` when they were not compared.
    fn pair_clock(&self, flow: u32) -> Option<PairClock> {
        let plan = &self.meeting.spec().phase.flows[flow as usize];
        let clock = |host: u32| self.clocks.get(host as usize).copied().flatten();
        Some(PairClock::new(&clock(plan.from)?, &clock(plan.to)?))
    }
}

impl Phase<Numbers> for ProbePhase {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.meeting.hold_to(limit);
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            let Some(Link::Udp(socket)) = dialled.links.into_iter().next() else {
                return Err(failed(Text::new("error-probe-datagrams"), None));
            };
            self.ready(&socket)?;
            self.asking
                .push((self.asking_task(flow.id), socket, dialled.caller));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let names = self.meeting.series_names(at_ns, t0_ns);
        self.series = Some(names.clone());
        let reporter = Reporter::new(names, Arc::clone(&self.emit), self.asking.len());
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        for (flow, end) in self.meeting.arrived()? {
            let Arrived::Datagrams(datagrams) = end else {
                return Err(failed(Text::new("error-probe-datagrams"), None));
            };
            self.ready(&datagrams.socket)?;
            let task = server::Task {
                flow,
                agreed: self.agreed(flow),
                datagrams,
                purse: self.meeting.purse(),
                stop: Arc::clone(&self.crew.closed),
            };
            let reports = reports.clone();
            let answer = move || server::run(task, &reports);
            self.crew.start(&format!("answer{flow}"), answer)?;
        }
        for (task, socket, caller) in std::mem::take(&mut self.asking) {
            let (reports, name) = (reports.clone(), format!("listen{}", task.flow));
            let probe = move || {
                client::run(&task, &socket, at_ns, &reports);
                drop(caller);
            };
            self.crew.start(&name, probe)?;
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn clocks(&mut self, clocks: &[Option<HostClock>]) {
        self.clocks = clocks.to_vec();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        // All hosts have waited for their last answer, so nothing is left to be answered.
        self.asking.clear();
        self.crew.end();
        let collected = self.crew.collected()?;
        let series = self.series.take().ok_or_else(never_started)?;
        let mut clocks = Vec::with_capacity(collected.probed.len());
        for probed in &collected.probed {
            let rows: Vec<Row> = probed.received.rows.iter().copied().flatten().collect();
            let clock = self.pair_clock(probed.flow);
            let clock = clock.map(|clock| clock.doubted(&rows));
            let how = (self.options.keep.0, self.options.interval.0);
            emit_probes(&series, &self.emit, probed, clock.as_ref(), how);
            clocks.push(clock);
        }
        Ok(Numbers::new(collected, &clocks))
    }
}
