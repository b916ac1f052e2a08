//! What can be asked of the connect/request/response test? The field docs are the manual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::Refusal;

use super::protocol::MIN_REQUEST_BYTES;
use crate::link::Transport;
use crate::refusal::operator;
use crate::rr::RrOptions;
use crate::rr::options::CommonOptions;

/// Options of `sokudo crr`: those that it shares with `rr`. Each thread has one connection at a
/// time, and that has one request.
#[derive(Debug, Clone, PartialEq, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CrrOptions {
    /// What it shares with `rr`.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
}

impl CrrOptions {
    /// The same for the exchange that both workloads share.
    pub fn as_rr(&self) -> RrOptions {
        RrOptions {
            common: self.common.clone(),
            ..RrOptions::default()
        }
    }

    /// The options as JSON text, as they travel in a plan.
    pub fn to_json(&self) -> String {
        // Every field writes itself as text or number: there is nothing that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Checks what the types cannot: how the options fit together.
    pub fn validate(&self) -> Result<(), Refusal> {
        if self.common.transport == Transport::Udp {
            return Err(operator(
                "a test of connections needs them, and UDP has none",
                "use --transport tcp or tls, or measure UDP with `sokudo rr`",
            ));
        }
        let request = self.common.size.request;
        if (1..MIN_REQUEST_BYTES).contains(&request) {
            return Err(operator(
                format!("a request of {request} B has no room for its ticket"),
                format!(
                    "use --size {MIN_REQUEST_BYTES} or more; a response may be shorter, as in --size {MIN_REQUEST_BYTES}:1"
                ),
            ));
        }
        self.as_rr().validate()
    }
}
