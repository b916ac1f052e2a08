//! How is a result told that no server answered: of a script, made up, or of a request that could not
//! be written?

use sokudo_model::Spent;

use super::answer::{Answer, plain_answer};
use super::outcome::{Lost, NotHttp, Reply};
use super::row::{RowKind, SampleRow};
use super::test::Test;
use super::user::Body;
use crate::plan::{Id, SamplerKind};
use crate::script::Seen;

impl Body {
    /// The result of a script that was a sampler.
    pub(super) fn tell_script(&mut self, test: &Test, (start_ns, end_ns): (i64, i64), seen: &Seen) {
        let answer = plain_answer(
            &seen.text,
            &seen.code,
            &seen.message,
            "null",
            test.between_ms(start_ns, end_ns),
            seen.success,
        );
        self.tell_plain(test, (start_ns, end_ns), &answer);
    }

    /// A request that cannot even be written is a failed result.
    pub(super) fn could_not_send(&mut self, test: &Test, now_ns: i64, class: NotHttp, why: &str) {
        self.flight.latency_ms = 0;
        self.flight.connect_ms = 0;
        self.parts.clear();
        self.flight.spent = Spent::default();
        self.flight.write_url();
        if class == NotHttp::BadScheme {
            let rest = self
                .flight
                .url
                .split_once("://")
                .map_or("", |(_, rest)| rest);
            self.flight.url = format!("{why}://{rest}");
        }
        let lost = Lost {
            class,
            phase: "send",
            errno: None,
            says: why,
        };
        let reply = Reply {
            intended_ns: now_ns,
            start_ns: now_ns,
            connected_ns: now_ns,
            sent_ns: now_ns,
            first_byte_ns: now_ns,
            end_ns: now_ns,
            peer: None,
            spent: Spent::default(),
            reused: false,
            sent_bytes: 0,
            head_bytes: 0,
            body_bytes: 0,
            framing_bytes: 0,
            status: 0,
            reason: b"",
            headers: b"",
            body: b"",
            lost: Some(lost),
        };
        self.conclude(test, &reply, Some(lost));
    }

    /// A result that was made up.
    pub(super) fn made_up(&mut self, test: &Test, now_ns: i64, id: Id, node: usize, start_ns: i64) {
        let SamplerKind::Dummy(dummy) = &test.plan.samplers[id as usize].kind else {
            return;
        };
        self.flight.sampler = id;
        self.flight.node = node;
        let mut view = self.person.view(test, now_ns);
        let (code, message) = (view.text(&dummy.code), view.text(&dummy.message));
        let (text, url) = (view.text(&dummy.response), view.text(&dummy.url));
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let elapsed_ms = number(view.integer(&dummy.response_time_ms));
        let (latency_ms, connect_ms) = (
            number(view.integer(&dummy.latency_ms)),
            number(view.integer(&dummy.connect_ms)),
        );
        let success = view.flag(&dummy.success);
        let answer = Answer {
            latency_ms,
            connect_ms,
            ..plain_answer(&text, &code, &message, &url, elapsed_ms, success)
        };
        self.tell_plain(test, (start_ns, now_ns), &answer);
    }

    pub(super) fn tell_plain(
        &mut self,
        test: &Test,
        (start_ns, end_ns): (i64, i64),
        answer: &Answer<'_>,
    ) {
        self.parts.clear();
        let judged = self.look_at(test, end_ns, self.flight.sampler, answer);
        let answer = &answer.revised(judged.revised.as_ref());
        let (group_threads, all_threads) = self.actives(test);
        let (label, name) = (self.person.sampler.clone(), self.person.name.clone());
        let success = judged.verdict.success;
        let mut row = SampleRow {
            kind: RowKind::Sample,
            is_http: false,
            is_inner: false,
            start_ms: test.wall_ms(start_ns),
            elapsed_ms: answer.elapsed_ms,
            label: (&label).into(),
            code: answer.code.into(),
            message: answer.message.into(),
            thread_name: (&name).into(),
            data_type: "text",
            success,
            failure_message: (&judged.verdict.says).into(),
            bytes: answer.bytes + self.parts.sums().0,
            sent_bytes: 0,
            group_threads,
            all_threads,
            url: answer.url.into(),
            latency_ms: answer.latency_ms,
            idle_ms: 0,
            connect_ms: answer.connect_ms,
            encoding: "UTF-8".into(),
            intended_ns: start_ns,
            start_ns,
            sent_ns: start_ns,
            end_ns,
            errno: 0,
            spent: Spent::default(),
            phase: "",
            failure: "".into(),
            variables: Vec::new(),
            details: self.details_of(test, answer, &judged),
            below: Vec::new(),
        };
        row.below = self.told_parts(test, &row);
        self.tell(test, row);
        if !success {
            self.after_failure(test, end_ns);
        }
    }
}
