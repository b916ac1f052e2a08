//! The load that was asked for was carried, so nothing limited it.

use sokudo_model::{Finding, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::quantities::asked::{AskedAndCarried, FAILED, KEPT};
use crate::rules::is_as_asked;
use crate::view::PhaseView;

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "carried",
    about: &[
        "application_limited",
        "delayed_ack",
        "generator_limited",
        "host_busy",
        "loss_limited",
        "neighbour_interference",
        "path_limited",
        "receive_window_limited",
        "receiver_cpu_limited",
        "send_buffer_limited",
        "sender_cpu_limited",
        "softirq_core",
        "uneven_service",
        "window_full",
    ],
    bounds: &[("kept", KEPT, Unit::Ratio), ("failed", FAILED, Unit::Ratio)],
    look,
};

fn look(view: &PhaseView<'_>, finding: &Finding) -> Option<Objection> {
    // A trial of a search shows what it ran into.
    if is_as_asked(finding) || view.is_trial() || view.is_confirm() {
        return None;
    }
    let asked = AskedAndCarried::of(view).filter(AskedAndCarried::is_kept)?;
    let host = &view.flows().first()?.to;
    Some(Objection {
        evidence: asked.evidence(view, host),
        force: Force::Acquits,
    })
}
