//! One host's part of a datagram phase, from bind to result.

mod connect;
mod listen;
mod path;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sokudo_model::{FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::counters::HostCounters;
use sokudo_net::tls::Identity;
use sokudo_net::udp::{self, Granted};
use sokudo_workload::consent::{Doorkeeper, Silence};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::limit::Limit;
use sokudo_workload::meet::check_spec;
use sokudo_workload::refusal::{failed, operator, spawn};
use sokudo_workload::reporting::Reporting;
use sokudo_workload::told::{SENT, read_each};

use super::acks::{self, AckListener};
use super::client::{self, ClientTask};
use super::join::{Numbers, SenderSettings, SocketSettings};
use super::options::{DatagramOptions, SizeRange};
use super::protocol::HEADER_BYTES;
use super::report::{Collected, Names, Report, Reporter};
use super::server::{self, DatagramReceiver, ServerTask};

use listen::{Accepted, Listening};

/// Longest wait for a connection of a stream transport, and for its handshake.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// A stream that takes nothing for this long has a dead peer, a UDP socket a dead device.
const WRITE_BOUND: Duration = Duration::from_secs(10);
/// Most parallel flows between two hosts, as `--streams` allows.
const MAX_STREAMS: u32 = 64;
/// MTU assumed where the path's says nothing about a network (loopback) or is not known.
const ETHERNET_MTU: u32 = 1500;
/// Acknowledgements under way when the last datagram was sent are waited for this long.
const LAST_ACKS: Duration = Duration::from_millis(20);

/// Offer of one host to the others, before they connect.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Offer {
    /// Stream → port that it receives on.
    ports: BTreeMap<u32, u16>,
    /// Flow that it sends → what its datagrams look like.
    sends: BTreeMap<u32, Shape>,
    /// Public key of its end of TLS transports.
    tls_key: Option<Vec<u8>>,
}

/// Sizes of a flow's datagrams, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Sizes to draw from.
    pub size: SizeRange,
    /// MTU towards the peer, where the system says.
    pub path_mtu: Option<u32>,
}

impl Shape {
    /// A peer's word is not trusted with buffer sizes.
    fn is_possible(&self) -> bool {
        let SizeRange { min, max } = self.size;
        (HEADER_BYTES as u32..=max).contains(&min) && max as usize <= udp::MAX_PAYLOAD_BYTES
    }
}

/// One host's part of a phase.
pub struct DatagramPhase {
    spec: PhaseSpec,
    options: DatagramOptions,
    emit: Emit,
    offer: Offer,
    identity: Option<Identity>,
    listening: BTreeMap<u32, Listening>,
    doors: Vec<(u32, Doorkeeper)>,
    tasks_in: Vec<ServerTask>,
    acceptors: Vec<JoinHandle<Vec<Accepted>>>,
    tasks_out: Vec<ClientTask>,
    ack_listeners: Vec<AckListener>,
    senders: BTreeMap<u32, SenderSettings>,
    sockets: BTreeMap<u32, SocketSettings>,
    shared: Arc<DatagramReceiver>,
    stop: Arc<AtomicBool>,
    acks_stop: Arc<AtomicBool>,
    counters: HostCounters,
    client_threads: Vec<JoinHandle<()>>,
    server_threads: Vec<JoinHandle<()>>,
    ack_threads: Vec<JoinHandle<()>>,
    reporter: Reporting<Report, Collected>,
    /// Agreed start of the load, nanoseconds.
    start_ns: i64,
    /// What the receiving ends may do; `None` = anything.
    limit: Option<Arc<Limit>>,
}

impl DatagramPhase {
    /// Binds everything this host receives on and looks at the path of everything it sends.
    pub fn prepare(options: DatagramOptions, spec: PhaseSpec, emit: Emit) -> Result<Self, Refusal> {
        options.validate()?;
        check_spec(&spec, MAX_STREAMS)?;
        let mut phase = Self {
            offer: Offer::default(),
            identity: None,
            listening: BTreeMap::new(),
            doors: Vec::new(),
            tasks_in: Vec::new(),
            acceptors: Vec::new(),
            tasks_out: Vec::new(),
            ack_listeners: Vec::new(),
            senders: BTreeMap::new(),
            sockets: BTreeMap::new(),
            shared: Arc::default(),
            stop: Arc::default(),
            acks_stop: Arc::default(),
            counters: HostCounters::default(),
            client_threads: Vec::new(),
            server_threads: Vec::new(),
            ack_threads: Vec::new(),
            reporter: Reporting::default(),
            start_ns: 0,
            limit: None,
            spec,
            options,
            emit,
        };
        phase.check_bindings()?;
        phase.listen()?;
        phase.look_at_paths()?;
        Ok(phase)
    }

    fn incoming(&self) -> impl Iterator<Item = &FlowPlan> {
        self.spec
            .phase
            .flows
            .iter()
            .filter(|flow| flow.to == self.spec.me)
    }

    fn outgoing(&self) -> impl Iterator<Item = &FlowPlan> {
        self.spec
            .phase
            .flows
            .iter()
            .filter(|flow| flow.from == self.spec.me)
    }

