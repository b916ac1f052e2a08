//! What does one virtual user do now?

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sokudo_model::Spent;
use sokudo_pace::Random;

use super::address::Address;
use super::cookies::Jars;
use super::feed::Feed;
use super::flow::{FUEL, Found, Place};
use super::outcome::Reply;
use super::parts::Parts;
use super::person::Person;
use super::proof::Proving;
use super::proxied::Through;
use super::request::Texts;
use super::resources::Fetching;
use super::route::Route;
use super::row::Sink;
use super::shared::StopKind;
use super::test::Test;
use super::transactions::Transaction;
use crate::plan::{ConfigKind, Id, SamplerKind};
use crate::script::Seen;

/// Time between two looks at a meeting point.
pub(super) const MEET_NS: i64 = 2_000_000;

/// A virtual user: a place in the plan and a memory.
pub struct VirtualUser {
    test: Arc<Test>,
    body: Body,
}

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Sends what was appended.
    Send(Request),
    /// Nothing until a helper has ended what it was at.
    Rest,
    /// Nothing until then.
    Pause {
        /// When to ask again.
        until_ns: i64,
    },
    /// It is gone.
    End,
}

/// How a request is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Number that [`Targets`](super::Targets) gave.
    pub target: u32,
    /// When it should have left.
    pub intended_ns: i64,
    /// The connection is not kept afterwards.
    pub close: bool,
    /// A kept connection is not used.
    pub fresh: bool,
    /// Longest time to connect; 0: no bound.
    pub connect_timeout_ns: u64,
    /// Longest time for the answer; 0: no bound.
    pub response_timeout_ns: u64,
    /// Longest time from the start to the whole answer; 0: no bound.
    pub whole_timeout_ns: u64,
    /// Bytes of the body that are looked at.
    pub body_at_most: usize,
    /// The answer has no body.
    pub is_head: bool,
    /// The user looks the name up by itself, and again when this number changes; `None`: it is looked
    /// up once for all.
    pub names: Option<u32>,
}

/// Everything of a user but the test: so that both can be used at once.
pub(super) struct Body {
    pub sink: Arc<dyn Sink>,
    /// Number of the user among all that were ever made.
    pub number: u64,
    pub person: Person,
    /// Where it stands in each controller.
    pub places: Box<[Place]>,
    /// Orders of random order controllers.
    pub orders: HashMap<usize, Vec<u16>>,
    /// Transactions under way, the outer ones first.
    pub open: Vec<Transaction>,
    /// Locks that it holds: controller and name.
    pub held: Vec<(usize, String)>,
    pub jars: Jars,
    pub cache: HashMap<String, Validators>,
    pub feeds: HashMap<Id, Arc<Feed>>,
    pub counters: HashMap<Id, i64>,
    pub iteration_of_counter: HashMap<Id, u64>,
    pub randoms: HashMap<Id, Random>,
    /// When the previous request of a timer of its own was due.
    pub paces: HashMap<Id, i64>,
    pub texts: Texts,
    pub flight: Flight,
    /// When a script that was a sampler began, and its result.
    pub scripted: Option<(i64, Box<Seen>)>,
    /// Parts of the result under way.
    pub parts: Parts,
    /// Fetches what belongs to pages, once there was one.
    pub fetching: Option<Box<Fetching>>,
    /// Passes that controllers may still make without a sampler.
    pub fuel: u32,
    /// The next request uses a connection of its own.
    pub fresh: bool,
    pub phase: Phase,
    ends_ns: Option<i64>,
    /// When an arrival should have begun, until its first request.
    pub intended_ns: Option<i64>,
}

/// What a server said about the age of an answer.
#[derive(Debug, Default)]
pub(super) struct Validators {
    pub last_modified: Option<String>,
    pub etag: Option<String>,
    /// Not asked for again before this moment, milliseconds since 1970.
    pub fresh_until_ms: Option<i64>,
}

