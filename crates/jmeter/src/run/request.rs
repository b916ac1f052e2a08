//! What exactly is sent?
//!
//! ```text
//! METHOD path?arguments HTTP/1.1
//! Connection, headers of managers, Cookie, Authorization, Content-Length, Content-Type, Host,
//! User-Agent: the order in which JMeter's usual client writes them
//! ```

use super::address::{Address, default_port};
use super::charset::Charset;
use super::outcome::NotHttp;
use super::payload::{Payload, fill, is_raw};
use super::person::View;
use super::test::Test;
use super::user::{Body, Flight};
use super::{encode, uri};
use crate::plan::{ConfigKind, HttpRequest, Id};

/// Why a request does not leave.
#[derive(Debug)]
pub(super) enum Unsent {
    /// What is known of its address is not too old.
    Known,
    /// It cannot be sent: as JMeter names it, and its sentence.
    Impossible(NotHttp, String),
}

/// Texts that are rendered anew for each request without new memory.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub name: String,
    pub value: String,
    pub bytes: Vec<u8>,
    pub payload: Payload,
}

impl Body {
    /// Appends a request to `out` and notes in the flight where it goes. Errors: why it cannot be
    /// sent.
    pub(super) fn render_http(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), Unsent> {
        let mut view = self.person.view(test, now_ns);
        let texts = &mut self.texts;
        let flight = &mut self.flight;
        view.render(&request.method, &mut flight.method);
        if flight.method.is_empty() {
            flight.method.push_str("GET");
        }
        address(&mut view, request, &mut flight.address, &mut texts.value)?;
        let charset = charset(&mut view, request, &mut texts.value)?;
        let raw = view.flag(&request.raw_body) || is_raw(request);
        if !raw && sends_query(&flight.method) {
            let path = &mut flight.address.path;
            query(&mut view, request, charset, path, texts);
        }
        flight.write_url();
        flight.check_url()?;
        if self.is_known(now_ns, test, request) {
            return Err(Unsent::Known);
        }
        self.texts.payload.begin(sends_body(&self.flight.method));
        if self.texts.payload.is_sent || raw && !request.arguments.is_empty() {
            let mut view = self.person.view(test, now_ns);
            fill(&mut view, request, charset, raw, &mut self.texts)?;
        }
        self.finish_head(test, now_ns, request, out);
        Ok(())
    }

    /// Appends the request for a redirect: the same headers, the method as given, no body; or the same
    /// request as before with a proof.
    pub(super) fn render_hop(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) {
        if !std::mem::take(&mut self.flight.proving.repeats) {
            self.texts.payload.begin(false);
        }
        self.flight.write_url();
        self.finish_head(test, now_ns, request, out);
    }

    fn finish_head(&mut self, test: &Test, now_ns: i64, request: &HttpRequest, out: &mut Vec<u8>) {
        let keep_alive = self.person.view(test, now_ns).flag(&request.keep_alive);
        self.flight.keep_alive = keep_alive;
        self.choose_proxy(test, now_ns, request);
        self.choose_route(test, now_ns, request);
        let begin = out.len();
        out.extend_from_slice(self.flight.method.as_bytes());
        out.push(b' ');
        if self.flight.is_forwarded() {
            let mut whole = std::mem::take(&mut self.texts.value);
            whole.clear();
            self.flight.address.write_origin(&mut whole);
            out.extend_from_slice(whole.as_bytes());
            self.texts.value = whole;
        }
        encode::path(&self.flight.address.path, out);
        out.extend_from_slice(b" HTTP/1.1\r\nConnection: ");
        out.extend_from_slice(if keep_alive {
            b"keep-alive\r\n"
        } else {
            b"close\r\n"
        });
        let given = self.write_headers(test, now_ns, request, out);
        self.write_cookies(test, now_ns, request, out);
        self.write_validators(request, out);
        self.texts.payload.write_head(given.content_type, out);
        if !given.host {
            let mut authority = std::mem::take(&mut self.texts.value);
            authority.clear();
            self.flight.address.write_authority(&mut authority);
            line(out, "Host", &authority);
            self.texts.value = authority;
        }
        self.flight.write_proxy_headers(out);
        if !given.user_agent {
            line(out, "User-Agent", &test.settings.user_agent);
        }
        self.write_authorization(test, now_ns, request, out);
        out.extend_from_slice(b"\r\n");
        self.flight.head_bytes = out.len() - begin;
        out.extend_from_slice(&self.texts.payload.bytes);
    }

