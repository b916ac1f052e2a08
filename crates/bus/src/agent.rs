//! The agent's side of the bus.
//!
//! Each controller gets its own [`Handler`]: created when it connects, called for one ask at a time,
//! dropped when the controller leaves, vanishes or stops sending. Dropping must stop all load. A long
//! computation should be split into slices, with a check of [`Notes::should_stop`] between them.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sokudo_model::Text;
use sokudo_wire::{Ask, Note, Reply};

use crate::mailbox::{Mailbox, PushError};
use crate::notes::Uplink;

/// Serves one controller. Lives on a thread of its own.
pub trait Handler: Send {
    /// Answers one ask. [`Ask::Lease`] and [`Ask::Hush`] are answered by the bus and never come here.
    fn handle(&mut self, ask: Ask) -> Reply;
}

/// Makes a handler for each controller that connects.
pub type Factory = Arc<dyn Fn(Client, Notes) -> Box<dyn Handler> + Send + Sync>;

/// A controller, as the agent knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Name that it claims: a host name. Authenticated only as far as the key authenticates callers.
    pub name: String,
    /// The peer's address: `192.0.2.1:50412`, or `in process`.
    pub address: String,
}

/// Pushes notes to the controller. Clones share the way; pushing never waits.
#[derive(Clone)]
pub struct Notes {
    gate: Arc<Gate>,
    port: Port,
}

#[derive(Clone)]
pub(crate) enum Port {
    /// Straight to the bus of the same process.
    Uplink(Arc<Uplink>),
    /// To the thread that writes to the network.
    Outbox(Arc<Mailbox<(), Outgoing>>),
}

/// A message from an agent to the network, in the order of sending.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// Answer to the ask of this number.
    Reply(u64, Reply),
    /// Something unasked.
    Note(Note),
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notes(gone: {})", self.is_gone())
    }
}

impl Notes {
    pub(crate) fn new(gate: Arc<Gate>, port: Port) -> Self {
        Self { gate, port }
    }

    /// Hands over a note; the order of one agent's notes and replies is kept.
    ///
    /// Errors: `Gone` when the controller is; `Full` when it reads too slowly, in which case the
    /// note is dropped and the controller is told how many were.
    pub fn push(&self, note: Note) -> Result<(), PushError> {
        if self.gate.is_gone() {
            return Err(PushError::Gone);
        }
        match &self.port {
            Port::Uplink(uplink) => uplink.push(note),
            Port::Outbox(outbox) => outbox.push((), Outgoing::Note(note)),
        }
    }

    /// True when the controller has disconnected: the result of the current ask is not needed any more.
    pub fn is_gone(&self) -> bool {
        self.gate.is_gone()
    }

    /// True when the controller has disconnected, or a `Stop` or `Bye` waits behind the ask being
    /// handled.
    pub fn should_stop(&self) -> bool {
        self.gate.is_gone() || self.gate.stops.load(Ordering::Acquire) > 0
    }
}

/// The state of the controller's connection that an agent's threads share.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    gone: AtomicBool,
    why: Mutex<Option<Text>>,
    /// `Stop` and `Bye` asks received and not yet handled.
    stops: AtomicU32,
}

impl Gate {
    /// Records that the controller has disconnected; the first reason is kept.
    pub(crate) fn shut(&self, why: Text) {
        let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(why);
        self.gone.store(true, Ordering::Release);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Reason of the disconnection.
    pub(crate) fn why(&self) -> Option<Text> {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.clone()
    }

    /// An ask came in.
    pub(crate) fn received(&self, ask: &Ask) {
        if matches!(ask, Ask::Stop | Ask::Bye) {
            self.stops.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// It is the handler's turn to handle an ask that was `received`: it no longer interrupts.
    pub(crate) fn taken(&self, ask: &Ask) {
        if matches!(ask, Ask::Stop | Ask::Bye) {
            self.stops.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
