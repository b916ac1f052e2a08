//! Do the numbers of a record add up, and was what the operator demanded kept?
//!
//! A run whose books do not balance proves nothing, however good its figures look.

use sokudo_model::{Check, Record, Text, Unit};

use crate::phase::PhaseView;
use crate::search;

/// What must hold in each phase: both ends delivered their numbers (`complete`), received and
/// missing datagrams add up to those sent (`accounting`), every missing datagram has a place
/// (`attribution`), and no more was lost than the phase allows (`loss`).
///
/// A check whose figures the record does not hold is left out: it is neither passed nor failed.
pub fn checks(record: &Record) -> Vec<Check> {
    let mut out = Vec::new();
    for phase in &record.manifest.phases {
        let view = PhaseView::new(record, phase);
        if !view.flows().is_empty() {
            out.push(complete(&view));
        }
        out.extend(accounting(&view));
        out.extend(attribution(&view));
        out.extend(loss(&view));
    }
    out
}

fn check(name: &str, passed: bool, view: &PhaseView<'_>) -> Check {
    let outcome = if passed { "held" } else { "failed" };
    let says = Text::new(format!("check-{name}-{outcome}")).word("phase", &view.phase.name);
    Check {
        name: name.into(),
        passed,
        says,
    }
}

fn complete(view: &PhaseView<'_>) -> Check {
    let all = view.flows().len();
    let whole = view.flows().iter().filter(|flow| flow.complete).count();
    let mut check = check("complete", whole == all, view);
    check.says = check
        .says
        .number("complete", whole as f64, Unit::One)
        .number("flows", all as f64, Unit::One);
    check
}

/// Received and missing against sent, flow by flow, so that two errors cannot cancel out.
fn accounting(view: &PhaseView<'_>) -> Option<Check> {
    let flows = view.flows().iter().filter_map(|flow| {
        let get = |name: &str| flow.metrics.get(name).copied();
        Some((
            get("datagram.sent_packets")?,
            get("datagram.received_packets")? + get("datagram.missing_packets")?,
        ))
    });
    balance("accounting", view, flows)
}

/// The places of loss against the missing datagrams, flow by flow.
fn attribution(view: &PhaseView<'_>) -> Option<Check> {
    let flows = view.flows().iter().filter_map(|flow| {
        let get = |name: &str| flow.metrics.get(name).copied();
        let places = [
            "datagram.lost_at_receiver_socket_packets",
            "datagram.lost_at_receiver_host_packets",
            "datagram.lost_on_path_packets",
        ];
        let known: Vec<f64> = places.iter().filter_map(|name| get(name)).collect();
        let missing = get("datagram.missing_packets")?;
        (!known.is_empty()).then(|| (missing, known.iter().sum()))
    });
    balance("attribution", view, flows)
}

/// Loss against the bound of the phase (label `max_loss`). Trials of a search look for rates that
/// exceed it, and of several confirmations the last one is the answer.
fn loss(view: &PhaseView<'_>) -> Option<Check> {
    let bound = view.max_loss()?;
    let answer = search::confirmed(view.record).map(|phase| &phase.name);
    let superseded = view.is_confirm() && answer != Some(&view.phase.name);
    if view.is_probe() || superseded {
        return None;
    }
    let loss = view.loss()?;
    let mut check = check("loss", loss <= bound, view);
    check.says = check
        .says
        .number("loss", loss, Unit::Ratio)
        .number("bound", bound, Unit::Ratio);
    Some(check)
}

/// Compares wanted and seen of each flow; `None` when no flow has the figures.
fn balance(
    name: &str,
    view: &PhaseView<'_>,
    flows: impl Iterator<Item = (f64, f64)>,
) -> Option<Check> {
    // Shares of a socket's drops are no whole numbers; half a datagram is rounding, one is not.
    const ROUNDING: f64 = 0.5;
    let (mut any, mut wanted, mut seen, mut off) = (false, 0.0, 0.0, 0.0);
    for (flow_wanted, flow_seen) in flows {
        any = true;
        wanted += flow_wanted;
        seen += flow_seen;
        let difference = (flow_wanted - flow_seen).abs();
        if difference.is_nan() || difference > ROUNDING {
            off += difference;
        }
    }
    // A sum that is not a number has not balanced either.
    any.then(|| {
        let mut check = check(name, off == 0.0, view);
        check.says = check.says.number("wanted", wanted, Unit::Packets);
        if !check.passed {
            check.says =
                check
                    .says
                    .number("seen", seen, Unit::Packets)
                    .number("off", off, Unit::Packets);
        }
        check
    })
}
