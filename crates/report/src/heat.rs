//! Heat maps: a distribution over time.
//!
//! Interval histograms are merged per column of the map, never averaged; percentiles of a column
//! come from its merged histogram. Rows are equal steps of the logarithm, so that a tail of
//! milliseconds and a body of microseconds are both visible.

use std::collections::BTreeMap;

use sokudo_model::{HistogramInterval, Record, Text, Unit, metric};
use sokudo_stats::Histogram;

use crate::block::Phrase;
use crate::chart::{Chart, ChartKind, Heat, Line, MAX_COLUMNS, Points};

/// Rows of a heat map at most.
const MAX_ROWS: usize = 48;
/// Percentiles drawn above the cells: share, name.
pub const PERCENTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (1.0, "max")];

/// One column of the map, before rows are known.
pub struct Column {
    /// Values in the chart's unit, above zero, with their counts.
    pub buckets: Vec<(f64, u64)>,
    /// The values at [`PERCENTILES`].
    pub percentiles: [f64; 4],
}

/// A map and its percentile lines from columns by their place, `step_ns` wide and from `t0_ns` on.
/// `None` without columns.
pub fn of_columns(
    columns: &BTreeMap<usize, Column>,
    t0_ns: i64,
    step_ns: i64,
) -> Option<(Heat, Vec<Line>)> {
    let heat = cells(columns, t0_ns, step_ns)?;
    Some((heat, percentile_lines(columns, t0_ns, step_ns)))
}

/// The heat map of one metric over the whole run, all hosts and flows together. `None` without
/// distributions that can be read.
pub fn map(record: &Record, metric_name: &str) -> Option<Chart> {
    let intervals: Vec<&HistogramInterval> = record
        .histograms
        .iter()
        .filter(|h| h.key.metric == metric_name && h.t1_ns > h.t0_ns)
        .collect();
    let t0 = intervals.iter().map(|h| h.t0_ns).min()?;
    let t1 = intervals.iter().map(|h| h.t1_ns).max()?;
    let unit = metric::unit_of(metric_name);
    let scale = if unit == Unit::Seconds { 1e-9 } else { 1.0 };
    let step = column_width(&intervals, t1 - t0);
    let columns = merge(&intervals, t0, step, scale);
    let (heat, lines) = of_columns(&columns, t0, step)?;
    let note = match crate::names::metric_help(metric_name) {
        Phrase::Text(help) => Text::new("report-distributions-heat-note").text("help", help),
        Phrase::Word(help) | Phrase::Both([help, _]) => {
            Text::new("report-distributions-heat-note").word("help", help)
        }
    };
    Some(Chart {
        id: metric_name.replace(['.', '_'], "-"),
        title: Text::new("report-distributions-heat")
            .text("metric", crate::names::metric_text(metric_name))
            .into(),
        note: Some(note.into()),
        kind: ChartKind::Heat(heat),
        unit,
        log_switch: true,
        lines,
    })
}

/// At least the usual length of an interval, and wide enough for [`MAX_COLUMNS`].
fn column_width(intervals: &[&HistogramInterval], length: i64) -> i64 {
    let mut lengths: Vec<i64> = intervals.iter().map(|h| h.t1_ns - h.t0_ns).collect();
    let middle = lengths.len() / 2;
    let usual = *lengths.select_nth_unstable(middle).1;
    usual.max(length / MAX_COLUMNS as i64).max(1)
}

fn merge(
    intervals: &[&HistogramInterval],
    t0: i64,
    step: i64,
    scale: f64,
) -> BTreeMap<usize, Column> {
    let mut groups: BTreeMap<usize, Vec<&HistogramInterval>> = BTreeMap::new();
    for interval in intervals {
        let middle = interval.t0_ns + (interval.t1_ns - interval.t0_ns) / 2;
        let column = ((middle - t0) / step) as usize;
        groups
            .entry(column.min(MAX_COLUMNS))
            .or_default()
            .push(interval);
    }
    let mut merged = Histogram::new();
    let mut out = BTreeMap::new();
    for (column, group) in groups {
        merged.clear();
        for bytes in group.iter().map(|h| &h.hdr_v2) {
            // Damaged bytes become a gap; the store reports them when it loads the record.
            if let Ok(histogram) = Histogram::from_v2(bytes) {
                merged.merge(&histogram);
            }
        }
        if !merged.is_empty() {
            out.insert(column, summarize(&merged, scale));
        }
    }
    out
}

fn summarize(histogram: &Histogram, scale: f64) -> Column {
    // Zero has no logarithm: it is shown in the lowest row, as the smallest distinct value.
    let value = |low: u64, high: u64| (low.max(1) as f64 * high.max(1) as f64).sqrt() * scale;
    Column {
        buckets: histogram
            .buckets()
            .map(|b| (value(b.low, b.high), b.count))
            .collect(),
        percentiles: PERCENTILES.map(|(q, _)| histogram.quantile(q).max(1) as f64 * scale),
    }
}

