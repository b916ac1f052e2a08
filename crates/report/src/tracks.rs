//! Which series become which chart on the shared time axis?
//!
//! Only what has data becomes a chart. Where a metric has more series than a reader can tell
//! apart, they are added up per host or the busiest are shown, and the chart says so.

use std::collections::BTreeMap;

use sokudo_model::spent::STAGE_MEANS;
use sokudo_model::{Series, Text, Unit};

use crate::block::Phrase;
use crate::budget;
use crate::chart::{self, Chart, Kind, Line, Points};
use crate::kinds;
use crate::view::View;

/// Lines that one chart carries at most: the palette's length.
const MAX_LINES: usize = 8;
/// Rows of a strip at most.
const MAX_ROWS: usize = 32;
/// Rows of all strips of cores together at most.
const MAX_CORE_ROWS: usize = 64;
/// Charts in the folded part at most.
const MAX_OTHER: usize = 16;
/// States of a core from the bottom layer up.
const STATES: [&str; 7] = [
    "user", "nice", "system", "irq", "softirq", "steal", "iowait",
];

/// The charts that every reader wants, from top to bottom.
pub fn main_tracks(view: &View) -> Vec<Chart> {
    let mut out = Vec::new();
    out.extend(answers(view));
    out.extend(latency(view));
    out.extend(budget::over_time(view));
    out.extend(throughput(view));
    out.extend(loss_strip(view));
    out.extend(drops(view));
    out.extend(cpu_stacks(view));
    out.extend(core_strips(view));
    out.extend(threads(view, "self.cpu_ratio", "cpu"));
    out.extend(threads(view, "self.wait_ratio", "wait"));
    out.extend(nic(view));
    out.extend(pressure(view));
    fit(&mut out, chart::POINT_BUDGET * 3 / 4, chart::MAX_POINTS);
    out
}

/// What the hosts did, as charts over time without strips: for a page with an axis of its own.
pub fn of_hosts(view: &View) -> Vec<Chart> {
    let mut out = cpu_stacks(view);
    out.extend(threads(view, "self.cpu_ratio", "cpu"));
    out.extend(nic(view));
    out.extend(pressure(view));
    fit(&mut out, chart::POINT_BUDGET / 4, chart::MAX_POINTS / 4);
    out
}

/// Every other series that moved, one chart per metric.
pub fn other_tracks(view: &View) -> Vec<Chart> {
    const SHOWN: &[&str] = &[
        "datagram.loss_ratio",
        "host.cpu_ratio",
        "self.cpu_ratio",
        "self.wait_ratio",
        "host.nic_receive_bytes_per_second",
        "host.nic_send_bytes_per_second",
        "host.pressure_ratio",
        "host.memory_total_bytes",
    ];
    let mut metrics: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
    for series in &view.record.series {
        let name = series.key.metric.as_str();
        let shown = SHOWN.contains(&name)
            || STAGE_MEANS.contains(&name)
            || DROPS.contains(&name)
            || kinds::charted().any(|own| own == name);
        if !shown && moves(series) {
            metrics.entry(name).or_default().push(series);
        }
    }
    let mut out: Vec<Chart> = metrics
        .into_iter()
        .take(MAX_OTHER)
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
    for chart in charts.iter_mut().filter(|c| c.kind == Kind::Lines) {
        for line in &mut chart.lines {
            line.points = chart::thin(&line.points, most);
        }
    }
}

fn words(key: &str) -> Phrase {
    Text::new(key).into()
}

