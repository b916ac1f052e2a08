//! The receiving sockets and accepted connections of a host.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_net::tls::{self, Identity, Received};
use sokudo_net::udp::{self, MMSG_BATCH};
use sokudo_workload::admission::{Admission, Stranger};
use sokudo_workload::consent::{self, Door, Doorkeeper};
use sokudo_workload::limit::Purse;
use sokudo_workload::link::{Transport, is_silence};
use sokudo_workload::ports;
use sokudo_workload::refusal::{cannot_bind, failed, operator, spawn};

use super::super::join::SocketSettings;
use super::super::options::{DatagramOptions, IoMode, Switch};
use super::super::protocol::HEADER_BYTES;
use super::super::server::{In, RECEIVE_BOUND, ServerFlow, ServerTask};
use super::super::stream::StreamReceiver;
use super::{CONNECT_BOUND, DatagramPhase, ETHERNET_MTU, Offer, WRITE_BOUND};

/// A connection that has not proven itself after this time makes room for the next one.
const ADMIT_BOUND: Duration = Duration::from_secs(3);

/// A bound place to receive on.
pub(super) enum Listening {
    Udp { socket: UdpSocket, gro: bool },
    Stream(TcpListener),
}

/// A stream connection that carries one flow to this host.
pub(super) struct Accepted {
    stream: u32,
    flow: u32,
    receiver: Box<dyn Read + Send>,
}

impl DatagramPhase {
    pub(super) fn listen(&mut self) -> Result<(), Refusal> {
        let streams: std::collections::BTreeSet<u32> =
            self.incoming().map(|flow| flow.stream).collect();
        if self.options.transport == Transport::Tls && !streams.is_empty() {
            let identity = Identity::ephemeral(&self.spec.hosts[self.spec.me as usize].name)
                .map_err(|error| {
                    failed(Text::new("error-no-certificate").with("error", error), None)
                })?;
            self.offer.tls_key = Some(identity.public_key().spki().to_vec());
            self.identity = Some(identity);
        }
        let needed = streams.len();
        for stream in streams {
            let address = self.local_address(stream as usize)?;
            let (listening, port) = if self.options.transport == Transport::Udp {
                self.listen_udp(stream, address, needed)?
            } else {
                let cannot = |error: &io::Error| cannot_bind(address, error);
                let listener = ports::listen(address, needed, TcpListener::bind, cannot)?;
                let port = listener
                    .local_addr()
                    .map_err(|e| cannot_bind(address, &e))?
                    .port();
                (Listening::Stream(listener), port)
            };
            if let Listening::Udp { socket, .. } = &listening {
                let keeper = self.open_door(stream, socket)?;
                self.doors.push((stream, keeper));
            }
            self.offer.ports.insert(stream, port);
            self.listening.insert(stream, listening);
        }
        Ok(())
    }

    /// Answers the senders of a stream's flows from now on, until they are to begin.
    fn open_door(&self, stream: u32, socket: &UdpSocket) -> Result<Doorkeeper, Refusal> {
        let flows = self.incoming().filter(|flow| flow.stream == stream);
        let door = Door::new(flows.map(|flow| (flow.id, self.ticket(flow.id), 1)));
        Doorkeeper::begin(socket, door.map_err(|e| failed(e.to_string(), None))?)
    }

    /// Ends the answering: the senders have proven themselves, and a socket that has one alone takes
    /// nothing of others.
    pub(super) fn close_doors(&mut self) -> Result<(), Refusal> {
        for (stream, keeper) in std::mem::take(&mut self.doors) {
            let proven = keeper.end();
            let Some(task) = self.tasks_in.iter_mut().find(|task| task.stream == stream) else {
                continue;
            };
            let broken = |error: io::Error| failed(error.to_string(), None);
            if let In::Udp(receiver) = &task.input {
                udp::receive_bound(receiver.socket(), RECEIVE_BOUND).map_err(broken)?;
                if let ([_], Some(peers)) = (task.flows.as_slice(), proven.values().next()) {
                    consent::pin(receiver.socket(), peers).map_err(broken)?;
                }
            }
            for flow in &mut task.flows {
                flow.peer = proven
                    .get(&flow.id)
                    .and_then(|peers| peers.first())
                    .copied();
            }
        }
        Ok(())
    }

