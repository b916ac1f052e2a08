//! Options of the vendor's datagram test.
//!
//! It is taken as it is. Where the manual's default and the real one of release 24.09 differ, the
//! field says so; the real one is taken where the documented one cannot work. Options that begin
//! with `-sokudo` are additions, and so is a time where the vendor counts packets (`1s`).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use sokudo_model::{Nanos, Refusal, Text};
use sokudo_net::udp::MAX_PAYLOAD_BYTES;

use super::protocol::{DEFAULT_PORT, PREFIX_BYTES, Width};

/// Addresses that one command line may name, ranges counted out.
const MAX_ADDRESSES: usize = 1024;

/// Longest load that is accepted: 24 h.
const MAX_DURATION_MS: u64 = 86_400_000;

/// Buffer sizes are given in packets; more cannot be meant.
const MAX_BUFFER_PACKETS: u64 = 1 << 24;

/// The process bytes that the header takes in any case: everything up to a 32-bit number.
const LEAST_PROCESS_BYTES: u64 = 20;

/// Text for `-?`.
pub const HELP: &str = "\
The vendor's datagram test, its command line and its wire, spoken by sokudo.

  [options] [peer ...]        peer: ADDR[:PORT[..PORT]], port 9999 when left out

  -local ADDR:PORT[..PORT]    addresses to listen on and send from, separated by blanks in one argument;
                              default: this host's address towards the first peer, port 9999
  -packetSize N               bytes per packet; both ends must agree; default: MTU - 48 (tcp: MTU - 68)
  -payload N                  bytes of each packet that count in the rates; 0: the whole packet
  -processBytes N             bytes of each packet that are filled and checked, a multiple of 4; default 20
  -rxBufferSize N             receive buffer in packets; default 1428
  -txBufferSize N             send buffer in packets; default 32
  -rxTimeoutMs N              silence after which the senders have stopped; 0: never; default 1000
  -txRate N                   MiB per second over all peers and local addresses; default: no limit
  -txIterations N             rounds over all peers, exactly so many; default: no limit
  -txDurationMs N             how long to send; default: no limit
  -reportInterval N|TIME      packets, or a time such as 1s, between reports; 0: none; default 100000
  -tickInterval N             packets per tick mark; 0: none; default 1000
  -log FILE|stdout|stderr     table of results, one row per sender and interval
  -logInterval N|TIME         packets, or a time, between rows; default 100000
  -polite                     wait for the first packet before sending
  -provider system|tcp        UDP, or the vendor's framing over TCP
  -rand                       draw each packet's size from packetSize - payload + 1 to packetSize
  -sokudoSeq64                write 64-bit sequence numbers: a listener of release 24.09 then counts right
  -sokudoLayout 24.09|manual  report layout of that release, or of the printed manual
  -?                          this text
";

/// A host and a port as they were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// Name or IP address.
    pub host: String,
    /// UDP or TCP port.
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl HostPort {
    /// The first address that the system finds for it.
    pub fn resolve(&self) -> Result<SocketAddr, Refusal> {
        let wrong = |says: Text| operator(says, Text::new("error-coherence-unresolved-hint"));
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        found
            .map_err(|error| {
                wrong(
                    Text::new("error-coherence-unresolved")
                        .with("host", &self.host)
                        .with("error", error),
                )
            })?
            .next()
            .ok_or_else(|| wrong(Text::new("error-coherence-no-address").with("host", &self.host)))
    }
}

/// Distance between two reports or rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportInterval {
    /// Never.
    Off,
    /// After so many packets, counted over all publishers or peers.
    Packets(u64),
    /// After so many nanoseconds.
    Time(u64),
}

/// Destination of the table of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    /// Into the ordinary output.
    Stdout,
    /// To standard error.
    Stderr,
    /// Appended to a file; with several local addresses to `<port>-<name>` beside it.
    File(std::path::PathBuf),
}

/// Carrier of the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// UDP.
    System,
    /// The vendor's framing over TCP.
    Tcp,
}

/// Release whose report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Release 24.09: with gaps, ack time and completion times.
    Release24,
    /// The printed manual of release 12.2.1: eight lines per publisher.
    Manual,
}

