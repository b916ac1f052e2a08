//! The request line, headers and body of an HTTP sampler.
//!
//! ```text
//! METHOD path?arguments HTTP/1.1
//! Connection, headers of managers, Cookie, If-*, Content-Length, Content-Type, Host, User-Agent,
//! Authorization: the order in which JMeter's default client writes them
//! ```

use super::exchange::HttpExchange;
use super::payload::{Payload, fill, is_raw};
use crate::plan::HttpRequest;
use crate::run::address::{Address, default_port};
use crate::run::charset::Charset;
use crate::run::context::View;
use crate::run::encode;
use crate::run::outcome::NotHttp;

/// Reason why a request is not sent.
#[derive(Debug)]
pub(super) enum Unsent {
    /// A cache manager has a fresh entry for it.
    Cached,
    /// It cannot be sent: JMeter's exception, and its message.
    Impossible(NotHttp, String),
}

/// Buffers for the texts of a request, reused by the next one.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub name: String,
    pub value: String,
    pub bytes: Vec<u8>,
    pub payload: Payload,
}

/// Header fields that a header manager has set.
#[derive(Default)]
pub(super) struct GivenHeaders {
    pub host: bool,
    pub user_agent: bool,
    pub content_type: bool,
}

impl Buffers {
    /// Renders method and URL of a request; gives its charset, and whether its body is raw.
    pub fn render_target(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        exchange: &mut HttpExchange,
    ) -> Result<(Charset, bool), Unsent> {
        view.render(&request.method, &mut exchange.method);
        if exchange.method.is_empty() {
            exchange.method.push_str("GET");
        }
        let is_whole = address(view, request, &mut exchange.address, &mut self.value)?;
        let charset = charset(view, request, &mut self.value)?;
        let raw = view.flag(&request.raw_body) || is_raw(request);
        if !raw && !is_whole && sends_query(&exchange.method) {
            query(view, request, charset, &mut exchange.address.path, self);
        }
        exchange.write_url();
        exchange.check_url()?;
        Ok((charset, raw))
    }

    /// Renders the body of a request.
    pub fn render_payload(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        method: &str,
        (charset, raw): (Charset, bool),
    ) -> Result<(), Unsent> {
        self.payload.begin(sends_body(method));
        if self.payload.is_sent || raw && !request.arguments.is_empty() {
            fill(view, request, charset, raw, self)?;
        }
        Ok(())
    }

    /// Appends the headers of header managers of a request to an address.
    pub fn write_headers(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        to: &Address,
        out: &mut Vec<u8>,
    ) -> GivenHeaders {
        let mut given = GivenHeaders::default();
        for header in &request.headers {
            view.render(&header.name, &mut self.name);
            view.render(&header.value, &mut self.value);
            let is = |name: &str| self.name.eq_ignore_ascii_case(name);
            // The client computes the length itself, and a cookie manager the cookies.
            // A boundary is known to the client alone.
            let is_computed = is("Content-Length")
                || is("Cookie") && request.cookies.is_some()
                || is("Content-Type") && self.payload.has_parts;
            if is_computed {
                continue;
            }
            if is("Host") {
                given.host = true;
                self.name.clear();
                to.write_host(Some(&self.value), &mut self.name);
                line(out, "Host", &self.name);
                continue;
            }
            given.user_agent |= is("User-Agent");
            given.content_type |= is("Content-Type");
            line(out, &self.name, &self.value);
        }
        given
    }
}

/// Appends a header line.
pub(super) fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    clean(name, out);
    out.extend_from_slice(b": ");
    clean(value, out);
    out.extend_from_slice(b"\r\n");
}

/// Appends a text up to its first line end, which would begin another header field.
fn clean(text: &str, out: &mut Vec<u8>) {
    // Without branches, so that the compiler vectorises it.
    let is_plain = |byte: u8| (byte >= b' ') & byte.is_ascii();
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        return out.extend_from_slice(text.as_bytes());
    }
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    Charset::US_ASCII.encode(&text[..end], out);
}