/// The request under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub sampler: Id,
    /// The controller that it stands in.
    pub node: usize,
    pub address: Address,
    pub method: String,
    pub url: String,
    pub keep_alive: bool,
    /// The proxy that it goes through.
    pub through: Option<Through>,
    /// The way that it takes; `None`: the system's.
    pub route: Option<Box<Route>>,
    /// See [`Request::names`].
    pub names: Option<u32>,
    /// Length of the request's head.
    pub head_bytes: usize,
    /// The request itself, where something looks at it.
    pub sent: Vec<u8>,
    /// It asks for something that belongs to a page.
    pub is_part: bool,
    /// Redirects that were followed.
    pub hops: u32,
    /// What the server asked for before it answers.
    pub proving: Proving,
    /// Sums and beginnings over all hops.
    pub start_ns: i64,
    pub intended_ns: i64,
    pub latency_ms: u64,
    pub connect_ms: u64,
    pub spent: Spent,
    pub bytes: u64,
    pub sent_bytes: u64,
    /// The client itself follows: of the bytes, only those of the last hop are told.
    pub tells_last: bool,
}

/// What a user is at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Begin,
    Choose,
    /// Waits at a meeting point of a sampler: which, since when, and how often it had been opened.
    Meet(Id, usize, usize, (i64, u64)),
    /// Pauses are over.
    Ready(Id, usize),
    /// A made-up answer takes its time.
    MadeUp(Id, usize, i64),
    Flying,
    Hop,
    /// What belongs to a page is fetched.
    Page,
    /// A script was a sampler: its result is to be told.
    Scripted,
    Gone,
}

impl Phase {
    /// A result is begun and not yet told, although no request is under way.
    fn is_amid(self) -> bool {
        matches!(self, Self::Hop | Self::Page | Self::Scripted)
    }
}

impl VirtualUser {
    /// User `number` (from 1) of a group, which reports to `sink`. An arrival of an open model
    /// has the moment at which it was due.
    pub fn new(
        test: &Arc<Test>,
        sink: Arc<dyn Sink>,
        group: usize,
        number: u64,
        ends_ns: Option<i64>,
        arrival_ns: Option<i64>,
    ) -> Self {
        let made = test.shared.made.fetch_add(1, Ordering::Relaxed) + 1;
        // The stream hangs on group and number, not on the order in which users are made.
        let stream = ((group as u64) << 32) ^ number;
        let random = Random::new(test.settings.seed, stream);
        let nodes = test.nodes.get(group).map_or(0, Vec::len);
        let body = Body {
            sink,
            number: made,
            person: Person::new(test, group, number, random),
            places: vec![Place::OUTSIDE; nodes].into(),
            orders: HashMap::new(),
            open: Vec::new(),
            held: Vec::new(),
            jars: Jars::default(),
            cache: HashMap::new(),
            feeds: HashMap::new(),
            counters: HashMap::new(),
            iteration_of_counter: HashMap::new(),
            randoms: HashMap::new(),
            paces: HashMap::new(),
            texts: Texts::default(),
            flight: Flight::default(),
            scripted: None,
            parts: Parts::default(),
            fetching: None,
            fuel: FUEL,
            fresh: false,
            phase: Phase::Begin,
            ends_ns,
            intended_ns: arrival_ns,
        };
        Self {
            test: Arc::clone(test),
            body,
        }
    }

    /// What the user does now. With [`Next::Send`] the whole request has been appended to `out`.
    pub fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> Next {
        self.body.step(&self.test, now_ns, out)
    }

    /// How the request ended: once per [`Next::Send`], before the next `step`.
    pub fn ended(&mut self, reply: &Reply<'_>) {
        match self.body.phase {
            Phase::Page => self.body.fetched(&self.test, 0, reply),
            _ => self.body.ended(&self.test, reply),
        }
    }

    /// Helpers that could do something for the user now: each asks as one of its lanes, from 1. To be
    /// looked at after each `step` and `ended`; the lanes have connections of their own.
    pub fn helpers(&self) -> usize {
        self.body.helpers()
    }

