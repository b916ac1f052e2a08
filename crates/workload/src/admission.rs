//! Lets callers prove themselves side by side: one that says nothing keeps no other waiting, and many do not
//! either ([`crate::crowd`]).

use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use crate::crowd::{Crowd, MOST};
use crate::refusal::spawn;

/// Most threads that look at callers: those that were hung up on take a moment to end.
const MOST_THREADS: usize = 2 * MOST;

/// Callers that are being looked at, and those that were admitted.
pub struct Admission<T> {
    admits: Sender<T>,
    admitted: Receiver<T>,
    looking: Vec<JoinHandle<()>>,
    crowd: Arc<Crowd>,
}

/// What is known of a caller before it is looked at.
#[derive(Default)]
pub struct Stranger {
    /// `None` for a caller of the same host.
    pub from: Option<IpAddr>,
    /// Its connection, where it can be hung up on while it is looked at.
    pub tcp: Option<TcpStream>,
}

impl Stranger {
    /// The caller of a connection that can be hung up on.
    pub fn over(tcp: Option<&TcpStream>, from: Option<IpAddr>) -> Self {
        let tcp = tcp.and_then(|tcp| tcp.try_clone().ok());
        Self { from, tcp }
    }
}

impl<T: Send + 'static> Default for Admission<T> {
    fn default() -> Self {
        let (admits, admitted) = mpsc::channel();
        Self {
            admits,
            admitted,
            looking: Vec::new(),
            crowd: Arc::default(),
        }
    }
}

impl<T: Send + 'static> Admission<T> {
    /// True while one more caller can be looked at, perhaps in the place of another one.
    pub fn has_room(&mut self) -> bool {
        self.looking.retain(|thread| !thread.is_finished());
        let is_full = self.crowd.count() >= MOST;
        self.looking.len() < MOST_THREADS && (!is_full || self.crowd.can_shrink())
    }

    /// True while nobody is looked at.
    pub fn is_idle(&self) -> bool {
        self.looking.iter().all(JoinHandle::is_finished)
    }

    /// Looks at a caller on a thread of its own, which `judge` must end within a bound. When there are too many,
    /// one of them is hung up on; so is a caller for whom the system has no thread.
    pub fn look(&mut self, stranger: Stranger, judge: impl FnOnce() -> Option<T> + Send + 'static) {
        if self.crowd.count() >= MOST {
            self.crowd.hang_up_on_one();
        }
        let admits = self.admits.clone();
        let place = self.crowd.add(stranger.from, stranger.tcp);
        let looking = spawn("admission", move || {
            let admitted = judge();
            drop(place);
            if let Some(admitted) = admitted {
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
        admission.look(Stranger::default(), move || {
            // Until the test is over.
            let _ = ends.recv();
            None
        });
        admission.look(Stranger::default(), || Some(7));
        admission.look(Stranger::default(), || None);
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

    /// Those that cannot be hung up on: the next one waits in the system's queue.
    #[test]
    fn only_so_many_are_looked_at_at_a_time() {
        let mut admission = Admission::<()>::default();
        let (end, ends) = mpsc::channel::<()>();
        let ends = std::sync::Arc::new(std::sync::Mutex::new(ends));
        let mut looked_at = 0;
        while admission.has_room() {
            let ends = std::sync::Arc::clone(&ends);
            admission.look(Stranger::default(), move || {
                let _ = ends.lock().map(|ends| ends.recv());
                None
            });
            looked_at += 1;
        }
        assert_eq!(looked_at, MOST);
        drop(end);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !admission.has_room() {
            assert!(Instant::now() < deadline, "there is never room again");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
