//! How does a session become a pipe of frames?
//!
//! What comes is put into a bounded queue by Zenoh's thread, which never waits here. What is sent
//! blocks while the link is full, a bounded time. An empty frame says that the other end closes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sokudo_bus::pipe::{Arrival, FrameSender, FrameSource};
use sokudo_wire::order::{Checker, Opener, OrderError, Sealer, Signer};
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

/// Messages that may wait to be read; a reader that is further behind is lost.
const WAITING: usize = 4096;
/// Bytes of the length in front of a frame's payload, which a message does not need.
const LENGTH: usize = 4;

/// Makes bytes of a frame that the other end believes.
pub(crate) trait Seal: Send {
    fn seal(&mut self, frame: &[u8]) -> Vec<u8>;
}

/// Believes, or not.
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

/// Hears of what was not believed.
pub(crate) type OnRefused = Box<dyn FnMut(&OrderError) + Send>;

/// Where Zenoh's threads put what comes.
#[derive(Clone)]
pub(crate) struct Inbox {
    queue: SyncSender<Came>,
    broken: Arc<AtomicBool>,
}

enum Came {
    Bytes(Vec<u8>),
    /// Nothing more comes, and why.
    End(String),
}

impl Inbox {
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        if self.queue.try_send(Came::Bytes(bytes)).is_err() {
            self.broken.store(true, Ordering::Release);
        }
    }

    /// The other end is gone.
    pub(crate) fn end(&self, why: &str) {
        if self.queue.try_send(Came::End(why.to_owned())).is_err() {
            self.broken.store(true, Ordering::Release);
        }
    }
}

/// The reading end; `guards` are what Zenoh has declared for it, undeclared when it is dropped.
pub(crate) struct Source<G> {
    queue: Receiver<Came>,
    broken: Arc<AtomicBool>,
    open: Option<(Box<dyn Open>, OnRefused)>,
    _guards: Option<G>,
}

/// An inbox and its reading end, which believes nothing until it is told whom.
pub(crate) fn inbox<G>() -> (Inbox, Source<G>) {
    let (sender, queue) = mpsc::sync_channel(WAITING);
    let broken: Arc<AtomicBool> = Arc::default();
    let inbox = Inbox {
        queue: sender,
        broken: Arc::clone(&broken),
    };
    let source = Source {
        queue,
        broken,
        open: None,
        _guards: None,
    };
    (inbox, source)
}

impl<G> Source<G> {
    /// Whom to believe, who hears of everybody else, and what to keep declared meanwhile.
    pub(crate) fn believing(
        mut self,
        open: Box<dyn Open>,
        on_refused: OnRefused,
        guards: G,
    ) -> Self {
        self.open = Some((open, on_refused));
        self._guards = Some(guards);
        self
    }
}

impl<G: Send> FrameSource for Source<G> {
    fn next(&mut self, bound: Duration) -> Result<Arrival, String> {
        let deadline = Instant::now() + bound;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(bytes) = self.wait(left)? else {
                return Ok(Arrival::Idle);
            };
            let Some((open, on_refused)) = &mut self.open else {
                return Err("it spoke before the session was open".into());
            };
            match open.open(&bytes) {
                Ok(payload) if payload.is_empty() => {
                    return Err("the other side closed the session".into());
                }
                Ok(payload) => return Ok(Arrival::Frame(payload)),
                // Whoever forges must not be able to end what others do.
                Err(why) if why.is_foreign() => on_refused(&why),
                Err(why) => return Err(why.to_string()),
            }
        }
    }
}

impl<G> Source<G> {
    /// What came, as it travelled; `None` when nothing did in time.
    fn wait(&self, bound: Duration) -> Result<Option<Vec<u8>>, String> {
        match self.queue.recv_timeout(bound) {
            Ok(Came::Bytes(bytes)) => Ok(Some(bytes)),
            Ok(Came::End(why)) => Err(why),
            Err(RecvTimeoutError::Timeout) if self.broken.load(Ordering::Acquire) => {
                Err("messages came faster than they were read".into())
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("the session has ended".into()),
        }
    }
}

/// The sending end.
pub(crate) struct Sender {
    session: Session,
    key: String,
    seal: Mutex<Box<dyn Seal>>,
    /// Wakes the own reader when it is closed.
    inbox: Inbox,
    closed: AtomicBool,
}

impl Sender {
    pub(crate) fn new(session: Session, key: String, seal: Box<dyn Seal>, inbox: Inbox) -> Self {
        Self {
            session,
            key,
            seal: Mutex::new(seal),
            inbox,
            closed: AtomicBool::new(false),
        }
    }

    fn put(&self, payload: &[u8]) -> Result<(), String> {
        // Held while it is sent: numbers must leave in order.
        let mut seal = self.seal.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = seal.seal(payload);
        let put = self.session.put(&self.key, bytes);
        put.congestion_control(CongestionControl::Block)
            .wait()
            .map_err(|error| error.to_string())
    }
}

impl FrameSender for Sender {
    /// The bound is that of the link: it is given up when it takes nothing for 20 s.
    fn send(&self, frame: &[u8], _bound: Duration) -> Result<(), String> {
        if self.closed.load(Ordering::Acquire) {
            return Err("the session is closed".into());
        }
        self.put(frame.get(LENGTH..).unwrap_or_default())
    }

    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            // Whoever is gone needs no farewell.
            let _ = self.put(&[]);
            self.inbox.end("the session is closed");
        }
    }
}