    fn listen_udp(
        &mut self,
        stream: u32,
        address: SocketAddr,
        needed: usize,
    ) -> Result<(Listening, u16), Refusal> {
        let bound = |error: io::Error| cannot_bind(address, &error);
        let cannot = |error: &io::Error| cannot_bind(address, error);
        let socket = ports::listen(address, needed, udp::bind, cannot)?;
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
                Text::new("error-gro-absent"),
                Text::new("error-gro-absent-hint"),
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

    /// Makes the receiving tasks of UDP sockets; starts to accept connections of streams.
    pub(super) fn arm_receivers(&mut self, offers: &[Option<Offer>]) -> Result<(), Refusal> {
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
            shared: Arc::clone(&self.shared),
            purse: Purse::new(self.limit.as_ref()),
        }
    }

    fn accept(
        &mut self,
        stream: u32,
        listener: TcpListener,
        flows: &[FlowPlan],
    ) -> Result<(), Refusal> {
        let tickets = flows.iter().map(|flow| (flow.id, self.ticket(flow.id)));
        let tickets: Arc<HashMap<u32, u64>> = Arc::new(tickets.collect());
        let identity = self.identity.clone();
        let stop = Arc::clone(&self.stop);
        let accept_all = move || {
            let deadline = Instant::now() + CONNECT_BOUND;
            let (mut admission, mut accepted) = (Admission::default(), BTreeMap::new());
            if listener.set_nonblocking(true).is_err() {
                return Vec::new();
            }
            let is_over = || Instant::now() >= deadline || stop.load(Ordering::Relaxed);
            while accepted.len() < tickets.len() && !is_over() {
                match admission.has_room().then(|| listener.accept()) {
                    // A connection that proves nothing is closed, and not counted.
                    Some(Ok((tcp, from))) => {
                        let bound = deadline.min(Instant::now() + ADMIT_BOUND);
                        let (identity, tickets) = (identity.clone(), Arc::clone(&tickets));
                        let stranger = Stranger::over(Some(&tcp), Some(from.ip()));
                        admission.look(stranger, move || {
                            admit(tcp, identity.as_ref(), &tickets, bound).ok()
                        });
                    }
                    // Nobody is there, or a caller has gone, or there is no file left for one.
                    Some(Err(_)) | None => std::thread::sleep(Duration::from_millis(1)),
                }
                for (flow, receiver) in admission.admitted() {
                    let first = Accepted {
                        stream,
                        flow,
                        receiver,
                    };
                    accepted.entry(flow).or_insert(first);
                }
            }
            accepted.into_values().collect()
        };
        let thread = spawn(&format!("accept-{stream}"), accept_all)?;
        self.acceptors.push(thread);
        Ok(())
    }

    /// Waits for the connections of stream transports, a bounded time.
    pub(super) fn finish_accepting(&mut self) -> Result<(), Refusal> {
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
                Text::new("error-connections-missing")
                    .with("arrived", accepted.len())
                    .with("wanted", expected),
                Some(Text::new("error-firewall-hint")),
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
}

/// Lets both ends of a connection prove that they hold a flow's secret; the rest of it carries
/// datagrams of that flow.
fn admit(
    tcp: TcpStream,
    identity: Option<&Identity>,
    tickets: &HashMap<u32, u64>,
    deadline: Instant,
) -> Result<(u32, Box<dyn Read + Send>), Box<dyn std::error::Error>> {
    tcp.set_nonblocking(false)?;
    let ticket_of = |flow: u32| tickets.get(&flow).copied();
    let Some(identity) = identity else {
        tcp.set_read_timeout(Some(RECEIVE_BOUND))?;
        let mut stream = Patient {
            inner: tcp,
            deadline,
        };
        let flow = consent::answer(&mut stream, ticket_of)?;
        return Ok((flow, Box::new(stream.inner)));
    };
    let session = tls::accept(tcp, identity, deadline)?;
    let inner = TlsStream::new(session);
    let mut stream = Patient { inner, deadline };
    let flow = consent::answer(&mut stream, ticket_of)?;
    Ok((flow, Box::new(stream.inner)))
}

/// A stream whose reads return soon, read until a deadline.
pub(super) struct Patient<S> {
    pub(super) inner: S,
    pub(super) deadline: Instant,
}

impl<S: Read> Read for Patient<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(out) {
                Err(error) if is_silence(&error) && Instant::now() < self.deadline => {}
                read => return read,
            }
        }
    }
}

impl<S: Write> Write for Patient<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A TLS connection as a stream.
pub(super) struct TlsStream {
    session: tls::Session,
    ready: Vec<u8>,
    taken: usize,
}

impl TlsStream {
    pub(super) fn new(session: tls::Session) -> Self {
        Self {
            session,
            ready: Vec::new(),
            taken: 0,
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.session.writer.send(bytes, WRITE_BOUND);
        sent.map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for TlsStream {
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
