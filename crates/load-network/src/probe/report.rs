//! The reporting thread of the probe: turns the threads' numbers into series.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use sokudo_model::kinds::probe as numbers;
use sokudo_model::{Batch, Metric};
use sokudo_stats::Histogram;
use sokudo_workload::contract::{Emit, Emitted};
use sokudo_workload::handover::{Lent, Reusable};
use sokudo_workload::joined::NS;
use sokudo_workload::reporting::{Names, Output};

use super::NAME;
use super::client::Probed;
use super::delay::{PairClock, Row, shown};
use super::server::Answered;

/// Points of one batch at most: a message between hosts stays small.
const POINTS_PER_BATCH: usize = 4_000;

/// Message of a measuring thread to the reporting thread.
pub(crate) enum Report {
    /// An asking thread's last interval.
    Interval(Lent<Interval>),
    /// An asking end has finished.
    Probed(Box<Probed>),
    /// An answering end has finished.
    Answered(Box<Answered>),
}

/// Answers of one flow since the report before.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    /// Number of the flow in the phase.
    pub(crate) flow: u32,
    /// End of the interval, monotonic nanoseconds.
    pub(crate) t_ns: i64,
    /// Probes answered.
    pub(crate) answered: u64,
    /// Their round trips, nanoseconds.
    pub(crate) rtt: Histogram,
}

impl Reusable for Interval {
    fn clear(&mut self) {
        self.answered = 0;
        self.rtt.clear();
    }
}

/// Everything that was handed over, when all threads have ended.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// Asking ends.
    pub(crate) probed: Vec<Probed>,
    /// Answering ends.
    pub(crate) answered: Vec<Answered>,
}

/// The reporting thread.
pub(crate) struct Reporter {
    output: Output,
    /// Flow → when it reported last.
    last_ns: BTreeMap<u32, i64>,
    collected: Collected,
}

impl Reporter {
    /// Reports for a phase with this many asking ends.
    pub(crate) fn new(series: Names, emit: Emit, asking: usize) -> Self {
        Self {
            output: Output::new(series, NAME, emit, asking),
            last_ns: BTreeMap::new(),
            collected: Collected::default(),
        }
    }

    /// Takes reports until all measuring threads have ended.
    pub(crate) fn run(mut self, reports: &Receiver<Report>) -> Collected {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            match report {
                Report::Interval(interval) => self.interval(&interval),
                Report::Probed(probed) => {
                    self.collected.probed.push(*probed);
                    self.output.sender_ended();
                    self.say_when_over();
                }
                Report::Answered(answered) => self.collected.answered.push(*answered),
            }
        }
        self.output.finish();
        self.collected
    }

    /// The answering ends need to know nothing but that the asking ones have finished.
    fn say_when_over(&self) {
        self.output.say_when_sent(|| "{}".into());
    }

    fn interval(&mut self, interval: &Interval) {
        let mut batch = Batch::default();
        let series = &self.output.names;
        let label = series.label(interval.flow);
        let at_ns = interval.t_ns - series.t0_ns;
        let key = |metric: Metric| self.output.key(metric, &label);
        let last = self.last_ns.insert(interval.flow, interval.t_ns);
        let seconds = (interval.t_ns - last.unwrap_or(series.start_ns)) as f64 * NS;
        if seconds > 0.0 {
            let rate = interval.answered as f64 / seconds;
            batch.push(&key(numbers::ANSWERED_PACKETS_PER_SECOND), at_ns, rate);
        }
        if !interval.rtt.is_empty() {
            for (metric, q) in [
                (numbers::RTT_P50_SECONDS, 0.5),
                (numbers::RTT_P99_SECONDS, 0.99),
            ] {
                let seconds = interval.rtt.quantile(q) as f64 * NS;
                batch.push(&key(metric), at_ns, seconds);
            }
        }
        self.output
            .add(numbers::RTT_SECONDS, &label, interval.t_ns, &interval.rtt);
        self.output.store(interval.t_ns, &mut batch);
        self.output.emit(batch);
    }
}

