//! Transmitter threads: destination, time and amount of each send.
//!
//! ```text
//! stream   batch ─► flush ─► (socket full: wait, counted as backlog) ─► next batch, next peer
//! block    window ─► flush ─► all responses ─► next window, next peer
//! single   call ─► one message ─► receipt, response ─► hang up ─► next call, next peer
//! ```
//!
//! A timed message carries the moment at which it really left. How much later that was than its
//! rate, or its transmitter's readiness, asked for is remembered beside it: so the response time
//! can also be told from the intended moment.

use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use sokudo_load_network::datagram::client::Sizes;
use sokudo_load_network::datagram::options::SizeRange;
use sokudo_net::clock::{now_ns, precise_timers, sleep_until};
use sokudo_pace::{Paced, batch_within};
use sokudo_workload::patience::sleep_until_or_stop;

use super::account::Count;
use super::connection::{Connection, HIGH_BYTES, LOOK, Parting};
use super::event::Event;
use super::node::{Bus, World};
use super::options::Mode;
use super::outbox::{Flushed, Out};
use super::protocol::{MESSAGE_BYTES, Message};
use super::receive::touch;
use super::slot::Slot;

/// Messages that are queued together.
const BATCH: usize = 64;

/// Bytes that are queued together, about.
const BATCH_BYTES: f64 = 131_072.0;

/// Longest piece of its schedule that a transmitter with a rate sends at once, nanoseconds.
const BURST_NS: f64 = 200_000.0;

/// Bytes that may wait in one connection when flow control is ignored.
const IGNORING_BYTES: u64 = 256 << 20;

/// Between two calls of a peer that cannot be called, nanoseconds.
const CALL_AGAIN_NS: i64 = 1_000_000_000;

/// Looks at a response between two yields of a spinning transmitter.
const LOOKS_PER_YIELD: u32 = 64;

/// One transmitter at work.
struct Transmitter<'w> {
    bus: &'w Bus,
    world: &'w World<'w>,
    index: u16,
    slot: &'w Slot,
    targets: Vec<Arc<Connection>>,
    seen: u64,
    turn: usize,
    /// Messages so far, as their ids count them.
    number: u16,
    /// Messages up to and including the next timed one.
    until_timed: u32,
    sizes: Sizes,
    outs: Vec<Out>,
    paced: Option<Paced>,
    batch: usize,
    unflushed: u32,
    /// Messages that it still has to send; without a count, more than it ever could.
    left: u64,
    /// Since when it could have sent.
    ready_ns: i64,
    /// Memory that is touched instead of the one block that all payloads come from.
    scratch: Vec<u8>,
}

/// Sends until the test is over.
pub fn run<'s>(bus: &'s Bus, index: usize, world: &'s World<'s>, scope: &'s Scope<'s, '_>) {
    precise_timers();
    let options = world.options;
    let slot = &world.slots[index];
    slot.begin();
    let mut transmitter = Transmitter {
        bus,
        world,
        index: index as u16,
        slot,
        targets: Vec::new(),
        seen: 0,
        turn: index - bus.slots.start,
        number: 0,
        until_timed: options.latency_every,
        sizes: Sizes(index as u64),
        outs: Vec::with_capacity(BATCH),
        paced: None,
        batch: ((BATCH_BYTES / options.mean_bytes()) as usize).clamp(1, BATCH),
        unflushed: 0,
        left: options.count.unwrap_or(u64::MAX),
        ready_ns: now_ns(),
        scratch: match options.chunk_bytes {
            0 => Vec::new(),
            _ => vec![0; options.sizes.1 as usize],
        },
    };
    match options.single {
        true => transmitter.singles(scope),
        false => transmitter.stream(),
    }
    world.sending.fetch_sub(1, Ordering::AcqRel);
}

