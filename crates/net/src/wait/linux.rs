//! Linux: `epoll`.

use std::io;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::{AsRawFd as _, OwnedFd};

use super::{BorrowedFd, Interest, Ready, Trigger, timespec};

pub(super) struct Epoll {
    epoll: OwnedFd,
    trigger: Trigger,
    events: Vec<Event>,
    /// The kernel has `epoll_pwait2`, whose bound is exact; `epoll_wait` rounds up to milliseconds.
    is_exact: bool,
}

// SAFETY: the library's event could hold a pointer; ours hold nothing but numbers (`new_u64`).
unsafe impl Send for Epoll {}

impl Epoll {
    pub(super) fn new(trigger: Trigger, events: usize) -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            trigger,
            events: Vec::with_capacity(events),
            is_exact: true,
        })
    }

    fn flags(&self, interest: Interest) -> EventFlags {
        let what = match interest {
            Interest::Read => EventFlags::IN | EventFlags::RDHUP,
            Interest::Write => EventFlags::OUT,
            Interest::Both => EventFlags::IN | EventFlags::RDHUP | EventFlags::OUT,
        };
        match self.trigger {
            Trigger::Level => what,
            Trigger::Edge => what | EventFlags::ET,
        }
    }

    pub(super) fn add(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let flags = self.flags(interest);
        Ok(epoll::add(
            &self.epoll,
            source,
            EventData::new_u64(token),
            flags,
        )?)
    }

    pub(super) fn change(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let flags = self.flags(interest);
        Ok(epoll::modify(
            &self.epoll,
            source,
            EventData::new_u64(token),
            flags,
        )?)
    }

    pub(super) fn remove(&mut self, source: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    pub(super) fn wait(&mut self, bound: Duration) -> io::Result<usize> {
        self.events.clear();
        if self.is_exact && !bound.subsec_nanos().is_multiple_of(1_000_000) {
            match self.wait_exactly(bound) {
                // An older kernel, or a sandbox that does not know the call.
                Err(why) if matches!(why.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                    self.is_exact = false;
                }
                found => return found,
            }
        }
        let room = spare_capacity(&mut self.events);
        Ok(epoll::wait(&self.epoll, room, Some(&timespec(bound)))?)
    }

    /// As `epoll_wait` with a bound in nanoseconds (Linux 5.11).
    fn wait_exactly(&mut self, bound: Duration) -> io::Result<usize> {
        let bound = timespec(bound);
        let bound = libc::timespec {
            tv_sec: bound.tv_sec as _,
            tv_nsec: bound.tv_nsec as _,
        };
        let room = self.events.spare_capacity_mut();
        let most = libc::c_int::try_from(room.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: `room` holds `most` of the kernel's `epoll_event`, whose layout `Event` has; the
        // kernel writes no more than that. `bound` outlives the call; no signal mask is given.
        let found = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                room.as_mut_ptr(),
                most,
                &raw const bound,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: the kernel has filled that many, which are at most `most`.
        unsafe { self.events.set_len(found.min(most as usize)) };
        Ok(found)
    }

    pub(super) fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        // Copied out: the kernel's struct is packed.
        let (flags, data) = (event.flags, event.data);
        let closed = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        Ready {
            token: data.u64(),
            readable: closed || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
            writable: flags.contains(EventFlags::OUT),
            ended: closed || flags.contains(EventFlags::RDHUP),
            closed,
        }
    }
}
