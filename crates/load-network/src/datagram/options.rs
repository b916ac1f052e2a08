//! Options of `sokudo datagram`. The field docs are the manual.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_i18n::TextError;
use sokudo_model::units::UnitError;
use sokudo_model::{Bytes, Count, FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::udp::MAX_PAYLOAD_BYTES;
use sokudo_workload::choice::{self, Only, Subset};
use sokudo_workload::contract::Options;
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::Direction;
use sokudo_workload::json_as_text;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::times::{check_duration, check_interval};
pub use sokudo_workload::values::{ByteSize, HowMany as DatagramCount, LoadRate, Span};

use super::protocol::HEADER_BYTES;

/// Options of `sokudo datagram`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DatagramOptions {
    /// Datagram size without IP and UDP headers: `1468`, `1KiB`, or a range `64..1468` drawn
    /// uniformly. Default: what fits the path MTU.
    #[arg(long, value_name = "SIZE")]
    #[schemars(with = "Option<String>")]
    pub size: Option<SizeRange>,

    /// Bytes of each datagram to count as payload (goodput); 0 counts the whole datagram.
    #[arg(long, value_name = "SIZE", default_value = "0")]
    #[schemars(with = "String")]
    pub payload: ByteSize,

    /// Bytes of each datagram that the sender fills with a pattern and the receiver verifies.
    /// Default: the header only.
    #[arg(long, value_name = "SIZE")]
    #[schemars(with = "Option<String>")]
    pub verify: Option<ByteSize>,

    /// Load offered per sending host, over all its peers: `1Gb/s` (bits), `100MB/s` (bytes) or
    /// `20k/s` (datagrams). Default: as fast as possible.
    #[arg(long, value_name = "RATE", conflicts_with = "rate_per_peer")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<LoadRate>,

    /// Load offered to each peer.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate_per_peer: Option<LoadRate>,

    /// Send exactly this many datagrams to each peer, then stop.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<DatagramCount>,

    /// How long to send. Default: 10 s, or until --count is reached.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Who sends: this host (up), the peers (down), or both at once.
    #[arg(long, value_parser = choice::parser::<Directions>(), default_value = "up")]
    #[serde(deserialize_with = "choice::read::<Directions, _>")]
    #[schemars(with = "Only<Directions>")]
    pub direction: Direction,

    /// Parallel flows to each peer, each with its own thread and sockets.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub streams: u32,

    /// How datagrams are handed to the kernel. `auto` picks the fastest that this host showed in
    /// its self-test.
    #[arg(long, value_enum, default_value = "auto")]
    pub io: IoMode,

    /// Take several datagrams from the kernel as one buffer (GRO).
    #[arg(long, value_enum, default_value = "auto")]
    pub gro: Switch,

    /// Carry the datagrams over UDP, or framed over TCP or TLS.
    #[arg(long, value_parser = choice::parser::<Transports>(), default_value = "udp")]
    #[serde(deserialize_with = "choice::read::<Transports, _>")]
    #[schemars(with = "Only<Transports>")]
    pub transport: Transport,

    /// Receive buffer: bytes (`4MiB`) or datagrams (`1428pkt`). Default: 4 MiB.
    #[arg(long, value_name = "SIZE")]
    #[schemars(with = "Option<String>")]
    pub rcvbuf: Option<BufferSize>,

    /// Send buffer: bytes (`1MiB`) or datagrams (`16pkt`). Default: the system's.
    #[arg(long, value_name = "SIZE")]
    #[schemars(with = "Option<String>")]
    pub sndbuf: Option<BufferSize>,

    /// Refuse to run when the system grants smaller buffers than asked for.
    #[arg(long)]
    pub strict_buffers: bool,

    /// Local address and port to send from and receive on: `10.0.0.1`, `10.0.0.1:9999`, or a port
    /// range `10.0.0.1:9999..10002`. May be given several times: one stream per binding.
    #[arg(long, value_name = "ADDR[:PORT[..PORT]]")]
    #[schemars(with = "Vec<String>")]
    pub bind: Vec<Binding>,

    /// End the receiving side when nothing has arrived for this long after the senders stopped.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    #[schemars(with = "String")]
    pub idle_timeout: Span,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,

    /// Wait until the first datagram arrives before sending (with --direction both).
    #[arg(long)]
    pub polite: bool,

    /// Allow datagrams that do not fit the path MTU and must be cut into IP fragments.
    #[arg(long)]
    pub allow_fragments: bool,
}

