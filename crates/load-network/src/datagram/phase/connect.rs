//! The sending sockets of a host, with their modes and rates.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_net::tls::{self, PublicKey, Trust};
use sokudo_net::udp::{self, SendMode};
use sokudo_workload::choice::Choice;
use sokudo_workload::consent::{self, Silence};
use sokudo_workload::contract::Options;
use sokudo_workload::link::Transport;
use sokudo_workload::place::resolve;
use sokudo_workload::refusal::{cannot_bind, failed, operator, unproven};

use super::super::acks::AckListener;
use super::super::client::{ClientFlow, ClientTask, Out};
use super::super::join::SenderSettings;
use super::super::options::IoMode;
use super::super::selftest;
use super::super::stream::StreamSender;
use super::listen::{Patient, TlsStream};
use super::{CONNECT_BOUND, DatagramPhase, Offer, Shape, WRITE_BOUND};

/// Length of one try in the self-test that picks the I/O mode.
const SELFTEST_SPAN: Duration = Duration::from_millis(60);

impl DatagramPhase {
    /// Connects everything this host sends on.
    pub(super) fn arm_senders(&mut self, offers: &[Option<Offer>]) -> Result<(), Refusal> {
        let streams: std::collections::BTreeSet<u32> =
            self.outgoing().map(|flow| flow.stream).collect();
        for stream in streams {
            let flows: Vec<FlowPlan> = self
                .outgoing()
                .filter(|flow| flow.stream == stream)
                .cloned()
                .collect();
            let mut ends = Vec::with_capacity(flows.len());
            for flow in &flows {
                let shape = self.size_of(offers, flow)?;
                ends.push(self.connect(flow, &shape, offers)?);
            }
            let rate_per_s = self.thread_rate(&ends);
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
                verify_bytes: self.options.verify.map_or(0, |bytes| bytes.0 as usize),
                seed: self.spec.seed ^ (u64::from(self.spec.me) << 32) ^ u64::from(stream),
                stop: Arc::clone(&self.stop),
                // Only the host that gives the command waits: if all did, none would begin.
                polite: (self.options.polite && self.spec.me == 0)
                    .then(|| Arc::clone(&self.shared.first)),
            });
        }
        Ok(())
    }

    /// Datagrams per second of the thread that serves these flows, as asked for.
    fn thread_rate(&self, flows: &[ClientFlow]) -> Option<f64> {
        let sizes = flows.iter().map(|flow| f64::from(flow.size.mean()));
        let n = flows.len() as f64;
        let mean_bytes = sizes.sum::<f64>() / n;
        if let Some(rate) = self.options.rate {
            let share = n / self.outgoing().count().max(1) as f64;
            return Some(rate.0.events_per_s(mean_bytes) * share);
        }
        // A peer's rate is shared by its parallel streams.
        let rate = self.options.rate_per_peer?;
        Some(rate.0.events_per_s(mean_bytes) * n / f64::from(self.options.streams))
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
        let port = port.ok_or_else(|| {
            failed(
                Text::new("error-datagram-no-port").with("host", peer_name),
                None,
            )
        })?;
        let peer = resolve(&self.spec.hosts[flow.to as usize].address, port)?;
        if self.options.transport == Transport::Udp {
            return self.connect_udp(flow, shape, peer);
        }
        let key = peer_offer.and_then(|offer| offer.tls_key.clone());
        self.connect_stream(flow, shape, peer, key)
    }

    fn connect_udp(
        &mut self,
        flow: &FlowPlan,
        shape: &Shape,
        peer: SocketAddr,
    ) -> Result<ClientFlow, Refusal> {
        let cannot = |error: io::Error| {
            failed(
                Text::new("error-datagram-no-way")
                    .with("peer", peer)
                    .with("error", error),
                None,
            )
        };
        let number = self.outgoing().take_while(|other| other.id != flow.id);
        let mut local = self.local_address(number.count())?;
        if !self.offer.ports.is_empty() || local.is_ipv4() != peer.is_ipv4() {
            // The port belongs to the receiving socket; sends leave from one of their own.
            local.set_port(0);
        }
        if local.is_ipv4() != peer.is_ipv4() {
            self.check_family(local, peer)?;
            let any: IpAddr = if peer.is_ipv4() {
                [0u8; 4].into()
            } else {
                [0u8; 16].into()
            };
            local = SocketAddr::new(any, 0);
        }
        let socket = udp::bind(local).map_err(|error| cannot_bind(local, &error))?;
        socket.connect(peer).map_err(cannot)?;
        let ticket = self.ticket(flow.id);
        consent::ask_over(&[&socket], flow.id, ticket)
            .map_err(|error| unproven(&peer.to_string(), &error))?;
        socket
            .set_write_timeout(Some(WRITE_BOUND))
            .map_err(cannot)?;
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
                Text::new("error-io-absent")
                    .with("mode", mode.name())
                    .with("error", error),
                Text::new("error-io-absent-hint"),
            )
        })?;
        self.senders.insert(
            flow.id,
            SenderSettings {
                size: shape.size,
                path_mtu: shape.path_mtu,
                header_bytes: Some(udp::header_bytes(&peer) as u32),
                sndbuf_asked: asked,
                sndbuf_granted: Some(sndbuf.granted_bytes),
                mode: mode.name().into(),
                mode_reason: why,
                asked_per_s: None,
            },
        );
        let client = ClientFlow::new(flow.id, ticket, Out::Udp(sender), shape.size);
        self.ack_listeners.push(AckListener {
            flow: flow.id,
            ticket,
            socket: acks,
            silence: Silence::new(i64::MAX),
            is_silent: Arc::clone(&client.is_silent),
            stop: Arc::clone(&self.acks_stop),
        });
        Ok(client)
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
                Text::new("error-io-gso").with("why", why),
                Text::new("error-io-gso-hint"),
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
            failed(
                Text::new("error-datagram-unconnected")
                    .with("peer", peer)
                    .with("error", error),
                None,
            )
        };
        let tcp = TcpStream::connect_timeout(&peer, CONNECT_BOUND).map_err(|e| cannot(&e))?;
        tcp.set_nodelay(true).map_err(|e| cannot(&e))?;
        let ticket = self.ticket(flow.id);
        let deadline = Instant::now() + CONNECT_BOUND;
        let strange = |error: io::Error| unproven(&peer.to_string(), &error);
        let stream: Box<dyn Write + Send> = match key {
            None => {
                tcp.set_write_timeout(Some(WRITE_BOUND))
                    .map_err(|e| cannot(&e))?;
                tcp.set_read_timeout(Some(CONNECT_BOUND))
                    .map_err(|e| cannot(&e))?;
                let mut stream = tcp;
                consent::ask(&mut stream, flow.id, ticket).map_err(strange)?;
                Box::new(stream)
            }
            Some(key) => {
                let trust = Trust::Pinned(PublicKey::from_spki(key));
                let session = tls::connect(tcp, &trust, deadline).map_err(|e| cannot(&e))?;
                let inner = TlsStream::new(session);
                let mut stream = Patient { inner, deadline };
                consent::ask(&mut stream, flow.id, ticket).map_err(strange)?;
                Box::new(stream.inner)
            }
        };
        self.senders.insert(
            flow.id,
            SenderSettings {
                size: shape.size,
                path_mtu: shape.path_mtu,
                header_bytes: None,
                sndbuf_asked: None,
                sndbuf_granted: None,
                mode: self.options.transport.name().into(),
                mode_reason: String::new(),
                asked_per_s: None,
            },
        );
        let out = Out::Stream(StreamSender::new(stream, shape.size.max as usize));
        Ok(ClientFlow::new(flow.id, ticket, out, shape.size))
    }
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