fn emit(emit: &Emit, batch: Batch) {
    if !batch.is_empty() {
        (emit)(Emitted::Batch(batch));
    }
}

/// Emits what only the end of a flow knows: its first `keep` probes one by one, the one-way delays
/// among them when the clocks allow it, and what was lost per interval.
pub(crate) fn emit_probes(
    series: &Names,
    to: &Emit,
    probed: &Probed,
    clock: Option<&PairClock>,
    (keep, interval_ns): (u64, u64),
) {
    let label = series.label(probed.flow);
    let key = |metric: Metric| series.key(NAME, metric, &label);
    let rows = &probed.received.rows;
    let kept = &rows[..rows.len().min(keep as usize)];
    let point = |row: &Row, ns: i64| (row.sent_ns - series.t0_ns, ns as f64 * NS);
    emit_points(to, &key(numbers::EACH_RTT_SECONDS), kept, |row| {
        point(row, row.rtt_ns())
    });
    if let Some(clock) = clock {
        let shows = one_way_shown(rows, clock);
        if shows.0 {
            emit_points(to, &key(numbers::EACH_OWD_UP_SECONDS), kept, |row| {
                point(row, clock.one_way(row).0)
            });
        }
        if shows.1 {
            emit_points(to, &key(numbers::EACH_OWD_DOWN_SECONDS), kept, |row| {
                point(row, clock.one_way(row).1)
            });
        }
    }
    let mut batch = Batch::default();
    for (t_ns, ratio) in loss(&probed.received.departures_ns, rows, interval_ns) {
        batch.push(&key(numbers::LOSS_RATIO), t_ns - series.t0_ns, ratio);
    }
    emit(to, batch);
}

/// Whether the delays up and down are kept one by one: when half of them are above their error.
fn one_way_shown(rows: &[Option<Row>], clock: &PairClock) -> (bool, bool) {
    let median = |way: fn((i64, i64)) -> i64| {
        let mut delays: Vec<i64> = rows
            .iter()
            .flatten()
            .map(|row| way(clock.one_way(row)))
            .collect();
        let middle = delays.len() / 2;
        let middle = (!delays.is_empty()).then(|| *delays.select_nth_unstable(middle).1);
        middle.is_some_and(|ns| shown(ns as f64, clock.error_ns as f64).is_some())
    };
    (median(|both| both.0), median(|both| both.1))
}

fn emit_points(
    to: &Emit,
    key: &sokudo_model::SeriesKey,
    rows: &[Option<Row>],
    point: impl Fn(&Row) -> (i64, f64),
) {
    for rows in rows.chunks(POINTS_PER_BATCH) {
        let mut batch = Batch::default();
        for (t_ns, value) in rows.iter().flatten().map(&point) {
            batch.push(key, t_ns, value);
        }
        emit(to, batch);
    }
}

/// Share of the probes without an answer in time, per interval of their departures: its end on the
/// asking host's clock, and the share.
fn loss(departures_ns: &[i64], rows: &[Option<Row>], interval_ns: u64) -> Vec<(i64, f64)> {
    let Some(first_ns) = departures_ns.first() else {
        return Vec::new();
    };
    let interval_ns = (interval_ns as i64).max(1);
    let mut counts: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    for (at_ns, row) in departures_ns.iter().zip(rows) {
        let (sent, lost) = counts.entry((at_ns - first_ns) / interval_ns).or_default();
        *sent += 1;
        *lost += u64::from(row.is_none());
    }
    let each = counts.into_iter();
    each.map(|(index, (sent, lost))| {
        let end_ns = first_ns + (index + 1) * interval_ns;
        (end_ns, lost as f64 / sent as f64)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_told_of_the_interval_in_which_a_probe_left() {
        let row = |sent_ns| {
            Some(Row {
                sent_ns,
                up_ns: 1,
                down_ns: 1,
            })
        };
        let departures = [100, 110, 120, 130, 155];
        let rows = [row(100), None, row(120), None, None];
        assert_eq!(
            loss(&departures, &rows, 20),
            [(120, 0.5), (140, 0.5), (160, 1.0)]
        );
        assert_eq!(loss(&[], &[], 20), []);
    }
}
