//! Handling of the messages that arrive.
//!
//! ```text
//! socket ─► read ─► Frames ─┬─► Dealer: answer, relay, time     reader deals itself (reentrant)
//!                           └─► Inbox ─► receive thread: Dealer  queued, in the order of arrival
//! ```
//!
//! A receipt is given when the messages before it have been dealt with. Receipts that come back
//! are taken by the reader at once.

use std::collections::VecDeque;
use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_load_network::datagram::client::Sizes;
use sokudo_load_network::datagram::options::SizeRange;
use sokudo_net::clock::{now_ns, sleep_until};
use sokudo_net::wait::readable;

use super::account::{Count, OwnBook};
use super::connection::{Connection, HIGH_BYTES, LOOK, Parting, is_passing};
use super::ledger::Settled;
use super::node::{Bus, World};
use super::outbox::{Flushed, Out};
use super::protocol::{Frames, Item, LENGTH_BYTES, MESSAGE_BYTES, Message, WHOLE_BYTES};
use super::relay::{self, RELAY};

/// Bytes that one reader reads at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Bytes received that may wait for one receive thread.
const INBOX_BYTES: u64 = 8 << 20;

/// Longest wait for one look at a socket that others write on.
const RELAY_LOOK: Duration = Duration::from_micros(200);

/// Something for a receive thread to do.
#[derive(Debug, Clone, Copy)]
enum Work {
    Message(Message),
    Receipts(u32),
}

/// Messages of one read.
struct Batch {
    from: Arc<Connection>,
    work: Vec<Work>,
    bytes: u64,
}

#[derive(Default)]
struct Pending {
    batches: VecDeque<Batch>,
    /// Emptied lists, to be filled again.
    spare: Vec<Vec<Work>>,
    waiting_bytes: u64,
}

/// Queue of one receive thread.
#[derive(Default)]
pub struct Inbox {
    pending: Mutex<Pending>,
    filled: Condvar,
    emptied: Condvar,
    waiting_bytes: AtomicU64,
}

impl Inbox {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that wait.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Queues what a read brought; an empty list for the next one. Waits while too much waits
    /// already, and says how long, nanoseconds.
    fn put(&self, batch: Batch, world: &World<'_>) -> (Vec<Work>, u64) {
        let mut pending = self.pending();
        let mut waited_ns = 0;
        while pending.waiting_bytes > INBOX_BYTES && !world.is_over() {
            let since_ns = now_ns();
            let woken = self.emptied.wait_timeout(pending, LOOK);
            pending = woken.unwrap_or_else(PoisonError::into_inner).0;
            waited_ns += u64::try_from(now_ns() - since_ns).unwrap_or(0);
        }
        pending.waiting_bytes += batch.bytes;
        self.waiting_bytes
            .store(pending.waiting_bytes, Ordering::Relaxed);
        pending.batches.push_back(batch);
        let next = pending.spare.pop().unwrap_or_default();
        drop(pending);
        self.filled.notify_one();
        (next, waited_ns)
    }

    /// The oldest batch. Without one waits a moment, or asks again soon when it is to `poll`.
    fn take(&self, poll: bool) -> Option<Batch> {
        let mut pending = self.pending();
        if pending.batches.is_empty() {
            if poll {
                drop(pending);
                std::thread::yield_now();
                pending = self.pending();
            } else {
                let woken = self.filled.wait_timeout(pending, LOOK);
                pending = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        pending.batches.pop_front()
    }

    /// A batch has been dealt with.
    fn done(&self, bytes: u64, mut work: Vec<Work>) {
        work.clear();
        let mut pending = self.pending();
        pending.waiting_bytes = pending.waiting_bytes.saturating_sub(bytes);
        self.waiting_bytes
            .store(pending.waiting_bytes, Ordering::Relaxed);
        pending.spare.push(work);
        drop(pending);
        self.emptied.notify_one();
    }
}

/// Deals with messages on one thread.
struct Dealer<'w> {
    bus: &'w Bus,
    world: &'w World<'w>,
    own: OwnBook,
    sizes: Sizes,
    /// Responses to be sent over the connection that the messages came over.
    responses: Vec<Out>,
    /// Connections that got messages that were sent on.
    hops: Vec<Arc<Connection>>,
    receipts: u32,
    messages: u64,
    bytes: u64,
    answered: u64,
    errors: u64,
}

impl<'w> Dealer<'w> {
    fn new(bus: &'w Bus, world: &'w World<'w>, seed: u64) -> Self {
        Self {
            bus,
            world,
            own: OwnBook::default(),
            sizes: Sizes(seed),
            responses: Vec::new(),
            hops: Vec::new(),
            receipts: 0,
            messages: 0,
            bytes: 0,
            answered: 0,
            errors: 0,
        }
    }

