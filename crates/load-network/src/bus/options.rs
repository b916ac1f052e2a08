//! Options of `sokudo bus`. The field docs are the manual.

use std::num::NonZeroU32;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_net::rdma;
use sokudo_net::wait::Wait;
use sokudo_workload::choice::{self, Choice, Only};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::sample::Sample;
use sokudo_workload::times::{check_duration, check_interval, check_timeout};
use sokudo_workload::values::{ByteSize, HowMany, LoadRate, Span};

use super::amounts::{Batch, Inflight, Warmup};
use super::protocol::HEADER_BYTES;
use super::window::Most;
use crate::choices::{BusTransports, SendingDirections};
use crate::datagram::options::SizeRange;
use crate::rr::options::WaitText;

/// Streaming measures one message in so many, as long as nothing else is asked for.
const STREAM_SAMPLE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Options of `sokudo bus`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BusOptions {
    /// Size of messages, header included: `4KiB`, or a range `64..16KiB` that sizes are drawn from,
    /// each as likely as any other. At least 24 B. An answer is as long as its message.
    #[arg(long, value_name = "BYTES[..BYTES]", default_value = "4KiB")]
    #[schemars(with = "String")]
    pub size: SizeRange,

    /// `stream`: as many messages as there is room for, some of them answered. `rr`: every message
    /// is answered, and the next waits for the answer.
    #[arg(long, value_enum, default_value = "stream")]
    pub mode: Mode,

    /// What carries the messages.
    #[arg(long, value_parser = choice::parser::<BusTransports>(), default_value = "tcp")]
    #[serde(deserialize_with = "choice::read::<BusTransports, _>")]
    #[schemars(with = "Only<BusTransports>")]
    pub transport: Transport,

    /// Sending threads for each peer, each with a connection of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub tx_threads: u32,

    /// Who handles what arrives: `inline`, the thread that reads the connection; `queue`, other
    /// threads, to which it is handed; `poll`, threads that look at all connections in turn and
    /// never sleep.
    #[arg(long, value_enum, default_value = "inline")]
    pub rx: Rx,

    /// Handling threads of each host with `--rx queue` or `poll`. Default: 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub rx_threads: Option<u32>,

    /// Messages per second that this host sends, over all its threads: `50k/s`, `1Gb/s`, `100MB/s`.
    /// Latency then counts from the intended time. Default: as fast as the window allows.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<LoadRate>,

    /// Messages per second that each receiving host handles: a slow consumer. Needs `--rx queue`.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub consume_rate: Option<LoadRate>,

    /// What may be under way on each connection, not yet acknowledged: `1MiB`, or a number of
    /// messages, `1000`. A larger window makes latency, hardly speed.
    #[arg(long, value_name = "BYTES|N", default_value = "512KiB")]
    #[schemars(with = "String")]
    pub inflight: Inflight,

    /// Messages that may be unanswered on each connection with `--mode rr`.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub window: u32,

    /// Messages that leave together: `auto` hands over what is there whenever there is no more, a
    /// number waits until so many are there.
    #[arg(long, value_name = "N|auto", default_value = "auto")]
    #[schemars(with = "String")]
    pub batch: Batch,

    /// Messages whose latency is measured: `all`, one in so many, `1/100`, or `none`. Default: all
    /// with `--mode rr`, 1/100 in streaming, where each measured message asks for an answer.
    #[arg(long, value_name = "all|1/N|none")]
    #[schemars(with = "Option<String>")]
    pub sample: Option<Sample>,

    /// Send no receipts: nothing is known of what is under way, and only the system's own buffers
    /// bound it.
    #[arg(long)]
    pub no_acks: bool,

    /// Do not keep the window; receipts only tell how much is under way.
    #[arg(long)]
    pub no_flow_control: bool,

    /// Write and read the payload of each message, so many bytes per access; 0 leaves it alone.
    #[arg(long, value_name = "BYTES", default_value = "0")]
    #[schemars(with = "String")]
    pub touch: ByteSize,

    /// Write the payload once and copy it into every message; with `--touch`.
    #[arg(long)]
    pub reuse: bool,

    /// Where bytes lie on their way: `pool` uses the same memory again and again, `heap` asks the
    /// system for each batch anew, `registered` locks the memory into RAM.
    #[arg(long, value_enum, default_value = "pool")]
    pub buffers: Buffers,

    /// How threads wait, on both ends: `block` sleeps in the kernel, `epoll` too, `spin` asks
    /// without sleeping, `spin:50us` for so long.
    #[arg(long, value_name = "WAY", default_value = "block")]
    #[schemars(with = "String")]
    pub wait: WaitText,

    /// Send along a chain: to the first HOST, which sends on to the second, and so on; answers
    /// come back the same way.
    #[arg(long)]
    pub relay: bool,

    /// A connection for each message.
    #[arg(long)]
    pub single: bool,

    /// Send only when the first message of another host has come in. Needs `--direction both` or
    /// `mesh`.
    #[arg(long)]
    pub polite: bool,

    /// Ask before each message: one leaves with each line on standard input.
    #[arg(long)]
    pub step: bool,

    /// Who sends.
    #[arg(long, value_parser = choice::parser::<SendingDirections>(), default_value = "up")]
    #[serde(deserialize_with = "choice::read::<SendingDirections, _>")]
    #[schemars(with = "Only<SendingDirections>")]
    pub direction: Direction,

    /// How long to measure. Default: 10 s.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Send exactly so many messages per thread; without --duration nothing else ends the run.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Load before the measurement begins, a time or a number of messages per thread: `2s`,
    /// `10000`. It is not counted.
    #[arg(long, value_name = "TIME|N", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Warmup,

    /// A connection on which nothing comes back for this long although something is under way has
    /// failed.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for BusOptions {
    fn default() -> Self {
        Self {
            size: SizeRange {
                min: 4096,
                max: 4096,
            },
            mode: Mode::Stream,
            transport: Transport::Tcp,
            tx_threads: 1,
            rx: Rx::Inline,
            rx_threads: None,
            rate: None,
            consume_rate: None,
            inflight: Inflight::Bytes(512 << 10),
            window: 1,
            batch: Batch::Auto,
            sample: None,
            no_acks: false,
            no_flow_control: false,
            touch: ByteSize(0),
            reuse: false,
            buffers: Buffers::Pool,
            wait: WaitText(Wait::Block),
            relay: false,
            single: false,
            polite: false,
            step: false,
            direction: Direction::Up,
            duration: None,
            count: None,
            warmup: Warmup::Time(0),
            timeout: Span(5_000_000_000),
            interval: Span(250_000_000),
        }
    }
}

