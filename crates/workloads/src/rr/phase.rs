//! One host's part of a request/response phase, from bind to result. `crr` is the same phase with
//! a connection per request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, PhaseSpec, Refusal};
use sokudo_net::stream::{Listener, StreamKind};
use sokudo_net::tls::Identity;
use sokudo_net::wait::allow_open_files;

use super::client::{self, LOOK, Task};
use super::join::Numbers;
use super::names::Names;
use super::options::RrOptions;
use super::record::Report;
use super::report::{Collected, Reporter};
use super::server::{self, End};
use crate::contract::{Emit, Phase};
use crate::crr;
use crate::link::Transport;
use crate::link::{CallError, Caller, Link, Listening, Place, admit, show_ticket};
use crate::place::{own_address, resolve};
use crate::refusal::{failed, operator, spawn};
use crate::reporting::{self, REPORT_QUEUE};
use crate::tcp_state::{MAX_FLOWS, Watch, Watched};

/// Longest wait for one connection, and for its handshake.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// Longest wait for all connections of a phase to arrive.
const ARRIVE_BOUND: Duration = Duration::from_secs(15);
/// Most threads between two hosts, as `--threads` allows.
const MAX_THREADS: u32 = 64;
/// Files that a process has open besides the connections.
const OTHER_FILES: u64 = 256;

/// What one host tells the others before they connect.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Offer {
    /// Flow that it answers → where it is called.
    places: BTreeMap<u32, Place>,
    /// Public key of its end of TLS connections.
    tls_key: Option<Vec<u8>>,
}

/// How an asking thread gets at its peer.
enum Source {
    /// Connections that stay, and what they may need to live.
    Links(Vec<Link>, Caller),
    /// A connection per request.
    PerRequest(Caller),
}

/// One host's part of a phase.
pub(crate) struct RrPhase {
    names: &'static Names,
    per_request: bool,
    spec: PhaseSpec,
    options: RrOptions,
    emit: Emit,
    offer: Offer,
    listening: BTreeMap<u32, Listening>,
    acceptors: Vec<(u32, JoinHandle<Vec<Link>>)>,
    answering: Vec<server::Task>,
    asking: Vec<(Task, Source)>,
    /// Ends the asking threads.
    stop: Arc<AtomicBool>,
    /// Ends the answering threads.
    closed: Arc<AtomicBool>,
    asking_threads: Vec<JoinHandle<()>>,
    answering_threads: Vec<JoinHandle<()>>,
    reporter: Option<(SyncSender<Report>, JoinHandle<Collected>)>,
    tcp_state: Option<Watch>,
}

impl RrPhase {
    /// Binds everything that this host answers.
    pub(crate) fn prepare(
        names: &'static Names,
        per_request: bool,
        options: RrOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let mut phase = Self {
            names,
            per_request,
            spec,
            options,
            emit,
            offer: Offer::default(),
            listening: BTreeMap::new(),
            acceptors: Vec::new(),
            answering: Vec::new(),
            asking: Vec::new(),
            stop: Arc::default(),
            closed: Arc::default(),
            asking_threads: Vec::new(),
            answering_threads: Vec::new(),
            reporter: None,
            tcp_state: None,
        };
        phase.check_spec()?;
        phase.check_open_files()?;
        phase.listen()?;
        Ok(phase)
    }

    /// Refuses a plan that speaks of hosts or tickets which it does not give.
    fn check_spec(&self) -> Result<(), Refusal> {
        let (spec, hosts) = (&self.spec, self.spec.hosts.len());
        let known = |host: u32| (host as usize) < hosts;
        let in_order = |(flow, id): (&FlowPlan, u32)| {
            flow.id == id && known(flow.from) && known(flow.to) && flow.stream < MAX_THREADS
        };
        let flows = &spec.phase.flows;
        let described = flows.iter().zip(0..).all(in_order);
        if known(spec.me) && spec.tickets.len() >= flows.len() && described {
            return Ok(());
        }
        Err(failed(
            "the plan names hosts or flows that it does not describe",
            Some("install the same version of sokudo on all hosts".into()),
        ))
    }

