//! Joining of both ends' numbers into one result, with loss per direction.
//!
//! ```text
//! sent ──lost up──► arrived at the far end ─► answers ──lost down──► arrived back
//! ```

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::probe as numbers;
use sokudo_model::{FlowResult, HistogramSummary, Metric, PhaseResult, Stat, Summary};
use sokudo_stats::Histogram;
use sokudo_workload::contract::Options as _;
use sokudo_workload::histogram_text;
use sokudo_workload::joined::{self, Merged, NS, put, put_named, put_start_late, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::{LoadTime, planned_ns};

use super::client::Probed;
use super::delay::{PairClock, Row, Variation, shown};
use super::options::ProbeOptions;
use super::report::Collected;
use super::server::Answered;
use crate::datagram::sequence::Tracker;

/// Result of one direction's numbering.
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
    #[serde(with = "histogram_text")]
    loss_runs: Histogram,
}

impl Arrivals {
    fn new(tracker: Tracker, kernel_stamps: u64, foreign: u64) -> Self {
        let span = tracker.span();
        let account = tracker.close();
        Self {
            unique: account.unique,
            span,
            duplicates: account.duplicates,
            out_of_order: account.out_of_order,
            kernel_stamps,
            foreign,
            loss_runs: account.loss_runs,
        }
    }

    /// Runs of missing numbers when `sent` were used.
    fn runs(&self, sent: u64) -> Histogram {
        let mut runs = self.loss_runs.clone();
        let tail = sent.saturating_sub(self.span);
        if tail > 0 {
            runs.record(tail);
        }
        runs
    }

    /// Name of the clock that stamped these arrivals.
    fn stamps(&self) -> &'static str {
        match self.kernel_stamps {
            0 => "program",
            n if n < self.unique.saturating_add(self.duplicates) => "kernel, some by the program",
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
    /// First departure of an answered probe and last arrival of an answer, since the agreed start.
    #[serde(default)]
    through_ns: Option<(i64, i64)>,
    late: u64,
    answers: Arrivals,
    #[serde(with = "histogram_text")]
    rtt: Histogram,
    #[serde(with = "histogram_text")]
    up: Histogram,
    #[serde(with = "histogram_text")]
    down: Histogram,
    #[serde(with = "histogram_text")]
    ipdv: Histogram,
    #[serde(with = "histogram_text")]
    ipdv_up: Histogram,
    #[serde(with = "histogram_text")]
    ipdv_down: Histogram,
    /// Of the round trip, the way up, the way down.
    jitter_ns: [Option<f64>; 3],
    #[serde(with = "histogram_text")]
    turnaround: Histogram,
    #[serde(with = "histogram_text")]
    timer_error: Histogram,
    #[serde(with = "histogram_text")]
    send_call: Histogram,
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
pub struct Numbers {
    asked: Vec<AskedNumbers>,
    answered: Vec<AnsweredNumbers>,
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.asked.retain(|one| own.begins(one.flow));
        self.answered.retain(|one| own.ends(one.flow));
    }
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
        histogram
    };
    let one_way = |way: fn((i64, i64)) -> i64| match clock {
        Some(clock) => distribution(&|row| way(clock.one_way(row))),
        None => Histogram::new(),
    };
    let ways: [fn(&Row) -> i64; 3] = [Row::rtt_ns, |row| row.up_ns, |row| row.down_ns];
    let [round, up, down] =
        ways.map(|way| Variation::of(rows.iter().map(|row| row.as_ref().map(way))));
    AskedNumbers {
        flow,
        sent: sent.sent,
        refused: sent.refused,
        unsent: sent.unsent,
        start_late_ns: sent.start_late_ns,
        answered: rows.iter().flatten().count() as u64,
        through_ns: LoadTime::since(sent.begin_ns, through_ns(rows)),
        late: received.late,
        rtt: distribution(&Row::rtt_ns),
        up: one_way(|both| both.0),
        down: one_way(|both| both.1),
        ipdv: round.ipdv,
        ipdv_up: up.ipdv,
        ipdv_down: down.ipdv,
        jitter_ns: [round.jitter_ns, up.jitter_ns, down.jitter_ns],
        turnaround: received.turnaround,
        timer_error: sent.timer_error,
        send_call: sent.send_call,
        clock_error_ns: clock.map(|clock| clock.error_ns),
        clock_drift: clock.map(|clock| clock.drift),
        cpu_ns: sent.cpu_ns,
        wait_ns: sent.wait_ns,
        elapsed_ns: sent.elapsed_ns,
        error,
        answers: Arrivals::new(received.answers, received.kernel_stamps, received.foreign),
    }
}