    #[inline]
    fn message(&mut self, from: &Arc<Connection>, message: Message) {
        self.messages += 1;
        self.bytes += message.bytes();
        match (message.response, self.world.options.relay) {
            (true, _) => self.response(message),
            (false, true) => self.relay(from, message),
            (false, false) => self.answer(message),
        }
    }

    #[inline]
    fn answer(&mut self, request: Message) {
        if request.wants_response() {
            let (min, max) = self.world.options.sizes;
            let bytes = self.sizes.draw(SizeRange { min, max });
            let response = Message {
                response: true,
                payload_bytes: bytes - MESSAGE_BYTES as u32,
                ..request
            };
            self.responses.push(Out::message(&response, None));
        }
    }

    fn response(&mut self, response: Message) {
        let (number, owner) = ((response.id >> 16) as u16, response.id as u16);
        if owner == RELAY {
            return self.travel_back(response);
        }
        let Some(slot) = self.world.slots.get(usize::from(owner)) else {
            self.errors += 1;
            return;
        };
        self.answered += 1;
        if response.stamp_ns > 0 {
            let took_ns = now_ns().wrapping_sub(response.stamp_ns);
            let delay_ns = slot.delay_ns(number).unwrap_or(0);
            self.errors += u64::from(!self.own.book.responded(took_ns, delay_ns));
        }
        slot.answer(number);
    }

    fn relay(&mut self, from: &Arc<Connection>, request: Message) {
        let Some(hop) = self.bus.next_hop(from) else {
            return self.answer(request);
        };
        let blocks = self.world.options.window().is_some();
        let onward = if blocks && request.wants_response() {
            let (id, forgotten) = match self.bus.relay.lock() {
                Ok(mut relay) => relay.put(from, request),
                Err(_) => return self.answer(request),
            };
            self.errors += u64::from(forgotten);
            let stamp_ns = -1;
            Message {
                id,
                stamp_ns,
                ..request
            }
        } else {
            self.answer(request);
            let (id, stamp_ns) = (relay::id(0), 0);
            Message {
                id,
                stamp_ns,
                ..request
            }
        };
        self.send_over(hop, onward);
    }

    fn travel_back(&mut self, response: Message) {
        let origin = self
            .bus
            .relay
            .lock()
            .ok()
            .and_then(|mut it| it.take(&response));
        match origin {
            Some((origin, back)) => self.send_over(origin, back),
            None => self.errors += 1,
        }
    }

    fn send_over(&mut self, hop: Arc<Connection>, message: Message) {
        let mut outs = vec![Out::message(&message, None)];
        hop.outbox.push(RELAY, &mut outs, now_ns());
        hop.count(&self.world.meter, Count::OutMessages, 1);
        hop.count(&self.world.meter, Count::OutBytes, message.bytes());
        if !self.hops.iter().any(|it| Arc::ptr_eq(it, &hop)) {
            self.hops.push(hop);
        }
    }

    /// Sends what the messages gave rise to, and counts them.
    fn finish(&mut self, from: &Connection) {
        let meter = &self.world.meter;
        let now = now_ns();
        if !self.responses.is_empty() {
            from.count(meter, Count::OutMessages, self.responses.len() as u64);
            let bytes = self.responses.iter().map(Out::message_bytes).sum();
            from.count(meter, Count::OutBytes, bytes);
            from.outbox.push(RELAY, &mut self.responses, now);
        }
        let receipts = std::mem::take(&mut self.receipts);
        if receipts > 0 {
            from.outbox.give_receipts(receipts);
        }
        from.count(meter, Count::InMessages, std::mem::take(&mut self.messages));
        from.count(meter, Count::InBytes, std::mem::take(&mut self.bytes));
        from.count(meter, Count::Responses, std::mem::take(&mut self.answered));
        from.count(meter, Count::Errors, std::mem::take(&mut self.errors));
        send_on(from, now);
        for hop in std::mem::take(&mut self.hops) {
            send_on(&hop, now);
            // A slow hop slows down who sends to it: nothing piles up here.
            while hop.outbox.unsent_bytes() > 4 * HIGH_BYTES
                && !hop.is_gone()
                && !self.world.is_over()
            {
                std::thread::sleep(RELAY_LOOK);
            }
        }
        self.own.hand_over_if_due(now, &self.world.mailbox);
    }