    /// Makes room for the connections of this host, as far as the system allows.
    fn check_open_files(&self) -> Result<(), Refusal> {
        let connections = |flow: &FlowPlan| u64::from(self.options.connections_of(flow.stream));
        let all: u64 = self.spec.phase.flows.iter().map(connections).sum();
        // Hosts of one process share its files.
        match allow_open_files(2 * all + OTHER_FILES) {
            Some(allowed) if allowed < all + OTHER_FILES / 4 => Err(operator(
                format!("this system allows {allowed} open files, and {all} connections are more"),
                "raise the limit on open files (ulimit -n), or use fewer --connections",
            )),
            _ => Ok(()),
        }
    }

    fn mine(&self, end: fn(&FlowPlan) -> u32) -> Vec<FlowPlan> {
        let flows = self.spec.phase.flows.iter();
        flows
            .filter(|flow| end(flow) == self.spec.me)
            .cloned()
            .collect()
    }

    /// The flow's secret number; `check_spec` has seen that there is one.
    fn ticket(&self, flow: u32) -> u64 {
        self.spec.tickets[flow as usize]
    }

    fn name(&self, host: u32) -> &str {
        &self.spec.hosts[host as usize].name
    }

    fn listen(&mut self) -> Result<(), Refusal> {
        let incoming = self.mine(|flow| flow.to);
        let mut identity = None;
        if self.options.transport.is_encrypted() && !incoming.is_empty() {
            let made = Identity::ephemeral(self.name(self.spec.me))
                .map_err(|error| failed(format!("no certificate could be made: {error}"), None))?;
            self.offer.tls_key = Some(made.public_key().spki().to_vec());
            identity = Some(made);
        }
        let address = own_address(&self.spec.hosts[self.spec.me as usize].address);
        for flow in incoming {
            let path = self.socket_path(flow.id);
            let bound = Listening::bind(self.options.transport, address, identity.clone(), path);
            let listening = bound.map_err(|error| cannot_listen(&error))?;
            let place = listening.place();
            let place =
                place.ok_or_else(|| failed("the system does not say where it listens", None))?;
            self.offer.places.insert(flow.id, place);
            match listening {
                Listening::Streams(listener) if !self.per_request => {
                    self.accept(&flow, listener)?;
                }
                listening => {
                    self.listening.insert(flow.id, listening);
                }
            }
        }
        Ok(())
    }

    /// A name that nobody can guess, for a socket file of this host.
    fn socket_path(&self, flow: u32) -> PathBuf {
        let ticket = self.ticket(flow);
        std::env::temp_dir().join(format!("sokudo-{}-{ticket:016x}.sock", std::process::id()))
    }

    /// Takes the connections of a flow as they come, from now on.
    fn accept(&mut self, flow: &FlowPlan, listener: Box<Listener>) -> Result<(), Refusal> {
        let wanted = self.options.connections_of(flow.stream) as usize;
        let (ticket, closed) = (self.ticket(flow.id), Arc::clone(&self.closed));
        let accept_all = move || {
            let mut links = Vec::with_capacity(wanted);
            while links.len() < wanted && !closed.load(Ordering::Relaxed) {
                match listener.accept(LOOK) {
                    // A connection without the ticket is a stranger: it is closed, no more.
                    Ok(Some(incoming)) => links.extend(admit(incoming, ticket).ok()),
                    Ok(None) => {}
                    Err(_) => break,
                }
            }
            links
        };
        let thread = spawn(&format!("accept-{}", flow.id), accept_all)?;
        self.acceptors.push((flow.id, thread));
        Ok(())
    }

    /// Waits for the connections of this host's flows, a bounded time.
    fn finish_accepting(&mut self) -> Result<(), Refusal> {
        let deadline = Instant::now() + ARRIVE_BOUND;
        let finished = |phase: &Self| phase.acceptors.iter().all(|(_, t)| t.is_finished());
        while !finished(self) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        if !finished(self) {
            self.closed.store(true, Ordering::Relaxed);
        }
        for (flow, thread) in std::mem::take(&mut self.acceptors) {
            let links = thread.join().unwrap_or_default();
            let stream = self.spec.phase.flows[flow as usize].stream;
            let wanted = self.options.connections_of(stream) as usize;
            if links.len() < wanted {
                return Err(failed(
                    format!("{} of {wanted} connections arrived", links.len()),
                    Some("look for a firewall between the hosts".into()),
                ));
            }
            let task = self.answering_task(flow, End::Links(links));
            self.answering.push(task);
        }
        for (flow, listening) in std::mem::take(&mut self.listening) {
            let end = match listening {
                Listening::Udp(socket) => End::Datagrams(socket),
                Listening::Streams(listener) => End::Callers(listener),
            };
            let task = self.answering_task(flow, end);
            self.answering.push(task);
        }
        Ok(())
    }