/// What tells a series from its siblings, as words: `hosta`, `hosta core 3`.
fn series_name(view: &View, series: &Series) -> String {
    let mut parts: Vec<&str> = Vec::new();
    if view.record.manifest.hosts.len() > 1 || series.key.labels.is_empty() {
        parts.push(&series.key.host);
    }
    parts.extend(
        series
            .key
            .labels
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
    let title = sokudo_model::metric::find(metric).map_or(metric, |m| m.help);
    let note = Text::new("report-over-time-metric").word("metric", metric);
    Chart {
        id: metric.replace(['.', '_'], "-"),
        title: title.into(),
        note: Some(match cut {
            true => Text::new("report-over-time-metric-cut")
                .word("metric", metric)
                .word("shown", MAX_LINES.to_string())
                .word("n", series.len().to_string())
                .into(),
            false => note.into(),
        }),
        kind: Kind::Lines,
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

/// Series of one metric added up per host, hosts in the run's order.
fn per_host<'a>(view: &View<'a>, metric: &str) -> Vec<(&'a str, Vec<(i64, f64)>)> {
    let mut hosts: BTreeMap<(usize, &str), Vec<&Series>> = BTreeMap::new();
    for series in view.record.series.iter().filter(|s| s.key.metric == metric) {
        let host = series.key.host.as_str();
        let place = (view.colour(host), host);
        hosts.entry(place).or_default().push(series);
    }
    hosts
        .into_iter()
        .map(|((_, host), series)| (host, add_up(&series)))
        .filter(|(_, points)| !points.is_empty())
        .collect()
}

/// The same for metrics of different workloads that mean the same.
fn together<'a>(
    view: &View<'a>,
    metrics: impl Iterator<Item = &'static str>,
) -> Vec<(&'a str, Vec<(i64, f64)>)> {
    let mut all: Vec<(&str, Vec<(i64, f64)>)> = Vec::new();
    for (host, points) in metrics.flat_map(|metric| per_host(view, metric)) {
        match all.iter_mut().find(|(known, _)| *known == host) {
            Some((_, known)) => known.extend(points),
            None => all.push((host, points)),
        }
    }
    for (_, points) in &mut all {
        points.sort_by_key(|point| point.0);
    }
    all
}

/// The sum of several series, on a grid of their usual step. A series counts at a grid point when
/// it has a sample within one and a half steps before it.
fn add_up(series: &[&Series]) -> Vec<(i64, f64)> {
    if let [one] = series {
        return one.points.clone();
    }
    let Some(step) = series
        .iter()
        .filter_map(|s| chart::usual_step(&s.points))
        .min()
    else {
        let mut points: Vec<(i64, f64)> = series.iter().flat_map(|s| s.points.clone()).collect();
        points.sort_by_key(|p| p.0);
        return points;
    };
    let mut grid: BTreeMap<i64, f64> = BTreeMap::new();
    for one in series {
        let mut own: BTreeMap<i64, f64> = BTreeMap::new();
        for &(t, value) in one.points.iter().filter(|p| p.1.is_finite()) {
            own.insert(t.div_euclid(step), value);
        }
        // A sample that fell just beside its grid point leaves a hole of one: its left neighbour
        // stands in, else the sum would dip.
        let holes: Vec<(i64, f64)> = own
            .iter()
            .filter(|(t, _)| !own.contains_key(&(*t + 1)) && own.contains_key(&(*t + 2)))
            .map(|(t, v)| (t + 1, *v))
            .collect();
        own.extend(holes);
        for (t, value) in own {
            *grid.entry(t).or_insert(0.0) += value;
        }
    }
    grid.into_iter()
        .map(|(t, v)| (t * step + step / 2, v))
        .collect()
}

/// Answered requests per second, added up per asking host.
fn answers(view: &View) -> Option<Chart> {
    let rates = kinds::REGISTRY.iter().filter_map(|kind| kind.per_second);
    let lines: Vec<Line> = rates
        .flat_map(|metric| per_host(view, metric))
        .take(MAX_LINES)
        .map(|(host, points)| Line {
            label: host.into(),
            colour: view.colour(host),
            dashed: false,
            points: chart::with_gaps(&points),
        })
        .collect();
    (!lines.is_empty()).then(|| Chart {
        id: "answers".into(),
        title: words("report-over-time-answers"),
        note: Some(words("report-over-time-answers-note")),
        kind: Kind::Lines,
        unit: Unit::PerSecond,
        log_switch: false,
        lines,
    })
}

/// Median and 99th percentile of each interval, flow by flow.
fn latency(view: &View) -> Option<Chart> {
    let mut lines = Vec::new();
    for &(metric, key) in kinds::REGISTRY.iter().flat_map(|kind| kind.latency) {
        let series = view.record.series_of(metric).take(MAX_LINES / 2);
        lines.extend(series.enumerate().map(|(index, series)| {
            Line {
                label: Text::new(key)
                    .word("flow", series_name(view, series))
                    .into(),
                colour: index,
                dashed: key.ends_with("p50"),
                points: chart::with_gaps(&series.points),
            }
        }));
    }
    (!lines.is_empty()).then(|| Chart {
        id: "latency".into(),
        title: words("report-over-time-latency"),
        note: Some(words("report-over-time-latency-note")),
        kind: Kind::Lines,
        unit: Unit::Seconds,
        log_switch: true,
        lines,
    })
}

fn throughput(view: &View) -> Option<Chart> {
    let delivered = together(view, kinds::REGISTRY.iter().filter_map(|kind| kind.arrived));
    let sent = together(view, kinds::REGISTRY.iter().filter_map(|kind| kind.sent));
    // A phase's last sample may come a little after its end: the next one's start parts them.
    let phases = view.record.manifest.phases.iter();
    let starts: Vec<i64> = phases.map(|p| p.t0_ns).collect();
    let line = |label: &str, host: &str, points: &[(i64, f64)], dashed| Line {
        label: Text::new(label).word("host", host).into(),
        colour: view.colour(host),
        dashed,
        points: chart::part(chart::with_gaps(points), &starts),
    };
    let mut lines: Vec<Line> = delivered
        .iter()
        .take(MAX_LINES)
        .map(|(host, points)| line("report-over-time-to", host, points, false))
        .collect();
    lines.extend(
        sent.iter()
            .take(MAX_LINES)
            .map(|(host, points)| line("report-over-time-from", host, points, true)),
    );
    (!lines.is_empty()).then(|| Chart {
        id: "throughput".into(),
        title: words("report-over-time-throughput"),
        note: Some(words("report-over-time-throughput-note")),
        kind: Kind::Lines,
        unit: Unit::BitsPerSecond,
        log_switch: false,
        lines,
    })
}

/// Loss per receiving host: the worst flow in each stretch of time.
fn loss_strip(view: &View) -> Option<Chart> {
    let mut hosts: BTreeMap<(usize, &str), Vec<(i64, f64)>> = BTreeMap::new();
    for series in view.record.series.iter() {
        if series.key.metric == "datagram.loss_ratio" {
            let host = series.key.host.as_str();
            let points = hosts.entry((view.colour(host), host)).or_default();
            points.extend(&series.points);
        }
    }
    let end = view.end_ns().max(1);
    let lines: Vec<Line> = hosts
        .into_iter()
        .take(MAX_ROWS)
        .map(|((colour, host), mut points)| {
            points.sort_by_key(|p| p.0);
            strip_line(host.to_string(), colour, &points, end)
        })
        .collect();
    (!lines.is_empty()).then(|| Chart {
        id: "loss".into(),
        title: words("report-over-time-loss"),
        note: Some(words("report-over-time-loss-note")),
        kind: Kind::Strip {
            log: true,
            full: 1.0,
        },
        unit: Unit::Ratio,
        log_switch: false,
        lines,
    })
}

fn strip_line(label: String, colour: usize, points: &[(i64, f64)], end: i64) -> Line {
    let columns = chart::columns_for(points, 0, end);
    Line {
        label: label.into(),
        colour,
        dashed: false,
        points: chart::strip(points, 0, end, columns),
    }
}

/// Counters whose growth means that something was thrown away.
const DROPS: &[&str] = &[
    "host.udp_receive_buffer_errors",
    "host.udp_send_buffer_errors",
    "host.softnet_drops",
    "host.nic_receive_drops",
    "host.nic_send_drops",
    "host.nic_errors",
    "host.udp_checksum_errors",
    "host.ip_reassembly_failures",
];

/// Place in [`DROPS`], host, its colour.
type DropRow<'a> = (usize, &'a str, usize);