    fn close(&mut self) {
        self.own.close(&self.world.mailbox);
    }
}

/// Writes without waiting; a full socket is the pump's.
fn send_on(connection: &Connection, now_ns: i64) {
    match connection.outbox.flush(now_ns) {
        Flushed::Full => connection.outbox.kick(),
        Flushed::Gone => connection.lost(),
        Flushed::Empty | Flushed::Busy => {}
    }
}

/// Reads and deals, or queues, until the connection ends.
pub fn read(bus: &Bus, connection: &Arc<Connection>, early: Vec<u8>, world: &World<'_>) {
    let count = bus.inboxes.len() as u64;
    let mut reader = ConnectionReader {
        dealer: Dealer::new(bus, world, connection.number),
        connection,
        inbox: bus.inboxes.get((connection.number % count.max(1)) as usize),
        work: Vec::new(),
        work_bytes: 0,
        frames: Frames::default(),
    };
    if let Err(why) = reader.run(early) {
        connection.close(why);
    }
    connection.close(Parting::Finished);
    reader.dealer.close();
}

struct ConnectionReader<'w> {
    dealer: Dealer<'w>,
    connection: &'w Arc<Connection>,
    inbox: Option<&'w Inbox>,
    work: Vec<Work>,
    work_bytes: u64,
    frames: Frames,
}

impl ConnectionReader<'_> {
    /// Errors: why the connection cannot be read on.
    fn run(&mut self, early: Vec<u8>) -> Result<(), Parting> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut filled = early.len().min(BUFFER_BYTES);
        buffer[..filled].copy_from_slice(&early[..filled]);
        loop {
            let used = self
                .deal(&buffer[..filled])
                .map_err(|why| Parting::Fault(why.to_string()))?;
            buffer.copy_within(used..filled, 0);
            filled -= used;
            debug_assert!(filled < LENGTH_BYTES + WHOLE_BYTES);
            let room = &mut buffer[filled..];
            match self.receive(room)? {
                Some(read) => filled += read,
                None => return Ok(()),
            }
        }
    }

    /// Waits for bytes; `None` when the test, or this connection's use, is over.
    fn receive(&mut self, room: &mut [u8]) -> Result<Option<usize>, Parting> {
        let world = self.dealer.world;
        let left = |why: String| Parting::Left(why);
        let lost = |why| left(format!("the connection was lost: {why}"));
        loop {
            if world.is_over() || self.connection.is_gone() {
                return Ok(None);
            }
            if !readable(self.connection.socket(), LOOK).map_err(lost)? {
                self.dealer.own.hand_over_if_due(now_ns(), &world.mailbox);
                continue;
            }
            match self.connection.socket().read(room) {
                Ok(0) if self.connection.is_gone() => return Ok(None),
                Ok(0) => return Err(left("the peer closed the connection".into())),
                Ok(read) => return Ok(Some(read)),
                Err(why) if is_passing(&why) => {}
                Err(why) => return Err(lost(why)),
            }
        }
    }

    /// Deals with all items that are whole; returns the bytes that they took.
    fn deal(&mut self, bytes: &[u8]) -> Result<usize, super::protocol::ProtocolError> {
        let chunk = self.dealer.world.options.chunk_bytes as usize;
        let mut at = 0;
        while let Some((taken, item)) = self.frames.next(&bytes[at..])? {
            let piece = &bytes[at..at + taken];
            at += taken;
            match item {
                Item::Message(message, payload) => {
                    touch(&piece[payload], chunk);
                    self.message(message);
                }
                Item::Part => touch(piece, chunk),
                Item::End(message) => {
                    touch(piece, chunk);
                    self.message(message);
                }
                Item::Receipts(receipts) => {
                    if receipts.returned > 0 {
                        self.take_receipts(receipts.returned)?;
                    }
                    self.give_receipts(receipts.requested);
                }
            }
        }
        match self.inbox {
            None => self.dealer.finish(self.connection),
            Some(inbox) if !self.work.is_empty() => self.queue(inbox),
            Some(_) => {}
        }
        Ok(at)
    }

    #[inline]
    fn message(&mut self, message: Message) {
        match self.inbox {
            None => self.dealer.message(self.connection, message),
            Some(_) => {
                self.work_bytes += message.bytes();
                self.work.push(Work::Message(message));
            }
        }
    }

    fn give_receipts(&mut self, n: u32) {
        match self.inbox {
            None => self.dealer.receipts = self.dealer.receipts.saturating_add(n),
            Some(_) if n > 0 => self.work.push(Work::Receipts(n)),
            Some(_) => {}
        }
    }

    fn queue(&mut self, inbox: &Inbox) {
        let batch = Batch {
            from: Arc::clone(self.connection),
            work: std::mem::take(&mut self.work),
            bytes: std::mem::take(&mut self.work_bytes),
        };
        let world = self.dealer.world;
        let (next, waited_ns) = inbox.put(batch, world);
        self.work = next;
        if waited_ns > 0 {
            world.meter.add(Count::InWaitNs, waited_ns);
            world.meter.add(Count::InEvents, 1);
        }
    }

    fn take_receipts(&mut self, n: u32) -> Result<(), super::protocol::ProtocolError> {
        let world = self.dealer.world;
        let now = now_ns();
        let book = &mut self.dealer.own.book;
        self.connection
            .outbox
            .take_receipts(n, |settled| match settled {
                Settled::Bytes { owner, bytes } => {
                    if let Some(slot) = world.slots.get(usize::from(owner)) {
                        slot.settle(bytes);
                    }
                }
                Settled::Timed(sent_ns) => book
                    .receipt
                    .record(u64::try_from(now - sent_ns).unwrap_or(0)),
            })?;
        self.connection
            .count(&world.meter, Count::Receipts, u64::from(n));
        Ok(())
    }
}

