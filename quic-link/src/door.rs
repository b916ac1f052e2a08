//! The listening end: lets visitors in, many at a time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quinn::{Endpoint, Incoming};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use zenoh_link_commons::{LinkUnicast, NewLinkChannelSender};
use zenoh_result::{ZResult, zerror};

use crate::link::{Link, Side};

/// Longest handshake.
const BOUND: Duration = Duration::from_secs(5);
/// Handshakes at a time.
const MAX_HANDSHAKES: usize = 2048;
/// Handshakes at a time with one network, which may be that of a whole site behind one address.
const MAX_OF_NETWORK: usize = 256;

/// What a visitor needs to become a link.
#[derive(Clone)]
pub(crate) struct Welcome {
    /// Port at which the door listens.
    pub(crate) port: u16,
    /// A link is closed when the certificate of its other end expires.
    pub(crate) ends_with_certificate: bool,
    /// Takes the links.
    pub(crate) links: NewLinkChannelSender,
}

/// Lets visitors in at `endpoint` until `closing`.
///
/// Errors: the socket is lost.
pub(crate) async fn keep(
    endpoint: Endpoint,
    welcome: Welcome,
    closing: CancellationToken,
) -> ZResult<()> {
    let places = Arc::new(Places::default());
    let mut handshakes = JoinSet::new();
    loop {
        tokio::select! {
            () = closing.cancelled() => return Ok(()),
            Some(_) = handshakes.join_next() => {}
            arrived = endpoint.accept() => {
                let visitor = arrived.ok_or_else(|| zerror!("the socket of the QUIC listener is lost"))?;
                if let Some((visitor, place)) = admit(visitor, &places) {
                    handshakes.spawn(receive(visitor, place, welcome.clone()));
                }
            }
        }
    }
}

/// A visitor with a place for its handshake, when it has shown its address and there is one.
fn admit(visitor: Incoming, places: &Arc<Places>) -> Option<(Incoming, Place)> {
    if !visitor.remote_address_validated() {
        // Nothing is kept. Who is at that address comes again with the answer.
        if visitor.retry().is_err() {
            tracing::debug!("a visitor whose address is unknown cannot be asked for it");
        }
        return None;
    }
    match places.enter(visitor.remote_address().ip()) {
        Some(place) => Some((visitor, place)),
        None => {
            // Its next packet tries again.
            visitor.ignore();
            None
        }
    }
}

async fn receive(visitor: Incoming, place: Place, welcome: Welcome) {
    let from = visitor.remote_address();
    let done = match timeout(BOUND, link(visitor, &welcome)).await {
        Ok(done) => done,
        Err(_) => Err(zerror!("no handshake within {BOUND:?}").into()),
    };
    drop(place);
    match done {
        Ok(link) => drop(welcome.links.send_async(link).await),
        Err(why) => tracing::debug!("a visitor from {from} is not let in: {why}"),
    }
}

async fn link(visitor: Incoming, welcome: &Welcome) -> ZResult<LinkUnicast> {
    let connection = visitor.await?;
    let ip = connection.local_ip();
    let ip = ip.ok_or_else(|| zerror!("the system does not say where a packet arrived"))?;
    Link::begin(
        connection,
        (ip, welcome.port).into(),
        Side::Listens,
        welcome.ends_with_certificate,
    )
}

/// Handshakes that are under way.
#[derive(Default)]
struct Places(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    all: usize,
    of_network: HashMap<IpAddr, usize>,
}

impl Places {
    /// A place for a visitor from `ip`, unless too many are taken.
    fn enter(self: &Arc<Self>, ip: IpAddr) -> Option<Place> {
        let network = network(ip);
        // Counters are right whatever thread panicked.
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_network = taken.of_network.get(&network).copied().unwrap_or(0);
        if taken.all >= MAX_HANDSHAKES || of_network >= MAX_OF_NETWORK {
            return None;
        }
        taken.all += 1;
        taken.of_network.insert(network, of_network + 1);
        Some(Place {
            places: Arc::clone(self),
            network,
        })
    }
}

/// A place that is taken while this value exists.
struct Place {
    places: Arc<Places>,
    network: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(of_network) = taken.of_network.get_mut(&self.network) {
            *of_network -= 1;
            if *of_network == 0 {
                taken.of_network.remove(&self.network);
            }
        }
    }
}

/// What one host can have all addresses of: an address of IPv4, 64 bits of IPv6.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_cannot_take_all_places() {
        let places = Arc::new(Places::default());
        let own = |n: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, n, 0, 0, 1]);
        let mut taken: Vec<Place> = Vec::new();
        taken.extend((0..1000).map_while(|n| places.enter(own(n))));
        assert_eq!(taken.len(), MAX_OF_NETWORK);
        let other = IpAddr::from([192, 0, 2, 7]);
        assert!(places.enter(other).is_some());
        taken.pop();
        assert!(places.enter(own(7)).is_some());
        drop(taken);
        let left = places.0.lock().expect("no thread panicked");
        assert_eq!((left.all, left.of_network.len()), (0, 0));
    }

    #[test]
    fn places_are_bounded() {
        let places = Arc::new(Places::default());
        let hosts = (0..5000u32).map(|n| IpAddr::from(n.to_be_bytes()));
        let taken: Vec<Place> = hosts.filter_map(|ip| places.enter(ip)).collect();
        assert_eq!(taken.len(), MAX_HANDSHAKES);
    }

    #[test]
    fn an_address_of_ipv4_is_the_same_within_ipv6() {
        let plain = IpAddr::from([192, 0, 2, 7]);
        let within: IpAddr = "::ffff:192.0.2.7".parse().expect("an address");
        assert_eq!(network(within), plain);
    }
}
