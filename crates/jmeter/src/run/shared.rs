//! What do all users of a test share while it runs?

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use sokudo_pace::Random;

use super::feed::{Feed, Rows};
use crate::expression::Lines;
use crate::properties::Properties;

/// Whether the test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// It goes on.
    No,
    /// Users end after what they are doing.
    Soon,
    /// What is under way is broken off.
    Now,
}

/// State shared by all users. Locks are held for a few instructions only.
pub(super) struct Shared {
    stop: AtomicU8,
    /// Active users of each group.
    pub active: Vec<AtomicU32>,
    /// Active users of all groups.
    pub all: AtomicU32,
    /// Users that ever began.
    pub begun: AtomicU64,
    /// Properties, which `__setProperty` changes.
    pub properties: Arc<RwLock<Properties>>,
    /// Files that were read, by path, delimiter and such.
    pub files: Mutex<HashMap<String, Arc<Rows>>>,
    /// Files that are sent, by path.
    pub sent: Mutex<HashMap<String, Arc<[u8]>>>,
    /// Feeds by element and those who share it.
    pub feeds: Mutex<HashMap<String, Arc<Feed>>>,
    /// Lines of files that functions read.
    pub lines: Mutex<HashMap<String, Lines>>,
    /// Rows of files that functions share out.
    pub cursors: Mutex<HashMap<String, u64>>,
    /// Calls of `__counter` by place.
    pub counts: Mutex<HashMap<u32, u64>>,
    /// One number per configuration element: counters.
    pub counters: Vec<AtomicI64>,
    /// One generator per configuration element: random variables of all users.
    pub randoms: Vec<Mutex<Option<Random>>>,
    /// State of timers that several users share.
    pub paces: Vec<Mutex<Pace>>,
    /// Executions and passes of controllers that count over all users, by group and node.
    pub passes: Mutex<HashMap<(usize, usize), (u64, u64)>>,
    /// Locks of critical sections: who holds each.
    pub locks: Mutex<HashMap<String, u64>>,
    /// Number of users that were ever made, for their streams of random numbers.
    pub made: AtomicU64,
}

/// State of a timer that several users share.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the previous request was due, by group; the last entry is that of all.
    pub previous_ns: Vec<Option<i64>>,
    /// Arrivals to come, with the number of the round.
    pub exactly: Option<(i64, sokudo_pace::throughput::Exactly)>,
    /// Arrivals so far, those of other generators counted.
    pub arrived: u64,
    /// Users that wait at a meeting point, by group.
    pub waiting: HashMap<usize, u64>,
    /// How often the users that met were let go.
    pub released: u64,
}

impl Shared {
    pub fn new(groups: usize, configs: usize, timers: usize, properties: Properties) -> Self {
        Self {
            stop: AtomicU8::new(0),
            active: (0..groups).map(|_| AtomicU32::new(0)).collect(),
            all: AtomicU32::new(0),
            begun: AtomicU64::new(0),
            properties: Arc::new(RwLock::new(properties)),
            files: Mutex::default(),
            sent: Mutex::default(),
            feeds: Mutex::default(),
            lines: Mutex::default(),
            cursors: Mutex::default(),
            counts: Mutex::default(),
            counters: (0..configs).map(|_| AtomicI64::new(i64::MIN)).collect(),
            randoms: (0..configs).map(|_| Mutex::default()).collect(),
            paces: (0..timers).map(|_| Mutex::default()).collect(),
            passes: Mutex::default(),
            locks: Mutex::default(),
            made: AtomicU64::new(0),
        }
    }

    /// Asks all users to end; asking twice keeps the harder one.
    pub fn stop(&self, kind: StopKind) {
        let level = match kind {
            StopKind::No => 0,
            StopKind::Soon => 1,
            StopKind::Now => 2,
        };
        self.stop.fetch_max(level, Ordering::Relaxed);
    }

    /// Whether the test goes on.
    pub fn stopping(&self) -> StopKind {
        match self.stop.load(Ordering::Relaxed) {
            0 => StopKind::No,
            1 => StopKind::Soon,
            _ => StopKind::Now,
        }
    }

    /// Takes back a wish to end, before the groups that run after all others.
    pub fn go_on(&self) {
        self.stop.store(0, Ordering::Relaxed);
    }
}

/// A lock whose holder never panics halfway: the state is whole even when it is poisoned.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
