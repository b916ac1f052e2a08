//! The model of one direction: what becomes of each packet, and when it arrives.
//!
//! ```text
//!  accept ─► queue ─► rate ─► loss ─► delay + jitter ─► take_due
//!            full: dropped     lost: its time on the line is spent
//! ```

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sokudo_pace::Random;

use crate::loss::{Loss, Losses};

/// Bytes that are on their way behind the queue at most: a long delay without a rate has no other bound.
/// What comes beyond it is dropped as by a full queue.
pub const FLIGHT_MAX_BYTES: u64 = 256 << 20;

/// Streams of randomness of one seed: more jitter does not change which packets are lost.
const STREAM_LOSS: u64 = 0;
const STREAM_JITTER: u64 = 1;

/// Properties of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Properties {
    /// Bits per second of the line; none: a packet takes no time to send.
    pub rate_bits_per_s: Option<u64>,
    /// Bytes that may wait for the line, the packet that is being sent included. Without a rate nothing
    /// waits.
    pub queue_bytes: u64,
    /// Time from the end of sending to the arrival.
    pub delay_ns: u64,
    /// Greatest additional delay: that of each packet is drawn evenly from 0 to this.
    pub jitter_ns: u64,
    /// Whether a packet with a short additional delay may overtake others. Otherwise it waits for them.
    pub may_reorder: bool,
    /// Loss of packets.
    pub loss: Loss,
}

/// Least packets for which a queue has room where none was asked for.
const QUEUE_MIN_PACKETS: u64 = 100;
/// Bytes of a full packet with its Ethernet header.
pub const PACKET_BYTES: u64 = 1_514;

impl Properties {
    /// Bytes of a queue for this rate and delay where none was asked for: what the line sends during a
    /// round trip, which one connection needs to keep it busy, and room for 100 packets at least.
    pub fn usual_queue_bytes(rate_bits_per_s: u64, delay_ns: u64) -> u64 {
        let round_trip_s = 2.0 * delay_ns as f64 / 1e9;
        let bytes = (rate_bits_per_s as f64 / 8.0 * round_trip_s).ceil() as u64;
        bytes.max(QUEUE_MIN_PACKETS * PACKET_BYTES)
    }
}

impl Default for Properties {
    /// A line without a limit.
    fn default() -> Self {
        Self {
            rate_bits_per_s: None,
            queue_bytes: u64::MAX,
            delay_ns: 0,
            jitter_ns: 0,
            may_reorder: false,
            loss: Loss::None,
        }
    }
}

/// Fate of the packets of one direction. `offered` is the sum of `delivered`, `dropped_queue`,
/// `dropped_loss` and those that are still on their way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that arrived at the link.
    pub offered: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets that left it at the far end.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets for which the queue had no room.
    pub dropped_queue: u64,
    /// Packets that were lost behind it.
    pub dropped_loss: u64,
    /// Most bytes that waited at once.
    pub queue_max_bytes: u64,
}

/// One direction of a link, in which packets of the type `P` are.
#[derive(Debug)]
pub struct Direction<P> {
    properties: Properties,
    losses: Losses,
    jitter: Random,
    now_ns: i64,
    line: Line,
    /// Bytes behind the queue.
    flying_bytes: u64,
    last_due_ns: i64,
    next_number: u64,
    flying: BinaryHeap<Reverse<Flying<P>>>,
    counts: Counts,
}

/// The queue and the line that empties it. Nothing is thrown away by rounding: over any time, no more is
/// sent than the rate allows.
#[derive(Debug, Default)]
struct Line {
    /// Time at which everything that was taken has been sent, rounded down …
    free_ns: i64,
    /// … and the rest, in units of a nanosecond divided by the rate.
    rest: u64,
    /// End of sending and bytes of what waits, in order.
    waiting: VecDeque<(i64, u64)>,
    waiting_bytes: u64,
}

impl Line {
    /// Forgets what has been sent.
    fn advance(&mut self, now_ns: i64) {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(sent_ns, _)| *sent_ns <= now_ns) {
            self.waiting_bytes -= bytes;
        }
    }

    /// Puts a packet behind the others; gives the time at which it has been sent.
    fn send(&mut self, now_ns: i64, bytes: u64, rate_bits_per_s: u64) -> i64 {
        if self.free_ns < now_ns {
            (self.free_ns, self.rest) = (now_ns, 0);
        }
        let rate = u128::from(rate_bits_per_s.max(1));
        let time = u128::from(bytes) * 8_000_000_000 + u128::from(self.rest);
        let whole_ns = i64::try_from(time / rate).unwrap_or(i64::MAX);
        self.free_ns = self.free_ns.saturating_add(whole_ns);
        // Less than the rate, which has 64 bits.
        self.rest = (time % rate) as u64;
        let sent_ns = self.free_ns.saturating_add(i64::from(self.rest > 0));
        self.waiting.push_back((sent_ns, bytes));
        self.waiting_bytes += bytes;
        sent_ns
    }
}