/// Reads `bytes` as a program that uses them would, `chunk` at a time; 0 leaves them alone.
#[inline]
pub fn touch(bytes: &[u8], chunk: usize) {
    if chunk > 0 {
        let sum = bytes
            .chunks(chunk)
            .map(|piece| piece.iter().fold(0u8, |sum, byte| sum ^ byte))
            .fold(0u64, |sum, piece| sum.wrapping_add(u64::from(piece)));
        std::hint::black_box(sum);
    }
}

/// Deals with what is queued for one receive thread, until the test is over.
pub fn work(bus: &Bus, index: usize, world: &World<'_>) {
    let mut dealer = Dealer::new(bus, world, index as u64);
    let inbox = &bus.inboxes[index];
    let mut pace = Pace::new(world, bus);
    while !world.is_over() {
        let Some(batch) = inbox.take(world.options.poll) else {
            dealer.own.hand_over_if_due(now_ns(), &world.mailbox);
            continue;
        };
        for work in &batch.work {
            match work {
                Work::Message(message) => {
                    pace.wait_for(message.bytes(), world);
                    dealer.message(&batch.from, *message);
                }
                Work::Receipts(n) => dealer.receipts = dealer.receipts.saturating_add(*n),
            }
        }
        dealer.finish(&batch.from);
        inbox.done(batch.bytes, batch.work);
    }
    dealer.close();
}

/// Slows a receive thread down to its share of `-rxRate`.
struct Pace {
    ns_per_byte: f64,
    next_ns: f64,
}

impl Pace {
    fn new(world: &World<'_>, bus: &Bus) -> Self {
        let threads = bus.inboxes.len() as f64;
        let rate = world.options.rx_bytes_per_s;
        let buses = world.options.bind.len().max(1) as f64;
        Self {
            ns_per_byte: rate.map_or(0.0, |rate| 1e9 * threads * buses / rate),
            next_ns: 0.0,
        }
    }

    fn wait_for(&mut self, bytes: u64, world: &World<'_>) {
        if self.ns_per_byte > 0.0 {
            let now = now_ns() as f64;
            // What was not used is not made up for: a slow consumer is slow all the time.
            self.next_ns = self.next_ns.max(now - 1e6) + bytes as f64 * self.ns_per_byte;
            while (now_ns() as f64) < self.next_ns && !world.is_over() {
                sleep_until((self.next_ns as i64).min(now_ns() + LOOK.as_nanos() as i64));
            }
        }
    }
}
