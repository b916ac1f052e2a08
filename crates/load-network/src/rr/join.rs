//! What do the asking and the answering ends' numbers say together?

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowResult, Labels, PhaseResult, PhaseSpec, Summary};
use sokudo_workload::contract::HostResult;
use sokudo_workload::exchange::{Collected, FlowDistributions, Names};
use sokudo_workload::histogram_text::HistogramText;
use sokudo_workload::joined::{Merged, NS, Totals, put, put_start_late, ratio};

use super::options::RrOptions;

/// A flow as its asking end saw it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AskedNumbers {
    flow: u32,
    asked_per_s: Option<f64>,
    transactions: u64,
    timed: u64,
    errors: u64,
    unstarted: u64,
    late: u64,
    window_full: u64,
    connections: u64,
    connections_lost: u64,
    ports_exhausted: u64,
    first_ns: Option<i64>,
    last_ns: i64,
    sum_s: f64,
    sum_squares_s: f64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: i64,
    /// Real start of the first request minus the agreed one; nothing in an open loop.
    #[serde(default)]
    start_late_ns: Option<i64>,
    latency: HistogramText,
    service: HistogramText,
    connect: HistogramText,
    handshake: HistogramText,
    error: Option<String>,
}

/// A flow as its answering end saw it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AnsweredNumbers {
    flow: u32,
    answered: u64,
    strangers: u64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: i64,
    error: Option<String>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Numbers {
    asked: Vec<AskedNumbers>,
    answered: Vec<AnsweredNumbers>,
}

impl Numbers {
    /// Puts together what the threads of one host handed over. `start_ns` is when the first request
    /// of each thread was to leave, where that was agreed on; `set_up` says of a flow how many
    /// connections it has and which rate was asked for.
    pub(crate) fn new(
        collected: Collected,
        start_ns: Option<i64>,
        set_up: impl Fn(u32) -> (u64, Option<f64>),
    ) -> Self {
        let none = FlowDistributions::default();
        let asked = collected.asked.into_iter().map(|thread| {
            let counts = thread.counts;
            let kept = collected.flows.get(&thread.flow).unwrap_or(&none);
            let (connections, asked_per_s) = set_up(thread.flow);
            AskedNumbers {
                flow: thread.flow,
                asked_per_s,
                transactions: counts.transactions,
                timed: counts.timed,
                errors: counts.errors,
                unstarted: counts.unstarted,
                late: counts.late,
                window_full: counts.window_full,
                connections,
                connections_lost: counts.connections_lost,
                ports_exhausted: counts.ports_exhausted,
                first_ns: counts.first_ns,
                last_ns: counts.last_ns,
                sum_s: counts.sum_s,
                sum_squares_s: counts.sum_squares_s,
                cpu_ns: thread.cpu_ns,
                wait_ns: thread.wait_ns,
                elapsed_ns: thread.elapsed_ns,
                start_late_ns: counts
                    .first_ns
                    .zip(start_ns)
                    .map(|(first, start)| first - start),
                latency: HistogramText::new(&kept.latency),
                service: HistogramText::new(&kept.service),
                connect: HistogramText::new(&kept.connect),
                handshake: HistogramText::new(&kept.handshake),
                error: counts.error,
            }
        });
        let asked = asked.collect();
        let answered = collected
            .answered
            .into_iter()
            .map(|thread| AnsweredNumbers {
                flow: thread.flow,
                answered: thread.answered,
                strangers: thread.strangers,
                cpu_ns: thread.cpu_ns,
                wait_ns: thread.wait_ns,
                elapsed_ns: thread.elapsed_ns,
                error: thread.error,
            });
        Self {
            asked,
            answered: answered.collect(),
        }
    }
}

