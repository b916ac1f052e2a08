//! Waits until one of a thread's streams is readable: blocking, by epoll or by spinning.
//!
//! ```text
//! block   the thread sleeps in the kernel: cheapest in CPU, pays a wake-up per message
//! epoll   the kernel keeps the list: one call reports all readable streams, at any number of them
//! spin    the thread polls for a while, then sleeps: shortest latency, occupies one core
//! ```
//!
//! A single stream waits in its own `read` ([`crate::stream::Stream::set_wait`]). Many streams
//! on one thread share a [`Waiter`], which offers the same three ways.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
pub use rustix::fd::{AsFd, BorrowedFd};

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "absent.rs"]
mod imp;
mod poll;

/// Longest wait passed to the system: unlimited waits become one day, because longer ones overflow some
/// systems.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Way in which a thread waits until a stream can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Sleeps in the call that reads (one stream) or in `poll` (several).
    #[default]
    Block,
    /// Sleeps in `epoll_wait`, then reads without waiting. Linux only.
    Epoll,
    /// Asks without sleeping for `for_ns`, then sleeps. `u64::MAX` never sleeps.
    Spin {
        /// Nanoseconds of asking before the thread sleeps.
        for_ns: u64,
    },
}

/// A text that names no way of waiting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid way to wait: block, epoll, spin, or spin:TIME such as spin:50us")]
pub struct NoSuchWait(String);

impl FromStr for Wait {
    type Err = NoSuchWait;

    /// Reads `block`, `epoll`, `spin`, `spin:50us` (units ns, us, ms, s; a bare number is µs).
    fn from_str(text: &str) -> Result<Self, NoSuchWait> {
        match text {
            "block" => Ok(Wait::Block),
            "epoll" => Ok(Wait::Epoll),
            "spin" => Ok(Wait::Spin { for_ns: u64::MAX }),
            _ => text
                .strip_prefix("spin:")
                .and_then(nanoseconds)
                .map(|for_ns| Wait::Spin { for_ns })
                .ok_or_else(|| NoSuchWait(text.into())),
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Block => f.write_str("block"),
            Wait::Epoll => f.write_str("epoll"),
            Wait::Spin { for_ns: u64::MAX } => f.write_str("spin"),
            Wait::Spin { for_ns } if for_ns % 1000 == 0 => write!(f, "spin:{}us", for_ns / 1000),
            Wait::Spin { for_ns } => write!(f, "spin:{for_ns}ns"),
        }
    }
}

fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit {
        "ns" => 1,
        "" | "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// The readiness that a [`Waiter`] waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Bytes to read, or the end.
    Read,
    /// Room to write.
    Write,
    /// Either.
    Both,
}

/// Condition on which a [`Waiter`] reports a source again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trigger {
    /// As long as the source is ready: nothing is lost when a read takes only a part.
    #[default]
    Level,
    /// Once per arrival: fewer calls, and reads must go on until they would block. Only epoll
    /// knows it; elsewhere it is as [`Trigger::Level`].
    Edge,
}

/// One source that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number given when the source was added.
    pub token: u64,
    /// Reading gives bytes, the end, or the error that `closed` announces.
    pub readable: bool,
    /// Writing takes bytes.
    pub writable: bool,
    /// The peer sends nothing more, although what it sent may still wait to be read.
    pub ended: bool,
    /// The peer has closed or the source has an error; reading distinguishes the two.
    pub closed: bool,
}

enum Watching {
    Poll(poll::PollSet),
    Epoll(imp::Epoll),
}

/// Waits for many sources at once, in the way a [`Wait`] says. Allocates when sources are added,
/// never while it waits.
///
/// A source is removed before it is closed.
pub struct Waiter {
    watching: Watching,
    spin_ns: u64,
}

