//! Options of `sokudo stream`. The field docs are the manual.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, Rate, Refusal, Text};
use sokudo_net::tcp::TcpOptions;
use sokudo_net::tcp::bulk::MAX_BLOCK_BYTES;
use sokudo_workload::choice::{self, Choice, Only};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::times::{MAX_TIMEOUT_NS, check_duration, check_interval};
use sokudo_workload::values::{ByteSize, LoadRate, Span};

use crate::choices::{LinkTransports, SendingDirections};

/// Options of `sokudo stream`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamOptions {
    /// What carries the bytes.
    #[arg(long, value_parser = choice::parser::<LinkTransports>(), default_value = "tcp")]
    #[serde(deserialize_with = "choice::read::<LinkTransports, _>")]
    #[schemars(with = "Only<LinkTransports>")]
    pub transport: Transport,

    /// Who sends to whom.
    #[arg(long, value_parser = choice::parser::<SendingDirections>(), default_value = "up")]
    #[serde(deserialize_with = "choice::read::<SendingDirections, _>")]
    #[schemars(with = "Only<SendingDirections>")]
    pub direction: Direction,

    /// Parallel connections for each peer and direction.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub streams: u32,

    /// Threads that share the connections of one peer and direction, on both ends. Default: one
    /// per connection.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,

    /// Bytes handed to the system per write; reads take as many, or 128 KiB when that is more.
    /// Default: 128 KiB; with --io auto what is fastest here.
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub size: Option<ByteSize>,

    /// How bytes are handed to the kernel (tcp, mptcp): `plain` copies them, `zerocopy` lends it
    /// the pages, `sendfile` sends from a file in memory, `auto` tries them for a second and takes
    /// the fastest; its readers are woken for up to 256 KiB at once.
    #[arg(long, value_enum, default_value = "plain")]
    pub io: IoMode,

    /// Let the receiving kernel count and drop the bytes (MSG_TRUNC): it shows what the way can
    /// carry, not what a program would get.
    #[arg(long)]
    pub discard: bool,

    /// Congestion control: `cubic`, `bbr`, … as this system calls it. Both ends.
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,

    /// Send buffer. Setting it turns the system's own tuning off.
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub sndbuf: Option<ByteSize>,

    /// Receive buffer. Setting it turns the system's own tuning off.
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub rcvbuf: Option<ByteSize>,

    /// Largest receive window offered (TCP_WINDOW_CLAMP).
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub window_clamp: Option<ByteSize>,

    /// Largest payload of a segment (TCP_MAXSEG).
    #[arg(long, value_name = "BYTES")]
    #[schemars(with = "Option<String>")]
    pub mss: Option<ByteSize>,

    /// Differentiated services code point, 0 to 63.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=63))]
    pub dscp: Option<u8>,

    /// Highest rate at which the kernel paces each connection (SO_MAX_PACING_RATE): `100Mb/s`.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub pacing: Option<LoadRate>,

    /// Let the kernel wait for more bytes before it sends a small segment (Nagle's algorithm).
    #[arg(long)]
    pub nagle: bool,

    /// Bytes that this host offers, over all its connections: `500Mb/s`, or writes: `2k/s`. Default:
    /// as many as are taken.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<LoadRate>,

    /// Receivers read no faster than this per connection: a slow reader on purpose.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub read_rate: Option<LoadRate>,

    /// Send exactly so many bytes per connection; without --duration nothing else ends the run.
    #[arg(long, value_name = "BYTES", conflicts_with = "warmup")]
    #[schemars(with = "Option<String>")]
    pub bytes: Option<ByteSize>,

    /// How long to measure. Default: 10 s.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Load before the measurement begins; it is not counted.
    #[arg(
        long,
        visible_alias = "omit",
        value_name = "TIME",
        default_value = "0s"
    )]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// A connection that takes nothing for this long is given up.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Time between two samples of the load on threads and of what they wait for.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,

    /// Width of the bins of the byte rates: narrow ones show the silences of slow starts and
    /// delayed acknowledgements.
    #[arg(long, value_name = "TIME", default_value = "50ms")]
    #[schemars(with = "String")]
    pub bins: Span,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            transport: Transport::Tcp,
            direction: Direction::Up,
            streams: 1,
            threads: None,
            size: None,
            io: IoMode::Plain,
            discard: false,
            cc: None,
            sndbuf: None,
            rcvbuf: None,
            window_clamp: None,
            mss: None,
            dscp: None,
            pacing: None,
            nagle: false,
            rate: None,
            read_rate: None,
            bytes: None,
            duration: None,
            warmup: Span(0),
            timeout: Span(20_000_000_000),
            interval: Span(250_000_000),
            bins: Span(50_000_000),
        }
    }
}

