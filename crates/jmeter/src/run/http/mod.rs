//! The HTTP client of one virtual user: requests, redirects, cookies, cache and embedded
//! resources.
//!
//! ```text
//! HttpClient ─┬─ HttpExchange    the request under way: address, NetworkPath, ChallengeState, SampleTotals
//!             ├─ Buffers         texts of the next request
//!             ├─ HttpCache       what a cache manager of the plan keeps
//!             └─ PageDownload    embedded resources, one HttpExchange per lane
//! ```

mod authorization;
mod cache;
mod conclude;
mod exchange;
mod identity;
mod page;
mod payload;
mod proxy;
mod request;
mod response;
mod route;

use super::context::View;
use super::encode;
use super::outcome::{Lost, NotHttp, Reply};
use super::sub_results::SubResults;
use super::user::Request;
use crate::plan::{ConfigKind, HttpRequest, Id, PreKind};
use crate::script::WrittenCookie;
use cache::{HttpCache, NotANumber};
use exchange::HttpExchange;
use page::PageDownload;
use request::{Buffers, Unsent, line};

pub use proxy::Through;
pub use route::Route;

pub(super) use page::OwnedReply;
pub(super) use response::header_values;
pub(super) use route::may_be_routed;

/// Largest part of a body that is kept for the elements in scope.
const MOST_BODY_BYTES: usize = 16 << 20;
/// Largest part of an embedded resource that is searched for links.
const MOST_PAGE_BYTES: usize = 4 << 20;

/// Requests and cache of one user.
#[derive(Debug, Default)]
pub(super) struct HttpClient {
    /// The request under way.
    exchange: HttpExchange,
    buffers: Buffers,
    cache: HttpCache,
    /// The next request uses a new connection.
    fresh: bool,
    /// Embedded resources; `None` until the first page.
    page: Option<Box<PageDownload>>,
}

/// Result of [`HttpClient::begin`].
pub(super) enum RequestStart {
    /// The request was appended.
    Sent(Request),
    /// The cache manager has a fresh entry: nothing is sent and there is no result.
    Cached,
    /// The request cannot be sent: a failed result.
    Failed(NotHttp, String),
}

/// Result of [`HttpClient::ended`].
pub(super) enum RequestEnd<'a> {
    /// Another request: a redirect or the same with credentials.
    Hop,
    /// Embedded resources are fetched.
    Page,
    /// The sample is complete; `Some`: it failed.
    Complete(Option<Lost<'a>>),
}

impl HttpClient {
    /// Clears cookies, cache and connections as the managers and the thread group of the plan
    /// state for a new iteration.
    pub fn begin_iteration(&mut self, view: &mut View<'_>, is_first: bool) {
        let test = view.test();
        let other_user = !test.plan.groups[view.thread.group()].same_user;
        let clears =
            |each: bool, group_decides: bool| if group_decides { other_user } else { each };
        for (id, config) in (0..).zip(&test.plan.configs) {
            match &config.kind {
                ConfigKind::Cookies {
                    clear_each_iteration,
                    group_decides,
                    ..
                } if is_first || clears(*clear_each_iteration, *group_decides) => {
                    Self::fill_jar(view, id);
                }
                ConfigKind::Cache {
                    clear_each_iteration,
                    group_decides,
                    ..
                } if clears(*clear_each_iteration, *group_decides) => self.cache.clear(),
                _ => {}
            }
        }
        self.fresh = !is_first && other_user;
        if let Some(page) = self.page.as_deref_mut().filter(|_| self.fresh) {
            page.renew_connections();
        }
    }

    /// Puts the cookies of a manager of the plan into an empty jar.
    fn fill_jar(view: &mut View<'_>, id: Id) {
        let ConfigKind::Cookies {
            cookies, policy, ..
        } = &view.test().plan.configs[id as usize].kind
        else {
            return;
        };
        view.thread.cookies.begin(id, policy);
        for cookie in cookies {
            let (name, value) = (view.text(&cookie.name), view.text(&cookie.value));
            let (domain, path) = (view.text(&cookie.domain), view.text(&cookie.path));
            let (secure, expires_s) = (view.flag(&cookie.secure), view.integer(&cookie.expires_s));
            let written = WrittenCookie {
                path: view.flag(&cookie.sends_path),
                domain: view.flag(&cookie.sends_domain),
            };
            if let Some(jar) = view.thread.cookies.of_mut(id) {
                jar.put(
                    &name,
                    &value,
                    domain.trim_start_matches('.'),
                    !domain.starts_with('.'),
                    &path,
                    secure,
                    expires_s,
                    Some(written),
                );
            }
        }
    }

