//! One to three sentences about a record: what was achieved, what limited it, what to try next.
//!
//! When the numbers cannot be trusted, the reason comes first.

mod about;
pub mod checks;
mod explain;
mod failing;
pub mod layers;
mod mixed;
mod pairs;

use std::collections::HashSet;

use sokudo_model::kinds::datagram;
use sokudo_model::pairs::is_round;
use sokudo_model::{Check, Finding, PhaseRecord, Record, RunStatus, Severity, Text, Unit, units};
use sokudo_stats::Curve;
use sokudo_stats::capacity::record::KneeFound;
use sokudo_stats::curve::is_step;

use about::{about, limit_of};
use checks::checks;
pub use explain::{Explanation, tested};

use crate::advice::fit;
use crate::findings::findings;
use crate::quantities::datagrams::confirmed;
use crate::quantities::exchange::Exchange;
use crate::quantities::files::FileCopy;
use crate::quantities::transfer::Transfer;
use crate::quantities::{
    advice, capacity, experiment, probe, protect, repeats, rrul, sweep, versus,
};
use crate::rules::is_far_end_lost;
use crate::view::PhaseView;

/// Sentences at most.
const MAX_SENTENCES: usize = 3;
/// The same of a check of a group: which pairs fail, how, what they have in common, what next.
const MAX_OF_PAIRS: usize = 4;
/// Hosts that are named when many are in trouble.
const HOSTS_NAMED: usize = 5;

/// One to three sentences: what was achieved, limited by what, what next.
///
/// What it says about a phase is drawn from that phase alone, so that its numbers belong together.
pub fn verdict(record: &Record) -> Vec<Text> {
    let checks = checks(record);
    let mut out = Vec::from_iter(distrust(record, &checks));
    if let Some((says, most)) = of_command(record) {
        out.extend(says);
        out.truncate(most);
        return out;
    }
    let unkept = checks::unkept(record).map(|(phase, _)| phase);
    let main = unkept.or_else(|| main_phase(record));
    let found_none = checks.iter().find(|check| check.name == "found");
    out.extend(match found_none {
        Some(check) => Some(check.says.clone()),
        None => missed(&checks),
    });
    out.extend(failing_beside(record, main));
    let of_points = experiment::of(record).map(|all| all.sentence());
    let loads = main.map(|main| record.manifest.beside(main));
    if let Some(loads) = loads.filter(|loads| loads.len() > 1) {
        out.extend(of_points);
        out.extend(mixed::sentences(record, loads));
        return out;
    }
    out.extend(versus::of(record).map(|(found, _)| versus::says(&found)));
    out.extend(layers::sentences(record));
    out.extend(of_points);
    of_load(record, main, out)
}

/// The verdict of a command whose phases are not told one by one, and how many sentences it may have; `None` for
/// any other.
fn of_command(record: &Record) -> Option<(Vec<Text>, usize)> {
    let of_pairs = pairs::verdict(record);
    if !of_pairs.is_empty() {
        return Some((of_pairs, MAX_OF_PAIRS));
    }
    let of_choice = advice::choice(record);
    if !of_choice.is_empty() {
        return Some((of_choice, usize::MAX));
    }
    let found = rrul::of(record)?;
    Some((rrul::says(&found), usize::MAX))
}

/// Adds to a verdict what a load achieved, in one phase or over its repetitions, points or search.
fn of_load(record: &Record, main: Option<&PhaseRecord>, mut out: Vec<Text>) -> Vec<Text> {
    let of_runs = repeats::of(record).map_or(Vec::new(), |(all, _)| repeats::says(&all));
    let is_repeated = !of_runs.is_empty();
    out.extend(of_runs);
    let of_search = match record.manifest.is_check() {
        true => None,
        false => repeats::of_search(record),
    };
    let limited = protect::of(record).map_or(Vec::new(), |checked| protect::says(&checked));
    let most = MAX_SENTENCES + out.len() + usize::from(of_search.is_some()) + limited.len();
    if let Some((found, _)) = capacity::of(record) {
        out.extend(after_first(climb(record, &found), limited));
    } else if let Some((curve, _)) = sweep::of(record) {
        out.extend(swept(record, &curve));
    } else if let Some(main) = main {
        let view = PhaseView::new(record, main);
        let mut says = about(&view);
        if let Some(first) = says.first_mut().filter(|_| is_repeated) {
            *first = Text::new("verdict-repeat-middle").text("says", first.clone());
        }
        // What a layer came to has been said with all the others.
        let is_said = !layers::sentences(record).is_empty() && main.name == main.workload;
        let said = usize::from(is_said && !failing::is_failing(&view));
        out.extend(after_first(says, of_search).into_iter().skip(said));
    } else if out.is_empty() {
        out.push(Text::new("verdict-nothing"));
    }
    out.truncate(most);
    out
}