/// Way in which bytes are handed to the kernel.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IoMode {
    /// The kernel copies them.
    Plain,
    /// The kernel takes the program's pages (MSG_ZEROCOPY), where it can.
    Zerocopy,
    /// The kernel sends pages of a file in memory.
    Sendfile,
    /// Whatever a short test over loopback finds fastest; readers are woken for many bytes at once.
    Auto,
}

/// Bytes that a reader takes per call when it is woken for so many: what came meanwhile, too.
pub(super) fn read_bytes(gather_bytes: usize) -> usize {
    2 * gather_bytes
}

impl Options for StreamOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.check_transport()?;
        self.check_amounts()?;
        self.check_times()?;
        for (name, rate) in [
            ("--pacing", self.pacing),
            ("--read-rate", self.read_rate),
            ("--rate", self.rate),
        ] {
            check_rate(name, rate)?;
        }
        if self.pacing.is_some_and(|rate| bytes_per_s(rate) == 0.0) {
            return Err(operator(
                Text::new("error-stream-pacing"),
                Text::new("error-stream-rate-hint"),
            ));
        }
        if self.read_rate.is_some_and(|rate| bytes_per_s(rate) == 0.0) {
            return Err(operator(
                Text::new("error-stream-read-rate"),
                Text::new("error-stream-rate-hint"),
            ));
        }
        Ok(())
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        super::flows(hosts, self.streams, self.direction)
    }

    fn duration_ns(&self) -> u64 {
        match (self.duration, self.bytes) {
            (Some(span), _) => span.0 + self.warmup.0,
            (None, Some(_)) => 0,
            (None, None) => Self::DEFAULT_DURATION_NS + self.warmup.0,
        }
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        let bytes = self.bytes.map(|_| "bytes");
        self.rate.map(|_| "rate").or(bytes)
    }
}

impl StreamOptions {
    /// Duration when neither a duration nor a number of bytes is given.
    pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
    /// Bytes per write when nothing else is asked for.
    pub const DEFAULT_SIZE_BYTES: u64 = 128 << 10;
    /// Time whose bytes leave at once when a rate is asked for.
    const BURST_S: f64 = 0.005;
    /// Fewer bytes than this are not a burst: one segment.
    const MIN_BURST_BYTES: u64 = 1448;
    /// Bytes that the readers of one direction wait for, and one of them at least.
    const GATHER_BYTES: usize = 256 << 10;
    const LEAST_GATHER_BYTES: usize = 64 << 10;
    /// Narrowest bins.
    const MIN_BIN_NS: u64 = 1_000_000;

    /// Bytes per write. With a rate and no size, as many as are due in a short time: 128 KiB at
    /// once would be a burst on a slow way.
    pub fn size_bytes(&self) -> u64 {
        let most = Self::DEFAULT_SIZE_BYTES;
        match (self.size, self.rate.map(bytes_per_s)) {
            (Some(size), _) => size.0,
            (None, Some(all)) if all > 0.0 => {
                let each = all / f64::from(self.streams);
                ((each * Self::BURST_S) as u64).clamp(Self::MIN_BURST_BYTES, most)
            }
            (None, _) => most,
        }
    }

    /// Number of bytes that a reader waits for: many where the choice is left to this program and
    /// neither a slow pace nor a small window is part of the question. Several streams share what
    /// one would take, so that all of it stays in the caches; where they have fewer than two CPUs
    /// each, readers seldom sleep, and waiting would only hold the senders up.
    pub(super) fn gather_bytes(&self, cpus: usize) -> Option<usize> {
        let steady = self.rate.is_none() && self.read_rate.is_none() && self.pacing.is_none();
        let free = self.rcvbuf.is_none() && self.window_clamp.is_none();
        let streams = self.streams.max(1) as usize;
        let roomy = 2 * streams <= cpus;
        let share = (Self::GATHER_BYTES / streams).max(Self::LEAST_GATHER_BYTES);
        (self.io == IoMode::Auto && steady && free && roomy).then_some(share)
    }

