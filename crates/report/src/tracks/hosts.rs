//! Charts of the hosts: cores, sokudo's own threads, interfaces and waits.

use sokudo_model::metrics::host;
use sokudo_model::{Series, Text, Unit};

use super::{MAX_LINES, MAX_ROWS, lines_chart, peak, series_name, strip_line, words};
use crate::chart::{self, Chart, ChartKind, Line, Points};
use crate::view::View;

/// Rows of all strips of cores together at most.
const MAX_CORE_ROWS: usize = 64;
/// States of a core from the bottom layer up.
const STATES: [&str; 7] = [
    "user", "nice", "system", "irq", "softirq", "steal", "iowait",
];

/// Per host: what all its cores together did, by state.
pub(super) fn cpu_stacks(view: &View) -> Vec<Chart> {
    let hosts = view.record.manifest.hosts.iter();
    let charts = hosts.filter_map(|host| cpu_stack(view, &host.name));
    charts.take(MAX_LINES).collect()
}

fn cpu_stack(view: &View, host: &str) -> Option<Chart> {
    let state_of = |state: &str| {
        view.record.series.iter().find(|s| {
            s.key.metric == host::CPU_RATIO.name
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
        kind: ChartKind::Stack,
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
pub(super) fn core_strips(view: &View) -> Vec<Chart> {
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
        .filter(|s| s.key.metric == host::CPU_RATIO.name && s.key.host == host)
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
        kind: ChartKind::Strip {
            log: false,
            full: 1.0,
        },
        unit: Unit::Ratio,
        log_switch: false,
        lines,
    })
}

/// The busiest threads of sokudo itself.
pub(super) fn threads(view: &View, metric: &str, id: &str) -> Option<Chart> {
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

/// Traffic of the interfaces.
pub(super) fn nic(view: &View) -> Option<Chart> {
    let both = [
        (host::NIC_RECEIVE_BYTES_PER_SECOND.name, false),
        (host::NIC_SEND_BYTES_PER_SECOND.name, true),
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
        kind: ChartKind::Lines,
        unit: Unit::BitsPerSecond,
        log_switch: false,
        lines,
    })
}

/// Share of time that tasks waited for a resource.
pub(super) fn pressure(view: &View) -> Option<Chart> {
    let series: Vec<&Series> = view
        .record
        .series_of(host::PRESSURE_RATIO.name)
        .filter(|s| s.key.labels.get("kind").is_none_or(|k| k == "some"))
        .filter(|s| peak(s) >= 0.005)
        .collect();
    if series.is_empty() {
        return None;
    }
    let mut chart = lines_chart(view, host::PRESSURE_RATIO.name, &series);
    chart.id = "pressure".into();
    chart.title = words("report-over-time-pressure");
    chart.note = None;
    Some(chart)
}
