//! The knee of a search: the offered rate up to which everything arrives.
//!
//! The trials of a search as points: delivered over offered on top, loss below. The diagonal is
//! "everything arrived"; where the points leave it is the knee.

use sokudo_model::kinds::datagram;
use sokudo_model::{Bounds, PhaseRecord, Record};

use crate::view::{self, Role};

/// One trial of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Name of its phase.
    pub name: String,
    /// Bits per second that were sent.
    pub offered: f64,
    /// Bits per second that arrived.
    pub delivered: f64,
    /// Missing over sent.
    pub loss: f64,
    /// True for the fresh run that confirms the best rate.
    pub confirm: bool,
    /// True when no rate was asked for: as fast as the sender can.
    pub unlimited: bool,
}

/// A search as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    /// Trials in the order in which they ran.
    pub trials: Vec<Trial>,
    /// Best rate that held, bits per second delivered.
    pub best: Option<f64>,
    /// Loss that was allowed, when a trial's options say so.
    pub bound: Option<f64>,
}

/// The search of a record; `None` when it has fewer than two trials.
pub fn knee(record: &Record) -> Option<Knee> {
    let phases = &record.manifest.phases;
    let trials: Vec<Trial> = phases.iter().filter_map(trial).collect();
    let best = datagram::BEST_RATE_BYTES_PER_SECOND.of(&record.manifest.summary);
    let bound = phases
        .iter()
        .filter(|p| matches!(view::role(p), Role::Probe | Role::Confirm))
        .find_map(|p| p.labels.get("bounds")?.parse::<Bounds>().ok()?.most("loss"));
    (trials.len() > 1).then(|| Knee {
        trials,
        best: best.map(|b| b * 8.0),
        bound,
    })
}

fn trial(phase: &PhaseRecord) -> Option<Trial> {
    let role = view::role(phase);
    if !matches!(role, Role::Probe | Role::Confirm) {
        return None;
    }
    let summary = view::effective(phase);
    let delivered = view::delivered_bits(&summary)?;
    let loss = view::loss(&summary)?;
    let offered = view::sent_bits(&summary)
        .or_else(|| (loss < 1.0).then(|| delivered / (1.0 - loss)))
        .filter(|offered| *offered > 0.0 && offered.is_finite())?;
    Some(Trial {
        name: phase.name.clone(),
        offered,
        delivered,
        loss: loss.clamp(0.0, 1.0),
        confirm: role == Role::Confirm,
        unlimited: phase.labels.get("rate").is_some_and(|r| r == "unlimited")
            || datagram::ASKED_PACKETS_PER_SECOND.of(&summary).is_none(),
    })
}
