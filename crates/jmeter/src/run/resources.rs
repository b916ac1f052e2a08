//! Who fetches what belongs to a page, and when is the page whole?
//!
//! ```text
//! page ─ links ─► waiting ─┬─ lane 0: the user itself ──► answer ─┐  pages in pages wait, too
//!                          ├─ lane 1: a helper ─────────► answer ─┤
//!                          └─ lane 2 …                            ▼ the last one: the result
//! ```
//!
//! Without helpers everything is fetched one after another. Helpers are further lanes of the same
//! user: they share its cookies and memory, and have connections of their own.

use std::collections::HashSet;

use sokudo_model::Spent;

use super::address::Address;
use super::answer::{body_text, charset, data_type};
use super::content;
use super::land::header_values;
use super::link::{Leads, resolve};
use super::outcome::{Lost, NotHttp, Reply};
use super::parts::Leaf;
use super::test::Test;
use super::user::{Body, Flight, Next, Phase};
use crate::page::{self, Found, Kind};
use crate::plan::{HttpRequest, SamplerKind};

/// Most that is fetched for one result; further links are not asked for.
const MOST_RESOURCES: usize = 10_000;
/// Most lanes of one user, its own counted.
const MOST_LANES: usize = 64;

/// A page while what belongs to it is fetched.
#[derive(Debug, Default)]
pub(super) struct Fetching {
    /// What is still to be asked for: its number and address; the next one stands last.
    waiting: Vec<(usize, Address)>,
    /// Requests under way.
    under_way: usize,
    /// Lanes that may ask at a time.
    width: usize,
    /// The page itself.
    page: Kept,
    /// By number of the lane.
    lanes: Vec<Lane>,
}

/// One request at a time.
#[derive(Debug, Default)]
struct Lane {
    flight: Flight,
    /// The part that it asks for.
    number: usize,
    /// The next request follows a redirect.
    hops: bool,
    /// The next request uses a connection of its own.
    fresh: bool,
}

