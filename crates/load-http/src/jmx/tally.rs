//! Counts of requests per label.
//!
//! One shard per event loop: its lock is taken by that loop for each result and by the reporting
//! thread once per interval.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sokudo_jmeter::plan::Id;
use sokudo_jmeter::run::{RowKind, SampleRow, Sink};
use sokudo_model::Spent;
use sokudo_model::kinds::http as numbers;
use sokudo_stats::Histogram;
use sokudo_workload::failures::Failures;

use super::saved::ShardFiles;
use super::script_log::LogLines;
use super::silence::Silence;
use super::user_time::{UserTime, UsersNs};

/// Labels that are counted separately; further ones are counted together.
const MOST_LABELS: usize = 1_000;
/// Name under which further labels are counted.
const OTHER_LABELS: &str = "(other labels)";
/// Troubles that are kept word by word.
const MOST_TROUBLES: usize = 20;

/// Counts of one label.
#[derive(Debug, Clone, Default)]
pub struct LabelTally {
    /// A transaction: its samples are counted under their own labels, too.
    pub is_transaction: bool,
    /// Results.
    pub samples: u64,
    /// Of which failed.
    pub failed: u64,
    /// Without any response.
    pub lost: u64,
    /// Sum of elapsed milliseconds, least and most.
    pub elapsed_ms: (u64, u64, u64),
    /// From the intended start, nanoseconds.
    pub latency: Histogram,
    /// From the real start, nanoseconds.
    pub service: Histogram,
    /// From when an arrival was due to its real start, nanoseconds: the generator's own delay.
    pub start_delay: Histogram,
    /// To connect, where that was done, without name and TLS, nanoseconds.
    pub connect: Histogram,
    /// Time by stages of those with a response; nothing for a transaction.
    pub spent: Spent,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Responses by first digit of the status; 0 for none.
    pub classes: [u64; 6],
    /// Failures by stage.
    pub phases: HashMap<&'static str, u64>,
    /// Failures by kind: names of their metrics.
    pub kinds: HashMap<&'static str, u64>,
    /// Failures by code and message.
    pub reasons: Failures,
    /// First start and last end, monotonic nanoseconds.
    pub span_ns: Option<(i64, i64)>,
    /// Last start.
    pub last_start_ns: i64,
    /// First start and last end of those with a response.
    pub through_ns: Option<(i64, i64)>,
    /// Sums for the lines of JMeter's summary: results of samples that no transaction replaces, and those of
    /// transactions.
    pub summed: [Summed; 2],
    /// The same for each of the plan's listeners that sum up.
    pub told: BTreeMap<Id, [Summed; 2]>,
}

/// Results as JMeter's summary counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summed {
    /// Results.
    pub samples: u64,
    /// Of which failed.
    pub failed: u64,
    /// Sum of elapsed milliseconds, least and most.
    pub elapsed_ms: (u64, u64, u64),
}

impl Summed {
    fn of(row: &SampleRow<'_>) -> Self {
        Self {
            samples: 1,
            failed: u64::from(!row.success),
            elapsed_ms: (row.elapsed_ms, row.elapsed_ms, row.elapsed_ms),
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        let (sum, least, most) = self.elapsed_ms;
        let (more, other_least, other_most) = other.elapsed_ms;
        let least = match (self.samples, other.samples) {
            (0, _) => other_least,
            (_, 0) => least,
            _ => least.min(other_least),
        };
        self.samples += other.samples;
        self.failed += other.failed;
        self.elapsed_ms = (sum + more, least, most.max(other_most));
    }
}

/// Begin of the message by which JMeter tells results of transactions from others. That of one that was
/// cut off has none.
const OF_TRANSACTION: &str = "Number of samples in transaction";

/// Labels and what they saw.
pub type Tallies = HashMap<String, LabelTally>;

impl LabelTally {
    /// Adds a result, of which these listeners are told.
    fn add(&mut self, row: &SampleRow<'_>, told: impl Iterator<Item = Id>) {
        self.is_transaction = row.kind == RowKind::Transaction;
        let (sum, least, most) = self.elapsed_ms;
        let least = if self.samples == 0 {
            row.elapsed_ms
        } else {
            least.min(row.elapsed_ms)
        };
        self.elapsed_ms = (sum + row.elapsed_ms, least, most.max(row.elapsed_ms));
        self.samples += 1;
        self.failed += u64::from(!row.success);
        if !row.success {
            self.reasons.add("", reason(row), 1);
        }
        let digit = row.code.bytes().next().filter(|_| row.code.len() == 3);
        let class = digit.map_or(0, |digit| usize::from(digit.wrapping_sub(b'0')));
        self.classes[if class < 6 { class } else { 0 }] += 1;
        if row.is_due {
            let delay_ns = row.start_ns - row.intended_ns;
            self.start_delay.record(delay_ns.max(0).unsigned_abs());
        }
        if !row.phase.is_empty() {
            self.lost += 1;
            *self.phases.entry(row.phase).or_default() += 1;
            if let Some(kind) = kind_of(row) {
                *self.kinds.entry(kind).or_default() += 1;
            }
        } else {
            let span = |from: i64| u64::try_from(row.end_ns - from).unwrap_or(0);
            self.latency.record(span(row.intended_ns));
            self.service.record(span(row.start_ns));
            self.spent.add(&row.spent);
            let connect_ns = row.spent.connect_ns();
            if connect_ns > 0 {
                self.connect.record(connect_ns);
            }
        }
        if !row.is_inner {
            let kind = usize::from(row.message.starts_with(OF_TRANSACTION));
            self.summed[kind].add(&Summed::of(row));
            for listener in told {
                self.told.entry(listener).or_default()[kind].add(&Summed::of(row));
            }
        }
        self.bytes += row.bytes;
        self.sent_bytes += row.sent_bytes;
        let own = Some((row.start_ns, row.end_ns));
        self.span_ns = around(self.span_ns, own);
        self.last_start_ns = self.last_start_ns.max(row.start_ns);
        if row.phase.is_empty() {
            self.through_ns = around(self.through_ns, own);
        }
    }

