//! The summary of a run as JSON for programs.
//!
//! One JSON object, schema [`SUMMARY_SCHEMA`]: a promise to scripts, so a key that exists keeps its
//! meaning. Sentences are English whatever the reader's language is.

use serde_json::{Map, Value, json};
use sokudo_analyze::Causes;
use sokudo_analyze::placement::Placed;
use sokudo_analyze::protect::{Checked, Places, Surplus};
use sokudo_analyze::ranges::Range;
use sokudo_i18n::{I18n, Lang};
use sokudo_model::advice::Advice;
use sokudo_model::document::{Document, field};
use sokudo_model::pairs::Pair;
use sokudo_model::proof::Outcome;
use sokudo_model::{
    Evidence, Finding, FlowResult, PhaseRecord, Problem, Record, RunStatus, Summary,
};
use sokudo_stats::capacity::protect::{self, Arm};
use sokudo_stats::{Answer, Curve, Knee, Repeats, answer_of, curve_of};

use crate::view::View;
use crate::{compare, demands};

/// Version of the object.
pub const SUMMARY_SCHEMA: &str = "sokudo.summary/1";

/// The object that [`summary_json`] makes.
#[rustfmt::skip]
pub const SUMMARY: Document = Document {
    name: "summary",
    command: "sokudo show --json",
    fields: &[
        field("schema", "string", ""),
        field("run", "string", ""),
        field("status", "string", ""),
        field("workload", "string", ""),
        field("summary", "map of number", ""),
        field("ranges", "map of object", ""),
        field("ranges.*.low", "number", ""),
        field("ranges.*.high", "number", ""),
        field("ranges.*.confidence", "number", "ratio"),
        field("ranges.*.basis", "string", ""),
        field("placement", "array of object", ""),
        field("placement[].host", "string", ""),
        field("placement[].thread", "string", ""),
        field("placement[].cores", "array of integer", ""),
        field("flows", "array of object", ""),
        field("flows[].id", "integer", ""),
        field("flows[].from", "string", ""),
        field("flows[].to", "string", ""),
        field("flows[].labels", "map of string", ""),
        field("flows[].metrics", "map of number", ""),
        field("flows[].histograms", "map of object", ""),
        field("flows[].histograms.*.n", "integer", ""),
        field("flows[].histograms.*.min", "number", ""),
        field("flows[].histograms.*.mean", "number", ""),
        field("flows[].histograms.*.p50", "number", ""),
        field("flows[].histograms.*.p90", "number", ""),
        field("flows[].histograms.*.p99", "number", ""),
        field("flows[].histograms.*.p999", "number", ""),
        field("flows[].histograms.*.max", "number", ""),
        field("flows[].complete", "boolean", ""),
        field("phases", "array of object", ""),
        field("phases[].name", "string", ""),
        field("phases[].moment", "string", ""),
        field("phases[].workload", "string", ""),
        field("phases[].status", "string", ""),
        field("phases[].summary", "map of number", ""),
        field("checks", "array of object", ""),
        field("checks[].name", "string", ""),
        field("checks[].passed", "boolean", ""),
        field("checks[].says", "string", ""),
        field("checks[].asked", "string or null", ""),
        field("checks[].measured", "number or null", ""),
        field("checks[].unit", "string or null", ""),
        field("checks[].on", "string or null", ""),
        field("problems", "array of object", ""),
        field("problems[].host", "string", ""),
        field("problems[].phase", "string", ""),
        field("problems[].says", "string", ""),
        field("problems[].missing", "string or null", ""),
        field("findings", "array of object", ""),
        field("findings[].rule", "string", ""),
        field("findings[].severity", "string", ""),
        field("findings[].phase", "string", ""),
        field("findings[].says", "string", ""),
        field("findings[].evidence", "array of object", ""),
        field("findings[].evidence[].says", "string", ""),
        field("findings[].evidence[].source", "string", ""),
        field("findings[].evidence[].host", "string or null", ""),
        field("findings[].evidence[].metric", "string or null", ""),
        field("findings[].evidence[].value", "number or null", ""),
        field("findings[].evidence[].unit", "string or null", ""),
        field("findings[].next", "string or null", ""),
        field("verdict", "array of string", ""),
        field("limit", "object", ""),
        field("limit.cause", "string or null", ""),
        field("limit.confirmed", "boolean or null", ""),
        field("limit.says", "string or null", ""),
        field("limit.for", "array of object", ""),
        field("limit.for[].says", "string", ""),
        field("limit.for[].source", "string", ""),
        field("limit.for[].host", "string or null", ""),
        field("limit.for[].metric", "string or null", ""),
        field("limit.for[].value", "number or null", ""),
        field("limit.for[].unit", "string or null", ""),
        field("limit.against", "array of object", ""),
        field("limit.against[].says", "string", ""),
        field("limit.against[].source", "string", ""),
        field("limit.against[].host", "string or null", ""),
        field("limit.against[].metric", "string or null", ""),
        field("limit.against[].value", "number or null", ""),
        field("limit.against[].unit", "string or null", ""),
        field("limit.beside", "array of string", ""),
        field("limit.suspected", "array of string", ""),
        field("limit.refuted", "array of string", ""),
        field("limit.missing", "array of string", ""),
        field("record", "string", ""),
        field("sweep", "object", ""),
        field("sweep.option", "string", ""),
        field("sweep.unit", "string", ""),
        field("sweep.knee", "integer or null", ""),
        field("sweep.steps", "array of object", ""),
        field("sweep.steps[].phase", "string", ""),
        field("sweep.steps[].value", "string", ""),
        field("sweep.steps[].status", "string", ""),
        field("sweep.steps[].offered", "number or null", ""),
        field("sweep.steps[].delivered", "number or null", ""),
        field("sweep.steps[].p50_seconds", "number or null", "seconds"),
        field("sweep.steps[].p99_seconds", "number or null", "seconds"),
        field("sweep.steps[].lost_ratio", "number or null", "ratio"),
        field("protect", "object", ""),
        field("protect.kept", "boolean", ""),
        field("protect.users", "number", ""),
        field("protect.workers", "integer", ""),
        field("protect.open_connections", "integer", ""),
        field("protect.throughput_ratio", "number", "ratio"),
        field("protect.expected_seconds", "number", "seconds"),
        field("protect.surplus", "string", ""),
        field("protect.before", "object or null", ""),
        field("protect.before.per_second", "number", "per second"),
        field("protect.before.response_seconds", "number", "seconds"),
        field("protect.before.errors_ratio", "number", "ratio"),
        field("protect.before.accept_queue", "number or null", ""),
        field("protect.before.workers_queued", "number or null", ""),
        field("protect.before.pool_waiting", "number or null", ""),
        field("protect.before.service_seconds", "number or null", "seconds"),
        field("protect.after", "object", ""),
        field("protect.after.per_second", "number", "per second"),
        field("protect.after.response_seconds", "number", "seconds"),
        field("protect.after.errors_ratio", "number", "ratio"),
        field("protect.after.accept_queue", "number or null", ""),
        field("protect.after.workers_queued", "number or null", ""),
        field("protect.after.pool_waiting", "number or null", ""),
        field("protect.after.service_seconds", "number or null", "seconds"),
        field("search", "object", ""),
        field("search.trials", "integer", ""),
        field("search.held_trials", "integer", ""),
        field("search.unit", "string", ""),
        field("search.low", "number or null", ""),
        field("search.high", "number or null", ""),
        field("search.confidence", "number or null", "ratio"),
        field("search.above", "number or null", ""),
        field("advice", "object", ""),
        field("advice.predicted_settings", "integer", ""),
        field("advice.tried_settings", "integer", ""),
        field("advice.chosen", "integer or null", ""),
        field("advice.settings", "array of object", ""),
        field("advice.settings[].level", "string", ""),
        field("advice.settings[].connections", "integer", ""),
        field("advice.settings[].batch_bytes", "integer", "bytes"),
        field("advice.settings[].durability", "string", ""),
        field("advice.settings[].is_default", "boolean", ""),
        field("advice.settings[].predicted_seconds", "number", "seconds"),
        field("advice.settings[].low_seconds", "number", "seconds"),
        field("advice.settings[].high_seconds", "number", "seconds"),
        field("advice.settings[].stage", "string", ""),
        field("advice.settings[].trials", "array of object", ""),
        field("advice.settings[].trials[].bytes", "number", "bytes"),
        field("advice.settings[].trials[].predicted_seconds", "number", "seconds"),
        field("advice.settings[].trials[].measured_seconds", "number", "seconds"),
        field("advice.rules", "array of object", ""),
        field("advice.rules[].name", "string", ""),
        field("advice.rules[].holds", "boolean or null", ""),
        field("repeats", "object", ""),
        field("repeats.runs", "integer", ""),
        field("repeats.failed_runs", "integer", ""),
        field("repeats.phase", "string", ""),
        field("repeats.figures", "map of object", ""),
        field("repeats.figures.*.median", "number", ""),
        field("repeats.figures.*.low", "number or null", ""),
        field("repeats.figures.*.high", "number or null", ""),
        field("repeats.figures.*.confidence", "number or null", "ratio"),
        field("repeats.figures.*.min", "number", ""),
        field("repeats.figures.*.max", "number", ""),
        field("repeats.figures.*.runs", "integer", ""),
        field("repeats.figures.*.values", "array of number or null", ""),
        field("profiles", "object", ""),
        field("profiles.before", "string", ""),
        field("profiles.pairs", "array of object", ""),
        field("profiles.pairs[].after", "string", ""),
        field("profiles.pairs[].is_same", "boolean", ""),
        field("profiles.pairs[].least", "number", "ratio"),
        field("profiles.pairs[].says", "array of string", ""),
        field("profiles.pairs[].loads", "array of object", ""),
        field("profiles.pairs[].loads[].name", "string", ""),
        field("profiles.pairs[].loads[].workload", "string", ""),
        field("profiles.pairs[].loads[].figures", "map of object", ""),
        field("profiles.pairs[].loads[].figures.*.before", "number", ""),
        field("profiles.pairs[].loads[].figures.*.before_runs", "integer", ""),
        field("profiles.pairs[].loads[].figures.*.after", "number", ""),
        field("profiles.pairs[].loads[].figures.*.after_runs", "integer", ""),
        field("profiles.pairs[].loads[].figures.*.scale", "string", ""),
        field("profiles.pairs[].loads[].figures.*.change", "number or null", ""),
        field("profiles.pairs[].loads[].figures.*.low", "number or null", ""),
        field("profiles.pairs[].loads[].figures.*.high", "number or null", ""),
        field("profiles.pairs[].loads[].figures.*.confidence", "number or null", "ratio"),
        field("profiles.pairs[].loads[].figures.*.verdict", "string", ""),
        field("layers", "map of object", ""),
        field("layers.*.runs", "integer", ""),
        field("layers.*.failed_runs", "integer", ""),
        field("layers.*.phase", "string", ""),
        field("layers.*.figures", "map of object", ""),
        field("layers.*.figures.*.median", "number", ""),
        field("layers.*.figures.*.low", "number or null", ""),
        field("layers.*.figures.*.high", "number or null", ""),
        field("layers.*.figures.*.confidence", "number or null", "ratio"),
        field("layers.*.figures.*.min", "number", ""),
        field("layers.*.figures.*.max", "number", ""),
        field("layers.*.figures.*.runs", "integer", ""),
        field("layers.*.figures.*.values", "array of number or null", ""),
        field("pairs", "array of object", ""),
        field("pairs[].from", "string", ""),
        field("pairs[].to", "string", ""),
        field("pairs[].passed", "boolean", ""),
        field("pairs[].dead", "array of string", ""),
        field("pairs[].figures", "map of number", ""),
        field("pairs[].wrong", "string or null", ""),
    ],
};