impl Waiter {
    /// A waiter that reports at most `events_per_call` sources at once.
    ///
    /// `Block` asks with `poll`, whose cost grows with the number of sources; `Epoll` does not.
    /// `Spin` asks epoll where there is one.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] for `Epoll` outside Linux; too many open files.
    pub fn new(wait: Wait, trigger: Trigger, events_per_call: usize) -> io::Result<Self> {
        let events = events_per_call.clamp(1, 65_536);
        let (watching, spin_ns) = match wait {
            Wait::Block => (Watching::Poll(poll::PollSet::new(events)), 0),
            Wait::Epoll => (Watching::Epoll(imp::Epoll::new(trigger, events)?), 0),
            Wait::Spin { for_ns } => match imp::Epoll::new(trigger, events) {
                Ok(epoll) => (Watching::Epoll(epoll), for_ns),
                Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                    (Watching::Poll(poll::PollSet::new(events)), for_ns)
                }
                Err(why) => return Err(why),
            },
        };
        Ok(Self { watching, spin_ns })
    }

    /// Watches one more source. `token` comes back in [`Ready::token`].
    ///
    /// Errors: the source is watched already (epoll), or the system has no room.
    pub fn add(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        match &mut self.watching {
            Watching::Poll(set) => set.add(source, token, interest),
            Watching::Epoll(epoll) => epoll.add(source, token, interest),
        }
    }

    /// Looks for something else from now on.
    ///
    /// Errors: [`io::ErrorKind::NotFound`] for a source that is not watched.
    pub fn change(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        match &mut self.watching {
            Watching::Poll(set) => set.change(source, token, interest),
            Watching::Epoll(epoll) => epoll.change(source, token, interest),
        }
    }

    /// Forgets a source.
    ///
    /// Errors: [`io::ErrorKind::NotFound`] for a source that is not watched.
    pub fn remove(&mut self, source: BorrowedFd<'_>) -> io::Result<()> {
        match &mut self.watching {
            Watching::Poll(set) => set.remove(source),
            Watching::Epoll(epoll) => epoll.remove(source),
        }
    }

    /// Waits until a source is ready or the bound has passed; returns how many are, to be asked
    /// for with [`Waiter::ready`]. Interruptions by signals end the wait early with 0.
    pub fn wait(&mut self, bound: Duration) -> io::Result<usize> {
        let mut left = bound;
        if self.spin_ns > 0 {
            let mut spinning = Spinning::new();
            let spin = Duration::from_nanos(self.spin_ns).min(bound);
            loop {
                let n = self.wait_once(Duration::ZERO)?;
                let spent = spinning.pause();
                if n > 0 || spent >= bound {
                    return Ok(n);
                }
                if spent >= spin {
                    left = bound - spent;
                    break;
                }
            }
        }
        self.wait_once(left)
    }

    /// The `index`-th ready source of the last [`Waiter::wait`].
    ///
    /// Panics: when `index` is not below the number that it returned.
    #[inline]
    pub fn ready(&self, index: usize) -> Ready {
        match &self.watching {
            Watching::Poll(set) => set.ready(index),
            Watching::Epoll(epoll) => epoll.ready(index),
        }
    }

    fn wait_once(&mut self, bound: Duration) -> io::Result<usize> {
        let found = match &mut self.watching {
            Watching::Poll(set) => set.wait(bound),
            Watching::Epoll(epoll) => epoll.wait(bound),
        };
        match found {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => Ok(0),
            found => found,
        }
    }
}

/// Time that a thread polls before it yields its core: the peer may share its core, where each
/// moment of polling delays the answer.
const YIELD_EVERY: Duration = Duration::from_micros(10);

/// Asking without sleeping, by a thread that knows that others may share its core.
pub(crate) struct Spinning {
    begun: Instant,
    next_yield: Duration,
}

impl Spinning {
    pub(crate) fn new() -> Self {
        Self {
            begun: Instant::now(),
            next_yield: YIELD_EVERY,
        }
    }

    /// Pauses between two looks; returns the time since the first.
    #[inline]
    pub(crate) fn pause(&mut self) -> Duration {
        let spent = self.begun.elapsed();
        if spent >= self.next_yield {
            std::thread::yield_now();
            self.next_yield = spent + YIELD_EVERY;
        } else {
            std::hint::spin_loop();
        }
        spent
    }
}

/// Waits until one source can be read or has ended; false when the bound passed.
pub fn readable(source: impl AsFd, bound: Duration) -> io::Result<bool> {
    ready_for(source, PollFlags::IN, bound)
}

/// Waits until one source can be written or has failed; false when the bound passed.
pub fn writable(source: impl AsFd, bound: Duration) -> io::Result<bool> {
    ready_for(source, PollFlags::OUT, bound)
}

fn ready_for(source: impl AsFd, flags: PollFlags, bound: Duration) -> io::Result<bool> {
    let mut one = [PollFd::new(&source, flags)];
    let deadline = Instant::now() + bound.min(LONGEST);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match rustix::event::poll(&mut one, Some(&timespec(left))) {
            Ok(n) => return Ok(n > 0),
            Err(why) if why == rustix::io::Errno::INTR => {}
            Err(why) => return Err(why.into()),
        }
    }
}

fn timespec(bound: Duration) -> Timespec {
    let bound = bound.min(LONGEST);
    Timespec {
        tv_sec: bound.as_secs() as _,
        tv_nsec: bound.subsec_nanos() as _,
    }
}

/// Lets this process hold `wanted` open files and sockets if the system allows; returns how many
/// it can hold now. `None` where the system states no such number.
pub fn allow_open_files(wanted: u64) -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let now = getrlimit(Resource::Nofile);
        let current = now.current.unwrap_or(u64::MAX);
        if current >= wanted {
            return Some(current);
        }
        let raised = Rlimit {
            current: Some(wanted.min(now.maximum.unwrap_or(u64::MAX))),
            maximum: now.maximum,
        };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => raised.current,
            Err(_) => Some(current),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = wanted;
        None
    }
}

#[cfg(test)]
mod tests;
