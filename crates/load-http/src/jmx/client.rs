//! The users of a plan on an event loop.
//!
//! ```text
//! seat 7: user ◄─ its lanes ─► seat 9: helper 1 · seat 12: helper 2   while a page is fetched
//! ```
//!
//! A user whose page is fetched over several connections at a time has helpers in seats of their own;
//! they stay with it until it leaves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sokudo_http::{
    Call, Crew, Exchange, Failure, FailureKind, Keep, LATE_NS, Malformed, Outcome, Phase, Stop,
    Switch, TargetId, UserStep, Waker,
};
use sokudo_jmeter::run::{
    self as run, Lost, NextAction, NotHttp, Reply, Sink, StopKind, Test, ThreadStart, VirtualUser,
};
use sokudo_net::clock::now_ns;

use super::calls::{LetterBox, Way};
use super::crowd::Floors;
use super::databases::{DatabaseJob, Databases};
use super::generator::locked;
use super::sockets::{SocketJob, Sockets};
use super::tally::Shard;
use crate::http::stages;

/// The users of one event loop.
pub(super) struct PlanUsers {
    test: Arc<Test>,
    shard: Arc<Shard>,
    stop: Stop,
    places: Vec<Option<Placed>>,
    inflight: Arc<Inflight>,
    floors: Arc<Floors>,
    called: Arc<Called>,
    waker: Option<Waker<Comer>>,
    /// Calls that the loop is still to make.
    calls: VecDeque<Call<Comer>>,
}

/// Those who make calls for users.
#[derive(Default)]
pub(super) struct Called {
    pub databases: Databases,
    pub sockets: Sockets,
}

/// Most users of an open model at a time, and counts of its arrivals.
pub(super) struct Inflight {
    /// The most.
    pub most: u64,
    /// Arrivals that were not begun.
    pub dropped: AtomicU64,
    /// Arrivals that were begun more than [`LATE_NS`] after their time.
    pub late: AtomicU64,
}

enum Placed {
    /// Not begun: nothing is held for it.
    Waits(Joining),
    Lives {
        user: Box<VirtualUser>,
        group: u32,
        number: u64,
        /// Seats of its helpers, by lane from 1; `None`: not there yet.
        helpers: Vec<Option<u32>>,
        /// Slot for the answer to a call.
        letter_box: LetterBox,
        began_ns: i64,
        /// Begin of the pause that goes on.
        paused_ns: Option<i64>,
    },
    /// One of the lanes of another seat.
    Helps { of: u32, lane: usize },
}

/// Something that joins the event loop.
pub(super) enum Comer {
    /// A user.
    User(Joining),
    /// A helper of the user in this seat.
    Helper { of: u32, lane: usize },
}

/// A user that joins, on the clock of the engine.
pub(super) struct Joining {
    /// Its start in the plan.
    pub start: ThreadStart,
    /// Begin of its stage.
    pub stage_ns: i64,
}

impl PlanUsers {
    pub fn new(
        test: Arc<Test>,
        shard: Arc<Shard>,
        stop: Stop,
        inflight: Arc<Inflight>,
        floors: Arc<Floors>,
        called: Arc<Called>,
    ) -> Self {
        Self {
            test,
            shard,
            stop,
            places: Vec::new(),
            inflight,
            floors,
            called,
            waker: None,
            calls: VecDeque::new(),
        }
    }

    fn begin(&self, joining: &Joining, now_ns: i64) -> Option<Box<VirtualUser>> {
        let start = &joining.start;
        let due_ns = joining.stage_ns + start.at_ns;
        if start.is_arrival && u64::from(self.test.active()) >= self.inflight.most {
            self.inflight.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if start.is_arrival && now_ns - due_ns > LATE_NS {
            self.inflight.late.fetch_add(1, Ordering::Relaxed);
        }
        let ends_ns = start.ends_ns.map(|end| joining.stage_ns + end);
        let arrival = start.is_arrival.then_some(due_ns);
        let sink: Arc<dyn Sink> = self.shard.clone();
        let user = VirtualUser::new(
            &self.test,
            sink,
            start.group,
            start.number,
            ends_ns,
            arrival,
        );
        Some(Box::new(user))
    }

    /// Has a user's helpers come, or wakes them, when they could do something for it.
    fn call_helpers(&mut self, user: u32) {
        let Some(Some(Placed::Lives {
            user: living,
            helpers,
            ..
        })) = self.places.get_mut(user as usize)
        else {
            return;
        };
        for lane in 1..=living.helpers() {
            match helpers.get(lane - 1) {
                Some(Some(seat)) => self.calls.push_back(Call::Wakes(*seat)),
                // It is on its way.
                Some(None) => {}
                None => {
                    helpers.push(None);
                    let comer = Comer::Helper { of: user, lane };
                    self.calls.push_back(Call::Joins(comer));
                }
            }
        }
    }

    /// Decides the next action of a helper.
    fn assist(&mut self, (of, lane): (u32, usize), now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        let owner = self.places.get_mut(of as usize);
        let Some(Some(Placed::Lives { user, .. })) = owner else {
            return UserStep::End;
        };
        let step = step_of(user.assist(lane, now_ns, out));
        // It may have found out that nothing is left to do.
        self.calls.push_back(Call::Wakes(of));
        step
    }

    /// A plan may end its own test.
    fn heed(&self) {
        match self.test.stopping() {
            StopKind::No => {}
            StopKind::Soon => self.stop.soon(),
            StopKind::Now => self.stop.now(),
        }
    }
}

impl Crew for PlanUsers {
    type Newcomer = Comer;

