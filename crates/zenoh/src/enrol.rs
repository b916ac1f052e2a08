//! How does a host become a member?
//!
//! See the picture in [`sokudo_wire::join`]. The door is a thread of its own beside the router; each
//! visitor gets a bounded time and a bounded number of bytes.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rcgen::PublicKeyData;
use sokudo_bus::pipe::{Arrival, FrameSource, TlsSource};
use sokudo_net::tls::{self, Identity, PublicKey, Trust, Writer};
use sokudo_wire::join::{JoinAnswer, JoinRequest, JoinToken};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Decoder, MAX_FRAME_BEFORE_TICKET, PROTOCOL_VERSION, Ticket, Verdict, framing,
};

use crate::agent::Log;
use crate::error::GroupError;
use crate::group::{Group, Membership, new_key};

/// How long one enrolment may take.
const BOUND: Duration = Duration::from_secs(5);
/// Longest message after the ticket.
const MAX_MESSAGE: usize = 64 * 1024;
/// Visitors at a time.
const MAX_VISITORS: usize = 32;
/// Time between two looks at whether the door is to be closed.
const LOOK: Duration = Duration::from_millis(50);
/// This product's version, as told in tickets and answers.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// The door of a group. Dropping it closes it.
pub struct Door {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct House {
    group: Group,
    routers: Vec<String>,
    identity: Identity,
    inside: AtomicUsize,
    log: Log,
}

impl Door {
    /// Opens it at `listen`; who comes in is told to find the router at `routers`.
    ///
    /// Errors: the port is taken, no thread.
    pub fn open(
        group: Group,
        listen: SocketAddr,
        routers: Vec<String>,
        log: Log,
    ) -> Result<Self, GroupError> {
        let failed = |why: &dyn ToString| {
            GroupError::network(format!("cannot enrol at {listen}"), why.to_string())
        };
        let seed = group.enrolment_key()?.server_seed();
        let name = format!("sokudo group {}", group.name);
        let identity = Identity::from_seed(&seed, &name).map_err(|why| failed(&why))?;
        let listener = TcpListener::bind(listen).map_err(|why| failed(&why))?;
        let address = listener.local_addr().map_err(|why| failed(&why))?;
        listener.set_nonblocking(true).map_err(|why| failed(&why))?;
        let closing: Arc<AtomicBool> = Arc::default();
        let closed = Arc::clone(&closing);
        let house = Arc::new(House {
            group,
            routers,
            identity,
            inside: AtomicUsize::new(0),
            log,
        });
        let thread = thread::Builder::new()
            .name("enrolment".into())
            .spawn(move || keep(&listener, &house, &closed))
            .map_err(|why| failed(&why))?;
        Ok(Self {
            address,
            closing,
            thread: Some(thread),
        })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed the door too.
            let _ = thread.join();
        }
    }
}

