//! Sockets and connections that are set up before a test begins.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use sokudo_model::{Refusal, Text};
use sokudo_net::tcp::{self, TcpOptions};
use sokudo_net::{udp, wait};
use sokudo_workload::refusal::operator;

use super::node::{Bus, MAX_CONNECTIONS};
use super::options::CoherenceBusOptions;
use super::receive::Inbox;
use super::values::BusAddress;

/// Transmitters of all buses together: their numbers are half an id, and one means "relayed".
const MAX_TRANSMITTERS: usize = 4096;

/// An address for documentation (RFC 5737), to ask which way leads out. Nothing is sent there.
const OUT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 7574);

/// Resolves and binds everything. Nothing is called yet.
///
/// Errors: operator errors for addresses that cannot be.
pub fn set_up(options: &CoherenceBusOptions) -> Result<Vec<Bus>, Refusal> {
    let peers: Vec<(BusAddress, SocketAddr)> = options
        .peers
        .iter()
        .map(|peer| Ok((peer.clone(), peer.resolve()?)))
        .collect::<Result<_, Refusal>>()?;
    let locals: Vec<SocketAddr> = match options.bind.is_empty() {
        true => vec![any_port(&peers)],
        false => options
            .bind
            .iter()
            .map(BusAddress::resolve)
            .collect::<Result<_, _>>()?,
    };
    let each = options.tx_threads as usize;
    if locals.len() * each > MAX_TRANSMITTERS {
        return Err(operator(
            Text::new("error-coherence-transmitters")
                .with("each", each)
                .with("addresses", locals.len()),
            Text::new("error-coherence-transmitters-hint").with("most", MAX_TRANSMITTERS),
        ));
    }
    // As many connections as possible; what the system does not allow is said when it is missing.
    let _ = wait::allow_open_files(2 * MAX_CONNECTIONS as u64);
    let mut buses = Vec::new();
    for (at, local) in locals.into_iter().enumerate() {
        let (listener, name) = listen(local, &peers)?;
        let inboxes = (0..options.rx_threads).map(|_| Inbox::default()).collect();
        buses.push(Bus::new(
            name,
            listener,
            peers.clone(),
            at * each..(at + 1) * each,
            inboxes,
        ));
    }
    Ok(buses)
}

/// Without `-bind`: every address of the host, a port that the system chooses.
fn any_port(peers: &[(BusAddress, SocketAddr)]) -> SocketAddr {
    match peers.first() {
        Some((_, peer)) if peer.is_ipv6() => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
        _ => (Ipv4Addr::UNSPECIFIED, 0).into(),
    }
}

fn listen(
    local: SocketAddr,
    peers: &[(BusAddress, SocketAddr)],
) -> Result<(TcpListener, String), Refusal> {
    let refused = |error: tcp::TcpError| {
        let other = || Text::new("error-coherence-listen-hint").with("option", "-bind");
        let hint = error.hint().map_or_else(other, Text::words);
        let says = Text::new("error-cannot-listen")
            .with("address", local)
            .with("error", error);
        operator(says, hint)
    };
    let listener = tcp::listen(local, &TcpOptions::default()).map_err(refused)?;
    let bound = listener.local_addr().unwrap_or(local);
    // Peers are told an address at which they find this host, not "all of them".
    let told = match bound.ip().is_unspecified() {
        false => bound.ip(),
        true => {
            let towards = peers.first().map_or(OUT, |(_, peer)| *peer);
            udp::local_address_towards(towards).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
        }
    };
    let name = BusAddress::of(SocketAddr::new(told, bound.port())).to_string();
    Ok((listener, name))
}