/// The record in one JSON object.
///
/// `limit.cause` names the rule that says what limited the result, and is null when that is unknown.
/// `summary` is flat, its keys are catalogue names; `ranges` has some of them; `flows` are those of the phase that the
/// summary describes, and of the loads that ran at the same moment; `phases` has the numbers of each measured phase; `sweep` is there when something was swept, `repeats` when it was repeated, `profiles` when settings of a server were measured in turns, `layers` when a check measured each several times, `pairs` when those of a group were checked. A number that is not finite is left out: JSON cannot express it.
pub fn summary_json(record: &Record, record_path: &str) -> Value {
    write(&View::new(record), record_path)
}

pub(crate) fn write(view: &View, record_path: &str) -> Value {
    let i18n = I18n::new(Lang::En);
    let record = view.record;
    let manifest = &record.manifest;
    let placed = view
        .subject()
        .map(|phase| sokudo_analyze::placement::of(record, phase));
    let placed = placed.unwrap_or_default();
    let flows = view.subjects().iter().flat_map(|p| &p.result.flows);
    let mut summary = json!({
        "schema": SUMMARY_SCHEMA,
        "run": manifest.id.0,
        "status": status(manifest.status, record.checks.iter().all(|check| check.passed)),
        "workload": manifest.workload,
        "summary": numbers(&totals(view)),
        "ranges": view.ranges.iter().map(|(name, it)| (name.clone(), range(it))).collect::<Map<_, _>>(),
        "placement": placed.iter().map(placement).collect::<Vec<_>>(),
        "flows": flows.map(flow).collect::<Vec<_>>(),
        "phases": view.measured().map(measured).collect::<Vec<_>>(),
        "checks": record.checks.iter().map(|c| demands::json(c, &i18n)).collect::<Vec<_>>(),
        "problems": manifest.problems.iter().map(|p| problem(p, &i18n)).collect::<Vec<_>>(),
        "findings": record.findings.iter().map(|f| json!({
            "rule": f.rule,
            "severity": f.severity,
            "phase": f.phase,
            "says": i18n.text(&f.says),
            "evidence": f.evidence.iter().map(|e| evidence(e, &i18n)).collect::<Vec<_>>(),
            "next": f.next.as_ref().map(|n| i18n.text(n)),
        })).collect::<Vec<_>>(),
        "verdict": view.verdict.iter().map(|v| i18n.text(v)).collect::<Vec<_>>(),
        "limit": limit(record, &i18n),
        "record": record_path,
    });
    if let Some(curve) = curve_of(&manifest.phases) {
        summary["sweep"] = sweep(&curve);
    }
    if let Some(checked) = sokudo_analyze::protect::of(record) {
        summary["protect"] = limits(&checked);
    }
    if let Some(answer) = answer_of(&manifest.phases) {
        summary["search"] = search(&answer);
    }
    if let Some(found) = &record.manifest.advice {
        summary["advice"] = advice(found);
    }
    if let Some(all) = &view.repeats {
        summary["repeats"] = repeats(all);
    }
    if let Some(found) = &view.profiles {
        summary["profiles"] = compare::profiles_json(record, found);
    }
    if !view.turns.is_empty() {
        let layers = view.turns.iter();
        let layers = layers.map(|(layer, turns)| ((*layer).to_owned(), repeats(turns)));
        summary["layers"] = layers.collect::<Map<_, _>>().into();
    }
    if !view.pairs.is_empty() {
        summary["pairs"] = view.pairs.iter().map(|p| pair(p, &i18n)).collect();
    }
    summary
}

