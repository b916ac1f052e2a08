//! Distributes the state of the hosts to all pages without making its callers wait.
//!
//! ```text
//! controller's thread ──offer──► queue (bounded; full = dropped, counted) ─► pump ─► state, history
//! orders' thread ──────tell────►                                              │ five times a second
//!                                                            subscribers ◄────┘ (bounded, lossy)
//! ```
//!
//! A page that opens in the middle of a run gets a snapshot first. Without subscribers nothing is
//! serialized, and without news the pump's thread sleeps.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use sokudo_i18n::{I18n, Lang};
use sokudo_model::settings::{Setting, Settings};
use sokudo_model::{Batch, SeriesKey, Text, cut, secrets};
use tokio::sync::broadcast;

use crate::board;
use crate::desk::{HostRow, Mistake};
use crate::failures::{self, Failures};
use crate::mix::{self, Mix};
use crate::tracks::{Point, TICK_NS, Tracks};

/// Messages that may wait for the pump.
const QUEUE_MAX: usize = 2048;
/// Frames that a slow page may be behind before it begins again.
const BEHIND_MAX: usize = 64;
/// Sentences that a page gets when it opens, …
const SAID_MAX: usize = 500;
/// … and their bytes in both languages: an order may be as long as a script.
const SAID_BYTES_MAX: usize = 4 << 20;
/// Characters of a sentence; of a longer one the begin is shown.
const SENTENCE_MAX: usize = 16 << 10;
/// Phases of a run that are marked in the tracks.
const PHASES_MAX: usize = 400;

/// Text in both languages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Words {
    /// English.
    pub en: String,
    /// Japanese.
    pub ja: String,
}

impl Words {
    /// A text that is the same in every language.
    pub fn same(text: impl Into<String>) -> Self {
        let en = text.into();
        Self { ja: en.clone(), en }
    }

    /// At most so many characters of each; a longer one ends in `…`.
    fn within(self, most: usize) -> Self {
        let [en, ja] = [self.en, self.ja].map(|words| cut(&words, most).into_owned());
        Self { en, ja }
    }

    fn bytes(&self) -> usize {
        self.en.len() + self.ja.len()
    }
}

/// Kind of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SentenceKind {
    /// An order from a page or a console.
    Order,
    /// The result of an order.
    Answer,
    /// It was not carried out.
    Error,
    /// Something went wrong on the way.
    Problem,
}

/// End of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Id of the record; `None` when nothing was measured and nothing is kept.
    pub record: Option<String>,
    /// `ok`, `missed`, `partial`, `failed`.
    pub status: String,
    /// Sentences, the most important first.
    pub verdict: Vec<Words>,
}

