//! How does an answer become a result: extractions, assertions, row, consequences?

use std::borrow::Cow;

use sokudo_model::Spent;

use super::answer::{Answer, body_text, charset, data_type, header_text};
use super::asserts::Verdict;
use super::content;
use super::land::header_values;
use super::outcome::{Lost, NotHttp, Reply};
use super::row::{RowKind, SampleRow};
use super::scripted::Has;
use super::test::Test;
use super::user::Body;
use crate::plan::{Id, ListenerKind, PostKind};
use crate::script::Seen;

/// An answer with everything about it that takes a moment to find out.
struct Ending<'a> {
    reply: &'a Reply<'a>,
    lost: Option<Lost<'a>>,
    code: String,
    message: String,
    content_type: Option<Cow<'a, str>>,
    /// The body without its content encodings, where something looks at it.
    body: &'a [u8],
    text: String,
    /// Status line and headers, where something looks at the result.
    headers: String,
    /// Everything that belongs to it is there, too.
    is_whole: bool,
}

impl Body {
    /// Makes the result: extractions, assertions, row, consequences.
    pub(super) fn conclude(&mut self, test: &Test, reply: &Reply<'_>, lost: Option<Lost<'_>>) {
        let decoded = match test.programs[self.flight.sampler as usize].needs_body {
            true => content::decoded(reply),
            false => Ok(Cow::Borrowed(reply.body)),
        };
        let lost = lost.map(|lost| as_told(lost, reply));
        let lost = lost.or_else(|| {
            decoded.as_ref().err().map(|(class, says)| Lost {
                class: *class,
                phase: "read",
                errno: None,
                says,
            })
        });
        let body = decoded.as_deref().unwrap_or_default();
        let ending = self.ending(test, reply, lost, body);
        let url = std::mem::take(&mut self.flight.url);
        let sent = std::mem::take(&mut self.flight.sent);
        let answer = self.answer(test, &ending, (&url, &sent));
        let fetched_bytes = self.parts.sums().0;
        let judged = self.look_at(test, reply.end_ns, self.flight.sampler, &answer);
        let shown_bytes = self.parts.sums().0 - fetched_bytes;
        let name = (
            std::mem::take(&mut self.person.sampler),
            std::mem::take(&mut self.person.name),
        );
        let mut row = self.http_row(test, &ending, &answer, &judged);
        (row.label, row.thread_name) = ((&name.0).into(), (&name.1).into());
        row.bytes += shown_bytes;
        row.below = self.told_parts(test, &row);
        let success = row.success;
        self.tell(test, row);
        (self.person.sampler, self.person.name) = name;
        self.flight.url = url;
        self.flight.sent = sent;
        if !success {
            self.after_failure(test, reply.end_ns);
        }
    }

