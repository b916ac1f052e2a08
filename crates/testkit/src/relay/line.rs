//! Orders and times the datagrams of one direction of the relay.
//!
//! Sans-I/O: datagrams go in with the time of their arrival, and come out when they are due.

use std::collections::VecDeque;

use super::script::{Fate, Narrow, Script};

/// Nanoseconds without a new datagram after which what is held back is passed on: the stream
/// has ended, and no later datagram will overtake it.
pub(super) const IDLE_NS: i64 = 300_000_000;

/// Counts of one direction, in datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrived at the relay.
    pub received: u64,
    /// Of those, the ones that the script applied to.
    pub numbered: u64,
    /// Handed to the kernel towards the other side, repetitions included.
    pub forwarded: u64,
    /// Not passed on, because of the script.
    pub dropped: u64,
    /// Repetitions made.
    pub duplicated: u64,
    /// Passed on behind later ones.
    pub held: u64,
    /// Passed on with a byte flipped.
    pub corrupted: u64,
    /// Not passed on, because the script's narrow link had no room.
    pub squeezed: u64,
    /// Refused by the kernel when they were passed on: not in the script. A test of the truth
    /// must find 0 here.
    pub refused: u64,
    /// Lost in front of the relay because it did not read fast enough: not in the script. A test
    /// of the truth must find `Some(0)` here; `None` where the system does not say.
    pub overflowed: Option<u64>,
}

/// One direction.
#[derive(Debug)]
pub(crate) struct Line {
    script: Script,
    next_number: u64,
    queue: VecDeque<(i64, Vec<u8>)>,
    held: Vec<Held>,
    last_arrival_ns: i64,
    passed: u64,
    /// Time at which the narrow link has sent everything that it took.
    free_at_ns: i64,
    last_due_ns: i64,
    pub(crate) counts: Counts,
}

/// True for a datagram of `sokudo_workload::consent`, also behind the headers of a packet.
fn is_proof(datagram: &[u8]) -> bool {
    let message = datagram.len().checked_sub(64).map(|at| &datagram[at..]);
    message.is_some_and(|message| message.starts_with(b"sokudo-c"))
}

#[derive(Debug)]
struct Held {
    to_overtake: u32,
    datagram: Vec<u8>,
}

