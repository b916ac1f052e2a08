//! The controller's connection to all agents of a run.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::urgency;
use sokudo_wire::{Ask, Health, Note, Reply};

use crate::carried::start_failed;
use crate::error::{BusError, panicked};
use crate::hush::Hush;
use crate::latch::Latch;
use crate::notes::{NoteSink, Receiver};
use crate::pipe::silent;
use crate::pulse::{LOST_LEASES, LOST_LEASES_RENEWED, Pulse};
use crate::{Link, Patience, PendingReply};

/// Threads that ask many members: enough that one which takes no bytes keeps few others waiting.
const ASKING_THREADS: usize = 8;

/// Multiples of it, without their whole parts, are spread evenly however many they are.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

/// A member's number on its bus, from 0 in the order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u32);

/// A member of the bus.
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
    /// The threads that keep members at work.
    hearts: Mutex<Vec<JoinHandle<()>>>,
}

/// One member and its link.
struct Seat {
    member: Member,
    link: Box<dyn Link>,
    sink: NoteSink,
    /// Set when the heart gave the member up.
    given_up: OnceLock<Text>,
    /// A time without leases.
    hush: Hush,
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
            hearts: Mutex::default(),
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
            hush: Hush::default(),
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
    /// [`BusError::Stopped`], [`BusError::TooLong`], [`BusError::NoMember`].
    pub fn ask<'a>(
        &self,
        id: MemberId,
        ask: Ask,
        bound: impl Into<Patience<'a>>,
    ) -> Result<Reply, BusError> {
        self.seat(id)?.ask(ask, bound.into())
    }

    /// Asks several members at the same time; the answers stand in the order of the asks.
    ///
    /// `bound` holds for each of them and therefore for all.
    pub fn ask_all<'a>(
        &self,
        asks: Vec<(MemberId, Ask)>,
        bound: impl Into<Patience<'a>>,
    ) -> Vec<Result<Reply, BusError>> {
        let members: Vec<MemberId> = asks.iter().map(|(id, _)| *id).collect();
        self.ask_each(&members, |index| asks[index].1.clone(), bound)
    }

    /// As [`Bus::ask_all`], with the ask that `make` returns for each member, by its index in
    /// `members`: each ask is made when it is sent, and none is kept.
    pub fn ask_each<'a>(
        &self,
        members: &[MemberId],
        make: impl Fn(usize) -> Ask + Sync,
        bound: impl Into<Patience<'a>>,
    ) -> Vec<Result<Reply, BusError>> {
        let patience = bound.into();
        let share = members.len().div_ceil(ASKING_THREADS).max(1);
        let make = &make;
        thread::scope(|scope| {
            let threads: Vec<_> = (0..members.len())
                .step_by(share)
                .map(|first| {
                    let part = &members[first..members.len().min(first + share)];
                    let asking = move || self.ask_part(part, |index| make(first + index), patience);
                    let thread = thread::Builder::new().name("ask".into());
                    (part.len(), thread.spawn_scoped(scope, asking))
                })
                .collect();
            threads.into_iter().flat_map(answers_of).collect()
        })
    }

    /// First all asks, then all answers.
    fn ask_part(
        &self,
        members: &[MemberId],
        make: impl Fn(usize) -> Ask,
        patience: Patience<'_>,
    ) -> Vec<Result<Reply, BusError>> {
        let seats: Vec<_> = members.iter().map(|id| self.seat(*id)).collect();
        let asked: Vec<Result<(&Seat, PendingReply<'_>), BusError>> = seats
            .iter()
            .enumerate()
            .map(|(index, seat)| {
                let seat: &Seat = seat.as_ref().map_err(BusError::clone)?;
                let asked = seat.link.begin(make(index), patience.bound);
                Ok((seat, asked.map_err(|why| seat.explained(why))?))
            })
            .collect();
        let answer = |(seat, asked): (&Seat, PendingReply<'_>)| {
            let answer = asked.wait_unless(patience.stop);
            answer.map_err(|why| seat.explained(why))
        };
        asked
            .into_iter()
            .map(|asked| asked.and_then(answer))
            .collect()
    }

    /// Receiver of the notes of all members.
    pub fn notes(&self) -> &Receiver {
        &self.notes
    }

    /// Keeps all present members at work: sends each a lease twice per lease.
    ///
    /// An agent that hears nothing for two leases stops its load. A member that falls silent is
    /// [suspect](sokudo_wire::Health::Suspect) after one, which a note says, and given up after two, or
    /// after five when a new connection may reach it: its link is closed and [`Note::Lost`] follows. Ends with [`Bus::close`].
    pub fn keep_alive(&self, lease: Duration) -> Result<(), BusError> {
        let mut hearts = self.hearts();
        for (number, seat) in self.seats().iter().enumerate() {
            let (seat, closing) = (Arc::clone(seat), Arc::clone(&self.closing));
            // Any number of members is spread evenly over the pause between two leases.
            let share = (number as f64 * GOLDEN_RATIO).fract();
            let heart = thread::Builder::new()
                .name(format!("heart-{}", seat.member.name))
                .spawn(move || {
                    urgency::go_first();
                    beat(&seat, lease, share, &closing);
                })
                .map_err(|why| start_failed("start-thread-lease", why))?;
            hearts.push(heart);
        }
        Ok(())
    }

    /// Nothing of the bus's own travels for so long, at most an hour, or until [`Bus::wake`]: members hold back what can
    /// wait, get no leases, and miss none. A member whose connection ends is lost at once, as ever; one
    /// that falls silent is noticed only afterwards.
    pub fn hush(&self, time: Duration) {
        let for_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // Telling may wait: not under the lock.
        let seats: Vec<_> = self.seats().iter().map(Arc::clone).collect();
        for seat in seats {
            // The guard is held until the link was informed, so that no lease follows.
            let _guard = seat.hush.begin(time);
            // A link that cannot send has already reported its loss.
            let _ = seat.link.begin(Ask::Hush { for_ns }, time);
        }
    }

    /// Ends the quiet phase.
    pub fn wake(&self) {
        self.seats().iter().for_each(|seat| seat.hush.end());
    }

    /// Ends all connections on purpose. Agents stop their load; what was received can still be
    /// read from [`Bus::notes`].
    pub fn close(&self) {
        self.closing.open();
        // Closing may wait for handlers: not under the lock.
        let seats: Vec<_> = self.seats().iter().map(Arc::clone).collect();
        seats.iter().for_each(|seat| seat.link.close());
        self.wake();
        // Over a closed link nothing is sent that could take its time.
        for heart in mem::take(&mut *self.hearts()) {
            let _ = heart.join();
        }
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

    fn hearts(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.hearts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.close();
    }
}

impl Seat {
    fn ask(&self, ask: Ask, patience: Patience<'_>) -> Result<Reply, BusError> {
        let asked = self.link.begin(ask, patience.bound);
        let answer = asked.and_then(|asked| asked.wait_unless(patience.stop));
        answer.map_err(|why| self.explained(why))
    }

    /// Reason why an ask failed: a member that was given up counts as lost, whatever error its
    /// closed link returns.
    fn explained(&self, why: BusError) -> BusError {
        match self.given_up.get() {
            Some(why) => BusError::Lost {
                host: self.link.describe().into(),
                why: why.clone(),
            },
            None => why,
        }
    }

    fn give_up(&self, why: Text) {
        self.sink.lost(why.clone());
        // A second reason adds nothing.
        let _ = self.given_up.set(why);
        self.link.close();
    }
}

/// Sends leases and reports the health of the member until the bus closes or the member is lost.
fn beat(seat: &Seat, lease: Duration, share: f64, closing: &Latch) {
    let lease_ns = u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX);
    let begun = Instant::now();
    let lost = match seat.link.can_renew() {
        true => LOST_LEASES_RENEWED * lease,
        false => LOST_LEASES * lease,
    };
    let mut pulse = Pulse::new(lease, lost, Duration::ZERO, share);
    loop {
        if seat.hush.wait() {
            // After a quiet phase the member's silence counts from the next lease on.
            pulse = Pulse::again(lease, lost, begun.elapsed(), share);
        }
        let look = pulse.look(begun.elapsed(), seat.link.silent());
        match look.health {
            Some(Health::Lost) => {
                return seat.give_up(silent(lost));
            }
            Some(health) => {
                if health == Health::Suspect {
                    seat.link.renew();
                }
                // Notes that do not fit are counted by the sink.
                let _ = seat.sink.push(Note::Health(health));
            }
            None => {}
        }
        // The answer counts as a heartbeat; a broken link has already reported its loss.
        let ask = || seat.link.begin(Ask::Lease { lease_ns }, lease).is_err();
        if look.send && seat.hush.speak(ask) == Some(true) {
            return;
        }
        if closing.wait(pulse.pause(begun.elapsed())) {
            return;
        }
    }
}

type Part<'scope> = (
    usize,
    std::io::Result<thread::ScopedJoinHandle<'scope, Vec<Result<Reply, BusError>>>>,
);

fn answers_of((count, thread): Part<'_>) -> Vec<Result<Reply, BusError>> {
    let failed = |why: Text| {
        let what = Text::new("start-thread-asking");
        vec![Err(BusError::Start { what, why }); count]
    };
    match thread {
        Ok(thread) => thread.join().unwrap_or_else(|_| failed(panicked())),
        Err(why) => failed(Text::words(why.to_string())),
    }
}
