//! Checks that the numbers of a record are consistent, and that the operator's bounds were kept.
//!
//! A run whose books do not balance proves nothing, however good its figures look.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::pairs::is_round;
use sokudo_model::{Bound, Bounds, Check, Record, Text, Unit, kinds, skew};

use super::pairs;
use crate::quantities::audit;
use crate::quantities::datagrams::confirmed;
use crate::quantities::exchange::Exchange;
use crate::view::PhaseView;

/// Share of the requests of a measurement that may fail, 0 to 1.
pub const ERRORS: f64 = 0.01;

/// What must hold in each phase: both ends delivered their numbers (`complete`), received and
/// missing datagrams add up to those sent (`accounting`), every missing datagram has a place
/// (`attribution`), its flows began as close together as was asked for (`skew`), no more was lost than the phase allows (`loss`), every other bound of a search
/// is kept by the phase that confirms it (`bound`), a search finds a rate (`found`), and of the requests of a measurement at most
/// [`ERRORS`] failed unless it allows more (`errors`). Load on a web server must have had a generator
/// that kept its schedule and had a local port for every connection (`generator`).
///
/// A check whose figures the record does not hold is left out: it is neither passed nor failed.
pub fn checks(record: &Record) -> Vec<Check> {
    let mut out = Vec::new();
    for phase in &record.manifest.phases {
        let view = PhaseView::new(record, phase);
        // Of pairs that meet in rounds, each is a check of its own.
        if !view.flows().is_empty() && !is_round(phase) {
            out.push(complete(&view));
        }
        out.extend(accounting(&view));
        out.extend(attribution(&view));
        out.extend(together(&view));
        out.extend(demands(&view));
    }
    out.extend(pairs::checks(record));
    out.extend(found(record));
    out
}

/// A command that searches for a rate demands that there is one. The layers of `check` search, too,
/// but demand nothing; a search that was ended early has no answer.
fn found(record: &Record) -> Option<Check> {
    let manifest = &record.manifest;
    let demanded =
        kinds::curve_metrics(&manifest.workload).is_some() && manifest.problems.is_empty();
    let trials = manifest
        .phases
        .iter()
        .map(|phase| PhaseView::new(record, phase));
    // Bounds of a single measurement (--slo) ask for no rate.
    let trials = trials.filter(|view| view.is_trial() || view.is_confirm());
    let bounds = trials.filter_map(|view| view.bounds()).next_back()?;
    let none = demanded && confirmed(record, &manifest.workload).is_none();
    none.then(|| Check {
        name: "found".into(),
        passed: false,
        says: Text::new("check-found-failed").word("bounds", bounds.to_string()),
    })
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
        let get = |metric: Metric| metric.of(&flow.metrics);
        Some((
            get(datagram::SENT_PACKETS)?,
            get(datagram::RECEIVED_PACKETS)? + get(datagram::MISSING_PACKETS)?,
        ))
    });
    balance("accounting", view, flows)
}

/// The places of loss against the missing datagrams, flow by flow.
fn attribution(view: &PhaseView<'_>) -> Option<Check> {
    let flows = view.flows().iter().filter_map(|flow| {
        let get = |metric: Metric| metric.of(&flow.metrics);
        let places = [
            datagram::LOST_AT_RECEIVER_SOCKET_PACKETS,
            datagram::LOST_AT_RECEIVER_HOST_PACKETS,
            datagram::LOST_ON_PATH_PACKETS,
        ];
        let known: Vec<f64> = places.into_iter().filter_map(get).collect();
        let missing = get(datagram::MISSING_PACKETS)?;
        (!known.is_empty()).then(|| (missing, known.iter().sum()))
    });
    balance("attribution", view, flows)
}

/// Check of the largest distance between the begins of the flows, where that was bounded.
fn together(view: &PhaseView<'_>) -> Option<Check> {
    let (spread, most) = (skew::of(view.phase)?, skew::most(view.phase)?);
    let mut check = check("skew", spread <= most, view);
    check.says =
        check
            .says
            .number("spread", spread, Unit::Seconds)
            .number("most", most, Unit::Seconds);
    Some(check)
}

/// Checks of the bounds that a phase had to keep. Trials look for what breaks a bound, and of
/// several confirmations the last one is the answer.
fn demands(view: &PhaseView<'_>) -> Vec<Check> {
    let answer = confirmed(view.record, &view.phase.workload).map(|phase| &phase.name);
    let superseded = view.is_confirm() && answer != Some(&view.phase.name);
    if view.is_trial() || superseded {
        return Vec::new();
    }
    let mut out: Vec<Check> = loss(view).into_iter().collect();
    let bounds = view.bounds();
    let others = bounds.iter().flat_map(Bounds::iter);
    let others = others.filter(|bound| bound.what != "loss");
    out.extend(others.filter_map(|other| bound(view, other)));
    out.extend(generator(view));
    if bounds.is_none_or(|bounds| bounds.most("errors").is_none()) {
        out.extend(errors(view));
    }
    out
}

/// One bound of a search, other than that on loss.
fn bound(view: &PhaseView<'_>, bound: &Bound) -> Option<Check> {
    let names = kinds::curve_metrics(&view.phase.workload)?;
    let measured = bound.measured(names, &view.phase.result)?;
    let unit = match bound.is_time() {
        true => Unit::Seconds,
        false => Unit::Ratio,
    };
    let mut check = check("bound", measured <= bound.most, view);
    check.says = check
        .says
        .word("what", bound.what)
        .number("measured", measured, unit)
        .number("bound", bound.most, unit);
    Some(check)
}

/// Requests without an answer: figures of those that were answered say little when many were not.
fn errors(view: &PhaseView<'_>) -> Option<Check> {
    let names = kinds::curve_metrics(&view.phase.workload)?;
    let failed = names.share(&view.phase.result, "errors")?;
    let mut check = check("errors", failed <= ERRORS, view);
    check.says =
        check
            .says
            .number("failed", failed, Unit::Ratio)
            .number("bound", ERRORS, Unit::Ratio);
    Some(check)
}

/// A generator that could not do what it was to do: figures of such a run are its own, not the
/// server's.
fn generator(view: &PhaseView<'_>) -> Option<Check> {
    let exchange = Exchange::of(*view).filter(Exchange::is_generator_only)?;
    if let Some(short) = audit::ports(view, &exchange) {
        let mut check = check("generator", false, view);
        check.says = Text::new("check-generator-ports")
            .word("phase", &view.phase.name)
            .word("host", short.host)
            .number("share", short.share, Unit::Ratio);
        return Some(check);
    }
    if let Some(share) = audit::unstarted(&exchange) {
        let mut check = check("generator", false, view);
        check.says = Text::new("check-generator-unstarted")
            .word("phase", &view.phase.name)
            .number("share", share, Unit::Ratio);
        return Some(check);
    }
    let late = exchange
        .asked()
        .and(exchange.total(exchange.numbers.late_ratio))?;
    let mut check = check("generator", late <= audit::MOST_LATE, view);
    check.says =
        check
            .says
            .number("late", late, Unit::Ratio)
            .number("bound", audit::MOST_LATE, Unit::Ratio);
    Some(check)
}

/// Loss against the bound of the phase.
fn loss(view: &PhaseView<'_>) -> Option<Check> {
    let bound = view.max_loss()?;
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
