//! The settings in force, which threads read without a lock until they change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::settings::Settings;

/// Settings that may change while they are read.
pub(crate) struct Live {
    version: AtomicU64,
    current: Mutex<Arc<Settings>>,
}

/// Settings as one thread saw them last.
pub(crate) struct Seen {
    version: u64,
    settings: Arc<Settings>,
}

impl Live {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            version: AtomicU64::new(0),
            current: Mutex::new(Arc::new(settings)),
        }
    }

    /// The settings now.
    pub(crate) fn get(&self) -> Arc<Settings> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, settings: Settings) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.version.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn seen(&self) -> Seen {
        let version = self.version.load(Ordering::Acquire);
        Seen {
            version,
            settings: self.get(),
        }
    }
}

impl Seen {
    /// The settings now, and whether they are others than at the last look.
    #[inline]
    pub(crate) fn look(&mut self, live: &Live) -> (&Arc<Settings>, bool) {
        let version = live.version.load(Ordering::Acquire);
        let is_new = version != self.version;
        if is_new {
            self.version = version;
            self.settings = live.get();
        }
        (&self.settings, is_new)
    }
}