/// Sentences with others after the first of them.
fn after_first(mut says: Vec<Text>, more: impl IntoIterator<Item = Text>) -> Vec<Text> {
    let at = says.len().min(1);
    says.splice(at..at, more);
    says
}

/// Sentence about what the operator asked for and did not get; `None` when all was kept.
pub fn missed(checks: &[Check]) -> Option<Text> {
    let missed = checks.iter().filter(|check| !check.passed);
    let missed: Vec<String> = missed
        .filter_map(|check| check.demand.as_ref())
        .map(|demand| match demand.measured {
            Some(value) => format!("{} ({})", demand.asked, units::human(value, demand.unit)),
            None => format!("{} (–)", demand.asked),
        })
        .collect();
    let count = missed.len() as f64;
    (!missed.is_empty()).then(|| {
        Text::new("verdict-missed")
            .word("demands", missed.join(", "))
            .number("count", count, Unit::One)
    })
}

/// Sentence about the failing phases of a run beside the one that the verdict is about; `None` when
/// there are none.
fn failing_beside(record: &Record, main: Option<&PhaseRecord>) -> Option<Text> {
    let phases = record.manifest.phases.iter();
    let others = phases.filter(|phase| main.is_none_or(|main| main.moment() != phase.moment()));
    let views = others.map(|phase| PhaseView::new(record, phase));
    let failing = views.filter(|view| !view.is_trial() && !is_round(view.phase));
    let failing: Vec<PhaseView<'_>> = failing.filter(failing::is_failing).collect();
    let first = failing.first()?;
    let says = about(first).into_iter().next()?;
    let text = match failing.len() {
        1 => Text::new("verdict-phase-failing"),
        more => Text::new("verdict-phases-failing").number("more", more as f64 - 1.0, Unit::One),
    };
    Some(text.word("phase", &first.phase.name).text("failure", says))
}

/// The strongest conclusion about what limited the phase that the verdict is about; `None` when it
/// is not known.
pub fn limit(record: &Record) -> Option<Finding> {
    limit_of(&PhaseView::new(record, subject(record)?))
}

/// Explains the limit of a run; `None` for one that measured nothing.
pub fn explain(record: &Record) -> Option<Explanation<'_>> {
    Some(Explanation::of(record, subject(record)?))
}

/// The phase whose limit is the run's.
fn subject(record: &Record) -> Option<&PhaseRecord> {
    match (capacity::of(record), sweep::of(record)) {
        (Some((found, _)), _) => capacity::above(record, &found),
        (None, Some((curve, _))) => sweep::above(record, &curve),
        (None, None) => main_phase(record),
    }
}

/// Checks of what was demanded, not of the books: that they fail is a result.
const DEMANDS: [&str; 6] = ["bound", "errors", "expect", "found", "loss", "pair"];

/// Reason to distrust the numbers, which precedes all other sentences.
fn distrust(record: &Record, checks: &[Check]) -> Option<Text> {
    let manifest = &record.manifest;
    if matches!(manifest.status, RunStatus::Failed | RunStatus::Partial) {
        let failed = manifest.status == RunStatus::Failed;
        let Some(problem) = manifest.problems.first() else {
            let unknown = || {
                Text::new(match failed {
                    true => "verdict-failed-unknown",
                    false => "verdict-partial-unknown",
                })
            };
            return Some(broken_flow(record).unwrap_or_else(unknown));
        };
        let hosts = troubled_hosts(record);
        let key = match (failed, hosts.len()) {
            (true, 0 | 1) => "verdict-failed",
            (true, _) => "verdict-failed-hosts",
            (false, 0 | 1) => "verdict-partial",
            (false, _) => "verdict-partial-hosts",
        };
        let mut says = Text::new(key).text("problem", problem.says.clone());
        if hosts.len() > 1 {
            says = says.word("hosts", names(&hosts));
        }
        return Some(says);
    }
    // Too much loss is a result, not a reason to doubt it.
    let mut broken = checks.iter().filter(|check| !check.passed);
    let broken = broken.find(|check| !DEMANDS.contains(&check.name.as_str()));
    if let Some(check) = broken {
        return Some(Text::new("verdict-distrust").text("check", check.says.clone()));
    }
    let mut corrupted = findings(record)
        .into_iter()
        .filter(|f| f.rule == "corruption" && f.severity == Severity::Bad);
    corrupted.next().map(|finding| finding.says)
}

