//! Merging of the rows of several generators into one file.
//!
//! ```text
//! host a ── rows ──►┐
//! host b ── rows ──►┤ held back, by when each request ended ─► one file, in order of time
//! host c ── rows ──►┘
//! ```
//!
//! Rows come in batches, at least once a second. A row is written once every later one that may
//! still be under way ended after it, as far as the wait is bounded: [`HOLD_NS`] and [`MOST_HELD`].

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use sokudo_model::{Refusal, Rows};

use super::options::JmxOptions;
use super::rows::RowLog;

/// Rows are held back until others are so much younger: two intervals of the generators' reports,
/// and the way.
const HOLD_NS: i64 = 3_000_000_000;
/// Most bytes of rows that are held back.
const MOST_HELD: usize = 64 << 20;
/// Rows are handed to the disk so many bytes at a time.
const BATCH_BYTES: usize = 256 << 10;

/// A file of results that several generators fill.
pub struct Gather {
    log: RowLog,
    sender: SyncSender<Rows>,
    held: Held,
    /// Rows of each host so far, those that were lost on the way included.
    came: HashMap<String, u64>,
    lost: u64,
}

/// Result of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Rows in the file.
    pub rows: u64,
    /// Rows that were lost on the way or found the disk too slow.
    pub lost: u64,
    /// Reason why rows could not be written.
    pub error: Option<String>,
}

impl Gather {
    /// Opens the file of the options; `None` when they name none. Errors: it cannot be written.
    pub fn open(options: &JmxOptions, path: &Path) -> Result<Self, Refusal> {
        let format = Arc::new(options.row_format(""));
        let (log, sender) = RowLog::open(path, &format)?;
        Ok(Self {
            log,
            sender,
            held: Held::default(),
            came: HashMap::new(),
            lost: 0,
        })
    }

    /// Takes rows of a host. Never waits for the disk.
    pub fn take(&mut self, host: &str, rows: &Rows) {
        let came = match self.came.get_mut(host) {
            Some(came) => came,
            None => self.came.entry(host.to_owned()).or_default(),
        };
        self.lost += rows.before.saturating_sub(*came);
        *came = rows.before.saturating_add(rows.len() as u64);
        rows.each()
            .for_each(|(end_ns, row)| self.held.push(end_ns, row));
        self.write(HOLD_NS);
    }

    /// Writes what is older than the youngest row by so much.
    fn write(&mut self, behind_ns: i64) {
        let mut batch = Rows::default();
        while let Some((end_ns, row)) = self.held.pop(behind_ns) {
            batch.push(end_ns, &row);
            if batch.text.len() >= BATCH_BYTES {
                self.hand_over(std::mem::take(&mut batch));
            }
        }
        self.hand_over(batch);
    }

    fn hand_over(&mut self, batch: Rows) {
        if batch.is_empty() {
            return;
        }
        match self.sender.try_send(batch) {
            Ok(()) => {}
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                self.lost += batch.len() as u64;
            }
        }
    }

    /// Writes what is still held back, and closes the file. `sent`: rows that each host says to have
    /// handed over.
    pub fn finish(mut self, sent: &HashMap<String, u64>) -> Gathered {
        for (host, sent) in sent {
            let came = self.came.get(host).copied().unwrap_or(0);
            self.lost += sent.saturating_sub(came);
        }
        self.write(i64::MIN);
        drop(self.sender);
        let written = self.log.finish();
        Gathered {
            rows: written.rows,
            lost: self.lost,
            error: written.error,
        }
    }
}

/// Rows by when their requests ended; of the same moment, in the order in which they came.
#[derive(Default)]
struct Held {
    rows: BinaryHeap<Reverse<(i64, u64, Box<str>)>>,
    bytes: usize,
    came: u64,
    youngest_ns: Option<i64>,
}

impl Held {
    fn push(&mut self, end_ns: i64, row: &str) {
        self.bytes += row.len();
        self.came += 1;
        self.youngest_ns = self.youngest_ns.max(Some(end_ns));
        self.rows.push(Reverse((end_ns, self.came, row.into())));
    }

    /// The oldest row, when it is older than the youngest by so much or too many are held.
    fn pop(&mut self, behind_ns: i64) -> Option<(i64, Box<str>)> {
        let Reverse((end_ns, ..)) = self.rows.peek()?;
        let until_ns = self.youngest_ns?.saturating_sub(behind_ns);
        if *end_ns > until_ns && self.bytes <= MOST_HELD {
            return None;
        }
        let Reverse((end_ns, _, row)) = self.rows.pop()?;
        self.bytes -= row.len();
        Some((end_ns, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn rows(before: u64, ends: &[(i64, &str)]) -> Rows {
        let mut rows = Rows {
            before,
            ..Rows::default()
        };
        ends.iter()
            .for_each(|(end_ns, row)| rows.push(*end_ns, row));
        rows
    }

    #[test]
    fn rows_of_all_hosts_stand_in_order_of_time() {
        let directory = std::env::temp_dir().join(format!("sokudo-gather-{}", std::process::id()));
        let path = directory.join("all.jtl");
        let options = JmxOptions::default();
        let mut gather = Gather::open(&options, &path).expect("a file");
        gather.take("a", &rows(0, &[(S, "a1\n"), (3 * S, "a3\n")]));
        gather.take("b", &rows(0, &[(2 * S, "b2\n"), (9 * S, "b9\n")]));
        // Two rows of this host were lost before these.
        gather.take("a", &rows(4, &[(7 * S, "a7\n")]));
        let sent = HashMap::from([("a".to_owned(), 5), ("b".to_owned(), 3), ("c".into(), 1)]);
        let gathered = gather.finish(&sent);
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_dir_all(&directory).expect("it was made here");
        let (header, body) = text.split_once('\n').expect("a header");
        assert!(header.starts_with("timeStamp,"), "{header}");
        assert_eq!(body, "a1\nb2\na3\na7\nb9\n");
        assert_eq!((gathered.rows, gathered.lost), (5, 2 + 1 + 1));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut held = Held::default();
        let row = "x".repeat(MOST_HELD / 4);
        (0..5).for_each(|at| held.push(at, &row));
        assert_eq!(held.pop(HOLD_NS).map(|(at, _)| at), Some(0));
        assert_eq!(held.pop(HOLD_NS), None);
        assert_eq!(held.pop(0).map(|(at, _)| at), Some(1));
    }
}