    fn ending<'a>(
        &self,
        test: &Test,
        reply: &'a Reply<'a>,
        lost: Option<Lost<'a>>,
        body: &'a [u8],
    ) -> Ending<'a> {
        let mut code = String::with_capacity(3);
        let mut message = String::new();
        self.write_answer(test, reply, lost, &mut code, &mut message);
        let program = &test.programs[self.flight.sampler as usize];
        let scope = &test.plan.samplers[self.flight.sampler as usize].scope;
        let looked_at = program.needs_body || program.needs_request || !scope.is_quiet();
        // What never came whole has no headers.
        let headers = match looked_at && lost.is_none() {
            true => header_text(&code, &message, reply),
            false => String::new(),
        };
        let failure = self.parts.failure(0).filter(|_| !test.excuses_parts);
        let is_whole = failure.is_none();
        if let Some(says) = failure {
            message = says;
        }
        let content_type = header_values(reply.headers, "Content-Type").next();
        Ending {
            text: match program.needs_body {
                true => body_text(body, content_type.as_deref()),
                false => String::new(),
            },
            headers,
            reply,
            lost,
            code,
            message,
            content_type,
            body,
            is_whole,
        }
    }

    /// The result as those see it who look at it.
    fn answer<'a>(
        &self,
        test: &Test,
        ending: &'a Ending<'_>,
        (url, sent): (&'a str, &'a [u8]),
    ) -> Answer<'a> {
        let reply = ending.reply;
        let is_good = ending.lost.is_none() && (200..400).contains(&reply.status);
        Answer {
            headers: &ending.headers,
            body: ending.body,
            text: &ending.text,
            code: &ending.code,
            message: &ending.message,
            url,
            sent,
            sent_head: self.flight.head_bytes,
            elapsed_ms: test.between_ms(self.flight.start_ns, reply.end_ns),
            latency_ms: self.flight.latency_ms,
            connect_ms: self.flight.connect_ms,
            head_bytes: reply.head_bytes,
            bytes: self.flight.bytes,
            success: is_good && ending.is_whole,
        }
    }

    /// The row of a request, without the names of user and label.
    fn http_row<'a>(
        &self,
        test: &Test,
        ending: &'a Ending<'_>,
        answer: &Answer<'a>,
        judged: &'a Judged,
    ) -> SampleRow<'a> {
        let (reply, lost) = (ending.reply, ending.lost);
        let now = answer.revised(judged.revised.as_ref());
        let content_type = ending.content_type.as_deref();
        let (group_threads, all_threads) = self.actives(test);
        SampleRow {
            kind: RowKind::Sample,
            is_http: true,
            is_inner: false,
            start_ms: test.wall_ms(self.flight.start_ns),
            elapsed_ms: answer.elapsed_ms,
            label: "".into(),
            code: now.code.into(),
            message: now.message.into(),
            thread_name: "".into(),
            data_type: data_type(lost.is_some(), content_type),
            success: judged.verdict.success,
            failure_message: (&judged.verdict.says).into(),
            bytes: answer.bytes,
            // JMeter counts what was sent only where something came back.
            sent_bytes: match lost {
                Some(_) if self.flight.hops == 0 => 0,
                _ => self.flight.sent_bytes,
            },
            group_threads,
            all_threads,
            url: answer.url.into(),
            latency_ms: self.flight.latency_ms,
            idle_ms: 0,
            connect_ms: self.flight.connect_ms,
            encoding: content_type.map_or("", charset).into(),
            intended_ns: self.flight.intended_ns,
            start_ns: self.flight.start_ns,
            sent_ns: reply.sent_ns,
            end_ns: reply.end_ns,
            errno: lost.and_then(|lost| lost.errno).unwrap_or(0),
            spent: self.spent(reply.end_ns),
            phase: lost.map_or("", |lost| lost.phase),
            failure: lost.map_or("", |lost| lost.says).to_owned().into(),
            variables: Vec::new(),
            details: self.details_of_http(test, &now, judged, (reply, lost)),
            below: Vec::new(),
        }
    }

    /// Where the time of the result under way went: parts of a page and what lies between redirects
    /// belong to receiving it.
    fn spent(&self, end_ns: i64) -> Spent {
        let flight = &self.flight;
        let whole_ns = end_ns.saturating_sub(flight.intended_ns);
        flight.spent.filled(u64::try_from(whole_ns).unwrap_or(0))
    }

    /// Extractions, then assertions, then scripts that listen.
    pub(super) fn look_at(
        &mut self,
        test: &Test,
        now_ns: i64,
        sampler: Id,
        answer: &Answer<'_>,
    ) -> Judged {
        let scope = &test.plan.samplers[sampler as usize].scope;
        let revised = self.post_process(test, now_ns, sampler, answer);
        let now = answer.revised(revised.as_ref());
        let holds = test.programs[sampler as usize].holds;
        let verdict = self.assert(test, now_ns, (&scope.assertions, holds), &now);
        for id in &scope.listeners {
            let listener = &test.plan.listeners[*id as usize];
            if let ListenerKind::Script(script) = &listener.kind {
                let mut seen = self.seen(&now);
                seen.success = verdict.success;
                self.run_script(
                    test,
                    now_ns,
                    (Has::Listener, script),
                    &listener.name,
                    Some(seen),
                );
            }
        }
        Judged { verdict, revised }
    }

    /// Extractions and scripts; gives the result as a script left it.
    fn post_process(
        &mut self,
        test: &Test,
        now_ns: i64,
        sampler: Id,
        answer: &Answer<'_>,
    ) -> Option<Seen> {
        let mut revised: Option<Seen> = None;
        for id in &test.plan.samplers[sampler as usize].scope.post_processors {
            let post = &test.plan.post_processors[*id as usize];
            let now = answer.revised(revised.as_ref());
            match &post.kind {
                PostKind::Script(script) => {
                    let seen = self.seen(&now);
                    let done = self.run_script(
                        test,
                        now_ns,
                        (Has::PostProcessor, script),
                        &post.name,
                        Some(seen),
                    );
                    if let Some(seen) = &done.seen {
                        self.person.sampler.clone_from(&seen.label);
                    }
                    revised = done.seen;
                }
                PostKind::Debug { variables, .. } => self.show_below(test, now_ns, variables),
                _ => self.extract(test, now_ns, *id, &now),
            }
        }
        revised
    }
}

/// What those said who looked at a result.
pub(super) struct Judged {
    pub verdict: Verdict,
    /// The result as a script changed it.
    pub revised: Option<Seen>,
}

/// A head that is not whole is no answer at all.
fn as_told<'a>(lost: Lost<'a>, reply: &Reply<'_>) -> Lost<'a> {
    match (lost.class, reply.status) {
        (NotHttp::BodyCut, 0) => Lost {
            class: NotHttp::Malformed,
            ..lost
        },
        _ => lost,
    }
}
