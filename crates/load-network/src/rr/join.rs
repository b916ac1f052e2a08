//! Joins what the asking and the answering ends of an exchange measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::{BetweenHosts, Exchange};
use sokudo_model::{FlowPlan, FlowResult, Kind, Labels, PhaseResult, Summary};
use sokudo_workload::choice::Choice;
use sokudo_workload::exchange::{
    Answered, Asked, AskedNumbers, Collected, Details, exchange_totals,
};
use sokudo_workload::joined::{Merged, put, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::planned_ns;

use super::options::RrOptions;
use super::phase::Variant;

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
        mut collected: Collected<D>,
        start_ns: Option<i64>,
        set_up: impl Fn(u32) -> (u64, Option<f64>),
    ) -> Self {
        let answered = std::mem::take(&mut collected.answered);
        Self {
            asked: AskedNumbers::all(collected, start_ns, set_up),
            answered,
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
    /// Planned length of the load that counts.
    planned_ns: Option<i64>,
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
    let common = &options.common;
    let mut join = Join {
        kind: variant.kind,
        numbers: variant.numbers,
        between,
        options,
        planned_ns: planned_ns(ends.spec, common.duration_ns(), common.warmup.0),
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
        summary: exchange_totals((join.kind, join.numbers), &flows, &join.merged),
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
        let names = (self.kind, self.numbers);
        numbers.tell(flow, names, self.planned_ns, &mut self.merged);
        let metrics = &mut flow.metrics;
        let lost = numbers.asked.counts.connections_lost as f64;
        let sizes = self.options.common.size;
        put(metrics, self.between.lost_connections, lost);
        put(
            metrics,
            self.between.request_bytes,
            f64::from(sizes.request),
        );
        put(
            metrics,
            self.between.response_bytes,
            f64::from(sizes.response),
        );
        self.spread(metrics, &numbers.asked);
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
}
