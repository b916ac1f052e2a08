//! A wait for a CPU that explains little, because the threads seldom wanted one.
//!
//! Time that other programs or a hypervisor take is lost to a load only while its threads would run. A thread
//! that was ready for a twentieth of the time loses a twentieth at most. A load that is to keep a schedule is late
//! whenever it waits, however little it has to do.

use sokudo_model::kinds::{Family, Kind};
use sokudo_model::{Evidence, Finding, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::quantities::ends::End;
use crate::quantities::schedule;
use crate::view::PhaseView;

/// Share of the time that a thread wanted a CPU, below which its waits are not the limit.
const WANTED: f64 = 0.5;

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "seldom_ready",
    about: &["host_busy", "neighbour_interference"],
    bounds: &[("wanted", WANTED, Unit::Ratio)],
    look,
};

fn look(view: &PhaseView<'_>, _: &Finding) -> Option<Objection> {
    let kind = view.kind()?;
    if schedule::waits_explain(view) {
        return None;
    }
    let ends = [End::Sender, End::Receiver];
    let shares = ends.map(|end| wanted(view, kind, end));
    let wanted = match kind.family {
        // Each request waits for both ends in turn.
        Family::Exchange(_) => shares.iter().flatten().copied().reduce(|a, b| a + b),
        Family::Bytes(_)
        | Family::Messages(_)
        | Family::Datagram
        | Family::Probe
        | Family::Files(_) => shares.iter().flatten().copied().max_by(f64::total_cmp),
    };
    let wanted = wanted.filter(|wanted| *wanted < WANTED)?;
    Some(Objection {
        evidence: evidence(view, kind, wanted)?,
        force: Force::Refutes,
    })
}

/// Share of the time that the busiest thread of one end was on a CPU or ready for one.
fn wanted(view: &PhaseView<'_>, kind: &Kind, end: End) -> Option<f64> {
    let (cpu, wait) = (end.threads(kind)?.cpu, end.wait(kind)?);
    let each = view.values(cpu).filter_map(|(flow, cpu)| {
        let ready = wait.of(&flow.metrics)?;
        Some((cpu + ready).clamp(0.0, 1.0))
    });
    each.max_by(f64::total_cmp)
}

fn evidence(view: &PhaseView<'_>, kind: &Kind, wanted: f64) -> Option<Evidence> {
    let metric = kind.ends.near.cpu;
    let host = &view.flows().first()?.from;
    let row = view.evidence("evidence-wanted-cpu", metric, host, wanted);
    Some(row)
}
