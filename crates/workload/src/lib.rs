//! The contract between a load and its caller, and what all kinds of load share.
//!
//! A workload is one folder in a crate of its family (`load-network`, `load-http`). It emits samples
//! and never prints; it knows neither monitors nor reports.

pub mod admission;
pub mod apart;
pub mod checked;
pub mod choice;
pub mod consent;
pub mod contract;
pub mod crew;
pub mod crowd;
pub mod demand;
pub mod effort;
pub mod exchange;
pub mod failures;
pub mod flows;
pub mod handover;
pub mod histogram_text;
pub mod joined;
pub mod json;
pub mod limit;
pub mod link;
mod link_text;
pub mod load;
pub mod load_time;
pub mod meet;
pub mod patience;
pub mod place;
pub mod ports;
pub mod refusal;
pub mod reporting;
pub mod sample;
pub mod schedule;
pub mod tcp_state;
pub mod text_file;
pub mod times;
pub mod told;
pub mod turns;
pub mod values;

pub use contract::{Descriptor, Emit, Emitted, HostResult, Options, Phase, Workload};
pub use demand::{Demand, FlowDemand};
pub use load::{Ends, Load, Numbers, OwnFlows};
