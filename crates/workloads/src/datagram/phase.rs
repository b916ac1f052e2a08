//! One host's part of a datagram phase, from bind to result.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, PhaseSpec, Refusal};
use sokudo_net::counters::HostCounters;
use sokudo_net::tls::{self, Identity, PublicKey, Received, Trust};
use sokudo_net::udp::{self, Granted, MMSG_BATCH, SendMode};

use super::client::{self, ClientCounts, ClientFlow, ClientTask, Out};
use super::join::{Numbers, SenderSettings, SocketSettings};
use super::options::{DatagramOptions, IoMode, SizeRange, Switch, Transport};
use super::protocol::HEADER_BYTES;
use super::report::{Collected, Names, REPORT_QUEUE, Report, Reporter};
use super::selftest;
use super::server::{self, In, RECEIVE_BOUND, ServerFlow, ServerTask, Shared};
use super::stream::{StreamReceiver, StreamSender};
use crate::contract::{Emit, Phase};

/// Longest wait for a connection of a stream transport, and for its handshake.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// A stream that takes nothing for this long has a dead peer.
const STREAM_WRITE_BOUND: Duration = Duration::from_secs(10);
/// MTU assumed where the path's says nothing about a network (loopback) or is not known.
const ETHERNET_MTU: u32 = 1500;
/// Loopback interfaces have MTUs from here on.
const LOOPBACK_MTU: u32 = 65_535;
/// Acknowledgements under way when the last datagram was sent are waited for this long.
const LAST_ACKS: Duration = Duration::from_millis(20);
/// Length of one try in the self-test that picks the I/O mode.
const SELFTEST_SPAN: Duration = Duration::from_millis(60);

/// What one host tells the others before they connect.
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

/// A bound place to receive on.
enum Listening {
    Udp { socket: UdpSocket, gro: bool },
    Stream(TcpListener),
}

/// One host's part of a phase.
pub struct DatagramPhase {
    spec: PhaseSpec,
    options: DatagramOptions,
    emit: Emit,
    offer: Offer,
    identity: Option<Identity>,
    listening: BTreeMap<u32, Listening>,
    tasks_in: Vec<ServerTask>,
    acceptors: Vec<JoinHandle<Vec<Accepted>>>,
    tasks_out: Vec<ClientTask>,
    ack_sockets: Vec<(u32, u64, UdpSocket)>,
    senders: BTreeMap<u32, SenderSettings>,
    sockets: BTreeMap<u32, SocketSettings>,
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
    acks_stop: Arc<AtomicBool>,
    counters: HostCounters,
    client_threads: Vec<JoinHandle<()>>,
    server_threads: Vec<JoinHandle<()>>,
    ack_threads: Vec<JoinHandle<()>>,
    reporter: Option<(SyncSender<Report>, JoinHandle<Collected>)>,
}

/// A stream connection that carries one flow to this host.
struct Accepted {
    stream: u32,
    flow: u32,
    receiver: Box<dyn Read + Send>,
}

fn operator(says: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}

fn failed(says: impl Into<String>, hint: Option<String>) -> Refusal {
    Refusal {
        operator_error: false,
        says: says.into(),
        hint,
    }
}

/// Resolves a host's address; the first result counts.
fn resolve(host: &str, port: u16) -> Result<SocketAddr, Refusal> {
    let mut found = (host, port).to_socket_addrs().map_err(|error| {
        operator(
            format!("`{host}` cannot be resolved: {error}"),
            "use its IP address, or check the name",
        )
    })?;
    found.next().ok_or_else(|| {
        operator(
            format!("`{host}` has no address"),
            "use its IP address, or check the name",
        )
    })
}

