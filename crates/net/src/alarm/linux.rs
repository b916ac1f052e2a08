//! The file of a timer of the kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

const SECOND_NS: i64 = 1_000_000_000;

/// A file that can be read from the moment on that was set last.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// One that is not set.
    ///
    /// Errors: this process may not hold another file.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Sets the moment, in place of the one before, by [`now_ns`](crate::clock::now_ns); one that has passed is now.
    ///
    /// Errors: those of the system.
    pub fn set(&self, at_ns: i64) -> io::Result<()> {
        // Zero would mean that it is not set.
        let at_ns = at_ns.max(1);
        let at = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: at_ns / SECOND_NS,
                tv_nsec: at_ns % SECOND_NS,
            },
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &at)?;
        Ok(())
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use crate::clock::now_ns;

    fn waited(alarm: &Alarm) -> i64 {
        let mut one = [PollFd::new(&alarm.0, PollFlags::IN)];
        assert_eq!(poll(&mut one, None).expect("a wait"), 1);
        now_ns()
    }

    #[test]
    fn it_can_be_read_from_its_moment_on_and_is_set_again_without_being_read() {
        let alarm = Alarm::new().expect("a file");
        for wait_ns in [2_000_000, 0, -5_000_000_000, 3_000_000] {
            let at_ns = now_ns() + wait_ns;
            alarm.set(at_ns).expect("a moment");
            assert!(waited(&alarm) >= at_ns);
        }
        alarm.set(now_ns() + 3_600 * SECOND_NS).expect("a moment");
        let mut one = [PollFd::new(&alarm.0, PollFlags::IN)];
        let now = Timespec::default();
        assert_eq!(poll(&mut one, Some(&now)).expect("a look"), 0);
    }
}
