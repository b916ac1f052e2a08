//! The ports at which this host receives load.
//!
//! Each listening socket has a port of its own (decision 0004). The system chooses it, unless the host's
//! owner has named a range that a firewall lets through; then it is one of those that nothing else uses.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use sokudo_i18n::TextError;
use sokudo_model::{Refusal, Text};

use crate::refusal::operator;

/// Ports from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataPorts {
    first: u16,
    last: u16,
}

/// The range of this process; none: the system chooses.
static RANGE: OnceLock<DataPorts> = OnceLock::new();

/// Offset at which the next search begins: a port that was just given back may still get the last words of its load.
static NEXT: AtomicU16 = AtomicU16::new(0);

impl FromStr for DataPorts {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
        match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(TextError::value("error-value-data-ports", text)),
        }
    }
}

impl fmt::Display for DataPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl DataPorts {
    fn count(self) -> u32 {
        u32::from(self.last - self.first) + 1
    }

    /// All ports, beginning with another one each time.
    fn in_turn(self) -> impl Iterator<Item = u16> {
        let begin = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        (0..self.count()).map(move |step| self.first + ((begin + step) % self.count()) as u16)
    }
}

/// From now on this process receives load on these ports alone. The first call counts.
pub fn receive_on(range: DataPorts) {
    // A second range is an order of the same operator, who was told the first.
    let _ = RANGE.set(range);
}

/// Listens at an address whose port is 0, on one of the host's data ports where it has any. `needed` is
/// the number of sockets that this load opens here, `cannot` the refusal of a failed attempt.
///
/// Errors: every data port is in use, or another failure of `bind`.
pub fn listen<T, E: BindError>(
    address: SocketAddr,
    needed: usize,
    bind: impl FnMut(SocketAddr) -> Result<T, E>,
    cannot: impl Fn(&E) -> Refusal,
) -> Result<T, Refusal> {
    listen_within(RANGE.get().copied(), address, needed, bind, cannot)
}

fn listen_within<T, E: BindError>(
    range: Option<DataPorts>,
    address: SocketAddr,
    needed: usize,
    mut bind: impl FnMut(SocketAddr) -> Result<T, E>,
    cannot: impl Fn(&E) -> Refusal,
) -> Result<T, Refusal> {
    let Some(range) = range.filter(|_| address.port() == 0) else {
        return bind(address).map_err(|error| cannot(&error));
    };
    for port in range.in_turn() {
        match bind(SocketAddr::new(address.ip(), port)) {
            Err(error) if error.is_in_use() => {}
            other => return other.map_err(|error| cannot(&error)),
        }
    }
    Err(operator(
        Text::new("error-data-ports")
            .with("range", range)
            .with("count", range.count())
            .with("needed", needed),
        Text::new("error-data-ports-hint"),
    ))
}

/// An error of binding.
pub trait BindError {
    /// True when the address is in use.
    fn is_in_use(&self) -> bool;
}

impl BindError for io::Error {
    fn is_in_use(&self) -> bool {
        self.kind() == io::ErrorKind::AddrInUse
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;
    use crate::refusal::cannot_bind;

    #[test]
    fn ranges_are_read_and_written() {
        for text in ["5000-5010", "5000", "1-65535"] {
            let range: DataPorts = text.parse().expect("a range");
            assert_eq!(range.to_string(), text);
        }
        for text in ["", "5010-5000", "0-9", "5000-", "5000-70000", "a-b"] {
            assert!(text.parse::<DataPorts>().is_err(), "{text}");
        }
        let all: DataPorts = "65530-65535".parse().expect("a range");
        let mut ports: Vec<u16> = all.in_turn().collect();
        ports.sort_unstable();
        assert_eq!(ports, Vec::from_iter(65530..=65535));
    }

    #[test]
    fn a_range_that_is_taken_is_told_with_what_is_needed() {
        // Three neighbours of which the system has just used one; another program may take them first.
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let udp = |range| {
            let bind = |at: SocketAddr| UdpSocket::bind(at);
            listen_within(Some(range), any, 7, bind, |e| cannot_bind(any, e))
        };
        let probe = UdpSocket::bind(any).and_then(|socket| socket.local_addr());
        let first = probe.expect("a port").port().min(65_000);
        let range = DataPorts {
            first,
            last: first + 2,
        };
        let mut held = Vec::new();
        let refused = loop {
            match udp(range) {
                Ok(socket) => held.push(socket),
                Err(refused) => break refused,
            }
        };
        for socket in &held {
            let port = socket.local_addr().expect("bound").port();
            assert!((range.first..=range.last).contains(&port), "{port}");
        }
        assert!(held.len() <= 3 && refused.operator_error);
        assert_eq!(refused.says.key, "error-data-ports");
        // Ports of TCP are others.
        let bind = |at: SocketAddr| TcpListener::bind(at);
        let tcp = listen_within(Some(range), any, 1, bind, |e| cannot_bind(any, e));
        assert!(tcp.is_ok() || held.len() < 3);
    }
}
