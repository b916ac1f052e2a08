//! The way of an answer back to the user that made a call.

use std::sync::{Arc, Mutex};

use sokudo_http::Waker;
use sokudo_jmeter::run::CallAnswer;

use super::client::Comer;
use super::generator::locked;

/// Slot for the answer to a call.
pub(super) type LetterBox = Arc<Mutex<Option<CallAnswer>>>;

/// The way back to a user.
pub(super) struct Way {
    /// Slot in which it looks for the answer.
    pub letter_box: LetterBox,
    /// Its seat.
    pub seat: u32,
    /// Wakes its event loop.
    pub waker: Waker<Comer>,
}

impl Way {
    /// Leaves the answer, and wakes the user.
    pub fn answer(self, answer: CallAnswer) {
        *locked(&self.letter_box) = Some(answer);
        self.waker.wake(self.seat);
    }
}
