//! Assigns event loops to cores.
//!
//! If there are as many loops as this process has cores, each is pinned to a core of its own: two of
//! them never share one while another is idle, and caches stay warm. With fewer loops than cores the
//! system places them, because it knows what else runs on this host and we do not: the server under
//! load, or another generator, which would choose the same core. With more loops than cores, some
//! have to wait in any case.

use sokudo_net::cores::Cores;

/// The cores of an engine's loops.
pub(crate) struct Homes(Option<Cores>);

/// The placement of a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home(Option<Own>);

#[derive(Debug, Clone, Copy)]
struct Own {
    core: Cores,
    /// The cores on which the thread that starts the engine may run.
    all: Cores,
}

impl Homes {
    /// For so many loops, started by the calling thread.
    pub(crate) fn of(loops: usize) -> Self {
        let all = Cores::allowed().ok();
        Self(all.filter(|all| all.count() == loops && loops > 1))
    }

    /// Home of one loop, counted from 0.
    pub(crate) fn home(&self, number: usize) -> Home {
        let own = |all: Cores| {
            let core = all.each().nth(number)?;
            Some(Own { core, all })
        };
        Home(self.0.and_then(own))
    }
}

impl Home {
    /// Keeps the calling thread on its own core; false when it has none.
    pub(crate) fn keep(self) -> bool {
        self.0.is_some_and(|own| own.core.keep().is_ok())
    }

    /// Lets a thread that a loop has started run elsewhere, too.
    pub(crate) fn leave(self) {
        if let Some(own) = self.0 {
            // On the loop's core it works as well, only later.
            let _ = own.all.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_loops_as_cores_have_one_each_and_others_none() {
        let Ok(all) = Cores::allowed() else {
            eprintln!("skipped: this system lets nobody choose a core");
            return;
        };
        let cores = all.count();
        let owners = |loops: usize| {
            let homes = Homes::of(loops);
            let stay = |number| {
                let home = homes.home(number);
                let stay = std::thread::spawn(move || {
                    let had_own_core = home.keep();
                    home.leave();
                    assert_eq!(Cores::allowed().ok(), Some(all));
                    had_own_core
                });
                stay.join().expect("nothing panics")
            };
            (0..loops).filter(|number| stay(*number)).count()
        };
        assert_eq!(owners(cores), if cores > 1 { cores } else { 0 });
        assert_eq!(owners(cores + 1), 0);
        assert_eq!(owners(1), 0);
    }
}
