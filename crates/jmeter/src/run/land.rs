//! What is a reply worth: a redirect to follow, or a result with extractions and assertions?

use std::borrow::Cow;
use std::fmt::Write as _;

use sokudo_model::Spent;

use super::asserts::Verdict;
use super::content;
use super::cookies::http_date;
use super::outcome::{Lost, NotHttp, Reply};
use super::row::{RowKind, SampleRow};
use super::test::Test;
use super::user::{Body, Validators};
use crate::plan::{ConfigKind, HttpRequest, Id, ListenerKind, PostKind, SamplerKind};
use crate::script::Seen;

/// Most addresses whose age is kept per user.
const MOST_CACHED: usize = 5_000;

/// A result while it is looked at: everything as text.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    /// Header lines, the status line first.
    pub headers: &'a str,
    /// The body as received.
    pub body: &'a [u8],
    /// Its text.
    pub text: &'a str,
    /// Response code.
    pub code: &'a str,
    /// Response message.
    pub message: &'a str,
    /// Address.
    pub url: &'a str,
    /// The request, where something looks at it.
    pub sent: &'a [u8],
    /// Length of the request's head.
    pub sent_head: usize,
    /// From start to end, milliseconds.
    pub elapsed_ms: u64,
    /// Bytes of heads, and of everything.
    pub head_bytes: u64,
    pub bytes: u64,
    /// It succeeded so far.
    pub success: bool,
}

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
                jar.take(&self.flight.address, &value, now_s);
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
            let first = |name: &str| header_values(reply.headers, name).next();
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

    /// Makes the result: extractions, assertions, row, consequences.
    pub(super) fn conclude(&mut self, test: &Test, reply: &Reply<'_>, lost: Option<Lost<'_>>) {
        let mut code = String::with_capacity(3);
        let mut message = String::new();
        // A head that is not whole is no answer at all.
        let lost = lost.map(|lost| match (lost.class, reply.status) {
            (NotHttp::BodyCut, 0) => Lost {
                class: NotHttp::Malformed,
                ..lost
            },
            _ => lost,
        });
        let decoded = match test.programs[self.flight.sampler as usize].needs_body {
            true => content::decoded(reply),
            false => Ok(Cow::Borrowed(reply.body)),
        };
        let lost = lost.or_else(|| {
            decoded.as_ref().err().map(|(class, says)| Lost {
                class: *class,
                phase: "read",
                errno: None,
                says,
            })
        });
        let body: &[u8] = decoded.as_deref().unwrap_or_default();
        self.write_answer(test, reply, lost, &mut code, &mut message);
        let failure = self.parts.failure(0).filter(|_| !test.excuses_parts);
        let is_whole = failure.is_none();
        if let Some(says) = failure {
            message = says;
        }
        let content_type = header_values(reply.headers, "Content-Type").next();
        let program = &test.programs[self.flight.sampler as usize];
        let looked_at = program.needs_body
            || program.needs_request
            || !test.plan.samplers[self.flight.sampler as usize]
                .scope
                .is_quiet();
        let text = if program.needs_body {
            body_text(body, content_type.as_deref())
        } else {
            String::new()
        };
        let headers = match looked_at {
            true => format!(
                "HTTP/1.1 {code} {message}\n{}",
                String::from_utf8_lossy(reply.headers).replace("\r\n", "\n")
            ),
            false => String::new(),
        };
        let (start_ms, end_ms) = (
            test.wall_ms(self.flight.start_ns),
            test.wall_ms(reply.end_ns),
        );
        let url = std::mem::take(&mut self.flight.url);
        let sent = std::mem::take(&mut self.flight.sent);
        let answer = Answer {
            headers: &headers,
            body,
            text: &text,
            code: &code,
            message: &message,
            url: &url,
            sent: &sent,
            sent_head: self.flight.head_bytes,
            elapsed_ms: u64::try_from(end_ms - start_ms).unwrap_or(0),
            head_bytes: reply.head_bytes,
            bytes: self.flight.bytes,
            success: lost.is_none() && is_whole && (200..400).contains(&reply.status),
        };
        let fetched_bytes = self.parts.sums().0;
        let (verdict, revised) = self.look_at(test, reply.end_ns, self.flight.sampler, &answer);
        let shown_bytes = self.parts.sums().0 - fetched_bytes;
        let now = answer.revised(revised.as_ref());
        let (group_threads, all_threads) = self.actives(test);
        let label = std::mem::take(&mut self.person.sampler);
        let name = std::mem::take(&mut self.person.name);
        let row = SampleRow {
            kind: RowKind::Sample,
            start_ms,
            elapsed_ms: answer.elapsed_ms,
            label: &label,
            code: now.code,
            message: now.message,
            thread_name: &name,
            data_type: data_type(lost.is_some(), content_type.as_deref()),
            success: verdict.success,
            failure_message: &verdict.says,
            bytes: answer.bytes + shown_bytes,
            // JMeter counts what was sent only where something came back.
            sent_bytes: match lost {
                Some(_) if self.flight.hops == 0 => 0,
                _ => self.flight.sent_bytes,
            },
            group_threads,
            all_threads,
            url: &url,
            latency_ms: self.flight.latency_ms,
            idle_ms: 0,
            connect_ms: self.flight.connect_ms,
            encoding: content_type
                .as_deref()
                .map(charset)
                .filter(|charset| !charset.is_empty())
                .unwrap_or(&test.default_encoding),
            intended_ns: self.flight.intended_ns,
            start_ns: self.flight.start_ns,
            sent_ns: reply.sent_ns,
            end_ns: reply.end_ns,
            errno: lost.and_then(|lost| lost.errno).unwrap_or(0),
            spent: self.spent(reply.end_ns),
            phase: lost.map_or("", |lost| lost.phase),
            failure: lost.map_or("", |lost| lost.says),
        };
        self.tell(test, &row);
        self.tell_parts(test, &row);
        self.person.sampler = label;
        self.person.name = name;
        self.flight.url = url;
        self.flight.sent = sent;
        if !verdict.success {
            self.after_failure(test, reply.end_ns);
        }
    }

    /// Code and message of an answer, or of a failure as JMeter names it.
    pub(super) fn write_answer(
        &self,
        test: &Test,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
        code: &mut String,
        message: &mut String,
    ) {
        let Some(lost) = lost else {
            // Writing into a String cannot fail.
            let _ = write!(code, "{}", reply.status);
            message.push_str(&String::from_utf8_lossy(reply.reason));
            return;
        };
        let _ = write!(code, "Non HTTP response code: {}", lost.class.class());
        message.push_str("Non HTTP response message: ");
        let says = self.said(test, reply, lost);
        let to = (self.flight.address.host.as_str(), self.flight.address.port);
        lost.class.write_message(to, &says, message);
    }

    /// Where the time of the result under way went: parts of a page and what lies between redirects
    /// belong to receiving it.
    fn spent(&self, end_ns: i64) -> Spent {
        let flight = &self.flight;
        let whole_ns = end_ns.saturating_sub(flight.intended_ns);
        flight.spent.filled(u64::try_from(whole_ns).unwrap_or(0))
    }

    /// What JMeter's sentence about a failure holds of the moment.
    fn said<'a>(&self, test: &Test, reply: &Reply<'_>, lost: Lost<'a>) -> Cow<'a, str> {
        let flight = &self.flight;
        match lost.class {
            NotHttp::TooManyRedirects => test.most_redirects.to_string().into(),
            NotHttp::BadLocation => match header_values(reply.headers, "Location").next() {
                Some(location) => format!("Invalid address: {location}").into(),
                None => "Invalid address".into(),
            },
            NotHttp::NoLocation => format!("{} {} HTTP/1.1", flight.method, flight.url).into(),
            NotHttp::Refused | NotHttp::ConnectTimeout | NotHttp::TlsTimeout => {
                let host = flight.address.host.as_str();
                let name = match host.parse::<std::net::IpAddr>() {
                    Ok(_) => "",
                    Err(_) => host,
                };
                match reply.peer {
                    Some(peer) => format!("{name}/{}", peer.ip()).into(),
                    None => format!("{name}/{host}").into(),
                }
            }
            NotHttp::BodyCut => match header_values(reply.headers, "Content-Length").next() {
                Some(length) => format!(
                    "Content-Length delimited message body (expected: {length}; received: {})",
                    reply.body_bytes
                )
                .into(),
                None => "chunk coded message body: closing chunk expected".into(),
            },
            _ => lost.says.into(),
        }
    }

    /// Extractions, then assertions, then scripts that listen. A result that a script changed comes
    /// back with the verdict.
    fn look_at(
        &mut self,
        test: &Test,
        now_ns: i64,
        sampler: Id,
        answer: &Answer<'_>,
    ) -> (Verdict, Option<Seen>) {
        let scope = &test.plan.samplers[sampler as usize].scope;
        let mut revised: Option<Seen> = None;
        for id in &scope.post_processors {
            let post = &test.plan.post_processors[*id as usize];
            let now = answer.revised(revised.as_ref());
            match &post.kind {
                PostKind::Script(script) => {
                    let seen = self.seen(&now);
                    let done = self.run_script(test, now_ns, script, &post.name, Some(seen));
                    if let Some(seen) = &done.seen {
                        self.person.sampler.clone_from(&seen.label);
                    }
                    revised = done.seen;
                }
                PostKind::Debug { variables, .. } => self.show_below(test, now_ns, variables),
                _ => self.extract(test, now_ns, *id, &now),
            }
        }
        let now = answer.revised(revised.as_ref());
        let verdict = self.assert(test, now_ns, &scope.assertions, &now);
        for id in &scope.listeners {
            let listener = &test.plan.listeners[*id as usize];
            if let ListenerKind::Script(script) = &listener.kind {
                let mut seen = self.seen(&now);
                seen.success = verdict.success;
                self.run_script(test, now_ns, script, &listener.name, Some(seen));
            }
        }
        (verdict, revised)
    }

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
        self.tell_plain(test, (start_ns, end_ns), &answer, (0, 0));
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
        let answer = plain_answer(&text, &code, &message, &url, elapsed_ms, success);
        self.tell_plain(test, (start_ns, now_ns), &answer, (latency_ms, connect_ms));
    }

    pub(super) fn tell_plain(
        &mut self,
        test: &Test,
        (start_ns, end_ns): (i64, i64),
        answer: &Answer<'_>,
        (latency_ms, connect_ms): (u64, u64),
    ) {
        self.parts.clear();
        let (verdict, revised) = self.look_at(test, end_ns, self.flight.sampler, answer);
        let answer = &answer.revised(revised.as_ref());
        let shown_bytes = self.parts.sums().0;
        let (group_threads, all_threads) = self.actives(test);
        let (label, name) = (self.person.sampler.clone(), self.person.name.clone());
        let row = SampleRow {
            kind: RowKind::Sample,
            start_ms: test.wall_ms(start_ns),
            elapsed_ms: answer.elapsed_ms,
            label: &label,
            code: answer.code,
            message: answer.message,
            thread_name: &name,
            data_type: "text",
            success: verdict.success,
            failure_message: &verdict.says,
            bytes: answer.bytes + shown_bytes,
            sent_bytes: 0,
            group_threads,
            all_threads,
            url: answer.url,
            latency_ms,
            idle_ms: 0,
            connect_ms,
            encoding: &test.default_encoding,
            intended_ns: start_ns,
            start_ns,
            sent_ns: start_ns,
            end_ns,
            errno: 0,
            spent: Spent::default(),
            phase: "",
            failure: "",
        };
        self.tell(test, &row);
        self.tell_parts(test, &row);
        if !verdict.success {
            self.after_failure(test, end_ns);
        }
    }
}

