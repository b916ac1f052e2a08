//! Sets the figures of records of the same load beside each other.
//!
//! Each side is one record or several; its runs are those of all its records. What was different between
//! the sides beside the figures is named: a difference may come from there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sokudo_model::{Metric, PhaseRecord, Record, Stat, Unit};
use sokudo_stats::compare::{Difference, Scale, Verdict, difference, difference_in_turns};
use sokudo_stats::curve::is_step;
use sokudo_stats::repeats::{self, Figure};
use sokudo_stats::spread::Spread;

use crate::view::PhaseView;

/// Least difference between shares that counts: a tenth of a percentage point.
const LEAST_SHARE: f64 = 0.001;
/// Conditions that are named at most.
const CONDITIONS_MAX: usize = 100;
/// Facts that differ between any two runs.
const VOLATILE: [&str; 4] = ["available", "free", "load", "uptime"];

/// Two sides, set beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Order in which the runs of the sides were measured.
    pub order: Order,
    /// Loads that both sides have, in the order of the first one.
    pub loads: Vec<Load>,
    /// Names of loads that only one side has.
    pub alone: Vec<String>,
    /// Conditions that differ.
    pub conditions: Vec<Condition>,
}

/// One load on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Name of its phase, without the number of a repetition.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// Its key figures: the rate first.
    pub figures: Vec<Compared>,
}

/// One figure on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The metric.
    pub metric: Metric,
    /// Statistic of a distribution; `None` for a metric that is a single number.
    pub stat: Option<Stat>,
    /// The runs of the first side.
    pub before: Spread,
    /// Those of the other.
    pub after: Spread,
    /// Scale of the difference.
    pub scale: Scale,
    /// The difference; `None` where there is no factor between the two.
    pub difference: Option<Difference>,
    /// The conclusion.
    pub verdict: Verdict,
}

impl Compared {
    /// Name in a summary: `rr.latency_seconds.p50`.
    pub fn name(&self) -> String {
        match self.stat {
            Some(stat) => self.metric.stat(stat),
            None => self.metric.name.into(),
        }
    }
}

/// A condition that was not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Its host; empty for one of the whole run.
    pub host: String,
    /// Name of the fact or option.
    pub name: String,
    /// Its value on the first side; `–` where there is none.
    pub before: String,
    /// On the other.
    pub after: String,
}

/// Order in which the runs of two sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Each side was measured by itself.
    Apart,
    /// The sides were measured in turns: the runs at the same place are those of one round.
    InTurns,
}

/// Compares two sides; a relative difference below `least` is none. `None` when they have no load in
/// common.
pub fn compare(
    before: &[&Record],
    after: &[&Record],
    order: Order,
    least: f64,
) -> Option<Comparison> {
    let mut all = beside(&loads(before), &loads(after), order, least)?;
    let options = std::mem::take(&mut all.conditions);
    all.conditions = of_runs(before, after);
    all.conditions.extend(options);
    all.conditions.extend(facts(before, after));
    all.conditions.truncate(CONDITIONS_MAX);
    Some(all)
}

/// Compares the loads of two sides; the conditions are their options. `None` when they have no load in common.
pub(crate) fn beside(
    one: &Loads<'_>,
    other: &Loads<'_>,
    order: Order,
    least: f64,
) -> Option<Comparison> {
    let is_of = |key: &&Key| other.iter().any(|(known, _)| known == *key);
    let mut compared = Vec::new();
    let mut options = Vec::new();
    for (key, runs) in one {
        let Some((_, others)) = other.iter().find(|(known, _)| known == key) else {
            continue;
        };
        compared.extend(load(key, (runs, others), order, least));
        options.extend(options_of(key, runs, others));
    }
    let names = |key: &Key| key.0.clone();
    let alone = one.iter().map(|(key, _)| key).filter(|key| !is_of(key));
    let alone = alone.map(names);
    let is_first = |key: &&Key| !one.iter().any(|(known, _)| known == *key);
    let added = other.iter().map(|(key, _)| key).filter(is_first).map(names);
    (!compared.is_empty()).then(|| Comparison {
        order,
        loads: compared,
        alone: alone.chain(added).collect(),
        conditions: options,
    })
}

/// Name and workload of a load.
pub(crate) type Key = (String, String);
/// The loads of a side, each with its runs.
pub(crate) type Loads<'a> = Vec<(Key, Vec<&'a PhaseRecord>)>;

fn loads<'a>(records: &[&'a Record]) -> Loads<'a> {
    let mut out: Loads<'a> = Vec::new();
    for record in records {
        for phase in &record.manifest.phases {
            let Some(name) = load_name(record, phase) else {
                continue;
            };
            let key = (name, phase.workload.clone());
            match out.iter_mut().find(|(known, _)| *known == key) {
                Some((_, runs)) => runs.push(phase),
                None => out.push((key, vec![phase])),
            }
        }
    }
    out
}

