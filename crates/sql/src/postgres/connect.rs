//! The way to a server: address, encryption, authentication.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::config::{Access, Config, Host, Keepalive};
use super::failure::Failure;
use super::stream::Link;
use super::wire::{self, Authentication, tag};
use crate::stream::{Duplex, at_socket};
use crate::tls::{Connector, Encryption};

/// Idle time before the first probe, where the data source name has none.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
/// Most rounds of hashing that a server may ask for: PostgreSQL's default is 4,096. More would keep the thread
/// of a load busy for minutes.
const MOST_ROUNDS: u32 = 1_000_000;

/// An open session.
pub(super) struct Opened {
    pub(super) link: Link,
    pub(super) is_encrypted: bool,
    pub(super) canceller: Canceller,
}

/// Ends what a session executes, over another connection.
#[derive(Clone)]
pub(crate) struct Canceller {
    place: Place,
    encryption: Encryption,
    tls: Connector,
    key: Vec<u8>,
}

impl Canceller {
    /// Asks the server. Its answer is the end of the connection; it does not tell whether it had an effect.
    pub(crate) async fn cancel(&self) -> Result<(), Failure> {
        let (mut stream, _) = encrypted(&self.place, self.encryption, &self.tls).await?;
        stream.write_all(&wire::cancel_request(&self.key)).await?;
        stream.flush().await?;
        // The request is lost where the connection ends before the server has read it.
        let _ = stream.read(&mut [0; 16]).await;
        Ok(())
    }
}

/// One address of a server.
#[derive(Debug, Clone)]
struct Place {
    at: At,
    /// Name for its certificate.
    name: String,
    keepalive: Option<Keepalive>,
}

#[derive(Debug, Clone)]
enum At {
    Tcp(SocketAddr),
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "data source names with it are refused")
    )]
    Socket(PathBuf),
}

/// Opens a session on the first host that gives one.
pub(super) async fn open(
    config: &Config,
    password: Option<&str>,
    tls: &Connector,
) -> Result<Opened, Failure> {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let first = match config.is_balanced {
        true => TURN.fetch_add(1, Ordering::Relaxed),
        false => 0,
    };
    let mut failure = Failure::from(io::Error::other("a host is missing"));
    for turn in 0..config.places() {
        let host = (first + turn) % config.places();
        match at_host(config, host, password, tls).await {
            Ok(opened) => return Ok(opened),
            Err(next) => failure = next,
        }
    }
    Err(failure)
}

async fn at_host(
    config: &Config,
    host: usize,
    password: Option<&str>,
    tls: &Connector,
) -> Result<Opened, Failure> {
    let mut failure = Failure::from(io::Error::other("the host has no address"));
    for place in places(config, host).await? {
        let opening = at_place(config, place, password, tls);
        let opened = match config.connect_timeout {
            None => opening.await,
            Some(bound) => match tokio::time::timeout(bound, opening).await {
                Ok(opened) => opened,
                Err(_) => Err(Failure::from(io::Error::from(io::ErrorKind::TimedOut))),
            },
        };
        match opened {
            Ok(opened) => return Ok(opened),
            // Another address of the same server says the same.
            Err(refused @ Failure::Server(_)) => return Err(refused),
            Err(next) => failure = next,
        }
    }
    Err(failure)
}

/// The addresses of a host.
async fn places(config: &Config, host: usize) -> io::Result<Vec<Place>> {
    let port = config.port(host);
    let place = |at, name: &str| Place {
        at,
        name: name.into(),
        keepalive: config.keepalive,
    };
    let named = config.hosts.get(host);
    if let Some(address) = config.addresses.get(host) {
        let name = match named {
            Some(Host::Tcp(name)) => name.clone(),
            _ => address.to_string(),
        };
        let at = At::Tcp(SocketAddr::new(*address, port));
        return Ok(vec![place(at, &name)]);
    }
    Ok(match named {
        Some(Host::Tcp(name)) => {
            let found = tokio::net::lookup_host((name.as_str(), port)).await?;
            found.map(|at| place(At::Tcp(at), name)).collect()
        }
        Some(Host::Socket(folder)) => {
            let path = folder.join(format!(".s.PGSQL.{port}"));
            vec![place(At::Socket(path), "")]
        }
        None => Vec::new(),
    })
}

