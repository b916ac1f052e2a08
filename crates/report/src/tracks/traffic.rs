//! Charts of throughput and latency.

use sokudo_model::kinds::{Family, Track};
use sokudo_model::metrics::group;
use sokudo_model::{Kind, Metric, Text, Unit};

use super::sums::{HostLine, together};
use super::{MAX_LINES, series_name, words};
use crate::chart::{self, Chart, ChartKind, Line, Points};
use crate::families;
use crate::view::View;

/// A line's points with gaps where it has no samples. A phase's last sample may come a little after its
/// end: the next one's start parts them.
fn in_phases(view: &View, points: &[(i64, f64)]) -> Points {
    let phases = view.record.manifest.phases.iter();
    let starts: Vec<i64> = phases.map(|p| p.t0_ns).collect();
    chart::part(chart::with_gaps(points), &starts)
}

/// Answered requests per second, added up per asking host.
pub(super) fn answers(view: &View) -> Option<Chart> {
    let rates = together(view, families::series(|kind| kind.charts.per_second));
    let lines = rates.into_iter().take(MAX_LINES).map(|one| Line {
        label: one.name.into(),
        colour: view.colour(one.host),
        dashed: false,
        points: in_phases(view, &one.points),
    });
    let lines: Vec<Line> = lines.collect();
    (!lines.is_empty()).then(|| Chart {
        id: "answers".into(),
        title: words("report-over-time-answers"),
        note: Some(words("report-over-time-answers-note")),
        kind: ChartKind::Lines,
        unit: Unit::PerSecond,
        log_switch: false,
        lines,
    })
}

/// Median and 99th percentile of each interval, flow by flow.
pub(super) fn latency(view: &View) -> Option<Chart> {
    let mut lines = Vec::new();
    let medians = families::series(|kind| kind.charts.latency.map(|[median, _]| median));
    let high = families::series(|kind| kind.charts.latency.map(|[_, high]| high));
    let each = medians.into_iter().zip(high);
    let each = each.flat_map(|(median, high)| {
        [
            (median, "report-over-time-p50"),
            (high, "report-over-time-p99"),
        ]
    });
    for (metric, key) in each {
        let series = view.record.series_of(metric).take(MAX_LINES / 2);
        lines.extend(series.enumerate().map(|(index, series)| {
            Line {
                label: Text::new(key)
                    .word("flow", series_name(view, series))
                    .into(),
                colour: index,
                dashed: key.ends_with("p50"),
                points: in_phases(view, &series.points),
            }
        }));
    }
    (!lines.is_empty()).then(|| Chart {
        id: "latency".into(),
        title: words("report-over-time-latency"),
        note: Some(words("report-over-time-latency-note")),
        kind: ChartKind::Lines,
        unit: Unit::Seconds,
        log_switch: true,
        lines,
    })
}

/// Metrics of the charts of users and failures, and the reasons of failures, which have tables.
pub(super) fn shown() -> impl Iterator<Item = Metric> {
    let all = users_metrics().into_iter().chain(failed_metrics());
    all.chain([group::FAILURES])
}

fn users_metrics() -> Vec<Metric> {
    let sources = |kind: &Kind| {
        let mut tracks = kind.tracks.iter();
        tracks
            .find(|it| it.track == Track::Users)
            .map(|it| it.metric)
    };
    families::series(sources)
}

fn failed_metrics() -> Vec<Metric> {
    families::series(|kind| match kind.family {
        Family::Exchange(exchange) => exchange.failed_per_second,
        _ => None,
    })
}

/// Users over time, where their number changed.
pub(super) fn users(view: &View) -> Option<Chart> {
    let changes = |line: &HostLine<'_>| {
        let first = line.points.first().map(|point| point.1);
        line.points.iter().any(|point| Some(point.1) != first)
    };
    let all = together(view, users_metrics());
    let lines = all.iter().filter(|line| changes(line));
    sums(view, "users", Unit::One, lines)
}

/// Failed requests per second, where any failed.
pub(super) fn failed(view: &View) -> Option<Chart> {
    let all = together(view, failed_metrics());
    sums(view, "failed", Unit::PerSecond, all.iter())
}

/// A chart with a line per host.
fn sums<'a>(
    view: &View,
    id: &str,
    unit: Unit,
    lines: impl Iterator<Item = &'a HostLine<'a>>,
) -> Option<Chart> {
    let lines = lines.take(MAX_LINES).map(|one| Line {
        label: one.name.clone().into(),
        colour: view.colour(one.host),
        dashed: false,
        points: in_phases(view, &one.points),
    });
    let lines: Vec<Line> = lines.collect();
    (!lines.is_empty()).then(|| Chart {
        id: id.into(),
        title: words(&format!("report-over-time-{id}")),
        note: Some(words(&format!("report-over-time-{id}-note"))),
        kind: ChartKind::Lines,
        unit,
        log_switch: false,
        lines,
    })
}

pub(super) fn throughput(view: &View) -> Option<Chart> {
    let delivered = together(view, families::series(|kind| kind.charts.arrived));
    let sent = together(view, families::series(|kind| kind.charts.sent));
    let line = |label: &str, one: &HostLine<'_>, dashed| Line {
        label: Text::new(label).word("host", &one.name).into(),
        colour: view.colour(one.host),
        dashed,
        points: in_phases(view, &one.points),
    };
    let delivered = delivered.iter().take(MAX_LINES);
    let delivered = delivered.map(|one| line("report-over-time-to", one, false));
    let sent = sent.iter().take(MAX_LINES);
    let sent = sent.map(|one| line("report-over-time-from", one, true));
    let lines: Vec<Line> = delivered.chain(sent).collect();
    (!lines.is_empty()).then(|| Chart {
        id: "throughput".into(),
        title: words("report-over-time-throughput"),
        note: Some(words("report-over-time-throughput-note")),
        kind: ChartKind::Lines,
        unit: Unit::BitsPerSecond,
        log_switch: false,
        lines,
    })
}
