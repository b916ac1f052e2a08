//! Turns a Zenoh session into a pipe of frames.
//!
//! ```text
//! FrameSender ──► Flow: what may be on the way ──► Zenoh ──► router ──► Zenoh ──► Inbox ──► FrameSource
//!                  ▲ how much was read                                                          │
//!                  └────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! What comes is put into a bounded queue by Zenoh's thread, which never waits here. What is sent goes
//! out in pieces, and no more of them than a router holds without waiting: one end that does not read
//! must not stop the others ([`sokudo_wire::piece`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sokudo_bus::pipe::{Arrival, FrameSender, FrameSource};
use sokudo_model::Text;
use sokudo_wire::order::{Checker, Opener, OrderError, Sealer, Signer};
use sokudo_wire::piece::{Incoming, Outgoing, Piece, PieceError};
use zenoh::key_expr::KeyExpr;
use zenoh::qos::CongestionControl;
use zenoh::sample::Locality;
use zenoh::{Session, Wait};

/// Messages that may wait to be read; a reader that is further behind is lost.
const WAITING: usize = 4096;
/// Bytes of the length in front of a frame's payload, which a message does not need.
const LENGTH: usize = 4;
/// Bytes that may wait for an end that does not read: more than the longest frame.
const MAX_BACKLOG: usize = 64 * 1024 * 1024;
/// The error of both ends of this side after it was closed.
fn closed() -> Text {
    Text::new("error-session-closed")
}

/// Encodes a frame so that the other end accepts it.
pub(crate) trait Seal: Send {
    fn seal(&mut self, frame: &[u8]) -> Vec<u8>;
}

/// Accepts a message, or rejects it.
pub(crate) trait Open: Send {
    fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, OrderError>;
}

impl Seal for Signer {
    fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        Signer::seal(self, frame)
    }
}

impl Seal for Sealer {
    fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        Sealer::seal(self, frame)
    }
}

impl Open for Checker {
    fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, OrderError> {
        Checker::open(self, bytes)
    }
}

impl Open for Opener {
    fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, OrderError> {
        Opener::open(self, bytes)
    }
}

/// Called with each rejected message.
pub(crate) type OnRefused = Box<dyn FnMut(&OrderError) + Send>;

/// The queue to which Zenoh's threads add received messages.
#[derive(Clone)]
pub(crate) struct Inbox {
    queue: SyncSender<Came>,
    end: Arc<End>,
}

enum Came {
    Bytes(Vec<u8>),
    /// Nothing more arrives: the reader finds the reason.
    End,
}

/// Reason why nothing more arrives; the first one is kept.
#[derive(Default)]
struct End(Mutex<Option<Text>>);

impl End {
    fn set(&self, why: Text) {
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.get_or_insert(why);
    }

    fn why(&self) -> Option<Text> {
        let end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.clone()
    }
}

impl Inbox {
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        if self.queue.try_send(Came::Bytes(bytes)).is_err() {
            self.end.set(Text::new("error-session-fast"));
        }
    }

    /// Closes the inbox; messages already in it are read before.
    pub(crate) fn end(&self, why: Text) {
        self.end.set(why);
        // In a full queue the reader has enough to be awake for.
        let _ = self.queue.try_send(Came::End);
    }
}

/// The reading end; `guards` are what Zenoh has declared for it, undeclared when it is dropped.
pub(crate) struct Source<G> {
    queue: Receiver<Came>,
    end: Arc<End>,
    open: Option<(Box<dyn Open>, OnRefused)>,
    /// Flow in the other direction.
    flow: Option<Arc<Flow>>,
    into: Incoming,
    _guards: Option<G>,
}

/// An inbox and its reading end, which rejects every message until it is given a verifier.
pub(crate) fn inbox<G>() -> (Inbox, Source<G>) {
    let (sender, queue) = mpsc::sync_channel(WAITING);
    let end: Arc<End> = Arc::default();
    let inbox = Inbox {
        queue: sender,
        end: Arc::clone(&end),
    };
    let source = Source {
        queue,
        end,
        open: None,
        flow: None,
        into: Incoming::default(),
        _guards: None,
    };
    (inbox, source)
}

impl<G> Source<G> {
    /// Sets the verifier of messages, the callback for rejected ones, the way back to the other end,
    /// and what to keep declared meanwhile.
    pub(crate) fn believing(
        mut self,
        open: Box<dyn Open>,
        on_refused: OnRefused,
        sender: &Sender,
        guards: G,
    ) -> Self {
        self.open = Some((open, on_refused));
        self.flow = Some(Arc::clone(&sender.flow));
        self._guards = Some(guards);
        self
    }
}

impl<G: Send> FrameSource for Source<G> {
    fn next(&mut self, bound: Duration) -> Result<Arrival, Text> {
        let deadline = Instant::now() + bound;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(bytes) = self.wait(left)? else {
                return Ok(Arrival::Idle);
            };
            let Some((open, on_refused)) = &mut self.open else {
                return Err(Text::new("error-session-early"));
            };
            let message = match open.open(&bytes) {
                Ok(message) => message,
                // A forged message must not be able to end a session.
                Err(why) if why.is_foreign() => {
                    on_refused(&why);
                    continue;
                }
                Err(why) => return Err(why.text()),
            };
            if let Some(frame) = self.take(&message)? {
                return Ok(Arrival::Frame(frame));
            }
        }
    }
}

