//! Section: the figures of each label of a plan, or of each server, and response times over users.

use std::collections::BTreeMap;

use sokudo_model::kinds::{Exchange, Family, Track};
use sokudo_model::{FlowResult, HistogramInterval, Metric, PhaseRecord, Text, Unit};
use sokudo_stats::Histogram;

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::{Scale, count};
use crate::plane::{Axis, Mark, Plane, Trace};
use crate::view::View;

/// Labels in the table: those with the most requests.
const MOST_ROWS: usize = 300;
/// Dots of one trace at most.
const MOST_POINTS: usize = 600;
/// Percentiles in the table.
const PERCENTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")];

/// Figures of the requests of one label, or of all.
#[derive(Default)]
struct Figures {
    ended: f64,
    failed: f64,
    per_s: f64,
    latency: Histogram,
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.ended += other.ended;
        self.failed += other.failed;
        self.per_s += other.per_s;
        self.latency.merge(&other.latency);
    }
}

/// A table per measured phase of a load on servers, and the drawing of its users.
pub fn blocks(view: &View) -> Vec<Block> {
    let subjects = view.subjects().iter();
    let each = subjects.flat_map(|phase| of_phase(view, phase).unwrap_or_default());
    each.collect()
}

fn of_phase(view: &View, phase: &PhaseRecord) -> Option<Vec<Block>> {
    let kind = phase.kind().filter(|kind| kind.by_label)?;
    let Family::Exchange(exchange) = kind.family else {
        return None;
    };
    let table = table(view, phase, exchange)?;
    let users = kind.tracks.iter().find(|it| it.track == Track::Users);
    let plane = users.and_then(|users| by_users(view, phase, exchange, users.metric));
    let mut out = vec![Block::Table(table)];
    out.extend(plane.map(|plane| Block::Plane(Box::new(plane))));
    Some(out)
}

/// The distributions of a metric that ended within a phase.
fn intervals<'a>(
    view: &'a View,
    phase: &'a PhaseRecord,
    metric: Metric,
) -> impl Iterator<Item = &'a HistogramInterval> {
    let all = view.record.histograms.iter();
    let is_own = move |it: &&HistogramInterval| {
        it.key.metric == metric.name && it.t1_ns > phase.t0_ns && it.t0_ns < phase.t1_ns
    };
    all.filter(is_own)
}

fn figures(flow: &FlowResult, exchange: &Exchange) -> Figures {
    let of = |metric: Metric| metric.of(&flow.metrics).unwrap_or(0.0);
    let ended = of(exchange.answered) + of(exchange.errors);
    Figures {
        ended,
        failed: of(exchange.error_ratio) * ended,
        per_s: of(exchange.per_second),
        latency: Histogram::new(),
    }
}

fn table(view: &View, phase: &PhaseRecord, exchange: &Exchange) -> Option<Table> {
    let is = |flow: &FlowResult, word: &str| flow.labels.get("kind").is_some_and(|k| k == word);
    let mut labels: BTreeMap<&str, (bool, Figures)> = BTreeMap::new();
    let flows = phase.result.flows.iter();
    for flow in flows.filter(|flow| !is(flow, "generator")) {
        let own = labels.entry(&flow.to).or_default();
        own.0 |= is(flow, "transaction");
        own.1.add(&figures(flow, exchange));
    }
    for interval in intervals(view, phase, exchange.latency) {
        let name = interval.key.labels.get("flow").map_or("", String::as_str);
        // Flows of several threads have numbers behind the name of their server.
        let plain = name.rsplit_once(" #").map_or(name, |(plain, _)| plain);
        let known = match labels.contains_key(name) {
            true => labels.get_mut(name),
            false => labels.get_mut(plain),
        };
        if let (Some((_, own)), Ok(more)) = (known, Histogram::from_v2(&interval.hdr_v2)) {
            own.latency.merge(&more);
        }
    }
    let mut total = Figures::default();
    let requests = labels.values().filter(|(is_sum, _)| !is_sum);
    requests.for_each(|(_, own)| total.add(own));
    if total.ended <= 0.0 {
        return None;
    }
    let mut rows: Vec<(Phrase, Figures)> = labels
        .into_iter()
        .map(|(label, (is_sum, own))| match is_sum {
            true => (
                Text::new("jtl-transaction").word("label", label).into(),
                own,
            ),
            false => (label.to_owned().into(), own),
        })
        .collect();
    rows.sort_by(|a, b| b.1.ended.total_cmp(&a.1.ended));
    rows.truncate(MOST_ROWS);
    if rows.len() > 1 {
        rows.insert(0, (Text::new("jtl-total").into(), total));
    }
    Some(shown(rows))
}