    fn answering_task(&self, flow: u32, end: End) -> server::Task {
        server::Task {
            flow,
            ticket: self.ticket(flow),
            sizes: self.options.size,
            wait: self.options.wait.0,
            end,
            stop: Arc::clone(&self.closed),
        }
    }

    /// Requests per second of each asking thread, as asked for.
    fn thread_rate(&self) -> Option<f64> {
        let threads = self.mine(|flow| flow.from).len().max(1) as f64;
        let rate = self.options.rate?;
        Some(self.options.events_per_s(rate) / threads)
    }

    fn asking_task(&self, flow: &FlowPlan) -> Task {
        Task {
            flow: flow.id,
            ticket: self.ticket(flow.id),
            sizes: self.options.size,
            window: self.options.window,
            rate_per_s: self.thread_rate(),
            count: self.options.count.map(|count| count.0),
            duration_ns: self.options.duration_ns(),
            warmup_ns: self.options.warmup.0,
            bound_ns: self.spec.phase.bound_ns,
            timeout_ns: i64::try_from(self.options.timeout.0).unwrap_or(i64::MAX),
            wait: self.options.wait.0,
            keep: self.options.keep.map_or(0, |keep| keep.0),
            interval_ns: self.options.interval.0,
            stop: Arc::clone(&self.stop),
        }
    }

    /// Whom a flow calls.
    fn caller(&self, flow: &FlowPlan, offers: &[Option<Offer>]) -> Result<Caller, Refusal> {
        let transport = self.options.transport;
        let offer = offers.get(flow.to as usize).and_then(Option::as_ref);
        let unread = || {
            failed(
                format!("{} made no offer that can be read", self.name(flow.to)),
                Some("install the same version of sokudo on all hosts".into()),
            )
        };
        let place = offer.and_then(|offer| offer.places.get(&flow.id));
        let place = place.ok_or_else(unread)?;
        let mut unresolved = None;
        let host = &self.spec.hosts[flow.to as usize].address;
        let endpoint = place.endpoint(|port| match resolve(host, port) {
            Ok(address) => Some(address),
            Err(refusal) => {
                unresolved = Some(refusal);
                None
            }
        });
        let endpoint = endpoint.ok_or_else(|| unresolved.unwrap_or_else(unread))?;
        let key = offer.and_then(|offer| offer.tls_key.clone());
        Caller::new(transport, endpoint, key).map_err(|error| cannot_call(transport, &error))
    }

    fn connect(&self, flow: &FlowPlan, offers: &[Option<Offer>]) -> Result<Source, Refusal> {
        let caller = self.caller(flow, offers)?;
        if self.per_request {
            return Ok(Source::PerRequest(caller));
        }
        let count = self.options.connections_of(flow.stream);
        let mut links = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let called = caller.call(CONNECT_BOUND);
            let called = called.map_err(|error| cannot_call(self.options.transport, &error))?;
            let mut link = called.link;
            show_ticket(&mut link, self.ticket(flow.id))
                .map_err(|error| failed(format!("{} hung up: {error}", caller.peer()), None))?;
            links.push(link);
        }
        Ok(Source::Links(links, caller))
    }

    fn series_names(&self, start_ns: i64, t0_ns: i64) -> reporting::Names {
        let many = self.options.threads > 1;
        let label = |flow: &FlowPlan| {
            let pair = format!("{}→{}", self.name(flow.from), self.name(flow.to));
            match many {
                true => format!("{pair} #{}", flow.stream + 1),
                false => pair,
            }
        };
        let flows = self.spec.phase.flows.iter();
        reporting::Names {
            host: self.name(self.spec.me).into(),
            flows: flows.map(|flow| (flow.id, label(flow))).collect(),
            t0_ns,
            start_ns,
        }
    }

    /// The first connection of each flow, on this end.
    fn watched(&self) -> Vec<Watched> {
        let asking = self
            .asking
            .iter()
            .filter_map(|(task, source)| match source {
                Source::Links(links, _) => Some((task.flow, "sender", links.first()?)),
                Source::PerRequest(_) => None,
            });
        let answering = self.answering.iter().filter_map(|task| match &task.end {
            End::Links(links) => Some((task.flow, "receiver", links.first()?)),
            End::Datagrams(_) | End::Callers(_) => None,
        });
        asking
            .chain(answering)
            .filter_map(|(flow, end, link)| {
                let tcp = link.tcp()?.try_clone().ok()?;
                Some(Watched { flow, end, tcp })
            })
            .take(MAX_FLOWS)
            .collect()
    }

    /// Connections of a flow and the rate asked of it.
    fn set_up(&self, flow: u32) -> (u64, Option<f64>) {
        let stream = self.spec.phase.flows[flow as usize].stream;
        let connections = match self.per_request {
            true => 1,
            false => u64::from(self.options.connections_of(stream)),
        };
        (connections, self.thread_rate())
    }

    fn stop_threads(&mut self) {
        self.tcp_state = None;
        self.stop.store(true, Ordering::Relaxed);
        self.closed.store(true, Ordering::Relaxed);
        // The sockets close with the tasks that were never started.
        self.asking.clear();
        let threads = [&mut self.asking_threads, &mut self.answering_threads];
        for thread in threads.into_iter().flat_map(std::mem::take) {
            // A thread that panicked has nothing more to say; its numbers are missing.
            let _ = thread.join();
        }
        for (_, thread) in std::mem::take(&mut self.acceptors) {
            let _ = thread.join();
        }
    }
}

