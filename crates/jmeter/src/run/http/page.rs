//! Embedded resources of a page, fetched one after another or by several lanes at once.
//!
//! ```text
//! page ─ links ─► waiting ─┬─ lane 0: the user itself ──► reply ─┐  resources of frames wait, too
//!                          ├─ lane 1: a helper ─────────► reply ─┤
//!                          └─ lane 2 …                           ▼ after the last: the result
//! ```
//!
//! Helpers are further lanes of the same user. They share its cookies and cache, and have
//! connections of their own.

use std::collections::HashSet;

use sokudo_model::Spent;

use super::HttpClient;
use super::exchange::HttpExchange;
use super::response::{body_text, data_type, header_values};
use crate::page::{self, PageKind, PageLink};
use crate::plan::HttpRequest;
use crate::run::address::Address;
use crate::run::content;
use crate::run::context::View;
use crate::run::link::{LinkTarget, resolve};
use crate::run::outcome::{NotHttp, Reply};
use crate::run::sub_results::{SubResult, SubResults};
use crate::run::user::Request;

/// Most resources of one result; further links are not followed.
const MOST_RESOURCES: usize = 10_000;
/// Most lanes of one user, including its own.
const MOST_LANES: usize = 64;

/// A page whose embedded resources are being fetched.
#[derive(Debug, Default)]
pub(super) struct PageDownload {
    /// Resources that were not requested yet: sub-result and address, the next one last.
    waiting: Vec<(usize, Address)>,
    /// Number of requests under way.
    under_way: usize,
    /// Number of lanes.
    width: usize,
    /// The reply that is the page itself.
    page: OwnedReply,
    /// By lane number.
    lanes: Vec<Lane>,
}

/// One connection that fetches one resource at a time.
#[derive(Debug, Default)]
struct Lane {
    exchange: HttpExchange,
    /// The sub-result of the resource.
    number: usize,
    /// The next request follows a redirect or repeats the last with credentials.
    hops: bool,
    /// The next request uses a new connection.
    fresh: bool,
}

/// A [`Reply`] that owns its bytes.
#[derive(Debug, Default)]
pub(in crate::run) struct OwnedReply {
    intended_ns: i64,
    start_ns: i64,
    connected_ns: i64,
    sent_ns: i64,
    first_byte_ns: i64,
    end_ns: i64,
    spent: Spent,
    peer: Option<std::net::SocketAddr>,
    reused: bool,
    sent_bytes: u64,
    head_bytes: u64,
    body_bytes: u64,
    framing_bytes: u64,
    status: u16,
    reason: Vec<u8>,
    headers: Vec<u8>,
    body: Vec<u8>,
}

impl OwnedReply {
    /// A copy.
    pub fn new(reply: &Reply<'_>) -> Self {
        Self {
            intended_ns: reply.intended_ns,
            start_ns: reply.start_ns,
            connected_ns: reply.connected_ns,
            sent_ns: reply.sent_ns,
            first_byte_ns: reply.first_byte_ns,
            end_ns: reply.end_ns,
            spent: reply.spent,
            peer: reply.peer,
            reused: reply.reused,
            sent_bytes: reply.sent_bytes,
            head_bytes: reply.head_bytes,
            body_bytes: reply.body_bytes,
            framing_bytes: reply.framing_bytes,
            status: reply.status,
            reason: reply.reason.into(),
            headers: reply.headers.into(),
            body: reply.body.into(),
        }
    }

    /// The reply.
    pub fn borrowed(&self) -> Reply<'_> {
        Reply {
            intended_ns: self.intended_ns,
            start_ns: self.start_ns,
            connected_ns: self.connected_ns,
            sent_ns: self.sent_ns,
            first_byte_ns: self.first_byte_ns,
            end_ns: self.end_ns,
            spent: self.spent,
            peer: self.peer,
            reused: self.reused,
            sent_bytes: self.sent_bytes,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            framing_bytes: self.framing_bytes,
            status: self.status,
            reason: &self.reason,
            headers: &self.headers,
            body: &self.body,
            lost: None,
        }
    }
}

impl PageDownload {
    /// Makes the next request of every lane use a new connection.
    pub fn renew_connections(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.fresh = true);
    }
}

