//! One host's part of a probe, from bind to result.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::{HostClock, PhaseSpec, Refusal};
use sokudo_net::tcp::TcpOptions;
use sokudo_net::{stamps, udp};

use super::delay::{PairClock, Row};
use super::join::Numbers;
use super::options::ProbeOptions;
use super::protocol::Agreed;
use super::report::{Collected, Report, Reporter, emit_probes};
use super::{client, server};
use crate::contract::{Emit, Phase};
use crate::link::{Caller, Link, Transport};
use crate::meet::{Arrived, Calls, Meeting, Terms};
use crate::refusal::{failed, operator, spawn};
use crate::reporting::{Names, REPORT_QUEUE, Reporting, as_text, collected, never_started};

/// Longest wait of one receive call: how soon an end is noticed.
const LOOK: Duration = Duration::from_millis(20);

/// One host's part of a phase.
pub(crate) struct ProbePhase {
    options: ProbeOptions,
    emit: Emit,
    meeting: Meeting,
    asking: Vec<(client::Task, UdpSocket, Caller)>,
    /// Ends the asking threads.
    stop: Arc<AtomicBool>,
    /// Ends the answering threads.
    closed: Arc<AtomicBool>,
    asking_threads: Vec<JoinHandle<()>>,
    answering_threads: Vec<JoinHandle<()>>,
    reporter: Reporting<Report, Collected>,
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
        Ok(Self {
            options,
            emit,
            meeting: Meeting::prepare(spec, terms)?,
            asking: Vec::new(),
            stop: Arc::default(),
            closed: Arc::default(),
            asking_threads: Vec::new(),
            answering_threads: Vec::new(),
            reporter: None,
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
            let says = |error| format!("datagrams cannot be marked with DSCP {dscp}: {error}");
            marked.map_err(|error| operator(says(error), "leave --dscp out"))?;
        }
        let bounded = udp::receive_bound(socket, LOOK);
        bounded.map_err(|error| failed(format!("a socket takes no bound: {error}"), None))?;
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
            stop: Arc::clone(&self.stop),
        }
    }

    /// The clocks of both ends of a flow; `None` when they were not compared.
    fn pair_clock(&self, flow: u32) -> Option<PairClock> {
        let plan = &self.meeting.spec().phase.flows[flow as usize];
        let clock = |host: u32| self.clocks.get(host as usize).copied().flatten();
        Some(PairClock::new(&clock(plan.from)?, &clock(plan.to)?))
    }

    fn stop_threads(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.closed.store(true, Ordering::Relaxed);
        self.asking.clear();
        let threads = [&mut self.asking_threads, &mut self.answering_threads];
        for thread in threads.into_iter().flat_map(std::mem::take) {
            // A thread that panicked has nothing more to say; its numbers are missing.
            let _ = thread.join();
        }
    }
}

impl Phase for ProbePhase {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            let Some(Link::Udp(socket)) = dialled.links.into_iter().next() else {
                return Err(failed("a probe needs datagrams", None));
            };
            self.ready(&socket)?;
            self.asking
                .push((self.asking_task(flow.id), socket, dialled.caller));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        // Several hosts may live in one process: the kernel shows 15 bytes of a thread's name.
        let host = self.meeting.own_name().replace('\0', "");
        for (flow, end) in self.meeting.arrived()? {
            let Arrived::Datagrams(socket) = end else {
                return Err(failed("a probe needs datagrams", None));
            };
            self.ready(&socket)?;
            let task = server::Task {
                flow,
                agreed: self.agreed(flow),
                socket,
                stop: Arc::clone(&self.closed),
            };
            let reports = reports.clone();
            let answer = move || server::run(&task, &reports);
            self.answering_threads
                .push(spawn(&format!("answer{flow} {host}"), answer)?);
        }
        let names = self.meeting.series_names(at_ns, t0_ns);
        self.series = Some(names.clone());
        let reporter = Reporter::new(names, Arc::clone(&self.emit), self.asking.len());
        for (task, socket, caller) in std::mem::take(&mut self.asking) {
            let (reports, name) = (reports.clone(), format!("listen{} {host}", task.flow));
            let probe = move || {
                client::run(&task, &socket, at_ns, &reports);
                drop(caller);
            };
            self.asking_threads.push(spawn(&name, probe)?);
        }
        let thread = spawn("report", move || reporter.run(&queue))?;
        self.reporter = Some((reports, thread));
        Ok(())
    }

    fn halt(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn clocks(&mut self, clocks: &[Option<HostClock>]) {
        self.clocks = clocks.to_vec();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<String, Refusal> {
        // Everybody has waited for the last answer, so nothing is left to be answered.
        self.stop_threads();
        let collected = collected(&mut self.reporter)?;
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
        let numbers = Numbers::new(collected, &clocks);
        as_text(&numbers)
    }
}

impl Drop for ProbePhase {
    fn drop(&mut self) {
        self.stop_threads();
        if let Some((reports, thread)) = self.reporter.take() {
            drop(reports);
            let _ = thread.join();
        }
    }
}