/// Why a flow could not be connected, with what to do about it.
fn cannot_call(transport: Transport, error: &CallError) -> Refusal {
    if transport.kind().is_some_and(StreamKind::same_host) {
        return operator(
            format!(
                "{} connects processes of one host: {error}",
                transport.name()
            ),
            "use --transport tcp between hosts",
        );
    }
    failed(error.to_string(), error.hint().map(str::to_owned))
}

/// Why a flow cannot be answered, with what to do about it.
fn cannot_listen(error: &CallError) -> Refusal {
    failed(error.to_string(), error.hint().map(str::to_owned))
}

impl Phase for RrPhase {
    fn offer(&self) -> String {
        serde_json::to_string(&self.offer).unwrap_or_default()
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let read = |offer: &Option<String>| {
            let text = offer.as_ref()?;
            serde_json::from_str::<Offer>(text).ok()
        };
        let offers: Vec<Option<Offer>> = offers.iter().map(read).collect();
        for flow in self.mine(|flow| flow.from) {
            let source = self.connect(&flow, &offers)?;
            self.asking.push((self.asking_task(&flow), source));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.finish_accepting()?;
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        let names = self.series_names(at_ns, t0_ns);
        let (emit, source) = (Arc::clone(&self.emit), self.names.source);
        self.tcp_state = Watch::begin(self.watched(), source, names.clone(), at_ns, emit)?;
        let emit = Arc::clone(&self.emit);
        let reporter = Reporter::new(self.names, names, emit, self.asking.len());
        // Several hosts may live in one process: the kernel shows 15 bytes of a thread's name.
        let host = self.name(self.spec.me).replace('\0', "");
        for task in std::mem::take(&mut self.answering) {
            let reports = reports.clone();
            let name = format!("answer{} {host}", task.flow);
            let answer = move || server::run(task, &reports);
            self.answering_threads.push(spawn(&name, answer)?);
        }
        for (task, source) in std::mem::take(&mut self.asking) {
            let reports = reports.clone();
            let name = format!("ask{} {host}", task.flow);
            let ask = move || match source {
                Source::Links(links, caller) => {
                    client::run(task, links, at_ns, &reports);
                    drop(caller);
                }
                Source::PerRequest(peer) => crr::client::run(task, peer, at_ns, &reports),
            };
            self.asking_threads.push(spawn(&name, ask)?);
        }
        let thread = spawn("report", move || reporter.run(&queue))?;
        self.reporter = Some((reports, thread));
        Ok(())
    }

    fn halt(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<String, Refusal> {
        // Everybody has asked, so nothing is left to be answered.
        self.stop_threads();
        let Some((reports, thread)) = self.reporter.take() else {
            return Err(failed("the phase was never started on this host", None));
        };
        drop(reports);
        let collected = thread
            .join()
            .map_err(|_| failed("the reporting thread died", None))?;
        let numbers = Numbers::new(collected, |flow| self.set_up(flow));
        serde_json::to_string(&numbers)
            .map_err(|error| failed(format!("the result cannot be written: {error}"), None))
    }
}

impl Drop for RrPhase {
    fn drop(&mut self) {
        self.stop_threads();
        if let Some((reports, thread)) = self.reporter.take() {
            drop(reports);
            let _ = thread.join();
        }
    }
}