impl DatagramPhase {
    /// Binds everything this host receives on and looks at the path of everything it sends.
    pub fn prepare(spec: PhaseSpec, emit: Emit) -> Result<Self, Refusal> {
        let options: DatagramOptions =
            serde_json::from_str(&spec.phase.options).map_err(|error| {
                operator(
                    format!("the options of `datagram` cannot be read: {error}"),
                    "install the same version of sokudo on all hosts",
                )
            })?;
        options.validate()?;
        let mut phase = Self {
            offer: Offer::default(),
            identity: None,
            listening: BTreeMap::new(),
            tasks_in: Vec::new(),
            acceptors: Vec::new(),
            tasks_out: Vec::new(),
            ack_sockets: Vec::new(),
            senders: BTreeMap::new(),
            sockets: BTreeMap::new(),
            shared: Arc::default(),
            stop: Arc::default(),
            acks_stop: Arc::default(),
            counters: HostCounters::default(),
            client_threads: Vec::new(),
            server_threads: Vec::new(),
            ack_threads: Vec::new(),
            reporter: None,
            spec,
            options,
            emit,
        };
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

    fn ticket(&self, flow: u32) -> u64 {
        self.spec
            .tickets
            .get(flow as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Address for the `stream`-th receiving or sending socket of this host.
    fn local_address(&self, stream: u32) -> Result<SocketAddr, Refusal> {
        // --bind speaks of the host where the command was given.
        let bindings: Vec<SocketAddr> = match self.spec.me {
            0 => self
                .options
                .bind
                .iter()
                .flat_map(|binding| binding.addresses())
                .collect(),
            _ => Vec::new(),
        };
        if !bindings.is_empty() {
            return Ok(bindings[stream as usize % bindings.len()]);
        }
        let own = &self.spec.hosts[self.spec.me as usize].address;
        let any = SocketAddr::new(IpAddr::from([0, 0, 0, 0]), 0);
        match own.parse::<IpAddr>() {
            // Behind address translation the address that others use is not ours to bind.
            Ok(ip) if udp::bind(SocketAddr::new(ip, 0)).is_ok() => Ok(SocketAddr::new(ip, 0)),
            Ok(IpAddr::V6(_)) => Ok(SocketAddr::new(std::net::Ipv6Addr::UNSPECIFIED.into(), 0)),
            _ => Ok(any),
        }
    }

    fn listen(&mut self) -> Result<(), Refusal> {
        let streams: std::collections::BTreeSet<u32> =
            self.incoming().map(|flow| flow.stream).collect();
        if self.options.transport == Transport::Tls && !streams.is_empty() {
            let identity = Identity::ephemeral(&self.spec.hosts[self.spec.me as usize].name)
                .map_err(|error| failed(format!("no certificate could be made: {error}"), None))?;
            self.offer.tls_key = Some(identity.public_key().spki().to_vec());
            self.identity = Some(identity);
        }
        for stream in streams {
            let address = self.local_address(stream)?;
            let (listening, port) = match self.options.transport {
                Transport::Udp => self.listen_udp(stream, address)?,
                Transport::Tcp | Transport::Tls => {
                    let listener =
                        TcpListener::bind(address).map_err(|e| cannot_bind(address, &e))?;
                    let port = listener
                        .local_addr()
                        .map_err(|e| cannot_bind(address, &e))?
                        .port();
                    (Listening::Stream(listener), port)
                }
            };
            self.offer.ports.insert(stream, port);
            self.listening.insert(stream, listening);
        }
        Ok(())
    }

    fn listen_udp(
        &mut self,
        stream: u32,
        address: SocketAddr,
    ) -> Result<(Listening, u16), Refusal> {
        let bound = |error: io::Error| cannot_bind(address, &error);
        let socket = udp::bind(address).map_err(bound)?;
        udp::receive_bound(&socket, RECEIVE_BOUND).map_err(bound)?;
        let size = self
            .options
            .size
            .map_or(u64::from(ETHERNET_MTU), |size| u64::from(size.max));
        let asked = self
            .options
            .rcvbuf
            .map_or(DatagramOptions::DEFAULT_RCVBUF_BYTES, |buffer| {
                buffer.bytes(size)
            });
        let rcvbuf = udp::receive_buffer(&socket, Some(asked)).map_err(bound)?;
        self.strict(rcvbuf, "receive", "net.core.rmem_max")?;
        let wanted = match (self.options.gro, self.options.io) {
            (Switch::On, _) => true,
            (Switch::Off, _) => false,
            (Switch::Auto, io) => matches!(io, IoMode::Auto | IoMode::Gso),
        };
        let gro = wanted && udp::enable_gro(&socket).is_ok();
        if self.options.gro == Switch::On && !gro {
            return Err(operator(
                "this system cannot coalesce received datagrams (GRO)",
                "leave --gro on out",
            ));
        }
        let port = socket.local_addr().map_err(bound)?.port();
        self.sockets.insert(
            stream,
            SocketSettings {
                rcvbuf_asked: asked,
                rcvbuf_granted: rcvbuf.granted_bytes,
                gro,
            },
        );
        Ok((Listening::Udp { socket, gro }, port))
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
            format!(
                "the system grants a {kind} buffer of {} B, not the {asked} B asked for",
                buffer.granted_bytes
            ),
            format!(
                "raise it with `sysctl -w {sysctl}={asked}`, ask for less, or leave --strict-buffers out"
            ),
        ))
    }

    /// Decides the datagram sizes of everything this host sends.
    fn look_at_paths(&mut self) -> Result<(), Refusal> {
        let outgoing: Vec<FlowPlan> = self.outgoing().cloned().collect();
        for flow in outgoing {
            let host = &self.spec.hosts[flow.to as usize].address;
            let peer = resolve(host, 9)?;
            let path_mtu = path_mtu(peer);
            let fits = fitting_size(peer, path_mtu);
            let size = self.options.size.unwrap_or(SizeRange {
                min: fits,
                max: fits,
            });
            self.check_fits(size, peer, path_mtu)?;
            self.offer.sends.insert(flow.id, Shape { size, path_mtu });
        }
        Ok(())
    }

    fn check_fits(
        &self,
        size: SizeRange,
        peer: SocketAddr,
        path_mtu: Option<u32>,
    ) -> Result<(), Refusal> {
        let headers = udp::header_bytes(&peer) as u32;
        let Some(mtu) = path_mtu.filter(|mtu| size.max + headers > *mtu) else {
            return Ok(());
        };
        if self.options.allow_fragments || self.options.transport != Transport::Udp {
            return Ok(());
        }
        Err(operator(
            format!(
                "datagrams of {} B do not fit the MTU of {mtu} B towards {} ({headers} B are headers)",
                size.max,
                peer.ip()
            ),
            format!(
                "use --size {} or less, or --allow-fragments to have them cut into IP fragments",
                mtu - headers
            ),
        ))
    }

    fn size_of(&self, offers: &[Option<Offer>], flow: &FlowPlan) -> Result<Shape, Refusal> {
        offers
            .get(flow.from as usize)
            .and_then(Option::as_ref)
            .and_then(|offer| offer.sends.get(&flow.id))
            .cloned()
            .ok_or_else(|| failed("a sending host made no offer", None))
    }

    /// Makes the receiving tasks of UDP sockets; starts to accept connections of streams.
    fn arm_receivers(&mut self, offers: &[Option<Offer>]) -> Result<(), Refusal> {
        for (stream, listening) in std::mem::take(&mut self.listening) {
            let flows: Vec<FlowPlan> = self
                .incoming()
                .filter(|flow| flow.stream == stream)
                .cloned()
                .collect();
            let mut max_bytes = HEADER_BYTES as u32;
            for flow in &flows {
                max_bytes = max_bytes.max(self.size_of(offers, flow)?.size.max);
            }
            match listening {
                Listening::Udp { socket, gro } => {
                    let batch = if self.options.io == IoMode::Plain {
                        1
                    } else {
                        MMSG_BATCH
                    };
                    let receiver = udp::Receiver::new(socket, max_bytes as usize, gro, batch);
                    let ids: Vec<u32> = flows.iter().map(|flow| flow.id).collect();
                    let task = self.server_task(stream, In::Udp(receiver), &ids);
                    self.tasks_in.push(task);
                }
                Listening::Stream(listener) => self.accept(stream, listener, &flows)?,
            }
        }
        Ok(())
    }

    fn server_task(&self, stream: u32, input: In, flows: &[u32]) -> ServerTask {
        ServerTask {
            stream,
            input,
            flows: flows
                .iter()
                .map(|id| ServerFlow::new(*id, self.ticket(*id)))
                .collect(),
            verify_bytes: self.options.verify.map_or(0, |bytes| bytes.0 as usize),
            interval_ns: self.options.interval.0,
            idle_ns: self.options.idle_timeout.0,
            collect: self.options.io != IoMode::Plain,
            shared: Arc::clone(&self.shared),
        }
    }

    fn accept(
        &mut self,
        stream: u32,
        listener: TcpListener,
        flows: &[FlowPlan],
    ) -> Result<(), Refusal> {
        let mut tickets: HashMap<u64, u32> = flows
            .iter()
            .map(|flow| (self.ticket(flow.id), flow.id))
            .collect();
        let identity = self.identity.take();
        let stop = Arc::clone(&self.stop);
        let accept_all = move || {
            let deadline = Instant::now() + CONNECT_BOUND;
            let mut accepted = Vec::new();
            if listener.set_nonblocking(true).is_err() {
                return accepted;
            }
            while !tickets.is_empty() && Instant::now() < deadline && !stop.load(Ordering::Relaxed)
            {
                match listener.accept() {
                    // A connection without a known ticket is a stranger: it is closed, no more.
                    Ok((tcp, _)) => {
                        if let Ok((ticket, receiver)) = admit(tcp, identity.as_ref(), deadline) {
                            if let Some(flow) = tickets.remove(&ticket) {
                                accepted.push(Accepted {
                                    stream,
                                    flow,
                                    receiver,
                                });
                            }
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Err(_) => break,
                }
            }
            accepted
        };
        let thread = spawn(&format!("accept-{stream}"), accept_all)?;
        self.acceptors.push(thread);
        Ok(())
    }

    /// Connects everything this host sends on.
    fn arm_senders(&mut self, offers: &[Option<Offer>]) -> Result<(), Refusal> {
        let streams: std::collections::BTreeSet<u32> =
            self.outgoing().map(|flow| flow.stream).collect();
        let total = self.outgoing().count().max(1);
        for stream in streams {
            let flows: Vec<FlowPlan> = self
                .outgoing()
                .filter(|flow| flow.stream == stream)
                .cloned()
                .collect();
            let mut ends = Vec::with_capacity(flows.len());
            let mut size = None;
            for flow in &flows {
                let shape = self.size_of(offers, flow)?;
                size.get_or_insert(shape.size);
                ends.push(self.connect(flow, &shape, offers)?);
            }
            let size = size.unwrap_or(SizeRange {
                min: ETHERNET_MTU,
                max: ETHERNET_MTU,
            });
            let mean = f64::from(size.mean());
            let share = flows.len() as f64 / total as f64;
            let rate_per_s = match (self.options.rate, self.options.rate_per_peer) {
                (Some(rate), _) => Some(rate.0.events_per_s(mean) * share),
                (None, Some(rate)) => {
                    // A peer's rate is shared by its parallel streams.
                    Some(
                        rate.0.events_per_s(mean) * flows.len() as f64
                            / f64::from(self.options.streams),
                    )
                }
                (None, None) => None,
            };
            for flow in &flows {
                if let Some(sender) = self.senders.get_mut(&flow.id) {
                    sender.asked_per_s = rate_per_s.map(|rate| rate / flows.len() as f64);
                }
            }
            self.tasks_out.push(ClientTask {
                stream,
                flows: ends,
                rate_per_s,
                count: self.options.count.map(|count| count.0),
                duration_ns: self.options.duration_ns(),
                bound_ns: self.spec.phase.bound_ns,
                interval_ns: self.options.interval.0,
                size,
                verify_bytes: self.options.verify.map_or(0, |bytes| bytes.0 as usize),
                seed: self.spec.seed ^ (u64::from(self.spec.me) << 32) ^ u64::from(stream),
                stop: Arc::clone(&self.stop),
                polite: self.options.polite.then(|| Arc::clone(&self.shared.first)),
            });
        }
        Ok(())
    }

    fn connect(
        &mut self,
        flow: &FlowPlan,
        shape: &Shape,
        offers: &[Option<Offer>],
    ) -> Result<ClientFlow, Refusal> {
        let peer_offer = offers.get(flow.to as usize).and_then(Option::as_ref);
        let port = peer_offer
            .and_then(|offer| offer.ports.get(&flow.stream))
            .copied();
        let peer_name = self.spec.hosts[flow.to as usize].name.clone();
        let port =
            port.ok_or_else(|| failed(format!("{peer_name} offered no port to send to"), None))?;
        let peer = resolve(&self.spec.hosts[flow.to as usize].address, port)?;
        match self.options.transport {
            Transport::Udp => self.connect_udp(flow, shape, peer),
            Transport::Tcp | Transport::Tls => {
                let key = peer_offer.and_then(|offer| offer.tls_key.clone());
                self.connect_stream(flow, shape, peer, key)
            }
        }
    }

    fn connect_udp(
        &mut self,
        flow: &FlowPlan,
        shape: &Shape,
        peer: SocketAddr,
    ) -> Result<ClientFlow, Refusal> {
        let cannot = |error: io::Error| failed(format!("cannot send to {peer}: {error}"), None);
        let mut local = self.local_address(flow.stream)?;
        if !self.offer.ports.is_empty() || local.is_ipv4() != peer.is_ipv4() {
            // The port belongs to the receiving socket; sends leave from one of their own.
            local.set_port(0);
        }
        if local.is_ipv4() != peer.is_ipv4() {
            let any: IpAddr = if peer.is_ipv4() {
                [0u8; 4].into()
            } else {
                [0u8; 16].into()
            };
            local = SocketAddr::new(any, 0);
        }
        let socket = udp::bind(local).map_err(|error| cannot_bind(local, &error))?;
        socket.connect(peer).map_err(cannot)?;
        udp::report_refusals(&socket).map_err(cannot)?;
        let asked = self
            .options
            .sndbuf
            .map(|buffer| buffer.bytes(u64::from(shape.size.max)));
        let sndbuf = udp::send_buffer(&socket, asked).map_err(cannot)?;
        self.strict(sndbuf, "send", "net.core.wmem_max")?;
        let (mode, why) = self.send_mode(shape, peer)?;
        let acks = socket.try_clone().map_err(cannot)?;
        let sender = udp::Sender::new(socket, mode, shape.size.max as usize).map_err(|error| {
            operator(
                format!(
                    "this system does not offer --io {} here: {error}",
                    mode.name()
                ),
                "use --io auto or --io plain",
            )
        })?;
        self.senders.insert(
            flow.id,
            SenderSettings {
                size: shape.size,
                path_mtu: shape.path_mtu,
                sndbuf_asked: asked,
                sndbuf_granted: Some(sndbuf.granted_bytes),
                mode: mode.name().into(),
                mode_reason: why,
                asked_per_s: None,
            },
        );
        let ticket = self.ticket(flow.id);
        self.ack_sockets.push((flow.id, ticket, acks));
        Ok(ClientFlow {
            id: flow.id,
            ticket,
            out: Out::Udp(sender),
            mode: Some(mode),
            counts: ClientCounts::default(),
        })
    }

    /// The I/O mode to use, and why when it is not the one asked for.
    fn send_mode(&self, shape: &Shape, peer: SocketAddr) -> Result<(SendMode, String), Refusal> {
        let fits = shape
            .path_mtu
            .is_none_or(|mtu| shape.size.max + udp::header_bytes(&peer) as u32 <= mtu);
        let obstacle = match (shape.size.min == shape.size.max, fits) {
            (false, _) => Some("datagrams of different sizes cannot be cut from one buffer"),
            (_, false) => Some("datagrams above the MTU cannot be cut from one buffer"),
            _ => None,
        };
        match (self.options.io, obstacle) {
            (IoMode::Plain, _) => Ok((SendMode::Plain, String::new())),
            (IoMode::Mmsg, _) => Ok((SendMode::Mmsg, String::new())),
            (IoMode::Gso, None) => Ok((SendMode::Gso, String::new())),
            (IoMode::Gso, Some(why)) => Err(operator(
                format!("--io gso is not possible: {why}"),
                "use --io auto or --io mmsg",
            )),
            (IoMode::Auto, obstacle) => match (best_mode(shape.size.max as usize), obstacle) {
                (SendMode::Gso, Some(why)) => Ok((SendMode::Mmsg, why.into())),
                (mode, _) => Ok((mode, "the fastest in this host's self-test".into())),
            },
        }
    }

    fn connect_stream(
        &mut self,
        flow: &FlowPlan,
        shape: &Shape,
        peer: SocketAddr,
        key: Option<Vec<u8>>,
    ) -> Result<ClientFlow, Refusal> {
        let cannot = |error: &dyn std::fmt::Display| {
            failed(format!("cannot connect to {peer}: {error}"), None)
        };
        let mut tcp = TcpStream::connect_timeout(&peer, CONNECT_BOUND).map_err(|e| cannot(&e))?;
        tcp.set_nodelay(true).map_err(|e| cannot(&e))?;
        let ticket = self.ticket(flow.id);
        let stream: Box<dyn Write + Send> = match key {
            None => {
                tcp.set_write_timeout(Some(STREAM_WRITE_BOUND))
                    .map_err(|e| cannot(&e))?;
                tcp.write_all(&ticket.to_be_bytes())
                    .map_err(|e| cannot(&e))?;
                Box::new(tcp)
            }
            Some(key) => {
                let trust = Trust::Pinned(PublicKey::from_spki(key));
                let deadline = Instant::now() + CONNECT_BOUND;
                let session = tls::connect(tcp, &trust, deadline).map_err(|e| cannot(&e))?;
                session
                    .writer
                    .send(&ticket.to_be_bytes(), CONNECT_BOUND)
                    .map_err(|e| cannot(&e))?;
                Box::new(TlsWrite(session))
            }
        };
        self.senders.insert(
            flow.id,
            SenderSettings {
                size: shape.size,
                path_mtu: shape.path_mtu,
                sndbuf_asked: None,
                sndbuf_granted: None,
                mode: self.options.transport.name().into(),
                mode_reason: String::new(),
                asked_per_s: None,
            },
        );
        let out = Out::Stream(StreamSender::new(stream, shape.size.max as usize));
        Ok(ClientFlow {
            id: flow.id,
            ticket,
            out,
            mode: None,
            counts: ClientCounts::default(),
        })
    }

    /// Waits for the connections of stream transports, a bounded time.
    fn finish_accepting(&mut self) -> Result<(), Refusal> {
        let expected = self.incoming().count();
        let acceptors = std::mem::take(&mut self.acceptors);
        if acceptors.is_empty() {
            return Ok(());
        }
        let accepted: Vec<Accepted> = acceptors
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .flatten()
            .collect();
        if accepted.len() < expected {
            return Err(failed(
                format!("{} of {expected} connections arrived", accepted.len()),
                Some("look for a firewall between the hosts".into()),
            ));
        }
        let max_bytes = udp::MAX_PAYLOAD_BYTES;
        for Accepted {
            stream,
            flow,
            receiver,
        } in accepted
        {
            let input = In::Stream(StreamReceiver::new(receiver, max_bytes));
            let task = self.server_task(stream, input, &[flow]);
            self.tasks_in.push(task);
        }
        Ok(())
    }

    fn names(&self, t0_ns: i64) -> Names {
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
            // A thread that panicked has nothing more to say; its numbers are missing.
            let _ = thread.join();
        }
        for thread in std::mem::take(&mut self.acceptors) {
            let _ = thread.join();
        }
    }
}

impl Phase for DatagramPhase {
    fn offer(&self) -> String {
        serde_json::to_string(&self.offer).unwrap_or_default()
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let offers: Vec<Option<Offer>> = offers
            .iter()
            .map(|offer| {
                offer
                    .as_ref()
                    .and_then(|text| serde_json::from_str(text).ok())
            })
            .collect();
        self.arm_receivers(&offers)?;
        self.arm_senders(&offers)
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.finish_accepting()?;
        self.counters = HostCounters::read();
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        let reporter = Reporter::new(
            self.names(t0_ns),
            Arc::clone(&self.emit),
            self.tasks_out.len(),
        );
        for task in std::mem::take(&mut self.tasks_in) {
            let reports = reports.clone();
            let name = format!("dgram-rx-{}", task.stream);
            self.server_threads
                .push(spawn(&name, move || server::run(task, &reports))?);
        }
        for (flow, ticket, socket) in std::mem::take(&mut self.ack_sockets) {
            let (reports, stop) = (reports.clone(), Arc::clone(&self.acks_stop));
            let read = move || client::read_acks(&socket, flow, ticket, &stop, &reports);
            self.ack_threads.push(spawn("dgram-ack", read)?);
        }
        for task in std::mem::take(&mut self.tasks_out) {
            let reports = reports.clone();
            let name = format!("dgram-tx-{}", task.stream);
            self.client_threads
                .push(spawn(&name, move || client::run(task, at_ns, &reports))?);
        }
        let thread = spawn("dgram-report", move || reporter.run(&queue))?;
        self.reporter = Some((reports, thread));
        Ok(())
    }

    fn halt(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<String, Refusal> {
        let said: HashMap<u32, u64> = sent
            .iter()
            .flatten()
            .filter_map(|text| serde_json::from_str::<HashMap<u32, u64>>(text).ok())
            .flatten()
            .collect();
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
        let Some((reports, thread)) = self.reporter.take() else {
            return Err(failed("the phase was never started on this host", None));
        };
        drop(reports);
        let collected = thread
            .join()
            .map_err(|_| failed("the reporting thread died", None))?;
        let numbers = Numbers::new(collected, &self.senders, &self.sockets, counters);
        serde_json::to_string(&numbers)
            .map_err(|error| failed(format!("the result cannot be written: {error}"), None))
    }
}

impl Drop for DatagramPhase {
    fn drop(&mut self) {
        self.stop_threads();
        if let Some((reports, thread)) = self.reporter.take() {
            drop(reports);
            let _ = thread.join();
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Refusal> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .map_err(|error| {
            failed(
                format!("no thread could be started: {error}"),
                Some("raise the limit on threads (ulimit -u)".into()),
            )
        })
}

fn cannot_bind(address: SocketAddr, error: &io::Error) -> Refusal {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses the port: choose another with --bind, or end that program"
        }
        io::ErrorKind::AddrNotAvailable => {
            "the address does not belong to this host: see `ip addr`"
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 need root: choose a higher one",
        _ => "choose another address with --bind",
    };
    operator(format!("cannot listen on {address}: {error}"), hint)
}

/// MTU towards a peer, from a socket that sends nothing.
fn path_mtu(peer: SocketAddr) -> Option<u32> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => ([0u8; 4], 0).into(),
        SocketAddr::V6(_) => ([0u8; 16], 0).into(),
    };
    let socket = udp::bind(any).ok()?;
    socket.connect(peer).ok()?;
    udp::path_mtu(&socket)
}

/// Largest datagram that crosses the path in one piece.
fn fitting_size(peer: SocketAddr, path_mtu: Option<u32>) -> u32 {
    let mtu = path_mtu
        .filter(|mtu| *mtu < LOOPBACK_MTU)
        .unwrap_or(ETHERNET_MTU);
    mtu.saturating_sub(udp::header_bytes(&peer) as u32)
        .max(HEADER_BYTES as u32)
}

/// The mode that the self-test finds fastest, tried once per process and size.
fn best_mode(size_bytes: usize) -> SendMode {
    static KNOWN: OnceLock<Mutex<HashMap<usize, SendMode>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    *known
        .entry(size_bytes)
        .or_insert_with(|| selftest::best_mode(size_bytes, SELFTEST_SPAN))
}

/// Takes a connection's ticket; the rest of it carries datagrams.
fn admit(
    mut tcp: TcpStream,
    identity: Option<&Identity>,
    deadline: Instant,
) -> Result<(u64, Box<dyn Read + Send>), Box<dyn std::error::Error>> {
    tcp.set_nonblocking(false)?;
    tcp.set_read_timeout(Some(RECEIVE_BOUND))?;
    let mut stream: Box<dyn Read + Send> = match identity {
        None => {
            tcp.flush()?;
            Box::new(tcp)
        }
        Some(identity) => {
            let session = tls::accept(tcp, identity, deadline)?;
            Box::new(TlsRead {
                session,
                ready: Vec::new(),
                taken: 0,
            })
        }
    };
    let mut ticket = [0u8; 8];
    let mut filled = 0;
    while filled < ticket.len() {
        match stream.read(&mut ticket[filled..]) {
            Ok(0) => return Err("closed before the ticket".into()),
            Ok(read) => filled += read,
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((u64::from_be_bytes(ticket), stream))
}

/// The sending half of a TLS connection as a stream.
struct TlsWrite(tls::Session);

impl Write for TlsWrite {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .writer
            .send(bytes, STREAM_WRITE_BOUND)
            .map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The receiving half of a TLS connection as a stream.
struct TlsRead {
    session: tls::Session,
    ready: Vec<u8>,
    taken: usize,
}

impl Read for TlsRead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.ready.clear();
            self.taken = 0;
            match self
                .session
                .reader
                .read(&mut self.ready, RECEIVE_BOUND)
                .map_err(io::Error::other)?
            {
                Received::Bytes(_) if !self.ready.is_empty() => {}
                Received::Bytes(_) | Received::Idle => return Err(io::ErrorKind::WouldBlock.into()),
                Received::End => return Ok(0),
            }
        }
        let count = out.len().min(self.ready.len() - self.taken);
        out[..count].copy_from_slice(&self.ready[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}
