//! Connecting of both ends of each flow of a phase.
//!
//! ```text
//! prepare: listen ──► offer: places, key ──► connect: call, prove ──► arrived: admitted
//! ```
//!
//! One [`Meeting`] per host and phase. Who calls is the flow's sender, or the host that gives the
//! command where the other way may be barred ([`Calls`]). A flow has one or more connections. Before
//! any load both ends of its first one prove that they hold the flow's secret
//! ([`crate::consent`]), also where all connections are made during the load; a connection
//! without the flow's ticket is a stranger and is closed, no more.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::stream::{Listener, StreamError, StreamKind};
use sokudo_net::tcp::{TcpError, TcpOptions};
use sokudo_net::tls::Identity;
use sokudo_net::wait::allow_open_files;

use crate::admission::{Admission, Stranger};
use crate::choice::Choice;
use crate::consent::{self, Door, Doorkeeper};
use crate::limit::{Limit, Purse};
use crate::link::{
    Admitted, CallError, Caller, Link, Listening, Place, Transport, admit_any, prove, show_ticket,
};
use crate::place::{own_address, resolve};
use crate::ports;
use crate::refusal::{failed, operator, spawn};
use crate::reporting::{self, as_text};
use crate::told::read_each;

/// Longest wait for one connection, and for its handshake.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// Longest wait for all connections of a phase to arrive.
const ARRIVE_BOUND: Duration = Duration::from_secs(15);
/// Longest time between two looks at whether the meeting is over.
const LOOK: Duration = Duration::from_millis(50);
/// The same while callers prove themselves.
const SHORT_LOOK: Duration = Duration::from_millis(2);
/// Most flows side by side between two hosts, as options allow.
const MAX_STREAMS: u32 = 1024;
/// Files that a process has open besides the connections.
const OTHER_FILES: u64 = 256;

/// End of a flow that calls the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// The end that sends.
    Sender,
    /// The host with the lower number: number 0 gives the command, and stands perhaps behind
    /// address translation or a firewall.
    Lower,
}

impl Calls {
    fn caller(self, flow: &FlowPlan) -> u32 {
        match self {
            Calls::Sender => flow.from,
            Calls::Lower => flow.from.min(flow.to),
        }
    }

    fn called(self, flow: &FlowPlan) -> u32 {
        match self {
            Calls::Sender => flow.to,
            Calls::Lower => flow.from.max(flow.to),
        }
    }
}

/// Kind of the connections of a phase's flows.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Carrier of the messages.
    pub transport: Transport,
    /// Set on both ends, where there is TCP.
    pub tcp: TcpOptions,
    /// Connections of each flow, by its number.
    pub connections: Vec<u32>,
    /// End that calls.
    pub calls: Calls,
    /// Nothing is connected beforehand: callers call while the load runs.
    pub during_load: bool,
}

/// Offer of one host to the others, before they connect.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Offer {
    /// Flow that it is called for → where.
    places: BTreeMap<u32, Place>,
    /// Public key of its end of TLS connections.
    tls_key: Option<Vec<u8>>,
}

/// The calling end of a flow.
pub struct Dialled {
    /// Connections that have shown their ticket; none when they are made during the load.
    pub links: Vec<Link>,
    /// Calls the same peer again; the connections of some transports live no longer than it.
    pub caller: Caller,
}

/// The called end of a flow.
pub enum Arrived {
    /// Connections that have shown their ticket.
    Links(Vec<Link>),
    /// A socket for datagrams.
    Datagrams(Datagrams),
    /// Listener for connections during the load.
    Callers(Box<Listener>),
}

/// A socket for the datagrams of one flow.
pub struct Datagrams {
    /// Bound; connected when one peer alone sends the flow.
    pub socket: UdpSocket,
    /// The addresses that have proven that they send the flow, in their order. Others get no answer.
    pub peers: Vec<SocketAddr>,
}

impl Datagrams {
    /// True for an address that has proven itself.
    #[inline]
    pub fn knows(&self, peer: SocketAddr) -> bool {
        self.peers.binary_search(&peer).is_ok()
    }

