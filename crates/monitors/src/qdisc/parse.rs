//! One queueing discipline of the kernel's table, from an RTM_NEWQDISC message.
//!
//! ```text
//!  family:u8 pad:u8 pad:u16 │ interface:i32 │ handle:u32 │ parent:u32 │ info:u32 │ attributes
//! ```
//!
//! Sources: `linux/rtnetlink.h`, `linux/gen_stats.h`, `linux/pkt_sched.h`.

use crate::netlink::message::{attributes, text, u32_at};

const HEADER_BYTES: usize = 20;

/// Parent of the discipline that a device sends through.
const TC_H_ROOT: u32 = u32::MAX;
/// Parent of the discipline that what a device has received passes.
const TC_H_INGRESS: u32 = 0xffff_fff1;

/// Counters of a discipline at the root or the entrance of a device.
///
/// Disciplines below the root (of one class, or of one hardware queue) are left out: the root counts
/// what they hold and drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Number of the interface.
    pub(crate) interface: u32,
    /// Number that the discipline was given; another one says that it was replaced.
    pub(crate) handle: u32,
    /// Kind, as in `tc qdisc`: `fq_codel`, `tbf`, `ingress`.
    pub(crate) kind: String,
    pub(crate) backlog_bytes: u32,
    pub(crate) backlog_packets: u32,
    pub(crate) drops: u32,
    pub(crate) requeues: u32,
    pub(crate) overlimits: u32,
}

/// Reads the payload of a message; `None` for a discipline that is not wanted or not counted.
pub(crate) fn reading(payload: &[u8]) -> Option<Reading> {
    const TCA_KIND: u16 = 1;
    const TCA_STATS2: u16 = 7;
    const TCA_STATS_QUEUE: u16 = 3;
    let parent = u32_at(payload, 12)?;
    if parent != TC_H_ROOT && parent != TC_H_INGRESS {
        return None;
    }
    let find = |kind| {
        let all = attributes(payload.get(HEADER_BYTES..)?);
        all.into_iter().find(|a| a.0 == kind).map(|a| a.1)
    };
    let (_, queue) = attributes(find(TCA_STATS2)?).find(|a| a.0 == TCA_STATS_QUEUE)?;
    Some(Reading {
        interface: u32_at(payload, 4)?,
        handle: u32_at(payload, 8)?,
        kind: text(find(TCA_KIND)?),
        backlog_packets: u32_at(queue, 0)?,
        backlog_bytes: u32_at(queue, 4)?,
        drops: u32_at(queue, 8)?,
        requeues: u32_at(queue, 12)?,
        overlimits: u32_at(queue, 16)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = ((payload.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(parent: u32) -> Vec<u8> {
        let words =
            |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_ne_bytes()).collect() };
        // What this kernel does not tell: bytes and packets that were sent.
        let basic = attribute(1, &[0; 16]);
        let queue = attribute(3, &words(&[7, 9_800, 12, 3, 40]));
        let statistics = [basic, queue].concat();
        [
            words(&[0, 4, 0x8001_0000, parent, 2]),
            attribute(1, b"tbf\0"),
            attribute(7, &statistics),
        ]
        .concat()
    }

    #[test]
    fn the_root_of_a_device_is_read() {
        let wanted = Reading {
            interface: 4,
            handle: 0x8001_0000,
            kind: "tbf".into(),
            backlog_bytes: 9_800,
            backlog_packets: 7,
            drops: 12,
            requeues: 3,
            overlimits: 40,
        };
        assert_eq!(reading(&message(TC_H_ROOT)), Some(wanted.clone()));
        assert_eq!(reading(&message(TC_H_INGRESS)), Some(wanted));
    }

    #[test]
    fn what_stands_below_the_root_is_left_out() {
        assert_eq!(reading(&message(0x8001_0001)), None);
        assert_eq!(reading(&message(TC_H_ROOT)[..60]), None);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(at in 0usize..90, byte in any::<u8>(), length in 0usize..90) {
            let mut bytes = message(TC_H_ROOT);
            if let Some(slot) = bytes.get_mut(at) {
                *slot = byte;
            }
            bytes.truncate(length);
            let _ = reading(&bytes);
        }
    }
}
