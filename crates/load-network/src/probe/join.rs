//! How do both ends' numbers become one result, with loss told apart by direction?
//!
//! ```text
//! sent ──lost up──► arrived at the far end ─► answers ──lost down──► arrived back
//! ```

use serde::{Deserialize, Serialize};
use sokudo_model::{
    FlowPlan, FlowResult, HistogramSummary, Labels, PhaseResult, PhaseSpec, Summary,
};
use sokudo_stats::Histogram;
use sokudo_workload::contract::HostResult;
use sokudo_workload::histogram_text::HistogramText;
use sokudo_workload::joined::{Merged, NS, Totals, put, put_start_late, ratio};

use super::client::Probed;
use super::delay::{PairClock, Row, Variation, shown};
use super::options::ProbeOptions;
use super::report::Collected;
use super::server::Answered;
use super::{NAME, names};
use crate::datagram::sequence::Tracker;

/// What one direction's numbering tells.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Arrivals {
    unique: u64,
    /// Highest number plus one.
    span: u64,
    duplicates: u64,
    out_of_order: u64,
    /// Arrivals that the kernel stamped.
    kernel_stamps: u64,
    foreign: u64,
    /// Runs of missing numbers below `span`.
    loss_runs: HistogramText,
}

impl Arrivals {
    fn new(tracker: Tracker, kernel_stamps: u64, foreign: u64) -> Self {
        let span = tracker.span();
        let account = tracker.close(None);
        Self {
            unique: account.unique,
            span,
            duplicates: account.duplicates,
            out_of_order: account.out_of_order,
            kernel_stamps,
            foreign,
            loss_runs: HistogramText::new(&account.loss_runs),
        }
    }

    /// Runs of missing numbers when `sent` were used.
    fn runs(&self, sent: u64) -> HistogramText {
        let mut runs = self.loss_runs.histogram();
        let tail = sent.saturating_sub(self.span);
        if tail > 0 {
            runs.record(tail);
        }
        HistogramText::new(&runs)
    }

    /// Who took the times of these arrivals.
    fn stamps(&self) -> &'static str {
        match self.kernel_stamps {
            0 => "program",
            n if n < self.unique + self.duplicates => "kernel, some by the program",
            _ => "kernel",
        }
    }
}

/// A flow as its asking end saw it. Times in nanoseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AskedNumbers {
    flow: u32,
    sent: u64,
    refused: u64,
    unsent: u64,
    #[serde(default)]
    start_late_ns: Option<i64>,
    answered: u64,
    late: u64,
    answers: Arrivals,
    rtt: HistogramText,
    up: HistogramText,
    down: HistogramText,
    /// Of the round trip, the way up, the way down.
    ipdv: [HistogramText; 3],
    jitter_ns: [Option<f64>; 3],
    turnaround: HistogramText,
    timer_error: HistogramText,
    send_call: HistogramText,
    /// `None` when the clocks were not compared.
    clock_error_ns: Option<u64>,
    clock_drift: Option<f64>,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: i64,
    error: Option<String>,
}

/// A flow as its answering end saw it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AnsweredNumbers {
    flow: u32,
    probes: Arrivals,
    answers: u64,
    refused: u64,
    cpu_ns: Option<u64>,
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
    /// Puts together what the threads of one host handed over; `clocks` by asking end.
    pub(crate) fn new(collected: Collected, clocks: &[Option<PairClock>]) -> Self {
        let asked = collected.probed.into_iter().zip(clocks);
        let answered = collected.answered.into_iter();
        Self {
            asked: asked
                .map(|(probed, clock)| asked_numbers(probed, clock.as_ref()))
                .collect(),
            answered: answered.map(answered_numbers).collect(),
        }
    }
}

