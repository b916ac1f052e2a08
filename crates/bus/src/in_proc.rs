//! Links a controller to an agent in its own process.
//!
//! The agent is one thread with the lifetime of its link, so it needs no lease: a lease is answered
//! and otherwise ignored.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_wire::{Ask, Reply};

use crate::agent::{Client, Gate, Handler, Notes, Port};
use crate::error::{BusError, name_of, panicked};
use crate::latch::{Latch, deadline_in};
use crate::notes::{NoteSink, Uplink};
use crate::pipe::{goodbye, own_close};
use crate::{Link, PendingReply};

/// Asks that may wait for the handler.
const WAITING_ASKS: usize = 64;

/// Longest time that preparing the agent's thread may take.
const INIT_BOUND: Duration = Duration::from_secs(30);

/// Longest wait of `close` until the handler is dropped.
const CLOSE_BOUND: Duration = Duration::from_secs(10);

/// The same when the handler is at an ask whose answer nobody wants any more.
const UNWANTED_BOUND: Duration = Duration::from_millis(300);

/// A link to an agent thread of this process.
pub struct InProcLink {
    name: String,
    /// `None` once closed.
    jobs: Mutex<Option<SyncSender<Job>>>,
    uplink: Arc<Uplink>,
    gate: Arc<Gate>,
    ended: Arc<Latch>,
    /// Asks that were given up before their bound was over.
    unwanted: AtomicBool,
}

struct Job {
    ask: Ask,
    answer: SyncSender<Reply>,
}

/// Starts an agent on a thread of its own.
///
/// `init` runs first on that thread, before `factory` makes the handler there: it may for example
/// enter a network namespace, in which all sockets of the handler then live. Without anything to
/// prepare give `|| Ok(())`. A new thread is in the namespace of the calling one.
///
/// Errors: [`BusError::Start`] when the thread cannot be made or `init` says why it failed.
pub fn link(
    name: &str,
    init: impl FnOnce() -> Result<(), Text> + Send + 'static,
    factory: impl FnOnce(Client, Notes) -> Box<dyn Handler> + Send + 'static,
) -> Result<InProcLink, BusError> {
    let failed = |why: Text| BusError::Start {
        what: Text::new("start-agent").word("name", name),
        why,
    };
    let (jobs, queue) = mpsc::sync_channel::<Job>(WAITING_ASKS);
    let (ready, prepared) = mpsc::sync_channel(1);
    let link = InProcLink {
        name: name.to_owned(),
        jobs: Mutex::new(Some(jobs)),
        uplink: Arc::default(),
        gate: Arc::default(),
        ended: Arc::default(),
        unwanted: AtomicBool::new(false),
    };
    let ending = Ending {
        uplink: Arc::clone(&link.uplink),
        gate: Arc::clone(&link.gate),
        ended: Arc::clone(&link.ended),
    };
    let gate = Arc::clone(&link.gate);
    let notes = Notes::new(Arc::clone(&gate), Port::Uplink(Arc::clone(&link.uplink)));
    let client = Client {
        name: name.to_owned(),
        address: "in process".into(),
    };
    thread::Builder::new()
        .name(format!("agent-{name}"))
        .spawn(move || {
            let _ending = ending;
            let begun = init();
            let failed = begun.is_err();
            // The other side may have stopped waiting; then its link has ended too.
            let _ = ready.send(begun);
            if !failed {
                serve(&mut *factory(client, notes), &queue, &gate);
            }
        })
        .map_err(|why| failed(Text::words(why.to_string())))?;
    match prepared.recv_timeout(INIT_BOUND) {
        Ok(begun) => begun.map_err(failed)?,
        Err(RecvTimeoutError::Timeout) => {
            let seconds = INIT_BOUND.as_secs();
            return Err(failed(
                Text::new("error-agent-not-ready").with("seconds", seconds),
            ));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(failed(panicked())),
    }
    Ok(link)
}

/// Answers asks until the link is closed or receives `Bye`.
fn serve(handler: &mut dyn Handler, queue: &mpsc::Receiver<Job>, gate: &Gate) {
    while let Ok(Job { ask, answer }) = queue.recv() {
        if gate.is_gone() {
            return;
        }
        gate.taken(&ask);
        let last = matches!(ask, Ask::Bye);
        // The asking thread may have stopped waiting.
        let _ = answer.send(handler.handle(ask));
        if last {
            gate.shut(goodbye());
            return;
        }
    }
}

/// Reports on drop that the agent's thread has ended, also after a panic. Dropped last on the thread,
/// after the handler.
struct Ending {
    uplink: Arc<Uplink>,
    gate: Arc<Gate>,
    ended: Arc<Latch>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.gate.is_gone() {
            self.uplink.end();
        } else {
            self.gate.shut(thread_ended());
            self.uplink.lost(thread_ended());
        }
        self.ended.open();
    }
}

fn thread_ended() -> Text {
    Text::new("error-agent-thread-ended")
}

impl InProcLink {
    fn lost(&self) -> BusError {
        BusError::Lost {
            host: self.name.clone(),
            why: self.gate.why().unwrap_or_else(thread_ended),
        }
    }

    fn jobs(&self) -> Option<SyncSender<Job>> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.clone()
    }
}

impl Link for InProcLink {
    fn begin(&self, ask: Ask, bound: Duration) -> Result<PendingReply<'_>, BusError> {
        if self.gate.is_gone() {
            return Err(self.lost());
        }
        if matches!(ask, Ask::Lease { .. } | Ask::Hush { .. }) {
            return Ok(PendingReply::new(|_| Some(Ok(Reply::Done))));
        }
        let deadline = deadline_in(bound);
        let jobs = self.jobs().ok_or_else(|| self.lost())?;
        let name = name_of(&ask);
        let timed_out = move || BusError::TimedOut {
            host: self.name.clone(),
            ask: name,
            bound,
        };
        let (answer, answered) = mpsc::sync_channel(1);
        self.gate.received(&ask);
        match jobs.try_send(Job { ask, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => {
                self.gate.taken(&job.ask);
                return Err(timed_out());
            }
            Err(TrySendError::Disconnected(_)) => return Err(self.lost()),
        }
        let mut wanted = Wanted(Some(&self.unwanted));
        Ok(PendingReply::new(move |time| {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = match answered.recv_timeout(left.min(time)) {
                Ok(reply) => Ok(reply),
                Err(RecvTimeoutError::Timeout) if left > time => return None,
                Err(RecvTimeoutError::Timeout) => Err(timed_out()),
                Err(RecvTimeoutError::Disconnected) => {
                    // The sender of the answer is dropped first; the reason arrives when the thread
                    // ends.
                    self.ended.wait(CLOSE_BOUND);
                    Err(self.lost())
                }
            };
            wanted.is_answered();
            Some(answer)
        }))
    }

    fn attach(&self, sink: NoteSink) {
        self.uplink.attach(sink);
    }

    /// Waits until the handler is dropped, at most 10 s; not for one at an ask that was given up.
    fn close(&self) {
        self.gate.shut(own_close());
        self.jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.ended
            .wait(match self.unwanted.load(Ordering::Relaxed) {
                true => UNWANTED_BOUND,
                false => CLOSE_BOUND,
            });
    }

    fn describe(&self) -> &str {
        &self.name
    }
}

/// Notes on drop that an ask was given up, unless it has had its answer.
struct Wanted<'link>(Option<&'link AtomicBool>);

impl Wanted<'_> {
    fn is_answered(&mut self) {
        self.0 = None;
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        if let Some(unwanted) = self.0 {
            unwanted.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for InProcLink {
    fn drop(&mut self) {
        self.close();
    }
}
