//! Joins what the event loops of all hosts measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_http::{FailureKind, LoopAudit, Observed, Phase};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, Spent, Summary};
use sokudo_stats::Histogram;
use sokudo_workload::contract::Options as _;
use sokudo_workload::exchange::{Asked, Collected, Counts, Details, Recorded};
use sokudo_workload::histogram_text;
use sokudo_workload::joined::{Merged, put, put_named, ratio, total};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::{LoadTime, planned_ns};

use super::NAME;
use super::client::Tally;
use super::options::HttpOptions;
use super::phase::aimed_at;
use super::record::VisitDetails;
use crate::observed::put_observed;
use crate::percentile::put_p95;
use sokudo_workload::flows::share;

/// Failures that are named in the result, the most frequent first.
const NAMED_FAILURES: usize = 4;

/// Numbers of one event loop.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LoopNumbers {
    asked: Asked,
    recorded: Recorded<VisitDetails>,
    asked_per_s: Option<f64>,
    /// By the end of the metric's name.
    counts: BTreeMap<String, u64>,
    /// `stage: kind` → how many.
    failures: BTreeMap<String, u64>,
    elapsed_ns: u64,
    observed: Observed,
    #[serde(with = "histogram_text")]
    wait: Histogram,
    #[serde(with = "histogram_text")]
    read: Histogram,
}

impl LoopNumbers {
    /// In a closed loop a request starts when it is meant to: both are the same.
    fn service(&self) -> &Histogram {
        match self.asked_per_s {
            Some(_) => &self.recorded.service,
            None => &self.recorded.latency,
        }
    }
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers(Vec<LoopNumbers>);

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.0.retain(|one| own.begins(one.asked.flow));
    }
}

impl Numbers {
    /// Puts together what the event loops left and what was collected of them; `asked_per_s` of
    /// each.
    pub(crate) fn new(
        collected: Collected<VisitDetails>,
        left: Vec<(Tally, LoopAudit)>,
        asked_per_s: Option<f64>,
    ) -> Self {
        let mut flows = collected.flows;
        // Both are in the order of the loops.
        let both = collected.asked.into_iter().zip(left);
        let loops = both.map(|(asked, (tally, audit))| LoopNumbers {
            recorded: flows.remove(&asked.flow).unwrap_or_default(),
            asked_per_s,
            counts: counts(&asked.counts, &tally, &audit),
            failures: failures(&tally),
            elapsed_ns: audit.elapsed_ns,
            observed: audit.observed,
            wait: tally.wait,
            read: tally.read,
            asked,
        });
        Self(loops.collect())
    }
}

fn counts(counts: &Counts, tally: &Tally, audit: &LoopAudit) -> BTreeMap<String, u64> {
    let failed = |test: fn(Phase, FailureKind) -> bool| -> u64 {
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
        ("late_starts", counts.late),
        ("window_full", counts.window_full),
        (
            "ports_exhausted",
            failed(|_, kind| kind == FailureKind::PortsExhausted).max(audit.ports_exhausted),
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
        ("refused", failed(|_, kind| kind == FailureKind::Refused)),
        ("resets", failed(|_, kind| kind == FailureKind::Reset)),
        ("timeouts", failed(|_, kind| kind == FailureKind::TimedOut)),
        (
            "closed_early",
            failed(|_, kind| {
                matches!(
                    kind,
                    FailureKind::ClosedEarly | FailureKind::CutChunk { .. }
                )
            }),
        ),
        (
            "given_up",
            failed(|_, kind| {
                matches!(kind, FailureKind::StreamReset(_) | FailureKind::GoneAway(_))
            }),
        ),
        (
            "malformed",
            failed(|_, kind| matches!(kind, FailureKind::Malformed(_) | FailureKind::Http2(_))),
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

/// Joins the hosts' numbers.
pub(super) fn join(options: &HttpOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let mut merged = Merged::default();
    let plans = ends.plans();
    let mut flows: Vec<FlowResult> = plans
        .iter()
        .map(|plan| {
            let mut flow = ends.flow(plan);
            flow.to = aimed_at(options, ends.spec, plan);
            flow.labels = labels(options, plan);
            flow
        })
        .collect();
    let held = |flow: u32| {
        let all = u64::from(options.connections);
        share(all, u64::from(flow), plans.len() as u64)
    };
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), options.warmup.0);
    let hosts = ends.hosts.iter().flatten();
    let loops = hosts.flat_map(|host| &host.0);
    let loops: Vec<Loop<'_>> = loops
        .map(|numbers| Loop::new(numbers, held(numbers.asked.flow), planned_ns))
        .collect();
    for one in &loops {
        let flow = one.numbers.asked.flow;
        tell_flow(&mut flows[flow as usize], one, &mut merged);
    }
    PhaseResult {
        summary: totals(options, &loops, &flows, &merged),
        flows,
        histograms: merged.summaries(),
    }
}

/// The numbers of an event loop, and what follows from them and from how long its load was to be.
struct Loop<'a> {
    numbers: &'a LoopNumbers,
    /// Connections that it held.
    held: u64,
    load: LoadTime,
    /// Requests that were due and never sent.
    unstarted: u64,
}

impl<'a> Loop<'a> {
    fn new(numbers: &'a LoopNumbers, held: u64, planned_ns: Option<i64>) -> Self {
        let counts = &numbers.asked.counts;
        let load = counts.load_time(planned_ns);
        Self {
            numbers,
            held,
            load,
            unstarted: counts.unstarted(&load, held, numbers.asked_per_s),
        }
    }
}

fn labels(options: &HttpOptions, plan: &FlowPlan) -> Labels {
    let mut labels = Labels::new();
    labels.insert("transport".into(), options.url.scheme.to_string());
    if options.http2 {
        labels.insert("protocol".into(), "HTTP/2".into());
    }
    if options.threads > 1 {
        labels.insert("thread".into(), (plan.stream + 1).to_string());
    }
    labels
}

/// One loop's numbers, as those of its flow.
fn tell_flow(flow: &mut FlowResult, of: &Loop<'_>, merged: &mut Merged) {
    let (metrics, one) = (&mut flow.metrics, of.numbers);
    put_counts(metrics, &one.counts);
    put_shares(metrics, std::slice::from_ref(of));
    of.load.put(metrics);
    let elapsed = one.elapsed_ns as f64;
    let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
    put(metrics, numbers::CLIENT_CPU_RATIO, share(one.asked.cpu_ns));
    put(
        metrics,
        numbers::CLIENT_WAIT_RATIO,
        share(one.asked.wait_ns),
    );
    put(metrics, numbers::ASKED_PER_SECOND, one.asked_per_s);
    put(metrics, numbers::OPEN_CONNECTIONS, of.held as f64);
    if let Some(text) = told_failures(&one.failures) {
        flow.labels.insert("error".into(), text);
    }
    flow.complete = true;
    let recorded = &one.recorded;
    let shared = [
        (numbers::LATENCY_SECONDS, &recorded.latency),
        (numbers::SERVICE_SECONDS, one.service()),
        (numbers::START_DELAY_SECONDS, &recorded.start_delay),
        (numbers::WAIT_SECONDS, &one.wait),
        (numbers::READ_SECONDS, &one.read),
    ];
    let own = recorded.details.distributions();
    merged.add_each(flow, shared.into_iter().chain(own));
}

/// Counts that stand in the result as they are; those that are zero and tell of trouble are left
/// out.
fn put_counts(metrics: &mut Summary, counts: &BTreeMap<String, u64>) {
    const ALWAYS: [&str; 7] = [
        "requests",
        "errors",
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
            put_named(metrics, format!("{NAME}.{name}"), *count as f64);
        }
    }
}

