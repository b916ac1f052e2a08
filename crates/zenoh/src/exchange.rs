//! Receives the messages of all agents of a controller and distributes them to their sessions.
//!
//! ```text
//! what any agent says ──────┐
//! which agents are gone ────┼──► exchange ──► seat of the session ──► its inbox
//! whose process has ended ──┘
//! ```
//!
//! A router searches all declarations whenever one is added: a controller that declared something for
//! each of its agents would cost it the square of their number. The declarations made here serve all
//! agents.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sokudo_model::Text;
use sokudo_wire::order::{Secret, is_end_proof};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::keys::{Keys, last_parts};
use crate::pipes::Inbox;

/// Declarations of a controller for all its sessions; undeclared when the last of them is over.
pub(crate) struct Exchange {
    /// Names this controller's connection: 32 hexadecimal digits.
    pub(crate) fleet: String,
    session: Session,
    /// The liveliness key by which agents detect the controller.
    sign: String,
    seats: Arc<Seats>,
    /// Declared as long as there are sessions: without sessions it does not keep routers from renewing.
    shown: Mutex<Weak<LivelinessToken>>,
    _declared: [Subscriber<()>; 3],
}

impl Exchange {
    /// Subscribes to the messages of all agents of `keys` to `fleet`.
    pub(crate) fn open(session: &Session, keys: &Keys, fleet: String) -> zenoh::Result<Arc<Self>> {
        let seats: Arc<Seats> = Arc::default();
        let said = Arc::clone(&seats);
        let up = session
            .declare_subscriber(keys.up(&fleet, "*", "*"))
            .callback(move |sample| said.hand_over(&sample))
            .wait()?;
        let left = Arc::clone(&seats);
        let alive = session
            .liveliness()
            .declare_subscriber(keys.alive("*", "*"))
            .callback(move |sample| left.leave(&sample))
            .wait()?;
        let ended = Arc::clone(&seats);
        let gone = session
            .declare_subscriber(keys.gone("*"))
            .callback(move |sample| ended.end(&sample))
            .wait()?;
        Ok(Arc::new(Self {
            session: session.clone(),
            sign: keys.controller(&fleet),
            fleet,
            seats,
            shown: Mutex::default(),
            _declared: [up, alive, gone],
        }))
    }

    fn shown(&self) -> MutexGuard<'_, Weak<LivelinessToken>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the agents that the controller is there.
    fn show(&self) -> zenoh::Result<Arc<LivelinessToken>> {
        let mut shown = self.shown();
        if let Some(token) = shown.upgrade() {
            return Ok(token);
        }
        let token = self.session.liveliness().declare_token(&self.sign).wait()?;
        let token = Arc::new(token);
        *shown = Arc::downgrade(&token);
        Ok(token)
    }

    /// Delivers the messages of `agent` in `session` to `inbox` from now on.
    pub(crate) fn seat(
        self: &Arc<Self>,
        agent: &str,
        session: &str,
        inbox: Inbox,
    ) -> zenoh::Result<Seat> {
        let token = self.show()?;
        let sitting = Sitting {
            session: session.to_owned(),
            inbox,
            life: None,
        };
        let mut seats = self.seats.all();
        seats.entry(agent.to_owned()).or_default().push(sitting);
        drop(seats);
        Ok(Seat {
            exchange: Arc::clone(self),
            agent: agent.to_owned(),
            session: session.to_owned(),
            token: Some(token),
        })
    }
}

/// A session's place at the exchange, given back when it is dropped.
pub(crate) struct Seat {
    exchange: Arc<Exchange>,
    agent: String,
    session: String,
    token: Option<Arc<LivelinessToken>>,
}

impl Seat {
    /// From now on the end of the process `life` ends the session, when it is proven with `secret`.
    pub(crate) fn lives(&self, life: String, secret: Secret) {
        let mut seats = self.exchange.seats.all();
        let sitting = seats.get_mut(&self.agent).into_iter().flatten();
        for sitting in sitting.filter(|sitting| sitting.session == self.session) {
            sitting.life = Some((life.clone(), secret));
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.exchange.seats.all();
        if let Some(sitting) = seats.get_mut(&self.agent) {
            sitting.retain(|sitting| sitting.session != self.session);
            if sitting.is_empty() {
                seats.remove(&self.agent);
            }
        }
        drop(seats);
        // A session that begins meanwhile waits until the last token is withdrawn, and declares another
        // one.
        let _shown = self.exchange.shown();
        self.token.take();
    }
}

/// Sessions by the name of their agent.
#[derive(Default)]
struct Seats(Mutex<HashMap<String, Vec<Sitting>>>);

struct Sitting {
    session: String,
    inbox: Inbox,
    /// Identity of the agent's process, and the secret that proves its messages.
    life: Option<(String, Secret)>,
}

/// Called on Zenoh's threads: must not block.
impl Seats {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<Sitting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_over(&self, sample: &Sample) {
        let Some((agent, session)) = last_parts(sample.key_expr()) else {
            return;
        };
        let seats = self.all();
        let sitting = seats.get(agent).into_iter().flatten();
        for sitting in sitting.filter(|sitting| sitting.session == session) {
            sitting.inbox.put(sample.payload().to_bytes().into_owned());
        }
    }

    fn leave(&self, sample: &Sample) {
        if sample.kind() != SampleKind::Delete {
            return;
        }
        if let Some((agent, _)) = last_parts(sample.key_expr()) {
            let seats = self.all();
            let sitting = seats.get(agent).into_iter().flatten();
            sitting.for_each(|sitting| sitting.inbox.end(Text::new("error-session-agent-gone")));
        }
    }

    fn end(&self, sample: &Sample) {
        let Some((_, agent)) = last_parts(sample.key_expr()) else {
            return;
        };
        let proof = sample.payload().to_bytes();
        let is_its =
            |(life, secret): &(String, Secret)| is_end_proof(secret, life.as_bytes(), &proof);
        let seats = self.all();
        let sitting = seats.get(agent).into_iter().flatten();
        for sitting in sitting.filter(|sitting| sitting.life.as_ref().is_some_and(is_its)) {
            sitting.inbox.end(Text::new("error-session-process-ended"));
        }
    }
}
