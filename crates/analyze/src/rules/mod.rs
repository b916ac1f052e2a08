//! Which conclusions can be drawn?
//!
//! One file per rule; a rule looks at one phase and adds what it concludes. Adding a rule is one
//! file and one line in [`REGISTRY`].

mod buffer_below_asked;
mod corruption;
mod duplicates;
mod generator_limited;
mod host_busy;
mod low_mtu;
mod path_loss;
mod receiver_buffer_overflow;
mod receiver_host_drops;
mod reordering;
mod sender_refusal;
mod spinning;
mod unreachable;
mod window_full;

use sokudo_model::Finding;

use crate::phase::PhaseView;

/// What a conclusion is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It describes what happened or how things were set up.
    Describes,
    /// It says what limited the rate.
    Limit,
    /// It says where datagrams were lost, which limits the rate.
    Loss,
}

/// One rule of diagnosis.
pub trait Rule: Sync {
    /// File name, as it stands in findings and in the record.
    fn name(&self) -> &'static str;

    /// The question that it answers, in one line.
    fn question(&self) -> &'static str;

    /// What kind of conclusion it draws.
    fn kind(&self) -> Kind;

    /// Adds what it concludes from one phase; nothing when the phase does not hold what it needs.
    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>);
}

/// Every rule, by name.
pub const REGISTRY: &[&dyn Rule] = &[
    &buffer_below_asked::BufferBelowAsked,
    &corruption::Corruption,
    &duplicates::Duplicates,
    &generator_limited::GeneratorLimited,
    &host_busy::HostBusy,
    &low_mtu::LowMtu,
    &path_loss::PathLoss,
    &receiver_buffer_overflow::ReceiverBufferOverflow,
    &receiver_host_drops::ReceiverHostDrops,
    &reordering::Reordering,
    &sender_refusal::SenderRefusal,
    &spinning::Spinning,
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
