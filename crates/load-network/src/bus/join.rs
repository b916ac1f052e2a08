//! Joins what the sending and the receiving ends of the bus measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::bus as numbers;
use sokudo_model::{FlowPlan, FlowResult, Labels, Metric, PhaseResult, Summary};
use sokudo_workload::choice::Choice;
use sokudo_workload::joined::{self, Merged, NS, put, put_start_late, ratio, total};
use sokudo_workload::load::{self, Ends, OwnFlows};

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
    pub(crate) fn new(collected: Collected, asked_per_s: Option<f64>) -> Self {
        let mut numbers = Self {
            flows: collected.flows,
            asked_per_s,
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
        }
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &BusOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let plans = ends.plans();
    let all: Vec<Both<'_>> = plans.iter().map(|plan| Both::of(ends, plan)).collect();
    let mut join = Join {
        options,
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
    merged: Merged,
}

impl Join<'_> {
    fn flow(&mut self, mut flow: FlowResult, plan: &FlowPlan, both: &Both<'_>) -> FlowResult {
        flow.labels = self.labels(plan);
        if let Some(from) = both.from {
            match both.is_relayed {
                true => relayed(&mut flow, from),
                false => self.sent(&mut flow, from, both.asked_per_s),
            }
        }
        if let Some(to) = both.to {
            self.received(&mut flow, to);
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

    fn sent(&self, flow: &mut FlowResult, from: &Finished, asked_per_s: Option<f64>) {
        let metrics = &mut flow.metrics;
        let failed = failed(from);
        put_start_late(metrics, from.start_late_ns);
        for (name, value) in [
            (numbers::SENT_MESSAGES, from.totals.messages as f64),
            (numbers::SENT_BYTES, from.totals.bytes as f64),
            (numbers::ANSWERS, from.totals.answers as f64),
            (numbers::UNANSWERED_MESSAGES, from.unanswered as f64),
            (numbers::UNSTARTED_MESSAGES, from.unstarted as f64),
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

    fn received(&self, flow: &mut FlowResult, to: &Finished) {
        let metrics = &mut flow.metrics;
        put(metrics, numbers::MESSAGES, to.totals.messages as f64);
        let span_ns = to
            .totals
            .first_ns
            .map(|first| to.totals.last_ns.saturating_sub(first));
        let seconds = span_ns.map(|ns| ns as f64 * NS).filter(|s| *s > 0.0);
        let rate = |amount: u64| seconds.map_or(0.0, |seconds| amount as f64 / seconds);
        put(
            metrics,
            numbers::MESSAGES_PER_SECOND,
            rate(to.totals.messages),
        );
        put(metrics, numbers::BYTES_PER_SECOND, rate(to.totals.bytes));
        put(
            metrics,
            numbers::BITS_PER_SECOND,
            rate(to.totals.bytes) * 8.0,
        );
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
fn failed(from: &Finished) -> f64 {
    let early = from.failure.is_some() as u64;
    (from.unacknowledged.max(from.unanswered).max(early) + from.unstarted) as f64
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