    /// What a helper does now. With [`Next::Rest`] there is nothing to do until
    /// [`VirtualUser::helpers`] asks for it again.
    pub fn assist(&mut self, lane: usize, now_ns: i64, out: &mut Vec<u8>) -> Next {
        let next = match self.body.phase {
            Phase::Page => self.body.fetch(&self.test, now_ns, lane, out),
            _ => None,
        };
        next.unwrap_or(Next::Rest)
    }

    /// How the request of a helper ended.
    pub fn assisted(&mut self, lane: usize, reply: &Reply<'_>) {
        if let Phase::Page = self.body.phase {
            self.body.fetched(&self.test, lane, reply);
        }
    }

    /// True while it is in the middle of a result that takes several steps.
    pub fn is_amid(&self) -> bool {
        self.body.phase.is_amid()
    }
}

impl Drop for VirtualUser {
    /// A user that is broken off counts as gone, too.
    fn drop(&mut self) {
        self.body.go(&self.test);
    }
}

impl Body {
    fn step(&mut self, test: &Test, now_ns: i64, out: &mut Vec<u8>) -> Next {
        self.fuel = FUEL;
        loop {
            let over = self.ends_ns.is_some_and(|end| now_ns >= end);
            if !matches!(self.phase, Phase::Gone)
                && !self.phase.is_amid()
                && (over || test.stopping() != StopKind::No)
            {
                self.go(test);
            }
            match self.phase {
                Phase::Begin => self.begin(test),
                Phase::Choose => match self.advance(test, now_ns, 0) {
                    Found::Sampler(id, node) => {
                        if let Some(until_ns) = self.prepare(test, now_ns, id, node) {
                            return self.pause_until(test, until_ns);
                        }
                    }
                    Found::Later(until_ns) => return Next::Pause { until_ns },
                    Found::Nothing | Found::End => self.go(test),
                },
                Phase::Meet(id, node, index, since) => {
                    let meeting = test.programs[id as usize].meetings[index];
                    if !self.may_go(test, now_ns, meeting, since) {
                        return Next::Pause {
                            until_ns: now_ns + MEET_NS,
                        };
                    }
                    self.meet_from(test, now_ns, id, node, index + 1);
                }
                Phase::Ready(id, node) => {
                    if let Some(next) = self.sample(test, now_ns, id, node, out) {
                        return next;
                    }
                }
                Phase::MadeUp(id, node, start_ns) => {
                    self.made_up(test, now_ns, id, node, start_ns);
                    self.choose_again();
                }
                Phase::Hop => {
                    if let SamplerKind::Http(request) =
                        &test.plan.samplers[self.flight.sampler as usize].kind
                    {
                        self.render_hop(test, now_ns, request, out);
                        return self.send(test, now_ns, request, out);
                    }
                    self.phase = Phase::Choose;
                }
                Phase::Scripted => {
                    self.tell_scripted(test, now_ns);
                    self.choose_again();
                }
                Phase::Page => {
                    if let Some(next) = self.fetch(test, now_ns, 0, out) {
                        return next;
                    }
                    if let Phase::Page = self.phase {
                        return Next::Rest;
                    }
                }
                // Whoever sends asks too early: the answer is not there yet.
                Phase::Flying => {
                    return Next::Pause {
                        until_ns: now_ns + MEET_NS,
                    };
                }
                Phase::Gone => return Next::End,
            }
        }
    }

    fn begin(&mut self, test: &Test) {
        test.shared.all.fetch_add(1, Ordering::Relaxed);
        test.shared.begun.fetch_add(1, Ordering::Relaxed);
        test.shared.active[self.person.group].fetch_add(1, Ordering::Relaxed);
        self.phase = Phase::Choose;
    }

    /// Ends the user before its next step.
    pub(super) fn end_soon(&mut self) {
        self.ends_ns = Some(i64::MIN);
    }

    /// Leaves; what was held is given back.
    pub(super) fn go(&mut self, test: &Test) {
        if !matches!(self.phase, Phase::Begin | Phase::Gone) {
            test.shared.all.fetch_sub(1, Ordering::Relaxed);
            test.shared.active[self.person.group].fetch_sub(1, Ordering::Relaxed);
            let mut locks = super::shared::locked(&test.shared.locks);
            for (_, lock) in self.held.drain(..) {
                locks.remove(&lock);
            }
        }
        self.phase = Phase::Gone;
    }

