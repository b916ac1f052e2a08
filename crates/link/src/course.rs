//! The model of a link as the course of packets that this process carries.

use crate::carrier::PacketCourse;
use crate::direction::{Direction, Properties};

/// Bytes in front of each packet that the line sends, too: an Ethernet header, as the kernel's own
/// disciplines count it.
pub const HEADER_BYTES: u64 = 14;

/// One direction, and how well it is kept.
#[derive(Debug)]
pub(crate) struct LinkCourse {
    pub(crate) direction: Direction<Vec<u8>>,
    /// Longest that a packet was taken after its time.
    pub(crate) late_max_ns: u64,
    /// Packets that the far host did not take.
    pub(crate) refused: u64,
}

impl LinkCourse {
    pub(crate) fn new(properties: Properties, seed: u64) -> Self {
        Self {
            direction: Direction::new(properties, seed),
            late_max_ns: 0,
            refused: 0,
        }
    }
}

impl PacketCourse for LinkCourse {
    fn accept(&mut self, now_ns: i64, packet: Vec<u8>) {
        let bytes = packet.len() as u64 + HEADER_BYTES;
        self.direction.accept(now_ns, bytes, packet);
    }

    fn take_due(&mut self, now_ns: i64) -> Option<Vec<u8>> {
        let due_ns = self.direction.next_due_ns()?;
        let packet = self.direction.take_due(now_ns)?;
        let late_ns = now_ns.saturating_sub(due_ns).unsigned_abs();
        self.late_max_ns = self.late_max_ns.max(late_ns);
        Some(packet)
    }

    fn next_due_ns(&self) -> Option<i64> {
        self.direction.next_due_ns()
    }

    fn written(&mut self, is_taken: bool) {
        self.refused += u64::from(!is_taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_and_refusals_are_counted() {
        let properties = Properties {
            delay_ns: 1_000,
            ..Properties::default()
        };
        let mut course = LinkCourse::new(properties, 1);
        course.accept(0, vec![0; 100]);
        course.accept(10, vec![0; 100]);
        assert_eq!(course.take_due(999), None);
        assert!(course.take_due(1_000).is_some());
        course.written(true);
        assert_eq!(course.late_max_ns, 0);
        assert!(course.take_due(1_510).is_some());
        course.written(false);
        assert_eq!((course.late_max_ns, course.refused), (500, 1));
        assert_eq!(course.direction.counts().offered_bytes, 228);
    }
}
