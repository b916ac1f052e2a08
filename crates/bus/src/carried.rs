//! Links a controller to an agent at the other end of a pipe.
//!
//! ```text
//! asking threads ──► number, frame ──► pipe ──► agent
//!       ▲ answers by number                       │
//!       └── reading thread ◄──────────────────────┘ replies, notes ──► Uplink
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::urgency;
use sokudo_wire::{Ask, Body, Envelope, EnvelopeError, Health, Note, Reply};

use crate::error::{BusError, name_of};
use crate::latch::deadline_in;
use crate::notes::{NoteSink, Uplink};
use crate::pipe::{Arrival, FrameSender, FrameSource, closed, own_close};
use crate::{Link, PendingReply};

pub use crate::session::serve;

/// Longest time to write one message before the connection counts as broken.
pub(crate) const SEND_BOUND: Duration = Duration::from_secs(20);

/// Longest single wait of the reading thread; only `close` or the peer ends it.
const READ_SLICE: Duration = Duration::from_secs(60);

/// A link to an agent at the other end of a pipe. Dropping it closes it, and waits until what the pipe
/// was made of is given back.
pub struct CarriedLink {
    line: Arc<Line>,
    reading: Option<JoinHandle<()>>,
}

/// Makes a link of a pipe whose other end is served by [`serve`].
///
/// `host` names the other end in messages. Errors: the system gives no thread.
pub fn link(
    host: &str,
    sender: Box<dyn FrameSender>,
    mut source: Box<dyn FrameSource>,
) -> Result<CarriedLink, BusError> {
    let line = Arc::new(Line {
        host: host.to_owned(),
        sender,
        waiting: Mutex::default(),
        uplink: Uplink::default(),
        begun: Instant::now(),
        heard_ns: AtomicU64::new(0),
    });
    let own = Arc::clone(&line);
    let reading = thread::Builder::new()
        .name("link-reader".into())
        .spawn(move || {
            urgency::go_first();
            let why = receive(&own, &mut *source);
            own.ended(why);
        })
        .map_err(|why| start_failed("start-thread-network", why))?;
    Ok(CarriedLink {
        line,
        reading: Some(reading),
    })
}

/// Error that what is named by the key `what` could not be started.
pub(crate) fn start_failed(what: &str, why: impl ToString) -> BusError {
    BusError::Start {
        what: Text::new(what),
        why: Text::words(why.to_string()),
    }
}

/// State that the asking threads and the reading thread share.
struct Line {
    host: String,
    sender: Box<dyn FrameSender>,
    waiting: Mutex<Waiting>,
    uplink: Uplink,
    begun: Instant,
    /// Arrival of the last message, after `begun`, nanoseconds.
    heard_ns: AtomicU64,
}

/// Asks on their way.
#[derive(Default)]
struct Waiting {
    last_id: u64,
    answers: HashMap<u64, SyncSender<Reply>>,
    /// Reason why no further ask can be sent.
    lost: Option<Text>,
    /// `Bye` is on its way: the connection's end is not a loss.
    leaving: bool,
}

impl Line {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles the loss of the connection: all waiting asks fail, and the bus is informed once.
    fn lost(&self, why: Text) {
        self.end(why.clone());
        self.uplink.lost(why);
        self.sender.close();
    }

    /// The reading thread has come to the end.
    fn ended(&self, why: Text) {
        if self.waiting().leaving {
            self.uplink.end();
        }
        self.lost(why);
    }

    /// Ends all waits; the first reason stays.
    fn end(&self, why: Text) {
        let mut waiting = self.waiting();
        waiting.lost.get_or_insert(why);
        waiting.answers.clear();
    }

    fn gone(&self) -> BusError {
        BusError::Lost {
            host: self.host.clone(),
            why: self.waiting().lost.clone().unwrap_or_else(closed),
        }
    }

    /// Something came.
    fn heard(&self) {
        let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Reserves a number for an ask.
    fn begin(&self, ask: &Ask) -> Result<Answer<'_>, BusError> {
        let mut waiting = self.waiting();
        if waiting.lost.is_some() {
            drop(waiting);
            return Err(self.gone());
        }
        waiting.last_id += 1;
        let id = waiting.last_id;
        let (answer, answered) = mpsc::sync_channel(1);
        waiting.answers.insert(id, answer);
        waiting.leaving |= matches!(ask, Ask::Bye);
        Ok(Answer {
            line: self,
            id,
            answered,
        })
    }
}

