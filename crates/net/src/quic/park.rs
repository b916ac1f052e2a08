//! Lets a blocking thread wait for an asynchronous event, with a bound.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::wait::{LONGEST, Spinning, Wait};

/// Wakes the thread that made it.
struct Alarm {
    rung: AtomicBool,
    thread: Thread,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

thread_local! {
    /// One per thread, so that waiting allocates nothing.
    static ALARM: RefCell<(Arc<Alarm>, Waker)> = {
        let alarm = Arc::new(Alarm {
            rung: AtomicBool::new(false),
            thread: thread::current(),
        });
        let waker = Waker::from(Arc::clone(&alarm));
        RefCell::new((alarm, waker))
    };
}

/// Polls until there is a result or the bound has passed (`None`). A bound of zero polls once.
///
/// Must not be called while another call of the same thread is polling.
pub(super) fn poll_until<T>(
    wait: Wait,
    bound: Duration,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    let (alarm, waker) = ALARM.with_borrow(|(alarm, waker)| (Arc::clone(alarm), waker.clone()));
    let mut context = Context::from_waker(&waker);
    alarm.rung.store(false, Ordering::Release);
    if let Poll::Ready(done) = poll(&mut context) {
        return Some(done);
    }
    let begun = Instant::now();
    let mut spinning = Spinning::new();
    let bound = bound.min(LONGEST);
    let spin = match wait {
        Wait::Spin { for_ns } => Duration::from_nanos(for_ns),
        Wait::Block | Wait::Epoll => Duration::ZERO,
    };
    loop {
        // An alarm rung before this is not lost: either it is seen here, or it ends the sleep.
        if alarm.rung.swap(false, Ordering::AcqRel)
            && let Poll::Ready(done) = poll(&mut context)
        {
            return Some(done);
        }
        let spent = begun.elapsed();
        if spent >= bound {
            return None;
        }
        if alarm.rung.load(Ordering::Acquire) {
            continue;
        }
        if spent < spin {
            spinning.pause();
        } else {
            thread::park_timeout(bound - spent);
        }
    }
}

/// Runs a future to its end, or drops it when the bound has passed.
pub(super) fn run_until<F: Future>(bound: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_until(Wait::Block, bound, |context| future.as_mut().poll(context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_from_another_thread_ends_the_wait() {
        for wait in [Wait::Block, Wait::Spin { for_ns: u64::MAX }] {
            let done = Arc::new(AtomicBool::new(false));
            let found = thread::scope(|scope| {
                let mut told = false;
                poll_until(wait, Duration::from_secs(30), |context| {
                    if done.load(Ordering::Acquire) {
                        return Poll::Ready(7);
                    }
                    if !told {
                        told = true;
                        let (done, waker) = (Arc::clone(&done), context.waker().clone());
                        scope.spawn(move || {
                            done.store(true, Ordering::Release);
                            waker.wake();
                        });
                    }
                    Poll::Pending
                })
            });
            assert_eq!(found, Some(7));
        }
    }

    #[test]
    fn bounds_end_the_wait() {
        let never = |bound| run_until(bound, std::future::pending::<()>());
        assert_eq!(never(Duration::ZERO), None);
        assert_eq!(never(Duration::from_millis(1)), None);
        assert_eq!(run_until(Duration::ZERO, std::future::ready(1)), Some(1));
    }
}
