//! Options of `sokudo crr`. The field docs are the manual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, Refusal, Text};
use sokudo_workload::contract::Options;
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;

use super::protocol::MIN_REQUEST_BYTES;
use crate::rr::options::CommonOptions;
use crate::rr::{self, RrOptions};

/// Options of `sokudo crr`: those that it shares with `rr`. Each thread has one connection at a
/// time, and that has one request.
#[derive(Debug, Clone, PartialEq, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CrrOptions {
    /// Options that it shares with `rr`.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
}

impl Options for CrrOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        if self.common.transport == Transport::Udp {
            return Err(operator(
                Text::new("error-crr-udp"),
                Text::new("error-crr-udp-hint"),
            ));
        }
        let request = self.common.size.request;
        if (1..MIN_REQUEST_BYTES).contains(&request) {
            return Err(operator(
                Text::new("error-crr-small").with("request", request),
                Text::new("error-crr-small-hint").with("least", MIN_REQUEST_BYTES),
            ));
        }
        self.as_rr().validate()
    }

    fn flows(&self, hosts: u32) -> Vec<FlowPlan> {
        rr::flows(hosts, self.common.threads, self.common.direction)
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

impl CrrOptions {
    /// The same for the exchange that both workloads share.
    pub fn as_rr(&self) -> RrOptions {
        RrOptions {
            common: self.common.clone(),
            ..RrOptions::default()
        }
    }
}