    fn write_headers(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) -> Given {
        let mut given = Given::default();
        let mut view = self.person.view(test, now_ns);
        let texts = &mut self.texts;
        for header in &request.headers {
            view.render(&header.name, &mut texts.name);
            view.render(&header.value, &mut texts.value);
            let is = |name: &str| texts.name.eq_ignore_ascii_case(name);
            // The client counts for itself, and so does a manager of cookies.
            let is_counted = is("Content-Length") || is("Cookie") && request.cookies.is_some();
            if texts.name.is_empty() || is_counted {
                continue;
            }
            given.host |= is("Host");
            given.user_agent |= is("User-Agent");
            given.content_type |= is("Content-Type");
            line(out, &texts.name, &texts.value);
        }
        given
    }

    fn write_cookies(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) {
        let jar = request.cookies.and_then(|id| self.jars.of(id));
        let Some(jar) = jar.filter(|jar| !jar.is_empty()) else {
            return;
        };
        let now_s = test.wall_ms(now_ns) / 1000;
        let mut cookies = std::mem::take(&mut self.texts.value);
        cookies.clear();
        jar.write(&self.flight.address, now_s, &mut cookies);
        if !cookies.is_empty() {
            line(out, "Cookie", &cookies);
        }
        self.texts.value = cookies;
    }

    fn write_validators(&mut self, request: &HttpRequest, out: &mut Vec<u8>) {
        if request.cache.is_none() || self.cache.is_empty() || self.flight.method != "GET" {
            return;
        }
        let mut url = String::new();
        self.flight.address.write(&mut url);
        if let Some(known) = self.cache.get(&url) {
            if let Some(date) = &known.last_modified {
                line(out, "If-Modified-Since", date);
            }
            if let Some(tag) = &known.etag {
                line(out, "If-None-Match", tag);
            }
        }
    }

    /// True when a cache manager would not even ask.
    pub(super) fn is_known(&self, now_ns: i64, test: &Test, request: &HttpRequest) -> bool {
        if request.cache.is_none() || self.cache.is_empty() || self.flight.method != "GET" {
            return false;
        }
        let fresh_until_ms = self
            .cache
            .get(&self.flight.url)
            .and_then(|known| known.fresh_until_ms);
        fresh_until_ms.is_some_and(|until_ms| test.wall_ms(now_ns) < until_ms)
    }

    /// Puts the cookies of a manager of the plan into the user's jar for it.
    pub(super) fn fill_jar(&mut self, test: &Test, now_ns: i64, id: Id) {
        let ConfigKind::Cookies {
            cookies, policy, ..
        } = &test.plan.configs[id as usize].kind
        else {
            return;
        };
        let jar = self.jars.begin(id, policy);
        let mut view = self.person.view(test, now_ns);
        for cookie in cookies {
            let (name, value) = (view.text(&cookie.name), view.text(&cookie.value));
            let (domain, path) = (view.text(&cookie.domain), view.text(&cookie.path));
            let (secure, expires_s) = (view.flag(&cookie.secure), view.integer(&cookie.expires_s));
            jar.put(
                &name,
                &value,
                domain.trim_start_matches('.'),
                !domain.starts_with('.'),
                &path,
                secure,
                expires_s,
            );
        }
    }
}

/// Headers that a manager gave.
#[derive(Default)]
struct Given {
    host: bool,
    user_agent: bool,
    content_type: bool,
}

/// Appends a header line.
pub(super) fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    clean(name, out);
    out.extend_from_slice(b": ");
    clean(value, out);
    out.extend_from_slice(b"\r\n");
}

/// Appends a text up to its first line end, which would begin another header.
fn clean(text: &str, out: &mut Vec<u8>) {
    // Without branches: compilers look at many bytes at once.
    let is_plain = |byte: u8| (byte >= b' ') & byte.is_ascii();
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        return out.extend_from_slice(text.as_bytes());
    }
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    Charset::US_ASCII.encode(&text[..end], out);
}