/// The totals of the run, and what was observed of the target's queues in the phase that they are of.
fn totals(view: &View) -> Summary {
    let mut totals = view.record.manifest.summary.clone();
    let observed = view
        .subject()
        .map(|phase| sokudo_analyze::observed::target_queues(view.record, phase));
    for (name, value) in observed.into_iter().flatten() {
        totals.entry(name).or_insert(value);
    }
    totals
}

/// Limits in front of the knee, checked with more users.
pub(crate) fn limits(checked: &Checked) -> Value {
    let protected = &checked.protected;
    let arm = |arm: &Arm, places: &Places| {
        json!({
            "per_second": arm.level.per_second(),
            "response_seconds": arm.level.response_s(),
            "errors_ratio": arm.errors,
            "accept_queue": places.accept_queue,
            "workers_queued": places.workers_queued,
            "pool_waiting": places.pool_waiting,
            "service_seconds": places.service_s,
        })
    };
    let surplus = match checked.after.surplus() {
        Surplus::Threads => "workers",
        Surplus::Accept => "accept_queue",
        Surplus::Pool => "pool",
        Surplus::Nowhere => "none",
        Surplus::Unknown => "unknown",
    };
    json!({
        "kept": protected.outcome() == protect::Outcome::Kept,
        "users": protected.users,
        "workers": protected.limits.workers,
        "open_connections": protected.limits.open,
        "throughput_ratio": protected.kept(),
        "expected_seconds": protected.expected_s,
        "surplus": surplus,
        "before": protected.before.as_ref().map(|it| arm(it, &checked.before)),
        "after": arm(&protected.after, &checked.after),
    })
}