impl Default for DatagramOptions {
    fn default() -> Self {
        Self {
            size: None,
            payload: ByteSize(0),
            verify: None,
            rate: None,
            rate_per_peer: None,
            count: None,
            duration: None,
            direction: Direction::Up,
            streams: 1,
            io: IoMode::Auto,
            gro: Switch::Auto,
            transport: Transport::Udp,
            rcvbuf: None,
            sndbuf: None,
            strict_buffers: false,
            bind: Vec::new(),
            idle_timeout: Span(1_000_000_000),
            interval: Span(250_000_000),
            polite: false,
            allow_fragments: false,
        }
    }
}

impl Options for DatagramOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        if let Some(SizeRange { min, max }) = self.size {
            if (min as usize) < HEADER_BYTES {
                return Err(operator(
                    Text::new("error-datagram-small")
                        .with("size", min)
                        .with("header", HEADER_BYTES),
                    Text::new("error-size-least-hint").with("least", HEADER_BYTES),
                ));
            }
            if max as usize > MAX_PAYLOAD_BYTES {
                return Err(operator(
                    Text::new("error-datagram-large").with("size", max),
                    Text::new("error-size-most-hint").with("most", MAX_PAYLOAD_BYTES),
                ));
            }
            let smallest = u64::from(min);
            if self.payload.0 > smallest || self.verify.is_some_and(|v| v.0 > smallest) {
                return Err(operator(
                    Text::new("error-datagram-payload").with("size", min),
                    Text::new("error-datagram-payload-hint"),
                ));
            }
        }
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        check_duration(self.duration, 0)?;
        check_interval(self.interval)?;
        if self.idle_timeout.0 > Self::MAX_IDLE_NS {
            return Err(operator(
                Text::new("error-datagram-idle"),
                Text::new("error-datagram-idle-hint"),
            ));
        }
        for rate in [self.rate, self.rate_per_peer].into_iter().flatten() {
            let per_s = rate
                .0
                .events_per_s(f64::from(self.size.map_or(1468, |s| s.mean())));
            if !(0.001..=1e9).contains(&per_s) {
                return Err(operator(
                    Text::new("error-datagram-unpaced")
                        .with("rate", rate.0)
                        .with("per_second", format!("{per_s:.3e}")),
                    Text::new("error-datagram-unpaced-hint"),
                ));
            }
        }
        if self.polite && self.direction == Direction::Up {
            return Err(operator(
                Text::new("error-datagram-polite"),
                Text::new("error-datagram-polite-hint"),
            ));
        }
        Ok(())
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        // One stream per binding, or more when more are asked for.
        let bindings = u32::try_from(self.bind.len()).unwrap_or(u32::MAX);
        super::flows(hosts, self.streams.max(bindings), self.direction)
    }

    fn duration_ns(&self) -> u64 {
        match (self.duration, self.count) {
            (Some(span), _) => span.0,
            (None, Some(_)) => 0,
            (None, None) => Self::DEFAULT_DURATION_NS,
        }
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        let per_peer = self.rate_per_peer.map(|_| "rate-per-peer");
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(per_peer).or(count)
    }
}

impl DatagramOptions {
    /// Duration when neither a duration nor a count is given.
    pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
    /// Receive buffer asked for when none is given.
    pub const DEFAULT_RCVBUF_BYTES: u64 = 4 << 20;
    /// Longest wait for stragglers that is accepted.
    const MAX_IDLE_NS: u64 = 15_000_000_000;
}

/// Directions in which datagrams are sent.
struct Directions;

impl Subset for Directions {
    type Choice = Direction;
    const NAME: &'static str = "Direction";
    const VALUES: &'static [(Direction, &'static str)] = &[
        (Direction::Up, "This host sends to its peers"),
        (Direction::Down, "The peers send to this host"),
        (Direction::Both, "Both at once"),
        (Direction::Mesh, "Every host sends to all others"),
        (
            Direction::MeshSelf,
            "Every host sends to all hosts, itself included",
        ),
    ];
}