/// Reads until the connection ends; returns why it did.
fn receive(line: &Line, source: &mut dyn FrameSource) -> Text {
    let mut renewals = 0;
    loop {
        match source.next(READ_SLICE) {
            Ok(Arrival::Frame(payload)) => {
                line.heard();
                if std::mem::replace(&mut renewals, source.renewals()) != source.renewals() {
                    // Once it is heard again, not when the connection stands: for the record.
                    let _ = line.uplink.push(Note::Health(Health::Ready));
                }
                if let Err(why) = deliver(line, &payload) {
                    return why;
                }
            }
            Ok(Arrival::Idle) => {}
            Err(why) => return why,
        }
    }
}

/// The other end sent what no message is.
pub(crate) fn sent(what: &EnvelopeError) -> Text {
    Text::new("error-link-sent").text("what", what.text())
}

/// Hands one message to whom it belongs.
fn deliver(line: &Line, payload: &[u8]) -> Result<(), Text> {
    let envelope = Envelope::from_payload(payload).map_err(|why| sent(&why))?;
    match envelope.body {
        Body::Reply(reply) => {
            // Without a taker the ask has timed out.
            if let Some(answer) = line.waiting().answers.remove(&envelope.id) {
                let _ = answer.send(reply);
            }
        }
        Body::Note(Note::Lost { .. } | Note::Health(_)) => {
            return Err(Text::new("error-link-bus-only"));
        }
        Body::Note(note) => {
            // A full mailbox counts what it drops; a closed bus needs nothing more.
            let _ = line.uplink.push(note);
        }
        Body::Ask(_) => return Err(Text::new("error-link-asked")),
    }
    Ok(())
}

/// An ask whose answer is under way; dropping it forgets the ask.
struct Answer<'link> {
    line: &'link Line,
    id: u64,
    answered: mpsc::Receiver<Reply>,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.line.waiting().answers.remove(&self.id);
    }
}

impl Link for CarriedLink {
    fn begin(&self, ask: Ask, bound: Duration) -> Result<PendingReply<'_>, BusError> {
        let line = &*self.line;
        let name = name_of(&ask);
        let deadline = deadline_in(bound);
        let answer = line.begin(&ask)?;
        let (id, body) = (answer.id, Body::Ask(ask));
        let frame = Envelope { id, body }.to_frame();
        let frame = frame.map_err(|why| BusError::TooLong {
            host: line.host.clone(),
            ask: name,
            why: why.text(),
        })?;
        if let Err(why) = line.sender.send(&frame, SEND_BOUND) {
            line.lost(Text::new("error-link-unsendable").text("why", why));
            return Err(line.gone());
        }
        Ok(PendingReply::new(move |time| {
            let left = deadline.saturating_duration_since(Instant::now());
            Some(match answer.answered.recv_timeout(left.min(time)) {
                Ok(reply) => Ok(reply),
                Err(RecvTimeoutError::Timeout) if left > time => return None,
                Err(RecvTimeoutError::Disconnected) => Err(line.gone()),
                Err(RecvTimeoutError::Timeout) => Err(BusError::TimedOut {
                    host: line.host.clone(),
                    ask: name,
                    bound,
                }),
            })
        }))
    }

    fn silent(&self) -> Duration {
        let heard_ns = self.line.heard_ns.load(Ordering::Relaxed);
        let heard = Duration::from_nanos(heard_ns);
        self.line.begun.elapsed().saturating_sub(heard)
    }

    fn can_renew(&self) -> bool {
        self.line.sender.can_renew()
    }

    fn renew(&self) {
        self.line.sender.renew();
    }

    fn attach(&self, sink: NoteSink) {
        self.line.uplink.attach(sink);
    }

    fn close(&self) {
        self.line.uplink.end();
        self.line.end(own_close());
        self.line.sender.close();
    }

    fn describe(&self) -> &str {
        &self.line.host
    }
}

impl Drop for CarriedLink {
    fn drop(&mut self) {
        self.close();
        if let Some(reading) = self.reading.take() {
            // Closing has woken it; one that panicked has ended too.
            let _ = reading.join();
        }
    }
}