/// One join at work.
struct Join<'a> {
    names: &'static Names,
    options: &'a RrOptions,
    merged: Merged,
}

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(crate) fn join(
    names: &'static Names,
    options: &RrOptions,
    spec: &PhaseSpec,
    results: &[HostResult],
) -> PhaseResult {
    let mut join = Join {
        names,
        options,
        merged: Merged::default(),
    };
    let plans = &spec.phase.flows;
    let mut flows: Vec<FlowResult> = plans
        .iter()
        .map(|flow| join.empty_flow(spec, flow))
        .collect();
    let mut seen_by_both = vec![false; flows.len()];
    for (index, result) in results.iter().enumerate() {
        let read = |text: &String| serde_json::from_str::<Numbers>(text).ok();
        let Some(numbers) = result.as_ref().ok().and_then(read) else {
            continue;
        };
        // A host speaks for its own flows only.
        let own = |flow: u32, end: fn(&sokudo_model::FlowPlan) -> u32| {
            let plan = plans.get(flow as usize);
            plan.is_some_and(|plan| end(plan) as usize == index)
        };
        for asked in numbers
            .asked
            .iter()
            .filter(|n| own(n.flow, |plan| plan.from))
        {
            join.asked(&mut flows[asked.flow as usize], asked);
        }
        for answered in numbers
            .answered
            .iter()
            .filter(|n| own(n.flow, |plan| plan.to))
        {
            join.answered(&mut flows[answered.flow as usize], answered);
            seen_by_both[answered.flow as usize] = true;
        }
    }
    for (flow, seen_by_both) in flows.iter_mut().zip(seen_by_both) {
        flow.complete &= seen_by_both;
    }
    let summary = join.totals(&flows);
    PhaseResult {
        summary,
        flows,
        histograms: join.merged.summaries(),
    }
}

