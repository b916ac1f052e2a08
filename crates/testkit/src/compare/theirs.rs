//! Executes plans with JMeter, all in one JVM: starting it takes longer than most plans.

use serde_json::{Value, json};

use super::{BOUND, DIRECT, Done, PLAN_BOUND, Work};
use crate::jmeter::JMeter;

const DRIVER: &str = include_str!("driver.groovy");

pub(super) fn execute(jmeter: &JMeter, work: &Work<'_>) -> Result<Vec<Done>, String> {
    let told = |error: std::io::Error| format!("no place to work in: {error}");
    let (driver, list) = (
        work.place.join("driver.groovy"),
        work.place.join("plans.json"),
    );
    std::fs::write(&driver, DRIVER).map_err(told)?;
    std::fs::write(&list, plans(work).to_string()).map_err(told)?;
    let port = work.recorder.port;
    let options = [
        "-Dhttp.proxyHost=127.0.0.1".to_owned(),
        format!("-Dhttp.proxyPort={port}"),
        format!("-Dhttp.nonProxyHosts={DIRECT}"),
    ];
    let call = jmeter.script(&work.place, &options, &driver, &list);
    let ended = call.bound(BOUND).start().end()?;
    if ended.code != Some(0) {
        return Err(format!("JMeter did not execute the plans: {ended}"));
    }
    let printed = by_plan(&ended.stdout);
    if printed.len() != work.plans.len() {
        return Err(format!("JMeter executed {} plans: {ended}", printed.len()));
    }
    let done = printed.into_iter().enumerate().map(|(plan, lines)| {
        let failed = lines.iter().find_map(|line| line.strip_prefix("@failed "));
        let failed = failed.map(str::to_owned);
        work.done(plan, lines.join("\n"), failed)
    });
    Ok(done.collect())
}

fn plans(work: &Work<'_>) -> Value {
    let plans = work.plans.iter().enumerate().map(|(number, plan)| {
        json!({
            "plan": plan,
            "results": work.results(number),
            "bound_ms": PLAN_BOUND.as_millis() as u64,
            "properties": { "out": work.folder(number) },
        })
    });
    let plans: Vec<Value> = plans.collect();
    let properties: serde_json::Map<String, Value> = work
        .properties
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({ "port": work.recorder.port, "properties": properties, "plans": plans })
}

/// The lines that were printed while each plan was executed.
fn by_plan(printed: &str) -> Vec<Vec<&str>> {
    let mut plans = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in printed.lines() {
        match line {
            "@begin" => open = Some(Vec::new()),
            "@end" => plans.extend(open.take()),
            line => open.iter_mut().for_each(|lines| lines.push(line)),
        }
    }
    plans
}