fn asked_numbers(probed: Probed, clock: Option<&PairClock>) -> AskedNumbers {
    let Probed {
        flow,
        sent,
        received,
        error,
    } = probed;
    let rows = &received.rows;
    let distribution = |of: &dyn Fn(&Row) -> i64| {
        let mut histogram = Histogram::new();
        for row in rows.iter().flatten() {
            // Below zero lies only what the clock error explains.
            histogram.record(of(row).max(0) as u64);
        }
        HistogramText::new(&histogram)
    };
    let one_way = |way: fn((i64, i64)) -> i64| match clock {
        Some(clock) => distribution(&|row| way(clock.one_way(row))),
        None => HistogramText::default(),
    };
    let ways: [fn(&Row) -> i64; 3] = [Row::rtt_ns, |row| row.up_ns, |row| row.down_ns];
    let variations = ways.map(|way| Variation::of(rows.iter().map(|row| row.as_ref().map(way))));
    AskedNumbers {
        flow,
        sent: sent.sent,
        refused: sent.refused,
        unsent: sent.unsent,
        start_late_ns: sent.start_late_ns,
        answered: rows.iter().flatten().count() as u64,
        late: received.late,
        rtt: distribution(&Row::rtt_ns),
        up: one_way(|both| both.0),
        down: one_way(|both| both.1),
        ipdv: [0, 1, 2].map(|way: usize| HistogramText::new(&variations[way].ipdv)),
        jitter_ns: [0, 1, 2].map(|way: usize| variations[way].jitter_ns),
        turnaround: HistogramText::new(&received.turnaround),
        timer_error: HistogramText::new(&sent.timer_error),
        send_call: HistogramText::new(&sent.send_call),
        clock_error_ns: clock.map(|clock| clock.error_ns),
        clock_drift: clock.map(|clock| clock.drift),
        cpu_ns: sent.cpu_ns,
        wait_ns: sent.wait_ns,
        elapsed_ns: sent.elapsed_ns,
        error,
        answers: Arrivals::new(received.answers, received.kernel_stamps, received.foreign),
    }
}

fn answered_numbers(end: Answered) -> AnsweredNumbers {
    AnsweredNumbers {
        flow: end.flow,
        probes: Arrivals::new(end.probes, end.kernel_stamps, end.foreign),
        answers: end.answers,
        refused: end.refused,
        cpu_ns: end.cpu_ns,
        elapsed_ns: end.elapsed_ns,
        error: end.error,
    }
}

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(crate) fn join(
    options: &ProbeOptions,
    spec: &PhaseSpec,
    results: &[HostResult],
) -> PhaseResult {
    let read = |result: &HostResult| {
        let text = result.as_ref().ok()?;
        serde_json::from_str::<Numbers>(text).ok()
    };
    let hosts: Vec<Option<Numbers>> = results.iter().map(read).collect();
    let of = |host: u32| hosts.get(host as usize).and_then(Option::as_ref);
    let mut join = Join {
        options,
        merged: Merged::default(),
        errors_s: Vec::new(),
    };
    let flows: Vec<FlowResult> = spec
        .phase
        .flows
        .iter()
        .map(|plan| {
            // A host speaks for its own flows only.
            let asked = of(plan.from).and_then(|n| n.asked.iter().find(|a| a.flow == plan.id));
            let answered = of(plan.to).and_then(|n| n.answered.iter().find(|a| a.flow == plan.id));
            join.flow(spec, plan, asked, answered)
        })
        .collect();
    let summary = join.totals(&flows);
    let histograms = join.merged.summaries();
    let worst_s = join.worst_s();
    PhaseResult {
        summary,
        flows,
        histograms: histograms
            .into_iter()
            .filter(|(name, all)| is_shown(name, all, worst_s))
            .collect(),
    }
}

/// One join at work.
struct Join<'a> {
    options: &'a ProbeOptions,
    merged: Merged,
    /// Clock error of each flow that has one, seconds.
    errors_s: Vec<f64>,
}

/// False for one-way delays of which more than half lie below their error.
fn is_shown(name: &str, all: &HistogramSummary, error_s: f64) -> bool {
    let one_way = [names::OWD, names::OWD_UP, names::OWD_DOWN].contains(&name);
    !one_way || shown(all.p50, error_s).is_some()
}

fn own(metrics: &mut Summary, what: &str, value: impl Into<Option<f64>>) {
    put(metrics, &format!("{NAME}.{what}"), value);
}

