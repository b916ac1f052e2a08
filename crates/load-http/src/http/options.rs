//! Options of `sokudo http`. The field docs are the manual.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_http::Switch;
use sokudo_i18n::TextError;
use sokudo_model::{FlowPlan, Rate, Refusal, Text};
use sokudo_workload::contract::Options;
use sokudo_workload::refusal::operator;
use sokudo_workload::text_file::read_text;
use sokudo_workload::times::{
    MAX_TIMEOUT_NS, MIN_TIMEOUT_NS, check_duration, check_interval, load_ns,
};
use sokudo_workload::values::{HowMany, RequestRate, Span};

use super::request::is_of_connection;
use super::url::Url;

/// Options of `sokudo http`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpOptions {
    /// What is asked for: `http://host:8080/path?query`, `https://…`; without a scheme, http.
    #[arg(value_name = "URL")]
    #[schemars(with = "String")]
    pub url: Url,

    /// Connections, each of which carries a request at a time, or --streams of them; over all
    /// threads.
    #[arg(short, long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,

    /// Speak HTTP/2: agreed on in the TLS handshake; without TLS it begins at once, as servers for
    /// `h2c` by prior knowledge expect.
    #[arg(long)]
    pub http2: bool,

    /// Requests under way at a time on each connection of --http2.
    #[arg(short = 'm', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub streams: u32,

    /// How long to measure. Default: 10 s.
    #[arg(short, long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Measure exactly so many requests; without --duration nothing else ends the run.
    #[arg(short = 'n', long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Requests per second, whatever the server does: `500/s`. Latency then counts from the intended
    /// start; requests that find no free connection wait for one. Default: a closed loop, in which
    /// each response starts the next request.
    #[arg(short, long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<RequestRate>,

    /// How requests of --rate are spaced: evenly, or at random as those of many independent visitors.
    #[arg(long, value_enum, default_value = "even")]
    pub arrival: Arrival,

    /// Load before the measurement begins; it is not counted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// Time over which the connections come, one after the other; the requests of this time count.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub ramp: Span,

    /// Event loops, one thread each.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,

    /// Request method.
    #[arg(short = 'X', long, value_name = "METHOD", default_value = "GET")]
    #[schemars(with = "String")]
    pub method: Method,

    /// Header line `Name: value`; may be given several times.
    #[arg(short = 'H', long, value_name = "LINE")]
    #[schemars(with = "Vec<String>")]
    pub header: Vec<HeaderLine>,

    /// Body of each request: a text, or `@file`. It is sent as it is.
    #[arg(short, long, value_name = "TEXT")]
    pub body: Option<String>,

    /// What the `Host` header says. Default: host and port of the URL.
    #[arg(long, value_name = "HOST")]
    #[schemars(with = "Option<String>")]
    pub host_header: Option<HostText>,

    /// A connection for each request, closed after it.
    #[arg(long)]
    pub no_keepalive: bool,

    /// A request without a whole response for this long has failed.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// A connection that is not there after this long, TLS included, has failed.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[schemars(with = "String")]
    pub connect_timeout: Span,

    /// Accept any certificate for any name: test systems only.
    #[arg(short = 'k', long)]
    pub insecure: bool,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            url: Url {
                scheme: sokudo_http::Scheme::Http,
                host: "localhost".into(),
                port: 80,
                path: "/".into(),
            },
            connections: 64,
            http2: false,
            streams: 1,
            duration: None,
            count: None,
            rate: None,
            arrival: Arrival::Even,
            warmup: Span(0),
            ramp: Span(0),
            threads: 1,
            method: Method("GET".into()),
            header: Vec::new(),
            body: None,
            host_header: None,
            no_keepalive: false,
            timeout: Span(10_000_000_000),
            connect_timeout: Span(5_000_000_000),
            insecure: false,
            interval: Span(250_000_000),
        }
    }
}

/// Spacing of the requests of an open loop.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// The same time between any two.
    Even,
    /// Exponentially distributed times between them.
    Poisson,
}

/// A request method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method(String);

/// A header line of a request, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderLine(String);

/// Content of a `Host` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostText(String);

/// Characters of methods and header names (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// Anything that does not end the line.
fn is_in_line(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_control())
}