fn cells(columns: &BTreeMap<usize, Column>, t0_ns: i64, step_ns: i64) -> Option<Heat> {
    let values = || columns.values().flat_map(|c| &c.buckets).map(|b| b.0);
    let low = one_digit_below(values().reduce(f64::min)? * 0.95);
    let high = values().reduce(f64::max)? * 1.05;
    // A row is at least a tenth of an octave high, so that one single value is not a wall of rows.
    let factor = (high / low).powf(1.0 / MAX_ROWS as f64).max(1.072);
    let rows = (((high / low).ln() / factor.ln()).ceil() as usize).clamp(1, MAX_ROWS);
    let last = *columns.keys().last()?;
    let packed = (0..=last)
        .map(|i| {
            columns
                .get(&i)
                .map_or((0, Vec::new()), |c| pack(c, low, factor, rows))
        })
        .collect();
    Some(Heat {
        t0_ns,
        step_ns,
        low,
        factor,
        rows,
        columns: packed,
    })
}

/// The next lower number of one significant digit. An axis that begins at 0.95 of a power of ten
/// makes the plotting library count without end.
fn one_digit_below(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    (value / unit).floor().max(1.0) * unit
}

fn pack(column: &Column, low: f64, factor: f64, rows: usize) -> (usize, Vec<u64>) {
    let mut counts = vec![0_u64; rows];
    for (value, count) in &column.buckets {
        let row = ((value / low).ln() / factor.ln()).max(0.0) as usize;
        counts[row.min(rows - 1)] += count;
    }
    let first = counts.iter().position(|c| *c > 0).unwrap_or(0);
    let last = counts.iter().rposition(|c| *c > 0).unwrap_or(0);
    (first, counts[first..=last].to_vec())
}

fn percentile_lines(columns: &BTreeMap<usize, Column>, t0: i64, step: i64) -> Vec<Line> {
    let last = columns.keys().last().copied().unwrap_or(0);
    PERCENTILES
        .iter()
        .enumerate()
        .map(|(i, (_, name))| Line {
            label: Phrase::from(*name),
            colour: [0, 1, 3, 5][i],
            dashed: false,
            points: (0..=last)
                .map(|c| {
                    let t = t0 + step * c as i64 + step / 2;
                    (t, columns.get(&c).map(|column| column.percentiles[i]))
                })
                .collect::<Points>(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use sokudo_model::SeriesKey;

    use super::*;

    fn interval(t0_ns: i64, values: &[u64]) -> HistogramInterval {
        let mut histogram = Histogram::new();
        values.iter().for_each(|v| histogram.record(*v));
        HistogramInterval {
            key: SeriesKey {
                host: "a".into(),
                source: "datagram".into(),
                metric: "datagram.ack_rtt_seconds".into(),
                labels: Default::default(),
            },
            t0_ns,
            t1_ns: t0_ns + 10,
            hdr_v2: histogram.to_v2(),
        }
    }

    #[test]
    fn flows_are_merged_and_pauses_stay_empty() {
        let intervals = [
            interval(0, &[1_000, 2_000]),
            interval(0, &[1_000_000]),
            interval(30, &[1_000]),
        ];
        let refs: Vec<&HistogramInterval> = intervals.iter().collect();
        let columns = merge(&refs, 0, 10, 1e-9);
        assert_eq!(columns.keys().copied().collect::<Vec<_>>(), [0, 3]);
        let heat = cells(&columns, 0, 10).unwrap();
        assert_eq!(heat.columns.len(), 4);
        assert_eq!(heat.columns[0].1.iter().sum::<u64>(), 3);
        assert!(heat.columns[1].1.is_empty());
        let lines = percentile_lines(&columns, 0, 10);
        assert!((lines[3].points[0].1.unwrap() / 1e-3 - 1.0).abs() < 0.01);
        assert_eq!(lines[0].points[1].1, None);
    }

    #[test]
    fn an_axis_begins_at_a_number_of_one_digit() {
        for (value, low) in [
            (0.00095, 0.0009),
            (0.00052, 0.0005),
            (9.5e-7, 9e-7),
            (1.0, 1.0),
        ] {
            assert!((one_digit_below(value) / low - 1.0).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn damaged_bytes_give_no_map_and_no_panic() {
        let mut broken = interval(0, &[5]);
        broken.hdr_v2.truncate(20);
        let columns = merge(&[&broken], 0, 10, 1.0);
        assert!(cells(&columns, 0, 10).is_none());
    }
}
