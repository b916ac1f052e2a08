//! Joins what the sending and the receiving ends of the bus measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::bus as numbers;
use sokudo_model::{FlowPlan, FlowResult, Labels, Metric, PhaseResult, Summary};
use sokudo_workload::choice::Choice;
use sokudo_workload::contract::Options as _;
use sokudo_workload::joined::{self, Merged, put, put_start_late, ratio, total};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::{LoadTime, planned_ns, untried};

use super::amounts::Warmup;
use super::options::{BusOptions, Mode};
use super::record::{End, Finished};
use super::report::{Collected, FlowDistributions, RECEIPT, RELAY, RESPONSE, SERVICE};

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    sent: Vec<Finished>,
    received: Vec<Finished>,
    relayed: Vec<Finished>,
    flows: BTreeMap<u32, FlowDistributions>,
    /// Messages per second asked of each sending thread.
    asked_per_s: Option<f64>,
    /// Agreed start of the load on this host's clock, nanoseconds.
    #[serde(default)]
    start_ns: i64,
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.sent.retain(|end| own.begins(end.flow));
        self.relayed.retain(|end| own.begins(end.flow));
        self.received.retain(|end| own.ends(end.flow));
        self.flows.retain(|flow, _| own.begins(*flow));
    }
}

impl Numbers {
    /// Puts together what the threads of one host handed over.
    pub(crate) fn new(collected: Collected, asked_per_s: Option<f64>, start_ns: i64) -> Self {
        let mut numbers = Self {
            flows: collected.flows,
            asked_per_s,
            start_ns,
            ..Self::default()
        };
        for thread in collected.finished {
            let list = match thread.end {
                End::Sending => &mut numbers.sent,
                End::Receiving => &mut numbers.received,
                End::Relaying => &mut numbers.relayed,
            };
            list.push(thread);
        }
        numbers
    }
}

/// Both ends of one flow, as far as they are known.
#[derive(Default)]
struct Both<'a> {
    /// The sender, or the relay that hands on.
    from: Option<&'a Finished>,
    to: Option<&'a Finished>,
    is_relayed: bool,
    asked_per_s: Option<f64>,
    distributions: Option<&'a FlowDistributions>,
    /// Agreed start on the clock of each end, nanoseconds.
    starts_ns: [i64; 2],
}

impl<'a> Both<'a> {
    fn of(ends: &'a Ends<'_, Numbers>, plan: &FlowPlan) -> Self {
        let find = |list: &'a [Finished]| list.iter().rev().find(|end| end.flow == plan.id);
        let begins = ends.of(plan.from);
        let relayed = begins.and_then(|host| find(&host.relayed));
        let sent = begins.and_then(|host| find(&host.sent));
        Self {
            from: relayed.or(sent),
            to: ends.of(plan.to).and_then(|host| find(&host.received)),
            is_relayed: relayed.is_some(),
            asked_per_s: begins
                .and_then(|host| host.asked_per_s)
                .filter(|_| relayed.is_none()),
            distributions: begins.and_then(|host| host.flows.get(&plan.id)),
            starts_ns: [begins, ends.of(plan.to)].map(|host| host.map_or(0, |host| host.start_ns)),
        }
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &BusOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let plans = ends.plans();
    let all: Vec<Both<'_>> = plans.iter().map(|plan| Both::of(ends, plan)).collect();
    let warmup_ns = match options.warmup {
        Warmup::Time(ns) => ns,
        Warmup::Messages(_) => 0,
    };
    let mut join = Join {
        options,
        planned_ns: planned_ns(ends.spec, options.duration_ns(), warmup_ns),
        merged: Merged::default(),
    };
    let flows: Vec<FlowResult> = plans
        .iter()
        .zip(&all)
        .map(|(plan, both)| join.flow(ends.flow(plan), plan, both))
        .collect();
    let summary = join.totals(plans, &flows, &all);
    PhaseResult {
        summary,
        flows,
        histograms: join.merged.summaries(),
    }
}

/// A share of a thread's time from start to end.
fn share(of: &Finished, part_ns: Option<u64>) -> Option<f64> {
    ratio(part_ns? as f64, of.elapsed_ns as f64)
}

/// One join at work.
struct Join<'a> {
    options: &'a BusOptions,
    /// Planned length of the load that counts.
    planned_ns: Option<i64>,
    merged: Merged,
}

