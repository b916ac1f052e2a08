//! Carries the messages between a controller and its agents.
//!
//! ```text
//! controller                                                        agent
//!   Bus ─┬─ Link ── in_proc: a thread of the same process ────────► Handler
//!        ├─ Link ── direct: TLS 1.3 to `sokudo serve` ────────────► Handler, one per client
//!        └─ notes() ◄──────────────────────────────────────────────  Notes
//! ```
//!
//! One [`Bus`] per run, one [`Link`] per member. Asks have answers and bounds; notes arrive in the
//! order in which each agent pushed them, and notes that did not fit are counted and reported, never
//! silently lost. Both ends detect the loss of the other: the bus emits
//! [`Note::Lost`](sokudo_wire::Note::Lost) once, and the agent's [`Handler`] is dropped, which must stop
//! its load.

pub mod agent;
pub mod bus;
pub mod carried;
pub mod direct;
pub mod entry;
pub mod error;
mod hush;
pub mod in_proc;
mod latch;
mod mailbox;
mod notes;
pub mod pipe;
mod pulse;
mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_wire::{Ask, Reply};

pub use agent::{Client, Handler, Notes};
pub use bus::{Bus, Member, MemberId};
pub use error::BusError;
pub use mailbox::PushError;
pub use notes::{NoteSink, Receiver};

/// The controller's connection to one agent.
pub trait Link: Send + Sync {
    /// Sends an ask and waits for its answer, at most `bound`. Several threads may ask at once.
    ///
    /// Errors: [`BusError::TimedOut`], [`BusError::Lost`], [`BusError::TooLong`].
    fn ask(&self, ask: Ask, bound: Duration) -> Result<Reply, BusError> {
        self.begin(ask, bound)?.wait()
    }

    /// Sends an ask whose answer is waited for later, until `bound` from now on. A network that takes
    /// no bytes at all is given 20 s before the connection counts as lost.
    ///
    /// Errors: [`BusError::Lost`], [`BusError::TooLong`]; [`BusError::TimedOut`] when nothing more fits.
    fn begin(&self, ask: Ask, bound: Duration) -> Result<PendingReply<'_>, BusError>;

    /// Time since anything was received from the other end; zero in the same process, where both ends
    /// exist equally long.
    fn silent(&self) -> Duration {
        Duration::ZERO
    }

    /// True when the link goes on over a new connection, should the one that it has be cut.
    fn can_renew(&self) -> bool {
        false
    }

    /// Gives up a connection over which nothing comes any more, for a new one.
    fn renew(&self) {}

    /// Sets the receiver of notes. Called once by the bus; earlier notes are passed on.
    fn attach(&self, sink: NoteSink);

    /// Ends the connection on purpose: no `Lost` note follows. May be called twice.
    fn close(&self);

    /// Name of the other end, for messages: `hostb:7411`.
    fn describe(&self) -> &str;
}

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience<'a> {
    bound: Duration,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Patience<'a> {
    /// So long, unless `stop` is set first.
    pub fn unless(stop: &'a AtomicBool, bound: Duration) -> Self {
        let stop = Some(stop);
        Self { bound, stop }
    }
}

impl From<Duration> for Patience<'_> {
    fn from(bound: Duration) -> Self {
        let stop = None;
        Self { bound, stop }
    }
}

/// Waits at most so long for an answer.
type Look<'link> = dyn FnMut(Duration) -> Option<Result<Reply, BusError>> + 'link;

/// An answer that is under way. Dropping it forgets the ask.
pub struct PendingReply<'link>(Box<Look<'link>>);

impl<'link> PendingReply<'link> {
    /// `look` waits at most as long as it is told for the answer, or the reason why there is none, which comes
    /// at the latest when the ask's bound is over.
    pub fn new(look: impl FnMut(Duration) -> Option<Result<Reply, BusError>> + 'link) -> Self {
        Self(Box::new(look))
    }

    /// The answer.
    ///
    /// Errors: [`BusError::TimedOut`], [`BusError::Lost`].
    pub fn wait(self) -> Result<Reply, BusError> {
        self.wait_unless(None)
    }

    /// The same, unless `stop` is set first.
    ///
    /// Errors: [`BusError::Stopped`], too.
    fn wait_unless(mut self, stop: Option<&AtomicBool>) -> Result<Reply, BusError> {
        const LOOK: Duration = Duration::from_millis(50);
        let time = stop.map_or(Duration::MAX, |_| LOOK);
        loop {
            if let Some(answer) = (self.0)(time) {
                return answer;
            }
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(BusError::Stopped);
            }
        }
    }
}
