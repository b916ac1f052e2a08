//! A rule of diagnosis: what each file of [`rules`](crate::rules) holds.

pub mod thread_limit;

use sokudo_model::Finding;

use crate::view::PhaseView;

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
