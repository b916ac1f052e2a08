//! What do the event loops' numbers say together?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_http::{Kind, LoopAudit, Phase};
use sokudo_model::{FlowResult, Labels, PhaseResult, PhaseSpec, Spent, Summary};
use sokudo_workload::contract::HostResult;
use sokudo_workload::exchange::Counts;
use sokudo_workload::exchange::{Collected, FlowDistributions};
use sokudo_workload::histogram_text::HistogramText;
use sokudo_workload::joined::{Merged, NS, put, ratio};

use super::client::Tally;
use super::course::share;
use super::names::{HTTP, READ, WAIT};
use super::options::HttpOptions;
use super::phase::aimed_at;

/// Failures that are named in the result, the most frequent first.
const NAMED_FAILURES: usize = 4;

/// What one event loop measured. Plain counts are under the end of their catalogue name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LoopNumbers {
    flow: u32,
    asked_per_s: Option<f64>,
    counts: BTreeMap<String, u64>,
    /// `stage: kind` → how many.
    failures: BTreeMap<String, u64>,
    first_ns: Option<i64>,
    last_ns: i64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: u64,
    /// Of all answered requests.
    #[serde(default)]
    spent: Spent,
    latency: HistogramText,
    service: HistogramText,
    connect: HistogramText,
    handshake: HistogramText,
    wait: HistogramText,
    read: HistogramText,
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers(Vec<LoopNumbers>);

impl Numbers {
    /// Puts together what the event loops left and what was collected of them; `asked_per_s` of
    /// each.
    pub(crate) fn new(
        collected: Collected,
        left: Vec<(Tally, LoopAudit)>,
        asked_per_s: Option<f64>,
    ) -> Self {
        let none = FlowDistributions::default();
        // Both are in the order of the loops.
        let both = collected.asked.iter().zip(left);
        let loops = both.map(|(asked, (tally, audit))| {
            let kept = collected.flows.get(&asked.flow).unwrap_or(&none);
            LoopNumbers {
                flow: asked.flow,
                asked_per_s,
                counts: counts(&asked.counts, &tally, &audit),
                failures: failures(&tally),
                first_ns: asked.counts.first_ns,
                last_ns: asked.counts.last_ns,
                cpu_ns: audit.cpu_ns,
                wait_ns: audit.wait_ns,
                elapsed_ns: audit.elapsed_ns,
                spent: kept.spent,
                latency: HistogramText::new(&kept.latency),
                service: HistogramText::new(&kept.service),
                connect: HistogramText::new(&kept.connect),
                handshake: HistogramText::new(&kept.handshake),
                wait: HistogramText::new(&tally.wait),
                read: HistogramText::new(&tally.read),
            }
        });
        Self(loops.collect())
    }
}

fn counts(counts: &Counts, tally: &Tally, audit: &LoopAudit) -> BTreeMap<String, u64> {
    let failed = |test: fn(Phase, Kind) -> bool| -> u64 {
        let found = tally
            .failures
            .iter()
            .filter(|((phase, kind), _)| test(*phase, *kind));
        found.map(|(_, count)| *count).sum()
    };
    let other = tally.classes[0] + tally.classes[6..].iter().sum::<u64>();
    let named = [
        ("requests", counts.transactions),
        ("errors", counts.errors),
        ("unstarted_requests", counts.unstarted),
        ("late_starts", counts.late),
        ("window_full", counts.window_full),
        (
            "ports_exhausted",
            counts.ports_exhausted.max(audit.ports_exhausted),
        ),
        ("answered", tally.answered),
        ("made_connections", tally.connections),
        ("resent_requests", tally.resent),
        ("sent_bytes", tally.sent_bytes),
        ("head_bytes", tally.head_bytes),
        ("body_bytes", tally.body_bytes),
        ("status_1xx", tally.classes[1]),
        ("status_2xx", tally.classes[2]),
        ("status_3xx", tally.classes[3]),
        ("status_4xx", tally.classes[4]),
        ("status_5xx", tally.classes[5]),
        ("status_other", other),
        ("failed_resolve", failed(|phase, _| phase == Phase::Resolve)),
        ("failed_connect", failed(|phase, _| phase == Phase::Connect)),
        ("failed_tls", failed(|phase, _| phase == Phase::Tls)),
        ("failed_send", failed(|phase, _| phase == Phase::Send)),
        ("failed_wait", failed(|phase, _| phase == Phase::Wait)),
        ("failed_read", failed(|phase, _| phase == Phase::Read)),
        ("refused", failed(|_, kind| kind == Kind::Refused)),
        ("resets", failed(|_, kind| kind == Kind::Reset)),
        ("timeouts", failed(|_, kind| kind == Kind::TimedOut)),
        (
            "closed_early",
            failed(|_, kind| matches!(kind, Kind::ClosedEarly | Kind::CutChunk { .. })),
        ),
        (
            "given_up",
            failed(|_, kind| matches!(kind, Kind::StreamReset(_) | Kind::GoneAway(_))),
        ),
        (
            "malformed",
            failed(|_, kind| matches!(kind, Kind::Malformed(_) | Kind::Http2(_))),
        ),
    ];
    let each = named.into_iter();
    each.map(|(name, count)| (name.to_owned(), count)).collect()
}

