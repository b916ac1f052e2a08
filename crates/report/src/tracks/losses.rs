//! Charts of losses over time, and of drops by host.

use std::collections::BTreeMap;

use sokudo_model::kinds::datagram;
use sokudo_model::metrics::host;
use sokudo_model::{Text, Unit};

use super::{MAX_ROWS, strip_line, words};
use crate::chart::{Chart, ChartKind, Line};
use crate::view::View;

/// Loss per receiving host: the worst flow in each stretch of time.
pub(super) fn loss_strip(view: &View) -> Option<Chart> {
    let mut hosts: BTreeMap<(usize, &str), Vec<(i64, f64)>> = BTreeMap::new();
    for series in view.record.series.iter() {
        if series.key.metric == datagram::LOSS_RATIO.name {
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
        kind: ChartKind::Strip {
            log: true,
            full: 1.0,
        },
        unit: Unit::Ratio,
        log_switch: false,
        lines,
    })
}

/// Counters whose growth means that packets were dropped.
pub(super) const DROPS: &[&str] = &[
    host::UDP_RECEIVE_BUFFER_ERRORS.name,
    host::UDP_SEND_BUFFER_ERRORS.name,
    host::SOFTNET_DROPS.name,
    host::NIC_RECEIVE_DROPS.name,
    host::NIC_SEND_DROPS.name,
    host::NIC_ERRORS.name,
    host::UDP_CHECKSUM_ERRORS.name,
    host::IP_REASSEMBLY_FAILURES.name,
];

/// Place in [`DROPS`], host, its colour.
type DropRow<'a> = (usize, &'a str, usize);

/// Drops by place in the hosts: the growth of each counter that grew.
pub(super) fn drops(view: &View) -> Option<Chart> {
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
        kind: ChartKind::Strip { log: true, full },
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

#[cfg(test)]
mod tests {
    use super::*;

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
