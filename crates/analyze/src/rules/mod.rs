//! The rules, one file each.
//!
//! One file per rule; a rule looks at one phase and adds what it concludes. Adding a rule is one
//! file and one line in [`REGISTRY`].

mod answer_wait;
mod application_limited;
mod black_hole;
mod buffer_below_asked;
mod cache_miss;
mod checkpoint_dip;
mod checksum_errors;
mod client_bound;
mod connection_churn;
mod conntrack_full;
mod corruption;
mod cpu_quota;
mod database_cpu;
mod database_lost;
mod delayed_ack;
mod device_queue;
mod dropped_calls;
mod duplicates;
mod embedded_database;
mod error_answers;
mod error_burst;
mod far_end_lost;
mod filter_drops;
mod fsync_bound;
mod generator_limited;
mod hidden_stall;
mod host_busy;
mod hot_link;
mod interrupted;
mod lock_chain;
mod loss_limited;
mod lost_queries;
mod low_mtu;
mod name_server_errors;
mod neighbour_interference;
mod path_limited;
mod path_loss;
mod plan_change;
mod receive_window_limited;
mod receiver_buffer_overflow;
mod receiver_cpu_limited;
mod receiver_host_drops;
mod redirected;
mod reordering;
mod repeated_transactions;
mod replication_stage;
mod request_failures;
mod request_path;
mod request_stage;
mod send_buffer_limited;
mod sender_cpu_limited;
mod sender_refusal;
mod server_cpu_limited;
mod server_stalls;
mod session_pool;
mod slow_label;
mod slow_start;
mod softirq_core;
mod spinning;
mod stalled_flow;
mod target_queue;
mod transaction_failures;
mod truncated_responses;
mod turned_away;
mod uneven_service;
mod uneven_start;
mod unreachable;
mod unserved_connections;
mod window_full;

pub use application_limited::is_as_asked;
pub use far_end_lost::is_one as is_far_end_lost;

use crate::rule::{Purpose, Rule, Standing};

/// Every rule, by name.
pub const REGISTRY: &[&Rule] = &[
    &answer_wait::RULE,
    &application_limited::RULE,
    &black_hole::RULE,
    &buffer_below_asked::RULE,
    &cache_miss::RULE,
    &checkpoint_dip::RULE,
    &checksum_errors::RULE,
    &client_bound::RULE,
    &connection_churn::RULE,
    &conntrack_full::RULE,
    &corruption::RULE,
    &cpu_quota::RULE,
    &database_cpu::RULE,
    &database_lost::RULE,
    &delayed_ack::RULE,
    &device_queue::RULE,
    &dropped_calls::RULE,
    &duplicates::RULE,
    &embedded_database::RULE,
    &error_answers::RULE,
    &error_burst::RULE,
    &far_end_lost::RULE,
    &filter_drops::RULE,
    &fsync_bound::RULE,
    &generator_limited::RULE,
    &hidden_stall::RULE,
    &host_busy::RULE,
    &hot_link::RULE,
    &interrupted::RULE,
    &lock_chain::RULE,
    &loss_limited::RULE,
    &lost_queries::RULE,
    &low_mtu::RULE,
    &name_server_errors::RULE,
    &neighbour_interference::RULE,
    &path_limited::RULE,
    &path_loss::RULE,
    &plan_change::RULE,
    &receive_window_limited::RULE,
    &receiver_buffer_overflow::RULE,
    &receiver_cpu_limited::RULE,
    &receiver_host_drops::RULE,
    &redirected::RULE,
    &reordering::RULE,
    &repeated_transactions::RULE,
    &replication_stage::RULE,
    &request_failures::RULE,
    &request_path::RULE,
    &request_stage::RULE,
    &send_buffer_limited::RULE,
    &sender_cpu_limited::RULE,
    &sender_refusal::RULE,
    &server_cpu_limited::RULE,
    &server_stalls::RULE,
    &session_pool::RULE,
    &slow_label::RULE,
    &slow_start::RULE,
    &softirq_core::RULE,
    &spinning::RULE,
    &stalled_flow::RULE,
    &target_queue::RULE,
    &transaction_failures::RULE,
    &truncated_responses::RULE,
    &turned_away::RULE,
    &uneven_service::RULE,
    &uneven_start::RULE,
    &unreachable::RULE,
    &unserved_connections::RULE,
    &window_full::RULE,
];

/// True for a rule that says what limited the rate.
pub fn is_limit(rule: &str) -> bool {
    standing_of(rule).is_some()
}

/// True for a rule that says where datagrams were lost.
pub fn is_loss(rule: &str) -> bool {
    known(rule).is_some_and(|rule| rule.purpose == Purpose::Loss)
}

/// Standing of a rule among those that say what limited the rate; `None` for one that describes.
pub fn standing_of(rule: &str) -> Option<Standing> {
    known(rule)?.purpose.standing()
}

/// The rule of this name.
pub fn known(name: &str) -> Option<&'static Rule> {
    REGISTRY.iter().find(|rule| rule.name == name).copied()
}
