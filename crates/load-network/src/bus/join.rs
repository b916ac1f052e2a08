//! What do the sending and the receiving ends' numbers say together?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, PhaseSpec, Summary};
use sokudo_workload::contract::HostResult;
use sokudo_workload::histogram_text::HistogramText;
use sokudo_workload::joined::{Merged, NS, put, put_start_late, ratio};

use super::options::{BusOptions, Mode};
use super::record::{End, Finished, Kind, Totals};
use super::report::{Collected, FlowDistributions, RECEIPT, RELAY, RESPONSE, SERVICE};

/// What one thread counted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct EndNumbers {
    flow: u32,
    messages: u64,
    bytes: u64,
    all_messages: u64,
    answers: u64,
    backlog_peak_bytes: u64,
    backlog_peak_messages: u64,
    backlog_ns: u64,
    backlog_events: u64,
    idle_ns: u64,
    late: u64,
    window_full: u64,
    first_ns: Option<i64>,
    last_ns: i64,
    unacknowledged: u64,
    unanswered: u64,
    unstarted: u64,
    connections: u64,
    strangers: u64,
    failure: Option<(String, String)>,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: i64,
    #[serde(default)]
    start_late_ns: Option<i64>,
}

impl EndNumbers {
    fn new(thread: Finished) -> Self {
        let Totals {
            messages,
            bytes,
            all_messages,
            answers,
            backlog_bytes: _,
            backlog_peak_bytes,
            backlog_peak_messages,
            backlog_ns,
            backlog_events,
            idle_ns,
            late,
            window_full,
            first_ns,
            last_ns,
        } = thread.totals;
        let failure = thread.failure;
        Self {
            flow: thread.flow,
            messages,
            bytes,
            all_messages,
            answers,
            backlog_peak_bytes,
            backlog_peak_messages,
            backlog_ns,
            backlog_events,
            idle_ns,
            late,
            window_full,
            first_ns,
            last_ns,
            unacknowledged: thread.unacknowledged,
            unanswered: thread.unanswered,
            unstarted: thread.unstarted,
            connections: thread.connections,
            strangers: thread.strangers,
            failure: failure.map(|failure| (failure.kind.name().into(), failure.says)),
            cpu_ns: thread.cpu_ns,
            wait_ns: thread.wait_ns,
            elapsed_ns: thread.elapsed_ns,
            start_late_ns: thread.start_late_ns,
        }
    }

    /// Of the time from start to end.
    fn share(&self, part_ns: Option<u64>) -> Option<f64> {
        ratio(part_ns? as f64, self.elapsed_ns as f64)
    }
}

/// Distributions of one flow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct FlowNumbers {
    response: HistogramText,
    service: HistogramText,
    receipt: HistogramText,
    relay: HistogramText,
}

impl FlowNumbers {
    fn new(flow: &FlowDistributions) -> Self {
        Self {
            response: HistogramText::new(&flow.response),
            service: HistogramText::new(&flow.service),
            receipt: HistogramText::new(&flow.receipt),
            relay: HistogramText::new(&flow.relay),
        }
    }
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    sent: Vec<EndNumbers>,
    received: Vec<EndNumbers>,
    relayed: Vec<EndNumbers>,
    flows: BTreeMap<u32, FlowNumbers>,
    /// Messages per second asked of each sending thread.
    asked_per_s: Option<f64>,
}

impl Numbers {
    /// Puts together what the threads of one host handed over.
    pub(crate) fn new(collected: Collected, asked_per_s: Option<f64>) -> Self {
        let flows = collected.flows.iter();
        let mut numbers = Self {
            flows: flows
                .map(|(flow, all)| (*flow, FlowNumbers::new(all)))
                .collect(),
            asked_per_s,
            ..Self::default()
        };
        for thread in collected.finished {
            let list = match thread.end {
                End::Sending => &mut numbers.sent,
                End::Receiving => &mut numbers.received,
                End::Relaying => &mut numbers.relayed,
            };
            list.push(EndNumbers::new(thread));
        }
        numbers
    }
}