/// Where hosts threw datagrams away: the growth of each counter that grew.
fn drops(view: &View) -> Option<Chart> {
    let end = view.end_ns().max(1);
    let mut rows: BTreeMap<DropRow, Vec<(i64, f64)>> = BTreeMap::new();
    for (rank, metric) in DROPS.iter().enumerate() {
        for series in view
            .record
            .series
            .iter()
            .filter(|s| s.key.metric == *metric)
        {
            let host = series.key.host.as_str();
            let row = rows.entry((rank, host, view.colour(host))).or_default();
            row.extend(growth(&series.points));
        }
    }
    let lines: Vec<Line> = rows
        .into_iter()
        .filter(|(_, points)| points.iter().any(|p| p.1 > 0.0))
        .take(MAX_ROWS)
        .map(|((rank, host, colour), mut points)| {
            points.sort_by_key(|p| p.0);
            let mut line = strip_line(String::new(), colour, &points, end);
            let short = DROPS[rank].trim_start_matches("host.").replace('_', "-");
            line.label = Text::new(format!("report-drop-{short}"))
                .word("host", host)
                .into();
            line
        })
        .collect();
    let full = lines
        .iter()
        .flat_map(|l| &l.points)
        .filter_map(|p| p.1)
        .fold(0.0, f64::max);
    (!lines.is_empty()).then(|| Chart {
        id: "drops".into(),
        title: words("report-over-time-drops"),
        note: Some(words("report-over-time-drops-note")),
        kind: Kind::Strip { log: true, full },
        unit: Unit::PacketsPerSecond,
        log_switch: false,
        lines,
    })
}

