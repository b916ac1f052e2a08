//! One virtual user: a state machine over the samplers of its thread group.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::calls::{Call, CallAnswer};
use super::changed_requests::CurrentRequest;
use super::config_elements::{ConfigElements, pre_process};
use super::context::ThreadContext;
use super::controllers::{Advance, Controllers, Effects};
use super::databases::{self, BegunCall};
use super::http::HttpClient;
use super::local_samplers::LocalSample;
use super::outcome::Reply;
use super::results::Results;
use super::row::Sink;
use super::shared::StopKind;
use super::sockets::BegunTcp;
use super::sub_results::SubResults;
use super::test::Test;
use super::timers::{Timers, is_released, synchronize};
use crate::plan::{FlowAction, PreKind};

mod samples;

use samples::HeldReply;

/// Time between two checks of a synchronizing timer, and after a request that was not sent.
const RECHECK_NS: i64 = 2_000_000;

/// A virtual user: JMeter's thread.
pub struct VirtualUser {
    test: Arc<Test>,
    thread: Thread,
}

/// Next action of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAction {
    /// Sends the request that was appended.
    Send(Request),
    /// Makes the call of [`VirtualUser::take_call`].
    Call,
    /// Nothing until a helper has completed a request, or a call was answered.
    Rest,
    /// Nothing until then.
    Pause {
        /// Time of the next call of [`VirtualUser::step`].
        until_ns: i64,
    },
    /// It has ended.
    End,
}

/// Options of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Number that [`Targets`](super::Targets) gave.
    pub target: u32,
    /// Intended start.
    pub intended_ns: i64,
    /// The connection is closed afterwards.
    pub close: bool,
    /// The request needs a new connection.
    pub fresh: bool,
    /// Longest time to connect; 0: unbounded.
    pub connect_timeout_ns: u64,
    /// Longest time for the response; 0: unbounded.
    pub response_timeout_ns: u64,
    /// Longest time from the start to the end of the response; 0: unbounded.
    pub whole_timeout_ns: u64,
    /// Number of bytes of the body that are kept.
    pub body_at_most: usize,
    /// The response has no body.
    pub is_head: bool,
    /// The user resolves the name by itself, and again when this number changes; `None`: it is
    /// resolved once for all users.
    pub names: Option<u32>,
}

/// The state of a user without the test, so that both can be borrowed at once.
struct Thread {
    context: ThreadContext,
    controllers: Controllers,
    elements: ConfigElements,
    timers: Timers,
    client: HttpClient,
    sub_results: SubResults,
    results: Results,
    phase: Phase,
    /// Result that is not reported yet, of a sampler that sends nothing itself.
    local: Option<Box<LocalSample>>,
    /// Response that is not reported yet, because a postprocessor waits for a database.
    held: Option<Box<HeldReply>>,
    /// Call of the sampler on a database.
    calling: Option<Box<BegunCall>>,
    /// Call of the sampler over a TCP connection.
    sending: Option<Box<BegunTcp>>,
    /// Answer that was not taken yet.
    answer: Option<CallAnswer>,
    /// Intended start of an arrival, until its first request.
    intended_ns: Option<i64>,
}

/// Purpose of a call.
#[derive(Debug, Clone, Copy)]
enum CallFor {
    /// A preprocessor: its index, and the pause that those before it made, nanoseconds.
    PreProcessor(usize, i64),
    /// The sampler.
    Sampler,
    /// A postprocessor.
    PostProcessor,
}

/// Activity of a user. The current sampler is in its context.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It has not begun.
    Begin,
    /// The next sampler is to be chosen.
    Choose,
    /// It waits at a synchronizing timer of the sampler: the index of the timer, since when, and the
    /// number of groups that had been released.
    Synchronize(usize, (i64, u64)),
    /// All pauses of the sampler are over.
    Ready,
    /// A dummy sampler takes its time since then.
    Dummy(i64),
    /// A request is under way.
    Flying,
    /// A redirect or a request with credentials is next.
    Hop,
    /// Embedded resources are fetched.
    Page,
    /// A sampler that sends nothing itself was executed and its result is not yet reported.
    Local,
    /// A call is to be made, or under way.
    Calling(CallFor),
    /// It has ended.
    Gone,
}

impl Phase {
    /// True while a result is begun and not reported, although no request is under way.
    fn is_amid(self) -> bool {
        matches!(
            self,
            Self::Hop | Self::Page | Self::Local | Self::Calling(_)
        )
    }
}

