//! The responses that a plan's listeners write to files of their own.
//!
//! ```text
//! result ─► wanted? ─► name: prefix, time, number, kind of content ─► queue ─► one thread ─► file
//! ```
//!
//! A result is followed by its sub-results, each with a number of its own, as JMeter writes them. Event loops
//! never wait for the disk: a response that finds no room in the queue is counted as lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use jiff::Zoned;
use sokudo_i18n::english;
use sokudo_jmeter::files::{Files as _, WriteMode};
use sokudo_jmeter::plan::{Id, ListenerKind, ResponseFiles};
use sokudo_jmeter::run::{Details, RowKind, SampleRow};
use sokudo_workload::refusal::spawn;

use super::options::JmxOptions;
use super::reach::Reach;
use super::read::{PlanFiles, Prepared};
use super::saved::place;

/// Responses that may wait for the disk.
const QUEUE: usize = 1024;
/// Most files of one listener.
const MOST_FILES: u64 = 1_000_000;
/// The name of content of which the kind is not known.
const UNKNOWN: &str = "unknown";

/// A response on its way to its file.
struct Response {
    path: String,
    body: Vec<u8>,
}

/// The thread that writes responses.
pub(super) struct ResponseLog {
    thread: JoinHandle<Option<String>>,
}

impl ResponseLog {
    /// Waits until everything is written; all listeners are gone. Gives what went wrong.
    pub fn finish(self) -> Option<String> {
        let died = |_| Some("the thread that writes responses died".to_owned());
        self.thread.join().unwrap_or_else(died)
    }
}

/// A listener that writes responses, as one event loop has it.
#[derive(Clone)]
pub(super) struct ResponseHearer {
    listener: Id,
    of: Arc<ResponseFiles>,
    /// Path without number and ending.
    begin: Arc<str>,
    written: Arc<AtomicU64>,
    to: SyncSender<Response>,
}

/// Prepares the listeners of a plan that write responses, and their thread where there are any. Gives what
/// cannot be written, too: the test goes on without.
pub(super) fn listeners(
    prepared: &Prepared,
    options: &JmxOptions,
) -> (Vec<ResponseHearer>, Option<ResponseLog>, Vec<String>) {
    let (mut hearers, mut problems) = (Vec::new(), Vec::new());
    let reach = Reach::of(options);
    let (to, responses) = mpsc::sync_channel(QUEUE);
    let now = Zoned::now().strftime("%Y%m%d-%H%M_").to_string();
    for (listener, of) in (0..).zip(&prepared.plan.listeners) {
        let ListenerKind::Responses(of) = &of.kind else {
            continue;
        };
        let mut begin = place(&of.prefix, &options.plan);
        let untold = match options.together {
            _ if of.prefix.is_empty() => continue,
            Some(_) => Err("several generators execute the plan".to_owned()),
            None => reach.check(&begin).map_err(|why| why.to_string()),
        };
        if let Err(why) = untold {
            let prefix = &of.prefix;
            problems.push(format!("responses are not written to `{prefix}`: {why}"));
            continue;
        }
        if of.prefix.ends_with(['/', std::path::MAIN_SEPARATOR]) {
            // A path loses the separator at its end.
            begin.push("");
        }
        let mut begin = begin.to_string_lossy().into_owned();
        if of.has_time {
            begin.push_str(&now);
        }
        hearers.push(ResponseHearer {
            listener,
            of: Arc::new(of.clone()),
            begin: begin.into(),
            written: Arc::default(),
            to: to.clone(),
        });
    }
    if hearers.is_empty() {
        return (hearers, None, problems);
    }
    let files = PlanFiles::of(options);
    match spawn("responses", move || write(&files, &responses)) {
        Ok(thread) => (hearers, Some(ResponseLog { thread }), problems),
        Err(refusal) => {
            problems.push(english(&refusal.says));
            (Vec::new(), None, problems)
        }
    }
}

impl ResponseHearer {
    /// Hands the response of a result and those of its sub-results over. Gives those that found no room.
    pub fn write(&self, row: &SampleRow<'_>, listeners: &[Id]) -> u64 {
        match listeners.contains(&self.listener) {
            true => self.hand_over(row),
            false => 0,
        }
    }

