//! Holds: a program changes knobs for a time, and they are put back when it is done or gone.
//!
//! ```text
//! hold ─► set … renew … set ─► release ───────► old values
//!                 └─ silent for a lease ──────► old values, and the target says so
//! ```
//!
//! One hold at a time, so that two experiments do not spoil each other. What the operator changes
//! meanwhile stays.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::journal::{Change, typed};
use crate::server::Core;
use crate::settings::{BadSetting, Settings};

/// Time after which a holder that is silent has lost its hold.
pub const LEASE: Duration = Duration::from_secs(5);
/// Longest name of a holder, bytes.
const NAME_MAX: usize = 200;
/// Holds that ended by themselves and are told, at most.
const TOLD_MAX: usize = 100;

/// Holder of the knobs, and the end of the lease.
struct Hold {
    number: u64,
    by: String,
    until: Instant,
}

/// Knobs that the target has put back by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PutBack {
    /// Former holder, which no longer answers.
    pub by: String,
    /// Changes by putting them back.
    pub changes: Vec<Change>,
}

/// The hold of a target.
#[derive(Default)]
pub(crate) struct Holds {
    current: Option<Hold>,
    last: u64,
    put_back: Vec<PutBack>,
}

impl Holds {
    /// The hold of this number. Errors: it is over.
    fn get(&mut self, number: u64) -> Result<&mut Hold, BadSetting> {
        let held = self.current.as_mut().filter(|hold| hold.number == number);
        held.ok_or(BadSetting::NotHeld)
    }
}

impl Core {
    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a hold and returns its number. Errors: somebody else has one.
    pub(crate) fn hold(self: &Arc<Self>, by: &str) -> Result<u64, BadSetting> {
        let mut holds = self.holds();
        if let Some(hold) = &holds.current {
            let by = hold.by.clone();
            return Err(BadSetting::Held { by });
        }
        holds.last += 1;
        let number = holds.last;
        holds.current = Some(Hold {
            number,
            by: by.chars().take(NAME_MAX).collect(),
            until: Instant::now() + LEASE,
        });
        drop(holds);
        let core = Arc::clone(self);
        let watched = std::thread::Builder::new().name("sokudo-hold".into());
        let watched = watched.spawn(move || core.watch(number));
        if watched.is_err() {
            // Without its end a hold is not given.
            self.holds().current = None;
            return Err(BadSetting::NotHeld);
        }
        Ok(number)
    }

    /// Changes knobs under a hold, and renews it. Errors: it is over, or a value does not fit.
    pub(crate) fn change_held(
        self: &Arc<Self>,
        number: u64,
        pairs: &[(String, String)],
    ) -> Result<Vec<Change>, BadSetting> {
        // Held to the end, so that no lease ends between the check and the change.
        let mut holds = self.holds();
        holds.get(number)?.until = Instant::now() + LEASE;
        match pairs.is_empty() {
            true => Ok(Vec::new()),
            false => self.change(pairs, Some(number)),
        }
    }

    /// Ends a hold and puts the knobs back. Errors: it is over.
    pub(crate) fn release(self: &Arc<Self>, number: u64) -> Result<Vec<Change>, BadSetting> {
        let mut holds = self.holds();
        holds.get(number)?;
        holds.current = None;
        Ok(self.put_back(number))
    }

    /// Knobs that were put back since the last look because their holder fell silent.
    pub(crate) fn take_put_back(&self) -> Vec<PutBack> {
        std::mem::take(&mut self.holds().put_back)
    }

    /// Ends a hold whose holder falls silent.
    fn watch(self: &Arc<Self>, number: u64) {
        loop {
            let mut holds = self.holds();
            let Ok(hold) = holds.get(number) else { return };
            let left = hold.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let by = hold.by.clone();
                holds.current = None;
                let changes = self.put_back(number);
                holds.put_back.push(PutBack { by, changes });
                let beyond = holds.put_back.len().saturating_sub(TOLD_MAX);
                holds.put_back.drain(..beyond);
                return;
            }
            drop(holds);
            if self.stop.is_asked() {
                return;
            }
            self.stop.rest(left);
        }
    }

    /// Undoes the changes of a hold. A knob whose old value contradicts what the operator has set
    /// meanwhile keeps its value.
    fn put_back(self: &Arc<Self>, number: u64) -> Vec<Change> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = Settings::clone(&self.live.get());
        let mut waiting = journal.without(number);
        waiting.retain(|change| change.old != change.new);
        let mut done = Vec::new();
        // One knob may have to wait for another, as workers.max for workers.core.
        loop {
            let fits = |change: &Change| {
                let with = settings.with(&change.key, &typed(&change.new)).ok()?;
                with.check().is_ok().then_some(with)
            };
            let next = waiting
                .iter()
                .enumerate()
                .find_map(|(at, change)| Some((at, fits(change)?)));
            let Some((at, with)) = next else { break };
            settings = with;
            done.push(waiting.remove(at));
        }
        self.apply(&settings);
        journal.release(number);
        done
    }
}
