//! Ends calls of a driver that collect without end what a server sends.
//!
//! The driver of MariaDB and MySQL keeps the definitions of all columns of a result, and a row, before it
//! hands anything over; how many and how long they are, the server says. The driver tells nobody how much
//! it has read, and its connections cannot be given to it. What it keeps lies in the memory of this
//! process: a call that goes on reading while that grows is ended.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use mysql_async::Error;

/// Most bytes by which the memory of the process may grow while a call reads: three of the longest rows.
const MOST_BYTES: u64 = 192 << 20;
/// Time between two looks. A call that takes less is never looked at.
const LOOK: Duration = Duration::from_millis(5);
/// Times that a call is woken before it is held to anything: what is short has come by then.
const SHORT: u32 = 64;

/// Awaits a call; ends it when the memory of the process grows while it reads.
///
/// Errors: those of the call, or that it was ended.
pub(crate) async fn bounded<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut call = pin!(call);
    let mut watch = Watch::new();
    poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(done),
        Poll::Pending if watch.has_grown(resident_bytes) => Poll::Ready(Err(too_much().into())),
        Poll::Pending => Poll::Pending,
    })
    .await
}

fn too_much() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the server sends more before the first row, or as one row, than memory is kept for",
    )
}

/// Looks at the memory of the process from time to time.
struct Watch {
    woken: u32,
    looked: Option<Instant>,
    /// Memory at the first look.
    began: Option<u64>,
}

impl Watch {
    const fn new() -> Self {
        Self {
            woken: 0,
            looked: None,
            began: None,
        }
    }

    /// True when the memory has grown by too much since the first look.
    fn has_grown(&mut self, memory: impl Fn() -> Option<u64>) -> bool {
        self.woken = self.woken.saturating_add(1);
        let looked = *self.looked.get_or_insert_with(Instant::now);
        if looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Some(Instant::now());
        let Some(now) = memory() else {
            return false;
        };
        let began = *self.began.get_or_insert(now);
        self.woken > SHORT && now.saturating_sub(began) > MOST_BYTES
    }
}

/// Resident memory of this process; `None` where the system has no such table.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch whose last look was long ago.
    fn due(watch: &mut Watch) {
        watch.looked = Instant::now().checked_sub(2 * LOOK);
    }

    #[test]
    fn a_call_that_waits_is_not_blamed_for_the_memory_of_others() {
        let mut watch = Watch::new();
        for memory in [0, MOST_BYTES * 4] {
            due(&mut watch);
            assert!(!watch.has_grown(|| Some(memory)));
        }
    }

    #[test]
    fn a_call_that_reads_and_grows_is_ended() {
        let mut watch = Watch::new();
        for _ in 0..SHORT {
            due(&mut watch);
            assert!(!watch.has_grown(|| Some(MOST_BYTES)));
        }
        due(&mut watch);
        assert!(!watch.has_grown(|| Some(MOST_BYTES * 2)));
        due(&mut watch);
        assert!(watch.has_grown(|| Some(MOST_BYTES * 2 + 1)));
        due(&mut watch);
        assert!(!watch.has_grown(|| None), "what is not known blames nobody");
    }
}