    /// The flow's secret number; `check_spec` has seen that there is one.
    fn ticket(&self, flow: u32) -> u64 {
        self.spec.tickets[flow as usize]
    }

    fn strict(&self, buffer: Granted, kind: &str, sysctl: &str) -> Result<(), Refusal> {
        let Some(asked) = buffer
            .asked_bytes
            .filter(|asked| buffer.granted_bytes < *asked)
        else {
            return Ok(());
        };
        if !self.options.strict_buffers {
            return Ok(());
        }
        Err(operator(
            Text::new("error-buffer-short")
                .with("kind", kind)
                .with("granted", buffer.granted_bytes)
                .with("asked", asked),
            Text::new("error-buffer-short-hint")
                .with("sysctl", sysctl)
                .with("asked", asked),
        ))
    }

    fn size_of(&self, offers: &[Option<Offer>], flow: &FlowPlan) -> Result<Shape, Refusal> {
        offers
            .get(flow.from as usize)
            .and_then(Option::as_ref)
            .and_then(|offer| offer.sends.get(&flow.id))
            .filter(|shape| shape.is_possible())
            .cloned()
            .ok_or_else(|| {
                failed(
                    Text::new("error-no-size-offered")
                        .with("host", &self.spec.hosts[flow.from as usize].name)
                        .with("flow", flow.id),
                    Some(Text::new("error-hint-same-version")),
                )
            })
    }

    fn names(&self, start_ns: i64, t0_ns: i64) -> Names {
        let name = |host: u32| self.spec.hosts[host as usize].name.as_str();
        let many = self.options.streams > 1;
        let label = |flow: &FlowPlan| match many {
            true => format!("{}→{} #{}", name(flow.from), name(flow.to), flow.stream + 1),
            false => format!("{}→{}", name(flow.from), name(flow.to)),
        };
        Names {
            host: name(self.spec.me).into(),
            flows: self
                .spec
                .phase
                .flows
                .iter()
                .map(|flow| (flow.id, label(flow)))
                .collect(),
            t0_ns,
            start_ns,
        }
    }

    fn stop_threads(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.shared.stop.store(true, Ordering::Relaxed);
        self.acks_stop.store(true, Ordering::Relaxed);
        let threads = [
            &mut self.client_threads,
            &mut self.server_threads,
            &mut self.ack_threads,
        ];
        for thread in threads.into_iter().flat_map(std::mem::take) {
            // The numbers of a thread that panicked are missing.
            let _ = thread.join();
        }
        for thread in std::mem::take(&mut self.acceptors) {
            let _ = thread.join();
        }
    }
}

impl Phase<Numbers> for DatagramPhase {
    fn offer(&self) -> String {
        // Numbers and texts: there is nothing that JSON cannot hold.
        json!(self.offer).to_string()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.limit = Some(Arc::clone(limit));
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let offers: Vec<Option<Offer>> = read_each(&self.spec.hosts, "offer", offers)?;
        self.counters = HostCounters::read();
        self.arm_receivers(&offers)?;
        self.arm_senders(&offers)
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.finish_accepting()?;
        self.close_doors()?;
        self.start_ns = at_ns;
        let reporter = Reporter::new(
            self.names(at_ns, t0_ns),
            Arc::clone(&self.emit),
            self.tasks_out.len(),
        );
        let reports = self.reporter.begin(move |queue| reporter.run(queue))?;
        // Several hosts may live in one process: the kernel shows 15 bytes of a thread's name.
        let host = self.spec.hosts[self.spec.me as usize]
            .name
            .replace('\0', "");
        for task in std::mem::take(&mut self.tasks_in) {
            let reports = reports.clone();
            let name = format!("rx{} {host}", task.stream);
            self.server_threads
                .push(spawn(&name, move || server::run(task, &reports))?);
        }
        for mut listener in std::mem::take(&mut self.ack_listeners) {
            listener.silence = Silence::new(at_ns);
            let reports = reports.clone();
            let read = move || acks::read_acks(listener, &reports);
            self.ack_threads.push(spawn(&format!("ack {host}"), read)?);
        }
        for task in std::mem::take(&mut self.tasks_out) {
            let reports = reports.clone();
            let name = format!("tx{} {host}", task.stream);
            self.client_threads
                .push(spawn(&name, move || client::run(task, at_ns, &reports))?);
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        let counts = read_each::<HashMap<u32, u64>>(&self.spec.hosts, SENT, sent)?;
        let said: HashMap<u32, u64> = counts.into_iter().flatten().flatten().collect();
        // Set once per phase; a second drain finds the threads gone already.
        let _ = self.shared.sent.set(said);
        for thread in std::mem::take(&mut self.client_threads) {
            let _ = thread.join();
        }
        for thread in std::mem::take(&mut self.server_threads) {
            let _ = thread.join();
        }
        if !self.ack_threads.is_empty() {
            std::thread::sleep(LAST_ACKS);
        }
        let counters = HostCounters::read().since(self.counters);
        self.stop_threads();
        let collected = self.reporter.collected()?;
        Ok(Numbers::new(
            collected,
            &self.senders,
            &self.sockets,
            counters,
            self.start_ns,
        ))
    }
}

impl Drop for DatagramPhase {
    fn drop(&mut self) {
        self.stop_threads();
    }
}