/// The first flow that did not complete and says why.
fn broken_flow(record: &Record) -> Option<Text> {
    const WHY: [&str; 3] = ["error", "sender_error", "receiver_error"];
    let phases = record.manifest.phases.iter();
    let mut flows = phases.flat_map(|phase| &phase.result.flows);
    flows.find_map(|flow| {
        let mut reasons = WHY.iter().filter_map(|label| flow.labels.get(*label));
        let error = reasons.next().filter(|_| !flow.complete)?;
        Some(
            Text::new("verdict-broken-flow")
                .word("from", &flow.from)
                .word("to", &flow.to)
                .text("error", Text::recorded(error)),
        )
    })
}

/// The first of these hosts, and how many more there are.
fn names(hosts: &[&str]) -> String {
    let first = hosts[..hosts.len().min(HOSTS_NAMED)].join(", ");
    match hosts.len().saturating_sub(HOSTS_NAMED) {
        0 => first,
        more => format!("{first} (+{more})"),
    }
}

/// Hosts with problems, each once, in the order of their first one.
fn troubled_hosts(record: &Record) -> Vec<&str> {
    let mut known = HashSet::new();
    let hosts = record
        .manifest
        .problems
        .iter()
        .map(|problem| problem.host.as_str());
    hosts
        .filter(|host| !host.is_empty() && known.insert(*host))
        .collect()
}

/// The phase that the verdict is about: the run in the middle of repeated ones, or of those without a change, else the confirmed best rate, else the plain test between two
/// hosts, else the point of an experiment that carried most, else the last one with datagrams that is
/// no trial of a search, else the last one with anything else.
fn main_phase(record: &Record) -> Option<&PhaseRecord> {
    let phases = || record.manifest.phases.iter();
    let sent = |phase: &&PhaseRecord| PhaseView::new(record, phase).sent().is_some();
    let own = |phase: &&PhaseRecord| !PhaseView::new(record, phase).is_trial();
    let told = |phase: &&PhaseRecord| {
        let view = PhaseView::new(record, phase);
        let told = Exchange::of(view).is_some() || Transfer::of(view).is_some();
        told || FileCopy::of(view).is_some() || probe::is_one(&view)
    };
    repeats::of(record)
        .map(|(_, subject)| subject)
        .or_else(|| versus::of(record).map(|(_, subject)| subject))
        .or_else(|| confirmed(record, datagram::KIND.name))
        .or_else(|| phases().filter(sent).filter(own).find(|p| p.name == "p2p"))
        .or_else(|| experiment::of(record).map(|all| all.most))
        .or_else(|| phases().filter(sent).rfind(own))
        .or_else(|| phases().filter(told).rfind(own))
        .or_else(|| phases().rfind(sent))
        .or_else(|| phases().rfind(told))
        // Without the numbers of its far end a load has no result, but it is known what ended it.
        .or_else(|| phases().rfind(|phase| is_far_end_lost(&PhaseView::new(record, phase))))
}

/// The answer of a search for the knee, and what the level above it ran into.
fn climb(record: &Record, found: &KneeFound) -> Vec<Text> {
    let mut out = capacity::says(found);
    let above = capacity::above(record, found);
    let limit = above.and_then(|phase| limit_of(&PhaseView::new(record, phase)));
    out.extend(limit.map(|limit| limit.says));
    out
}

/// The answer of a sweep: the knee, and what the step above it ran into.
fn swept(record: &Record, curve: &Curve) -> Vec<Text> {
    let mut out: Vec<Text> = sweep::says(curve).into_iter().collect();
    let above = sweep::above(record, curve);
    let limit = above.and_then(|phase| limit_of(&PhaseView::new(record, phase)));
    out.extend(limit.map(|limit| limit.says));
    let phases = record.manifest.phases.iter();
    let kind = phases
        .filter(|phase| is_step(phase))
        .find_map(PhaseRecord::kind);
    out.extend(fit(kind, sweep::next(curve)));
    out
}
