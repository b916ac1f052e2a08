//! The result files of a plan's listeners.
//!
//! ```text
//! listener of the plan ─┐
//! listener of the plan ─┼─ wanted? ─► file, written once per result ─► RowLog
//! file of the options  ─┘
//! ```
//!
//! Each listener says itself how its rows look and whether it wants what failed or what succeeded. Two
//! that name the same file share it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use sokudo_i18n::english;
use sokudo_jmeter::jtl::{JtlFormat, listener_properties};
use sokudo_jmeter::plan::{Id, ListenerKind};
use sokudo_jmeter::run::{EVERYONE, SampleRow};
use sokudo_model::Rows;

use super::backend::Lane;
use super::options::JmxOptions;
use super::reach::Reach;
use super::read::Prepared;
use super::responses::{self, ResponseHearer, ResponseLog};
use super::rows::RowLog;

/// Text of rows that is handed over at a time, bytes.
const BATCH_BYTES: usize = 64 << 10;
/// Room behind it for the row that fills it, bytes; a longer one costs a copy.
const ROW_BYTES: usize = 4 << 10;
/// Most files of one test: which of them have a result already is one bit each.
const MOST_FILES: usize = u64::BITS as usize;
/// Before a name that is meant beside the plan instead of in the working directory.
const BESIDE_PLAN: &str = "~/";

/// The files of a test while they are open.
#[derive(Default)]
pub(super) struct Files {
    /// Writers of the files; the first is that of the options where there is one.
    pub logs: Vec<RowLog>,
    /// Of `logs`, the number of the file of the options.
    pub asked: Option<usize>,
    senders: Vec<SyncSender<Rows>>,
    hearers: Vec<Hearer>,
    responders: Vec<ResponseHearer>,
    /// Thread that writes responses to files of their own.
    pub responses: Option<ResponseLog>,
    paths: HashMap<PathBuf, usize>,
}

/// A listener and where its rows go.
#[derive(Clone)]
struct Hearer {
    listener: Id,
    file: usize,
    format: Arc<JtlFormat>,
    errors_only: bool,
    successes_only: bool,
}

impl Hearer {
    /// Both wishes together are none.
    fn wants(&self, row: &SampleRow<'_>) -> bool {
        self.errors_only == self.successes_only || row.success == self.successes_only
    }
}

impl Files {
    /// Everything that is told goes to this file.
    pub fn everything(&mut self, (log, format, sender): super::generator::OpenLog, path: &Path) {
        let file = self.add(log, sender, path.to_owned());
        self.asked = Some(file);
        self.hearers.push(Hearer {
            listener: EVERYONE,
            file,
            format,
            errors_only: false,
            successes_only: false,
        });
    }

    fn add(&mut self, log: RowLog, sender: SyncSender<Rows>, path: PathBuf) -> usize {
        let file = self.logs.len();
        self.logs.push(log);
        self.senders.push(sender);
        self.paths.insert(path, file);
        file
    }

    /// Opens the files of a plan's listeners, each at its end. Gives what could not be opened: the
    /// test goes on without. Where several generators execute the plan, none of them writes these.
    pub fn listeners(&mut self, prepared: &Prepared, options: &JmxOptions) -> Vec<String> {
        let (responders, log, mut problems) = responses::listeners(prepared, options);
        (self.responders, self.responses) = (responders, log);
        let reach = Reach::of(options);
        for (listener, of) in (0..).zip(&prepared.plan.listeners) {
            let ListenerKind::Results {
                file,
                format,
                errors_only,
                successes_only,
            } = &of.kind
            else {
                continue;
            };
            if file.is_empty() {
                continue;
            }
            if options.together.is_some() {
                problems.push(format!(
                    "`{file}` of a listener is not written: several generators execute the plan"
                ));
                continue;
            }
            let properties = listener_properties(&options.all_properties(), format);
            let zone = jiff::tz::TimeZone::system();
            let format = JtlFormat::new(&properties, zone, &prepared.duty.host, false);
            let format = Arc::new(format);
            let path = place(file, &options.plan);
            if let Err(why) = reach.check(&path) {
                problems.push(format!("`{file}` of a listener is not written: {why}"));
                continue;
            }
            match self.open(path, &format) {
                Ok(file) => self.hearers.push(Hearer {
                    listener,
                    file,
                    format,
                    errors_only: *errors_only,
                    successes_only: *successes_only,
                }),
                Err(why) => problems.push(why),
            }
        }
        problems
    }

