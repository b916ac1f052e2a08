//! Lets callers prove themselves side by side: one that says nothing keeps no other waiting.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use crate::refusal::spawn;

/// Most callers that are looked at at a time; others wait in the system's queue.
const MOST_AT_ONCE: usize = 64;

/// Callers that are being looked at, and those that were admitted.
pub struct Admission<T> {
    admits: Sender<T>,
    admitted: Receiver<T>,
    looking: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static> Default for Admission<T> {
    fn default() -> Self {
        let (admits, admitted) = mpsc::channel();
        Self {
            admits,
            admitted,
            looking: Vec::new(),
        }
    }
}

impl<T: Send + 'static> Admission<T> {
    /// True while one more caller can be looked at.
    pub fn has_room(&mut self) -> bool {
        self.looking.retain(|thread| !thread.is_finished());
        self.looking.len() < MOST_AT_ONCE
    }

    /// True while nobody is looked at.
    pub fn is_idle(&self) -> bool {
        self.looking.iter().all(JoinHandle::is_finished)
    }

    /// Looks at a caller on a thread of its own, which `judge` must end within a bound. A caller for whom the
    /// system has no thread is hung up on.
    pub fn look(&mut self, judge: impl FnOnce() -> Option<T> + Send + 'static) {
        let admits = self.admits.clone();
        let looking = spawn("admission", move || {
            if let Some(admitted) = judge() {
                // Nobody waits for it any more.
                let _ = admits.send(admitted);
            }
        });
        self.looking.extend(looking.ok());
    }

    /// The callers that were admitted since the last time.
    pub fn admitted(&self) -> impl Iterator<Item = T> + '_ {
        self.admitted.try_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn who_says_nothing_keeps_nobody_waiting() {
        let mut admission = Admission::default();
        let (end, ends) = mpsc::channel::<()>();
        admission.look(move || {
            // Until the test is over.
            let _ = ends.recv();
            None
        });
        admission.look(|| Some(7));
        admission.look(|| None);
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut admitted = Vec::new();
        while admitted.is_empty() {
            assert!(Instant::now() < deadline, "nobody is admitted");
            admitted.extend(admission.admitted());
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(admitted, [7]);
        drop(end);
    }

    #[test]
    fn only_so_many_are_looked_at_at_a_time() {
        let mut admission = Admission::<()>::default();
        let (end, ends) = mpsc::channel::<()>();
        let ends = std::sync::Arc::new(std::sync::Mutex::new(ends));
        let mut looked_at = 0;
        while admission.has_room() {
            let ends = std::sync::Arc::clone(&ends);
            admission.look(move || {
                let _ = ends.lock().map(|ends| ends.recv());
                None
            });
            looked_at += 1;
        }
        assert_eq!(looked_at, MOST_AT_ONCE);
        drop(end);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !admission.has_room() {
            assert!(Instant::now() < deadline, "there is never room again");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