/// Increase per second between the samples of a cumulative counter; a counter that went backwards
/// was reset and gives nothing there.
fn growth(points: &[(i64, f64)]) -> Vec<(i64, f64)> {
    points
        .windows(2)
        .filter_map(|w| {
            let seconds = w[1].0.saturating_sub(w[0].0) as f64 / 1e9;
            let more = w[1].1 - w[0].1;
            (seconds > 0.0 && more >= 0.0).then_some((w[1].0, more / seconds))
        })
        .collect()
}

/// Per host: what all its cores together did, by state.
fn cpu_stacks(view: &View) -> Vec<Chart> {
    let hosts = view.record.manifest.hosts.iter();
    let charts = hosts.filter_map(|host| cpu_stack(view, &host.name));
    charts.take(MAX_LINES).collect()
}

fn cpu_stack(view: &View, host: &str) -> Option<Chart> {
    let state_of = |state: &str| {
        view.record.series.iter().find(|s| {
            s.key.metric == "host.cpu_ratio"
                && s.key.host == host
                && s.key.labels.get("core").is_some_and(|c| c == "all")
                && s.key.labels.get("state").is_some_and(|c| c == state)
        })
    };
    let layers: Vec<(usize, &str, &Series)> = STATES
        .iter()
        .enumerate()
        .filter_map(|(i, state)| Some((i, *state, state_of(state)?)))
        .filter(|(_, state, s)| peak(s) >= 0.005 || matches!(*state, "user" | "system"))
        .collect();
    let (_, _, first) = layers.first()?;
    let end = view.end_ns().max(1);
    let columns = chart::columns_for(&first.points, 0, end) * 2;
    let lines = layers
        .iter()
        .map(|(i, state, series)| Line {
            label: Text::new(format!("report-cpu-{state}")).into(),
            colour: *i,
            dashed: false,
            points: mean_cells(&series.points, end, columns.min(chart::MAX_COLUMNS * 2)),
        })
        .collect();
    Some(Chart {
        id: format!("cpu-{}", view.colour(host)),
        title: Text::new("report-over-time-cpu").word("host", host).into(),
        note: None,
        kind: Kind::Stack,
        unit: Unit::Ratio,
        log_switch: false,
        lines,
    })
}

