//! Asks an endpoint for its metrics, within a bound on time and bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use sokudo_model::{Text, Unit};

use super::answer::{Answer, answer, may_be_whole};
use super::other::{jolokia, jolokia_request, stub_status};
use super::parse::{BadLine, Exposition, exposition};

/// Longest answer, bytes.
pub(super) const MAX_ANSWER: usize = 16 << 20;

/// Address of the metrics: `http://HOST[:PORT]/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    /// Name or address, without brackets.
    pub(crate) host: String,
    /// 80 where none is written.
    pub(crate) port: u16,
    /// Begins with `/`.
    path: String,
}

impl Url {
    /// Errors: what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, Text> {
        let wrong = |why: &str| Text::new(format!("error-monitor-url-{why}")).word("url", text);
        let Some(rest) = text.strip_prefix("http://") else {
            return Err(match text.starts_with("https://") {
                true => wrong("tls"),
                false => wrong("scheme"),
            });
        };
        let printable = |c: char| c.is_ascii_graphic();
        if text.len() > 4096 || !rest.chars().all(printable) {
            return Err(wrong("blanks"));
        }
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.contains('@') {
            return Err(wrong("user"));
        }
        let path = path.split('#').next().unwrap_or_default();
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(|| wrong("bracket"))?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| wrong("port"))?,
            None if port.is_empty() => 80,
            None => return Err(wrong("port")),
        };
        if host.is_empty() || port == 0 {
            return Err(wrong("host"));
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            path: match path.starts_with('/') {
                true => path.to_owned(),
                false => format!("/{path}"),
            },
        })
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    pub(crate) fn endpoint(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// The same address with another path where it names none.
    pub(crate) fn or_path(mut self, path: &str) -> Self {
        if self.path == "/" {
            path.clone_into(&mut self.path);
        }
        self
    }

    fn request(&self, key: Option<&str>, body: &Body) -> String {
        let key = key.map(|key| format!("Authorization: Bearer {key}\r\n"));
        let content = match body {
            Body::Exposition | Body::StubStatus => None,
            Body::Jolokia(beans) => Some(jolokia_request(beans)),
        };
        let (method, length, content) = match &content {
            None => ("GET", String::new(), ""),
            Some(content) => {
                let length = content.len();
                let head =
                    format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
                ("POST", head, content.as_str())
            }
        };
        format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept-Encoding: identity\r\n\
             {}{length}Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5\r\n\
             User-Agent: sokudo/{}\r\n\r\n{content}",
            self.path,
            self.endpoint(),
            key.unwrap_or_default(),
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// Request to an endpoint, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// Metrics in the text format of Prometheus, or OpenMetrics.
    Exposition,
    /// The lines of nginx's `stub_status`.
    StubStatus,
    /// Attributes of these MBeans, from Jolokia.
    Jolokia(Vec<String>),
}

impl Body {
    fn read(&self, text: &str) -> Result<Exposition, BadLine> {
        match self {
            Self::Exposition => exposition(text),
            Self::StubStatus => stub_status(text),
            Self::Jolokia(_) => jolokia(text),
        }
    }
}

/// Reason why a scrape gave no metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    Unresolved(String),
    Unconnected(String),
    Silent,
    Broken(String),
    NotHttp(&'static str),
    Status(u16),
    TooLong,
    Garbage(BadLine),
}

impl Failure {
    /// Text for people.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::Unresolved(why) => Text::new("engine-scrape-unresolved").word("why", why),
            Self::Unconnected(why) => Text::new("engine-scrape-unconnected").word("why", why),
            Self::Silent => Text::new("engine-scrape-silent"),
            Self::Broken(why) => Text::new("engine-scrape-broken").word("why", why),
            Self::NotHttp(why) => Text::new("engine-scrape-not-http").word("why", *why),
            Self::Status(status @ 300..=399) => {
                Text::new("engine-scrape-redirect").word("status", status.to_string())
            }
            Self::Status(status) => {
                Text::new("engine-scrape-status").word("status", status.to_string())
            }
            Self::TooLong => {
                Text::new("engine-scrape-too-long").number("most", MAX_ANSWER as f64, Unit::Bytes)
            }
            Self::Garbage(bad) => Text::new("engine-scrape-garbage")
                .word("line", bad.line.to_string())
                .word("why", bad.problem),
        }
    }
}