/// Name of the load whose run a phase is; `None` for trials that look for something.
fn load_name(record: &Record, phase: &PhaseRecord) -> Option<String> {
    let role = phase.labels.get("role").map(String::as_str);
    match role {
        Some("confirm" | repeats::AGAIN) => Some("answer".into()),
        _ if repeats::is_turn(phase) => Some(phase.layer().to_owned()),
        _ if repeats::is_repeat(phase) => {
            let base = phase
                .name
                .rsplit_once('-')
                .map_or(&*phase.name, |(base, _)| base);
            Some(base.to_owned())
        }
        _ if is_step(phase) || PhaseView::new(record, phase).is_trial() => None,
        _ => phase.kind().map(|_| phase.name.clone()),
    }
}

fn load(
    key: &Key,
    (before, after): (&[&PhaseRecord], &[&PhaseRecord]),
    order: Order,
    least: f64,
) -> Option<Load> {
    let (before, after) = (repeats::of_runs(before)?, repeats::of_runs(after)?);
    let figures = before.figures.iter().filter_map(|figure| {
        let mut same = after.figures.iter();
        let other = same.find(|other| other.name() == figure.name())?;
        Some(compared(figure, other, order, least))
    });
    Some(Load {
        name: key.0.clone(),
        workload: key.1.clone(),
        figures: figures.collect(),
    })
}

fn compared(before: &Figure, after: &Figure, order: Order, least: f64) -> Compared {
    let is_share = before.metric.unit == Unit::Ratio;
    let (scale, least) = match is_share {
        true => (Scale::Absolute, LEAST_SHARE),
        false => (Scale::Relative, least),
    };
    // A run without the figure keeps its place, as not a number.
    let values = |figure: &Figure| -> Vec<f64> {
        let values = figure.values.iter();
        values.map(|value| value.unwrap_or(f64::NAN)).collect()
    };
    let difference = match order {
        Order::Apart => difference,
        Order::InTurns => difference_in_turns,
    };
    let found = difference(&values(before), &values(after), scale);
    let more_is_better = before.stat.is_none() && !is_share;
    Compared {
        metric: before.metric,
        stat: before.stat,
        before: before.spread,
        after: after.spread,
        scale,
        difference: found,
        verdict: found.map_or(Verdict::NotShown, |it| it.verdict(more_is_better, least)),
    }
}

/// The distinct values of a side, as one text.
fn said<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let distinct: BTreeSet<&str> = values.collect();
    let all: Vec<&str> = distinct.into_iter().collect();
    match all.is_empty() {
        true => "–".into(),
        false => all.join(", "),
    }
}

fn differs(host: &str, name: &str, before: String, after: String) -> Option<Condition> {
    (before != after).then(|| Condition {
        host: host.into(),
        name: name.into(),
        before,
        after,
    })
}

/// Version of the program, and hosts.
fn of_runs(before: &[&Record], after: &[&Record]) -> Vec<Condition> {
    let version = |side: &[&Record]| said(side.iter().map(|r| r.manifest.version.as_str()));
    let hosts = |side: &[&Record]| {
        let hosts = side.iter().flat_map(|record| &record.manifest.hosts);
        said(hosts.map(|host| host.name.as_str()))
    };
    let all = [
        differs("", "sokudo", version(before), version(after)),
        differs("", "hosts", hosts(before), hosts(after)),
    ];
    all.into_iter().flatten().collect()
}