/// Mean in each of `columns` equal stretches of the run, so that layers share their time stamps.
/// A stretch shorter than the usual step takes the next sample, which describes it.
pub(crate) fn mean_cells(points: &[(i64, f64)], end: i64, columns: usize) -> Points {
    let width = (end / columns.max(1) as i64).max(1);
    let limit = chart::usual_step(points)
        .unwrap_or(width)
        .max(width)
        .saturating_mul(3);
    let mut next = 0;
    (0..columns as i64)
        .map(|column| {
            let (from, to) = (column * width, (column + 1) * width);
            while next < points.len() && points[next].0 < from {
                next += 1;
            }
            let inside = points[next..].iter().take_while(|p| p.0 < to);
            let (sum, n) = inside.fold((0.0, 0), |(sum, n), p| (sum + p.1, n + 1));
            let value = match n {
                0 => points
                    .get(next)
                    .filter(|p| p.0 - from <= limit)
                    .map(|p| p.1),
                n => Some(sum / f64::from(n)),
            };
            (from + width / 2, value)
        })
        .collect()
}

/// Per host: how busy each core was.
fn core_strips(view: &View) -> Vec<Chart> {
    let hosts = view.record.manifest.hosts.iter();
    let charts = hosts.filter_map(|host| core_strip(view, &host.name));
    charts.take(MAX_LINES).collect()
}

fn core_strip(view: &View, host: &str) -> Option<Chart> {
    let end = view.end_ns().max(1);
    let mut cores: Vec<(u32, Vec<(i64, f64)>)> = view
        .record
        .series
        .iter()
        .filter(|s| s.key.metric == "host.cpu_ratio" && s.key.host == host)
        .filter(|s| s.key.labels.get("state").is_some_and(|c| c == "idle"))
        .filter_map(|s| {
            let core = s.key.labels.get("core")?.parse().ok()?;
            Some((core, s.points.iter().map(|(t, v)| (*t, 1.0 - v)).collect()))
        })
        .collect();
    let n = cores.len();
    if n < 2 {
        return None;
    }
    let busy = |points: &[(i64, f64)]| points.iter().map(|p| p.1).sum::<f64>();
    cores.sort_by(|a, b| busy(&b.1).total_cmp(&busy(&a.1)));
    let shown = (MAX_CORE_ROWS / view.record.manifest.hosts.len().max(1)).clamp(4, MAX_ROWS);
    cores.truncate(shown);
    cores.sort_by_key(|c| c.0);
    let lines = cores
        .iter()
        .map(|(core, points)| strip_line(core.to_string(), 0, points, end))
        .collect();
    Some(Chart {
        id: format!("cores-{}", view.colour(host)),
        title: Text::new("report-over-time-cores")
            .word("host", host)
            .into(),
        note: (n > shown).then(|| {
            Text::new("report-over-time-cores-cut")
                .word("shown", shown.to_string())
                .word("n", n.to_string())
                .into()
        }),
        kind: Kind::Strip {
            log: false,
            full: 1.0,
        },
        unit: Unit::Ratio,
        log_switch: false,
        lines,
    })
}

/// The busiest threads of sokudo itself.
fn threads(view: &View, metric: &str, id: &str) -> Option<Chart> {
    let mut series: Vec<&Series> = view.record.series_of(metric).collect();
    series.retain(|s| peak(s) >= 0.01);
    if series.is_empty() {
        return None;
    }
    let mut chart = lines_chart(view, metric, &series);
    chart.id = format!("threads-{id}");
    chart.title = words(&format!("report-over-time-threads-{id}"));
    chart.note = None;
    Some(chart)
}

