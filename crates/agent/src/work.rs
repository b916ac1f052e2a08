//! The phase of a session, and its part of what the host's policy allows.
//!
//! A load ends by itself. What answers it does not: it waits until the controller asks for the result. On a
//! host with a policy a [`Fuse`] ends both when the controller has not asked in time.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_model::{Change, Refusal, Text};
use sokudo_workload::Phase;
use sokudo_workload::limit::Limit;
use sokudo_workload::refusal::{failed, spawn};

use crate::load::Share;

/// A phase with its share of the host, which is given back when the load has ended.
struct Held {
    phase: Box<dyn Phase>,
    share: Option<Share>,
}

/// A session's phase, until it is over.
pub(crate) struct Work {
    held: Arc<Mutex<Option<Held>>>,
    /// What the ends that answer are held to; `None` = anything.
    limit: Option<Arc<Limit>>,
    fuse: Option<Fuse>,
}

/// Ends a phase at a time unless it is dropped before.
struct Fuse {
    _burning: Sender<()>,
}

impl Work {
    pub(crate) fn new(mut phase: Box<dyn Phase>, share: Option<Share>) -> Self {
        let limit = share.as_ref().and_then(Share::limit).cloned();
        if let Some(limit) = &limit {
            phase.hold_to(limit);
        }
        let held = Arc::new(Mutex::new(Some(Held { phase, share })));
        Self {
            held,
            limit,
            fuse: None,
        }
    }

    /// Ends the phase after so long, if it is still there.
    ///
    /// Errors: no thread.
    pub(crate) fn end_after(&mut self, left: Duration) -> Result<(), Refusal> {
        let (burning, put_out) = mpsc::channel::<()>();
        let held = Arc::clone(&self.held);
        spawn("fuse", move || {
            if put_out.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                drop(locked(&held).take());
            }
        })?;
        self.fuse = Some(Fuse { _burning: burning });
        Ok(())
    }

    /// What is granted grows from this moment on.
    pub(crate) fn begin_limit(&self, at_ns: i64) {
        if let Some(limit) = &self.limit {
            limit.begin(at_ns);
        }
    }

    /// The reason why the phase ended, when the other ends asked for more than was granted.
    pub(crate) fn exceeded(&self) -> Option<Refusal> {
        let is_exceeded = self.limit.as_ref().is_some_and(|limit| limit.is_exceeded());
        is_exceeded.then(|| {
            failed(
                Text::new("error-agent-rate-exceeded"),
                Some(Text::new("error-policy-forbids-hint")),
            )
        })
    }

    /// Does something with the phase. Errors: it is over, or what `act` says.
    pub(crate) fn with<T>(
        &self,
        act: impl FnOnce(&mut dyn Phase) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match &mut *locked(&self.held) {
            Some(held) => act(&mut *held.phase),
            None => Err(over()),
        }
    }

    /// Changes the load within what the policy leaves beside the other sessions. `note` logs that first.
    ///
    /// Errors: the phase is over, the change is not allowed or not possible.
    pub(crate) fn steer(
        &self,
        change: &Change,
        note: impl FnOnce() -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut held = locked(&self.held);
        let held = held.as_mut().ok_or_else(over)?;
        let before = held.share.as_ref().map(|share| share.change(change));
        let before = before.transpose()?;
        let steered = note().and_then(|()| held.phase.steer(change));
        if let (Err(_), Some(share), Some(before)) = (&steered, &held.share, before) {
            share.set(before);
        }
        steered
    }

    /// Waits for the end of the phase. Errors: it is over, or its result cannot be had.
    pub(crate) fn drain(&self, sent: &[Option<String>]) -> Result<String, Refusal> {
        if let Some(why) = self.exceeded() {
            drop(locked(&self.held).take());
            return Err(why);
        }
        let held = locked(&self.held).take();
        let mut held = held.ok_or_else(over)?;
        held.phase.drain(sent)
    }
}

impl Drop for Work {
    /// Ends the load, also where the fuse still waits for its time.
    fn drop(&mut self) {
        let held = locked(&self.held).take();
        drop(held);
    }
}

fn locked(held: &Mutex<Option<Held>>) -> MutexGuard<'_, Option<Held>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn over() -> Refusal {
    failed(Text::new("error-agent-phase-over"), None)
}
