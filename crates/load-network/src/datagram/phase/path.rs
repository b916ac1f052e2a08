//! Addresses of both ends, and the datagram size that fits the path between them.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_net::udp;
use sokudo_workload::link::Transport;
use sokudo_workload::place::{own_address, resolve};
use sokudo_workload::refusal::operator;

use super::super::options::SizeRange;
use super::super::protocol::HEADER_BYTES;
use super::{DatagramPhase, ETHERNET_MTU, Shape};

/// Loopback interfaces have MTUs from here on.
const LOOPBACK_MTU: u32 = 65_535;

impl DatagramPhase {
    /// Address for the `index`-th receiving or sending socket of this host.
    pub(super) fn local_address(&self, index: usize) -> Result<SocketAddr, Refusal> {
        let bindings = self.bindings();
        if !bindings.is_empty() {
            return Ok(bindings[index % bindings.len()]);
        }
        Ok(own_address(&self.spec.hosts[self.spec.me as usize].address))
    }

    /// Decides the datagram sizes of everything this host sends.
    pub(super) fn look_at_paths(&mut self) -> Result<(), Refusal> {
        let outgoing: Vec<FlowPlan> = self.outgoing().cloned().collect();
        for flow in outgoing {
            let host = &self.spec.hosts[flow.to as usize].address;
            let peer = resolve(host, 9)?;
            let path_mtu = path_mtu(peer);
            let fits = fitting_size(peer, path_mtu);
            let size = self.options.size.unwrap_or(SizeRange {
                min: fits,
                max: fits,
            });
            self.check_parts(size)?;
            self.check_fits(size, peer, path_mtu)?;
            self.offer.sends.insert(flow.id, Shape { size, path_mtu });
        }
        Ok(())
    }

    /// Refuses fixed ports when there are fewer of them than sockets: two cannot share one.
    pub(super) fn check_bindings(&self) -> Result<(), Refusal> {
        let addresses: Vec<SocketAddr> = self.bindings();
        let receiving: BTreeSet<u32> = self.incoming().map(|flow| flow.stream).collect();
        let sockets = match receiving.len() {
            0 => self.outgoing().count(),
            streams => streams,
        };
        if addresses.len() >= sockets || addresses.iter().all(|address| address.port() == 0) {
            return Ok(());
        }
        Err(operator(
            Text::new("error-bind-ports")
                .with("addresses", addresses.len())
                .with("sockets", sockets),
            Text::new("error-bind-ports-hint"),
        ))
    }

    /// Refuses an address that was asked for when nothing can leave from it towards this peer.
    pub(super) fn check_family(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), Refusal> {
        if self.bindings().is_empty() {
            return Ok(());
        }
        let family = |address: SocketAddr| if address.is_ipv4() { "IPv4" } else { "IPv6" };
        Err(operator(
            Text::new("error-bind-family")
                .with("local", local.ip())
                .with("peer", peer.ip())
                .with("local_family", family(local))
                .with("peer_family", family(peer)),
            Text::new("error-bind-family-hint"),
        ))
    }

    /// Addresses that the operator asked for on this host.
    fn bindings(&self) -> Vec<SocketAddr> {
        // --bind speaks of the host where the command was given.
        let given = self.options.bind.iter().filter(|_| self.spec.me == 0);
        given.flat_map(|binding| binding.addresses()).collect()
    }

    /// Refuses parts of a datagram that are larger than the size found for the path.
    fn check_parts(&self, size: SizeRange) -> Result<(), Refusal> {
        let verify = self.options.verify.map_or(0, |bytes| bytes.0);
        if self.options.payload.0.max(verify) <= u64::from(size.min) {
            return Ok(());
        }
        Err(operator(
            Text::new("error-payload-long").with("size", size.min),
            Text::new("error-payload-long-hint"),
        ))
    }

    fn check_fits(
        &self,
        size: SizeRange,
        peer: SocketAddr,
        path_mtu: Option<u32>,
    ) -> Result<(), Refusal> {
        let headers = udp::header_bytes(&peer) as u32;
        let Some(mtu) = path_mtu.filter(|mtu| size.max + headers > *mtu) else {
            return Ok(());
        };
        if self.options.allow_fragments || self.options.transport != Transport::Udp {
            return Ok(());
        }
        Err(operator(
            Text::new("error-mtu")
                .with("size", size.max)
                .with("mtu", mtu)
                .with("peer", peer.ip())
                .with("headers", headers),
            Text::new("error-mtu-hint").with("size", mtu.saturating_sub(headers)),
        ))
    }
}

/// MTU towards a peer, from a socket that sends nothing.
fn path_mtu(peer: SocketAddr) -> Option<u32> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => ([0u8; 4], 0).into(),
        SocketAddr::V6(_) => ([0u8; 16], 0).into(),
    };
    let socket = udp::bind(any).ok()?;
    socket.connect(peer).ok()?;
    udp::path_mtu(&socket)
}

/// Largest datagram that crosses the path in one piece.
fn fitting_size(peer: SocketAddr, path_mtu: Option<u32>) -> u32 {
    let mtu = path_mtu
        .filter(|mtu| *mtu < LOOPBACK_MTU)
        .unwrap_or(ETHERNET_MTU);
    mtu.saturating_sub(udp::header_bytes(&peer) as u32)
        .max(HEADER_BYTES as u32)
}
