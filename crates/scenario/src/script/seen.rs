//! The result of a finished phase as a script sees it.

use serde_json::{Value, json};
use sokudo_model::{FlowResult, PhaseRecord, kinds};

/// The result as `sokudo.d.ts` describes it.
pub(super) fn result(record: &PhaseRecord) -> Value {
    let flows = &record.result.flows;
    let dead: Vec<String> = flows
        .iter()
        .filter(|flow| !flow.complete)
        .map(|flow| format!("{} → {}", flow.from, flow.to))
        .collect();
    let totals = kinds::totals(flows);
    let none = (!kinds::is_mixed(flows)).then_some(0.0);
    json!({
        "name": record.name,
        "status": record.status,
        "flows": flows.iter().map(flow).collect::<Vec<_>>(),
        "dead": dead,
        "bytes": totals.map_or(none, |totals| Some(totals.bytes)),
        "seconds": totals.map(|totals| totals.seconds),
        "bits_per_second": totals.map(|totals| totals.bits_per_second()),
        "fairness": kinds::fairness(flows),
        "summary": record.result.summary,
    })
}

fn flow(flow: &FlowResult) -> Value {
    let carried = kinds::carried(&flow.metrics);
    json!({
        "from": flow.from,
        "to": flow.to,
        "complete": flow.complete,
        "bytes": carried.map(|carried| carried.bytes),
        "seconds": carried.map(|carried| carried.seconds),
        "bits_per_second": carried.map(|carried| carried.bits_per_second()),
        "error": flow.labels.get("error"),
        "metrics": flow.metrics,
    })
}
