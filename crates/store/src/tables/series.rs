//! `series.parquet`: one row per point.

use std::collections::BTreeMap;
use std::path::Path;

use sokudo_model::{Series, SeriesKey, metric};

use super::{Column, KeyColumns, Layout, TableReader, TableWriter, keys, text};
use crate::StoreError;
use crate::disk::Disk;

/// Points of one row group: what is held in memory at a time, 16 bytes each.
const ROW_GROUP_POINTS: usize = 16 << 10;

const LAYOUT: Layout = Layout {
    schema: "message series {
        REQUIRED INT64 t_ns;
        REQUIRED BYTE_ARRAY host (STRING);
        REQUIRED BYTE_ARRAY source (STRING);
        REQUIRED BYTE_ARRAY metric (STRING);
        REQUIRED BYTE_ARRAY unit (STRING);
        REQUIRED BYTE_ARRAY labels (STRING);
        REQUIRED DOUBLE value;
    }",
    delta: &["t_ns"],
    plain: &[],
};

/// Collects points into row groups, each ordered by series and time.
pub(crate) struct SeriesWriter {
    table: TableWriter,
    pending: BTreeMap<SeriesKey, Vec<(i64, f64)>>,
    points: usize,
}

impl SeriesWriter {
    pub fn create(disk: &Disk, path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            table: TableWriter::create(disk, path, &LAYOUT)?,
            pending: BTreeMap::new(),
            points: 0,
        })
    }

    pub fn push(&mut self, series: Series) -> Result<(), StoreError> {
        self.points += series.points.len();
        self.pending
            .entry(series.key)
            .or_default()
            .extend(series.points);
        if self.points >= ROW_GROUP_POINTS {
            self.flush()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.table.finish()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.points == 0 {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        let n_points = std::mem::take(&mut self.points);
        pending
            .values_mut()
            .for_each(|p| p.sort_by_key(|(t, _)| *t));
        let points = || pending.values().flatten();
        let t_ns: Vec<i64> = points().map(|(t, _)| *t).collect();
        let values: Vec<f64> = points().map(|(_, v)| *v).collect();
        let columns: Vec<_> = pending
            .iter()
            .map(|(key, points)| {
                (
                    KeyColumns::of(key),
                    metric::unit_of(&key.metric),
                    points.len(),
                )
            })
            .collect();
        let repeated = |of: &dyn Fn(&KeyColumns) -> parquet::data_type::ByteArray| {
            let mut all = Vec::with_capacity(n_points);
            for (key, _, n) in &columns {
                all.extend(std::iter::repeat_n(of(key), *n));
            }
            all
        };
        let units: Vec<_> = columns
            .iter()
            .flat_map(|(_, unit, n)| std::iter::repeat_n(text(unit.name()), *n))
            .collect();
        self.table.row_group(&[
            Column::Int(&t_ns),
            Column::Bytes(&repeated(&|k| k.host.clone())),
            Column::Bytes(&repeated(&|k| k.source.clone())),
            Column::Bytes(&repeated(&|k| k.metric.clone())),
            Column::Bytes(&units),
            Column::Bytes(&repeated(&|k| k.labels.clone())),
            Column::Double(&values),
        ])
    }
}

/// Reads all series, ordered by key, points ascending in time.
pub(crate) fn read(path: &Path) -> Result<Vec<Series>, StoreError> {
    let table = TableReader::open(path)?;
    let mut all: BTreeMap<SeriesKey, Vec<(i64, f64)>> = BTreeMap::new();
    for group in 0..table.row_groups() {
        let t_ns = table.ints(group, "t_ns")?;
        let values = table.doubles(group, "value")?;
        table.spend(values.len() * size_of::<(i64, f64)>())?;
        let (keys, rows) = keys(&table, group)?;
        let mut points = vec![Vec::new(); keys.len()];
        for ((t, value), key) in t_ns.into_iter().zip(values).zip(rows) {
            points[key].push((t, value));
        }
        for (key, points) in keys.into_iter().zip(points) {
            all.entry(key).or_default().extend(points);
        }
    }
    let series = all.into_iter().map(|(key, mut points)| {
        points.sort_by_key(|(t, _)| *t);
        Series { key, points }
    });
    Ok(series.collect())
}