async fn at_place(
    config: &Config,
    place: Place,
    password: Option<&str>,
    tls: &Connector,
) -> Result<Opened, Failure> {
    let (stream, is_encrypted) = encrypted(&place, config.encryption, tls).await?;
    let mut link = Link::new(stream);
    let key = log_in(&mut link, config, password).await?;
    link.open();
    let canceller = Canceller {
        place,
        // As the session, whatever else the data source name leaves open.
        encryption: match is_encrypted {
            true => Encryption::Always,
            false => Encryption::Never,
        },
        tls: tls.clone(),
        key,
    };
    let mut opened = Opened {
        link,
        is_encrypted,
        canceller,
    };
    fits(&mut opened.link, config.access).await?;
    Ok(opened)
}

/// Connects, and encrypts as far as it is asked for and offered.
async fn encrypted(
    place: &Place,
    encryption: Encryption,
    tls: &Connector,
) -> Result<(Box<dyn Duplex>, bool), Failure> {
    let address = match &place.at {
        At::Tcp(address) => *address,
        // Servers do not encrypt there.
        At::Socket(_) if encryption == Encryption::Always => return Err(Failure::NoTls),
        At::Socket(path) => return Ok((at_socket(path).await?, false)),
    };
    let mut stream = TcpStream::connect(address).await?;
    set_up(&stream, place.keepalive)?;
    if encryption == Encryption::Never {
        return Ok((Box::new(stream), false));
    }
    stream.write_all(&wire::tls_request()).await?;
    // One byte, and no more: what stood behind it would be taken for a part of the encrypted session.
    let mut answer = [0];
    stream.read_exact(&mut answer).await?;
    match (answer[0], encryption) {
        (b'S', _) => Ok((Box::new(tls.encrypt(&place.name, stream).await?), true)),
        (b'N', Encryption::WhereOffered) => Ok((Box::new(stream), false)),
        (b'N', _) => Err(Failure::NoTls),
        _ => Err(Failure::Garbled),
    }
}

fn set_up(stream: &TcpStream, keepalive: Option<Keepalive>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if let Some(keepalive) = keepalive {
        let idle = keepalive.idle.unwrap_or(KEEPALIVE_IDLE);
        let mut probes = TcpKeepalive::new().with_time(idle);
        if let Some(interval) = keepalive.interval {
            probes = probes.with_interval(interval);
        }
        #[cfg(not(windows))]
        if let Some(count) = keepalive.probes {
            probes = probes.with_retries(count);
        }
        SockRef::from(stream).set_tcp_keepalive(&probes)?;
    }
    Ok(())
}

/// Opens the session; returns the key by which it can be cancelled.
async fn log_in(
    link: &mut Link,
    config: &Config,
    password: Option<&str>,
) -> Result<Vec<u8>, Failure> {
    let user = user(config)?;
    let mut settings = vec![("user", user.as_str()), ("client_encoding", "UTF8")];
    let named = config.application_name.as_deref().unwrap_or("sokudo");
    settings.push(("application_name", named));
    let optional = [("database", &config.database), ("options", &config.options)];
    for (name, value) in optional {
        settings.extend(value.as_deref().map(|value| (name, value)));
    }
    wire::startup(&mut link.outbox, &settings)?;
    link.flush().await?;
    authenticate(link, &user, password).await?;
    let mut key = Vec::new();
    loop {
        let (tag, body) = link.next().await?;
        match tag {
            tag::KEY => key = link.body(body).to_vec(),
            tag::ERROR => return Err(said(link.body(body))),
            tag::READY => return Ok(key),
            // Settings and notices.
            _ => {}
        }
    }
}

/// The user of the data source name, of `PGUSER`, or of the system.
fn user(config: &Config) -> Result<String, Failure> {
    let of_system = || {
        let names = ["PGUSER", "USER", "LOGNAME", "USERNAME"];
        names.iter().find_map(|name| std::env::var(name).ok())
    };
    let user = config.user.clone().or_else(of_system);
    user.ok_or_else(|| Failure::Unsupported("the data source name has no user".into()))
}