/// One measured phase; loads that ran at the same moment have the same `moment`.
fn measured(phase: &PhaseRecord) -> Value {
    json!({
        "name": phase.name,
        "moment": phase.moment(),
        "workload": phase.workload,
        "status": status(phase.status, true),
        "summary": numbers(&phase.result.summary),
    })
}

pub(crate) fn placement(placed: &Placed) -> Value {
    let cores = placed.cores.iter().map(|(core, _)| core);
    json!({
        "host": placed.host,
        "thread": placed.thread,
        "cores": cores.collect::<Vec<_>>(),
    })
}

pub(crate) fn range(range: &Range) -> Value {
    json!({
        "low": range.interval.low,
        "high": range.interval.high,
        "confidence": range.interval.confidence,
        "basis": range.basis.name(),
    })
}

pub(crate) fn problem(problem: &Problem, i18n: &I18n) -> Value {
    json!({
        "host": problem.host,
        "phase": problem.phase,
        "says": i18n.text(&problem.says),
        "missing": problem.missing.as_ref().map(|m| i18n.text(m)),
    })
}

/// One pair of a check of a group; `wrong` is null when it holds.
pub(crate) fn pair(pair: &Pair, i18n: &I18n) -> Value {
    let wrong = (!pair.holds()).then(|| i18n.text(&sokudo_analyze::pairs::wrong(pair)));
    json!({
        "from": pair.from,
        "to": pair.to,
        "passed": pair.holds(),
        "dead": pair.dead.keys().collect::<Vec<_>>(),
        "figures": pair.figures,
        "wrong": wrong,
    })
}

