//! The table of request targets.
//!
//! One table for all loops: a target is interned once and identified by a number from then on.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::names;

/// Number of a target in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u32);

/// Protocol of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port when none is given.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

/// A proxy that is asked for a tunnel (`CONNECT`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Via {
    /// Name or address of the proxy.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Value of `Proxy-Authorization`; empty: none is sent.
    pub authorization: String,
}

/// Route to a target, where it differs from the system's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// Local address of connections; `None`: the system chooses.
    pub source: Option<Source>,
    /// Names and addresses that stand for the called host; none: its own name does.
    pub hosts: Vec<String>,
    /// Name servers that are asked for the called host, with or without a port; none: the system is.
    pub servers: Vec<String>,
    /// The certificate that is shown to servers that ask for one: its place in
    /// [`Config::identities`](crate::Config::identities); `None`: none is.
    pub identity: Option<u32>,
}

/// Local address of connections.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An address of this host, or a name that has one.
    Host(String),
    /// A network interface, Linux alone.
    Device(String, Family),
}

/// Address families that are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// All.
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// The address or device that a socket is bound to before it connects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Nothing.
    #[default]
    Anywhere,
    /// An address of this host.
    From(IpAddr),
    /// A network interface.
    Through(String),
}

/// Address of a target, with its route.
#[derive(Debug)]
pub(crate) struct Found {
    /// At least one.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The binding of its sockets.
    pub(crate) leaves: Leaves,
}

/// Something that answers HTTP.
#[derive(Debug)]
pub struct Target {
    /// Its protocol.
    pub scheme: Scheme,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// The proxy whose tunnel leads there; `None`: it is called directly.
    pub via: Option<Via>,
    /// Its route.
    pub route: Route,
    found: OnceLock<Found>,
    /// The address that answered last: tried first next time.
    preferred: AtomicUsize,
}

impl Target {
    /// Its addresses, when they are known already.
    pub fn known_addresses(&self) -> Option<&[SocketAddr]> {
        self.found.get().map(|found| found.addresses.as_slice())
    }

    /// Looks its addresses up, if they are not known. Takes as long as the system's resolver does.
    ///
    /// Errors: no such name, of it or of where connections leave from; no resolver.
    pub fn resolve(&self) -> io::Result<&[SocketAddr]> {
        if let Some(known) = self.known_addresses() {
            return Ok(known);
        }
        let found = self.look_up(i64::MAX)?;
        Ok(&self.found.get_or_init(|| found).addresses)
    }

    /// Looks its addresses up, whether they are known or not, for one caller alone. Name servers of the
    /// route are not waited for after `until_ns`.
    ///
    /// Errors: as of [`Target::resolve`].
    pub(crate) fn look_up(&self, until_ns: i64) -> io::Result<Found> {
        let (host, port) = match &self.via {
            Some(via) => (via.host.as_str(), via.port),
            None => (self.host.as_str(), self.port),
        };
        let mut addresses = self.route.addresses(host, port, until_ns)?;
        let leaves = self.route.leaves(&mut addresses)?;
        if addresses.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Found { addresses, leaves })
    }

    /// Its addresses, as far as they are resolved for all users.
    pub(crate) fn known(&self) -> Option<&Found> {
        self.found.get()
    }

    /// The request to the proxy; `None` without one.
    pub(crate) fn tunnel_request(&self) -> Option<String> {
        let via = self.via.as_ref()?;
        let host = match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        };
        let authorization = match via.authorization.as_str() {
            "" => String::new(),
            value => format!("Proxy-Authorization: {value}\r\n"),
        };
        Some(format!(
            "CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{authorization}\r\n"
        ))
    }

    /// Index of the address that is tried first.
    pub(crate) fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed)
    }

    /// Remembers the address that answered.
    pub(crate) fn prefer(&self, index: usize) {
        if self.preferred() != index {
            self.preferred.store(index, Ordering::Relaxed);
        }
    }
}

impl Route {
    fn addresses(&self, host: &str, port: u16, until_ns: i64) -> io::Result<Vec<SocketAddr>> {
        if self.hosts.is_empty() {
            if self.servers.is_empty() || host.parse::<IpAddr>().is_ok() {
                return Ok((host, port).to_socket_addrs()?.collect());
            }
            let found = names::look_up(host, &self.servers, names::until(until_ns))?;
            return Ok(found.into_iter().map(|ip| (ip, port).into()).collect());
        }
        let mut all = Vec::new();
        for host in &self.hosts {
            all.extend((host.as_str(), port).to_socket_addrs()?);
        }
        Ok(all)
    }

