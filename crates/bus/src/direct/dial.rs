//! The client side of a direct connection.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ring::rand::SystemRandom;
use sokudo_model::Text;
use sokudo_net::tls::{self, PublicKey, Session, TlsError, Trust};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, ConversationId, Decoder, Key, KeyId, MAX_FRAME_BEFORE_TICKET, MAX_MARKED, Mark,
    PROTOCOL_VERSION, Ticket, Verdict, VersionMismatch, framing,
};

use super::lasting::{Lasting, LastingSource, Next};
use super::{NAME_OPEN, NAME_WITH_KEY, NoFrame, PRODUCT, no_randomness, read_frame};
use crate::carried::{self, CarriedLink, start_failed};
use crate::error::BusError;
use crate::latch::deadline_in;
use crate::pipe::TlsSource;

/// Connects to a server, shows the ticket and waits for its answer, all within `bound`. Should the
/// connection be cut, another one takes its place, and nothing that was said is lost.
///
/// `host` is `name:port` or `address:port`; `name` is what this caller calls itself.
/// Errors: all causes that can be distinguished, each with its own hint; see [`BusError`].
pub fn dial(
    host: &str,
    key: Option<&Key>,
    name: &str,
    bound: Duration,
) -> Result<CarriedLink, BusError> {
    let caller = Caller {
        host: host.to_owned(),
        key: key.cloned(),
        name: name.to_owned(),
    };
    let conversation = new_conversation()?;
    let (session, mut decoder) = caller.call(&Mark::Begin(conversation), deadline_in(bound))?;
    decoder.set_max(MAX_MARKED);
    let source = TlsSource::new(session.reader, decoder);
    let lasting = Lasting::new(conversation, session.writer, source);
    let source = LastingSource::new(Arc::clone(&lasting), Next::Dial(Box::new(caller)));
    carried::link(host, Box::new(lasting), Box::new(source))
}

fn new_conversation() -> Result<ConversationId, BusError> {
    let random = ring::rand::generate(&SystemRandom::new());
    let random = random.map_err(|_| no_randomness("start-connection"))?;
    Ok(random.expose())
}

/// Whom to call, and as whom.
pub(super) struct Caller {
    host: String,
    key: Option<Key>,
    name: String,
}

/// Reason why a conversation does not go on over a new connection.
pub(super) enum NotBack {
    /// Another attempt may succeed.
    Yet,
    /// None will.
    Never(Text),
}

impl Caller {
    /// A connection whose ticket was accepted, for a conversation that begins or goes on.
    fn call(&self, mark: &Mark, deadline: Instant) -> Result<(Session, Decoder), BusError> {
        let (host, key) = (self.host.as_str(), self.key.as_ref());
        let left = deadline.saturating_duration_since(Instant::now());
        let tcp = connect(host, &resolve(host, left)?, deadline)?;
        tls::watch_peer(&tcp);
        let trust = trust_in(key)?;
        let connected = tls::connect(tcp, &trust, deadline);
        let mut session = connected.map_err(|why| told(host, key, why))?;
        let mut decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
        self.introduce(mark, &mut session, &mut decoder, deadline)?;
        Ok((session, decoder))
    }

    /// Goes on with a conversation whose connection was cut, over a new one.
    pub(super) fn come_back(&self, lasting: &Lasting, bound: Duration) -> Result<(), NotBack> {
        let (connection, taken) = lasting.pause();
        let mark = Mark::Resume {
            conversation: *lasting.id(),
            taken,
        };
        let deadline = deadline_in(bound);
        let (mut session, mut decoder) = match self.call(&mark, deadline) {
            Ok(called) => called,
            Err(
                BusError::Unreachable { .. } | BusError::SetUp { .. } | BusError::Resolve { .. },
            ) => {
                return Err(NotBack::Yet);
            }
            Err(why) => return Err(NotBack::Never(why.says())),
        };
        let answer = read_frame(&mut session.reader, &mut decoder, deadline);
        match answer.map(Mark::from_payload) {
            Err(_) => Err(NotBack::Yet),
            Ok(Some(Mark::Resumed { taken })) => {
                decoder.set_max(MAX_MARKED);
                let source = TlsSource::new(session.reader, decoder);
                let resumed = lasting.resume(connection, &session.writer, source, taken);
                resumed.map_err(|_| NotBack::Yet)
            }
            Ok(Some(Mark::Unknown)) => Err(NotBack::Never(Text::new("error-link-run-ended"))),
            Ok(_) => Err(NotBack::Never(Text::new("error-link-out-of-order"))),
        }
    }
}

/// Addresses of a host; the resolver has no bound of its own, so it gets a thread.
fn resolve(host: &str, bound: Duration) -> Result<Vec<SocketAddr>, BusError> {
    let failed = |why: Text| BusError::Resolve {
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
        .map_err(|why| start_failed("start-thread-resolver", why))?;
    match wanted.recv_timeout(bound) {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(failed(Text::new("error-bus-no-address"))),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(why)) => Err(failed(Text::words(why.to_string()))),
        Err(_) => Err(failed(Text::new("error-bus-resolver-silent"))),
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
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Text::new("error-bus-no-answer"),
        _ => Text::words(why.to_string()),
    };
    let host = host.to_owned();
    BusError::Unreachable { host, why }
}

fn trust_in(key: Option<&Key>) -> Result<Trust, BusError> {
    let Some(key) = key else {
        return Ok(Trust::Anyone);
    };
    let public = PublicKey::from_seed(&key.server_seed());
    let public = public.map_err(|why| BusError::Start {
        what: Text::new("start-connection"),
        why: why.text(),
    });
    Ok(Trust::Pinned(public?))
}

impl Caller {
    /// Shows the ticket, says which conversation it is, and reads the answer.
    fn introduce(
        &self,
        mark: &Mark,
        session: &mut Session,
        decoder: &mut Decoder,
        deadline: Instant,
    ) -> Result<(), BusError> {
        let (host, key) = (self.host.as_str(), self.key.as_ref());
        let ticket = Ticket {
            protocol: PROTOCOL_VERSION,
            product: PRODUCT.into(),
            key: key.map_or(KeyId::NONE, Key::id),
            name: self.name.clone(),
        };
        let foreign = |why: Text| BusError::Foreign {
            host: host.into(),
            why,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let payload = session
            .export(EXPORTER_LABEL)
            .map(|channel| ticket.seal(key, &channel))
            .map_err(|why| told(host, key, why))?;
        let mut frames = framing::encode(&payload, MAX_FRAME_BEFORE_TICKET)
            .map_err(|why| foreign(why.text()))?;
        frames.extend(mark.to_frame().map_err(|why| foreign(why.text()))?);
        session
            .writer
            .send(&frames, left)
            .map_err(|why| told(host, key, why))?;
        let answer =
            read_frame(&mut session.reader, decoder, deadline).map_err(|why| match why {
                NoFrame::Tls(why) => told(host, key, why),
                NoFrame::Frame(why) => foreign(why.text()),
            })?;
        let answer = Answer::from_payload(&answer).map_err(|why| foreign(why.text()))?;
        judge(host, key, answer)
    }
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
            why: Text::new("error-bus-ticket-unread"),
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
            why: why.text(),
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
                why: Text::new("error-bus-certificate"),
            },
        },
        TlsError::TimedOut => BusError::SetUp {
            host,
            why: Text::new("error-bus-unanswered"),
        },
        why => BusError::SetUp {
            host,
            why: why.text(),
        },
    }
}