/// Both ends of one flow, as far as they are known.
#[derive(Default)]
struct Both {
    /// The sender, or the relay that hands on.
    from: Option<EndNumbers>,
    to: Option<EndNumbers>,
    is_relayed: bool,
    asked_per_s: Option<f64>,
    distributions: FlowNumbers,
}

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(crate) fn join(options: &BusOptions, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
    let plans = &spec.phase.flows;
    let mut all: Vec<Both> = plans.iter().map(|_| Both::default()).collect();
    for (index, result) in results.iter().enumerate() {
        let read = |text: &String| serde_json::from_str::<Numbers>(text).ok();
        if let Some(numbers) = result.as_ref().ok().and_then(read) {
            assign(&mut all, plans, index, numbers);
        }
    }
    let mut join = Join {
        options,
        merged: Merged::default(),
    };
    let flows: Vec<FlowResult> = plans
        .iter()
        .zip(&all)
        .map(|(plan, both)| join.flow(spec, plan, both))
        .collect();
    let summary = join.totals(plans, &flows, &all);
    PhaseResult {
        summary,
        flows,
        histograms: join.merged.summaries(),
    }
}

/// Puts one host's numbers to its flows. A host speaks for its own flows only.
fn assign(all: &mut [Both], plans: &[FlowPlan], host: usize, numbers: Numbers) {
    let own = |flow: u32, end: fn(&FlowPlan) -> u32| {
        let plan = plans.get(flow as usize);
        plan.is_some_and(|plan| end(plan) as usize == host)
    };
    let relayed = numbers.relayed.into_iter().map(|end| (end, true));
    let sent = numbers.sent.into_iter().map(|end| (end, false));
    for (end, is_relayed) in sent.chain(relayed) {
        if own(end.flow, |plan| plan.from) {
            let both = &mut all[end.flow as usize];
            both.is_relayed = is_relayed;
            both.asked_per_s = numbers.asked_per_s.filter(|_| !is_relayed);
            both.from = Some(end);
        }
    }
    for end in numbers.received {
        if own(end.flow, |plan| plan.to) {
            let flow = end.flow as usize;
            all[flow].to = Some(end);
        }
    }
    for (flow, distributions) in numbers.flows {
        if own(flow, |plan| plan.from) {
            all[flow as usize].distributions = distributions;
        }
    }
}

/// One join at work.
struct Join<'a> {
    options: &'a BusOptions,
    merged: Merged,
}

