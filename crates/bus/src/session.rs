//! Serves one client of a server.
//!
//! ```text
//!            ┌──── this thread ────┐  asks   ┌── handler thread ──┐
//! network ──►│ reads, keeps leases ├────────►│ Handler            │
//!            └──────────┬──────────┘         └─────────┬──────────┘
//!                leases │ ┌── writer thread ──┐        │ replies, notes
//! network ◄───────────────┤ Outbox            │◄───────┘
//!                         └───────────────────┘
//! ```
//!
//! Reading never waits for the handler, so that the loss of a client is detected while a long ask is
//! being answered (dead-man switch): the load of a client that is silent for two leases is stopped. Where
//! its connection may be renewed, what it was told is kept for a while, and the session goes on when the
//! client comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_model::{Text, Unit};
use sokudo_net::urgency;
use sokudo_wire::{Ask, Body, Envelope, EnvelopeError, MAX_FRAME, Note, Refusal, Reply};

use crate::agent::{Client, Factory, Gate, Notes, Outgoing, Port};
use crate::carried::{SEND_BOUND, sent};
use crate::hush::{self, Held, Hush};
use crate::mailbox::{Bound, Mailbox, Parcel, PopError};
use crate::notes::batch_bytes;
use crate::pipe::{Arrival, FrameSender, FrameSource, goodbye, silent};

/// Asks that may wait for the handler.
const WAITING_ASKS: usize = 64;

/// Their bytes: two of the longest, so that one can wait while another is being answered.
const WAITING_BYTES: usize = 2 * MAX_FRAME;

/// A longer ask can only be for the handler: it is read where it is carried out, because what it takes
/// in memory may be many times its length.
const READ_AT_ONCE: usize = 4096;

/// The bounds of what waits for the network.
const OUTBOX_BOUND: Bound = Bound {
    count: 16 * 1024,
    bytes: 64 * 1024 * 1024,
};

/// A client that has given no lease may be silent this long.
const IDLE_BOUND: Duration = Duration::from_secs(600);

/// Leases are taken as at least and at most this long.
const LEASE_RANGE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(3600));

/// Longest single wait of the writer.
const WRITE_SLICE: Duration = Duration::from_secs(60);

impl Parcel for Outgoing {
    fn weight(&self) -> usize {
        match self {
            Self::Note(note) => note.weight(),
            Self::Reply(_, Reply::Offer(json) | Reply::Result(json)) => 256 + json.len(),
            Self::Reply(_, Reply::Environment(environment)) => 256 * (1 + environment.facts.len()),
            Self::Reply(_, Reply::Kept { batches, .. }) => {
                256 + batches.iter().map(batch_bytes).sum::<usize>()
            }
            Self::Reply(..) => 256,
        }
    }

    fn must_arrive(&self) -> bool {
        match self {
            Self::Note(note) => note.must_arrive(),
            Self::Reply(..) => true,
        }
    }

    fn gap(dropped: u64) -> Self {
        Self::Note(Note::gap(dropped))
    }
}

/// Serves a client until it leaves, and its handler is dropped. Returns why it left.
pub fn serve(
    client: Client,
    sender: &dyn FrameSender,
    source: &mut dyn FrameSource,
    factory: &Factory,
) -> Text {
    let outbox = Arc::new(Mailbox::new(OUTBOX_BOUND));
    let gate = Arc::new(Gate::default());
    let notes = Notes::new(Arc::clone(&gate), Port::Outbox(Arc::clone(&outbox)));
    let (asks, queue) = mpsc::sync_channel(WAITING_ASKS);
    let waiting = AtomicUsize::new(0);
    let hush = Hush::default();
    thread::scope(|scope| {
        let writing = thread::Builder::new()
            .name("agent-writer".into())
            .spawn_scoped(scope, || {
                urgency::go_first();
                write(&outbox, sender, &gate, &hush);
            });
        let handling = thread::Builder::new()
            .name(format!("agent-{}", client.name))
            .spawn_scoped(scope, || {
                let _ending = Ending(&gate, sender);
                let taking = Taking {
                    queue,
                    waiting: &waiting,
                };
                if let Err(why) = handle(client, notes, factory, &taking, &outbox, &gate) {
                    gate.shut(why);
                    sender.close();
                }
            });
        if let (Ok(handling), Ok(_)) = (handling, &writing) {
            // Not the handler, which starts load.
            let _first = urgency::First::begin();
            let why = FrameListener::new(&outbox, &gate, &hush, (asks, &waiting)).listen(source);
            if let Some(why) = why {
                gate.shut(why);
            }
            // A panic of the handler is this client's alone; it has shut the gate.
            let _ = handling.join();
        } else {
            gate.shut(Text::new("error-link-no-thread"));
            drop(asks);
        }
        outbox.close();
    });
    sender.close();
    gate.why().unwrap_or_else(goodbye)
}

/// A handler that panics must not leave its client waiting.
struct Ending<'a>(&'a Gate, &'a dyn FrameSender);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.shut(Text::new("error-link-handler-failed"));
            self.1.close();
        }
    }
}

