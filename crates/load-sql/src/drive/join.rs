//! Joins what the load threads of all hosts measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::{Exchange, Family, sql};
use sokudo_model::{FlowPlan, FlowResult, Kind, Labels, PhaseResult, Summary};
use sokudo_stats::Histogram;
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
    /// The database runs in the threads of the load.
    #[serde(default)]
    pub(super) is_embedded: bool,
    /// Product and version.
    pub(super) version: String,
    /// Settings that decide about durability.
    pub(super) durability: String,
    /// Size of the database, in the unit of its workload.
    pub(super) scale: i64,
    /// Numbers and labels about all transactions.
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
    let names = (B::KIND, numbers_of(B::KIND));
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
            for (metric, mean) in asked.recorded.details.pool.means() {
                put(&mut flow.metrics, metric, mean);
                put(&mut flow.metrics, sql::POOL_MAX, asked.connections as f64);
            }
            // Sessions that were lost were made again: what was lost with them is counted as errors.
            flow.complete = true;
        }
        flow
    });
    let mut flows: Vec<FlowResult> = flows.collect();
    let mut summary = exchange_totals(names, &flows, &merged);
    flows.extend(by_name::<B>(options, ends, names.1, &summary));
    add_own(&mut summary, ends);
    for host in ends.hosts.iter().flatten() {
        summary.extend(host.told.numbers.clone());
    }
    let scale = ends.hosts.iter().flatten().map(|host| host.scale).max();
    B::put_own(options, scale.unwrap_or(0), &mut summary);
    if ends.hosts.iter().flatten().all(|host| host.is_embedded) {
        let asked = || ends.hosts.iter().flatten().flat_map(|host| &host.asked);
        let busy_ns: u64 = asked().map(|one| one.recorded.details.embedded_ns).sum();
        let share = load_seconds(&summary)
            .and_then(|load_s| ratio(busy_ns as f64 * NS, load_s * asked().count() as f64));
        put(
            &mut summary,
            sql::EMBEDDED_RATIO,
            share.map(|it| it.min(1.0)),
        );
    }
    PhaseResult {
        summary,
        flows,
        histograms: merged.summaries(),
    }
}

/// Time of the load that its rates are counted over, seconds.
fn load_seconds(summary: &Summary) -> Option<f64> {
    let all = sql::TRANSACTIONS.of(summary)?;
    ratio(all, sql::TRANSACTIONS_PER_SECOND.of(summary)?)
}

/// The numbers that a load on a database has as an exchange.
pub(super) fn numbers_of(kind: &Kind) -> &'static Exchange {
    match kind.family {
        Family::Exchange(exchange) => exchange,
        _ => &sql::EXCHANGE,
    }
}

/// Measurements of each host by name of transaction, as flows of their own: they are counted in those of their
/// threads, too.
fn by_name<B: Benchmark>(
    options: &B::Options,
    ends: &Ends<'_, NumbersOf<B>>,
    numbers: &Exchange,
    summary: &Summary,
) -> Vec<FlowResult> {
    let Some(named) = numbers.named else {
        return Vec::new();
    };
    let load_s = load_seconds(summary);
    let plans = ends.plans();
    let mut id = plans.iter().map(|plan| plan.id + 1).max().unwrap_or(0);
    let mut out = Vec::new();
    for (host, of_host) in ends.spec.hosts.iter().zip(&ends.hosts) {
        let asked = of_host.iter().flat_map(|host| &host.asked);
        for (at, name) in B::names(options).into_iter().enumerate() {
            let each = asked.clone();
            let each = each.filter_map(|asked| asked.recorded.details.names().get(at));
            let (mut latency, mut errors) = (Histogram::new(), 0);
            for of_name in each {
                latency.merge(&of_name.latency);
                errors += of_name.errors;
            }
            if latency.is_empty() && errors == 0 {
                continue;
            }
            let mut flow = FlowResult {
                id,
                from: host.name.clone(),
                to: name,
                labels: Labels::from([("kind".into(), "transaction".into())]),
                complete: true,
                ..FlowResult::default()
            };
            id += 1;
            let count = latency.len() as f64;
            put(&mut flow.metrics, named.count, count);
            put(&mut flow.metrics, named.errors, errors as f64);
            let per_s = load_s.and_then(|load_s| ratio(count, load_s));
            put(&mut flow.metrics, named.per_second, per_s);
            Merged::default().add_each(&mut flow, [(named.latency, &latency)]);
            out.push(flow);
        }
    }
    out
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
