//! Steps of a user's current sampler: its begin, its continuation and its conclusion.

use super::super::calls::Call;
use super::super::databases::{self, DatabaseAnswer};
use super::super::examine;
use super::super::http::{OwnedReply, RequestEnd, RequestStart};
use super::super::java_request::sample_java;
use super::super::local_samplers::{LocalSample, conclude_local, debug_sample, dummy_sample};
use super::super::outcome::{Lost, NotHttp, Reply};
use super::super::scripts::sample_script;
use super::super::sockets::{self, TcpAnswer};
use super::super::test::Test;
use super::{CallFor, NextAction, Phase, RECHECK_NS, Thread, http_request};
use crate::expression::Template;
use crate::plan::{Action, DatabaseQuery, SamplerKind, TcpRequest};

/// A response, and what is missing of it.
pub(super) struct HeldReply {
    reply: OwnedReply,
    lost: Option<(NotHttp, &'static str, Option<i32>, String)>,
}

impl HeldReply {
    pub(super) fn new(reply: &Reply<'_>, lost: Option<Lost<'_>>) -> Self {
        Self {
            reply: OwnedReply::new(reply),
            lost: lost.map(|lost| (lost.class, lost.phase, lost.errno, lost.says.to_owned())),
        }
    }

    pub(super) fn lost(&self) -> Option<Lost<'_>> {
        let lost = self.lost.as_ref();
        lost.map(|(class, phase, errno, says)| Lost {
            class: *class,
            phase,
            errno: *errno,
            says,
        })
    }
}

impl Thread {
    /// Executes the current sampler. `None`: it is over already.
    pub(super) fn sample(
        &mut self,
        test: &Test,
        now_ns: i64,
        out: &mut Vec<u8>,
    ) -> Option<NextAction> {
        let mut view = self.context.view(test, now_ns);
        match &test.plan.samplers[view.thread.sampler() as usize].kind {
            SamplerKind::Http(_) => {
                let request = http_request(test, view.thread)?;
                let due_ns = self.intended_ns.take();
                self.sub_results.clear();
                match self.client.begin(&mut view, &request, due_ns, out) {
                    RequestStart::Sent(request) => {
                        self.phase = Phase::Flying;
                        return Some(NextAction::Send(request));
                    }
                    RequestStart::Cached => self.phase = Phase::Choose,
                    RequestStart::Failed(class, why) => {
                        self.phase = Phase::Choose;
                        self.client.fail(class, &why);
                        // Without a URL JMeter's result does not get as far as its label.
                        if class == NotHttp::BadLocation {
                            view.thread.set_label("");
                        }
                        let lost = Lost {
                            class,
                            phase: "send",
                            errno: None,
                            says: &why,
                        };
                        self.conclude(test, &Reply::never_sent(now_ns, lost), Some(lost));
                    }
                }
                // An error that repeats must not become a busy loop.
                Some(NextAction::Pause {
                    until_ns: now_ns + RECHECK_NS,
                })
            }
            SamplerKind::Debug { variables, .. } => {
                self.local = Some(Box::new(debug_sample(&mut view, variables)));
                self.phase = Phase::Local;
                None
            }
            SamplerKind::Dummy(dummy) => {
                let waits_ms = match view.flag(&dummy.waits) {
                    true => view.integer(&dummy.response_time_ms).max(0),
                    false => 0,
                };
                self.phase = Phase::Dummy(now_ns);
                (waits_ms > 0).then(|| NextAction::Pause {
                    until_ns: now_ns + waits_ms * 1_000_000,
                })
            }
            SamplerKind::Script(script) => {
                let (seen, slept_ns) = sample_script(&mut view, script);
                // Reported with the next step, so that its duration includes the script.
                self.local = Some(Box::new(LocalSample::new(now_ns, 0, seen)));
                self.phase = Phase::Local;
                let until_ns = now_ns.saturating_add(slept_ns);
                Some(NextAction::Pause { until_ns })
            }
            SamplerKind::Java(java) => {
                let (seen, slept_ns) = sample_java(&mut view, java);
                self.local = Some(Box::new(LocalSample::new(now_ns, 0, seen)));
                self.phase = Phase::Local;
                let until_ns = now_ns.saturating_add(slept_ns);
                Some(NextAction::Pause { until_ns })
            }
            SamplerKind::Database(query) => self.begin_call(test, now_ns, query),
            SamplerKind::Tcp(request) => self.begin_tcp(test, now_ns, request),
            SamplerKind::Action(action) => self.act(test, now_ns, action),
        }
    }