/// The vendor's options.
#[derive(Debug, Clone, PartialEq)]
pub struct CoherenceDatagramOptions {
    /// `-local`: addresses to listen on, and to send from when there are peers. Empty: this host's
    /// address towards the first peer (without peers towards the default route), port 9999. The
    /// manual says `localhost`, and means the host's own network address.
    pub local: Vec<HostPort>,
    /// `-packetSize`, bytes. The manual says 1468; really it is the interface's MTU less 48 (less
    /// 68 over TCP), and so it is here when this is `None`.
    pub packet_size: Option<u32>,
    /// `-payload`, bytes of each packet that are counted; 0 counts the packet.
    pub payload: u32,
    /// `-processBytes`, bytes behind the first 8 that the publisher fills with copies of the
    /// sequence number and the listener checks. The manual says 4, which release 24.09 refuses
    /// because times and number alone take 20; smaller values are taken as 20 here.
    pub process_bytes: u32,
    /// `-rxBufferSize`, packets. Where the system grants less, the vendor ends; here a sentence
    /// says what was granted and the test goes on.
    pub rx_buffer_packets: u32,
    /// `-rxTimeoutMs`; 0 = never.
    pub rx_timeout_ms: u64,
    /// `-txBufferSize`, packets. The manual says 16; release 24.09 takes 32.
    pub tx_buffer_packets: u32,
    /// `-txRate`, MiB per second over all peers and all local addresses. The vendor takes whole
    /// numbers only.
    pub tx_rate_mib_per_s: Option<f64>,
    /// `-txIterations`, rounds over all peers. Exactly so many are sent; the vendor sends one less.
    pub tx_iterations: Option<u64>,
    /// `-txDurationMs`, counted from the first packet.
    pub tx_duration_ms: Option<u64>,
    /// `-reportInterval`.
    pub report_interval: ReportInterval,
    /// `-tickInterval`, packets; 0 = no marks.
    pub tick_interval: u64,
    /// `-log`.
    pub log: Option<LogTarget>,
    /// `-logInterval`.
    pub log_interval: ReportInterval,
    /// `-polite`: send only while a publisher sends to this host.
    pub polite: bool,
    /// `-provider`.
    pub provider: Provider,
    /// `-rand`: sizes drawn uniformly from `packet_size - payload + 1` to `packet_size`.
    pub random_size: bool,
    /// Destinations.
    pub peers: Vec<HostPort>,
    /// `-sokudoSeq64`: width of the sequence numbers that are written. Listeners of release 24.09
    /// need 64 bits, earlier ones 32.
    pub width: Width,
    /// `-sokudoLayout`.
    pub layout: Layout,
    /// Options that were taken otherwise than typed, as sentences.
    pub notes: Vec<String>,
}

impl Default for CoherenceDatagramOptions {
    fn default() -> Self {
        Self {
            local: Vec::new(),
            packet_size: None,
            payload: 0,
            process_bytes: LEAST_PROCESS_BYTES as u32,
            rx_buffer_packets: 1428,
            rx_timeout_ms: 1000,
            tx_buffer_packets: 32,
            tx_rate_mib_per_s: None,
            tx_iterations: None,
            tx_duration_ms: None,
            report_interval: ReportInterval::Packets(100_000),
            tick_interval: 1000,
            log: None,
            log_interval: ReportInterval::Packets(100_000),
            polite: false,
            provider: Provider::System,
            random_size: false,
            peers: Vec::new(),
            width: Width::Bits32,
            layout: Layout::Release24,
            notes: Vec::new(),
        }
    }
}

/// Milliseconds as the clock counts them, as far as they fit.
pub(super) fn nanoseconds(ms: u64) -> i64 {
    i64::try_from(ms)
        .unwrap_or(i64::MAX)
        .saturating_mul(1_000_000)
}

/// Request of a command line.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandLine {
    /// A test.
    Run(Box<CoherenceDatagramOptions>),
    /// The text [`HELP`].
    Help,
}

