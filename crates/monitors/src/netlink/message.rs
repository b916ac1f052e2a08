//! Layout of netlink requests, and parser of the answers.
//!
//! ```text
//!  length:u32 type:u16 flags:u16 sequence:u32 port:u32 │ fixed header │ attribute attribute …
//!                                                       attribute = length:u16 type:u16 payload, padded to 4
//! ```
//!
//! Bytes only; numbers are in the machine's own order. Sources: netlink(7), rtnetlink(7),
//! `linux/genetlink.h`, `linux/ethtool_netlink.h`. Addresses of interfaces are not read.

use std::collections::BTreeMap;

pub(super) const REQUEST: u16 = 0x1;
pub(super) const REQUEST_DUMP: u16 = 0x1 | 0x300;

const HEADER_BYTES: usize = 16;
const TYPE_ERROR: u16 = 2;
const TYPE_DONE: u16 = 3;
const FLAG_MULTI: u16 = 0x2;
/// The upper two bits of an attribute's type say nested and byte order.
const ATTRIBUTE_TYPE: u16 = 0x3fff;
const NESTED: u16 = 0x8000;

/// More features than this are not listed.
const MAX_FEATURES: usize = 256;

/// Builds a request: `fixed` is the header of the family, then come attributes.
pub(super) fn request(kind: u16, flags: u16, fixed: &[u8], attributes: &[u8]) -> Vec<u8> {
    let length = HEADER_BYTES + fixed.len() + attributes.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((length as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]); // sequence and port: one request at a time, the kernel fills the port
    bytes.extend(fixed);
    bytes.extend(attributes);
    bytes
}

/// One attribute with a text that ends in a zero byte.
pub(super) fn text_attribute(kind: u16, text: &str) -> Vec<u8> {
    let mut payload = text.as_bytes().to_vec();
    payload.push(0);
    attribute(kind, &payload)
}

/// One attribute that holds others.
pub(super) fn nested_attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, payload)
}

fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = ((payload.len() + 4) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// One message of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// Bytes after the message header; `last` when no other message belongs to the answer.
    Payload { bytes: &'a [u8], last: bool },
    /// The kernel refused, with this error number.
    Refused(i32),
    /// Nothing more to come.
    Done,
}

/// Splits one datagram from the kernel into messages; stops at the first one that is cut off.
pub(super) fn answers(mut bytes: &[u8]) -> impl Iterator<Item = Answer<'_>> {
    std::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        let message = bytes.get(..length).filter(|m| m.len() >= HEADER_BYTES)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        let body = &message[HEADER_BYTES..];
        Some(match u16_at(message, 4)? {
            TYPE_ERROR => match u32_at(body, 0).map_or(0, |number| number as i32) {
                0 => Answer::Done,
                number => Answer::Refused(number.saturating_neg()),
            },
            TYPE_DONE => Answer::Done,
            _ => Answer::Payload {
                bytes: body,
                last: u16_at(message, 6)? & FLAG_MULTI == 0,
            },
        })
    })
}

/// Splits attributes; stops at the first one that is cut off.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let attribute = bytes.get(..length).filter(|a| a.len() >= 4)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((u16_at(attribute, 2)? & ATTRIBUTE_TYPE, &attribute[4..]))
    })
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Entry of the kernel's link table about one interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// Number of the interface in its namespace.
    pub(crate) index: u32,
    /// Name as in `ip link`.
    pub(crate) name: String,
    /// Set up by the operator.
    pub(crate) is_up: bool,
    /// Whether its link is there, too.
    pub(crate) is_running: bool,
    /// Largest IP packet, bytes.
    pub(crate) mtu_bytes: Option<u32>,
    /// Queueing discipline at the root.
    pub(crate) qdisc: Option<String>,
    /// Packets that the queueing discipline holds by default.
    pub(crate) tx_queue_packets: Option<u32>,
    /// Kind of a virtual interface: `veth`, `bridge`, `vlan`, …
    pub(crate) kind: Option<String>,
    /// Send queues.
    pub(crate) tx_queues: Option<u32>,
    /// Receive queues.
    pub(crate) rx_queues: Option<u32>,
    /// Largest packet that the stack hands down to be cut, bytes.
    pub(crate) gso_max_bytes: Option<u32>,
    /// Largest packet that the stack merges on receive, bytes.
    pub(crate) gro_max_bytes: Option<u32>,
}

/// Reads the payload of an RTM_NEWLINK message; `None` when it has no name.
pub(super) fn link(payload: &[u8]) -> Option<Link> {
    const FIXED_BYTES: usize = 16;
    const IFF_UP: u32 = 1;
    const IFF_RUNNING: u32 = 0x40;
    let mut link = Link {
        index: u32_at(payload, 4)?,
        is_up: u32_at(payload, 8)? & IFF_UP != 0,
        is_running: u32_at(payload, 8)? & IFF_RUNNING != 0,
        ..Link::default()
    };
    for (kind, value) in attributes(payload.get(FIXED_BYTES..)?) {
        let number = u32_at(value, 0);
        match kind {
            3 => link.name = text(value),
            4 => link.mtu_bytes = number,
            6 => link.qdisc = Some(text(value)),
            13 => link.tx_queue_packets = number,
            18 => link.kind = attributes(value).find(|a| a.0 == 1).map(|a| text(a.1)),
            31 => link.tx_queues = number,
            32 => link.rx_queues = number,
            41 => link.gso_max_bytes = number,
            58 => link.gro_max_bytes = number,
            _ => {}
        }
    }
    (!link.name.is_empty()).then_some(link)
}

