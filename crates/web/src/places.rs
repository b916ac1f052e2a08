//! Places for work that takes its time, and for those who wait for one.
//!
//! Who waits holds a connection that cannot be taken away: their number is bounded, so that others find
//! room.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests that wait for a place of one kind.
pub(crate) const WAITING_MAX: usize = 12;

/// The places for one kind of work.
#[derive(Clone)]
pub(crate) struct Places {
    work: Arc<Semaphore>,
    /// The same, and those who wait.
    all: Arc<Semaphore>,
}

/// A place; free again when dropped.
pub(crate) struct Place {
    _work: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Places {
    /// So many work at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            work: Arc::new(Semaphore::new(most)),
            all: Arc::new(Semaphore::new(most + WAITING_MAX)),
        }
    }

    /// A place, as soon as one is free; `None` when as many wait for one as may.
    pub(crate) async fn take(&self) -> Option<Place> {
        let all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        let work = Arc::clone(&self.work).acquire_owned().await.ok()?;
        Some(Place {
            _work: work,
            _all: all,
        })
    }
}
