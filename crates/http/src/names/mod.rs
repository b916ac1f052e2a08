//! DNS client that asks chosen name servers for the addresses of a name.
//!
//! ```text
//! caller ── question, UDP ──► server 1     no answer in 3 s, or it refuses: the next one
//!        ◄── addresses ──────              truncated: the same question over TCP
//!                                          an alias: its name is asked for
//! ```

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sokudo_net::clock::now_ns;
use sokudo_net::dns::{Answer, Name, answer, question};

/// Port of name servers.
const PORT: u16 = 53;
/// Longest wait for one server.
const PATIENCE: Duration = Duration::from_secs(3);
/// Rounds over all servers.
const ROUNDS: usize = 2;
/// Most aliases that are followed in a row.
const MOST_HOPS: usize = 8;
/// Largest message over UDP that is taken in, bytes.
const MOST_UDP_BYTES: usize = 4096;

/// Longest wait for a name, even if the caller would wait longer.
const LONGEST: Duration = Duration::from_secs(15);

/// Number of queries so far, which selects the server that is queried first: load is spread over all.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// Addresses that the servers know for a name, in the order of the one that answered: at least one.
///
/// A server is an address or a name that the system knows, with or without a port. They are asked in
/// turn, until `until`.
///
/// Errors: no such name; no server answers; none can be reached.
pub(crate) fn look_up(name: &str, servers: &[String], until: Instant) -> io::Result<Vec<Ipv4Addr>> {
    let mut name = Name::of(name).ok_or(io::ErrorKind::NotFound)?;
    for _ in 0..MOST_HOPS {
        match ask_all(&name, servers, until)? {
            Answer::Addresses(found) => return Ok(found),
            Answer::Alias(other) => name = other,
            _ => return Err(io::ErrorKind::NotFound.into()),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Latest end of a look-up that begins now: at a moment of [`now_ns`], or within bounds of its own.
pub(crate) fn until(until_ns: i64) -> Instant {
    let left_ns = u64::try_from(until_ns.saturating_sub(now_ns())).unwrap_or(0);
    Instant::now() + Duration::from_nanos(left_ns).min(LONGEST)
}

/// The first answer that settles the question.
fn ask_all(name: &Name, servers: &[String], until: Instant) -> io::Result<Answer> {
    let first = TURN.fetch_add(1, Ordering::Relaxed);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for turn in 0..servers.len() * ROUNDS {
        let server = &servers[first.wrapping_add(turn) % servers.len()];
        let asked = address_of(server).and_then(|server| ask(server, name, until));
        match asked {
            Ok(Answer::Refused(code)) => {
                last = io::Error::other(format!("`{server}` refuses with code {code}"));
            }
            Ok(settled) => return Ok(settled),
            Err(error) => last = error,
        }
        if Instant::now() >= until {
            break;
        }
    }
    Err(last)
}

fn address_of(server: &str) -> io::Result<SocketAddr> {
    let bare = (server, PORT).to_socket_addrs();
    let mut found = bare.or_else(|_| server.to_socket_addrs())?;
    found.next().ok_or(io::ErrorKind::NotFound.into())
}

fn ask(server: SocketAddr, name: &Name, until: Instant) -> io::Result<Answer> {
    let until = until.min(Instant::now() + PATIENCE);
    let asked = question(any_number(), name);
    match over_udp(server, &asked, until)? {
        Answer::Cut => over_tcp(server, &asked, until),
        settled => Ok(settled),
    }
}

fn over_udp(server: SocketAddr, asked: &[u8], until: Instant) -> io::Result<Answer> {
    let socket = match server {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }?;
    socket.connect(server)?;
    socket.send(asked)?;
    let mut room = [0; MOST_UDP_BYTES];
    loop {
        socket.set_read_timeout(Some(left(until)?))?;
        let bytes = socket.recv(&mut room)?;
        match answer(&room[..bytes], asked) {
            // The answer to another or to an earlier question.
            Answer::Foreign => {}
            settled => return Ok(settled),
        }
    }
}

fn over_tcp(server: SocketAddr, asked: &[u8], until: Instant) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&server, left(until)?)?;
    stream.set_write_timeout(Some(left(until)?))?;
    let length = u16::try_from(asked.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), asked].concat())?;
    let mut length = [0; 2];
    fill(&mut stream, &mut length, until)?;
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    fill(&mut stream, &mut message, until)?;
    Ok(answer(&message, asked))
}

/// As `read_exact` with a deadline, which a server that sends byte after byte cannot move.
fn fill(stream: &mut TcpStream, mut room: &mut [u8], until: Instant) -> io::Result<()> {
    while !room.is_empty() {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(room)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => room = &mut room[bytes..],
        }
    }
    Ok(())
}

/// Time that is left. Errors: the deadline has passed.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

/// A random number for a question, which a sender that has not seen the question cannot guess.
fn any_number() -> u16 {
    RandomState::new().build_hasher().finish() as u16
}

#[cfg(test)]
mod tests;
