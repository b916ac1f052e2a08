//! The target as a whole: what its threads share, its start and its end.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_pace::Random;

use crate::admin;
use crate::client::KeyFile;
use crate::connection::{Connection, HeldBytes};
use crate::event_loop::{Bell, EventLoop};
use crate::fault::{Fate, Faults};
use crate::hold::{Holds, PutBack};
use crate::journal::{Change, Journal};
use crate::live::{Live, Seen};
use crate::pool::{NoDatabase, Pool, open};
use crate::request::{Method, Request, parameter};
use crate::respond::{Answer, FILLING_BYTES_MAX, drip, send};
use crate::settings::{BadSetting, Settings};
use crate::stats::Stats;
use crate::stop::Stop;
use crate::stress::{SharedValues, Stage};
use crate::workers::{Taken, Workers, spawn};

/// Time for requests under way when the target ends.
const END_BOUND: Duration = Duration::from_secs(5);

/// State that all threads share.
pub(crate) struct Core {
    pub(crate) live: Live,
    pub(crate) workers: Workers,
    pub(crate) pool: Pool,
    pub(crate) faults: Faults,
    pub(crate) shared: SharedValues,
    pub(crate) counts: Counts,
    pub(crate) stop: Arc<Stop>,
    pub(crate) bell: Bell,
    pub(crate) journal: Mutex<Journal>,
    pub(crate) holds: Mutex<Holds>,
    pub(crate) started: Instant,
    /// Listening socket; `None` while the server does not listen.
    pub(crate) listener: Mutex<Option<TcpListener>>,
}

/// Numbers of the event loop.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) open: AtomicU64,
    pub(crate) accepted: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    pub(crate) accept_errors: AtomicU64,
    pub(crate) bad_requests: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) leaked_fds: AtomicU64,
    pub(crate) input_bytes: HeldBytes,
}

/// A target that runs; it ends when this is dropped.
pub struct Target {
    core: Arc<Core>,
    at: SocketAddr,
    admin: Option<sokudo_web::Server>,
    key: KeyFile,
    left: Vec<Change>,
    event_loop: Option<JoinHandle<()>>,
}

/// The target cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A setting does not fit.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The address cannot be listened on.
    #[error("cannot listen on {at}: {error}")]
    Listen {
        /// Address.
        at: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The database cannot be used.
    #[error("{0}")]
    Database(String, Text),
    /// The admin port cannot be served.
    #[error(transparent)]
    Admin(#[from] sokudo_web::WebError),
    /// The file with the key, or the journal, cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The system gives no threads or sockets.
    #[error("the target cannot start: {0}")]
    System(io::Error),
}

impl TargetError {
    /// Text of the error, for people.
    pub fn text(&self) -> Text {
        match self {
            Self::Setting(bad) => bad.text(),
            Self::Listen { at, error } => Text::new("error-target-listen")
                .word("at", at.to_string())
                .word("error", error.to_string()),
            Self::Database(_, text) => text.clone(),
            Self::Admin(_) | Self::File { .. } | Self::System(_) => {
                Text::new("error-target-start").word("error", self.to_string())
            }
        }
    }

    /// Hint for mending it.
    pub fn hint(&self) -> Text {
        match self {
            Self::Setting(bad) => bad.hint(),
            Self::Database(..) => Text::new("error-target-database-hint"),
            Self::Listen { .. } | Self::Admin(_) => Text::new("error-target-listen-hint"),
            Self::File { .. } | Self::System(_) => Text::new("error-target-start-hint"),
        }
    }
}

impl From<NoDatabase> for TargetError {
    fn from(why: NoDatabase) -> Self {
        Self::Database(why.to_string(), why.text())
    }
}

/// Starts a target. Its key and its journal are kept in `folder`, for its owner alone.
///
/// Errors: see [`TargetError`].
pub fn start(settings: Settings, folder: &std::path::Path) -> Result<Target, TargetError> {
    settings.check()?;
    let database = open(&settings.pool.url)?;
    let (max, limit) = (u64::from(settings.pool.max), database.limit());
    if let Some(limit) = limit.filter(|limit| max > *limit) {
        return Err(BadSetting::DatabaseLimit { max, limit }.into());
    }
    let pool = Pool::new(database, &settings.pool)?;
    let (event_loop, bell) = EventLoop::new(&settings)?;
    let at = event_loop.at();
    let stop = Arc::new(Stop::default());
    let shared = SharedValues::default();
    shared.set(&settings.stress);
    let core = Arc::new(Core {
        workers: Workers::new(settings.workers.clone()),
        pool,
        faults: Faults::new(Arc::clone(&stop)),
        shared,
        counts: Counts::default(),
        stop,
        bell,
        journal: Mutex::new(Journal::none()),
        holds: Mutex::default(),
        started: Instant::now(),
        listener: Mutex::new(event_loop.listener()),
        live: Live::new(settings.clone()),
    });
    let (admin, token) = admin::open(&core, settings.admin.address)?;
    let key = KeyFile::new(folder, at, admin.at(), token);
    let file = |(path, error)| TargetError::File { path, error };
    let (journal, left) = Journal::create(key.journal()).map_err(file)?;
    *core.journal.lock().unwrap_or_else(PoisonError::into_inner) = journal;
    key.write().map_err(file)?;
    core.apply(&settings);
    let for_loop = Arc::clone(&core);
    let event_loop = std::thread::Builder::new()
        .name("sokudo-accept".into())
        .spawn(move || event_loop.run(&for_loop))
        .map_err(TargetError::System)?;
    Ok(Target {
        core,
        at,
        admin: Some(admin),
        key,
        left,
        event_loop: Some(event_loop),
    })
}

impl Target {
    /// Address of the server.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// Address of the admin port.
    pub fn admin(&self) -> SocketAddr {
        self.key.admin
    }

    /// Key file with which others reach the admin port.
    pub fn key(&self) -> &KeyFile {
        &self.key
    }

    /// The state of all stages now.
    pub fn stats(&self) -> Stats {
        self.core.stats().0
    }

    /// Changes that a target before this one at the same admin port had not undone when it was killed.
    /// They ended with it.
    pub fn left(&self) -> &[Change] {
        &self.left
    }

    /// Knobs that were put back since the last look because their holder fell silent.
    pub fn take_put_back(&self) -> Vec<PutBack> {
        self.core.take_put_back()
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.core.live.get()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.admin.take());
        self.core.stop.ask();
        self.core.pool.close();
        self.core.workers.close(END_BOUND);
        self.core.bell.ring();
        // A loop that has panicked has said so.
        let _ = self.event_loop.take().map(JoinHandle::join);
        self.key.remove();
    }
}

