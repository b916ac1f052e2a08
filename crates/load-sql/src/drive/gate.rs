//! Dispatch of due transactions to the clients of a thread.
//!
//! In a closed loop every client starts one as soon as its last one has ended. In an open loop each
//! transaction has its time: one client at a time waits for it, the others queue behind that one.

use std::cell::Cell;
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_workload::exchange::{Details, Next};
use tokio::sync::Mutex;

use super::client::Shared;

/// Longest wait after which a client looks whether the load was ended.
const LOOK_NS: i64 = 50_000_000;
/// Greatest lateness of the runtime's timer, nanoseconds.
const TIMER_NS: i64 = 2_000_000;

/// The way to the next transaction for all clients of a thread.
pub(super) struct Gate {
    turn: Mutex<()>,
    /// Clients that wait, and since when there is one.
    waiting: Cell<u32>,
    idle_since_ns: Cell<i64>,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self {
            turn: Mutex::new(()),
            waiting: Cell::new(0),
            idle_since_ns: Cell::new(i64::MIN),
        }
    }

    /// Intended start of the transaction that the caller is to carry out, and whether a client was free at
    /// that time; `None` when there is none any more. A client that is new here was free all the time, however late
    /// its thread began.
    pub(super) async fn next<D: Details>(
        &self,
        shared: &Shared<'_, D>,
        is_new: bool,
    ) -> Option<(i64, bool)> {
        if !shared.course().schedule.is_open() {
            return match shared.next(now_ns()) {
                Next::Now(intended_ns) => Some((intended_ns, true)),
                Next::At(_) | Next::Over => None,
            };
        }
        let others = self.waiting.replace(self.waiting.get() + 1);
        if is_new {
            self.idle_since_ns.set(i64::MIN);
        } else if others == 0 {
            self.idle_since_ns.set(now_ns());
        }
        let taken = self.take(shared).await;
        self.waiting.set(self.waiting.get() - 1);
        taken
    }

    async fn take<D: Details>(&self, shared: &Shared<'_, D>) -> Option<(i64, bool)> {
        let _turn = self.turn.lock().await;
        loop {
            let now = now_ns();
            match shared.next(now) {
                Next::Over => return None,
                Next::At(at_ns) => sleep_until(at_ns.min(now + LOOK_NS)).await,
                Next::Now(intended_ns) => {
                    return Some((intended_ns, intended_ns >= self.idle_since_ns.get()));
                }
            }
        }
    }
}

/// Waits until a moment. The runtime's timer counts whole milliseconds: the rest is waited for by letting others
/// run, again and again.
pub(crate) async fn sleep_until(at_ns: i64) {
    let left_ns = at_ns - now_ns();
    if left_ns > TIMER_NS {
        let sleep_ns = (left_ns - TIMER_NS).unsigned_abs();
        tokio::time::sleep(Duration::from_nanos(sleep_ns)).await;
    }
    while now_ns() < at_ns {
        tokio::task::yield_now().await;
    }
}
