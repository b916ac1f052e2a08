//! Charts of a test of requests on one time axis.

use std::collections::BTreeMap;

use sokudo_model::{Text, Unit};
use sokudo_stats::requests::{LabelGroup, Moment, Requests};

use super::{Dashboard, how};
use crate::block::{Block, Phrase};
use crate::chart::{Chart, ChartKind, Line, Points};
use crate::heat::{self, Column, PERCENTILES};

/// Labels drawn one by one: those with the most requests.
const MOST_LABELS: usize = 8;
/// Response codes drawn one by one.
const MOST_CODES: usize = 7;
/// Percentile that a comparison draws.
const COMPARED: f64 = 95.0;

/// All charts, the most important ones first and the rest folded away.
pub fn blocks(dashboard: &Dashboard) -> Vec<Block> {
    let requests = dashboard.requests;
    if requests.total.n == 0 {
        return Vec::new();
    }
    let time = Axis::of(requests);
    let first = [
        times(&time),
        budget(&time),
        compared(dashboard, &time),
        rates(&time),
        failures(&time),
        users(&time),
        codes(&time),
    ];
    let further = [
        by_label(
            &time,
            "label-times",
            "jtl-chart-label-times",
            Unit::Seconds,
            |slot, _| (slot.n > 0).then(|| slot.sum_ms as f64 / f64::from(slot.n) / 1e3),
        ),
        by_label(
            &time,
            "label-rates",
            "jtl-chart-label-rates",
            Unit::PerSecond,
            |slot, s| Some(f64::from(slot.n) / s),
        ),
        waiting(&time),
        bytes(&time),
    ];
    let chart = |chart: Chart| Block::Chart(Box::new(chart));
    let mut out = vec![how("jtl-over-time-how")];
    out.extend(first.into_iter().flatten().map(chart));
    out.extend(super::beside::charts(dashboard).into_iter().map(chart));
    let blocks: Vec<Block> = further.into_iter().flatten().map(chart).collect();
    out.push(Block::Details {
        title: Text::new("jtl-more-charts").into(),
        open: true,
        blocks,
    });
    out
}

/// Positions of the timeline's steps on the page's time axis.
struct Axis<'a> {
    requests: &'a Requests,
    first_ms: i64,
    last_ms: i64,
}

impl<'a> Axis<'a> {
    fn of(requests: &'a Requests) -> Self {
        Self {
            requests,
            first_ms: requests.total.first_ms,
            last_ms: requests.total.last_ms,
        }
    }

    /// Middle of the part of a step that lies within the test, nanoseconds since the first start,
    /// and the length of that part in seconds; `None` for a step of which hardly anything does.
    fn place(&self, start_ms: i64) -> Option<(i64, f64)> {
        let width = self.requests.timeline.width_ms();
        let from = start_ms.max(self.first_ms);
        let to = (start_ms + width).min(self.last_ms);
        let whole = self.last_ms - self.first_ms < width;
        let enough = to - from >= (width / 4).max(1) || whole;
        let seconds = (to - from).max(1) as f64 / 1e3;
        enough
            .then_some(((from + to) / 2 - self.first_ms, seconds))
            .map(|(ms, s)| (ms * 1_000_000, s))
    }

    /// A line over the timeline of all requests.
    fn line(&self, of: impl Fn(&Moment, f64) -> Option<f64>) -> Points {
        let steps = self.requests.timeline.steps();
        let points = steps.filter_map(|(start, moment)| {
            let (t, seconds) = self.place(start)?;
            Some((t, of(moment, seconds)))
        });
        points.collect()
    }
}

fn line(label: impl Into<Phrase>, colour: usize, points: Points) -> Line {
    Line {
        label: label.into(),
        colour,
        dashed: false,
        points,
    }
}

fn chart(id: &str, title: &str, kind: ChartKind, unit: Unit, lines: Vec<Line>) -> Option<Chart> {
    let some = |l: &Line| l.points.iter().any(|(_, v)| v.is_some());
    let lines: Vec<Line> = lines.into_iter().filter(some).collect();
    (!lines.is_empty()).then(|| Chart {
        id: id.into(),
        title: Text::new(title).into(),
        note: None,
        kind,
        unit,
        log_switch: false,
        lines,
    })
}

/// Response times: the distribution per step with percentiles above it.
fn times(time: &Axis) -> Option<Chart> {
    let timeline = &time.requests.timeline;
    let first = timeline.steps().next()?.0;
    let width = timeline.width_ms();
    let seconds = |ms: u64| ms.max(1) as f64 / 1e3;
    let columns: BTreeMap<usize, Column> = timeline
        .steps()
        .filter(|(_, m)| m.ended > 0)
        .map(|(start, m)| {
            let column = Column {
                buckets: m.elapsed_ms().map(|(ms, n)| (seconds(ms), n)).collect(),
                percentiles: PERCENTILES
                    .map(|(q, _)| seconds(m.percentile_ms(q * 100.0).unwrap_or(0))),
            };
            (((start - first) / width) as usize, column)
        })
        .collect();
    let t0_ns = (first - time.first_ms) * 1_000_000;
    let (map, mut lines) = heat::of_columns(&columns, t0_ns, width * 1_000_000)?;
    for line in &mut lines {
        // The middle of the first and last step may lie outside the test.
        for point in &mut line.points {
            point.0 = point.0.clamp(0, (time.last_ms - time.first_ms) * 1_000_000);
        }
        line.points.dedup_by_key(|p| p.0);
    }
    Some(Chart {
        id: "times".into(),
        title: Text::new("jtl-chart-times").into(),
        note: Some(Text::new("jtl-chart-times-note").into()),
        kind: ChartKind::Heat(map),
        unit: Unit::Seconds,
        log_switch: true,
        lines,
    })
}