/// The steps of a sweep by rising load; `knee` is the index of one of them.
pub(crate) fn sweep(curve: &Curve) -> Value {
    let unit = curve.names.delivered.unit.name();
    let steps = curve.steps.iter().map(|step| {
        json!({
            "phase": step.phase,
            "value": step.value,
            "status": status(step.status, true),
            "offered": step.offered,
            "delivered": step.delivered,
            "p50_seconds": step.p50_s,
            "p99_seconds": step.p99_s,
            "lost_ratio": step.lost,
        })
    });
    let knee = match curve.knee {
        Knee::At(at, _) => Some(at),
        Knee::Above | Knee::Below | Knee::Unknown => None,
    };
    json!({
        "option": curve.option,
        "unit": unit,
        "knee": knee,
        "steps": steps.collect::<Vec<_>>(),
    })
}

/// The trials at the answer of a search: the range of what they carried, and the lowest load above it
/// that broke a bound.
pub(crate) fn search(answer: &Answer) -> Value {
    let rate = answer.trials.rate();
    let interval = rate.and_then(|rate| rate.spread.interval);
    json!({
        "trials": answer.trials.phases.len(),
        "held_trials": answer.held,
        "unit": rate.map_or("", |rate| rate.metric.unit.name()),
        "low": interval.map(|it| it.low),
        "high": interval.map(|it| it.high),
        "confidence": interval.map(|it| it.confidence),
        "above": answer.above,
    })
}

/// The medians of repeated runs; `phase` is the run in the middle, which `summary` is of.
fn advice(found: &Advice) -> Value {
    let settings = found.candidates.iter().map(|it| {
        let trials = it.trials.iter().map(|trial| {
            json!({
                "bytes": trial.bytes,
                "predicted_seconds": trial.predicted_s,
                "measured_seconds": trial.measured_s,
            })
        });
        json!({
            "level": it.level,
            "connections": it.connections,
            "batch_bytes": it.batch_bytes,
            "durability": it.durability,
            "is_default": it.is_default,
            "predicted_seconds": it.predicted.seconds,
            "low_seconds": it.predicted.low_s,
            "high_seconds": it.predicted.high_s,
            "stage": it.predicted.stage,
            "trials": trials.collect::<Vec<Value>>(),
        })
    });
    let rules = found.rules.iter();
    let rules = rules.map(|rule| json!({ "name": rule.name, "holds": rule.holds }));
    json!({
        "predicted_settings": found.counts.0,
        "tried_settings": found.counts.1,
        "chosen": found.chosen,
        "settings": settings.collect::<Vec<Value>>(),
        "rules": rules.collect::<Vec<Value>>(),
    })
}