impl Core {
    /// Milliseconds since the start.
    pub(crate) fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Changes knobs, all or none of them; returns each with its old and its new value.
    ///
    /// Errors: one cannot have this value, and all stay as they were.
    pub(crate) fn change(
        self: &Arc<Self>,
        pairs: &[(String, String)],
        hold: Option<u64>,
    ) -> Result<Vec<Change>, BadSetting> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.live.get();
        let mut settings = Settings::clone(&before);
        for (key, value) in pairs {
            settings = settings.with(key, value)?;
            Settings::check_knob(key)?;
        }
        settings.check()?;
        let (max, limit) = (settings.pool.max.into(), self.pool.database().limit());
        if let Some(limit) = limit.filter(|limit| max > *limit) {
            return Err(BadSetting::DatabaseLimit { max, limit });
        }
        let changes = pairs.iter().map(|(key, _)| {
            Ok(Change {
                number: 0,
                key: key.clone(),
                old: before.get(key)?,
                new: settings.get(key)?,
                hold,
            })
        });
        let changes = changes.collect::<Result<Vec<_>, BadSetting>>()?;
        // The journal knows a change before it has effect, so that none is ever unknown.
        let changes = journal.add(changes);
        self.apply(&settings);
        Ok(changes)
    }

    /// Undoes the changes after number `to`, the latest first; returns what that changed.
    pub(crate) fn restore(self: &Arc<Self>, to: u64) -> Result<Vec<Change>, BadSetting> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.live.get();
        let mut settings = Settings::clone(&before);
        let undone = journal.after(to);
        for change in &undone {
            settings = settings.with(&change.key, &crate::journal::typed(&change.old))?;
        }
        settings.check()?;
        self.apply(&settings);
        journal.cut(to);
        let swapped = |change: Change| Change {
            number: change.number,
            old: change.new,
            new: change.old,
            key: change.key,
            hold: change.hold,
        };
        Ok(undone.into_iter().map(swapped).collect())
    }

    /// Changes that can be undone.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.changes().to_vec()
    }

    /// Brings settings into effect.
    pub(crate) fn apply(self: &Arc<Self>, settings: &Settings) {
        let before = self.live.get();
        self.live.set(settings.clone());
        self.pool.resize(&settings.pool);
        let make = || self.make_worker();
        self.workers.resize(settings.workers.clone(), &make);
        let leaked = self.faults.leak(settings.fault.leak_fds);
        self.counts.leaked_fds.store(leaked, Ordering::Relaxed);
        if before.stress != settings.stress {
            self.shared.set(&settings.stress);
        }
        self.bell.ring();
    }

    /// Starts one more worker thread.
    pub(crate) fn make_worker(self: &Arc<Self>) -> io::Result<()> {
        let core = Arc::clone(self);
        spawn(move || {
            let make = || core.make_worker();
            core.workers.run(worker(Arc::clone(&core)), &make);
        })
    }
}

