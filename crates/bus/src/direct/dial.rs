//! The caller's side.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_net::tls::{self, PublicKey, Reader, Received, Session, TlsError, Trust, Writer};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Ask, Body, Decoder, Envelope, Key, KeyId, MAX_FRAME, MAX_FRAME_BEFORE_TICKET,
    PROTOCOL_VERSION, Reply, Ticket, Verdict, VersionMismatch, framing,
};

use super::{NAME_OPEN, NAME_WITH_KEY, NoFrame, PRODUCT, SEND_BOUND, read_frame};
use crate::Link;
use crate::error::{BusError, name_of};
use crate::latch::deadline_in;
use crate::notes::{NoteSink, Uplink};

/// How long the reading thread waits at once; only `close` or the peer ends it.
const READ_SLICE: Duration = Duration::from_secs(60);

/// A link to `sokudo serve` on another host.
pub struct DirectLink {
    line: Arc<Line>,
}

/// Connects to a server, shows the ticket and waits for its answer, all within `bound`.
///
/// `host` is `name:port` or `address:port`; `name` is what this caller calls itself.
/// Errors: everything that can be told apart, each with its own hint; see [`BusError`].
pub fn dial(
    host: &str,
    key: Option<&Key>,
    name: &str,
    bound: Duration,
) -> Result<DirectLink, BusError> {
    let deadline = deadline_in(bound);
    let tcp = connect(host, &resolve(host, bound)?, deadline)?;
    tls::watch_peer(&tcp);
    let trust = trust_in(key)?;
    let mut session = tls::connect(tcp, &trust, deadline).map_err(|why| told(host, key, why))?;
    let mut decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    introduce(host, key, name, &mut session, &mut decoder, deadline)?;
    decoder.set_max(MAX_FRAME);
    let line = Arc::new(Line {
        host: host.to_owned(),
        writer: session.writer,
        waiting: Mutex::default(),
        uplink: Uplink::default(),
    });
    let (reading, reader) = (Arc::clone(&line), session.reader);
    thread::Builder::new()
        .name("direct-reader".into())
        .spawn(move || {
            let why = receive(&reading, reader, decoder);
            reading.ended(&why);
        })
        .map_err(|why| start_failed("the thread that reads from the network", why))?;
    Ok(DirectLink { line })
}

/// Addresses of a host; the resolver has no bound of its own, so it gets a thread.
fn resolve(host: &str, bound: Duration) -> Result<Vec<SocketAddr>, BusError> {
    let failed = |why: String| BusError::Resolve {
        host: host.to_owned(),
        why,
    };
    let (found, wanted) = mpsc::sync_channel(1);
    let name = host.to_owned();
    thread::Builder::new()
        .name("resolver".into())
        .spawn(move || {
            // Nobody may be waiting any more.
            let _ = found.send(name.to_socket_addrs().map(Vec::from_iter));
        })
        .map_err(|why| start_failed("the thread that resolves names", why))?;
    match wanted.recv_timeout(bound) {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(failed("it has no address".into())),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(why)) => Err(failed(why.to_string())),
        Err(_) => Err(failed("the resolver did not answer".into())),
    }
}

/// Tries the addresses in turn; a refusal is the most telling of several failures.
fn connect(host: &str, addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, BusError> {
    let mut told = None;
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (addresses.len() - tried) as u32;
        if share.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(address, share) {
            Ok(tcp) => return Ok(tcp),
            Err(why) if why.kind() == io::ErrorKind::ConnectionRefused => {
                told = Some(BusError::NobodyListens { host: host.into() });
            }
            Err(why) => {
                told.get_or_insert_with(|| unreachable(host, &why));
            }
        }
    }
    Err(told.unwrap_or_else(|| unreachable(host, &io::ErrorKind::TimedOut.into())))
}

fn unreachable(host: &str, why: &io::Error) -> BusError {
    let why = match why.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".into(),
        _ => why.to_string(),
    };
    let host = host.to_owned();
    BusError::Unreachable { host, why }
}

fn start_failed(what: &str, why: io::Error) -> BusError {
    BusError::Start {
        what: what.into(),
        why: why.to_string(),
    }
}

fn trust_in(key: Option<&Key>) -> Result<Trust, BusError> {
    let Some(key) = key else {
        return Ok(Trust::Anyone);
    };
    let public = PublicKey::from_seed(&key.server_seed()).map_err(|why| BusError::Start {
        what: "the connection".into(),
        why: why.to_string(),
    })?;
    Ok(Trust::Pinned(public))
}