/// Condition on which the next message leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// For room in the window.
    Stream,
    /// For the answers to those before it.
    Rr,
}

/// Says what stands between this host and messages over RDMA.
fn no_rdma() -> Refusal {
    match rdma::Endpoint::open_first() {
        Err(error) => operator(error.to_string(), error.hint()),
        Ok(endpoint) => operator(
            Text::new("error-rdma").with("device", endpoint.device()),
            Text::new("error-rdma-hint"),
        ),
    }
}

/// Threads that handle what arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rx {
    /// The thread that reads the connection.
    Inline,
    /// Other threads, to which it is handed.
    Queue,
    /// Threads that look at all connections in turn and never sleep.
    Poll,
}

/// Memory that holds the bytes on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Buffers {
    /// The same memory again and again.
    Pool,
    /// Memory of its own for each batch.
    Heap,
    /// Memory that is locked into RAM.
    Registered,
}

impl Options for BusOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.check_sizes()?;
        self.check_times()?;
        self.check_rates()?;
        self.check_ways()?;
        self.check_waits()
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        super::flows(hosts, self)
    }

    fn duration_ns(&self) -> u64 {
        let warmup_ns = match self.warmup {
            Warmup::Time(ns) => ns,
            Warmup::Messages(_) => 0,
        };
        match (self.duration, self.count) {
            (Some(span), _) => span.0 + warmup_ns,
            (None, Some(_)) => 0,
            (None, None) if self.step => 0,
            (None, None) => Self::DEFAULT_DURATION_NS + warmup_ns,
        }
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        let count = self.count.map(|_| "count");
        self.rate.map(|_| "rate").or(count)
    }

    fn untimed(&self) -> Option<&'static str> {
        (self.sampled() == Sample::None).then_some("sample none")
    }
}

impl BusOptions {
    /// Duration when neither a duration nor a count is given.
    pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
    /// Largest message.
    const MAX_MESSAGE_BYTES: u32 = 64 << 20;
    /// Largest window.
    const MAX_INFLIGHT_BYTES: u64 = 1 << 30;

    /// A rate in messages per second, at the mean size.
    pub fn events_per_s(&self, rate: LoadRate) -> f64 {
        rate.0.events_per_s(f64::from(self.size.mean()))
    }

