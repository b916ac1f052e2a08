//! `histograms.parquet`: one row per distribution and interval.
//!
//! The percentile columns are for people and other tools; sokudo itself reads `hdr_v2`, from
//! which distributions can be merged exactly.

use std::path::Path;

use parquet::data_type::ByteArray;
use sokudo_model::{HistogramInterval, Unit, metric};
use sokudo_stats::Histogram;

use super::{Column, KeyColumns, Layout, TableReader, TableWriter, key_bytes, keys};
use crate::StoreError;
use crate::disk::Disk;

/// Rows of one row group, at most.
const ROW_GROUP_ROWS: usize = 1 << 10;
/// Encoded histograms of one row group, bytes, at most (and one more histogram).
const ROW_GROUP_BYTES: usize = 1 << 20;

const LAYOUT: Layout = Layout {
    schema: "message histograms {
        REQUIRED INT64 t0_ns;
        REQUIRED INT64 t1_ns;
        REQUIRED BYTE_ARRAY host (STRING);
        REQUIRED BYTE_ARRAY source (STRING);
        REQUIRED BYTE_ARRAY metric (STRING);
        REQUIRED BYTE_ARRAY labels (STRING);
        OPTIONAL INT64 n;
        OPTIONAL DOUBLE p50;
        OPTIONAL DOUBLE p90;
        OPTIONAL DOUBLE p99;
        OPTIONAL DOUBLE p999;
        OPTIONAL DOUBLE p9999;
        OPTIONAL DOUBLE max;
        REQUIRED BYTE_ARRAY hdr_v2;
    }",
    delta: &["t0_ns", "t1_ns"],
    plain: &["p50", "p90", "p99", "p999", "p9999", "max", "hdr_v2"],
};

/// A distribution in the numbers that tables show, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentiles {
    /// Values recorded.
    pub n: u64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// 99.99th percentile.
    pub p9999: f64,
    /// Largest.
    pub max: f64,
}

/// Percentiles of one interval; `None` when the encoding cannot be read or nothing was recorded.
pub fn percentiles(interval: &HistogramInterval) -> Option<Percentiles> {
    let histogram = Histogram::from_v2(&interval.hdr_v2).ok()?;
    if histogram.is_empty() {
        return None;
    }
    let scale = match metric::unit_of(&interval.key.metric) {
        Unit::Seconds => 1e-9,
        _ => 1.0,
    };
    let summary = histogram.summary(scale);
    Some(Percentiles {
        n: summary.n,
        p50: summary.p50,
        p90: summary.p90,
        p99: summary.p99,
        p999: summary.p999,
        p9999: histogram.quantile(0.9999) as f64 * scale,
        max: summary.max,
    })
}

/// Collects distributions into row groups, each ordered by key and time.
pub(crate) struct HistogramWriter {
    table: TableWriter,
    pending: Vec<HistogramInterval>,
    bytes: usize,
}

impl HistogramWriter {
    pub fn create(disk: &Disk, path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            table: TableWriter::create(disk, path, &LAYOUT)?,
            pending: Vec::new(),
            bytes: 0,
        })
    }

    pub fn push(&mut self, interval: HistogramInterval) -> Result<(), StoreError> {
        self.bytes += interval.hdr_v2.len();
        self.pending.push(interval);
        if self.pending.len() >= ROW_GROUP_ROWS || self.bytes >= ROW_GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.table.finish()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.pending);
        self.bytes = 0;
        sort(&mut rows);
        let t0_ns: Vec<i64> = rows.iter().map(|h| h.t0_ns).collect();
        let t1_ns: Vec<i64> = rows.iter().map(|h| h.t1_ns).collect();
        let keys: Vec<KeyColumns> = rows.iter().map(|h| KeyColumns::of(&h.key)).collect();
        let numbers: Vec<Option<Percentiles>> = rows.iter().map(percentiles).collect();
        let n: Vec<Option<i64>> = numbers
            .iter()
            .map(|p| p.and_then(|p| i64::try_from(p.n).ok()))
            .collect();
        let number = |of: fn(Percentiles) -> f64| -> Vec<Option<f64>> {
            numbers.iter().map(|p| p.map(of)).collect()
        };
        let name = |of: fn(&KeyColumns) -> &ByteArray| -> Vec<ByteArray> {
            keys.iter().map(|k| of(k).clone()).collect()
        };
        let encoded: Vec<ByteArray> = rows.into_iter().map(|h| h.hdr_v2.into()).collect();
        self.table.row_group(&[
            Column::Int(&t0_ns),
            Column::Int(&t1_ns),
            Column::Bytes(&name(|k| &k.host)),
            Column::Bytes(&name(|k| &k.source)),
            Column::Bytes(&name(|k| &k.metric)),
            Column::Bytes(&name(|k| &k.labels)),
            Column::MaybeInt(&n),
            Column::MaybeDouble(&number(|p| p.p50)),
            Column::MaybeDouble(&number(|p| p.p90)),
            Column::MaybeDouble(&number(|p| p.p99)),
            Column::MaybeDouble(&number(|p| p.p999)),
            Column::MaybeDouble(&number(|p| p.p9999)),
            Column::MaybeDouble(&number(|p| p.max)),
            Column::Bytes(&encoded),
        ])
    }
}

fn sort(rows: &mut [HistogramInterval]) {
    rows.sort_by(|a, b| (&a.key, a.t0_ns, a.t1_ns).cmp(&(&b.key, b.t0_ns, b.t1_ns)));
}

/// Reads all distributions, ordered by key and time.
pub(crate) fn read(path: &Path) -> Result<Vec<HistogramInterval>, StoreError> {
    let table = TableReader::open(path)?;
    let mut all = Vec::new();
    for group in 0..table.row_groups() {
        let t0_ns = table.ints(group, "t0_ns")?;
        let t1_ns = table.ints(group, "t1_ns")?;
        let encoded = table.bytes(group, "hdr_v2")?;
        let (keys, rows) = keys(&table, group)?;
        let sizes: Vec<usize> = keys.iter().map(key_bytes).collect();
        for (((t0_ns, t1_ns), hdr_v2), key) in t0_ns.into_iter().zip(t1_ns).zip(encoded).zip(rows) {
            table.spend(size_of::<HistogramInterval>() + sizes[key] + hdr_v2.len())?;
            all.push(HistogramInterval {
                key: keys[key].clone(),
                t0_ns,
                t1_ns,
                hdr_v2: hdr_v2.data().to_vec(),
            });
        }
    }
    sort(&mut all);
    Ok(all)
}