pub(super) fn plain_answer<'a>(
    text: &'a str,
    code: &'a str,
    message: &'a str,
    url: &'a str,
    elapsed_ms: u64,
    success: bool,
) -> Answer<'a> {
    Answer {
        headers: "",
        body: text.as_bytes(),
        text,
        code,
        message,
        url,
        sent: b"",
        sent_head: 0,
        elapsed_ms,
        head_bytes: 0,
        bytes: text.len() as u64,
        success,
    }
}

/// Values of the headers of this name, in order.
pub(super) fn header_values<'a>(
    headers: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = String> + 'a {
    headers
        .split(|byte| *byte == b'\n')
        .filter_map(move |line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (key, value) = line.split_at(colon);
            let same = key.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            same.then(|| String::from_utf8_lossy(value[1..].trim_ascii()).into_owned())
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

pub(super) fn charset(content_type: &str) -> &str {
    let parameter = content_type.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"'))
    });
    parameter.unwrap_or("")
}

pub(super) fn body_text(body: &[u8], content_type: Option<&str>) -> String {
    let label = content_type.map_or("", charset);
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        Some(encoding) => encoding.decode(body).0.into_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    }
}

pub(super) fn data_type(lost: bool, content_type: Option<&str>) -> &'static str {
    const BINARY: &[&str] = &[
        "image/",
        "audio/",
        "video/",
        "application/octet-stream",
        "application/pdf",
        "application/zip",
        "application/x-tar",
        "application/x-gzip",
        "application/java-archive",
        "application/java-vm",
    ];
    match content_type {
        _ if lost => "text",
        None => "",
        Some(kind) if BINARY.iter().any(|prefix| kind.starts_with(prefix)) => "bin",
        Some(_) => "text",
    }
}