    /// Appends the request of the current sampler to `out`; `due_ns`: when an arrival was due whose first
    /// request it is.
    pub fn begin(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        due_ns: Option<i64>,
        out: &mut Vec<u8>,
    ) -> RequestStart {
        self.exchange.begin(view.now_ns(), due_ns);
        match self.render(view, request, out) {
            Ok(()) => RequestStart::Sent(self.send(view, request, out)),
            Err(Unsent::Cached) => RequestStart::Cached,
            Err(Unsent::Impossible(class, why)) => {
                out.clear();
                RequestStart::Failed(class, why)
            }
        }
    }

    /// Appends the request for a redirect: the same headers and no body; or the same request with
    /// credentials.
    pub fn hop(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) -> Request {
        if !self.exchange.authorization.take_repeat() && !self.exchange.keeps_body() {
            self.buffers.payload.begin(false);
        }
        self.exchange.write_url();
        self.write(view, request, out);
        self.send(view, request, out)
    }

    /// Takes the reply to the request under way.
    pub fn ended<'r>(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        reply: &Reply<'r>,
        sub_results: &mut SubResults,
    ) -> RequestEnd<'r> {
        self.exchange.add(view.test(), reply);
        let failed = self.remember(view, request, reply);
        if let Err(lost) = failed
            && reply.lost.is_none()
        {
            return RequestEnd::Complete(Some(lost));
        }
        if self.exchange.answer_challenge(view, request, reply) {
            return RequestEnd::Hop;
        }
        let mut lost = reply.lost;
        match self.exchange.redirect(view, request, reply) {
            Ok(true) => {
                if !self.exchange.counts_last() {
                    sub_results.answered(0, self.exchange.sub_result(view, reply, None));
                }
                return RequestEnd::Hop;
            }
            Ok(false) => {}
            Err(why) => lost = Some(why),
        }
        if lost.is_none() && self.open_page(view, request, reply, sub_results) {
            return RequestEnd::Page;
        }
        if !sub_results.is_empty() {
            if lost.is_some_and(|lost| lost.class == NotHttp::TooManyRedirects) {
                // The last redirect itself was answered.
                sub_results.answered(0, self.exchange.sub_result(view, reply, None));
            }
            sub_results.answered(0, self.exchange.sub_result(view, reply, lost));
        }
        RequestEnd::Complete(lost)
    }

    /// Keeps the cookies of a response, and what it says about its age. Fails as JMeter does on an age that is
    /// not a number.
    fn remember(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        reply: &Reply<'_>,
    ) -> Result<(), Lost<'static>> {
        let test = view.test();
        let now_s = test.wall_ms(reply.end_ns) / 1000;
        if let Some(id) = request.cookies {
            for value in header_values(reply.headers, "Set-Cookie") {
                let jar = view.thread.cookies.of_mut(id);
                let kept = jar.and_then(|jar| jar.take(&self.exchange.address, &value, now_s));
                if let (Some(prefix), Some((name, value))) = (&test.cookie_prefix, kept) {
                    view.thread.set(&format!("{prefix}{name}"), value);
                }
            }
        }
        let of = (self.exchange.method.as_str(), self.exchange.url());
        let sent = || self.exchange.sent_headers();
        let kept = self.cache.keep(test, request, of, reply, sent);
        kept.map_err(|NotANumber| Lost {
            class: NotHttp::Thrown("java.lang.NumberFormatException"),
            phase: "read",
            errno: None,
            says: "For input string",
        })
    }

    fn is_fresh(&self, view: &mut View<'_>, request: &HttpRequest) -> bool {
        let of = (self.exchange.method.as_str(), self.exchange.url());
        let now_ms = view.test().wall_ms(view.now_ns());
        let given = || given_headers(view, request);
        self.cache.is_fresh(request, of, now_ms, given)
    }

    fn render(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), Unsent> {
        // Of other elements, before the sample.
        view.thread.take_thrown();
        let form = self
            .buffers
            .render_target(view, request, &mut self.exchange)?;
        if self.is_fresh(view, request) {
            return Err(Unsent::Cached);
        }
        let method = &self.exchange.method;
        self.buffers.render_payload(view, request, method, form)?;
        self.write(view, request, out);
        match view.thread.take_thrown() {
            Some((class, why)) => Err(Unsent::Impossible(NotHttp::Thrown(class), why)),
            None => Ok(()),
        }
    }

    /// Appends head and body of the request whose URL and body are rendered.
    fn write(&mut self, view: &mut View<'_>, request: &HttpRequest, out: &mut Vec<u8>) {
        let Self {
            exchange, buffers, ..
        } = self;
        exchange.keep_alive = view.flag(&request.keep_alive);
        exchange.way.choose(view, request, &exchange.address);
        let begin = out.len();
        out.extend_from_slice(exchange.method.as_bytes());
        out.push(b' ');
        if exchange.way.is_forwarded(&exchange.address) {
            buffers.value.clear();
            exchange.address.write_origin(&mut buffers.value);
            out.extend_from_slice(buffers.value.as_bytes());
        }
        encode::path(&exchange.address.path, out);
        out.extend_from_slice(b" HTTP/1.1\r\nConnection: ");
        out.extend_from_slice(if exchange.keep_alive {
            b"keep-alive\r\n"
        } else {
            b"close\r\n"
        });
        let given = buffers.write_headers(view, request, &exchange.address, out);
        let jar = request.cookies.and_then(|id| view.thread.cookies.of(id));
        if let Some(jar) = jar.filter(|jar| !jar.is_empty()) {
            buffers.value.clear();
            jar.write(&exchange.address, &mut buffers.value);
            if !buffers.value.is_empty() {
                line(out, "Cookie", &buffers.value);
            }
        }
        let headers = || given_headers(view, request);
        self.cache
            .write_validators(request, exchange.url(), headers, out);
        buffers.payload.write_head(given.content_type, out);
        if !given.host {
            buffers.value.clear();
            exchange.address.write_host(None, &mut buffers.value);
            line(out, "Host", &buffers.value);
        }
        exchange.way.write_proxy_headers(&exchange.address, out);
        if !given.user_agent {
            line(out, "User-Agent", &view.test().settings.user_agent);
        }
        let authorization = &exchange.authorization;
        authorization.write(view, request, &exchange.address, out);
        out.extend_from_slice(b"\r\n");
        exchange.head_bytes = out.len() - begin;
        out.extend_from_slice(&buffers.payload.bytes);
    }

    /// Target and bounds of the request in `out`.
    fn send(&mut self, view: &mut View<'_>, request: &HttpRequest, out: &[u8]) -> Request {
        let test = view.test();
        let sampler = view.thread.sampler() as usize;
        let program = &test.programs[sampler];
        let exchange = &mut self.exchange;
        if program.needs_request || request.cache.is_some() {
            exchange.keep_sent(out);
        }
        let now_ns = view.now_ns();
        let timeout = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
        let connect_timeout_ns = timeout(view.integer(&request.connect_timeout_ms));
        let response_timeout_ns = timeout(view.integer(&request.response_timeout_ms));
        let mut whole_timeout_ns = 0;
        for pre in &test.plan.samplers[sampler].scope.pre_processors {
            if let PreKind::Timeout { timeout_ms } = &test.plan.pre_processors[*pre as usize].kind {
                let bound_ns = timeout(view.integer(timeout_ms));
                if bound_ns > 0 && (whole_timeout_ns == 0 || bound_ns < whole_timeout_ns) {
                    whole_timeout_ns = bound_ns;
                }
            }
        }
        let is_first = exchange.is_first();
        if whole_timeout_ns > 0 && (!is_first || exchange.is_resource()) {
            // It bounds the sample with all redirects and resources, not each of them.
            let spent_ns = u64::try_from(now_ns - exchange.totals().start_ns).unwrap_or(0);
            whole_timeout_ns = whole_timeout_ns.saturating_sub(spent_ns).max(1);
        }
        Request {
            target: {
                let known = program
                    .target
                    .filter(|_| !view.thread.requests.is_changed());
                exchange.target(known, &*test.targets)
            },
            intended_ns: if is_first {
                exchange.totals().intended_ns
            } else {
                now_ns
            },
            close: !exchange.keep_alive,
            fresh: std::mem::take(&mut self.fresh),
            connect_timeout_ns,
            response_timeout_ns,
            whole_timeout_ns,
            body_at_most: match program.needs_body || program.may_be_page {
                true if exchange.is_resource() => MOST_PAGE_BYTES,
                true => MOST_BODY_BYTES,
                false => 0,
            },
            is_head: exchange.method == "HEAD",
            names: exchange.way.names(),
        }
    }
}

/// The headers that header managers give to a request.
fn given_headers(view: &mut View<'_>, request: &HttpRequest) -> Vec<(String, String)> {
    let headers = request.headers.iter();
    headers
        .map(|header| (view.text(&header.name), view.text(&header.value)))
        .collect()
}