/// A message to the feed.
#[derive(Debug, Clone)]
pub enum Told {
    /// Something begins that keeps the desk busy: a word for it, and whether it is a run with
    /// tracks of its own.
    Begins {
        /// `collect`, `run`, `console`, or a workload's name.
        what: String,
        /// True when it begins a record.
        record: bool,
    },
    /// A console record is open, and waits for the next line.
    Waits,
    /// A line or a script is being carried out.
    Works,
    /// Something that takes a moment.
    Doing(Text),
    /// Load begins: name of the phase, its planned length in nanoseconds (0 = not known).
    PhaseBegins(String, u64),
    /// So much of it is over, nanoseconds.
    Elapsed(u64),
    /// A phase is over: name, start and end in nanoseconds since the run's start.
    PhaseEnds(String, i64, i64),
    /// New samples of series that are drawn.
    Samples(Vec<(SeriesKey, i64, f64)>),
    /// Failed requests so far, by the series of their reasons.
    Failures(Vec<(SeriesKey, f64)>),
    /// Rates and latencies of labels and of kinds of requests.
    Mix(Batch),
    /// Settings of the loaded database.
    Settings(Vec<Setting>),
    /// A sentence by its key.
    Says(SentenceKind, Text),
    /// A sentence that is the same in every language.
    Words(SentenceKind, String),
    /// Health of the connection to a host: its name, and `ready`, `suspect` or `lost`.
    Health(String, &'static str),
    /// Hosts that take part.
    Hosts(Vec<HostRow>),
    /// A row of the board, and its place.
    Board(usize, board::Row),
    /// Mistakes in the script that was to be carried out.
    Mistakes(Vec<Mistake>),
    /// The operator wants it to end.
    Stopping,
    /// It is over.
    Ends(Option<Outcome>),
}

impl Told {
    /// The same as every page may show it: the secrets in its words are hidden.
    fn without_secrets(mut self) -> Self {
        match &mut self {
            Self::Doing(text) | Self::Says(_, text) => secrets::hide_words(text),
            Self::Words(_, words) | Self::PhaseBegins(words, _) | Self::PhaseEnds(words, ..) => {
                *words = secrets::hidden(words).into_owned();
            }
            Self::Board(_, row) => row.hide_secrets(),
            Self::Begins { .. }
            | Self::Waits
            | Self::Works
            | Self::Elapsed(_)
            | Self::Samples(_)
            | Self::Failures(_)
            | Self::Mix(_)
            | Self::Settings(_)
            | Self::Health(..)
            | Self::Hosts(_)
            | Self::Mistakes(_)
            | Self::Stopping
            | Self::Ends(_) => {}
        }
        self
    }
}

/// One message to all pages.
#[derive(Debug)]
pub struct Frame {
    /// Name of the event.
    pub event: &'static str,
    /// JSON.
    pub data: String,
}

/// A sentence in the transcript.
#[derive(Debug, Clone, Serialize)]
struct Said {
    kind: SentenceKind,
    says: Words,
}

#[derive(Debug, Clone, Serialize)]
struct PhaseMark {
    name: String,
    t0: f64,
    t1: f64,
}

#[derive(Debug, Clone, Serialize)]
struct PhaseNow {
    name: String,
    elapsed_ms: u64,
    of_ms: u64,
}

/// The order under way.
#[derive(Debug, Clone, Serialize)]
struct Now {
    what: String,
    /// False while a console record waits for the next line.
    works: bool,
    stopping: bool,
    since_ms: u64,
    doing: Option<Words>,
    phase: Option<PhaseNow>,
}

/// Everything but sentences and tracks: sent whole whenever it changes.
#[derive(Debug, Clone, Default, Serialize)]
struct State {
    /// Name of what this page serves, as given when it was opened.
    place: String,
    /// True when orders are refused: the page belongs to a single command.
    watches: bool,
    /// Tracks of different numbers belong to different runs.
    number: u64,
    hosts: Vec<HostRow>,
    now: Option<Now>,
    phases: Vec<PhaseMark>,
    board: Vec<board::Shown>,
    mistakes: Vec<Mistake>,
    failures: Vec<failures::Row>,
    mix: Vec<mix::Shown>,
    settings: Vec<Setting>,
    last: Option<Outcome>,
    dropped: u64,
}

struct Inner {
    state: State,
    said: VecDeque<Said>,
    /// Bytes of these sentences.
    said_bytes: usize,
    tracks: Tracks,
    failures: Failures,
    mix: Mix,
    settings: Settings,
    /// Changes that subscribers have not been sent yet.
    unsent: Unsent,
}

#[derive(Default)]
struct Unsent {
    state: bool,
    said: Vec<Said>,
    samples: bool,
    /// Lines that pages know of.
    lines: usize,
}

struct FeedState {
    inner: Mutex<Inner>,
    frames: broadcast::Sender<Arc<Frame>>,
    dropped: AtomicU64,
    speakers: [I18n; 2],
}

/// Receives all messages and feeds the pages. Clones share one state.
#[derive(Clone)]
pub struct Feed {
    queue: SyncSender<Told>,
    shared: Arc<FeedState>,
}

impl Feed {
    /// A feed for the hosts of `place`; `watches` when the page can only watch and give no orders.
    ///
    /// Errors: no thread can be started.
    pub fn new(place: &str, watches: bool) -> std::io::Result<Self> {
        let (queue, told) = sync_channel(QUEUE_MAX);
        let (frames, _) = broadcast::channel(BEHIND_MAX);
        let state = State {
            place: place.into(),
            watches,
            ..State::default()
        };
        let shared = Arc::new(FeedState {
            inner: Mutex::new(Inner {
                state,
                said: VecDeque::new(),
                said_bytes: 0,
                tracks: Tracks::default(),
                failures: Failures::default(),
                mix: Mix::default(),
                settings: Settings::default(),
                unsent: Unsent::default(),
            }),
            frames,
            dropped: AtomicU64::new(0),
            speakers: Lang::ALL.map(I18n::new),
        });
        let pumped = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("sokudo-web-feed".into())
            .spawn(move || pump(&pumped, &told))?;
        Ok(Self { queue, shared })
    }