/// First departure of an answered probe and last arrival of an answer in time.
fn through_ns(rows: &[Option<Row>]) -> Option<(i64, i64)> {
    let answered = || rows.iter().flatten();
    let first_ns = answered().map(|row| row.sent_ns).min()?;
    let back_ns = |row: &Row| row.sent_ns.saturating_add(row.rtt_ns());
    Some((first_ns, answered().map(back_ns).max()?))
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

/// Joins the hosts' numbers.
pub(super) fn join(options: &ProbeOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let mut join = Join {
        options,
        planned_ns: planned_ns(ends.spec, options.duration_ns(), 0),
        merged: Merged::default(),
        errors_s: Vec::new(),
    };
    let flows = ends.plans().iter().map(|plan| {
        let asked = ends.of(plan.from).into_iter().flat_map(|host| &host.asked);
        let answered = ends.of(plan.to).into_iter().flat_map(|host| &host.answered);
        join.flow(
            ends.flow(plan),
            asked.into_iter().find(|one| one.flow == plan.id),
            answered.into_iter().find(|one| one.flow == plan.id),
        )
    });
    let flows: Vec<FlowResult> = flows.collect();
    let worst_s = join.worst_s();
    let shown = join
        .merged
        .each()
        .filter(|(metric, all)| is_shown(*metric, all, worst_s));
    PhaseResult {
        summary: join.totals(&flows),
        histograms: shown.map(|(metric, all)| (metric.into(), all)).collect(),
        flows,
    }
}

/// One join at work.
struct Join<'a> {
    options: &'a ProbeOptions,
    /// Planned length of the load.
    planned_ns: Option<i64>,
    merged: Merged,
    /// Clock error of each flow that has one, seconds.
    errors_s: Vec<f64>,
}

/// Whether a distribution is one of one-way delays, which are known within the clocks' error only.
fn is_one_way(metric: Metric) -> bool {
    [
        numbers::OWD_SECONDS,
        numbers::OWD_UP_SECONDS,
        numbers::OWD_DOWN_SECONDS,
    ]
    .contains(&metric)
}

/// False for one-way delays of which more than half lie below their error.
fn is_shown(metric: Metric, all: &HistogramSummary, error_s: f64) -> bool {
    !is_one_way(metric) || shown(all.p50, error_s).is_some()
}