impl Join<'_> {
    fn flow(&mut self, spec: &PhaseSpec, plan: &FlowPlan, both: &Both) -> FlowResult {
        let name = |host: u32| {
            let host = spec.hosts.get(host as usize);
            host.map_or(String::new(), |host| host.name.clone())
        };
        let mut flow = FlowResult {
            id: plan.id,
            from: name(plan.from),
            to: name(plan.to),
            labels: self.labels(plan),
            ..FlowResult::default()
        };
        if let Some(from) = &both.from {
            match both.is_relayed {
                true => relayed(&mut flow, from),
                false => self.sent(&mut flow, from, both.asked_per_s),
            }
        }
        if let Some(to) = &both.to {
            self.received(&mut flow, to);
        }
        if let (Some(from), Some(to)) = (&both.from, &both.to) {
            let lost = from.all_messages.saturating_sub(to.all_messages);
            put(&mut flow.metrics, "bus.missing_messages", lost as f64);
            let whole = from.failure.is_none() && lost == 0 && to.all_messages > 0;
            flow.complete = whole;
        }
        self.distributions(&mut flow, &both.distributions);
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

    fn sent(&self, flow: &mut FlowResult, from: &EndNumbers, asked_per_s: Option<f64>) {
        let metrics = &mut flow.metrics;
        let failed = failed(from);
        put_start_late(metrics, from.start_late_ns);
        for (name, value) in [
            ("bus.sent_messages", from.messages as f64),
            ("bus.sent_bytes", from.bytes as f64),
            ("bus.answers", from.answers as f64),
            ("bus.unanswered_messages", from.unanswered as f64),
            ("bus.unstarted_messages", from.unstarted as f64),
            ("bus.connections", from.connections as f64),
            ("bus.errors", failed),
        ] {
            put(metrics, name, value);
        }
        if let Some((kind, says)) = &from.failure {
            flow.labels.insert("error".into(), says.clone());
            // What a peer calls a kind is no name of ours until it is one.
            if let Some(kind) = Kind::NAMES.iter().find(|name| *name == kind) {
                put(metrics, &format!("bus.{kind}"), 1.0);
            }
        }
        let is_known = !self.options.no_acks || self.options.mode == Mode::Rr;
        if is_known {
            for (name, value) in [
                ("bus.unacknowledged_messages", from.unacknowledged as f64),
                ("bus.backlog_peak_bytes", from.backlog_peak_bytes as f64),
                (
                    "bus.backlog_peak_messages",
                    from.backlog_peak_messages as f64,
                ),
                ("bus.backlog_events", from.backlog_events as f64),
            ] {
                put(metrics, name, value);
            }
            put(
                metrics,
                "bus.backlog_ratio",
                from.share(Some(from.backlog_ns)),
            );
        }
        if self.options.transport.link().writes_in_parts() {
            let share = from.share(Some(from.idle_ns));
            put(metrics, "bus.write_blocked_ratio", share);
        }
        put(metrics, "bus.sender_cpu_ratio", from.share(from.cpu_ns));
        put(metrics, "bus.sender_wait_ratio", from.share(from.wait_ns));
        if let Some(asked) = asked_per_s {
            let sent = from.messages as f64;
            put(metrics, "bus.asked_per_second", asked);
            put(metrics, "bus.late_ratio", ratio(from.late as f64, sent));
            let full = ratio(from.window_full as f64, sent);
            put(metrics, "bus.window_full_ratio", full);
        }
    }

    fn received(&self, flow: &mut FlowResult, to: &EndNumbers) {
        let metrics = &mut flow.metrics;
        put(metrics, "bus.messages", to.messages as f64);
        let span_ns = to.first_ns.map(|first| to.last_ns.saturating_sub(first));
        let seconds = span_ns.map(|ns| ns as f64 * NS).filter(|s| *s > 0.0);
        let rate = |amount: u64| seconds.map_or(0.0, |seconds| amount as f64 / seconds);
        put(metrics, "bus.messages_per_second", rate(to.messages));
        put(metrics, "bus.bytes_per_second", rate(to.bytes));
        put(metrics, "bus.bits_per_second", rate(to.bytes) * 8.0);
        put(metrics, "bus.receiver_cpu_ratio", to.share(to.cpu_ns));
        put(metrics, "bus.receiver_wait_ratio", to.share(to.wait_ns));
        put(metrics, "bus.read_idle_ratio", to.share(Some(to.idle_ns)));
        if self.options.rx == super::options::Rx::Queue {
            let peak = to.backlog_peak_bytes as f64;
            put(metrics, "bus.queue_peak_bytes", peak);
            let full = to.share(Some(to.backlog_ns));
            put(metrics, "bus.queue_full_ratio", full);
        }
        if to.strangers > 0 {
            put(metrics, "bus.foreign_connections", to.strangers as f64);
        }
        if let Some((_, says)) = &to.failure {
            flow.labels.insert("receiver_error".into(), says.clone());
        }
    }

    fn distributions(&mut self, flow: &mut FlowResult, numbers: &FlowNumbers) {
        for (name, text) in [
            (RESPONSE, &numbers.response),
            (SERVICE, &numbers.service),
            (RECEIPT, &numbers.receipt),
            (RELAY, &numbers.relay),
        ] {
            if let Some(summary) = self.merged.add(name, NS, text) {
                flow.histograms.insert(name.into(), summary);
            }
        }
    }

    /// Totals over the flows of a phase. In a chain only its last flow delivers.
    fn totals(&self, plans: &[FlowPlan], flows: &[FlowResult], all: &[Both]) -> Summary {
        const SUMS: [&str; 13] = [
            "bus.sent_messages",
            "bus.sent_bytes",
            "bus.answers",
            "bus.unanswered_messages",
            "bus.unstarted_messages",
            "bus.connections",
            "bus.errors",
            "bus.unacknowledged_messages",
            "bus.backlog_events",
            "bus.asked_per_second",
            "bus.foreign_connections",
            "bus.backlog_peak_bytes",
            "bus.queue_peak_bytes",
        ];
        const DELIVERED: [&str; 4] = [
            "bus.messages",
            "bus.messages_per_second",
            "bus.bytes_per_second",
            "bus.bits_per_second",
        ];
        const MAXIMA: [&str; 11] = [
            "bus.backlog_peak_messages",
            "bus.backlog_ratio",
            "bus.write_blocked_ratio",
            "bus.read_idle_ratio",
            "bus.queue_full_ratio",
            "bus.late_ratio",
            "bus.window_full_ratio",
            "bus.sender_cpu_ratio",
            "bus.sender_wait_ratio",
            "bus.receiver_cpu_ratio",
            "bus.receiver_wait_ratio",
        ];
        let last = plans.iter().map(|plan| plan.to).max();
        let delivers = |plan: &FlowPlan| !self.options.relay || Some(plan.to) == last;
        let mut summary = Summary::new();
        let mut total = |name: &str, only_delivering: bool, fold: fn(f64, f64) -> f64| {
            let each = plans.iter().zip(flows);
            let values = each
                .filter(|(plan, _)| !only_delivering || delivers(plan))
                .filter_map(|(_, flow)| flow.metrics.get(name).copied());
            put(&mut summary, name, values.reduce(fold));
        };
        SUMS.iter()
            .for_each(|name| total(name, false, |a, b| a + b));
        DELIVERED
            .iter()
            .for_each(|name| total(name, true, |a, b| a + b));
        MAXIMA.iter().for_each(|name| total(name, false, f64::max));
        for kind in Kind::NAMES {
            total(&format!("bus.{kind}"), false, |a, b| a + b);
        }
        lost(&mut summary, plans, all, delivers);
        self.merged.put_numbers(&mut summary);
        summary
    }
}