/// An ask that waits for the handler.
enum Waiting {
    Read(u64, Ask),
    /// A frame that has not been read yet.
    Unread(Vec<u8>),
}

/// The handler's end of the queue of asks.
struct Taking<'a> {
    queue: mpsc::Receiver<Waiting>,
    /// Bytes of the frames in it.
    waiting: &'a AtomicUsize,
}

impl Taking<'_> {
    /// The next ask; `None` when no more come.
    ///
    /// Errors: what came is none.
    fn next(&self) -> Result<Option<(u64, Ask)>, Text> {
        match self.queue.recv() {
            Ok(Waiting::Read(id, ask)) => Ok(Some((id, ask))),
            Ok(Waiting::Unread(frame)) => {
                self.waiting.fetch_sub(frame.len(), Ordering::AcqRel);
                read(&frame).map(Some)
            }
            Err(_) => Ok(None),
        }
    }
}

/// The ask in a frame, with its number.
fn read(frame: &[u8]) -> Result<(u64, Ask), Text> {
    let envelope = Envelope::from_payload(frame).map_err(|why| sent(&why))?;
    match envelope.body {
        Body::Ask(ask) => Ok((envelope.id, ask)),
        Body::Reply(_) | Body::Note(_) => Err(Text::new("error-link-unasked")),
    }
}

/// The handler's thread: one ask after the other.
///
/// Errors: what the client sent is not a valid request.
fn handle(
    client: Client,
    notes: Notes,
    factory: &Factory,
    taking: &Taking<'_>,
    outbox: &Mailbox<(), Outgoing>,
    gate: &Gate,
) -> Result<(), Text> {
    let mut handler = factory(client, notes);
    while let Some((id, ask)) = taking.next()? {
        // The remaining asks of a vanished client are dropped.
        if gate.is_gone() {
            break;
        }
        gate.taken(&ask);
        let reply = handler.handle(ask);
        // Fails only when the client does not read, which the writer notices.
        let _ = outbox.push((), Outgoing::Reply(id, reply));
    }
    Ok(())
}

/// The writer's thread: sends everything in order, except that in a quiet phase messages that can wait
/// are held back.
fn write(outbox: &Mailbox<(), Outgoing>, sender: &dyn FrameSender, gate: &Gate, hush: &Hush) {
    let mut held = Held::default();
    loop {
        let slice = hush
            .left()
            .map_or(WRITE_SLICE, |left| left.min(WRITE_SLICE));
        let popped = outbox.pop(slice);
        let mut now = match popped {
            Ok(((), outgoing)) => Some(outgoing),
            Err(PopError::Empty) => None,
            Err(PopError::Closed) => return,
        };
        if hush.left().is_some() {
            let Some(outgoing) = now.take() else { continue };
            let (urgent, has_room) = held.keep(outgoing);
            if !has_room {
                hush.end();
            }
            now = urgent;
        }
        let earlier = std::iter::from_fn(|| hush.left().is_none().then(|| held.next()).flatten());
        let done = earlier.chain(now).try_for_each(|outgoing| {
            let frame = frame_of(outgoing).map_err(|why| why.text())?;
            sender.send(&frame, SEND_BOUND)
        });
        if let Err(why) = done {
            gate.shut(Text::new("error-link-unsendable-to").text("why", why));
            // Wakes the listener.
            sender.close();
            return;
        }
    }
}

/// Encodes a frame; a message that is too long is replaced by one that reports this.
fn frame_of(outgoing: Outgoing) -> Result<Vec<u8>, EnvelopeError> {
    let (id, body) = match outgoing {
        Outgoing::Reply(id, reply) => (id, Body::Reply(reply)),
        Outgoing::Note(note) => (0, Body::Note(note)),
    };
    let envelope = Envelope { id, body };
    envelope.to_frame().or_else(|why| {
        let body = match envelope.body {
            Body::Note(_) => Body::Note(Note::gap(1)),
            _ => Body::Reply(refusal(
                Text::new("error-answer-long").text("why", why.text()),
            )),
        };
        Envelope { id, body }.to_frame()
    })
}

fn refusal(says: Text) -> Reply {
    Reply::Refused(Refusal {
        operator_error: false,
        says,
        hint: None,
    })
}

/// The reading thread's state.
struct FrameListener<'a> {
    outbox: &'a Mailbox<(), Outgoing>,
    gate: &'a Gate,
    hush: &'a Hush,
    asks: SyncSender<Waiting>,
    /// Bytes of the frames that wait.
    waiting: &'a AtomicUsize,
    /// Longest silence of the client at any time.
    usual: Duration,
    /// Longest silence of the client now.
    patience: Duration,
    /// The load was stopped because of the client's silence.
    halted: bool,
}

/// Action after a message.
enum Next {
    GoOn,
    /// The client has sent `Bye`.
    End,
}