/// Puts the shares that follow from the counts of some loops.
fn put_shares(metrics: &mut Summary, of: &[Loop<'_>]) {
    let loops = || of.iter().map(|one| one.numbers);
    let sum = |name: &str| -> f64 {
        let counts = loops().filter_map(|one| one.counts.get(name));
        counts.sum::<u64>() as f64
    };
    let requests = sum("requests");
    let rates = of.iter().map(|one| {
        let answered = one.numbers.counts.get("requests").copied()?;
        Some(one.load.per_s(answered as f64))
    });
    put(
        metrics,
        numbers::REQUESTS_PER_SECOND,
        rates.flatten().sum::<f64>(),
    );
    let unstarted: u64 = of.iter().map(|one| one.unstarted).sum();
    put(metrics, numbers::UNSTARTED_REQUESTS, unstarted as f64);
    let failed = sum("errors") + unstarted as f64;
    let bad = sum("status_4xx") + sum("status_5xx");
    let share = ratio(failed + bad, requests + failed);
    put(metrics, numbers::ERROR_RATIO, share.unwrap_or(0.0));
    if loops().any(|one| one.asked_per_s.is_some()) {
        let sent = requests + sum("errors");
        put(
            metrics,
            numbers::LATE_RATIO,
            ratio(sum("late_starts"), sent),
        );
        put(
            metrics,
            numbers::WINDOW_FULL_RATIO,
            ratio(sum("window_full"), sent),
        );
    }
    let cpu_ns: Option<u64> = loops().map(|one| one.asked.cpu_ns).sum();
    let per_cpu = cpu_ns.and_then(|ns| ratio(sum("answered") * 1e9, ns as f64));
    put(metrics, numbers::REQUESTS_PER_CPU_SECOND, per_cpu);
    let mut spent = Spent::default();
    loops().for_each(|one| spent.add(&one.recorded.details.spent));
    for (name, seconds) in spent.means(requests as u64) {
        put(metrics, name, seconds);
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
    all: &[Loop<'_>],
    flows: &[FlowResult],
    merged: &Merged,
) -> Summary {
    let mut summary = Summary::new();
    if all.is_empty() {
        return summary;
    }
    let loops = || all.iter().map(|one| one.numbers);
    let mut counts = BTreeMap::<String, u64>::new();
    for (name, count) in loops().flat_map(|one| &one.counts) {
        *counts.entry(name.clone()).or_default() += count;
    }
    put_counts(&mut summary, &counts);
    put_shares(&mut summary, all);
    let asked = loops().filter_map(|one| one.asked_per_s);
    put(
        &mut summary,
        numbers::ASKED_PER_SECOND,
        asked.reduce(|a, b| a + b),
    );
    put(
        &mut summary,
        numbers::OPEN_CONNECTIONS,
        f64::from(options.connections),
    );
    for metric in [numbers::CLIENT_CPU_RATIO, numbers::CLIENT_WAIT_RATIO] {
        put(&mut summary, metric, total(&metric, flows));
    }
    merged.put_numbers(&mut summary);
    let latencies = loops().map(|one| &one.recorded.latency);
    put_p95(&mut summary, numbers::LATENCY_SECONDS, latencies);
    let services = loops().map(|one| one.service());
    put_p95(&mut summary, numbers::SERVICE_SECONDS, services);
    put_observed(&mut summary, loops().map(|one| &one.observed));
    summary
}