    /// Begins the request of the current sampler over a TCP connection.
    fn begin_tcp(&mut self, test: &Test, now_ns: i64, request: &TcpRequest) -> Option<NextAction> {
        let mut view = self.context.view(test, now_ns);
        let (begun, call) = sockets::begin(&mut view, request);
        self.sending = Some(Box::new(begun));
        match call {
            Ok(call) => {
                view.thread.call = Some(Call::Tcp(Box::new(call)));
                self.phase = Phase::Calling(CallFor::Sampler);
                None
            }
            Err(failed) => {
                self.received(test, now_ns, &failed);
                // An error that repeats must not become a busy loop.
                Some(NextAction::Pause {
                    until_ns: now_ns + RECHECK_NS,
                })
            }
        }
    }

    /// Takes the answer to a request over a TCP connection.
    pub(super) fn received(&mut self, test: &Test, now_ns: i64, answer: &TcpAnswer) -> Option<i64> {
        self.phase = Phase::Choose;
        if let Some(begun) = self.sending.take() {
            let mut view = self.context.view(test, now_ns);
            let result = sockets::result(&mut view, &begun, answer);
            self.local = Some(Box::new(result));
            self.phase = Phase::Local;
        }
        None
    }

    /// Begins the call of the current sampler on a database.
    fn begin_call(
        &mut self,
        test: &Test,
        now_ns: i64,
        query: &DatabaseQuery,
    ) -> Option<NextAction> {
        let mut view = self.context.view(test, now_ns);
        let name = Template::text(view.thread.label());
        match databases::begin(&mut view, &name, query) {
            Ok(call) => {
                self.calling = Some(Box::new(call));
                self.phase = Phase::Calling(CallFor::Sampler);
                None
            }
            Err(thrown) => {
                let answer = databases::unanswered(now_ns, thrown);
                let failed = databases::result(&mut view, None, &answer);
                self.local = Some(Box::new(failed));
                self.phase = Phase::Local;
                // An error that repeats must not become a busy loop.
                Some(NextAction::Pause {
                    until_ns: now_ns + RECHECK_NS,
                })
            }
        }
    }

    /// Takes the answer to a call and goes on with what it was made for. `Some`: when a pause ends.
    pub(super) fn go_on(
        &mut self,
        test: &Test,
        now_ns: i64,
        what: CallFor,
        answer: &DatabaseAnswer,
    ) -> Option<i64> {
        let scope = &test.plan.samplers[self.context.sampler() as usize].scope;
        let mut view = self.context.view(test, now_ns);
        let call = self.calling.take();
        match what {
            CallFor::PreProcessor(index, slept_ns) => {
                let id = scope.pre_processors[index];
                let name = &test.plan.pre_processors[id as usize].name;
                if let Some(call) = call {
                    databases::processed(&mut view, (name, &call), answer);
                }
                return self.prepare(test, now_ns, index + 1, slept_ns);
            }
            CallFor::Sampler => {
                let result = databases::result(&mut view, call.as_deref(), answer);
                self.local = Some(Box::new(result));
                self.phase = Phase::Local;
            }
            CallFor::PostProcessor => {
                examine::answered(&mut view, answer);
                self.phase = Phase::Local;
                if let Some(held) = self.held.take() {
                    self.phase = Phase::Choose;
                    let reply = Reply {
                        lost: held.lost(),
                        ..held.reply.borrowed()
                    };
                    self.conclude(test, &reply, held.lost());
                }
            }
        }
        None
    }