/// What went over the interfaces.
fn nic(view: &View) -> Option<Chart> {
    let both = [
        ("host.nic_receive_bytes_per_second", false),
        ("host.nic_send_bytes_per_second", true),
    ];
    let mut found: Vec<(&Series, bool)> = both
        .iter()
        .flat_map(|(metric, dashed)| view.record.series_of(metric).map(|s| (s, *dashed)))
        .filter(|(s, _)| peak(s) > 0.0)
        .collect();
    found.sort_by(|a, b| peak(b.0).total_cmp(&peak(a.0)));
    found.truncate(MAX_LINES);
    found.sort_by_key(|(s, dashed)| (view.colour(&s.key.host), s.key.clone(), *dashed));
    let mut names: Vec<String> = Vec::new();
    let lines: Vec<Line> = found
        .iter()
        .map(|(series, dashed)| {
            let device = series_name(view, series);
            let place = names.iter().position(|n| *n == device).unwrap_or_else(|| {
                names.push(device.clone());
                names.len() - 1
            });
            let key = if *dashed {
                "report-over-time-out"
            } else {
                "report-over-time-in"
            };
            let bits: Vec<(i64, f64)> = series.points.iter().map(|(t, v)| (*t, v * 8.0)).collect();
            Line {
                label: Text::new(key).word("device", device).into(),
                colour: place,
                dashed: *dashed,
                points: chart::with_gaps(&bits),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| Chart {
        id: "nic".into(),
        title: words("report-over-time-nic"),
        note: Some(words("report-over-time-nic-note")),
        kind: Kind::Lines,
        unit: Unit::BitsPerSecond,
        log_switch: false,
        lines,
    })
}

/// Share of time that tasks waited for a resource.
fn pressure(view: &View) -> Option<Chart> {
    let series: Vec<&Series> = view
        .record
        .series_of("host.pressure_ratio")
        .filter(|s| s.key.labels.get("kind").is_none_or(|k| k == "some"))
        .filter(|s| peak(s) >= 0.005)
        .collect();
    if series.is_empty() {
        return None;
    }
    let mut chart = lines_chart(view, "host.pressure_ratio", &series);
    chart.id = "pressure".into();
    chart.title = words("report-over-time-pressure");
    chart.note = None;
    Some(chart)
}

#[cfg(test)]
mod tests {
    use sokudo_model::SeriesKey;

    use super::*;

    fn series(points: &[(i64, f64)]) -> Series {
        Series {
            key: SeriesKey {
                host: "a".into(),
                source: "s".into(),
                metric: "m".into(),
                labels: Default::default(),
            },
            points: points.to_vec(),
        }
    }

    #[test]
    fn sums_do_not_dip_where_one_sample_came_late() {
        let a = series(&[(5, 1.0), (15, 1.0), (25, 1.0), (35, 1.0)]);
        let b = series(&[(6, 2.0), (16, 2.0), (30, 2.0), (36, 2.0)]);
        let sum = add_up(&[&a, &b]);
        assert_eq!(sum.iter().map(|p| p.1).collect::<Vec<_>>(), [3.0; 4]);
    }

    #[test]
    fn flows_of_different_phases_follow_each_other() {
        let a = series(&[(5, 1.0), (15, 1.0)]);
        let b = series(&[(105, 2.0), (115, 2.0)]);
        let sum = add_up(&[&a, &b]);
        assert_eq!(sum, [(5, 1.0), (15, 1.0), (105, 2.0), (115, 2.0)]);
    }

    #[test]
    fn a_counter_becomes_its_growth_and_a_reset_is_not_negative() {
        let second = 1_000_000_000;
        let points = [
            (0, 0.0),
            (second, 10.0),
            (2 * second, 4.0),
            (3 * second, 5.0),
        ];
        assert_eq!(growth(&points), [(second, 10.0), (3 * second, 1.0)]);
    }
}
