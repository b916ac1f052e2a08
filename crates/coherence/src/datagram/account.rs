//! Counts of what arrived from one publisher, in total and since the last report.
//!
//! There is no message at the end, so only what lies between the lowest and the highest number that
//! arrived is known: loss at the head and at the tail of a publisher's run stays unseen, and the
//! report's `of` does not hold it.
//!
//! ```text
//! numbers   . . 3 4 . 6 | . 8 5 9 . .        | = a report was written
//! lifetime  received 6 of 7 (3 to 9)
//! now       received 3 of 4: 7, 8, 9, and 5, which the report before had counted as missing
//! ```
//!
//! An interval begins where the one before ended, so that a gap across the border is not lost
//! between two reports.

use std::net::SocketAddr;

use sokudo_load_network::datagram::sequence::{Arrival, Tracker};
use sokudo_model::Summary;
use sokudo_stats::Histogram;

use super::protocol::{Packet, SequenceReader, Width};

/// An acknowledgement older than this is invalid.
const ACK_BOUND_NS: i64 = 3_600_000_000_000;

/// Counters of one stretch of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// Distinct packets that arrived.
    pub received: u64,
    /// Packets that the sequence numbers say were sent, as far as can be known here.
    pub of: u64,
    /// Counted bytes of the distinct packets (the payload option applies).
    pub bytes: u64,
    /// Arrivals of a number that had arrived.
    pub duplicates: u64,
    /// Arrivals below a number that had arrived, first time.
    pub out_of_order: u64,
    /// Sum over those of |arrival position - sequence position|.
    pub offset_sum: u64,
    /// Arrivals too old, or too far ahead, to be classified.
    pub stale: u64,
    /// Forward jumps over at least one number.
    pub gaps: u64,
    /// Numbers jumped over.
    pub gap_packets: u64,
    /// Numbers jumped over in the largest jump.
    pub gap_packets_max: u64,
    /// Time across all jumps, nanoseconds.
    pub gap_ns: u64,
    /// Time across the longest jump, nanoseconds.
    pub gap_ns_max: u64,
    /// First arrival, nanoseconds.
    pub first_ns: Option<i64>,
    /// Last arrival, nanoseconds.
    pub last_ns: i64,
    /// Acknowledgements that came back.
    pub acks: u64,
    /// Sum of their times, nanoseconds.
    pub ack_ns: u64,
}

/// Mean of a sum over `n`; `None` when there was nothing.
pub fn mean(sum: u64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum as f64 / n as f64)
}

impl Counts {
    /// Packets known to be missing.
    pub fn missing(&self) -> u64 {
        self.of.saturating_sub(self.received)
    }

