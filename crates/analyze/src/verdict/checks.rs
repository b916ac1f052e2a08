//! Checks that the numbers of a record are consistent, and that the operator's bounds were kept.
//!
//! A check of what the operator asked for carries a [`Demand`], whether it passed or not: all readers
//! are shown it with the measured value.
//!
//! A run whose books do not balance proves nothing, however good its figures look.

use sokudo_model::kinds::{Kind, Noun, datagram, sql};
use sokudo_model::metric::Metric;
use sokudo_model::pairs::is_round;
use sokudo_model::{
    Bound, Bounds, Check, Demand, PhaseRecord, Record, Text, Unit, kinds, skew, units,
};
use sokudo_stats::capacity;

use super::pairs;
use crate::advice::fit_phase;
use crate::quantities::audit;
use crate::quantities::datagrams::confirmed;
use crate::quantities::exchange::Exchange;
use crate::view::PhaseView;

/// Share of the requests of a measurement that may fail, 0 to 1.
pub const ERRORS: f64 = 0.01;

/// Conditions of each phase: both ends delivered their numbers (`complete`), received and missing datagrams add
/// up to those sent (`accounting`), every missing datagram has a place (`attribution`), its flows began as
/// close together as was asked for (`skew`), no more was lost than the phase allows (`loss`), every other bound
/// of a search is kept by the phase that confirms it (`bound`), a search finds a rate or a number of users
/// (`found`), and of the requests of a measurement at most [`ERRORS`] failed unless it allows more (`errors`).
/// Load on a web server must have had a generator that kept its schedule and had a local port for every
/// connection (`generator`).
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
        out.extend(kept(&view));
        out.extend(demands(&view));
    }
    out.extend(pairs::checks(record));
    out.extend(found(record));
    out.extend(levels_found(record));
    name_phases(record, &mut out);
    out
}

/// The demands of several phases are labelled with the phases' names.
fn name_phases(record: &Record, checks: &mut [Check]) {
    let phases = record.manifest.phases.iter();
    let own = phases.filter(|phase| !PhaseView::new(record, phase).is_trial());
    if own
        .filter(|phase| phase.labels.contains_key("bounds"))
        .count()
        > 1
    {
        return;
    }
    let demands = checks.iter_mut().filter_map(|check| check.demand.as_mut());
    let measured = demands.filter(|demand| {
        let mut phases = record.manifest.phases.iter();
        phases.any(|phase| phase.name == demand.on)
    });
    measured.for_each(|demand| demand.on.clear());
}

/// A search for the knee demands that a level gave numbers, and where demands are its rule, that the
/// lowest kept them.
fn levels_found(record: &Record) -> Option<Check> {
    let phases = &record.manifest.phases;
    let is_searched = phases.iter().any(capacity::record::is_run);
    let found = capacity::record::knee_of(phases);
    let lowest = found.as_ref().and_then(|found| found.levels.first());
    let fails = is_searched && lowest.is_none_or(|lowest| !lowest.held());
    fails.then(|| Check {
        name: "found".into(),
        passed: false,
        says: Text::new("check-knee-failed"),
        demand: None,
    })
}

/// A command that searches for a rate demands that there is one. The layers of `check` search, too,
/// but demand nothing; a search that was ended early has no answer.
fn found(record: &Record) -> Vec<Check> {
    let Some((phase, offered)) = unkept(record) else {
        return Vec::new();
    };
    let view = PhaseView::new(record, phase);
    let bounds = view.bounds();
    let mut out: Vec<Check> = bounds
        .iter()
        .flat_map(Bounds::iter)
        .map(|each| bound(&view, each))
        .collect();
    let demands = out.iter_mut().filter_map(|check| check.demand.as_mut());
    demands.for_each(|demand| demand.on.clone_from(&offered));
    let bounds = bounds.map_or_else(String::new, |bounds| bounds.to_string());
    let found = Check {
        name: "found".into(),
        passed: false,
        says: Text::new("check-found-failed").word("bounds", bounds),
        demand: None,
    };
    out.insert(0, found);
    out
}

/// The trial with the lowest load of a search that found no rate, and that load; `None` for every
/// other run.
pub(super) fn unkept(record: &Record) -> Option<(&PhaseRecord, String)> {
    let manifest = &record.manifest;
    let curve = kinds::curve_metrics(&manifest.workload)?;
    if !manifest.problems.is_empty() || confirmed(record, &manifest.workload).is_some() {
        return None;
    }
    // Bounds of a single measurement (--slo) ask for no rate.
    let trials = manifest.phases.iter().filter(|phase| {
        let view = PhaseView::new(record, phase);
        view.bounds().is_some() && (view.is_probe() || view.is_confirm())
    });
    let with_load = trials.map(|phase| (phase, curve.offered_in(&phase.result)));
    let order = |load: Option<f64>| load.unwrap_or(f64::MAX);
    let (phase, load) = with_load.min_by(|a, b| order(a.1).total_cmp(&order(b.1)))?;
    let load = load.map(|load| units::human(load, curve.offered.unit));
    Some((phase, load.unwrap_or_default()))
}