impl<'w> Transmitter<'w> {
    fn stream(&mut self) {
        while !self.world.is_over() && self.left > 0 {
            self.bus.refresh(&mut self.targets, &mut self.seen);
            if self.targets.is_empty() {
                std::thread::park_timeout(LOOK);
                self.ready_ns = now_ns();
                continue;
            }
            self.begin_schedule();
            let Some(count) = self.due() else { continue };
            let Some(target) = self.next_target() else {
                self.wait_for_target();
                continue;
            };
            if !self.await_backlog() || !self.await_step(&target) {
                continue;
            }
            match self.world.options.window() {
                Some(window) => self.ask(&target, window),
                None => {
                    let count = self.compose(count);
                    self.push(&target, count);
                    self.flush_if_due(&target, count);
                }
            }
        }
    }

    /// The schedule begins with the first peer.
    fn begin_schedule(&mut self) {
        if self.paced.is_none()
            && let Some(bytes_per_s) = self.world.options.tx_bytes_per_s
        {
            let threads = self.world.slots.len().max(1) as f64;
            let rate_per_s = bytes_per_s / threads / self.world.options.mean_bytes();
            self.batch = batch_within(rate_per_s, BURST_NS, self.batch);
            self.paced = Paced::new(rate_per_s, now_ns());
        }
    }

    /// Messages to send now; `None` after a sleep instead.
    fn due(&self) -> Option<usize> {
        let Some(paced) = &self.paced else {
            return Some(self.batch);
        };
        let now = now_ns();
        let due_ns = paced.due_ns(1);
        if now < due_ns {
            sleep_until(due_ns.min(now + LOOK.as_nanos() as i64));
            return None;
        }
        Some(paced.due(now, self.batch))
    }

    /// The next peer that takes messages; the peers take turns.
    fn next_target(&mut self) -> Option<Arc<Connection>> {
        let most = match self.world.options.ignore_flow_control {
            true => IGNORING_BYTES,
            false => HIGH_BYTES,
        };
        for _ in 0..self.targets.len() {
            self.turn = (self.turn + 1) % self.targets.len();
            let target = &self.targets[self.turn];
            if !target.is_gone() && target.outbox.unsent_bytes() < most {
                return Some(Arc::clone(target));
            }
        }
        None
    }

    /// All peers are behind: waits until one is not.
    fn wait_for_target(&mut self) {
        let since_ns = now_ns();
        match &self.targets[..] {
            [only] => {
                only.flush_and_wait(self.world.options.patience_ns, self.world.halt);
            }
            // Their pumps wake all transmitters.
            _ => {
                let waiting = self
                    .targets
                    .iter()
                    .filter(|it| it.outbox.unsent_bytes() > 0);
                waiting.for_each(|it| it.outbox.kick());
                std::thread::park_timeout(LOOK);
            }
        }
        self.waited(since_ns);
    }

    fn waited(&self, since_ns: i64) {
        let waited_ns = u64::try_from(now_ns() - since_ns).unwrap_or(0);
        self.world.meter.add(Count::OutWaitNs, waited_ns);
        self.world.meter.add(Count::OutEvents, 1);
    }

