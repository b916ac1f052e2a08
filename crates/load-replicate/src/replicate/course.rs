//! The rounds of a sender: one, those of a mirror, or the one of a host that passes on what it gets.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use sokudo_replicate::mirror::Mirror;
use sokudo_replicate::send::{Outcome, Round};
use sokudo_replicate::session::{LOOK, Progress, Session, lock};
use sokudo_stats::Histogram;
use sokudo_workload::values::Span;

use super::join::Followed;
use super::options::ReplicateOptions;

/// Outcome of the session by which a host of a relay tree gets what it passes on.
#[derive(Default)]
pub(super) struct Upstream {
    whole: Mutex<Option<bool>>,
    known: Condvar,
}

impl Upstream {
    /// Takes note of its end.
    pub(super) fn ended(&self, outcome: &Outcome) {
        *lock(&self.whole) = Some(outcome.broken.is_none() && outcome.rounds > 0);
        self.known.notify_all();
    }

    /// Whether it came to its end, once it has ended; waits for that at most [`LOOK`].
    fn wait(&self) -> Option<bool> {
        let whole = lock(&self.whole);
        let waits = |whole: &mut Option<bool>| whole.is_none();
        let waited = self.known.wait_timeout_while(whole, LOOK, waits);
        match waited {
            Ok((whole, _)) => *whole,
            Err(poisoned) => *poisoned.into_inner().0,
        }
    }
}

/// The rounds of a sender.
pub(super) struct SenderRounds {
    /// A full round has been given.
    begun: bool,
    mirror: Option<Following>,
    /// Session whose content is passed on, once it is whole.
    upstream: Option<Arc<Upstream>>,
    leave: Arc<AtomicBool>,
}

/// A sender that follows its source.
struct Following {
    root: PathBuf,
    time: Duration,
    resync: Option<Duration>,
    /// The watch, and when it ends; from the first round on, and from its end on.
    mirror: Option<Mirror>,
    until: Option<Instant>,
    lags: Histogram,
}

impl SenderRounds {
    pub(super) fn of(options: &ReplicateOptions, leave: &Arc<AtomicBool>) -> Self {
        let following = |(time, root): (Span, PathBuf)| Following {
            root,
            time: Duration::from_nanos(time.0),
            resync: options.resync.map(|every| Duration::from_nanos(every.0)),
            mirror: None,
            until: None,
            lags: Histogram::new(),
        };
        let asked = options.mirror.zip(options.source_path());
        Self {
            begun: false,
            mirror: asked.map(following),
            upstream: None,
            leave: Arc::clone(leave),
        }
    }

    /// The one round of a host that passes on what it gets.
    pub(super) fn relay(upstream: &Arc<Upstream>) -> Self {
        Self {
            begun: false,
            mirror: None,
            upstream: Some(Arc::clone(upstream)),
            leave: Arc::default(),
        }
    }

    /// The next round; `None` when nothing follows.
    pub(super) fn next(&mut self, session: &Session, progress: &Progress) -> Option<Round> {
        if let Some(upstream) = self.upstream.as_ref().filter(|_| !self.begun) {
            match upstream.wait() {
                None => return Some(Round::none()),
                Some(true) => {}
                Some(false) => {
                    session.fail("nothing was passed on", &"it did not arrive here");
                    return None;
                }
            }
        }
        let is_first = !std::mem::replace(&mut self.begun, true);
        let Some(following) = &mut self.mirror else {
            return is_first.then(Round::full);
        };
        let root = &following.root;
        let begin = || Mirror::begin(root).resyncing(following.resync);
        let mirror = following.mirror.get_or_insert_with(begin);
        if !is_first {
            let end = Instant::now() + following.time;
            let is_late = Instant::now() >= *following.until.get_or_insert(end);
            if is_late || self.leave.load(Ordering::Relaxed) {
                return None;
            }
        }
        let lags = &mut following.lags;
        mirror.next(session, &mut |lag_ns| {
            lags.record(lag_ns);
            progress.last_lag_ns.store(lag_ns, Ordering::Relaxed);
        })
    }

    /// Events of the mirror; none without one.
    pub(super) fn followed(self) -> Followed {
        let Some(following) = self.mirror else {
            return Followed::default();
        };
        let mirror = following.mirror.as_ref();
        Followed {
            rescans: mirror.map_or(0, Mirror::rescans),
            blind: mirror.and_then(Mirror::blind).map(str::to_owned),
            lags: following.lags,
        }
    }
}