impl Join<'_> {
    fn flow(&mut self, mut flow: FlowResult, plan: &FlowPlan, both: &Both<'_>) -> FlowResult {
        flow.labels = self.labels(plan);
        if let Some(from) = both.from {
            match both.is_relayed {
                true => relayed(&mut flow, from),
                false => self.sent(&mut flow, from, both),
            }
        }
        if let Some(to) = both.to {
            let load = self.load_time(both, to);
            load.put(&mut flow.metrics);
            self.received(&mut flow, to, &load);
        }
        if let (Some(from), Some(to)) = (both.from, both.to) {
            let (sent, arrived) = (from.totals.all_messages, to.totals.all_messages);
            let lost = sent.saturating_sub(arrived);
            put(&mut flow.metrics, numbers::MISSING_MESSAGES, lost as f64);
            flow.complete = from.failure.is_none() && lost == 0 && arrived > 0;
        }
        if let Some(all) = both.distributions {
            let each = [
                (RESPONSE, &all.response),
                (SERVICE, &all.service),
                (RECEIPT, &all.receipt),
                (RELAY, &all.relay),
            ];
            self.merged.add_each(&mut flow, each);
        }
        flow
    }

    /// The time of the load of a flow at its receiving end.
    fn load_time(&self, both: &Both<'_>, to: &Finished) -> LoadTime {
        let [sent_from_ns, taken_from_ns] = both.starts_ns;
        let from = both.from.filter(|_| !both.is_relayed);
        let reached_ns = from.and_then(|from| {
            let begin_ns = self.count_from_ns(sent_from_ns, from);
            Some(from.reached_ns?.saturating_sub(begin_ns))
        });
        let begin_ns = self.count_from_ns(taken_from_ns, to);
        // Messages of the warm-up have taken their part of the time.
        let warmed_ns = match self.options.warmup {
            Warmup::Time(_) => 0,
            Warmup::Messages(_) => begin_ns.saturating_sub(taken_from_ns),
        };
        let planned_ns = self.planned_ns.map(|ns| ns.saturating_sub(warmed_ns));
        let lasted_ns = from.map(|from| from.elapsed_ns);
        let load_ns = reached_ns.or(planned_ns).or(lasted_ns).unwrap_or(0);
        let totals = &to.totals;
        let through_ns = totals.first_ns.map(|first_ns| (first_ns, totals.last_ns));
        LoadTime::of_arrivals(load_ns, LoadTime::since(begin_ns, through_ns))
    }

    /// Messages that a sender without a rate could not try after its connection had broken, by its pace until
    /// then.
    fn untried(&self, from: &Finished, both: &Both<'_>) -> u64 {
        let is_closed = both.asked_per_s.is_none() && from.failure.is_some();
        let Some(planned_ns) = self.planned_ns.filter(|ns| is_closed && *ns > 0) else {
            return 0;
        };
        let begin_ns = self.count_from_ns(both.starts_ns[0], from);
        let totals = &from.totals;
        let went_ns = totals
            .first_ns
            .map_or(0, |_| totals.last_ns.saturating_sub(begin_ns));
        let went = (went_ns as f64 / planned_ns as f64).clamp(0.0, 1.0);
        untried(totals.messages, from.unacknowledged, 1.0 - went)
    }

    /// Begin of what counts at an end whose load starts at `start_ns`, nanoseconds.
    fn count_from_ns(&self, start_ns: i64, end: &Finished) -> i64 {
        match self.options.warmup {
            Warmup::Time(ns) => start_ns.saturating_add_unsigned(ns),
            Warmup::Messages(0) => start_ns,
            Warmup::Messages(_) => end.totals.first_ns.unwrap_or(start_ns),
        }
    }

    fn labels(&self, plan: &FlowPlan) -> Labels {
        let options = self.options;
        let mut labels = Labels::new();
        let transport = options.transport.name();
        labels.insert("transport".into(), transport.into());
        labels.insert("wait".into(), options.wait.to_string());
        let mode = match options.mode {
            Mode::Stream => "stream",
            Mode::Rr => "rr",
        };
        labels.insert("mode".into(), mode.into());
        if options.tx_threads > 1 {
            labels.insert("thread".into(), (plan.stream + 1).to_string());
        }
        labels
    }

    fn sent(&self, flow: &mut FlowResult, from: &Finished, both: &Both<'_>) {
        let metrics = &mut flow.metrics;
        let asked_per_s = both.asked_per_s;
        let unstarted = from.unstarted + self.untried(from, both);
        let failed = failed(from, unstarted);
        put_start_late(metrics, from.start_late_ns);
        for (name, value) in [
            (numbers::SENT_MESSAGES, from.totals.messages as f64),
            (numbers::SENT_BYTES, from.totals.bytes as f64),
            (numbers::ANSWERS, from.totals.answers as f64),
            (numbers::UNANSWERED_MESSAGES, from.unanswered as f64),
            (numbers::UNSTARTED_MESSAGES, unstarted as f64),
            (numbers::CONNECTIONS, from.connections as f64),
            (numbers::ERRORS, failed),
        ] {
            put(metrics, name, value);
        }
        if let Some(failure) = &from.failure {
            flow.labels.insert("error".into(), failure.says.clone());
            put(metrics, failure.kind.metric(), 1.0);
        }
        let is_known = !self.options.no_acks || self.options.mode == Mode::Rr;
        if is_known {
            for (name, value) in [
                (numbers::UNACKNOWLEDGED_MESSAGES, from.unacknowledged as f64),
                (
                    numbers::BACKLOG_PEAK_BYTES,
                    from.totals.backlog_peak_bytes as f64,
                ),
                (
                    numbers::BACKLOG_PEAK_MESSAGES,
                    from.totals.backlog_peak_messages as f64,
                ),
                (numbers::BACKLOG_EVENTS, from.totals.backlog_events as f64),
            ] {
                put(metrics, name, value);
            }
            put(
                metrics,
                numbers::BACKLOG_RATIO,
                share(from, Some(from.totals.backlog_ns)),
            );
        }
        if self.options.transport.writes_in_parts() {
            let share = share(from, Some(from.totals.idle_ns));
            put(metrics, numbers::WRITE_BLOCKED_RATIO, share);
        }
        put(metrics, numbers::SENDER_CPU_RATIO, share(from, from.cpu_ns));
        put(
            metrics,
            numbers::SENDER_WAIT_RATIO,
            share(from, from.wait_ns),
        );
        if let Some(asked) = asked_per_s {
            let sent = from.totals.messages as f64;
            put(metrics, numbers::ASKED_PER_SECOND, asked);
            put(
                metrics,
                numbers::LATE_RATIO,
                ratio(from.totals.late as f64, sent),
            );
            let full = ratio(from.totals.window_full as f64, sent);
            put(metrics, numbers::WINDOW_FULL_RATIO, full);
        }
    }

    fn received(&self, flow: &mut FlowResult, to: &Finished, load: &LoadTime) {
        let metrics = &mut flow.metrics;
        put(metrics, numbers::MESSAGES, to.totals.messages as f64);
        let totals = &to.totals;
        let bytes_per_s = load.per_s(totals.bytes as f64);
        for (name, value) in [
            (
                numbers::MESSAGES_PER_SECOND,
                load.per_s(totals.messages as f64),
            ),
            (numbers::BYTES_PER_SECOND, bytes_per_s),
            (numbers::BITS_PER_SECOND, bytes_per_s * 8.0),
        ] {
            put(metrics, name, value);
        }
        put(metrics, numbers::RECEIVER_CPU_RATIO, share(to, to.cpu_ns));
        put(metrics, numbers::RECEIVER_WAIT_RATIO, share(to, to.wait_ns));
        put(
            metrics,
            numbers::READ_IDLE_RATIO,
            share(to, Some(to.totals.idle_ns)),
        );
        if self.options.rx == super::options::Rx::Queue {
            let peak = to.totals.backlog_peak_bytes as f64;
            put(metrics, numbers::QUEUE_PEAK_BYTES, peak);
            let full = share(to, Some(to.totals.backlog_ns));
            put(metrics, numbers::QUEUE_FULL_RATIO, full);
        }
        if to.strangers > 0 {
            put(metrics, numbers::FOREIGN_CONNECTIONS, to.strangers as f64);
        }
        if let Some(failure) = &to.failure {
            let says = failure.says.clone();
            flow.labels.insert("receiver_error".into(), says);
        }
    }

    /// Totals over the flows of a phase. In a chain only its last flow delivers.
    fn totals(&self, plans: &[FlowPlan], flows: &[FlowResult], all: &[Both<'_>]) -> Summary {
        const DELIVERED: [Metric; 4] = [
            numbers::MESSAGES,
            numbers::MESSAGES_PER_SECOND,
            numbers::BYTES_PER_SECOND,
            numbers::BITS_PER_SECOND,
        ];
        let last = plans.iter().map(|plan| plan.to).max();
        let delivers = |plan: &FlowPlan| !self.options.relay || Some(plan.to) == last;
        let mut summary = joined::totals(numbers::METRICS, flows);
        for metric in DELIVERED {
            let each = plans.iter().zip(flows);
            let delivering = each.filter(|(plan, _)| delivers(plan));
            let whole = total(&metric, delivering.map(|(_, flow)| flow));
            summary.remove(metric.name);
            put(&mut summary, metric, whole);
        }
        lost(&mut summary, plans, all, delivers);
        self.merged.put_numbers(&mut summary);
        summary
    }
}

