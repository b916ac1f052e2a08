//! Layout of the question for TCP sockets, and parser of the answers.
//!
//! Source: `linux/inet_diag.h`, sock_diag(7): `inet_diag_req_v2` and `inet_diag_msg`. Addresses and ports
//! are in network order, numbers in the machine's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::netlink::message::u32_at;

const IPV4: u8 = 2;
const IPV6: u8 = 10;
const TCP: u8 = 6;
/// Bit of the state ESTABLISHED.
pub(crate) const ESTABLISHED: u32 = 1 << 1;
/// Bit of the state LISTEN.
pub(crate) const LISTENING: u32 = 1 << 10;
/// Bytes of `inet_diag_sockid`.
const SOCKET_BYTES: usize = 48;

/// One socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Its own address; of a listening one that at which it listens.
    pub(crate) address: SocketAddr,
    /// Address of the other end; zeros for a listening one.
    pub(crate) peer: SocketAddr,
    /// Connections that wait to be accepted, of a listening one.
    pub(crate) depth: u32,
    /// Connections that may wait.
    pub(crate) limit: u32,
    /// Number of the socket, as links below `/proc/PID/fd` show it.
    pub(crate) inode: u32,
}

/// The questions for all TCP sockets in one of these states, one for each family.
pub(crate) fn questions(states: u32) -> [Vec<u8>; 2] {
    [IPV4, IPV6].map(|family| {
        let mut bytes = vec![family, TCP, 0, 0];
        bytes.extend(states.to_ne_bytes());
        bytes.resize(bytes.len() + SOCKET_BYTES, 0);
        bytes
    })
}

/// A message of an answer; `None` for one that is cut off or of another family.
pub(crate) fn reading(message: &[u8]) -> Option<Reading> {
    let end = |port: usize, ip: usize| {
        let port = u16::from_be_bytes(message.get(port..port + 2)?.try_into().ok()?);
        let bytes = message.get(ip..ip + 16)?;
        let ip: IpAddr = match *message.first()? {
            IPV4 => Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[..4]).ok()?).into(),
            IPV6 => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    };
    // Of a listening socket the kernel tells its queue where others have their bytes.
    Some(Reading {
        address: end(4, 8)?,
        peer: end(6, 24)?,
        depth: u32_at(message, 56)?,
        limit: u32_at(message, 60)?,
        inode: u32_at(message, 68)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(family: u8, source: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 72];
        bytes[0] = family;
        bytes[4..6].copy_from_slice(&9080u16.to_be_bytes());
        bytes[8..8 + source.len()].copy_from_slice(source);
        bytes[6..8].copy_from_slice(&5432u16.to_be_bytes());
        bytes[24..24 + source.len()].copy_from_slice(source);
        bytes[56..60].copy_from_slice(&5u32.to_ne_bytes());
        bytes[60..64].copy_from_slice(&511u32.to_ne_bytes());
        bytes[68..72].copy_from_slice(&4711u32.to_ne_bytes());
        bytes
    }

    #[test]
    fn listeners_of_both_families_are_read() {
        let check = |family: u8, source: &[u8], address: &str| {
            let read = reading(&message(family, source)).expect("a listener");
            assert_eq!(read.address, address.parse().expect("an address"));
            assert_eq!(
                (read.peer.ip(), read.peer.port()),
                (read.address.ip(), 5432)
            );
            assert_eq!((read.depth, read.limit, read.inode), (5, 511, 4711));
        };
        check(IPV4, &[192, 0, 2, 7], "192.0.2.7:9080");
        check(IPV6, &Ipv6Addr::LOCALHOST.octets(), "[::1]:9080");
        assert_eq!(reading(&message(1, &[])), None);
        assert_eq!(reading(&message(IPV4, &[])[..60]), None);
        assert!(
            questions(LISTENING)
                .iter()
                .all(|question| question.len() == 56)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = reading(&bytes);
        }
    }
}
