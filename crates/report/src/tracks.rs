//! The charts over time of a record, and which series feed them.
//!
//! Only what has data becomes a chart. Where a metric has more series than a reader can tell
//! apart, they are added up per host or the busiest are shown, and the chart says so.

mod hosts;
mod losses;
mod sums;
mod traffic;

use std::collections::BTreeMap;

use sokudo_model::kinds::datagram;
use sokudo_model::metrics::{host, own};
use sokudo_model::spent::STAGE_MEANS;
use sokudo_model::{Series, Text};

use crate::block::Phrase;
use crate::budget;
use crate::chart::{self, Chart, ChartKind, Line};
use crate::families;
use crate::view::View;

use self::hosts::{core_strips, cpu_stacks, nic, pressure, threads};
use self::losses::{DROPS, drops, loss_strip};
use self::traffic::{answers, failed, latency, throughput, users};

pub(crate) use self::hosts::mean_cells;

/// Lines that one chart carries at most: the palette's length.
const MAX_LINES: usize = 8;
/// Rows of a strip at most.
const MAX_ROWS: usize = 32;
/// Charts in the folded part at most, of what was asked for and of the rest each.
const MAX_OTHER: usize = 16;

/// The main charts, from top to bottom.
pub fn main_tracks(view: &View) -> Vec<Chart> {
    let mut out = Vec::new();
    out.extend(answers(view));
    out.extend(latency(view));
    out.extend(users(view));
    out.extend(failed(view));
    out.extend(budget::over_time(view));
    out.extend(throughput(view));
    out.extend(loss_strip(view));
    out.extend(drops(view));
    out.extend(cpu_stacks(view));
    out.extend(core_strips(view));
    out.extend(threads(view, own::CPU_RATIO.name, "cpu"));
    out.extend(threads(view, own::WAIT_RATIO.name, "wait"));
    out.extend(nic(view));
    out.extend(pressure(view));
    fit(&mut out, chart::POINT_BUDGET * 3 / 4, chart::MAX_POINTS);
    out
}

/// Charts of the hosts over time, without strips: for a page with an axis of its own.
pub fn of_hosts(view: &View) -> Vec<Chart> {
    let mut out = cpu_stacks(view);
    out.extend(threads(view, own::CPU_RATIO.name, "cpu"));
    out.extend(nic(view));
    out.extend(pressure(view));
    fit(&mut out, chart::POINT_BUDGET / 4, chart::MAX_POINTS / 4);
    out
}

/// Every other series that moved, one chart per metric.
pub fn other_tracks(view: &View) -> Vec<Chart> {
    const SHOWN: &[&str] = &[
        datagram::LOSS_RATIO.name,
        host::CPU_RATIO.name,
        own::CPU_RATIO.name,
        own::WAIT_RATIO.name,
        host::NIC_RECEIVE_BYTES_PER_SECOND.name,
        host::NIC_SEND_BYTES_PER_SECOND.name,
        host::PRESSURE_RATIO.name,
        host::MEMORY_TOTAL_BYTES.name,
    ];
    // Monitors that were asked for come before those that always observe.
    let asked = &view.record.manifest.plan.monitors;
    let is_asked = |series: &Series| asked.iter().any(|one| one.name == series.key.source);
    let mut wanted: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
    let mut metrics: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
    for series in &view.record.series {
        let name = series.key.metric.as_str();
        let shown = SHOWN.contains(&name)
            || STAGE_MEANS.iter().any(|own| own.name == name)
            || DROPS.contains(&name)
            || families::charted().any(|own| own.name == name)
            || traffic::shown().any(|own| own.name == name);
        if !shown && moves(series) {
            let list = match is_asked(series) {
                true => &mut wanted,
                false => &mut metrics,
            };
            list.entry(name).or_default().push(series);
        }
    }
    let charts = wanted.into_iter().take(MAX_OTHER);
    let charts = charts.chain(metrics.into_iter().take(MAX_OTHER));
    let mut out: Vec<Chart> = charts
        .map(|(metric, series)| lines_chart(view, metric, &series))
        .collect();
    fit(&mut out, chart::POINT_BUDGET / 4, chart::MAX_POINTS / 4);
    out
}

fn moves(series: &Series) -> bool {
    let first = series.points.first().map(|p| p.1);
    series.points.iter().any(|p| Some(p.1) != first)
}

/// Thins all lines so that together they keep to `budget`, and each to `most`.
fn fit(charts: &mut [Chart], budget: usize, most: usize) {
    let lines: usize = charts.iter().map(|c| c.lines.len()).sum();
    let most = (budget / lines.max(1)).clamp(60, most);
    for chart in charts.iter_mut().filter(|c| c.kind == ChartKind::Lines) {
        for line in &mut chart.lines {
            line.points = chart::thin(&line.points, most);
        }
    }
}

fn words(key: &str) -> Phrase {
    Text::new(key).into()
}

/// Words that distinguish a series from its siblings: `hosta`, `hosta core 3`, `hosta→hostb`.
fn series_name(view: &View, series: &Series) -> String {
    let mut parts: Vec<&str> = Vec::new();
    // A flow's name contains its hosts already.
    let labels = &series.key.labels;
    let told = labels.contains_key("flow");
    if !told && (view.record.manifest.hosts.len() > 1 || labels.is_empty()) {
        parts.push(&series.key.host);
    }
    parts.extend(
        labels
            .iter()
            .filter(|(name, _)| name.as_str() != "phase")
            .map(|(_, value)| value.as_str()),
    );
    parts.join(" ")
}

fn lines_chart(view: &View, metric: &str, series: &[&Series]) -> Chart {
    let mut ranked: Vec<&Series> = series.to_vec();
    ranked.sort_by(|a, b| peak(b).total_cmp(&peak(a)));
    let cut = ranked.len() > MAX_LINES;
    ranked.truncate(MAX_LINES);
    ranked.sort_by_key(|s| s.key.clone());
    let help = sokudo_model::metric::find(metric).map_or(metric, |m| m.help);
    Chart {
        id: metric.replace(['.', '_'], "-"),
        title: crate::names::metric(metric),
        note: Some(match cut {
            true => Text::new("report-over-time-metric-cut")
                .word("metric", metric)
                .word("shown", MAX_LINES.to_string())
                .word("n", series.len().to_string())
                .word("help", help)
                .into(),
            false => Text::new("report-over-time-metric")
                .word("metric", metric)
                .word("help", help)
                .into(),
        }),
        kind: ChartKind::Lines,
        unit: sokudo_model::metric::unit_of(metric),
        log_switch: false,
        lines: coloured(view, &ranked),
    }
}

/// One line per series. A host with one line keeps its own colour.
fn coloured(view: &View, series: &[&Series]) -> Vec<Line> {
    let alone = |s: &Series| series.iter().filter(|o| o.key.host == s.key.host).count() == 1;
    let all_alone = series.iter().all(|s| alone(s));
    series
        .iter()
        .enumerate()
        .map(|(i, s)| Line {
            label: series_name(view, s).into(),
            colour: if all_alone {
                view.colour(&s.key.host)
            } else {
                i
            },
            dashed: false,
            points: chart::with_gaps(&s.points),
        })
        .collect()
}

fn peak(series: &Series) -> f64 {
    series.points.iter().map(|p| p.1).fold(0.0, f64::max)
}

/// A row of a strip that is as long as the run.
fn strip_line(label: String, colour: usize, points: &[(i64, f64)], end: i64) -> Line {
    let columns = chart::columns_for(points, 0, end);
    Line {
        label: label.into(),
        colour,
        dashed: false,
        points: chart::strip(points, 0, end, columns),
    }
}
