//! Options of `sokudo rr`. The field docs are the manual.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_i18n::TextError;
use sokudo_model::units::UnitError;
use sokudo_model::{Bytes, FlowPlan, PhaseSpec, Rate, Refusal, Text};
use sokudo_net::tcp::TcpOptions;
use sokudo_net::udp::MAX_PAYLOAD_BYTES;
use sokudo_net::wait::Wait;
use sokudo_workload::choice::{self, Choice, Only};
use sokudo_workload::contract::Options;
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::Direction;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::sample::Sample;
use sokudo_workload::times::{check_duration, check_interval, check_timeout, load_ns};
use sokudo_workload::values::{HowMany, RequestRate, Span};

use super::protocol::HEADER_BYTES;
use crate::choices::{AskingDirections, LinkTransports};

/// Options that `sokudo rr` and `sokudo crr` share.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommonOptions {
    /// Size of requests, and of responses when they differ: `64`, `64:4KiB`, without the headers
    /// of the transport. From 24 B on a message says whose it is; below, down to 1 B, `rr` over
    /// byte streams only.
    #[arg(long, value_name = "REQ[:RESP]", default_value = "64")]
    #[schemars(with = "String")]
    pub size: Sizes,

    /// What carries the messages.
    #[arg(long, value_parser = choice::parser::<LinkTransports>(), default_value = "tcp")]
    #[serde(deserialize_with = "choice::read::<LinkTransports, _>")]
    #[schemars(with = "Only<LinkTransports>")]
    pub transport: Transport,

    /// Requests per second that this host starts, over all its peers: `20k/s`. Latency then counts
    /// from the intended start. Default: a closed loop, in which each answer starts the next.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<RequestRate>,

    /// Threads for each peer, on both ends.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,

    /// How threads wait for messages, on both ends: `block` sleeps in the kernel, `epoll` too, with
    /// one call for many connections, `spin` asks without sleeping, `spin:50us` for so long.
    #[arg(long, value_name = "WAY", default_value = "block")]
    #[schemars(with = "String")]
    pub wait: WaitText,

    /// How long to measure. Default: 10 s.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Measure exactly so many requests per thread; without --duration it also ends when requests fail and none is
    /// answered for 10 s and three times --timeout.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Load before the measurement begins; it is not counted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// Who asks whom.
    #[arg(long, value_parser = choice::parser::<AskingDirections>(), default_value = "up")]
    #[serde(deserialize_with = "choice::read::<AskingDirections, _>")]
    #[schemars(with = "Only<AskingDirections>")]
    pub direction: Direction,

    /// A request without an answer for this long has failed. Its connection is given up; with UDP
    /// the message is taken for lost.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Requests whose latency is taken: all, none, or one in N as 1/N. All are counted.
    #[arg(long, value_name = "SHARE", default_value = "all")]
    #[schemars(with = "String")]
    pub sample: Sample,

    /// Keep the first N round trips of each thread one by one in the record.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100000")]
    #[schemars(with = "Option<String>")]
    pub keep: Option<HowMany>,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for CommonOptions {
    fn default() -> Self {
        Self {
            size: Sizes {
                request: 64,
                response: 64,
            },
            transport: Transport::Tcp,
            rate: None,
            threads: 1,
            wait: WaitText(Wait::Block),
            duration: None,
            count: None,
            warmup: Span(0),
            direction: Direction::Up,
            timeout: Span(5_000_000_000),
            sample: Sample::All,
            keep: None,
            interval: Span(250_000_000),
        }
    }
}

/// Options of `sokudo rr`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RrOptions {
    /// Options that it shares with `crr`.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,

    /// Requests that may be unanswered at a time, per connection.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub window: u32,

    /// Connections to each peer, shared out among the threads. Default: one per thread.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: Option<u32>,

    /// Send both ways at once: the far end sends each request back while it is still coming in, and
    /// this end reads while it writes.
    #[arg(long)]
    pub duplex: bool,

    /// Let the kernel wait for more bytes before it sends a small segment (Nagle's algorithm): what
    /// it costs where requests are small and several are under way (--window).
    #[arg(long)]
    pub nagle: bool,
}

impl Default for RrOptions {
    fn default() -> Self {
        Self {
            common: CommonOptions::default(),
            window: 1,
            connections: None,
            duplex: false,
            nagle: false,
        }
    }
}

impl RrOptions {
    /// Demand of a phase with these options on a host.
    pub(crate) fn demand(&self, spec: &PhaseSpec) -> Demand {
        let per_s = self.common.rate.map(|rate| self.common.events_per_s(rate));
        let Sizes { request, response } = self.common.size;
        Demand::of_divided_flows(spec, self.common.duration_ns(), |flow| {
            let connections = u64::from(self.connections_of(flow.stream));
            let answer = Some(response.into());
            FlowDemand::exchange(connections, per_s, request.into(), answer)
        })
    }
}

impl CommonOptions {
    /// Largest message.
    const MAX_MESSAGE_BYTES: u32 = 64 << 20;
    /// Most round trips kept per thread.
    const MAX_KEPT: u64 = 1_000_000;