    fn hand_over(&self, row: &SampleRow<'_>) -> u64 {
        let mut lost = 0;
        if self.wants(row) {
            let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
            let details = row.details.as_deref();
            let response = Response {
                path: self.path(number, content_type(row)),
                body: details.map_or_else(Vec::new, body),
            };
            lost += u64::from(number > MOST_FILES || self.to.try_send(response).is_err());
        }
        lost + row
            .below
            .iter()
            .map(|below| self.hand_over(below))
            .sum::<u64>()
    }

    /// As JMeter decides: both wishes together leave nothing.
    fn wants(&self, row: &SampleRow<'_>) -> bool {
        if row.kind == RowKind::Transaction && self.of.skips_transactions {
            return false;
        }
        match row.success {
            true => !self.of.errors_only,
            false => !self.of.successes_only,
        }
    }

    fn path(&self, number: u64, content_type: &str) -> String {
        let of = &self.of;
        let mut path = self.begin.to_string();
        if !of.skips_number {
            path.push_str(&format!("{number:0digits$}", digits = of.digits as usize));
        }
        if !of.skips_suffix {
            path.push('.');
            path.push_str(&suffix(content_type));
        }
        path
    }
}

/// The body of a response; of a request that failed, the failure, as in a result file.
fn body(details: &Details) -> Vec<u8> {
    match details.body.is_empty() {
        true => details.response.clone().into_bytes(),
        false => details.body.clone(),
    }
}

/// The `Content-Type` of a response; empty: none.
fn content_type<'r>(row: &'r SampleRow<'_>) -> &'r str {
    let headers = row
        .details
        .as_deref()
        .map_or("", |it| &*it.response_headers);
    let named = headers.lines().filter_map(|line| line.split_once(':'));
    let mut found = named.filter(|(name, _)| name.eq_ignore_ascii_case("Content-Type"));
    found.next().map_or("", |(_, value)| value.trim())
}

/// The kind of a content: what stands behind the slash of its type. It never leads to another folder.
fn suffix(content_type: &str) -> String {
    let Some((_, kind)) = content_type.split_once('/') else {
        return UNKNOWN.into();
    };
    let kind = kind.split(';').next().unwrap_or_default();
    kind.replace(['/', '\\', '\0'], "_")
}

/// Writes responses until no listener is left. Gives the first failure and their number.
fn write(files: &PlanFiles, responses: &Receiver<Response>) -> Option<String> {
    let (mut first, mut failed) = (None, 0u64);
    for Response { path, body } in responses {
        if let Err(why) = files.write_here(&path, &body, WriteMode::Replace) {
            failed += 1;
            first.get_or_insert_with(|| format!("`{path}`: {why}"));
        }
    }
    first.map(|first| format!("{failed} responses could not be written: {first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_content_stays_in_the_folder() {
        assert_eq!(suffix("text/html; charset=utf-8"), "html");
        assert_eq!(suffix("application/json"), "json");
        assert_eq!(suffix("image/svg+xml;x"), "svg+xml");
        assert_eq!(suffix("text"), UNKNOWN);
        assert_eq!(suffix(""), UNKNOWN);
        assert_eq!(suffix("x/../../../etc/passwd"), ".._.._.._etc_passwd");
    }

    /// A link in the folder of a plan may lead out of it.
    #[cfg(unix)]
    #[test]
    fn a_response_is_not_written_through_a_link_to_elsewhere() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, away) = (place.path().join("plans"), place.path().join("away"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(&away, b"mine").expect("a file");
        std::os::unix::fs::symlink(&away, folder.join("r1.html")).expect("a link");
        let plan = folder.join("plan.jmx");
        let files = PlanFiles::within(&plan, Reach::below(&plan, &[]));
        let (to, responses) = mpsc::sync_channel(QUEUE);
        for name in ["r1.html", "r2.html", "r2.html"] {
            let path = folder.join(name).to_string_lossy().into_owned();
            let body = b"theirs".to_vec();
            to.send(Response { path, body }).expect("room");
        }
        drop(to);
        let problem = write(&files, &responses).expect("a problem");
        assert!(problem.starts_with("1 responses"), "{problem}");
        assert_eq!(std::fs::read(&away).expect("the file"), b"mine");
        let written = std::fs::read(folder.join("r2.html"));
        assert_eq!(written.expect("a response"), b"theirs");
    }
}
