//! Lets so many through at a time.

use std::sync::{Condvar, Mutex};

/// A counting semaphore; 0 places mean that everybody passes.
#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    is_open: bool,
    freed: Condvar,
}

/// A place in a gate, given back when this is dropped.
#[derive(Debug)]
pub struct Place<'a>(Option<&'a Gate>);

impl Gate {
    pub fn new(places: usize) -> Self {
        Self {
            free: Mutex::new(places),
            is_open: places == 0,
            freed: Condvar::new(),
        }
    }

    /// Waits for a place.
    pub fn enter(&self) -> Place<'_> {
        if self.is_open {
            return Place(None);
        }
        let free = self.free.lock().expect("nobody panics holding it");
        let mut free = self
            .freed
            .wait_while(free, |free| *free == 0)
            .expect("nobody panics holding it");
        *free -= 1;
        Place(Some(self))
    }

    /// A place if one is free.
    pub fn try_enter(&self) -> Option<Place<'_>> {
        if self.is_open {
            return Some(Place(None));
        }
        let mut free = self.free.lock().expect("nobody panics holding it");
        *free = free.checked_sub(1)?;
        Some(Place(Some(self)))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.0 {
            *gate.free.lock().expect("nobody panics holding it") += 1;
            gate.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_pass_and_no_more() {
        let gate = Gate::new(2);
        let (first, _second) = (gate.enter(), gate.enter());
        assert!(gate.try_enter().is_none());
        drop(first);
        assert!(gate.try_enter().is_some());
        let open = Gate::new(0);
        let _all: Vec<_> = (0..9).map(|_| open.enter()).collect();
        assert!(open.try_enter().is_some());
    }
}
