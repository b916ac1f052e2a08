//! Writes rows to Parquet files and reads them back, in bounded memory.
//!
//! Each kind of row has its own file here: `series`, `histograms`, `events`. Rows are collected
//! up to a row group, sorted where that makes the file smaller, and written column by column.
//! Readers find columns by name, so that their order and additional ones do not matter. What a file
//! unpacks to is bounded by its own size: see [`TableReader::spend`].

pub(crate) mod events;
pub(crate) mod histograms;
mod pages;
pub(crate) mod series;

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use sokudo_model::{Labels, SeriesKey};

use crate::StoreError;
use crate::disk::{self, Disk, DiskFile};

/// Values asked from a column at a time: bounds what a wrong row count can make us reserve.
const READ_BATCH: usize = 64 << 10;
/// Largest row group that is read: that of common tools, well above what is written here. A few
/// bytes can claim any number of equal rows.
const ROW_GROUP_ROWS_MAX: usize = 1 << 20;
/// Memory that any table may take …
const MEMORY_BASE: u64 = 256 << 20;
/// … and beyond it for each of its bytes: equal values pack well.
const MEMORY_PER_BYTE: u64 = 128;
/// So often what its rows may take is unpacked in all, rows that are not kept included.
const UNPACKED_TIMES: u64 = 4;