/// Messages that came to nothing: sent and lost, or never started.
fn failed(from: &EndNumbers) -> f64 {
    let early = from.failure.is_some() as u64;
    (from.unacknowledged.max(from.unanswered).max(early) + from.unstarted) as f64
}

fn relayed(flow: &mut FlowResult, from: &EndNumbers) {
    put(
        &mut flow.metrics,
        "bus.relayed_messages",
        from.all_messages as f64,
    );
    if let Some((_, says)) = &from.failure {
        flow.labels.insert("error".into(), says.clone());
    }
}

/// Sent by the senders and not received where it was to go; nothing when an end is not known.
fn lost(
    summary: &mut Summary,
    plans: &[FlowPlan],
    all: &[Both],
    delivers: impl Fn(&FlowPlan) -> bool,
) {
    let mut sent = Some(0);
    let mut received = Some(0);
    for (plan, both) in plans.iter().zip(all) {
        if !both.is_relayed && (plan.from == 0 || delivers(plan)) {
            let from = both.from.as_ref();
            sent = sent.zip(from).map(|(sum, from)| sum + from.all_messages);
        }
        if delivers(plan) {
            let to = both.to.as_ref();
            received = received.zip(to).map(|(sum, to)| sum + to.all_messages);
        }
    }
    if let Some((sent, received)) = sent.zip(received) {
        let lost = sent.saturating_sub(received) as f64;
        put(summary, "bus.missing_messages", lost);
    }
    let get = |name: &str| summary.get(name).copied().unwrap_or(0.0);
    if summary.contains_key("bus.sent_messages") {
        let unstarted = get("bus.unstarted_messages");
        let due = get("bus.sent_messages") + unstarted;
        let share = ratio(get("bus.errors"), due).unwrap_or(0.0).min(1.0);
        put(summary, "bus.error_ratio", share);
    }
}