    /// Waits while too much of its own has no receipt; false when the test ended meanwhile.
    fn await_backlog(&mut self) -> bool {
        let Some(most) = self.world.options.max_backlog_bytes else {
            return true;
        };
        let in_flight = || self.slot.in_flight_bytes.load(Ordering::Acquire);
        if in_flight() < most.max(1) {
            return true;
        }
        let since_ns = now_ns();
        self.slot.awaits_receipts.store(true, Ordering::Release);
        // Until a third of the bound is left, as the vendor does.
        while in_flight() > most / 3 && !self.world.is_over() && !self.all_gone() {
            for target in &self.targets {
                self.send_on(target);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        self.slot.awaits_receipts.store(false, Ordering::Release);
        self.waited(since_ns);
        if self.all_gone() {
            // What a peer that is gone never receipted is in flight no more.
            self.slot.in_flight_bytes.store(0, Ordering::Release);
        }
        !self.world.is_over()
    }

    fn all_gone(&self) -> bool {
        self.targets.iter().all(|it| it.is_gone())
    }

    /// Waits for the operator's step, when one is asked for; false without one.
    fn await_step(&self, target: &Connection) -> bool {
        let Some(steps) = &self.world.steps else {
            return true;
        };
        let peer = target.peer.clone();
        self.world.say(Event::Prompt { peer });
        let steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.world.is_over() && !target.is_gone() {
            match steps.recv_timeout(LOOK) {
                Ok(()) => return true,
                Err(RecvTimeoutError::Timeout) => {}
                // Standard input has ended: no key will be pressed again.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            }
        }
        false
    }

    /// Makes at most `count` messages; one when each is a step.
    fn compose(&mut self, count: usize) -> usize {
        let options = self.world.options;
        let mut count = match self.world.steps.is_some() {
            true => 1,
            false => count.min(BATCH),
        };
        count = count.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if options.flush_every > 0 && options.window().is_none() {
            count = count.min((options.flush_every - self.unflushed).max(1) as usize);
        }
        let now = now_ns();
        let late_ns = u64::try_from(now - self.ready_ns).unwrap_or(0);
        for at in 0..count {
            let intended = self.paced.as_ref().map(|paced| {
                paced.next_ns() + (paced.intended_ns(at as u64) - paced.intended_ns(0))
            });
            let delay_ns = intended.map_or(late_ns, |ns| u64::try_from(now - ns).unwrap_or(0));
            let out = self.message(delay_ns);
            self.outs.push(out);
        }
        self.left -= count as u64;
        if let Some(paced) = &mut self.paced {
            paced.started(count, now);
        }
        count
    }

    fn message(&mut self, delay_ns: u64) -> Out {
        let options = self.world.options;
        let timed = self.until_timed == 1;
        let stamp_ns = match options.mode {
            _ if timed => now_ns(),
            Mode::Block { .. } => -1,
            Mode::Stream => 0,
        };
        if timed {
            self.slot.set_delay(self.number, delay_ns);
        }
        self.until_timed = match self.until_timed {
            0 => 0,
            1 => options.latency_every,
            n => n - 1,
        };
        let (min, max) = options.sizes;
        let bytes = self.sizes.draw(SizeRange { min, max });
        if options.chunk_bytes > 0 {
            touch(
                &self.scratch[..bytes as usize],
                options.chunk_bytes as usize,
            );
        }
        let message = Message {
            id: u32::from(self.number) << 16 | u32::from(self.index),
            response: false,
            stamp_ns,
            payload_bytes: bytes - MESSAGE_BYTES as u32,
        };
        self.number = self.number.wrapping_add(1);
        Out::message(&message, timed.then_some(stamp_ns))
    }

    /// Queues what has been composed.
    fn push(&mut self, target: &Connection, count: usize) {
        let bytes = self.outs.iter().map(Out::message_bytes).sum();
        target.count(&self.world.meter, Count::OutMessages, count as u64);
        target.count(&self.world.meter, Count::OutBytes, bytes);
        if self.world.options.receipts {
            self.slot.in_flight_bytes.fetch_add(bytes, Ordering::AcqRel);
        }
        target.outbox.push(self.index, &mut self.outs, now_ns());
        self.ready_ns = now_ns();
    }

    fn flush_if_due(&mut self, target: &Connection, count: usize) {
        self.unflushed += count as u32;
        let every = self.world.options.flush_every;
        let more = self.unflushed < every && self.left > 0;
        if more && target.outbox.unsent_bytes() < HIGH_BYTES {
            return;
        }
        self.unflushed = 0;
        if self.world.options.ignore_flow_control || self.targets.len() > 1 {
            return self.send_on(target);
        }
        self.flush(target);
    }

    /// Writes, waiting for room; the wait counts as backlog.
    fn flush(&self, target: &Connection) {
        let patience_ns = self.world.options.patience_ns;
        let waited_ns = target.flush_and_wait(patience_ns, self.world.halt);
        if waited_ns > 0 {
            self.world.meter.add(Count::OutWaitNs, waited_ns);
            self.world.meter.add(Count::OutEvents, 1);
        }
    }

    /// Writes without waiting.
    fn send_on(&self, target: &Connection) {
        match target.outbox.flush(now_ns()) {
            Flushed::Full => target.outbox.kick(),
            Flushed::Gone => target.lost(),
            Flushed::Empty | Flushed::Busy => {}
        }
    }

    /// Sends a window of requests and waits for all responses.
    fn ask(&mut self, target: &Connection, window: u32) {
        let window = u64::from(window).min(self.left) as u32;
        self.slot.expect(self.number, window);
        let mut left = window as usize;
        while left > 0 {
            let composed = self.compose(left);
            self.push(target, composed);
            left -= composed;
            if left > 0 && target.outbox.unsent_bytes() > HIGH_BYTES {
                self.flush(target);
            }
            if self.world.steps.is_some() && left > 0 && !self.await_step(target) {
                return;
            }
        }
        self.flush(target);
        self.await_responses(target, window);
        self.ready_ns = now_ns();
    }

    fn await_responses(&self, target: &Connection, window: u32) {
        let spin_ns = match self.world.options.mode {
            Mode::Block { spin_ns } => spin_ns,
            Mode::Stream => 0,
        };
        let begun_ns = now_ns();
        let mut looks = 0u32;
        while self.slot.answered() < window && !target.is_gone() && !self.world.is_over() {
            let waited_ns = u64::try_from(now_ns() - begun_ns).unwrap_or(0);
            if waited_ns > self.world.options.patience_ns {
                let seconds = waited_ns as f64 / 1e9;
                target.close(Parting::Fault(format!(
                    "the peer gave no answer for {seconds:.1} s"
                )));
            } else if waited_ns >= spin_ns {
                std::thread::park_timeout(LOOK);
            } else if looks.is_multiple_of(LOOKS_PER_YIELD) {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
            looks = looks.wrapping_add(1);
        }
    }

    /// One message per connection, the peers in turn.
    fn singles(&mut self, scope: &'w Scope<'w, '_>) {
        let peers = self.bus.peers().len();
        while !self.world.is_over() && self.left > 0 {
            if peers == 0 {
                std::thread::park_timeout(LOOK);
                continue;
            }
            self.begin_schedule();
            if self.due().is_none() {
                continue;
            }
            self.turn = (self.turn + 1) % peers;
            let called = self.bus.call(self.turn, self.world);
            match called.and_then(|it| self.bus.enter_and_start(it, self.world, scope)) {
                Ok(connection) => self.send_single(&connection),
                Err(why) => {
                    self.bus.not_connected(self.turn, why, self.world);
                    sleep_until_or_stop(now_ns() + CALL_AGAIN_NS, self.world.halt);
                }
            }
        }
    }

    /// Sends one message, waits until it has been dealt with, and hangs up.
    fn send_single(&mut self, connection: &Connection) {
        if self.world.options.window().is_some() {
            self.ask(connection, 1);
        } else {
            self.compose(1);
            self.push(connection, 1);
            self.flush(connection);
        }
        self.slot.awaits_receipts.store(true, Ordering::Release);
        let begun_ns = now_ns();
        while connection.outbox.outstanding() > 0 && !connection.is_gone() && !self.world.is_over()
        {
            std::thread::park_timeout(LOOK);
            if u64::try_from(now_ns() - begun_ns).unwrap_or(0) > self.world.options.patience_ns {
                connection.close(Parting::Fault("the peer gave no receipt".into()));
            }
        }
        self.slot.awaits_receipts.store(false, Ordering::Release);
        connection.close(Parting::Finished);
    }
}