/// An answer whose memory is the user's own.
#[derive(Debug, Default)]
struct Kept {
    /// Times and counts.
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

impl Kept {
    fn of(reply: &Reply<'_>) -> Self {
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

    fn reply(&self, end_ns: i64) -> Reply<'_> {
        Reply {
            intended_ns: self.intended_ns,
            start_ns: self.start_ns,
            connected_ns: self.connected_ns,
            sent_ns: self.sent_ns,
            first_byte_ns: self.first_byte_ns,
            end_ns,
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

impl Fetching {
    /// Every lane's next request uses a connection of its own.
    pub fn refresh(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.fresh = true);
    }
}

impl Body {
    /// Takes an answer as a page whose parts are to be fetched. False: it is none, or has none.
    pub(super) fn opens_page(
        &mut self,
        test: &Test,
        request: &HttpRequest,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
    ) -> bool {
        if request.embedded.fixed() == Some(&false) || lost.is_some() {
            return false;
        }
        let mut view = self.person.view(test, reply.end_ns);
        if !view.flag(&request.embedded) || view.flag(&request.md5) {
            return false;
        }
        let width = match view.flag(&request.embedded_concurrent) {
            true => view.integer(&request.embedded_connections),
            false => 1,
        };
        let found = self.links(reply, 0, test);
        if found.is_empty() {
            return false;
        }
        let leaf = self.leaf(test, reply, None);
        self.parts.answered(0, leaf);
        let fetching = self.fetching.get_or_insert_default();
        fetching.width = usize::try_from(width).unwrap_or(1).clamp(1, MOST_LANES);
        fetching.page = Kept::of(reply);
        self.want(test, request, reply.end_ns, 0, &found);
        self.phase = Phase::Page;
        if self.has_everything() {
            self.page_is_whole(test);
        }
        true
    }

    /// What an answer needs, as seen from its address.
    fn links(&mut self, reply: &Reply<'_>, number: usize, test: &Test) -> Vec<Leads> {
        let content_type = header_values(reply.headers, "Content-Type").next();
        let content_type = content_type.unwrap_or_default();
        let is_fine = (200..400).contains(&reply.status);
        let kind = Kind::of(&content_type).filter(|_| is_fine);
        if is_fine && self.parts.depth(number) > test.most_depth {
            if data_type(false, Some(&content_type)) == "text" {
                self.is_too_deep(test, reply, number);
            }
            return Vec::new();
        }
        let (Some(kind), Ok(body)) = (kind, content::decoded(reply)) else {
            return Vec::new();
        };
        let text = body_text(&body, Some(&content_type));
        let mut base = self.flight.address.clone();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for one in page::links(kind, &text) {
            match one {
                Found::Base(to) => {
                    if let Some(Leads::To(address)) = resolve(&base, &to) {
                        base = address;
                    }
                }
                Found::Link(link) => {
                    let leads = resolve(&base, &link);
                    found.extend(leads.filter(|leads| seen.insert(url_of(leads))));
                }
            }
        }
        found
    }

    fn is_too_deep(&mut self, test: &Test, reply: &Reply<'_>, number: usize) {
        let leaf = Leaf {
            code: "Non HTTP response code: java.lang.Exception".into(),
            message: "Non HTTP response message: Maximum frame/iframe nesting depth exceeded."
                .into(),
            success: false,
            data_type: "text",
            // JMeter counts the page for it once more.
            ..self.leaf(test, reply, None)
        };
        let part = self.parts.add(number, true);
        self.parts.answered(part, leaf);
    }

    /// Has what was found asked for, unless the patterns of the request are against it.
    fn want(
        &mut self,
        test: &Test,
        request: &HttpRequest,
        now_ns: i64,
        owner: usize,
        found: &[Leads],
    ) {
        let mut view = self.person.view(test, now_ns);
        let allowed = view.text(&request.embedded_pattern);
        let excluded = view.text(&request.embedded_exclude);
        // A pattern that is none counts for nothing, as in JMeter.
        let fits = |pattern: &str, url: &str| {
            let whole = test.pattern(&format!("^(?:{pattern})$")).ok()?;
            Some(whole.is_match(url).unwrap_or(false))
        };
        let Some(fetching) = self.fetching.as_deref_mut().filter(|_| !found.is_empty()) else {
            return;
        };
        self.parts.opened(owner);
        let begin = fetching.waiting.len();
        for leads in found {
            let url = url_of(leads);
            let is_wanted = (allowed.is_empty() || fits(&allowed, &url).unwrap_or(true))
                && (excluded.is_empty() || !fits(&excluded, &url).unwrap_or(false));
            if !is_wanted || self.parts.len() >= MOST_RESOURCES {
                continue;
            }
            let number = self.parts.add(owner, false);
            match leads {
                Leads::To(address) => fetching.waiting.push((number, address.clone())),
                Leads::Nowhere(url, class, says) => {
                    self.parts
                        .answered(number, nowhere(now_ns, url, class, says));
                }
            }
        }
        fetching.waiting[begin..].reverse();
    }

    /// The next request of a lane. `None`: it has nothing to ask for now.
    pub(super) fn fetch(
        &mut self,
        test: &Test,
        now_ns: i64,
        lane: usize,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        let SamplerKind::Http(request) = &test.plan.samplers[self.flight.sampler as usize].kind
        else {
            return None;
        };
        loop {
            let fetching = self.fetching.as_deref_mut()?;
            if lane >= fetching.width {
                return None;
            }
            if lane >= fetching.lanes.len() {
                fetching.lanes.resize_with(lane + 1, Lane::default);
            }
            let hops = std::mem::take(&mut fetching.lanes[lane].hops);
            if !hops {
                let Some((number, address)) = fetching.waiting.pop() else {
                    if self.has_everything() {
                        self.page_is_whole(test);
                    }
                    return None;
                };
                fetching.under_way += 1;
                let lane = &mut fetching.lanes[lane];
                lane.number = number;
                lane.flight.begin_part(&self.flight, address, now_ns);
            }
            self.swap(lane);
            let is_known = !hops && self.is_known(now_ns, test, request);
            let next = (!is_known).then(|| {
                self.render_hop(test, now_ns, request, out);
                self.send(test, now_ns, request, out)
            });
            self.phase = Phase::Page;
            self.swap(lane);
            if next.is_some() {
                return next;
            }
            if let Some(fetching) = self.fetching.as_deref_mut() {
                fetching.under_way -= 1;
            }
        }
    }

    /// The request of a lane ended.
    pub(super) fn fetched(&mut self, test: &Test, lane: usize, reply: &Reply<'_>) {
        let SamplerKind::Http(request) = &test.plan.samplers[self.flight.sampler as usize].kind
        else {
            return;
        };
        let Some(number) = self.lane_number(lane) else {
            return;
        };
        self.swap(lane);
        self.note(test, reply);
        self.remember(test, request, reply);
        let proves = self.proves(test, request, reply);
        let (hops, lost) = match proves {
            true => (true, None),
            false => match self.redirect(test, request, reply) {
                Ok(hops) => (hops, reply.lost),
                Err(why) => (false, Some(why)),
            },
        };
        if !(proves || hops && self.flight.tells_last) {
            let leaf = self.leaf(test, reply, lost);
            self.parts.answered(number, leaf);
        }
        if !hops && lost.is_none() {
            let found = self.links(reply, number, test);
            self.want(test, request, reply.end_ns, number, &found);
        }
        self.swap(lane);
        let Some(fetching) = self.fetching.as_deref_mut() else {
            return;
        };
        if hops {
            fetching.lanes[lane].hops = true;
            return;
        }
        fetching.under_way -= 1;
        if lost.is_some_and(|lost| lost.class == NotHttp::Stopped) {
            fetching.waiting.clear();
        }
        if self.has_everything() {
            self.page_is_whole(test);
        }
    }

    fn lane_number(&self, lane: usize) -> Option<usize> {
        let fetching = self.fetching.as_deref()?;
        fetching.lanes.get(lane).map(|lane| lane.number)
    }

    /// Exchanges the request under way for that of a lane.
    fn swap(&mut self, lane: usize) {
        let Some(fetching) = self.fetching.as_deref_mut() else {
            return;
        };
        if let Some(own) = fetching.lanes.get_mut(lane) {
            std::mem::swap(&mut own.flight, &mut self.flight);
            // The first lane has the user's own connections.
            if lane > 0 {
                std::mem::swap(&mut own.fresh, &mut self.fresh);
            }
        }
    }

    fn has_everything(&self) -> bool {
        let fetching = self.fetching.as_deref();
        fetching.is_some_and(|fetching| fetching.waiting.is_empty() && fetching.under_way == 0)
    }

    /// Makes the result of the page with everything in it.
    fn page_is_whole(&mut self, test: &Test) {
        let Some(fetching) = self.fetching.as_deref_mut() else {
            return;
        };
        let page = std::mem::take(&mut fetching.page);
        let (bytes, sent_bytes, end_ns) = self.parts.sums();
        self.flight.bytes += bytes;
        self.flight.sent_bytes += sent_bytes;
        self.landed();
        self.conclude(test, &page.reply(end_ns.max(page.end_ns)), None);
    }

    /// Lanes beside the user's own that have something to ask for.
    pub(super) fn helpers(&self) -> usize {
        match (self.phase, self.fetching.as_deref()) {
            (Phase::Page, Some(fetching)) => {
                fetching.waiting.len().min(fetching.width.saturating_sub(1))
            }
            _ => 0,
        }
    }

    /// An answer as a part of a result.
    pub(super) fn leaf(&self, test: &Test, reply: &Reply<'_>, lost: Option<Lost<'_>>) -> Leaf {
        let (mut code, mut message) = (String::new(), String::new());
        self.write_answer(test, reply, lost, &mut code, &mut message);
        let own_ms = match reply.reused {
            true => 0,
            false => test.between_ms(reply.start_ns, reply.connected_ns),
        };
        let (start_ns, connect_ms) = self
            .flight
            .proving
            .first
            .unwrap_or((reply.start_ns, own_ms));
        let content_type = header_values(reply.headers, "Content-Type").next();
        let named = content_type.as_deref().map(charset);
        let named = named.filter(|charset| !charset.is_empty());
        Leaf {
            code,
            message,
            url: self.flight.url.clone(),
            encoding: named.unwrap_or_default().into(),
            data_type: data_type(lost.is_some(), content_type.as_deref()),
            success: lost.is_none() && (200..400).contains(&reply.status),
            bytes: reply.head_bytes + reply.body_bytes + reply.framing_bytes,
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
            details: self.details_of_part(test, reply, lost),
        }
    }
}

impl Flight {
    /// Begins the request for a part of what another request brought.
    fn begin_part(&mut self, of: &Self, address: Address, now_ns: i64) {
        self.sampler = of.sampler;
        self.node = of.node;
        self.address = address;
        self.method.replace_range(.., "GET");
        self.is_part = true;
        self.forget_proof();
        self.hops = 0;
        // What bounds a sample bounds all of it.
        self.start_ns = of.start_ns;
        self.intended_ns = now_ns;
        (self.bytes, self.sent_bytes) = (0, 0);
        self.tells_last = false;
        self.write_url();
    }
}

fn url_of(leads: &Leads) -> String {
    match leads {
        Leads::Nowhere(url, ..) => url.clone(),
        Leads::To(address) => {
            let mut url = String::new();
            address.write(&mut url);
            url
        }
    }
}

/// What could not even be asked for.
fn nowhere(now_ns: i64, url: &str, class: &str, says: &str) -> Leaf {
    Leaf {
        code: format!("Non HTTP response code: {class}"),
        message: format!("Non HTTP response message: {says}"),
        url: url.into(),
        data_type: "text",
        start_ns: now_ns,
        sent_ns: now_ns,
        end_ns: now_ns,
        phase: "send",
        ..Leaf::default()
    }
}