    /// Duration of the load, the warm-up included, nanoseconds; 0 when only a count bounds it.
    pub fn duration_ns(&self) -> u64 {
        load_ns(self.duration, self.count, self.warmup)
    }

    /// A rate in requests per second; rates in bits or bytes count requests only.
    pub fn events_per_s(&self, rate: RequestRate) -> f64 {
        rate.0.events_per_s(f64::from(self.size.request))
    }

    /// The same load for a trial of a search: another rate, for so long.
    pub(crate) fn become_trial(&mut self, rate_per_s: Option<f64>, duration_ns: u64) {
        self.rate = rate_per_s.map(|rate| RequestRate(Rate::Events(rate)));
        self.count = None;
        self.duration = Some(Span(duration_ns));
    }

    /// The option that already says how much load there is.
    pub(crate) fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }

    /// The option that leaves latencies out.
    pub(crate) fn untimed(&self) -> Option<&'static str> {
        (self.sample == Sample::None).then_some("sample none")
    }

    /// Checks what the types cannot: how the options fit together.
    pub fn validate(&self) -> Result<(), Refusal> {
        self.check_sizes()?;
        self.check_times()?;
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-rr-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        if self.keep.is_some_and(|keep| keep.0 > Self::MAX_KEPT) {
            return Err(operator(
                Text::new("error-rr-keep"),
                Text::new("error-rr-keep-hint"),
            ));
        }
        if self.sample == Sample::None && self.keep.is_some() {
            return Err(operator(
                Text::new("error-rr-keep-sample"),
                Text::new("error-rr-keep-sample-hint"),
            ));
        }
        let pace = self.rate.map(|rate| self.events_per_s(rate));
        if let Some(per_s) = pace.filter(|per_s| !(0.001..=1e8).contains(per_s)) {
            return Err(operator(
                Text::new("error-requests-unpaced").with("rate", format!("{per_s:.3e}")),
                Text::new("error-requests-unpaced-hint"),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Refusal> {
        check_duration(self.duration, self.warmup.0)?;
        check_interval(self.interval)?;
        check_timeout(self.timeout)?;
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Refusal> {
        let (small, large) = self.size.smaller_and_larger();
        if small == 0 {
            return Err(operator(
                Text::new("error-message-empty"),
                Text::new("error-message-empty-hint"),
            ));
        }
        let is_udp = self.transport == Transport::Udp;
        if is_udp && (small as usize) < HEADER_BYTES {
            return Err(operator(
                Text::new("error-datagram-small")
                    .with("size", small)
                    .with("header", HEADER_BYTES),
                Text::new("error-datagram-small-tcp-hint").with("least", HEADER_BYTES),
            ));
        }
        if is_udp && large as usize > MAX_PAYLOAD_BYTES {
            return Err(operator(
                Text::new("error-message-datagram").with("size", large),
                Text::new("error-message-datagram-hint").with("most", MAX_PAYLOAD_BYTES),
            ));
        }
        if large > Self::MAX_MESSAGE_BYTES {
            return Err(operator(
                Text::new("error-message-large").with("size", large),
                Text::new("error-message-large-hint"),
            ));
        }
        Ok(())
    }
}

impl Options for RrOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.common.validate()?;
        self.check_under_way()?;
        self.check_watching()?;
        self.check_nagle()?;
        self.check_duplex()
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        super::flows(hosts, self.common.threads, self.common.direction)
    }

    fn duration_ns(&self) -> u64 {
        self.common.duration_ns()
    }

    fn interval_ns(&self) -> u64 {
        self.common.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        self.common.fixed()
    }

    fn untimed(&self) -> Option<&'static str> {
        self.common.untimed()
    }
}

impl RrOptions {
    /// Bytes of requests or responses that one connection may have under way whose writes are not
    /// taken in parts: above that both ends could wait for each other.
    const MAX_WHOLE_UNDER_WAY: u64 = 64 << 10;

    /// Connections of thread number `thread` of each peer.
    pub fn connections_of(&self, thread: u32) -> u32 {
        let threads = self.common.threads;
        let all = self.connections.unwrap_or(threads).max(threads);
        all / threads + u32::from(thread < all % threads)
    }

    /// Options of each connection.
    pub(crate) fn tcp(&self) -> TcpOptions {
        TcpOptions {
            nodelay: !self.nagle,
            ..TcpOptions::default()
        }
    }

    fn check_nagle(&self) -> Result<(), Refusal> {
        let transport = self.common.transport;
        let over_tcp = [Transport::Tcp, Transport::Mptcp, Transport::Tls];
        if self.nagle && !over_tcp.contains(&transport) {
            let name = transport.name();
            return Err(operator(
                Text::new("error-rr-nagle").with("transport", name),
                Text::new("error-rr-nagle-hint"),
            ));
        }
        Ok(())
    }

    fn check_under_way(&self) -> Result<(), Refusal> {
        let (_, large) = self.common.size.smaller_and_larger();
        let under_way = u64::from(self.window) * u64::from(large);
        let whole = !self.common.transport.writes_in_parts();
        if whole && self.window > 1 && under_way > Self::MAX_WHOLE_UNDER_WAY {
            return Err(operator(
                Text::new("error-rr-window")
                    .with("window", self.window)
                    .with("size", large)
                    .with("transport", self.common.transport.name()),
                Text::new("error-rr-window-hint"),
            ));
        }
        Ok(())
    }

    /// Kinds that wait only in their own read serve one request of one connection per thread.
    fn check_watching(&self) -> Result<(), Refusal> {
        let several = self.window > 1 || self.connections_of(0) > 1;
        if several && !self.common.transport.can_be_watched() {
            let name = self.common.transport.name();
            return Err(operator(
                Text::new("error-rr-one-at-a-time").with("transport", name),
                Text::new("error-rr-one-at-a-time-hint"),
            ));
        }
        if self.common.wait.0 == Wait::Epoll && !self.common.transport.can_be_watched() {
            let name = self.common.transport.name();
            return Err(operator(
                Text::new("error-no-epoll").with("transport", name),
                Text::new("error-no-epoll-hint"),
            ));
        }
        Ok(())
    }

    fn check_duplex(&self) -> Result<(), Refusal> {
        let Sizes { request, response } = self.common.size;
        if self.duplex && request != response {
            return Err(operator(
                Text::new("error-rr-duplex-size"),
                Text::new("error-rr-duplex-size-hint").with("request", request),
            ));
        }
        if self.duplex && !self.common.transport.writes_in_parts() {
            let name = self.common.transport.name();
            return Err(operator(
                Text::new("error-rr-duplex").with("transport", name),
                Text::new("error-rr-duplex-hint"),
            ));
        }
        Ok(())
    }
}

/// Sizes of requests and responses, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a request.
    pub request: u32,
    /// Bytes of a response.
    pub response: u32,
}