/// Options of a load, one by one, and its number of flows.
fn options_of(key: &Key, before: &[&PhaseRecord], after: &[&PhaseRecord]) -> Vec<Condition> {
    let of = |runs: &[&PhaseRecord]| -> BTreeMap<String, BTreeSet<String>> {
        let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for run in runs {
            // Options that another version wrote differently are compared as they stand.
            let options: Map<String, Value> =
                serde_json::from_str(&run.options).unwrap_or_else(|_| {
                    [("options".into(), run.options.clone().into())]
                        .into_iter()
                        .collect()
                });
            let flows = ("flows".to_owned(), Value::from(run.result.flows.len()));
            for (name, value) in options.into_iter().chain([flows]) {
                out.entry(name).or_default().insert(value.to_string());
            }
        }
        out
    };
    let (before, after) = (of(before), of(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let value = |side: &BTreeMap<String, BTreeSet<String>>, name: &String| {
        let values = side.get(name).into_iter().flatten();
        said(values.map(String::as_str))
    };
    let each = names.into_iter();
    each.filter_map(|name| {
        let label = format!("{}: {name}", key.0);
        differs("", &label, value(&before, name), value(&after, name))
    })
    .collect()
}

/// Facts about hosts of the same name.
fn facts(before: &[&Record], after: &[&Record]) -> Vec<Condition> {
    let hosts = |side: &[&Record]| -> BTreeSet<String> {
        let environments = side.iter().flat_map(|record| record.environments.keys());
        environments.cloned().collect()
    };
    let mut out = Vec::new();
    for host in hosts(before).intersection(&hosts(after)) {
        let of = |side: &[&Record]| -> BTreeMap<String, BTreeSet<String>> {
            let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            let environments = side
                .iter()
                .filter_map(|record| record.environments.get(host));
            for fact in environments.flat_map(|environment| &environment.facts) {
                if let Some(value) = &fact.value {
                    out.entry(fact.name.clone())
                        .or_default()
                        .insert(value.clone());
                }
            }
            out
        };
        let (one, other) = (of(before), of(after));
        for (name, values) in &one {
            let is_volatile = VOLATILE.iter().any(|word| name.contains(word));
            let Some(others) = other.get(name).filter(|_| !is_volatile) else {
                continue;
            };
            let texts = [values, others].map(|values| said(values.iter().map(String::as_str)));
            let [before, after] = texts;
            out.extend(differs(host, name, before, after));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use sokudo_model::PhaseResult;
    use sokudo_model::kinds::rr;

    use super::*;
    use crate::tests::empty;

    /// A record of repeated runs of `rr` with these rates.
    fn runs(rates: &[f64]) -> Record {
        let mut record = empty();
        for (rate, number) in rates.iter().zip(1..) {
            let result = PhaseResult {
                summary: [
                    (rr::TRANSACTIONS_PER_SECOND.into(), *rate),
                    (rr::LATENCY_SECONDS.stat(Stat::P50), 1.0 / rate),
                    (rr::ERROR_RATIO.into(), 0.0),
                ]
                .into(),
                ..PhaseResult::default()
            };
            let mut phase = PhaseRecord::plain(&format!("measure-{number}"), "rr", (0, 1), result);
            phase.labels.insert("role".into(), repeats::LABEL.into());
            record.manifest.phases.push(phase);
        }
        record
    }

    #[test]
    fn the_same_figures_stand_beside_each_other() {
        let (before, after) = (
            runs(&[100.0, 101.0, 99.0, 102.0]),
            runs(&[80.0, 81.0, 79.0, 82.0]),
        );
        let all = compare(&[&before], &[&after], Order::Apart, 0.05).expect("the same load");
        let load = &all.loads[0];
        assert_eq!(
            (load.name.as_str(), load.workload.as_str()),
            ("measure", "rr")
        );
        let told: Vec<(String, Verdict)> = load
            .figures
            .iter()
            .map(|figure| (figure.name(), figure.verdict))
            .collect();
        assert_eq!(
            told,
            [
                ("rr.transactions_per_second".into(), Verdict::Worse),
                ("rr.latency_seconds.p50".into(), Verdict::Worse),
                ("rr.error_ratio".into(), Verdict::NotShown),
            ]
        );
        assert_eq!(all.conditions, []);
    }

    #[test]
    fn runs_of_several_records_are_one_side() {
        let singles: Vec<Record> = [100.0, 101.0, 99.0, 102.0].map(|rate| runs(&[rate])).into();
        let singles: Vec<&Record> = singles.iter().collect();
        let other = runs(&[50.0, 51.0, 49.0, 52.0]);
        let all = compare(&singles, &[&other], Order::Apart, 0.05).expect("the same load");
        assert_eq!(all.loads[0].figures[0].before.n, 4);
        assert_eq!(all.loads[0].figures[0].verdict, Verdict::Worse);
    }

    #[test]
    fn what_was_different_is_named() {
        let (before, mut after) = (runs(&[1.0]), runs(&[1.0]));
        after.manifest.version = "9.9".into();
        after.manifest.phases[0].options = r#"{"size":"1kB"}"#.into();
        let all = compare(&[&before], &[&after], Order::Apart, 0.05).expect("the same load");
        let names: Vec<&str> = all.conditions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["sokudo", "measure: size"]);
        after.manifest.phases[0].options = "written by another version".into();
        let all = compare(&[&before], &[&after], Order::Apart, 0.05).expect("the same load");
        let last = all.conditions.last().map(|it| it.name.as_str());
        assert_eq!(last, Some("measure: options"));
    }

    #[test]
    fn loads_that_are_not_alike_are_not_compared() {
        let (before, mut after) = (runs(&[1.0]), runs(&[1.0]));
        after.manifest.phases[0].workload = "stream".into();
        assert_eq!(compare(&[&before], &[&after], Order::Apart, 0.05), None);
    }
}