    /// Offers a message while load may be running: without room it is dropped and counted.
    pub fn offer(&self, told: Told) {
        if self.queue.try_send(told.without_secrets()).is_err() {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends a message that must not be lost; waits for room, which the pump makes at once.
    pub fn tell(&self, told: Told) {
        // The pump ends with the feed itself.
        let _ = self.queue.send(told.without_secrets());
    }

    /// A message in both languages.
    pub fn both(&self, text: &Text) -> Words {
        self.shared.both(text)
    }

    /// The first message for a page that opens, and the stream of those after it.
    pub(crate) fn subscribe(&self) -> (Arc<Frame>, broadcast::Receiver<Arc<Frame>>) {
        self.shared.subscribe()
    }
}

impl FeedState {
    fn both(&self, text: &Text) -> Words {
        let [en, ja] = [0, 1].map(|lang: usize| self.speakers[lang].text(text));
        Words { en, ja }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribe(&self) -> (Arc<Frame>, broadcast::Receiver<Arc<Frame>>) {
        let mut inner = self.lock();
        // What the others have not been sent yet goes out first: a snapshot holds it already.
        self.flush(&mut inner);
        let data = json!({
            "state": inner.state,
            "said": inner.said,
            "lines": inner.tracks.lines(),
        });
        let snapshot = Arc::new(Frame {
            event: "snapshot",
            data: data.to_string(),
        });
        (snapshot, self.frames.subscribe())
    }

    /// Sends what has changed since the last time.
    fn flush(&self, inner: &mut Inner) {
        let points = match std::mem::take(&mut inner.unsent.samples) {
            true => inner.tracks.tick(),
            false => Vec::new(),
        };
        let dropped = self.dropped.load(Ordering::Relaxed);
        let changed = std::mem::take(&mut inner.unsent.state) || dropped != inner.state.dropped;
        inner.state.dropped = dropped;
        let said = std::mem::take(&mut inner.unsent.said);
        let known = std::mem::replace(&mut inner.unsent.lines, inner.tracks.lines().len());
        if self.frames.receiver_count() == 0 {
            return;
        }
        if changed {
            self.send("state", &inner.state);
        }
        if !said.is_empty() {
            self.send("said", &said);
        }
        if !points.is_empty() {
            self.send("samples", &samples(inner, known, &points));
        }
    }

    fn send(&self, event: &'static str, data: &impl Serialize) {
        let Ok(data) = serde_json::to_string(data) else {
            return;
        };
        // There may be no subscriber left.
        let _ = self.frames.send(Arc::new(Frame { event, data }));
    }
}

/// New points, with the heads of the lines that pages do not know yet.
fn samples(inner: &Inner, known: usize, points: &[Point]) -> serde_json::Value {
    let lines = inner.tracks.lines();
    let heads = lines.iter().skip(known).map(|line| {
        json!({ "track": line.track, "unit": line.unit, "host": line.host, "name": line.name })
    });
    json!({
        "number": inner.state.number,
        "first": known,
        "heads": heads.collect::<Vec<_>>(),
        "points": points,
    })
}

/// Applies messages, and sends the changes to subscribers at most five times a second.
fn pump(shared: &FeedState, told: &Receiver<Told>) {
    let tick = Duration::from_nanos(TICK_NS as u64);
    loop {
        let Ok(first) = told.recv() else {
            return;
        };
        apply(shared, first);
        let due = Instant::now() + tick;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            match told.recv_timeout(left) {
                Ok(next) => apply(shared, next),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    shared.flush(&mut shared.lock());
                    return;
                }
            }
            // Also when messages arrive faster than they can be applied, changes are sent in time.
            if Instant::now() >= due {
                break;
            }
        }
        shared.flush(&mut shared.lock());
    }
}

fn apply(shared: &FeedState, told: Told) {
    let mut inner = shared.lock();
    let inner = &mut *inner;
    match told {
        Told::Samples(samples) => {
            for (key, t_ns, value) in samples {
                inner.tracks.take(&key, t_ns, value);
            }
            inner.unsent.samples = true;
            return;
        }
        Told::Says(kind, text) => {
            let says = shared.both(&text);
            return say(inner, kind, says);
        }
        Told::Words(kind, text) => return say(inner, kind, Words::same(text)),
        Told::Failures(told) => {
            for (key, count) in told {
                inner.failures.take(&key, count);
            }
            inner.state.failures = inner.failures.rows();
        }
        Told::Mix(batch) => {
            inner.mix.take(&batch);
            let rows = inner.mix.rows().into_iter();
            inner.state.mix = rows
                .map(|row| row.shown(|text| shared.both(text)))
                .collect();
        }
        Told::Settings(told) => {
            told.into_iter().for_each(|one| inner.settings.add(one));
            inner.state.settings = inner.settings.all();
        }
        Told::Doing(text) => {
            let doing = shared.both(&text);
            inner.now(|now| now.doing = Some(doing));
        }
        Told::Board(place, row) => {
            let row = row.shown(|text| shared.both(text));
            board::put(&mut inner.state.board, place, row);
        }
        other => inner.change(other),
    }
    inner.unsent.state = true;
}

fn say(inner: &mut Inner, kind: SentenceKind, says: Words) {
    let says = says.within(SENTENCE_MAX);
    let said = Said { kind, says };
    inner.said_bytes += said.says.bytes();
    inner.said.push_back(said.clone());
    while inner.said.len() > SAID_MAX || inner.said_bytes > SAID_BYTES_MAX {
        let oldest = inner.said.pop_front();
        inner.said_bytes -= oldest.map_or(0, |said| said.says.bytes());
    }
    inner.unsent.said.push(said);
}

impl Inner {
    fn now(&mut self, change: impl FnOnce(&mut Now)) {
        if let Some(now) = &mut self.state.now {
            change(now);
        }
    }

