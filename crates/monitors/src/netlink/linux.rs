//! Linux: a socket for each table that is read.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::netlink::{GENERIC, SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto,
    socket_with,
};

use super::Settings;
use super::message::{self, Answer, Link};
use crate::listen::parse::{
    ESTABLISHED, LISTENING, Reading as TcpSocket, questions, reading as tcp_socket,
};
use crate::qdisc::parse::{Reading, reading};

/// The kernel answers at once; this only keeps a surprise from hanging the run.
const ANSWER_BOUND: Duration = Duration::from_secs(1);

/// The kernel fills datagrams of up to 32 KiB when it dumps a table.
const BUFFER_BYTES: usize = 64 << 10;

/// More messages than this are not read from one answer.
const MAX_MESSAGES: usize = 4096;

/// Length of `struct ifinfomsg` (rtnetlink(7)).
const LINK_HEADER_BYTES: usize = 16;

/// Length of `struct tcmsg` (rtnetlink(7)).
const QUEUE_HEADER_BYTES: usize = 20;

const RTM_GETLINK: u16 = 18;
const RTM_GETQDISC: u16 = 38;

/// Every interface of the calling thread's network namespace, in the kernel's order.
///
/// Errors: the system's reason, as text.
pub(crate) fn links() -> Result<Vec<Link>, String> {
    let ask = || Netlink::open(None)?.links();
    ask().map_err(|error: io::Error| format!("netlink did not list the interfaces: {error}"))
}

/// The table of queueing disciplines of the network namespace of the thread that opened it.
pub(crate) struct Queues(Netlink);

impl Queues {
    /// Opens the table and reads it once. Errors: the system's reason, as text.
    pub(crate) fn open() -> Result<Self, String> {
        let open = || {
            let mut netlink = Netlink::open(None)?;
            netlink.dump(RTM_GETQDISC, QUEUE_HEADER_BYTES)?;
            Ok(Self(netlink))
        };
        open().map_err(|error: io::Error| {
            format!("netlink did not list the queueing disciplines: {error}")
        })
    }

    /// The disciplines now; `None` when the kernel did not answer.
    pub(crate) fn read(&mut self) -> Option<Vec<Reading>> {
        let answers = self.0.dump(RTM_GETQDISC, QUEUE_HEADER_BYTES).ok()?;
        Some(answers.iter().filter_map(|a| reading(a)).collect())
    }

    /// The interfaces now; `None` when the kernel did not answer.
    pub(crate) fn names(&mut self) -> Option<Vec<Link>> {
        self.0.links().ok()
    }
}

/// The listening TCP sockets of the network namespace of the thread that opened it.
pub(crate) struct Listeners(Netlink);

impl Listeners {
    /// Opens the table and reads it once. Errors: the system's reason, as text.
    pub(crate) fn open() -> Result<Self, String> {
        let open = || {
            let mut this = Self(Netlink::open(Some(SOCK_DIAG))?);
            this.ask()?;
            Ok(this)
        };
        open().map_err(|error: io::Error| {
            format!("netlink did not list the listening sockets: {error}")
        })
    }

    /// The sockets now; `None` when the kernel did not answer.
    pub(crate) fn read(&mut self) -> Option<Vec<TcpSocket>> {
        self.ask().ok()
    }

    fn ask(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.0.tcp_sockets(LISTENING)
    }
}

/// The established TCP connections of the calling thread's network namespace; `None` when the kernel did not answer.
/// Of very many the first ones.
pub(crate) fn connections() -> Option<Vec<TcpSocket>> {
    let mut netlink = Netlink::open(Some(SOCK_DIAG)).ok()?;
    netlink.tcp_sockets(ESTABLISHED).ok()
}

/// Settings of the named interfaces of the calling thread's network namespace.
///
/// Errors: the kernel has no ethtool family (before Linux 5.6), as text.
pub(crate) fn settings(names: &[&str]) -> Result<Vec<Settings>, String> {
    let open = || -> io::Result<Ethtool> { Ethtool::open() };
    let mut ethtool =
        open().map_err(|error| format!("the kernel has no ethtool family: {error}"))?;
    Ok(names.iter().map(|name| ethtool.settings(name)).collect())
}

struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Netlink {
    /// `None` stands for NETLINK_ROUTE, whose number is 0.
    fn open(protocol: Option<Protocol>) -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            protocol,
        )?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_BOUND))?;
        Ok(Self {
            socket,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// A whole table of the kernel, whose requests begin with a header of zeros.
    fn dump(&mut self, table: u16, header_bytes: usize) -> io::Result<Vec<Vec<u8>>> {
        let header = vec![0; header_bytes];
        self.ask(&message::request(
            table,
            message::REQUEST_DUMP,
            &header,
            &[],
        ))
    }

    /// The TCP sockets in one of these states.
    fn tcp_sockets(&mut self, states: u32) -> io::Result<Vec<TcpSocket>> {
        const SOCK_DIAG_BY_FAMILY: u16 = 20;
        let mut found = Vec::new();
        for question in questions(states) {
            let flags = message::REQUEST_DUMP;
            let request = message::request(SOCK_DIAG_BY_FAMILY, flags, &question, &[]);
            let answers = self.ask(&request)?;
            found.extend(answers.iter().filter_map(|answer| tcp_socket(answer)));
        }
        Ok(found)
    }

    fn links(&mut self) -> io::Result<Vec<Link>> {
        let answers = self.dump(RTM_GETLINK, LINK_HEADER_BYTES)?;
        Ok(answers.iter().filter_map(|a| message::link(a)).collect())
    }

    /// Sends one request and returns the payload of each message of the answer.
    fn ask(&mut self, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, request, SendFlags::empty(), &kernel)?;
        let mut payloads = Vec::new();
        while payloads.len() < MAX_MESSAGES {
            let (_, length) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let datagram = &self.buffer[..length.min(BUFFER_BYTES)];
            if datagram.is_empty() {
                break;
            }
            for answer in message::answers(datagram) {
                match answer {
                    Answer::Payload { bytes, last } => {
                        payloads.push(bytes.to_vec());
                        if last {
                            return Ok(payloads);
                        }
                    }
                    Answer::Refused(number) => return Err(io::Error::from_raw_os_error(number)),
                    Answer::Done => return Ok(payloads),
                }
            }
        }
        Ok(payloads)
    }
}

struct Ethtool {
    netlink: Netlink,
    family: u16,
}

impl Ethtool {
    fn open() -> io::Result<Self> {
        const CONTROL_FAMILY: u16 = 0x10;
        const GET_FAMILY: u8 = 3;
        const FAMILY_NAME: u16 = 2;
        let mut netlink = Netlink::open(Some(GENERIC))?;
        let name = message::text_attribute(FAMILY_NAME, "ethtool");
        let fixed = [GET_FAMILY, 1, 0, 0];
        let request = message::request(CONTROL_FAMILY, message::REQUEST, &fixed, &name);
        let answers = netlink.ask(&request)?;
        let family = answers.iter().find_map(|a| message::family_id(a));
        let family = family.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { netlink, family })
    }

    /// Answer to one of the family's questions; `None` where the driver has none.
    fn ask(&mut self, command: u8, interface: &str) -> Option<Vec<u8>> {
        const HEADER: u16 = 1;
        const DEVICE_NAME: u16 = 2;
        let name = message::text_attribute(DEVICE_NAME, interface);
        let header = message::nested_attribute(HEADER, &name);
        let fixed = [command, 1, 0, 0];
        let request = message::request(self.family, message::REQUEST, &fixed, &header);
        self.netlink.ask(&request).ok()?.into_iter().next()
    }

    fn numbers(&mut self, command: u8, interface: &str) -> BTreeMap<u16, u32> {
        let payload = self.ask(command, interface);
        payload.map_or(BTreeMap::new(), |payload| message::numbers(&payload))
    }

    /// Numbers of commands and attributes: `linux/ethtool_netlink.h`.
    fn settings(&mut self, interface: &str) -> Settings {
        const LINKMODES_GET: u8 = 4;
        const FEATURES_GET: u8 = 11;
        const RINGS_GET: u8 = 15;
        const COALESCE_GET: u8 = 19;
        let modes = self.numbers(LINKMODES_GET, interface);
        let rings = self.numbers(RINGS_GET, interface);
        let coalesce = self.numbers(COALESCE_GET, interface);
        let ring = |now, most| Some((*rings.get(&now)?, *rings.get(&most)?));
        Settings {
            name: interface.to_owned(),
            features: self
                .ask(FEATURES_GET, interface)
                .and_then(|payload| message::active_features(&payload)),
            rx_ring: ring(6, 2),
            tx_ring: ring(9, 5),
            rx_coalesce_us: coalesce.get(&2).copied(),
            rx_coalesce_is_adaptive: coalesce.get(&11).map(|&on| on != 0),
            // All ones: the device does not know.
            speed_mbit_per_s: modes.get(&5).copied().filter(|&speed| speed != u32::MAX),
            duplex: match modes.get(&6) {
                Some(0) => Some("half"),
                Some(1) => Some("full"),
                _ => None,
            },
        }
    }
}
