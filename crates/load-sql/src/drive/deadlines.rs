//! Deadlines of the clients of a thread, behind one timer.
//!
//! Each client waits for one thing at a time, and almost all of its waits end long before their deadline. A timer of
//! the runtime for each would be registered and removed for nothing: here a client notes until when it waits, and
//! the task with the timer looks at all of them.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sokudo_net::clock::now_ns;

/// Nobody waits.
const NEVER: i64 = i64::MAX;
/// The deadline has passed, and the client is to hear of it.
const PASSED: i64 = i64::MIN;

/// Longest waits of all clients of a thread.
pub(super) struct Deadlines {
    bound_ns: i64,
    clients: Vec<Deadline>,
}

/// Longest wait of one client.
pub(super) struct Deadline {
    bound_ns: i64,
    at_ns: Cell<i64>,
    /// Wakes the client; kept from one wait to the next.
    waker: RefCell<Option<Waker>>,
}

impl Deadlines {
    pub(super) fn new(bound: Duration, clients: usize) -> Self {
        let bound_ns = i64::try_from(bound.as_nanos()).unwrap_or(NEVER);
        let of_client = |_| Deadline {
            bound_ns,
            at_ns: Cell::new(NEVER),
            waker: RefCell::new(None),
        };
        Self {
            bound_ns,
            clients: (0..clients).map(of_client).collect(),
        }
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = &Deadline> {
        self.clients.iter()
    }

    /// Wakes the clients whose deadline has passed. Returns when to look again: until then no deadline passes, those
    /// of waits included that have not begun.
    pub(super) fn look(&self, now: i64) -> i64 {
        let mut next_ns = now.saturating_add(self.bound_ns);
        for client in &self.clients {
            match client.at_ns.get() {
                // It was woken before, and has not had its turn.
                PASSED => {}
                at_ns if at_ns <= now => client.pass(),
                at_ns => next_ns = next_ns.min(at_ns),
            }
        }
        next_ns
    }
}

impl Deadline {
    /// Awaits a call that began at `begun_ns`; `None` where it has not ended within the bound.
    pub(super) async fn within<T>(
        &self,
        begun_ns: i64,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        let mut call = pin!(call);
        self.at_ns.set(begun_ns.saturating_add(self.bound_ns));
        let ended = poll_fn(|cx| match call.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => self.wait(cx).map(|()| None),
        });
        let ended = ended.await;
        self.at_ns.set(NEVER);
        ended
    }

    /// [`Self::within`] for a call that begins now.
    pub(super) async fn starting_now<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        self.within(now_ns(), call).await
    }

    fn wait(&self, cx: &Context<'_>) -> Poll<()> {
        if self.at_ns.get() == PASSED {
            return Poll::Ready(());
        }
        let mut waker = self.waker.borrow_mut();
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    #[cold]
    fn pass(&self) {
        self.at_ns.set(PASSED);
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::{Either, select};

    use super::*;

    const BOUND: Duration = Duration::from_millis(50);
    const BOUND_NS: i64 = 50_000_000;

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(work)
    }

    fn one(deadlines: &Deadlines) -> &Deadline {
        deadlines.clients().next().expect("a client")
    }

    #[test]
    fn a_wait_ends_with_its_deadline_and_the_next_one_has_its_own() {
        let deadlines = Deadlines::new(BOUND, 1);
        let client = one(&deadlines);
        let mut looks = 0;
        let mut look = |now| {
            looks += 1;
            deadlines.look(now)
        };
        run(async {
            assert_eq!(client.within(0, ready(7)).await, Some(7));
            let mut waits = pin!(client.within(1000, pending::<()>()));
            let mut poll = async || poll_fn(|cx| Poll::Ready(waits.as_mut().poll(cx))).await;
            assert!(poll().await.is_pending());
            assert_eq!(look(2000), 1000 + BOUND_NS);
            assert!(poll().await.is_pending());
            look(1000 + BOUND_NS - 1);
            assert!(poll().await.is_pending());
            look(1000 + BOUND_NS);
            assert_eq!(poll().await, Poll::Ready(None));
            assert_eq!(client.within(0, ready(8)).await, Some(8));
        });
        assert_eq!(looks, 3);
        // Nobody waits: a wait that begins right now ends after the bound.
        assert_eq!(deadlines.look(9000), 9000 + BOUND_NS);
    }

    /// Whoever looks when it was told to is late for no deadline.
    #[test]
    fn the_next_look_comes_before_every_deadline() {
        let deadlines = Deadlines::new(BOUND, 3);
        let begun = [5, 3_000_000, 30_000_000];
        run(async {
            let mut waits: Vec<_> = (deadlines.clients().zip(begun))
                .map(|(client, begun_ns)| Box::pin(client.within(begun_ns, pending::<()>())))
                .collect();
            for wait in &mut waits {
                let polled = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx)));
                assert!(polled.await.is_pending());
            }
            let mut now = 40_000_000;
            for begun_ns in begun {
                now = deadlines.look(now);
                assert_eq!(now, begun_ns + BOUND_NS);
            }
        });
    }

    /// A client that waits for nothing else is woken by its deadline.
    #[test]
    fn a_passed_deadline_wakes_its_client() {
        let deadlines = Deadlines::new(BOUND, 2);
        let ended = run(async {
            let waits = one(&deadlines).starting_now(pending::<()>());
            let timer = async {
                for _ in 0..10_000 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    deadlines.look(now_ns());
                }
                panic!("the client was not woken");
            };
            match select(pin!(waits), pin!(timer)).await {
                Either::Left((ended, _)) => ended,
                Either::Right((never, _)) => never,
            }
        });
        assert_eq!(ended, None);
    }
}