impl VirtualUser {
    /// User `number` (from 1) of a thread group, which reports to `sink` and ends at `ends_ns`.
    /// `arrival_ns`: when an arrival of an open model was due.
    pub fn new(
        test: &Arc<Test>,
        sink: Arc<dyn Sink>,
        group: usize,
        number: u64,
        ends_ns: Option<i64>,
        arrival_ns: Option<i64>,
    ) -> Self {
        let controllers = test.nodes.get(group).map_or(0, Vec::len);
        let thread = Thread {
            context: ThreadContext::new(test, group, number, ends_ns),
            controllers: Controllers::new(controllers),
            elements: ConfigElements::default(),
            timers: Timers::default(),
            client: HttpClient::default(),
            sub_results: SubResults::default(),
            results: Results::new(sink),
            phase: Phase::Begin,
            local: None,
            held: None,
            calling: None,
            sending: None,
            answer: None,
            intended_ns: arrival_ns,
        };
        Self {
            test: Arc::clone(test),
            thread,
        }
    }

    /// Does what is due at `now_ns`. With [`NextAction::Send`] the whole request has been appended to
    /// `out`.
    pub fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> NextAction {
        self.thread.step(&self.test, now_ns, out)
    }

    /// Takes the outcome of a request: once per [`NextAction::Send`], before the next `step`.
    pub fn ended(&mut self, reply: &Reply<'_>) {
        match self.thread.phase {
            Phase::Page => self.thread.fetched(&self.test, 0, reply),
            _ => self.thread.ended(&self.test, reply),
        }
    }

    /// The call that is to be made after [`NextAction::Call`].
    pub fn take_call(&mut self) -> Option<Call> {
        self.thread.context.call.take()
    }

    /// Its number among all users of the test.
    pub fn serial(&self) -> u64 {
        self.thread.context.serial()
    }

    /// Takes the answer to the call: once, before the next `step`.
    pub fn answered(&mut self, answer: CallAnswer) {
        self.thread.answer = Some(answer);
    }

    /// Number of helpers that could send a request for the user now, as its lanes from 1 on. To be
    /// read after each `step` and `ended`; the lanes have connections of their own.
    pub fn helpers(&self) -> usize {
        match self.thread.phase {
            Phase::Page => self.thread.client.helpers(),
            _ => 0,
        }
    }

    /// Does what is due for a helper. With [`NextAction::Rest`] there is nothing to do until
    /// [`VirtualUser::helpers`] counts it again.
    pub fn assist(&mut self, lane: usize, now_ns: i64, out: &mut Vec<u8>) -> NextAction {
        let next = match self.thread.phase {
            Phase::Page => self.thread.fetch(&self.test, now_ns, lane, out),
            _ => None,
        };
        next.unwrap_or(NextAction::Rest)
    }

    /// Takes the outcome of a helper's request.
    pub fn assisted(&mut self, lane: usize, reply: &Reply<'_>) {
        if let Phase::Page = self.thread.phase {
            self.thread.fetched(&self.test, lane, reply);
        }
    }

    /// Ends the user wherever it is: the transactions that it is in are reported.
    pub fn end(&mut self, now_ns: i64) {
        self.thread.end(&self.test, now_ns);
    }

    /// True in the middle of a result that takes several steps.
    pub fn is_amid(&self) -> bool {
        self.thread.phase.is_amid()
    }
}

impl Drop for VirtualUser {
    /// Counts a user that is dropped before its end as ended.
    fn drop(&mut self) {
        self.thread.leave(&self.test);
    }
}

/// The HTTP request of the current sampler; `None`: it is not an HTTP sampler.
fn http_request<'a>(test: &'a Test, context: &ThreadContext) -> Option<CurrentRequest<'a>> {
    context.requests.current(test, context.sampler())
}

