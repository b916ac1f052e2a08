//! What is a reply worth: a redirect to follow, or a result?

use std::borrow::Cow;

use memchr::memchr;
use sokudo_model::Spent;

use super::cookies::http_date;
use super::outcome::{Lost, NotHttp, Reply};
use super::test::Test;
use super::user::{Body, Validators};
use crate::plan::{ConfigKind, HttpRequest, SamplerKind};

/// Most addresses whose age is kept per user.
const MOST_CACHED: usize = 5_000;

impl Body {
    /// How the request under way ended.
    pub(super) fn ended(&mut self, test: &Test, reply: &Reply<'_>) {
        let SamplerKind::Http(request) = &test.plan.samplers[self.flight.sampler as usize].kind
        else {
            return self.landed();
        };
        self.note(test, reply);
        self.remember(test, request, reply);
        if self.proves(test, request, reply) {
            return self.hop();
        }
        let mut lost = reply.lost;
        match self.redirect(test, request, reply) {
            Ok(true) => {
                // Where the client itself follows, redirects are no parts.
                if !self.flight.tells_last {
                    let leaf = self.leaf(test, reply, None);
                    self.parts.answered(0, leaf);
                }
                return self.hop();
            }
            Ok(false) => {}
            Err(why) => lost = Some(why),
        }
        if self.opens_page(test, request, reply, lost) {
            return;
        }
        if !self.parts.is_empty() {
            let leaf = self.leaf(test, reply, lost);
            self.parts.answered(0, leaf);
        }
        self.landed();
        self.conclude(test, reply, lost);
    }

    /// Sums over the hops of one result.
    pub(super) fn note(&mut self, test: &Test, reply: &Reply<'_>) {
        let flight = &mut self.flight;
        if flight.hops == 0 && flight.proving.refused == 0 {
            flight.spent = Spent::default();
            flight.start_ns = reply.start_ns;
            flight.intended_ns = reply.intended_ns;
            // An attempt that failed took its time, too.
            flight.connect_ms = match reply.reused {
                true => 0,
                false => test.between_ms(reply.start_ns, reply.connected_ns),
            };
        }
        if flight.hops == 0 {
            flight.latency_ms = match reply.status {
                0 => 0,
                _ => test.between_ms(flight.start_ns, reply.first_byte_ns),
            };
        }
        let bytes = reply.head_bytes + reply.body_bytes + reply.framing_bytes;
        if flight.tells_last {
            (flight.bytes, flight.sent_bytes) = (0, 0);
        }
        flight.spent.add(&reply.spent);
        flight.bytes += bytes;
        flight.sent_bytes += reply.sent_bytes;
    }

    /// Cookies and the age of what came.
    pub(super) fn remember(&mut self, test: &Test, request: &HttpRequest, reply: &Reply<'_>) {
        let now_s = test.wall_ms(reply.end_ns) / 1000;
        if let Some(jar) = request.cookies.and_then(|id| self.jars.of_mut(id)) {
            for value in header_values(reply.headers, "Set-Cookie") {
                let kept = jar.take(&self.flight.address, &value, now_s);
                if let (Some(prefix), Some((name, value))) = (&test.cookie_prefix, kept) {
                    self.person.set(&format!("{prefix}{name}"), value);
                }
            }
        }
        let Some(id) = request.cache else {
            return;
        };
        let ConfigKind::Cache {
            most_entries,
            follows_expires,
            ..
        } = test.plan.configs[id as usize].kind
        else {
            return;
        };
        let room = self.cache.len()
            < MOST_CACHED.min(usize::try_from(most_entries).unwrap_or(MOST_CACHED));
        if self.flight.method == "GET" && reply.status == 200 && room {
            let first = |name: &str| {
                let value = header_values(reply.headers, name).next();
                value.map(Cow::into_owned)
            };
            let lasts_s = follows_expires.then(|| fresh_s(reply.headers)).flatten();
            let known = Validators {
                last_modified: first("Last-Modified"),
                etag: first("ETag"),
                fresh_until_ms: lasts_s.map(|lasts_s| (now_s.saturating_add(lasts_s)) * 1000),
            };
            if known.last_modified.is_some() || known.etag.is_some() || lasts_s.is_some() {
                self.cache.insert(self.flight.url.clone(), known);
            }
        }
    }

