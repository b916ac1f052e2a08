//! Takes the callers of one flow during its load: one that is slow to prove itself keeps no other waiting.
//!
//! ```text
//! thread that leads    accept ─► do its first bytes prove it? ─ yes ─► serve, and accept again
//!                                 └ not there yet ─► hand the lead on
//! thread that follows  waits for the lead, then does the same
//! ```
//!
//! As long as all callers begin at once, one thread leads all the time and takes no lock: nothing but it uses
//! what serves. A caller that is slow keeps its own thread, and one that follows leads on. Callers with a
//! handshake are all taken to be slow. There are at most [`MOST`] threads; when all are kept waiting, one of the
//! callers is hung up on ([`crate::crowd`]).

use std::io;
use std::net::{IpAddr, TcpStream};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use sokudo_net::stream::{Incoming, Listener, Stream, StreamError, StreamKind};
use sokudo_net::tcp::TcpError;
use sokudo_net::wait::Wait;

use crate::crowd::{Crowd, MOST, Place};
use crate::effort::{Effort, ThreadSpent};
use crate::link::{ADMIT_BOUND, WRITE_BOUND, is_silence};

/// A caller that has not begun after this time is slow, unless others are slow already: then it is at once.
/// Also the time of one read afterwards. The system counts it in ticks of some milliseconds.
const BRISK: Duration = Duration::from_millis(4);
/// Longest time between two looks at whether the load is over.
const LOOK: Duration = Duration::from_millis(50);
/// Wait after the system had no file left for a caller.
const FILES_PAUSE: Duration = Duration::from_millis(10);
/// Looks at whether another thread can lead, before a caller must go, and the time between two.
const MOST_TRIES: u32 = 20;
/// See [`MOST_TRIES`].
const TRY_AGAIN: Duration = Duration::from_millis(1);
/// Most bytes that are read before a caller has proven itself.
const ROOM_BYTES: usize = 16 << 10;

/// What happens to callers that have proven themselves, and to the time between them.
pub trait Serve: Send {
    /// Serves a caller until it has gone. `begun` is what it has sent so far, and begins with its proof. Breaks
    /// when nobody is to be served any more.
    ///
    /// The stream waits as [`Turns::wait`] says, and its reads return within some milliseconds.
    fn serve(&mut self, stream: Box<dyn Stream>, begun: &[u8]) -> ControlFlow<()>;

    /// Nobody was there to be served for so long.
    fn waited(&mut self, _time: Duration) {}
}

/// The callers of one flow.
pub struct Turns<'a> {
    /// Place at which they call.
    pub listener: &'a Listener,
    /// Way of waiting for callers that have proven themselves.
    pub wait: Wait,
    /// Fewest bytes that show whether a caller belongs to the flow.
    pub proof_bytes: usize,
    /// Tells it from at least so many bytes.
    pub is_proof: &'a (dyn Fn(&[u8]) -> bool + Sync),
    /// Set when everything must end.
    pub stop: &'a AtomicBool,
}

/// What became of callers beside those that were served.
#[derive(Debug, Clone, Copy, Default)]
pub struct TurnedAway {
    /// Callers that proved nothing.
    pub strangers: u64,
    /// Times of all threads but the one that called [`Turns::take`].
    pub others: ThreadSpent,
}

impl Turns<'_> {
    /// Takes callers until it is stopped, or nobody is to be served any more.
    ///
    /// Errors: nobody can call any more.
    pub fn take<S: Serve>(&self, serve: &mut S) -> io::Result<TurnedAway> {
        let crew = Crew {
            turns: self,
            serving: Mutex::new(serve),
            lead: Mutex::new(()),
            following: AtomicUsize::new(0),
            threads: AtomicUsize::new(1),
            over: AtomicBool::new(false),
            failure: Mutex::new(None),
            slow: Arc::default(),
            strangers: AtomicU64::new(0),
            spent: Mutex::default(),
        };
        std::thread::scope(|scope| crew.work(scope));
        let failure = lock(&crew.failure).take();
        let others = *lock(&crew.spent);
        match failure {
            Some(error) => Err(error),
            None => Ok(TurnedAway {
                strangers: crew.strangers.into_inner(),
                others,
            }),
        }
    }

    /// True for callers that have a handshake: it cannot be interrupted to let another thread lead.
    fn shakes_hands(&self) -> bool {
        use StreamKind::{Quic, Shm, Tls};
        matches!(self.listener.kind(), Quic | Shm | Tls)
    }
}

