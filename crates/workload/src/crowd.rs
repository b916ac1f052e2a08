//! Callers that keep threads waiting, and which of them leaves when there are too many.
//!
//! Who comes last is not the one who must go: strangers that are quick to call would then keep out all others.
//! The oldest one goes, of those from the address that has most, so that the callers of one address are in the
//! way of each other first. Who has said something that was not read yet is not in the way: it is its thread that
//! has not come to it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_net::wait::readable;

/// Most callers of one flow that are waited for at a time.
pub const MOST: usize = 64;

/// All callers that are waited for.
#[derive(Default)]
pub struct Crowd {
    count: AtomicUsize,
    last: AtomicU64,
    by_age: Mutex<BTreeMap<u64, Awaited>>,
}

struct Awaited {
    /// `None` for a caller of the same host.
    from: Option<IpAddr>,
    /// Ends the wait for it; `None` for who stays.
    tcp: Option<TcpStream>,
}

/// A caller's place. Dropping it frees the place.
pub struct Place {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Crowd {
    /// Callers that are waited for.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// A place for one more; it can be hung up on where its connection is given.
    pub fn add(self: &Arc<Self>, from: Option<IpAddr>, tcp: Option<TcpStream>) -> Place {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.by_age().insert(number, Awaited { from, tcp });
        self.count.fetch_add(1, Ordering::Relaxed);
        Place {
            crowd: Arc::clone(self),
            number,
        }
    }

    /// Hangs up on the oldest one of those from where most come; false when there is none that can go.
    pub fn hang_up_on_one(&self) -> bool {
        let mut by_age = self.by_age();
        let mut can_go: Vec<&mut Awaited> =
            by_age.values_mut().filter(|one| one.can_go()).collect();
        let mut crowds: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        for awaited in &can_go {
            *crowds.entry(awaited.from).or_default() += 1;
        }
        let Some((crowd, _)) = crowds.into_iter().max_by_key(|(_, count)| *count) else {
            return false;
        };
        for oldest in can_go.iter_mut().filter(|one| one.from == crowd).take(1) {
            oldest.hang_up();
        }
        true
    }

    /// True when one of them can be hung up on.
    pub fn can_shrink(&self) -> bool {
        self.by_age().values().any(Awaited::can_go)
    }

    /// Hangs up on all that can go.
    pub fn hang_up_on_all(&self) {
        self.by_age().values_mut().for_each(Awaited::hang_up);
    }

    /// A lock whose holder panicked still guards usable data.
    fn by_age(&self) -> MutexGuard<'_, BTreeMap<u64, Awaited>> {
        self.by_age.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Awaited {
    fn can_go(&self) -> bool {
        let said_nothing = |tcp| matches!(readable(tcp, Duration::ZERO), Ok(false));
        self.tcp.as_ref().is_some_and(said_nothing)
    }

    /// The thread that waits for it reads the end.
    fn hang_up(&mut self) {
        if let Some(tcp) = self.tcp.take() {
            // A connection that is gone has been hung up.
            let _ = tcp.shutdown(Shutdown::Both);
        }
    }
}

impl Place {
    /// Its caller has proven itself, and is not hung up on.
    pub fn keep(&self) {
        if let Some(awaited) = self.crowd.by_age().get_mut(&self.number) {
            awaited.tcp = None;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.by_age().remove(&self.number);
        self.crowd.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Both ends of a connection.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let called = TcpStream::connect(listener.local_addr().expect("an address"));
        let (accepted, _) = listener.accept().expect("a caller");
        (called.expect("a connection"), accepted)
    }

    fn from(last: u8) -> Option<IpAddr> {
        Some([192, 0, 2, last].into())
    }

    /// True when the connection has ended.
    fn is_over(tcp: &mut TcpStream) -> bool {
        tcp.set_nonblocking(true).expect("set");
        matches!(tcp.read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_oldest_one_of_the_address_with_most_goes() {
        let crowd = Arc::new(Crowd::default());
        let mut ends: Vec<_> = (0..4).map(|_| pair()).collect();
        let addresses = [1, 2, 2, 1];
        let places = ends.iter().zip(addresses).map(|((_, accepted), last)| {
            let tcp = accepted.try_clone().expect("a copy");
            crowd.add(from(last), Some(tcp))
        });
        let mut places: Vec<Place> = places.collect();
        // The first has proven itself: two come from address 2 then, and one from address 1.
        places[0].keep();
        assert!(crowd.hang_up_on_one());
        let over: Vec<bool> = ends.iter_mut().map(|(_, end)| is_over(end)).collect();
        assert_eq!(over, [false, true, false, false]);
        drop(places.remove(1));
        assert_eq!(crowd.count(), 3);
        assert!(crowd.hang_up_on_one() && crowd.hang_up_on_one());
        assert!(!crowd.hang_up_on_one() && !crowd.can_shrink());
        assert!(!is_over(&mut ends[0].1), "who has proven itself stays");
        drop(places);
        assert_eq!(crowd.count(), 0);
    }

    #[test]
    fn who_cannot_be_hung_up_on_or_has_just_spoken_stays() {
        let crowd = Arc::new(Crowd::default());
        let _place = crowd.add(None, None);
        let (mut caller, accepted) = pair();
        caller.write_all(b"let me in").expect("written");
        assert!(readable(&accepted, Duration::from_secs(60)).expect("a socket"));
        let _other = crowd.add(from(1), Some(accepted.try_clone().expect("a copy")));
        assert!(!crowd.can_shrink() && !crowd.hang_up_on_one());
    }
}