    /// True: the address in the flight is that of a redirect to follow. Errors: it cannot be.
    pub(super) fn redirect(
        &mut self,
        test: &Test,
        request: &HttpRequest,
        reply: &Reply<'_>,
    ) -> Result<bool, Lost<'static>> {
        let is_plain = matches!(self.flight.method.as_str(), "GET" | "HEAD");
        let is_redirect = match reply.status {
            301 | 302 | 303 | 308 => true,
            307 => is_plain,
            _ => false,
        };
        if reply.lost.is_some() || !is_redirect {
            return Ok(false);
        }
        let mut view = self.person.view(test, reply.end_ns);
        let itself = view.flag(&request.follow_redirects);
        if !itself && !view.flag(&request.auto_redirects) {
            return Ok(false);
        }
        let lost = |class: NotHttp| Lost {
            class,
            phase: "read",
            errno: None,
            says: "",
        };
        let Some(location) = header_values(reply.headers, "Location").next() else {
            return Err(lost(NotHttp::NoLocation));
        };
        if self.flight.hops >= test.most_redirects {
            return Err(lost(NotHttp::TooManyRedirects));
        }
        let location = location.trim().replace(' ', "%20");
        let Some(address) = self.flight.address.join(&location) else {
            let is_web = location.to_ascii_lowercase().starts_with("http");
            return Err(lost(match is_web || !location.contains("://") {
                true => NotHttp::BadLocation,
                false => NotHttp::Malformed,
            }));
        };
        self.flight.address = address;
        self.flight.forget_proof();
        self.flight.hops += 1;
        self.flight.tells_last = !itself;
        if self.flight.method != "HEAD" {
            self.flight.method.replace_range(.., "GET");
        }
        Ok(true)
    }
}

/// Values of the headers of this name, in order.
pub(super) fn header_values<'a>(
    headers: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = Cow<'a, str>> + 'a {
    let mut rest = headers;
    let lines = std::iter::from_fn(move || {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, behind) = rest.split_at(end);
        rest = behind;
        (!line.is_empty()).then_some(line)
    });
    lines.filter_map(move |line| {
        let (key, value) = line.trim_ascii_start().split_at_checked(name.len())?;
        if !key.eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        }
        let value = value.trim_ascii_start().strip_prefix(b":")?;
        Some(String::from_utf8_lossy(value.trim_ascii()))
    })
}

/// For how long an answer need not be asked for again, seconds; `None`: nothing is said.
fn fresh_s(headers: &[u8]) -> Option<i64> {
    let first = |name| header_values(headers, name).next();
    let date = |name| first(name).and_then(|date| http_date(&date));
    let control = first("Cache-Control").unwrap_or_default();
    if control.contains("no-store") || control.contains("no-cache") {
        return None;
    }
    let mut words = control.split(',').map(str::trim);
    let age = words.find_map(|word| word.strip_prefix("max-age="));
    if let Some(age) = age.and_then(|age| age.parse().ok()) {
        return Some(age);
    }
    let since = date("Date")?;
    match (date("Expires"), date("Last-Modified")) {
        (Some(expires), _) => Some(expires - since),
        // A tenth of its age is what caches commonly take.
        (None, Some(modified)) => Some((since - modified) / 10),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(headers: &[u8], name: &str) -> Vec<String> {
        header_values(headers, name).map(Cow::into_owned).collect()
    }

    #[test]
    fn headers_are_found_whatever_their_case_and_blanks() {
        let headers = b"Server: Set-Cookie: a\r\nset-cookie:b\r\n Set-Cookie : c \r\nSet-Cookie2: d\n\nSet-Cookie: e";
        assert_eq!(values(headers, "Set-Cookie"), ["b", "c", "e"]);
        assert!(values(headers, "Cookie").is_empty());
    }

    proptest! {
        #[test]
        fn headers_are_those_of_lines_cut_at_their_first_colon(text in "[aAé :\r\n]{0,40}") {
            let line = |line: &str| {
                let (key, value) = line.split_once(':')?;
                let same = key.trim_ascii().eq_ignore_ascii_case("aa");
                same.then(|| value.trim_ascii().to_owned())
            };
            let expected: Vec<String> = text.split('\n').filter_map(line).collect();
            prop_assert_eq!(values(text.as_bytes(), "aa"), expected);
        }
    }
}