    /// Changes the state.
    fn change(&mut self, told: Told) {
        match told {
            Told::Begins { what, record } => self.begin(what, record),
            Told::Waits => self.now(|now| {
                now.works = false;
                now.phase = None;
                now.doing = None;
            }),
            Told::Works => self.now(|now| now.works = true),
            Told::PhaseBegins(name, of_ns) => self.now(|now| {
                now.doing = None;
                now.phase = Some(PhaseNow {
                    name,
                    elapsed_ms: 0,
                    of_ms: of_ns / 1_000_000,
                });
            }),
            Told::Elapsed(ns) => self.now(|now| {
                if let Some(phase) = &mut now.phase {
                    phase.elapsed_ms = ns / 1_000_000;
                }
            }),
            Told::PhaseEnds(name, t0_ns, t1_ns) => {
                self.now(|now| now.phase = None);
                if self.state.phases.len() < PHASES_MAX {
                    let ms = |ns: i64| (ns / 1_000_000) as f64;
                    let (t0, t1) = (ms(t0_ns), ms(t1_ns));
                    self.state.phases.push(PhaseMark { name, t0, t1 });
                }
            }
            Told::Health(host, health) => {
                let mut rows = self.state.hosts.iter_mut();
                if let Some(row) = rows.find(|row| row.name == host) {
                    row.health = health;
                }
            }
            Told::Hosts(hosts) => self.state.hosts = hosts,
            Told::Mistakes(mistakes) => self.state.mistakes = mistakes,
            Told::Stopping => self.now(|now| now.stopping = true),
            Told::Ends(outcome) => {
                self.state.now = None;
                if outcome.is_some() {
                    self.state.last = outcome;
                }
            }
            // These change no state.
            Told::Samples(_)
            | Told::Failures(_)
            | Told::Mix(_)
            | Told::Settings(_)
            | Told::Says(..)
            | Told::Words(..)
            | Told::Doing(_)
            | Told::Board(..) => {}
        }
    }

    fn begin(&mut self, what: String, record: bool) {
        if record {
            self.state.number += 1;
            self.tracks = Tracks::default();
            self.failures = Failures::default();
            self.state.failures.clear();
            self.mix = Mix::default();
            self.state.mix.clear();
            self.settings = Settings::default();
            self.state.settings.clear();
            self.unsent.lines = 0;
            self.state.phases.clear();
            self.state.last = None;
        }
        self.state.mistakes.clear();
        self.state.now = Some(Now {
            what,
            works: true,
            stopping: false,
            since_ms: unix_ms(),
            doing: None,
            phase: None,
        });
    }
}

fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn rate(host: &str) -> SeriesKey {
        SeriesKey {
            host: host.into(),
            source: "rr".into(),
            metric: "rr.transactions_per_second".into(),
            labels: Default::default(),
        }
    }

    /// The next frame of this name; a bound on how long it may take.
    fn next(frames: &mut broadcast::Receiver<Arc<Frame>>, event: &str) -> Value {
        let due = Instant::now() + Duration::from_secs(20);
        while Instant::now() < due {
            match frames.try_recv() {
                Ok(frame) if frame.event == event => {
                    return serde_json::from_str(&frame.data).expect("JSON");
                }
                Ok(_) => {}
                Err(_) => std::thread::yield_now(),
            }
        }
        panic!("no `{event}` in time");
    }