/// Way in which datagrams are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IoMode {
    /// The fastest that this host showed.
    Auto,
    /// One system call per datagram.
    Plain,
    /// Several datagrams per system call (sendmmsg, recvmmsg).
    Mmsg,
    /// One buffer per system call, cut into datagrams by the kernel or the device (GSO).
    Gso,
}

/// On, off, or as fits the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// As fits the I/O mode.
    Auto,
    /// On.
    On,
    /// Off.
    Off,
}

/// Transports that carry datagrams.
struct Transports;

impl Subset for Transports {
    type Choice = Transport;
    const NAME: &'static str = "Transport";
    const VALUES: &'static [(Transport, &'static str)] = &[
        (Transport::Udp, "UDP"),
        (Transport::Tcp, "Framed over one TCP connection per flow"),
        (
            Transport::Tls,
            "Framed over one TLS 1.3 connection per flow",
        ),
    ];
}

/// A datagram size, or a range that sizes are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeRange {
    /// Smallest, bytes.
    pub min: u32,
    /// Largest, bytes.
    pub max: u32,
}

impl DatagramOptions {
    /// Demand of a phase with these options on a host.
    pub(crate) fn demand(&self, spec: &PhaseSpec) -> Demand {
        let sizes = self
            .size
            .map_or((HEADER_BYTES as u64, MAX_PAYLOAD_BYTES as u64), |size| {
                (size.min.into(), size.max.into())
            });
        let flow = |rate: Option<LoadRate>| {
            let rate = rate.map(|rate| rate.0);
            // At most one datagram in each is acknowledged.
            FlowDemand::one_way(rate, sizes, HEADER_BYTES as u64)
        };
        match (self.rate, self.rate_per_peer) {
            (None, Some(rate)) => Demand::of_flows(spec, self.duration_ns(), |_| {
                flow(Some(rate)).divided_by(self.streams as usize)
            }),
            (rate, _) => Demand::of_divided_flows(spec, self.duration_ns(), |_| flow(rate)),
        }
    }
}

impl SizeRange {
    /// Mean size, bytes.
    pub fn mean(self) -> u32 {
        self.min + (self.max - self.min) / 2
    }
}

impl FromStr for SizeRange {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let one = |part: &str| -> Result<u32, UnitError> {
            let bytes = part.parse::<Bytes>()?.0;
            u32::try_from(bytes).map_err(|_| UnitError::OutOfRange(part.into()))
        };
        let (min, max) = match text.split_once("..") {
            Some((min, max)) => (one(min)?, one(max)?),
            None => (one(text)?, one(text)?),
        };
        if min > max || max == 0 {
            return Err(UnitError::OutOfRange(text.into()));
        }
        Ok(Self { min, max })
    }
}

impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.min == self.max {
            true => write!(f, "{}", self.min),
            false => write!(f, "{}..{}", self.min, self.max),
        }
    }
}

json_as_text!(SizeRange);

/// A socket buffer in bytes or in datagrams of the test's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferSize {
    /// Bytes.
    Bytes(u64),
    /// Datagrams.
    Packets(u64),
}

impl BufferSize {
    /// Bytes when a datagram has `size_bytes`.
    pub fn bytes(self, size_bytes: u64) -> u64 {
        match self {
            BufferSize::Bytes(bytes) => bytes,
            BufferSize::Packets(packets) => packets.saturating_mul(size_bytes),
        }
    }
}

impl FromStr for BufferSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let size = match text.strip_suffix("pkt") {
            Some(packets) => BufferSize::Packets(packets.parse::<Count>()?.0),
            None => BufferSize::Bytes(text.parse::<Bytes>()?.0),
        };
        // The socket option is an i32 and Linux doubles it.
        if size.bytes(1468) > (i32::MAX / 2) as u64 {
            return Err(UnitError::OutOfRange(text.into()));
        }
        Ok(size)
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferSize::Bytes(bytes) => f.write_str(&Bytes(*bytes).exact()),
            BufferSize::Packets(packets) => write!(f, "{packets}pkt"),
        }
    }
}