/// A packet behind the queue; those that arrive first come first, and of two at once the older one.
#[derive(Debug)]
struct Flying<P> {
    due_ns: i64,
    number: u64,
    bytes: u64,
    packet: P,
}

impl<P> Flying<P> {
    fn order(&self) -> (i64, u64) {
        (self.due_ns, self.number)
    }
}

impl<P> PartialEq for Flying<P> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<P> Eq for Flying<P> {}

impl<P> PartialOrd for Flying<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Flying<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl<P> Direction<P> {
    /// An empty link. The same seed and the same packets at the same times have the same fates.
    pub fn new(properties: Properties, seed: u64) -> Self {
        Self {
            properties,
            losses: Losses::new(properties.loss, Random::new(seed, STREAM_LOSS)),
            jitter: Random::new(seed, STREAM_JITTER),
            now_ns: i64::MIN,
            line: Line::default(),
            flying_bytes: 0,
            last_due_ns: i64::MIN,
            next_number: 0,
            flying: BinaryHeap::new(),
            counts: Counts::default(),
        }
    }

    /// Takes a packet of so many bytes that arrived at `now_ns`. A time before that of the packet before
    /// counts as the same.
    pub fn accept(&mut self, now_ns: i64, bytes: u64, packet: P) {
        self.now_ns = self.now_ns.max(now_ns);
        self.counts.offered += 1;
        self.counts.offered_bytes += bytes;
        let Some(sent_ns) = self.queue(bytes) else {
            self.counts.dropped_queue += 1;
            return;
        };
        if self.losses.next_is_lost() {
            self.counts.dropped_loss += 1;
            return;
        }
        let due_ns = self.due_ns(sent_ns);
        self.flying_bytes += bytes;
        self.flying.push(Reverse(Flying {
            due_ns,
            number: self.next_number,
            bytes,
            packet,
        }));
        self.next_number += 1;
    }

