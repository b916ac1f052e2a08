//! Options of the load on a name server. The field docs are the manual.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_i18n::TextError;
use sokudo_model::{FlowPlan, Rate, Refusal, Text};
use sokudo_net::dns::{RecordType, Wishes};
use sokudo_workload::choice::{self, Only};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::{loaders, numbered};
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::text_file::read_text;
use sokudo_workload::times::{check_duration, check_interval, check_timeout, load_ns};
use sokudo_workload::values::{HowMany, RequestRate, Span};

use super::queries::{NotAQuery, QuerySet, Template};
use crate::choices::DnsTransports;

/// Port of name servers.
const PORT: u16 = 53;

/// Options of `sokudo dns`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DnsOptions {
    /// Name server: an address or a name, with a port when it is not 53: `192.0.2.53`,
    /// `ns1.example:5353`, `[2001:db8::53]:5353`.
    #[arg(value_name = "SERVER")]
    #[schemars(with = "String")]
    pub server: NameServer,

    /// Name to ask for; may be given several times, and they are asked for in turn. `{n}` in it
    /// becomes the number of the query in ten digits, so that no cache knows the name.
    #[arg(short = 'q', long, value_name = "NAME")]
    #[schemars(with = "Vec<String>")]
    pub name: Vec<Template>,

    /// Queries to ask in turn, one per line, `name` or `name type`; lines that begin with `;` or `#`
    /// are passed over. `@file`, as dnsperf takes it, or the lines themselves.
    #[arg(short = 'Q', long, value_name = "LINES")]
    pub queries: Option<String>,

    /// Type of the records that are asked for, where a line does not say it: A, AAAA, MX, TYPE65, …
    #[arg(long = "type", id = "type", value_name = "TYPE", default_value = "A")]
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    pub kind: TypeText,

    /// Sockets, each with a port of its own; over all threads. Servers with several threads share
    /// their work by these ports.
    #[arg(short, long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: u32,

    /// Queries that may be unanswered at a time on each of them.
    #[arg(short, long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub window: u32,

    /// What carries the queries.
    #[arg(long, value_parser = choice::parser::<DnsTransports>(), default_value = "udp")]
    #[serde(deserialize_with = "choice::read::<DnsTransports, _>")]
    #[schemars(with = "Only<DnsTransports>")]
    pub transport: Transport,

    /// How long to measure. Default: 10 s.
    #[arg(short, long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Measure exactly so many queries; without --duration it also ends when requests fail and none is
    /// answered for 10 s and three times --timeout.
    #[arg(short = 'n', long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Queries per second, whatever the server does: `20k/s`. Latency then counts from the intended
    /// start. Default: a closed loop, in which each response starts the next query.
    #[arg(short, long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<RequestRate>,

    /// Load before the measurement begins; it is not counted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// Asking threads.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,

    /// A query without a response for this long has failed.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Largest response over UDP that queries allow (EDNS), bytes; 0 sends no such record, and
    /// responses have at most 512 bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1232)]
    pub udp_bytes: u16,

    /// Ask for signatures (DNSSEC).
    #[arg(long)]
    pub dnssec: bool,

    /// Ask the server for what it knows itself; without this it is to ask others (recursion).
    #[arg(long)]
    pub no_recursion: bool,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for DnsOptions {
    fn default() -> Self {
        Self {
            server: NameServer {
                host: "localhost".into(),
                port: PORT,
            },
            name: Vec::new(),
            queries: None,
            kind: TypeText(RecordType::A),
            connections: 16,
            window: 8,
            transport: Transport::Udp,
            duration: None,
            count: None,
            rate: None,
            warmup: Span(0),
            threads: 1,
            timeout: Span(5_000_000_000),
            udp_bytes: 1232,
            dnssec: false,
            no_recursion: false,
            interval: Span(250_000_000),
        }
    }
}

/// Host and port of a name server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameServer {
    /// Address or name.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl FromStr for NameServer {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        parse_server(text).ok_or_else(|| TextError::value("error-value-name-server", text))
    }
}

fn parse_server(text: &str) -> Option<NameServer> {
    let port = |text: &str| text.parse().ok().filter(|port: &u16| *port > 0);
    let is_v6 = |text: &str| text.parse::<std::net::Ipv6Addr>().is_ok();
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').filter(|(host, _)| is_v6(host))?;
            match after.strip_prefix(':') {
                Some(after) => (host, port(after)?),
                None => (host, after.is_empty().then_some(PORT)?),
            }
        }
        None if is_v6(text) => (text, PORT),
        None => match text.split_once(':') {
            Some((host, after)) => (host, port(after)?),
            None => (text, PORT),
        },
    };
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let fits = !host.is_empty() && host.bytes().all(in_name);
    let host = host.into();
    fits.then_some(NameServer { host, port })
}

