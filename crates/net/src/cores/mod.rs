//! Reads which cores a thread may run on and pins threads to cores.

use std::io;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "absent.rs"]
mod imp;

/// A non-empty set of cores of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores(imp::Set);

impl Cores {
    /// The cores on which the calling thread may run, as `taskset`, a container or a service manager
    /// set them.
    ///
    /// Errors: the system does not report them, or has more than 1024 cores.
    pub fn allowed() -> io::Result<Self> {
        imp::Set::allowed().map(Self)
    }

    /// The number of cores.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// One set per core, in the system's order.
    pub fn each(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.each().map(Self)
    }

    /// Pins the calling thread, and the threads that it starts, to these cores, unless such a thread
    /// sets an own affinity.
    ///
    /// Errors: the system does not allow any of them.
    pub fn keep(&self) -> io::Result<()> {
        self.0.keep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_was_put_and_its_starter_does_not() {
        let before = match Cores::allowed() {
            Ok(cores) => cores,
            Err(why) => {
                eprintln!("skipped: {why}");
                return;
            }
        };
        assert_eq!(before.each().count(), before.count());
        let each: Vec<Cores> = before.each().collect();
        let stay = move || {
            each.iter().all(|core| {
                core.keep().expect("one that is allowed");
                core.count() == 1 && Cores::allowed().expect("as before") == *core
            })
        };
        assert!(std::thread::spawn(stay).join().expect("nothing panics"));
        assert_eq!(Cores::allowed().expect("as before"), before);
    }
}
