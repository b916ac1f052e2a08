//! How do the users of a plan live on an event loop?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sokudo_http::{Crew, Exchange, Failure, Keep, Kind, Outcome, Phase, Step, Stop, TargetId};
use sokudo_jmeter::run::{Lost, Next, NotHttp, Reply, Sink, Start, StopKind, Test, VirtualUser};

use super::crowd::Floors;
use super::tally::Shard;

/// The users of one event loop.
pub(super) struct PlanUsers {
    test: Arc<Test>,
    shard: Arc<Shard>,
    stop: Stop,
    places: Vec<Option<Placed>>,
    inflight: Arc<Inflight>,
    floors: Arc<Floors>,
}

/// How many users an open model may have at a time.
pub(super) struct Inflight {
    /// The most.
    pub most: u64,
    /// Arrivals that were not begun.
    pub dropped: AtomicU64,
}

enum Placed {
    /// Not begun: nothing is held for it.
    Waits(Joining),
    Lives {
        user: Box<VirtualUser>,
        group: u32,
        number: u64,
    },
}

/// A user that joins, on the clock of the engine.
pub(super) struct Joining {
    /// What the plan says of it.
    pub start: Start,
    /// When its stage began.
    pub stage_ns: i64,
}

impl PlanUsers {
    pub fn new(
        test: Arc<Test>,
        shard: Arc<Shard>,
        stop: Stop,
        inflight: Arc<Inflight>,
        floors: Arc<Floors>,
    ) -> Self {
        Self {
            test,
            shard,
            stop,
            places: Vec::new(),
            inflight,
            floors,
        }
    }

    fn begin(&self, joining: &Joining) -> Option<Box<VirtualUser>> {
        let start = &joining.start;
        let due_ns = joining.stage_ns + start.at_ns;
        if start.is_arrival && u64::from(self.test.active()) >= self.inflight.most {
            self.inflight.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
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
    type Newcomer = Joining;

    fn joins(&mut self, user: u32, joining: Joining) {
        let place = user as usize;
        if place >= self.places.len() {
            self.places.resize_with(place + 1, || None);
        }
        self.places[place] = Some(Placed::Waits(joining));
    }

    fn step(&mut self, user: u32, now_ns: i64, out: &mut Vec<u8>) -> Step {
        let place = user as usize;
        if let Some(Some(Placed::Waits(joining))) = self.places.get(place) {
            let (group, number) = (joining.start.group as u32, joining.start.number);
            let begun = self.begin(joining);
            self.places[place] = begun.map(|user| Placed::Lives {
                user,
                group,
                number,
            });
        }
        let Some(Some(Placed::Lives {
            user: living,
            group,
            number,
        })) = self.places.get_mut(place)
        else {
            return Step::End;
        };
        if self.floors.sends_home(*group as usize, *number) {
            return Step::End;
        }
        let step = match living.step(now_ns, out) {
            Next::Pause { until_ns } => Step::Pause { until_ns },
            Next::End => Step::End,
            Next::Send(request) => Step::Send(Exchange {
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
            }),
        };
        self.heed();
        step
    }

    fn ended(&mut self, user: u32, outcome: &Outcome<'_>) {
        if let Some(Some(Placed::Lives { user, .. })) = self.places.get_mut(user as usize) {
            user.ended(&reply(outcome));
        }
        self.heed();
    }

    fn leaves(&mut self, user: u32) {
        if let Some(place) = self.places.get_mut(user as usize) {
            *place = None;
        }
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
        (Kind::UnknownHost, _) => NotHttp::UnknownHost,
        (Kind::Refused, _) => NotHttp::Refused,
        (Kind::Reset, Phase::Send) => NotHttp::BrokenPipe,
        (Kind::Reset, _) => NotHttp::Reset,
        (Kind::TimedOut, Phase::Resolve | Phase::Connect | Phase::Tls) => NotHttp::ConnectTimeout,
        (Kind::TimedOut, _) => NotHttp::ReadTimeout,
        (Kind::Unreachable, _) => NotHttp::Unreachable,
        (Kind::ClosedEarly, Phase::Read) => NotHttp::BodyCut,
        (Kind::ClosedEarly, _) => NotHttp::NoResponse,
        (Kind::Malformed(_), _) => NotHttp::Malformed,
        (Kind::PortsExhausted | Kind::TooManyFiles, _) => NotHttp::NoLocalPort,
        (Kind::ProxyRefused, _) => NotHttp::ProxyRefused,
        (Kind::Stopped, _) => NotHttp::Stopped,
        (
            Kind::CertificateExpired
            | Kind::CertificateNotYetValid
            | Kind::CertificateUntrusted
            | Kind::CertificateWrongName
            | Kind::CertificateInvalid
            | Kind::Tls,
            _,
        ) => NotHttp::Tls,
        (Kind::Other, _) => NotHttp::Reset,
    };
    Lost {
        class,
        phase: failure.phase.name(),
        errno: (failure.errno != 0).then_some(failure.errno),
        says: failure.kind.name(),
    }
}
