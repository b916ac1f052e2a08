//! Counts and times of all buses, for the present interval and since the beginning.
//!
//! Threads add to one [`Meter`] per batch, and keep their own [`Book`] of times, which they hand
//! over now and then. [`Windows`] makes reports of both; time is an argument.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sokudo_stats::Histogram;

use super::options::Warmup;

/// Time for which a thread keeps its times to itself, nanoseconds.
const HAND_OVER_NS: i64 = 200_000_000;

/// Longest time that counts as valid, nanoseconds: one hour.
const LONGEST_NS: i64 = 3_600_000_000_000;

/// Subject of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Messages handed over for sending, responses included.
    OutMessages,
    /// Their bytes, headers included.
    OutBytes,
    /// Messages that arrived.
    InMessages,
    /// Their bytes.
    InBytes,
    /// Responses that arrived.
    Responses,
    /// Messages whose receipts came back.
    Receipts,
    /// Nanoseconds that transmitters waited for a peer that takes messages.
    OutWaitNs,
    /// Number of times that they had to.
    OutEvents,
    /// Nanoseconds that readers waited for receive threads.
    InWaitNs,
    /// Number of times that they had to.
    InEvents,
    /// Impossible events: responses that nothing waits for, impossible times.
    Errors,
    /// Connections that were made.
    Connects,
}

const COUNTS: usize = Count::Connects as usize + 1;

/// Counts of all threads.
#[derive(Debug, Default)]
pub struct Meter([AtomicU64; COUNTS]);

impl Meter {
    /// Adds to one count.
    #[inline]
    pub fn add(&self, count: Count, n: u64) {
        if n > 0 {
            self.0[count as usize].fetch_add(n, Ordering::Relaxed);
        }
    }

    /// All counts.
    pub fn totals(&self) -> Totals {
        Totals(std::array::from_fn(|i| self.0[i].load(Ordering::Relaxed)))
    }
}

/// Counts at one moment, or between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals([u64; COUNTS]);

impl Totals {
    /// One of them.
    pub fn get(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    /// Both together.
    pub fn plus(&self, other: &Totals) -> Totals {
        Totals(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    /// Counts since `earlier`.
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals(std::array::from_fn(|i| {
            self.0[i].saturating_sub(earlier.0[i])
        }))
    }
}

/// Times that were measured, nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Book {
    /// From the sending of a timed message to its response.
    pub response: Histogram,
    /// The same from the moment at which its transmitter was ready to send it, or by its rate
    /// should have.
    pub corrected: Histogram,
    /// From the sending of a timed message to its receipt.
    pub receipt: Histogram,
}

impl Book {
    /// Notes a response after `took_ns`, sent `waited_ns` later than it should have been. False
    /// when no such time can be.
    #[inline]
    pub fn responded(&mut self, took_ns: i64, waited_ns: u64) -> bool {
        if !(0..=LONGEST_NS).contains(&took_ns) {
            return false;
        }
        self.response.record(took_ns as u64);
        self.corrected
            .record((took_ns as u64).saturating_add(waited_ns));
        true
    }

    /// Adds what another book holds.
    pub fn merge(&mut self, other: &Book) {
        self.response.merge(&other.response);
        self.corrected.merge(&other.corrected);
        self.receipt.merge(&other.receipt);
    }

    fn is_empty(&self) -> bool {
        self.response.is_empty() && self.receipt.is_empty()
    }

    fn clear(&mut self) {
        self.response.clear();
        self.corrected.clear();
        self.receipt.clear();
    }
}

/// Place in which threads leave their books for the reports.
pub type Mailbox = Mutex<Book>;

/// One thread's book.
#[derive(Debug, Default)]
pub struct OwnBook {
    /// Its book.
    pub book: Book,
    due_ns: i64,
}

impl OwnBook {
    /// Hands over what has collected, when it is time and the mailbox is free: the thread that
    /// measures does not wait.
    #[inline]
    pub fn hand_over_if_due(&mut self, now_ns: i64, to: &Mailbox) {
        if now_ns >= self.due_ns && !self.book.is_empty() {
            self.due_ns = now_ns + HAND_OVER_NS;
            if let Ok(mut mailbox) = to.try_lock() {
                mailbox.merge(&self.book);
                self.book.clear();
            }
        }
    }

    /// Hands over everything at the end.
    pub fn close(&mut self, to: &Mailbox) {
        if let Ok(mut mailbox) = to.lock() {
            mailbox.merge(&self.book);
            self.book.clear();
        }
    }
}

/// Values at the moment of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gauges {
    /// Connections.
    pub connections: u64,
    /// Messages sent without receipt yet; `None` without receipts.
    pub unreceipted: Option<u64>,
    /// Bytes received and not dealt with.
    pub in_bytes: u64,
    /// Transmitters.
    pub transmitters: u64,
    /// Readers that can wait for receive threads.
    pub readers: u64,
}