impl Thread {
    fn step(&mut self, test: &Test, now_ns: i64, out: &mut Vec<u8>) -> NextAction {
        self.controllers.refuel();
        loop {
            let over = self.context.is_over(now_ns);
            if !matches!(self.phase, Phase::Gone)
                && !self.phase.is_amid()
                && (over || test.stopping() != StopKind::No)
            {
                if over {
                    test.shared.was_cut_short.store(true, Ordering::Relaxed);
                }
                self.end(test, now_ns);
            }
            match self.phase {
                Phase::Begin => self.begin(test, now_ns),
                Phase::Choose => {
                    let slept_ns = self.context.take_sleep();
                    if slept_ns > 0 {
                        let until_ns = now_ns.saturating_add(slept_ns);
                        return NextAction::Pause { until_ns };
                    }
                    // What a script before a flow control action demanded: samples have done it at their end.
                    let asked = self.context.take_flow();
                    self.flow(test, now_ns, asked);
                    let found = self.with_controllers(test, now_ns, Controllers::next);
                    match found {
                        Advance::Sampler(id, node) => {
                            self.context.enter_sampler(id, node);
                            self.context.requests.begin(test, id);
                            if let Some(until_ns) = self.prepare(test, now_ns, 0, 0) {
                                return self.pause_until(test, now_ns, until_ns);
                            }
                        }
                        Advance::Later(until_ns) => return NextAction::Pause { until_ns },
                        Advance::Nothing | Advance::End => self.end(test, now_ns),
                    }
                }
                Phase::Synchronize(index, since) => {
                    let timer = test.programs[self.context.sampler() as usize].meetings[index];
                    let mut view = self.context.view(test, now_ns);
                    if !is_released(&mut view, timer, since) {
                        return NextAction::Pause {
                            until_ns: now_ns + RECHECK_NS,
                        };
                    }
                    self.synchronize(test, now_ns, index + 1);
                }
                Phase::Ready => {
                    if let Some(next) = self.sample(test, now_ns, out) {
                        return next;
                    }
                }
                Phase::Dummy(start_ns) => {
                    self.state_dummy(test, now_ns, start_ns);
                    self.conclude_local(test);
                }
                Phase::Hop => match http_request(test, &self.context) {
                    Some(request) => {
                        let mut view = self.context.view(test, now_ns);
                        let next = self.client.hop(&mut view, &request, out);
                        self.phase = Phase::Flying;
                        return NextAction::Send(next);
                    }
                    None => self.phase = Phase::Choose,
                },
                Phase::Local => {
                    if let Some(local) = &mut self.local
                        && local.end_ns == 0
                    {
                        local.end_ns = now_ns;
                    }
                    self.conclude_local(test);
                }
                Phase::Calling(what) => {
                    if self.context.call.is_some() {
                        return NextAction::Call;
                    }
                    let Some(answer) = self.answer.take() else {
                        return NextAction::Rest;
                    };
                    let until_ns = match &answer {
                        CallAnswer::Database(answer) => self.go_on(test, now_ns, what, answer),
                        CallAnswer::Tcp(answer) => self.received(test, now_ns, answer),
                    };
                    if let Some(until_ns) = until_ns {
                        return self.pause_until(test, now_ns, until_ns);
                    }
                }
                Phase::Page => {
                    if let Some(next) = self.fetch(test, now_ns, 0, out) {
                        return next;
                    }
                    if let Phase::Page = self.phase {
                        return NextAction::Rest;
                    }
                }
                // The reply is not there yet.
                Phase::Flying => {
                    return NextAction::Pause {
                        until_ns: now_ns + RECHECK_NS,
                    };
                }
                Phase::Gone => return NextAction::End,
            }
        }
    }

    fn begin(&mut self, test: &Test, now_ns: i64) {
        test.shared.all.fetch_add(1, Ordering::Relaxed);
        test.shared.begun.fetch_add(1, Ordering::Relaxed);
        test.shared.active[self.context.group()].fetch_add(1, Ordering::Relaxed);
        self.with_controllers(test, now_ns, Controllers::begin);
        self.phase = Phase::Choose;
    }

    /// Ends the user after reporting the transactions that it is in.
    fn end(&mut self, test: &Test, now_ns: i64) {
        if !matches!(self.phase, Phase::Begin | Phase::Gone) {
            self.results.cut_off(&mut self.context.view(test, now_ns));
        }
        self.leave(test);
    }

    /// Ends the user and releases its locks.
    fn leave(&mut self, test: &Test) {
        if !matches!(self.phase, Phase::Begin | Phase::Gone) {
            test.shared.all.fetch_sub(1, Ordering::Relaxed);
            test.shared.active[self.context.group()].fetch_sub(1, Ordering::Relaxed);
            self.controllers.release_all(test);
        }
        self.phase = Phase::Gone;
    }

    /// Pauses. A pause beyond the end of the test ends the user at once, as in JMeter.
    fn pause_until(&mut self, test: &Test, now_ns: i64, until_ns: i64) -> NextAction {
        if self.context.ends_before(until_ns) {
            test.shared.was_cut_short.store(true, Ordering::Relaxed);
            self.end(test, now_ns);
            return NextAction::End;
        }
        NextAction::Pause { until_ns }
    }

    fn choose_again(&mut self) {
        if !matches!(self.phase, Phase::Gone) {
            self.phase = Phase::Choose;
        }
    }