    /// Threads that share the flows between two hosts.
    pub fn thread_count(&self) -> u32 {
        self.threads.unwrap_or(self.streams).min(self.streams)
    }

    /// Options of each connection.
    pub(super) fn tcp(&self) -> TcpOptions {
        let small = |size: ByteSize| u32::try_from(size.0).unwrap_or(u32::MAX);
        TcpOptions {
            nodelay: !self.nagle,
            cc: self.cc.clone(),
            sndbuf_bytes: self.sndbuf.map(|size| size.0),
            rcvbuf_bytes: self.rcvbuf.map(|size| size.0),
            window_clamp_bytes: self.window_clamp.map(small),
            mss_bytes: self.mss.map(small),
            dscp: self.dscp,
            max_pacing_bytes_per_s: self.pacing.map(|rate| bytes_per_s(rate) as u64),
            mptcp: self.transport == Transport::Mptcp,
            ..TcpOptions::default()
        }
    }

    /// Longest time that a connection may take nothing.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_nanos(self.timeout.0)
    }

    fn check_transport(&self) -> Result<(), Refusal> {
        let name = self.transport.name();
        if self.transport == Transport::Udp {
            return Err(operator(
                Text::new("error-stream-udp"),
                Text::new("error-stream-udp-hint"),
            ));
        }
        let kernel_tcp = matches!(self.transport, Transport::Tcp | Transport::Mptcp);
        if !kernel_tcp && (self.io != IoMode::Plain || self.discard) {
            return Err(operator(
                Text::new("error-stream-io").with("transport", name),
                Text::new("error-stream-io-hint"),
            ));
        }
        let over_tcp = kernel_tcp || self.transport == Transport::Tls;
        if !over_tcp && self.tcp() != TcpOptions::default() {
            return Err(operator(
                Text::new("error-stream-socket").with("transport", name),
                Text::new("error-stream-socket-hint"),
            ));
        }
        if self.thread_count() < self.streams && !self.transport.writes_in_parts() {
            return Err(operator(
                Text::new("error-stream-threads").with("transport", name),
                Text::new("error-stream-threads-hint"),
            ));
        }
        Ok(())
    }

    fn check_amounts(&self) -> Result<(), Refusal> {
        if !(1..=MAX_BLOCK_BYTES as u64).contains(&self.size_bytes()) {
            return Err(operator(
                Text::new("error-stream-size").with("most", MAX_BLOCK_BYTES >> 20),
                Text::new("error-stream-size-hint"),
            ));
        }
        if self.bytes.is_some_and(|bytes| bytes.0 == 0) {
            return Err(operator(
                Text::new("error-bytes-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        if self.bytes.is_some() && self.warmup.0 > 0 {
            return Err(operator(
                Text::new("error-stream-bytes-warmup"),
                Text::new("error-stream-bytes-warmup-hint"),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Refusal> {
        check_duration(self.duration, self.warmup.0)?;
        check_interval(self.interval)?;
        if self.bins.0 < Self::MIN_BIN_NS || self.bins.0 > self.interval.0.max(1_000_000_000) {
            return Err(operator(
                Text::new("error-stream-bins"),
                Text::new("error-stream-bins-hint"),
            ));
        }
        if !(10_000_000..=MAX_TIMEOUT_NS).contains(&self.timeout.0) {
            return Err(operator(
                Text::new("error-stream-timeout"),
                Text::new("error-stream-timeout-hint"),
            ));
        }
        Ok(())
    }
}

fn check_rate(name: &str, rate: Option<LoadRate>) -> Result<(), Refusal> {
    let amount = |rate: LoadRate| match rate.0 {
        Rate::Bits(value) | Rate::Bytes(value) | Rate::Events(value) => value,
    };
    match rate.map(amount) {
        Some(amount) if !(1e-3..=1e13).contains(&amount) => Err(operator(
            Text::new("error-stream-unpaced")
                .with("option", name)
                .with("amount", format!("{amount:.3e}")),
            Text::new("error-stream-unpaced-hint"),
        )),
        _ => Ok(()),
    }
}

/// Bytes per second of a rate that counts bits or bytes; 0 for one that counts events.
pub(super) fn bytes_per_s(rate: LoadRate) -> f64 {
    match rate.0 {
        Rate::Bits(bits) => bits / 8.0,
        Rate::Bytes(bytes) => bytes,
        Rate::Events(_) => 0.0,
    }
}