impl HttpClient {
    /// Begins to fetch the embedded resources of a page; false if the reply has none.
    pub(super) fn open_page(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        reply: &Reply<'_>,
        sub_results: &mut SubResults,
    ) -> bool {
        if request.embedded.fixed() == Some(&false) {
            return false;
        }
        if !view.flag(&request.embedded) || view.flag(&request.md5) {
            return false;
        }
        let width = match view.flag(&request.embedded_concurrent) {
            true => view.integer(&request.embedded_connections),
            false => 1,
        };
        let found = self.links(view, reply, 0, sub_results);
        if found.is_empty() {
            return false;
        }
        sub_results.answered(0, self.exchange.sub_result(view, reply, None));
        let page = self.page.get_or_insert_default();
        page.width = usize::try_from(width).unwrap_or(1).clamp(1, MOST_LANES);
        page.page = OwnedReply::new(reply);
        self.queue(view, request, 0, &found, sub_results);
        true
    }

    /// Links of a reply, resolved against its address.
    fn links(
        &self,
        view: &View<'_>,
        reply: &Reply<'_>,
        number: usize,
        sub_results: &mut SubResults,
    ) -> Vec<LinkTarget> {
        let content_type = header_values(reply.headers, "Content-Type").next();
        let content_type = content_type.unwrap_or_default();
        let is_fine = (200..400).contains(&reply.status);
        let kind = PageKind::of(&content_type).filter(|_| is_fine);
        if is_fine && sub_results.depth(number) > view.test().most_depth {
            if data_type(false, Some(&content_type)) == "text" {
                let failed = too_deep(self.exchange.sub_result(view, reply, None));
                let part = sub_results.add(number, true);
                sub_results.answered(part, failed);
            }
            return Vec::new();
        }
        let (Some(kind), Ok(body)) = (kind, content::decoded(reply)) else {
            return Vec::new();
        };
        let text = body_text(&body, Some(&content_type));
        let mut base = self.exchange.address.clone();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for one in page::links(kind, &text) {
            match one {
                PageLink::Base(to) => {
                    if let Some(LinkTarget::Url(address)) = resolve(&base, &to) {
                        base = address;
                    }
                }
                PageLink::Link(link) => {
                    let leads = resolve(&base, &link);
                    found.extend(leads.filter(|leads| seen.insert(url_of(leads))));
                }
            }
        }
        found
    }

    /// Queues the links that the patterns of the request allow.
    fn queue(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        owner: usize,
        found: &[LinkTarget],
        sub_results: &mut SubResults,
    ) {
        let allowed = view.text(&request.embedded_pattern);
        let excluded = view.text(&request.embedded_exclude);
        let test = view.test();
        // As in JMeter, an invalid pattern is ignored.
        let fits = |pattern: &str, url: &str| test.matches_whole(pattern, url).ok();
        let Some(page) = self.page.as_deref_mut().filter(|_| !found.is_empty()) else {
            return;
        };
        sub_results.opened(owner);
        let begin = page.waiting.len();
        for leads in found {
            let url = url_of(leads);
            let is_wanted = (allowed.is_empty() || fits(&allowed, &url).unwrap_or(true))
                && (excluded.is_empty() || !fits(&excluded, &url).unwrap_or(false));
            if !is_wanted || sub_results.len() >= MOST_RESOURCES {
                continue;
            }
            let number = sub_results.add(owner, false);
            match leads {
                LinkTarget::Url(address) => page.waiting.push((number, address.clone())),
                LinkTarget::Unreachable(url, class, says) => {
                    let failed = unreachable(view.now_ns(), url, class, says);
                    sub_results.answered(number, failed);
                }
            }
        }
        page.waiting[begin..].reverse();
    }

    /// The next request of a lane; `None`: nothing to fetch now.
    pub fn fetch(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        lane: usize,
        out: &mut Vec<u8>,
    ) -> Option<Request> {
        loop {
            let page = self.page.as_deref_mut()?;
            if lane >= page.width {
                return None;
            }
            if lane >= page.lanes.len() {
                page.lanes.resize_with(lane + 1, Lane::default);
            }
            let hops = std::mem::take(&mut page.lanes[lane].hops);
            if !hops {
                let (number, address) = page.waiting.pop()?;
                page.under_way += 1;
                let lane = &mut page.lanes[lane];
                lane.number = number;
                lane.exchange
                    .begin_resource(&self.exchange, address, view.now_ns());
            }
            self.swap(lane);
            let is_cached = !hops && self.is_fresh(view, request);
            let next = (!is_cached).then(|| self.hop(view, request, out));
            self.swap(lane);
            if next.is_some() {
                return next;
            }
            if let Some(page) = self.page.as_deref_mut() {
                page.under_way -= 1;
            }
        }
    }