    /// Messages to measure.
    pub fn sampled(&self) -> Sample {
        self.sample.unwrap_or(match self.mode {
            Mode::Rr => Sample::All,
            Mode::Stream => Sample::OneIn(STREAM_SAMPLE),
        })
    }

    /// Bound of what may be under way on one connection.
    pub fn most(&self) -> Most {
        match (self.mode, self.inflight) {
            (Mode::Rr, _) => Most {
                bytes: u64::MAX,
                messages: u64::from(self.window),
            },
            _ if self.no_acks || self.no_flow_control => Most::NONE,
            (_, Inflight::Bytes(bytes)) => Most {
                bytes,
                messages: u64::MAX,
            },
            (_, Inflight::Messages(messages)) => Most {
                bytes: u64::MAX,
                messages,
            },
        }
    }

    /// Bytes that a receiver may take before it says so: a quarter of the window.
    pub fn receipt_every_bytes(&self) -> u64 {
        let most = self.most();
        let mean = u64::from(self.size.mean());
        let window = most.bytes.min(most.messages.saturating_mul(mean));
        (window / 4).clamp(1, 256 << 10)
    }

    fn check_sizes(&self) -> Result<(), Refusal> {
        let SizeRange { min, max } = self.size;
        if (min as usize) < HEADER_BYTES {
            return Err(operator(
                Text::new("error-message-small")
                    .with("min", min)
                    .with("header", HEADER_BYTES),
                Text::new("error-size-least-hint").with("least", HEADER_BYTES),
            ));
        }
        if max > Self::MAX_MESSAGE_BYTES {
            return Err(operator(
                Text::new("error-message-large").with("size", max),
                Text::new("error-bus-large-hint"),
            ));
        }
        let window = self.most().bytes;
        if u64::from(max) > window {
            return Err(operator(
                Text::new("error-bus-inflight-small")
                    .with("size", max)
                    .with("window", window),
                Text::new("error-bus-inflight-small-hint"),
            ));
        }
        if matches!(self.inflight, Inflight::Bytes(bytes) if bytes > Self::MAX_INFLIGHT_BYTES) {
            return Err(operator(
                Text::new("error-bus-inflight-large"),
                Text::new("error-bus-inflight-large-hint"),
            ));
        }
        let touch = self.touch.0;
        if touch > u64::from(max) {
            return Err(operator(
                Text::new("error-bus-touch")
                    .with("touch", touch)
                    .with("size", max),
                Text::new("error-bus-touch-hint"),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Refusal> {
        if self.count.is_some_and(|count| count.0 == 0) {
            return Err(operator(
                Text::new("error-count-0"),
                Text::new("error-count-0-hint"),
            ));
        }
        let warmup_ns = match self.warmup {
            Warmup::Time(ns) => ns,
            Warmup::Messages(_) => 0,
        };
        check_duration(self.duration, warmup_ns)?;
        check_interval(self.interval)?;
        check_timeout(self.timeout)?;
        Ok(())
    }

    fn check_rates(&self) -> Result<(), Refusal> {
        for rate in [self.rate, self.consume_rate].into_iter().flatten() {
            let per_s = self.events_per_s(rate);
            if !(0.001..=1e8).contains(&per_s) {
                return Err(operator(
                    Text::new("error-messages-unpaced").with("rate", format!("{per_s:.3e}")),
                    Text::new("error-messages-unpaced-hint"),
                ));
            }
        }
        if self.consume_rate.is_some() && self.rx != Rx::Queue {
            return Err(operator(
                Text::new("error-bus-consume"),
                Text::new("error-bus-consume-hint"),
            ));
        }
        if self.rx_threads.is_some() && self.rx == Rx::Inline {
            return Err(operator(
                Text::new("error-bus-rx-threads"),
                Text::new("error-bus-rx-threads-hint"),
            ));
        }
        if self.reuse && self.touch.0 == 0 {
            return Err(operator(
                Text::new("error-bus-reuse"),
                Text::new("error-bus-reuse-hint"),
            ));
        }
        Ok(())
    }

    fn check_ways(&self) -> Result<(), Refusal> {
        let both_ways = matches!(self.direction, Direction::Both | Direction::Mesh);
        if self.polite && !both_ways {
            return Err(operator(
                Text::new("error-bus-polite"),
                Text::new("error-bus-polite-hint"),
            ));
        }
        if self.relay && self.direction != Direction::Up {
            return Err(operator(
                Text::new("error-bus-relay-direction"),
                Text::new("error-no-direction-hint"),
            ));
        }
        if self.relay && self.rx != Rx::Inline {
            return Err(operator(
                Text::new("error-bus-relay-rx"),
                Text::new("error-bus-relay-rx-hint"),
            ));
        }
        if self.step && self.direction != Direction::Up {
            return Err(operator(
                Text::new("error-bus-step-others"),
                Text::new("error-no-direction-hint"),
            ));
        }
        let single_only = self.window > 1 || self.mode == Mode::Stream || self.relay;
        if self.single && (single_only || self.rx != Rx::Inline) {
            return Err(operator(
                Text::new("error-bus-single"),
                Text::new("error-bus-single-hint"),
            ));
        }
        if matches!(self.batch, Batch::Count(n) if self.mode == Mode::Rr && n > self.window) {
            return Err(operator(
                Text::new("error-bus-batch"),
                Text::new("error-bus-batch-hint"),
            ));
        }
        Ok(())
    }

    fn check_waits(&self) -> Result<(), Refusal> {
        if self.transport == Transport::Rdma {
            return Err(no_rdma());
        }
        let transport = self.transport;
        let watched = self.wait.0 == Wait::Epoll || self.rx == Rx::Poll;
        if self.wait.0 == Wait::Epoll && watched && !transport.can_be_watched() {
            return Err(operator(
                Text::new("error-no-epoll").with("transport", transport.name()),
                Text::new("error-no-epoll-hint"),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sokudo_i18n::english;

    #[test]
    fn options_survive_json() {
        let options = BusOptions {
            size: "64..16KiB".parse().unwrap(),
            rate: Some("20k/s".parse().unwrap()),
            consume_rate: Some("1Gb/s".parse().unwrap()),
            rx: Rx::Queue,
            rx_threads: Some(3),
            inflight: "1000".parse().unwrap(),
            batch: "16".parse().unwrap(),
            sample: Some("1/10".parse().unwrap()),
            warmup: "5000".parse().unwrap(),
            wait: "spin:50us".parse().unwrap(),
            ..BusOptions::default()
        };
        options.validate().unwrap();
        let read: BusOptions = serde_json::from_str(&options.to_json()).unwrap();
        assert_eq!(read, options);
    }

    #[test]
    fn what_cannot_work_is_said_with_a_hint() {
        let check = |fields: &str, word: &str| {
            let options: BusOptions = serde_json::from_str(fields).unwrap();
            let refusal = options.validate().unwrap_err();
            assert!(
                english(&refusal.says).contains(word),
                "{}",
                english(&refusal.says)
            );
            assert!(refusal.operator_error && refusal.hint.is_some());
        };
        check(r#"{"size":"23"}"#, "header");
        check(r#"{"size":"1GiB"}"#, "64 MiB");
        check(r#"{"size":"1MiB"}"#, "--inflight");
        check(r#"{"count":"0"}"#, "sends nothing");
        check(r#"{"consume_rate":"10/s"}"#, "--consume-rate");
        check(r#"{"rx_threads":2}"#, "--rx-threads");
        check(r#"{"reuse":true}"#, "--reuse");
        check(r#"{"polite":true}"#, "--polite");
        check(r#"{"relay":true,"direction":"both"}"#, "--relay");
        check(r#"{"single":true}"#, "--single");
        check(r#"{"mode":"rr","batch":"8"}"#, "--batch");
        check(r#"{"touch":"8KiB"}"#, "--touch");
        check(r#"{"wait":"epoll","transport":"shm"}"#, "epoll");
        check(r#"{"transport":"rdma"}"#, "RDMA");
    }

    #[test]
    fn the_window_is_what_the_mode_says() {
        let read = |fields: &str| -> BusOptions { serde_json::from_str(fields).unwrap() };
        let rr = read(r#"{"mode":"rr","window":7,"inflight":"1MiB"}"#);
        assert_eq!(rr.most().messages, 7);
        let bytes = read(r#"{"inflight":"1MiB"}"#);
        assert_eq!(bytes.most().bytes, 1 << 20);
        assert_eq!(bytes.receipt_every_bytes(), 256 << 10);
        assert_eq!(read(r#"{"no_acks":true}"#).most(), Most::NONE);
        assert_eq!(read(r#"{"inflight":"8"}"#).receipt_every_bytes(), 8192);
    }
}