/// Counts and times of a stretch of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// Its length, nanoseconds.
    pub elapsed_ns: u64,
    /// The counts.
    pub totals: Totals,
    /// Measured times.
    pub book: Book,
    /// Bytes sent without receipt: at the end, for a lifetime the mean over its reports.
    pub out_backlog_bytes: Option<f64>,
    /// Bytes received and not dealt with: at the end, for a lifetime the mean over its reports.
    pub in_backlog_bytes: f64,
    /// Gauges at the end.
    pub gauges: Gauges,
}

impl Block {
    /// Per second of the stretch.
    pub fn per_second(&self, count: Count) -> f64 {
        self.totals.get(count) as f64 / (self.elapsed_ns.max(1) as f64 / 1e9)
    }

    /// Share of the transmitters' time that they waited; `None` without transmitters.
    pub fn out_ratio(&self) -> Option<f64> {
        let of = self.gauges.transmitters * self.elapsed_ns;
        (of > 0).then(|| (self.totals.get(Count::OutWaitNs) as f64 / of as f64).min(1.0))
    }

    /// Share of the readers' time that they waited for receive threads.
    pub fn in_ratio(&self) -> f64 {
        let of = self.gauges.readers * self.elapsed_ns;
        match of {
            0 => 0.0,
            of => (self.totals.get(Count::InWaitNs) as f64 / of as f64).min(1.0),
        }
    }

    /// The vendor's `effective`: the mean response divided by the share of time that transmitters
    /// did not wait, in whole percents as there. `None` when they only waited.
    pub fn effective_ns(&self) -> Option<f64> {
        let waited = (self.out_ratio().unwrap_or(0.0) * 100.0).floor() / 100.0;
        (waited < 1.0).then(|| self.book.response.summary(1.0).mean / (1.0 - waited))
    }
}

/// Since the last report, and since the first connection or the end of warm-up.
#[derive(Debug, Default)]
pub struct Windows {
    /// Begin of the statistics, after warm-up.
    life_from_ns: Option<i64>,
    life_base: Totals,
    life_book: Book,
    now_from_ns: i64,
    now_base: Totals,
    /// Sums over the reports of a life, for means.
    reports: u64,
    out_backlog_sum: f64,
    in_backlog_sum: f64,
    /// Time at which the first connection was seen, while warming up.
    warming_from_ns: Option<i64>,
    /// Counts of earlier lives. A connection may have carried messages before it is first seen
    /// here: they belong to the life that begins with it.
    earlier: Totals,
}

impl Windows {
    /// Begins or goes on: called often, says when there is something to report about.
    pub fn tend(
        &mut self,
        now_ns: i64,
        warmup: Warmup,
        connections: u64,
        meter: &Meter,
        mailbox: &Mailbox,
    ) -> bool {
        if connections == 0 {
            return false;
        }
        if self.life_from_ns.is_some() {
            return true;
        }
        let totals = meter.totals();
        let from_ns = *self.warming_from_ns.get_or_insert(now_ns);
        let moved = totals.since(&self.earlier);
        let warm = match warmup {
            Warmup::Time(ns) => (now_ns - from_ns) as u64 >= ns,
            Warmup::Messages(n) => {
                moved
                    .get(Count::OutMessages)
                    .max(moved.get(Count::InMessages))
                    >= n
            }
        };
        if warm {
            // Without warm-up nothing since the first connection is left out.
            let nothing = matches!(warmup, Warmup::Time(0) | Warmup::Messages(0));
            let base = if nothing { self.earlier } else { totals };
            (self.life_base, self.now_base) = (base, base);
            (self.life_from_ns, self.now_from_ns) = (Some(now_ns), now_ns);
            if let Ok(mut book) = mailbox.lock()
                && !nothing
            {
                book.clear();
            }
        }
        warm
    }

    /// Begin of the current interval.
    pub fn since_ns(&self) -> i64 {
        self.now_from_ns
    }

