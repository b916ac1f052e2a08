//! Futures of one thread that share its runtime without being spawned: each is polled when it was woken.
//!
//! `FuturesUnordered` wakes its own task each time it has polled all of its futures once: with one client that is
//! one more system call for each statement.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Futures that are carried out together, to the end of the last one.
pub(super) struct Tasks<F> {
    /// Those that have not ended, each with its waker.
    futures: Vec<Option<(Pin<Box<F>>, Waker)>>,
    left: usize,
    turns: Arc<Turns>,
}

/// Who is to be polled next.
#[derive(Default)]
struct Turns(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    /// Numbers of futures that were woken, each once.
    numbers: VecDeque<usize>,
    is_in: Vec<bool>,
    /// To be woken with the next number; `None` while the futures are polled.
    task: Option<Waker>,
}

impl Turns {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<usize> {
        let mut queue = self.queue();
        let number = queue.numbers.pop_front()?;
        queue.is_in[number] = false;
        Some(number)
    }
}

/// The waker of one future.
struct One {
    number: usize,
    turns: Arc<Turns>,
}

impl Wake for One {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut queue = self.turns.queue();
        if std::mem::replace(&mut queue.is_in[self.number], true) {
            return;
        }
        queue.numbers.push_back(self.number);
        let task = queue.task.take();
        drop(queue);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<F> FromIterator<F> for Tasks<F> {
    fn from_iter<I: IntoIterator<Item = F>>(all: I) -> Self {
        let turns = Arc::new(Turns::default());
        let with_waker = |(number, future)| {
            let turns = Arc::clone(&turns);
            Some((
                Box::pin(future),
                Waker::from(Arc::new(One { number, turns })),
            ))
        };
        let futures: Vec<_> = all.into_iter().enumerate().map(with_waker).collect();
        let mut queue = turns.queue();
        queue.numbers = (0..futures.len()).collect();
        queue.is_in = vec![true; futures.len()];
        drop(queue);
        Self {
            left: futures.len(),
            futures,
            turns,
        }
    }
}

impl<F: Future<Output = ()>> Future for Tasks<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // A task that is woken meanwhile has its turn at once: what one future hands to another does not wait for the rest
        // of the task. In the end that has its turn, too.
        for _ in 0..2 * this.futures.len() {
            let Some(number) = this.turns.next() else {
                break;
            };
            let Some((future, waker)) = &mut this.futures[number] else {
                continue;
            };
            let ended = future.as_mut().poll(&mut Context::from_waker(waker));
            if ended.is_ready() {
                this.futures[number] = None;
                this.left -= 1;
            }
        }
        if this.left == 0 {
            return Poll::Ready(());
        }
        let mut queue = this.turns.queue();
        match queue.numbers.is_empty() {
            true => queue.task = Some(cx.waker().clone()),
            false => cx.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tokio::sync::Mutex as Turn;

    use super::*;

    fn run(all: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(all);
    }

    #[test]
    fn all_are_carried_out_and_share_what_they_wait_for() {
        let (turn, done) = (Turn::new(()), Rc::new(RefCell::new(vec![0; 7])));
        let one = |number: usize| {
            let (turn, done) = (&turn, Rc::clone(&done));
            async move {
                for _ in 0..=number {
                    let _turn = turn.lock().await;
                    tokio::time::sleep(std::time::Duration::from_micros(100)).await;
                    done.borrow_mut()[number] += 1;
                }
            }
        };
        run((0..7).map(one).collect::<Tasks<_>>());
        assert_eq!(*done.borrow(), [1, 2, 3, 4, 5, 6, 7]);
        run((0..0).map(one).collect::<Tasks<_>>());
    }

    /// A future that only waits costs no poll of its task.
    #[test]
    fn a_task_is_woken_when_one_of_its_futures_is() {
        struct Count(Mutex<u32>);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                *self.0.lock().expect("a count") += 1;
            }
        }
        let count = Arc::new(Count(Mutex::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let woken = || *count.0.lock().expect("a count");
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let waits = async {
            let _ = receive.await;
        };
        let mut tasks = [waits].into_iter().collect::<Tasks<_>>();
        let mut poll = |cx: &mut Context<'_>| Pin::new(&mut tasks).poll(cx);
        assert!(poll(&mut cx).is_pending());
        assert!(poll(&mut cx).is_pending());
        assert_eq!(woken(), 0);
        send.send(()).expect("it waits");
        assert_eq!(woken(), 1);
        assert!(poll(&mut cx).is_ready());
    }
}