    fn with_controllers<T>(
        &mut self,
        test: &Test,
        now_ns: i64,
        act: impl FnOnce(&mut Controllers, &mut Effects<'_>) -> T,
    ) -> T {
        let mut effects = Effects {
            view: self.context.view(test, now_ns),
            elements: &mut self.elements,
            client: &mut self.client,
            results: &mut self.results,
        };
        act(&mut self.controllers, &mut effects)
    }

    /// Executes the preprocessors of the current sampler, from one of them on, and its timers; those before
    /// paused for `slept_ns`. `Some`: when its pause ends.
    fn prepare(&mut self, test: &Test, now_ns: i64, from: usize, mut slept_ns: i64) -> Option<i64> {
        let sampler = self.context.sampler() as usize;
        let program = &test.programs[sampler];
        let mut view = self.context.view(test, now_ns);
        if program.is_named_first && from == 0 {
            view.render_label();
        }
        let pres = &test.plan.samplers[sampler].scope.pre_processors;
        for (index, id) in pres.iter().enumerate().skip(from) {
            let pre = &test.plan.pre_processors[*id as usize];
            let PreKind::Database(query) = &pre.kind else {
                slept_ns += pre_process(&mut view, *id);
                continue;
            };
            match databases::begin(&mut view, &pre.name, query) {
                Ok(call) => {
                    self.calling = Some(Box::new(call));
                    self.phase = Phase::Calling(CallFor::PreProcessor(index, slept_ns));
                    return None;
                }
                Err(thrown) => databases::tell(&mut view, &pre.name, &thrown),
            }
        }
        if !program.is_named_first {
            view.render_label();
        }
        let pause_ns = self.timers.pause_ns(&mut view, &program.pauses);
        let pause_ns = pause_ns.saturating_add(slept_ns);
        if view.thread.has_died() {
            // A pause that the user does not outlive: nothing is sent.
            return Some(now_ns.saturating_add(1));
        }
        // The pause is intended: an arrival is not late because of it.
        if let Some(intended_ns) = &mut self.intended_ns {
            *intended_ns = intended_ns.saturating_add(pause_ns);
        }
        self.synchronize(test, now_ns, 0);
        (pause_ns > 0).then(|| now_ns.saturating_add(pause_ns))
    }

    /// Joins the synchronizing timers of the current sampler, from one of them on.
    fn synchronize(&mut self, test: &Test, now_ns: i64, from: usize) {
        let timers = &test.programs[self.context.sampler() as usize].meetings;
        let mut view = self.context.view(test, now_ns);
        self.phase = Phase::Ready;
        for (index, timer) in timers.iter().enumerate().skip(from) {
            if let Some(released) = synchronize(&mut view, *timer) {
                self.phase = Phase::Synchronize(index, (now_ns, released));
                return;
            }
        }
    }

    /// Does what scripts, and after a failure the thread group and the result status action handlers, demand.
    fn concluded(&mut self, test: &Test, now_ns: i64, success: bool) {
        let asked = self.context.take_flow();
        if asked != FlowAction::Continue {
            self.flow(test, now_ns, asked);
        }
        if success {
            return;
        }
        let sampler = self.context.sampler() as usize;
        for action in &test.programs[sampler].on_error {
            self.fail_over(test, now_ns, (asked, *action));
        }
        let group = &test.plan.groups[self.context.group()];
        self.fail_over(test, now_ns, (asked, group.on_error.into()));
    }

    /// Does what a failure demands; where a script has said where the user goes on, that counts.
    fn fail_over(&mut self, test: &Test, now_ns: i64, (asked, action): (FlowAction, FlowAction)) {
        if asked == FlowAction::Continue || !action.leaves_pass() {
            self.flow(test, now_ns, action);
        }
    }

    /// Changes the flow of the user or the test.
    fn flow(&mut self, test: &Test, now_ns: i64, action: FlowAction) {
        match action {
            FlowAction::Continue => {}
            FlowAction::StopUser => self.end(test, now_ns),
            FlowAction::StopTest => test.stop(StopKind::Soon),
            FlowAction::StopTestNow => test.stop(StopKind::Now),
            FlowAction::NextGroupLoop => {
                self.with_controllers(test, now_ns, Controllers::next_iteration);
            }
            FlowAction::NextLoop => self.with_controllers(test, now_ns, Controllers::next_pass),
            FlowAction::BreakLoop => self.with_controllers(test, now_ns, Controllers::break_loop),
        }
        if action.leaves_pass() {
            // As in JMeter, what comes next begins without a failure.
            self.context.set_last_ok(true);
        }
    }
}
