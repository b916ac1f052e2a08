//! Joins what the load threads of all hosts measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::{sql, tpcb as numbers};
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, Summary};
use sokudo_workload::choice::Choice as _;
use sokudo_workload::contract::Options as _;
use sokudo_workload::exchange::{AskedNumbers, exchange_totals};
use sokudo_workload::joined::{Merged, NS, put, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::planned_ns;

use super::check::{Checked, Marks};
use super::options::TpcbOptions;
use crate::drive::TransactionDetails;

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    pub(super) asked: Vec<AskedNumbers<TransactionDetails>>,
    /// Transactions that were carried out, warm-up included.
    pub(super) carried_out: u64,
    /// The database, without secrets.
    pub(super) database: String,
    /// Product and version.
    pub(super) version: String,
    /// Settings that decide about durability.
    pub(super) durability: String,
    /// Branches.
    pub(super) scale: i64,
    /// The state of the tables at the end, or why it is not known.
    pub(super) checked: Option<Result<(Checked, Marks), String>>,
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.asked.retain(|one| own.begins(one.asked.flow));
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &TpcbOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let names = (&numbers::KIND, &sql::EXCHANGE);
    let mut merged = Merged::default();
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), options.warmup.0);
    let flows = ends.plans().iter().map(|plan| {
        let mut flow = ends.flow(plan);
        let host = ends.of(plan.from);
        flow.to = host.map_or_else(String::new, |host| host.database.clone());
        flow.labels = labels(options, plan, host);
        let asked = host.into_iter().flat_map(|host| &host.asked);
        for asked in asked.filter(|one| one.asked.flow == plan.id) {
            asked.tell(&mut flow, names, planned_ns, &mut merged);
            // Sessions that were lost were made again: what was lost with them is counted as errors.
            flow.complete = true;
        }
        flow
    });
    let flows: Vec<FlowResult> = flows.collect();
    let mut summary = exchange_totals(names, &flows, &merged);
    add_own(&mut summary, ends);
    PhaseResult {
        summary,
        flows,
        histograms: merged.summaries(),
    }
}

/// The numbers of this workload, and those about the database.
fn add_own(summary: &mut Summary, ends: &Ends<'_, Numbers>) {
    let hosts = || ends.hosts.iter().flatten();
    let tps = sql::TRANSACTIONS_PER_SECOND.of(summary);
    put(summary, numbers::TPS, tps);
    let scale = hosts().map(|host| host.scale).max();
    put(summary, numbers::SCALE, scale.map(|scale| scale as f64));
    let cpu_ns = hosts()
        .flat_map(|host| &host.asked)
        .map(|asked| asked.asked.cpu_ns);
    let cpu_ns: Option<u64> = cpu_ns.sum();
    let carried_out: u64 = hosts().map(|host| host.carried_out).sum();
    let cost = cpu_ns.and_then(|cpu_ns| ratio(cpu_ns as f64 * NS, carried_out as f64));
    put(summary, sql::CLIENT_CPU_SECONDS_PER_TRANSACTION, cost);
    let known = || hosts().filter_map(|host| host.checked.as_ref()?.as_ref().ok());
    // All hosts see the same tables, each knows its own marks.
    if let Some((checked, _)) = known().next() {
        put(summary, sql::KEPT_CONDITIONS, f64::from(checked.kept));
        put(summary, sql::BROKEN_CONDITIONS, checked.broken.len() as f64);
    }
    let asked = hosts().filter(|host| host.checked.is_some()).count();
    if known().count() < asked || asked == 0 {
        return;
    }
    let sum = |of: fn(&Marks) -> i64| known().map(|(_, marks)| of(marks)).sum::<i64>();
    let acknowledged = sum(|marks| marks.acknowledged);
    if acknowledged > 0 {
        put(summary, sql::ACKNOWLEDGED, acknowledged as f64);
        put(
            summary,
            sql::LOST_ACKNOWLEDGED,
            sum(|marks| marks.lost) as f64,
        );
        put(
            summary,
            sql::DUPLICATED_MARKS,
            sum(|marks| marks.duplicated) as f64,
        );
    }
}

fn labels(options: &TpcbOptions, plan: &FlowPlan, host: Option<&Numbers>) -> Labels {
    let mut labels = Labels::new();
    labels.insert("variant".into(), options.variant.name().into());
    if let Some(host) = host {
        labels.insert("server".into(), host.version.clone());
        labels.insert("durability".into(), host.durability.clone());
        match &host.checked {
            Some(Err(why)) => {
                labels.insert("unchecked".into(), why.clone());
            }
            Some(Ok((checked, _))) => {
                for broken in &checked.broken {
                    let says =
                        format!("{}: {} and {}", broken.condition, broken.left, broken.right);
                    labels.insert("broken".into(), says);
                }
            }
            None => {}
        }
    }
    if options.threads > 1 {
        labels.insert("thread".into(), (plan.stream + 1).to_string());
    }
    labels
}
