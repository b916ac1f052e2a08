//! A small test agent with predictable answers.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use sokudo_bus::agent::Factory;
use sokudo_bus::{Client, Handler, Notes};
use sokudo_model::{Batch, Event, Text};
use sokudo_wire::{Ask, Note, Reply};

/// Generous: only a failing test waits this long.
pub const BOUND: Duration = Duration::from_secs(30);

/// A number that tests wait on.
#[derive(Clone, Default)]
pub struct Gauge(Arc<(Mutex<i64>, Condvar)>);

impl Gauge {
    pub fn add(&self, step: i64) {
        *self.0.0.lock().unwrap() += step;
        self.0.1.notify_all();
    }

    pub fn now(&self) -> i64 {
        *self.0.0.lock().unwrap()
    }

    /// Waits until the number is as expected.
    pub fn reach(&self, expected: i64) {
        let number = self.0.0.lock().unwrap();
        let (number, waited) = self
            .0
            .1
            .wait_timeout_while(number, BOUND, |n| *n != expected)
            .unwrap();
        assert!(!waited.timed_out(), "{} instead of {expected}", *number);
    }
}

/// Waits until something holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// Counts what happens inside the handlers.
#[derive(Clone, Default)]
pub struct Seen {
    /// Handlers alive.
    pub alive: Gauge,
    /// Drains being answered.
    pub draining: Gauge,
    /// Starts handled.
    pub starts: Gauge,
    /// Gauge that lets a halt go on.
    pub release: Gauge,
}

impl Seen {
    /// Makes handlers that report here.
    pub fn factory(&self) -> Factory {
        let seen = self.clone();
        Arc::new(move |client, notes| seen.handler(client, notes))
    }

    pub fn handler(&self, client: Client, notes: Notes) -> Box<dyn Handler> {
        self.alive.add(1);
        let seen = self.clone();
        Box::new(Small {
            client,
            notes,
            seen,
        })
    }
}

struct Small {
    client: Client,
    notes: Notes,
    seen: Seen,
}

impl Drop for Small {
    fn drop(&mut self) {
        self.seen.alive.add(-1);
    }
}

impl Handler for Small {
    fn handle(&mut self, ask: Ask) -> Reply {
        match ask {
            Ask::Clock => Reply::Clock(42),
            // Ten thousand notes and then the answer: their order is part of the promise.
            Ask::Unwatch => {
                (0..10_000).for_each(|n| self.notes.push(note(n)).unwrap());
                Reply::Done
            }
            Ask::Start { .. } => {
                self.seen.starts.add(1);
                Reply::Done
            }
            // When it is let: what can wait, and then what cannot.
            Ask::Halt => {
                self.seen.draining.add(1);
                self.seen.release.reach(1);
                self.notes.push(note(1)).unwrap();
                let says = Text::new("urgent");
                let missing = None;
                self.notes.push(Note::Problem { says, missing }).unwrap();
                Reply::Done
            }
            // Waits until somebody makes it stop.
            Ask::Drain { .. } => {
                self.seen.draining.add(1);
                eventually("a reason to stop", || self.notes.should_stop());
                self.seen.draining.add(-1);
                Reply::Result(format!("gone: {}", self.notes.is_gone()))
            }
            Ask::Arm { .. } => panic!("asked to panic"),
            Ask::Describe => Reply::Offer(self.client.name.clone()),
            _ => Reply::Done,
        }
    }
}

/// A note that carries a number.
pub fn note(number: i64) -> Note {
    Note::Batch(Batch {
        events: vec![Event {
            t_ns: number,
            host: String::new(),
            source: String::new(),
            kind: String::new(),
            says: Text::new(""),
        }],
        ..Batch::default()
    })
}

/// The number in a note made by [`note`].
pub fn number_in(note: &Note) -> i64 {
    match note {
        Note::Batch(batch) => batch.events[0].t_ns,
        other => panic!("not a numbered note: {other:?}"),
    }
}

pub fn drain() -> Ask {
    Ask::Drain { sent: Vec::new() }
}