/// Values of one column of a row group.
pub(crate) enum Column<'a> {
    /// `REQUIRED INT64`.
    Int(&'a [i64]),
    /// `REQUIRED DOUBLE`.
    Double(&'a [f64]),
    /// `OPTIONAL INT64`.
    MaybeInt(&'a [Option<i64>]),
    /// `OPTIONAL DOUBLE`.
    MaybeDouble(&'a [Option<f64>]),
    /// `REQUIRED BYTE_ARRAY`, text or not.
    Bytes(&'a [ByteArray]),
}

/// Names and encodings of a table's columns.
pub(crate) struct Layout {
    /// Parquet's message type, as text.
    pub schema: &'static str,
    /// Time columns: packed as differences.
    pub delta: &'static [&'static str],
    /// Columns whose values hardly ever repeat: no dictionary.
    pub plain: &'static [&'static str],
}

/// Writes one table; it has its final name only after [`TableWriter::finish`].
pub(crate) struct TableWriter {
    inner: SerializedFileWriter<DiskFile>,
    disk: Disk,
    path: PathBuf,
    temporary: PathBuf,
}

impl TableWriter {
    /// Begins the file.
    pub fn create(disk: &Disk, path: &Path, layout: &Layout) -> Result<Self, StoreError> {
        let temporary = disk::temporary(path);
        let file = disk.create(&temporary)?;
        let inner = parse_message_type(layout.schema)
            .and_then(|schema| {
                let properties = Arc::new(properties(layout)?);
                SerializedFileWriter::new(file, Arc::new(schema), properties)
            })
            .map_err(|e| write_error(path, e))?;
        Ok(Self {
            inner,
            disk: disk.clone(),
            path: path.to_path_buf(),
            temporary,
        })
    }

    /// Writes one row group; all columns, in the schema's order, of equal length.
    pub fn row_group(&mut self, columns: &[Column]) -> Result<(), StoreError> {
        put_row_group(&mut self.inner, columns).map_err(|e| write_error(&self.path, e))
    }

    /// Completes the file, waits until it is on the disk, and gives it its name.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.inner
            .finish()
            .map_err(|e| write_error(&self.path, e))?;
        self.inner.inner_mut().sync()?;
        drop(self.inner);
        self.disk.publish(&self.temporary, &self.path)
    }
}

fn properties(layout: &Layout) -> Result<WriterProperties, ParquetError> {
    /// zstd's own default: higher levels gain little on columns packed this way.
    const ZSTD_LEVEL: i32 = 3;
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_created_by(concat!("sokudo ", env!("CARGO_PKG_VERSION")).into())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for column in layout.delta {
        let path = ColumnPath::from(*column);
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    for column in layout.plain {
        let path = ColumnPath::from(*column);
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    Ok(builder.build())
}

fn put_row_group(
    writer: &mut SerializedFileWriter<DiskFile>,
    columns: &[Column],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut out = group
            .next_column()?
            .ok_or_else(|| ParquetError::General("more columns than the schema has".into()))?;
        put_column(out.untyped(), column)?;
        out.close()?;
    }
    group.close()?;
    Ok(())
}

fn put_column(out: &mut ColumnWriter, column: &Column) -> Result<(), ParquetError> {
    match (out, column) {
        (ColumnWriter::Int64ColumnWriter(out), Column::Int(values)) => {
            out.write_batch(values, None, None)?
        }
        (ColumnWriter::DoubleColumnWriter(out), Column::Double(values)) => {
            out.write_batch(values, None, None)?
        }
        (ColumnWriter::ByteArrayColumnWriter(out), Column::Bytes(values)) => {
            out.write_batch(values, None, None)?
        }
        (ColumnWriter::Int64ColumnWriter(out), Column::MaybeInt(values)) => {
            let (present, levels) = split(values);
            out.write_batch(&present, Some(&levels), None)?
        }
        (ColumnWriter::DoubleColumnWriter(out), Column::MaybeDouble(values)) => {
            let (present, levels) = split(values);
            out.write_batch(&present, Some(&levels), None)?
        }
        _ => {
            return Err(ParquetError::General(
                "a column's values are not of the schema's type".into(),
            ));
        }
    };
    Ok(())
}

/// The values that are there, and for each row 1 when it has one.
fn split<T: Copy>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let present = values.iter().flatten().copied().collect();
    let levels = values.iter().map(|v| i16::from(v.is_some())).collect();
    (present, levels)
}

/// Finds the system's answer inside Parquet's error, so that a full disk is called so.
fn write_error(path: &Path, error: ParquetError) -> StoreError {
    let source = match error {
        ParquetError::External(inner) => inner
            .downcast::<std::io::Error>()
            .map_or_else(std::io::Error::other, |e| *e),
        other => std::io::Error::other(other),
    };
    StoreError::io("write", path, source)
}

/// Runs the reading of one table, and turns a panic of the Parquet library into an error.
///
/// The library asserts some facts about offsets and sizes that a made-up file can violate. Hashes
/// keep accidents away from it; this keeps a forged file from ending the program.
pub(crate) fn guarded<T>(
    path: &Path,
    read: impl FnOnce(&Path) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    // Nothing outlives the closure but its result, so nothing half-changed can be seen.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(path)))
        .unwrap_or_else(|_| Err(StoreError::corrupt(path, "it contradicts itself")))
}

/// Reads one table.
pub(crate) struct TableReader {
    reader: SerializedFileReader<File>,
    file: File,
    path: PathBuf,
    /// Memory that may still be taken, bytes.
    left: Cell<u64>,
    /// Bytes that pages may still unpack to.
    unpacked_left: Cell<u64>,
    /// Bytes of the file that columns may still claim: each is read once.
    packed_left: Cell<u64>,
}

impl TableReader {
    /// Opens the file and reads its footer.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = disk::open_plain(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::corrupt(path, "it is missing"),
            _ => StoreError::io("read", path, e),
        })?;
        let opened = || Ok((file.metadata()?.len(), file.try_clone()?));
        let (length, again) = opened().map_err(|e| StoreError::io("read", path, e))?;
        pages::check_schema(&file, length).map_err(|why| StoreError::corrupt(path, why))?;
        let reader = SerializedFileReader::new(file).map_err(|e| StoreError::corrupt(path, e))?;
        let memory = MEMORY_BASE.saturating_add(length.saturating_mul(MEMORY_PER_BYTE));
        Ok(Self {
            reader,
            file: again,
            path: path.to_path_buf(),
            left: Cell::new(memory),
            unpacked_left: Cell::new(memory.saturating_mul(UNPACKED_TIMES)),
            packed_left: Cell::new(length),
        })
    }

    /// Counts memory that rows take for good.
    ///
    /// Errors: all that this file may take is taken.
    pub fn spend(&self, bytes: usize) -> Result<(), StoreError> {
        self.take(&self.left, bytes as u64)
    }

    fn take(&self, from: &Cell<u64>, bytes: u64) -> Result<(), StoreError> {
        let left = from.get().checked_sub(bytes);
        let left = left
            .ok_or_else(|| self.corrupt("it unpacks to far more than a record of its size holds"));
        from.set(left?);
        Ok(())
    }

    /// Number of row groups.
    pub fn row_groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// All values of an `INT64` column of one row group.
    pub fn ints(&self, group: usize, name: &str) -> Result<Vec<i64>, StoreError> {
        match self.column(group, name)? {
            (ColumnReader::Int64ColumnReader(reader), rows) => self.values(reader, rows, name),
            _ => Err(self.corrupt(format!("column `{name}` holds no 64-bit integers"))),
        }
    }

    /// All values of a `DOUBLE` column of one row group.
    pub fn doubles(&self, group: usize, name: &str) -> Result<Vec<f64>, StoreError> {
        match self.column(group, name)? {
            (ColumnReader::DoubleColumnReader(reader), rows) => self.values(reader, rows, name),
            _ => Err(self.corrupt(format!("column `{name}` holds no doubles"))),
        }
    }

    /// All values of a `BYTE_ARRAY` column of one row group.
    pub fn bytes(&self, group: usize, name: &str) -> Result<Vec<ByteArray>, StoreError> {
        match self.column(group, name)? {
            (ColumnReader::ByteArrayColumnReader(reader), rows) => self.values(reader, rows, name),
            _ => Err(self.corrupt(format!("column `{name}` holds no text"))),
        }
    }

    /// Says that this file does not hold what it should.
    pub fn corrupt(&self, what: impl ToString) -> StoreError {
        StoreError::corrupt(&self.path, what)
    }

    /// Text out of a `BYTE_ARRAY`.
    pub fn text<'a>(&self, value: &'a ByteArray) -> Result<&'a str, StoreError> {
        value.as_utf8().map_err(|e| self.corrupt(e))
    }

    fn column(&self, group: usize, name: &str) -> Result<(ColumnReader, usize), StoreError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let index = schema
            .columns()
            .iter()
            .position(|c| c.path().string() == name)
            .ok_or_else(|| self.corrupt(format!("it has no column `{name}`")))?;
        let column = schema.column(index);
        if column.max_def_level() != 0 || column.max_rep_level() != 0 {
            return Err(self.corrupt(format!("column `{name}` may be empty or repeated")));
        }
        let metadata = self.reader.metadata().row_group(group);
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
        if rows > ROW_GROUP_ROWS_MAX {
            return Err(self.corrupt(format!(
                "a row group of {rows} rows is larger than the {ROW_GROUP_ROWS_MAX} that are read"
            )));
        }
        let (start, length) = metadata.column(index).byte_range();
        self.take(&self.packed_left, length)?;
        let unpacked = pages::unpacked_bytes(&self.file, start, length);
        self.take(
            &self.unpacked_left,
            unpacked.map_err(|why| self.corrupt(why))?,
        )?;
        let group = self.reader.get_row_group(group);
        let column = group.and_then(|group| group.get_column_reader(index));
        Ok((column.map_err(|e| self.corrupt(e))?, rows))
    }

    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        name: &str,
    ) -> Result<Vec<T::T>, StoreError> {
        let mut values = Vec::new();
        while values.len() < rows {
            let wanted = READ_BATCH.min(rows - values.len());
            let before = values.len();
            reader
                .read_records(wanted, None, None, &mut values)
                .map_err(|e| self.corrupt(e))?;
            if values.len() == before {
                return Err(self.corrupt(format!(
                    "column `{name}` ends after {before} of {rows} rows"
                )));
            }
        }
        Ok(values)
    }
}

