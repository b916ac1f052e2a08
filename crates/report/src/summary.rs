//! The summary of a run as JSON for programs.
//!
//! One JSON object, schema [`SUMMARY_SCHEMA`]: a promise to scripts, so a key that exists keeps its
//! meaning. Sentences are English whatever the reader's language is.

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::pairs::Pair;
use sokudo_model::{Evidence, FlowResult, Record, RunStatus, Summary};
use sokudo_stats::{Curve, Knee, curve_of};

use crate::view::View;

/// Version of the object.
pub const SUMMARY_SCHEMA: &str = "sokudo.summary/1";

/// The record in one JSON object.
///
/// `limit` names the rule that says what limited the result, and is null when that is unknown.
/// `summary` is flat, its keys are catalogue names; `flows` are those of the phase that the
/// summary describes; `sweep` is there when something was swept, `pairs` when those of a group were checked. A number that is not finite is left out: JSON cannot express it.
pub fn summary_json(record: &Record, record_path: &str) -> Value {
    write(&View::new(record), record_path)
}

pub(crate) fn write(view: &View, record_path: &str) -> Value {
    let i18n = I18n::new(Lang::En);
    let record = view.record;
    let manifest = &record.manifest;
    let flows = view.subject().map(|p| p.result.flows.as_slice());
    let mut summary = json!({
        "schema": SUMMARY_SCHEMA,
        "run": manifest.id.0,
        "status": status(manifest.status),
        "workload": manifest.workload,
        "summary": numbers(&manifest.summary),
        "flows": flows.unwrap_or_default().iter().map(flow).collect::<Vec<_>>(),
        "checks": record.checks.iter().map(|c| json!({
            "name": c.name,
            "passed": c.passed,
            "says": i18n.text(&c.says),
        })).collect::<Vec<_>>(),
        "problems": manifest.problems.iter().map(|p| json!({
            "host": p.host,
            "phase": p.phase,
            "says": i18n.text(&p.says),
            "missing": p.missing.as_ref().map(|m| i18n.text(m)),
        })).collect::<Vec<_>>(),
        "findings": record.findings.iter().map(|f| json!({
            "rule": f.rule,
            "severity": f.severity,
            "phase": f.phase,
            "says": i18n.text(&f.says),
            "evidence": f.evidence.iter().map(|e| evidence(e, &i18n)).collect::<Vec<_>>(),
            "next": f.next.as_ref().map(|n| i18n.text(n)),
        })).collect::<Vec<_>>(),
        "verdict": view.verdict.iter().map(|v| i18n.text(v)).collect::<Vec<_>>(),
        "limit": sokudo_analyze::limit(record).map(|f| f.rule),
        "record": record_path,
    });
    if let Some(curve) = curve_of(&manifest.phases) {
        summary["sweep"] = sweep(&curve);
    }
    if !view.pairs.is_empty() {
        summary["pairs"] = view.pairs.iter().map(|p| pair(p, &i18n)).collect();
    }
    summary
}

/// One pair of a check of a group; `wrong` is null when it holds.
fn pair(pair: &Pair, i18n: &I18n) -> Value {
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
fn sweep(curve: &Curve) -> Value {
    let unit = curve.names.delivered.unit.name();
    let steps = curve.steps.iter().map(|step| {
        json!({
            "phase": step.phase,
            "value": step.value,
            "status": status(step.status),
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

/// A run that is still `running` has no result yet: for a program that is a failed one.
fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Ok => "ok",
        RunStatus::Partial => "partial",
        RunStatus::Running | RunStatus::Failed => "failed",
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
