//! The sender of messages to a database.

use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sokudo_http::{
    Config, Exchange, Keep, Outcome, Stop, Switch, TargetId, Targets, Trust, User, UserStep,
};
use sokudo_jmeter::plan::{Destination, Influx};
use sokudo_net::clock::now_ns;

use super::{Moment, Summary, words};
use crate::http::url::Url;

/// Longest wait for a database, at each step.
const PATIENCE: Duration = Duration::from_secs(5);
/// Largest datagram, bytes.
const MOST_DATAGRAM_BYTES: usize = 60_000;

/// A way to a database. Nothing is opened before the first message.
pub(super) enum Speaker {
    /// Names and numbers over a connection that is kept.
    Graphite {
        /// Name and port.
        to: (String, u16),
        prefix: String,
        pickled: bool,
        stream: Option<TcpStream>,
    },
    /// Lines in requests.
    Http { influx: Influx, post: Post },
    /// Lines in datagrams.
    Datagrams { influx: Influx },
}

impl Speaker {
    /// Errors: the destination names no database.
    pub fn new(to: &Destination, trust: Trust) -> Result<Self, String> {
        Ok(match to {
            Destination::Graphite { host, .. } if host.is_empty() => {
                return Err("it names no host".into());
            }
            Destination::Graphite {
                host,
                port,
                prefix,
                pickled,
            } => Self::Graphite {
                to: (host.clone(), *port),
                prefix: prefix.clone(),
                pickled: *pickled,
                stream: None,
            },
            Destination::Influx(influx) if influx.datagrams => Self::Datagrams {
                influx: influx.clone(),
            },
            Destination::Influx(influx) => Self::Http {
                influx: influx.clone(),
                post: Post::new(influx, trust)?,
            },
            Destination::Nobody(client) => return Err(format!("`{client}` is not known")),
        })
    }

    /// Destination of the messages, without secrets.
    pub fn name(&self) -> String {
        match self {
            Self::Graphite { to, .. } => format!("{}:{}", to.0, to.1),
            Self::Http { post, .. } => format!("{}:{}", post.url.host, post.url.port),
            Self::Datagrams { influx } => influx.url.clone(),
        }
    }

    /// Sends what is to be said at a moment. Errors: why it could not be.
    pub fn say(&mut self, summary: &Summary, at: Moment, at_ms: i64) -> Result<(), String> {
        match self {
            Self::Graphite { .. } if at == Moment::Begin => Ok(()),
            Self::Graphite {
                to,
                prefix,
                pickled,
                stream,
            } => {
                let said = words::graphite(summary, prefix);
                let message = match pickled {
                    true => words::pickled(&said, at_ms.div_euclid(1_000)),
                    false => words::lines(&said, at_ms.div_euclid(1_000)),
                };
                send(stream, to, &message).map_err(|error| error.to_string())
            }
            Self::Http { influx, post } => post.send(&lines(summary, influx, at, at_ms)),
            Self::Datagrams { influx } => {
                let text = lines(summary, influx, at, at_ms);
                send_datagrams(&influx.url, &text).map_err(|error| error.to_string())
            }
        }
    }
}

/// All lines of a message to InfluxDB.
fn lines(summary: &Summary, influx: &Influx, at: Moment, at_ms: i64) -> String {
    let event = match at {
        Moment::Amid => String::new(),
        Moment::Begin | Moment::End => words::event(influx, at == Moment::End, at_ms),
    };
    event + &words::influx(summary, influx, at_ms)
}

/// Writes to a connection, which is opened when there is none or the far end has closed it.
fn send(stream: &mut Option<TcpStream>, to: &(String, u16), message: &[u8]) -> std::io::Result<()> {
    let kept = stream.take().filter(is_open);
    let mut open = kept.map_or_else(|| connect(to), Ok)?;
    open.write_all(message)?;
    *stream = Some(open);
    Ok(())
}

fn is_open(stream: &TcpStream) -> bool {
    let heard = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0]));
    let blocks = stream.set_nonblocking(false).is_ok();
    let silent = |error: std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    blocks && heard.map_or_else(silent, |bytes| bytes > 0)
}