/// A series key as the four columns that tables spell it in.
#[derive(Clone)]
pub(crate) struct KeyColumns {
    pub host: ByteArray,
    pub source: ByteArray,
    pub metric: ByteArray,
    pub labels: ByteArray,
}

impl KeyColumns {
    pub fn of(key: &SeriesKey) -> Self {
        Self {
            host: text(&key.host),
            source: text(&key.source),
            metric: text(&key.metric),
            labels: text(&labels_json(&key.labels)),
        }
    }
}

/// Text as a Parquet value.
pub(crate) fn text(value: &str) -> ByteArray {
    ByteArray::from(value)
}

/// Labels as JSON text, `{}` when there are none.
pub(crate) fn labels_json(labels: &Labels) -> String {
    // A map of text to text always has a JSON form.
    serde_json::to_string(labels).unwrap_or_else(|_| "{}".into())
}

/// Memory of a key beside its text, bytes.
const KEY_BYTES: usize = 256;

/// Memory of a key, bytes.
pub(crate) fn key_bytes(key: &SeriesKey) -> usize {
    let labels = key
        .labels
        .iter()
        .map(|(name, value)| name.len() + value.len() + 64);
    KEY_BYTES + key.host.len() + key.source.len() + key.metric.len() + labels.sum::<usize>()
}

/// Turns the four key columns of one row group into one index per row into a list of keys.
///
/// Rows of one series usually stand together, so keys are only compared when a row differs from
/// the one before it.
pub(crate) fn keys(
    table: &TableReader,
    group: usize,
) -> Result<(Vec<SeriesKey>, Vec<usize>), StoreError> {
    let hosts = table.bytes(group, "host")?;
    let sources = table.bytes(group, "source")?;
    let metrics = table.bytes(group, "metric")?;
    let labels = table.bytes(group, "labels")?;
    let mut keys = Vec::new();
    let mut known: HashMap<[&[u8]; 4], usize> = HashMap::new();
    let mut rows = Vec::with_capacity(hosts.len());
    let mut last: Option<([&[u8]; 4], usize)> = None;
    for (((host, source), metric), label) in hosts.iter().zip(&sources).zip(&metrics).zip(&labels) {
        let raw = [host.data(), source.data(), metric.data(), label.data()];
        let index = match last {
            Some((same, index)) if same == raw => index,
            _ => match known.get(&raw) {
                Some(index) => *index,
                None => {
                    table.spend(KEY_BYTES + raw.iter().map(|text| text.len()).sum::<usize>())?;
                    keys.push(SeriesKey {
                        host: table.text(host)?.into(),
                        source: table.text(source)?.into(),
                        metric: table.text(metric)?.into(),
                        labels: serde_json::from_slice(label.data())
                            .map_err(|e| table.corrupt(format!("labels of a row: {e}")))?,
                    });
                    known.insert(raw, keys.len() - 1);
                    keys.len() - 1
                }
            },
        };
        last = Some((raw, index));
        rows.push(index);
    }
    Ok((keys, rows))
}
