//! State that all users of a test share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::config_elements::VariableRandom;
use super::feed::{DataRows, Feed};
use crate::expression::Lines;
use crate::properties::Properties;
use crate::script::SharedObjects;

/// Whether the test is stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// It continues.
    No,
    /// Users end after their current sample.
    Soon,
    /// Current samples are aborted.
    Now,
}

/// State that all users share. Locks are held for a few instructions only.
pub(super) struct SharedState {
    stop: AtomicU8,
    /// Active users of each group.
    pub active: Vec<AtomicU32>,
    /// Active users of all groups.
    pub all: AtomicU32,
    /// Number of users that have begun.
    pub begun: AtomicU64,
    /// The clock has ended a user.
    pub was_cut_short: AtomicBool,
    /// Properties, which `__setProperty` changes.
    pub properties: Arc<RwLock<Properties>>,
    /// Objects that scripts keep in properties.
    pub objects: Arc<SharedObjects>,
    /// Data files that were read, by path, encoding, delimiter and header.
    pub files: Mutex<HashMap<String, Arc<DataRows>>>,
    /// Files that are sent, by path.
    pub sent: Mutex<HashMap<String, Arc<[u8]>>>,
    /// Positions in data files, by file and sharing mode.
    pub feeds: Mutex<HashMap<String, Arc<Feed>>>,
    /// Lines of files that functions read.
    pub lines: Mutex<HashMap<String, Lines>>,
    /// Next rows of files that functions distribute among users.
    pub cursors: Mutex<HashMap<String, u64>>,
    /// Calls of `__counter` by call site.
    pub counts: Mutex<HashMap<u32, u64>>,
    /// Values of counters, by configuration element.
    pub counters: Vec<AtomicI64>,
    /// Generators of random variables, by configuration element.
    pub randoms: Vec<Mutex<Option<VariableRandom>>>,
    /// State of timers, by timer.
    pub paces: Vec<Mutex<TimerState>>,
    /// Passes and executions of controllers that count over all users, by group and controller.
    pub passes: Mutex<HashMap<(usize, usize), (u64, u64)>>,
    /// Locks of critical sections, with the user that holds each.
    pub locks: Mutex<HashMap<String, u64>>,
    /// Number of users that were created.
    pub made: AtomicU64,
}

/// State of a timer that several users share.
#[derive(Debug, Default)]
pub(super) struct TimerState {
    /// Due time of the previous request: entry 0 for all groups, then one for each group.
    pub previous_ns: Vec<Option<i64>>,
    /// Coming arrivals, with the number of their round.
    pub exactly: Option<(i64, sokudo_pace::throughput::Exactly)>,
    /// Number of arrivals so far, including those of other generators.
    pub arrived: u64,
    /// Number of users that wait at a synchronizing timer, by group.
    pub waiting: HashMap<usize, u64>,
    /// Number of groups of users that a synchronizing timer released.
    pub released: u64,
}

impl SharedState {
    pub fn new(groups: usize, configs: usize, timers: usize, properties: Properties) -> Self {
        Self {
            stop: AtomicU8::new(0),
            active: (0..groups).map(|_| AtomicU32::new(0)).collect(),
            all: AtomicU32::new(0),
            begun: AtomicU64::new(0),
            was_cut_short: AtomicBool::new(false),
            properties: Arc::new(RwLock::new(properties)),
            objects: Arc::default(),
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

    /// Stops all users; of two calls the stricter one counts.
    pub fn stop(&self, kind: StopKind) {
        let level = match kind {
            StopKind::No => 0,
            StopKind::Soon => 1,
            StopKind::Now => 2,
        };
        self.stop.fetch_max(level, Ordering::Relaxed);
    }

    /// Whether the test is stopping.
    pub fn stopping(&self) -> StopKind {
        match self.stop.load(Ordering::Relaxed) {
            0 => StopKind::No,
            1 => StopKind::Soon,
            _ => StopKind::Now,
        }
    }

    /// Revokes a stop, before the tearDown groups.
    pub fn go_on(&self) {
        self.stop.store(0, Ordering::Relaxed);
    }
}

/// Locks a mutex. No holder panics halfway, so that its state is valid even if it is poisoned.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
