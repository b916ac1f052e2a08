//! What can be asked of the connect/request/response test? The field docs are the manual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::Refusal;

use crate::link::Transport;
use crate::refusal::operator;
use crate::rr::RrOptions;
use crate::rr::options::{Bounds, Direction, Sizes, WaitText};
use crate::values::{HowMany, LoadRate, Span};

/// Options of `sokudo crr`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CrrOptions {
    /// Size of requests, and of responses when they differ: `64`, `64:4KiB`. Without the headers
    /// of the transport; at least 24 B.
    #[arg(long, value_name = "REQ[:RESP]", default_value = "64")]
    #[schemars(with = "String")]
    pub size: Sizes,

    /// What carries the messages: tcp, tls or unix.
    #[arg(long, value_enum, default_value = "tcp")]
    pub transport: Transport,

    /// Connections per second that this host starts, over all its peers: `500/s`. Latency then
    /// counts from the intended start. Default: a closed loop, one after the other per thread.
    #[arg(long, value_name = "RATE")]
    #[schemars(with = "Option<String>")]
    pub rate: Option<LoadRate>,

    /// Threads for each peer, on both ends: so many connections exist at a time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,

    /// How threads wait for messages, on both ends: `block`, `epoll`, `spin`, `spin:50us`.
    #[arg(long, value_name = "WAY", default_value = "block")]
    #[schemars(with = "String")]
    pub wait: WaitText,

    /// How long to measure. Default: 10 s.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Make exactly so many connections per thread; without --duration nothing else ends the run.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// Load before the measurement begins; it is not counted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[schemars(with = "String")]
    pub warmup: Span,

    /// Who asks whom.
    #[arg(long, value_enum, default_value = "up")]
    pub direction: Direction,

    /// A request without an answer for this long has failed, and its connection with it.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Keep the first N round trips of each thread one by one in the record.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100000")]
    #[schemars(with = "Option<String>")]
    pub keep: Option<HowMany>,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,

    /// Search the highest rate that keeps bounds: `p99<5ms`, or several: `p99<5ms,errors<0.1%`.
    #[arg(long, value_name = "BOUNDS", conflicts_with_all = ["rate", "count"])]
    #[schemars(with = "Option<String>")]
    pub find: Option<Bounds>,
}

impl Default for CrrOptions {
    fn default() -> Self {
        let common = RrOptions::default();
        Self {
            size: common.size,
            transport: common.transport,
            rate: common.rate,
            threads: common.threads,
            wait: common.wait,
            duration: common.duration,
            count: common.count,
            warmup: common.warmup,
            direction: common.direction,
            timeout: common.timeout,
            keep: common.keep,
            interval: common.interval,
            find: common.find,
        }
    }
}

impl CrrOptions {
    /// The same for the exchange that both workloads share: one connection and one request per
    /// thread at a time.
    pub fn common(&self) -> RrOptions {
        let it = self.clone();
        RrOptions {
            size: it.size,
            transport: it.transport,
            rate: it.rate,
            window: 1,
            connections: None,
            threads: it.threads,
            wait: it.wait,
            duration: it.duration,
            count: it.count,
            warmup: it.warmup,
            direction: it.direction,
            timeout: it.timeout,
            keep: it.keep,
            interval: it.interval,
            find: it.find,
        }
    }

    /// The options as JSON text, as they travel in a plan.
    pub fn to_json(&self) -> String {
        // Every field writes itself as text or number: there is nothing that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Checks what the types cannot: how the options fit together.
    pub fn validate(&self) -> Result<(), Refusal> {
        if self.transport == Transport::Udp {
            return Err(operator(
                "a test of connections needs them, and UDP has none",
                "use --transport tcp or tls, or measure UDP with `sokudo rr`",
            ));
        }
        self.common().validate()
    }
}
