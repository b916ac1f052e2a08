//! Observations of one event loop about its server and the way to it.
//!
//! ```text
//! every exchange ─► answers by status, shortest wait, silences of all exchanges, users that wait longer than others
//! now and then   ─► TCP_INFO of one connection: round trips, losses, limits of the sender
//! ```
//!
//! A silence is a time in which exchanges were under way and none ended. Time in which the loop itself
//! did not run is taken off.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::TcpStream;

use serde::{Deserialize, Serialize};
use sokudo_net::tcp::info;

use crate::failure::{FailureKind, Phase};
use crate::user::Outcome;

/// Silences that are kept: the longest ones.
const MOST_SILENCES: usize = 1024;
/// Shortest silence that can be a stall, nanoseconds.
const SHORTEST_NS: u64 = 20_000_000;
/// Part of the longest silence that a stall has at least.
const ALIKE: u64 = 3;
/// Users whose waits are held against each other.
const MOST_USERS: usize = 4096;
/// Answers of a user from which its mean wait says something.
const ENOUGH_ANSWERS: u32 = 4;
/// Times the usual wait of the users from which one of them is slow.
const SLOW: f64 = 4.0;
/// Shortest difference that counts, nanoseconds.
const LEAST_SLOW_NS: f64 = 5_000_000.0;
/// Wait of the first request on a connection from which the connection counts as not served.
const UNSERVED_NS: i64 = 500_000_000;
/// Gaps between answers that are counted by length: four to each doubling.
const GAP_CLASSES: usize = 64 * 4;
/// Part of the shortest wait below which two answers cannot come one by one from the same worker.
const CLOSE: f64 = 0.5;
/// Parts of the mean gap between which a gap is even with the others.
const EVEN: std::ops::RangeInclusive<f64> = 0.75..=1.33;
/// Times the median gap from which a gap is long.
const LONG: f64 = 4.0;
/// Time between two readings of TCP_INFO, nanoseconds.
const READ_EVERY_NS: i64 = 10_000_000;

/// A number of answers and the sum of their service times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// Answers.
    pub count: u64,
    /// Nanoseconds.
    pub sum_ns: u64,
}

/// Stalls of all exchanges at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// Number of stalls.
    pub count: u64,
    /// Sum of their lengths, nanoseconds.
    pub sum_ns: u64,
    /// The longest, nanoseconds.
    pub longest_ns: u64,
    /// Mean distance between the begins of two of them, nanoseconds; 0 of fewer than two.
    pub period_ns: u64,
    /// Standard deviation of that distance over its mean.
    pub irregularity: f64,
    /// Begin of the first, since the loop's own begin, nanoseconds.
    pub first_ns: u64,
    /// Silences that are shorter than a stall and longer than a ninth of the longest.
    pub shorter: u64,
    /// Exchanges that were under way when a stall ended, of all stalls.
    pub waiting: u64,
}

/// Users whose answers take much longer than those of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Uneven {
    /// Users that were held against each other.
    pub users: u64,
    /// Of which slow.
    pub slow: u64,
    /// Mean service time of the slow ones, nanoseconds.
    pub slow_ns: u64,
    /// Median of the users' mean service times, nanoseconds.
    pub usual_ns: u64,
}

/// Times between an answer and the next, while others were under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    /// Gaps.
    pub count: u64,
    /// Of which about as long as the mean one.
    pub even: u64,
    /// Of which shorter than half of the shortest wait.
    pub close: u64,
    /// Sum of all, nanoseconds.
    pub sum_ns: u64,
    /// Of which in gaps of four times the median and more, nanoseconds.
    pub long_ns: u64,
}

/// Answers by status, of those that a rule tells apart.
pub const NOTABLE_STATUSES: [u16; 9] = [400, 401, 403, 404, 429, 500, 502, 503, 504];