impl<'a> FrameListener<'a> {
    fn new(
        outbox: &'a Mailbox<(), Outgoing>,
        gate: &'a Gate,
        hush: &'a Hush,
        (asks, waiting): (SyncSender<Waiting>, &'a AtomicUsize),
    ) -> Self {
        Self {
            outbox,
            gate,
            hush,
            asks,
            waiting,
            usual: IDLE_BOUND,
            patience: IDLE_BOUND,
            halted: false,
        }
    }

    /// Reads until the client leaves; `None` when it sent `Bye`.
    fn listen(mut self, source: &mut dyn FrameSource) -> Option<Text> {
        let mut heard = Instant::now();
        loop {
            let patience = match self.halted {
                true => self.patience + source.keep(),
                false => self.patience,
            };
            let left = patience.saturating_sub(heard.elapsed());
            match source.next(left) {
                Ok(Arrival::Frame(frame)) => match self.take(frame) {
                    Ok(Next::GoOn) => (heard, self.halted) = (Instant::now(), false),
                    Ok(Next::End) => return None,
                    Err(why) => return Some(why),
                },
                Ok(Arrival::Idle) if heard.elapsed() >= patience => {
                    if self.halted || source.keep().is_zero() {
                        return Some(silent(patience));
                    }
                    if let Err(why) = self.halt(patience) {
                        return Some(why);
                    }
                }
                Ok(Arrival::Idle) => {}
                Err(why) => return Some(why),
            }
        }
    }

    /// Stops the load of a silent client, whose session goes on.
    ///
    /// Errors: nothing can be asked of the handler.
    fn halt(&mut self, patience: Duration) -> Result<(), Text> {
        self.halted = true;
        let seconds = patience.as_secs_f64();
        // Nobody waits for its answer.
        let halt = self.asks.try_send(Waiting::Read(0, Ask::Halt));
        halt.map_err(|_| silent(patience))?;
        let says = Text::new("error-bus-silent-halted").number("silent", seconds, Unit::Seconds);
        let missing = Some(Text::new("error-bus-silent-halted-missing"));
        let note = Outgoing::Note(Note::Problem { says, missing });
        self.outbox.push((), note).map_err(|_| silent(patience))
    }

    fn take(&mut self, frame: Vec<u8>) -> Result<Next, Text> {
        if frame.len() > READ_AT_ONCE {
            return self.take_unread(frame);
        }
        let (id, ask) = read(&frame)?;
        if let Ask::Lease { lease_ns } = ask {
            let lease = Duration::from_nanos(lease_ns).clamp(LEASE_RANGE.0, LEASE_RANGE.1);
            self.usual = 2 * lease;
            self.patience = self.usual;
            self.hush.end();
            return self.reply(id, Reply::Done);
        }
        if let Ask::Hush { for_ns } = ask {
            let time = Duration::from_nanos(for_ns).min(hush::LONGEST);
            self.patience = self.usual + time;
            drop(self.hush.begin(time));
            return self.reply(id, Reply::Done);
        }
        self.hush.end();
        self.gate.received(&ask);
        let last = matches!(ask, Ask::Bye);
        match self.asks.try_send(Waiting::Read(id, ask)) {
            Ok(()) if last => Ok(Next::End),
            Ok(()) => Ok(Next::GoOn),
            Err(TrySendError::Full(waiting)) => {
                if let Waiting::Read(_, ask) = waiting {
                    self.gate.taken(&ask);
                }
                self.refuse(id)
            }
            Err(TrySendError::Disconnected(_)) => Err(Text::new("error-link-handler-ended")),
        }
    }

    /// Hands an ask on that only the handler reads.
    fn take_unread(&mut self, frame: Vec<u8>) -> Result<Next, Text> {
        self.hush.end();
        let id = Envelope::id_of(&frame).map_err(|why| sent(&why))?;
        let length = frame.len();
        if self.waiting.load(Ordering::Acquire) + length > WAITING_BYTES {
            return self.refuse(id);
        }
        self.waiting.fetch_add(length, Ordering::AcqRel);
        match self.asks.try_send(Waiting::Unread(frame)) {
            Ok(()) => Ok(Next::GoOn),
            Err(TrySendError::Full(_)) => {
                self.waiting.fetch_sub(length, Ordering::AcqRel);
                self.refuse(id)
            }
            Err(TrySendError::Disconnected(_)) => Err(Text::new("error-link-handler-ended")),
        }
    }

    /// Too much waits already.
    fn refuse(&self, id: u64) -> Result<Next, Text> {
        let most = WAITING_BYTES >> 20;
        let says = Text::new("error-asks-waiting")
            .with("asks", WAITING_ASKS)
            .with("mib", most);
        self.reply(id, refusal(says))
    }

    fn reply(&self, id: u64, reply: Reply) -> Result<Next, Text> {
        self.outbox
            .push((), Outgoing::Reply(id, reply))
            .map(|()| Next::GoOn)
            .map_err(|why| Text::new("error-link-unread").text("why", why.text()))
    }
}