    /// Adds what another saw.
    pub fn merge(&mut self, other: &Self) {
        self.is_transaction |= other.is_transaction;
        let (sum, least, most) = self.elapsed_ms;
        let least = match (self.samples, other.samples) {
            (0, _) => other.elapsed_ms.1,
            (_, 0) => least,
            _ => least.min(other.elapsed_ms.1),
        };
        self.elapsed_ms = (
            sum + other.elapsed_ms.0,
            least,
            most.max(other.elapsed_ms.2),
        );
        self.samples += other.samples;
        self.failed += other.failed;
        self.lost += other.lost;
        self.latency.merge(&other.latency);
        self.service.merge(&other.service);
        self.start_delay.merge(&other.start_delay);
        self.connect.merge(&other.connect);
        self.spent.add(&other.spent);
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        for (mine, more) in self.summed.iter_mut().zip(&other.summed) {
            mine.add(more);
        }
        for (listener, more) in &other.told {
            let mine = self.told.entry(*listener).or_default();
            mine.iter_mut()
                .zip(more)
                .for_each(|(mine, more)| mine.add(more));
        }
        for (mine, more) in self.classes.iter_mut().zip(other.classes) {
            *mine += more;
        }
        self.reasons.add_all("", &other.reasons);
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        for (phase, count) in &other.phases {
            *self.phases.entry(phase).or_default() += count;
        }
        self.span_ns = around(self.span_ns, other.span_ns);
        self.last_start_ns = self.last_start_ns.max(other.last_start_ns);
        self.through_ns = around(self.through_ns, other.through_ns);
    }
}

/// From the earlier begin of two spans to the later end.
pub(super) fn around(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

/// Code and message of a failed row; where the server's answer is good, the assertion that failed.
fn reason<'a>(row: &'a SampleRow<'_>) -> (&'a str, &'a str) {
    const PREFIXES: [&str; 2] = ["Non HTTP response code: ", "Non HTTP response message: "];
    let bare = |text: &'a str, prefix: &str| text.strip_prefix(prefix).unwrap_or(text);
    let code = bare(&row.code, PREFIXES[0]);
    // The last word of an exception's name is enough.
    let code = match row.phase.is_empty() {
        true => code,
        false => code.rsplit('.').next().unwrap_or(code),
    };
    match row.failure_message.is_empty() {
        true => (code, bare(&row.message, PREFIXES[1])),
        false => (code, &row.failure_message),
    }
}

/// How the messages of a `SocketException` end when the other side has reset the connection.
const RESET_ENDINGS: [&str; 2] = ["Connection reset", "Broken pipe"];

/// The kind of failures that this process is the reason of, by its name in loads of one URL. No metric counts it.
const TOO_MANY_FILES: &str = "too-many-files";

/// The metric that counts failures of this kind, told by the name that JMeter has for it.
fn kind_of(row: &SampleRow<'_>) -> Option<&'static str> {
    let class = row.code.rsplit('.').next()?;
    Some(match class {
        "HttpHostConnectException" => numbers::REFUSED.name,
        "ConnectTimeoutException" | "SocketTimeoutException" => numbers::TIMEOUTS.name,
        // One class for what the server did and for what this host could not do, such as to open another file. The end of
        // the message tells them apart.
        "SocketException" if RESET_ENDINGS.iter().any(|end| row.message.ends_with(end)) => {
            numbers::RESETS.name
        }
        "SocketException" if row.message.ends_with("Too many open files") => TOO_MANY_FILES,
        "NoHttpResponseException" | "ConnectionClosedException" | "TruncatedChunkException" => {
            numbers::CLOSED_EARLY.name
        }
        "ClientProtocolException" | "ZipException" | "MalformedChunkCodingException" => {
            numbers::MALFORMED.name
        }
        _ => return None,
    })
}

/// Results of one event loop.
pub(super) struct Shard {
    state: Mutex<State>,
    /// There are files, and a log.
    writes: bool,
    logs: bool,
    /// Rows that found no room in a queue.
    lost_rows: AtomicU64,
}

#[derive(Default)]
struct State {
    labels: Tallies,
    silence: Silence,
    files: ShardFiles,
    log: Option<LogLines>,
    troubles: HashMap<String, u64>,
    /// Listeners that sum up.
    summaries: Vec<Id>,
    present: UserTime,
    pauses: UserTime,
}

impl State {
    fn count(&mut self, row: &SampleRow<'_>, listeners: &[Id]) {
        self.silence.add(row);
        let summaries = self.summaries.iter().copied();
        let told = summaries.filter(|id| listeners.contains(id));
        match self.labels.get_mut(&*row.label) {
            Some(label) => label.add(row, told),
            None => {
                let room = self.labels.len() < MOST_LABELS;
                let name = if room { &*row.label } else { OTHER_LABELS };
                self.labels.entry(name.into()).or_default().add(row, told);
            }
        }
    }
}

impl Shard {
    /// A shard that hands its rows over to these files, and what scripts say to this log.
    pub fn new(files: ShardFiles, log: Option<LogLines>) -> Self {
        let (writes, logs) = (!files.is_empty(), log.is_some());
        let state = State {
            files,
            log,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            writes,
            logs,
            lost_rows: AtomicU64::new(0),
        }
    }

    /// The same with these listeners that sum up.
    pub fn summing(self, summaries: Vec<Id>) -> Self {
        self.state().summaries = summaries;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the counts since the last call. Hands the rows over, too.
    pub fn take(&self) -> Tallies {
        let mut state = self.state();
        self.lose(state.files.hand_over());
        std::mem::take(&mut state.labels)
    }

    /// Hands over what is left and lets go of the files: they end when all shards have done so.
    pub fn close(&self) {
        let mut state = self.state();
        self.lose(state.files.hand_over());
        state.files = ShardFiles::default();
        state.log = None;
    }

    /// Errors of users, with the number of each.
    pub fn troubles(&self) -> HashMap<String, u64> {
        self.state().troubles.clone()
    }

    /// The time in which nothing was answered.
    pub fn silence(&self) -> Silence {
        self.state().silence.clone()
    }

    /// A user begins to pause.
    pub fn pause_begins(&self, at_ns: i64) {
        self.state().pauses.begins(at_ns);
    }

    /// A pause that began then is over.
    pub fn pause_ends(&self, began_ns: i64, at_ns: i64) {
        self.state().pauses.ends(began_ns, at_ns);
    }

    /// A user begins.
    pub fn user_begins(&self, at_ns: i64) {
        self.state().present.begins(at_ns);
    }

    /// A user that began then has ended.
    pub fn user_ends(&self, began_ns: i64, at_ns: i64) {
        self.state().present.ends(began_ns, at_ns);
    }

    /// Time of the users until now.
    pub fn users_ns(&self, at_ns: i64) -> UsersNs {
        let state = self.state();
        UsersNs {
            present: state.present.until(at_ns),
            paused: state.pauses.until(at_ns),
        }
    }

    /// Rows that were lost because the disk was too slow.
    pub fn lost_rows(&self) -> u64 {
        self.lost_rows.load(Ordering::Relaxed)
    }

    fn lose(&self, rows: u64) {
        if rows > 0 {
            self.lost_rows.fetch_add(rows, Ordering::Relaxed);
        }
    }
}

impl Sink for Shard {
    fn sample(&self, row: &SampleRow<'_>, listeners: &[Id]) {
        let mut state = self.state();
        state.count(row, listeners);
        if self.writes {
            self.lose(state.files.write(row, listeners));
        }
    }

    fn writes(&self) -> bool {
        self.writes
    }

    fn logs(&self) -> bool {
        self.logs
    }

    fn log(&self, line: String) {
        if let Some(log) = &self.state().log {
            log.add(line);
        }
    }

    fn trouble(&self, what: &str) {
        let mut state = self.state();
        let room = state.troubles.len() < MOST_TROUBLES;
        match state.troubles.get_mut(what) {
            Some(count) => *count += 1,
            None if room => {
                state.troubles.insert(what.into(), 1);
            }
            None => {}
        }
    }
}