impl FromStr for Method {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let fits = is_token(text) && !text.eq_ignore_ascii_case("CONNECT");
        match fits {
            true => Ok(Self(text.to_ascii_uppercase())),
            false => Err(TextError::value("error-value-method", text)),
        }
    }
}

impl FromStr for HeaderLine {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let (name, value) = text
            .split_once(':')
            .filter(|(name, value)| is_token(name) && is_in_line(value))
            .ok_or_else(|| TextError::value("error-value-header", text))?;
        Ok(Self(format!("{name}: {}", value.trim())))
    }
}

impl FromStr for HostText {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let fits = !text.is_empty() && is_in_line(text) && !text.contains(char::is_whitespace);
        match fits {
            true => Ok(Self(text.into())),
            false => Err(TextError::value("error-value-host-header", text)),
        }
    }
}

/// Prints the text inside.
macro_rules! prints_itself {
    ($($type:ident),+) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        sokudo_workload::json_as_text!($type);
    )+};
}

prints_itself!(Method, HeaderLine, HostText);

impl HeaderLine {
    fn is(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    fn name(&self) -> &str {
        self.0
            .split_once(':')
            .map_or(self.0.as_str(), |(name, _)| name)
    }

    fn value(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, value)| value.trim())
    }
}

impl Options for HttpOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.check_times()?;
        self.check_load()?;
        self.check_http2()?;
        let load_ns = self.duration_ns();
        if self.ramp.0 > 0 && load_ns > 0 && self.ramp.0 > load_ns {
            return Err(operator(
                Text::new("error-http-ramp")
                    .with("ramp", self.ramp)
                    .with("load", Span(load_ns)),
                Text::new("error-http-ramp-hint"),
            ));
        }
        if self.threads > self.connections {
            return Err(operator(
                Text::new("error-http-threads")
                    .with("threads", self.threads)
                    .with("connections", self.connections),
                Text::new("error-http-threads-hint"),
            ));
        }
        let body = self.body.as_ref().map_or(0, String::len);
        if body > Self::MAX_BODY_BYTES {
            return Err(operator(
                Text::new("error-http-body").with("body", body),
                Text::new("error-http-body-hint"),
            ));
        }
        Ok(())
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        super::flows(hosts, self.threads)
    }

    fn duration_ns(&self) -> u64 {
        load_ns(self.duration, self.count, self.warmup)
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }

    fn server(&self) -> Option<&str> {
        Some(&self.url.host)
    }

    fn server_port(&self) -> Option<u16> {
        Some(self.url.port)
    }

    fn of_hosts(&self, hosts: u32) -> Self {
        let rate = self.requests_per_s();
        Self {
            connections: self.connections.saturating_mul(hosts),
            count: self
                .count
                .map(|count| HowMany(count.0.saturating_mul(u64::from(hosts)))),
            rate: rate.map(|rate| RequestRate(Rate::Events(rate * f64::from(hosts)))),
            ..self.clone()
        }
    }

    fn names_file(&self) -> Option<&'static str> {
        let body = self.body.as_ref()?;
        body.starts_with('@').then_some("body")
    }

    fn read_files(&mut self) -> Result<(), Refusal> {
        let Some(path) = self.body.as_ref().and_then(|body| body.strip_prefix('@')) else {
            return Ok(());
        };
        let text = read_text(path, Self::MAX_BODY_BYTES as u64).map_err(|error| {
            operator(
                Text::new("error-http-body-file")
                    .word("path", path)
                    .with("error", error),
                Text::new("error-http-body-file-hint"),
            )
        })?;
        self.body = Some(text);
        Ok(())
    }
}

impl HttpOptions {
    /// Largest body.
    const MAX_BODY_BYTES: usize = 64 << 20;

    /// Requests per second as asked for, over all threads.
    pub fn requests_per_s(&self) -> Option<f64> {
        match self.rate?.0 {
            Rate::Events(rate) => Some(rate),
            Rate::Bits(_) | Rate::Bytes(_) => None,
        }
    }

    /// The same load for a trial of a search: another rate, for so long.
    pub(crate) fn become_trial(&mut self, rate_per_s: Option<f64>, duration_ns: u64) {
        self.rate = rate_per_s.map(|rate| RequestRate(Rate::Events(rate)));
        self.count = None;
        self.duration = Some(Span(duration_ns));
    }