    /// Takes the reply to the request of a lane.
    pub fn fetched(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        lane: usize,
        reply: &Reply<'_>,
        sub_results: &mut SubResults,
    ) {
        let Some(number) = self.lane_number(lane) else {
            return;
        };
        self.swap(lane);
        self.exchange.add(view.test(), reply);
        let failed = self.remember(view, request, reply);
        let repeats = self.exchange.answer_challenge(view, request, reply);
        let (hops, lost) = match (repeats, failed) {
            (true, _) => (true, None),
            (false, Err(failed)) => (false, reply.lost.or(Some(failed))),
            (false, Ok(())) => match self.exchange.redirect(view, request, reply) {
                Ok(hops) => (hops, reply.lost),
                Err(why) => (false, Some(why)),
            },
        };
        if !(repeats || hops && self.exchange.counts_last()) {
            sub_results.answered(number, self.exchange.sub_result(view, reply, lost));
        }
        if !hops && lost.is_none() {
            let found = self.links(view, reply, number, sub_results);
            self.queue(view, request, number, &found, sub_results);
        }
        self.swap(lane);
        let Some(page) = self.page.as_deref_mut() else {
            return;
        };
        if hops {
            page.lanes[lane].hops = true;
            return;
        }
        page.under_way -= 1;
        if lost.is_some_and(|lost| lost.class == NotHttp::Stopped) {
            page.waiting.clear();
        }
    }

    fn lane_number(&self, lane: usize) -> Option<usize> {
        let page = self.page.as_deref()?;
        page.lanes.get(lane).map(|lane| lane.number)
    }

    /// Exchanges the request under way for that of a lane.
    fn swap(&mut self, lane: usize) {
        let Some(page) = self.page.as_deref_mut() else {
            return;
        };
        if let Some(own) = page.lanes.get_mut(lane) {
            std::mem::swap(&mut own.exchange, &mut self.exchange);
            // The first lane uses the user's own connections.
            if lane > 0 {
                std::mem::swap(&mut own.fresh, &mut self.fresh);
            }
        }
    }

    /// True if all resources of the page were fetched.
    pub fn page_is_complete(&self) -> bool {
        let page = self.page.as_deref();
        page.is_some_and(|page| page.waiting.is_empty() && page.under_way == 0)
    }

    /// Ends a page whose resources were fetched and gives its reply, which ends with the last of
    /// them.
    pub fn close_page(&mut self, sub_results: &SubResults) -> OwnedReply {
        let page = self.page.as_deref_mut();
        let mut reply =
            page.map_or_else(OwnedReply::default, |page| std::mem::take(&mut page.page));
        let (bytes, sent_bytes, end_ns) = sub_results.sums();
        self.exchange.add_bytes(bytes, sent_bytes);
        reply.end_ns = end_ns.max(reply.end_ns);
        reply
    }

    /// Number of lanes beside the user's own that have something to fetch.
    pub fn helpers(&self) -> usize {
        self.page.as_deref().map_or(0, |page| {
            page.waiting.len().min(page.width.saturating_sub(1))
        })
    }
}

fn url_of(leads: &LinkTarget) -> String {
    match leads {
        LinkTarget::Unreachable(url, ..) => url.clone(),
        LinkTarget::Url(address) => {
            let mut url = String::new();
            address.write(&mut url);
            url
        }
    }
}

/// JMeter's result of a frame that is nested too deep; JMeter counts the bytes of the page for it
/// a second time.
fn too_deep(of: SubResult) -> SubResult {
    SubResult {
        code: "Non HTTP response code: java.lang.Exception".into(),
        message: "Non HTTP response message: Maximum frame/iframe nesting depth exceeded.".into(),
        success: false,
        data_type: "text",
        ..of
    }
}

/// The result of a link that cannot be requested.
fn unreachable(now_ns: i64, url: &str, class: &str, says: &str) -> SubResult {
    SubResult {
        code: format!("Non HTTP response code: {class}"),
        message: format!("Non HTTP response message: {says}"),
        url: url.into(),
        data_type: "text",
        start_ns: now_ns,
        sent_ns: now_ns,
        end_ns: now_ns,
        phase: "send",
        ..SubResult::default()
    }
}