impl Join<'_> {
    fn worst_s(&self) -> f64 {
        self.errors_s.iter().copied().fold(0.0, f64::max)
    }

    fn flow(
        &mut self,
        mut flow: FlowResult,
        asked: Option<&AskedNumbers>,
        answered: Option<&AnsweredNumbers>,
    ) -> FlowResult {
        flow.complete = asked.is_some_and(|a| a.answered > 0 && a.error.is_none())
            && answered.is_some_and(|a| a.error.is_none());
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
        let lost = asked
            .sent
            .saturating_sub(asked.answered.saturating_add(asked.late)) as f64;
        for (what, value) in [
            (numbers::SENT_PACKETS, asked.sent as f64),
            (numbers::ANSWERED_PACKETS, asked.answered as f64),
            (numbers::LOST_PACKETS, lost),
            (numbers::LATE_PACKETS, asked.late as f64),
            (numbers::UNSENT_PACKETS, asked.unsent as f64),
            (numbers::REFUSED_PACKETS, asked.refused as f64),
        ] {
            put(metrics, what, value);
        }
        put(metrics, numbers::LOSS_RATIO, ratio(lost, asked.sent as f64));
        let elapsed_ns = asked.elapsed_ns as f64;
        let load = LoadTime::new(
            self.planned_ns.unwrap_or(asked.elapsed_ns),
            asked.through_ns,
        );
        load.put(metrics);
        let per_s = load.per_s(asked.answered as f64);
        put(metrics, numbers::ANSWERED_PACKETS_PER_SECOND, per_s);
        let asked_per_s = 1e9 / self.options.every.0 as f64;
        put(metrics, numbers::ASKED_PACKETS_PER_SECOND, asked_per_s);
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed_ns));
        put(metrics, numbers::SENDER_CPU_RATIO, share(asked.cpu_ns));
        put(metrics, numbers::SENDER_WAIT_RATIO, share(asked.wait_ns));
        let jitters = [
            numbers::JITTER_SECONDS,
            numbers::JITTER_UP_SECONDS,
            numbers::JITTER_DOWN_SECONDS,
        ];
        for (metric, ns) in jitters.into_iter().zip(asked.jitter_ns) {
            put(metrics, metric, ns.map(|ns| ns * NS));
        }
        let two_clocks = asked.clock_error_ns.is_some_and(|error| error > 0);
        let drift = asked.clock_drift.filter(|_| two_clocks);
        put(metrics, numbers::CLOCK_DRIFT_RATIO, drift);
        let error_s = asked.clock_error_ns.map(|ns| ns as f64 * NS);
        put(metrics, numbers::CLOCK_ERROR_SECONDS, error_s);
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
            (numbers::RTT_SECONDS, &asked.rtt),
            (numbers::OWD_UP_SECONDS, &asked.up),
            (numbers::OWD_DOWN_SECONDS, &asked.down),
            (numbers::IPDV_SECONDS, &asked.ipdv),
            (numbers::IPDV_UP_SECONDS, &asked.ipdv_up),
            (numbers::IPDV_DOWN_SECONDS, &asked.ipdv_down),
            (numbers::TURNAROUND_SECONDS, &asked.turnaround),
            (numbers::TIMER_ERROR_SECONDS, &asked.timer_error),
            (numbers::SEND_CALL_SECONDS, &asked.send_call),
        ];
        for (metric, more) in all {
            let summary = self.merged.add(metric, more);
            let shows = |all: &HistogramSummary| is_shown(metric, all, error_s.unwrap_or(0.0));
            if let Some(summary) = summary.filter(shows) {
                flow.histograms.insert(metric.into(), summary);
            }
        }
        for more in [&asked.up, &asked.down] {
            self.merged.add(numbers::OWD_SECONDS, more);
        }
    }

    /// Losses, which only both ends together know.
    fn losses(&mut self, flow: &mut FlowResult, asked: &AskedNumbers, answered: &AnsweredNumbers) {
        let metrics = &mut flow.metrics;
        let up = asked.sent.saturating_sub(answered.probes.unique) as f64;
        let down = answered.answers.saturating_sub(asked.answers.unique) as f64;
        put(metrics, numbers::LOST_UP_PACKETS, up);
        put(metrics, numbers::LOST_DOWN_PACKETS, down);
        put(
            metrics,
            numbers::LOSS_UP_RATIO,
            ratio(up, asked.sent as f64),
        );
        put(
            metrics,
            numbers::LOSS_DOWN_RATIO,
            ratio(down, answered.answers as f64),
        );
        put(
            metrics,
            numbers::ANSWERS_SENT_PACKETS,
            answered.answers as f64,
        );
        let (probes, answers) = (&answered.probes, &asked.answers);
        for (metric, count) in [
            (numbers::DUPLICATE_UP_PACKETS, probes.duplicates),
            (numbers::OUT_OF_ORDER_UP_PACKETS, probes.out_of_order),
            (numbers::DUPLICATE_DOWN_PACKETS, answers.duplicates),
            (numbers::OUT_OF_ORDER_DOWN_PACKETS, answers.out_of_order),
        ] {
            put(metrics, metric, count as f64);
        }
        let foreign = asked
            .answers
            .foreign
            .saturating_add(answered.probes.foreign);
        if foreign > 0 {
            put(metrics, numbers::FOREIGN_PACKETS, foreign as f64);
        }
        let up = answered.probes.runs(asked.sent);
        let down = asked.answers.runs(answered.answers);
        let runs = [
            (numbers::LOSS_RUN_UP_PACKETS, &up),
            (numbers::LOSS_RUN_DOWN_PACKETS, &down),
        ];
        self.merged.add_each(flow, runs);
    }

    /// Totals over the flows of a phase.
    fn totals(&self, flows: &[FlowResult]) -> Summary {
        let mut summary = joined::totals(numbers::METRICS, flows);
        for (share, part, whole) in [
            (
                numbers::LOSS_RATIO,
                numbers::LOST_PACKETS,
                numbers::SENT_PACKETS,
            ),
            (
                numbers::LOSS_UP_RATIO,
                numbers::LOST_UP_PACKETS,
                numbers::SENT_PACKETS,
            ),
            (
                numbers::LOSS_DOWN_RATIO,
                numbers::LOST_DOWN_PACKETS,
                numbers::ANSWERS_SENT_PACKETS,
            ),
        ] {
            let both = part.of(&summary).zip(whole.of(&summary));
            let value = both.and_then(|(part, whole)| ratio(part, whole));
            put(&mut summary, share, value);
        }
        self.percentiles(&mut summary);
        summary
    }

    /// `probe.rtt_seconds.p99` and its like, merged over all flows; one-way delays only as far as
    /// they are above their error.
    fn percentiles(&self, summary: &mut Summary) {
        let worst_s = self.worst_s();
        for (metric, all) in self.merged.each() {
            let error_s = if is_one_way(metric) { worst_s } else { 0.0 };
            for stat in Stat::ALL {
                let value = shown(stat.of(&all), error_s);
                put_named(summary, metric.stat(stat), value);
            }
        }
    }
}

/// Metrics that the answering end alone knows.
fn answering(flow: &mut FlowResult, answered: &AnsweredNumbers) {
    let elapsed_ns = answered.elapsed_ns as f64;
    let cpu = answered.cpu_ns.and_then(|ns| ratio(ns as f64, elapsed_ns));
    put(&mut flow.metrics, numbers::SERVER_CPU_RATIO, cpu);
    if answered.refused > 0 {
        let refused = answered.refused as f64;
        put(&mut flow.metrics, numbers::ANSWER_REFUSED_PACKETS, refused);
    }
    let stamps = answered.probes.stamps().into();
    flow.labels.insert("probe_stamps".into(), stamps);
    if let Some(error) = &answered.error {
        flow.labels.insert("server_error".into(), error.clone());
    }
}