    /// Executes a flow control action.
    pub(super) fn act(&mut self, test: &Test, now_ns: i64, action: &Action) -> Option<NextAction> {
        self.phase = Phase::Choose;
        match action {
            Action::Pause { duration_ms } => {
                let pause_ms = self.context.view(test, now_ns).integer(duration_ms).max(0);
                let until_ns = now_ns.saturating_add(pause_ms.saturating_mul(1_000_000));
                return (pause_ms > 0).then(|| self.pause_until(test, now_ns, until_ns));
            }
            Action::Flow(action) => {
                // It says so behind the scripts of its preprocessors.
                self.context.take_flow();
                self.flow(test, now_ns, *action);
            }
        }
        None
    }

    /// Takes the outcome of the user's own request.
    pub(super) fn ended(&mut self, test: &Test, reply: &Reply<'_>) {
        let Some(request) = http_request(test, &self.context) else {
            return self.choose_again();
        };
        let mut view = self.context.view(test, reply.end_ns);
        let ended = self
            .client
            .ended(&mut view, &request, reply, &mut self.sub_results);
        match ended {
            RequestEnd::Hop => self.phase = Phase::Hop,
            RequestEnd::Page => {
                self.phase = Phase::Page;
                self.close_complete_page(test);
            }
            RequestEnd::Complete(lost) => {
                self.choose_again();
                self.conclude(test, reply, lost);
            }
        }
    }

    /// The next request of a lane for embedded resources; `None`: nothing to fetch now.
    pub(super) fn fetch(
        &mut self,
        test: &Test,
        now_ns: i64,
        lane: usize,
        out: &mut Vec<u8>,
    ) -> Option<NextAction> {
        let request = http_request(test, &self.context)?;
        let mut view = self.context.view(test, now_ns);
        let next = self.client.fetch(&mut view, &request, lane, out);
        if next.is_none() {
            self.close_complete_page(test);
        }
        next.map(NextAction::Send)
    }

    /// Takes the outcome of a lane's request.
    pub(super) fn fetched(&mut self, test: &Test, lane: usize, reply: &Reply<'_>) {
        let Some(request) = http_request(test, &self.context) else {
            return;
        };
        let mut view = self.context.view(test, reply.end_ns);
        let sub_results = &mut self.sub_results;
        self.client
            .fetched(&mut view, &request, lane, reply, sub_results);
        self.close_complete_page(test);
    }

    /// Concludes the result of a page if all of its resources were fetched.
    pub(super) fn close_complete_page(&mut self, test: &Test) {
        if self.client.page_is_complete() {
            let page = self.client.close_page(&self.sub_results);
            self.choose_again();
            self.conclude(test, &page.borrowed(), None);
        }
    }

    /// Reports the result of an HTTP sampler.
    pub(super) fn conclude(&mut self, test: &Test, reply: &Reply<'_>, lost: Option<Lost<'_>>) {
        let mut view = self.context.view(test, reply.end_ns);
        let parts = (&mut self.sub_results, &mut self.results);
        let success = self
            .client
            .conclude(&mut view, parts.0, parts.1, reply, lost);
        match success {
            Some(success) => self.concluded(test, reply.end_ns, success),
            None => {
                self.held = Some(Box::new(HeldReply::new(reply, lost)));
                self.phase = Phase::Calling(CallFor::PostProcessor);
            }
        }
    }

    pub(super) fn state_dummy(&mut self, test: &Test, now_ns: i64, start_ns: i64) {
        let sampler = self.context.sampler() as usize;
        if let SamplerKind::Dummy(dummy) = &test.plan.samplers[sampler].kind {
            let mut view = self.context.view(test, now_ns);
            self.local = Some(Box::new(dummy_sample(&mut view, start_ns, dummy)));
        }
    }

    /// Reports the result of a sampler that sends nothing itself.
    pub(super) fn conclude_local(&mut self, test: &Test) {
        self.phase = Phase::Choose;
        let Some(local) = self.local.take() else {
            return;
        };
        if self.context.examining.is_none() {
            self.sub_results.clear();
            self.context.set_label(&local.sample.label);
        }
        let mut view = self.context.view(test, local.end_ns);
        let parts = (&mut self.sub_results, &mut self.results);
        match conclude_local(&mut view, parts.0, parts.1, &local) {
            Some(success) => self.concluded(test, local.end_ns, success),
            None => {
                self.local = Some(local);
                self.phase = Phase::Calling(CallFor::PostProcessor);
            }
        }
    }
}
