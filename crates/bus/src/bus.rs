//! How does a controller speak with all agents of a run?

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use sokudo_wire::{Ask, Reply};

use crate::Link;
use crate::error::BusError;
use crate::latch::Latch;
use crate::notes::{NoteSink, Receiver};

/// A member's number on its bus, from 0 in the order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u32);

/// Who takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Host name as shown to people, unique on the bus.
    pub name: String,
    /// Address the others reach it by; empty for the controller's own host.
    pub address: String,
}

/// All agents of a run. Shared freely between threads.
pub struct Bus {
    seats: Mutex<Vec<Arc<Seat>>>,
    notes: Receiver,
    closing: Arc<Latch>,
}

/// One member and the way to it.
struct Seat {
    member: Member,
    link: Box<dyn Link>,
    sink: NoteSink,
    /// Set when the heart gave the member up.
    given_up: OnceLock<String>,
}

impl Default for Bus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus {
    /// A bus without members.
    pub fn new() -> Self {
        Self {
            seats: Mutex::default(),
            notes: Receiver::new(),
            closing: Arc::default(),
        }
    }

    /// Takes a member in; its notes arrive from now on, earlier ones first.
    pub fn add(&self, member: Member, link: Box<dyn Link>) -> MemberId {
        let mut seats = self.seats();
        let id = MemberId(seats.len() as u32);
        let sink = self.notes.sink(id);
        link.attach(sink.clone());
        seats.push(Arc::new(Seat {
            member,
            link,
            sink,
            given_up: OnceLock::new(),
        }));
        id
    }

    /// All members in the order of joining, lost ones included.
    pub fn members(&self) -> Vec<(MemberId, Member)> {
        let seats = self.seats();
        let numbered = (0..).map(MemberId).zip(seats.iter());
        numbered.map(|(id, s)| (id, s.member.clone())).collect()
    }

    /// Asks one member and waits for the answer, at most `bound`.
    ///
    /// Errors: [`BusError::Lost`] at once when the member is gone, [`BusError::TimedOut`],
    /// [`BusError::TooLong`], [`BusError::NoMember`].
    pub fn ask(&self, id: MemberId, ask: Ask, bound: Duration) -> Result<Reply, BusError> {
        self.seat(id)?.ask(ask, bound)
    }

    /// Asks several members at the same time; the answers stand in the order of the asks.
    ///
    /// `bound` holds for each of them and therefore for all.
    pub fn ask_all(
        &self,
        asks: Vec<(MemberId, Ask)>,
        bound: Duration,
    ) -> Vec<Result<Reply, BusError>> {
        thread::scope(|scope| {
            let asked: Vec<_> = asks
                .into_iter()
                .map(|(id, ask)| {
                    let name = format!("ask-{}", id.0);
                    thread::Builder::new()
                        .name(name)
                        .spawn_scoped(scope, move || self.ask(id, ask, bound))
                })
                .collect();
            asked.into_iter().map(answer_of).collect()
        })
    }

    /// Where the notes of all members arrive.
    pub fn notes(&self) -> &Receiver {
        &self.notes
    }

    /// Keeps all present members at work: sends each a lease three times per lease.
    ///
    /// An agent that hears nothing for two leases stops its load. A member that falls silent is given
    /// up within two leases: its link is closed and [`Note::Lost`](sokudo_wire::Note::Lost)
    /// follows. Ends with [`Bus::close`].
    pub fn keep_alive(&self, lease: Duration) -> Result<(), BusError> {
        for seat in self.seats().iter() {
            let (seat, closing) = (Arc::clone(seat), Arc::clone(&self.closing));
            thread::Builder::new()
                .name(format!("heart-{}", seat.member.name))
                .spawn(move || beat(&seat, lease, &closing))
                .map_err(|why| BusError::Start {
                    what: "the thread that keeps agents at work".into(),
                    why: why.to_string(),
                })?;
        }
        Ok(())
    }

    /// Ends all connections on purpose. Agents stop their load; what was received can still be
    /// read from [`Bus::notes`].
    pub fn close(&self) {
        self.closing.open();
        // Closing may wait for handlers: not under the lock.
        let seats: Vec<_> = self.seats().iter().map(Arc::clone).collect();
        seats.iter().for_each(|seat| seat.link.close());
        self.notes.close();
    }

    fn seat(&self, id: MemberId) -> Result<Arc<Seat>, BusError> {
        let seats = self.seats();
        let seat = seats.get(id.0 as usize).ok_or(BusError::NoMember(id.0))?;
        Ok(Arc::clone(seat))
    }

    fn seats(&self) -> MutexGuard<'_, Vec<Arc<Seat>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.close();
    }
}

impl Seat {
    fn ask(&self, ask: Ask, bound: Duration) -> Result<Reply, BusError> {
        let answer = self.link.ask(ask, bound);
        match self.given_up.get() {
            Some(why) if answer.is_err() => Err(BusError::Lost {
                host: self.link.describe().into(),
                why: why.clone(),
            }),
            _ => answer,
        }
    }

    fn give_up(&self, why: String) {
        self.sink.lost(&why);
        // A second reason adds nothing.
        let _ = self.given_up.set(why);
        self.link.close();
    }
}

/// Sends leases until the bus closes or the member is gone. A member may fall silent just after it
/// has answered: the pause and the wait for the next answer together are two leases.
fn beat(seat: &Seat, lease: Duration, closing: &Latch) {
    let pause = lease / 3;
    let bound = 2 * lease - pause;
    let lease_ns = u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX);
    loop {
        match seat.ask(Ask::Lease { lease_ns }, bound) {
            Ok(_) => {}
            Err(BusError::TimedOut { .. }) => {
                let silent = (2 * lease).as_secs_f64();
                return seat.give_up(format!("no sign of life for {silent} s"));
            }
            Err(_) => return,
        }
        if closing.wait(pause) {
            return;
        }
    }
}

type Asked<'scope> = std::io::Result<thread::ScopedJoinHandle<'scope, Result<Reply, BusError>>>;

fn answer_of(asked: Asked<'_>) -> Result<Reply, BusError> {
    let failed = |why: String| BusError::Start {
        what: "a thread that asks".into(),
        why,
    };
    match asked {
        Ok(thread) => thread
            .join()
            .unwrap_or_else(|_| Err(failed("it panicked".into()))),
        Err(why) => Err(failed(why.to_string())),
    }
}