/// The same percentile now and earlier, both from their own beginnings.
fn compared(dashboard: &Dashboard, time: &Axis) -> Option<Chart> {
    let (name, earlier) = dashboard.earlier?;
    let percentile = |m: &Moment, _: f64| Some(m.percentile_ms(COMPARED)? as f64 / 1e3);
    let before = Line {
        dashed: true,
        ..line(name, 5, Axis::of(earlier).line(percentile))
    };
    let now = line(dashboard.name, 0, time.line(percentile));
    chart(
        "compared",
        "jtl-chart-compared",
        ChartKind::Lines,
        Unit::Seconds,
        vec![now, before],
    )
}

/// The stages that a file knows, on top of each other.
fn budget(time: &Axis) -> Option<Chart> {
    let steps = time.requests.timeline.steps();
    let moments = steps.filter_map(|(start, moment)| {
        let (t, _) = time.place(start)?;
        Some((t, super::budget::stages(&moment.spent)))
    });
    crate::budget::layers(moments.collect(), "report-over-time-budget")
}

fn rates(time: &Axis) -> Option<Chart> {
    let started = Line {
        dashed: true,
        ..line(
            Text::new("jtl-line-started"),
            5,
            time.line(|m, s| Some(m.started as f64 / s)),
        )
    };
    let ended = line(
        Text::new("jtl-line-ended"),
        0,
        time.line(|m, s| Some(m.ended as f64 / s)),
    );
    let mut lines = vec![ended, started];
    if time.requests.labels.iter().any(|l| l.is_transaction) {
        let points = time.line(|m, s| Some(m.transactions as f64 / s));
        lines.push(line(Text::new("jtl-line-transactions"), 3, points));
    }
    chart(
        "rates",
        "jtl-chart-rates",
        ChartKind::Lines,
        Unit::PerSecond,
        lines,
    )
}

fn failures(time: &Axis) -> Option<Chart> {
    if time.requests.total.errors == 0 {
        return None;
    }
    let points = time.line(|m, s| Some(m.errors as f64 / s));
    let failed = line(Text::new("jtl-line-failed"), 4, points);
    chart(
        "failed",
        "jtl-chart-failed",
        ChartKind::Lines,
        Unit::PerSecond,
        vec![failed],
    )
}

fn users(time: &Axis) -> Option<Chart> {
    let steps = time.requests.timeline.steps();
    let points = steps.zip(time.requests.users());
    let points = points
        .filter_map(|((start, _), users)| Some((time.place(start)?.0, users)))
        .collect();
    let users = line(Text::new("jtl-line-users"), 2, points);
    chart(
        "users",
        "jtl-chart-users",
        ChartKind::Lines,
        Unit::One,
        vec![users],
    )
}

/// Answers per second by response code, when there is more than one code.
fn codes(time: &Axis) -> Option<Chart> {
    let codes = &time.requests.codes;
    if codes.len() < 2 {
        return None;
    }
    let lines = codes.iter().take(MOST_CODES).enumerate().map(|(i, code)| {
        let name = match code.rsplit_once('.') {
            // `Non HTTP response code: java.net.SocketException`: its last word is enough.
            Some((_, last)) => last,
            None => code,
        };
        let points = time.line(|m, s| Some(f64::from(m.codes.get(i).copied().unwrap_or(0)) / s));
        line(name, i, points)
    });
    chart(
        "codes",
        "jtl-chart-codes",
        ChartKind::Lines,
        Unit::PerSecond,
        lines.collect(),
    )
}

/// One line per label, for those with the most requests.
fn by_label(
    time: &Axis,
    id: &str,
    title: &str,
    unit: Unit,
    of: fn(&sokudo_stats::requests::Slot, f64) -> Option<f64>,
) -> Option<Chart> {
    let mut labels: Vec<&LabelGroup> = time.requests.labels.iter().collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.n));
    let lines = labels
        .into_iter()
        .take(MOST_LABELS)
        .enumerate()
        .map(|(i, label)| {
            let steps = label.timeline.steps();
            let points = steps.filter_map(|(start, slot)| {
                let (t, seconds) = time.place(start)?;
                Some((t, of(slot, seconds)))
            });
            line(label.label.clone(), i, points.collect())
        });
    chart(id, title, ChartKind::Lines, unit, lines.collect())
}

fn waiting(time: &Axis) -> Option<Chart> {
    let lines = vec![
        line(
            Text::new("jtl-line-first-byte"),
            0,
            time.line(|m, _| Some(m.latency_ms.value()? / 1e3)),
        ),
        line(
            Text::new("jtl-line-connect"),
            1,
            time.line(|m, _| Some(m.connect_ms.value()? / 1e3)),
        ),
    ];
    chart(
        "waiting",
        "jtl-chart-waiting",
        ChartKind::Lines,
        Unit::Seconds,
        lines,
    )
}

fn bytes(time: &Axis) -> Option<Chart> {
    let lines = vec![
        line(
            Text::new("jtl-line-received"),
            0,
            time.line(|m, s| Some(m.bytes as f64 / s)),
        ),
        line(
            Text::new("jtl-line-sent"),
            1,
            time.line(|m, s| Some(m.sent_bytes as f64 / s)),
        ),
    ];
    chart(
        "bytes",
        "jtl-chart-bytes",
        ChartKind::Lines,
        Unit::BytesPerSecond,
        lines,
    )
}