    fn begins(&mut self, waker: Waker<Comer>) {
        self.waker = Some(waker);
    }

    fn joins(&mut self, user: u32, comer: Comer) {
        let place = user as usize;
        if place >= self.places.len() {
            self.places.resize_with(place + 1, || None);
        }
        self.places[place] = Some(match comer {
            Comer::User(joining) => Placed::Waits(joining),
            Comer::Helper { of, lane } => {
                let owner = self.places.get_mut(of as usize);
                if let Some(Some(Placed::Lives { helpers, .. })) = owner
                    && let Some(seat) = helpers.get_mut(lane - 1)
                {
                    *seat = Some(user);
                }
                Placed::Helps { of, lane }
            }
        });
    }

    fn step(&mut self, user: u32, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        let place = user as usize;
        if let Some(Some(Placed::Helps { of, lane })) = self.places.get(place) {
            return self.assist((*of, *lane), now_ns, out);
        }
        if let Some(Some(Placed::Waits(joining))) = self.places.get(place) {
            let (group, number) = (joining.start.group as u32, joining.start.number);
            let begun = self.begin(joining, now_ns);
            if begun.is_some() {
                self.shard.user_begins(now_ns);
            }
            self.places[place] = begun.map(|user| Placed::Lives {
                user,
                group,
                number,
                helpers: Vec::new(),
                letter_box: LetterBox::default(),
                began_ns: now_ns,
                paused_ns: None,
            });
        }
        let Some(Some(Placed::Lives {
            user: living,
            group,
            number,
            letter_box,
            paused_ns,
            ..
        })) = self.places.get_mut(place)
        else {
            return UserStep::End;
        };
        if self.floors.sends_home(*group as usize, *number) && !living.is_amid() {
            return UserStep::End;
        }
        if let Some(answer) = locked(letter_box).take() {
            living.answered(answer);
        }
        let mut next = living.step(now_ns, out);
        while next == NextAction::Call {
            let call = living.take_call();
            let (Some(call), Some(waker)) = (call, &self.waker) else {
                break;
            };
            let nobody = call.nobody(now_ns);
            let way = Way {
                letter_box: Arc::clone(letter_box),
                seat: user,
                waker: waker.clone(),
            };
            let is_made = match call {
                run::Call::Database(call) => self.called.databases.call(DatabaseJob {
                    call: *call,
                    at_ns: now_ns,
                    way,
                }),
                run::Call::Tcp(call) => self.called.sockets.call(SocketJob { call: *call, way }),
            };
            if is_made {
                break;
            }
            living.answered(nobody);
            next = living.step(now_ns, out);
        }
        // A user that is woken within its pause goes on with it.
        let pauses = matches!(next, NextAction::Pause { .. });
        match (*paused_ns, pauses) {
            (None, true) => {
                self.shard.pause_begins(now_ns);
                *paused_ns = Some(now_ns);
            }
            (Some(began_ns), false) => {
                self.shard.pause_ends(began_ns, now_ns);
                *paused_ns = None;
            }
            (None, false) | (Some(_), true) => {}
        }
        let step = step_of(next);
        if living.helpers() > 0 {
            self.call_helpers(user);
        }
        self.heed();
        step
    }

    fn ended(&mut self, user: u32, outcome: &Outcome<'_>) {
        let (owner, lane) = match self.places.get(user as usize) {
            Some(Some(Placed::Helps { of, lane })) => (*of, *lane),
            _ => (user, 0),
        };
        let Some(Some(Placed::Lives { user: living, .. })) = self.places.get_mut(owner as usize)
        else {
            return;
        };
        match lane {
            0 => living.ended(&reply(outcome)),
            lane => {
                living.assisted(lane, &reply(outcome));
                self.calls.push_back(Call::Wakes(owner));
            }
        }
        if living.helpers() > 0 {
            self.call_helpers(owner);
        }
        self.heed();
    }

    fn calls(&mut self) -> Option<Call<Comer>> {
        self.calls.pop_front()
    }

    fn is_amid(&self, user: u32) -> bool {
        match self.places.get(user as usize) {
            Some(Some(Placed::Lives { user, .. })) => user.is_amid(),
            Some(Some(Placed::Helps { of, .. })) => match self.places.get(*of as usize) {
                Some(Some(Placed::Lives { user, .. })) => user.is_amid(),
                _ => false,
            },
            _ => false,
        }
    }

