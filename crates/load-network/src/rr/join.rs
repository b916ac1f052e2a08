//! Joins what the asking and the answering ends of an exchange measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::{BetweenHosts, Exchange};
use sokudo_model::{FlowPlan, FlowResult, Kind, Labels, Metric, PhaseResult, Summary};
use sokudo_workload::choice::Choice;
use sokudo_workload::exchange::{Answered, Asked, Collected, Details, Recorded};
use sokudo_workload::joined::{Merged, put, put_each, put_start_late, ratio, total, totals};
use sokudo_workload::load::{self, Ends, OwnFlows};

use super::options::RrOptions;
use super::phase::Variant;

/// A flow as its asking end saw it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
struct AskedNumbers<D: Details> {
    asked: Asked,
    recorded: Recorded<D>,
    asked_per_s: Option<f64>,
    connections: u64,
    /// Real start of the first request minus the agreed one; nothing in an open loop.
    start_late_ns: Option<i64>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Numbers<D: Details> {
    asked: Vec<AskedNumbers<D>>,
    answered: Vec<Answered>,
}

impl<D: Details> Numbers<D> {
    /// Puts together what the threads of one host handed over. `start_ns` is when the first request
    /// of each thread was to leave, where that was agreed on; `set_up` says of a flow how many
    /// connections it has and which rate was asked for.
    pub(crate) fn new(
        collected: Collected<D>,
        start_ns: Option<i64>,
        set_up: impl Fn(u32) -> (u64, Option<f64>),
    ) -> Self {
        let mut flows = collected.flows;
        let asked = collected.asked.into_iter().map(|asked| {
            let (connections, asked_per_s) = set_up(asked.flow);
            let first_and_start = asked.counts.first_ns.zip(start_ns);
            AskedNumbers {
                recorded: flows.remove(&asked.flow).unwrap_or_default(),
                asked_per_s,
                connections,
                start_late_ns: first_and_start.map(|(first, start)| first - start),
                asked,
            }
        });
        Self {
            asked: asked.collect(),
            answered: collected.answered,
        }
    }
}

impl<D: Details> load::Numbers for Numbers<D> {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.asked.retain(|one| own.begins(one.asked.flow));
        self.answered.retain(|one| own.ends(one.flow));
    }
}

/// One join at work.
struct Join<'a> {
    kind: &'static Kind,
    numbers: &'static Exchange,
    between: &'static BetweenHosts,
    options: &'a RrOptions,
    merged: Merged,
}

/// Joins the hosts' numbers.
pub(crate) fn join<D: Details>(
    variant: &Variant<D>,
    options: &RrOptions,
    ends: &Ends<'_, Numbers<D>>,
) -> PhaseResult {
    let Some(between) = &variant.numbers.between else {
        return PhaseResult::default();
    };
    let mut join = Join {
        kind: variant.kind,
        numbers: variant.numbers,
        between,
        options,
        merged: Merged::default(),
    };
    let flows = ends.plans().iter().map(|plan| {
        let mut flow = ends.flow(plan);
        flow.labels = join.labels(plan);
        let asked = ends.of(plan.from).into_iter().flat_map(|host| &host.asked);
        let mut answered = ends.of(plan.to).into_iter().flat_map(|host| &host.answered);
        let answered = answered.rfind(|one| one.flow == plan.id);
        for asked in asked.filter(|one| one.asked.flow == plan.id) {
            join.asked(&mut flow, asked);
        }
        if let Some(answered) = answered {
            join.answered(&mut flow, answered);
        }
        flow.complete &= answered.is_some();
        flow
    });
    let flows: Vec<FlowResult> = flows.collect();
    PhaseResult {
        summary: join.totals(&flows),
        flows,
        histograms: join.merged.summaries(),
    }
}

