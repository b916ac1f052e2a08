//! Passes changes of the load, such as a new rate, to a run that goes on.
//!
//! ```text
//! web page, console ── change ──► Steering ── taken once per tick ──► all generators of the phase
//! ```
//!
//! One place for one change: later ones are added to what has not been taken yet.

use std::sync::{Arc, Mutex, PoisonError};

use sokudo_model::{Batch, Change, Event, Text};
use sokudo_wire::{Ask, Reply};

use crate::complaints::MAX_WORD;
use crate::hosts::ASK_BOUND;
use crate::run::Run;

/// A handle on the load of a run. Copies act on the same run.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<Option<Change>>>);

impl Steering {
    /// Asks for other load; it takes effect within about 100 ms, in a phase that is running.
    /// A change without a meaning, such as a negative rate, is left out; `false` then.
    pub fn ask(&self, change: Change) -> bool {
        if !change.is_sound() || change.is_empty() {
            return false;
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = Some(waiting.map_or(change, |earlier| earlier.then(change)));
        true
    }

    /// Changes that were requested since the last call.
    pub(crate) fn take(&self) -> Option<Change> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Run {
    /// Asks the given hosts for other load; a refusal is recorded.
    pub(crate) fn steer(&mut self, parts: &[usize], phase: &str) {
        let Some(change) = self.steering.take() else {
            return;
        };
        // A change ends the silence of a quiet phase: the hosts answer from here on.
        self.hosts.bus.wake();
        let alive: Vec<usize> = parts.iter().copied().filter(|i| !self.lost[*i]).collect();
        let asks = alive
            .iter()
            .map(|index| (self.hosts.list()[*index].member, Ask::Steer { change }))
            .collect();
        for (index, answer) in alive.iter().zip(self.hosts.bus.ask_all(asks, ASK_BOUND)) {
            // A host that does not answer is noticed by its lease.
            if let Ok(Reply::Refused(refusal)) = answer {
                let host = self.hosts.list()[*index].name.clone();
                let says = Text::new("engine-steer-refused")
                    .word("host", &host)
                    .text("why", refusal.within(MAX_WORD).says);
                self.problem(&host, phase, says, None);
            }
        }
        self.steered(change);
    }

    /// Records when the load was changed.
    fn steered(&mut self, change: Change) {
        let mut says = Text::new("engine-steered");
        for (name, value) in [
            ("users", change.users.map(|users| users as f64)),
            ("rate", change.rate_per_s),
        ] {
            let value = value.map_or_else(|| "–".to_owned(), |value| value.to_string());
            says = says.word(name, value);
        }
        let batch = Batch {
            events: vec![Event {
                t_ns: self.elapsed_ns(),
                host: String::new(),
                source: "controller".into(),
                kind: "steered".into(),
                says,
            }],
            ..Batch::default()
        };
        self.keep(&batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_added_up_until_they_are_taken() {
        let steering = Steering::default();
        let rate = |per_s| Change {
            users: None,
            rate_per_s: Some(per_s),
        };
        assert!(steering.ask(rate(1.0)) && steering.clone().ask(rate(2.0)));
        assert!(!steering.ask(rate(-1.0)) && !steering.ask(Change::default()));
        assert_eq!(steering.take(), Some(rate(2.0)));
        assert_eq!(steering.take(), None);
    }
}