fn keep(listener: &TcpListener, house: &Arc<House>, closing: &AtomicBool) {
    while !closing.load(Ordering::Acquire) {
        let Ok((tcp, address)) = listener.accept() else {
            thread::sleep(LOOK);
            continue;
        };
        if house.inside.fetch_add(1, Ordering::AcqRel) >= MAX_VISITORS {
            house.inside.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let inside = Arc::clone(house);
        let visit = move || {
            match receive(&inside, tcp) {
                Ok(agent) => (inside.log)(&format!("{agent} ({address}) has joined")),
                Err(why) => (inside.log)(&format!("{address} was turned away: {why}")),
            }
            inside.inside.fetch_sub(1, Ordering::AcqRel);
        };
        if thread::Builder::new()
            .name("visitor".into())
            .spawn(visit)
            .is_err()
        {
            house.inside.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// One visitor: its name when it was admitted, or why not.
fn receive(house: &House, tcp: TcpStream) -> Result<String, String> {
    let deadline = Instant::now() + BOUND;
    tcp.set_nonblocking(false).map_err(|why| why.to_string())?;
    let session = tls::accept(tcp, &house.identity, deadline).map_err(|why| why.to_string())?;
    let channel = session
        .export(EXPORTER_LABEL)
        .map_err(|why| why.to_string())?;
    let decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    let mut source = TlsSource::new(session.reader, decoder);
    let ticket = frame(&mut source, deadline)?;
    let key = house.group.enrolment_key().map_err(|why| why.to_string())?;
    let ticket = Ticket::open(&ticket, Some(&key), &channel).map_err(|why| why.to_string());
    let verdict = match &ticket {
        Ok(ticket) if ticket.protocol == PROTOCOL_VERSION => Verdict::Accepted,
        Ok(_) => Verdict::Version,
        Err(_) => Verdict::WrongKey,
    };
    let answer = Answer {
        protocol: PROTOCOL_VERSION,
        product: PRODUCT.into(),
        verdict,
    };
    say(&session.writer, &answer.to_payload(), deadline)?;
    ticket?;
    if verdict != Verdict::Accepted {
        return Err("it speaks another version".into());
    }
    source.set_max(MAX_MESSAGE);
    let request = frame(&mut source, deadline)?;
    let request: JoinRequest =
        serde_json::from_slice(&request).map_err(|why| format!("it asked nothing: {why}"))?;
    let admitted = house
        .group
        .admit(&request.name, &request.public_key, house.routers.clone());
    let (answer, done) = match admitted {
        Ok(admission) => (JoinAnswer::Admitted(Box::new(admission)), Ok(request.name)),
        Err(error) => {
            let refused = JoinAnswer::Refused {
                says: error.to_string(),
                hint: error.hint().unwrap_or_default(),
            };
            (refused, Err(error.to_string()))
        }
    };
    let answer = serde_json::to_vec(&answer).map_err(|why| why.to_string())?;
    say(&session.writer, &answer, deadline)?;
    session.writer.close();
    done
}

fn frame(source: &mut TlsSource, deadline: Instant) -> Result<Vec<u8>, String> {
    let left = deadline.saturating_duration_since(Instant::now());
    match source.next(left)? {
        Arrival::Frame(frame) => Ok(frame),
        Arrival::Idle => Err("it said nothing in time".into()),
    }
}

fn say(writer: &Writer, payload: &[u8], deadline: Instant) -> Result<(), String> {
    let frame = framing::encode(payload, MAX_MESSAGE).map_err(|why| why.to_string())?;
    let left = deadline.saturating_duration_since(Instant::now());
    writer.send(&frame, left).map_err(|why| why.to_string())
}

/// Asks one of the token's places to be admitted under `name`.
///
/// Errors: nobody there, the key of another group, a refusal.
pub fn join(token: &JoinToken, name: &str) -> Result<Membership, GroupError> {
    let mut last = None;
    for place in &token.places {
        match join_at(place, token, name) {
            Err(error @ GroupError::Network { .. }) => last = Some(error),
            done => return done,
        }
    }
    Err(last.unwrap_or_else(|| GroupError::network("the token names no place", "")))
}

fn join_at(place: &str, token: &JoinToken, name: &str) -> Result<Membership, GroupError> {
    let failed = |why: String| GroupError::network(format!("cannot join at {place}"), why);
    let text = |why: &dyn ToString| failed(why.to_string());
    let deadline = Instant::now() + BOUND;
    let address = place.to_socket_addrs().map_err(|why| text(&why))?.next();
    let address = address.ok_or_else(|| failed("it has no address".into()))?;
    let tcp = TcpStream::connect_timeout(&address, BOUND).map_err(|why| text(&why))?;
    let pin = PublicKey::from_seed(&token.key.server_seed()).map_err(|why| text(&why))?;
    let session = tls::connect(tcp, &Trust::Pinned(pin), deadline).map_err(|why| text(&why))?;
    let channel = session.export(EXPORTER_LABEL).map_err(|why| text(&why))?;
    let ticket = Ticket {
        protocol: PROTOCOL_VERSION,
        product: PRODUCT.into(),
        key: token.key.id(),
        name: name.to_owned(),
    };
    say(
        &session.writer,
        &ticket.seal(Some(&token.key), &channel),
        deadline,
    )
    .map_err(failed)?;
    let mut source = TlsSource::new(session.reader, Decoder::new(MAX_MESSAGE));
    let answer = frame(&mut source, deadline).map_err(failed)?;
    let answer = Answer::from_payload(&answer).map_err(|why| text(&why))?;
    if answer.verdict != Verdict::Accepted {
        return Err(GroupError::Refused {
            says: answer.verdict.to_string(),
            hint:
                "copy the whole line that `sokudo controller` prints, and install the same version"
                    .into(),
        });
    }
    let key = new_key()?;
    let request = JoinRequest {
        name: name.to_owned(),
        public_key: key.der_bytes().to_vec(),
    };
    let request = serde_json::to_vec(&request).map_err(|why| text(&why))?;
    say(&session.writer, &request, deadline).map_err(failed)?;
    let answer = frame(&mut source, deadline).map_err(failed)?;
    match serde_json::from_slice(&answer).map_err(|why| text(&why))? {
        JoinAnswer::Admitted(admission) => Ok(Membership::new(*admission, &key)),
        JoinAnswer::Refused { says, hint } => Err(GroupError::Refused { says, hint }),
    }
}