impl Join<'_> {
    fn name(&self, what: &str) -> String {
        format!("{}.{what}", self.names.source)
    }

    fn put(&self, metrics: &mut Summary, what: &str, value: impl Into<Option<f64>>) {
        put(metrics, &self.name(what), value);
    }

    fn empty_flow(&self, spec: &PhaseSpec, flow: &sokudo_model::FlowPlan) -> FlowResult {
        let name = |host: u32| {
            let host = spec.hosts.get(host as usize);
            host.map_or(String::new(), |host| host.name.clone())
        };
        let mut labels = Labels::new();
        labels.insert(
            "transport".into(),
            self.options.common.transport.name().into(),
        );
        labels.insert("wait".into(), self.options.common.wait.to_string());
        if self.options.common.threads > 1 {
            labels.insert("thread".into(), (flow.stream + 1).to_string());
        }
        FlowResult {
            id: flow.id,
            from: name(flow.from),
            to: name(flow.to),
            labels,
            ..FlowResult::default()
        }
    }

    fn asked(&mut self, flow: &mut FlowResult, asked: &AskedNumbers) {
        let metrics = &mut flow.metrics;
        let n = asked.transactions as f64;
        put(metrics, self.names.transactions, n);
        let span_ns = asked
            .first_ns
            .map(|first| asked.last_ns.saturating_sub(first));
        let rate = span_ns.and_then(|span| ratio(n * 1e9, span as f64));
        put(metrics, self.names.per_second, rate.unwrap_or(0.0));
        put_start_late(metrics, asked.start_late_ns);
        let Sums { started, failed } = Sums::of(asked);
        for (what, value) in [
            ("errors", asked.errors as f64),
            ("unstarted_requests", asked.unstarted as f64),
            ("open_connections", asked.connections as f64),
            ("lost_connections", asked.connections_lost as f64),
        ] {
            self.put(metrics, what, value);
        }
        let sizes = self.options.common.size;
        self.put(metrics, "request_bytes", f64::from(sizes.request));
        self.put(metrics, "response_bytes", f64::from(sizes.response));
        self.put(
            metrics,
            "error_ratio",
            ratio(failed, started).unwrap_or(0.0),
        );
        if asked.ports_exhausted > 0 {
            self.put(metrics, "ports_exhausted", asked.ports_exhausted as f64);
        }
        if let Some(asked_per_s) = asked.asked_per_s {
            self.put(metrics, "asked_per_second", asked_per_s);
            let sent = n + asked.errors as f64;
            self.put(metrics, "late_ratio", ratio(asked.late as f64, sent));
            self.put(
                metrics,
                "window_full_ratio",
                ratio(asked.window_full as f64, sent),
            );
        }
        let elapsed = asked.elapsed_ns as f64;
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
        self.put(metrics, "client_cpu_ratio", share(asked.cpu_ns));
        self.put(metrics, "client_wait_ratio", share(asked.wait_ns));
        self.spread(metrics, asked);
        if let Some(error) = &asked.error {
            flow.labels.insert("error".into(), error.clone());
        }
        flow.complete = asked.connections_lost == 0 && asked.transactions > 0;
        self.distributions(flow, asked);
    }

    /// Standard deviation of the round trips and the speed that people compute from their mean.
    fn spread(&self, metrics: &mut Summary, asked: &AskedNumbers) {
        let n = asked.timed as f64;
        let Some(mean) = ratio(asked.sum_s, n) else {
            return;
        };
        let variance = asked.sum_squares_s / n - mean * mean;
        self.put(metrics, "latency_sd_seconds", variance.max(0.0).sqrt());
        let sizes = self.options.common.size;
        let both_ways = f64::from(sizes.request) + f64::from(sizes.response);
        self.put(metrics, "one_way_bytes_per_second", ratio(both_ways, mean));
    }

    fn distributions(&mut self, flow: &mut FlowResult, asked: &AskedNumbers) {
        let names = [
            (self.names.latency, &asked.latency),
            (self.names.connect, &asked.connect),
            (self.names.handshake, &asked.handshake),
        ];
        for (name, text) in names {
            if let Some(summary) = self.merged.add(name, NS, text) {
                flow.histograms.insert(name.into(), summary);
            }
        }
        // In a closed loop a request starts when it is meant to: both are the same.
        let service = match asked.asked_per_s {
            Some(_) => &asked.service,
            None => &asked.latency,
        };
        if let Some(summary) = self.merged.add(self.names.service, NS, service) {
            flow.histograms.insert(self.names.service.into(), summary);
        }
    }

    fn answered(&self, flow: &mut FlowResult, answered: &AnsweredNumbers) {
        let metrics = &mut flow.metrics;
        let elapsed = answered.elapsed_ns as f64;
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
        self.put(metrics, "answered_requests", answered.answered as f64);
        self.put(metrics, "server_cpu_ratio", share(answered.cpu_ns));
        self.put(metrics, "server_wait_ratio", share(answered.wait_ns));
        if answered.strangers > 0 {
            self.put(metrics, "foreign_messages", answered.strangers as f64);
        }
        if let Some(error) = &answered.error {
            flow.labels.insert("server_error".into(), error.clone());
        }
    }

    /// Totals over the flows of a phase.
    fn totals(&self, flows: &[FlowResult]) -> Summary {
        const SUMS: [&str; 8] = [
            "errors",
            "unstarted_requests",
            "open_connections",
            "lost_connections",
            "ports_exhausted",
            "asked_per_second",
            "answered_requests",
            "foreign_messages",
        ];
        const MAXIMA: [&str; 6] = [
            "late_ratio",
            "window_full_ratio",
            "client_cpu_ratio",
            "client_wait_ratio",
            "server_cpu_ratio",
            "server_wait_ratio",
        ];
        let mut totals = Totals::of(self.names.source, flows);
        for name in [self.names.transactions, self.names.per_second] {
            totals.sum(&[own(name)]);
        }
        totals.sum(&SUMS);
        totals.highest(&MAXIMA);
        self.error_ratio(&mut totals.summary);
        self.merged.put_numbers(&mut totals.summary);
        totals.of_one(&["latency_sd_seconds", "one_way_bytes_per_second"]);
        totals.summary
    }

    fn error_ratio(&self, summary: &mut Summary) {
        let get = |name: &str| summary.get(name).copied().unwrap_or(0.0);
        let failed = get(&self.name("errors")) + get(&self.name("unstarted_requests"));
        let started = get(self.names.transactions) + failed;
        if summary.contains_key(self.names.transactions) {
            let value = ratio(failed, started).unwrap_or(0.0);
            self.put(summary, "error_ratio", value);
        }
    }
}

/// A metric's name without its workload.
fn own(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, own)| own)
}

/// Requests that were due and those of them that failed.
struct Sums {
    started: f64,
    failed: f64,
}

impl Sums {
    fn of(asked: &AskedNumbers) -> Self {
        let failed = asked.errors as f64 + asked.unstarted as f64;
        Self {
            started: asked.transactions as f64 + failed,
            failed,
        }
    }
}
