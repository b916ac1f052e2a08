//! The timer of a load thread.
//!
//! A timer of the runtime gives each wait for an answer a timeout, which the kernel starts and stops with it: a file
//! of a timer costs nothing until its moment comes. Where there is none, the runtime's own timer is used.

use std::io;
use std::time::Duration;

use sokudo_net::clock::now_ns;

/// A timer that one task waits for.
pub(super) struct Timer {
    #[cfg(unix)]
    alarm: Option<tokio::io::unix::AsyncFd<sokudo_net::alarm::Alarm>>,
}

impl Timer {
    /// One for the runtime that this thread is in.
    pub(super) fn new() -> Self {
        Self {
            #[cfg(unix)]
            alarm: alarm().ok(),
        }
    }

    /// Waits until a moment of [`now_ns`].
    pub(super) async fn until(&self, at_ns: i64) {
        #[cfg(unix)]
        if let Some(alarm) = &self.alarm
            && rung(alarm, at_ns).await.is_ok()
        {
            return;
        }
        let left_ns = (at_ns - now_ns()).max(0).unsigned_abs();
        tokio::time::sleep(Duration::from_nanos(left_ns)).await;
    }
}

#[cfg(unix)]
#[expect(
    deprecated,
    reason = "the other way needs `unsafe`; an alarm keeps its file as long as it lives"
)]
fn alarm() -> io::Result<tokio::io::unix::AsyncFd<sokudo_net::alarm::Alarm>> {
    let alarm = sokudo_net::alarm::Alarm::new()?;
    tokio::io::unix::AsyncFd::with_interest(alarm, tokio::io::Interest::READABLE)
}

#[cfg(unix)]
async fn rung(
    alarm: &tokio::io::unix::AsyncFd<sokudo_net::alarm::Alarm>,
    at_ns: i64,
) -> io::Result<()> {
    alarm.get_ref().set(at_ns)?;
    // The next moment that is set takes back that it can be read.
    alarm.readable().await?.clear_ready();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_until_each_moment_and_not_less() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut timers = [Timer::new(), Timer::new()];
            // As where there is no file for it.
            #[cfg(unix)]
            {
                timers[1].alarm = None;
            }
            for timer in &timers {
                for wait_ns in [3_000_000, -1_000_000, 0, 5_000_000] {
                    let at_ns = now_ns() + wait_ns;
                    timer.until(at_ns).await;
                    assert!(now_ns() >= at_ns);
                }
            }
        });
    }
}