impl Line {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            next_number: 0,
            queue: VecDeque::new(),
            held: Vec::new(),
            last_arrival_ns: 0,
            passed: 0,
            free_at_ns: 0,
            last_due_ns: 0,
            counts: Counts::default(),
        }
    }

    /// Takes a datagram that arrived at `now_ns`; times never go backwards. The proofs before a load
    /// pass apart: a script speaks of the load.
    pub(crate) fn accept(&mut self, now_ns: i64, mut datagram: Vec<u8>) {
        if is_proof(&datagram) {
            return self.enqueue(now_ns, datagram);
        }
        self.last_arrival_ns = now_ns;
        self.counts.received += 1;
        if !self.script.picks(&datagram) {
            self.enqueue(now_ns, datagram);
            return;
        }
        let fate = self.script.fate(self.next_number);
        self.next_number += 1;
        self.counts.numbered += 1;
        match fate {
            Fate::Pass => self.pass(now_ns, datagram),
            Fate::Drop => self.counts.dropped += 1,
            Fate::Duplicate(times) => {
                self.counts.duplicated += u64::from(times);
                for _ in 0..times {
                    self.enqueue(now_ns, datagram.clone());
                }
                self.pass(now_ns, datagram);
            }
            Fate::Hold(0) => self.pass(now_ns, datagram),
            Fate::Hold(to_overtake) => self.held.push(Held {
                to_overtake,
                datagram,
            }),
            Fate::Corrupt(offset) => {
                let last = datagram.len().saturating_sub(1);
                if let Some(byte) = datagram.get_mut(offset.min(last)) {
                    *byte = !*byte;
                    self.counts.corrupted += 1;
                }
                self.pass(now_ns, datagram);
            }
        }
    }

    /// The next datagram that is due at `now_ns`.
    pub(crate) fn take_due(&mut self, now_ns: i64) -> Option<Vec<u8>> {
        if !self.held.is_empty() && now_ns - self.last_arrival_ns >= IDLE_NS {
            self.release_all(now_ns);
        }
        if self
            .queue
            .front()
            .is_some_and(|(due_ns, _)| *due_ns <= now_ns)
        {
            return self.queue.pop_front().map(|(_, datagram)| datagram);
        }
        None
    }

    /// Time at which [`Line::take_due`] has something to give next, if nothing arrives before.
    pub(crate) fn next_due_ns(&self) -> Option<i64> {
        let queued = self.queue.front().map(|(due_ns, _)| *due_ns);
        let idle = (!self.held.is_empty()).then_some(self.last_arrival_ns + IDLE_NS);
        queued.into_iter().chain(idle).min()
    }

    /// Queues a numbered datagram, then each held one that has now been overtaken often enough.
    fn pass(&mut self, now_ns: i64, datagram: Vec<u8>) {
        self.enqueue(now_ns, datagram);
        for held in &mut self.held {
            held.to_overtake -= 1;
        }
        let (free, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| held.to_overtake == 0);
        self.held = held;
        self.release(now_ns, free);
    }

    fn release_all(&mut self, now_ns: i64) {
        let free = std::mem::take(&mut self.held);
        self.release(now_ns, free);
    }

    fn release(&mut self, now_ns: i64, free: Vec<Held>) {
        for held in free {
            self.counts.held += 1;
            self.enqueue(now_ns, held.datagram);
        }
    }

    fn enqueue(&mut self, now_ns: i64, datagram: Vec<u8>) {
        let leaves_ns = match self.script.narrowed() {
            None => now_ns,
            Some(narrow) => match self.squeeze(now_ns, datagram.len(), narrow) {
                Some(leaves_ns) => leaves_ns,
                None => {
                    self.counts.squeezed += 1;
                    return;
                }
            },
        };
        let due_ns = leaves_ns.saturating_add(self.script.delay_ns(self.passed));
        self.passed += 1;
        self.last_due_ns = self.last_due_ns.max(due_ns);
        self.queue.push_back((self.last_due_ns, datagram));
    }

    /// Time at which the narrow link has sent a datagram; `None` where it has no room for it.
    fn squeeze(&mut self, now_ns: i64, bytes: usize, narrow: Narrow) -> Option<i64> {
        let rate = narrow.rate_bits_per_s.max(1) as f64;
        let time_ns = |bytes: f64| (bytes * 8e9 / rate) as i64;
        let ahead_ns = (self.free_at_ns - now_ns).max(0);
        if ahead_ns + time_ns(bytes as f64) > time_ns(narrow.room_bytes as f64) {
            return None;
        }
        self.free_at_ns = now_ns + ahead_ns + time_ns(bytes as f64);
        Some(if narrow.waits {
            self.free_at_ns
        } else {
            now_ns
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Order in which `n` datagrams, one per nanosecond, come out.
    fn order(script: Script, n: u8) -> (Vec<u8>, Counts) {
        let mut line = Line::new(script);
        for number in 0..n {
            line.accept(i64::from(number), vec![number, 0]);
        }
        let mut out = Vec::new();
        let end_ns = i64::from(n) + IDLE_NS;
        while let Some(datagram) = line.take_due(end_ns) {
            out.push(datagram[0]);
        }
        assert_eq!(line.next_due_ns(), None, "something stayed inside");
        (out, line.counts)
    }

    #[test]
    fn without_rules_nothing_changes() {
        let (out, counts) = order(Script::new(), 5);
        assert_eq!(out, [0, 1, 2, 3, 4]);
        assert_eq!((counts.received, counts.numbered), (5, 5));
    }

    #[test]
    fn held_datagrams_come_behind_exactly_so_many_later_ones() {
        let (out, counts) = order(Script::new().hold([1], 3), 7);
        assert_eq!(out, [0, 2, 3, 4, 1, 5, 6]);
        assert_eq!(counts.held, 1);
    }

    #[test]
    fn dropped_datagrams_overtake_nobody() {
        let (out, _) = order(Script::new().hold([1], 2).drop_exactly([2]), 6);
        assert_eq!(out, [0, 3, 4, 1, 5]);
    }

    #[test]
    fn what_is_held_at_the_end_comes_out_once_the_stream_is_idle() {
        let (out, counts) = order(Script::new().hold([4], 9), 6);
        assert_eq!(out, [0, 1, 2, 3, 5, 4]);
        assert_eq!(counts.held, 1);
    }

    #[test]
    fn duplicates_follow_their_original() {
        let (out, counts) = order(Script::new().duplicate([1, 3]), 4);
        assert_eq!(out, [0, 1, 1, 2, 3, 3]);
        assert_eq!(counts.duplicated, 2);
    }

    #[test]
    fn damage_hits_the_byte_asked_for_or_the_last_one() {
        let mut line = Line::new(Script::new().corrupt([0, 1, 2], 1));
        for datagram in [vec![1, 2, 3], vec![1], vec![]] {
            line.accept(0, datagram);
        }
        assert_eq!(line.take_due(0), Some(vec![1, 0xfd, 3]));
        assert_eq!(line.take_due(0), Some(vec![0xfe]));
        assert_eq!(line.take_due(0), Some(vec![]));
        assert_eq!(line.counts.corrupted, 2);
    }

    #[test]
    fn a_delay_moves_everything_by_the_same_time() {
        let mut line = Line::new(Script::new().delay(Duration::from_nanos(100)));
        line.accept(5, vec![1]);
        assert_eq!(line.next_due_ns(), Some(105));
        assert_eq!(line.take_due(104), None);
        assert_eq!(line.take_due(105), Some(vec![1]));
    }

    /// Due times of `n` datagrams of 1000 bytes that arrive together at a link of 8 Mb/s, which takes
    /// 1 ms for each, and has room for three.
    fn through_a_narrow_link(waits: bool, n: usize) -> (Vec<i64>, u64) {
        let narrow = Narrow {
            rate_bits_per_s: 8_000_000,
            room_bytes: 3_000,
            waits,
        };
        let mut line = Line::new(Script::new().narrow(narrow));
        for _ in 0..n {
            line.accept(0, vec![0; 1_000]);
        }
        let mut due_ns = Vec::new();
        while let Some(next_ns) = line.next_due_ns() {
            due_ns.push(next_ns);
            assert!(line.take_due(next_ns).is_some());
        }
        (due_ns, line.counts.squeezed)
    }

    #[test]
    fn a_narrow_link_queues_or_polices() {
        let queued = through_a_narrow_link(true, 5);
        assert_eq!(queued, (vec![1_000_000, 2_000_000, 3_000_000], 2));
        assert_eq!(through_a_narrow_link(false, 5), (vec![0, 0, 0], 2));
    }

    #[test]
    fn jitter_reorders_nothing() {
        let jitter = Duration::from_nanos(1_000);
        let (out, _) = order(Script::new().seed(3).jitter(jitter), 50);
        assert_eq!(out, (0..50).collect::<Vec<u8>>());
    }

    #[test]
    fn unpicked_datagrams_pass_without_a_number() {
        let script = Script::new().drop_exactly([0]).only(|bytes| bytes[0] >= 2);
        let (out, counts) = order(script, 4);
        assert_eq!(out, [0, 1, 3]);
        assert_eq!(
            (counts.received, counts.numbered, counts.dropped),
            (4, 2, 1)
        );
    }
}
