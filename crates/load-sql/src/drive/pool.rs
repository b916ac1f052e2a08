//! The sessions of a load thread, and who has them.
//!
//! ```text
//! clients ──► waiting, in order ──► one of the sessions, for one transaction
//! ```
//!
//! Without `--pool` there are as many sessions as clients, and each client keeps its own.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Sessions that the clients of a thread share.
pub(super) struct Pool<C> {
    idle: RefCell<Vec<C>>,
    free: Semaphore,
    size: usize,
    waiting: Cell<u32>,
}

/// A session that one client has; dropping it gives it back.
pub(super) struct Borrowed<'a, C> {
    pool: &'a Pool<C>,
    /// There until it is given back.
    session: Option<C>,
    _permit: SemaphorePermit<'a>,
}

impl<C> Pool<C> {
    pub(super) fn new(sessions: Vec<C>) -> Self {
        Self {
            free: Semaphore::new(sessions.len()),
            size: sessions.len(),
            idle: RefCell::new(sessions),
            waiting: Cell::new(0),
        }
    }

    /// A session, at once or as soon as those who asked before have had one.
    pub(super) async fn borrow(&self) -> Option<Borrowed<'_, C>> {
        self.waiting.set(self.waiting.get() + 1);
        let waits = Waits(&self.waiting);
        let permit = self.free.acquire().await.ok()?;
        drop(waits);
        let session = self.idle.borrow_mut().pop();
        Some(Borrowed {
            pool: self,
            session: Some(session?),
            _permit: permit,
        })
    }

    /// The sessions that no client has.
    pub(super) fn take(&self) -> Vec<C> {
        self.idle.take()
    }

    /// Sessions that are with clients, or on their way to one that waited for it.
    pub(super) fn used(&self) -> usize {
        self.size.saturating_sub(self.free.available_permits())
    }

    /// Clients that wait for one.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.get()
    }
}

/// A client that waits, until it has a session or gives up.
struct Waits<'a>(&'a Cell<u32>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<C> Drop for Borrowed<'_, C> {
    fn drop(&mut self) {
        // Before the permit, so that a task which gets the permit finds a session.
        self.pool.idle.borrow_mut().extend(self.session.take());
    }
}

impl<C> Deref for Borrowed<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.session
            .as_ref()
            .expect("it is there until it is given back")
    }
}

impl<C> DerefMut for Borrowed<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        self.session
            .as_mut()
            .expect("it is there until it is given back")
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::poll_immediate;

    use super::*;

    #[test]
    fn sessions_are_lent_in_order_and_who_gives_up_waits_no_longer() {
        let pool = Pool::new(vec!['a', 'b']);
        let now = |pool| futures_util::FutureExt::now_or_never(poll_immediate(Pool::borrow(pool)));
        let first = now(&pool).flatten().flatten().expect("a session");
        let second = now(&pool).flatten().flatten().expect("another");
        assert_ne!(*first, *second);
        assert_eq!((pool.used(), pool.waiting()), (2, 0));
        let mut early = Box::pin(pool.borrow());
        let mut late = Box::pin(pool.borrow());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(early.as_mut().poll(&mut context).is_pending());
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert_eq!(pool.waiting(), 2);
        drop(first);
        // It is on its way, and never free in between.
        assert_eq!(pool.used(), 2);
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert!(early.as_mut().poll(&mut context).is_ready());
        drop(late);
        assert_eq!((pool.used(), pool.waiting()), (1, 0));
    }
}
