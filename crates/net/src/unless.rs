//! Waits that end when the operator wants the program to end.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// What `work` comes to on a thread of its own, or nothing once `stop` is set. The thread is left behind
/// then: the network may have it wait without bound, and it ends with the process.
pub fn unless<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let worker = thread::spawn(work);
    while !worker.is_finished() {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        thread::sleep(LOOK);
    }
    match worker.join() {
        Ok(done) => Some(done),
        Err(panic) => resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    #[test]
    fn work_that_never_ends_is_left_behind() {
        let stop = Arc::new(AtomicBool::new(false));
        let (begun, begins) = mpsc::channel();
        let stopping = Arc::clone(&stop);
        thread::spawn(move || {
            begins.recv().expect("the work begins");
            stopping.store(true, Ordering::Relaxed);
        });
        let endless = move || {
            begun.send(()).expect("somebody waits");
            loop {
                thread::park();
            }
        };
        assert_eq!(unless(&stop, endless), None::<()>);
    }

    #[test]
    fn work_that_ends_is_told() {
        let stop = AtomicBool::new(false);
        assert_eq!(unless(&stop, || 7), Some(7));
    }
}