/// Work of a thread on each request.
fn worker(core: Arc<Core>) -> crate::workers::Work {
    let seed = Arc::as_ptr(&core).addr() as u64 ^ core.started.elapsed().as_nanos() as u64;
    let mut bench = Bench {
        seen: core.live.seen(),
        random: Random::new(seed, 0),
        out: Vec::new(),
    };
    Box::new(move |taken| bench.serve(&core, taken))
}

/// State that a thread keeps from one request to the next.
struct Bench {
    seen: Seen,
    random: Random,
    out: Vec<u8>,
}

impl Bench {
    /// Carries a request out and answers it; returns the status.
    fn serve(&mut self, core: &Core, taken: &Taken) -> u16 {
        let (settings, _) = self.seen.look(&core.live);
        let settings = Arc::clone(settings);
        let fault = &settings.fault;
        let connection = &taken.connection;
        let fate = core.faults.meet(fault);
        self.out.clear();
        let (answer, keeps, with_body) = {
            let input = connection.input();
            let Some(request) = &input.request else {
                return 400;
            };
            let answer = match fate {
                Fate::Refused(status) => Answer::bare(status),
                Fate::Served(late) => {
                    let answer = self.answer(core, &settings, request, &input.bytes, taken);
                    core.stop.rest(late);
                    core.faults.pause(fault);
                    answer
                }
            };
            let keeps = request.keeps && !fault.close && !core.stop.is_asked();
            (answer, keeps, request.method != Method::Head)
        };
        let rest = answer.begin(&mut self.out, keeps, with_body);
        let sent = [self.out.as_slice(), rest]
            .into_iter()
            .try_for_each(|bytes| match fault.drip_bytes {
                0 => send(&connection.stream, bytes),
                _ => drip(&connection.stream, bytes, fault, &core.stop),
            });
        self.hand_back(core, connection, keeps && sent.is_ok());
        answer.status
    }

    fn hand_back(&mut self, core: &Core, connection: &Arc<Connection>, keeps: bool) {
        if connection.finish(keeps, core.now_ms()) {
            core.bell.hand_back(Arc::clone(connection));
        }
        // A large body is not kept for the next one.
        self.out.shrink_to(64 << 10);
    }

    fn answer(
        &mut self,
        core: &Core,
        settings: &Settings,
        request: &Request,
        bytes: &[u8],
        taken: &Taken,
    ) -> Answer {
        let path = &bytes[request.path.clone()];
        let query = &bytes[request.query.clone()];
        if path != b"/" && path != b"/stress" && !path.starts_with(b"/stress/") {
            return Answer::bare(404);
        }
        if request.method == Method::Other || path == b"/" && request.method == Method::Post {
            return Answer::bare(405);
        }
        if path == b"/" {
            return root(query);
        }
        let body = match request.is_form {
            true => &bytes[request.body.clone()],
            false => &[],
        };
        let mut stage = Stage {
            stress: &settings.stress,
            fault: &settings.fault,
            pool: &core.pool,
            shared: &core.shared,
            stop: &core.stop,
            random: &mut self.random,
        };
        stage.serve([body, query], request.wants_json, taken.waited)
    }
}

/// `/`: no work, and as many bytes as asked for.
fn root(query: &[u8]) -> Answer {
    let Some(text) = parameter(query, "bytes") else {
        return Answer::plain(200, &b"sokudo target app\n"[..]);
    };
    match text.parse::<usize>() {
        Ok(bytes) if bytes <= FILLING_BYTES_MAX => Answer::filling(bytes),
        _ => Answer::plain(
            400,
            format!("bytes is not a number up to {FILLING_BYTES_MAX}\n").into_bytes(),
        ),
    }
}

impl Core {
    /// Puts whole requests into the dispatch queue; returns those that found it full.
    pub(crate) fn submit(
        self: &Arc<Self>,
        connections: &mut Vec<Arc<Connection>>,
    ) -> Vec<Arc<Connection>> {
        let make = || self.make_worker();
        self.workers.submit(connections, &make)
    }

    pub(crate) fn set_listener(&self, listener: Option<TcpListener>) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = listener;
    }
}
