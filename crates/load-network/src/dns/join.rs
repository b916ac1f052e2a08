//! Joins what the asking threads of all hosts measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::dns as numbers;
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult};
use sokudo_workload::choice::Choice as _;
use sokudo_workload::contract::Options as _;
use sokudo_workload::exchange::{AskedNumbers, exchange_totals};
use sokudo_workload::joined::Merged;
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::planned_ns;

use super::options::DnsOptions;
use super::record::ResponseDetails;

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers(pub(super) Vec<AskedNumbers<ResponseDetails>>);

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.0.retain(|one| own.begins(one.asked.flow));
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &DnsOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let names = (&numbers::KIND, &numbers::EXCHANGE);
    let mut merged = Merged::default();
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), options.warmup.0);
    let flows = ends.plans().iter().map(|plan| {
        let mut flow = ends.flow(plan);
        flow.to = options.server.to_string();
        flow.labels = labels(options, plan);
        let asked = ends.of(plan.from).into_iter().flat_map(|host| &host.0);
        for asked in asked.filter(|one| one.asked.flow == plan.id) {
            asked.tell(&mut flow, names, planned_ns, &mut merged);
            // The server may close connections: what was lost with them is counted as errors.
            flow.complete = true;
        }
        flow
    });
    let flows: Vec<FlowResult> = flows.collect();
    PhaseResult {
        summary: exchange_totals(names, &flows, &merged),
        flows,
        histograms: merged.summaries(),
    }
}

fn labels(options: &DnsOptions, plan: &FlowPlan) -> Labels {
    let mut labels = Labels::new();
    labels.insert("transport".into(), options.transport.name().into());
    if options.threads > 1 {
        labels.insert("thread".into(), (plan.stream + 1).to_string());
    }
    labels
}