json_as_text!(BufferSize);

/// Local addresses to bind: one per port of the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    host: String,
    first_port: u16,
    last_port: u16,
}

impl Binding {
    /// The addresses, one per port.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let ip = self.host.parse().ok();
        (self.first_port..=self.last_port)
            .filter_map(move |port| ip.map(|ip| SocketAddr::new(ip, port)))
    }
}

impl FromStr for Binding {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = || TextError::value("error-value-binding", text);
        let (host, ports) = if let Some(rest) = text.strip_prefix('[') {
            let (host, after) = rest.split_once(']').ok_or_else(error)?;
            (host, after.strip_prefix(':'))
        } else if text.matches(':').count() > 1 {
            (text, None)
        } else {
            match text.split_once(':') {
                Some((host, ports)) => (host, Some(ports)),
                None => (text, None),
            }
        };
        let port = |text: &str| text.parse::<u16>().map_err(|_| error());
        let (first_port, last_port) = match ports {
            None => (0, 0),
            Some(ports) => match ports.split_once("..") {
                Some((first, last)) => (port(first)?, port(last)?),
                None => (port(ports)?, port(ports)?),
            },
        };
        if first_port > last_port || (ports.is_some() && first_port == 0) {
            return Err(error());
        }
        let host = if host == "localhost" {
            "127.0.0.1"
        } else {
            host
        };
        host.parse::<std::net::IpAddr>().map_err(|_| error())?;
        Ok(Self {
            host: host.into(),
            first_port,
            last_port,
        })
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        match (self.first_port, self.last_port) {
            (0, _) => f.write_str(&host),
            (first, last) if first == last => write!(f, "{host}:{first}"),
            (first, last) => write!(f, "{host}:{first}..{last}"),
        }
    }
}

json_as_text!(Binding);

#[cfg(test)]
mod tests {
    use super::*;
    use sokudo_i18n::english;

    #[test]
    fn options_survive_json() {
        let options = DatagramOptions {
            size: Some("64..1468".parse().unwrap()),
            rate: Some("1Gb/s".parse().unwrap()),
            rcvbuf: Some("1428pkt".parse().unwrap()),
            bind: vec![
                "127.0.0.1:9999..10001".parse().unwrap(),
                "::1".parse().unwrap(),
            ],
            duration: Some("1.5s".parse().unwrap()),
            ..DatagramOptions::default()
        };
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(
            serde_json::from_str::<DatagramOptions>(&text).unwrap(),
            options
        );
    }

    #[test]
    fn bindings_may_name_a_port_range() {
        let binding: Binding = "10.0.0.1:9999..10001".parse().unwrap();
        assert_eq!(binding.addresses().count(), 3);
        for wrong in [
            "10.0.0.1:",
            "10.0.0.1:5..3",
            "name:1",
            "1.2.3.4:0",
            "[::1",
            "1.2.3.4:99999",
        ] {
            assert!(wrong.parse::<Binding>().is_err(), "{wrong}");
        }
        assert_eq!(
            "[::1]:80".parse::<Binding>().unwrap().addresses().count(),
            1
        );
    }

    #[test]
    fn what_cannot_work_is_said_with_a_hint() {
        let refuse = |options: DatagramOptions, word: &str| {
            let refusal = options.validate().unwrap_err();
            assert!(
                english(&refusal.says).contains(word),
                "{}",
                english(&refusal.says)
            );
            assert!(refusal.operator_error && refusal.hint.is_some());
        };
        let base = DatagramOptions::default;
        refuse(
            DatagramOptions {
                size: Some("10".parse().unwrap()),
                ..base()
            },
            "header",
        );
        refuse(
            DatagramOptions {
                size: Some("65508".parse().unwrap()),
                ..base()
            },
            "larger than UDP",
        );
        refuse(
            DatagramOptions {
                count: Some(DatagramCount(0)),
                ..base()
            },
            "sends nothing",
        );
        refuse(
            DatagramOptions {
                polite: true,
                ..base()
            },
            "--polite",
        );
        refuse(
            DatagramOptions {
                rate: Some("0/s".parse().unwrap()),
                ..base()
            },
            "cannot be paced",
        );
    }
}