    #[test]
    fn pages_are_not_told_secrets() {
        let says = Text::new("console-said").word("text", "http h -H 'Cookie: sesame'");
        let told = [
            Told::Doing(says.clone()),
            Told::Says(SentenceKind::Answer, says),
            Told::Words(SentenceKind::Problem, "http://me:sesame@h/".into()),
            Told::PhaseBegins("load?token=sesame".into(), 0),
            Told::PhaseEnds("load?token=sesame".into(), 0, 1),
            Told::Board(
                0,
                board::Row {
                    name: "http://me:sesame@h/".into(),
                    light: "red",
                    parts: vec!["http h -H 'Cookie: sesame'".into()],
                },
            ),
        ];
        for told in told {
            let shown = format!("{:?}", told.without_secrets());
            assert!(!shown.contains("sesame"), "{shown}");
        }
    }

    fn begins() -> Told {
        Told::Begins {
            what: "run".into(),
            record: true,
        }
    }

    #[test]
    fn a_page_gets_a_snapshot_and_then_what_changes() {
        let feed = Feed::new("lab", false).expect("a feed");
        feed.tell(begins());
        feed.tell(Told::Words(SentenceKind::Order, "syncTime".into()));
        feed.offer(Told::Samples(vec![(rate("hosta"), 1_000_000_000, 5.0)]));
        let mut seen = feed.subscribe();
        let due = Instant::now() + Duration::from_secs(20);
        // The pump has its own thread: what it has applied is in one or the other.
        while !seen.0.data.contains("hosta") && Instant::now() < due {
            seen = feed.subscribe();
        }
        let snapshot: Value = serde_json::from_str(&seen.0.data).expect("JSON");
        assert_eq!(snapshot["state"]["now"]["what"], "run");
        assert_eq!(snapshot["said"][0]["says"]["en"], "syncTime");
        assert_eq!(
            snapshot["lines"][0]["points"],
            serde_json::json!([1000.0, 5.0])
        );
        feed.offer(Told::Samples(vec![(rate("hostb"), 2_000_000_000, 7.0)]));
        let samples = next(&mut seen.1, "samples");
        assert_eq!(samples["heads"][0]["host"], "hostb");
        assert_eq!(samples["first"], 1);
        feed.tell(Told::Ends(None));
        assert!(next(&mut seen.1, "state")["now"].is_null());
    }

    #[test]
    fn a_new_run_has_new_tracks() {
        let feed = Feed::new("lab", false).expect("a feed");
        feed.tell(begins());
        feed.offer(Told::Samples(vec![(rate("hosta"), 1, 5.0)]));
        feed.tell(begins());
        let due = Instant::now() + Duration::from_secs(20);
        loop {
            let (snapshot, _) = feed.subscribe();
            let snapshot: Value = serde_json::from_str(&snapshot.data).expect("JSON");
            if snapshot["state"]["number"] == 2 {
                assert_eq!(snapshot["lines"].as_array().map(Vec::len), Some(0));
                break;
            }
            assert!(Instant::now() < due, "the run never began");
        }
    }

    /// Orders as long as scripts, as many as sentences are kept.
    #[test]
    fn long_sentences_are_kept_only_so_far() {
        let feed = Feed::new("lab", false).expect("a feed");
        let long = "x".repeat(10 * SENTENCE_MAX);
        for _ in 0..SAID_MAX {
            feed.tell(Told::Words(SentenceKind::Order, long.clone()));
        }
        feed.tell(Told::Words(SentenceKind::Order, "hosts".into()));
        let due = Instant::now() + Duration::from_secs(20);
        let snapshot = loop {
            let (snapshot, _) = feed.subscribe();
            if snapshot.data.contains(r#""ja":"hosts""#) {
                break snapshot;
            }
            assert!(Instant::now() < due, "it was never said");
        };
        let bytes = snapshot.data.len();
        assert!(bytes < 2 * SAID_BYTES_MAX, "{bytes} bytes");
        let shown: Value = serde_json::from_str(&snapshot.data).expect("JSON");
        let said = shown["said"].as_array().expect("sentences");
        let first = said[0]["says"]["en"].as_str().expect("words");
        assert!(first.ends_with('…') && first.chars().count() == SENTENCE_MAX);
        assert_eq!(said[said.len() - 1]["says"]["ja"], "hosts");
    }

    #[test]
    fn offering_never_waits() {
        let feed = Feed::new("lab", false).expect("a feed");
        // The pump cannot apply anything while this is held.
        let held = feed.shared.lock();
        for _ in 0..2 * QUEUE_MAX {
            feed.offer(Told::Elapsed(1));
        }
        drop(held);
        assert!(feed.shared.dropped.load(Ordering::Relaxed) >= QUEUE_MAX as u64 - 1);
    }
}
