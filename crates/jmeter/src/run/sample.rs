//! What does a sampler do: send, make up a result, or steer the flow?

use super::request::Unsent;
use super::shared::StopKind;
use super::test::Test;
use super::user::{Body, MEET_NS, Next, Phase, Request};
use crate::plan::{Action, HttpRequest, Id, PreKind, SamplerKind};

/// Largest part of a body that is kept for those who look at it.
const MOST_BODY_BYTES: usize = 16 << 20;
/// The same of something that belongs to a page: links are looked for in so much of it.
const MOST_PAGE_BYTES: usize = 4 << 20;

impl Body {
    /// Does what a sampler does. `None`: it is over already.
    pub(super) fn sample(
        &mut self,
        test: &Test,
        now_ns: i64,
        id: Id,
        node: usize,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        self.flight.sampler = id;
        self.flight.node = node;
        match &test.plan.samplers[id as usize].kind {
            SamplerKind::Http(request) => {
                self.flight.hops = 0;
                self.flight.start_ns = now_ns;
                self.flight.intended_ns = self.intended_ns.take().unwrap_or(now_ns);
                self.flight.bytes = 0;
                self.flight.sent_bytes = 0;
                self.flight.tells_last = false;
                self.flight.forget_proof();
                self.parts.clear();
                if let Err(why) = self.render_http(test, now_ns, request, out) {
                    out.clear();
                    self.phase = Phase::Choose;
                    if let Unsent::Impossible(class, says) = why {
                        self.could_not_send(test, now_ns, class, &says);
                    }
                    // An error that repeats must not turn into a spin.
                    return Some(Next::Pause {
                        until_ns: now_ns + MEET_NS,
                    });
                }
                Some(self.send(test, now_ns, request, out))
            }
            SamplerKind::Debug { .. } => {
                self.phase = Phase::Choose;
                self.debug(test, now_ns, id);
                None
            }
            SamplerKind::Dummy(dummy) => {
                let mut view = self.person.view(test, now_ns);
                let waits_ms = match view.flag(&dummy.waits) {
                    true => view.integer(&dummy.response_time_ms).max(0),
                    false => 0,
                };
                self.phase = Phase::MadeUp(id, node, now_ns);
                (waits_ms > 0).then(|| Next::Pause {
                    until_ns: now_ns + waits_ms * 1_000_000,
                })
            }
            SamplerKind::Script(script) => {
                self.sample_script(test, now_ns, script);
                Some(Next::Pause { until_ns: now_ns })
            }
            SamplerKind::Action(action) => self.act(test, now_ns, node, action),
        }
    }

    fn act(&mut self, test: &Test, now_ns: i64, node: usize, action: &Action) -> Option<Next> {
        self.phase = Phase::Choose;
        match action {
            Action::Pause { duration_ms } => {
                let pause_ms = self.person.view(test, now_ns).integer(duration_ms).max(0);
                let until_ns = now_ns.saturating_add(pause_ms.saturating_mul(1_000_000));
                return (pause_ms > 0).then(|| self.pause_until(test, until_ns));
            }
            Action::StopUser => self.go(test),
            Action::StopTest => test.stop(StopKind::Soon),
            Action::StopTestNow => test.stop(StopKind::Now),
            Action::NextGroupLoop => self.next_iteration(test, now_ns, node),
            Action::NextLoop => self.next_loop(test, now_ns, node, false),
            Action::BreakLoop => self.next_loop(test, now_ns, node, true),
        }
        None
    }

    /// Hands the request in `out` over to whoever sends.
    pub(super) fn send(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &[u8],
    ) -> Next {
        let id = self.flight.sampler;
        let program = &test.programs[id as usize];
        if program.needs_request {
            self.flight.sent.clear();
            self.flight.sent.extend_from_slice(out);
        }
        let flight = &self.flight;
        let target = match program.target {
            Some(target) if flight.hops == 0 && !flight.is_part => target,
            _ => flight.target(&*test.targets),
        };
        let mut view = self.person.view(test, now_ns);
        let timeout = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
        let connect_timeout_ns = timeout(view.integer(&request.connect_timeout_ms));
        let response_timeout_ns = timeout(view.integer(&request.response_timeout_ms));
        let mut whole_timeout_ns = 0;
        for pre in &test.plan.samplers[id as usize].scope.pre_processors {
            if let PreKind::Timeout { timeout_ms } = &test.plan.pre_processors[*pre as usize].kind {
                let bound_ns = timeout(view.integer(timeout_ms));
                if bound_ns > 0 && (whole_timeout_ns == 0 || bound_ns < whole_timeout_ns) {
                    whole_timeout_ns = bound_ns;
                }
            }
        }
        let is_first = flight.hops == 0 && flight.proving.refused == 0;
        if whole_timeout_ns > 0 && (!is_first || flight.is_part) {
            // It bounds the sample with all redirects and parts, not each of them.
            let spent_ns = u64::try_from(now_ns - flight.start_ns).unwrap_or(0);
            whole_timeout_ns = whole_timeout_ns.saturating_sub(spent_ns).max(1);
        }
        self.phase = Phase::Flying;
        Next::Send(Request {
            target,
            intended_ns: if is_first { flight.intended_ns } else { now_ns },
            close: !flight.keep_alive,
            fresh: std::mem::take(&mut self.fresh),
            connect_timeout_ns,
            response_timeout_ns,
            whole_timeout_ns,
            body_at_most: match program.needs_body || program.may_be_page {
                true if flight.is_part => MOST_PAGE_BYTES,
                true => MOST_BODY_BYTES,
                false => 0,
            },
            is_head: flight.method == "HEAD",
            names: flight.names,
        })
    }
}
