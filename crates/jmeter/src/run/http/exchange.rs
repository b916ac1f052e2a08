//! The HTTP request under way and the sums over its redirects.

use std::borrow::Cow;

use sokudo_model::Spent;

use super::authorization::ChallengeState;
use super::request::Unsent;
use super::response::{
    body_text, charset, data_type, header_bytes, header_text, header_values, latin_1,
};
use super::route::NetworkPath;
use crate::digits::status_text;
use crate::plan::HttpRequest;
use crate::run::address::Address;
use crate::run::content;
use crate::run::context::View;
use crate::run::details::request_details;
use crate::run::link::quoted;
use crate::run::outcome::{Lost, NotHttp, Reply};
use crate::run::row::Details;
use crate::run::sub_results::SubResult;
use crate::run::test::{Targets, Test};
use crate::run::uri;

/// One request with everything that redirects and challenges add to it.
#[derive(Debug, Default)]
pub(super) struct HttpExchange {
    pub address: Address,
    pub method: String,
    /// `address` as text.
    url: String,
    pub keep_alive: bool,
    pub way: NetworkPath,
    pub authorization: ChallengeState,
    /// Length of the request's head.
    pub head_bytes: usize,
    /// The request itself; empty unless an element in scope needs it.
    sent: Vec<u8>,
    /// It fetches an embedded resource.
    is_resource: bool,
    /// Number of redirects that were followed.
    redirects: u32,
    /// Bytes count for the last redirect only, because the client itself follows.
    counts_last: bool,
    /// The last redirect asks for the same request at another address.
    repeats: bool,
    totals: SampleTotals,
}

/// Times and bytes of a sample over all its redirects.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct SampleTotals {
    pub start_ns: i64,
    pub intended_ns: i64,
    /// The intended start is when an arrival was due.
    pub is_due: bool,
    pub latency_ms: u64,
    pub connect_ms: u64,
    pub bytes: u64,
    pub sent_bytes: u64,
    spent: Spent,
}

impl SampleTotals {
    /// Time of the sample by its stages. Embedded resources and the time between redirects count as
    /// receiving.
    pub fn spent(&self, end_ns: i64) -> Spent {
        let whole_ns = end_ns.saturating_sub(self.intended_ns);
        self.spent.filled(u64::try_from(whole_ns).unwrap_or(0))
    }
}

impl HttpExchange {
    /// Begins the request of a sampler; `due_ns`: when an arrival was due whose first request it is.
    pub fn begin(&mut self, now_ns: i64, due_ns: Option<i64>) {
        self.redirects = 0;
        self.totals.start_ns = now_ns;
        self.totals.intended_ns = due_ns.unwrap_or(now_ns);
        self.totals.is_due = due_ns.is_some();
        (self.totals.bytes, self.totals.sent_bytes) = (0, 0);
        (self.counts_last, self.repeats) = (false, false);
        self.authorization.reset();
    }

    /// Begins the request for an embedded resource of another request's response.
    pub fn begin_resource(&mut self, of: &Self, address: Address, now_ns: i64) {
        self.address = address;
        self.method.replace_range(.., "GET");
        self.is_resource = true;
        self.authorization.reset();
        self.redirects = 0;
        // A bound on the duration of a sample covers its resources.
        self.totals.start_ns = of.totals.start_ns;
        self.totals.intended_ns = now_ns;
        self.totals.is_due = false;
        (self.totals.bytes, self.totals.sent_bytes) = (0, 0);
        self.counts_last = false;
        self.write_url();
    }

    /// Updates the URL after a change of the address.
    pub fn write_url(&mut self) {
        self.url.clear();
        self.address.write(&mut self.url);
    }

    /// Fails for an address that Java refuses.
    pub fn check_url(&self) -> Result<(), Unsent> {
        let before = self.url.len() - self.address.path.len();
        match uri::refusal(&self.url[..before], &self.address.path) {
            None => Ok(()),
            Some(says) => Err(Unsent::Impossible(NotHttp::BadAddress, says)),
        }
    }

    /// Notes that the request could not be written.
    pub fn fail(&mut self, class: NotHttp, why: &str) {
        (self.totals.latency_ms, self.totals.connect_ms) = (0, 0);
        self.totals.spent = Spent::default();
        self.write_url();
        if class == NotHttp::BadLocation {
            self.url = "null".into();
        }
        if class == NotHttp::BadScheme {
            let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
            self.url = format!("{why}://{rest}");
        }
    }

    /// Keeps the request for the elements that need it.
    pub fn keep_sent(&mut self, request: &[u8]) {
        self.sent.clear();
        self.sent.extend_from_slice(request);
    }