pub(crate) fn repeats(repeats: &Repeats) -> Value {
    let figures = repeats.figures.iter().map(|figure| {
        let spread = &figure.spread;
        let figures = json!({
            "median": spread.median,
            "low": spread.interval.map(|it| it.low),
            "high": spread.interval.map(|it| it.high),
            "confidence": spread.interval.map(|it| it.confidence),
            "min": spread.min,
            "max": spread.max,
            "runs": spread.n,
            "values": figure.values,
        });
        (figure.name(), figures)
    });
    json!({
        "runs": repeats.phases.len(),
        "failed_runs": repeats.failed,
        "phase": repeats.subject(),
        "figures": figures.collect::<Map<_, _>>(),
    })
}

/// A run that is still `running` has no result yet: for a program that is a failed one.
fn status(status: RunStatus, is_passed: bool) -> &'static str {
    match status {
        RunStatus::Running => RunStatus::Failed.word(is_passed),
        ended => ended.word(is_passed),
    }
}

fn numbers(summary: &Summary) -> Value {
    let finite = summary.iter().filter(|(_, v)| v.is_finite());
    finite.map(|(k, v)| (k.clone(), json!(v))).collect()
}

fn flow(flow: &FlowResult) -> Value {
    json!({
        "id": flow.id,
        "from": flow.from,
        "to": flow.to,
        "labels": flow.labels,
        "metrics": numbers(&flow.metrics),
        "histograms": flow.histograms,
        "complete": flow.complete,
    })
}

/// Limit of the run, what supports it and what speaks against it; `cause` is null when that is unknown.
///
/// `confirmed` stays null until an experiment has put the cause to the test.
fn limit(record: &Record, i18n: &I18n) -> Value {
    let explained = sokudo_analyze::explain(record);
    let cause = explained.as_ref().and_then(|explained| explained.limit());
    let rows = |of: fn(&Finding) -> &[Evidence]| {
        let rows = cause.map_or(&[][..], of).iter();
        rows.map(|row| evidence(row, i18n)).collect::<Vec<_>>()
    };
    let names = |of: fn(&Causes) -> &[Finding]| {
        let causes = explained.as_ref().map(|explained| of(&explained.causes));
        let names = causes.unwrap_or_default().iter();
        names
            .map(|finding| finding.rule.clone())
            .collect::<Vec<_>>()
    };
    json!({
        "cause": cause.map(|finding| &finding.rule),
        "confirmed": explained.as_ref().zip(cause).and_then(|(explained, cause)| {
            let mut of_cause = explained.proofs.iter().filter(|proof| proof.rule == cause.rule);
            match of_cause.next_back()?.outcome {
                Outcome::Confirmed => Some(true),
                Outcome::Refuted => Some(false),
                Outcome::Undetermined => None,
            }
        }),
        "says": cause.map(|finding| i18n.text(&finding.says)),
        "for": rows(|finding| &finding.evidence),
        "against": rows(|finding| &finding.against),
        "beside": names(|causes| causes.named.get(1..).unwrap_or_default()),
        "suspected": names(|causes| &causes.suspected),
        "refuted": names(|causes| &causes.refuted),
        "missing": explained.as_ref().map(|explained| &explained.missing),
    })
}

fn evidence(evidence: &Evidence, i18n: &I18n) -> Value {
    json!({
        "says": i18n.text(&evidence.says),
        "source": evidence.source,
        "host": evidence.host,
        "metric": evidence.metric,
        "value": evidence.value.filter(|v| v.is_finite()),
        "unit": evidence.unit.map(|u| u.name()),
    })
}
