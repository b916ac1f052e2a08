//! Linux: the affinity of a thread, sched_setaffinity(2).

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set(CpuSet);

impl Set {
    pub(super) fn allowed() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(None)?))
    }

    pub(super) fn count(&self) -> usize {
        self.0.count() as usize
    }

    pub(super) fn each(&self) -> impl Iterator<Item = Self> + '_ {
        let set = (0..CpuSet::MAX_CPU).filter(|core| self.0.is_set(*core));
        set.map(|core| {
            let mut alone = CpuSet::new();
            alone.set(core);
            Self(alone)
        })
    }

    pub(super) fn keep(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}