fn shown(rows: Vec<(Phrase, Figures)>) -> Table {
    let column = |title: Phrase, unit: &str| Column {
        title,
        unit: unit.into(),
        numeric: true,
    };
    let key = |key: &str| Phrase::from(Text::new(key));
    let seconds = |own: &Figures, q: f64| own.latency.quantile(q) as f64 / 1e9;
    let mean = |own: &Figures| own.latency.summary(1e-9).mean;
    let times = rows
        .iter()
        .map(|(_, own)| seconds(own, 0.99).max(mean(own)));
    let time = Scale::of(times, Unit::Seconds);
    let rate = Scale::of(rows.iter().map(|(_, own)| own.per_s), Unit::PerSecond);
    let share = |own: &Figures| own.failed / own.ended.max(1.0);
    let failed = Scale::of(rows.iter().map(|(_, own)| share(own)), Unit::Ratio);
    let mut columns = vec![
        Column {
            title: key("jtl-label"),
            unit: String::new(),
            numeric: false,
        },
        column(key("jtl-requests"), ""),
        column(key("jtl-rate"), &rate.unit),
        column(key("jtl-failed-share"), &failed.unit),
        column(key("jtl-mean"), &time.unit),
    ];
    let each = PERCENTILES
        .iter()
        .map(|(_, name)| column((*name).into(), &time.unit));
    columns.extend(each);
    columns.push(column(key("jtl-max"), &time.unit));
    let is_total = rows.len() > 1;
    let rows = rows.into_iter().map(|(label, own)| {
        let timed = |value: f64| match own.latency.is_empty() {
            true => Cell::missing(),
            false => Cell::number(time.show(value), value),
        };
        let mut cells = vec![
            Cell::word(label),
            Cell::number(count(own.ended), own.ended),
            Cell::number(rate.show(own.per_s), own.per_s),
            Cell::number(failed.show(share(&own)), share(&own)),
            timed(mean(&own)),
        ];
        cells.extend(PERCENTILES.iter().map(|(q, _)| timed(seconds(&own, *q))));
        cells.push(timed(seconds(&own, 1.0)));
        cells
    });
    Table {
        title: key("report-labels-table"),
        rows: rows.collect(),
        columns,
        marked: is_total.then_some(0),
        tools: true,
    }
}

/// Each second: how many users there were, and how long requests took meanwhile. `None` where their number
/// stayed the same.
fn by_users(view: &View, phase: &PhaseRecord, exchange: &Exchange, users: Metric) -> Option<Plane> {
    const STEP_NS: i64 = 1_000_000_000;
    let place = |t_ns: i64| (t_ns - phase.t0_ns - 1).div_euclid(STEP_NS);
    let mut latency: BTreeMap<i64, Histogram> = BTreeMap::new();
    for interval in intervals(view, phase, exchange.latency) {
        if let Ok(more) = Histogram::from_v2(&interval.hdr_v2) {
            latency
                .entry(place(interval.t1_ns))
                .or_default()
                .merge(&more);
        }
    }
    // The last value of each series within a step holds for it, or the one before.
    let mut present: BTreeMap<i64, f64> = BTreeMap::new();
    for series in view.record.series_of(users) {
        let mut held: BTreeMap<i64, f64> = BTreeMap::new();
        for (t_ns, value) in &series.points {
            held.insert(place(*t_ns), *value);
        }
        for step in latency.keys() {
            let known = held.range(..=*step).next_back();
            *present.entry(*step).or_default() += known.map_or(0.0, |(_, value)| *value);
        }
    }
    let mut counts: Vec<f64> = present.values().copied().filter(|n| *n > 0.0).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    if counts.len() < 2 {
        return None;
    }
    let trace = |label: &str, colour, q: f64| {
        let points = latency.iter().filter_map(|(step, own)| {
            let users = *present.get(step).filter(|n| **n > 0.0)?;
            (!own.is_empty()).then(|| (users, own.quantile(q) as f64 / 1e9))
        });
        Trace {
            label: label.into(),
            colour,
            mark: Mark::Dot,
            points: points.take(MOST_POINTS).collect(),
        }
    };
    let axis = |key: &str, unit| Axis {
        title: Text::new(key).into(),
        unit,
    };
    Some(Plane {
        title: Text::new("report-labels-users").into(),
        note: Text::new("report-labels-users-note").into(),
        x: axis("jtl-axis-users", Unit::One),
        y: axis("jtl-axis-time", Unit::Seconds),
        traces: vec![trace("p95", 1, 0.95), trace("p50", 0, 0.5)],
    })
}