/// Shows the ticket and reads the answer.
fn introduce(
    host: &str,
    key: Option<&Key>,
    name: &str,
    session: &mut Session,
    decoder: &mut Decoder,
    deadline: Instant,
) -> Result<(), BusError> {
    let ticket = Ticket {
        protocol: PROTOCOL_VERSION,
        product: PRODUCT.into(),
        key: key.map_or(KeyId::NONE, Key::id),
        name: name.to_owned(),
    };
    let foreign = |why: String| BusError::Foreign {
        host: host.into(),
        why,
    };
    let left = deadline.saturating_duration_since(Instant::now());
    let payload = session
        .export(EXPORTER_LABEL)
        .map(|channel| ticket.seal(key, &channel))
        .map_err(|why| told(host, key, why))?;
    let frame = framing::encode(&payload, MAX_FRAME_BEFORE_TICKET)
        .map_err(|why| foreign(why.to_string()))?;
    session
        .writer
        .send(&frame, left)
        .map_err(|why| told(host, key, why))?;
    let answer = read_frame(&mut session.reader, decoder, deadline).map_err(|why| match why {
        NoFrame::Tls(why) => told(host, key, why),
        NoFrame::Frame(why) => foreign(why.to_string()),
    })?;
    let answer = Answer::from_payload(&answer).map_err(|why| foreign(why.to_string()))?;
    judge(host, key, answer)
}

/// What the server's answer means.
fn judge(host: &str, key: Option<&Key>, answer: Answer) -> Result<(), BusError> {
    let host = host.to_owned();
    Err(match answer.verdict {
        Verdict::Accepted if answer.protocol == PROTOCOL_VERSION => return Ok(()),
        Verdict::Accepted | Verdict::Version => VersionMismatch {
            peer: host,
            peer_protocol: answer.protocol,
            peer_product: answer.product,
            own_protocol: PROTOCOL_VERSION,
            own_product: PRODUCT.into(),
        }
        .into(),
        Verdict::KeyNeeded => BusError::KeyNeeded { host },
        Verdict::KeyUnknown => BusError::KeyUnknown { host },
        Verdict::Busy { max_clients } => BusError::Busy { host, max_clients },
        Verdict::WrongKey => wrong_key(host, key, None),
        Verdict::Garbled => BusError::SetUp {
            host,
            why: "it could not read our ticket".into(),
        },
    })
}

fn wrong_key(host: String, key: Option<&Key>, server: Option<String>) -> BusError {
    BusError::WrongKey {
        host,
        given: key.map_or(KeyId::NONE, Key::id),
        server,
    }
}

/// What a TLS failure means to the operator.
fn told(host: &str, key: Option<&Key>, why: TlsError) -> BusError {
    let host = host.to_owned();
    match why {
        TlsError::NotTls | TlsError::NotSokudo => BusError::Foreign {
            host,
            why: why.to_string(),
        },
        // The certificate's name is unproven; it serves this message only.
        TlsError::NotPinned { name } => match name {
            Some(name) if name == NAME_OPEN => BusError::KeyUnknown { host },
            Some(name) if name.starts_with(NAME_WITH_KEY) => {
                let id = name.strip_prefix(NAME_WITH_KEY);
                wrong_key(host, key, id.map(|id| id.chars().take(16).collect()))
            }
            _ => BusError::Foreign {
                host,
                why: "it shows another product's certificate".into(),
            },
        },
        TlsError::TimedOut => BusError::SetUp {
            host,
            why: "it accepted the connection but did not answer in time".into(),
        },
        why => BusError::SetUp {
            host,
            why: why.to_string(),
        },
    }
}

/// What the asking threads and the reading thread share.
struct Line {
    host: String,
    writer: Writer,
    waiting: Mutex<Waiting>,
    uplink: Uplink,
}

/// Asks on their way.
#[derive(Default)]
struct Waiting {
    last_id: u64,
    answers: HashMap<u64, SyncSender<Reply>>,
    /// Why nothing can be asked any more.
    lost: Option<String>,
    /// `Bye` is on its way: the connection's end is no loss.
    leaving: bool,
}