impl fmt::Display for NameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.host.contains(':'), self.port) {
            (true, PORT) => write!(f, "[{}]", self.host),
            (true, port) => write!(f, "[{}]:{port}", self.host),
            (false, PORT) => f.write_str(&self.host),
            (false, port) => write!(f, "{}:{port}", self.host),
        }
    }
}

sokudo_workload::json_as_text!(NameServer);

/// A type of records, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeText(pub RecordType);

impl FromStr for TypeText {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let kind = text.parse().map(Self);
        kind.map_err(|_| TextError::value("error-value-record-type", text))
    }
}

impl fmt::Display for TypeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

sokudo_workload::json_as_text!(TypeText);

impl Options for DnsOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        check_duration(self.duration, self.warmup.0)?;
        check_interval(self.interval)?;
        check_timeout(self.timeout)?;
        if self.threads > self.connections {
            return Err(operator(
                Text::new("error-dns-threads")
                    .with("threads", self.threads)
                    .with("connections", self.connections),
                Text::new("error-dns-threads-hint"),
            ));
        }
        if matches!(self.rate, Some(RequestRate(Rate::Bits(_) | Rate::Bytes(_)))) {
            return Err(operator(
                Text::new("error-dns-rate"),
                Text::new("error-dns-rate-hint"),
            ));
        }
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-rr-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        if self.dnssec && self.udp_bytes == 0 {
            return Err(operator(
                Text::new("error-dns-dnssec"),
                Text::new("error-dns-dnssec-hint"),
            ));
        }
        if self.udp_bytes != 0 && self.udp_bytes < 512 {
            return Err(operator(
                Text::new("error-dns-udp-bytes").with("bytes", self.udp_bytes),
                Text::new("error-dns-udp-bytes-hint"),
            ));
        }
        // A file is read before the load is planned.
        match self.names_file() {
            Some(_) => Ok(()),
            None => self.query_set().map(|_| ()),
        }
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        numbered(loaders(hosts).map(|host| (host, host)), self.threads)
    }

    fn duration_ns(&self) -> u64 {
        load_ns(self.duration, self.count, self.warmup)
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn server(&self) -> Option<&str> {
        Some(&self.server.host)
    }

    fn server_port(&self) -> Option<u16> {
        Some(self.server.port)
    }

    fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }

    fn of_hosts(&self, hosts: u32) -> Self {
        let rate = self.queries_per_s();
        let more = |count: HowMany| HowMany(count.0.saturating_mul(u64::from(hosts)));
        Self {
            connections: self.connections.saturating_mul(hosts),
            count: self.count.map(more),
            rate: rate.map(|rate| RequestRate(Rate::Events(rate * f64::from(hosts)))),
            ..self.clone()
        }
    }

    fn names_file(&self) -> Option<&'static str> {
        let queries = self.queries.as_ref()?;
        queries.starts_with('@').then_some("queries")
    }

    fn read_files(&mut self) -> Result<(), Refusal> {
        let queries = self.queries.as_ref();
        let Some(path) = queries.and_then(|queries| queries.strip_prefix('@')) else {
            return Ok(());
        };
        let cannot = |why: Text| {
            let says = Text::new("error-dns-file")
                .word("path", path)
                .text("why", why);
            operator(says, Text::new("error-dns-file-hint"))
        };
        let text = read_text(path, Self::MAX_FILE_BYTES).map_err(|error| {
            cannot(match error.kind() {
                std::io::ErrorKind::FileTooLarge => Text::new("error-dns-file-large"),
                _ => Text::words(error.to_string()),
            })
        })?;
        self.queries = Some(text);
        Ok(())
    }
}

impl DnsOptions {
    /// Largest file of queries.
    const MAX_FILE_BYTES: u64 = 32 << 20;

    /// Queries per second as asked for, over all threads.
    pub fn queries_per_s(&self) -> Option<f64> {
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

    /// The queries, as they will be sent.
    ///
    /// Errors: there is none, or a line that is not a query.
    pub fn query_set(&self) -> Result<QuerySet, Refusal> {
        let wishes = Wishes {
            recursion: !self.no_recursion,
            udp_bytes: (self.udp_bytes > 0).then_some(self.udp_bytes),
            signatures: self.dnssec,
        };
        let mut set = QuerySet::new(wishes);
        let wrong = |wrong: NotAQuery| {
            let (says, hint) = wrong.told();
            operator(says, hint)
        };
        for name in &self.name {
            set.add(name, self.kind.0).map_err(wrong)?;
        }
        if let Some(lines) = &self.queries {
            set.add_lines(lines, self.kind.0).map_err(wrong)?;
        }
        match set.is_empty() {
            false => Ok(set),
            true => Err(operator(
                Text::new("error-dns-nothing"),
                Text::new("error-dns-nothing-hint"),
            )),
        }
    }

    /// Largest response over UDP.
    pub(crate) fn response_bytes(&self) -> usize {
        usize::from(self.udp_bytes.max(512))
    }
}