impl Join<'_> {
    fn labels(&self, plan: &FlowPlan) -> Labels {
        let common = &self.options.common;
        let mut labels = Labels::new();
        labels.insert("transport".into(), common.transport.name().into());
        labels.insert("wait".into(), common.wait.to_string());
        if common.threads > 1 {
            labels.insert("thread".into(), (plan.stream + 1).to_string());
        }
        labels
    }

    fn asked<D: Details>(&mut self, flow: &mut FlowResult, numbers: &AskedNumbers<D>) {
        let (asked, counts) = (&numbers.asked, &numbers.asked.counts);
        let (metrics, names) = (&mut flow.metrics, self.numbers);
        let answered = counts.transactions as f64;
        let span_ns = counts
            .first_ns
            .map(|first| counts.last_ns.saturating_sub(first));
        let rate = span_ns.and_then(|span| ratio(answered * 1e9, span as f64));
        put_start_late(metrics, numbers.start_late_ns);
        let failed = counts.errors as f64 + counts.unstarted as f64;
        let sizes = self.options.common.size;
        let elapsed = asked.elapsed_ns as f64;
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
        put_each(
            metrics,
            [
                (names.answered, Some(answered)),
                (names.per_second, Some(rate.unwrap_or(0.0))),
                (names.errors, Some(counts.errors as f64)),
                (names.unstarted, Some(counts.unstarted as f64)),
                (names.open_connections, Some(numbers.connections as f64)),
                (
                    self.between.lost_connections,
                    Some(counts.connections_lost as f64),
                ),
                (self.between.request_bytes, Some(f64::from(sizes.request))),
                (self.between.response_bytes, Some(f64::from(sizes.response))),
                (
                    names.error_ratio,
                    Some(ratio(failed, answered + failed).unwrap_or(0.0)),
                ),
                (self.kind.ends.near.cpu, share(asked.cpu_ns)),
            ],
        );
        if let Some(wait) = self.kind.ends.near.wait {
            put(metrics, wait, share(asked.wait_ns));
        }
        for (metric, count) in numbers.recorded.details.counts() {
            put(metrics, metric, count as f64);
        }
        if let Some(asked_per_s) = numbers.asked_per_s {
            let sent = answered + counts.errors as f64;
            let full = ratio(counts.window_full as f64, sent);
            put(metrics, names.asked, asked_per_s);
            put(metrics, names.late_ratio, ratio(counts.late as f64, sent));
            put(metrics, names.window_full_ratio, full);
        }
        self.spread(metrics, asked);
        if let Some(error) = &counts.error {
            flow.labels.insert("error".into(), error.clone());
        }
        flow.complete = counts.connections_lost == 0 && counts.transactions > 0;
        self.distributions(flow, numbers);
    }

    /// Standard deviation of the round trips and the speed that people compute from their mean.
    fn spread(&self, metrics: &mut Summary, asked: &Asked) {
        let counts = &asked.counts;
        let n = counts.timed as f64;
        let Some(mean) = ratio(counts.sum_s, n) else {
            return;
        };
        let variance = counts.sum_squares_s / n - mean * mean;
        put(metrics, self.between.latency_sd, variance.max(0.0).sqrt());
        let sizes = self.options.common.size;
        let both_ways = f64::from(sizes.request) + f64::from(sizes.response);
        let per_second = ratio(both_ways, mean);
        put(metrics, self.between.one_way_bytes_per_second, per_second);
    }

    fn distributions<D: Details>(&mut self, flow: &mut FlowResult, numbers: &AskedNumbers<D>) {
        let recorded = &numbers.recorded;
        // In a closed loop a request starts when it is meant to: both are the same.
        let service = match numbers.asked_per_s {
            Some(_) => &recorded.service,
            None => &recorded.latency,
        };
        let shared = [
            (self.numbers.latency, &recorded.latency),
            (self.numbers.service, service),
        ];
        let own = recorded.details.distributions();
        self.merged.add_each(flow, shared.into_iter().chain(own));
    }

    fn answered(&self, flow: &mut FlowResult, answered: &Answered) {
        let metrics = &mut flow.metrics;
        let elapsed = answered.elapsed_ns as f64;
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
        let requests = answered.answered as f64;
        put(metrics, self.between.answered_requests, requests);
        if let Some(far) = &self.kind.ends.far {
            put(metrics, far.cpu, share(answered.cpu_ns));
            if let Some(wait) = far.wait {
                put(metrics, wait, share(answered.wait_ns));
            }
        }
        if answered.strangers > 0 {
            let strangers = answered.strangers as f64;
            put(metrics, self.between.foreign_messages, strangers);
        }
        if let Some(error) = &answered.error {
            flow.labels.insert("server_error".into(), error.clone());
        }
    }

    /// Totals over the flows of a phase.
    fn totals(&self, flows: &[FlowResult]) -> Summary {
        let mut summary = totals(self.kind.metrics, flows);
        let sum = |metric: Metric| total(&metric, flows);
        if let Some(answered) = sum(self.numbers.answered) {
            let failed = [self.numbers.errors, self.numbers.unstarted].map(sum);
            let failed: f64 = failed.into_iter().flatten().sum();
            let share = ratio(failed, answered + failed).unwrap_or(0.0);
            put(&mut summary, self.numbers.error_ratio, share);
        }
        self.merged.put_numbers(&mut summary);
        summary
    }
}