impl Sizes {
    fn smaller_and_larger(self) -> (u32, u32) {
        let Sizes { request, response } = self;
        (request.min(response), request.max(response))
    }
}

impl FromStr for Sizes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let one = |part: &str| -> Result<u32, UnitError> {
            let bytes = part.parse::<Bytes>()?.0;
            u32::try_from(bytes).map_err(|_| UnitError::OutOfRange(part.into()))
        };
        let (request, response) = text.split_once(':').unwrap_or((text, text));
        Ok(Self {
            request: one(request)?,
            response: one(response)?,
        })
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.request == self.response {
            true => write!(f, "{}", self.request),
            false => write!(f, "{}:{}", self.request, self.response),
        }
    }
}

sokudo_workload::json_as_text!(Sizes);

/// A way to wait, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitText(pub Wait);

impl FromStr for WaitText {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let wait = text.parse().map(WaitText);
        wait.map_err(|_| TextError::value("error-value-wait", text))
    }
}

impl fmt::Display for WaitText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

sokudo_workload::json_as_text!(WaitText);

#[cfg(test)]
mod tests {
    use super::*;
    use sokudo_i18n::english;

    /// Options from JSON fields over the defaults.
    fn options(fields: &str) -> RrOptions {
        serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test")
    }

    #[test]
    fn options_survive_json() {
        let options = options(
            r#""size":"64:4096","rate":"20k/s","wait":"spin:50us",
            "connections":1000,"threads":3,"sample":"1/10","duplex":true"#,
        );
        let read: RrOptions = serde_json::from_str(&options.to_json()).unwrap();
        assert_eq!(read, options);
        assert_eq!(read.common.threads, 3);
        let shares: u32 = (0..3).map(|thread| read.connections_of(thread)).sum();
        assert_eq!(shares, 1000);
    }

    #[test]
    fn a_field_that_nobody_knows_is_refused() {
        let read = serde_json::from_str::<RrOptions>(r#"{"treads":3}"#);
        assert!(read.unwrap_err().to_string().contains("treads"));
    }

    #[test]
    fn what_cannot_work_is_said_with_a_hint() {
        let check = |fields: &str, word: &str| {
            let refusal = options(fields).validate().unwrap_err();
            assert!(
                english(&refusal.says).contains(word),
                "{}",
                english(&refusal.says)
            );
            assert!(refusal.operator_error && refusal.hint.is_some());
        };
        check(r#""size":"0""#, "is none");
        check(r#""size":"23","transport":"udp""#, "header");
        check(r#""size":"64:1GiB""#, "64 MiB");
        check(r#""size":"65508","transport":"udp""#, "datagram");
        check(
            r#""size":"4KiB","transport":"tls","window":64"#,
            "under way",
        );
        check(r#""count":"0""#, "asks nothing");
        check(r#""size":"1KiB:2KiB","duplex":true"#, "same size");
        check(r#""transport":"tls","duplex":true"#, "while");
        check(r#""sample":"none","keep":"10""#, "takes no latency");
        assert!(options(r#""size":"1""#).validate().is_ok());
    }
}