    /// Time from the first arrival to the last, nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        let elapsed = self.first_ns.map_or(0, |first| self.last_ns - first);
        u64::try_from(elapsed).unwrap_or(0)
    }

    /// Received over sent, as far as known; `None` before the first arrival.
    pub fn success_ratio(&self) -> Option<f64> {
        mean(self.received, self.of)
    }

    /// Adds another publisher's counters, for a sum over several.
    pub fn add(&mut self, other: &Counts) {
        self.received += other.received;
        self.of = self.of.saturating_add(other.of);
        self.bytes += other.bytes;
        self.duplicates += other.duplicates;
        self.out_of_order += other.out_of_order;
        self.offset_sum = self.offset_sum.saturating_add(other.offset_sum);
        self.stale += other.stale;
        self.gaps += other.gaps;
        self.gap_packets = self.gap_packets.saturating_add(other.gap_packets);
        self.gap_packets_max = self.gap_packets_max.max(other.gap_packets_max);
        self.gap_ns = self.gap_ns.saturating_add(other.gap_ns);
        self.gap_ns_max = self.gap_ns_max.max(other.gap_ns_max);
        if let Some(first_ns) = other.first_ns {
            self.last_ns = match self.first_ns {
                Some(_) => self.last_ns.max(other.last_ns),
                None => other.last_ns,
            };
            self.first_ns = Some(self.first_ns.map_or(first_ns, |own| own.min(first_ns)));
        }
        self.acks += other.acks;
        self.ack_ns = self.ack_ns.saturating_add(other.ack_ns);
    }

    /// The numbers under their catalogue names. Numbers that are unknown here are absent: the sender's
    /// own count, and loss at head and tail.
    pub fn metrics(&self) -> Summary {
        let elapsed_s = self.elapsed_ns() as f64 / 1e9;
        let timed = (elapsed_s > 0.0).then_some(elapsed_s);
        let per_second = |n: u64| timed.map(|s| n as f64 / s);
        let known = [
            ("datagram.received_packets", Some(self.received as f64)),
            ("datagram.received_bytes", Some(self.bytes as f64)),
            ("datagram.missing_packets", Some(self.missing() as f64)),
            ("datagram.duplicate_packets", Some(self.duplicates as f64)),
            (
                "datagram.out_of_order_packets",
                Some(self.out_of_order as f64),
            ),
            ("datagram.success_ratio", self.success_ratio()),
            ("datagram.loss_ratio", mean(self.missing(), self.of)),
            (
                "datagram.vendor_mean_offset_packets",
                mean(self.offset_sum, self.out_of_order),
            ),
            ("datagram.gaps", Some(self.gaps as f64)),
            (
                "datagram.gap_mean_packets",
                mean(self.gap_packets, self.gaps),
            ),
            (
                "datagram.gap_max_packets",
                (self.gaps > 0).then_some(self.gap_packets_max as f64),
            ),
            (
                "datagram.gap_mean_seconds",
                mean(self.gap_ns, self.gaps).map(|ns| ns / 1e9),
            ),
            (
                "datagram.gap_max_seconds",
                (self.gaps > 0).then_some(self.gap_ns_max as f64 / 1e9),
            ),
            ("datagram.size_bytes", mean(self.bytes, self.received)),
            ("datagram.elapsed_seconds", timed),
            (
                "datagram.delivered_packets_per_second",
                per_second(self.received),
            ),
            (
                "datagram.delivered_bytes_per_second",
                per_second(self.bytes),
            ),
        ];
        known
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// Counters since a border that is set again and again.
#[derive(Debug, Default)]
struct Window {
    counts: Counts,
    /// Lowest number that belongs to the window.
    start: u64,
}

/// Everything known of one publisher.
#[derive(Debug)]
pub struct Publisher {
    /// Its address and the port of its listener: what the reports call it.
    pub address: SocketAddr,
    /// Real source of its packets.
    pub source: SocketAddr,
    /// Round trips of acknowledgements, nanoseconds.
    pub ack_rtt: Histogram,
    numbers: SequenceReader,
    tracker: Tracker,
    lowest: u64,
    highest: u64,
    life: Counts,
    now: Window,
    log: Window,
}

impl Publisher {
    /// A publisher that has not been heard yet.
    pub fn new(address: SocketAddr, source: SocketAddr) -> Self {
        Self {
            address,
            source,
            ack_rtt: Histogram::new(),
            numbers: SequenceReader::default(),
            // Numbers begin at 1; what lies before the first arrival is set aside below.
            tracker: Tracker::new(Some(0)),
            lowest: 0,
            highest: 0,
            life: Counts::default(),
            now: Window::default(),
            log: Window::default(),
        }
    }

    /// True when a packet shows that the program at this address was started anew: it comes from
    /// another socket and its numbers begin again.
    #[inline]
    pub fn restarted(&self, packet: &Packet, source: SocketAddr) -> bool {
        source != self.source
            && self.life.received > 0
            && SequenceReader::default().read(packet.sequence) <= self.highest / 2
    }

    /// Counts one packet.
    #[inline]
    pub fn arrive(&mut self, packet: &Packet, counted_bytes: u64, now_ns: i64) {
        let number = self.numbers.read(packet.sequence);
        let last_ns = self.tracker.last_ns();
        match self.tracker.arrive(number, now_ns) {
            Arrival::Forward => {
                self.forward(number, last_ns, now_ns);
                self.count(counted_bytes, now_ns);
            }
            Arrival::OutOfOrder => {
                self.late(number);
                self.count(counted_bytes, now_ns);
            }
            Arrival::Duplicate => self.each(|counts| counts.duplicates += 1),
            Arrival::Stale => self.each(|counts| counts.stale += 1),
        }
        if let Some(ack_ns) = packet.ack_ns {
            self.acknowledged(now_ns.wrapping_sub(ack_ns));
        }
    }

    #[inline]
    fn each(&mut self, mut change: impl FnMut(&mut Counts)) {
        change(&mut self.life);
        change(&mut self.now.counts);
        change(&mut self.log.counts);
    }

    #[inline]
    fn count(&mut self, counted_bytes: u64, now_ns: i64) {
        self.each(|counts| {
            counts.received += 1;
            counts.bytes += counted_bytes;
            counts.first_ns.get_or_insert(now_ns);
            counts.last_ns = now_ns;
        });
    }

    #[inline]
    fn forward(&mut self, number: u64, last_ns: Option<i64>, now_ns: i64) {
        let Some(last_ns) = last_ns else {
            (self.lowest, self.highest) = (number, number);
            (self.now.start, self.log.start) = (number, number);
            self.each(|counts| counts.of = 1);
            return;
        };
        let ahead = number - self.highest;
        self.highest = number;
        self.each(|counts| counts.of += ahead);
        if ahead > 1 {
            let across_ns = u64::try_from(now_ns - last_ns).unwrap_or(0);
            self.each(|counts| {
                counts.gaps += 1;
                counts.gap_packets += ahead - 1;
                counts.gap_packets_max = counts.gap_packets_max.max(ahead - 1);
                counts.gap_ns += across_ns;
                counts.gap_ns_max = counts.gap_ns_max.max(across_ns);
            });
        }
    }

    #[cold]
    fn late(&mut self, number: u64) {
        if number < self.lowest {
            self.life.of += self.lowest - number;
            self.lowest = number;
        }
        for window in [&mut self.now, &mut self.log] {
            // A straggler of an earlier window was counted as missing there.
            window.counts.of += u64::from(number < window.start);
        }
        let offset = (self.life.received + self.lowest).abs_diff(number);
        self.each(|counts| {
            counts.out_of_order += 1;
            counts.offset_sum += offset;
        });
    }

    fn acknowledged(&mut self, rtt_ns: i64) {
        if (0..=ACK_BOUND_NS).contains(&rtt_ns) {
            self.ack_rtt.record(rtt_ns as u64);
            self.each(|counts| {
                counts.acks += 1;
                counts.ack_ns += rtt_ns as u64;
            });
        }
    }

    /// Since it was first heard.
    pub fn life(&self) -> &Counts {
        &self.life
    }

    /// Since the last report.
    pub fn now(&self) -> &Counts {
        &self.now.counts
    }

    /// Since the last row of the table.
    pub fn log(&self) -> &Counts {
        &self.log.counts
    }

    /// Begins the next report's interval.
    pub fn reported(&mut self) {
        self.now = Window {
            counts: Counts::default(),
            start: self.highest + 1,
        };
    }

    /// Begins the next row's interval.
    pub fn logged(&mut self) {
        self.log = Window {
            counts: Counts::default(),
            start: self.highest + 1,
        };
    }

    /// Width of its sequence numbers.
    pub fn width(&self) -> Option<Width> {
        self.numbers.width()
    }

    /// The lowest number that arrived, 0 before the first. Whatever lies below was lost, or sent
    /// before this side listened, which cannot be known.
    pub fn lowest(&self) -> u64 {
        self.lowest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::protocol::SequenceWords;
    use super::*;

    fn packet(first: u32, ack_ns: Option<i64>) -> Packet {
        Packet {
            return_port: 9999,
            send_ns: 0,
            ack_ns,
            sequence: SequenceWords {
                first,
                second: Some(7),
            },
        }
    }

    fn heard(numbers: &[u32]) -> Publisher {
        let address = ([127, 0, 0, 1], 9999).into();
        let mut publisher = Publisher::new(address, address);
        for (at, number) in (0i64..).zip(numbers) {
            publisher.arrive(&packet(*number, None), 100, at * 1_000_000);
        }
        publisher
    }

    #[test]
    fn the_picture_above_holds() {
        let mut publisher = heard(&[3, 4, 6]);
        assert_eq!((publisher.now().received, publisher.now().of), (3, 4));
        publisher.reported();
        for number in [8, 5, 9] {
            publisher.arrive(&packet(number, None), 100, 10_000_000);
        }
        assert_eq!((publisher.life().received, publisher.life().of), (6, 7));
        assert_eq!((publisher.now().received, publisher.now().of), (3, 4));
        assert_eq!(publisher.lowest(), 3);
    }

    #[test]
    fn a_gap_has_size_and_time() {
        let publisher = heard(&[1, 2, 6, 7, 9]);
        let life = publisher.life();
        assert_eq!(
            (life.gaps, life.gap_packets, life.gap_packets_max),
            (2, 4, 3)
        );
        assert_eq!((life.gap_ns, life.gap_ns_max), (2_000_000, 1_000_000));
        assert_eq!(life.elapsed_ns(), 4_000_000);
    }

    #[test]
    fn a_swap_at_the_very_start_is_not_a_loss() {
        let publisher = heard(&[2, 1, 3, 3]);
        let life = publisher.life();
        assert_eq!((life.received, life.of), (3, 3));
        assert_eq!(
            (life.out_of_order, life.offset_sum, life.duplicates),
            (1, 1, 1)
        );
    }

    #[test]
    fn impossible_acks_are_not_believed() {
        let mut publisher = heard(&[1]);
        for ack_ns in [i64::MIN, i64::MAX, 5_000_000, 1_000_000] {
            publisher.arrive(&packet(2, Some(ack_ns)), 100, 2_000_000);
        }
        assert_eq!(
            (publisher.life().acks, publisher.life().ack_ns),
            (1, 1_000_000)
        );
    }

    #[test]
    fn every_metric_is_in_the_catalogue() {
        for name in heard(&[1, 3, 2, 5]).life().metrics().keys() {
            assert!(sokudo_model::metric::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_new_program_at_the_old_address_is_noticed() {
        let publisher = heard(&[1, 2, 3, 4, 5, 6]);
        let elsewhere = ([127, 0, 0, 1], 1).into();
        assert!(publisher.restarted(&packet(1, None), elsewhere));
        assert!(!publisher.restarted(&packet(7, None), elsewhere));
        assert!(!publisher.restarted(&packet(1, None), publisher.source));
    }

    proptest! {
        /// Against the obvious way of counting; and intervals add up to the lifetime.
        #[test]
        fn agrees_with_a_set(numbers in prop::collection::vec(1u32..80, 1..150), every in 1usize..20) {
            let mut publisher = heard(&[]);
            let mut seen = BTreeSet::new();
            let mut sums = (0, 0);
            for (at, number) in numbers.iter().enumerate() {
                publisher.arrive(&packet(*number, None), 1, at as i64);
                seen.insert(*number);
                if at % every == 0 {
                    prop_assert!(publisher.now().received <= publisher.now().of);
                    sums = (sums.0 + publisher.now().received, sums.1 + publisher.now().gaps);
                    publisher.reported();
                }
            }
            let life = publisher.life();
            let (low, high) = (*seen.first().unwrap(), *seen.last().unwrap());
            prop_assert_eq!(life.received, seen.len() as u64);
            prop_assert_eq!(life.of, u64::from(high - low + 1));
            prop_assert_eq!(life.bytes, life.received);
            prop_assert_eq!(sums.0 + publisher.now().received, life.received);
            prop_assert_eq!(sums.1 + publisher.now().gaps, life.gaps);
        }
    }
}
