//! Distribution of response times, and response times over load.

use sokudo_model::{Text, Unit};
use sokudo_stats::requests::{LabelGroup, Requests};

use super::how;
use crate::block::Block;
use crate::plane::{Axis, Mark, Plane, Trace};

/// Bars of the distribution, about.
const BARS: u64 = 60;
/// Labels whose percentiles are drawn: those with the most requests.
const MOST_LABELS: usize = 6;
/// Dots and points of one trace at most.
const MOST_POINTS: usize = 600;

/// All drawings; none without requests.
pub fn blocks(requests: &Requests) -> Vec<Block> {
    if requests.total.n == 0 {
        return Vec::new();
    }
    let planes = [
        Some(distribution(&requests.total)),
        Some(percentiles(requests)),
        by_rate(requests),
        by_users(requests),
    ];
    let mut out = vec![how("jtl-shape-how")];
    out.extend(
        planes
            .into_iter()
            .flatten()
            .map(|p| Block::Plane(Box::new(p))),
    );
    out
}

fn axis(key: &str, unit: Unit) -> Axis {
    Axis {
        title: Text::new(key).into(),
        unit,
    }
}

fn plane(name: &str, x: Axis, y: Axis, traces: Vec<Trace>) -> Plane {
    Plane {
        title: Text::new(format!("jtl-plane-{name}")).into(),
        note: Text::new(format!("jtl-plane-{name}-note")).into(),
        x,
        y,
        traces,
    }
}

/// Bars of equal width up to the 99.5th percentile: with the few values above, the others would be too
/// narrow to see.
fn distribution(total: &LabelGroup) -> Plane {
    let reach = total.percentile_ms(99.5).max(1);
    let step_ms = round_up(reach.div_ceil(BARS));
    let bars = total.distribution(step_ms);
    let within = bars.into_iter().filter(|(low, _)| *low <= reach);
    let points = within.map(|(low, n)| (low as f64 / 1e3, n as f64 / total.n as f64));
    let trace = Trace {
        label: Text::new("jtl-total").into(),
        colour: 0,
        mark: Mark::Bar(step_ms as f64 / 1e3),
        points: points.collect(),
    };
    plane(
        "distribution",
        axis("jtl-axis-time", Unit::Seconds),
        axis("jtl-axis-share", Unit::Ratio),
        vec![trace],
    )
}

/// The next of 1, 2, 5, 10, 20, 50, …
fn round_up(value: u64) -> u64 {
    let mut unit = 1u64;
    loop {
        for step in [1, 2, 5] {
            if step * unit >= value {
                return step * unit;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

fn percentiles(requests: &Requests) -> Plane {
    let mut labels: Vec<&LabelGroup> = requests
        .labels
        .iter()
        .filter(|l| !l.is_transaction)
        .collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.n));
    let shares = || (0..=98).step_by(2).map(f64::from).chain([99.0, 99.5, 99.9]);
    let points = |g: &LabelGroup| {
        shares()
            .map(|p| (p / 100.0, g.percentile_ms(p) as f64 / 1e3))
            .collect()
    };
    let total = Trace {
        label: Text::new("jtl-total").into(),
        colour: 0,
        mark: Mark::Line,
        points: points(&requests.total),
    };
    let several = if labels.len() > 1 { MOST_LABELS } else { 0 };
    let each = labels
        .into_iter()
        .take(several)
        .enumerate()
        .map(|(i, label)| Trace {
            label: label.label.clone().into(),
            colour: i + 1,
            mark: Mark::Line,
            points: points(label),
        });
    plane(
        "percentiles",
        axis("jtl-axis-percent", Unit::Ratio),
        axis("jtl-axis-time", Unit::Seconds),
        std::iter::once(total).chain(each).collect(),
    )
}

/// Each step of the course: requests per second, and the median and 95th percentile meanwhile.
fn by_rate(requests: &Requests) -> Option<Plane> {
    let seconds = requests.timeline.width_ms() as f64 / 1e3;
    let points = |percent: f64| -> Vec<(f64, f64)> {
        let steps = requests.timeline.steps();
        let points = steps.filter_map(|(_, m)| {
            Some((
                m.ended as f64 / seconds,
                m.percentile_ms(percent)? as f64 / 1e3,
            ))
        });
        points.take(MOST_POINTS).collect()
    };
    let trace = |label: &str, colour, percent| Trace {
        label: label.into(),
        colour,
        mark: Mark::Dot,
        points: points(percent),
    };
    let mut traces = vec![trace("p95", 1, 95.0), trace("p50", 0, 50.0)];
    let steps = requests.timeline.steps();
    let first_byte = steps.filter_map(|(_, m)| {
        let latency_s = m.latency_ms.value()? / 1e3;
        Some((m.ended as f64 / seconds, latency_s))
    });
    traces.push(Trace {
        label: Text::new("jtl-line-first-byte").into(),
        colour: 2,
        mark: Mark::Dot,
        points: first_byte.take(MOST_POINTS).collect(),
    });
    traces.retain(|trace| !trace.points.is_empty());
    (traces.first().is_some_and(|trace| trace.points.len() > 2)).then(|| {
        plane(
            "rate",
            axis("jtl-axis-rate", Unit::PerSecond),
            axis("jtl-axis-time", Unit::Seconds),
            traces,
        )
    })
}

fn by_users(requests: &Requests) -> Option<Plane> {
    let each = &requests.by_threads;
    if each.len() < 2 {
        return None;
    }
    let every = each.len().div_ceil(MOST_POINTS);
    let points = each.chunks(every).map(|chunk| {
        let (n, sum) = chunk
            .iter()
            .fold((0, 0), |(n, sum), (_, at)| (n + at.n, sum + at.sum_ms));
        (f64::from(chunk[0].0), sum as f64 / n.max(1) as f64 / 1e3)
    });
    let trace = Trace {
        label: Text::new("jtl-mean").into(),
        colour: 2,
        mark: Mark::Line,
        points: points.collect(),
    };
    Some(plane(
        "users",
        axis("jtl-axis-users", Unit::One),
        axis("jtl-axis-mean", Unit::Seconds),
        vec![trace],
    ))
}