/// Messages without a result: sent and lost, or never started.
fn failed(from: &Finished, unstarted: u64) -> f64 {
    let early = from.failure.is_some() as u64;
    let lost = from.unacknowledged.max(from.unanswered).max(early);
    lost.saturating_add(unstarted) as f64
}

fn relayed(flow: &mut FlowResult, from: &Finished) {
    put(
        &mut flow.metrics,
        numbers::RELAYED_MESSAGES,
        from.totals.all_messages as f64,
    );
    if let Some(failure) = &from.failure {
        flow.labels.insert("error".into(), failure.says.clone());
    }
}

/// Sent by the senders and not received where it was to go; nothing when an end is not known.
fn lost(
    summary: &mut Summary,
    plans: &[FlowPlan],
    all: &[Both<'_>],
    delivers: impl Fn(&FlowPlan) -> bool,
) {
    let mut sent = Some(0);
    let mut received = Some(0);
    for (plan, both) in plans.iter().zip(all) {
        if !both.is_relayed && (plan.from == 0 || delivers(plan)) {
            let from = both.from;
            sent = sent
                .zip(from)
                .map(|(sum, from)| sum + from.totals.all_messages);
        }
        if delivers(plan) {
            let to = both.to;
            received = received
                .zip(to)
                .map(|(sum, to)| sum + to.totals.all_messages);
        }
    }
    if let Some((sent, received)) = sent.zip(received) {
        let lost = sent.saturating_sub(received) as f64;
        put(summary, numbers::MISSING_MESSAGES, lost);
    }
    let get = |metric: Metric| metric.of(summary).unwrap_or(0.0);
    if let Some(sent) = numbers::SENT_MESSAGES.of(summary) {
        let due = sent + get(numbers::UNSTARTED_MESSAGES);
        let share = ratio(get(numbers::ERRORS), due).unwrap_or(0.0).min(1.0);
        put(summary, numbers::ERROR_RATIO, share);
    }
}