    /// True when the method is HEAD: responses have no body.
    pub(crate) fn asks_for_head(&self) -> bool {
        self.method.0 == "HEAD"
    }

    /// The meaning of the status 101 as an answer.
    pub(crate) fn switch(&self) -> Switch {
        match self.header.iter().any(|line| line.is("Upgrade")) {
            true => Switch::Asked,
            false => Switch::Unasked,
        }
    }

    /// Most requests that can be under way at a time.
    pub fn visitors(&self) -> u64 {
        u64::from(self.connections) * u64::from(self.streams)
    }

    /// Content of the `Host` header.
    pub(crate) fn host(&self) -> String {
        let own = self.header.iter().find(|line| line.is("Host"));
        match (own, &self.host_header) {
            (Some(line), _) => line.value().into(),
            (None, Some(host)) => host.0.clone(),
            (None, None) => self.url.authority(),
        }
    }

    /// Names and values of the header, in order.
    pub(crate) fn header_lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: &str| {
            if !self.header.iter().any(|own| own.is(name)) {
                lines.push((name.to_owned(), value.to_owned()));
            }
        };
        line("Host", &self.host());
        line("User-Agent", concat!("sokudo/", env!("CARGO_PKG_VERSION")));
        line("Accept", "*/*");
        if let Some(body) = &self.body {
            line("Content-Length", &body.len().to_string());
        }
        if self.no_keepalive && !self.http2 {
            line("Connection", "close");
        }
        let own = |line: &HeaderLine| (line.name().to_owned(), line.value().to_owned());
        lines.extend(self.header.iter().map(own));
        lines
    }

    /// The whole request in HTTP/1.1, head and body.
    pub fn request(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.url.path);
        for (name, value) in self.header_lines() {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(self.body.as_deref().unwrap_or_default());
        text.into_bytes()
    }

    fn check_http2(&self) -> Result<(), Refusal> {
        const MOST_VISITORS: u64 = 1_000_000;
        let visitors = self.visitors();
        if visitors > MOST_VISITORS {
            return Err(operator(
                Text::new("error-http-visitors").with("visitors", visitors),
                Text::new("error-http-visitors-hint"),
            ));
        }
        if self.streams > 1 && !self.http2 {
            return Err(operator(
                Text::new("error-http-streams"),
                Text::new("error-add-http2-hint"),
            ));
        }
        if self.streams > 1 && self.no_keepalive {
            return Err(operator(
                Text::new("error-http-streams-keepalive"),
                Text::new("error-leave-one-out-hint"),
            ));
        }
        let odd = self
            .header
            .iter()
            .find(|line| is_of_connection(line.name()));
        match odd.filter(|_| self.http2) {
            None => Ok(()),
            Some(line) => Err(operator(
                Text::new("error-http-header").with("header", line.name()),
                Text::new("error-http-header-hint"),
            )),
        }
    }

    fn check_load(&self) -> Result<(), Refusal> {
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-rr-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        let Some(rate) = self.rate else {
            return match self.arrival {
                Arrival::Even => Ok(()),
                Arrival::Poisson => Err(operator(
                    Text::new("error-http-arrival"),
                    Text::new("error-add-rate-hint"),
                )),
            };
        };
        let per_s = self.requests_per_s().ok_or_else(|| {
            operator(
                Text::new("error-http-rate").with("rate", rate),
                Text::new("error-http-rate-hint"),
            )
        })?;
        if !(0.001..=1e7).contains(&per_s) {
            return Err(operator(
                Text::new("error-requests-unpaced").with("rate", format!("{per_s:.3e}")),
                Text::new("error-http-unpaced-hint"),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Refusal> {
        check_duration(self.duration, self.warmup.0)?;
        check_interval(self.interval)?;
        for (name, span) in [
            ("timeout", self.timeout),
            ("connect-timeout", self.connect_timeout),
        ] {
            if !(MIN_TIMEOUT_NS..=MAX_TIMEOUT_NS).contains(&span.0) {
                return Err(operator(
                    Text::new("error-http-timeout").with("option", name),
                    Text::new("error-http-timeout-hint"),
                ));
            }
        }
        Ok(())
    }
}