/// Sums over the readings of `TCP_INFO`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Readings.
    pub readings: u64,
    /// Lowest round trip, microseconds; 0 before the first.
    pub lowest_us: u64,
    /// Sum of the smoothed round trips of all readings, microseconds.
    pub sum_us: u64,
    /// Segments with data sent between readings.
    pub sent: u64,
    /// Of which again.
    pub again: u64,
    /// Segments with data received.
    pub received: u64,
    /// Of which out of order.
    pub out_of_order: u64,
    /// Times that a segment of ours arrived out of order.
    pub reordered: u64,
    /// Time with data to send, and of it: limited by the peer's window, and by the send buffer;
    /// microseconds.
    pub busy_us: u64,
    /// See [`Way::busy_us`].
    pub window_us: u64,
    /// See [`Way::busy_us`].
    pub buffer_us: u64,
}

impl Way {
    /// Adds what another loop read.
    pub fn add(&mut self, other: &Self) {
        self.lowest_us = match (self.lowest_us, other.lowest_us) {
            (0, lowest) | (lowest, 0) => lowest,
            (one, another) => one.min(another),
        };
        for (own, more) in [
            (&mut self.readings, other.readings),
            (&mut self.sum_us, other.sum_us),
            (&mut self.sent, other.sent),
            (&mut self.again, other.again),
            (&mut self.received, other.received),
            (&mut self.out_of_order, other.out_of_order),
            (&mut self.reordered, other.reordered),
            (&mut self.busy_us, other.busy_us),
            (&mut self.window_us, other.window_us),
            (&mut self.buffer_us, other.buffer_us),
        ] {
            *own += more;
        }
    }
}

/// Observations of one event loop, the warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Answers of a status below 400.
    pub good: Timed,
    /// Answers of other statuses.
    pub bad: Timed,
    /// Answers of the [`NOTABLE_STATUSES`].
    pub notable: [u64; NOTABLE_STATUSES.len()],
    /// Shortest time from the begin of a request, on a connection that stands, to the first byte of a good
    /// answer, nanoseconds; 0 of none.
    pub shortest_wait_ns: u64,
    /// Connections whose first request was never answered, however long it waited.
    pub unserved: u64,
    /// Requests of HTTP/2 that waited because as many as the server grants were under way on their connection.
    pub held: u64,
    /// The fewest that it granted to one of these; 0 of none.
    pub granted_streams: u32,
    /// Stalls of all exchanges.
    pub stalls: Stalls,
    /// Times between answers.
    pub gaps: Gaps,
    /// Users that wait longer than others.
    pub uneven: Uneven,
    /// The way to the server.
    pub way: Way,
}

/// Cumulative counters of a connection at its latest reading.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    counters: [u64; 8],
}

/// A silence: its length and begin, nanoseconds, and the exchanges under way at its end.
type Silence = (u64, i64, u64);

/// An observer of one event loop.
pub(crate) struct Observer {
    observed: Observed,
    begun_ns: i64,
    under_way: u64,
    /// The last end of an exchange, or the begin of the only one under way.
    quiet_since_ns: i64,
    /// Time since then in which the loop did not run.
    absent_ns: u64,
    silences: BinaryHeap<Reverse<Silence>>,
    /// Gaps between answers, by length.
    gaps: Box<[u64; GAP_CLASSES]>,
    users: Vec<Timed>,
    read_at_ns: i64,
}

impl Observer {
    pub(crate) fn new() -> Self {
        Self {
            observed: Observed::default(),
            begun_ns: 0,
            under_way: 0,
            quiet_since_ns: 0,
            absent_ns: 0,
            silences: BinaryHeap::with_capacity(MOST_SILENCES + 1),
            gaps: Box::new([0; GAP_CLASSES]),
            users: Vec::new(),
            read_at_ns: 0,
        }
    }

    /// An exchange begins.
    #[inline]
    pub(crate) fn begins(&mut self, now: i64) {
        if self.begun_ns == 0 {
            self.begun_ns = now;
        }
        if self.under_way == 0 {
            (self.quiet_since_ns, self.absent_ns) = (now, 0);
        }
        self.under_way += 1;
    }

    /// A request waits, as the server grants so many at a time.
    pub(crate) fn holds(&mut self, granted: u32) {
        self.observed.held += 1;
        let fewest = &mut self.observed.granted_streams;
        *fewest = match *fewest {
            0 => granted,
            known => known.min(granted),
        };
    }

