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

use sokudo_model::Finding;

use crate::phase::PhaseView;

/// One kind of conclusion.
pub trait Rule: Sync {
    /// File name, as it stands in findings and in the record.
    fn name(&self) -> &'static str;

    /// The question that it answers, in one line.
    fn question(&self) -> &'static str;

    /// True when it concludes something about the set-up, which many phases share: the same
    /// conclusion is then reported once per record.
    fn is_about_setup(&self) -> bool {
        false
    }

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
];
