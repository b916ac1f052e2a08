//! Objects that scripts keep in properties, and the turn of the scripts that use them.
//!
//! ```text
//! props.put("queue", list) ─► the list as a text ─► SharedObjects ─► props.get("queue"): the list again
//! ```
//!
//! Each thread has an engine of its own, so that an object passes from script to script as a text. From its first use of
//! an object until it has ended and what it changed is kept, a script is alone: no other uses objects meanwhile. Scripts end
//! after a bounded number of steps, and each has one turn at most, so that nobody waits forever.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Most bytes of the texts of all objects.
const MOST_BYTES: usize = 64 << 20;

/// The objects of a test.
#[derive(Debug, Default)]
pub struct SharedObjects {
    held: Mutex<HashMap<String, Arc<str>>>,
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The turn of a script, which ends when this is dropped.
#[derive(Debug)]
pub struct Turn(Arc<SharedObjects>);

impl Drop for Turn {
    fn drop(&mut self) {
        *locked(&self.0.is_taken) = false;
        self.0.freed.notify_one();
    }
}

impl SharedObjects {
    /// Waits until no other script has its turn.
    pub(super) fn alone(objects: &Arc<Self>) -> Turn {
        let mut is_taken = locked(&objects.is_taken);
        while *is_taken {
            let waited = objects.freed.wait(is_taken);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner);
        }
        *is_taken = true;
        Turn(Arc::clone(objects))
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<str>> {
        locked(&self.held).get(name).cloned()
    }

    /// Keeps an object. Errors: all together would be too large.
    pub(super) fn put(&self, name: &str, packed: &str) -> Result<(), String> {
        let mut held = locked(&self.held);
        let others = held.iter().filter(|(known, _)| *known != name);
        let bytes: usize = others.map(|(_, packed)| packed.len()).sum();
        if bytes + packed.len() > MOST_BYTES {
            return Err("objects of this size in properties".into());
        }
        held.insert(name.to_owned(), packed.into());
        Ok(())
    }

    /// Removes an object, as a text with its name does, too.
    pub(crate) fn remove(&self, name: &str) {
        locked(&self.held).remove(name);
    }
}

/// Locks a mutex. No holder panics halfway, so that its state is valid even if it is poisoned.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_take_turns() {
        let objects: Arc<SharedObjects> = Arc::default();
        let count = |objects: &SharedObjects| -> u32 {
            let packed = objects.get("n").unwrap_or_else(|| "0".into());
            packed.parse().expect("a number")
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let turn = SharedObjects::alone(&objects);
                        let next = (count(&objects) + 1).to_string();
                        objects.put("n", &next).expect("a small object");
                        drop(turn);
                    }
                });
            }
        });
        assert_eq!(count(&objects), 2_000);
    }

    #[test]
    fn objects_are_bounded() {
        let objects = SharedObjects::default();
        let half = "x".repeat(MOST_BYTES / 2 + 1);
        objects.put("a", &half).expect("the first");
        objects.put("a", &half).expect("in its place");
        objects.put("b", &half).expect_err("too large");
        objects.remove("a");
        objects.put("b", &half).expect("now alone");
    }
}