    /// The loop did not run for so long, longer than it meant to.
    pub(crate) fn was_absent(&mut self, ns: u64) {
        self.absent_ns = self.absent_ns.saturating_add(ns);
    }

    /// An exchange has ended.
    #[inline]
    pub(crate) fn ends(&mut self, outcome: &Outcome<'_>) {
        let now = outcome.end_ns;
        let silent = u64::try_from(now - self.quiet_since_ns).unwrap_or(0);
        // A silence that only a failure ends is told as that.
        if silent >= SHORTEST_NS && outcome.failure.is_none() {
            self.keep(silent.saturating_sub(self.absent_ns));
        }
        if outcome.failure.is_none() {
            let gap = silent.saturating_sub(self.absent_ns);
            self.gaps[gap_class(gap)] += 1;
        }
        (self.quiet_since_ns, self.absent_ns) = (now, 0);
        self.under_way = self.under_way.saturating_sub(1);
        let span = |from: i64, to: i64| u64::try_from(to - from).unwrap_or(0);
        if let Some(failure) = outcome.failure {
            let gave_up = matches!(failure.kind, FailureKind::TimedOut | FailureKind::Stopped);
            let waited = matches!(failure.phase, Phase::Tls | Phase::Wait);
            let long = now - outcome.connected_ns >= UNSERVED_NS;
            self.observed.unserved += u64::from(gave_up && waited && long && !outcome.reused);
            return;
        }
        let took = span(outcome.start_ns, now);
        let of = match outcome.status < 400 {
            true => &mut self.observed.good,
            false => &mut self.observed.bad,
        };
        of.count += 1;
        of.sum_ns = of.sum_ns.saturating_add(took);
        if outcome.status >= 400 {
            let place = NOTABLE_STATUSES
                .iter()
                .position(|one| *one == outcome.status);
            if let Some(place) = place {
                self.observed.notable[place] += 1;
            }
            return;
        }
        // The moment after the call that sends may be late: the thread may have lost its CPU in it.
        let from_ns = match outcome.reused {
            true => outcome.start_ns,
            false => outcome.secured_ns,
        };
        let wait = span(from_ns, outcome.first_byte_ns).max(1);
        let shortest = &mut self.observed.shortest_wait_ns;
        *shortest = if *shortest == 0 {
            wait
        } else {
            wait.min(*shortest)
        };
    }

    #[cold]
    fn keep(&mut self, length: u64) {
        if length < SHORTEST_NS {
            return;
        }
        let begin = self.quiet_since_ns;
        self.silences.push(Reverse((length, begin, self.under_way)));
        if self.silences.len() > MOST_SILENCES {
            self.silences.pop();
        }
    }

    /// A user leaves whose answers on a kept connection took so long.
    pub(crate) fn user_leaves(&mut self, spent: Timed) {
        let enough = spent.count >= u64::from(ENOUGH_ANSWERS);
        if enough && self.users.len() < MOST_USERS {
            self.users.push(spent);
        }
    }

    /// True when a connection is to be read; the next time comes later.
    #[inline]
    pub(crate) fn is_to_read(&mut self, now: i64) -> bool {
        let due = now >= self.read_at_ns;
        if due {
            self.read_at_ns = now.saturating_add(READ_EVERY_NS);
        }
        due
    }