    /// Sends to one of the peers; nothing leaves for any other address.
    ///
    /// Errors: the system did not take it, or the address has not proven itself.
    #[inline]
    pub fn send_to(&self, bytes: &[u8], peer: SocketAddr) -> io::Result<usize> {
        match self.peers.as_slice() {
            [only] if *only == peer => self.socket.send(bytes),
            _ if self.knows(peer) => self.socket.send_to(bytes, peer),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

/// Connections of a flow that have been admitted.
#[derive(Default)]
struct Entered {
    /// That of the ends that have proven themselves; without it the others do not count.
    first: Option<Link>,
    others: Vec<Link>,
}

impl Entered {
    fn enter(&mut self, admitted: Admitted) {
        match admitted {
            Admitted::Proven(link) if self.first.is_none() => self.first = Some(link),
            // The ends of a flow prove themselves once.
            Admitted::Proven(_) => {}
            Admitted::Shown(link) => self.others.push(link),
        }
    }

    fn count(&self) -> usize {
        match self.first {
            Some(_) => 1 + self.others.len(),
            None => 0,
        }
    }

    fn links(self) -> Vec<Link> {
        let others = self.first.is_some().then_some(self.others);
        self.first
            .into_iter()
            .chain(others.into_iter().flatten())
            .collect()
    }
}

/// Result of an accepting thread.
enum Accepted {
    Links(Vec<Link>),
    /// The flow's sender has proven itself, and calls again during the load.
    Callers(Box<Listener>),
}

/// One host's part of bringing the flows of a phase together. Dropping it ends its threads.
pub struct Meeting {
    spec: PhaseSpec,
    terms: Terms,
    offer: String,
    doors: Vec<(u32, UdpSocket, Doorkeeper)>,
    acceptors: Vec<(u32, JoinHandle<Option<Accepted>>)>,
    /// Ends the accepting threads.
    closed: Arc<AtomicBool>,
    /// What the ends that answer may do; `None` = anything.
    limit: Option<Arc<Limit>>,
}

impl Meeting {
    /// Listens for everything that this host is called for.
    ///
    /// Errors: a plan that speaks of hosts, tickets or flows which it does not give; too few open
    /// files; no place to listen at; a path that is not UTF-8, which no offer can hold.
    pub fn prepare(spec: PhaseSpec, terms: Terms) -> Result<Self, Refusal> {
        check_spec(&spec, MAX_STREAMS)?;
        if terms.connections.len() != spec.phase.flows.len() {
            return Err(undescribed());
        }
        let mut meeting = Self {
            spec,
            terms,
            offer: String::new(),
            doors: Vec::new(),
            acceptors: Vec::new(),
            closed: Arc::default(),
            limit: None,
        };
        meeting.check_open_files()?;
        meeting.offer = as_text(&meeting.listen()?)?;
        Ok(meeting)
    }

    /// Makes room for the connections of this host, as far as the system allows.
    fn check_open_files(&self) -> Result<(), Refusal> {
        let all: u64 = self.terms.connections.iter().copied().map(u64::from).sum();
        // Hosts of one process share its files.
        match allow_open_files(2 * all + OTHER_FILES) {
            Some(allowed) if allowed < all + OTHER_FILES / 4 => Err(operator(
                Text::new("error-open-files")
                    .with("allowed", allowed)
                    .with("all", all),
                Text::new("error-open-files-hint"),
            )),
            _ => Ok(()),
        }
    }

    /// Holds the ends that answer to a limit.
    pub fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.limit = Some(Arc::clone(limit));
    }

    /// Limit of the ends that answer, where there is one.
    pub fn limit(&self) -> Option<&Arc<Limit>> {
        self.limit.as_ref()
    }

    /// What one more answering thread pays from.
    pub fn purse(&self) -> Purse {
        Purse::new(self.limit.as_ref())
    }

    /// The plan of the phase, from this host's side.
    pub fn spec(&self) -> &PhaseSpec {
        &self.spec
    }

    /// Connections that a flow has at a time.
    pub fn connections_of(&self, flow: u32) -> u32 {
        self.terms.connections[flow as usize]
    }

    /// Flows of which `end` is this host.
    fn mine(&self, end: impl Fn(&FlowPlan) -> u32) -> Vec<FlowPlan> {
        let flows = self.spec.phase.flows.iter();
        flows
            .filter(|flow| end(flow) == self.spec.me)
            .cloned()
            .collect()
    }

    /// Flows that this host sends.
    pub fn sent_here(&self) -> Vec<FlowPlan> {
        self.mine(|flow| flow.from)
    }

    /// The flow's secret number; `prepare` has seen that there is one.
    pub fn ticket(&self, flow: u32) -> u64 {
        self.spec.tickets[flow as usize]
    }

    /// Name of a host, for people.
    fn name(&self, host: u32) -> &str {
        &self.spec.hosts[host as usize].name
    }

    /// Name of this host, for people.
    pub fn own_name(&self) -> &str {
        self.name(self.spec.me)
    }

    /// Names of series: `from→to`, numbered where several flows join two hosts.
    pub fn series_names(&self, start_ns: i64, t0_ns: i64) -> reporting::Names {
        let flows = &self.spec.phase.flows;
        let many = flows.iter().any(|flow| flow.stream > 0);
        let label = |flow: &FlowPlan| {
            let pair = format!("{}→{}", self.name(flow.from), self.name(flow.to));
            match many {
                true => format!("{pair} #{}", flow.stream + 1),
                false => pair,
            }
        };
        reporting::Names {
            host: self.own_name().into(),
            flows: flows.iter().map(|flow| (flow.id, label(flow))).collect(),
            t0_ns,
            start_ns,
        }
    }

    fn listen(&mut self) -> Result<Offer, Refusal> {
        let mut offer = Offer::default();
        let incoming = self.mine(|flow| self.terms.calls.called(flow));
        let transport = self.terms.transport;
        let mut identity = None;
        if transport.is_encrypted() && !incoming.is_empty() {
            let made = Identity::ephemeral(self.own_name()).map_err(|error| {
                failed(Text::new("error-no-certificate").with("error", error), None)
            })?;
            offer.tls_key = Some(made.public_key().spki().to_vec());
            identity = Some(made);
        }
        let address = own_address(&self.spec.hosts[self.spec.me as usize].address);
        let needed = incoming.len();
        for flow in incoming {
            let path = self.socket_path(flow.id);
            let tcp = &self.terms.tcp;
            let bind = |at| Listening::bind(transport, at, identity.clone(), path.clone(), tcp);
            let listening = match transport.kind().is_some_and(StreamKind::same_host) {
                true => bind(address).map_err(|error| cannot_listen(&error)),
                false => ports::listen(address, needed, bind, cannot_listen),
            }?;
            let place = listening.place();
            let place = place.ok_or_else(|| failed(Text::new("error-no-own-address"), None))?;
            offer.places.insert(flow.id, place);
            match listening {
                Listening::Streams(listener) => self.accept(flow.id, listener)?,
                Listening::Udp(socket) => self.open_door(flow.id, socket)?,
            }
        }
        Ok(offer)
    }

    /// An unguessable name for a socket file of this host. No two of one process share
    /// it, whatever their tickets are.
    fn socket_path(&self, flow: u32) -> PathBuf {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let ending = socket_ending(self.ticket(flow));
        std::env::temp_dir().join(format!("sokudo-{process}-{number}{ending}"))
    }

    /// Answers senders of datagrams from now on, until they are to begin.
    fn open_door(&mut self, flow: u32, socket: UdpSocket) -> Result<(), Refusal> {
        let expected = (flow, self.ticket(flow), self.connections_of(flow));
        let door = Door::new([expected]).map_err(|error| failed(error.to_string(), None))?;
        let keeper = Doorkeeper::begin(&socket, door)?;
        self.doors.push((flow, socket, keeper));
        Ok(())
    }

    /// Takes the connections of a flow as they come, from now on.
    fn accept(&mut self, flow: u32, listener: Box<Listener>) -> Result<(), Refusal> {
        let during_load = self.terms.during_load;
        let wanted = match during_load {
            true => 1,
            false => self.connections_of(flow) as usize,
        };
        let (ticket, closed) = (self.ticket(flow), Arc::clone(&self.closed));
        let accept_all = move || {
            let (mut admission, mut entered) = (Admission::default(), Entered::default());
            while entered.count() < wanted && !closed.load(Ordering::Relaxed) {
                let called = match (admission.has_room(), admission.is_idle()) {
                    (true, true) => listener.accept(LOOK),
                    (true, false) => listener.accept(SHORT_LOOK),
                    (false, _) => {
                        std::thread::sleep(SHORT_LOOK);
                        Ok(None)
                    }
                };
                match called {
                    // A connection that proves nothing is closed, and not counted.
                    Ok(Some(incoming)) => {
                        let from = incoming.peer().map(|peer| peer.ip());
                        let stranger = Stranger::over(incoming.tcp(), from);
                        admission.look(stranger, move || admit_any(incoming, flow, ticket).ok());
                    }
                    Ok(None) => {}
                    Err(StreamError::Tcp(TcpError::TooManyOpen { .. })) => {
                        std::thread::sleep(SHORT_LOOK);
                    }
                    Err(_) => break,
                }
                admission.admitted().for_each(|one| entered.enter(one));
            }
            match during_load {
                true => entered.first.map(|_| Accepted::Callers(listener)),
                false => Some(Accepted::Links(entered.links())),
            }
        };
        let thread = spawn(&format!("accept-{flow}"), accept_all)?;
        self.acceptors.push((flow, thread));
        Ok(())
    }

    /// This host's offer to the others, as text.
    pub fn offer(&self) -> String {
        self.offer.clone()
    }

    /// Calls every peer that this host is to call, in the order of the flows. `offers` by host.
    ///
    /// Errors: an offer that cannot be read, a peer that cannot be reached within its bound.
    pub fn connect(&self, offers: &[Option<String>]) -> Result<Vec<(FlowPlan, Dialled)>, Refusal> {
        let offers: Vec<Option<Offer>> = read_each(&self.spec.hosts, "offer", offers)?;
        let calling = self.mine(|flow| self.terms.calls.caller(flow));
        let dial = |flow: FlowPlan| Ok((flow.clone(), self.dial(&flow, &offers)?));
        calling.into_iter().map(dial).collect()
    }

    /// The caller of a flow's called end.
    fn caller(&self, flow: &FlowPlan, offers: &[Option<Offer>]) -> Result<Caller, Refusal> {
        let transport = self.terms.transport;
        let called = self.terms.calls.called(flow);
        let offer = offers.get(called as usize).and_then(Option::as_ref);
        let lacks = |what: &str| {
            failed(
                Text::new("error-not-offered")
                    .with("host", self.name(called))
                    .with("what", what)
                    .with("flow", flow.id),
                Some(Text::new("error-hint-same-version")),
            )
        };
        let place = offer.and_then(|offer| offer.places.get(&flow.id));
        let place = place.ok_or_else(|| lacks("place"))?;
        let mut unresolved = None;
        let host = &self.spec.hosts[called as usize].address;
        if let Place::Path(path) = place
            && !is_own_socket(path, self.ticket(flow.id))
        {
            return Err(lacks("socket file of its own"));
        }
        let endpoint = place.endpoint(|port| match resolve(host, port) {
            Ok(address) => Some(address),
            Err(refusal) => {
                unresolved = Some(refusal);
                None
            }
        });
        let endpoint = endpoint.ok_or_else(|| unresolved.unwrap_or_else(|| lacks("address")))?;
        let key = offer.and_then(|offer| offer.tls_key.clone());
        if transport.is_encrypted() && key.is_none() {
            return Err(lacks("public key for the connection"));
        }
        let caller = Caller::new(transport, endpoint, key, &self.terms.tcp);
        caller.map_err(|error| cannot_call(transport, &error))
    }

    fn dial(&self, flow: &FlowPlan, offers: &[Option<Offer>]) -> Result<Dialled, Refusal> {
        let caller = self.caller(flow, offers)?;
        let mut links = Vec::new();
        // One connection proves that the far end agreed to those that are made during the load.
        for _ in 0..self.connections_of(flow.id).max(1) {
            let called = caller.call(CONNECT_BOUND);
            let called = called.map_err(|error| cannot_call(self.terms.transport, &error))?;
            let mut link = called.link;
            if !link.is_datagram() {
                self.introduce(&mut link, links.is_empty(), flow.id)
                    .map_err(|error| unproven(&caller, &error))?;
            }
            links.push(link);
            if self.terms.during_load {
                links.clear();
                break;
            }
        }
        let sockets: Vec<&UdpSocket> = links.iter().filter_map(Link::datagrams).collect();
        consent::ask_over(&sockets, flow.id, self.ticket(flow.id))
            .map_err(|error| unproven(&caller, &error))?;
        Ok(Dialled { links, caller })
    }

    /// Proves a flow's first connection; the others show its ticket to the host that has proven itself.
    fn introduce(&self, link: &mut Link, is_first: bool, flow: u32) -> io::Result<()> {
        match is_first {
            true => prove(link, flow, self.ticket(flow)),
            false => show_ticket(link, self.ticket(flow)),
        }
    }

    /// Returns what has come for every flow that this host is called for, after a bounded wait for
    /// it.
    ///
    /// Errors: fewer connections than the flow has.
    pub fn arrived(&mut self) -> Result<Vec<(u32, Arrived)>, Refusal> {
        let deadline = Instant::now() + ARRIVE_BOUND;
        let finished = |meeting: &Self| meeting.acceptors.iter().all(|(_, t)| t.is_finished());
        while !finished(self) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        if !finished(self) {
            self.closed.store(true, Ordering::Relaxed);
        }
        let mut all = Vec::new();
        for (flow, thread) in std::mem::take(&mut self.acceptors) {
            let accepted = thread.join();
            let accepted = accepted.map_err(|_| failed(Text::new("error-accept-died"), None))?;
            let wanted = self.connections_of(flow) as usize;
            let end = match accepted {
                Some(Accepted::Callers(listener)) => Arrived::Callers(listener),
                Some(Accepted::Links(links)) if links.len() >= wanted => Arrived::Links(links),
                Some(Accepted::Links(links)) => return Err(missing(links.len(), wanted)),
                None => return Err(missing(0, 1)),
            };
            all.push((flow, end));
        }
        for (flow, socket, keeper) in std::mem::take(&mut self.doors) {
            let mut peers = keeper.end().remove(&flow).unwrap_or_default();
            peers.sort_unstable();
            consent::pin(&socket, &peers).map_err(|error| failed(error.to_string(), None))?;
            all.push((flow, Arrived::Datagrams(Datagrams { socket, peers })));
        }
        Ok(all)
    }
}

/// A refusal because fewer connections came than a flow has.
fn missing(arrived: usize, wanted: usize) -> Refusal {
    failed(
        Text::new("error-connections-missing")
            .with("arrived", arrived)
            .with("wanted", wanted),
        Some(Text::new("error-firewall-hint")),
    )
}

/// A refusal because what was called did not prove that it takes part in the flow.
fn unproven(caller: &Caller, error: &io::Error) -> Refusal {
    crate::refusal::unproven(&caller.peer(), error)
}

/// End of the name of a socket file that was made for a flow, and for no other.
fn socket_ending(ticket: u64) -> String {
    format!("-{:016x}.sock", consent::mark(ticket))
}

/// True for a socket that somebody who holds the flow's secret made for it: another host's word is not
/// enough to write into any socket of this machine.
fn is_own_socket(path: &Path, ticket: u64) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_named = name
        .is_some_and(|name| name.starts_with("sokudo-") && name.ends_with(&socket_ending(ticket)));
    // What a link points to has a name of its own.
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    is_named && !is_link
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        for (_, thread) in std::mem::take(&mut self.acceptors) {
            // The result of a thread that panicked is missing.
            let _ = thread.join();
        }
    }
}