    fn leaves(&mut self, user: u32) {
        let place = self.places.get_mut(user as usize).and_then(Option::take);
        let Some(Placed::Lives {
            mut user,
            helpers,
            began_ns,
            paused_ns,
            ..
        }) = place
        else {
            return;
        };
        let now = now_ns();
        if let Some(since_ns) = paused_ns {
            self.shard.pause_ends(since_ns, now);
        }
        self.shard.user_ends(began_ns, now);
        user.end(now);
        self.called.sockets.leave(user.serial());
        for seat in helpers.into_iter().flatten() {
            self.places[seat as usize] = None;
            self.calls.push_back(Call::Wakes(seat));
        }
    }
}

fn step_of(next: NextAction) -> UserStep {
    match next {
        NextAction::Pause { until_ns } => UserStep::Pause { until_ns },
        NextAction::Rest | NextAction::Call => UserStep::Rest,
        NextAction::End => UserStep::End,
        NextAction::Send(request) => UserStep::Send(Exchange {
            target: TargetId(request.target),
            intended_ns: request.intended_ns,
            close: request.close,
            fresh: request.fresh,
            connect_timeout_ns: request.connect_timeout_ns,
            response_timeout_ns: request.response_timeout_ns,
            whole_timeout_ns: request.whole_timeout_ns,
            keep: match request.body_at_most {
                0 => Keep::Head,
                at_most => Keep::Body { at_most },
            },
            method_is_head: request.is_head,
            // So does JMeter, whatever the request says.
            switch: Switch::Informational,
            names: request.names,
            lane: None,
        }),
    }
}

fn reply<'a>(outcome: &Outcome<'a>) -> Reply<'a> {
    Reply {
        intended_ns: outcome.intended_ns,
        start_ns: outcome.start_ns,
        connected_ns: outcome.secured_ns,
        sent_ns: outcome.sent_ns,
        first_byte_ns: outcome.first_byte_ns,
        end_ns: outcome.end_ns,
        peer: outcome.peer,
        spent: stages(outcome),
        reused: outcome.reused,
        sent_bytes: outcome.sent_bytes,
        head_bytes: outcome.head_bytes,
        body_bytes: outcome.body_bytes,
        framing_bytes: outcome.framing_bytes,
        status: outcome.status,
        reason: outcome.reason,
        headers: outcome.headers,
        body: outcome.body,
        lost: outcome.failure.map(|failure| lost(&failure)),
    }
}

/// A failure under the name that JMeter has for it.
fn lost(failure: &Failure) -> Lost<'static> {
    let class = match (failure.kind, failure.phase) {
        (FailureKind::UnknownHost, _) => NotHttp::UnknownHost,
        (FailureKind::Refused, _) => NotHttp::Refused,
        (FailureKind::Reset, Phase::Send) => NotHttp::BrokenPipe,
        (FailureKind::Reset, _) => NotHttp::Reset,
        (FailureKind::TimedOut, Phase::Resolve | Phase::Connect) => NotHttp::ConnectTimeout,
        (FailureKind::TimedOut, Phase::Tls) => NotHttp::TlsTimeout,
        (FailureKind::TimedOut, _) => NotHttp::ReadTimeout,
        (FailureKind::Unreachable, _) => NotHttp::Unreachable,
        (FailureKind::NetworkUnreachable, _) => NotHttp::NetworkUnreachable,
        (FailureKind::ClosedEarly, Phase::Read) => NotHttp::BodyCut,
        (FailureKind::ClosedEarly, Phase::Tls) => NotHttp::TlsClosed,
        (FailureKind::ClosedEarly, _) => NotHttp::NoResponse,
        (FailureKind::CutChunk { size, came }, _) => NotHttp::ChunkCut { size, came },
        (FailureKind::Malformed(Malformed::Chunk), _) => NotHttp::BadChunk,
        (FailureKind::Malformed(Malformed::ChunkEnd), _) => NotHttp::BadChunkEnd,
        (FailureKind::Malformed(_) | FailureKind::Http2(_) | FailureKind::NoHttp2, _) => {
            NotHttp::Malformed
        }
        (FailureKind::NotTls, _) => NotHttp::NotTls,
        (FailureKind::TlsAlert(alert), _) => NotHttp::TlsAlert(alert),
        (FailureKind::StreamReset(_) | FailureKind::GoneAway(_) | FailureKind::Unprocessed, _) => {
            NotHttp::Reset
        }
        (FailureKind::PortsExhausted, _) => NotHttp::NoLocalPort,
        (FailureKind::TooManyFiles, _) => NotHttp::TooManyFiles,
        (FailureKind::ProxyRefused, _) => NotHttp::ProxyRefused,
        (FailureKind::Stopped, _) => NotHttp::Stopped,
        (
            FailureKind::CertificateExpired
            | FailureKind::CertificateNotYetValid
            | FailureKind::CertificateUntrusted
            | FailureKind::CertificateWrongName
            | FailureKind::CertificateInvalid
            | FailureKind::Tls,
            _,
        ) => NotHttp::Tls,
        (FailureKind::Other, _) => NotHttp::Reset,
    };
    Lost {
        class,
        phase: failure.phase.name(),
        errno: (failure.errno != 0).then_some(failure.errno),
        says: failure.kind.name(),
    }
}
