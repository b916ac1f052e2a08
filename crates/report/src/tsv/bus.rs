//! A run of the bus as a table: one row per interval, the columns that people know from another
//! message-bus test.

use std::collections::BTreeMap;

use sokudo_model::Record;
use sokudo_model::kinds::bus;

/// Heads of the columns.
const HEADS: [&str; 17] = [
    "messages_in_per_second",
    "bytes_in_per_second",
    "messages_out_per_second",
    "bytes_out_per_second",
    "receipt_ns",
    "response_min_ns",
    "response_mean_ns",
    "response_effective_ns",
    "response_max_ns",
    "backlog_in_ratio",
    "backlog_in_events_per_second",
    "backlog_in_bytes",
    "backlog_out_ratio",
    "backlog_out_events_per_second",
    "backlog_out_bytes",
    "connections",
    "errors",
];

/// Rule that makes one value of those of several flows.
#[derive(Clone, Copy)]
enum Fold {
    Sum,
    Mean,
    Min,
    Max,
}

impl Fold {
    fn of(self, values: &[f64]) -> Option<f64> {
        match self {
            _ if values.is_empty() => None,
            Fold::Sum => Some(values.iter().sum()),
            Fold::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Fold::Min => values.iter().copied().reduce(f64::min),
            Fold::Max => values.iter().copied().reduce(f64::max),
        }
    }
}

/// Columns that are a series; `effective`, connections and errors are computed.
const SERIES: [(usize, &str, Fold, f64); 14] = [
    (0, bus::MESSAGES_PER_SECOND.name, Fold::Sum, 1.0),
    (1, bus::BYTES_PER_SECOND.name, Fold::Sum, 1.0),
    (2, bus::SENT_PER_SECOND.name, Fold::Sum, 1.0),
    (3, bus::SENT_BYTES_PER_SECOND.name, Fold::Sum, 1.0),
    (4, bus::RECEIPT_MEAN_SECONDS.name, Fold::Mean, 1e9),
    (5, bus::RESPONSE_MIN_SECONDS.name, Fold::Min, 1e9),
    (6, bus::RESPONSE_MEAN_SECONDS.name, Fold::Mean, 1e9),
    (8, bus::RESPONSE_MAX_SECONDS.name, Fold::Max, 1e9),
    (9, bus::QUEUE_FULL_RATIO.name, Fold::Mean, 1.0),
    (10, bus::QUEUE_FULL_EVENTS_PER_SECOND.name, Fold::Sum, 1.0),
    (11, bus::QUEUE_BYTES.name, Fold::Sum, 1.0),
    (12, bus::BACKLOG_RATIO.name, Fold::Mean, 1.0),
    (13, bus::BACKLOG_EVENTS_PER_SECOND.name, Fold::Sum, 1.0),
    (14, bus::BACKLOG_BYTES.name, Fold::Sum, 1.0),
];

/// The table: a row per host and interval of the run's samples, which lie `interval_ns` apart. What is not
/// known is empty.
pub fn bus(record: &Record, interval_ns: u64) -> String {
    let interval_ns = i64::try_from(interval_ns).unwrap_or(i64::MAX).max(1);
    let mut rows: BTreeMap<(i64, &str), [Vec<f64>; 17]> = BTreeMap::new();
    for (column, metric, _, scale) in SERIES {
        for series in record.series_of(metric) {
            for (t_ns, value) in &series.points {
                // Threads report a little after each other.
                let row = (t_ns + interval_ns / 2) / interval_ns;
                let row = rows.entry((row, &series.key.host)).or_default();
                row[column].push(value * scale);
            }
        }
    }
    let summary = &record.manifest.summary;
    let total = |name: &str| summary.get(name).copied();
    let mut out = format!("time_seconds\thost\t{}\n", HEADS.join("\t"));
    for ((row, host), values) in rows {
        let mut cells: [Option<f64>; 17] = [None; 17];
        for (column, _, fold, _) in SERIES {
            cells[column] = fold.of(&values[column]);
        }
        cells[7] = effective(cells[6], cells[12]);
        cells[15] = total(bus::CONNECTIONS.name);
        cells[16] = total(bus::ERRORS.name);
        let seconds = (row * interval_ns) as f64 / 1e9;
        let cells = cells.map(|cell| cell.map(|value| value.to_string()).unwrap_or_default());
        out.push_str(&format!("{seconds}\t{host}\t{}\n", cells.join("\t")));
    }
    out
}

/// The mean response time over the share of time in which the sender did not stand still: another
/// tool's repair of latencies that leave that time out.
fn effective(mean_ns: Option<f64>, backlog_ratio: Option<f64>) -> Option<f64> {
    let effective = mean_ns? / (1.0 - backlog_ratio?);
    effective.is_finite().then_some(effective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_still_is_added_back() {
        assert_eq!(effective(Some(58.0), Some(0.75)), Some(232.0));
        assert_eq!(effective(Some(58.0), Some(1.0)), None);
        assert_eq!(effective(None, Some(0.0)), None);
    }

    #[test]
    fn every_series_has_a_column_of_its_own() {
        let mut columns: Vec<usize> = SERIES.iter().map(|(column, ..)| *column).collect();
        columns.dedup();
        assert_eq!(columns.len(), SERIES.len());
        for (_, metric, ..) in SERIES {
            assert!(sokudo_model::metric::find(metric).is_some(), "{metric}");
        }
    }
}