    /// Keeps the addresses that can be called from its source.
    fn leaves(&self, addresses: &mut Vec<SocketAddr>) -> io::Result<Leaves> {
        let (family, leaves) = match &self.source {
            None => return Ok(Leaves::Anywhere),
            Some(Source::Device(device, family)) => (*family, Leaves::Through(device.clone())),
            Some(Source::Host(name)) => {
                let mut found = (name.as_str(), 0).to_socket_addrs()?;
                let from = found.next().ok_or(io::ErrorKind::NotFound)?.ip();
                let family = if from.is_ipv4() {
                    Family::V4
                } else {
                    Family::V6
                };
                (family, Leaves::From(from))
            }
        };
        addresses.retain(|address| match family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        });
        Ok(leaves)
    }
}

type Key = (Scheme, String, u16, Option<Via>, Route);

#[derive(Debug, Default)]
struct Table {
    all: Vec<Arc<Target>>,
    by_name: HashMap<Key, TargetId>,
}

/// All targets of a run. Shared by loops and users; not asked on the measured path except for a
/// target that a loop has not met yet.
#[derive(Debug, Default)]
pub struct Targets(Mutex<Table>);

impl Targets {
    /// A table without targets.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a target, which is added when it is new. Names compare without case.
    pub fn intern(&self, scheme: Scheme, host: &str, port: u16) -> TargetId {
        self.intern_by(scheme, (host, port), None, &Route::default())
    }

    /// As [`Targets::intern`], on a route of its own and behind the tunnel of a proxy. Only targets over
    /// TLS are behind one: others are asked for from the proxy itself.
    pub fn intern_by(
        &self,
        scheme: Scheme,
        (host, port): (&str, u16),
        via: Option<&Via>,
        route: &Route,
    ) -> TargetId {
        let host = host.to_ascii_lowercase();
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (scheme, host, port, via.cloned(), route.clone());
        if let Some(id) = table.by_name.get(&key) {
            return *id;
        }
        let id = TargetId(u32::try_from(table.all.len()).unwrap_or(u32::MAX));
        table.all.push(Arc::new(Target {
            scheme,
            host: key.1.clone(),
            port,
            via: key.3.clone(),
            route: key.4.clone(),
            found: OnceLock::new(),
            preferred: AtomicUsize::new(0),
        }));
        table.by_name.insert(key, id);
        id
    }

    /// True when one of them uses TLS.
    pub(crate) fn any_over_tls(&self) -> bool {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table
            .all
            .iter()
            .any(|target| target.scheme == Scheme::Https)
    }

    /// A target by its number.
    pub fn get(&self, id: TargetId) -> Option<Arc<Target>> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.all.get(id.0 as usize).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_the_same_target() {
        let targets = Targets::new();
        let first = targets.intern(Scheme::Http, "Example.org", 80);
        assert_eq!(targets.intern(Scheme::Http, "example.ORG", 80), first);
        assert_ne!(targets.intern(Scheme::Https, "example.org", 80), first);
        assert_ne!(targets.intern(Scheme::Http, "example.org", 81), first);
        assert_eq!(
            targets.get(first).map(|t| t.host.clone()).as_deref(),
            Some("example.org")
        );
        assert!(targets.get(TargetId(99)).is_none());
    }

    #[test]
    fn an_address_resolves_to_itself() {
        let targets = Targets::new();
        let id = targets.intern(Scheme::Http, "::1", 81);
        let target = targets.get(id).expect("it was interned");
        assert!(target.known_addresses().is_none());
        let found = target.resolve().expect("an address needs no resolver");
        assert_eq!(found, ["[::1]:81".parse().expect("an address")]);
    }

    #[test]
    fn a_host_stands_for_another_and_the_source_chooses_the_family() {
        let targets = Targets::new();
        let of = |source: Option<Source>| {
            let hosts = ["127.0.0.7", "::1"].map(str::to_owned).to_vec();
            let route = Route {
                source,
                hosts,
                ..Route::default()
            };
            let id = targets.intern_by(Scheme::Http, ("shop.invalid", 81), None, &route);
            let target = targets.get(id).expect("it was interned");
            let found = target.resolve().map(<[SocketAddr]>::to_vec);
            let leaves = target.known().map(|known| known.leaves.clone());
            (found.map_err(|error| error.kind()), leaves)
        };
        let v4: SocketAddr = "127.0.0.7:81".parse().expect("an address");
        let v6: SocketAddr = "[::1]:81".parse().expect("an address");
        assert_eq!(of(None), (Ok(vec![v4, v6]), Some(Leaves::Anywhere)));
        let from = Source::Host("127.0.0.2".into());
        let leaves = Leaves::From("127.0.0.2".parse().expect("an address"));
        assert_eq!(of(Some(from)), (Ok(vec![v4]), Some(leaves)));
        let device = Source::Device("lo".into(), Family::V6);
        assert_eq!(
            of(Some(device)),
            (Ok(vec![v6]), Some(Leaves::Through("lo".into())))
        );
    }
}