impl<G> Source<G> {
    /// A message of the other end; the frame that it completes.
    fn take(&mut self, message: &[u8]) -> Result<Option<Vec<u8>>, Text> {
        let fault = |why: PieceError| why.text();
        let flow = self
            .flow
            .as_ref()
            .ok_or_else(|| Text::new("error-session-no-way-back"))?;
        match Piece::read(message).map_err(fault)? {
            Piece::End => Err(Text::new("error-session-closed-there")),
            Piece::Taken(bytes) => flow.taken(bytes).map(|()| None),
            Piece::Part { bytes, last } => {
                let frame = self.into.part(bytes, last).map_err(fault)?;
                if let Some(told) = self.into.due() {
                    flow.put(&told)?;
                }
                Ok(frame)
            }
        }
    }

    /// The next message as received; `None` when none arrived in time.
    fn wait(&self, bound: Duration) -> Result<Option<Vec<u8>>, Text> {
        // Looked at before the queue: whatever was put in before the end is there now.
        let came = match self.end.why() {
            Some(why) => self.queue.try_recv().map_err(|_| why)?,
            None => match self.queue.recv_timeout(bound) {
                Ok(came) => came,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => Came::End,
            },
        };
        match came {
            Came::Bytes(bytes) => Ok(Some(bytes)),
            Came::End => Err(self
                .end
                .why()
                .unwrap_or_else(|| Text::new("error-session-ended"))),
        }
    }
}

/// The behaviour of an end while the other one does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Keeps the message and continues: other receivers must be served in time.
    Keeps,
    /// Waits: earlier messages matter more than later ones.
    Waits,
}

/// One way of a session, which the sending and the receiving end of a host share.
struct Flow {
    session: Session,
    /// Declared: where it leads is looked up once, not with every message.
    key: KeyExpr<'static>,
    state: Mutex<FlowState>,
    /// The other end has read something, or the session is closed.
    moved: Condvar,
    closed: AtomicBool,
}

struct FlowState {
    seal: Box<dyn Seal>,
    out: Outgoing,
}

impl Flow {
    fn state(&self) -> MutexGuard<'_, FlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message past all that waits.
    fn put(&self, message: &[u8]) -> Result<(), Text> {
        self.put_with(&mut self.state(), message)
    }

    /// The state is held while it is sent: numbers must leave in order.
    fn put_with(&self, state: &mut FlowState, message: &[u8]) -> Result<(), Text> {
        let put = self.session.put(&self.key, state.seal.seal(message));
        put.congestion_control(CongestionControl::Block)
            .allowed_destination(Locality::Remote)
            .wait()
            .map_err(|error| Text::words(error.to_string()))
    }

    /// Sends what may be on the way now.
    fn push_on(&self, state: &mut FlowState) -> Result<(), Text> {
        while let Some(message) = state.out.next_message() {
            self.put_with(state, &message)?;
        }
        Ok(())
    }

    /// The other end has acknowledged this many bytes.
    fn taken(&self, bytes: u64) -> Result<(), Text> {
        let mut state = self.state();
        state.out.taken(bytes).map_err(|why| why.text())?;
        self.push_on(&mut state)?;
        drop(state);
        self.moved.notify_all();
        Ok(())
    }

    /// Waits until at most `most` bytes are unsent.
    fn wait(
        &self,
        state: MutexGuard<'_, FlowState>,
        most: usize,
        bound: Duration,
    ) -> Result<(), Text> {
        let waits = |state: &mut FlowState| {
            state.out.backlog() > most && !self.closed.load(Ordering::Acquire)
        };
        let waited = self.moved.wait_timeout_while(state, bound, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.out.backlog() > most {
            true if self.closed.load(Ordering::Acquire) => Err(closed()),
            true => Err(Text::new("error-session-unread")),
            false => Ok(()),
        }
    }
}

/// The sending end.
pub(crate) struct Sender {
    flow: Arc<Flow>,
    patience: Patience,
    /// Wakes the own reader when it is closed.
    inbox: Inbox,
}

impl Sender {
    /// Errors: Zenoh's session is closed.
    pub(crate) fn new(
        session: Session,
        key: String,
        seal: Box<dyn Seal>,
        patience: Patience,
        inbox: Inbox,
    ) -> zenoh::Result<Self> {
        let key = session.declare_keyexpr(key).wait()?;
        let out = Outgoing::default();
        let flow = Arc::new(Flow {
            session,
            key,
            state: Mutex::new(FlowState { seal, out }),
            moved: Condvar::new(),
            closed: AtomicBool::new(false),
        });
        Ok(Self {
            flow,
            patience,
            inbox,
        })
    }
}

impl FrameSender for Sender {
    fn send(&self, frame: &[u8], bound: Duration) -> Result<(), Text> {
        if self.flow.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let mut state = self.flow.state();
        state.out.push(frame.get(LENGTH..).unwrap_or_default());
        self.flow.push_on(&mut state)?;
        match self.patience {
            Patience::Keeps => self.flow.wait(state, MAX_BACKLOG, Duration::ZERO),
            Patience::Waits => self.flow.wait(state, 0, bound),
        }
    }

    fn close(&self) {
        if !self.flow.closed.swap(true, Ordering::AcqRel) {
            // A thread that has seen it open is waiting by now, or sees it closed before it waits.
            drop(self.flow.state());
            self.flow.moved.notify_all();
            // A peer that has disconnected needs no closing message.
            let _ = self.flow.put(&[]);
            self.inbox.end(closed());
        }
    }
}
