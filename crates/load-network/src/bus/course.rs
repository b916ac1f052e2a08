//! Departure time and size of each message, and which messages count.
//!
//! What all ways to send share. It knows nothing of connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sokudo_net::clock::now_ns;
use sokudo_workload::contract::Options;
use sokudo_workload::patience::sleep_until_or_stop;
use sokudo_workload::sample::Sampler;
use sokudo_workload::schedule::Schedule;

use super::amounts::Warmup;
use super::client::LOOK;
use super::options::BusOptions;
use super::protocol::{FrameKind, Header, UNCOUNTED, WANTS_ANSWER};
use super::step::Gate;
use crate::datagram::client::Sizes;
use crate::datagram::options::SizeRange;

/// Task of one sending thread.
pub(crate) struct Task {
    pub(crate) flow: u32,
    pub(crate) options: Arc<BusOptions>,
    /// Messages per second of this thread; `None` = as fast as there is room.
    pub(crate) rate_per_s: Option<f64>,
    /// Seed of the random sizes.
    pub(crate) seed: u64,
    /// Latest end in any case, from the start.
    pub(crate) bound_ns: u64,
    /// Set by the first message that comes in, where that is waited for.
    pub(crate) polite: Option<Arc<AtomicBool>>,
    /// Opened by the operator for each message, where that is asked for.
    pub(crate) gate: Option<Arc<Gate>>,
    /// Set when the thread must end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Departures of a thread's messages, and which of them count: shared by all ways to send.
pub(crate) struct BusCourse {
    pub(crate) schedule: Schedule,
    pub(crate) sizes: Sizes,
    range: SizeRange,
    warmup: Warmup,
    start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) timeout_ns: i64,
    count: Option<u64>,
    sampler: Sampler,
    /// True when the latency of the next message is measured.
    is_sampled: bool,
    /// Number of the next message.
    pub(crate) number: u64,
    counted: u64,
    gate: Option<Arc<Gate>>,
    stop: Arc<AtomicBool>,
}

/// Action for the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send it; this was its intended time.
    Now(i64),
    /// Its time comes then.
    At(i64),
    /// There is none.
    Over,
}

impl BusCourse {
    pub(crate) fn new(task: &Task, start_ns: i64) -> Self {
        let options = &task.options;
        let mut sampler = Sampler::new(options.sampled());
        let end_ns = start_ns.saturating_add_unsigned(match options.duration_ns() {
            0 => task.bound_ns,
            duration => duration.min(task.bound_ns),
        });
        Self {
            schedule: Schedule::new(task.rate_per_s, start_ns, end_ns),
            sizes: Sizes(task.seed),
            range: options.size,
            warmup: options.warmup,
            start_ns,
            end_ns,
            timeout_ns: i64::try_from(options.timeout.0).unwrap_or(i64::MAX),
            count: options.count.map(|count| count.0),
            is_sampled: sampler.takes(),
            sampler,
            number: 0,
            counted: 0,
            gate: task.gate.clone(),
            stop: Arc::clone(&task.stop),
        }
    }

    /// Decides the action for the next message.
    #[inline]
    pub(crate) fn next(&self, now: i64) -> Next {
        let enough = self.count.is_some_and(|count| self.counted >= count);
        if enough || self.is_stopped() {
            return Next::Over;
        }
        let due = match self.schedule.next_ns(now) {
            // Messages that are due and late are still sent, for a bounded time.
            Some(at_ns) if self.schedule.is_open() => match at_ns <= now {
                true if now < self.end_ns.saturating_add(self.timeout_ns) => Next::Now(at_ns),
                true => Next::Over,
                false => Next::At(at_ns),
            },
            Some(at_ns) if now < self.end_ns => Next::Now(at_ns),
            _ => Next::Over,
        };
        match (&self.gate, due) {
            (Some(gate), Next::Now(_)) if gate.is_closed() => Next::Over,
            (Some(gate), Next::Now(_)) if !gate.is_open() => {
                Next::At(now.saturating_add(LOOK.as_nanos() as i64))
            }
            _ => due,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Size of a message that was not drawn yet.
    pub(crate) fn draw(&mut self) -> u32 {
        match self.range.min == self.range.max {
            true => self.range.min,
            false => self.sizes.draw(self.range),
        }
    }

    /// True for a message that counts, by its number and intended time.
    #[inline]
    fn counts(&self, intended_ns: i64) -> bool {
        match self.warmup {
            Warmup::Time(ns) => intended_ns >= self.start_ns.saturating_add_unsigned(ns),
            Warmup::Messages(messages) => self.number >= messages,
        }
    }

    /// The next message leaves: its header.
    #[inline]
    pub(crate) fn leaves(&mut self, intended_ns: i64, size: u32, wants_answer: bool) -> Header {
        let counts = self.counts(intended_ns);
        let header = Header {
            length: size,
            kind: FrameKind::Message,
            flags: if wants_answer { WANTS_ANSWER } else { 0 } | if counts { 0 } else { UNCOUNTED },
            number: self.number,
            stamp: intended_ns as u64,
        };
        self.schedule.started();
        self.number += 1;
        self.is_sampled = self.sampler.takes();
        self.counted += u64::from(counts);
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        header
    }

    /// True when the latency of the next message is measured.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Time at which the count was reached, when `last_ns` was that of its last message; `None` when it was not.
    pub(crate) fn reached_ns(&self, last_ns: i64) -> Option<i64> {
        let due_ns = self.schedule.due_ns().unwrap_or(i64::MIN);
        let is_reached = self.count.is_some_and(|count| self.counted >= count);
        is_reached.then(|| last_ns.max(due_ns))
    }

    /// Messages that should have been sent and never were, at the end.
    pub(crate) fn unstarted(&self) -> u64 {
        if self.is_stopped() {
            return 0;
        }
        let from_ns = match self.warmup {
            Warmup::Time(ns) => self.start_ns.saturating_add_unsigned(ns),
            Warmup::Messages(_) => self.start_ns,
        };
        let most = self.count.map_or(u64::MAX, |count| count - self.counted);
        self.schedule.left_from(from_ns).min(most)
    }
}

/// Delay of the calling thread's first message behind the agreed start; nothing when it does not
/// send, or waited for a peer.
pub(crate) fn started_late(task: &Task, started: Option<i64>, at_ns: i64) -> Option<i64> {
    (started.is_some() && task.polite.is_none()).then(|| now_ns() - at_ns)
}

/// Sleeps until the start, or until the first message has come in politely; `None` when stopped.
pub(crate) fn wait_for_start(task: &Task, at_ns: i64) -> Option<i64> {
    sleep_until_or_stop(at_ns, &task.stop)?;
    let Some(came) = &task.polite else {
        return Some(at_ns);
    };
    let give_up_ns = at_ns.saturating_add_unsigned(task.bound_ns / 2);
    while !came.load(Ordering::Acquire) {
        if now_ns() >= give_up_ns {
            return None;
        }
        sleep_until_or_stop(now_ns() + 1_000_000, &task.stop)?;
    }
    Some(now_ns())
}