    /// Ends an interval: the stretch since the last report, and the life.
    pub fn report(
        &mut self,
        now_ns: i64,
        gauges: Gauges,
        meter: &Meter,
        mailbox: &Mailbox,
    ) -> (Block, Block) {
        let totals = meter.totals();
        let book = std::mem::take(&mut *mailbox.lock().unwrap_or_else(PoisonError::into_inner));
        self.life_book.merge(&book);
        let life_totals = totals.since(&self.life_base);
        let mean_bytes = match life_totals.get(Count::OutMessages) {
            0 => 0.0,
            n => life_totals.get(Count::OutBytes) as f64 / n as f64,
        };
        let out_backlog = gauges.unreceipted.map(|n| n as f64 * mean_bytes);
        self.reports += 1;
        self.out_backlog_sum += out_backlog.unwrap_or(0.0);
        self.in_backlog_sum += gauges.in_bytes as f64;
        let elapsed = |from_ns: i64| u64::try_from(now_ns - from_ns).unwrap_or(0);
        let now = Block {
            elapsed_ns: elapsed(self.now_from_ns),
            totals: totals.since(&self.now_base),
            book,
            out_backlog_bytes: out_backlog,
            in_backlog_bytes: gauges.in_bytes as f64,
            gauges,
        };
        let life = Block {
            elapsed_ns: elapsed(self.life_from_ns.unwrap_or(self.now_from_ns)),
            totals: life_totals,
            book: self.life_book.clone(),
            out_backlog_bytes: out_backlog.map(|_| self.out_backlog_sum / self.reports as f64),
            in_backlog_bytes: self.in_backlog_sum / self.reports as f64,
            gauges,
        };
        (self.now_from_ns, self.now_base) = (now_ns, totals);
        (now, life)
    }

    /// All connections are gone, and the last report has been made: the next connection begins a
    /// new life.
    pub fn restart(&mut self) {
        *self = Windows {
            earlier: self.now_base,
            ..Windows::default()
        };
    }

    /// True when a life has begun.
    pub fn lives(&self) -> bool {
        self.life_from_ns.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn gauges() -> Gauges {
        Gauges {
            connections: 1,
            unreceipted: Some(10),
            transmitters: 1,
            ..Gauges::default()
        }
    }

    #[test]
    fn intervals_add_up_to_the_life() {
        let (meter, mailbox) = (Meter::default(), Mailbox::default());
        let mut windows = Windows::default();
        assert!(!windows.tend(0, Warmup::Time(0), 0, &meter, &mailbox));
        assert!(windows.tend(SECOND, Warmup::Time(0), 1, &meter, &mailbox));
        meter.add(Count::OutMessages, 100);
        meter.add(Count::OutBytes, 10_000);
        let (now, life) = windows.report(2 * SECOND, gauges(), &meter, &mailbox);
        assert_eq!(now.per_second(Count::OutMessages), 100.0);
        assert_eq!(now, life);
        assert_eq!(now.out_backlog_bytes, Some(1000.0));
        meter.add(Count::OutMessages, 300);
        meter.add(Count::OutBytes, 30_000);
        let idle = Gauges {
            unreceipted: Some(0),
            ..gauges()
        };
        let (now, life) = windows.report(3 * SECOND, idle, &meter, &mailbox);
        assert_eq!(now.per_second(Count::OutMessages), 300.0);
        assert_eq!(life.per_second(Count::OutMessages), 200.0);
        assert_eq!(
            life.out_backlog_bytes,
            Some(500.0),
            "the mean of the reports"
        );
        windows.restart();
        assert!(!windows.lives());
        // The next connection was quick: it is first seen when it has already sent.
        meter.add(Count::OutMessages, 7);
        assert!(windows.tend(4 * SECOND, Warmup::Time(0), 1, &meter, &mailbox));
        let (_, life) = windows.report(5 * SECOND, gauges(), &meter, &mailbox);
        assert_eq!(life.totals.get(Count::OutMessages), 7);
    }

    #[test]
    fn warm_up_is_left_out() {
        let (meter, mailbox) = (Meter::default(), Mailbox::default());
        let mut windows = Windows::default();
        let warmup = Warmup::Messages(50);
        assert!(!windows.tend(0, warmup, 1, &meter, &mailbox));
        meter.add(Count::InMessages, 60);
        mailbox.lock().unwrap().responded(1000, 0);
        assert!(windows.tend(SECOND, warmup, 1, &meter, &mailbox));
        meter.add(Count::InMessages, 5);
        let (now, _) = windows.report(2 * SECOND, gauges(), &meter, &mailbox);
        assert_eq!(now.totals.get(Count::InMessages), 5);
        assert!(now.book.response.is_empty());
    }

    #[test]
    fn effective_is_the_vendors_formula() {
        let mut block = Block {
            elapsed_ns: 1000,
            gauges: gauges(),
            ..Block::default()
        };
        block.book.responded(810, 40);
        let meter = Meter::default();
        meter.add(Count::OutWaitNs, 425);
        block.totals = meter.totals();
        assert_eq!(block.out_ratio(), Some(0.425));
        let effective = block.effective_ns().unwrap();
        assert!((effective - 810.0 / 0.58).abs() < 1.0, "{effective}");
        assert_eq!(block.book.corrected.quantile(1.0), 850);
        meter.add(Count::OutWaitNs, 575);
        block.totals = meter.totals();
        assert_eq!(block.effective_ns(), None, "nothing was sent");
    }

    #[test]
    fn impossible_times_are_not_believed() {
        let mut book = Book::default();
        assert!(!book.responded(-1, 0));
        assert!(!book.responded(i64::MAX, 0));
        assert!(book.is_empty());
    }
}