/// Refuses a plan that speaks of hosts, tickets or flows which it does not give, or of more flows side
/// by side between two hosts than `most_streams`.
pub fn check_spec(spec: &PhaseSpec, most_streams: u32) -> Result<(), Refusal> {
    let known = |host: u32| (host as usize) < spec.hosts.len();
    let in_order = |(flow, id): (&FlowPlan, u32)| {
        flow.id == id && known(flow.from) && known(flow.to) && flow.stream < most_streams
    };
    let flows = &spec.phase.flows;
    let described = flows.iter().zip(0..).all(in_order);
    match known(spec.me) && spec.tickets.len() >= flows.len() && described {
        true => Ok(()),
        false => Err(undescribed()),
    }
}

fn undescribed() -> Refusal {
    failed(
        Text::new("error-plan-undescribed"),
        Some(Text::new("error-hint-same-version")),
    )
}

/// A refusal because a flow cannot be connected, with a hint.
fn cannot_call(transport: Transport, error: &CallError) -> Refusal {
    if transport.kind().is_some_and(StreamKind::same_host) {
        return operator(
            Text::new("error-same-host-only")
                .with("transport", transport.name())
                .text("error", error.text()),
            Text::new("error-same-host-only-hint"),
        );
    }
    failed(error.text(), error.hint())
}

/// A refusal because a flow cannot be answered, with a hint.
fn cannot_listen(error: &CallError) -> Refusal {
    failed(error.text(), error.hint())
}
