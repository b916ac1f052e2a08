//! What do files of results hold of a result besides numbers? Kept only where one of them asks for it.

use std::borrow::Cow;

use super::answer::{Answer, body_text, header_text};
use super::conclude::Judged;
use super::content;
use super::land::header_values;
use super::outcome::{Lost, Reply};
use super::row::Details;
use super::test::Test;
use super::user::Body;
use crate::jtl::Holds;

impl Body {
    /// Details of the result of a sampler.
    pub(super) fn details_of(
        &self,
        test: &Test,
        answer: &Answer<'_>,
        judged: &Judged,
    ) -> Option<Box<Details>> {
        let holds = test.programs[self.flight.sampler as usize].holds;
        if holds == Holds::default() {
            return None;
        }
        let mut details = Details {
            assertions: judged.verdict.asserted.clone(),
            ..Details::default()
        };
        if holds.texts {
            details.response_headers = answer.headers.into();
            details.response = answer.text.into();
            details.sent(answer.sent, answer.sent_head);
        }
        Some(Box::new(details))
    }

    /// Details of the result of a request.
    pub(super) fn details_of_http(
        &self,
        test: &Test,
        answer: &Answer<'_>,
        judged: &Judged,
        (reply, lost): (&Reply<'_>, Option<Lost<'_>>),
    ) -> Option<Box<Details>> {
        let mut details = self.details_of(test, answer, judged)?;
        // Of several redirects the first.
        details.location = match self.parts.first() {
            Some(first) => first
                .details
                .as_ref()
                .and_then(|first| first.location.clone()),
            None => header_values(reply.headers, "Location")
                .next()
                .map(Cow::into_owned),
        };
        if lost.is_some() {
            // JMeter has the failure as response, and no request.
            let class = answer.code.trim_start_matches("Non HTTP response code: ");
            let says = answer
                .message
                .trim_start_matches("Non HTTP response message: ");
            details.response = format!("{class}: {says}\n");
            details.request_headers.clear();
        }
        Some(details)
    }

    /// Details of a part of the result under way.
    pub(super) fn details_of_part(
        &self,
        test: &Test,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
    ) -> Option<Box<Details>> {
        if !test.programs[self.flight.sampler as usize].holds.texts {
            return None;
        }
        let mut details = Details::default();
        details.sent(&self.flight.sent, self.flight.head_bytes);
        if lost.is_none() {
            let reason = String::from_utf8_lossy(reply.reason);
            details.response_headers = header_text(&reply.status.to_string(), &reason, reply);
            let location = header_values(reply.headers, "Location").next();
            details.location = location.map(Cow::into_owned);
            let content_type = header_values(reply.headers, "Content-Type").next();
            let body = content::decoded(reply).unwrap_or_default();
            details.response = body_text(&body, content_type.as_deref());
        }
        Some(Box::new(details))
    }
}

impl Details {
    /// Takes a request apart as JMeter shows it: its cookies stand by themselves.
    fn sent(&mut self, sent: &[u8], head_bytes: usize) {
        let (head, body) = sent.split_at_checked(head_bytes).unwrap_or((b"", b""));
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let first = lines.next().unwrap_or_default();
        self.method = first.split(' ').next().unwrap_or_default().into();
        for line in lines.filter(|line| !line.is_empty()) {
            match line.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("Cookie") => {
                    self.cookies = value.into();
                }
                _ => self.request_headers.extend([line, "\n"]),
            }
        }
        self.query = String::from_utf8_lossy(body).into_owned();
    }
}