    /// Reads the state of one connection, which was `read` before.
    pub(crate) fn read(&mut self, tcp: &TcpStream, read: &mut Reading) {
        let Ok(state) = info::read(tcp) else {
            return;
        };
        let Some(rtt) = state.rtt_us.filter(|us| *us > 0).map(u64::from) else {
            return;
        };
        let wide = |value: Option<u32>| value.map_or(0, u64::from);
        let now = [
            wide(state.data_segs_out),
            wide(state.total_retrans_segments),
            wide(state.data_segs_in),
            wide(state.rcv_ooopack),
            wide(state.reord_seen),
            state.busy_time_us.unwrap_or(0),
            state.rwnd_limited_us.unwrap_or(0),
            state.sndbuf_limited_us.unwrap_or(0),
        ];
        let way = &mut self.observed.way;
        way.readings += 1;
        way.sum_us += rtt;
        let lowest = state.min_rtt_us.map_or(rtt, u64::from).max(1);
        way.lowest_us = match way.lowest_us {
            0 => lowest,
            known => known.min(lowest),
        };
        let before = std::mem::replace(&mut read.counters, now);
        let sums = [
            &mut way.sent,
            &mut way.again,
            &mut way.received,
            &mut way.out_of_order,
            &mut way.reordered,
            &mut way.busy_us,
            &mut way.window_us,
            &mut way.buffer_us,
        ];
        for ((sum, now), before) in sums.into_iter().zip(now).zip(before) {
            *sum += now.saturating_sub(before);
        }
    }

    /// Everything that was observed.
    pub(crate) fn finish(mut self) -> Observed {
        let silences: Vec<Silence> = self.silences.drain().map(|Reverse(one)| one).collect();
        self.observed.stalls = stalls(&silences, self.begun_ns);
        self.observed.gaps = gaps(&self.gaps, self.observed.shortest_wait_ns);
        self.observed.uneven = uneven(&self.users);
        self.observed
    }
}

/// Class of a gap of this length.
#[inline]
fn gap_class(ns: u64) -> usize {
    let ns = ns.max(4);
    let octave = ns.ilog2();
    octave as usize * 4 + (ns >> (octave - 2) & 3) as usize
}

/// Middle of a class of gaps, nanoseconds.
fn gap_ns(class: usize) -> f64 {
    let part = 1.0 + (class % 4) as f64 / 4.0 + 0.125;
    2f64.powi((class / 4) as i32) * part
}

/// What the gaps by length say, beside the shortest wait for an answer.
fn gaps(classes: &[u64; GAP_CLASSES], shortest_ns: u64) -> Gaps {
    let count: u64 = classes.iter().sum();
    let all = || {
        classes
            .iter()
            .enumerate()
            .map(|(class, n)| (gap_ns(class), *n))
    };
    let time = |from_ns: f64| {
        all()
            .filter(|(ns, _)| *ns >= from_ns)
            .map(|(ns, n)| ns * n as f64)
            .sum::<f64>()
    };
    let number =
        |within: &dyn Fn(f64) -> bool| all().filter(|(ns, _)| within(*ns)).map(|(_, n)| n).sum();
    let sum_ns = time(0.0);
    let mean_ns = sum_ns / count.max(1) as f64;
    let mut before = 0;
    let median = all().find(|(_, n)| {
        before += n;
        before * 2 >= count
    });
    let median_ns = median.map_or(0.0, |(ns, _)| ns);
    Gaps {
        count,
        even: number(&|ns| EVEN.contains(&(ns / mean_ns))),
        close: number(&|ns| ns < shortest_ns as f64 * CLOSE),
        sum_ns: sum_ns as u64,
        long_ns: time(median_ns * LONG) as u64,
    }
}

/// The silences that are about as long as the longest.
fn stalls(silences: &[Silence], begun_ns: i64) -> Stalls {
    let Some(longest_ns) = silences.iter().map(|(length, _, _)| *length).max() else {
        return Stalls::default();
    };
    let is_stall = |(length, _, _): &&Silence| *length >= longest_ns / ALIKE;
    let mut own: Vec<Silence> = silences.iter().filter(is_stall).copied().collect();
    own.sort_unstable_by_key(|(_, begin, _)| *begin);
    let least = longest_ns / ALIKE / ALIKE;
    let shorter = silences
        .iter()
        .filter(|one| !is_stall(one) && one.0 >= least);
    let distances: Vec<f64> = own
        .windows(2)
        .map(|two| (two[1].1 - two[0].1) as f64)
        .collect();
    let n = distances.len().max(1) as f64;
    let mean = distances.iter().sum::<f64>() / n;
    let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n;
    Stalls {
        count: own.len() as u64,
        sum_ns: own.iter().map(|(length, _, _)| *length).sum(),
        longest_ns,
        period_ns: mean as u64,
        irregularity: if mean > 0.0 {
            variance.sqrt() / mean
        } else {
            0.0
        },
        first_ns: own
            .first()
            .map_or(0, |one| u64::try_from(one.1 - begun_ns).unwrap_or(0)),
        shorter: shorter.count() as u64,
        waiting: own.iter().map(|(_, _, waiting)| *waiting).sum(),
    }
}