fn failures(tally: &Tally) -> BTreeMap<String, u64> {
    let all = tally.failures.iter();
    all.map(|((phase, kind), count)| (format!("{}: {}", phase.name(), kind.name()), *count))
        .collect()
}

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(crate) fn join(options: &HttpOptions, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
    let mut merged = Merged::default();
    let plans = &spec.phase.flows;
    let mut flows: Vec<FlowResult> = plans
        .iter()
        .map(|plan| empty_flow(options, spec, plan))
        .collect();
    let mut loops = Vec::new();
    let held = |flow: u32| {
        let all = u64::from(options.connections);
        share(all, u64::from(flow), plans.len() as u64)
    };
    for (index, result) in results.iter().enumerate() {
        let read = |text: &String| serde_json::from_str::<Numbers>(text).ok();
        let numbers = result.as_ref().ok().and_then(read).unwrap_or_default();
        // A host speaks for its own flows only.
        let own = |n: &LoopNumbers| {
            let plan = plans.get(n.flow as usize);
            plan.is_some_and(|plan| plan.from as usize == index)
        };
        for one in numbers.0.into_iter().filter(own) {
            tell_flow(
                &mut flows[one.flow as usize],
                &one,
                held(one.flow),
                &mut merged,
            );
            loops.push(one);
        }
    }
    PhaseResult {
        summary: totals(options, &loops, &flows, &merged),
        flows,
        histograms: merged.summaries(),
    }
}

fn empty_flow(
    options: &HttpOptions,
    spec: &PhaseSpec,
    plan: &sokudo_model::FlowPlan,
) -> FlowResult {
    let mut labels = Labels::new();
    labels.insert("transport".into(), options.url.scheme.to_string());
    if options.http2 {
        labels.insert("protocol".into(), "HTTP/2".into());
    }
    if options.threads > 1 {
        labels.insert("thread".into(), (plan.stream + 1).to_string());
    }
    let from = spec.hosts.get(plan.from as usize);
    FlowResult {
        id: plan.id,
        from: from.map_or(String::new(), |host| host.name.clone()),
        to: aimed_at(options, spec, plan),
        labels,
        ..FlowResult::default()
    }
}

/// One loop's numbers, as those of its flow.
fn tell_flow(flow: &mut FlowResult, one: &LoopNumbers, held: u64, merged: &mut Merged) {
    let metrics = &mut flow.metrics;
    put_counts(metrics, &one.counts);
    put_shares(metrics, std::slice::from_ref(one));
    let elapsed = one.elapsed_ns as f64;
    let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
    put(metrics, "http.client_cpu_ratio", share(one.cpu_ns));
    put(metrics, "http.client_wait_ratio", share(one.wait_ns));
    put(metrics, "http.asked_per_second", one.asked_per_s);
    put(metrics, "http.open_connections", held as f64);
    if let Some(text) = told_failures(&one.failures) {
        flow.labels.insert("error".into(), text);
    }
    flow.complete = true;
    // In a closed loop a request starts when it is meant to: both are the same.
    let service = match one.asked_per_s {
        Some(_) => &one.service,
        None => &one.latency,
    };
    for (name, text) in [
        (HTTP.latency, &one.latency),
        (HTTP.service, service),
        (HTTP.connect, &one.connect),
        (HTTP.handshake, &one.handshake),
        (WAIT, &one.wait),
        (READ, &one.read),
    ] {
        if let Some(summary) = merged.add(name, NS, text) {
            flow.histograms.insert(name.into(), summary);
        }
    }
}

