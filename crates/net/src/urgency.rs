//! Raises the scheduling priority of the few threads that must answer in time on a fully loaded
//! host.
//!
//! Load is meant to fill a host. The threads that carry commands and heartbeats do little work, but on
//! a host with a hundred busy threads each of their steps waits for a CPU, and a host that is only busy
//! seems lost. Where the system allows it (root, or `CAP_SYS_NICE`), they are scheduled first.

/// Steps of niceness before ordinary threads: three times the share of a CPU.
#[cfg(target_os = "linux")]
const STEPS: i32 = 5;

/// From now on the calling thread goes before ordinary ones, and so does every thread that it starts.
/// Nothing changes where the system does not allow it.
pub fn go_first() {
    std::mem::forget(First::begin());
}

/// From now on the calling thread goes with the rest of its process again, as its main thread does, and so
/// does every thread that it starts: for what loads the host, started by a thread that goes first.
pub fn go_with_the_rest() {
    #[cfg(target_os = "linux")]
    imp::go_with_the_rest();
}

/// While this value exists, the calling thread is scheduled before ordinary ones; threads that it
/// starts meanwhile keep that priority.
#[derive(Debug)]
pub struct First {
    /// The thread's niceness before; `None` when it could not be changed.
    #[cfg(target_os = "linux")]
    before: Option<i32>,
}

#[cfg(target_os = "linux")]
mod imp {
    use rustix::process::{getpid, getpriority_process, setpriority_process};

    use super::{First, STEPS};

    // Of a "process" without a number Linux takes the calling thread alone (setpriority(2), bugs).
    impl First {
        /// Begins.
        pub fn begin() -> Self {
            let before = getpriority_process(None).ok();
            let changed = |before: &i32| setpriority_process(None, before - STEPS).is_ok();
            let before = before.filter(changed);
            Self { before }
        }
    }

    /// The main thread has the number of its process.
    pub(super) fn go_with_the_rest() {
        if let Ok(rest) = getpriority_process(Some(getpid())) {
            // To give way is always allowed.
            let _ = setpriority_process(None, rest);
        }
    }

    impl Drop for First {
        fn drop(&mut self) {
            if let Some(before) = self.before {
                // To give way is always allowed.
                let _ = setpriority_process(None, before);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl First {
    /// Begins; other systems change the priority of all threads at once, or of none.
    pub fn begin() -> Self {
        Self {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn a_thread_goes_first_for_a_while_and_those_that_it_starts_for_ever() {
        let niceness = || getpriority_process(None).expect("every thread has one");
        let before = niceness();
        let first = First::begin();
        let meanwhile = niceness();
        let inherited = std::thread::spawn(niceness);
        assert_eq!(inherited.join().expect("nothing panics"), meanwhile);
        drop(first);
        assert_eq!(niceness(), before);
        if meanwhile == before {
            eprintln!("skipped: this process may not go before others");
            return;
        }
        assert_eq!(meanwhile, (before - STEPS).max(-20));
        let back = std::thread::spawn(move || {
            go_first();
            go_with_the_rest();
            niceness()
        });
        assert_eq!(back.join().expect("nothing panics"), before);
        assert_eq!(niceness(), before, "of another thread");
    }
}