impl Line {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection is gone: all who wait are told, and the bus once.
    fn lost(&self, why: &str) {
        self.end(why);
        self.uplink.lost(why);
        self.writer.close();
    }

    /// The reading thread has come to the end.
    fn ended(&self, why: &str) {
        if self.waiting().leaving {
            self.uplink.end();
        }
        self.lost(why);
    }

    /// Nobody waits any longer; the first reason stays.
    fn end(&self, why: &str) {
        let mut waiting = self.waiting();
        waiting.lost.get_or_insert_with(|| why.into());
        waiting.answers.clear();
    }

    fn gone(&self) -> BusError {
        BusError::Lost {
            host: self.host.clone(),
            why: self.waiting().lost.clone().unwrap_or_default(),
        }
    }

    /// Reserves a number for an ask.
    fn begin(&self, ask: &Ask) -> Result<(u64, mpsc::Receiver<Reply>), BusError> {
        let mut waiting = self.waiting();
        if waiting.lost.is_some() {
            drop(waiting);
            return Err(self.gone());
        }
        waiting.last_id += 1;
        let id = waiting.last_id;
        let (answer, answered) = mpsc::sync_channel(1);
        waiting.answers.insert(id, answer);
        waiting.leaving |= matches!(ask, Ask::Bye);
        Ok((id, answered))
    }
}

/// Reads until the connection ends; returns why it did.
fn receive(line: &Line, mut reader: Reader, mut decoder: Decoder) -> String {
    let mut bytes = Vec::new();
    loop {
        loop {
            match decoder.next_frame() {
                Ok(Some(payload)) => {
                    if let Err(why) = deliver(line, &payload) {
                        return why;
                    }
                }
                Ok(None) => break,
                Err(why) => return format!("it sent a {why}"),
            }
        }
        bytes.clear();
        match reader.read(&mut bytes, READ_SLICE) {
            Ok(Received::Bytes(_)) => decoder.push(&bytes),
            Ok(Received::Idle) => {}
            Ok(Received::End) => return "the other side closed the connection".into(),
            Err(why) => return why.to_string(),
        }
    }
}

/// Hands one message to whom it belongs.
fn deliver(line: &Line, payload: &[u8]) -> Result<(), String> {
    let envelope = Envelope::from_payload(payload).map_err(|why| format!("it sent {why}"))?;
    match envelope.body {
        Body::Reply(reply) => {
            // Without a taker the ask has timed out.
            if let Some(answer) = line.waiting().answers.remove(&envelope.id) {
                let _ = answer.send(reply);
            }
        }
        Body::Note(sokudo_wire::Note::Lost { .. }) => {
            return Err("it sent a message that only the bus itself makes".into());
        }
        Body::Note(note) => {
            // A full mailbox counts what it drops; a closed bus needs nothing more.
            let _ = line.uplink.push(note);
        }
        Body::Ask(_) => return Err("it asked, and only a controller asks".into()),
    }
    Ok(())
}

impl Link for DirectLink {
    fn ask(&self, ask: Ask, bound: Duration) -> Result<Reply, BusError> {
        let line = &self.line;
        let name = name_of(&ask);
        let (id, answered) = line.begin(&ask)?;
        let deadline = deadline_in(bound);
        let body = Body::Ask(ask);
        let frame = Envelope { id, body }.to_frame().map_err(|why| {
            line.waiting().answers.remove(&id);
            BusError::TooLong {
                host: line.host.clone(),
                ask: name,
                why: why.to_string(),
            }
        })?;
        if let Err(why) = line.writer.send(&frame, SEND_BOUND) {
            line.lost(&format!("nothing can be sent any more: {why}"));
            return Err(line.gone());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        answered.recv_timeout(left).map_err(|why| match why {
            RecvTimeoutError::Disconnected => line.gone(),
            RecvTimeoutError::Timeout => {
                line.waiting().answers.remove(&id);
                BusError::TimedOut {
                    host: line.host.clone(),
                    ask: name,
                    bound,
                }
            }
        })
    }

    fn attach(&self, sink: NoteSink) {
        self.line.uplink.attach(sink);
    }

    fn close(&self) {
        self.line.uplink.end();
        self.line.end("it was closed");
        self.line.writer.close();
    }

    fn describe(&self) -> &str {
        &self.line.host
    }
}

impl Drop for DirectLink {
    fn drop(&mut self) {
        self.close();
    }
}