/// Methods whose requests have a body, though it may be empty.
fn sends_body(method: &str) -> bool {
    matches!(
        method,
        "POST"
            | "PUT"
            | "PATCH"
            | "DELETE"
            | "PROPFIND"
            | "PROPPATCH"
            | "MKCOL"
            | "REPORT"
            | "SEARCH"
    )
}

/// Methods whose arguments stand in the address; a DELETE has them there and in its body.
fn sends_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS")
}

fn charset(
    view: &mut View<'_>,
    request: &HttpRequest,
    scratch: &mut String,
) -> Result<Charset, Unsent> {
    if request.encoding.is_empty() {
        return Ok(Charset::UTF_8);
    }
    view.render(&request.encoding, scratch);
    if scratch.trim().is_empty() {
        return Ok(Charset::UTF_8);
    }
    let unknown = || Unsent::Impossible(NotHttp::BadCharset, scratch.trim().to_owned());
    Charset::named(scratch).ok_or_else(unknown)
}

fn address(
    view: &mut View<'_>,
    request: &HttpRequest,
    to: &mut Address,
    scratch: &mut String,
) -> Result<(), Unsent> {
    let bad = |says: String| Unsent::Impossible(NotHttp::BadAddress, says);
    view.render(&request.path, &mut to.path);
    if to.path.contains(' ') {
        to.path = to.path.replace(' ', "%20");
    }
    if to.path.starts_with("http://") || to.path.starts_with("https://") {
        *to = Address::parse(to.path.trim())
            .ok_or_else(|| bad(format!("`{}` is no address", to.path)))?;
        return Ok(());
    }
    if !to.path.starts_with('/') {
        to.path.insert(0, '/');
    }
    view.render(&request.domain, &mut to.host);
    view.render(&request.protocol, scratch);
    let scheme = scratch.trim();
    to.tls = scheme.eq_ignore_ascii_case("https");
    let is_known = to.tls || scheme.is_empty() || scheme.eq_ignore_ascii_case("http");
    let unknown = (!is_known).then(|| Unsent::Impossible(NotHttp::BadScheme, scheme.to_owned()));
    view.render(&request.port, scratch);
    // What is no port counts as none.
    to.port = scratch.trim().parse().unwrap_or(default_port(to.tls));
    if let Some(unknown) = unknown {
        return Err(unknown);
    }
    if to.host.is_empty() {
        let mut url = String::new();
        to.write(&mut url);
        return Err(Unsent::Impossible(NotHttp::NoHost, url));
    }
    Ok(())
}

fn query(
    view: &mut View<'_>,
    request: &HttpRequest,
    charset: Charset,
    path: &mut String,
    texts: &mut Texts,
) {
    let mut separator = if path.contains('?') { '&' } else { '?' };
    for argument in &request.arguments {
        view.render(&argument.name, &mut texts.name);
        view.render(&argument.value, &mut texts.value);
        if texts.name.is_empty() {
            continue;
        }
        path.push(std::mem::replace(&mut separator, '&'));
        if !view.flag(&argument.encode) {
            path.extend([texts.name.as_str(), &argument.separator, &texts.value]);
            continue;
        }
        texts.bytes.clear();
        let scratch = &mut texts.payload.scratch;
        // Names are written in UTF-8 whatever the charset is.
        encode::form(&texts.name, Charset::UTF_8, scratch, &mut texts.bytes);
        texts.bytes.extend_from_slice(argument.separator.as_bytes());
        encode::form(&texts.value, charset, scratch, &mut texts.bytes);
        path.push_str(&String::from_utf8_lossy(&texts.bytes));
    }
}

/// What a user notes of the request under way.
impl Flight {
    /// The address as a text.
    pub(super) fn write_url(&mut self) {
        self.url.clear();
        self.address.write(&mut self.url);
    }

    /// Refuses an address that Java would not take.
    fn check_url(&self) -> Result<(), Unsent> {
        let before = self.url.len() - self.address.path.len();
        match uri::refusal(&self.url[..before], &self.address.path) {
            None => Ok(()),
            Some(says) => Err(Unsent::Impossible(NotHttp::BadAddress, says)),
        }
    }
}