/// Counts that stand in the result as they are; those that are zero and tell of trouble are left
/// out.
fn put_counts(metrics: &mut Summary, counts: &BTreeMap<String, u64>) {
    const ALWAYS: [&str; 8] = [
        "requests",
        "errors",
        "unstarted_requests",
        "made_connections",
        "sent_bytes",
        "head_bytes",
        "body_bytes",
        "late_starts",
    ];
    const OWN_USE: [&str; 2] = ["answered", "window_full"];
    for (name, count) in counts {
        let is_told = *count > 0 || ALWAYS.contains(&name.as_str());
        if is_told && !OWN_USE.contains(&name.as_str()) {
            put(metrics, &format!("http.{name}"), *count as f64);
        }
    }
}

/// What follows from the counts of some loops.
fn put_shares(metrics: &mut Summary, loops: &[LoopNumbers]) {
    let sum = |name: &str| -> f64 {
        let counts = loops.iter().filter_map(|one| one.counts.get(name));
        counts.sum::<u64>() as f64
    };
    let requests = sum("requests");
    let rates = loops.iter().map(|one| {
        let span_ns = one.last_ns.saturating_sub(one.first_ns?);
        let answered = one.counts.get("requests").copied()? as f64;
        ratio(answered * 1e9, span_ns as f64)
    });
    put(metrics, HTTP.per_second, rates.flatten().sum::<f64>());
    let failed = sum("errors") + sum("unstarted_requests");
    let bad = sum("status_4xx") + sum("status_5xx");
    let share = ratio(failed + bad, requests + failed);
    put(metrics, "http.error_ratio", share.unwrap_or(0.0));
    if loops.iter().any(|one| one.asked_per_s.is_some()) {
        let sent = requests + sum("errors");
        put(metrics, "http.late_ratio", ratio(sum("late_starts"), sent));
        put(
            metrics,
            "http.window_full_ratio",
            ratio(sum("window_full"), sent),
        );
    }
    let cpu_ns: Option<u64> = loops.iter().map(|one| one.cpu_ns).sum();
    let per_cpu = cpu_ns.and_then(|ns| ratio(sum("answered") * 1e9, ns as f64));
    put(metrics, "http.requests_per_cpu_second", per_cpu);
    let mut spent = Spent::default();
    loops.iter().for_each(|one| spent.add(&one.spent));
    for (metric, seconds) in spent.means(requests as u64) {
        put(metrics, metric.name, seconds);
    }
}

/// `connect: refused ×12, wait: timed-out`: the most frequent first.
fn told_failures(failures: &BTreeMap<String, u64>) -> Option<String> {
    let mut all: Vec<(&String, &u64)> = failures.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let told = all
        .iter()
        .take(NAMED_FAILURES)
        .map(|(what, count)| match count {
            1 => (*what).clone(),
            count => format!("{what} ×{count}"),
        });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn totals(
    options: &HttpOptions,
    loops: &[LoopNumbers],
    flows: &[FlowResult],
    merged: &Merged,
) -> Summary {
    let mut summary = Summary::new();
    if loops.is_empty() {
        return summary;
    }
    let mut counts = BTreeMap::<String, u64>::new();
    for (name, count) in loops.iter().flat_map(|one| &one.counts) {
        *counts.entry(name.clone()).or_default() += count;
    }
    put_counts(&mut summary, &counts);
    put_shares(&mut summary, loops);
    let asked = loops.iter().filter_map(|one| one.asked_per_s);
    put(
        &mut summary,
        "http.asked_per_second",
        asked.reduce(|a, b| a + b),
    );
    put(
        &mut summary,
        "http.open_connections",
        f64::from(options.connections),
    );
    for name in ["http.client_cpu_ratio", "http.client_wait_ratio"] {
        let values = flows
            .iter()
            .filter_map(|flow| flow.metrics.get(name).copied());
        put(&mut summary, name, values.reduce(f64::max));
    }
    merged.put_numbers(&mut summary);
    for (name, text) in [
        (
            HTTP.latency,
            loops.iter().map(|one| &one.latency).collect::<Vec<_>>(),
        ),
        (HTTP.service, loops.iter().map(service_of).collect()),
    ] {
        let mut all = sokudo_stats::Histogram::new();
        text.into_iter()
            .for_each(|text| all.merge(&text.histogram()));
        let p95 = (!all.is_empty()).then(|| all.quantile(0.95) as f64 * NS);
        put(&mut summary, &format!("{name}.p95"), p95);
    }
    summary
}

fn service_of(one: &LoopNumbers) -> &HistogramText {
    match one.asked_per_s {
        Some(_) => &one.service,
        None => &one.latency,
    }
}