/// Bytes of the header of generic netlink: command, version, two unused.
const GENERIC_BYTES: usize = 4;

/// Reads the number of a family from the answer to CTRL_CMD_GETFAMILY.
pub(super) fn family_id(payload: &[u8]) -> Option<u16> {
    const CTRL_ATTR_FAMILY_ID: u16 = 1;
    attributes(payload.get(GENERIC_BYTES..)?)
        .find(|a| a.0 == CTRL_ATTR_FAMILY_ID)
        .and_then(|a| u16_at(a.1, 0))
}

/// Reads the names of the features that are on from the answer to ETHTOOL_MSG_FEATURES_GET.
pub(super) fn active_features(payload: &[u8]) -> Option<Vec<String>> {
    const FEATURES_ACTIVE: u16 = 4;
    const BITSET_BITS: u16 = 3;
    const BIT_NAME: u16 = 2;
    let (_, set) = attributes(payload.get(GENERIC_BYTES..)?).find(|a| a.0 == FEATURES_ACTIVE)?;
    let (_, bits) = attributes(set).find(|a| a.0 == BITSET_BITS)?;
    let mut names: Vec<String> = attributes(bits)
        .filter_map(|(_, bit)| attributes(bit).find(|a| a.0 == BIT_NAME))
        .map(|(_, name)| text(name))
        .take(MAX_FEATURES)
        .collect();
    names.sort_unstable();
    Some(names)
}

/// Reads the numbers of an answer of the ethtool family, by attribute; of one byte or four.
pub(super) fn numbers(payload: &[u8]) -> BTreeMap<u16, u32> {
    attributes(payload.get(GENERIC_BYTES..).unwrap_or(&[]))
        .filter_map(|(kind, value)| match value.len() {
            1 => Some((kind, u32::from(value[0]))),
            4 => Some((kind, u32_at(value, 0)?)),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one_link() -> Vec<u8> {
        let mut payload = vec![0; 16];
        payload[8] = 1;
        payload.extend(text_attribute(3, "veth0"));
        payload.extend(attribute(4, &1400u32.to_ne_bytes()));
        payload.extend(text_attribute(6, "fq_codel"));
        payload.extend(nested_attribute(18, &text_attribute(1, "veth")));
        payload
    }

    #[test]
    fn a_link_is_read_back() {
        let bytes = request(16, FLAG_MULTI, &one_link(), &[]);
        let answer = answers(&bytes).next();
        let Some(Answer::Payload { bytes, last: false }) = answer else {
            panic!("{answer:?}");
        };
        let link = link(bytes).expect("has a name");
        assert_eq!((link.name.as_str(), link.is_up), ("veth0", true));
        assert_eq!(link.mtu_bytes, Some(1400));
        assert_eq!(link.qdisc.as_deref(), Some("fq_codel"));
        assert_eq!(link.kind.as_deref(), Some("veth"));
        assert_eq!(link.tx_queues, None);
    }

    #[test]
    fn errors_and_the_end_are_told_apart() {
        let refused = request(TYPE_ERROR, 0, &(-95i32).to_ne_bytes(), &[]);
        assert_eq!(answers(&refused).next(), Some(Answer::Refused(95)));
        let mut two = request(TYPE_ERROR, 0, &0i32.to_ne_bytes(), &[]);
        two.extend(request(TYPE_DONE, FLAG_MULTI, &[0; 4], &[]));
        assert_eq!(
            answers(&two).collect::<Vec<_>>(),
            [Answer::Done, Answer::Done]
        );
        assert_eq!(answers(&refused[..12]).next(), None);
    }

    #[test]
    fn features_that_are_on_are_listed_by_name() {
        let bit = |name| nested_attribute(1, &text_attribute(2, name));
        let bits: Vec<u8> = [bit("rx-gro"), bit("highdma")].concat();
        let set = nested_attribute(4, &nested_attribute(3, &bits));
        let payload = [vec![0; GENERIC_BYTES], set].concat();
        let names = active_features(&payload).expect("has the set");
        assert_eq!(names, ["highdma", "rx-gro"]);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for answer in answers(&bytes).take(100) {
                if let Answer::Payload { bytes, .. } = answer {
                    let _ = link(bytes);
                }
            }
            let _ = link(&bytes);
            let _ = (family_id(&bytes), active_features(&bytes), numbers(&bytes));
        }

        #[test]
        fn a_damaged_link_never_panics(at in 0usize..80, byte in any::<u8>()) {
            let mut payload = one_link();
            if let Some(slot) = payload.get_mut(at) {
                *slot = byte;
            }
            let _ = link(&payload);
        }
    }
}