    /// The next packet that has arrived at the far end by `now_ns`.
    pub fn take_due(&mut self, now_ns: i64) -> Option<P> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let Reverse(arrived) = self.flying.pop()?;
        self.flying_bytes -= arrived.bytes;
        self.counts.delivered += 1;
        self.counts.delivered_bytes += arrived.bytes;
        Some(arrived.packet)
    }

    /// Time at which the next packet arrives at the far end, if none overtakes it.
    pub fn next_due_ns(&self) -> Option<i64> {
        self.flying.peek().map(|Reverse(next)| next.due_ns)
    }

    /// Number of packets on their way.
    pub fn in_flight(&self) -> usize {
        self.flying.len()
    }

    /// Fate of the packets so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Time at which a packet has been sent; `None` when there is no room for it.
    fn queue(&mut self, bytes: u64) -> Option<i64> {
        if self.flying_bytes.saturating_add(bytes) > FLIGHT_MAX_BYTES {
            return None;
        }
        let Some(rate) = self.properties.rate_bits_per_s else {
            return Some(self.now_ns);
        };
        self.line.advance(self.now_ns);
        let waiting = self.line.waiting_bytes.saturating_add(bytes);
        if waiting > self.properties.queue_bytes {
            return None;
        }
        self.counts.queue_max_bytes = self.counts.queue_max_bytes.max(waiting);
        Some(self.line.send(self.now_ns, bytes, rate))
    }

    fn due_ns(&mut self, sent_ns: i64) -> i64 {
        let Properties {
            delay_ns,
            jitter_ns,
            may_reorder,
            ..
        } = self.properties;
        let more_ns = self.jitter.below(jitter_ns.saturating_add(1));
        let due_ns = sent_ns.saturating_add_unsigned(delay_ns.saturating_add(more_ns));
        if may_reorder {
            return due_ns;
        }
        self.last_due_ns = self.last_due_ns.max(due_ns);
        self.last_due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABIT: u64 = 1_000_000;

    /// Arrival times of packets of 1000 bytes that are all offered at 0.
    fn arrivals(properties: Properties, packets: u32) -> (Vec<(i64, u32)>, Counts) {
        let mut link = Direction::new(properties, 1);
        for packet in 0..packets {
            link.accept(0, 1_000, packet);
        }
        let mut arrived = Vec::new();
        while let Some(due_ns) = link.next_due_ns() {
            assert_eq!(link.take_due(due_ns - 1), None, "before its time");
            arrived.extend(link.take_due(due_ns).map(|packet| (due_ns, packet)));
        }
        (arrived, link.counts())
    }

    #[test]
    fn a_rate_spreads_packets_and_a_delay_moves_them() {
        let properties = Properties {
            rate_bits_per_s: Some(8 * MEGABIT),
            delay_ns: 500,
            ..Properties::default()
        };
        let (arrived, counts) = arrivals(properties, 3);
        assert_eq!(arrived, [(1_000_500, 0), (2_000_500, 1), (3_000_500, 2)]);
        assert_eq!((counts.offered, counts.delivered), (3, 3));
        assert_eq!(counts.delivered_bytes, 3_000);
    }

    #[test]
    fn what_is_left_of_a_nanosecond_is_not_kept_over_a_pause() {
        let properties = Properties {
            rate_bits_per_s: Some(3_000_000_000),
            ..Properties::default()
        };
        let mut link = Direction::new(properties, 1);
        let mut due_ns = Vec::new();
        for now_ns in [0, 100] {
            // Two and two thirds of a nanosecond.
            link.accept(now_ns, 1, ());
            due_ns.extend(link.next_due_ns());
            assert_eq!(link.take_due(i64::MAX), Some(()));
        }
        assert_eq!(due_ns, [3, 103]);
    }

    #[test]
    fn jitter_is_drawn_evenly_for_each_packet() {
        let properties = Properties {
            delay_ns: 500,
            jitter_ns: 1_000,
            ..Properties::default()
        };
        let mut link = Direction::new(properties, 1);
        let mut more_ns = Vec::new();
        for now_ns in (0..10_000_000).step_by(10_000) {
            link.accept(now_ns, 1, ());
            more_ns.extend(link.next_due_ns().map(|due_ns| due_ns - now_ns - 500));
            assert_eq!(link.take_due(i64::MAX), Some(()));
        }
        let in_quarter = |quarter: i64| {
            let range = quarter * 250..(quarter + 1) * 250;
            more_ns.iter().filter(|ns| range.contains(*ns)).count()
        };
        for quarter in 0..4 {
            let packets = in_quarter(quarter);
            assert!((200..300).contains(&packets), "{packets} of 1000");
        }
    }

    #[test]
    fn a_queue_holds_a_round_trip_unless_asked() {
        let queue = Properties::usual_queue_bytes;
        assert_eq!(queue(100 * MEGABIT, 50_000_000), 1_250_000);
        assert_eq!(queue(100 * MEGABIT, 0), 151_400);
    }

    #[test]
    fn a_full_queue_drops_what_comes_last() {
        let properties = Properties {
            rate_bits_per_s: Some(8 * MEGABIT),
            queue_bytes: 2_500,
            ..Properties::default()
        };
        let (arrived, counts) = arrivals(properties, 5);
        assert_eq!(arrived, [(1_000_000, 0), (2_000_000, 1)]);
        assert_eq!(counts.dropped_queue, 3);
        assert_eq!(counts.queue_max_bytes, 2_000);
    }

    #[test]
    fn a_queue_has_room_again_when_a_packet_has_been_sent() {
        let properties = Properties {
            rate_bits_per_s: Some(8 * MEGABIT),
            queue_bytes: 1_000,
            delay_ns: 50_000_000,
            ..Properties::default()
        };
        let mut link = Direction::new(properties, 1);
        for now_ns in [0, 999_999, 1_000_000] {
            link.accept(now_ns, 1_000, now_ns);
        }
        let mut arrived = Vec::new();
        while let Some(packet) = link.take_due(i64::MAX) {
            arrived.push(packet);
        }
        assert_eq!(arrived, [0, 1_000_000]);
    }

    #[test]
    fn a_lost_packet_has_used_the_line() {
        let properties = Properties {
            rate_bits_per_s: Some(8 * MEGABIT),
            loss: Loss::Share(0.5),
            ..Properties::default()
        };
        let (arrived, counts) = arrivals(properties, 64);
        assert!(counts.dropped_loss > 0 && !arrived.is_empty());
        for (due_ns, packet) in arrived {
            assert_eq!(due_ns, (i64::from(packet) + 1) * 1_000_000);
        }
    }

    #[test]
    fn without_a_rate_the_flight_is_bounded() {
        let properties = Properties {
            delay_ns: 1_000_000_000,
            ..Properties::default()
        };
        let mut link = Direction::new(properties, 1);
        let piece = FLIGHT_MAX_BYTES / 4;
        for _ in 0..5 {
            link.accept(0, piece, ());
        }
        assert_eq!((link.in_flight(), link.counts().dropped_queue), (4, 1));
        assert_eq!(link.take_due(1_000_000_000), Some(()));
        link.accept(1_000_000_000, piece, ());
        assert_eq!(link.in_flight(), 4);
    }
}