    /// The headers of the request that was kept.
    pub fn sent_headers(&self) -> Vec<(String, String)> {
        let head = self.sent.get(..self.head_bytes).unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        let lines = head.lines().skip(1);
        let pairs = lines.filter_map(|line| line.split_once(": "));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Number of the target that the request is sent to.
    pub fn target(&self, fixed: Option<u32>, targets: &dyn Targets) -> u32 {
        match fixed {
            Some(target) if self.redirects == 0 && !self.is_resource => target,
            _ => self.way.target(&self.address, targets),
        }
    }

    /// True unless a redirect or a challenge led to this request.
    pub fn is_first(&self) -> bool {
        self.redirects == 0 && !self.authorization.was_challenged()
    }

    /// Adds the times and bytes of a reply.
    pub fn add(&mut self, test: &Test, reply: &Reply<'_>) {
        let is_first = self.is_first();
        let totals = &mut self.totals;
        if is_first {
            totals.spent = Spent::default();
            totals.start_ns = reply.start_ns;
            totals.intended_ns = reply.intended_ns;
            // A failed attempt to connect took its time, too.
            totals.connect_ms = match reply.reused {
                true => 0,
                false => test.between_ms(reply.start_ns, reply.connected_ns),
            };
        }
        if self.redirects == 0 {
            totals.latency_ms = match reply.status {
                0 => 0,
                _ => test.between_ms(totals.start_ns, reply.first_byte_ns),
            };
        }
        if self.counts_last {
            (totals.bytes, totals.sent_bytes) = (0, 0);
        }
        totals.spent.add(&reply.spent);
        totals.bytes += reply.counted_bytes();
        totals.sent_bytes += reply.sent_bytes;
    }

    /// Adds bytes of embedded resources.
    pub fn add_bytes(&mut self, bytes: u64, sent_bytes: u64) {
        self.totals.bytes += bytes;
        self.totals.sent_bytes += sent_bytes;
    }

    /// True if the reply is a challenge and the same request is to be sent again with credentials.
    /// Bytes count for the last attempt only, times span all of them.
    pub fn answer_challenge(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        reply: &Reply<'_>,
    ) -> bool {
        let to = (&self.address, self.method.as_str());
        let repeats = self
            .authorization
            .answer_challenge(view, request, to, reply);
        if repeats {
            let totals = &mut self.totals;
            totals.bytes = totals.bytes.saturating_sub(reply.counted_bytes());
            totals.sent_bytes = totals.sent_bytes.saturating_sub(reply.sent_bytes);
        }
        repeats
    }

    /// True if the reply is a redirect to follow, to which the address then leads. Fails if it
    /// cannot be followed.
    pub fn redirect(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        reply: &Reply<'_>,
    ) -> Result<bool, Lost<'static>> {
        if reply.lost.is_some() || !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
            return Ok(false);
        }
        let is_automatic = view.flag(&request.auto_redirects);
        let follows = !is_automatic && view.flag(&request.follow_redirects);
        if !follows && !is_automatic {
            return Ok(false);
        }
        let method = self.method.as_str();
        let is_redirect = match reply.status {
            303 => true,
            307 if follows => matches!(method, "GET" | "HEAD"),
            // The client itself knows these methods.
            _ => follows || matches!(method, "GET" | "HEAD" | "POST" | "DELETE"),
        };
        if !is_redirect {
            return Ok(false);
        }
        let repeats = !follows && matches!(reply.status, 307 | 308);
        let lost = |class: NotHttp| Lost {
            class,
            phase: "read",
            errno: None,
            says: "",
        };
        let Some(location) = location(reply) else {
            return Err(lost(NotHttp::NoLocation));
        };
        if self.redirects >= view.test().most_redirects {
            return Err(lost(NotHttp::TooManyRedirects));
        }
        let location = location.trim().replace(' ', "%20");
        let Some(mut address) = self.address.join(&location) else {
            let is_web = location.to_ascii_lowercase().starts_with("http");
            return Err(lost(match is_web || !location.contains("://") {
                true => NotHttp::BadLocation,
                false => NotHttp::Malformed,
            }));
        };
        if follows {
            address.path = quoted(&address.path);
        }
        self.address = address;
        self.authorization.reset();
        self.redirects += 1;
        self.counts_last = !follows;
        self.repeats = repeats;
        if self.method != "HEAD" && !repeats {
            self.method.replace_range(.., "GET");
        }
        Ok(true)
    }

    /// True if the request after a redirect has method and body of the one before.
    pub fn keeps_body(&self) -> bool {
        self.repeats
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The request; empty unless an element in scope needs it.
    pub fn sent(&self) -> &[u8] {
        &self.sent
    }

    pub fn is_resource(&self) -> bool {
        self.is_resource
    }

    /// True if a redirect was followed.
    pub fn was_redirected(&self) -> bool {
        self.redirects > 0
    }

    /// True if bytes count for the last redirect only, and redirects are not sub-results.
    pub fn counts_last(&self) -> bool {
        self.counts_last
    }

    pub fn totals(&self) -> &SampleTotals {
        &self.totals
    }

    /// Code and message of a reply, or of a failure as JMeter names it.
    pub fn status<'r>(
        &self,
        test: &Test,
        reply: &Reply<'r>,
        lost: Option<Lost<'_>>,
    ) -> (Cow<'static, str>, Cow<'r, str>) {
        match lost {
            None => (
                status_text(reply.status),
                String::from_utf8_lossy(reply.reason.trim_ascii()),
            ),
            Some(lost) => {
                let code = format!("Non HTTP response code: {}", lost.class.class());
                let mut message = String::new();
                message.push_str("Non HTTP response message: ");
                let says = self.failure_details(test, reply, lost);
                let to = (self.address.host.as_str(), self.address.port);
                lost.class.write_message(to, &says, &mut message);
                (code.into(), message.into())
            }
        }
    }

    /// The variable part of JMeter's message for a failure.
    fn failure_details<'a>(&self, test: &Test, reply: &Reply<'_>, lost: Lost<'a>) -> Cow<'a, str> {
        match lost.class {
            NotHttp::TooManyRedirects => test.most_redirects.to_string().into(),
            NotHttp::BadLocation => match header_values(reply.headers, "Location").next() {
                Some(location) => format!("Invalid address: {location}").into(),
                None => "Invalid address".into(),
            },
            NotHttp::NoLocation => format!("{} {} HTTP/1.1", self.method, self.url()).into(),
            NotHttp::Refused | NotHttp::ConnectTimeout | NotHttp::TlsTimeout => {
                let host = self.address.host.as_str();
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

    /// A reply as a sub-result.
    pub fn sub_result(
        &self,
        view: &View<'_>,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
    ) -> SubResult {
        let test = view.test();
        let (code, message) = self.status(test, reply, lost);
        let own_ms = match reply.reused {
            true => 0,
            false => test.between_ms(reply.start_ns, reply.connected_ns),
        };
        let first = self.authorization.first_attempt();
        let (start_ns, connect_ms) = first.unwrap_or((reply.start_ns, own_ms));
        let content_type = header_values(reply.headers, "Content-Type").next();
        let program = &test.programs[view.thread.sampler() as usize];
        let keeps = program.holds.texts || program.examines_inner;
        SubResult {
            code: code.into_owned(),
            message: message.into_owned(),
            url: self.url().into(),
            encoding: content_type.as_deref().map_or("", charset).into(),
            data_type: data_type(lost.is_some(), content_type.as_deref()),
            success: lost.is_none() && (200..400).contains(&reply.status),
            bytes: reply.received_bytes(),
            sent_bytes: match lost {
                Some(_) => 0,
                None => reply.sent_bytes,
            },
            latency_ms: match reply.status {
                0 => 0,
                _ => test.between_ms(start_ns, reply.first_byte_ns),
            },
            connect_ms,
            start_ns,
            sent_ns: reply.sent_ns,
            end_ns: reply.end_ns,
            errno: lost.and_then(|lost| lost.errno).unwrap_or(0),
            phase: lost.map_or("", |lost| lost.phase),
            failure: lost.map_or("", |lost| lost.says).into(),
            is_http: true,
            details: keeps.then(|| Box::new(self.reply_details(reply, lost, program.holds.bodies))),
        }
    }

    fn reply_details(
        &self,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
        keeps_body: bool,
    ) -> Details {
        let mut details = request_details(self.sent(), self.head_bytes);
        if lost.is_none() {
            let reason = String::from_utf8_lossy(reply.reason);
            details.response_headers = header_text(&reply.status.to_string(), &reason, reply);
            details.location = location(reply);
            let content_type = header_values(reply.headers, "Content-Type").next();
            let body = content::decoded(reply).unwrap_or_default();
            details.response = body_text(&body, content_type.as_deref());
            if keeps_body {
                details.body = body.into_owned();
            }
        }
        details
    }
}

/// The `Location` header of a reply.
pub(super) fn location(reply: &Reply<'_>) -> Option<String> {
    header_bytes(reply.headers, "Location").next().map(latin_1)
}