fn connect((host, port): &(String, u16)) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in (host.as_str(), *port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_write_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whole lines in as few datagrams as hold them; a line that fits in none is left out.
fn send_datagrams(to: &str, text: &str) -> std::io::Result<()> {
    let address = to.to_socket_addrs()?.next();
    let address = address.ok_or(std::io::ErrorKind::NotFound)?;
    let socket = match address {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }?;
    for datagram in datagrams(text, MOST_DATAGRAM_BYTES) {
        socket.send_to(datagram.as_bytes(), address)?;
    }
    Ok(())
}

/// The text cut between lines into pieces of at most so many bytes; longer lines are left out.
pub(super) fn datagrams(text: &str, most_bytes: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text
        .split_inclusive('\n')
        .filter(|line| line.len() <= most_bytes)
    {
        match all.last_mut() {
            Some(last) if last.len() + line.len() <= most_bytes => last.push_str(line),
            _ => all.push(line.to_owned()),
        }
    }
    all
}

/// A server of HTTP that takes lines.
pub(super) struct Post {
    url: Url,
    /// Everything of a request's head but its length.
    head: String,
    targets: Arc<Targets>,
    target: TargetId,
    config: Config,
}

impl Post {
    fn new(influx: &Influx, trust: Trust) -> Result<Self, String> {
        let url: Url = influx.url.parse().map_err(|error| format!("{error}"))?;
        let authorization = match influx.token.as_str() {
            "" => String::new(),
            token if token.bytes().any(|byte| byte < b' ') => {
                return Err("its token holds what a header cannot".into());
            }
            token => format!("Authorization: Token {token}\r\n"),
        };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{authorization}Content-Type: text/plain; charset=UTF-8\r\n\
             Connection: close\r\n",
            url.path,
            url.authority()
        );
        let targets = Arc::new(Targets::new());
        let target = targets.intern(url.scheme, &url.host, url.port);
        Ok(Self {
            url,
            head,
            targets,
            target,
            config: Config {
                trust,
                name: "backend".into(),
                ..Config::default()
            },
        })
    }

    /// Errors: no answer, or a negative one.
    fn send(&self, text: &str) -> Result<(), String> {
        let length = text.len();
        let request = format!("{}Content-Length: {length}\r\n\r\n{text}", self.head);
        let answer: Answer = Arc::default();
        let sender = Sender {
            request: Some(request.into_bytes()),
            target: self.target,
            answer: Arc::clone(&answer),
        };
        let users: Vec<(i64, Box<dyn User>)> = vec![(now_ns(), Box::new(sender))];
        sokudo_http::run(&self.config, &self.targets, 1, users, &Stop::default())
            .map_err(|error| error.to_string())?;
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_else(|| Err("there was no answer".into()))
    }
}

type Answer = Arc<Mutex<Option<Result<(), String>>>>;

/// A user that sends one request.
struct Sender {
    request: Option<Vec<u8>>,
    target: TargetId,
    answer: Answer,
}

impl User for Sender {
    fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        let Some(request) = self.request.take() else {
            return UserStep::End;
        };
        out.extend_from_slice(&request);
        let patience_ns = PATIENCE.as_nanos() as u64;
        UserStep::Send(Exchange {
            target: self.target,
            intended_ns: now_ns,
            close: true,
            fresh: true,
            connect_timeout_ns: patience_ns,
            response_timeout_ns: patience_ns,
            whole_timeout_ns: 2 * patience_ns,
            keep: Keep::Nothing,
            method_is_head: false,
            switch: Switch::default(),
            names: None,
            lane: None,
        })
    }

    fn ended(&mut self, outcome: &Outcome<'_>) {
        let said = match (&outcome.failure, outcome.status) {
            (Some(failure), _) => Err(failure.to_string()),
            (None, 200..=299) => Ok(()),
            (None, status) => Err(format!("it answered with status {status}")),
        };
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }
}
