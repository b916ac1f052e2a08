//! Addresses at which a host listens, and at which it reaches the others.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use sokudo_model::{Refusal, Text};
use sokudo_net::udp;

use crate::refusal::operator;

/// Address to bind on the host that the others reach by `own`; the system chooses the port.
pub fn own_address(own: &str) -> SocketAddr {
    let any = SocketAddr::new(IpAddr::from([0, 0, 0, 0]), 0);
    match own.parse::<IpAddr>() {
        // Behind address translation the address that others use is not ours to bind.
        Ok(ip) if udp::bind(SocketAddr::new(ip, 0)).is_ok() => SocketAddr::new(ip, 0),
        Ok(IpAddr::V6(_)) => SocketAddr::new(std::net::Ipv6Addr::UNSPECIFIED.into(), 0),
        _ => any,
    }
}

/// Resolves a host's address; the first result counts.
pub fn resolve(host: &str, port: u16) -> Result<SocketAddr, Refusal> {
    let mut found = (host, port).to_socket_addrs().map_err(|error| {
        operator(
            Text::new("error-unresolved")
                .with("host", host)
                .with("error", error),
            Text::new("error-unresolved-hint"),
        )
    })?;
    found.next().ok_or_else(|| {
        operator(
            Text::new("error-no-address").with("host", host),
            Text::new("error-unresolved-hint"),
        )
    })
}
