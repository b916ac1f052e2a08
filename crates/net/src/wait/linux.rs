//! Linux: `epoll`.

use std::io;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;

use super::{BorrowedFd, Interest, Ready, Trigger, timespec};

pub(super) struct Epoll {
    epoll: OwnedFd,
    trigger: Trigger,
    events: Vec<Event>,
}

// SAFETY: the library's event could hold a pointer; ours hold nothing but numbers (`new_u64`).
unsafe impl Send for Epoll {}

impl Epoll {
    pub(super) fn new(trigger: Trigger, events: usize) -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            trigger,
            events: Vec::with_capacity(events),
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
        let room = spare_capacity(&mut self.events);
        Ok(epoll::wait(&self.epoll, room, Some(&timespec(bound)))?)
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
