//! The users assigned to one event loop.

use crate::post::{Letter, Sender};
use crate::user::{Outcome, User, UserStep};

/// A request of a crew to its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<N> {
    /// Adds a user at once, from inside the loop.
    Joins(N),
    /// A resting user is called for its next step; for any other user this has no effect.
    Wakes(u32),
}

/// Wakes resting users of one event loop from another thread. Copies lead to the same loop.
pub struct Waker<N>(Sender<N>);

impl<N> Clone for Waker<N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<N> Waker<N> {
    pub(crate) fn new(sender: Sender<N>) -> Self {
        Self(sender)
    }

    /// Calls a resting user for its next step; for any other user this has no effect.
    pub fn wake(&self, user: u32) {
        self.0.send(Letter::Wakes(user));
    }
}

/// All users of one event loop, by number. A loop owns its crew: what the users share (counters,
/// histograms, a schedule) needs no lock.
pub trait Crew {
    /// The type of new users.
    type Newcomer: Send;

    /// Gives the crew its waker, before the first user joins.
    fn begins(&mut self, _waker: Waker<Self::Newcomer>) {}

    /// A user joins under a number that no other has at present.
    fn joins(&mut self, user: u32, newcomer: Self::Newcomer);

    /// See [`User::step`].
    fn step(&mut self, user: u32, now_ns: i64, out: &mut Vec<u8>) -> UserStep;

    /// See [`User::ended`].
    fn ended(&mut self, user: u32, outcome: &Outcome<'_>);

    /// The user returned [`UserStep::End`], or the run is over.
    fn leaves(&mut self, user: u32);

    /// The crew's requests after a step or the end of an exchange, one at a time; `None`: no more.
    #[inline]
    fn calls(&mut self) -> Option<Call<Self::Newcomer>> {
        None
    }

    /// True while a user is in the middle of a sequence that is completed although no further steps are
    /// requested: see [`crate::Stop::soon`]. One that rests then waits for its waker.
    fn is_amid(&self, _user: u32) -> bool {
        false
    }

    /// A moment for reports, between two turns of the loop. Returns when the next one is wanted.
    fn look(&mut self, _now_ns: i64) -> i64 {
        i64::MAX
    }
}

/// Users that know nothing of each other.
#[derive(Default)]
pub struct Strangers(Vec<Option<Box<dyn User>>>);

impl Crew for Strangers {
    type Newcomer = Box<dyn User>;

    fn joins(&mut self, user: u32, newcomer: Box<dyn User>) {
        let place = user as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(newcomer);
    }

    fn step(&mut self, user: u32, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        match self.0.get_mut(user as usize) {
            Some(Some(user)) => user.step(now_ns, out),
            _ => UserStep::End,
        }
    }

    fn ended(&mut self, user: u32, outcome: &Outcome<'_>) {
        if let Some(Some(user)) = self.0.get_mut(user as usize) {
            user.ended(outcome);
        }
    }

    fn leaves(&mut self, user: u32) {
        if let Some(place) = self.0.get_mut(user as usize) {
            *place = None;
        }
    }
}
