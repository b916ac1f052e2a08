//! Compares what sokudo and the real JMeter do with the same plans.
//!
//! ```text
//!         ┌─► sokudo compat jmeter, one process each ─► recorder ┐
//! plans ──┤                                                      ├─► requests, rows, summary, files:
//!         └─► JMeter 5.6.3, all in one JVM ───────────► recorder ┘   what differs, plan by plan
//! ```
//!
//! A plan finds the recorder's port in the property `port`, a folder for what it writes in `out`.
//! Requests to other hosts than this one reach the recorder as their proxy, so that no plan loads
//! anybody else. What the recorder answers stands at [`recorder`].

mod databases;
mod differences;
mod ours;
pub mod recorder;
mod results;
mod theirs;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::jmeter::JMeter;
use databases::Servers;
use recorder::{Heard, Recorder};

/// Longest that one plan may take.
const PLAN_BOUND: Duration = Duration::from_secs(30);
/// Longest that all of them may take with one program.
const BOUND: Duration = Duration::from_secs(300);
/// Hosts that are asked directly.
const DIRECT: &str = "127.0.0.1|localhost";
/// Properties with which rows are written, so that they can be compared.
const RESULTS: &[(&str, &str)] = &[
    ("jmeter.save.saveservice.output_format", "xml"),
    ("jmeter.save.saveservice.assertions", "true"),
    ("jmeter.save.saveservice.subresults", "true"),
    ("jmeter.save.saveservice.url", "true"),
    ("jmeter.save.saveservice.sample_count", "true"),
];

/// Comparison of one plan.
#[derive(Debug)]
pub struct Compared {
    /// The plan's file.
    pub plan: PathBuf,
    /// Requests that JMeter sent.
    pub requests: usize,
    /// Results that JMeter wrote, without those below others.
    pub rows: usize,
    /// Each difference as text; empty: there is none.
    pub differences: Vec<String>,
}

/// Outcome of a plan with one of the two programs.
#[derive(Debug, Default)]
struct Done {
    heard: Vec<Heard>,
    /// Its file of results.
    results: String,
    /// Its output.
    printed: String,
    /// Reason for which there is nothing to compare.
    failed: Option<String>,
    /// Files that the plan wrote into its folder: names and contents.
    files: Vec<(String, String)>,
    port: u16,
    folder: PathBuf,
    /// Name of the databases on servers.
    database: &'static str,
}

/// Executes plans with both programs. `properties` are set for both.
///
/// Errors: JMeter or Java is missing, or a place to work in.
pub fn compare(
    plans: &[PathBuf],
    properties: &[(String, String)],
) -> Result<Vec<Compared>, String> {
    let jmeter = JMeter::find()?;
    let told = |error: std::io::Error| format!("no place to work in: {error}");
    let plans: Vec<PathBuf> = plans
        .iter()
        .map(|plan| std::path::absolute(plan).map_err(told))
        .collect::<Result<_, _>>()?;
    let (servers, plans) = Servers::of(plans);
    let place = tempfile::tempdir().map_err(told)?;
    let work = |name: &str, database| {
        let mut all = servers.properties(database);
        all.extend_from_slice(properties);
        Work::new(&plans, (database, &all), place.path().join(name)).map_err(told)
    };
    let own = work("ours", databases::NAMES[0])?;
    let their = work("theirs", databases::NAMES[1])?;
    let (ours, theirs) = thread::scope(|scope| {
        let theirs = scope.spawn(|| theirs::execute(&jmeter, &their));
        (
            ours::execute(&own),
            theirs.join().expect("it does not panic"),
        )
    });
    let pairs = ours.into_iter().zip(theirs?);
    let compared = plans.into_iter().zip(pairs).map(|(plan, (ours, theirs))| {
        let is_ordered = !downloads_at_once(&plan);
        differences::find(plan, &ours, &theirs, is_ordered)
    });
    Ok(compared.collect())
}

/// True where a page's parts are asked for at the same time, in any order.
fn downloads_at_once(plan: &Path) -> bool {
    let text = std::fs::read_to_string(plan).unwrap_or_default();
    text.contains("HTTPSampler.concurrentDwn\">true")
}

/// Work of one of the programs.
struct Work<'a> {
    plans: &'a [PathBuf],
    properties: Vec<(String, String)>,
    place: PathBuf,
    recorder: Recorder,
    database: &'static str,
}

impl<'a> Work<'a> {
    fn new(
        plans: &'a [PathBuf],
        (database, properties): (&'static str, &[(String, String)]),
        place: PathBuf,
    ) -> std::io::Result<Self> {
        let beside = plans.first().and_then(|plan| plan.parent());
        let recorder = Recorder::start(&beside.unwrap_or(Path::new("")).join("answers"))?;
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut all: Vec<(String, String)> = RESULTS.iter().map(owned).collect();
        all.push(("port".into(), recorder.port.to_string()));
        all.extend_from_slice(properties);
        for number in 0..plans.len() {
            std::fs::create_dir_all(place.join(number.to_string()))?;
        }
        Ok(Self {
            plans,
            properties: all,
            place,
            recorder,
            database,
        })
    }

    /// Folder for what a plan writes.
    fn folder(&self, plan: usize) -> PathBuf {
        self.place.join(plan.to_string())
    }

    fn results(&self, plan: usize) -> PathBuf {
        self.place.join(format!("{plan}.jtl"))
    }

    fn done(&self, plan: usize, printed: String, failed: Option<String>) -> Done {
        let results = std::fs::read(self.results(plan)).unwrap_or_default();
        Done {
            heard: self.recorder.of(plan),
            results: String::from_utf8_lossy(&results).into_owned(),
            printed,
            failed,
            files: files(&self.folder(plan)),
            port: self.recorder.port,
            folder: self.folder(plan),
            database: self.database,
        }
    }
}

/// Names and contents of the files below a folder, in order.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            // Each library writes its own version into a database.
            if path.extension().is_some_and(|extension| extension == "db") {
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path);
            let content = std::fs::read(&path).unwrap_or_default();
            let content = String::from_utf8_lossy(&content).into_owned();
            found.push((name.display().to_string(), content));
        }
    }
    found.sort();
    found
}

/// A text without the escapes of addresses; `+` is a blank.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3);
        match (
            bytes[at],
            digits.and_then(|two| u8::from_str_radix(two, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
