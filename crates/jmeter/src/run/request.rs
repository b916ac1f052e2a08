//! What exactly is sent?
//!
//! ```text
//! METHOD path?arguments HTTP/1.1
//! Connection, headers of managers, Cookie, Authorization, Content-Length, Content-Type, Host,
//! User-Agent: the order in which JMeter's usual client writes them
//! ```

use std::sync::Arc;

use encoding_rs::Encoding;

use super::cookies::CookieJar;
use super::encode;
use super::person::View;
use super::test::Test;
use super::user::{Body, Flight};
use crate::plan::{ConfigKind, HttpArgument, HttpFile, HttpRequest};

/// Largest file that is sent.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// Where a request goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Address {
    /// Over TLS.
    pub tls: bool,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query as they were rendered.
    pub path: String,
}

impl Address {
    /// Takes a whole address apart; `None` when it is none.
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let tls = match () {
            () if scheme.eq_ignore_ascii_case("http") => false,
            () if scheme.eq_ignore_ascii_case("https") => true,
            () => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
            _ => (authority, default_port(tls)),
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        (!host.is_empty()).then(|| Self {
            tls,
            host: host.into(),
            port,
            path: format!("{slash}{path}"),
        })
    }

    /// Another address as seen from this one.
    pub fn join(&self, location: &str) -> Option<Self> {
        let with_path = |path: String| {
            Some(Self {
                path,
                ..self.clone()
            })
        };
        if location.contains("://") {
            return Self::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            let scheme = if self.tls { "https" } else { "http" };
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let own = self.path.split(['?', '#']).next().unwrap_or("/");
        match location.chars().next() {
            None => None,
            Some('/') => with_path(location.into()),
            Some('?') => with_path(format!("{own}{location}")),
            Some(_) => {
                let folder = own.rfind('/').map_or("/", |at| &own[..=at]);
                with_path(without_dots(&format!("{folder}{location}")))
            }
        }
    }

    /// The address as a text; the port only where it is not the scheme's own.
    pub fn write(&self, out: &mut String) {
        out.push_str(if self.tls { "https://" } else { "http://" });
        self.write_authority(out);
        out.push_str(&self.path);
    }

    fn write_authority(&self, out: &mut String) {
        use std::fmt::Write as _;
        out.push_str(&self.host);
        if self.port != default_port(self.tls) {
            let _ = write!(out, ":{}", self.port);
        }
    }
}

/// Resolves `.` and `..` in the path part.
fn without_dots(path: &str) -> String {
    let (path, query) = match path.find('?') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// What a request carries.
#[derive(Debug, Default)]
pub(super) struct Payload {
    bytes: Vec<u8>,
    /// Its type unless a header says it.
    content_type: Option<String>,
    /// It is sent although it may be empty.
    is_sent: bool,
}

/// Texts that are rendered anew for each request without new memory.
#[derive(Debug, Default)]
pub(super) struct Texts {
    name: String,
    value: String,
    bytes: Vec<u8>,
    payload: Payload,
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
    ) -> Result<(), String> {
        let mut view = self.person.view(test, now_ns);
        let texts = &mut self.texts;
        let flight = &mut self.flight;
        view.render(&request.method, &mut flight.method);
        if flight.method.is_empty() {
            flight.method.push_str("GET");
        }
        address(&mut view, request, &mut flight.address, &mut texts.value)?;
        let encoding = match request.encoding.is_empty() {
            true => None,
            false => {
                view.render(&request.encoding, &mut texts.value);
                Encoding::for_label(texts.value.trim().as_bytes())
            }
        };
        let in_body = sends_body(&flight.method);
        let raw = view.flag(&request.raw_body) || is_raw(request);
        if !in_body && !raw {
            query(
                &mut view,
                request,
                encoding,
                &mut flight.address.path,
                texts,
            );
        }
        texts.payload.bytes.clear();
        texts.payload.content_type = None;
        texts.payload.is_sent = in_body;
        if in_body || raw && !request.arguments.is_empty() {
            fill(&mut view, request, encoding, raw, texts)?;
        }
        self.finish_head(test, now_ns, request, out);
        Ok(())
    }

    /// Appends the request for a redirect: the same headers, the method as given, no body.
    pub(super) fn render_hop(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        keeps_body: bool,
        out: &mut Vec<u8>,
    ) {
        if !keeps_body {
            self.texts.payload = Payload::default();
        }
        self.finish_head(test, now_ns, request, out);
    }

    fn finish_head(&mut self, test: &Test, now_ns: i64, request: &HttpRequest, out: &mut Vec<u8>) {
        let keep_alive = self.person.view(test, now_ns).flag(&request.keep_alive);
        self.flight.keep_alive = keep_alive;
        let begin = out.len();
        out.extend_from_slice(self.flight.method.as_bytes());
        out.push(b' ');
        encode::path(&self.flight.address.path, out);
        out.extend_from_slice(b" HTTP/1.1\r\nConnection: ");
        out.extend_from_slice(if keep_alive {
            b"keep-alive\r\n"
        } else {
            b"close\r\n"
        });
        let mut given = self.write_headers(test, now_ns, request, out);
        self.write_cookies(test, now_ns, request, out);
        self.write_authorization(test, now_ns, request, out);
        self.write_validators(request, out);
        let payload = &self.texts.payload;
        if payload.is_sent || !payload.bytes.is_empty() {
            line(out, "Content-Length", &itoa(payload.bytes.len() as u64));
            if let (false, Some(content_type)) = (given.content_type, &payload.content_type) {
                line(out, "Content-Type", content_type);
            }
        } else {
            given.content_type = true;
        }
        if !given.host {
            let mut authority = std::mem::take(&mut self.texts.value);
            authority.clear();
            self.flight.address.write_authority(&mut authority);
            line(out, "Host", &authority);
            self.texts.value = authority;
        }
        if !given.user_agent {
            line(out, "User-Agent", &test.settings.user_agent);
        }
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
            // The client counts for itself.
            if texts.name.is_empty() || is("Content-Length") {
                continue;
            }
            given.host |= is("Host");
            given.user_agent |= is("User-Agent");
            given.content_type |= is("Content-Type");
            let value = texts.value.trim();
            line(out, &texts.name, value);
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
        if request.cookies.is_none() || self.jar.is_empty() {
            return;
        }
        let now_s = test.wall_ms(now_ns) / 1000;
        let mut cookies = std::mem::take(&mut self.texts.value);
        cookies.clear();
        self.jar.write(&self.flight.address, now_s, &mut cookies);
        if !cookies.is_empty() {
            line(out, "Cookie", &cookies);
        }
        self.texts.value = cookies;
    }

    fn write_authorization(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) {
        let Some(id) = request.authorization else {
            return;
        };
        let ConfigKind::Authorization { entries, .. } = &test.plan.configs[id as usize].kind else {
            return;
        };
        let mut url = String::new();
        self.flight.address.write(&mut url);
        let mut view = self.person.view(test, now_ns);
        for entry in entries {
            let below = view.text(&entry.url);
            if url.starts_with(below.trim()) {
                let said = format!("{}:{}", view.text(&entry.user), view.text(&entry.password));
                out.extend_from_slice(b"Authorization: Basic ");
                encode::base64(said.as_bytes(), out);
                out.extend_from_slice(b"\r\n");
                return;
            }
        }
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

    /// Puts the cookies of the plan into the user's jar.
    pub(super) fn fill_jar(&mut self, test: &Test, now_ns: i64) {
        self.jar = CookieJar::default();
        for config in &test.plan.configs {
            let ConfigKind::Cookies {
                cookies, policy, ..
            } = &config.kind
            else {
                continue;
            };
            self.jar.ignores |= policy.eq_ignore_ascii_case("ignorecookies");
            for cookie in cookies {
                let mut view = self.person.view(test, now_ns);
                let (name, value) = (view.text(&cookie.name), view.text(&cookie.value));
                let (domain, path) = (view.text(&cookie.domain), view.text(&cookie.path));
                let (secure, expires_s) =
                    (view.flag(&cookie.secure), view.integer(&cookie.expires_s));
                self.jar.put(
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
}

/// Headers that a manager gave.
#[derive(Default)]
struct Given {
    host: bool,
    user_agent: bool,
    content_type: bool,
}

fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    let clean = |out: &mut Vec<u8>, text: &str| {
        // A line end would begin another header: what stands behind it is left out.
        let end = text.find(['\r', '\n']).unwrap_or(text.len());
        out.extend_from_slice(&text.as_bytes()[..end]);
    };
    clean(out, name);
    out.extend_from_slice(b": ");
    clean(out, value);
    out.extend_from_slice(b"\r\n");
}

fn itoa(number: u64) -> String {
    number.to_string()
}

fn sends_body(method: &str) -> bool {
    matches!(
        method,
        "POST" | "PUT" | "PATCH" | "PROPFIND" | "PROPPATCH" | "MKCOL" | "REPORT" | "SEARCH"
    )
}

/// All names are empty and something stands there: the values are the body.
fn is_raw(request: &HttpRequest) -> bool {
    !request.arguments.is_empty()
        && request
            .arguments
            .iter()
            .all(|argument| argument.name.is_empty())
}

fn address(
    view: &mut View<'_>,
    request: &HttpRequest,
    to: &mut Address,
    scratch: &mut String,
) -> Result<(), String> {
    view.render(&request.path, &mut to.path);
    if to.path.starts_with("http://") || to.path.starts_with("https://") {
        *to =
            Address::parse(to.path.trim()).ok_or_else(|| format!("`{}` is no address", to.path))?;
        return Ok(());
    }
    if !to.path.starts_with('/') {
        to.path.insert(0, '/');
    }
    view.render(&request.protocol, scratch);
    to.tls = scratch.trim().eq_ignore_ascii_case("https");
    view.render(&request.domain, &mut to.host);
    if to.host.is_empty() {
        return Err("the host is empty".into());
    }
    view.render(&request.port, scratch);
    to.port = match scratch.trim() {
        "" => default_port(to.tls),
        port => port.parse().map_err(|_| format!("`{port}` is no port"))?,
    };
    Ok(())
}

fn query(
    view: &mut View<'_>,
    request: &HttpRequest,
    encoding: Option<&'static Encoding>,
    path: &mut String,
    texts: &mut Texts,
) {
    texts.bytes.clear();
    for argument in &request.arguments {
        view.render(&argument.name, &mut texts.name);
        view.render(&argument.value, &mut texts.value);
        if texts.name.is_empty() {
            continue;
        }
        if !texts.bytes.is_empty() {
            texts.bytes.push(b'&');
        }
        let encoded = view.flag(&argument.encode);
        let mut put = |text: &str| match encoded {
            true => encode::form(text, encoding, &mut texts.bytes),
            false => texts.bytes.extend_from_slice(text.as_bytes()),
        };
        put(&texts.name);
        if view.flag(&argument.equals) || !texts.value.is_empty() {
            texts.bytes.extend_from_slice(argument.separator.as_bytes());
            let mut put = |text: &str| match encoded {
                true => encode::form(text, encoding, &mut texts.bytes),
                false => texts.bytes.extend_from_slice(text.as_bytes()),
            };
            put(&texts.value);
        }
    }
    if !texts.bytes.is_empty() {
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(&String::from_utf8_lossy(&texts.bytes));
    }
}

fn fill(
    view: &mut View<'_>,
    request: &HttpRequest,
    encoding: Option<&'static Encoding>,
    raw: bool,
    texts: &mut Texts,
) -> Result<(), String> {
    let charset = encoding.map_or("UTF-8", Encoding::name);
    if view.flag(&request.multipart) || request.files.iter().any(|file| !file.parameter.is_empty())
    {
        return multipart(view, request, encoding, &mut texts.payload);
    }
    if let [file] = request.files.as_slice() {
        let mime = view.text(&file.mime_type);
        texts.payload.content_type = (!mime.is_empty()).then_some(mime);
        texts
            .payload
            .bytes
            .extend_from_slice(&file_bytes(view, file)?);
        return Ok(());
    }
    if raw {
        for argument in &request.arguments {
            view.render(&argument.value, &mut texts.value);
            append_encoded(&texts.value, encoding, &mut texts.payload.bytes);
        }
        texts.payload.content_type = Some(format!("text/plain; charset={charset}"));
        return Ok(());
    }
    let mut separated = false;
    for argument in &request.arguments {
        view.render(&argument.name, &mut texts.name);
        view.render(&argument.value, &mut texts.value);
        if texts.name.is_empty() {
            continue;
        }
        if std::mem::replace(&mut separated, true) {
            texts.payload.bytes.push(b'&');
        }
        // What is encoded already is decoded first, because the client encodes everything.
        let plain = !view.flag(&argument.encode);
        let decode = |text: &mut String| {
            if plain && text.contains(['%', '+']) {
                *text = encode::unform(text);
            }
        };
        decode(&mut texts.name);
        decode(&mut texts.value);
        encode::form(&texts.name, encoding, &mut texts.payload.bytes);
        texts.payload.bytes.push(b'=');
        encode::form(&texts.value, encoding, &mut texts.payload.bytes);
    }
    texts.payload.content_type = Some(format!(
        "application/x-www-form-urlencoded; charset={charset}"
    ));
    Ok(())
}

fn append_encoded(text: &str, encoding: Option<&'static Encoding>, out: &mut Vec<u8>) {
    match encoding {
        Some(encoding) => out.extend_from_slice(&encoding.encode(text).0),
        None => out.extend_from_slice(text.as_bytes()),
    }
}

fn file_bytes(view: &mut View<'_>, file: &HttpFile) -> Result<Arc<[u8]>, String> {
    let path = view.text(&file.path);
    let read = view.test().file(&path, MOST_FILE_BYTES);
    read.map_err(|why| format!("`{path}` cannot be read: {why}"))
}

fn multipart(
    view: &mut View<'_>,
    request: &HttpRequest,
    encoding: Option<&'static Encoding>,
    payload: &mut Payload,
) -> Result<(), String> {
    let boundary = format!(
        "sokudo{:016x}{:016x}",
        view.person.random.bits(),
        view.person.random.bits()
    );
    let as_browser = view.flag(&request.browser_multipart);
    let charset = encoding.map_or("UTF-8", Encoding::name);
    let out = &mut payload.bytes;
    for argument in &request.arguments {
        part_of(
            view,
            argument,
            &boundary,
            (as_browser, charset),
            encoding,
            out,
        );
    }
    for file in &request.files {
        let bytes = file_bytes(view, file)?;
        let (path, name, mime) = (
            view.text(&file.path),
            view.text(&file.parameter),
            view.text(&file.mime_type),
        );
        let file_name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
        let mime = if mime.is_empty() {
            "application/octet-stream"
        } else {
            &mime
        };
        out.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {mime}\r\n").as_bytes());
        if !as_browser {
            out.extend_from_slice(b"Content-Transfer-Encoding: binary\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    payload.content_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(())
}

fn part_of(
    view: &mut View<'_>,
    argument: &HttpArgument,
    boundary: &str,
    (as_browser, charset): (bool, &str),
    encoding: Option<&'static Encoding>,
    out: &mut Vec<u8>,
) {
    let (name, value) = (view.text(&argument.name), view.text(&argument.value));
    if name.is_empty() {
        return;
    }
    out.extend_from_slice(
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n").as_bytes(),
    );
    if !as_browser {
        let content_type = view.text(&argument.content_type);
        out.extend_from_slice(format!("Content-Type: {content_type}; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    append_encoded(&value, encoding, out);
    out.extend_from_slice(b"\r\n");
}

/// What a user notes of the request under way.
impl Flight {
    /// The address as a text.
    pub(super) fn write_url(&mut self) {
        self.url.clear();
        self.address.write(&mut self.url);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_as_browsers_do() {
        let base = Address::parse("http://h:8080/a/b?x=1").unwrap();
        let join = |location: &str| {
            let mut out = String::new();
            base.join(location).unwrap().write(&mut out);
            out
        };
        assert_eq!(join("/c"), "http://h:8080/c");
        assert_eq!(join("c?y"), "http://h:8080/a/c?y");
        assert_eq!(join("../c/./d"), "http://h:8080/c/d");
        assert_eq!(join("?z"), "http://h:8080/a/b?z");
        assert_eq!(join("https://other/"), "https://other/");
        assert_eq!(join("//other:81"), "http://other:81/");
        assert!(Address::parse("ftp://h/").is_none() && Address::parse("http://").is_none());
    }
}