fn said(body: &[u8]) -> Failure {
    let mut error = wire::server_error(body);
    // Whatever the server calls it: a session that did not begin is none.
    error.end_session();
    Failure::Server(Box::new(error))
}

async fn authenticate(link: &mut Link, user: &str, password: Option<&str>) -> Result<(), Failure> {
    let needed = || password.map(str::as_bytes).ok_or(Failure::NoPassword);
    let mut scram = None::<ScramSha256>;
    let mut is_proved = false;
    loop {
        let (tag, range) = link.next().await?;
        let body = link.body(range).to_vec();
        match tag {
            tag::AUTHENTICATION => {}
            tag::ERROR => return Err(said(&body)),
            // The server speaks an older minor version, which is the one that was asked for, or a notice.
            tag::NEGOTIATE | b'N' => continue,
            _ => return Err(Failure::Garbled),
        }
        match wire::authentication(&body)? {
            // A server that began a proof has to end it.
            Authentication::Done if scram.is_some() && !is_proved => return Err(Failure::Garbled),
            Authentication::Done => return Ok(()),
            Authentication::Password => wire::password(&mut link.outbox, needed()?)?,
            Authentication::Md5(salt) => {
                let hash = md5_hash(user.as_bytes(), needed()?, salt);
                wire::password(&mut link.outbox, hash.as_bytes())?;
            }
            Authentication::Sasl(mechanisms) => {
                if !mechanisms.iter().any(|name| name == SCRAM_SHA_256) {
                    let says = "the server wants an authentication other than SCRAM-SHA-256";
                    return Err(Failure::Unsupported(says.into()));
                }
                let begun = ScramSha256::new(needed()?, ChannelBinding::unsupported());
                wire::sasl_begin(&mut link.outbox, SCRAM_SHA_256, begun.message())?;
                scram = Some(begun);
            }
            Authentication::SaslGoesOn(data) => {
                let scram = scram.as_mut().ok_or(Failure::Garbled)?;
                if rounds(data).is_none_or(|rounds| rounds > MOST_ROUNDS) {
                    return Err(Failure::Garbled);
                }
                scram.update(data).map_err(Failure::Io)?;
                wire::sasl_go_on(&mut link.outbox, scram.message())?;
            }
            Authentication::SaslDone(data) => {
                let scram = scram.as_mut().ok_or(Failure::Garbled)?;
                scram.finish(data).map_err(Failure::Io)?;
                is_proved = true;
            }
            Authentication::Other(number) => {
                let says = format!(
                    "the server wants an authentication (type {number}) that is not supported"
                );
                return Err(Failure::Unsupported(says));
            }
        }
        link.flush().await?;
    }
}

/// The rounds of hashing in the first message of a SCRAM server: `r=…,s=…,i=4096`.
fn rounds(data: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(data).ok()?;
    let count = text.split(',').find_map(|part| part.strip_prefix("i="))?;
    count.parse().ok()
}

/// Errors: the session allows less, or more, than it has to.
async fn fits(link: &mut Link, access: Access) -> Result<(), Failure> {
    let expected: &[u8] = match access {
        Access::Any => return Ok(()),
        Access::ReadWrite => b"off",
        Access::ReadOnly => b"on",
    };
    wire::query(&mut link.outbox, "show transaction_read_only")?;
    link.flush().await?;
    let mut fits = false;
    loop {
        let (tag, range) = link.next().await?;
        let body = link.body(range);
        match tag {
            // One column: its count, its length, its bytes.
            tag::DATA_ROW => fits = body.get(6..) == Some(expected),
            tag::ERROR => return Err(said(body)),
            tag::READY if fits => return Ok(()),
            tag::READY => {
                let says = "the server does not allow what target_session_attrs asks for";
                return Err(Failure::Unsupported(says.into()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_a_server_are_read_before_they_are_hashed() {
        assert_eq!(rounds(b"r=abc,s=QUJD,i=4096"), Some(4096));
        assert_eq!(rounds(b"r=abc,s=QUJD,i=4294967295"), Some(u32::MAX));
        for text in [&b"r=abc,s=QUJD"[..], b"i=99999999999", b"\xff", b""] {
            assert_eq!(rounds(text), None);
        }
    }
}