    /// The number of a file, opened when it is not yet.
    fn open(&mut self, path: PathBuf, format: &Arc<JtlFormat>) -> Result<usize, String> {
        if let Some(file) = self.paths.get(&path) {
            return Ok(*file);
        }
        if self.logs.len() == MOST_FILES {
            let path = path.display();
            return Err(format!(
                "`{path}` is not written: more than {MOST_FILES} files"
            ));
        }
        let (log, sender) =
            RowLog::open(&path, format).map_err(|refusal| english(&refusal.says))?;
        Ok(self.add(log, sender, path))
    }

    /// One event loop's share. The files end when all shares are gone.
    pub fn share(&self) -> ShardFiles {
        ShardFiles {
            hearers: self.hearers.clone(),
            responders: self.responders.clone(),
            files: self.senders.iter().cloned().map(Outgoing::new).collect(),
            lanes: Vec::new(),
        }
    }

    /// Lets go of the ways to the files: those who have shares keep theirs.
    pub fn release(&mut self) {
        self.senders.clear();
        self.responders.clear();
    }
}

/// Path of a listener's file: `~/` is beside the plan, everything else in the working directory.
/// The same for the same file, however its directory is written.
pub(super) fn place(file: &str, plan: &Path) -> PathBuf {
    let path = match file.strip_prefix(BESIDE_PLAN) {
        Some(name) => plan.parent().unwrap_or(Path::new("")).join(name),
        None => PathBuf::from(file),
    };
    std::path::absolute(&path).unwrap_or(path)
}

/// The files as one event loop has them.
#[derive(Default)]
pub(super) struct ShardFiles {
    hearers: Vec<Hearer>,
    responders: Vec<ResponseHearer>,
    files: Vec<Outgoing>,
    lanes: Vec<Lane>,
}

impl ShardFiles {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.lanes.is_empty() && self.responders.is_empty()
    }

    /// The same with databases that hear of results, too.
    pub fn with(self, lanes: Vec<Lane>) -> Self {
        Self { lanes, ..self }
    }

    /// Writes a result to the files of these listeners, to each once. Gives the rows that found no
    /// room.
    pub fn write(&mut self, row: &SampleRow<'_>, listeners: &[Id]) -> u64 {
        self.lanes
            .iter_mut()
            .for_each(|lane| lane.add(row, listeners));
        let mut written = 0u64;
        let responders = self.responders.iter();
        let mut lost = responders.map(|it| it.write(row, listeners)).sum();
        for hearer in &self.hearers {
            let bit = 1 << hearer.file;
            if written & bit != 0 || !listeners.contains(&hearer.listener) || !hearer.wants(row) {
                continue;
            }
            written |= bit;
            lost += self.files[hearer.file].add(&hearer.format, row);
        }
        lost
    }

    /// Hands over what is there. Gives the rows that found no room.
    pub fn hand_over(&mut self) -> u64 {
        self.lanes.iter_mut().for_each(Lane::hand_over);
        self.files.iter_mut().map(Outgoing::hand_over).sum()
    }
}

/// Rows of one event loop on their way to a file.
struct Outgoing {
    to: SyncSender<Rows>,
    rows: Rows,
}

impl Outgoing {
    fn new(to: SyncSender<Rows>) -> Self {
        let rows = Rows::default();
        Self { to, rows }
    }

    fn add(&mut self, format: &JtlFormat, row: &SampleRow<'_>) -> u64 {
        if self.rows.is_empty() {
            self.rows.text.reserve_exact(BATCH_BYTES + ROW_BYTES);
        }
        format.write(row, &mut self.rows);
        match self.rows.text.len() >= BATCH_BYTES {
            true => self.hand_over(),
            false => 0,
        }
    }

    fn hand_over(&mut self) -> u64 {
        if self.rows.is_empty() {
            return 0;
        }
        match self.to.try_send(std::mem::take(&mut self.rows)) {
            Ok(()) => 0,
            Err(TrySendError::Full(rows) | TrySendError::Disconnected(rows)) => rows.len() as u64,
        }
    }
}