/// A lock whose holder panicked still guards usable data.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State that the threads share.
struct Crew<'a, S> {
    turns: &'a Turns<'a>,
    /// Held while somebody is served; by the thread that leads all the time while nobody is slow.
    serving: Mutex<&'a mut S>,
    /// Held by the thread that leads.
    lead: Mutex<()>,
    /// Threads that wait for the lead.
    following: AtomicUsize,
    threads: AtomicUsize,
    /// Nobody is to be served any more.
    over: AtomicBool,
    failure: Mutex<Option<io::Error>>,
    slow: Arc<Crowd>,
    strangers: AtomicU64,
    spent: Mutex<ThreadSpent>,
}

/// What a thread holds while it leads.
struct Turn<'env, 'a, S> {
    /// `None` once the lead was handed on.
    lead: Option<MutexGuard<'env, ()>>,
    serving: Option<MutexGuard<'env, &'a mut S>>,
}

impl<'a, S: Serve> Crew<'a, S> {
    fn goes_on(&self) -> bool {
        !self.turns.stop.load(Ordering::Relaxed) && !self.over.load(Ordering::Relaxed)
    }

    /// One thread, until the end of all.
    fn work<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) {
        let mut room = vec![0; ROOM_BYTES];
        while self.goes_on() {
            self.following.fetch_add(1, Ordering::Relaxed);
            let lead = lock(&self.lead);
            self.following.fetch_sub(1, Ordering::Relaxed);
            let mut turn = Turn {
                lead: Some(lead),
                serving: None,
            };
            while turn.lead.is_some() && self.goes_on() {
                let outcome = self.one(&mut turn, &mut room, scope);
                if let Err(error) = outcome {
                    self.over.store(true, Ordering::Relaxed);
                    *lock(&self.failure) = Some(error);
                }
            }
        }
        // Who waits for a stranger need not wait for the end of its time.
        self.slow.hang_up_on_all();
    }

    /// Waits for one caller, and serves it when it proves itself.
    fn one<'scope, 'env>(
        &'env self,
        turn: &mut Turn<'env, 'a, S>,
        room: &mut [u8],
        scope: &'scope Scope<'scope, 'env>,
    ) -> io::Result<()> {
        if self.slow.count() > 0 {
            // They may want to be served while this thread waits for callers.
            turn.serving = None;
        }
        let begun = Instant::now();
        let accepted = self.turns.listener.accept(LOOK);
        self.waited(turn, begun.elapsed());
        let incoming = match accepted {
            Ok(Some(incoming)) => incoming,
            Ok(None) => return Ok(()),
            Err(StreamError::Tcp(TcpError::TooManyOpen { .. })) => {
                std::thread::sleep(FILES_PAUSE);
                return Ok(());
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let mut place = None;
        let Some((stream, count)) = self.admit(incoming, turn, &mut place, room, scope) else {
            self.strangers.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        let serving = turn.serving.get_or_insert_with(|| lock(&self.serving));
        if serving.serve(stream, &room[..count]).is_break() {
            self.over.store(true, Ordering::Relaxed);
        }
        if turn.lead.is_none() {
            turn.serving = None;
        }
        Ok(())
    }

    /// Tells what serves that nobody was there. While another thread serves there was somebody.
    fn waited<'env>(&'env self, turn: &mut Turn<'env, 'a, S>, time: Duration) {
        if turn.serving.is_none() {
            turn.serving = match self.serving.try_lock() {
                Ok(serving) => Some(serving),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
        }
        if let Some(serving) = &mut turn.serving {
            serving.waited(time);
        }
    }

    /// The stream of a caller that has proven itself, and how many bytes of it are in `room`.
    fn admit<'scope, 'env>(
        &'env self,
        incoming: Incoming,
        turn: &mut Turn<'env, 'a, S>,
        place: &mut Option<Place>,
        room: &mut [u8],
        scope: &'scope Scope<'scope, 'env>,
    ) -> Option<(Box<dyn Stream>, usize)> {
        let from = incoming.peer().map(|peer| peer.ip());
        let bound = match self.slow.count() < MOST / 2 {
            true => ADMIT_BOUND,
            false => ADMIT_BOUND / 8,
        };
        let deadline = Instant::now() + bound;
        if self.turns.shakes_hands() {
            let tcp = incoming.tcp().and_then(|tcp| tcp.try_clone().ok());
            *place = Some(self.hand_on(turn, from, tcp, scope)?);
        }
        let mut stream = incoming.establish(bound).ok()?;
        self.begin(&mut *stream, place.is_some()).ok()?;
        let mut count = 0;
        while count < self.turns.proof_bytes {
            match stream.read(&mut room[count..]) {
                Ok(0) => return None,
                Ok(read) => count += read,
                Err(error) if is_silence(&error) && self.goes_on() => {}
                Err(_) => return None,
            }
            let is_slow = count < self.turns.proof_bytes;
            if is_slow && Instant::now() >= deadline {
                return None;
            }
            if is_slow && place.is_none() {
                let tcp = stream.tcp().and_then(|tcp| tcp.try_clone().ok());
                *place = Some(self.hand_on(turn, from, tcp, scope)?);
                self.begin(&mut *stream, place.is_some()).ok()?;
            }
        }
        if !(self.turns.is_proof)(&room[..count]) {
            return None;
        }
        if let Some(place) = place {
            place.keep();
            stream.set_wait(self.way_of(&*stream)).ok()?;
        }
        stream.set_read_bound(BRISK).ok()?;
        Some((stream, count))
    }

    /// The way of waiting for a stream, where it can be waited for so.
    fn way_of(&self, stream: &dyn Stream) -> Wait {
        match (self.turns.wait, stream.source().is_some()) {
            (Wait::Epoll, false) => Wait::Block,
            (wait, _) => wait,
        }
    }

    /// Prepares the reads of a proof. Nobody spins for a caller that is slow.
    fn begin(&self, stream: &mut dyn Stream, is_slow: bool) -> io::Result<()> {
        stream.set_write_bound(WRITE_BOUND)?;
        if is_slow {
            stream.set_wait(Wait::Block)?;
            return stream.set_read_bound(LOOK);
        }
        stream.set_wait(self.way_of(stream))?;
        stream.set_read_bound(match self.slow.count() {
            0 => BRISK,
            // Under attack each moment of the thread that leads counts.
            _ => Duration::ZERO,
        })
    }

    /// Lets another thread lead; this one goes on with a caller that is slow. `None` when there is no other
    /// thread: the caller must go.
    fn hand_on<'scope, 'env>(
        &'env self,
        turn: &mut Turn<'env, 'a, S>,
        from: Option<IpAddr>,
        tcp: Option<TcpStream>,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Option<Place> {
        let place = self.slow.add(from, tcp);
        // Whoever follows now waits for this thread, and so will lead.
        let follows = || self.following.load(Ordering::Relaxed) > 0;
        let mut tries = 0;
        while !(follows() || self.one_more(scope) || self.slow.hang_up_on_one()) {
            tries += 1;
            if tries > MOST_TRIES {
                return None;
            }
            // All others may be about to be served.
            std::thread::sleep(TRY_AGAIN);
        }
        turn.serving = None;
        turn.lead = None;
        Some(place)
    }

    /// Starts one more thread; false when there are enough, or the system has none.
    fn one_more<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) -> bool {
        if self.threads.load(Ordering::Relaxed) >= MOST {
            return false;
        }
        let work = move || {
            let effort = Effort::begin();
            self.work(scope);
            self.spent_by(&effort.spent());
        };
        let started = std::thread::Builder::new()
            .name("callers".into())
            .spawn_scoped(scope, work);
        if started.is_ok() {
            self.threads.fetch_add(1, Ordering::Relaxed);
        }
        started.is_ok()
    }

    fn spent_by(&self, thread: &ThreadSpent) {
        let mut spent = lock(&self.spent);
        *spent = spent.with(thread);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::SocketAddr;

    use sokudo_net::stream::{Endpoint, StreamOptions};

    use super::*;

    const PROOF: &[u8] = b"let me in";
    const BOUND: Duration = Duration::from_secs(60);

    /// Echoes what a caller says first, until one says "end".
    struct Echo {
        served: u64,
    }

    impl Serve for Echo {
        fn serve(&mut self, mut stream: Box<dyn Stream>, begun: &[u8]) -> ControlFlow<()> {
            self.served += 1;
            stream.write_all(begun).expect("a caller that listens");
            match begun.ends_with(b"end") {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }

    /// Takes callers for as long as `call` does what it likes at the address.
    fn beside(call: impl FnOnce(SocketAddr)) -> (u64, TurnedAway) {
        let any = Endpoint::Ip(([127, 0, 0, 1], 0).into());
        let listener = Listener::bind(StreamKind::Tcp, &any, &StreamOptions::default());
        let listener = listener.expect("a listener");
        let Ok(Endpoint::Ip(address)) = listener.local() else {
            panic!("no address");
        };
        let stop = AtomicBool::new(false);
        let turns = Turns {
            listener: &listener,
            wait: Wait::Block,
            proof_bytes: PROOF.len(),
            is_proof: &|begun| begun.starts_with(PROOF),
            stop: &stop,
        };
        let mut echo = Echo { served: 0 };
        let away = std::thread::scope(|scope| {
            let taking = scope.spawn(|| turns.take(&mut echo));
            call(address);
            stop.store(true, Ordering::Relaxed);
            taking.join().expect("no panic").expect("callers")
        });
        (echo.served, away)
    }

    /// Proves itself and returns what comes back.
    fn call(address: SocketAddr, more: &[u8]) -> Vec<u8> {
        let mut tcp = TcpStream::connect(address).expect("a connection");
        tcp.set_read_timeout(Some(BOUND)).expect("set");
        tcp.write_all(&[PROOF, more].concat()).expect("written");
        let mut back = Vec::new();
        tcp.read_to_end(&mut back).expect("an answer");
        back
    }

    #[test]
    fn more_silent_callers_than_threads_keep_nobody_waiting() {
        let (served, away) = beside(|address| {
            let mut silent = Vec::new();
            for number in 0..3 * MOST {
                let mut tcp = TcpStream::connect(address).expect("a connection");
                // Some begin as who belongs here does.
                tcp.write_all(&PROOF[..number % PROOF.len()])
                    .expect("written");
                silent.push(tcp);
            }
            for _ in 0..20 {
                assert_eq!(call(address, b"!"), [PROOF, b"!"].concat());
            }
        });
        assert_eq!(served, 20);
        assert_eq!(away.strangers, 3 * MOST as u64);
    }

    #[test]
    fn who_proves_nothing_is_hung_up_on_and_counted() {
        let (served, away) = beside(|address| {
            let mut tcp = TcpStream::connect(address).expect("a connection");
            tcp.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("written");
            tcp.set_read_timeout(Some(BOUND)).expect("set");
            // The end, or a reset because not all was read.
            assert!(!matches!(tcp.read(&mut [0]), Ok(1..)));
            assert_eq!(call(address, b""), PROOF);
        });
        assert_eq!((served, away.strangers), (1, 1));
    }

    #[test]
    fn who_serves_may_end_it() {
        let (served, _) = beside(|address| {
            assert_eq!(call(address, b"end"), [PROOF, b"end"].concat());
        });
        assert_eq!(served, 1);
    }
}
