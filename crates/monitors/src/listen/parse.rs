//! Layout of the question for listening sockets, and parser of the answers.
//!
//! Source: `linux/inet_diag.h`, sock_diag(7): `inet_diag_req_v2` and `inet_diag_msg`. Addresses and ports
//! are in network order, numbers in the machine's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::netlink::message::u32_at;

const IPV4: u8 = 2;
const IPV6: u8 = 10;
const TCP: u8 = 6;
/// Bit of the state LISTEN.
const LISTENING: u32 = 1 << 10;
/// Bytes of `inet_diag_sockid`.
const SOCKET_BYTES: usize = 48;

/// One listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Address at which it listens.
    pub(crate) address: SocketAddr,
    /// Connections that wait to be accepted.
    pub(crate) depth: u32,
    /// Connections that may wait.
    pub(crate) limit: u32,
    /// Number of the socket, as links below `/proc/PID/fd` show it.
    pub(crate) inode: u32,
}

/// The questions for all listening TCP sockets, one for each family.
pub(crate) fn questions() -> [Vec<u8>; 2] {
    [IPV4, IPV6].map(|family| {
        let mut bytes = vec![family, TCP, 0, 0];
        bytes.extend(LISTENING.to_ne_bytes());
        bytes.resize(bytes.len() + SOCKET_BYTES, 0);
        bytes
    })
}

/// A message of an answer; `None` for one that is cut off or of another family.
pub(crate) fn reading(message: &[u8]) -> Option<Reading> {
    let port = u16::from_be_bytes(message.get(4..6)?.try_into().ok()?);
    let source = message.get(8..24)?;
    let ip: IpAddr = match *message.first()? {
        IPV4 => Ipv4Addr::from(<[u8; 4]>::try_from(&source[..4]).ok()?).into(),
        IPV6 => Ipv6Addr::from(<[u8; 16]>::try_from(source).ok()?).into(),
        _ => return None,
    };
    // Of a listening socket the kernel tells its queue where others have their bytes.
    Some(Reading {
        address: (ip, port).into(),
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
            assert_eq!((read.depth, read.limit, read.inode), (5, 511, 4711));
        };
        check(IPV4, &[192, 0, 2, 7], "192.0.2.7:9080");
        check(IPV6, &Ipv6Addr::LOCALHOST.octets(), "[::1]:9080");
        assert_eq!(reading(&message(1, &[])), None);
        assert_eq!(reading(&message(IPV4, &[])[..60]), None);
        assert!(questions().iter().all(|question| question.len() == 56));
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = reading(&bytes);
        }
    }
}
