//! Directions and transports that several loads take.

use sokudo_workload::choice::Subset;
use sokudo_workload::flows::Direction;
use sokudo_workload::link::Transport;

/// Directions of `rr`, `crr` and `probe`: the host that asks stands first.
pub(crate) struct AskingDirections;

impl Subset for AskingDirections {
    type Choice = Direction;
    const NAME: &'static str = "Direction";
    const VALUES: &'static [(Direction, &'static str)] = &[
        (Direction::Up, "This host asks each of its peers"),
        (Direction::Mesh, "Every host asks all others"),
    ];
}

/// Directions of `stream` and `bus`.
pub(crate) struct SendingDirections;

impl Subset for SendingDirections {
    type Choice = Direction;
    const NAME: &'static str = "Direction";
    const VALUES: &'static [(Direction, &'static str)] = &[
        (Direction::Up, "This host sends to each of its peers"),
        (Direction::Down, "Each peer sends to this host"),
        (Direction::Both, "Both at once"),
        (Direction::Mesh, "Every host sends to all others"),
    ];
}

/// Transports of `rr`, `crr` and `stream`.
pub(crate) struct LinkTransports;

impl Subset for LinkTransports {
    type Choice = Transport;
    const NAME: &'static str = "Transport";
    const VALUES: &'static [(Transport, &'static str)] = &[
        TCP,
        MPTCP,
        TLS,
        QUIC,
        (Transport::Udp, "UDP, one datagram per message"),
        UNIX,
        SHM,
    ];
}

/// Transports of `bus`.
pub(crate) struct BusTransports;

impl Subset for BusTransports {
    type Choice = Transport;
    const NAME: &'static str = "Transport";
    const VALUES: &'static [(Transport, &'static str)] = &[
        TCP,
        MPTCP,
        TLS,
        QUIC,
        UNIX,
        SHM,
        (
            Transport::Rdma,
            "An RDMA device (InfiniBand, RoCE): needs a sokudo that was built with it",
        ),
    ];
}

/// Transports of `dns`.
pub(crate) struct DnsTransports;

impl Subset for DnsTransports {
    type Choice = Transport;
    const NAME: &'static str = "Transport";
    const VALUES: &'static [(Transport, &'static str)] = &[
        (Transport::Udp, "UDP, one datagram per query"),
        (Transport::Tcp, "TCP, many queries on a connection"),
    ];
}

type Value = (Transport, &'static str);

const TCP: Value = (
    Transport::Tcp,
    "TCP; small messages leave at once (no Nagle)",
);
const MPTCP: Value = (
    Transport::Mptcp,
    "TCP over several paths at once, where the kernel has it",
);
const TLS: Value = (Transport::Tls, "TLS 1.3 over TCP");
const QUIC: Value = (Transport::Quic, "One stream of a QUIC connection");
const UNIX: Value = (
    Transport::Unix,
    "A socket of this host; both ends must be on it",
);
const SHM: Value = (
    Transport::Shm,
    "Memory that both ends share; both must be on this host",
);