/// The conditions on a database's tables (`conditions`), and that every commit which the server
/// acknowledged is in it once (`acknowledged`).
fn kept(view: &PhaseView<'_>) -> Vec<Check> {
    let broken = view.total(sql::BROKEN_CONDITIONS);
    let lost = view.total(sql::LOST_ACKNOWLEDGED);
    let twice = view.total(sql::DUPLICATED_MARKS);
    let conditions = broken.map(|broken| {
        let mut check = check("conditions", broken == 0.0, view);
        check.says = check.says.number("broken", broken, Unit::One);
        let kept = view.total(sql::KEPT_CONDITIONS).unwrap_or(0.0);
        check.says = check.says.number("kept", kept, Unit::One);
        check
    });
    let acknowledged = lost.zip(twice).map(|(lost, twice)| {
        let mut check = check("acknowledged", lost + twice == 0.0, view);
        let all = view.total(sql::ACKNOWLEDGED).unwrap_or(0.0);
        check.says = check.says.number("lost", lost, Unit::One);
        check.says = check.says.number("twice", twice, Unit::One);
        check.says = check.says.number("all", all, Unit::One);
        check
    });
    conditions.into_iter().chain(acknowledged).collect()
}

fn check(name: &str, passed: bool, view: &PhaseView<'_>) -> Check {
    let outcome = if passed { "held" } else { "failed" };
    let says = Text::new(format!("check-{name}-{outcome}")).word("phase", &view.phase.name);
    Check {
        name: name.into(),
        passed,
        says,
        demand: None,
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
    let moment = view.record.manifest.beside(view.phase);
    let is_first = moment
        .first()
        .is_some_and(|load| load.name == view.phase.name);
    let (spread, most) = (skew::of(moment)?, skew::most(view.phase)?);
    if !is_first {
        return None;
    }
    let mut check = check("skew", spread <= most, view);
    check.says = check.says.word("phase", view.phase.moment());
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
    let bounds = view.bounds();
    let each = bounds.iter().flat_map(Bounds::iter);
    let mut out: Vec<Check> = each.map(|each| bound(view, each)).collect();
    out.extend(generator(view));
    if bounds.is_none_or(|bounds| bounds.most("errors").is_none()) {
        out.extend(errors(view));
    }
    out
}

/// One bound that the operator set. What was not measured is not kept.
fn bound(view: &PhaseView<'_>, bound: &Bound) -> Check {
    let names = kinds::curve_metrics(&view.phase.workload);
    let lost = view.loss().filter(|_| bound.what == "loss");
    let measured = lost.or_else(|| bound.measured(names?, &view.phase.result));
    let unit = bound.unit();
    let name = if lost.is_some() { "loss" } else { "bound" };
    let is_kept = measured.is_some_and(|measured| bound.is_kept(measured));
    let mut check = check(name, is_kept, view);
    if measured.is_none() {
        check.says = Text::new("check-bound-unmeasured").word("phase", &view.phase.name);
    } else if bound.is_floor() {
        let outcome = if is_kept { "held" } else { "failed" };
        check.says = Text::new(format!("check-rate-{outcome}")).word("phase", &view.phase.name);
    }
    check.says = check
        .says
        .word("what", bound.what)
        .number("bound", bound.limit, unit);
    if let Some(measured) = measured {
        let place = if lost.is_some() { "loss" } else { "measured" };
        check.says = check.says.number(place, measured, unit);
    }
    check.demand = Some(Demand {
        asked: bound.to_string(),
        measured,
        unit,
        on: view.phase.name.clone(),
    });
    check
}

/// Requests without an answer: figures of those that were answered say little when many were not.
fn errors(view: &PhaseView<'_>) -> Option<Check> {
    let names = kinds::curve_metrics(&view.phase.workload)?;
    let failed = names.share(&view.phase.result, "errors")?;
    let mut check = check("errors", failed <= ERRORS, view);
    let noun = view.kind().map_or(Noun::Requests, Kind::noun);
    check.says = check.says.word("what", noun.name());
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
        check.says = fit_phase(view, check.says)?;
        return Some(check);
    }
    let late = exchange
        .asked()
        .and(exchange.total(exchange.numbers.late_ratio))?;
    let mut check = check("generator", late <= audit::MOST_LATE, view);
    check.says = check.says.word("what", exchange.numbers.noun.name());
    check.says =
        check
            .says
            .number("late", late, Unit::Ratio)
            .number("bound", audit::MOST_LATE, Unit::Ratio);
    Some(check)
}

/// Compares wanted and seen of each flow; `None` when no flow has the figures.
fn balance(
    name: &str,
    view: &PhaseView<'_>,
    flows: impl Iterator<Item = (f64, f64)>,
) -> Option<Check> {
    // Shares of a socket's drops are not whole numbers; half a datagram is rounding, one is not.
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
