//! Options of `sokudo probe`. The field docs are the manual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_net::udp::MAX_PAYLOAD_BYTES;
use sokudo_workload::choice::{self, Only};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::refusal::operator;
use sokudo_workload::times::{check_duration, check_interval, check_timeout};
use sokudo_workload::values::{ByteSize, HowMany, Span};

use super::protocol::HEADER_BYTES;
use crate::choices::AskingDirections;
use crate::rr;

/// Options of `sokudo probe`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProbeOptions {
    /// Time between two probes: 100 µs or more.
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    #[schemars(with = "String")]
    pub every: Span,

    /// Bytes of probes and answers, without IP and UDP headers.
    #[arg(long, value_name = "BYTES", default_value = "64")]
    #[schemars(with = "String")]
    pub size: ByteSize,

    /// How long to probe. Default: 10 s.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub duration: Option<Span>,

    /// Send exactly so many probes; without --duration nothing else ends the run.
    #[arg(long, value_name = "N")]
    #[schemars(with = "Option<String>")]
    pub count: Option<HowMany>,

    /// An answer that takes longer counts as late, and its delays do not count. At the end answers
    /// are waited for as long.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    #[schemars(with = "String")]
    pub timeout: Span,

    /// Class of service of probes and answers (DSCP, 0 to 63): 46 is expedited forwarding.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=63))]
    pub dscp: Option<u8>,

    /// Who probes whom.
    #[arg(long, value_parser = choice::parser::<AskingDirections>(), default_value = "up")]
    #[serde(deserialize_with = "choice::read::<AskingDirections, _>")]
    #[schemars(with = "Only<AskingDirections>")]
    pub direction: Direction,

    /// Keep the first N probes of each flow one by one in the record.
    #[arg(long, value_name = "N", default_value = "20000")]
    #[schemars(with = "String")]
    pub keep: HowMany,

    /// Time between two samples of the series.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[schemars(with = "String")]
    pub interval: Span,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            every: Span(10_000_000),
            size: ByteSize(64),
            duration: None,
            count: None,
            timeout: Span(2_000_000_000),
            dscp: None,
            direction: Direction::Up,
            keep: HowMany(20_000),
            interval: Span(250_000_000),
        }
    }
}

impl Options for ProbeOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        if !(HEADER_BYTES as u64..=MAX_PAYLOAD_BYTES as u64).contains(&self.size.0) {
            return Err(operator(
                Text::new("error-probe-size").with("size", self.size),
                Text::new("error-probe-size-hint")
                    .with("least", HEADER_BYTES)
                    .with("most", MAX_PAYLOAD_BYTES),
            ));
        }
        if !(Self::MIN_EVERY_NS..=Self::MAX_EVERY_NS).contains(&self.every.0) {
            return Err(operator(
                Text::new("error-probe-every"),
                Text::new("error-probe-every-hint"),
            ));
        }
        check_duration(self.duration, 0)?;
        check_timeout(self.timeout)?;
        check_interval(self.interval)?;
        if self.dscp.is_some_and(|dscp| dscp > 63) {
            return Err(operator(
                Text::new("error-probe-dscp"),
                Text::new("error-probe-dscp-hint"),
            ));
        }
        match self.probes() {
            0 => Err(operator(
                Text::new("error-probe-count-0"),
                Text::new("error-count-0-hint"),
            )),
            probes if probes > Self::MAX_PROBES => Err(operator(
                Text::new("error-probe-many").with("probes", probes),
                Text::new("error-probe-many-hint"),
            )),
            _ => Ok(()),
        }
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        rr::flows(hosts, 1, self.direction)
    }

    /// From the first probe to one interval after the last, nanoseconds.
    fn duration_ns(&self) -> u64 {
        self.probes().saturating_mul(self.every.0)
    }

    fn interval_ns(&self) -> u64 {
        self.interval.0
    }

    fn fixed(&self) -> Option<&'static str> {
        self.count.map(|_| "count")
    }
}

impl ProbeOptions {
    /// Duration when neither a duration nor a count is given.
    pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
    /// Longest time between two probes.
    const MAX_EVERY_NS: u64 = 60_000_000_000;
    /// Shortest.
    pub const MIN_EVERY_NS: u64 = 100_000;
    /// Most probes of a flow: each is remembered until the clocks have been compared again.
    pub const MAX_PROBES: u64 = 1_000_000;

    /// Probes of each flow, if none is left out.
    pub fn probes(&self) -> u64 {
        let counted = self.count.map(|count| count.0);
        let within = |span: u64| span.div_ceil(self.every.0.max(1));
        match (self.duration, counted) {
            (Some(span), Some(count)) => within(span.0).min(count),
            (Some(span), None) => within(span.0),
            (None, Some(count)) => count,
            (None, None) => within(Self::DEFAULT_DURATION_NS),
        }
    }
}
