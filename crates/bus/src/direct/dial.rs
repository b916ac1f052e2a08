//! The client side of a direct connection.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sokudo_net::tls::{self, PublicKey, Session, TlsError, Trust};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Decoder, Key, KeyId, MAX_FRAME, MAX_FRAME_BEFORE_TICKET, PROTOCOL_VERSION, Ticket,
    Verdict, VersionMismatch, framing,
};

use super::{NAME_OPEN, NAME_WITH_KEY, NoFrame, PRODUCT, read_frame};
use crate::carried::{self, CarriedLink, start_failed};
use crate::error::BusError;
use crate::latch::deadline_in;
use crate::pipe::TlsSource;

/// Connects to a server, shows the ticket and waits for its answer, all within `bound`.
///
/// `host` is `name:port` or `address:port`; `name` is what this caller calls itself.
/// Errors: all causes that can be distinguished, each with its own hint; see [`BusError`].
pub fn dial(
    host: &str,
    key: Option<&Key>,
    name: &str,
    bound: Duration,
) -> Result<CarriedLink, BusError> {
    let deadline = deadline_in(bound);
    let tcp = connect(host, &resolve(host, bound)?, deadline)?;
    tls::watch_peer(&tcp);
    let trust = trust_in(key)?;
    let mut session = tls::connect(tcp, &trust, deadline).map_err(|why| told(host, key, why))?;
    let mut decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    introduce(host, key, name, &mut session, &mut decoder, deadline)?;
    decoder.set_max(MAX_FRAME);
    let source = TlsSource::new(session.reader, decoder);
    carried::link(host, Box::new(session.writer), Box::new(source))
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
            // The waiting thread may have gone.
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

/// The meaning of the server's answer.
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

/// The meaning of a TLS failure for the operator.
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