impl CoherenceDatagramOptions {
    /// Reads the arguments behind the program's name.
    ///
    /// Errors: operator errors with a hint. Names are not resolved and nothing is opened here.
    pub fn parse<A: AsRef<str>>(arguments: &[A]) -> Result<CommandLine, Refusal> {
        let mut options = CoherenceDatagramOptions::default();
        let mut rest = arguments.iter().map(AsRef::as_ref);
        while let Some(argument) = rest.next() {
            match argument {
                "-?" => return Ok(CommandLine::Help),
                "-polite" => options.polite = true,
                "-rand" => options.random_size = true,
                "-sokudoSeq64" => options.width = Width::Bits64,
                name if name.starts_with('-') => {
                    let value = rest.next().filter(|value| !value.starts_with('-'));
                    options.take(name, value)?;
                }
                peers => add_addresses(&mut options.peers, "peer", peers)?,
            }
        }
        options.check()?;
        Ok(CommandLine::Run(Box::new(options)))
    }

    fn take(&mut self, name: &str, value: Option<&str>) -> Result<(), Refusal> {
        if !KNOWN.contains(&name) {
            return Err(unknown(name));
        }
        let value = value.ok_or_else(|| {
            operator(
                Text::new("error-coherence-no-value").with("option", name),
                Text::new("error-coherence-no-value-hint").with("option", name),
            )
        })?;
        match name {
            "-local" => add_addresses(&mut self.local, name, value)?,
            "-packetSize" => self.packet_size = Some(number(name, value, packet_sizes())?),
            "-payload" => self.payload = number(name, value, (0, MAX_PAYLOAD_BYTES as u64))?,
            "-processBytes" => self.take_process_bytes(value)?,
            "-rxBufferSize" => {
                self.rx_buffer_packets = number(name, value, (1, MAX_BUFFER_PACKETS))?;
            }
            "-txBufferSize" => {
                self.tx_buffer_packets = number(name, value, (1, MAX_BUFFER_PACKETS))?;
            }
            "-rxTimeoutMs" => self.rx_timeout_ms = number(name, value, (0, MAX_DURATION_MS))?,
            "-txRate" => self.tx_rate_mib_per_s = rate(value)?,
            "-txIterations" => {
                self.tx_iterations = Some(number(name, value, (1, u64::from(u32::MAX)))?);
            }
            "-txDurationMs" => {
                self.tx_duration_ms = Some(number(name, value, (1, MAX_DURATION_MS))?);
            }
            "-reportInterval" => self.report_interval = interval(name, value)?,
            "-logInterval" => self.log_interval = interval(name, value)?,
            "-tickInterval" => self.tick_interval = number(name, value, (0, u64::MAX))?,
            "-log" => self.log = Some(log_target(value)),
            "-provider" => self.provider = provider(value)?,
            "-sokudoLayout" => self.layout = layout(value)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    fn take_process_bytes(&mut self, value: &str) -> Result<(), Refusal> {
        let name = "-processBytes";
        let asked: u64 = number(name, value, (0, MAX_PAYLOAD_BYTES as u64))?;
        if !asked.is_multiple_of(4) {
            return Err(operator(
                Text::new("error-coherence-multiple")
                    .with("option", name)
                    .with("value", asked),
                Text::new("error-coherence-multiple-hint"),
            ));
        }
        if asked < LEAST_PROCESS_BYTES {
            self.notes.push(format!(
                "`{name} {asked}` is taken as {LEAST_PROCESS_BYTES}: times and sequence number \
                 alone take that many"
            ));
        }
        self.process_bytes = asked.max(LEAST_PROCESS_BYTES) as u32;
        Ok(())
    }

    /// Checks how the options fit together. The size may still be open.
    fn check(&self) -> Result<(), Refusal> {
        if let Some(size) = self.packet_size {
            self.check_size(size)?;
        }
        if self.polite && self.peers.is_empty() {
            return Err(operator(
                Text::new("error-coherence-polite"),
                Text::new("error-coherence-polite-hint-datagram"),
            ));
        }
        let multicast = |peer: &&HostPort| {
            peer.host
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip.is_multicast())
        };
        if let Some(peer) = self.peers.iter().find(multicast) {
            return Err(operator(
                Text::new("error-coherence-multicast").with("peer", peer),
                Text::new("error-coherence-multicast-hint"),
            ));
        }
        Ok(())
    }

    /// Checks everything that depends on the packet size.
    pub fn check_size(&self, size: u32) -> Result<(), Refusal> {
        let least = self.width.header_bytes() as u32;
        if size < least || size > MAX_PAYLOAD_BYTES as u32 {
            return Err(operator(
                Text::new("error-coherence-packet").with("size", size),
                Text::new("error-coherence-packet-hint")
                    .with("least", least)
                    .with("most", MAX_PAYLOAD_BYTES),
            ));
        }
        if self.payload > size {
            return Err(operator(
                Text::new("error-coherence-payload")
                    .with("payload", self.payload)
                    .with("size", size),
                Text::new("error-coherence-payload-hint"),
            ));
        }
        if self.process_bytes.saturating_add(PREFIX_BYTES as u32) > size {
            let most = (size - PREFIX_BYTES as u32) / 4 * 4;
            return Err(operator(
                Text::new("error-coherence-process")
                    .with("bytes", self.process_bytes)
                    .with("size", size)
                    .with("prefix", PREFIX_BYTES),
                Text::new("error-coherence-process-hint").with("most", most),
            ));
        }
        Ok(())
    }

    /// Sizes to draw from, smallest first.
    pub fn sizes(&self, packet_size: u32) -> (u32, u32) {
        if !self.random_size {
            return (packet_size, packet_size);
        }
        let span = match self.payload {
            0 => packet_size,
            payload => payload,
        };
        let smallest = (self.process_bytes + PREFIX_BYTES as u32)
            .max(self.width.header_bytes() as u32)
            .min(packet_size);
        ((packet_size - span + 1).max(smallest), packet_size)
    }
}

const KNOWN: &[&str] = &[
    "-local",
    "-packetSize",
    "-payload",
    "-processBytes",
    "-rxBufferSize",
    "-txBufferSize",
    "-rxTimeoutMs",
    "-txRate",
    "-txIterations",
    "-txDurationMs",
    "-reportInterval",
    "-logInterval",
    "-tickInterval",
    "-log",
    "-provider",
    "-sokudoLayout",
];

pub(super) fn operator(says: impl Into<Text>, hint: impl Into<Text>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}

fn unknown(name: &str) -> Refusal {
    if name == "-options" {
        return operator(
            Text::new("error-coherence-options"),
            Text::new("error-coherence-options-hint"),
        );
    }
    operator(
        Text::new("error-coherence-no-option").with("option", name),
        Text::new("error-coherence-no-option-hint"),
    )
}

fn packet_sizes() -> (u64, u64) {
    (
        Width::Bits32.header_bytes() as u64,
        MAX_PAYLOAD_BYTES as u64,
    )
}

fn number<N: TryFrom<u64>>(name: &str, value: &str, bounds: (u64, u64)) -> Result<N, Refusal> {
    let (least, most) = bounds;
    let wrong = || {
        let hint = match most {
            u64::MAX => Text::new("error-coherence-least-hint").with("least", least),
            _ => Text::new("error-coherence-number-hint")
                .with("least", least)
                .with("most", most),
        };
        operator(
            Text::new("error-coherence-value")
                .with("option", name)
                .with("value", value),
            hint,
        )
    };
    let parsed: u64 = value.parse().map_err(|_| wrong())?;
    if parsed < least || parsed > most {
        return Err(wrong());
    }
    N::try_from(parsed).map_err(|_| wrong())
}

fn rate(value: &str) -> Result<Option<f64>, Refusal> {
    const MOST_MIB_PER_S: f64 = 1e6;
    match value.parse::<f64>() {
        Ok(0.0) => Ok(None),
        Ok(rate) if (1e-6..=MOST_MIB_PER_S).contains(&rate) => Ok(Some(rate)),
        _ => Err(operator(
            Text::new("error-coherence-value")
                .with("option", "-txRate")
                .with("value", value),
            Text::new("error-coherence-tx-rate-hint"),
        )),
    }
}

fn interval(name: &str, value: &str) -> Result<ReportInterval, Refusal> {
    const LEAST_NS: u64 = 10_000_000;
    if let Ok(packets) = value.parse::<u64>() {
        return Ok(match packets {
            0 => ReportInterval::Off,
            packets => ReportInterval::Packets(packets),
        });
    }
    match value.parse::<Nanos>() {
        Ok(Nanos(ns)) if (LEAST_NS..=MAX_DURATION_MS * 1_000_000).contains(&ns) => {
            Ok(ReportInterval::Time(ns))
        }
        _ => Err(operator(
            Text::new("error-coherence-value")
                .with("option", name)
                .with("value", value),
            Text::new("error-coherence-interval-hint"),
        )),
    }
}

fn log_target(value: &str) -> LogTarget {
    match value {
        "stdout" => LogTarget::Stdout,
        "stderr" => LogTarget::Stderr,
        path => LogTarget::File(path.into()),
    }
}

fn provider(value: &str) -> Result<Provider, Refusal> {
    match value {
        "system" => Ok(Provider::System),
        "tcp" => Ok(Provider::Tcp),
        "ssl" => Err(operator(
            Text::new("error-coherence-tls").with("value", "-provider ssl"),
            Text::new("error-coherence-tls-hint-datagram"),
        )),
        file if file.starts_with("file:") => Err(operator(
            Text::new("error-coherence-provider-file").with("value", file),
            Text::new("error-coherence-provider-file-hint"),
        )),
        other => Err(operator(
            Text::new("error-coherence-provider").with("value", other),
            Text::new("error-coherence-provider-hint"),
        )),
    }
}

fn layout(value: &str) -> Result<Layout, Refusal> {
    match value {
        "24.09" => Ok(Layout::Release24),
        "manual" => Ok(Layout::Manual),
        other => Err(operator(
            Text::new("error-coherence-layout").with("value", other),
            Text::new("error-coherence-layout-hint"),
        )),
    }
}

/// Adds `addr[:port[..port]]`, several separated by blanks or commas.
fn add_addresses(to: &mut Vec<HostPort>, name: &str, text: &str) -> Result<(), Refusal> {
    let items = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|item| !item.is_empty());
    for item in items {
        // `:9999` listens on all addresses of the host.
        let any = if name == "-local" && item.starts_with(':') && !item.starts_with("::") {
            Ipv4Addr::UNSPECIFIED.to_string()
        } else {
            String::new()
        };
        let item = &format!("{any}{item}");
        let (host, first, last) = address(item).ok_or_else(|| {
            operator(
                Text::new("error-coherence-address")
                    .with("option", name)
                    .with("value", item),
                Text::new("error-coherence-address-hint-datagram"),
            )
        })?;
        if to.len() + usize::from(last - first) >= MAX_ADDRESSES {
            return Err(operator(
                Text::new("error-coherence-addresses")
                    .with("option", item)
                    .with("most", MAX_ADDRESSES),
                Text::new("error-coherence-addresses-hint"),
            ));
        }
        to.extend((first..=last).map(|port| HostPort {
            host: host.to_owned(),
            port,
        }));
    }
    Ok(())
}

/// Host, first port, last port.
fn address(item: &str) -> Option<(&str, u16, u16)> {
    if item.parse::<Ipv6Addr>().is_ok() {
        return Some((item, DEFAULT_PORT, DEFAULT_PORT));
    }
    let (host, ports) = match item.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            match behind {
                "" => (host, None),
                behind => (host, Some(behind.strip_prefix(':')?)),
            }
        }
        None => match item.split_once(':') {
            Some((host, ports)) => (host, Some(ports)),
            None => (item, None),
        },
    };
    let plain = |c: char| !c.is_control() && !"[]/\\@".contains(c);
    if host.is_empty() || !host.chars().all(plain) {
        return None;
    }
    let (first, last) = match ports {
        None => (DEFAULT_PORT, DEFAULT_PORT),
        Some(ports) => match ports.split_once("..") {
            Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
            None => {
                let port = ports.parse().ok()?;
                (port, port)
            }
        },
    };
    (first > 0 && first <= last).then_some((host, first, last))
}

#[cfg(test)]
mod tests;
