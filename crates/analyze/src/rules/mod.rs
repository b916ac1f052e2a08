//! Which conclusions can be drawn?
//!
//! One file per rule; a rule looks at one phase and adds what it concludes. Adding a rule is one
//! file and one line in [`REGISTRY`].

mod application_limited;
mod buffer_below_asked;
mod connection_churn;
mod corruption;
mod delayed_ack;
mod dropped_calls;
mod duplicates;
mod error_burst;
mod generator_limited;
mod hidden_stall;
mod host_busy;
mod hot_link;
mod loss_limited;
mod low_mtu;
mod neighbour_interference;
mod path_limited;
mod path_loss;
mod receive_window_limited;
mod receiver_buffer_overflow;
mod receiver_cpu_limited;
mod receiver_host_drops;
mod reordering;
mod request_failures;
mod send_buffer_limited;
mod sender_cpu_limited;
mod sender_refusal;
mod slow_label;
mod softirq_core;
mod spinning;
mod stalled_flow;
mod uneven_start;
mod unreachable;
mod window_full;

use crate::rule::{Kind, Rule};

/// Every rule, by name.
pub const REGISTRY: &[&dyn Rule] = &[
    &application_limited::ApplicationLimited,
    &buffer_below_asked::BufferBelowAsked,
    &connection_churn::ConnectionChurn,
    &corruption::Corruption,
    &delayed_ack::DelayedAck,
    &dropped_calls::DroppedCalls,
    &duplicates::Duplicates,
    &error_burst::ErrorBurst,
    &generator_limited::GeneratorLimited,
    &hidden_stall::HiddenStall,
    &host_busy::HostBusy,
    &hot_link::HotLink,
    &loss_limited::LossLimited,
    &low_mtu::LowMtu,
    &neighbour_interference::NeighbourInterference,
    &path_limited::PathLimited,
    &path_loss::PathLoss,
    &receive_window_limited::ReceiveWindowLimited,
    &receiver_buffer_overflow::ReceiverBufferOverflow,
    &receiver_cpu_limited::ReceiverCpuLimited,
    &receiver_host_drops::ReceiverHostDrops,
    &reordering::Reordering,
    &request_failures::RequestFailures,
    &send_buffer_limited::SendBufferLimited,
    &sender_cpu_limited::SenderCpuLimited,
    &sender_refusal::SenderRefusal,
    &slow_label::SlowLabel,
    &softirq_core::SoftirqCore,
    &spinning::Spinning,
    &stalled_flow::StalledFlow,
    &uneven_start::UnevenStart,
    &unreachable::Unreachable,
    &window_full::WindowFull,
];

/// True for a rule that says what limited the rate.
pub fn is_limit(rule: &str) -> bool {
    matches!(kind_of(rule), Some(Kind::Limit | Kind::Loss))
}

/// True for a rule that says where datagrams were lost.
pub fn is_loss(rule: &str) -> bool {
    kind_of(rule) == Some(Kind::Loss)
}

fn kind_of(rule: &str) -> Option<Kind> {
    let known = REGISTRY.iter().find(|known| known.name() == rule);
    known.map(|known| known.kind())
}
