//! `events.parquet`: one row per event.
//!
//! `message` and `args` (JSON text) are the sentence people read, in no language yet.

use std::path::Path;

use parquet::data_type::ByteArray;
use sokudo_model::{Event, Text};

use super::{Column, Layout, TableReader, TableWriter, text};
use crate::StoreError;
use crate::disk::Disk;
use crate::manifest::finite_text;

/// Rows of one row group, at most.
const ROW_GROUP_ROWS: usize = 64 << 10;

const LAYOUT: Layout = Layout {
    schema: "message events {
        REQUIRED INT64 t_ns;
        REQUIRED BYTE_ARRAY host (STRING);
        REQUIRED BYTE_ARRAY source (STRING);
        REQUIRED BYTE_ARRAY kind (STRING);
        REQUIRED BYTE_ARRAY message (STRING);
        REQUIRED BYTE_ARRAY args (STRING);
    }",
    delta: &["t_ns"],
    plain: &[],
};

/// Collects events into row groups, each ordered by time.
pub(crate) struct EventWriter {
    table: TableWriter,
    pending: Vec<Event>,
}

impl EventWriter {
    pub fn create(disk: &Disk, path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            table: TableWriter::create(disk, path, &LAYOUT)?,
            pending: Vec::new(),
        })
    }

    pub fn push(&mut self, mut event: Event) -> Result<(), StoreError> {
        finite_text(&mut event.says);
        self.pending.push(event);
        if self.pending.len() >= ROW_GROUP_ROWS {
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
        rows.sort_by_key(|e| e.t_ns);
        let t_ns: Vec<i64> = rows.iter().map(|e| e.t_ns).collect();
        let words = |of: fn(&Event) -> &str| -> Vec<ByteArray> {
            rows.iter().map(|e| text(of(e))).collect()
        };
        let args: Vec<ByteArray> = rows.iter().map(|e| text(&args_json(&e.says))).collect();
        self.table.row_group(&[
            Column::Int(&t_ns),
            Column::Bytes(&words(|e| &e.host)),
            Column::Bytes(&words(|e| &e.source)),
            Column::Bytes(&words(|e| &e.kind)),
            Column::Bytes(&words(|e| &e.says.key)),
            Column::Bytes(&args),
        ])
    }
}

fn args_json(says: &Text) -> String {
    // Words, finite numbers and texts in a map keyed by text always have a JSON form.
    serde_json::to_string(&says.args).unwrap_or_else(|_| "{}".into())
}

/// Reads all events, ordered by time.
pub(crate) fn read(path: &Path) -> Result<Vec<Event>, StoreError> {
    let table = TableReader::open(path)?;
    let mut all = Vec::new();
    for group in 0..table.row_groups() {
        let t_ns = table.ints(group, "t_ns")?;
        let column = |name| table.bytes(group, name);
        let (hosts, sources) = (column("host")?, column("source")?);
        let (kinds, messages) = (column("kind")?, column("message")?);
        let args = column("args")?;
        for (row, t_ns) in t_ns.into_iter().enumerate() {
            let texts = [&hosts, &sources, &kinds, &messages, &args];
            let text: usize = texts.iter().map(|column| column[row].len()).sum();
            // Arguments become a map of small texts.
            table.spend(size_of::<Event>() + text + 16 * args[row].len())?;
            let word = |column: &[ByteArray]| table.text(&column[row]).map(String::from);
            all.push(Event {
                t_ns,
                host: word(&hosts)?,
                source: word(&sources)?,
                kind: word(&kinds)?,
                says: Text {
                    key: word(&messages)?,
                    args: serde_json::from_slice(args[row].data())
                        .map_err(|e| table.corrupt(format!("args of a row: {e}")))?,
                },
            });
        }
    }
    all.sort_by_key(|e| e.t_ns);
    Ok(all)
}