    /// A pause that would pass the end of the test ends the user at once, as in JMeter.
    pub(super) fn pause_until(&mut self, test: &Test, until_ns: i64) -> Next {
        if self.ends_ns.is_some_and(|end| until_ns > end) {
            self.go(test);
            return Next::End;
        }
        Next::Pause { until_ns }
    }

    /// Another iteration of the group: the same user again, or a new one.
    pub(super) fn begin_iteration(&mut self, test: &Test, now_ns: i64) {
        self.person.iteration += 1;
        let first = self.person.iteration == 1;
        let other_user = !test.plan.groups[self.person.group].same_user;
        let clears =
            |each: bool, group_decides: bool| if group_decides { other_user } else { each };
        for (id, config) in (0..).zip(&test.plan.configs) {
            match &config.kind {
                ConfigKind::Cookies {
                    clear_each_iteration,
                    group_decides,
                    ..
                } if first || clears(*clear_each_iteration, *group_decides) => {
                    self.fill_jar(test, now_ns, id);
                }
                ConfigKind::Cache {
                    clear_each_iteration,
                    group_decides,
                    ..
                } if clears(*clear_each_iteration, *group_decides) => self.cache.clear(),
                _ => {}
            }
        }
        self.fresh = !first && other_user;
        if let Some(fetching) = self.fetching.as_deref_mut().filter(|_| self.fresh) {
            fetching.refresh();
        }
    }

    /// Preprocessors and pauses of a sampler. `Some`: when they are over.
    fn prepare(&mut self, test: &Test, now_ns: i64, id: Id, node: usize) -> Option<i64> {
        let program = &test.programs[id as usize];
        if program.is_named_first {
            self.name_sampler(test, now_ns, id);
        }
        for pre in &test.plan.samplers[id as usize].scope.pre_processors {
            self.pre_process(test, now_ns, *pre);
        }
        if !program.is_named_first {
            self.name_sampler(test, now_ns, id);
        }
        let pause_ns = self.pause_ns(test, now_ns, &program.pauses);
        // A pause is wanted: an arrival is not late because it thinks first.
        if let Some(intended_ns) = &mut self.intended_ns {
            *intended_ns = intended_ns.saturating_add(pause_ns);
        }
        self.phase = Phase::Ready(id, node);
        self.meet_from(test, now_ns, id, node, 0);
        (pause_ns > 0).then(|| now_ns.saturating_add(pause_ns))
    }

    /// Renders the name of a sampler, once per result: functions in it count their calls.
    fn name_sampler(&mut self, test: &Test, now_ns: i64, id: Id) {
        let mut name = std::mem::take(&mut self.person.sampler);
        self.person
            .view(test, now_ns)
            .render(&test.plan.samplers[id as usize].name, &mut name);
        self.person.sampler = name;
    }

    /// Comes to the meeting points of a sampler, from one of them on.
    fn meet_from(&mut self, test: &Test, now_ns: i64, id: Id, node: usize, from: usize) {
        let meetings = &test.programs[id as usize].meetings;
        self.phase = Phase::Ready(id, node);
        for (index, meeting) in meetings.iter().enumerate().skip(from) {
            if let Some(released) = self.meet(test, now_ns, *meeting) {
                self.phase = Phase::Meet(id, node, index, (now_ns, released));
                return;
            }
        }
    }

    fn choose_again(&mut self) {
        if !matches!(self.phase, Phase::Gone) {
            self.phase = Phase::Choose;
        }
    }

    /// Goes on with a redirect.
    pub(super) fn hop(&mut self) {
        self.phase = Phase::Hop;
    }

    /// Goes on with the next sampler.
    pub(super) fn landed(&mut self) {
        self.choose_again();
    }

    /// Ends the user; it says so with its next step.
    pub(super) fn end(&mut self, test: &Test) {
        self.go(test);
    }
}