impl Join<'_> {
    fn worst_s(&self) -> f64 {
        self.errors_s.iter().copied().fold(0.0, f64::max)
    }

    fn flow(
        &mut self,
        spec: &PhaseSpec,
        plan: &FlowPlan,
        asked: Option<&AskedNumbers>,
        answered: Option<&AnsweredNumbers>,
    ) -> FlowResult {
        let name = |host: u32| {
            let host = spec.hosts.get(host as usize);
            host.map_or(String::new(), |host| host.name.clone())
        };
        let mut flow = FlowResult {
            id: plan.id,
            from: name(plan.from),
            to: name(plan.to),
            labels: Labels::new(),
            complete: asked.is_some_and(|a| a.answered > 0 && a.error.is_none())
                && answered.is_some_and(|a| a.error.is_none()),
            ..FlowResult::default()
        };
        if let Some(asked) = asked {
            self.asked(&mut flow, asked);
        }
        if let Some(answered) = answered {
            answering(&mut flow, answered);
        }
        if let Some((asked, answered)) = asked.zip(answered) {
            self.losses(&mut flow, asked, answered);
        }
        flow
    }

    fn asked(&mut self, flow: &mut FlowResult, asked: &AskedNumbers) {
        let metrics = &mut flow.metrics;
        put_start_late(metrics, asked.start_late_ns);
        let lost = asked.sent.saturating_sub(asked.answered + asked.late) as f64;
        for (what, value) in [
            ("sent_packets", asked.sent as f64),
            ("answered_packets", asked.answered as f64),
            ("lost_packets", lost),
            ("late_packets", asked.late as f64),
            ("unsent_packets", asked.unsent as f64),
            ("refused_packets", asked.refused as f64),
        ] {
            own(metrics, what, value);
        }
        own(metrics, "loss_ratio", ratio(lost, asked.sent as f64));
        let elapsed_ns = asked.elapsed_ns as f64;
        let per_s = |n: u64| ratio(n as f64 * 1e9, elapsed_ns);
        own(
            metrics,
            "answered_packets_per_second",
            per_s(asked.answered),
        );
        let asked_per_s = 1e9 / self.options.every.0 as f64;
        own(metrics, "asked_packets_per_second", asked_per_s);
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed_ns));
        own(metrics, "sender_cpu_ratio", share(asked.cpu_ns));
        own(metrics, "sender_wait_ratio", share(asked.wait_ns));
        for (what, ns) in ["jitter_seconds", "jitter_up_seconds", "jitter_down_seconds"]
            .into_iter()
            .zip(asked.jitter_ns)
        {
            own(metrics, what, ns.map(|ns| ns * NS));
        }
        let two_clocks = asked.clock_error_ns.is_some_and(|error| error > 0);
        let drift = asked.clock_drift.filter(|_| two_clocks);
        own(metrics, "clock_drift_ratio", drift);
        let error_s = asked.clock_error_ns.map(|ns| ns as f64 * NS);
        put(metrics, names::CLOCK_ERROR, error_s);
        self.errors_s.extend(error_s);
        let stamps = asked.answers.stamps().into();
        flow.labels.insert("answer_stamps".into(), stamps);
        if let Some(error) = &asked.error {
            flow.labels.insert("error".into(), error.clone());
        }
        self.distributions(flow, asked, error_s);
    }

    fn distributions(&mut self, flow: &mut FlowResult, asked: &AskedNumbers, error_s: Option<f64>) {
        let all = [
            (names::RTT, &asked.rtt),
            (names::OWD_UP, &asked.up),
            (names::OWD_DOWN, &asked.down),
            ("probe.ipdv_seconds", &asked.ipdv[0]),
            ("probe.ipdv_up_seconds", &asked.ipdv[1]),
            ("probe.ipdv_down_seconds", &asked.ipdv[2]),
            ("probe.turnaround_seconds", &asked.turnaround),
            ("probe.timer_error_seconds", &asked.timer_error),
            ("probe.send_call_seconds", &asked.send_call),
        ];
        for (name, text) in all {
            let summary = self.merged.add(name, NS, text);
            let shows = |all: &HistogramSummary| is_shown(name, all, error_s.unwrap_or(0.0));
            if let Some(summary) = summary.filter(shows) {
                flow.histograms.insert(name.into(), summary);
            }
        }
        for text in [&asked.up, &asked.down] {
            self.merged.add(names::OWD, NS, text);
        }
    }

    /// What only both ends together know.
    fn losses(&mut self, flow: &mut FlowResult, asked: &AskedNumbers, answered: &AnsweredNumbers) {
        let metrics = &mut flow.metrics;
        let up = asked.sent.saturating_sub(answered.probes.unique) as f64;
        let down = answered.answers.saturating_sub(asked.answers.unique) as f64;
        own(metrics, "lost_up_packets", up);
        own(metrics, "lost_down_packets", down);
        own(metrics, "loss_up_ratio", ratio(up, asked.sent as f64));
        own(
            metrics,
            "loss_down_ratio",
            ratio(down, answered.answers as f64),
        );
        own(metrics, "answers_sent_packets", answered.answers as f64);
        for (way, arrivals) in [("up", &answered.probes), ("down", &asked.answers)] {
            let (twice, late) = (arrivals.duplicates as f64, arrivals.out_of_order as f64);
            own(metrics, &format!("duplicate_{way}_packets"), twice);
            own(metrics, &format!("out_of_order_{way}_packets"), late);
        }
        let foreign = asked.answers.foreign + answered.probes.foreign;
        if foreign > 0 {
            own(metrics, "foreign_packets", foreign as f64);
        }
        for (name, runs) in [
            (
                "probe.loss_run_up_packets",
                answered.probes.runs(asked.sent),
            ),
            (
                "probe.loss_run_down_packets",
                asked.answers.runs(answered.answers),
            ),
        ] {
            if let Some(summary) = self.merged.add(name, 1.0, &runs) {
                flow.histograms.insert(name.into(), summary);
            }
        }
    }

    /// Totals over the flows of a phase.
    fn totals(&self, flows: &[FlowResult]) -> Summary {
        const SUMS: [&str; 17] = [
            "sent_packets",
            "answered_packets",
            "lost_packets",
            "late_packets",
            "unsent_packets",
            "refused_packets",
            "lost_up_packets",
            "lost_down_packets",
            "answers_sent_packets",
            "duplicate_up_packets",
            "duplicate_down_packets",
            "out_of_order_up_packets",
            "out_of_order_down_packets",
            "foreign_packets",
            "answered_packets_per_second",
            "asked_packets_per_second",
            "answer_refused_packets",
        ];
        const WORST: [&str; 6] = [
            "jitter_seconds",
            "jitter_up_seconds",
            "jitter_down_seconds",
            "clock_error_seconds",
            "sender_cpu_ratio",
            "sender_wait_ratio",
        ];
        let mut totals = Totals::of(NAME, flows);
        totals.sum(&SUMS);
        totals.highest(&WORST);
        totals.share("loss_ratio", "lost_packets", "sent_packets");
        totals.share("loss_up_ratio", "lost_up_packets", "sent_packets");
        totals.share(
            "loss_down_ratio",
            "lost_down_packets",
            "answers_sent_packets",
        );
        self.percentiles(&mut totals.summary);
        totals.summary
    }

    /// `probe.rtt_seconds.p99` and its like, merged over all flows; one-way delays only as far as
    /// they are above their error.
    fn percentiles(&self, summary: &mut Summary) {
        let worst_s = self.worst_s();
        for (name, all) in self.merged.summaries() {
            let one_way = [names::OWD, names::OWD_UP, names::OWD_DOWN].contains(&name.as_str());
            for (which, value) in [
                ("min", all.min),
                ("mean", all.mean),
                ("p50", all.p50),
                ("p90", all.p90),
                ("p99", all.p99),
                ("p999", all.p999),
                ("max", all.max),
            ] {
                let error_s = if one_way { worst_s } else { 0.0 };
                put(summary, &format!("{name}.{which}"), shown(value, error_s));
            }
        }
    }
}

/// What the answering end alone knows.
fn answering(flow: &mut FlowResult, answered: &AnsweredNumbers) {
    let elapsed_ns = answered.elapsed_ns as f64;
    let cpu = answered.cpu_ns.and_then(|ns| ratio(ns as f64, elapsed_ns));
    own(&mut flow.metrics, "server_cpu_ratio", cpu);
    if answered.refused > 0 {
        let refused = answered.refused as f64;
        own(&mut flow.metrics, "answer_refused_packets", refused);
    }
    let stamps = answered.probes.stamps().into();
    flow.labels.insert("probe_stamps".into(), stamps);
    if let Some(error) = &answered.error {
        flow.labels.insert("server_error".into(), error.clone());
    }
}