/// Asks once, within `timeout`, and shows a key where there is one. `resolved` keeps the addresses of the name from one call to the next.
pub(super) fn scrape(
    url: &Url,
    body: &Body,
    key: Option<&str>,
    timeout: Duration,
    resolved: &mut Vec<SocketAddr>,
) -> Result<Exposition, Failure> {
    let until = Instant::now() + timeout;
    let mut stream = connect(url, until, resolved)?;
    let sent = stream
        .set_write_timeout(Some(left(until)?))
        .and_then(|()| stream.write_all(url.request(key, body).as_bytes()));
    sent.map_err(broken)?;
    let bytes = receive(&mut stream, until)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::Garbage(BadLine {
            line: 0,
            problem: "not UTF-8",
        })
    })?;
    body.read(&text).map_err(Failure::Garbage)
}

fn connect(
    url: &Url,
    until: Instant,
    resolved: &mut Vec<SocketAddr>,
) -> Result<TcpStream, Failure> {
    if resolved.is_empty() {
        let found = (url.host.as_str(), url.port).to_socket_addrs();
        *resolved = found
            .map_err(|error| Failure::Unresolved(error.to_string()))?
            .collect();
    }
    let mut last = Failure::Unresolved("it has no address".into());
    for address in resolved.iter() {
        match TcpStream::connect_timeout(address, left(until)?) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::TimedOut => last = Failure::Silent,
            Err(error) => last = Failure::Unconnected(error.to_string()),
        }
    }
    // The name may stand for other addresses by now.
    resolved.clear();
    Err(last)
}

fn receive(stream: &mut TcpStream, until: Instant) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        stream
            .set_read_timeout(Some(left(until)?))
            .map_err(broken)?;
        let length = match stream.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(error)),
        };
        bytes.extend_from_slice(&buffer[..length]);
        if bytes.len() > MAX_ANSWER {
            return Err(Failure::TooLong);
        }
        let is_closed = length == 0;
        if !is_closed && !may_be_whole(&bytes) {
            continue;
        }
        match answer(&bytes, is_closed) {
            Answer::Unfinished => {}
            Answer::Whole { status: 200, body } => return Ok(body),
            Answer::Whole { status, .. } => return Err(Failure::Status(status)),
            Answer::Broken(why) => return Err(Failure::NotHttp(why)),
        }
    }
}

fn left(until: Instant) -> Result<Duration, Failure> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(Failure::Silent),
        false => Ok(left),
    }
}

fn broken(error: std::io::Error) -> Failure {
    match error.kind() {
        // Which of both is the system's choice.
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Failure::Silent,
        _ => Failure::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check = |text: &str, endpoint: &str, path: &str| {
            let url = Url::parse(text).expect(text);
            assert_eq!(
                (url.endpoint().as_str(), url.path.as_str()),
                (endpoint, path)
            );
        };
        check("http://hosta:9100/metrics", "hosta:9100", "/metrics");
        check("http://hosta", "hosta:80", "/");
        check("http://[::1]:9100/m?a=b#c", "[::1]:9100", "/m?a=b");
        check("http://[::1]", "[::1]:80", "/");
        check("http://hosta?x", "hosta:80", "/?x");
        for wrong in [
            "hosta:9100",
            "https://hosta/",
            "http://",
            "http://:80/",
            "http://hosta:x/",
            "http://hosta:0/",
            "http://[::1/",
            "http://[::1]x/",
            "http://me@hosta/",
            "http://hosta/a b",
        ] {
            assert!(Url::parse(wrong).is_err(), "{wrong}");
        }
    }
}