/// True for methods whose requests have a body, which may be empty. One that is not written in capitals is
/// none of those that JMeter knows to have none.
fn sends_body(method: &str) -> bool {
    let is_unknown = method.bytes().any(|byte| byte.is_ascii_lowercase());
    is_unknown
        || matches!(
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

/// True for methods whose arguments are in the URL; DELETE has them there and in its body.
fn sends_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS")
}

/// The charset of a request's content encoding; UTF-8 if it is empty.
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

/// Renders the URL of a request; true if its path is a whole URL, which takes no arguments.
fn address(
    view: &mut View<'_>,
    request: &HttpRequest,
    to: &mut Address,
    scratch: &mut String,
) -> Result<bool, Unsent> {
    let bad = |says: String| Unsent::Impossible(NotHttp::BadAddress, says);
    view.render(&request.path, &mut to.path);
    if to.path.contains(' ') {
        to.path = to.path.replace(' ', "%20");
    }
    if to.path.starts_with("http://") || to.path.starts_with("https://") {
        *to = Address::parse(to.path.trim())
            .ok_or_else(|| bad(format!("`{}` is not a valid URL", to.path)))?;
        return Ok(true);
    }
    if !to.path.starts_with('/') {
        to.path.insert(0, '/');
    }
    view.render(&request.domain, &mut to.host);
    view.render(&request.protocol, scratch);
    let scheme = scratch.trim();
    to.tls = scheme.eq_ignore_ascii_case("https");
    let is_known = to.tls || scheme.is_empty() || scheme.eq_ignore_ascii_case("http");
    let unknown = (!is_known).then(|| unknown_scheme(scheme));
    view.render(&request.port, scratch);
    let port = port(scratch, to.tls);
    to.port = *port.as_ref().unwrap_or(&0);
    if let Some(unknown) = unknown {
        return Err(unknown);
    }
    if to.host.is_empty() {
        let mut url = String::new();
        to.write(&mut url);
        return Err(Unsent::Impossible(NotHttp::NoHost, url));
    }
    port?;
    check_host(to)?;
    Ok(false)
}

/// Fails for a host that Java refuses: an address or a part of one where the name of a server
/// belongs.
fn check_host(to: &mut Address) -> Result<(), Unsent> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if to.host.bytes().all(plain) {
        return Ok(());
    }
    if to.host.contains('/') {
        let says = "Illegal character found in host: '/'".to_owned();
        return Err(Unsent::Impossible(NotHttp::BadLocation, says));
    }
    // What has a colon counts as an address of IPv6.
    if to.host.contains(':') && !to.host.starts_with('[') {
        to.host = format!("[{}]", to.host);
    }
    let inner = to.host.strip_prefix('[');
    let fails = match inner.map(|inner| inner.strip_suffix(']')) {
        Some(address) => address.is_none_or(|address| {
            let address = address
                .split_once('%')
                .map_or(address, |(address, _)| address);
            address.parse::<std::net::Ipv6Addr>().is_err()
        }),
        None => to.host.contains([
            ' ', '"', '#', '<', '>', '?', '[', '\\', ']', '^', '`', '{', '|', '}',
        ]),
    };
    let mut url = String::new();
    if fails {
        to.write(&mut url);
        let says = format!("Illegal character in authority at index 7: {url}");
        return Err(Unsent::Impossible(NotHttp::BadAddress, says));
    }
    if inner.is_none() && to.host.contains('%') {
        to.write(&mut url);
        return Err(Unsent::Impossible(NotHttp::NoHost, url));
    }
    Ok(())
}

/// Java's URLs know few schemes besides; of those its HTTP client says that it does not support them.
fn unknown_scheme(scheme: &str) -> Unsent {
    const KNOWN: &[&str] = &["file", "ftp", "jar", "jmod", "jrt", "mailto"];
    let is_javas = KNOWN.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match is_javas {
        true => Unsent::Impossible(NotHttp::BadScheme, scheme.to_owned()),
        false => {
            let says = format!("unknown protocol: {}", scheme.to_lowercase());
            Unsent::Impossible(NotHttp::BadLocation, says)
        }
    }
}

/// A port as JMeter reads it: 0 and what is not a number stand for the default of the scheme.
/// Fails for other numbers that are not ports.
fn port(text: &str, tls: bool) -> Result<u16, Unsent> {
    let number = text.trim().parse::<i32>().unwrap_or(0);
    match (number, u16::try_from(number)) {
        (0 | -1, _) => Ok(default_port(tls)),
        (_, Ok(port)) => Ok(port),
        (..0, _) => {
            let says = format!("Invalid port number :{number}");
            Err(Unsent::Impossible(NotHttp::BadLocation, says))
        }
        _ => {
            let class = NotHttp::Thrown("java.lang.IllegalArgumentException");
            Err(Unsent::Impossible(
                class,
                format!("port out of range:{number}"),
            ))
        }
    }
}

/// Appends the arguments of a request to its path.
fn query(
    view: &mut View<'_>,
    request: &HttpRequest,
    charset: Charset,
    path: &mut String,
    buffers: &mut Buffers,
) {
    let mut separator = if path.contains('?') { '&' } else { '?' };
    for argument in &request.arguments {
        view.render(&argument.name, &mut buffers.name);
        view.render(&argument.value, &mut buffers.value);
        if buffers.name.is_empty() {
            continue;
        }
        path.push(std::mem::replace(&mut separator, '&'));
        if !view.flag(&argument.encode) {
            path.extend([buffers.name.as_str(), &argument.separator, &buffers.value]);
            continue;
        }
        buffers.bytes.clear();
        let scratch = &mut buffers.payload.scratch;
        // Names are written in UTF-8 whatever the charset is.
        encode::form(&buffers.name, Charset::UTF_8, scratch, &mut buffers.bytes);
        buffers
            .bytes
            .extend_from_slice(argument.separator.as_bytes());
        encode::form(&buffers.value, charset, scratch, &mut buffers.bytes);
        path.push_str(&String::from_utf8_lossy(&buffers.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_of_a_server_is_refused_as_java_does() {
        let class = |host: &str| {
            let mut to = Address::parse("http://h:8080/x").unwrap();
            to.host = host.into();
            match check_host(&mut to) {
                Ok(()) => None,
                Err(Unsent::Impossible(class, _)) => Some(class),
                Err(_) => panic!("{host}"),
            }
        };
        for host in ["h", "my_host.test", "localhost.", "[::1]", "::1", "*", "ü"] {
            assert_eq!(class(host), None, "{host}");
        }
        for host in ["http://h", "http://h:80", "h/", "h/api", "h:/api"] {
            assert_eq!(class(host), Some(NotHttp::BadLocation), "{host}");
        }
        for host in [
            "h:80", "me:pw@h", " h", "h ", "h?x", "h#x", "${h}", "a\\b", "[h]",
        ] {
            assert_eq!(class(host), Some(NotHttp::BadAddress), "{host}");
        }
        assert_eq!(class("a%20b"), Some(NotHttp::NoHost));
    }
}