/// The users whose answers took much longer than those of the user in the middle.
fn uneven(users: &[Timed]) -> Uneven {
    let mut means: Vec<f64> = users
        .iter()
        .map(|one| one.sum_ns as f64 / one.count.max(1) as f64)
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let Some(usual) = means.get(means.len() / 2).copied() else {
        return Uneven::default();
    };
    let is_slow = |mean: &&f64| **mean >= usual * SLOW && **mean - usual >= LEAST_SLOW_NS;
    let slow: Vec<f64> = means.iter().filter(is_slow).copied().collect();
    Uneven {
        users: means.len() as u64,
        slow: slow.len() as u64,
        slow_ns: (slow.iter().sum::<f64>() / slow.len().max(1) as f64) as u64,
        usual_ns: usual as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn gaps_tell_a_pace_from_a_pool_and_from_pauses() {
        let of = |lengths: &[(u64, u64)], shortest_us: u64| {
            let mut classes = [0; GAP_CLASSES];
            for (us, n) in lengths {
                classes[gap_class(us * 1_000)] += n;
            }
            gaps(&classes, shortest_us * 1_000)
        };
        // One answer each 5 ms, by a timer of whole milliseconds.
        let paced = of(&[(4_800, 30), (5_000, 50), (5_200, 20)], 500);
        assert_eq!((paced.even, paced.close, paced.long_ns), (100, 0, 0));
        // Three workers of 10 ms each.
        let pool = of(&[(200, 60), (9_500, 40)], 10_000);
        assert_eq!(pool.close, 60);
        // 30 ms of work in each tenth of a second, 3 ms for an answer.
        let quota = of(&[(3_000, 90), (73_000, 10)], 3_000);
        assert_eq!((quota.even, quota.close), (0, 0));
        assert!(quota.long_ns * 10 > quota.sum_ns * 6, "{quota:?}");
        assert_eq!(of(&[], 0), Gaps::default());
    }

    #[test]
    fn a_class_of_gaps_holds_what_falls_into_it() {
        for ns in [0, 1, 4, 5, 7, 8, 1_000, 123_456_789, u64::MAX] {
            let middle = gap_ns(gap_class(ns));
            let asked = ns.max(4) as f64;
            assert!((middle / asked - 1.0).abs() <= 0.13, "{ns}: {middle}");
        }
    }

    #[test]
    fn stalls_are_the_silences_as_long_as_the_longest() {
        let at = |length: u64, begin_ms: i64| (length * MS, begin_ms * MS as i64, 16);
        let silences = [
            at(250, 3_000),
            at(260, 1_000),
            at(240, 2_000),
            at(25, 2_500),
        ];
        let stalls = stalls(&silences, 500 * MS as i64);
        assert_eq!((stalls.count, stalls.longest_ns), (3, 260 * MS));
        assert_eq!((stalls.period_ns, stalls.first_ns), (1_000 * MS, 500 * MS));
        assert_eq!((stalls.shorter, stalls.waiting), (0, 48));
        assert!(stalls.irregularity < 1e-9);
        assert_eq!(super::stalls(&[], 0), Stalls::default());
    }

    #[test]
    fn users_that_wait_longer_than_the_others_are_counted() {
        let of = |mean: u64| Timed {
            count: 10,
            sum_ns: 10 * mean * MS,
        };
        let users = [of(2), of(3), of(100), of(2), of(2), of(90)];
        let told = uneven(&users);
        assert_eq!((told.users, told.slow), (6, 2));
        assert_eq!((told.slow_ns, told.usual_ns), (95 * MS, 3 * MS));
        assert_eq!(uneven(&[of(2), of(3), of(4)]).slow, 0);
        assert_eq!(uneven(&[]), Uneven::default());
    }
}
