//! Joins what the load threads of all hosts measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::sql;
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, Summary};
use sokudo_workload::contract::Options as _;
use sokudo_workload::exchange::{AskedNumbers, exchange_totals};
use sokudo_workload::joined::{Merged, NS, put, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::planned_ns;

use super::check::{Broken, Checked, How, Marks};
use super::client::{Told, Transactions};
use super::record::{Parts, TransactionDetails};
use super::{Benchmark, BenchmarkOptions as _};

type NumbersOf<B> = Numbers<<<B as Benchmark>::Transactions as Transactions>::Parts>;

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Numbers<P: Parts> {
    pub(super) asked: Vec<AskedNumbers<TransactionDetails<P>>>,
    /// Transactions that were carried out, warm-up included.
    pub(super) carried_out: u64,
    /// The database, without secrets.
    pub(super) database: String,
    /// Product and version.
    pub(super) version: String,
    /// Settings that decide about durability.
    pub(super) durability: String,
    /// Size of the database, in the unit of its workload.
    pub(super) scale: i64,
    /// What the transactions say of all of them.
    pub(super) told: Told,
    /// The state of the tables at the end, or why it is not known.
    pub(super) checked: Option<Result<(Checked, Marks), String>>,
}

impl<P: Parts> load::Numbers for Numbers<P> {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.asked.retain(|one| own.begins(one.asked.flow));
    }
}

/// Joins the hosts' numbers.
pub(crate) fn join<B: Benchmark>(
    options: &B::Options,
    ends: &Ends<'_, NumbersOf<B>>,
) -> PhaseResult {
    let names = (B::KIND, &sql::EXCHANGE);
    let mut merged = Merged::default();
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), options.common().warmup.0);
    let flows = ends.plans().iter().map(|plan| {
        let mut flow = ends.flow(plan);
        let host = ends.of(plan.from);
        flow.to = host.map_or_else(String::new, |host| host.database.clone());
        flow.labels = labels::<B>(options, plan, host);
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
    for host in ends.hosts.iter().flatten() {
        summary.extend(host.told.numbers.clone());
    }
    let scale = ends.hosts.iter().flatten().map(|host| host.scale).max();
    B::put_own(options, scale.unwrap_or(0), &mut summary);
    PhaseResult {
        summary,
        flows,
        histograms: merged.summaries(),
    }
}

/// The numbers about the database.
fn add_own<P: Parts>(summary: &mut Summary, ends: &Ends<'_, Numbers<P>>) {
    let hosts = || ends.hosts.iter().flatten();
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

fn labels<B: Benchmark>(
    options: &B::Options,
    plan: &FlowPlan,
    host: Option<&NumbersOf<B>>,
) -> Labels {
    let mut labels = B::labels(options);
    if let Some(host) = host {
        labels.extend(host.told.labels.clone());
        labels.insert("server".into(), host.version.clone());
        labels.insert("durability".into(), host.durability.clone());
        match &host.checked {
            Some(Err(why)) => {
                labels.insert("unchecked".into(), why.clone());
            }
            Some(Ok((checked, _))) => {
                for broken in &checked.broken {
                    labels.insert("broken".into(), says(broken));
                }
            }
            None => {}
        }
    }
    if options.common().threads > 1 {
        labels.insert("thread".into(), (plan.stream + 1).to_string());
    }
    labels
}

fn says(broken: &Broken) -> String {
    match broken.how {
        How::Sides(left, right) => format!("{}: {left} and {right}", broken.condition),
        How::Rows(rows) => format!("{}: not in {rows} rows", broken.condition),
    }
}
